/*
 * The generator against its published answer, the normal numbers against the C library, and the
 * streams against what chance allows.  Bounds are five standard errors; seeds are fixed, so a test
 * that passes once passes always.
 */
#include "io/device/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

enum { SAMPLE_COUNT = 1000000, LAG_MAX = 16, BIN_COUNT = 100, STREAM_COUNT = 12 };

static double sample[SAMPLE_COUNT];

void setUp(void)
{
}

void tearDown(void)
{
}

static void draw_normals(uint64_t seed, uint64_t stream)
{
    struct io_noise noise;
    io_noise_seed(&noise, seed, stream);
    for (int i = 0; i < SAMPLE_COUNT; i++)
        sample[i] = io_noise_normal(&noise);
}

static double central_moment(int order, double mean)
{
    double sum = 0.0;
    for (int i = 0; i < SAMPLE_COUNT; i++)
        sum += pow(sample[i] - mean, order);
    return sum / SAMPLE_COUNT;
}

/* Expected counts are equal: chi squared has BIN_COUNT - 1 degrees of freedom. */
static void assert_flat(const int count[BIN_COUNT])
{
    const double expected = (double)SAMPLE_COUNT / BIN_COUNT;
    double chi2 = 0.0;
    for (int b = 0; b < BIN_COUNT; b++)
        chi2 += (count[b] - expected) * (count[b] - expected) / expected;
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(2.0 * (BIN_COUNT - 1)), BIN_COUNT - 1, chi2);
}

/* State 1, 2, 3, 4 gives these words; the uniform number keeps their upper 53 bits. */
static void test_the_generator_gives_the_published_sequence(void)
{
    static const uint64_t word[] = {41943041u,
                                    58720359u,
                                    3588806011781223u,
                                    3591011842654386u,
                                    9228616714210784205u,
                                    9973669472204895162u,
                                    14011001112246962877u,
                                    12406186145184390807u,
                                    15849039046786891736u,
                                    10450023813501588000u};
    struct io_noise noise = {.s = {1, 2, 3, 4}};
    for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++)
        TEST_ASSERT_TRUE(io_noise_uniform(&noise) == ldexp((double)(word[i] >> 11), -53));
}

static void test_uniform_numbers_fill_the_unit_interval_evenly(void)
{
    struct io_noise noise;
    int count[BIN_COUNT] = {0};
    double sum = 0.0;
    io_noise_seed(&noise, 3, 1);
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        const double u = io_noise_uniform(&noise);
        TEST_ASSERT_TRUE(u >= 0.0 && u < 1.0);
        count[(int)(u * BIN_COUNT)]++;
        sum += u;
    }
    assert_flat(count);
    TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(12.0 * SAMPLE_COUNT), 0.5, sum / SAMPLE_COUNT);
}

/* The same two uniform numbers through the C library's log, cos and sin. */
static void test_a_pair_is_box_and_muller_to_the_last_bits(void)
{
    struct io_noise noise, twin;
    io_noise_seed(&noise, 11, 0);
    for (int i = 0; i < 200000; i++) {
        double pair[2];
        twin = noise;
        io_noise_normal_pair(&noise, pair);
        const double r = sqrt(-2.0 * log1p(-io_noise_uniform(&twin)));
        const double angle = 8.0 * atan(1.0) * io_noise_uniform(&twin);
        TEST_ASSERT_DOUBLE_WITHIN(4e-15 * (1.0 + r), r * cos(angle), pair[0]);
        TEST_ASSERT_DOUBLE_WITHIN(4e-15 * (1.0 + r), r * sin(angle), pair[1]);
        TEST_ASSERT_EQUAL_MEMORY(&twin, &noise, sizeof noise);
    }
}

static void test_a_single_normal_is_the_first_of_a_pair_and_draws_as_much(void)
{
    struct io_noise noise, twin;
    double pair[2];
    io_noise_seed(&noise, 5, 5);
    twin = noise;
    io_noise_normal_pair(&twin, pair);
    TEST_ASSERT_TRUE(io_noise_normal(&noise) == pair[0]);
    TEST_ASSERT_EQUAL_MEMORY(&twin, &noise, sizeof noise);
}

static void test_normal_numbers_have_the_moments_of_the_normal_law(void)
{
    const double n = SAMPLE_COUNT;
    draw_normals(1, 2);
    const double mean = central_moment(1, 0.0);
    const double variance = central_moment(2, mean);
    const double skew = central_moment(3, mean) / pow(variance, 1.5);
    const double kurtosis = central_moment(4, mean) / (variance * variance);
    TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(n), 0.0, mean);
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(2.0 / n), 1.0, variance);
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(6.0 / n), 0.0, skew);
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(24.0 / n), 3.0, kurtosis);
}

static void test_normal_numbers_follow_the_normal_distribution(void)
{
    int count[BIN_COUNT] = {0};
    draw_normals(9, 4);
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        const int bin = (int)(0.5 * erfc(-sample[i] / sqrt(2.0)) * BIN_COUNT);
        count[bin < BIN_COUNT ? bin : BIN_COUNT - 1]++;
    }
    assert_flat(count);
}

static void test_normal_numbers_do_not_remember(void)
{
    draw_normals(1, 7);
    for (int lag = 1; lag <= LAG_MAX; lag++) {
        double value = 0.0, square = 0.0;
        for (int i = lag; i < SAMPLE_COUNT; i++) {
            const double a = sample[i], b = sample[i - lag];
            value += a * b;
            square += (a * a - 1.0) * (b * b - 1.0) / 2.0;
        }
        TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, value / sqrt(SAMPLE_COUNT));
        TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, square / sqrt(SAMPLE_COUNT));
    }
}

static void test_the_two_of_a_pair_are_uncorrelated(void)
{
    struct io_noise noise;
    double sum = 0.0;
    io_noise_seed(&noise, 2, 2);
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        double pair[2];
        io_noise_normal_pair(&noise, pair);
        sum += pair[0] * pair[1];
    }
    TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, sum / sqrt(SAMPLE_COUNT));
}

static void test_the_same_seed_and_stream_give_the_same_bits(void)
{
    struct io_noise a, b;
    io_noise_seed(&a, 42, 3);
    memset(&b, 0xff, sizeof b);
    io_noise_seed(&b, 42, 3);
    for (int i = 0; i < 1000; i++) {
        const double x = io_noise_normal(&a), y = io_noise_normal(&b);
        TEST_ASSERT_EQUAL_MEMORY(&x, &y, sizeof x);
    }
}

/* Neighbouring seeds and streams, as a scenario has them, in all combinations. */
static void test_neighbouring_streams_are_uncorrelated(void)
{
    struct io_noise noise[STREAM_COUNT];
    double product[STREAM_COUNT][STREAM_COUNT] = {{0.0}}, x[STREAM_COUNT];
    const int rounds = SAMPLE_COUNT / 5;

    for (unsigned s = 0; s < STREAM_COUNT; s++)
        io_noise_seed(&noise[s], s / 4, s % 4);
    for (int k = 0; k < rounds; k++) {
        for (int i = 0; i < STREAM_COUNT; i++) {
            x[i] = io_noise_normal(&noise[i]);
            for (int j = 0; j < i; j++)
                product[i][j] += x[i] * x[j];
        }
    }
    for (int i = 0; i < STREAM_COUNT; i++) {
        for (int j = 0; j < i; j++)
            TEST_ASSERT_DOUBLE_WITHIN(5.0, 0.0, product[i][j] / sqrt(rounds));
    }
}

static int compare_states(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct io_noise));
}

static void test_distinct_seeds_and_streams_have_distinct_states(void)
{
    enum { SIDE = 256 };
    static struct io_noise noise[SIDE * SIDE];
    for (uint64_t i = 0; i < SIDE * SIDE; i++)
        io_noise_seed(&noise[i], i / SIDE, i % SIDE);
    qsort(noise, SIDE * SIDE, sizeof noise[0], compare_states);
    for (int i = 1; i < SIDE * SIDE; i++)
        TEST_ASSERT_TRUE(compare_states(&noise[i - 1], &noise[i]) != 0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_generator_gives_the_published_sequence);
    RUN_TEST(test_uniform_numbers_fill_the_unit_interval_evenly);
    RUN_TEST(test_a_pair_is_box_and_muller_to_the_last_bits);
    RUN_TEST(test_a_single_normal_is_the_first_of_a_pair_and_draws_as_much);
    RUN_TEST(test_normal_numbers_have_the_moments_of_the_normal_law);
    RUN_TEST(test_normal_numbers_follow_the_normal_distribution);
    RUN_TEST(test_normal_numbers_do_not_remember);
    RUN_TEST(test_the_two_of_a_pair_are_uncorrelated);
    RUN_TEST(test_the_same_seed_and_stream_give_the_same_bits);
    RUN_TEST(test_neighbouring_streams_are_uncorrelated);
    RUN_TEST(test_distinct_seeds_and_streams_have_distinct_states);
    return UNITY_END();
}
