/*
 * The errors of one axis, one at a time.  Noise is checked the two ways a data sheet states it: by
 * power density and by Allan deviation (IEEE Std 952), against closed forms.  Bounds are five
 * standard errors; seeds are fixed, so a test that passes once passes always.
 */
#include "io/device/sensor_error.h"

#include <math.h>
#include <string.h>

#include "tests/io/statistics.h"
#include "unity.h"

enum { SAMPLE_COUNT = 1 << 20, SEGMENT = 1024, CYCLE_COUNT = 16 };

static struct io_sensor_error_spec spec;
static struct io_sensor_error_state state;
static struct io_noise noise;
static double record[SAMPLE_COUNT];

/* A perfect axis; each test adds one error. */
void setUp(void)
{
    spec = (struct io_sensor_error_spec){.sample_time = 0.004};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void begin(void)
{
    io_noise_seed(&noise, 7, 1);
    io_sensor_error_begin(&spec, &noise, &state);
}

static double say(double u)
{
    return io_sensor_error_sample(&spec, u, &noise, &state);
}

static void record_silence(void)
{
    begin();
    for (int k = 0; k < SAMPLE_COUNT; k++)
        record[k] = say(0.0);
}

static void assert_near(double expected, double relative_error, double actual)
{
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * relative_error * expected, expected, actual);
}

/* From the lowest line of a segment to the half of the sample rate. */
static int cycle_of(int i)
{
    return 1 + i * (SEGMENT / 2 - 1) / (CYCLE_COUNT - 1);
}

/* keep^|k| sigma^2 weighted by the triangle that a segment of this length sees. */
static double wander_density(double sigma, double keep, int cycle, double dt)
{
    double sum = 1.0;
    for (int k = 1; k < SEGMENT; k++)
        sum += 2.0 * (1.0 - (double)k / SEGMENT) * pow(keep, k) *
               cos(2.0 * test_pi * cycle * k / SEGMENT);
    return sigma * sigma * dt * sum;
}

static double white_allan(double n, double tau)
{
    return n / sqrt(tau);
}

/* With the 1 / (2 m^2) that means of m samples add. */
static double walk_allan(double k, double tau, int m)
{
    return k * sqrt(tau / 3.0 * (1.0 + 0.5 / ((double)m * m)));
}

/* 2 s^2 (T/tau) [1 - (T/2 tau) (3 - 4 e^(-tau/T) + e^(-2 tau/T))] */
static double wander_allan(double sigma, double T, double tau)
{
    const double x = tau / T;
    const double rest = 1.0 - (3.0 - 4.0 * exp(-x) + exp(-2.0 * x)) / (2.0 * x);
    return sigma * sqrt(2.0 / x * rest);
}

static void test_a_perfect_axis_says_the_truth(void)
{
    begin();
    TEST_ASSERT_TRUE(say(0.1) == 0.1 && say(-3e5) == -3e5 && say(0.0) == 0.0);
}

static void test_scale_acts_on_the_signal_and_not_on_the_bias(void)
{
    spec.scale = 0.01, spec.bias = -0.25;
    begin();
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 2.02 - 0.25, say(2.0));
}

static void test_quantisation_goes_to_the_nearest_code(void)
{
    spec.quantum = 0.25;
    begin();
    for (int k = -1000; k <= 1000; k++)
        TEST_ASSERT_TRUE(say(0.0037 * k) == 0.25 * floor(0.0037 * k / 0.25 + 0.5));
}

static void test_nothing_leaves_the_range_even_off_the_codes(void)
{
    spec.range = 1.0, spec.quantum = 0.6; /* the nearest code to 1 would be 1.2 */
    begin();
    TEST_ASSERT_TRUE(say(1.0) == 1.0 && say(-1e300) == -1.0 && say(0.5) == 0.6);
    spec.quantum = 0.0;
    TEST_ASSERT_TRUE(say(7.0) == 1.0 && say(-1.5) == -1.0 && say(0.99) == 0.99);
}

static void test_white_noise_has_the_same_density_at_every_rate_and_frequency(void)
{
    const double n = 3e-4, dt[2] = {0.001, 0.1};
    for (int round = 0; round < 2; round++) {
        spec.sample_time = dt[round];
        spec.noise_density = n;
        record_silence();
        assert_near(n * n / dt[round], test_variance_error(SAMPLE_COUNT, 0.0),
                    test_covariance(record, SAMPLE_COUNT, 0));
        for (int i = 0; i < CYCLE_COUNT - 1; i++)
            assert_near(n * n, 1.0 / sqrt(SAMPLE_COUNT / SEGMENT),
                        test_density(record, SAMPLE_COUNT, SEGMENT, cycle_of(i), dt[round]));
    }
}

static void test_the_allan_deviation_of_white_noise_falls_with_the_root_of_time(void)
{
    spec.noise_density = 2e-3;
    record_silence();
    for (int m = 1; m <= 1024; m *= 4)
        assert_near(white_allan(2e-3, m * spec.sample_time), test_allan_error(SAMPLE_COUNT, m),
                    test_allan_deviation(record, SAMPLE_COUNT, m));
}

/* The steps of a walk are white, their deviation k sqrt(dt). */
static void test_the_walk_steps_by_its_density_times_the_root_of_the_sample_time(void)
{
    for (int round = 0; round < 2; round++) {
        const double dt = round == 0 ? 0.004 : 0.1;
        spec.sample_time = dt, spec.walk_density = 5e-3;
        record_silence();
        for (int k = 0; k + 1 < SAMPLE_COUNT; k++)
            record[k] = record[k + 1] - record[k];
        assert_near(25e-6 * dt, test_variance_error(SAMPLE_COUNT, 0.0),
                    test_covariance(record, SAMPLE_COUNT - 1, 0));
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * 25e-6 * dt / sqrt(SAMPLE_COUNT), 0.0,
                                  test_covariance(record, SAMPLE_COUNT - 1, 1));
    }
}

static void test_the_allan_deviation_of_the_walk_rises_with_the_root_of_time(void)
{
    spec.walk_density = 5e-3;
    record_silence();
    for (int m = 1; m <= 1024; m *= 4)
        assert_near(walk_allan(5e-3, m * spec.sample_time, m), test_allan_error(SAMPLE_COUNT, m),
                    test_allan_deviation(record, SAMPLE_COUNT, m));
}

static void test_the_walk_starts_at_zero(void)
{
    spec.walk_density = 1.0;
    begin();
    TEST_ASSERT_TRUE(say(1.5) == 1.5);
    TEST_ASSERT_TRUE(say(1.5) != 1.5);
}

static void test_the_instability_has_its_deviation_and_time_at_every_rate(void)
{
    const double dt[2] = {0.004, 0.05}, sigma = 0.02, T = 0.1;
    spec.instability = sigma, spec.instability_time = T;
    for (int round = 0; round < 2; round++) {
        const double keep = exp(-dt[round] / T), variance = sigma * sigma;
        const double bound = 5.0 * variance * test_variance_error(SAMPLE_COUNT, keep);
        spec.sample_time = dt[round];
        record_silence();
        for (int lag = 0; lag <= 50; lag += 5)
            TEST_ASSERT_DOUBLE_WITHIN(bound, variance * exp(-lag * dt[round] / T),
                                      test_covariance(record, SAMPLE_COUNT, lag));
        for (int i = 0; i < CYCLE_COUNT - 1; i++)
            assert_near(wander_density(sigma, keep, cycle_of(i), dt[round]),
                        1.0 / sqrt(SAMPLE_COUNT / SEGMENT),
                        test_density(record, SAMPLE_COUNT, SEGMENT, cycle_of(i), dt[round]));
    }
}

/* The closed form is for means of the continuous process; from 16 samples on it is these. */
static void test_the_allan_deviation_of_the_instability_is_that_of_gauss_and_markov(void)
{
    spec.instability = 0.3, spec.instability_time = 200 * spec.sample_time;
    record_silence();
    for (int m = 16; m <= 4096; m *= 2)
        assert_near(wander_allan(0.3, spec.instability_time, m * spec.sample_time),
                    test_allan_error(SAMPLE_COUNT, m),
                    test_allan_deviation(record, SAMPLE_COUNT, m));
}

static void test_the_instability_begins_in_its_stationary_law(void)
{
    enum { BEGIN_COUNT = 1 << 16 };
    spec.instability = 0.5, spec.instability_time = 1e6;
    for (int k = 0; k < BEGIN_COUNT; k++) {
        io_noise_seed(&noise, 3, (uint64_t)k);
        io_sensor_error_begin(&spec, &noise, &state);
        record[k] = say(0.0);
    }
    assert_near(0.25, test_variance_error(BEGIN_COUNT, 0.0),
                test_covariance(record, BEGIN_COUNT, 0));
}

/* Independent noises: their Allan variances add. */
static void test_all_noises_together_have_the_sum_of_their_allan_variances(void)
{
    const double dt = spec.sample_time, T = 50 * dt;
    spec.noise_density = 2e-3, spec.walk_density = 5e-3;
    spec.instability = 0.01, spec.instability_time = T;
    record_silence();
    for (int m = 16; m <= 4096; m *= 2) {
        const double tau = m * dt;
        const double expected = hypot(hypot(white_allan(2e-3, tau), walk_allan(5e-3, tau, m)),
                                      wander_allan(0.01, T, tau));
        assert_near(expected, test_allan_error(SAMPLE_COUNT, m),
                    test_allan_deviation(record, SAMPLE_COUNT, m));
    }
}

/* With unit steps and no memory each noise shows its own draw. */
static void test_white_noise_walk_and_instability_are_uncorrelated(void)
{
    double sum[3] = {0.0, 0.0, 0.0};
    spec.sample_time = 1.0;
    spec.noise_density = spec.walk_density = spec.instability = 1.0;
    begin();
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        const struct io_sensor_error_state before = state;
        const double white = say(0.0) - before.walk - before.wander;
        const double step = state.walk - before.walk;
        sum[0] += white * step;
        sum[1] += white * state.wander;
        sum[2] += step * state.wander;
    }
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, sum[i] / sqrt(SAMPLE_COUNT));
}

static void test_a_noise_is_the_same_whatever_the_others_are(void)
{
    double alone[100];
    spec.noise_density = 1e-3;
    begin();
    for (int k = 0; k < 100; k++)
        alone[k] = say(0.0);
    spec.walk_density = 1e-3, spec.instability = 0.1, spec.instability_time = 0.02;
    begin();
    for (int k = 0; k < 100; k++) {
        const double slow = state.walk + state.wander;
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, alone[k], say(0.0) - slow);
    }
}

static void test_every_sample_takes_the_same_number_of_draws(void)
{
    begin();
    say(1.0);
    const struct io_noise plain = noise;
    spec = (struct io_sensor_error_spec){0.1, 1.0, 1e-3, 1e-3, 0.1, 2.0, 1.0, 0.25, 0.1};
    begin();
    say(nan(""));
    TEST_ASSERT_EQUAL_MEMORY(&plain, &noise, sizeof noise);
}

static void test_a_truth_of_nan_is_passed_on_and_not_kept(void)
{
    spec.range = 10.0, spec.quantum = 0.5, spec.walk_density = 1e-9, spec.instability = 1e-9;
    begin();
    TEST_ASSERT_TRUE(isnan(say(nan(""))));
    TEST_ASSERT_TRUE(say(3.0) == 3.0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_perfect_axis_says_the_truth);
    RUN_TEST(test_scale_acts_on_the_signal_and_not_on_the_bias);
    RUN_TEST(test_quantisation_goes_to_the_nearest_code);
    RUN_TEST(test_nothing_leaves_the_range_even_off_the_codes);
    RUN_TEST(test_white_noise_has_the_same_density_at_every_rate_and_frequency);
    RUN_TEST(test_the_allan_deviation_of_white_noise_falls_with_the_root_of_time);
    RUN_TEST(test_the_walk_steps_by_its_density_times_the_root_of_the_sample_time);
    RUN_TEST(test_the_allan_deviation_of_the_walk_rises_with_the_root_of_time);
    RUN_TEST(test_the_walk_starts_at_zero);
    RUN_TEST(test_the_instability_has_its_deviation_and_time_at_every_rate);
    RUN_TEST(test_the_allan_deviation_of_the_instability_is_that_of_gauss_and_markov);
    RUN_TEST(test_the_instability_begins_in_its_stationary_law);
    RUN_TEST(test_all_noises_together_have_the_sum_of_their_allan_variances);
    RUN_TEST(test_white_noise_walk_and_instability_are_uncorrelated);
    RUN_TEST(test_a_noise_is_the_same_whatever_the_others_are);
    RUN_TEST(test_every_sample_takes_the_same_number_of_draws);
    RUN_TEST(test_a_truth_of_nan_is_passed_on_and_not_kept);
    return UNITY_END();
}
