/*
 * The world around the vehicle: what is written of it, and what follows from a place and a date.
 */
#include "rt/executive/state/run_state.h"
#include "tests/config/loaded.h"

static void load_world(const char *environment)
{
    char text[1024];
    snprintf(text, sizeof text,
             "name: x\nenvironment: {%s}\n"
             "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n",
             environment);
    load(text);
}

static void test_a_world_of_which_nothing_is_said_is_uniform_and_empty(void)
{
    load("name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n");
    const struct dyn_environment *world = &scenario->spec.environment;
    TEST_ASSERT_EQUAL_INT(DYN_WORLD_UNIFORM, world->kind);
    TEST_ASSERT_EQUAL_INT(DYN_WORLD_UNIFORM, scenario->spec.world.kind);
    TEST_ASSERT_FALSE(world->air || world->has_ground || world->has_j2 || scenario->spec.has_gust);
    EXPECT_VECTOR(world->gravity, 0, 0, 0);
    EXPECT_VECTOR(world->magnetic_field, 0, 0, 0);
    EXPECT_VECTOR(world->wind, 0, 0, 0);
    NEAR(47.397742 * DEGREE, scenario->spec.world.home.latitude);
    NEAR(8.545594 * DEGREE, scenario->spec.world.home.longitude);
    NEAR(488, scenario->spec.world.home.height);
    NEAR(488, world->height);
}

/* 2026-06-21 is 9668 days after 2000-01-01, and J2000.0 is a noon. */
static void test_the_date_is_utc(void)
{
    load_world("date: '2026-06-21T18:30:15.5Z'");
    const struct dyn_epoch *epoch = &scenario->spec.world.epoch;
    const double seconds = epoch->days * 86400 + epoch->seconds;
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, (9668 - 0.5) * 86400 + 18 * 3600 + 30 * 60 + 15.5, seconds);
    load_world("date: '2024-02-29T00:00:00Z'");
    const double leap =
        scenario->spec.world.epoch.days * 86400 + scenario->spec.world.epoch.seconds;
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, (8825 - 0.5) * 86400, leap);
}

static void test_wind_gusts_air_and_ground_are_read(void)
{
    load_world("air: true, wind: 3.6 0 -7.2 km/h, ground: 20 cm,"
               " gust: {sigma: 1 2 0 m/s, time: 3 2 500 ms}");
    const struct dyn_environment *world = &scenario->spec.environment;
    TEST_ASSERT_TRUE(world->air && world->has_ground && scenario->spec.has_gust);
    EXPECT_VECTOR(world->wind, 1, 0, -2);
    NEAR(0.2, world->ground);
    EXPECT_VECTOR(scenario->spec.gust.sigma, 1, 2, 0);
    EXPECT_VECTOR(scenario->spec.gust.time, 3e-3, 2e-3, 0.5);
    NEAR(1e-3, scenario->spec.gust.sample_time);
}

/* The standard's own numbers: 9.7803253359 at the equator, 9.8321849379 at the pole; 3.08e-6 less
 * for each metre up. */
static void test_at_home_gravity_and_air_follow_from_the_place(void)
{
    load_world("world: local, home: {latitude: 0 deg, altitude: 0 m}");
    TEST_ASSERT_TRUE(scenario->spec.environment.air);
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.reference_body);
    EXPECT_VECTOR(scenario->spec.environment.gravity, 0, 0, scenario->spec.environment.gravity[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 9.7803253359, scenario->spec.environment.gravity[2]);
    load_world("world: local, home: {latitude: -90 deg, altitude: 1000 m}");
    TEST_ASSERT_DOUBLE_WITHIN(2e-5, 9.8321849379 - 3.08e-3, scenario->spec.environment.gravity[2]);
    NEAR(1000, scenario->spec.environment.height);
}

static void test_what_is_said_goes_before_what_follows(void)
{
    load_world("world: local, gravity: 0 0 9.81, air: false, magnetic_field: 1 2 3 uT");
    EXPECT_VECTOR(scenario->spec.environment.gravity, 0, 0, 9.81);
    EXPECT_VECTOR(scenario->spec.environment.magnetic_field, 1e-6, 2e-6, 3e-6);
    TEST_ASSERT_FALSE(scenario->spec.environment.air);
    TEST_ASSERT_TRUE(scenario->spec.world.fixed_field);
    TEST_ASSERT_FALSE(scenario->spec.world.has_field);
}

static void test_the_magnetic_model_has_years(void)
{
    load_world("world: orbit");
    if (!scenario->spec.world.has_field)
        TEST_IGNORE_MESSAGE("built without the World Magnetic Model");
    TEST_ASSERT_FALSE(scenario->spec.world.fixed_field);
    load_world("world: orbit, date: '1999-01-01T00:00:00Z'");
    TEST_ASSERT_FALSE(scenario->spec.world.has_field);
}

/* As often as they should at least, and in step with a second. */
static void test_looks_around_are_in_step_with_a_second(void)
{
    static const struct {
        const char *rate;
        uint32_t local, orbit;
    } looks[] = {{"1 kHz", 100, 10}, {"250 Hz", 25, 2},    {"3125 Hz", 125, 25},
                 {"625 Hz", 25, 5},  {"20 Hz", 2, 1},      {"15625 Hz", 625, 125},
                 {"5 Hz", 1, 1},     {"20 kHz", 2000, 200}};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        char text[256];
        for (int orbit = 0; orbit < 2; orbit++) {
            snprintf(text, sizeof text,
                     "name: x\nrate: %s\nenvironment: {world: %s}\n"
                     "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n",
                     looks[i].rate, orbit ? "orbit" : "local");
            load(text);
            TEST_ASSERT_EQUAL_UINT32_MESSAGE(orbit ? looks[i].orbit : looks[i].local,
                                             sim_environment_every(&scenario->spec), text);
        }
    }
}

/* ---- orbit ---- */

/* A circle over the equator, a quarter turn on from x: y = r, vx = -sqrt(mu / r). */
static void test_the_vehicle_starts_on_its_orbit(void)
{
    load("name: x\n"
         "environment:\n"
         "  world: orbit\n"
         "  orbit: {altitude: 621.863 km, inclination: 0 deg, anomaly: 90 deg, bulge: false}\n"
         "bodies: [{name: a, joint: {type: free, position: 1 0 0 m, attitude: {yaw: 90 deg},\n"
         "  velocity: 0 0 2 m/s}, mass: 1, inertia: 1 1 1}]\n");
    const double *q = scenario->spec.bodies[0].position, *v = scenario->spec.bodies[0].velocity;
    TEST_ASSERT_FALSE(scenario->spec.environment.has_j2);
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.reference_body);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1.0, q[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 7e6, q[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, q[2]);
    /* The body's y axis points along the world's -x; its own 2 m/s stay on z. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, v[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, sqrt(3.986004418e14 / 7e6), v[4]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2.0, v[5]);
}

/* At perigee, on the node line turned by 90 degrees: along y, moving along z. */
static void test_all_elements_of_the_orbit_are_read(void)
{
    load_world("world: orbit, orbit: {body: a, altitude: 3621.863 km, eccentricity: 0.2,"
               " inclination: 90 deg, node: 60 deg, perigee: 0.5 rad, anomaly: 0}");
    const double *q = scenario->spec.bodies[0].position, *v = scenario->spec.bodies[0].velocity;
    const double r = 1e7 * 0.8, speed = sqrt(3.986004418e14 / 1e7 * 1.2 / 0.8);
    const double along = cos(0.5), up = sin(0.5), c = cos(60 * DEGREE), s = sin(60 * DEGREE);
    TEST_ASSERT_TRUE(scenario->spec.environment.has_j2);
    const double at[3] = {r * along * c, r * along * s, r * up};
    const double to[3] = {-speed * up * c, -speed * up * s, speed * along};
    for (int k = 0; k < 3; k++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, at[k], q[k]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, to[k], v[3 + k]);
    }
}

static void test_the_named_body_flies_the_orbit_and_others_where_they_are_put(void)
{
    load("name: x\n"
         "environment: {world: orbit, orbit: {body: b, inclination: 0, altitude: 621.863 km}}\n"
         "bodies:\n"
         "- {name: a, joint: {type: free, position: 0 8000 0 km}, mass: 1, inertia: 1 1 1}\n"
         "- {name: b, joint: free, mass: 1, inertia: 1 1 1}\n");
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.reference_body);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 8e6, scenario->spec.bodies[0].position[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 7e6, scenario->spec.bodies[1].position[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_world_of_which_nothing_is_said_is_uniform_and_empty);
    RUN_TEST(test_the_date_is_utc);
    RUN_TEST(test_wind_gusts_air_and_ground_are_read);
    RUN_TEST(test_at_home_gravity_and_air_follow_from_the_place);
    RUN_TEST(test_what_is_said_goes_before_what_follows);
    RUN_TEST(test_the_magnetic_model_has_years);
    RUN_TEST(test_looks_around_are_in_step_with_a_second);
    RUN_TEST(test_the_vehicle_starts_on_its_orbit);
    RUN_TEST(test_all_elements_of_the_orbit_are_read);
    RUN_TEST(test_the_named_body_flies_the_orbit_and_others_where_they_are_put);
    return UNITY_END();
}
