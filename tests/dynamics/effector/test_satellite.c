/*
 * What turns and moves a satellite, against closed forms: wheels that stick and shake, torquers,
 * thrusters; and a top that nothing turns.
 */
#include <math.h>
#include <string.h>

#include "tests/dynamics/craft.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

static const double ORIGIN[3];

static struct craft craft;

static void free_body(double mass, double xx, double yy, double zz)
{
    memset(&craft, 0, sizeof craft);
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = mass;
    memcpy(craft.tree.spec[0].inertia, (double[]){xx, yy, zz, 0, 0, 0}, 48);
    tree_build(&craft.tree);
}

void setUp(void)
{
    free_body(10.0, 2.0, 3.0, 4.0);
}

void tearDown(void)
{
}

static struct dyn_motion motion_now(void)
{
    struct dyn_motion motion;
    dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
    dyn_plant_motion(&craft.plant, craft.work, craft.x, 0, ORIGIN, &motion);
    return motion;
}

static void assert_3(double tolerance, const double expected[3], const double a[3])
{
    for (int k = 0; k < 3; k++)
        TEST_ASSERT_DOUBLE_WITHIN(tolerance, expected[k], a[k]);
}

/* ---- wheels ---- */

static void add_sticky_wheel(void)
{
    craft_add_wheel(&craft, 0, 0, 0, 1, 1e-3);
    struct dyn_wheel *wheel = &craft.effectors[0].wheel;
    wheel->coulomb = wheel->stiction = 1e-3;
    wheel->stribeck_speed = 1.0;
}

static double speed_after(double start, double command, double seconds)
{
    free_body(10.0, 2.0, 3.0, 4.0);
    add_sticky_wheel();
    craft_build(&craft);
    double *momentum = craft_states(&craft, 0);
    *momentum = dyn_wheel_momentum(&craft.effectors[0].wheel, craft.x + 7, start);
    craft.commands[0] = command;
    craft_run(&craft, (int)(seconds * 1000.0), 1e-3);
    return dyn_wheel_speed(&craft.effectors[0].wheel, craft.x + 7, *momentum);
}

static void test_a_wheel_sticks_until_it_breaks_away(void)
{
    TEST_ASSERT_TRUE(fabs(speed_after(0.0, 1.999e-3, 20.0)) < 1e-12);
    TEST_ASSERT_TRUE(fabs(speed_after(0.0, -1.999e-3, 20.0)) < 1e-12);
    TEST_ASSERT_TRUE(speed_after(0.0, 2.1e-3, 20.0) > 15.0);
    TEST_ASSERT_TRUE(speed_after(0.0, -2.1e-3, 20.0) < -15.0);
}

/* Once it runs, coulomb friction alone is left: Omega' = (tau - coulomb) (1/J + 1/I). */
static void test_a_wheel_that_runs_no_longer_sticks(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 10.0 + 0.5 * (1.0 + 1e-3 / 4.0) * 2.0,
                              speed_after(10.0, 1.5e-3, 2.0));
    TEST_ASSERT_TRUE(fabs(speed_after(10.0, 0.0, 20.0)) < 1e-6);
}

static void test_friction_between_wheel_and_body_conserves_momentum(void)
{
    add_sticky_wheel();
    craft_build(&craft);
    craft.x[9] = 0.3;
    craft.commands[0] = 1.7e-3;
    craft_run(&craft, 5000, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.0 * 0.3, 4.0 * craft.x[9] + *craft_states(&craft, 0));
}

static struct dyn_vec6 imbalance_at(const struct dyn_wheel *wheel, double speed, double angle)
{
    const struct dyn_effector effector = {.type = DYN_EFFECTOR_WHEEL, .wheel = *wheel};
    const struct dyn_effector_input effector_input = {.supply = 1.0};
    const double state[2] = {wheel->inertia * speed, angle};
    double rate[2] = {(double)NAN, (double)NAN};
    struct dyn_vec6 force;
    TEST_ASSERT_EQUAL_INT(2, dyn_effector_state_count(&effector));
    dyn_wheel_ops.eval(&effector.wheel, &effector_input, 0.0, state, rate, &force);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, speed, rate[1]);
    return force;
}

/* |F| = m r Omega^2 across the axis, and it turns with the rotor; the torque likewise. */
static void test_imbalance_turns_with_the_rotor(void)
{
    const struct dyn_wheel wheel = {.axis = {0.48, 0.6, 0.64},
                                    .inertia = 0.01,
                                    .static_imbalance = 2e-6,
                                    .dynamic_imbalance = 3e-8};
    const double speed = 300.0;
    double start[3], start_twist[3], force[3], twist[3], expected[3];
    const struct dyn_vec6 first = imbalance_at(&wheel, speed, 0.0);

    dyn_vec3_store(first.lin, start);
    dyn_vec3_store(first.ang, start_twist);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0, vec_dot(wheel.axis, start));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0, vec_dot(wheel.axis, start_twist));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2e-6 * 9e4, sqrt(vec_dot(start, start)));
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 3e-8 * 9e4, sqrt(vec_dot(start_twist, start_twist)));
    for (int k = -7; k < 20; k++) {
        const struct dyn_vec6 now = imbalance_at(&wheel, speed, 0.7 * k);
        dyn_vec3_store(now.lin, force);
        dyn_vec3_store(now.ang, twist);
        vec_turn(wheel.axis, 0.7 * k, start, expected);
        assert_3(1e-14, expected, force);
        vec_turn(wheel.axis, 0.7 * k, start_twist, expected);
        assert_3(1e-14, expected, twist);
        vec_cross(wheel.axis, force, expected);
        TEST_ASSERT_TRUE(vec_dot(expected, twist) > 0.0);
    }
}

static void test_imbalance_pushes_at_the_place_of_the_rotor(void)
{
    const struct dyn_wheel wheel = {
        .axis = {0.0, 0.0, 1.0}, .inertia = 0.01, .static_imbalance = 2e-6, .at = {0.1, -0.2, 0.3}};
    double force[3], twist[3], expected[3];
    const struct dyn_vec6 now = imbalance_at(&wheel, -200.0, 0.4);
    dyn_vec3_store(now.lin, force);
    dyn_vec3_store(now.ang, twist);
    vec_cross(wheel.at, force, expected);
    assert_3(1e-15, expected, twist);
}

/* M x'' = S Omega^2 cos(Omega t): x = S / M (1 - cos Omega t), and S / M (Omega t - sin Omega t)
 * aside. */
static void test_an_unbalanced_wheel_shakes_a_free_body(void)
{
    const double omega = 50.0, S = 1e-3, t = 0.73;
    craft_add_wheel(&craft, 0, 0, 0, 1, 0.01);
    craft.effectors[0].wheel.static_imbalance = S;
    craft_build(&craft);
    TEST_ASSERT_EQUAL_INT(15, dyn_plant_state_count(&craft.plant));
    craft_states(&craft, 0)[0] = 0.01 * omega;
    craft_run(&craft, 7300, 1e-4);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, omega * t, craft_states(&craft, 0)[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, S / 10.0 * (1.0 - cos(omega * t)), craft.x[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, S / 10.0 * (omega * t - sin(omega * t)), craft.x[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0, craft.x[9]);
}

static void test_a_balanced_wheel_has_one_state(void)
{
    craft_add_wheel(&craft, 0, 0, 0, 1, 0.01);
    TEST_ASSERT_EQUAL_INT(1, dyn_effector_state_count(&craft.effectors[0]));
    craft.effectors[0].wheel.dynamic_imbalance = 1e-9;
    TEST_ASSERT_EQUAL_INT(2, dyn_effector_state_count(&craft.effectors[0]));
}

/* ---- torquers ---- */

/* I w' = m a x B, B as the body sees it */
static void test_a_torquer_turns_the_body_by_m_x_B(void)
{
    const double world[3] = {2e-5, -3e-5, 4e-5}, m[3] = {0.0, 12.0 * 0.6, -12.0 * 0.8};
    double B[3], expected[3];
    struct vec_mat R;
    craft_add(&craft,
              &(struct dyn_effector){.type = DYN_EFFECTOR_TORQUER,
                                     .torquer = {.axis = {0.0, 0.6, -0.8}, .max_dipole = 15.0}});
    memcpy(craft.tree.q + 3, (double[]){0.8, 0.36, 0.48, 0.0}, 32);
    craft_build(&craft);
    memcpy(craft.plant.environment.magnetic_field, world, sizeof world);
    craft.commands[0] = 12.0;
    vec_quat_matrix(craft.x + 3, &R);
    vec_multiply_t(&R, world, B);
    vec_cross(m, B, expected);
    (void)motion_now();
    const double *a = dyn_plant_acceleration(craft.work);
    assert_3(1e-16, expected, (double[]){2.0 * a[0], 3.0 * a[1], 4.0 * a[2]});

    craft.commands[0] = -40.0; /* gives -15 */
    (void)motion_now();
    assert_3(1e-16, (double[]){-1.25 * expected[0], -1.25 * expected[1], -1.25 * expected[2]},
             (double[]){2.0 * a[0], 3.0 * a[1], 4.0 * a[2]});
}

static void test_a_command_that_is_no_number_asks_for_nothing(void)
{
    craft_add(&craft,
              &(struct dyn_effector){.type = DYN_EFFECTOR_TORQUER,
                                     .torquer = {.axis = {1.0, 0.0, 0.0}, .max_dipole = 15.0}});
    craft_add(&craft, &(struct dyn_effector){.type = DYN_EFFECTOR_THRUSTER,
                                             .thruster = {.axis = {1, 0, 0}, .thrust = 1.0}});
    craft_build(&craft);
    craft.plant.environment.magnetic_field[1] = 1.0;
    craft.commands[0] = craft.commands[1] = (double)NAN;
    assert_3(0.0, ORIGIN, motion_now().specific_force);
    assert_3(0.0, ORIGIN, dyn_plant_acceleration(craft.work));
}

/* A needle in the field: I theta'' = -m B sin theta. */
static void test_a_torquer_swings_as_a_compass_does(void)
{
    const double n = sqrt(20.0 * 5e-5 / 4.0), t = 3.1 / n;
    craft_add(&craft, &(struct dyn_effector){.type = DYN_EFFECTOR_TORQUER,
                                             .torquer = {.axis = {1.0, 0.0, 0.0}}});
    memcpy(craft.tree.q + 3, (double[]){cos(5e-4), 0.0, 0.0, sin(5e-4)}, 32);
    craft_build(&craft);
    craft.plant.environment.magnetic_field[0] = 5e-5;
    craft.commands[0] = 20.0;
    craft_run(&craft, 3100, t / 3100);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-3 * cos(n * t), 2.0 * asin(craft.x[6]));
}

/* ---- thrusters ---- */

static struct dyn_thruster *add_thruster(double rise, double fall)
{
    const int k = craft_add(
        &craft,
        &(struct dyn_effector){
            .type = DYN_EFFECTOR_THRUSTER,
            .thruster = {.axis = {1.0, 0.0, 0.0}, .thrust = 5.0, .rise = rise, .fall = fall}});
    return &craft.effectors[k].thruster;
}

/* Speed after a pulse of 50 ms, and all the rest of its tail. */
static double pulse(void)
{
    craft_build(&craft);
    craft.commands[0] = 1.0;
    craft_run(&craft, 500, 1e-4);
    craft.commands[0] = 0.0;
    craft_run(&craft, 5000, 1e-4);
    return craft.x[10];
}

/* Int level = T - rise L + fall L, with L the level at the end of the pulse. */
static void test_a_thruster_pulse_gives_its_impulse(void)
{
    const double T = 0.05, L = 1.0 - exp(-T / 0.02);
    add_thruster(0.02, 0.01);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 5.0 / 10.0 * (T - 0.02 * L + 0.01 * L), pulse());
    setUp();
    add_thruster(0.0, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 5.0 / 10.0 * T, pulse());
    TEST_ASSERT_EQUAL_INT(13, dyn_plant_state_count(&craft.plant));
}

static void test_a_thruster_off_the_centre_turns_the_body(void)
{
    struct dyn_thruster *thruster = add_thruster(0.0, 0.0);
    memcpy(thruster->at, (double[]){0.5, 0.2, -0.3}, 24);
    memcpy(thruster->axis, (double[]){0.0, 0.6, 0.8}, 24);
    craft_build(&craft);
    craft.commands[0] = 0.5;
    assert_3(1e-15, (double[]){0.0, 0.15, 0.2}, motion_now().specific_force);
    const double *a = dyn_plant_acceleration(craft.work);
    const double force[3] = {0.0, 1.5, 2.0};
    double expected[3];
    vec_cross(thruster->at, force, expected);
    assert_3(1e-15, expected, (double[]){2.0 * a[0], 3.0 * a[1], 4.0 * a[2]});
    craft.commands[0] = 7.0; /* gives all there is */
    assert_3(1e-15, (double[]){0.0, 0.3, 0.4}, motion_now().specific_force);
    craft.commands[0] = -7.0;
    assert_3(0.0, ORIGIN, motion_now().specific_force);
}

/* ---- a top ---- */

/* Body axes: w across turns by (I3 - I1) / I1 w3.  World: the axis circles H at |H| / I1. */
static void test_a_symmetric_top_precesses(void)
{
    const double I1 = 2.0, I3 = 3.5, w1 = 0.2, w3 = 0.9, t = 50.0;
    const double body = (I3 - I1) / I1 * w3, h = hypot(I1 * w1, I3 * w3);
    double axis[3], expected[3];
    struct vec_mat R;
    free_body(10.0, I1, I1, I3);
    memcpy(craft.tree.v, (double[]){w1, 0.0, w3}, 24);
    craft_build(&craft);
    craft_run(&craft, 5000, t / 5000);
    assert_3(1e-8, (double[]){w1 * cos(body * t), w1 * sin(body * t), w3}, craft.x + 7);

    vec_quat_matrix(craft.x + 3, &R);
    vec_multiply(&R, (double[]){0.0, 0.0, 1.0}, axis);
    vec_turn((double[]){I1 * w1 / h, 0.0, I3 * w3 / h}, h / I1 * t, (double[]){0.0, 0.0, 1.0},
             expected);
    assert_3(1e-8, expected, axis);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_wheel_sticks_until_it_breaks_away);
    RUN_TEST(test_a_wheel_that_runs_no_longer_sticks);
    RUN_TEST(test_friction_between_wheel_and_body_conserves_momentum);
    RUN_TEST(test_imbalance_turns_with_the_rotor);
    RUN_TEST(test_imbalance_pushes_at_the_place_of_the_rotor);
    RUN_TEST(test_an_unbalanced_wheel_shakes_a_free_body);
    RUN_TEST(test_a_balanced_wheel_has_one_state);
    RUN_TEST(test_a_torquer_turns_the_body_by_m_x_B);
    RUN_TEST(test_a_command_that_is_no_number_asks_for_nothing);
    RUN_TEST(test_a_torquer_swings_as_a_compass_does);
    RUN_TEST(test_a_thruster_pulse_gives_its_impulse);
    RUN_TEST(test_a_thruster_off_the_centre_turns_the_body);
    RUN_TEST(test_a_symmetric_top_precesses);
    return UNITY_END();
}
