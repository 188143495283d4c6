#include "io/device/triad.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

void io_triad_begin(const struct io_triad_spec *spec, uint64_t seed, uint64_t stream,
                    struct io_triad_state *state)
{
    RT_CHECK(spec->delay < IO_TRIAD_DELAY_MAX);
    RT_CHECK(spec->sample_time > 0.0);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
}

/* Nearest code, then the ends of the range; comparisons let a NaN through to be seen. */
static double convert(const struct io_triad_spec *spec, double y)
{
    if (spec->quantum > 0.0)
        y = spec->quantum * rint(y / spec->quantum);
    if (spec->range > 0.0 && y > spec->range)
        y = spec->range;
    if (spec->range > 0.0 && y < -spec->range)
        y = -spec->range;
    return y;
}

/* What the converter sees now, before the delay. */
static void measure(const struct io_triad_spec *spec, const double u[3],
                    struct io_triad_state *state, double y[3])
{
    const double root = sqrt(spec->sample_time);

    for (int i = 0; i < 3; i++) {
        const double *M = &spec->mounting[3 * i];
        double normal[2];
        io_noise_normal_pair(&state->noise, normal);

        const double ideal = M[0] * u[0] + M[1] * u[1] + M[2] * u[2];
        const double error =
            spec->bias[i] + state->walk[i] + spec->noise_density / root * normal[0];
        y[i] = convert(spec, (1.0 + spec->scale[i]) * ideal + error);
        state->walk[i] += spec->walk_density * root * normal[1];
    }
}

void io_triad_sample(const struct io_triad_spec *spec, const double u[3],
                     struct io_triad_state *state)
{
    const uint64_t age = state->samples < spec->delay ? state->samples : spec->delay;

    measure(spec, u, state, state->line[state->samples % IO_TRIAD_DELAY_MAX]);
    memcpy(state->out, state->line[(state->samples - age) % IO_TRIAD_DELAY_MAX], sizeof state->out);
    state->samples++;
}
