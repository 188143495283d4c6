#include "io/device/gps.h"

#include <string.h>

#include "io/device/gauss_markov.h"
#include "io/device/sample_delay.h"
#include "rt/check.h"

static double wander_sigma(const struct io_gps_spec *spec, int axis)
{
    return axis < 2 ? spec->wander_horizontal : spec->wander_vertical;
}

void io_gps_begin(const struct io_gps_spec *spec, uint64_t seed, uint64_t stream,
                  struct io_gps_state *state)
{
    RT_CHECK(spec->delay < IO_GPS_DELAY_MAX);
    RT_CHECK(spec->sample_time > 0.0);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
    for (int i = 0; i < 3; i++)
        state->wander[i] = wander_sigma(spec, i) * io_noise_normal(&state->noise);
}

/* One axis of position and velocity before the delay. */
static void measure(const struct io_gps_spec *spec, int axis, struct io_gps_state *state,
                    double *position, double *velocity)
{
    const double white = axis < 2 ? spec->noise_horizontal : spec->noise_vertical;
    const double speed = axis < 2 ? spec->velocity_noise_horizontal : spec->velocity_noise_vertical;
    double fast[2];
    io_noise_normal_pair(&state->noise, fast);

    *position += state->wander[axis] + white * fast[0];
    *velocity += speed * fast[1];
    state->wander[axis] = io_gauss_markov_step(
        io_gauss_markov_make(wander_sigma(spec, axis), spec->wander_time, spec->sample_time),
        state->wander[axis], io_noise_normal(&state->noise));
}

bool io_gps_sample(const struct io_gps_spec *spec, const double position[3],
                   const double velocity[3], struct io_gps_state *state)
{
    double row[6];
    for (int i = 0; i < 3; i++) {
        row[i] = position[i];
        row[3 + i] = velocity[i];
        measure(spec, i, state, &row[i], &row[3 + i]);
    }
    if (!io_sample_delay_pass(state->line[0], IO_GPS_DELAY_MAX, 6, state->samples++, spec->delay,
                              row, row))
        return false;
    memcpy(state->out.position, row, sizeof state->out.position);
    memcpy(state->out.velocity, row + 3, sizeof state->out.velocity);
    state->out.eph = spec->eph;
    state->out.epv = spec->epv;
    state->out.satellites = spec->satellites;
    state->out.fix_type = spec->fix_type;
    return true;
}
