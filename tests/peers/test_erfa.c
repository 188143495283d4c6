/*
 * Places, the Earth's turn and the Sun judged by ERFA, the astronomers' library.
 */
#include <erfa.h>
#include <erfam.h>
#include <math.h>
#include <stdio.h>

#include "dynamics/world/earth.h"
#include "dynamics/world/sun_position.h"
#include "dynamics/world/world.h"
#include "unity.h"

static const double DEGREE = 3.141592653589793 / 180.0;
static const double J2000 = 2451545.0;

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_places_are_those_of_erfa(void)
{
    double worst = 0.0;
    for (int lat = -90; lat <= 90; lat += 3)
        for (int lon = -180; lon < 180; lon += 30)
            for (int k = 0; k < 5; k++) {
                static const double heights[] = {-10e3, 0.0, 488.0, 500e3, 35786e3};
                const struct dyn_geodetic at = {lat * DEGREE, lon * DEGREE, heights[k]};
                double xyz[3], elong, phi, height;
                TEST_ASSERT_EQUAL_INT(0, eraGd2gc(1, at.longitude, at.latitude, at.height, xyz));
                const struct dyn_vec3 r = dyn_vec3_load(xyz), own = dyn_earth_to_ecef(&at);
                TEST_ASSERT_DOUBLE_WITHIN(1e-15 * dyn_norm(r), 0.0, dyn_norm(dyn_sub(own, r)));
                TEST_ASSERT_EQUAL_INT(0, eraGc2gd(1, xyz, &elong, &phi, &height));
                const struct dyn_geodetic back = dyn_earth_to_geodetic(r);
                worst = fmax(worst, fabs(back.height - height));
                TEST_ASSERT_DOUBLE_WITHIN(k < 3 ? 1e-15 : 3e-11, phi,
                                          back.latitude); /* its error */
                TEST_ASSERT_DOUBLE_WITHIN(3e-8, height, back.height);
            }
    printf("heights at most %.2g m apart\n", worst);
}

static void test_the_rotation_angle_is_that_of_erfa(void)
{
    for (int days = -18000; days <= 18000; days += 61) {
        const double seconds = 13.7 * days;
        const struct dyn_epoch instant = {days, seconds};
        const double want = eraEra00(J2000 + days, seconds / 86400.0);
        const double gap = remainder(dyn_earth_rotation_angle(&instant) - want, 360.0 * DEGREE);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, gap);
    }
}

static const double DELTA_T = 69.2; /* TT - UT1 of our years, s */

/* As seen from the Earth now, from where the Earth was when the light left; axes of J2000 (GCRS).
 */
static void sun_by_erfa(const struct dyn_epoch *instant, double sun[3])
{
    const double light = 499.005; /* s per AU */
    const double tt = (instant->seconds + DELTA_T - light) / 86400.0;
    double heliocentric[2][3], barycentric[2][3];
    (void)eraEpv00(J2000 + instant->days, tt, heliocentric, barycentric);
    eraSxp(-ERFA_DAU, heliocentric[0], sun);
}

/* GCRS to the world's axes in orbit as world.h describes them: by precession to the mean equator
 * and equinox of date, then along the equator to the celestial intermediate origin, which is as far
 * away as Greenwich mean sidereal time is from the rotation angle. */
static void to_world_axes(const struct dyn_epoch *instant, double turn[3][3])
{
    const double days = J2000 + instant->days, ut = instant->seconds / 86400.0;
    const double tt = (instant->seconds + DELTA_T) / 86400.0;
    eraPmat06(days, tt, turn);
    eraRz(eraGmst06(days, ut, days, tt) - eraEra00(days, ut), turn);
}

static double degrees_between(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return atan2(dyn_norm(dyn_cross(a, b)), dyn_dot(a, b)) / DEGREE;
}

static struct dyn_epoch instant_of(double days)
{
    return (struct dyn_epoch){floor(days), 86400.0 * (days - floor(days))};
}

static void test_the_sun_is_where_erfa_has_it(void)
{
    double mean = 0.0, nutated = 0.0, old = 0.0, farthest = 0.0;
    for (double days = -18262.0; days < 18263.0; days += 3.7) { /* 1950 to 2050 */
        const struct dyn_epoch instant = instant_of(days);
        const struct dyn_vec3 own = dyn_sun_position(&instant);
        double gcrs[3], world[3], cirs[3], turn[3][3];
        sun_by_erfa(&instant, gcrs);
        to_world_axes(&instant, turn);
        eraRxp(turn, gcrs, world);
        eraC2i06a(J2000 + instant.days, (instant.seconds + DELTA_T) / 86400.0, turn);
        eraRxp(turn, gcrs, cirs);
        mean = fmax(mean, degrees_between(own, dyn_vec3_load(world)));
        nutated = fmax(nutated, degrees_between(own, dyn_vec3_load(cirs)));
        old = fmax(old, degrees_between(own, dyn_vec3_load(gcrs)));
        farthest = fmax(farthest, fabs(dyn_norm(own) / dyn_norm(dyn_vec3_load(gcrs)) - 1.0));
    }
    printf("Sun at most %.4f deg from ERFA's in the world's axes (%.4f with nutation) and %.1e of "
           "its distance; %.2f deg from that of J2000\n",
           mean, nutated, farthest, old);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.0, mean);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.0, nutated);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.0, farthest);
}

/* The pole of date has moved by 20.04 arcsec a year since 2000, and x with it as little as can be.
 */
static void test_the_axes_part_from_those_of_j2000_as_documented(void)
{
    for (double year = 1950.0; year <= 2050.0; year += 5.0) {
        const struct dyn_epoch instant = instant_of(365.25 * (year - 2000.0));
        double turn[3][3], angles[3];
        to_world_axes(&instant, turn);
        eraRm2v(turn, angles);
        const double apart = dyn_norm(dyn_vec3_load(angles)) / DEGREE;
        TEST_ASSERT_DOUBLE_WITHIN(2e-4, 0.005567 * fabs(year - 2000.0), apart);
        TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.0, angles[2] / DEGREE);
    }
}

/* From the ground: with all of ERFA's chain from GCRS to the turning Earth, nutation included, but
 * for polar motion. */
static void test_the_sun_over_a_home_is_where_erfa_has_it(void)
{
    static const struct dyn_geodetic homes[] = {{47.4 * DEGREE, 8.5 * DEGREE, 488.0},
                                                {-33.9 * DEGREE, 151.2 * DEGREE, 0.0}};
    double worst = 0.0;
    for (double days = -18262.0; days < 18263.0; days += 17.3)
        for (int k = 0; k < 2; k++) {
            struct dyn_world world = {
                .kind = DYN_WORLD_LOCAL, .home = homes[k], .epoch = instant_of(days)};
            struct dyn_environment environment = {.kind = DYN_WORLD_LOCAL};
            const double here[3] = {0.0, 0.0, 0.0};
            const double at = J2000 + world.epoch.days, seconds = world.epoch.seconds;
            double gcrs[3], itrs[3], turn[3][3];
            dyn_world_begin(&world);
            dyn_world_update(&world, 0.0, here, &environment);
            sun_by_erfa(&world.epoch, gcrs);
            eraC2t06a(at, (seconds + DELTA_T) / 86400.0, at, seconds / 86400.0, 0.0, 0.0, turn);
            eraRxp(turn, gcrs, itrs);
            const struct dyn_home home = dyn_home_at(&homes[k]);
            const struct dyn_vec3 want = dyn_mul(&home.E, dyn_vec3_load(itrs));
            worst = fmax(worst, degrees_between(dyn_vec3_load(environment.sun), want));
        }
    printf("Sun over a home at most %.4f deg from ERFA's\n", worst);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.0, worst);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_places_are_those_of_erfa);
    RUN_TEST(test_the_rotation_angle_is_that_of_erfa);
    RUN_TEST(test_the_sun_is_where_erfa_has_it);
    RUN_TEST(test_the_axes_part_from_those_of_j2000_as_documented);
    RUN_TEST(test_the_sun_over_a_home_is_where_erfa_has_it);
    return UNITY_END();
}
