/*
 * The board's estimator on a motion with a known answer: a steady turn about a fixed axis, seen by
 * a gyro with a bias and by a star tracker at a lower rate.
 */
#include "tools/board/vehicles/estimator.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/quaternion.h"
#include "unity.h"

enum { STEP_US = 4000 };

static const double rate[3] = {0.02, -0.05, 0.03};
static const double bias[3] = {2e-3, -1e-3, 5e-4};
static struct board_estimator estimator;

void setUp(void)
{
    memset(&estimator, 0, sizeof estimator);
}

void tearDown(void)
{
}

static void truth_at(uint64_t time_us, double attitude[4])
{
    const double t = (double)time_us * 1e-6, turn[3] = {rate[0] * t, rate[1] * t, rate[2] * t};
    attitude[0] = 1.0, attitude[1] = attitude[2] = attitude[3] = 0.0;
    board_quaternion_turn(attitude, turn);
}

static bool feed_gyro(uint64_t time_us, const double error[3])
{
    return board_estimator_gyro(
        &estimator, time_us,
        (double[]){rate[0] + error[0], rate[1] + error[1], rate[2] + error[2]});
}

static void feed_star(uint64_t time_us)
{
    double attitude[4];
    truth_at(time_us, attitude);
    board_estimator_star(&estimator, time_us, attitude);
}

static double error_now(void)
{
    double attitude[4], r[3];
    truth_at(estimator.time_us, attitude);
    board_quaternion_difference(estimator.attitude, attitude, r);
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

static void test_there_is_no_attitude_before_the_first_star(void)
{
    feed_gyro(0, bias);
    feed_gyro(STEP_US, bias);
    TEST_ASSERT_FALSE(estimator.has_attitude);
    feed_star(2 * STEP_US);
    feed_gyro(2 * STEP_US, bias);
    TEST_ASSERT_TRUE(estimator.has_attitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, error_now());
}

/* One star at the start, then ten seconds of a gyro without error. */
static void test_a_perfect_gyro_carries_the_attitude_alone(void)
{
    const double none[3] = {0.0, 0.0, 0.0};
    feed_star(0);
    for (uint64_t k = 0; k <= 2500; k++)
        feed_gyro(k * STEP_US, none);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, 0.0, error_now());
}

/* w = b t about z turns by b t^2 / 2; the mean of two neighbouring samples makes it exact. */
static void test_a_growing_rate_is_integrated_without_lag(void)
{
    const double b = 0.05, t = 1000 * STEP_US * 1e-6;
    board_estimator_star(&estimator, 0, (double[]){1.0, 0.0, 0.0, 0.0});
    for (uint64_t k = 0; k <= 1000; k++)
        board_estimator_gyro(&estimator, k * STEP_US,
                             (double[]){0.0, 0.0, b * (double)k * STEP_US * 1e-6});
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, sin(0.25 * b * t * t), estimator.attitude[3]);
}

static void assert_settled(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.0, error_now());
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_DOUBLE_WITHIN(2e-5, bias[i], estimator.bias[i]);
        TEST_ASSERT_DOUBLE_WITHIN(2e-5, rate[i], estimator.rate[i]);
    }
}

static void test_the_bias_is_found_within_three_seconds_at_any_rate_of_stars(void)
{
    static const uint64_t every[] = {1, 5, 25, 50};
    for (int round = 0; round < 4; round++) {
        memset(&estimator, 0, sizeof estimator);
        for (uint64_t k = 0; k < 750; k++) {
            if (k % every[round] == 0)
                feed_star(k * STEP_US);
            feed_gyro(k * STEP_US, bias);
        }
        assert_settled();
    }
}

/* The star of a step may come after its gyro sample, and be used one sample late. */
static void test_a_star_after_its_gyro_sample_serves_as_well(void)
{
    for (uint64_t k = 0; k < 750; k++) {
        feed_gyro(k * STEP_US, bias);
        feed_star(k * STEP_US);
    }
    assert_settled();
}

static void test_a_clock_that_jumps_starts_the_estimate_anew(void)
{
    for (int round = 0; round < 2; round++) {
        const uint64_t jump_us = round == 0 ? 1000 : 9000000;
        memset(&estimator, 0, sizeof estimator);
        feed_star(4000000);
        feed_gyro(4000000, bias);
        feed_gyro(4004000, bias);
        TEST_ASSERT_TRUE(estimator.has_attitude);
        feed_gyro(jump_us, bias);
        TEST_ASSERT_FALSE(estimator.has_attitude);
        feed_star(jump_us + STEP_US);
        feed_gyro(jump_us + STEP_US, bias);
        TEST_ASSERT_TRUE(estimator.has_attitude);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, error_now());
    }
}

static void test_rates_and_stars_that_are_no_numbers_are_refused(void)
{
    const double none[4] = {0.0, 0.0, 0.0, 0.0}, broken[4] = {1.0, nan(""), 0.0, 0.0};
    feed_star(0);
    feed_gyro(0, bias);
    const struct board_estimator before = estimator;
    TEST_ASSERT_FALSE(feed_gyro(STEP_US, (double[]){nan(""), 0.0, 0.0}));
    TEST_ASSERT_FALSE(feed_gyro(STEP_US, (double[]){0.0, HUGE_VAL, 0.0}));
    board_estimator_star(&estimator, STEP_US, none);
    board_estimator_star(&estimator, STEP_US, broken);
    TEST_ASSERT_EQUAL_MEMORY(&before, &estimator, sizeof before);
}

static void test_a_star_of_long_ago_is_not_used(void)
{
    for (uint64_t k = 0; k < 10; k++) {
        feed_star(100000000);
        feed_gyro(k * STEP_US, bias);
    }
    TEST_ASSERT_FALSE(estimator.has_attitude);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_there_is_no_attitude_before_the_first_star);
    RUN_TEST(test_a_perfect_gyro_carries_the_attitude_alone);
    RUN_TEST(test_a_growing_rate_is_integrated_without_lag);
    RUN_TEST(test_the_bias_is_found_within_three_seconds_at_any_rate_of_stars);
    RUN_TEST(test_a_star_after_its_gyro_sample_serves_as_well);
    RUN_TEST(test_a_clock_that_jumps_starts_the_estimate_anew);
    RUN_TEST(test_rates_and_stars_that_are_no_numbers_are_refused);
    RUN_TEST(test_a_star_of_long_ago_is_not_used);
    return UNITY_END();
}
