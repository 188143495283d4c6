/*
 * A sensor with one output: barometer, airspeed probe, encoder.
 *
 * The errors are those of io/device/sensor_error.h.  The output is `delay` samples old; before that
 * many samples there is none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/device/sensor_error.h"

enum { IO_SCALAR_SENSOR_DELAY_MAX = 16 };

struct io_scalar_sensor_spec {
    struct io_sensor_error_spec error;
    uint32_t delay; /* samples between truth and output, < IO_SCALAR_SENSOR_DELAY_MAX */
};

/* Run state; every byte is part of the hash. */
struct io_scalar_sensor_state {
    struct io_noise noise;
    struct io_sensor_error_state error;
    double out; /* the present output */
    double line[IO_SCALAR_SENSOR_DELAY_MAX];
    uint64_t samples;
};
_Static_assert(sizeof(struct io_scalar_sensor_state) ==
                   sizeof(struct io_noise) + (2 + 1 + IO_SCALAR_SENSOR_DELAY_MAX + 1) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_scalar_sensor_begin(const struct io_scalar_sensor_spec *spec, uint64_t seed,
                            uint64_t stream, struct io_scalar_sensor_state *state);

/* Take one sample of the true value u; the result is in state->out.  False before the delay has
 * passed; state->out is zero then.  Context: frame. */
bool io_scalar_sensor_sample(const struct io_scalar_sensor_spec *spec, double u,
                             struct io_scalar_sensor_state *state);
