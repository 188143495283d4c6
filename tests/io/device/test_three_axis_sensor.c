/*
 * The three-axis sensor against closed forms: one error at a time, then the noise by its Allan
 * deviation, which is how a data sheet states it.
 */
#include "io/device/three_axis_sensor.h"

#include <math.h>
#include <string.h>

#include "tests/io/statistics.h"
#include "unity.h"

enum { SAMPLE_COUNT = 1 << 18 };

static struct io_three_axis_sensor_spec spec;
static struct io_three_axis_sensor_state state;
static double record[3][SAMPLE_COUNT];

static const double zero[3] = {0.0, 0.0, 0.0};

/* A perfect sensor; each test adds one error. */
void setUp(void)
{
    spec = (struct io_three_axis_sensor_spec){.mounting = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                              .sample_time = 0.004};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void begin(void)
{
    io_three_axis_sensor_begin(&spec, 7, 1, &state);
}

static void assert_says(double x, double y, double z)
{
    const double expected[3] = {x, y, z};
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-14 + 1e-15 * fabs(expected[i]), expected[i], state.out[i]);
}

static void record_silence(void)
{
    begin();
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        io_three_axis_sensor_sample(&spec, zero, &state);
        for (int i = 0; i < 3; i++)
            record[i][k] = state.out[i];
    }
}

static void test_a_perfect_instrument_says_the_truth_at_once(void)
{
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){0.1, -2.0, 3e5}, &state);
    TEST_ASSERT_TRUE(state.out[0] == 0.1 && state.out[1] == -2.0 && state.out[2] == 3e5);
}

/* The sensor is rotated by +90 degrees about z: its x axis is along the body's y. */
static void test_the_mounting_gives_instrument_axes_from_body_axes(void)
{
    const double turned[9] = {0, 1, 0, -1, 0, 0, 0, 0, 1};
    memcpy(spec.mounting, turned, sizeof turned);
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){1.0, 2.0, 3.0}, &state);
    assert_says(2.0, -1.0, 3.0);
}

/* Six different numbers and powers of ten: each must show in its own digit. */
static void test_the_misalignment_mixes_the_mounted_axes(void)
{
    const double turned[9] = {0, 1, 0, -1, 0, 0, 0, 0, 1};
    memcpy(spec.mounting, turned, sizeof turned);
    memcpy(spec.misalignment, (double[]){0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, sizeof spec.misalignment);
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){-100.0, 1.0, 10000.0},
                                &state); /* mounted: 1 100 10000 */
    assert_says(1.0 + 10.0 + 2000.0, 0.3 + 100.0 + 4000.0, 0.5 + 60.0 + 10000.0);
    memcpy(spec.scale, (double[]){1.0, 0.0, -0.5}, sizeof spec.scale);
    io_three_axis_sensor_sample(&spec, (double[]){-100.0, 1.0, 10000.0}, &state);
    assert_says(4022.0, 4100.3, 5030.25);
}

static void test_scale_acts_on_the_signal_and_not_on_the_bias(void)
{
    memcpy(spec.scale, (double[]){0.01, 0.0, -0.5}, sizeof spec.scale);
    memcpy(spec.bias, (double[]){0.25, -0.5, 1.0}, sizeof spec.bias);
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){2.0, 2.0, 2.0}, &state);
    assert_says(2.02 + 0.25, 1.5, 2.0);
}

static void test_quantisation_goes_to_the_nearest_code(void)
{
    spec.quantum = 0.25;
    begin();
    for (int k = -1000; k <= 1000; k++) {
        const double u = 0.0037 * k;
        io_three_axis_sensor_sample(&spec, (double[]){u, u, u}, &state);
        TEST_ASSERT_TRUE(state.out[0] == 0.25 * floor(u / 0.25 + 0.5));
        TEST_ASSERT_DOUBLE_WITHIN(0.125, u, state.out[1]);
    }
}

static void test_nothing_leaves_the_range_even_off_the_codes(void)
{
    spec.range = 1.0;
    spec.quantum = 0.6; /* the nearest code to 1 would be 1.2 */
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){1.0, -1e300, 0.5}, &state);
    assert_says(1.0, -1.0, 0.6);
    spec.quantum = 0.0;
    io_three_axis_sensor_sample(&spec, (double[]){7.0, -1.5, 0.99}, &state);
    assert_says(1.0, -1.0, 0.99);
}

static void test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it(void)
{
    for (uint32_t delay = 0; delay < IO_THREE_AXIS_SENSOR_DELAY_MAX; delay++) {
        spec.delay = delay;
        begin();
        for (uint32_t k = 0; k < 5 * IO_THREE_AXIS_SENSOR_DELAY_MAX; k++) {
            const double u = 10.0 + k, old = k < delay ? 0.0 : u - delay;
            const bool answers =
                io_three_axis_sensor_sample(&spec, (double[]){u, -u, 2.0 * u}, &state);
            TEST_ASSERT_EQUAL_INT(k >= delay, answers);
            assert_says(old, -old, 2.0 * old);
        }
    }
}

static void test_white_noise_has_the_density_over_the_root_of_the_sample_time(void)
{
    const double n = 3e-4;
    for (int round = 0; round < 2; round++) {
        spec.sample_time = round == 0 ? 0.004 : 0.1;
        spec.noise_density = n;
        record_silence();
        for (int i = 0; i < 3; i++) {
            double square = 0.0;
            for (int k = 0; k < SAMPLE_COUNT; k++)
                square += record[i][k] * record[i][k] / SAMPLE_COUNT;
            const double expected = n * n / spec.sample_time;
            TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(2.0 / SAMPLE_COUNT) * expected, expected, square);
        }
    }
}

/* sigma(tau) = n / sqrt(tau): slope -1/2. */
static void test_the_allan_deviation_of_white_noise_falls_with_the_root_of_time(void)
{
    spec.noise_density = 2e-3;
    record_silence();
    for (int m = 1; m <= 1024; m *= 4) {
        const double expected = spec.noise_density / sqrt(m * spec.sample_time);
        for (int i = 0; i < 3; i++)
            TEST_ASSERT_DOUBLE_WITHIN(5.0 * test_allan_error(SAMPLE_COUNT, m) * expected, expected,
                                      test_allan_deviation(record[i], SAMPLE_COUNT, m));
    }
}

/* sigma(tau) = k sqrt(tau / 3), here with the 1 / (2 m^2) that sampling adds: slope +1/2. */
static void test_the_allan_deviation_of_the_walk_rises_with_the_root_of_time(void)
{
    spec.walk_density = 5e-3;
    record_silence();
    for (int m = 4; m <= 1024; m *= 4) {
        const double sampled = 1.0 + 0.5 / ((double)m * m);
        const double expected = spec.walk_density * sqrt(m * spec.sample_time / 3.0 * sampled);
        for (int i = 0; i < 3; i++)
            TEST_ASSERT_DOUBLE_WITHIN(5.0 * test_allan_error(SAMPLE_COUNT, m) * expected, expected,
                                      test_allan_deviation(record[i], SAMPLE_COUNT, m));
    }
}

static void test_the_walk_starts_at_zero(void)
{
    spec.walk_density = 1.0;
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){1.0, 2.0, 3.0}, &state);
    assert_says(1.0, 2.0, 3.0);
    io_three_axis_sensor_sample(&spec, (double[]){1.0, 2.0, 3.0}, &state);
    TEST_ASSERT_TRUE(state.out[0] != 1.0 && state.out[1] != 2.0 && state.out[2] != 3.0);
}

static void test_the_instability_of_each_axis_has_its_deviation_and_time(void)
{
    const double variance = 0.04, keep = exp(-spec.sample_time / 0.05);
    const double bound = 5.0 * variance * test_variance_error(SAMPLE_COUNT, keep);
    spec.instability = 0.2, spec.instability_time = 0.05;
    record_silence();
    for (int i = 0; i < 3; i++) {
        for (int lag = 0; lag <= 20; lag += 5)
            TEST_ASSERT_DOUBLE_WITHIN(bound, variance * pow(keep, lag),
                                      test_covariance(record[i], SAMPLE_COUNT, lag));
        TEST_ASSERT_DOUBLE_WITHIN(bound / variance, 0.0,
                                  test_correlation(record[i], record[(i + 1) % 3], SAMPLE_COUNT));
    }
}

static void test_the_three_axes_have_uncorrelated_noise(void)
{
    spec.noise_density = sqrt(spec.sample_time);
    record_silence();
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        for (int k = 0; k < SAMPLE_COUNT; k++)
            sum += record[i][k] * record[(i + 1) % 3][k];
        TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, sum / sqrt(SAMPLE_COUNT));
    }
}

static void test_white_noise_and_walk_are_uncorrelated(void)
{
    double sum = 0.0;
    spec.noise_density = sqrt(spec.sample_time);
    spec.walk_density = 1.0 / sqrt(spec.sample_time);
    begin();
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        const double before = state.error[0].walk;
        io_three_axis_sensor_sample(&spec, zero, &state);
        sum += (state.out[0] - before) * (state.error[0].walk - before);
    }
    TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, sum / sqrt(SAMPLE_COUNT));
}

static void test_the_white_noise_does_not_depend_on_the_walk(void)
{
    struct io_three_axis_sensor_state other;
    spec.noise_density = 1e-3;
    begin();
    io_three_axis_sensor_begin(&spec, 7, 1, &other);
    for (int k = 0; k < 100; k++) {
        double walk[3];
        for (int i = 0; i < 3; i++)
            walk[i] = other.error[i].walk;
        spec.walk_density = 0.0;
        io_three_axis_sensor_sample(&spec, zero, &state);
        spec.walk_density = 1e-3;
        io_three_axis_sensor_sample(&spec, zero, &other);
        for (int i = 0; i < 3; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-15, state.out[i], other.out[i] - walk[i]);
    }
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_three_axis_sensor_state other;
    spec.noise_density = 1e-3, spec.walk_density = 1e-4, spec.delay = 3;
    memset(&other, 0x55, sizeof other);
    begin();
    io_three_axis_sensor_begin(&spec, 7, 1, &other);
    for (int k = 0; k < 1000; k++) {
        io_three_axis_sensor_sample(&spec, (double[]){k, 1.0, 2.0}, &state);
        io_three_axis_sensor_sample(&spec, (double[]){k, 1.0, 2.0}, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
    io_three_axis_sensor_begin(&spec, 7, 2, &other);
    io_three_axis_sensor_sample(&spec, zero, &other);
    TEST_ASSERT_TRUE(memcmp(&state.noise, &other.noise, sizeof other.noise) != 0);
}

static void test_a_truth_of_nan_is_passed_on_and_not_kept(void)
{
    spec.range = 10.0, spec.quantum = 0.5, spec.walk_density = 1e-9;
    begin();
    io_three_axis_sensor_sample(&spec, (double[]){nan(""), nan(""), nan("")}, &state);
    TEST_ASSERT_TRUE(isnan(state.out[0]) && isnan(state.out[1]) && isnan(state.out[2]));
    io_three_axis_sensor_sample(&spec, (double[]){1.0, 2.0, 3.0}, &state);
    assert_says(1.0, 2.0, 3.0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_perfect_instrument_says_the_truth_at_once);
    RUN_TEST(test_the_mounting_gives_instrument_axes_from_body_axes);
    RUN_TEST(test_the_misalignment_mixes_the_mounted_axes);
    RUN_TEST(test_scale_acts_on_the_signal_and_not_on_the_bias);
    RUN_TEST(test_quantisation_goes_to_the_nearest_code);
    RUN_TEST(test_nothing_leaves_the_range_even_off_the_codes);
    RUN_TEST(test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it);
    RUN_TEST(test_white_noise_has_the_density_over_the_root_of_the_sample_time);
    RUN_TEST(test_the_allan_deviation_of_white_noise_falls_with_the_root_of_time);
    RUN_TEST(test_the_allan_deviation_of_the_walk_rises_with_the_root_of_time);
    RUN_TEST(test_the_walk_starts_at_zero);
    RUN_TEST(test_the_instability_of_each_axis_has_its_deviation_and_time);
    RUN_TEST(test_the_three_axes_have_uncorrelated_noise);
    RUN_TEST(test_white_noise_and_walk_are_uncorrelated);
    RUN_TEST(test_the_white_noise_does_not_depend_on_the_walk);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    RUN_TEST(test_a_truth_of_nan_is_passed_on_and_not_kept);
    return UNITY_END();
}
