/*
 * The mixer against the geometry of the airframe: what it commands gives the thrust and torque that
 * were asked for, and what does not fit is given up in the order that keeps the vehicle upright.
 */
#include "tools/board/vehicles/mixer.h"

#include <math.h>

#include "unity.h"

static const struct board_airframe iris = {.mass = 1.5,
                                           .inertia = {0.029, 0.029, 0.055},
                                           .max_thrust = 7.0,
                                           .forward_arm = 0.22,
                                           .side_arm = 0.20,
                                           .drag_ratio = 0.016};
static double motor[4], made[4]; /* thrust, torque x, y, z */

void setUp(void)
{
}

void tearDown(void)
{
}

/* r x F of each motor, with a propeller's drag turning the body against its own sense. */
static void mix(double thrust, double x, double y, double z)
{
    static const double forward[4] = {1, -1, 1, -1}, right[4] = {1, -1, -1, 1};
    static const double counter_clockwise[4] = {1, 1, -1, -1};
    board_mix(&iris, thrust, (double[]){x, y, z}, motor);
    made[0] = made[1] = made[2] = made[3] = 0.0;
    for (int i = 0; i < 4; i++) {
        const double T = 7.0 * motor[i] * motor[i];
        TEST_ASSERT_TRUE(motor[i] >= 0.0 && motor[i] <= 1.0);
        made[0] += T;
        made[1] -= right[i] * 0.20 * T;
        made[2] += forward[i] * 0.22 * T;
        made[3] += counter_clockwise[i] * 0.016 * T;
    }
}

static void assert_made(double thrust, double x, double y, double z)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, thrust, made[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, x, made[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, y, made[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, z, made[3]);
}

static void test_hover_is_the_same_for_all_motors(void)
{
    mix(1.5 * 9.81, 0.0, 0.0, 0.0);
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, sqrt(1.5 * 9.81 / 28.0), motor[i]);
}

static void test_a_demand_within_the_limits_is_met_exactly(void)
{
    mix(14.0, 0.3, -0.4, 0.05);
    assert_made(14.0, 0.3, -0.4, 0.05);
    mix(10.0, -0.2, 0.5, -0.03);
    assert_made(10.0, -0.2, 0.5, -0.03);
}

/* Motor names: front right, rear left, front left, rear right. */
static void test_each_torque_speeds_up_the_right_motors(void)
{
    mix(14.0, 0.5, 0.0, 0.0); /* roll to the right: the left ones */
    TEST_ASSERT_TRUE(motor[1] > motor[0] && motor[2] > motor[3]);
    mix(14.0, 0.0, 0.5, 0.0); /* nose up: the front ones */
    TEST_ASSERT_TRUE(motor[0] > motor[1] && motor[2] > motor[3]);
    mix(14.0, 0.0, 0.0, 0.05); /* clockwise: the counter-clockwise ones */
    TEST_ASSERT_TRUE(motor[0] > motor[2] && motor[1] > motor[3]);
}

static void test_height_is_given_up_for_roll(void)
{
    mix(27.9, 0.5, 0.0, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.5, made[1]);
    TEST_ASSERT_TRUE(made[0] < 27.9);
    mix(0.0, 0.5, 0.0, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.5, made[1]);
    TEST_ASSERT_TRUE(made[0] > 0.0);
}

static void test_yaw_is_given_up_for_pitch(void)
{
    mix(14.0, 0.0, 1.2, 1.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1.2, made[2]);
    TEST_ASSERT_TRUE(made[3] > 0.0 && made[3] < 1.0);
}

static void test_too_much_of_all_keeps_its_sense(void)
{
    mix(100.0, 30.0, -30.0, 5.0);
    TEST_ASSERT_TRUE(made[1] > 0.0 && made[2] < 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, -1.0, made[2] / made[1]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_hover_is_the_same_for_all_motors);
    RUN_TEST(test_a_demand_within_the_limits_is_met_exactly);
    RUN_TEST(test_each_torque_speeds_up_the_right_motors);
    RUN_TEST(test_height_is_given_up_for_roll);
    RUN_TEST(test_yaw_is_given_up_for_pitch);
    RUN_TEST(test_too_much_of_all_keeps_its_sense);
    return UNITY_END();
}
