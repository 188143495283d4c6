#include "tests/dynamics/world/orbit_truth.h"

#include <math.h>

static const double PI = 3.141592653589793;

struct dyn_orbit orbit_of_state(const struct dyn_orbit_state *state, double mu)
{
    const struct dyn_vec3 r = state->r, v = state->v, h = dyn_cross(r, v);
    const double distance = dyn_norm(r), flat = hypot(h.x, h.y);
    const struct dyn_vec3 e = dyn_sub(dyn_scale(1.0 / mu, dyn_cross(v, h)),
                                      dyn_scale(1.0 / distance, r)); /* to the perigee */
    struct dyn_orbit orbit = {
        .a = 1.0 / (2.0 / distance - dyn_dot(v, v) / mu),
        .e = dyn_norm(e),
        .i = atan2(flat, h.z),
        .node = flat > 0.0 ? atan2(h.x, -h.y) : 0.0,
    };
    const double size = dyn_norm(h);
    const double s = sin(orbit.node), c = cos(orbit.node);
    const struct dyn_vec3 n = {c, s, 0.0}; /* to the node, and m a quarter turn ahead of it */
    const struct dyn_vec3 m = {-s * h.z / size, c * h.z / size, flat / size};
    orbit.perigee = atan2(dyn_dot(e, m), dyn_dot(e, n));
    /* Counted from the perigee above, so that the two agree however poorly it is known. */
    const double true_anomaly = atan2(dyn_dot(r, m), dyn_dot(r, n)) - orbit.perigee;
    const double E = 2.0 * atan2(sqrt(1.0 - orbit.e) * sin(0.5 * true_anomaly),
                                 sqrt(1.0 + orbit.e) * cos(0.5 * true_anomaly));
    orbit.mean = remainder(E - orbit.e * sin(E), 2.0 * PI);
    return orbit;
}

struct dyn_orbit orbit_later(const struct dyn_orbit *orbit, double mu, double seconds)
{
    struct dyn_orbit later = *orbit;
    later.mean = remainder(orbit->mean + dyn_orbit_mean_motion(orbit, mu) * seconds, 2.0 * PI);
    return later;
}
