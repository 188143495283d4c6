#include "io/device/horizon_sensor.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "io/device/angle.h"
#include "io/device/sample_delay.h"
#include "rt/check.h"

void io_horizon_sensor_begin(const struct io_horizon_sensor_spec *spec, uint64_t seed,
                             uint64_t stream, struct io_horizon_sensor_state *state)
{
    RT_CHECK(spec->delay < IO_HORIZON_SENSOR_DELAY_MAX);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
}

static bool is_blinded(const struct io_horizon_sensor_spec *spec,
                       const struct io_horizon_sensor_view *view)
{
    const struct dyn_vec3 sun = dyn_vec3_load(view->sun);
    if (!(dyn_dot(sun, sun) > 0.0))
        return false;
    const double from_boresight = io_angle_between(dyn_vec3_load(spec->boresight), sun);
    const double from_limb =
        fabs(io_angle_between(dyn_vec3_load(view->earth), sun) - view->earth_angle);
    return from_boresight < spec->sun_exclusion || from_limb < spec->sun_exclusion;
}

static bool is_seen(const struct io_horizon_sensor_spec *spec,
                    const struct io_horizon_sensor_view *view)
{
    const struct dyn_vec3 earth = dyn_vec3_load(view->earth);
    return dyn_dot(earth, earth) > 0.0 &&
           io_angle_between(dyn_vec3_load(spec->boresight), earth) <= spec->half_angle &&
           !is_blinded(spec, view);
}

/* s + e x s with e normal in all axes: the part of e along s does nothing. */
static struct dyn_vec3 add_noise(const struct io_horizon_sensor_spec *spec, struct dyn_vec3 s,
                                 struct io_noise *noise)
{
    double n[4];
    io_noise_normal_pair(noise, n);
    io_noise_normal_pair(noise, n + 2);
    const struct dyn_vec3 y = dyn_add(s, dyn_cross(dyn_scale(spec->noise, dyn_vec3_load(n)), s));
    return dyn_scale(1.0 / dyn_norm(y), y);
}

bool io_horizon_sensor_sample(const struct io_horizon_sensor_spec *spec,
                              const struct io_horizon_sensor_view *view,
                              struct io_horizon_sensor_state *state)
{
    const struct dyn_vec3 y = add_noise(spec, dyn_vec3_load(view->earth), &state->noise);
    double row[4] = {0.0, 0.0, 0.0, is_seen(spec, view)};
    if (row[3] != 0.0)
        dyn_vec3_store(y, row);
    return io_sample_delay_pass(state->line[0], IO_HORIZON_SENSOR_DELAY_MAX, 4, state->samples++,
                                spec->delay, row, state->out);
}
