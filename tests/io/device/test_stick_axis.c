/*
 * The curve of a stick axis, at its edges and between them.
 */
#include "io/device/stick_axis.h"

#include <math.h>

#include "unity.h"

static const struct io_stick_axis_spec specs[] = {
    {.dead_band = 0.0, .expo = 0.0, .scale = 1.0},
    {.dead_band = 0.05, .expo = 0.3, .scale = 1.0},
    {.dead_band = 0.1, .expo = 1.0, .scale = 0.7},
    {.dead_band = 0.9, .expo = 0.5, .scale = 1000.0},
    {.dead_band = 1.0 / 3.0, .expo = 1.0 / 3.0, .scale = 1.0 / 3.0},
};
enum { SPEC_COUNT = sizeof specs / sizeof specs[0], STEPS = 1 << 16 };

void setUp(void)
{
}

void tearDown(void)
{
}

static void assert_exactly(double expected, double actual)
{
    TEST_ASSERT_EQUAL_MEMORY(&expected, &actual, sizeof expected);
}

static void test_a_hand_at_rest_means_nothing(void)
{
    for (int s = 0; s < SPEC_COUNT; s++) {
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], 0.0));
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], -0.0));
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], 0.5 * specs[s].dead_band));
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], specs[s].dead_band));
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], -specs[s].dead_band));
    }
}

static void test_the_edge_of_the_dead_band_is_no_step(void)
{
    for (int s = 0; s < SPEC_COUNT; s++) {
        const double edge = specs[s].dead_band;
        for (double beyond = 1e-3; beyond > 1e-15; beyond /= 10.0)
            TEST_ASSERT_DOUBLE_WITHIN(11.0 * specs[s].scale * beyond, 0.0,
                                      io_stick_axis_shape(&specs[s], edge + beyond));
    }
}

static void test_full_deflection_is_the_scale_exactly(void)
{
    for (int s = 0; s < SPEC_COUNT; s++)
        for (int e = 0; e <= 1000; e++) {
            struct io_stick_axis_spec spec = specs[s];
            spec.expo = e / 1000.0;
            assert_exactly(spec.scale, io_stick_axis_shape(&spec, 1.0));
            assert_exactly(-spec.scale, io_stick_axis_shape(&spec, -1.0));
        }
}

static void test_it_is_odd_rises_and_stays_inside_the_scale(void)
{
    for (int s = 0; s < SPEC_COUNT; s++) {
        double before = 0.0;
        for (int i = 1; i <= STEPS; i++) {
            const double where = (double)i / STEPS;
            const double now = io_stick_axis_shape(&specs[s], where);
            TEST_ASSERT_TRUE(now >= before && now <= specs[s].scale);
            /* no step anywhere: at most the steepest slope of the curve */
            const double slope = specs[s].scale * (1.0 + 2.0 * specs[s].expo);
            TEST_ASSERT_TRUE(now - before <= 1.01 * slope / (1.0 - specs[s].dead_band) / STEPS);
            TEST_ASSERT_TRUE(io_stick_axis_shape(&specs[s], -where) + now == 0.0);
            before = now;
        }
    }
}

static void test_it_never_falls_between_neighbouring_numbers(void)
{
    for (int s = 0; s < SPEC_COUNT; s++)
        for (int i = 0; i < 100; i++) {
            double where = i / 100.0;
            for (int k = 0; k < 200; k++) {
                const double next = nextafter(where, 2.0);
                TEST_ASSERT_TRUE(io_stick_axis_shape(&specs[s], next) >=
                                 io_stick_axis_shape(&specs[s], where));
                where = next;
            }
        }
}

/* Half way out of a dead band of 0.2: 0.6; (1 - 0.4) 0.5 + 0.4 0.125 = 0.35. */
static void test_expo_bends_the_curve_to_the_cube(void)
{
    const struct io_stick_axis_spec spec = {.dead_band = 0.2, .expo = 0.4, .scale = 2.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.7, io_stick_axis_shape(&spec, 0.6));
    const struct io_stick_axis_spec cube = {.expo = 1.0, .scale = 1.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.125, io_stick_axis_shape(&cube, 0.5));
}

static void test_inverted_it_has_the_opposite_sign(void)
{
    struct io_stick_axis_spec spec = specs[1];
    spec.invert = true;
    for (int i = -100; i <= 100; i++)
        TEST_ASSERT_TRUE(io_stick_axis_shape(&spec, i / 100.0) +
                             io_stick_axis_shape(&specs[1], i / 100.0) ==
                         0.0);
    assert_exactly(-1.0, io_stick_axis_shape(&spec, 1.0));
}

static void test_no_number_is_the_centre_and_too_much_is_all(void)
{
    for (int s = 0; s < SPEC_COUNT; s++) {
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], (double)NAN));
        assert_exactly(0.0, io_stick_axis_shape(&specs[s], -(double)NAN));
        assert_exactly(specs[s].scale, io_stick_axis_shape(&specs[s], (double)INFINITY));
        assert_exactly(-specs[s].scale, io_stick_axis_shape(&specs[s], -1.5));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_hand_at_rest_means_nothing);
    RUN_TEST(test_the_edge_of_the_dead_band_is_no_step);
    RUN_TEST(test_full_deflection_is_the_scale_exactly);
    RUN_TEST(test_it_is_odd_rises_and_stays_inside_the_scale);
    RUN_TEST(test_it_never_falls_between_neighbouring_numbers);
    RUN_TEST(test_expo_bends_the_curve_to_the_cube);
    RUN_TEST(test_inverted_it_has_the_opposite_sign);
    RUN_TEST(test_no_number_is_the_centre_and_too_much_is_all);
    return UNITY_END();
}
