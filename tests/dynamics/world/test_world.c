/*
 * Where and when the world is: places on the Earth by known distances, a field that is one dipole,
 * the Sun at noon and at midnight.
 */
#include "dynamics/world/world.h"

#include <math.h>
#include <string.h>

#include "unity.h"

static const double DEGREE = 3.141592653589793 / 180.0;
static const double DAY = 86164.0989037; /* one turn */
static const double ORIGIN[3];

static struct dyn_world world;
static struct dyn_environment environment;
static struct dyn_geodetic at;
static double ned[3];

/* The equinox of March 2024, 03:06, when the Sun crosses the equator. */
void setUp(void)
{
    world = (struct dyn_world){.kind = DYN_WORLD_LOCAL,
                               .home = {47.4 * DEGREE, 8.5 * DEGREE, 488.0},
                               .epoch = dyn_epoch_of_date(2024, 3, 20, 3 * 3600 + 6 * 60)};
    dyn_world_begin(&world);
    environment = (struct dyn_environment){.kind = DYN_WORLD_LOCAL};
}

void tearDown(void)
{
}

static void use_orbit(void)
{
    world.kind = environment.kind = DYN_WORLD_ORBIT;
}

static void assert_3(double tolerance, double x, double y, double z, const double a[3])
{
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, x, a[0]);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, y, a[1]);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, z, a[2]);
}

/* ---- places ---- */

static void test_the_world_begins_at_home(void)
{
    const double v[3] = {1.0, 2.0, 3.0};
    for (int kind = DYN_WORLD_UNIFORM; kind <= DYN_WORLD_LOCAL; kind++) {
        world.kind = (enum dyn_world_kind)kind;
        dyn_world_geodetic(&world, 1e4, ORIGIN, v, &at, ned);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 47.4 * DEGREE, at.latitude);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 8.5 * DEGREE, at.longitude);
        TEST_ASSERT_DOUBLE_WITHIN(1e-8, 488.0, at.height);
        assert_3(1e-12, 1.0, 2.0, 3.0, ned);
    }
}

/* By the radii of curvature of the ellipsoid. */
static void test_metres_north_and_east_are_degrees(void)
{
    const double e2 = 6.69437999014e-3, s = sin(47.4 * DEGREE);
    const double N = 6378137.0 / sqrt(1.0 - e2 * s * s);
    const double M = N * (1.0 - e2) / (1.0 - e2 * s * s);
    dyn_world_geodetic(&world, 0.0, (double[]){100.0, 0.0, -20.0}, ORIGIN, &at, ned);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 47.4 * DEGREE + 100.0 / (M + 508.0), at.latitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 8.5 * DEGREE, at.longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 508.0, at.height);
    dyn_world_geodetic(&world, 0.0, (double[]){0.0, 100.0, 0.0}, ORIGIN, &at, ned);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 8.5 * DEGREE + 100.0 / ((N + 488.0) * cos(47.4 * DEGREE)),
                              at.longitude);
}

/* A tenth of a radian away down is another way; the world keeps the axes of its home. */
static void test_a_velocity_is_given_in_the_local_axes(void)
{
    world.home = (struct dyn_geodetic){0.0, 0.0, 0.0};
    dyn_world_begin(&world);
    const double east[3] = {0.0, 6378137.0 * sin(0.1), 6378137.0 * (1.0 - cos(0.1))};
    dyn_world_geodetic(&world, 0.0, east, (double[]){5.0, 10.0, 0.0}, &at, ned);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.1, at.longitude);
    assert_3(1e-9, 5.0, 10.0 * cos(0.1), -10.0 * sin(0.1), ned);
}

static void test_what_turns_with_the_earth_stands_still(void)
{
    const double w = 7.292115146706979e-5, r = 4.2164e7;
    double longitude[2];
    use_orbit();
    for (int k = 0; k < 2; k++) {
        const double seconds = 5000.0 * k, angle = w * seconds;
        const double p[3] = {r * cos(angle), r * sin(angle), 0.0};
        const double v[3] = {-w * r * sin(angle), w * r * cos(angle), 0.0};
        dyn_world_geodetic(&world, seconds, p, v, &at, ned);
        assert_3(1e-6, 0.0, 0.0, 0.0, ned);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, at.latitude);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, r - 6378137.0, at.height);
        longitude[k] = at.longitude;
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, longitude[0], longitude[1]);
    /* at 03:06 UT of an equinox the point of x, where the Sun is, stands 133.5 deg east */
    TEST_ASSERT_DOUBLE_WITHIN(2.5 * DEGREE, 133.5 * DEGREE, longitude[0]);
}

/* ---- field ---- */

static void use_field(double g10, double g11)
{
    world.has_field = true;
    world.field.degree = 1;
    world.field.g[dyn_magnetic_field_term(1, 0)] = g10;
    world.field.g[dyn_magnetic_field_term(1, 1)] = g11;
}

/* On the equator g10 points south: B = -g10 (6371.2 / r)^3. */
static void test_the_field_is_found_at_the_place(void)
{
    world.home = (struct dyn_geodetic){0.0, 0.3, 0.0};
    dyn_world_begin(&world);
    use_field(-3e-5, 0.0);
    dyn_world_update(&world, 0.0, ORIGIN, &environment);
    assert_3(1e-15, 3e-5 * pow(6371200.0 / 6378137.0, 3), 0.0, 0.0, environment.magnetic_field);
    dyn_world_update(&world, 0.0, (double[]){0.0, 0.0, -1e5}, &environment);
    assert_3(1e-15, 3e-5 * pow(6371200.0 / 6478137.0, 3), 0.0, 0.0, environment.magnetic_field);
}

/* A dipole across the axis turns with the Earth; half a turn later it points the other way. */
static void test_the_field_turns_with_the_earth_in_orbit(void)
{
    const double p[3] = {0.0, 7e6, 0.0};
    double first[3];
    use_orbit();
    use_field(0.0, 2e-5);
    dyn_world_update(&world, 0.0, p, &environment);
    memcpy(first, environment.magnetic_field, sizeof first);
    dyn_world_update(&world, DAY / 2.0, p, &environment);
    TEST_ASSERT_TRUE(hypot(first[0], first[1]) > 1e-5);
    assert_3(1e-12, -first[0], -first[1], -first[2], environment.magnetic_field);
    dyn_world_update(&world, DAY, p, &environment);
    assert_3(1e-12, first[0], first[1], first[2], environment.magnetic_field);
}

static void test_a_fixed_field_stays(void)
{
    use_field(-3e-5, 0.0);
    world.fixed_field = true;
    environment.magnetic_field[1] = 7e-6;
    dyn_world_update(&world, 0.0, ORIGIN, &environment);
    assert_3(0.0, 0.0, 7e-6, 0.0, environment.magnetic_field);
    world.fixed_field = world.has_field = false;
    dyn_world_update(&world, 0.0, ORIGIN, &environment);
    assert_3(0.0, 0.0, 7e-6, 0.0, environment.magnetic_field);
}

/* ---- Sun ---- */

/* 03:06 UT and the equation of time of -7.5 min: noon is at 12 h - 3.1 h + 0.125 h east. */
static void test_the_sun_is_overhead_at_noon_on_the_equator(void)
{
    const double noon = (12.0 - 3.1 + 7.5 / 60.0) * 15.0 * DEGREE;
    world.home = (struct dyn_geodetic){0.0, noon, 0.0};
    dyn_world_begin(&world);
    dyn_world_update(&world, 0.0, ORIGIN, &environment);
    assert_3(0.5 * DEGREE, 0.0, 0.0, -1.0, environment.sun);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, environment.sun_visible_fraction);
    dyn_world_update(&world, 43200.0, ORIGIN, &environment);
    assert_3(0.5 * DEGREE, 0.0, 0.0, 1.0, environment.sun);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, environment.sun_visible_fraction);
    dyn_world_update(&world, 6.0 * 3600, ORIGIN, &environment); /* it sets in the west */
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, -1.0, environment.sun[1]);
}

/* The Sun of an equinox is along x, up to the 0.3 deg that the equinox went since J2000. */
static void test_the_earth_shades_what_is_behind_it(void)
{
    use_orbit();
    dyn_world_update(&world, 0.0, (double[]){7e6, 0.0, 0.0}, &environment);
    assert_3(0.5 * DEGREE, 1.0, 0.0, 0.0, environment.sun);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, environment.sun_visible_fraction);
    dyn_world_update(&world, 0.0, (double[]){-7e6, 0.0, 0.0}, &environment);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, environment.sun_visible_fraction);
    dyn_world_update(&world, 182.6 * 86400.0, (double[]){-7e6, 0.0, 0.0}, &environment);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, environment.sun_visible_fraction);
    assert_3(4.0 * DEGREE, -1.0, 0.0, 0.0, environment.sun);
    TEST_ASSERT_DOUBLE_WITHIN(
        1e-15, 1.0, hypot(hypot(environment.sun[0], environment.sun[1]), environment.sun[2]));
}

static void test_the_rest_of_the_environment_is_left_alone(void)
{
    const struct dyn_environment before = environment =
        (struct dyn_environment){.kind = DYN_WORLD_LOCAL,
                                 .has_ground = true,
                                 .air = true,
                                 .gravity = {1, 2, 3},
                                 .wind = {4, 5, 6},
                                 .ground = 7,
                                 .height = 8};
    dyn_world_update(&world, 0.0, ORIGIN, &environment);
    assert_3(0.0, 1, 2, 3, environment.gravity);
    assert_3(0.0, 4, 5, 6, environment.wind);
    TEST_ASSERT_TRUE(environment.has_ground && environment.air && !environment.has_j2);
    TEST_ASSERT_EQUAL_DOUBLE(before.ground, environment.ground);
    TEST_ASSERT_EQUAL_DOUBLE(before.height, environment.height);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_world_begins_at_home);
    RUN_TEST(test_metres_north_and_east_are_degrees);
    RUN_TEST(test_a_velocity_is_given_in_the_local_axes);
    RUN_TEST(test_what_turns_with_the_earth_stands_still);
    RUN_TEST(test_the_field_is_found_at_the_place);
    RUN_TEST(test_the_field_turns_with_the_earth_in_orbit);
    RUN_TEST(test_a_fixed_field_stays);
    RUN_TEST(test_the_sun_is_overhead_at_noon_on_the_equator);
    RUN_TEST(test_the_earth_shades_what_is_behind_it);
    RUN_TEST(test_the_rest_of_the_environment_is_left_alone);
    return UNITY_END();
}
