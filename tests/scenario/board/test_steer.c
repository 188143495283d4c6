/*
 * The inner loop of the flight controller against its closed forms.
 */
#include "tools/board/vehicles/steer.h"

#include <math.h>

#include "tools/board/vehicles/hover.h"
#include "tools/board/vehicles/quaternion.h"
#include "unity.h"

static struct board_steer steer;
static const double none[3] = {0.0, 0.0, 0.0};

void setUp(void)
{
    steer = (struct board_steer){
        .inertia = {0.02, 0.03, 0.05}, .attitude_gain = 6.0, .rate_gain = 18.0};
}

void tearDown(void)
{
}

static void test_the_rate_leads_to_the_wanted_attitude(void)
{
    double q[4] = {0.8, 0.0, 0.6, 0.0}, wanted[4] = {0.8, 0.0, 0.6, 0.0}, rate[3];
    board_quaternion_turn(wanted, (double[]){0.1, -0.2, 0.15});
    board_steer_rate(&steer, q, wanted, rate);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.6, rate[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1.2, rate[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.3, rate[2]); /* a third of the gain */
}

static void test_the_rate_is_bounded(void)
{
    double q[4] = {1.0, 0.0, 0.0, 0.0}, wanted[4] = {1.0, 0.0, 0.0, 0.0}, rate[3];
    board_quaternion_turn(wanted, (double[]){1.5, -1.5, 1.5});
    board_steer_rate(&steer, q, wanted, rate);
    TEST_ASSERT_TRUE(rate[0] == 3.5 && rate[1] == -3.5 && rate[2] == 1.0);
}

/* torque = I c error + rate x I rate */
static void test_the_torque_makes_the_rate_and_carries_the_gyroscopic_part(void)
{
    const double rate[3] = {1.0, 2.0, 3.0}, wanted[3] = {1.5, 2.0, 2.0};
    double torque[3];
    board_steer_torque(&steer, rate, wanted, 0.0, torque);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.02 * 18.0 * 0.5 + (0.05 - 0.03) * 6.0, torque[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, (0.02 - 0.05) * 3.0, torque[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.05 * 9.0 + (0.03 - 0.02) * 2.0, torque[2]);
}

static void test_the_trim_grows_with_the_error_and_is_bounded(void)
{
    double torque[3];
    board_steer_torque(&steer, none, (double[]){1.0, 0.0, 0.0}, 0.5, torque);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.0 * 0.02 * 0.5, steer.trim[0]);
    for (int k = 0; k < 1000; k++)
        board_steer_torque(&steer, none, (double[]){1.0, 0.0, -1.0}, 0.5, torque);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.3, steer.trim[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.05, steer.trim[2]);
}

/* To fly north the nose goes down, to fly east the right side does; the heading stays. */
static void test_the_thrust_vector_is_leaned_on_at_any_heading(void)
{
    double q[4];
    board_hover_lean((double[]){1.0, 0.0, -1.0}, 0.0, q);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -sin(M_PI / 8.0), q[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, cos(M_PI / 8.0), q[0]);
    board_hover_lean((double[]){0.0, 1.0, -1.0}, 0.0, q);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, sin(M_PI / 8.0), q[1]);
    board_hover_lean((double[]){0.0, 1.0, -1.0}, M_PI / 2.0, q); /* facing east: nose down */
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -sin(M_PI / 8.0) * sqrt(0.5), q[2]);
    board_hover_lean(none, 0.5, q);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, sin(0.25), q[3]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_rate_leads_to_the_wanted_attitude);
    RUN_TEST(test_the_rate_is_bounded);
    RUN_TEST(test_the_torque_makes_the_rate_and_carries_the_gyroscopic_part);
    RUN_TEST(test_the_trim_grows_with_the_error_and_is_bounded);
    RUN_TEST(test_the_thrust_vector_is_leaned_on_at_any_heading);
    return UNITY_END();
}
