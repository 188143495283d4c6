/* The histogram against exact order statistics of the same values. */
#include "rt/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

enum { VALUES = 20000 };

static struct rt_histogram histogram;
static uint64_t values[VALUES];
static uint64_t seed;

void setUp(void)
{
    memset(&histogram, 0, sizeof histogram);
    seed = 0x9e3779b97f4a7c15u;
}

void tearDown(void)
{
}

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Values of every magnitude: a random number of random bits. */
static void fill(void)
{
    for (int i = 0; i < VALUES; i++) {
        values[i] = draw() >> (1 + draw() % 63);
        rt_histogram_add(&histogram, values[i], (uint64_t)i);
    }
    qsort(values, VALUES, sizeof values[0], by_size);
}

static void test_an_empty_histogram_answers_zero(void)
{
    TEST_ASSERT_EQUAL_UINT64(0, rt_histogram_quantile(&histogram, 0.5));
    TEST_ASSERT_EQUAL_UINT64(0, histogram.min);
    TEST_ASSERT_EQUAL_UINT64(0, histogram.max);
}

static void test_every_percentile_is_within_a_bucket_of_the_sorted_value(void)
{
    fill();
    for (int permille = 0; permille <= 1000; permille++) {
        const double fraction = permille / 1000.0;
        const int rank = (int)fmax(1.0, ceil(fraction * VALUES));
        const uint64_t exact = values[rank - 1];
        const uint64_t got = rt_histogram_quantile(&histogram, fraction);
        TEST_ASSERT_DOUBLE_WITHIN(0.032 * (double)exact, (double)exact, (double)got);
    }
}

static void test_a_median_is_finer_than_its_bucket(void)
{
    /* 7200 and 7400 share a bucket, or nearly: two even distributions 1 % apart differ. */
    for (uint64_t v = 6000; v < 8400; v++)
        rt_histogram_add(&histogram, v, v);
    TEST_ASSERT_DOUBLE_WITHIN(8.0, 7200.0, (double)rt_histogram_quantile(&histogram, 0.5));
    for (uint64_t v = 8400; v < 8560; v++)
        rt_histogram_add(&histogram, v, v);
    TEST_ASSERT_DOUBLE_WITHIN(8.0, 7280.0, (double)rt_histogram_quantile(&histogram, 0.5));
}

static void test_small_values_are_exact(void)
{
    for (uint64_t v = 0; v < 64; v++)
        rt_histogram_add(&histogram, v, v);
    for (uint64_t v = 0; v < 64; v++)
        TEST_ASSERT_EQUAL_UINT64(v, rt_histogram_quantile(&histogram, (double)(v + 1) / 64.0));
}

static void test_extremes_count_and_sum_are_exact(void)
{
    uint64_t sum = 0;
    rt_histogram_add(&histogram, 700, 3);
    rt_histogram_add(&histogram, 100000007, 4);
    rt_histogram_add(&histogram, 100000007, 5);
    rt_histogram_add(&histogram, 41, 6);
    sum = 700 + 2 * UINT64_C(100000007) + 41;
    TEST_ASSERT_EQUAL_UINT64(4, histogram.count);
    TEST_ASSERT_EQUAL_UINT64(sum, histogram.sum);
    TEST_ASSERT_EQUAL_UINT64(41, histogram.min);
    TEST_ASSERT_EQUAL_UINT64(100000007, histogram.max);
    TEST_ASSERT_EQUAL_UINT64(4, histogram.max_frame); /* the first that reached it */
    TEST_ASSERT_EQUAL_UINT64(100000007, rt_histogram_quantile(&histogram, 1.0));
}

static void test_the_whole_range_has_buckets(void)
{
    rt_histogram_add(&histogram, 0, 0);
    for (int bit = 0; bit < 64; bit++)
        rt_histogram_add(&histogram, UINT64_C(1) << bit, 0);
    rt_histogram_add(&histogram, UINT64_MAX, 9);
    uint64_t counted = 0;
    for (int b = 0; b < RT_HISTOGRAM_BUCKETS; b++)
        counted += histogram.bucket[b];
    TEST_ASSERT_EQUAL_UINT64(66, counted);
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, histogram.max);
    TEST_ASSERT_EQUAL_UINT64(INT64_MAX, rt_histogram_quantile(&histogram, 1.0));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_empty_histogram_answers_zero);
    RUN_TEST(test_every_percentile_is_within_a_bucket_of_the_sorted_value);
    RUN_TEST(test_a_median_is_finer_than_its_bucket);
    RUN_TEST(test_small_values_are_exact);
    RUN_TEST(test_extremes_count_and_sum_are_exact);
    RUN_TEST(test_the_whole_range_has_buckets);
    return UNITY_END();
}
