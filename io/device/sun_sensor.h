/*
 * Sun sensor: measures the direction of the Sun, if it is visible.
 *
 * The output is a unit vector in body axes, rotated by small random angles, with its components
 * rounded to the quantum and then normalised; it is zero while the Sun is out of the field of view
 * or less than half of its disc is visible.  It is `delay` samples old; before that many samples
 * there is none.  Every sample takes the same number of draws.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/device/noise.h"

enum { IO_SUN_SENSOR_DELAY_MAX = 16 };

struct io_sun_sensor_spec {
    double boresight[3]; /* body axes, unit */
    double half_angle;   /* rad, of the field of view about the boresight */
    double noise;        /* rad, deviation of each of the two axes across the Sun */
    double quantum;      /* of each component, rad, below 1; 0: continuous */
    uint32_t delay;      /* samples between light and output, < IO_SUN_SENSOR_DELAY_MAX */
};

/* Run state; every byte is part of the hash. */
struct io_sun_sensor_state {
    struct io_noise noise;
    double out[3]; /* the present output: a unit vector or zero */
    double line[IO_SUN_SENSOR_DELAY_MAX][3];
    uint64_t samples;
};
_Static_assert(sizeof(struct io_sun_sensor_state) ==
                   sizeof(struct io_noise) + (3 + 3 * IO_SUN_SENSOR_DELAY_MAX + 1) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_sun_sensor_begin(const struct io_sun_sensor_spec *spec, uint64_t seed, uint64_t stream,
                         struct io_sun_sensor_state *state);

/* Take one sample of the Sun's true direction in body axes, a unit vector, and of the fraction
 * of its disc that is not in the Earth's shadow, 0 to 1.  The result is in state->out.  False
 * before the delay has passed; state->out is zero then.  Context: frame. */
bool io_sun_sensor_sample(const struct io_sun_sensor_spec *spec, const double sun[3], double share,
                          struct io_sun_sensor_state *state);
