/*
 * Gusts against the closed form of the first-order process, at two frame rates.
 */
#include "io/device/wind_gust.h"

#include <math.h>
#include <string.h>

#include "tests/io/statistics.h"
#include "unity.h"

enum { STEP_COUNT = 1 << 18 };

static struct io_wind_gust_spec spec;
static struct io_wind_gust_state state;
static double record[3][STEP_COUNT];

void setUp(void)
{
    spec = (struct io_wind_gust_spec){
        .sigma = {1.5, 0.5, 3.0}, .time = {0.5, 0.2, 0.05}, .sample_time = 0.01};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void record_gusts(void)
{
    io_wind_gust_begin(&spec, 3, 8, &state);
    for (int k = 0; k < STEP_COUNT; k++) {
        for (int i = 0; i < 3; i++)
            record[i][k] = state.out[i];
        io_wind_gust_step(&spec, &state);
    }
}

static void test_gusts_have_their_deviation_and_correlation_at_every_rate(void)
{
    for (int round = 0; round < 2; round++) {
        spec.sample_time = round == 0 ? 0.004 : 0.05;
        record_gusts();
        for (int i = 0; i < 3; i++) {
            const double variance = spec.sigma[i] * spec.sigma[i];
            const double keep = exp(-spec.sample_time / spec.time[i]);
            const double bound = 5.0 * variance * test_variance_error(STEP_COUNT, keep);
            for (int lag = 0; lag <= 30; lag += 5)
                TEST_ASSERT_DOUBLE_WITHIN(bound,
                                          variance * exp(-lag * spec.sample_time / spec.time[i]),
                                          test_covariance(record[i], STEP_COUNT, lag));
        }
    }
}

static void test_the_three_axes_are_independent(void)
{
    record_gusts();
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        const double slowest = exp(-spec.sample_time / fmax(spec.time[i], spec.time[j]));
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * test_variance_error(STEP_COUNT, slowest), 0.0,
                                  test_correlation(record[i], record[j], STEP_COUNT));
    }
}

static void test_the_first_gust_is_in_the_stationary_law(void)
{
    enum { BEGIN_COUNT = 1 << 14 };
    for (int k = 0; k < BEGIN_COUNT; k++) {
        io_wind_gust_begin(&spec, 3, (uint64_t)k, &state);
        for (int i = 0; i < 3; i++)
            record[i][k] = state.out[i];
    }
    for (int i = 0; i < 3; i++) {
        const double variance = spec.sigma[i] * spec.sigma[i];
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * variance * test_variance_error(BEGIN_COUNT, 0.0), variance,
                                  test_covariance(record[i], BEGIN_COUNT, 0));
    }
}

static void test_without_deviation_the_air_is_still_and_the_draws_are_the_same(void)
{
    struct io_wind_gust_state other;
    io_wind_gust_begin(&spec, 1, 1, &other);
    io_wind_gust_step(&spec, &other);
    spec = (struct io_wind_gust_spec){.sample_time = 0.01};
    io_wind_gust_begin(&spec, 1, 1, &state);
    io_wind_gust_step(&spec, &state);
    TEST_ASSERT_TRUE(state.out[0] == 0.0 && state.out[1] == 0.0 && state.out[2] == 0.0);
    TEST_ASSERT_EQUAL_MEMORY(&other.noise, &state.noise, sizeof state.noise);
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_wind_gust_state other;
    memset(&other, 0x55, sizeof other);
    io_wind_gust_begin(&spec, 3, 8, &state);
    io_wind_gust_begin(&spec, 3, 8, &other);
    for (int k = 0; k < 100; k++) {
        io_wind_gust_step(&spec, &state);
        io_wind_gust_step(&spec, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gusts_have_their_deviation_and_correlation_at_every_rate);
    RUN_TEST(test_the_three_axes_are_independent);
    RUN_TEST(test_the_first_gust_is_in_the_stationary_law);
    RUN_TEST(test_without_deviation_the_air_is_still_and_the_draws_are_the_same);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    return UNITY_END();
}
