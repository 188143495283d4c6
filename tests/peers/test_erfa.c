/*
 * Places, the Earth's turn and the Sun judged by ERFA, the astronomers' library.
 */
#include <erfa.h>
#include <erfam.h>
#include <math.h>
#include <stdio.h>

#include "dynamics/earth.h"
#include "dynamics/sun.h"
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
        const struct dyn_instant instant = {days, seconds};
        const double want = eraEra00(J2000 + days, seconds / 86400.0);
        const double gap = remainder(dyn_earth_angle(&instant) - want, 360.0 * DEGREE);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, gap);
    }
}

/* As seen from the Earth now: from where the Earth was when the light left. */
static struct dyn_vec3 sun_by_erfa(const struct dyn_instant *instant)
{
    const double delta_t = 69.2, light = 499.005; /* TT - UT1 of our years; s per AU */
    const double tt = (instant->seconds + delta_t) / 86400.0;
    double heliocentric[2][3], barycentric[2][3], to_cirs[3][3], sun[3];
    (void)eraEpv00(J2000 + instant->days, tt - light / 86400.0, heliocentric, barycentric);
    eraC2i06a(J2000 + instant->days, tt, to_cirs);
    eraRxp(to_cirs, heliocentric[0], sun);
    return dyn_scale(-ERFA_DAU, dyn_vec3_load(sun));
}

static void test_the_sun_is_where_erfa_has_it(void)
{
    double worst = 0.0, farthest = 0.0;
    for (double days = -18262.0; days < 18263.0; days += 3.7) { /* 1950 to 2050 */
        const struct dyn_instant instant = {floor(days), 86400.0 * (days - floor(days))};
        const struct dyn_vec3 own = dyn_sun_at(&instant), want = sun_by_erfa(&instant);
        const double angle = atan2(dyn_norm(dyn_cross(own, want)), dyn_dot(own, want)) / DEGREE;
        worst = fmax(worst, angle);
        farthest = fmax(farthest, fabs(dyn_norm(own) / dyn_norm(want) - 1.0));
    }
    printf("Sun at most %.4f deg and %.1e of its distance apart\n", worst, farthest);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.0, worst);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.0, farthest);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_places_are_those_of_erfa);
    RUN_TEST(test_the_rotation_angle_is_that_of_erfa);
    RUN_TEST(test_the_sun_is_where_erfa_has_it);
    return UNITY_END();
}
