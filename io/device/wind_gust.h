/*
 * Wind gusts: three independent wanders (io/device/gauss_markov.h), a Dryden-like spectrum of first
 * order in every axis.  The axes are those of the vector to which the caller adds the gust.
 */
#pragma once

#include <stdint.h>

#include "io/device/noise.h"

struct io_wind_gust_spec {
    double sigma[3];    /* m/s, standard deviation */
    double time[3];     /* s, correlation time: length of the gusts over the airspeed */
    double sample_time; /* s between two steps */
};

/* Run state; every byte is part of the hash. */
struct io_wind_gust_state {
    struct io_noise noise;
    double out[3]; /* m/s, now */
};
_Static_assert(sizeof(struct io_wind_gust_state) == sizeof(struct io_noise) + 3 * 8,
               "no pads in the run state");

/* The first gust, already in state->out, is drawn from the stationary distribution.  Context:
 * setup. */
void io_wind_gust_begin(const struct io_wind_gust_spec *spec, uint64_t seed, uint64_t stream,
                        struct io_wind_gust_state *state);

/* Advance by one sample_time; always the same number of draws.  Context: frame. */
void io_wind_gust_step(const struct io_wind_gust_spec *spec, struct io_wind_gust_state *state);
