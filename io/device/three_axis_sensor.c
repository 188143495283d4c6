#include "io/device/three_axis_sensor.h"

#include <string.h>

#include "io/device/sample_delay.h"
#include "rt/check.h"

static struct io_sensor_error_spec axis_error(const struct io_three_axis_sensor_spec *spec,
                                              int axis)
{
    return (struct io_sensor_error_spec){
        .scale = spec->scale[axis],
        .bias = spec->bias[axis],
        .noise_density = spec->noise_density,
        .walk_density = spec->walk_density,
        .instability = spec->instability,
        .instability_time = spec->instability_time,
        .range = spec->range,
        .quantum = spec->quantum,
        .sample_time = spec->sample_time,
    };
}

void io_three_axis_sensor_begin(const struct io_three_axis_sensor_spec *spec, uint64_t seed,
                                uint64_t stream, struct io_three_axis_sensor_state *state)
{
    RT_CHECK(spec->delay < IO_THREE_AXIS_SENSOR_DELAY_MAX);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
    for (int i = 0; i < 3; i++) {
        const struct io_sensor_error_spec error = axis_error(spec, i);
        io_sensor_error_begin(&error, &state->noise, &state->error[i]);
    }
}

/* (1 + E) M u */
static void project(const struct io_three_axis_sensor_spec *spec, const double u[3], double y[3])
{
    const double *M = spec->mounting, *E = spec->misalignment;
    double m[3];
    for (int i = 0; i < 3; i++)
        m[i] = M[3 * i] * u[0] + M[3 * i + 1] * u[1] + M[3 * i + 2] * u[2];
    y[0] = m[0] + (E[0] * m[1] + E[1] * m[2]);
    y[1] = m[1] + (E[2] * m[0] + E[3] * m[2]);
    y[2] = m[2] + (E[4] * m[0] + E[5] * m[1]);
}

bool io_three_axis_sensor_sample(const struct io_three_axis_sensor_spec *spec, const double u[3],
                                 struct io_three_axis_sensor_state *state)
{
    double y[3];
    project(spec, u, y);
    for (int i = 0; i < 3; i++) {
        const struct io_sensor_error_spec error = axis_error(spec, i);
        y[i] = io_sensor_error_sample(&error, y[i], &state->noise, &state->error[i]);
    }
    return io_sample_delay_pass(state->line[0], IO_THREE_AXIS_SENSOR_DELAY_MAX, 3, state->samples++,
                                spec->delay, y, state->out);
}
