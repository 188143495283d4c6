/*
 * The exact step of a Gauss-Markov process against the C library's exponential.
 */
#include "io/device/gauss_markov.h"

#include <math.h>

#include "unity.h"

void setUp(void)
{
}

void tearDown(void)
{
}

/* Ratios of time from one over a billion to 600, and no more than a last bit or two away. */
static void test_keep_and_kick_are_those_of_the_exponential(void)
{
    for (int k = 0; k <= 4000; k++) {
        const double x = 1e-9 * pow(6e11, k / 4000.0);
        const struct io_gauss_markov wander = io_gauss_markov_make(3.0, 7.0, 7.0 * x);
        const double decay = exp(-x), noise_gain = 3.0 * sqrt(-expm1(-2.0 * x));
        TEST_ASSERT_DOUBLE_WITHIN(4e-16 * (1.0 + x) * decay, decay, wander.decay);
        TEST_ASSERT_DOUBLE_WITHIN(1e-15 * noise_gain, noise_gain, wander.noise_gain);
    }
}

/* The kept and the new part add up to the stationary variance; so they do after any number of
 * steps. */
static void test_the_variance_stays_and_two_steps_are_one_of_twice_the_time(void)
{
    const double dt[] = {1e-3, 0.1, 0.35, 1.0, 8.0};
    for (int i = 0; i < 5; i++) {
        const struct io_gauss_markov one = io_gauss_markov_make(2.0, 1.0, dt[i]);
        const struct io_gauss_markov two = io_gauss_markov_make(2.0, 1.0, 2.0 * dt[i]);
        const double kept = one.decay * one.decay;
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 4.0, 4.0 * kept + one.noise_gain * one.noise_gain);
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, two.decay, kept);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, two.noise_gain * two.noise_gain,
                                  (1.0 + kept) * one.noise_gain * one.noise_gain);
    }
}

static void test_a_time_of_zero_or_far_below_the_step_gives_white_noise(void)
{
    const double time[] = {0.0, 1e-300, 1e-3};
    for (int i = 0; i < 3; i++) {
        const struct io_gauss_markov wander = io_gauss_markov_make(5.0, time[i], 1.0);
        TEST_ASSERT_TRUE(wander.decay == 0.0 && wander.noise_gain == 5.0);
    }
}

static void test_a_step_keeps_the_old_and_kicks_by_the_new(void)
{
    const struct io_gauss_markov wander = {.decay = 0.75, .noise_gain = 2.0};
    TEST_ASSERT_TRUE(io_gauss_markov_step(wander, 4.0, -0.5) == 2.0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_keep_and_kick_are_those_of_the_exponential);
    RUN_TEST(test_the_variance_stays_and_two_steps_are_one_of_twice_the_time);
    RUN_TEST(test_a_time_of_zero_or_far_below_the_step_gives_white_noise);
    RUN_TEST(test_a_step_keeps_the_old_and_kicks_by_the_new);
    return UNITY_END();
}
