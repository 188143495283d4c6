/*
 * The kernel's own sine and cosine, four at a time, against the library's in long double.
 */
#define DYN_ABA_KERNEL kernel_under_test
#include "dynamics/kernel/aba_kernel.h"

#include "tests/dynamics/tree.h"
#include "unity.h"

void setUp(void)
{
    tree_noise_seed(1);
}

void tearDown(void)
{
}

static dyn_lane sine, cosine;

/* Largest distance to the truth in units of rounding at one. */
static double error_of(double x)
{
    sine_cosine(lane_splat(x), &sine, &cosine);
    const double s = fabs((double)((long double)sine[3] - sinl((long double)x)));
    const double c = fabs((double)((long double)cosine[0] - cosl((long double)x)));
    return fmax(s, c) / 0x1p-53;
}

static void test_they_are_right_to_rounding_on_a_turn(void)
{
    double worst = 0.0;
    for (int k = 0; k < 200000; k++)
        worst = fmax(worst, error_of(7.0 * tree_noise()));
    TEST_ASSERT_TRUE(worst < 1.5);
}

static void test_they_are_within_two_roundings_after_many_turns(void)
{
    double worst = 0.0;
    for (int k = 0; k < 200000; k++)
        worst = fmax(worst, error_of(0x1p20 * tree_noise()));
    TEST_ASSERT_TRUE(worst < 2.0);
}

static void test_they_are_right_next_to_every_quarter_turn(void)
{
    double worst = 0.0;
    for (int k = -100000; k <= 100000; k++) {
        const double x = (double)k * 1.5707963267948966;
        worst = fmax(worst, fmax(error_of(x), error_of(nextafter(x, 10.0 * x))));
    }
    TEST_ASSERT_TRUE(worst < 1.5);
}

static void test_angles_beyond_counting_go_to_the_library(void)
{
    const double x[] = {0x1p20, -0x1.5p21, 1e15, -3e100, 1.7e308};
    for (int k = 0; k < 5; k++)
        TEST_ASSERT_TRUE(error_of(x[k]) < 1.0);
}

static void test_no_angle_gives_no_sine(void)
{
    const double x[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int k = 0; k < 3; k++) {
        (void)error_of(x[k]);
        TEST_ASSERT_TRUE(isnan(sine[3]) && isnan(cosine[3]));
    }
}

static void test_zero_is_exact(void)
{
    TEST_ASSERT_EQUAL_DOUBLE(0.0, error_of(0.0));
    TEST_ASSERT_EQUAL_DOUBLE(1.0, cosine[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_they_are_right_to_rounding_on_a_turn);
    RUN_TEST(test_they_are_within_two_roundings_after_many_turns);
    RUN_TEST(test_they_are_right_next_to_every_quarter_turn);
    RUN_TEST(test_angles_beyond_counting_go_to_the_library);
    RUN_TEST(test_no_angle_gives_no_sine);
    RUN_TEST(test_zero_is_exact);
    return UNITY_END();
}
