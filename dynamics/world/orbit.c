#include "dynamics/world/orbit.h"

static const double PI = 3.141592653589793;

/* For 0 <= M <= pi.  There f(E) = E - e sin E - M is convex, so that from any upper bound of the
 * root Newton's steps go down to it and never beyond. */
static double solve_kepler(double M, double e)
{
    enum { STEPS_MAX = 30 };
    double E = fmin(M + e, PI);               /* e sin E <= e */
    E = fmin(E, cbrt(PI * PI * M));           /* E - sin E >= E^3 / pi^2 */
    E = e < 1.0 ? fmin(E, M / (1.0 - e)) : E; /* sin E <= E */
    for (int k = 0; k < STEPS_MAX; k++) {
        const double step = (E - e * sin(E) - M) / (1.0 - e * cos(E));
        if (!(E - step < E)) /* rounding is all that is left */
            break;
        E -= step;
    }
    return E;
}

double dyn_orbit_eccentric_anomaly(double mean, double e)
{
    const double M = remainder(mean, 2.0 * PI);
    return (mean - M) + copysign(solve_kepler(fabs(M), e), M);
}

/* The plane of an orbit: n to the ascending node, m a quarter turn ahead of it. */
struct plane {
    struct dyn_vec3 n, m;
};

static struct plane plane_of(double node, double cos_i, double sin_i)
{
    const double s = sin(node), c = cos(node);
    return (struct plane){{c, s, 0.0}, {-s * cos_i, c * cos_i, sin_i}};
}

/* x along n and y along m */
static struct dyn_vec3 point_in_plane(const struct plane *plane, double x, double y)
{
    return dyn_add(dyn_scale(x, plane->n), dyn_scale(y, plane->m));
}

double dyn_orbit_mean_motion(const struct dyn_orbit *orbit, double mu)
{
    return sqrt(mu / orbit->a) / orbit->a;
}

struct dyn_orbit_state dyn_orbit_to_state(const struct dyn_orbit *orbit, double mu)
{
    const double a = orbit->a, e = orbit->e;
    const double E = dyn_orbit_eccentric_anomaly(orbit->mean, e), s = sin(E), c = cos(E);
    const double b = a * sqrt((1.0 - e) * (1.0 + e));
    const double E_rate = dyn_orbit_mean_motion(orbit, mu) / (1.0 - e * c);
    const struct plane plane = plane_of(orbit->node, cos(orbit->i), sin(orbit->i));
    const double sw = sin(orbit->perigee), cw = cos(orbit->perigee);
    const struct plane own = {point_in_plane(&plane, cw, sw), point_in_plane(&plane, -sw, cw)};
    return (struct dyn_orbit_state){
        .r = point_in_plane(&own, a * (c - e), b * s),
        .v = point_in_plane(&own, -a * E_rate * s, b * E_rate * c),
    };
}

struct dyn_orbit_drift dyn_orbit_drift(const struct dyn_orbit *orbit, double mu, double J2,
                                       double radius)
{
    const double square = (1.0 - orbit->e) * (1.0 + orbit->e);
    const double ratio = radius / (orbit->a * square), c = cos(orbit->i);
    const double k = 1.5 * dyn_orbit_mean_motion(orbit, mu) * J2 * ratio * ratio;
    return (struct dyn_orbit_drift){
        .node = -k * c,
        .perigee = 0.5 * k * (5.0 * c * c - 1.0),
        .mean = 0.5 * k * sqrt(square) * (3.0 * c * c - 1.0),
    };
}
