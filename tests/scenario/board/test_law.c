/*
 * The board's control law against its closed forms: linear near the target, braking at the planned
 * acceleration beyond, never more than the wheels can give.
 */
#include "tools/board/vehicles/law.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/quaternion.h"
#include "unity.h"

static struct board_law law;

void setUp(void)
{
    law = (struct board_law){.target = {1.0, 0.0, 0.0, 0.0},
                             .inertia = {12.0, 14.0, 10.0},
                             .torque_max = 0.2,
                             .rate_limit = 0.1,
                             .attitude_gain = 1.5,
                             .rate_gain = 3.0,
                             .authority = 0.8,
                             .roll_off = 1e6}; /* none */
}

void tearDown(void)
{
}

static void torque_at(const double turn[3], const double rate[3])
{
    double attitude[4] = {1.0, 0.0, 0.0, 0.0};
    board_quaternion_turn(attitude, turn);
    board_law_update(&law, attitude, rate, 0.004);
}

static void assert_torque(double tolerance, double x, double y, double z)
{
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, x, law.torque[0]);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, y, law.torque[1]);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, z, law.torque[2]);
}

/* (s + k)(s + c): torque / I = -c k angle - (c + k) rate */
static void test_the_law_near_the_target_has_its_poles_at_both_gains(void)
{
    const double turn[3] = {1e-3, -5e-4, 2e-4}, rate[3] = {-3e-4, 2e-4, 5e-4};
    torque_at(turn, rate);
    assert_torque(1e-5, 12.0 * (-4.5 * turn[0] - 4.5 * rate[0]),
                  14.0 * (-4.5 * turn[1] - 4.5 * rate[1]), 10.0 * (-4.5 * turn[2] - 4.5 * rate[2]));
}

/* On the curve v^2 = 2 a p - a^2 / k^2 the body brakes at a, whatever the angle. */
static void test_on_the_braking_curve_the_torque_is_the_planned_share(void)
{
    law.rate_limit = 10.0;
    for (double p = 0.05; p < 2.0; p += 0.05) {
        const double a = 0.8 * 0.2 / 14.0, v = sqrt(2.0 * a * p - a * a / (1.5 * 1.5));
        torque_at((double[]){0.0, p, 0.0}, (double[]){0.0, -v, 0.0});
        assert_torque(1e-9, 0.0, 0.8 * 0.2, 0.0);
    }
}

static void test_at_the_rate_limit_the_body_coasts(void)
{
    torque_at((double[]){0.0, 0.0, 2.0}, (double[]){0.0, 0.0, -0.1});
    assert_torque(1e-12, 0.0, 0.0, 0.0);
    torque_at((double[]){0.0, 0.0, 2.0}, (double[]){0.0, 0.0, -0.2});
    assert_torque(1e-12, 0.0, 0.0, 0.2);
}

static void test_the_shorter_rotation_is_taken(void)
{
    torque_at((double[]){3.5, 0.0, 0.0}, (double[]){0.0, 0.0, 0.0});
    assert_torque(1e-12, 0.2, 0.0, 0.0);
    torque_at((double[]){-3.5, 0.0, 0.0}, (double[]){0.0, 0.0, 0.0});
    assert_torque(1e-12, -0.2, 0.0, 0.0);
}

static void test_a_limited_torque_keeps_its_direction(void)
{
    torque_at((double[]){0.4, 0.3, -0.2}, (double[]){0.0, 0.0, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.2, law.torque[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.2 * (14.0 * 0.3) / (12.0 * 0.4), -law.torque[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.2 * (10.0 * 0.2) / (12.0 * 0.4), law.torque[2]);
}

/* rate x I rate: the part of the torque that does not change its sign with the rate. */
static void test_the_gyroscopic_torque_is_compensated(void)
{
    const double rate[3] = {0.02, -0.03, 0.04};
    double with[3];
    law.torque_max = 100.0;
    torque_at((double[]){0.0, 0.0, 0.0}, rate);
    memcpy(with, law.torque, sizeof with);
    torque_at((double[]){0.0, 0.0, 0.0}, (double[]){-0.02, 0.03, -0.04});
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, rate[1] * 10.0 * rate[2] - rate[2] * 14.0 * rate[1],
                              0.5 * (with[0] + law.torque[0]));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, rate[2] * 12.0 * rate[0] - rate[0] * 10.0 * rate[2],
                              0.5 * (with[1] + law.torque[1]));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, rate[0] * 14.0 * rate[1] - rate[1] * 12.0 * rate[0],
                              0.5 * (with[2] + law.torque[2]));
}

/* rate error -k p, for one second, then for a thousand */
static void test_the_trim_integrates_the_rate_error_within_a_quarter_of_the_torque(void)
{
    law.trim_gain = 0.5;
    for (int k = 0; k < 250; k++)
        torque_at((double[]){1e-4, 0.0, 0.0}, (double[]){0.0, 0.0, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.5 * 12.0 * 1.5e-4, law.trim[0]);
    for (int k = 0; k < 250000; k++)
        torque_at((double[]){1e-4, 0.0, 0.0}, (double[]){0.0, 0.0, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.25 * 0.2, law.trim[0]);
}

/* Far away near the braking curve, where no wheel is at its limit; and close, but too fast. */
static void test_nothing_winds_up_in_a_slew_or_at_the_limit(void)
{
    law.trim_gain = 0.5;
    torque_at((double[]){0.0, 0.3, 0.0}, (double[]){0.0, -0.081, 0.0});
    TEST_ASSERT_TRUE(law.torque[1] != 0.0 && fabs(law.torque[1]) < 0.2);
    torque_at((double[]){0.0, 1e-4, 0.0}, (double[]){0.0, -0.05, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.2, law.torque[1]);
    TEST_ASSERT_TRUE(law.trim[0] == 0.0 && law.trim[1] == 0.0 && law.trim[2] == 0.0);
}

/* A step through a first-order lag of 5 Hz: 1 - exp(-2 pi f t). */
static void test_the_roll_off_is_first_order(void)
{
    law.roll_off = 5.0;
    for (int k = 0; k < 10; k++)
        torque_at((double[]){1e-3, 0.0, 0.0}, (double[]){0.0, 0.0, 0.0});
    assert_torque(1e-9, -12.0 * 4.5 * 1e-3 * (1.0 - exp(-2.0 * M_PI * 5.0 * 0.04)), 0.0, 0.0);
}

static void test_the_error_is_the_angle_to_the_target(void)
{
    const double turn[3] = {0.0, 0.6, 0.8};
    double attitude[4] = {1.0, 0.0, 0.0, 0.0};
    board_quaternion_turn(attitude, turn);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1.0, board_law_error(&law, attitude));
    memcpy(law.target, attitude, sizeof attitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, board_law_error(&law, attitude));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_law_near_the_target_has_its_poles_at_both_gains);
    RUN_TEST(test_on_the_braking_curve_the_torque_is_the_planned_share);
    RUN_TEST(test_at_the_rate_limit_the_body_coasts);
    RUN_TEST(test_the_shorter_rotation_is_taken);
    RUN_TEST(test_a_limited_torque_keeps_its_direction);
    RUN_TEST(test_the_gyroscopic_torque_is_compensated);
    RUN_TEST(test_the_trim_integrates_the_rate_error_within_a_quarter_of_the_torque);
    RUN_TEST(test_nothing_winds_up_in_a_slew_or_at_the_limit);
    RUN_TEST(test_the_roll_off_is_first_order);
    RUN_TEST(test_the_error_is_the_angle_to_the_target);
    return UNITY_END();
}
