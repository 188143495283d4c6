#include "io/device/sun_sensor.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "io/device/angle.h"
#include "io/device/sample_delay.h"
#include "rt/check.h"

/* The longest component of a unit vector is above 0.57: below 1 the quantum cannot round all three
 * to zero. */
void io_sun_sensor_begin(const struct io_sun_sensor_spec *spec, uint64_t seed, uint64_t stream,
                         struct io_sun_sensor_state *state)
{
    RT_CHECK(spec->delay < IO_SUN_SENSOR_DELAY_MAX);
    RT_CHECK(spec->quantum < 1.0);
    memset(state, 0, sizeof *state);
    io_noise_seed(&state->noise, seed, stream);
}

static struct dyn_vec3 unit(struct dyn_vec3 a)
{
    return dyn_scale(1.0 / dyn_norm(a), a);
}

static struct dyn_vec3 quantise(struct dyn_vec3 a, double quantum)
{
    const struct dyn_vec3 code = {rint(a.x / quantum), rint(a.y / quantum), rint(a.z / quantum)};
    return dyn_scale(quantum, code);
}

/* s + e x s with e normal in all axes: the component of e along s has no effect. */
static struct dyn_vec3 add_noise(const struct io_sun_sensor_spec *spec, struct dyn_vec3 s,
                                 struct io_noise *noise)
{
    double n[4];
    io_noise_normal_pair(noise, n);
    io_noise_normal_pair(noise, n + 2);
    const struct dyn_vec3 e = dyn_scale(spec->noise, dyn_vec3_load(n));
    const struct dyn_vec3 y = unit(dyn_add(s, dyn_cross(e, s)));
    return spec->quantum > 0.0 ? unit(quantise(y, spec->quantum)) : y;
}

bool io_sun_sensor_sample(const struct io_sun_sensor_spec *spec, const double sun[3], double share,
                          struct io_sun_sensor_state *state)
{
    const struct dyn_vec3 s = dyn_vec3_load(sun), boresight = dyn_vec3_load(spec->boresight);
    const struct dyn_vec3 y = add_noise(spec, s, &state->noise);
    double row[3] = {0.0, 0.0, 0.0};

    if (dyn_dot(s, s) > 0.0 && io_angle_between(boresight, s) <= spec->half_angle && share >= 0.5)
        dyn_vec3_store(y, row);
    return io_sample_delay_pass(state->line[0], IO_SUN_SENSOR_DELAY_MAX, 3, state->samples++,
                                spec->delay, row, state->out);
}
