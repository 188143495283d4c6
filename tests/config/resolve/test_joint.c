/*
 * Joints of every type, from the text of a scenario to how the plant moves by them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "dynamics/analysis/monitor.h"
#include "rt/executive/state/run_state.h"
#include "unity.h"

#define PI                     3.14159265358979323846
#define NEAR(expected, actual) TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected, actual)

static struct cfg_scenario *scenario;
static struct sim_vehicle *vehicle;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    scenario = NULL;
    vehicle = NULL;
}

void tearDown(void)
{
    free(vehicle);
    cfg_scenario_free(scenario);
}

/* A scenario whose bodies are these lines. */
static void load(const char *bodies)
{
    static char text[4096];
    tearDown();
    vehicle = NULL;
    snprintf(text, sizeof text, "name: a\nbodies:\n%s", bodies);
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error), error);
}

static void place(const char *bodies)
{
    load(bodies);
    const size_t size = (sim_vehicle_size(&scenario->spec) + 63) / 64 * 64;
    void *mem = aligned_alloc(64, size);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0, size);
    vehicle = sim_vehicle_place(&scenario->spec, mem);
}

static void run(int frames)
{
    for (int i = 0; i < frames; i++)
        TEST_ASSERT_EQUAL_INT(1, dyn_plant_step(&vehicle->plant, vehicle->command, NULL, vehicle->h,
                                                vehicle->work, vehicle->x));
}

static const double *velocities(void)
{
    return vehicle->x + dyn_model_nq(vehicle->plant.model);
}

static struct dyn_motion motion_of(int body)
{
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_solve(&vehicle->plant, vehicle->command, NULL, vehicle->x, vehicle->work);
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, body, origin, &motion);
    return motion;
}

static void expect_vector(const double *expected, const double *actual, int size)
{
    for (int i = 0; i < size; i++)
        NEAR(expected[i], actual[i]);
}
#define EXPECT_VECTOR(actual, ...)                                                                 \
    expect_vector((const double[]){__VA_ARGS__}, actual,                                           \
                  (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* ---- what is read ---- */

#define HEAVY ", mass: 2, center: 0.1 0.2 0.3, inertia: 1 1 1}\n"

static void test_the_laws_of_a_coordinate_are_read(void)
{
    load("- {name: a, joint: {type: revolute, axis: 0 0 2, stiffness: 80, rest: 3 deg,\n"
         "   damping: 0.5, friction: {coulomb: 20 mN m, speed: 1 deg/s},\n"
         "   limits: {lower: -90 deg, upper: 45 deg, stiffness: 1 kN m/rad, damping: 7}}" HEAVY
         "- {name: b, parent: a, joint: {type: prismatic, axis: 1 0 0, friction: 3 N,\n"
         "   limits: {upper: 2 cm, stiffness: 9 N/mm}}" HEAVY);
    const struct dyn_joint_force_spec *turn = &scenario->spec.bodies[0].spec.force_spec[0];
    const struct dyn_joint_force_spec *slide = &scenario->spec.bodies[1].spec.force_spec[0];
    const double d = PI / 180;
    const struct dyn_joint_force_spec turns = {80, 3 * d, 0.5, 0.02, d, -90 * d, 45 * d, 1000, 7};
    const struct dyn_joint_force_spec slides = {
        .coulomb = 3, .coulomb_speed = 0.01, .upper = 0.02, .limit_stiffness = 9000};
    expect_vector(&turns.stiffness, &turn->stiffness, 9);
    TEST_ASSERT_TRUE(isinf(slide->lower) && slide->lower < 0);
    expect_vector(&slides.stiffness, &slide->stiffness, 5);
    expect_vector(&slides.upper, &slide->upper, 3);
}

static void test_a_motor_is_read(void)
{
    load("- {name: a, joint: {type: revolute, axis: 0 0 1, attitude: {roll: 90 deg},\n"
         "   motor: {ratio: -50, inertia: 2e-5, axis: 0 3 4, terms: diagonal}}" HEAVY
         "- {name: b, parent: a, joint: {type: prismatic, axis: 0 0 1, attitude: {roll: 90 deg},\n"
         "   motor: {ratio: 6 rad/mm, inertia: 1 kg cm^2}}" HEAVY);
    const struct dyn_geared_rotor *a = &scenario->spec.bodies[0].spec.rotor,
                                  *b = &scenario->spec.bodies[1].spec.rotor;
    TEST_ASSERT_EQUAL_INT(DYN_ROTOR_DIAGONAL, a->terms);
    EXPECT_VECTOR(&a->ratio, -50, 2e-5, 0, 0.6, 0.8);
    TEST_ASSERT_EQUAL_INT(DYN_ROTOR_FULL, b->terms);
    EXPECT_VECTOR(&b->ratio, 6000, 1e-4, 0, -1, 0); /* the joint's axis, in the parent's */
}

static void test_joints_of_two_coordinates_are_read(void)
{
    load("- {name: a, joint: {type: cylindrical, axis: 0 0 1, at: 1 2 3,\n"
         "   turn: {angle: 90 deg, rate: 2, stiffness: 5}, slide: {position: 4 cm, velocity: 3,\n"
         "   damping: 6}}" HEAVY
         "- {name: b, parent: a, joint: {type: universal, axis: 0 0 1, axis2: 0 2 0,\n"
         "   turn: {angle: 1}, turn2: {rate: 4, friction: 2}}" HEAVY);
    const struct sim_body *a = &scenario->spec.bodies[0], *b = &scenario->spec.bodies[1];
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_CYLINDRICAL, a->spec.joint);
    EXPECT_VECTOR(a->spec.place_xyz, 1, 2, 3);
    EXPECT_VECTOR(a->position, PI / 2, 0.04);
    EXPECT_VECTOR(a->velocity, 2, 3);
    NEAR(5, a->spec.force_spec[0].stiffness);
    NEAR(0, a->spec.force_spec[0].damping);
    NEAR(6, a->spec.force_spec[1].damping);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_UNIVERSAL, b->spec.joint);
    EXPECT_VECTOR(b->spec.axis2, 0, 1, 0);
    EXPECT_VECTOR(b->position, 1, 0);
    EXPECT_VECTOR(b->velocity, 0, 4);
    NEAR(2, b->spec.force_spec[1].coulomb);
}

static void test_a_planar_joint_is_read(void)
{
    load("- {name: a, joint: {type: planar, axis: 0 0 1, axis2: 1 0 0, slide: {position: 1 mm},\n"
         "   slide2: {velocity: 2 mm/s}, turn: {angle: 3 deg, damping: 4 N m s/rad}}" HEAVY);
    const struct sim_body *a = &scenario->spec.bodies[0];
    EXPECT_VECTOR(a->position, 1e-3, 0, 3 * PI / 180);
    EXPECT_VECTOR(a->velocity, 0, 2e-3, 0);
    NEAR(4, a->spec.force_spec[2].damping);
}

static void test_a_spherical_joint_is_read(void)
{
    load("- {name: a, joint: {type: spherical, at: 1 2 3, attitude: {yaw: 90 deg}, rate: 4 5 6,\n"
         "   damping: 7 8 9, friction: 2 N m}" HEAVY);
    const struct sim_body *a = &scenario->spec.bodies[0];
    EXPECT_VECTOR(a->spec.place_xyz, 1, 2, 3);
    EXPECT_VECTOR(a->spec.place_quat, 1, 0, 0, 0);
    EXPECT_VECTOR(a->position, sqrt(0.5), 0, 0, sqrt(0.5));
    EXPECT_VECTOR(a->velocity, 4, 5, 6);
    for (int k = 0; k < 3; k++) {
        NEAR(7 + k, a->spec.force_spec[k].damping);
        NEAR(2, a->spec.force_spec[k].coulomb);
    }
}

/* The motion of the plant shows whether the coordinates are in the right places. */
static void test_every_joint_starts_where_the_scenario_says(void)
{
    place(
        "- {name: a, joint: {type: free, position: 1 0 0, attitude: {yaw: 90 deg}}" HEAVY
        "- {name: b, parent: a, joint: {type: free, position: 1 0 0, velocity: 0 2 0}" HEAVY
        "- {name: c, parent: b, joint: {type: cylindrical, axis: 0 0 1, at: 0 0 1,\n"
        "   turn: {angle: -90 deg}, slide: {position: 2}}" HEAVY
        "- {name: d, parent: c, joint: {type: spherical, at: 1 0 0, attitude: {roll: 90 deg}}" HEAVY
        "- {name: e, parent: d, joint: {type: planar, axis: 0 0 1, axis2: 1 0 0,\n"
        "   slide: {position: 1}, slide2: {position: 2}, turn: {angle: 180 deg}}" HEAVY
        "- {name: f, parent: e, joint: {type: universal, axis: 0 0 1, axis2: 1 0 0,\n"
        "   turn: {angle: 180 deg}, turn2: {angle: 90 deg}}" HEAVY);
    struct dyn_motion motion = motion_of(1);
    EXPECT_VECTOR(motion.position, 1, 1, 0);
    EXPECT_VECTOR(motion.velocity, -2, 0, 0);
    motion = motion_of(2); /* turned back to the world's axes */
    EXPECT_VECTOR(motion.position, 1, 1, 3);
    EXPECT_VECTOR(motion.attitude, 1, 0, 0, 0);
    motion = motion_of(3); /* y is up z, z is -y */
    EXPECT_VECTOR(motion.position, 2, 1, 3);
    EXPECT_VECTOR(motion.attitude, sqrt(0.5), sqrt(0.5), 0, 0);
    motion = motion_of(4);
    EXPECT_VECTOR(motion.position, 3, 1, 5);
    motion = motion_of(5); /* two half turns about one axis, then a quarter about x */
    NEAR(1.0, fabs(motion.attitude[1]));
}

/* A screw through (1, 0, 0) along z with 0.5 m a radian, a slide along x behind it. */
static void test_a_general_joint_moves_by_its_screws(void)
{
    place("- {name: a, joint: {type: general, screws: [\n"
          "    {type: turn, axis: 0 0 3, at: 1 0 0, pitch: 0.5 m/rad, angle: 90 deg, rate: 2},\n"
          "    {type: slide, axis: 1 0 0, position: 3, velocity: 4, stiffness: 5}]}" HEAVY);
    const struct dyn_body_spec *spec = &scenario->spec.bodies[0].spec;
    TEST_ASSERT_EQUAL_INT(2, spec->screw_count);
    EXPECT_VECTOR(spec->screw[0], 0, 0, 1, 0, -1, 0.5);
    EXPECT_VECTOR(spec->screw[1], 0, 0, 0, 1, 0, 0);
    NEAR(5, spec->force_spec[1].stiffness);
    EXPECT_VECTOR(vehicle->x, PI / 2, 3, 2, 4);
    const struct dyn_motion motion = motion_of(0);
    EXPECT_VECTOR(motion.position, 1, -1 + 3, PI / 4);
    EXPECT_VECTOR(motion.velocity, -2 * 2, 4, 1);
    EXPECT_VECTOR(motion.rate, 0, 0, 2);
}

static void test_followers_follow_the_first_leader(void)
{
    load("- {name: a, parent: b, joint: {type: revolute, axis: 0 0 1, stiffness: 5,\n"
         "   mimic: {body: b, ratio: -2, offset: 1 deg}}" HEAVY
         "- {name: b, parent: c, joint: {type: prismatic, axis: 0 0 1,\n"
         "   mimic: {body: c, ratio: 3, offset: 0.5}}" HEAVY
         "- {name: c, joint: {type: revolute, axis: 0 0 1, angle: 1}" HEAVY
         "- {name: d, parent: c, joint: {type: revolute, axis: 0 0 1, mimic: c}" HEAVY);
    static const char *const names[] = {"c", "b", "a", "d"};
    const double ratio[] = {0, 3, -6, 1}, offset[] = {0, 0.5, -1 + PI / 180, 0};
    for (int i = 0; i < 4; i++) {
        const struct dyn_mimic *mimic = &scenario->spec.bodies[i].spec.mimic;
        TEST_ASSERT_EQUAL_STRING(names[i], scenario->spec.bodies[i].name);
        TEST_ASSERT_EQUAL_INT(i > 0, mimic->on);
        TEST_ASSERT_EQUAL_INT(0, mimic->leader);
        NEAR(ratio[i], mimic->ratio);
        NEAR(offset[i], mimic->offset);
    }
    NEAR(5, scenario->spec.bodies[2].spec.force_spec[0].stiffness);
}

/* ---- what is held ---- */

#define BUS                                                                                        \
    "- {name: bus, joint: {type: free, rate: 1 -2 0.5, velocity: 0.3 0.2 -0.1}, mass: 20,\n"       \
    "   center: 0.1 0 0.2, inertia: 3 4 5 0.1 0.2 0.3}\n"
#define PANEL ", mass: 3, center: 0.5 0.2 0.1, inertia: 0.5 1 1.2 0.1 0 0}\n"
#define TIP                                                                                        \
    "- {name: tip, parent: panel, joint: {type: revolute, axis: 1 1 0, at: 1 0 0, rate: 3},\n"     \
    "   mass: 1, center: 0 0 0.3, inertia: 0.1 0.1 0.1}\n"

/* The same vehicle with its panel bolted on and with its panel locked. */
static void expect_same_motion(const char *bolted, const char *locked)
{
    struct dyn_motion wanted[2], got[2];
    place(bolted);
    run(500);
    wanted[0] = motion_of(0), wanted[1] = motion_of(2);
    place(locked);
    run(500);
    got[0] = motion_of(0), got[1] = motion_of(2);
    TEST_ASSERT_TRUE(fabs(wanted[0].attitude[0]) < 0.99); /* it did move */
    for (int i = 0; i < 2; i++) {
        expect_vector(wanted[i].position, got[i].position, 3);
        expect_vector(wanted[i].attitude, got[i].attitude, 4);
        expect_vector(wanted[i].velocity, got[i].velocity, 3);
        expect_vector(wanted[i].rate, got[i].rate, 3);
    }
}

static void test_a_locked_panel_is_a_bolted_one(void)
{
    expect_same_motion(
        BUS "- {name: panel, parent: bus, joint: {type: fixed, at: 0 1 0, attitude: {yaw: 30 "
            "deg}}" PANEL TIP,
        BUS "- {name: panel, parent: bus, joint: {type: revolute, axis: 0 0 1, at: 0 1 0,\n"
            "   angle: 30 deg, stiffness: 100, locked: true}" PANEL TIP);
    NEAR(30 * PI / 180, vehicle->x[7]);
    NEAR(0, velocities()[6]);
}

static void test_a_locked_ball_is_a_bolted_one(void)
{
    expect_same_motion(BUS "- {name: panel, parent: bus, joint: {type: fixed, at: 0 1 0, attitude: "
                           "{yaw: 30 deg}}" PANEL TIP,
                       BUS "- {name: panel, parent: bus, joint: {type: spherical, at: 0 1 0,\n"
                           "   attitude: {yaw: 30 deg}, locked: true}" PANEL TIP);
}

/* One coordinate of two: the cylinder that cannot turn is a slide. */
static void test_one_coordinate_alone_may_be_locked(void)
{
    expect_same_motion(
        BUS "- {name: panel, parent: bus, joint: {type: prismatic, axis: 0 0 1, at: 0 1 0,\n"
            "   velocity: 0.2, stiffness: 9}" PANEL TIP,
        BUS "- {name: panel, parent: bus, joint: {type: cylindrical, axis: 0 0 1, at: 0 1 0,\n"
            "   turn: {locked: true}, slide: {velocity: 0.2, stiffness: 9}}" PANEL TIP);
}

static struct dyn_monitor monitor(void)
{
    void *mem = aligned_alloc(64, (dyn_monitor_work_size(&vehicle->plant) + 63) / 64 * 64);
    struct dyn_monitor now;
    TEST_ASSERT_NOT_NULL(mem);
    dyn_monitor_compute(&vehicle->plant, vehicle->x, dyn_monitor_work_place(&vehicle->plant, mem),
                        &now);
    free(mem);
    return now;
}

static void expect_momentum(const struct dyn_monitor *before, const struct dyn_monitor *after)
{
    for (int k = 0; k < 3; k++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, before->linear_momentum[k], after->linear_momentum[k]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, before->angular_momentum[k], after->angular_momentum[k]);
    }
}

/* Forces inside the vehicle leave its momentum, whoever holds; the drive does work. */
static void test_a_prescribed_panel_moves_as_given_and_momentum_stays(void)
{
    place(BUS "- {name: panel, parent: bus, joint: {type: revolute, axis: 0 0 1, at: 0 1 0,\n"
              "   angle: 0.1, rate: 0.2, prescribed: 0.6 rad/s^2}" PANEL TIP);
    const struct dyn_monitor before = monitor();
    const double t = 2.0;
    run(2000);
    const struct dyn_monitor after = monitor();
    NEAR(0.1 + 0.2 * t + 0.3 * t * t, vehicle->x[7]);
    NEAR(0.2 + 0.6 * t, velocities()[6]);
    expect_momentum(&before, &after);
    TEST_ASSERT_TRUE(fabs(after.kinetic - before.kinetic) > 0.1);
}

/* What does not move does no work. */
static void test_a_locked_panel_keeps_energy_and_momentum(void)
{
    place(BUS "- {name: panel, parent: bus, joint: {type: revolute, axis: 0 0 1, at: 0 1 0,\n"
              "   angle: 0.1, locked: true}" PANEL TIP);
    const struct dyn_monitor before = monitor();
    run(2000);
    const struct dyn_monitor after = monitor();
    expect_momentum(&before, &after);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, before.kinetic, after.kinetic);
}

/* A slide of 2 kg on a spring of 90 N/m draws another at twice its way: w^2 = 90 / (2 + 4 2). */
static void test_a_follower_is_drawn_by_its_leader(void)
{
    place("- {name: a, joint: {type: prismatic, axis: 1 0 0, position: 0.1, stiffness: 90}" HEAVY
          "- {name: b, joint: {type: prismatic, axis: 0 1 0, mimic: {body: a, ratio: -2,\n"
          "   offset: 1}}" HEAVY);
    TEST_ASSERT_EQUAL_INT(2, dyn_plant_state_count(&vehicle->plant));
    run(1000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.1 * cos(3.0), vehicle->x[0]);
    const struct dyn_motion motion = motion_of(1);
    EXPECT_VECTOR(motion.position, 0, 1 - 2 * vehicle->x[0], 0);
    EXPECT_VECTOR(motion.velocity, 0, -2 * vehicle->x[1], 0);
}

/* A leader that is prescribed takes its follower along. */
static void test_a_prescribed_leader_draws_its_follower(void)
{
    place("- {name: a, joint: {type: prismatic, axis: 1 0 0, prescribed: 3}" HEAVY
          "- {name: b, joint: {type: prismatic, axis: 0 1 0, mimic: {body: a, ratio: -2}}" HEAVY);
    run(1000);
    NEAR(1.5, vehicle->x[0]);
    const struct dyn_motion motion = motion_of(1);
    NEAR(-3.0, motion.position[1]);
    NEAR(-6.0, motion.specific_force[1]);
}

static void test_nothing_is_held_where_the_scenario_holds_nothing(void)
{
    place(BUS);
    TEST_ASSERT_NULL(vehicle->plant.held);
}

/* ---- the printed tree ---- */

static void test_the_tree_is_printed_with_its_joints(void)
{
    char *text = NULL;
    size_t size = 0;
    load(
        "- {name: a, joint: {type: universal, axis: 0 0 1, axis2: 0 1 0,\n"
        "   turn: {stiffness: 80}, turn2: {locked: true}}" HEAVY
        "- {name: c, joint: {type: spherical, damping: 1 2 3}" HEAVY
        "- {name: b, parent: a, joint: {type: prismatic, axis: 0 0 1, friction: 2, prescribed: 3,\n"
        "   limits: {lower: -1, upper: 4, stiffness: 5}, motor: {ratio: 6, inertia: 0.1}}" HEAVY
        "- {name: d, parent: c, joint: {type: revolute, axis: 0 0 1, mimic: b}" HEAVY);
    FILE *out = open_memstream(&text, &size);
    cfg_scenario_print(scenario, out);
    fclose(out);
    const char *tree = strstr(text, "bodies\n");
    TEST_ASSERT_NOT_NULL(tree);
    TEST_ASSERT_EQUAL_STRING(
        "bodies\n"
        "  a                        universal           2 kg, spring 80 N m/rad, locked\n"
        "    b                      prismatic           2 kg, friction 2 N, stops at -1 and 4 m, "
        "prescribed 3 m/s^2, motor 0.1 kg m^2 at 6:1\n"
        "  c                        spherical           2 kg, damper 1 N m s/rad, damper 2 N m "
        "s/rad, damper 3 N m s/rad\n"
        "    d                      revolute            2 kg, follows b\n",
        tree);
    free(text);
}

/* A chain of as many bodies as there may be, the last one first. */
static void test_a_long_chain_loads_in_any_order(void)
{
    enum { BODIES = 10000, LINE = 120 };
    char *text = malloc((size_t)BODIES * LINE + 64);
    TEST_ASSERT_NOT_NULL(text);
    size_t size = (size_t)sprintf(text, "name: a\nbodies:\n");
    for (int i = BODIES - 1; i > 0; i--)
        size += (size_t)sprintf(text + size,
                                "- {name: b%d, parent: b%d, joint: {type: revolute, axis: 1 0 0, "
                                "at: 0 0 1}, mass: 1, inertia: 1 1 1}\n",
                                i, i - 1);
    size += (size_t)sprintf(text + size, "- {name: b0, joint: free, mass: 1, inertia: 1 1 1}\n");
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, size, NULL, 0, &scenario, error), error);
    free(text);
    for (int i = 0; i < BODIES; i++)
        TEST_ASSERT_EQUAL_INT(i - 1, scenario->spec.bodies[i].spec.parent);
    TEST_ASSERT_EQUAL_STRING("b9999", scenario->spec.bodies[BODIES - 1].name);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_laws_of_a_coordinate_are_read);
    RUN_TEST(test_a_motor_is_read);
    RUN_TEST(test_joints_of_two_coordinates_are_read);
    RUN_TEST(test_a_planar_joint_is_read);
    RUN_TEST(test_a_spherical_joint_is_read);
    RUN_TEST(test_every_joint_starts_where_the_scenario_says);
    RUN_TEST(test_a_general_joint_moves_by_its_screws);
    RUN_TEST(test_followers_follow_the_first_leader);
    RUN_TEST(test_a_locked_panel_is_a_bolted_one);
    RUN_TEST(test_a_locked_ball_is_a_bolted_one);
    RUN_TEST(test_one_coordinate_alone_may_be_locked);
    RUN_TEST(test_a_prescribed_panel_moves_as_given_and_momentum_stays);
    RUN_TEST(test_a_locked_panel_keeps_energy_and_momentum);
    RUN_TEST(test_a_follower_is_drawn_by_its_leader);
    RUN_TEST(test_a_prescribed_leader_draws_its_follower);
    RUN_TEST(test_nothing_is_held_where_the_scenario_holds_nothing);
    RUN_TEST(test_the_tree_is_printed_with_its_joints);
    RUN_TEST(test_a_long_chain_loads_in_any_order);
    return UNITY_END();
}
