/*
 * Seeded noise that lives in the run state: the same seed gives the same run, bit for bit.
 */
#pragma once

#include <stdint.h>

struct io_noise {
    uint64_t s[4]; /* xoshiro256++ */
};

/* Distinct streams for distinct (seed, stream).  Context: setup. */
void io_noise_seed(struct io_noise *noise, uint64_t seed, uint64_t stream);
/* Uniform in [0, 1).  Context: frame. */
double io_noise_uniform(struct io_noise *noise);
/* Zero mean, unit variance; a fixed number of draws per call.  Context: frame. */
double io_noise_normal(struct io_noise *noise);
