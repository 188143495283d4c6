/*
 * The receiver against closed forms: lag to the sample, each noise by its variance and correlation.
 */
#include "io/device/gps.h"

#include <math.h>
#include <string.h>

#include "tests/io/statistics.h"
#include "unity.h"

enum { SAMPLE_COUNT = 1 << 17 };

static struct io_gps_spec spec;
static struct io_gps_state state;
static double record[6][SAMPLE_COUNT];

static const double zero[3] = {0.0, 0.0, 0.0};

/* A perfect receiver; each test adds one error. */
void setUp(void)
{
    spec = (struct io_gps_spec){.sample_time = 0.1};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void record_rest(void)
{
    io_gps_begin(&spec, 5, 3, &state);
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        io_gps_sample(&spec, zero, zero, &state);
        for (int i = 0; i < 3; i++) {
            record[i][k] = state.out.position[i];
            record[3 + i][k] = state.out.velocity[i];
        }
    }
}

static void assert_variance(double sigma, const double *y)
{
    const double bound = 5.0 * test_variance_error(SAMPLE_COUNT, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(bound * sigma * sigma, sigma * sigma,
                              test_covariance(y, SAMPLE_COUNT, 0));
}

static void test_a_perfect_receiver_gives_the_truth_and_its_specified_accuracy(void)
{
    const double position[3] = {1.0, -2.0, 3e6}, velocity[3] = {4.0, 5.0, -6.0};
    spec.eph = 0.8, spec.epv = 1.5, spec.satellites = 11, spec.fix_type = 3;
    io_gps_begin(&spec, 1, 1, &state);
    io_gps_sample(&spec, position, velocity, &state);
    TEST_ASSERT_EQUAL_MEMORY(position, state.out.position, sizeof position);
    TEST_ASSERT_EQUAL_MEMORY(velocity, state.out.velocity, sizeof velocity);
    TEST_ASSERT_TRUE(state.out.eph == 0.8 && state.out.epv == 1.5);
    TEST_ASSERT_EQUAL_UINT32(11, state.out.satellites);
    TEST_ASSERT_EQUAL_UINT32(3, state.out.fix_type);
}

static void test_there_is_no_fix_until_the_delay_has_passed_and_then_it_is_old_by_it(void)
{
    for (uint32_t delay = 0; delay < IO_GPS_DELAY_MAX; delay++) {
        spec.delay = delay;
        io_gps_begin(&spec, 1, 1, &state);
        for (uint32_t k = 0; k < 3 * IO_GPS_DELAY_MAX; k++) {
            const double now = 10.0 + k, old = k < delay ? 0.0 : now - delay;
            const bool answers = io_gps_sample(&spec, (double[]){now, 2.0 * now, 3.0 * now},
                                               (double[]){-now, -2.0 * now, -3.0 * now}, &state);
            TEST_ASSERT_EQUAL_INT(k >= delay, answers);
            TEST_ASSERT_EQUAL_UINT32(k >= delay ? spec.fix_type : 0, state.out.fix_type);
            for (int i = 0; i < 3; i++) {
                TEST_ASSERT_TRUE(state.out.position[i] == (i + 1) * old);
                TEST_ASSERT_TRUE(state.out.velocity[i] == -(i + 1) * old);
            }
        }
    }
}

static void test_white_noise_has_the_deviation_of_its_axis_and_no_memory(void)
{
    const double sigma[6] = {0.5, 0.5, 1.25, 0.05, 0.05, 0.2};
    spec.noise_horizontal = 0.5, spec.noise_vertical = 1.25;
    spec.velocity_noise_horizontal = 0.05, spec.velocity_noise_vertical = 0.2;
    record_rest();
    for (int i = 0; i < 6; i++) {
        assert_variance(sigma[i], record[i]);
        TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(SAMPLE_COUNT) * sigma[i] * sigma[i], 0.0,
                                  test_covariance(record[i], SAMPLE_COUNT, 1));
        for (int j = 0; j < i; j++)
            TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(SAMPLE_COUNT), 0.0,
                                      test_correlation(record[i], record[j], SAMPLE_COUNT));
    }
}

static void test_the_position_wanders_with_its_deviation_and_time_and_the_velocity_not(void)
{
    const double sigma[3] = {2.0, 2.0, 5.0}, keep = exp(-spec.sample_time / 3.0);
    const double error = 5.0 * test_variance_error(SAMPLE_COUNT, keep);
    spec.wander_horizontal = 2.0, spec.wander_vertical = 5.0, spec.wander_time = 3.0;
    record_rest();
    for (int i = 0; i < 3; i++) {
        const double variance = sigma[i] * sigma[i];
        for (int lag = 0; lag <= 60; lag += 15)
            TEST_ASSERT_DOUBLE_WITHIN(error * variance, variance * pow(keep, lag),
                                      test_covariance(record[i], SAMPLE_COUNT, lag));
        TEST_ASSERT_DOUBLE_WITHIN(error, 0.0,
                                  test_correlation(record[i], record[(i + 1) % 3], SAMPLE_COUNT));
        TEST_ASSERT_TRUE(test_covariance(record[3 + i], SAMPLE_COUNT, 0) == 0.0);
    }
}

static void test_the_first_fix_is_already_off_by_the_wander(void)
{
    enum { BEGIN_COUNT = 1 << 14 };
    spec.wander_horizontal = 2.0, spec.wander_vertical = 5.0, spec.wander_time = 1e6;
    for (int k = 0; k < BEGIN_COUNT; k++) {
        io_gps_begin(&spec, 5, (uint64_t)k, &state);
        io_gps_sample(&spec, zero, zero, &state);
        for (int i = 0; i < 3; i++)
            record[i][k] = state.out.position[i];
    }
    for (int i = 0; i < 3; i++) {
        const double variance = i < 2 ? 4.0 : 25.0;
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * variance * test_variance_error(BEGIN_COUNT, 0.0), variance,
                                  test_covariance(record[i], BEGIN_COUNT, 0));
    }
}

static void test_every_fix_takes_the_same_number_of_draws(void)
{
    io_gps_begin(&spec, 2, 2, &state);
    io_gps_sample(&spec, zero, zero, &state);
    const struct io_noise plain = state.noise;
    spec = (struct io_gps_spec){1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 3, 10, 3};
    io_gps_begin(&spec, 2, 2, &state);
    io_gps_sample(&spec, zero, zero, &state);
    TEST_ASSERT_EQUAL_MEMORY(&plain, &state.noise, sizeof plain);
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_gps_state other;
    spec = (struct io_gps_spec){1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 3, 10, 3};
    memset(&other, 0x55, sizeof other);
    io_gps_begin(&spec, 2, 2, &state);
    io_gps_begin(&spec, 2, 2, &other);
    for (int k = 0; k < 100; k++) {
        io_gps_sample(&spec, (double[]){k, 0.0, 1.0}, zero, &state);
        io_gps_sample(&spec, (double[]){k, 0.0, 1.0}, zero, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_perfect_receiver_gives_the_truth_and_its_specified_accuracy);
    RUN_TEST(test_there_is_no_fix_until_the_delay_has_passed_and_then_it_is_old_by_it);
    RUN_TEST(test_white_noise_has_the_deviation_of_its_axis_and_no_memory);
    RUN_TEST(test_the_position_wanders_with_its_deviation_and_time_and_the_velocity_not);
    RUN_TEST(test_the_first_fix_is_already_off_by_the_wander);
    RUN_TEST(test_every_fix_takes_the_same_number_of_draws);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    return UNITY_END();
}
