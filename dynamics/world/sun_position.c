#include "dynamics/world/sun_position.h"

#include "dynamics/world/earth.h"

static const double PI = 3.141592653589793;
static const double DEGREE = 3.141592653589793 / 180.0;
static const double UNIT = 149597870700.0; /* astronomical, m */
static const double SUN_RADIUS = 695.7e6;

/* How far the equinox has gone from the origin of right ascension in ECI, as an angle: Greenwich
 * sidereal time less the rotation angle (IERS Conventions 2010, eq. 5.32, to second order). */
static double equinox_offset(double T)
{
    return (0.014506 + (4612.156534 + 1.3915817 * T) * T) / 3600.0 * DEGREE;
}

/* The perturbations of the longitude by Venus, Jupiter and the Moon, deg: Meeus, Astronomical
 * Formulae for Calculators, ch. 18, its century counted from 1900. */
static double perturbation(double T)
{
    const double S = T + 1.0;
    return 0.00134 * cos(DEGREE * (153.23 + 22518.7541 * S)) +
           0.00154 * cos(DEGREE * (216.57 + 45037.5082 * S)) +
           0.00200 * cos(DEGREE * (312.69 + 32964.3577 * S)) +
           0.00179 * sin(DEGREE * (350.74 + 445267.1142 * S));
}

struct dyn_vec3 dyn_sun_position(const struct dyn_epoch *epoch)
{
    const double T = dyn_epoch_days(epoch) / 36525.0;
    const double M = DEGREE * (357.52911 + (35999.05029 - 0.0001537 * T) * T); /* mean anomaly */
    const double L = 280.46646 + (36000.76983 + 0.0003032 * T) * T;            /* deg, mean */
    const double centre = (1.914602 - 0.004817 * T) * sin(M) +
                          (0.019993 - 0.000101 * T) * sin(2.0 * M) + 0.000289 * sin(3.0 * M);
    const double lambda = DEGREE * (L + centre + perturbation(T) - 0.00569); /* with aberration */
    const double epsilon = DEGREE * (23.439291 - 0.0130042 * T);
    const double e = 0.016708634 - 0.000042037 * T;
    const double R = UNIT * (1.0 - e * e) / (1.0 + e * cos(M + DEGREE * centre));
    /* equator and equinox of date, then about the axis to the origin of ECI */
    const struct dyn_vec3 s = {R * cos(lambda), R * cos(epsilon) * sin(lambda),
                               R * sin(epsilon) * sin(lambda)};
    const double back = equinox_offset(T), sb = sin(back), cb = cos(back);
    return (struct dyn_vec3){cb * s.x + sb * s.y, cb * s.y - sb * s.x, s.z};
}

/* The angle between two vectors, good for small ones too. */
static double angle_between(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return atan2(dyn_norm(dyn_cross(a, b)), dyn_dot(a, b));
}

/* Of a disc of radius a, the area on the far side of a chord at distance x from its centre. */
static double disc_segment_area(double a, double x)
{
    const double k = fmax(-1.0, fmin(x / a, 1.0)); /* beyond it by rounding only */
    return a * a * (acos(k) - k * sqrt(1.0 - k * k));
}

double dyn_sun_visible_fraction(struct dyn_vec3 sun, struct dyn_vec3 r)
{
    /* Montenbruck and Gill, Satellite Orbits, 3.4.2: two discs on the sky. */
    const struct dyn_vec3 to_sun = dyn_sub(sun, r);
    const double a = asin(SUN_RADIUS / dyn_norm(to_sun));
    const double b = asin(fmin(DYN_EARTH_RADIUS / dyn_norm(r), 1.0));
    const double c = angle_between(to_sun, dyn_scale(-1.0, r));
    if (c >= a + b)
        return 1.0;
    if (c <= b - a)
        return 0.0;
    if (c <= a - b) /* so far away that the Earth fits into the Sun */
        return 1.0 - b * b / (a * a);
    const double x = (c * c + a * a - b * b) / (2.0 * c);
    return 1.0 - (disc_segment_area(a, x) + disc_segment_area(b, c - x)) / (PI * a * a);
}
