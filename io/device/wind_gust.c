#include "io/device/wind_gust.h"

#include <string.h>

#include "io/device/gauss_markov.h"
#include "rt/check.h"

void io_wind_gust_begin(const struct io_wind_gust_spec *spec, uint64_t seed, uint64_t stream,
                        struct io_wind_gust_state *state)
{
    RT_CHECK(spec->sample_time > 0.0);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
    for (int i = 0; i < 3; i++)
        state->out[i] = spec->sigma[i] * io_noise_normal(&state->noise);
}

void io_wind_gust_step(const struct io_wind_gust_spec *spec, struct io_wind_gust_state *state)
{
    for (int i = 0; i < 3; i++) {
        const struct io_gauss_markov wander =
            io_gauss_markov_make(spec->sigma[i], spec->time[i], spec->sample_time);
        state->out[i] = io_gauss_markov_step(wander, state->out[i], io_noise_normal(&state->noise));
    }
}
