/*
 * Lags of thrusters and rotors: whatever the integrator and however long the step, the response to
 * a held command is the closed form, or at least goes there without ever leaving the way.
 */
#include "dynamics/effector/lag.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/craft.h"
#include "unity.h"

enum { STEPS = 60, TRIALS = 40 };

static const enum dyn_integrator METHODS[] = {
    DYN_SEMI_IMPLICIT_EULER, DYN_RK2, DYN_RK4, DYN_AB2, DYN_AB3, DYN_AB4, DYN_ROS2};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

static struct craft craft;
static unsigned long long seed;

void setUp(void)
{
    seed = 1;
}

void tearDown(void)
{
}

/* Uniform between low and high. */
static double draw(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

static void bring_up(enum dyn_integrator method, const struct dyn_effector *effector)
{
    memset(&craft, 0, sizeof craft);
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = 10.0;
    memcpy(craft.tree.spec[0].inertia, (double[]){2.0, 3.0, 4.0, 0, 0, 0}, 48);
    tree_build(&craft.tree);
    craft_add(&craft, effector);
    craft_build(&craft);
    craft_use(&craft, method);
}

/* The least lag, in steps, at which the method can be exact. */
static double exact_from(enum dyn_integrator method)
{
    if (method == DYN_SEMI_IMPLICIT_EULER)
        return 0.0;
    return method == DYN_RK2 || method == DYN_ROS2 ? 1.0 / log(2.0) : 0.83; /* RK4 begins AB */
}

static struct dyn_effector thruster(double rise, double fall)
{
    return (struct dyn_effector){
        .type = DYN_EFFECTOR_THRUSTER,
        .thruster = {.axis = {1.0, 0.0, 0.0}, .thrust = 5.0, .rise = rise, .fall = fall}};
}

static struct dyn_effector rotor(double up, double down)
{
    return (struct dyn_effector){.type = DYN_EFFECTOR_ROTOR,
                                 .rotor = {.axis = {0.0, 0.0, -1.0},
                                           .spin = 1.0,
                                           .max_speed = 900.0,
                                           .lag_up = up,
                                           .lag_down = down,
                                           .inertia = 1e-4}};
}

/* Up with a command, then down again; full is the state at command 1. */
static void follow(enum dyn_integrator method, double up, double down, double h, double full)
{
    const double *state = craft_states(&craft, 0);
    double level = 0.0, before = 0.0;
    for (int k = 0; k < 2 * STEPS; k++) {
        const double command = k < STEPS ? 0.75 : 0.25, lag = k < STEPS ? up : down;
        const double target = command * full;
        craft.commands[0] = command;
        craft_run(&craft, 1, h);
        level = target + (level - target) * exp(-h / lag);
        if (lag / h >= exact_from(method))
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * full, level, state[0]);
        else
            level = state[0];
        TEST_ASSERT_TRUE(k < STEPS ? state[0] >= before - 1e-12 * full
                                   : state[0] <= before + 1e-12 * full);
        TEST_ASSERT_TRUE(state[0] >= 0.0 && state[0] <= 0.75 * full * (1.0 + 1e-12));
        before = state[0];
    }
}

/* A rise of two steps under AB4 went to 1e27 in a second. */
static void test_thrusters_rise_and_fall_by_the_closed_form_under_every_integrator(void)
{
    for (int m = 0; m < METHOD_COUNT; m++)
        for (int trial = 0; trial < TRIALS; trial++) {
            const double h = draw(1e-4, 0.05);
            const double rise = h * exp(draw(log(0.3), log(30.0)));
            const double fall = h * exp(draw(log(0.3), log(30.0)));
            const struct dyn_effector effector = thruster(rise, fall);
            bring_up(METHODS[m], &effector);
            follow(METHODS[m], rise, fall, h, 1.0);
        }
}

static void test_rotors_follow_by_the_closed_form_under_every_integrator(void)
{
    for (int m = 0; m < METHOD_COUNT; m++)
        for (int trial = 0; trial < TRIALS; trial++) {
            const double h = draw(1e-4, 0.05);
            const double up = h * exp(draw(log(0.3), log(30.0)));
            const double down = h * exp(draw(log(0.3), log(30.0)));
            const struct dyn_effector effector = rotor(up, down);
            bring_up(METHODS[m], &effector);
            follow(METHODS[m], up, down, h, 900.0);
        }
}

/* With substeps the lag is met at every frame; a lag that an operator changes counts at once. */
static void test_a_lag_may_change_between_two_steps(void)
{
    const struct dyn_effector effector = thruster(0.02, 0.01);
    for (int m = 0; m < METHOD_COUNT; m++) {
        bring_up(METHODS[m], &effector);
        craft.plant.substeps = 3;
        craft.commands[0] = 1.0;
        craft_run(&craft, 4, 0.01);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0 - exp(-2.0), craft_states(&craft, 0)[0]);
        craft.effectors[0].thruster.rise = 0.05;
        craft_run(&craft, 5, 0.02);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0 - exp(-4.0), craft_states(&craft, 0)[0]);
    }
}

/* What a rotor takes up in speed its body gives: one-step methods keep the sum to rounding, and
 * Adams-Bashforth, once it has its past, has it again when the rotor has come to its speed. */
static void test_a_rotor_and_its_body_keep_their_momentum(void)
{
    for (int m = 0; m < METHOD_COUNT; m++) {
        const double h = 0.01;
        const struct dyn_effector effector = rotor(2.5 * h, 2.5 * h);
        const bool many = METHODS[m] >= DYN_AB2 && METHODS[m] <= DYN_AB4;
        bring_up(METHODS[m], &effector);
        craft_run(&craft, many ? 10 : 0, h);
        craft.commands[0] = 1.0;
        for (int k = 0; k < 400; k++) {
            craft_run(&craft, 1, h);
            /* the spin is about -z: s a J Omega */
            const double sum = 4.0 * craft.x[9] - 1e-4 * craft_states(&craft, 0)[0];
            if (!many || k > 200)
                TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, sum);
        }
    }
}

/* The lag of a step leaves the method its order: it differs from the true one by less. */
static void test_the_lag_of_a_short_step_is_nearly_the_true_one(void)
{
    for (double z = 0.2; z > 0.01; z /= 2.0) {
        TEST_ASSERT_DOUBLE_WITHIN(0.6 * z, 1.0, dyn_lag_for_step(DYN_SEMI_IMPLICIT_EULER, 1.0, z));
        TEST_ASSERT_DOUBLE_WITHIN(0.4 * z * z, 1.0, dyn_lag_for_step(DYN_RK2, 1.0, z));
        TEST_ASSERT_DOUBLE_WITHIN(0.02 * z * z * z * z, 1.0, dyn_lag_for_step(DYN_RK4, 1.0, z));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_thrusters_rise_and_fall_by_the_closed_form_under_every_integrator);
    RUN_TEST(test_rotors_follow_by_the_closed_form_under_every_integrator);
    RUN_TEST(test_a_lag_may_change_between_two_steps);
    RUN_TEST(test_a_rotor_and_its_body_keep_their_momentum);
    RUN_TEST(test_the_lag_of_a_short_step_is_nearly_the_true_one);
    return UNITY_END();
}
