/*
 * The horizon sensor: the Earth's centre in body axes, edges of its view, the Sun near boresight
 * and limb, noise across the direction, delay to the sample.
 */
#include "io/device/horizon_sensor.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "tests/io/statistics.h"
#include "unity.h"

enum { SAMPLE_COUNT = 1 << 16 };

static struct io_horizon_sensor_spec spec;
static struct io_horizon_sensor_view view;
static struct io_horizon_sensor_state state;
static double record[2][SAMPLE_COUNT];

/* A perfect instrument that looks along -y with half the sky in view, straight at an Earth of 1 rad
 * without a Sun; each test spoils one. */
void setUp(void)
{
    spec = (struct io_horizon_sensor_spec){.boresight = {0, -1, 0}, .half_angle = test_pi / 2};
    view = (struct io_horizon_sensor_view){.earth = {0, -1, 0}, .earth_angle = 1.0};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void look(void)
{
    io_horizon_sensor_begin(&spec, 1, 1, &state);
    TEST_ASSERT_TRUE(io_horizon_sensor_sample(&spec, &view, &state));
}

static void look_at(double x, double y, double z)
{
    dyn_vec3_store((struct dyn_vec3){x, y, z}, view.earth);
    look();
}

/* The Sun so far from -y, in the plane of y and z. */
static void look_with_sun(double angle)
{
    dyn_vec3_store((struct dyn_vec3){0.0, -cos(angle), sin(angle)}, view.sun);
    look();
}

static void assert_seen(bool seen)
{
    TEST_ASSERT_EQUAL_DOUBLE(seen, state.out[3]);
    const double length = dyn_norm(dyn_vec3_load(state.out));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, seen, length);
}

static void assert_says(struct dyn_vec3 direction)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, direction.x, state.out[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, direction.y, state.out[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, direction.z, state.out[2]);
}

/* A circular orbit, inclined by i, of a body that turns about its z axis on the way: the Earth's
 * centre is at -r/|r|, brought into body axes by the turn back. */
static void test_on_a_circular_orbit_the_earth_is_against_the_position(void)
{
    const double i = 0.9;
    spec.half_angle = test_pi;
    for (int k = 0; k < 360; k++) {
        const double u = 2.0 * test_pi * k / 360.0, spin = 0.3 * k;
        const struct dyn_vec3 r = {cos(u), sin(u) * cos(i), sin(u) * sin(i)};
        const struct dyn_quat attitude = {cos(0.5 * spin), 0.0, 0.0, sin(0.5 * spin)};
        const struct dyn_vec3 centre =
            dyn_quat_rotate(dyn_quat_conjugate(attitude), dyn_scale(-1.0, r));
        dyn_vec3_store(centre, view.earth);
        look();
        assert_seen(true);
        assert_says((struct dyn_vec3){-(cos(spin) * r.x + sin(spin) * r.y),
                                      sin(spin) * r.x - cos(spin) * r.y, -r.z});
    }
}

static void test_out_of_the_field_of_view_the_earth_is_not_visible(void)
{
    spec.half_angle = 0.7;
    for (int k = 0; k < 12; k++) {
        for (int side = -1; side <= 1; side += 2) {
            const double angle = 0.7 + side * 1e-9;
            look_at(sin(angle) * cos(0.5 * k), -cos(angle), sin(angle) * sin(0.5 * k));
            assert_seen(side < 0);
        }
    }
    look_at(0.0, 1.0, 0.0); /* behind */
    assert_seen(false);
    spec.half_angle = test_pi;
    look();
    assert_seen(true);
}

static void test_the_sun_near_the_boresight_blinds_it(void)
{
    spec.sun_exclusion = 0.2;
    look_with_sun(0.2 - 1e-9);
    assert_seen(false);
    look_with_sun(0.2 + 1e-9);
    assert_seen(true);
}

/* The limb is 1 rad from the centre, which the boresight points at. */
static void test_the_sun_near_the_limb_blinds_it_on_either_side(void)
{
    spec.sun_exclusion = 0.2;
    for (int side = -1; side <= 1; side += 2) {
        look_with_sun(1.0 + side * (0.2 - 1e-9));
        assert_seen(false);
        look_with_sun(1.0 + side * (0.2 + 1e-9));
        assert_seen(true);
    }
}

static void test_without_an_exclusion_or_a_sun_nothing_blinds_it(void)
{
    look_with_sun(0.0);
    assert_seen(true);
    look_with_sun(1.0);
    assert_seen(true);
    spec.sun_exclusion = test_pi;
    assert_seen(true);
    memset(view.sun, 0, sizeof view.sun);
    look();
    assert_seen(true);
}

static void test_a_direction_of_length_zero_is_not_visible(void)
{
    look_at(0.0, 0.0, 0.0);
    assert_seen(false);
    look_at(nan(""), 0.0, 0.0);
    assert_seen(false);
}

static void test_noise_turns_the_vector_by_its_deviation_in_both_axes_across(void)
{
    const struct dyn_vec3 across[2] = {{1 / 3.0, 2 / 3.0, 2 / 3.0}, {2 / 3.0, 1 / 3.0, -2 / 3.0}};
    const double variance = 1e-6;
    spec.noise = 1e-3;
    view = (struct io_horizon_sensor_view){.earth = {2 / 3.0, -2 / 3.0, 1 / 3.0}};
    io_horizon_sensor_begin(&spec, 6, 6, &state);
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        io_horizon_sensor_sample(&spec, &view, &state);
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

/* Direction and mark travel as one: every fifth sample looks away. */
static void test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it(void)
{
    for (uint32_t delay = 0; delay < IO_HORIZON_SENSOR_DELAY_MAX; delay++) {
        spec.delay = delay;
        io_horizon_sensor_begin(&spec, 1, 1, &state);
        for (uint32_t k = 0; k < 64; k++) {
            const uint32_t old = k < delay ? 0 : k - delay;
            const double seen = k < delay || old % 5 == 4 ? 0.0 : 1.0;
            const double away = k % 5 == 4 ? -1.0 : 1.0;
            dyn_vec3_store((struct dyn_vec3){sin(0.01 * k), -away * cos(0.01 * k), 0.0},
                           view.earth);
            TEST_ASSERT_EQUAL_INT(k >= delay, io_horizon_sensor_sample(&spec, &view, &state));
            assert_seen(seen != 0.0);
            assert_says((struct dyn_vec3){seen * sin(0.01 * old), -seen * cos(0.01 * old), 0.0});
        }
    }
}

static void test_every_sample_takes_the_same_number_of_draws(void)
{
    look();
    const struct io_noise plain = state.noise;
    spec.noise = 0.1;
    look_at(0.0, 1.0, 0.0);
    TEST_ASSERT_EQUAL_MEMORY(&plain, &state.noise, sizeof plain);
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_horizon_sensor_state other;
    spec.noise = 0.1, spec.delay = 2;
    memset(&other, 0x55, sizeof other);
    io_horizon_sensor_begin(&spec, 2, 2, &state);
    io_horizon_sensor_begin(&spec, 2, 2, &other);
    for (int k = 0; k < 100; k++) {
        io_horizon_sensor_sample(&spec, &view, &state);
        io_horizon_sensor_sample(&spec, &view, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_on_a_circular_orbit_the_earth_is_against_the_position);
    RUN_TEST(test_out_of_the_field_of_view_the_earth_is_not_visible);
    RUN_TEST(test_the_sun_near_the_boresight_blinds_it);
    RUN_TEST(test_the_sun_near_the_limb_blinds_it_on_either_side);
    RUN_TEST(test_without_an_exclusion_or_a_sun_nothing_blinds_it);
    RUN_TEST(test_a_direction_of_length_zero_is_not_visible);
    RUN_TEST(test_noise_turns_the_vector_by_its_deviation_in_both_axes_across);
    RUN_TEST(test_there_is_no_output_until_the_delay_has_passed_and_then_it_is_old_by_it);
    RUN_TEST(test_every_sample_takes_the_same_number_of_draws);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    return UNITY_END();
}
