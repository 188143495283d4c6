#include "io/device/star_tracker.h"

#include <stdbool.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "io/device/angle.h"
#include "io/device/sample_delay.h"
#include "rt/check.h"

void io_star_tracker_begin(const struct io_star_tracker_spec *spec, uint64_t seed, uint64_t stream,
                           struct io_star_tracker_state *state)
{
    RT_CHECK(spec->delay < IO_STAR_TRACKER_DELAY_MAX);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
    state->attitude[0] = 1.0;
    state->good[0] = 1.0;
}

/* True when an object of this angular radius is nearer to the boresight than the exclusion
 * angle. */
static bool is_excluded(const struct io_star_tracker_spec *spec, const double direction[3],
                        double radius, double exclusion)
{
    const struct dyn_vec3 light = dyn_vec3_load(direction);
    const bool there = dyn_dot(light, light) > 0.0;
    return there && io_angle_between(dyn_vec3_load(spec->boresight), light) - radius < exclusion;
}

static bool has_solution(const struct io_star_tracker_spec *spec,
                         const struct io_star_tracker_view *view)
{
    const bool too_fast =
        spec->max_rate > 0.0 && !(dyn_norm(dyn_vec3_load(view->rate)) <= spec->max_rate);
    return !too_fast && !is_excluded(spec, view->sun, 0.0, spec->sun_exclusion) &&
           !is_excluded(spec, view->nadir, view->earth_angle, spec->earth_exclusion);
}

/* across (g - (b.g) b) + about (b.g) b: splits a normal vector g along the boresight b, without
 * axes across it. */
static struct dyn_vec3 draw_error(const struct io_star_tracker_spec *spec, struct io_noise *noise)
{
    const struct dyn_vec3 b = dyn_vec3_load(spec->boresight);
    double n[4];
    io_noise_normal_pair(noise, n);
    io_noise_normal_pair(noise, n + 2);
    const struct dyn_vec3 g = dyn_vec3_load(n), along = dyn_scale(dyn_dot(b, g), b);
    return dyn_add(dyn_scale(spec->noise_across, dyn_sub(g, along)),
                   dyn_scale(spec->noise_about, along));
}

bool io_star_tracker_sample(const struct io_star_tracker_spec *spec,
                            const struct io_star_tracker_view *view,
                            struct io_star_tracker_state *state)
{
    const struct dyn_quat noise = dyn_quat_exp(draw_error(spec, &state->noise));
    const struct dyn_quat constant = dyn_quat_exp(dyn_vec3_load(spec->misalignment));
    const struct dyn_quat answer =
        dyn_quat_mul(dyn_quat_load(view->attitude), dyn_quat_mul(constant, noise));
    double row[5] = {[4] = has_solution(spec, view)};

    if (row[4] != 0.0)
        dyn_quat_store(answer, state->good);
    memcpy(row, state->good, sizeof state->good);
    if (!io_sample_delay_pass(state->line[0], IO_STAR_TRACKER_DELAY_MAX, 5, state->samples++,
                              spec->delay, row, row))
        return false;
    memcpy(state->attitude, row, sizeof state->attitude);
    state->valid = row[4] != 0.0;
    return true;
}
