/*
 * The scalar sensor: its delay.  Its errors are tested in test_sensor_error.c.
 */
#include "io/device/scalar_sensor.h"

#include <math.h>
#include <string.h>

#include "unity.h"

static struct io_scalar_sensor_spec spec;
static struct io_scalar_sensor_state state;

void setUp(void)
{
    spec = (struct io_scalar_sensor_spec){.error = {.sample_time = 0.02}};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static double say(double u)
{
    io_scalar_sensor_sample(&spec, u, &state);
    return state.out;
}

static void test_a_perfect_gauge_says_the_truth_at_once(void)
{
    io_scalar_sensor_begin(&spec, 1, 1, &state);
    TEST_ASSERT_TRUE(say(101325.0) == 101325.0 && say(-2.5) == -2.5);
}

static void test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it(void)
{
    for (uint32_t delay = 0; delay < IO_SCALAR_SENSOR_DELAY_MAX; delay++) {
        spec.delay = delay;
        io_scalar_sensor_begin(&spec, 1, 1, &state);
        for (uint32_t k = 0; k < 5 * IO_SCALAR_SENSOR_DELAY_MAX; k++) {
            TEST_ASSERT_EQUAL_INT(k >= delay, io_scalar_sensor_sample(&spec, 10.0 + k, &state));
            TEST_ASSERT_TRUE(state.out == (k < delay ? 0.0 : 10.0 + k - delay));
        }
    }
}

static void test_the_errors_are_those_of_one_axis(void)
{
    struct io_noise noise;
    struct io_sensor_error_state error;
    spec.error = (struct io_sensor_error_spec){.scale = 1e-3,
                                               .bias = 20.0,
                                               .noise_density = 3.0,
                                               .walk_density = 0.1,
                                               .instability = 5.0,
                                               .instability_time = 1.0,
                                               .range = 1000.0,
                                               .quantum = 0.5,
                                               .sample_time = 0.02};
    io_noise_seed(&noise, 9, 4);
    io_sensor_error_begin(&spec.error, &noise, &error);
    io_scalar_sensor_begin(&spec, 9, 4, &state);
    for (int k = 0; k < 1000; k++)
        TEST_ASSERT_TRUE(say(2.0 * k) ==
                         io_sensor_error_sample(&spec.error, 2.0 * k, &noise, &error));
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_scalar_sensor_state other;
    spec.error.noise_density = 1.0, spec.delay = 3;
    memset(&other, 0x55, sizeof other);
    io_scalar_sensor_begin(&spec, 9, 4, &state);
    io_scalar_sensor_begin(&spec, 9, 4, &other);
    for (int k = 0; k < 100; k++) {
        io_scalar_sensor_sample(&spec, k, &state);
        io_scalar_sensor_sample(&spec, k, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
    io_scalar_sensor_begin(&spec, 9, 5, &other);
    TEST_ASSERT_TRUE(memcmp(&state.noise, &other.noise, sizeof other.noise) != 0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_perfect_gauge_says_the_truth_at_once);
    RUN_TEST(test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it);
    RUN_TEST(test_the_errors_are_those_of_one_axis);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    return UNITY_END();
}
