/*
 * The vehicle as a whole: wheels against closed forms, what instruments feel, and what a step
 * promises.
 */
#include "dynamics/plant.h"

#include <math.h>
#include <string.h>

#include "dynamics/plant_rate.h"
#include "tests/dynamics/craft.h"
#include "unity.h"

static struct craft craft;
static const double origin[3];

void setUp(void)
{
    memset(&craft, 0, sizeof craft);
}

void tearDown(void)
{
}

static struct dyn_motion motion_of(int body, const double point[3])
{
    struct dyn_motion motion;
    dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
    dyn_plant_motion(&craft.plant, craft.work, craft.x, body, point, &motion);
    return motion;
}

static void assert_3(double within, double x, double y, double z, const double got[3])
{
    TEST_ASSERT_DOUBLE_WITHIN(within, x, got[0]);
    TEST_ASSERT_DOUBLE_WITHIN(within, y, got[1]);
    TEST_ASSERT_DOUBLE_WITHIN(within, z, got[2]);
}

static void free_body(double gx, double gy, double gz)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    memcpy(craft.tree.gravity, (double[]){gx, gy, gz}, sizeof craft.tree.gravity);
    tree_build(&craft.tree);
}

/* --- state ------------------------------------------------------------------------------------ */

static void test_x_holds_q_then_v_then_effectors(void)
{
    craft_satellite(&craft);
    TEST_ASSERT_EQUAL_INT(9 + 8 + 3, dyn_plant_state_count(&craft.plant));
    TEST_ASSERT_EQUAL_INT(17, dyn_plant_effector_index(&craft.plant, 0));
    TEST_ASSERT_EQUAL_INT(19, dyn_plant_effector_index(&craft.plant, 2));
}

static void test_rest_is_zero_but_for_a_unit_quaternion(void)
{
    craft_satellite(&craft);
    dyn_plant_rest(&craft.plant, craft.x);
    for (int k = 0; k < craft.x_count; k++)
        TEST_ASSERT_EQUAL_DOUBLE(k == 3 ? 1.0 : 0.0, craft.x[k]);
}

static void test_a_step_that_is_not_finite_leaves_x_alone(void)
{
    double before[CRAFT_X_MAX];
    craft_satellite(&craft);
    memcpy(before, craft.x, sizeof before);
    const double bad[] = {(double)NAN, (double)INFINITY, 1e308, -1e200};
    for (int k = 0; k < 4; k++) {
        craft.commands[1] = bad[k];
        TEST_ASSERT_EQUAL_INT(
            0, dyn_plant_step(&craft.plant, craft.commands, NULL, 0.1, craft.work, craft.x));
        TEST_ASSERT_EQUAL_MEMORY(before, craft.x, sizeof before);
    }
    craft.commands[1] = 0.0;
    craft_run(&craft, 1, 0.001); /* and the next one is good again */
}

/* Two slides that know nothing of each other: the first runs away, the last number of x is good. */
static void test_one_number_that_is_not_finite_is_enough(void)
{
    const double tau[2] = {1e308, 1.0};
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    tree_build(&craft.tree);
    craft_build(&craft);
    TEST_ASSERT_EQUAL_INT(0, dyn_plant_step(&craft.plant, NULL, tau, 10.0, craft.work, craft.x));
    assert_3(0.0, 0.0, 0.0, 0.0, craft.x);
}

static void test_work_carries_nothing_between_steps(void)
{
    double clean[CRAFT_X_MAX];
    craft_satellite(&craft);
    craft_run(&craft, 20, 0.01);
    memcpy(clean, craft.x, sizeof clean);
    craft_satellite(&craft);
    for (int k = 0; k < 20; k++) {
        craft_poison(&craft);
        craft_run(&craft, 1, 0.01);
    }
    TEST_ASSERT_EQUAL_MEMORY(clean, craft.x, (size_t)craft.x_count * sizeof clean[0]);
}

static void test_a_copy_of_x_is_a_snapshot(void)
{
    double snapshot[CRAFT_X_MAX], after[CRAFT_X_MAX];
    craft_satellite(&craft);
    craft_run(&craft, 10, 0.01);
    memcpy(snapshot, craft.x, sizeof snapshot);
    craft_run(&craft, 10, 0.01);
    memcpy(after, craft.x, sizeof after);
    memcpy(craft.x, snapshot, sizeof snapshot);
    craft_run(&craft, 10, 0.01);
    TEST_ASSERT_EQUAL_MEMORY(after, craft.x, sizeof after);
}

static void test_works_placed_for_a_plant_fill_their_size_and_no_more(void)
{
    craft_satellite(&craft);
    const size_t size = dyn_plant_work_size(&craft.plant);
    memset(craft.work_mem, 0xa5, sizeof craft.work_mem);
    craft.work = dyn_plant_work_place(&craft.plant, craft.work_mem);
    craft_poison(&craft);
    for (size_t k = size; k < sizeof craft.work_mem; k++)
        TEST_ASSERT_EQUAL_HEX8(0xa5, craft.work_mem[k]);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* A force held on a slide: x = F/m t^2/2, by both integrators' own rule. */
static void test_a_joint_force_is_held_over_the_step(void)
{
    const double tau = 6.0;
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    craft.tree.spec[0].mass = 2.0;
    tree_build(&craft.tree);
    craft_build(&craft);
    for (int k = 0; k < 10; k++)
        dyn_plant_step(&craft.plant, NULL, &tau, 0.1, craft.work, craft.x);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1.5, craft.x[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 3.0, craft.x[1]);
    dyn_plant_solve(&craft.plant, NULL, &tau, craft.x, craft.work);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 3.0, dyn_plant_acceleration(craft.work)[0]);
}

/* Around one axis I w' = -tau, h' = tau. */
static void test_a_wheel_trades_momentum_with_its_body(void)
{
    free_body(0, 0, 0);
    craft.tree.spec[0].inertia[2] = 1.0;
    craft_add_wheel(&craft, 0, 0, 0, 1, 0.02);
    craft_build(&craft);
    craft.commands[0] = 0.05;
    craft_run(&craft, 1000, 0.01);
    const double angle = -0.05 * 10.0 * 10.0 / 2.0; /* I = 1 */
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.5, craft.x[9]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, craft.x[13]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, cos(angle / 2), craft.x[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, sin(angle / 2), craft.x[6]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.5 / 0.02 + 0.5,
                              dyn_wheel_speed(&craft.effectors[0].wheel, craft.x + 7, craft.x[13]));
}

/* A wheel on a hinged body: the rotor's reaction turns the hinge, I q'' = -tau. */
static void test_a_wheel_pushes_the_body_it_sits_on(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FIXED, 0, 0, 0);
    tree_add(&craft.tree, 0, DYN_JOINT_REVOLUTE, 0, 1, 0);
    craft.tree.spec[1].inertia[0] = craft.tree.spec[1].inertia[2] = 3.0;
    craft.tree.spec[1].inertia[1] = 4.0;
    tree_build(&craft.tree);
    craft_add_wheel(&craft, 1, 0, 1, 0, 0.02);
    craft_build(&craft);
    craft.commands[0] = 0.2;
    craft_run(&craft, 100, 0.01);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, -0.2 / 4.0, craft.x[1]);
}

/* Viscous drag alone between rotor and body: Omega decays with d (1/J + 1/I). */
static void test_drag_brings_wheel_and_body_to_one_speed(void)
{
    const double J = 0.02, d = 0.004, speed = 100.0, t = 3.0;
    free_body(0, 0, 0);
    craft_add_wheel(&craft, 0, 1, 0, 0, J);
    craft.effectors[0].wheel.viscous = d;
    craft_build(&craft);
    craft.x[13] = dyn_wheel_momentum(&craft.effectors[0].wheel, craft.x + 7, speed);
    craft_run(&craft, 3000, t / 3000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, speed * exp(-d * (1.0 / J + 1.0) * t),
                              dyn_wheel_speed(&craft.effectors[0].wheel, craft.x + 7, craft.x[13]));
}

/* --- what instruments feel -------------------------------------------------------------------- */

static void test_a_spinning_body_pulls_its_accelerometer_inward(void)
{
    free_body(0, 0, 0);
    craft.tree.v[2] = 3.0;
    craft_build(&craft);
    const struct dyn_motion motion = motion_of(0, (double[]){0.5, 0.0, 0.7});
    assert_3(1e-15, -0.5 * 9.0, 0.0, 0.0, motion.specific_force);
    assert_3(1e-15, 0.0, 1.5, 0.0, motion.velocity);
    assert_3(0.0, 0.0, 0.0, 3.0, motion.rate);
}

static void test_a_body_that_spins_up_drags_its_accelerometer_along(void)
{
    free_body(0, 0, 0);
    craft_add_wheel(&craft, 0, 0, 0, 1, 0.02);
    craft_build(&craft);
    craft.commands[0] = -2.0; /* 2 rad/s^2 on the body */
    const struct dyn_motion motion = motion_of(0, (double[]){0.5, 0.0, 0.7});
    assert_3(1e-15, 0.0, 1.0, 0.0, motion.specific_force);
}

static void test_an_accelerometer_in_free_fall_reads_zero(void)
{
    free_body(1.0, 2.0, -9.81);
    memcpy(craft.tree.q + 3, (double[]){0.5, 0.5, -0.5, 0.5}, 4 * sizeof(double));
    memcpy(craft.tree.v + 3, (double[]){7600, -100, 30}, 3 * sizeof(double));
    craft_build(&craft);
    assert_3(1e-14, 0, 0, 0, motion_of(0, (double[]){1, 2, 3}).specific_force);
}

static void test_a_body_at_rest_feels_gravity_upward(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FIXED, 0, 0, 0);
    /* a quarter turn about y: body x looks down */
    memcpy(craft.tree.spec[0].place_quat, (double[]){sqrt(0.5), 0, sqrt(0.5), 0}, 32);
    memcpy(craft.tree.spec[0].place_xyz, (double[]){1, 2, 3}, 24);
    craft.tree.gravity[2] = -9.81;
    tree_build(&craft.tree);
    craft_build(&craft);
    const struct dyn_motion motion = motion_of(0, (double[]){0.5, 0, 0});
    assert_3(1e-14, -9.81, 0, 0, motion.specific_force);
    assert_3(1e-15, 1, 2, 2.5, motion.position);
    assert_3(0.0, 0, 0, 0, motion.velocity);
}

static void test_the_field_is_given_in_body_axes(void)
{
    free_body(0, 0, 0);
    memcpy(craft.tree.q + 3, (double[]){sqrt(0.5), 0, 0, sqrt(0.5)}, 32); /* body x looks along y */
    craft_build(&craft);
    memcpy(craft.plant.environment.magnetic_field, (double[]){1e-5, 2e-5, 3e-5}, 24);
    const struct dyn_motion motion = motion_of(0, origin);
    assert_3(1e-19, 2e-5, -1e-5, 3e-5, motion.magnetic_field);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, sqrt(0.5), motion.attitude[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, sqrt(0.5), motion.attitude[3]);
}

/* Position of a point at t + k h, found by stepping a copy of x. */
static struct dyn_vec3 position_after(int k, double h, int body, const double point[3])
{
    double kept[CRAFT_X_MAX];
    memcpy(kept, craft.x, sizeof kept);
    dyn_plant_step(&craft.plant, craft.commands, craft.tree.tau, k * h, craft.work, craft.x);
    const struct dyn_motion motion = motion_of(body, point);
    memcpy(craft.x, kept, sizeof kept);
    return dyn_vec3_load(motion.position);
}

/* (-p2 + 16 p1 - 30 p0 + 16 p-1 - p-2) / 12 h^2 and (-p2 + 8 p1 - 8 p-1 + p-2) / 12 h */
static void assert_motion_is_the_derivative_of_position(int body)
{
    const double point[3] = {0.3, -0.2, 0.5}, h = 1e-3;
    struct dyn_vec3 p[5];
    struct dyn_motion motion;
    for (int k = 0; k < 5; k++)
        p[k] = position_after(k - 2, h, body, point);
    dyn_plant_solve(&craft.plant, craft.commands, craft.tree.tau, craft.x, craft.work);
    dyn_plant_motion(&craft.plant, craft.work, craft.x, body, point, &motion);

    const struct dyn_vec3 near = dyn_add(p[1], p[3]), far = dyn_add(p[0], p[4]);
    const struct dyn_vec3 bend =
        dyn_sub(dyn_sub(dyn_scale(16.0, near), far), dyn_scale(30.0, p[2]));
    const struct dyn_vec3 slope = dyn_sub(dyn_scale(8.0, dyn_sub(p[3], p[1])), dyn_sub(p[4], p[0]));
    const struct dyn_vec3 v = dyn_scale(1.0 / (12.0 * h), slope);
    const struct dyn_vec3 a = dyn_scale(1.0 / (12.0 * h * h), bend);
    const struct dyn_vec3 felt = dyn_sub(a, dyn_vec3_load(craft.tree.gravity));
    const struct dyn_quat turn = dyn_quat_load(motion.attitude);
    const struct dyn_vec3 f = dyn_quat_rotate(dyn_quat_conjugate(turn), felt);
    assert_3(1e-6, v.x, v.y, v.z, motion.velocity);
    assert_3(2e-4, f.x, f.y, f.z, motion.specific_force);
}

static void test_motion_is_the_derivative_of_position(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        setUp();
        tree_random(&craft.tree, 1 + (int)(seed % 6), (int)(seed % 2), seed);
        tree_unlimit(&craft.tree);
        tree_unrub(&craft.tree);
        craft_add_wheel(&craft, 0, 0, 0, 1, 0.05);
        craft_build(&craft);
        craft.commands[0] = 0.3;
        for (int i = 0; i < craft.tree.body_count; i++)
            assert_motion_is_the_derivative_of_position(i);
    }
}

/* Two ways to the same: the kernel's world axes, and the quaternions of the kinematics. */
static void assert_felt_as_read(int body)
{
    const struct dyn_environment *environment = &craft.plant.environment;
    const struct dyn_motion motion = motion_of(body, origin);
    const struct dyn_quat turn = dyn_quat_load(motion.attitude);
    const unsigned all = DYN_NEED_MAGNETIC_FIELD | DYN_NEED_GROUND | DYN_NEED_AIR;
    struct dyn_effector_input felt, least;
    dyn_effector_sense(craft.plant.model, craft.work->kernel, environment, body, all, &felt);
    dyn_effector_sense(craft.plant.model, craft.work->kernel, environment, body, 0, &least);
    const struct dyn_vec3 v = dyn_quat_rotate(turn, felt.velocity);
    const struct dyn_vec3 up = dyn_mul_t(&felt.E, (struct dyn_vec3){1.0, 2.0, 3.0});
    const struct dyn_vec3 read = dyn_quat_rotate(turn, (struct dyn_vec3){1.0, 2.0, 3.0});

    assert_3(1e-12, felt.position.x, felt.position.y, felt.position.z, motion.position);
    assert_3(1e-12, v.x, v.y, v.z, motion.velocity);
    assert_3(1e-12, felt.rate.x, felt.rate.y, felt.rate.z, motion.rate);
    assert_3(1e-12, least.rate.x, least.rate.y, least.rate.z, motion.rate);
    assert_3(1e-17, felt.magnetic_field.x, felt.magnetic_field.y, felt.magnetic_field.z,
             motion.magnetic_field);
    assert_3(1e-12, felt.air_velocity.x, felt.air_velocity.y, felt.air_velocity.z,
             motion.air_velocity);
    TEST_ASSERT_TRUE(dyn_norm(dyn_sub(up, read)) < 1e-12);
}

static void test_a_body_feels_what_an_instrument_on_it_reads(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        setUp();
        tree_random(&craft.tree, 1 + (int)(seed % 9), (int)(seed % 2), seed);
        craft_build(&craft);
        memcpy(craft.plant.environment.magnetic_field, (double[]){1e-5, 2e-5, 3e-5}, 24);
        memcpy(craft.plant.environment.wind, (double[]){3.0, -7.0, 1.0}, 24);
        for (int i = 0; i < craft.tree.body_count; i++)
            assert_felt_as_read(i);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_x_holds_q_then_v_then_effectors);
    RUN_TEST(test_rest_is_zero_but_for_a_unit_quaternion);
    RUN_TEST(test_a_step_that_is_not_finite_leaves_x_alone);
    RUN_TEST(test_one_number_that_is_not_finite_is_enough);
    RUN_TEST(test_work_carries_nothing_between_steps);
    RUN_TEST(test_a_copy_of_x_is_a_snapshot);
    RUN_TEST(test_works_placed_for_a_plant_fill_their_size_and_no_more);
    RUN_TEST(test_a_joint_force_is_held_over_the_step);
    RUN_TEST(test_a_wheel_trades_momentum_with_its_body);
    RUN_TEST(test_a_wheel_pushes_the_body_it_sits_on);
    RUN_TEST(test_drag_brings_wheel_and_body_to_one_speed);
    RUN_TEST(test_a_spinning_body_pulls_its_accelerometer_inward);
    RUN_TEST(test_a_body_that_spins_up_drags_its_accelerometer_along);
    RUN_TEST(test_an_accelerometer_in_free_fall_reads_zero);
    RUN_TEST(test_a_body_at_rest_feels_gravity_upward);
    RUN_TEST(test_the_field_is_given_in_body_axes);
    RUN_TEST(test_motion_is_the_derivative_of_position);
    RUN_TEST(test_a_body_feels_what_an_instrument_on_it_reads);
    return UNITY_END();
}
