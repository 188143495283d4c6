/*
 * A three-axis sensor: rate gyro, accelerometer, magnetometer.
 *
 *      y = errors of io/device/sensor_error.h on each axis of (1 + E) M u
 *
 * M is the mounting (sensor axes from body axes); E is the misalignment of the axes against M and
 * each other.  Every sample takes the same number of draws, whatever the errors are.
 *
 * The output is `delay` samples old.  Before that many samples there is none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/device/sensor_error.h"

enum { IO_THREE_AXIS_SENSOR_DELAY_MAX = 16 };

struct io_three_axis_sensor_spec {
    double mounting[9];      /* M, row-major rotation */
    double misalignment[6];  /* E, rad: xy xz yx yz zx zy; xy is the sensitivity of axis x to y */
    double scale[3];         /* relative error, 0 is perfect */
    double bias[3];          /* at switch-on */
    double noise_density;    /* unit / sqrt(Hz) */
    double walk_density;     /* unit sqrt(Hz), random walk of the bias */
    double instability;      /* unit, standard deviation of the wandering bias */
    double instability_time; /* s, its correlation time */
    double range;            /* +-, 0: unlimited */
    double quantum;          /* 0: continuous */
    uint32_t delay;     /* samples between motion and output, < IO_THREE_AXIS_SENSOR_DELAY_MAX */
    double sample_time; /* s */
};

/* Run state; every byte is part of the hash. */
struct io_three_axis_sensor_state {
    struct io_noise noise;
    struct io_sensor_error_state error[3];
    double out[3]; /* the present output */
    double line[IO_THREE_AXIS_SENSOR_DELAY_MAX][3];
    uint64_t samples;
};
_Static_assert(sizeof(struct io_three_axis_sensor_state) ==
                   sizeof(struct io_noise) +
                       (2 * 3 + 3 + 3 * IO_THREE_AXIS_SENSOR_DELAY_MAX + 1) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_three_axis_sensor_begin(const struct io_three_axis_sensor_spec *spec, uint64_t seed,
                                uint64_t stream, struct io_three_axis_sensor_state *state);

/* Take one sample of the true vector u in body axes; the result is in state->out.  A u that is
 * not finite is passed through and has no effect on later samples.  False before the delay has
 * passed; state->out is zero then.  Context: frame. */
bool io_three_axis_sensor_sample(const struct io_three_axis_sensor_spec *spec, const double u[3],
                                 struct io_three_axis_sensor_state *state);
