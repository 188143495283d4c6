/*
 * The errors that every sensor has, for one of its axes.
 *
 *      y = clamp(quantise( (1 + scale) u + bias + walk + wander + white ))
 *
 * White noise of density n sampled every dt has deviation n / sqrt(dt); the bias walk of density k
 * adds k sqrt(dt) a step and starts at zero.  Bias instability is a wander
 * (io/device/gauss_markov.h) of deviation `instability`.  Every sample takes the same number of
 * draws, whatever the parameters are: changing one leaves the others' noise alone.
 */
#pragma once

#include "io/device/noise.h"

/* `unit` is the unit of the sensor: rad/s, m/s^2, T, Pa, rad. */
struct io_sensor_error_spec {
    double scale;            /* relative error, 0 is perfect */
    double bias;             /* unit, at switch-on */
    double noise_density;    /* unit / sqrt(Hz) */
    double walk_density;     /* unit sqrt(Hz), random walk of the bias */
    double instability;      /* unit, standard deviation of the wandering bias */
    double instability_time; /* s, its correlation time */
    double range;            /* unit, +-, 0: unlimited */
    double quantum;          /* unit, 0: continuous */
    double sample_time;      /* s */
};

/* Run state; every byte is part of the hash. */
struct io_sensor_error_state {
    double walk;
    double wander;
};
_Static_assert(sizeof(struct io_sensor_error_state) == 2 * 8, "no pads in the run state");

/* The wander starts in its stationary distribution: one pair from noise.  Context: setup. */
void io_sensor_error_begin(const struct io_sensor_error_spec *spec, struct io_noise *noise,
                           struct io_sensor_error_state *state);

/* The output of the axis for the true value u; two pairs from noise.  A u that is not finite is
 * passed through and has no effect on later samples.  Context: frame. */
double io_sensor_error_sample(const struct io_sensor_error_spec *spec, double u,
                              struct io_noise *noise, struct io_sensor_error_state *state);
