#include "io/device/sensor_error.h"

#include <math.h>

#include "io/device/gauss_markov.h"
#include "rt/check.h"

void io_sensor_error_begin(const struct io_sensor_error_spec *spec, struct io_noise *noise,
                           struct io_sensor_error_state *state)
{
    RT_CHECK(spec->sample_time > 0.0);
    state->walk = 0.0;
    state->wander = spec->instability * io_noise_normal(noise);
}

/* Rounds to the nearest code, then clamps to the range; the comparisons let a NaN through, so
 * that it is visible. */
static double convert(const struct io_sensor_error_spec *spec, double y)
{
    if (spec->quantum > 0.0)
        y = spec->quantum * rint(y / spec->quantum);
    if (spec->range > 0.0 && y > spec->range)
        y = spec->range;
    if (spec->range > 0.0 && y < -spec->range)
        y = -spec->range;
    return y;
}

double io_sensor_error_sample(const struct io_sensor_error_spec *spec, double u,
                              struct io_noise *noise, struct io_sensor_error_state *state)
{
    const double dt = spec->sample_time, root = sqrt(dt);
    double fast[2], slow[2];
    io_noise_normal_pair(noise, fast);
    io_noise_normal_pair(noise, slow);

    const double error =
        spec->bias + state->walk + state->wander + spec->noise_density / root * fast[0];
    const double y = convert(spec, (1.0 + spec->scale) * u + error);
    state->walk += spec->walk_density * root * fast[1];
    state->wander =
        io_gauss_markov_step(io_gauss_markov_make(spec->instability, spec->instability_time, dt),
                             state->wander, slow[0]);
    return y;
}
