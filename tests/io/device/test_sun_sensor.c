/*
 * The sun sensor: edges of its view, noise across the Sun, codes, delay to the sample.
 */
#include "io/device/sun_sensor.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "tests/io/statistics.h"
#include "unity.h"

enum { SAMPLE_COUNT = 1 << 16 };

static struct io_sun_sensor_spec spec;
static struct io_sun_sensor_state state;
static double record[2][SAMPLE_COUNT];

/* A perfect sun sensor that points along -y with half the sky in view; each test adds one error. */
void setUp(void)
{
    spec = (struct io_sun_sensor_spec){.boresight = {0, -1, 0}, .half_angle = test_pi / 2};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void look(const double sun[3], double share)
{
    io_sun_sensor_begin(&spec, 1, 1, &state);
    io_sun_sensor_sample(&spec, sun, share, &state);
}

static bool is_zero(void)
{
    return state.out[0] == 0.0 && state.out[1] == 0.0 && state.out[2] == 0.0;
}

static void assert_says(const double sun[3])
{
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, sun[i], state.out[i]);
}

static void test_a_perfect_sensor_says_where_the_sun_is(void)
{
    look((double[]){0.48, -0.6, 0.64}, 1.0);
    assert_says((double[]){0.48, -0.6, 0.64});
}

static void test_out_of_the_field_of_view_there_is_nothing(void)
{
    spec.half_angle = 0.7;
    for (int k = 0; k < 12; k++) {
        for (int side = -1; side <= 1; side += 2) {
            const double angle = 0.7 + side * 1e-9;
            look((double[]){sin(angle) * cos(0.5 * k), -cos(angle), sin(angle) * sin(0.5 * k)},
                 1.0);
            TEST_ASSERT_EQUAL(side > 0, is_zero());
        }
    }
    look((double[]){0.0, 1.0, 0.0}, 1.0); /* behind */
    TEST_ASSERT_TRUE(is_zero());
    spec.half_angle = test_pi;
    look((double[]){0.0, 1.0, 0.0}, 1.0);
    TEST_ASSERT_FALSE(is_zero());
}

static void test_with_less_than_half_of_the_disc_there_is_nothing(void)
{
    const double sun[3] = {0.6, -0.8, 0.0};
    look(sun, 0.5);
    assert_says(sun);
    look(sun, nextafter(0.5, 0.0));
    TEST_ASSERT_TRUE(is_zero());
    look(sun, 0.0);
    TEST_ASSERT_TRUE(is_zero());
    look(sun, nan(""));
    TEST_ASSERT_TRUE(is_zero());
}

static void test_a_direction_that_is_none_is_nothing(void)
{
    look((double[]){0.0, 0.0, 0.0}, 1.0);
    TEST_ASSERT_TRUE(is_zero());
    look((double[]){nan(""), 0.0, 0.0}, 1.0);
    TEST_ASSERT_TRUE(is_zero());
}

static void test_noise_turns_the_vector_by_its_deviation_in_both_axes_across(void)
{
    const double sun[3] = {2 / 3.0, -2 / 3.0, 1 / 3.0};
    const struct dyn_vec3 across[2] = {{1 / 3.0, 2 / 3.0, 2 / 3.0}, {2 / 3.0, 1 / 3.0, -2 / 3.0}};
    const double variance = 1e-6;
    spec.noise = 1e-3;
    io_sun_sensor_begin(&spec, 6, 6, &state);
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        io_sun_sensor_sample(&spec, sun, 1.0, &state);
        const struct dyn_vec3 y = dyn_vec3_load(state.out);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1.0, dyn_norm(y));
        for (int i = 0; i < 2; i++)
            record[i][k] = dyn_dot(across[i], y);
    }
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * variance * test_variance_error(SAMPLE_COUNT, 0.0), variance,
                                  test_covariance(record[i], SAMPLE_COUNT, 0));
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * variance / sqrt(SAMPLE_COUNT), 0.0,
                                  test_covariance(record[i], SAMPLE_COUNT, 1));
    }
    TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(SAMPLE_COUNT), 0.0,
                              test_correlation(record[0], record[1], SAMPLE_COUNT));
}

/* 0.48 0.64 0.6 in steps of 0.25 is 2 3 2 of them. */
static void test_components_go_to_the_nearest_code_and_the_vector_stays_a_unit(void)
{
    spec.quantum = 0.25;
    look((double[]){0.48, -0.64, 0.6}, 1.0);
    assert_says((double[]){2 / sqrt(17.0), -3 / sqrt(17.0), 2 / sqrt(17.0)});
    spec.quantum = 0.999; /* the coarsest there may be */
    look((double[]){sqrt(1 / 3.0), -sqrt(1 / 3.0), sqrt(1 / 3.0)}, 1.0);
    assert_says((double[]){sqrt(1 / 3.0), -sqrt(1 / 3.0), sqrt(1 / 3.0)});
}

/* Light and shadow have the same delay: every fifth sample is in the shadow. */
static void test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it(void)
{
    for (uint32_t delay = 0; delay < IO_SUN_SENSOR_DELAY_MAX; delay++) {
        spec.delay = delay;
        io_sun_sensor_begin(&spec, 1, 1, &state);
        for (uint32_t k = 0; k < 64; k++) {
            const uint32_t old = k < delay ? 0 : k - delay;
            const double lit = k < delay || old % 5 == 4 ? 0.0 : 1.0;
            const bool answers = io_sun_sensor_sample(
                &spec, (double[]){sin(0.01 * k), -cos(0.01 * k), 0.0}, k % 5 != 4, &state);
            TEST_ASSERT_EQUAL_INT(k >= delay, answers);
            assert_says((double[]){lit * sin(0.01 * old), -lit * cos(0.01 * old), 0.0});
        }
    }
}

static void test_every_sample_takes_the_same_number_of_draws(void)
{
    look((double[]){0.0, -1.0, 0.0}, 1.0);
    const struct io_noise plain = state.noise;
    spec.noise = 0.1, spec.quantum = 0.1;
    look((double[]){0.0, 1.0, 0.0}, 0.0);
    TEST_ASSERT_EQUAL_MEMORY(&plain, &state.noise, sizeof plain);
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_sun_sensor_state other;
    spec.noise = 0.1, spec.quantum = 0.1, spec.delay = 2;
    memset(&other, 0x55, sizeof other);
    io_sun_sensor_begin(&spec, 2, 2, &state);
    io_sun_sensor_begin(&spec, 2, 2, &other);
    for (int k = 0; k < 100; k++) {
        io_sun_sensor_sample(&spec, (double[]){0.6, -0.8, 0.0}, 1.0, &state);
        io_sun_sensor_sample(&spec, (double[]){0.6, -0.8, 0.0}, 1.0, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_perfect_sensor_says_where_the_sun_is);
    RUN_TEST(test_out_of_the_field_of_view_there_is_nothing);
    RUN_TEST(test_with_less_than_half_of_the_disc_there_is_nothing);
    RUN_TEST(test_a_direction_that_is_none_is_nothing);
    RUN_TEST(test_noise_turns_the_vector_by_its_deviation_in_both_axes_across);
    RUN_TEST(test_components_go_to_the_nearest_code_and_the_vector_stays_a_unit);
    RUN_TEST(test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it);
    RUN_TEST(test_every_sample_takes_the_same_number_of_draws);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    return UNITY_END();
}
