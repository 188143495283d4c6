#include "dynamics/world/earth.h"

static const double F = DYN_EARTH_FLATTENING;
static const double E2 = DYN_EARTH_FLATTENING * (2.0 - DYN_EARTH_FLATTENING);
static const double POLAR_RADIUS = DYN_EARTH_RADIUS * (1.0 - DYN_EARTH_FLATTENING);
static const double TURN = 6.283185307179586;

/* ---- ellipsoid ---- */

struct dyn_vec3 dyn_earth_to_ecef(const struct dyn_geodetic *at)
{
    const double s = sin(at->latitude), c = cos(at->latitude);
    const double N = DYN_EARTH_RADIUS / sqrt(1.0 - E2 * s * s);
    const double p = (N + at->height) * c;
    return (struct dyn_vec3){p * cos(at->longitude), p * sin(at->longitude),
                             ((1.0 - E2) * N + at->height) * s};
}

struct dyn_geodetic dyn_earth_to_geodetic(struct dyn_vec3 r)
{
    enum { STEPS = 2 }; /* the first leaves 8e-9 rad at worst, 12,700 km up; then it is rounding */
    const double p = hypot(r.x, r.y);
    double up = r.z, out = (1.0 - F) * p; /* of the reduced latitude beta, any length */
    double s = 0.0, c = 1.0;
    for (int k = 0; k < STEPS; k++) {
        /* tan phi = (z + e'^2 b sin^3 beta) / (p - e^2 a cos^3 beta) */
        const double beta = 1.0 / hypot(up, out), sb = up * beta, cb = out * beta;
        const double z = r.z + E2 / (1.0 - E2) * POLAR_RADIUS * sb * sb * sb;
        const double x = p - E2 * DYN_EARTH_RADIUS * cb * cb * cb;
        const double phi = 1.0 / hypot(z, x);
        s = z * phi;
        c = x * phi;
        up = (1.0 - F) * s;
        out = c;
    }
    return (struct dyn_geodetic){
        .latitude = atan2(s, c),
        .longitude = atan2(r.y, r.x),
        /* along the normal, which no latitude spoils */
        .height = p * c + r.z * s - DYN_EARTH_RADIUS * sqrt(1.0 - E2 * s * s),
    };
}

/* ---- home ---- */

struct dyn_home dyn_home_at(const struct dyn_geodetic *at)
{
    const double s = sin(at->latitude), c = cos(at->latitude);
    const double sl = sin(at->longitude), cl = cos(at->longitude);
    return (struct dyn_home){
        .origin = dyn_earth_to_ecef(at),
        .E = {{{-s * cl, -s * sl, c}, {-sl, cl, 0.0}, {-c * cl, -c * sl, -s}}},
    };
}

struct dyn_vec3 dyn_home_to_ecef(const struct dyn_home *home, struct dyn_vec3 ned)
{
    return dyn_add(home->origin, dyn_mul_t(&home->E, ned));
}

/* ---- rotation ---- */

double dyn_earth_rotation_angle(const struct dyn_epoch *epoch)
{
    /* IERS Conventions 2010, eq. 5.15.  Whole days are whole turns and a bit; that bit stays the
     * same in a run, and its large number does not shake what the seconds add. */
    static const double BIT = 0.00273781191135448;
    const double start = 0.7790572732640 + BIT * epoch->days;
    const double turns = (start - floor(start)) + (1.0 + BIT) * (epoch->seconds / 86400.0);
    return TURN * (turns - floor(turns));
}

struct dyn_mat3 dyn_earth_eci_to_ecef(const struct dyn_epoch *epoch)
{
    const double angle = dyn_earth_rotation_angle(epoch), s = sin(angle), c = cos(angle);
    return (struct dyn_mat3){{{c, s, 0.0}, {-s, c, 0.0}, {0.0, 0.0, 1.0}}};
}

/* -w x r: what the turning of the Earth adds to the velocity of r. */
static struct dyn_vec3 turning_velocity(struct dyn_vec3 r)
{
    return (struct dyn_vec3){DYN_EARTH_RATE * r.y, -DYN_EARTH_RATE * r.x, 0.0};
}

struct dyn_vec3 dyn_earth_velocity_to_ecef(const struct dyn_mat3 *turn, struct dyn_vec3 r,
                                           struct dyn_vec3 v)
{
    return dyn_mul(turn, dyn_add(v, turning_velocity(r)));
}

/* ---- gravity ---- */

struct dyn_vec3 dyn_earth_central_gravity(struct dyn_vec3 r)
{
    const double d = dyn_norm(r);
    return dyn_scale(-DYN_EARTH_MU / (d * d * d), r);
}

struct dyn_vec3 dyn_earth_j2_gravity(struct dyn_vec3 r)
{
    /* -3/2 J2 GM/r^2 (a/r)^2 (x/r (1 - 5 s^2), y/r (1 - 5 s^2), z/r (3 - 5 s^2)), s = z/r */
    const double d2 = dyn_dot(r, r), d = sqrt(d2), s2 = r.z * r.z / d2;
    const double ratio = DYN_EARTH_RADIUS * DYN_EARTH_RADIUS / d2;
    const double k = -1.5 * DYN_EARTH_J2 * DYN_EARTH_MU * ratio / (d2 * d);
    const double across = k * (1.0 - 5.0 * s2);
    return (struct dyn_vec3){across * r.x, across * r.y, k * (3.0 - 5.0 * s2) * r.z};
}

double dyn_earth_normal_gravity(double latitude, double height)
{
    /* TR8350.2, eq. 4-1 and 4-3, with its derived constants: gravity at the equator, k, and
     * m = w^2 a^2 b / GM. */
    static const double EQUATOR = 9.7803253359, K = 1.931852652458e-3, M = 3.449786506841e-3;
    const double s2 = sin(latitude) * sin(latitude), u = height / DYN_EARTH_RADIUS;
    const double ground = EQUATOR * (1.0 + K * s2) / sqrt(1.0 - E2 * s2);
    return ground * (1.0 - 2.0 * (1.0 + F + M - 2.0 * F * s2) * u + 3.0 * u * u);
}
