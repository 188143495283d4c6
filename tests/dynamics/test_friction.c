/*
 * Dry friction never drives and holds what it can hold, at any step and by every integrator.
 */
#include <math.h>
#include <string.h>

#include "dynamics/friction.h"
#include "dynamics/plant_rate.h"
#include "tests/dynamics/craft.h"
#include "unity.h"

static struct craft craft;

static const enum dyn_integrator every[] = {
    DYN_SEMI_IMPLICIT_EULER, DYN_RK2, DYN_RK4, DYN_AB2, DYN_AB3, DYN_AB4, DYN_ROS2};
enum { INTEGRATORS = sizeof every / sizeof *every };

void setUp(void)
{
    memset(&craft, 0, sizeof craft);
}

void tearDown(void)
{
}

/* A level arm of unit mass at 1 m on a hinge with friction, inertia 2 about it. */
static void build_arm(double coulomb, double gravity)
{
    const int arm = tree_add(&craft.tree, -1, DYN_JOINT_REVOLUTE, 0, 1, 0);
    craft.tree.spec[arm].center[0] = 1.0;
    craft.tree.spec[arm].force_spec[0].coulomb = coulomb;
    craft.tree.spec[arm].force_spec[0].coulomb_speed = 0.01;
    tree_build(&craft.tree);
    craft.tree.gravity[2] = -gravity;
    craft_build(&craft);
}

/* ---- joints ---- */

static void test_a_joint_below_its_limit_stays_for_a_minute(void)
{
    for (int k = 0; k < INTEGRATORS; k++) {
        setUp();
        build_arm(10.0, 9.81);
        craft_use(&craft, every[k]);
        craft_run(&craft, 6000, 0.01);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[1]);
        dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, dyn_plant_acceleration(craft.work)[0]);
    }
}

static void test_a_joint_beyond_its_limit_goes(void)
{
    build_arm(9.8, 9.81);
    craft_run(&craft, 10, 0.01);
    TEST_ASSERT_TRUE(fabs(craft.x[1]) > 1e-5);
}

/* v = v0 - c / I t until it stops, exactly; the way by the order of the integrator. */
static void test_a_joint_slows_down_by_its_friction_and_stops(void)
{
    for (int k = 0; k < INTEGRATORS; k++) {
        setUp();
        build_arm(3.0, 0.0);
        craft_use(&craft, every[k]);
        craft.x[1] = 3.0;
        craft_run(&craft, 100, 0.01);
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, 1.5, craft.x[1]);
        TEST_ASSERT_DOUBLE_WITHIN(k == 0 ? 0.01 : k < 3 || k == 6 ? 1e-10 : 1e-3, 2.25, craft.x[0]);
        craft_run(&craft, 101, 0.01);
        const double stopped = craft.x[0];
        TEST_ASSERT_DOUBLE_WITHIN(k == 0 ? 0.02 : 1e-3, 3.0, stopped);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[1]);
        craft_run(&craft, 100, 0.01);
        TEST_ASSERT_DOUBLE_WITHIN(1e-3, stopped, craft.x[0]);
    }
}

/* Friction hundreds of times as strong as an explicit step bears stops it and no more. */
static void test_strong_friction_stops_a_joint_in_one_step(void)
{
    for (int k = 0; k < INTEGRATORS; k++) {
        setUp();
        build_arm(1e4, 0.0);
        craft_use(&craft, every[k]);
        craft.x[1] = 3.0;
        craft_run(&craft, 1, 0.01);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[1]);
        TEST_ASSERT_TRUE(craft.x[0] >= 0.0 && craft.x[0] <= 0.03);
    }
}

static void rub_all(struct tree *tree, double coulomb)
{
    for (int i = 0; i < tree->body_count; i++)
        for (int k = 0; k < dyn_joint_nv(&tree->spec[i]); k++) {
            memset(&tree->spec[i].force_spec[k], 0, sizeof tree->spec[i].force_spec[k]);
            tree->spec[i].force_spec[k].coulomb = i > 0 ? coulomb * (1.5 + tree_noise()) : 0.0;
            tree->spec[i].force_spec[k].coulomb_speed = i > 0 ? 0.01 : 0.0;
        }
}

/* A random vehicle with nothing but friction, in all joints but the first: energy per step. */
static void assert_energy_falls(uint64_t seed, enum dyn_integrator integrator, double h)
{
    tree_random(&craft.tree, 5, seed & 1, seed);
    rub_all(&craft.tree, 2.0);
    tree_build(&craft.tree);
    tree_random_state(&craft.tree);
    for (int k = 0; k < dyn_model_nv(craft.tree.model); k++)
        craft.tree.v[k] *= 0.3;
    memset(craft.tree.gravity, 0, sizeof craft.tree.gravity);
    craft_build(&craft);
    craft_use(&craft, integrator);
    double before = craft_monitor(&craft).kinetic;
    const double first = before;
    for (int k = 0; k < 200; k++) {
        craft_run(&craft, 1, h);
        const double now = craft_monitor(&craft).kinetic;
        TEST_ASSERT_TRUE(now <= before + 2e-3 * first);
        before = now;
    }
    TEST_ASSERT_TRUE(before < first);
}

/* c h / (speed I) is 2 and more at 10 ms, where an explicit step bears 0.05 to 0.3. */
static void test_friction_alone_never_adds_energy(void)
{
    for (int k = 0; k < INTEGRATORS; k++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            setUp();
            assert_energy_falls(seed, every[k], seed % 3 == 0 ? 0.02 : 0.01);
        }
}

/* What is found is Coulomb's law at the end of the step: within bounds, against the slip. */
static void test_forces_obey_the_law_at_the_end_of_the_step(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        setUp();
        tree_random(&craft.tree, 6, seed & 1, seed);
        rub_all(&craft.tree, 3.0);
        tree_build(&craft.tree);
        tree_random_state(&craft.tree);
        craft_build(&craft);
        dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
        const struct dyn_friction *friction = craft.work->friction;
        for (int k = 0; k < friction->pair_count; k++) {
            const double f = friction->force[k], bound = friction->pair[k].bound;
            const double slip = friction->slip[k];
            TEST_ASSERT_TRUE(fabs(f) <= bound * (1.0 + 1e-12));
            if (fabs(f) < bound * (1.0 - 1e-9))
                TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, slip);
            else
                TEST_ASSERT_TRUE(f * slip <= 1e-9);
        }
    }
}

/* A random vehicle of rubbing joints, some of which are held in some of the steps; with a look at
 * the accelerations before each step, as a frame has it, or none. */
static void run_held(uint64_t seed, enum dyn_integrator integrator, int looks)
{
    static unsigned char held[TREE_NV_MAX];
    static double at_rest[TREE_NV_MAX];
    setUp();
    memset(held, 0, sizeof held);
    tree_random(&craft.tree, 5, seed & 1, seed);
    rub_all(&craft.tree, 2.0);
    tree_build(&craft.tree);
    tree_random_state(&craft.tree);
    craft.plant.held = held;
    craft.plant.held_a = at_rest;
    craft_build(&craft);
    craft_use(&craft, integrator);
    for (int k = 0; k < 30; k++) {
        if (looks)
            dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
        held[0] = (unsigned char)(k / 3 % 2); /* of the first body, which does not rub */
        craft_run(&craft, 1, 0.01);
    }
}

/* What a look leaves behind for the step is what the step would find. */
static void test_a_look_before_a_step_changes_no_bit(void)
{
    static double alone[CRAFT_X_MAX];
    for (int k = 0; k < INTEGRATORS; k++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            run_held(seed, every[k], 0);
            memcpy(alone, craft.x, sizeof alone);
            run_held(seed, every[k], 1);
            TEST_ASSERT_EQUAL_MEMORY(alone, craft.x, (size_t)craft.x_count * sizeof *alone);
        }
}

static void test_a_follower_rubs_and_its_leader_stays(void)
{
    build_arm(0.0, 0.0);
    setUp();
    for (int k = 0; k < 2; k++) {
        const int arm = tree_add(&craft.tree, -1, DYN_JOINT_REVOLUTE, 0, 1, 0);
        craft.tree.spec[arm].center[0] = 1.0;
    }
    craft.tree.spec[1].mimic = (struct dyn_mimic){1, 0, 2.0, 0.0};
    craft.tree.spec[1].force_spec[0].coulomb = 20.0; /* 40 N m on the leader, 9.81 (1 + 2) pull */
    craft.tree.spec[1].force_spec[0].coulomb_speed = 0.01;
    tree_build(&craft.tree);
    craft.tree.gravity[2] = -9.81;
    craft_build(&craft);
    craft_run(&craft, 1000, 0.01);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[0]);
    craft.tree.spec[1].force_spec[0].coulomb = 14.0;
    tree_build(&craft.tree);
    craft_build(&craft);
    craft_run(&craft, 10, 0.01);
    TEST_ASSERT_TRUE(fabs(craft.x[1]) > 1e-3);
}

/* ---- feet ---- */

enum { MASS = 2 };
static const double WEIGHT = MASS * 9.81, STIFFNESS = 4000.0;

/* Four feet 0.15 m below and 0.2 m around the centre; gravity leans as on a slope. */
static void build_quad(double friction, double slope, double Izz, double height)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = MASS;
    memcpy(craft.tree.spec[0].inertia, (double[]){0.3, 0.3, Izz, 0, 0, 0}, 48);
    tree_build(&craft.tree);
    craft.tree.gravity[0] = 9.81 * sin(slope);
    craft.tree.gravity[2] = 9.81 * cos(slope);
    for (int k = 0; k < 4; k++)
        craft_add(&craft, &(struct dyn_effector){
                              .type = DYN_EFFECTOR_CONTACT,
                              .contact = {.at = {k & 1 ? 0.2 : -0.2, k & 2 ? 0.2 : -0.2, height},
                                          .stiffness = STIFFNESS,
                                          .damping = 10.0,
                                          .friction = friction}});
    craft.plant.environment.has_ground = true;
    craft_build(&craft);
    craft.x[2] = -height + WEIGHT * cos(slope) / (4.0 * STIFFNESS);
}

static double heading(void)
{
    return 2.0 * atan2(craft.x[6], craft.x[3]);
}

static void test_a_quad_on_its_feet_stops_turning_and_stays(void)
{
    static const double steps[] = {0.002, 0.004,
                                   0.01}; /* the last beyond what contact bears with AB */
    for (int k = 0; k < INTEGRATORS; k++)
        for (int s = 0; s < (every[k] >= DYN_AB2 && every[k] <= DYN_AB4 ? 2 : 3); s++) {
            setUp();
            build_quad(0.6, 0.0, 0.055, 0.15);
            craft_use(&craft, every[k]);
            craft.x[9] = 0.5;
            craft_run(&craft, (int)(1.0 / steps[s]), steps[s]);
            const double at = heading();
            TEST_ASSERT_TRUE(fabs(at) < 0.01);
            craft_run(&craft, (int)(5.0 / steps[s]), steps[s]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, at, heading());
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, craft.x[9]);
        }
}

static void test_feet_on_a_slope_below_the_cone_stay_for_a_minute(void)
{
    build_quad(0.6, atan(0.5), 0.055, 0.15);
    craft_run(&craft, 5000, 0.002);
    const double at = craft.x[0];
    TEST_ASSERT_TRUE(fabs(at) < 0.01);
    craft_run(&craft, 30000, 0.002);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, at, craft.x[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, craft.x[10]);
}

/* a = g (sin - friction cos), feet under the centre so that nothing tilts. */
static void test_feet_on_a_slope_above_the_cone_slide_by_the_closed_form(void)
{
    const double slope = atan(0.8), a = 9.81 * (sin(slope) - 0.6 * cos(slope));
    build_quad(0.6, slope, 0.055, 0.0);
    craft_run(&craft, 500, 0.002);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6 * a, a, craft.x[10]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6 * a, 0.5 * a, craft.x[0]);
}

static void test_friction_of_a_foot_that_left_the_ground_is_gone(void)
{
    build_quad(0.6, 0.0, 0.055, 0.15);
    craft.x[2] = -1.0;
    craft.x[10] = 1.0;
    craft_run(&craft, 1, 0.002);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, craft.x[10]);
    TEST_ASSERT_EQUAL_INT(0, craft.work->friction->pair_count);
}

/* ---- feet and wheels of what has followers ---- */

/* A tilted vehicle that slides, turns and tips on three uneven feet, with a wheel on a skew axis
 * and an arm that rubs; with a follower of the arm that weighs nothing, or none. */
static void build_mixed(int mimic_joint, unsigned char *held)
{
    static const double feet[3][3] = {{0.3, 0.1, 0.2}, {-0.25, 0.35, 0.15}, {-0.1, -0.4, 0.25}};
    static double at_rest[TREE_NV_MAX];
    setUp();
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    const int arm = tree_add(&craft.tree, 0, DYN_JOINT_REVOLUTE, 0.6, 0.0, 0.8);
    if (mimic_joint) {
        const int light = tree_add(&craft.tree, 0, DYN_JOINT_REVOLUTE, 0, 1, 0);
        craft.tree.spec[light].mass = 1e-12;
        memcpy(craft.tree.spec[light].inertia, (double[]){1e-12, 1e-12, 1e-12, 0, 0, 0}, 48);
        craft.tree.spec[light].mimic = (struct dyn_mimic){1, arm, 0.7, 0.1};
    }
    craft.tree.spec[0].mass = MASS;
    memcpy(craft.tree.spec[0].center, (double[]){0.02, -0.03, 0.01}, 24);
    memcpy(craft.tree.spec[0].inertia, (double[]){0.3, 0.4, 0.5, 0.02, -0.03, 0.04}, 48);
    craft.tree.spec[arm].mass = 0.5;
    memcpy(craft.tree.spec[arm].center, (double[]){0.3, 0.1, -0.2}, 24);
    craft.tree.spec[arm].force_spec[0].coulomb = 0.4;
    craft.tree.spec[arm].force_spec[0].coulomb_speed = 0.01;
    tree_build(&craft.tree);
    craft.tree.gravity[0] = 1.0, craft.tree.gravity[1] = -2.0, craft.tree.gravity[2] = 9.0;
    for (int k = 0; k < 3; k++) {
        struct dyn_effector foot = {
            .type = DYN_EFFECTOR_CONTACT,
            .contact = {.stiffness = 500.0 + 100.0 * k, .damping = 5.0, .friction = 0.3 + 0.2 * k}};
        memcpy(foot.contact.at, feet[k], sizeof feet[k]);
        craft_add(&craft, &foot);
    }
    craft_add_wheel(&craft, 0, 0.48, 0.6, 0.64, 0.02);
    craft.effectors[3].wheel.coulomb = 0.05;
    craft.plant.environment.has_ground = true;
    craft.plant.held = held;
    craft.plant.held_a = at_rest;
    craft_build(&craft);
    const double q[4] = {0.96, 0.1, -0.2, 0.1};
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    craft.x[2] = -0.05;
    for (int k = 0; k < 4; k++)
        craft.x[3 + k] = q[k] / length;
    craft.x[7] = 0.3;
    for (int k = 0; k < 7; k++)
        craft.x[8 + k] = 0.2 + 0.1 * k * (k % 2 ? -1.0 : 1.0);
    *craft_states(&craft, 3) = 0.03;
}

/* Two ways lead to the friction of a tree: along its branches, and by the whole mass matrix where
 * joints follow others.  A follower without weight changes nothing but the way. */
static void test_a_weightless_follower_changes_no_friction(void)
{
    static double alone[CRAFT_X_MAX];
    static unsigned char none[TREE_NV_MAX], arm[TREE_NV_MAX] = {[6] = 1},
                                            some[TREE_NV_MAX] = {[1] = 1, [3] = 1};
    unsigned char *const held[] = {NULL, none, arm, some};
    for (int k = 0; k < INTEGRATORS; k++)
        for (int h = 0; h < 4; h++) {
            build_mixed(0, held[h]);
            TEST_ASSERT_EQUAL_INT(8 + 7 + 1, craft.x_count);
            craft_use(&craft, every[k]);
            craft_run(&craft, 1, 0.002);
            TEST_ASSERT_TRUE(craft.work->friction->pair_count >= 3 - (h == 2));
            memcpy(alone, craft.x, sizeof alone);
            build_mixed(1, held[h]);
            TEST_ASSERT_EQUAL_INT(8 + 7 + 1, craft.x_count);
            craft_use(&craft, every[k]);
            craft_run(&craft, 1, 0.002);
            for (int i = 0; i < craft.x_count; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-9, alone[i], craft.x[i]);
        }
}

/* Of a rotor in its body, rad/s; the state is J (Omega + axis . w). */
static double wheel_slip(void)
{
    const double *w = craft.x + 8, *axis = craft.effectors[3].wheel.axis;
    return *craft_states(&craft, 3) / craft.effectors[3].wheel.inertia -
           (axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2]);
}

/* As much friction as it takes, also against its motor; both ways again, on the ground and in the
 * air. */
static void test_strong_friction_stops_a_wheel_in_its_body_in_one_step(void)
{
    for (int mimic_joint = 0; mimic_joint < 2; mimic_joint++)
        for (int air = 0; air < 2; air++) {
            build_mixed(mimic_joint, NULL);
            craft.effectors[3].wheel.coulomb = 50.0;
            craft.commands[3] = 0.3;
            craft.x[2] -= air * 5.0;
            TEST_ASSERT_TRUE(fabs(wheel_slip()) > 1.0);
            craft_use(&craft, DYN_SEMI_IMPLICIT_EULER);
            craft_run(&craft, 1, 0.002);
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, wheel_slip());
            craft_run(&craft, 20, 0.002);
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, wheel_slip());
        }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_strong_friction_stops_a_wheel_in_its_body_in_one_step);
    RUN_TEST(test_a_weightless_follower_changes_no_friction);
    RUN_TEST(test_a_joint_below_its_limit_stays_for_a_minute);
    RUN_TEST(test_a_joint_beyond_its_limit_goes);
    RUN_TEST(test_a_joint_slows_down_by_its_friction_and_stops);
    RUN_TEST(test_strong_friction_stops_a_joint_in_one_step);
    RUN_TEST(test_friction_alone_never_adds_energy);
    RUN_TEST(test_forces_obey_the_law_at_the_end_of_the_step);
    RUN_TEST(test_a_look_before_a_step_changes_no_bit);
    RUN_TEST(test_a_follower_rubs_and_its_leader_stays);
    RUN_TEST(test_a_quad_on_its_feet_stops_turning_and_stays);
    RUN_TEST(test_feet_on_a_slope_below_the_cone_stay_for_a_minute);
    RUN_TEST(test_feet_on_a_slope_above_the_cone_slide_by_the_closed_form);
    RUN_TEST(test_friction_of_a_foot_that_left_the_ground_is_gone);
    return UNITY_END();
}
