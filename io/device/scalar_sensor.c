#include "io/device/scalar_sensor.h"

#include <string.h>

#include "io/device/sample_delay.h"
#include "rt/check.h"

void io_scalar_sensor_begin(const struct io_scalar_sensor_spec *spec, uint64_t seed,
                            uint64_t stream, struct io_scalar_sensor_state *state)
{
    RT_CHECK(spec->delay < IO_SCALAR_SENSOR_DELAY_MAX);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
    io_sensor_error_begin(&spec->error, &state->noise, &state->error);
}

bool io_scalar_sensor_sample(const struct io_scalar_sensor_spec *spec, double u,
                             struct io_scalar_sensor_state *state)
{
    const double y = io_sensor_error_sample(&spec->error, u, &state->noise, &state->error);
    return io_sample_delay_pass(state->line, IO_SCALAR_SENSOR_DELAY_MAX, 1, state->samples++,
                                spec->delay, &y, &state->out);
}
