/*
 * The star tracker: geometry of its errors, edges of its exclusions, delay to the sample.
 */
#include "io/device/star_tracker.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "tests/io/statistics.h"
#include "unity.h"

enum { SAMPLE_COUNT = 1 << 16 };

static struct io_star_tracker_spec spec;
static struct io_star_tracker_view view;
static struct io_star_tracker_state state;
static double record[3][SAMPLE_COUNT];

/* A perfect star tracker that points along z into a dark sky; each test adds one error. */
void setUp(void)
{
    spec = (struct io_star_tracker_spec){.boresight = {0, 0, 1}};
    view = (struct io_star_tracker_view){.attitude = {1, 0, 0, 0}};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static bool sees(void)
{
    io_star_tracker_begin(&spec, 1, 1, &state);
    io_star_tracker_sample(&spec, &view, &state);
    return state.valid != 0;
}

/* A unit vector at this angle from the boresight z, anywhere around it. */
static void point(double direction[3], double angle, double around)
{
    direction[0] = sin(angle) * cos(around);
    direction[1] = sin(angle) * sin(around);
    direction[2] = cos(angle);
}

static void set_attitude(double x, double y, double z)
{
    dyn_quat_store(dyn_quat_exp((struct dyn_vec3){x, y, z}), view.attitude);
}

/* Rotation vector, in body axes, from the true to the measured attitude; small ones only. */
static struct dyn_vec3 error_now(void)
{
    const struct dyn_quat true_turn = dyn_quat_load(view.attitude);
    const struct dyn_quat e =
        dyn_quat_mul(dyn_quat_conjugate(true_turn), dyn_quat_load(state.attitude));
    const double sign = e.w < 0.0 ? -2.0 : 2.0;
    return (struct dyn_vec3){sign * e.x, sign * e.y, sign * e.z};
}

static void test_a_perfect_tracker_says_the_truth_at_once(void)
{
    set_attitude(0.3, -2.0, 1.0);
    TEST_ASSERT_TRUE(sees());
    TEST_ASSERT_EQUAL_MEMORY(view.attitude, state.attitude, sizeof state.attitude);
}

/* A tracker that is misaligned by m in the body measures the body's axis at exp(m) of it. */
static void test_the_misalignment_turns_in_body_axes(void)
{
    spec.misalignment[0] = 0.1;
    set_attitude(0.0, 0.0, test_pi / 2); /* body x is inertial y */
    TEST_ASSERT_TRUE(sees());
    const struct dyn_vec3 y =
        dyn_quat_rotate(dyn_quat_load(state.attitude), (struct dyn_vec3){0, 1, 0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, -cos(0.1), y.x); /* body y is -x, then up by 0.1 */
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, y.y);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, sin(0.1), y.z);
}

/* The boresight x' = (1, 2, 2)/3 and two axes across it. */
static void test_noise_has_its_deviations_across_and_about_the_boresight(void)
{
    const struct dyn_vec3 axis[3] = {
        {1 / 3.0, 2 / 3.0, 2 / 3.0}, {2 / 3.0, 1 / 3.0, -2 / 3.0}, {2 / 3.0, -2 / 3.0, 1 / 3.0}};
    const double sigma[3] = {8e-5, 1e-5, 1e-5};
    dyn_vec3_store(axis[0], spec.boresight);
    spec.noise_across = 1e-5, spec.noise_about = 8e-5;
    set_attitude(1.0, 2.0, -0.5);
    io_star_tracker_begin(&spec, 4, 4, &state);
    for (int k = 0; k < SAMPLE_COUNT; k++) {
        io_star_tracker_sample(&spec, &view, &state);
        for (int i = 0; i < 3; i++)
            record[i][k] = dyn_dot(axis[i], error_now());
    }
    for (int i = 0; i < 3; i++) {
        const double variance = sigma[i] * sigma[i];
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * variance * test_variance_error(SAMPLE_COUNT, 0.0), variance,
                                  test_covariance(record[i], SAMPLE_COUNT, 0));
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * variance / sqrt(SAMPLE_COUNT), 0.0,
                                  test_covariance(record[i], SAMPLE_COUNT, 1));
        TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(SAMPLE_COUNT), 0.0,
                                  test_correlation(record[i], record[(i + 1) % 3], SAMPLE_COUNT));
    }
}

static void test_the_measured_attitude_stays_a_unit_quaternion(void)
{
    spec.noise_across = 0.1, spec.noise_about = 0.5, spec.misalignment[1] = 1.0;
    io_star_tracker_begin(&spec, 4, 4, &state);
    for (int k = 0; k < 1000; k++) {
        set_attitude(0.1 * k, 1.0, -0.02 * k);
        io_star_tracker_sample(&spec, &view, &state);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1.0, dyn_quat_square(dyn_quat_load(state.attitude)));
    }
}

static void test_the_sun_blinds_inside_its_exclusion_angle_and_not_outside(void)
{
    spec.sun_exclusion = 0.6;
    for (int k = 0; k < 12; k++) {
        point(view.sun, 0.6 + 1e-9, 0.5 * k);
        TEST_ASSERT_TRUE(sees());
        point(view.sun, 0.6 - 1e-9, 0.5 * k);
        TEST_ASSERT_FALSE(sees());
    }
    point(view.sun, 0.0, 0.0);
    TEST_ASSERT_FALSE(sees());
    point(view.sun, test_pi, 0.0);
    TEST_ASSERT_TRUE(sees());
}

/* Counted from the limb: the angle to the centre is larger by the Earth's radius. */
static void test_the_earth_blinds_by_its_limb(void)
{
    spec.earth_exclusion = 0.3;
    view.earth_angle = 1.1;
    for (int k = 0; k < 12; k++) {
        point(view.nadir, 1.4 + 1e-9, 0.5 * k);
        TEST_ASSERT_TRUE(sees());
        point(view.nadir, 1.4 - 1e-9, 0.5 * k);
        TEST_ASSERT_FALSE(sees());
    }
    spec.earth_exclusion = 0.0; /* the Earth itself still covers the boresight */
    point(view.nadir, 1.1 - 1e-9, 0.0);
    TEST_ASSERT_FALSE(sees());
    point(view.nadir, 1.1 + 1e-9, 0.0);
    TEST_ASSERT_TRUE(sees());
}

static void test_sun_and_earth_have_each_their_own_angle(void)
{
    spec.sun_exclusion = 0.2, spec.earth_exclusion = 0.4;
    view.earth_angle = 0.1;
    point(view.sun, 0.3, 0.0);
    point(view.nadir, 0.6, 2.0);
    TEST_ASSERT_TRUE(sees());
    point(view.nadir, 0.45, 2.0);
    TEST_ASSERT_FALSE(sees());
    point(view.nadir, 0.6, 2.0);
    point(view.sun, 0.15, 0.0);
    TEST_ASSERT_FALSE(sees());
}

static void test_a_direction_of_zero_length_blinds_not(void)
{
    spec.sun_exclusion = 0.6, spec.earth_exclusion = 0.5;
    view.earth_angle = 1.0;
    TEST_ASSERT_TRUE(sees());
}

static void test_a_body_that_turns_too_fast_blurs_the_stars(void)
{
    memcpy(view.rate, (double[]){0.02, -0.03, 0.06}, sizeof view.rate); /* 0.07 rad/s */
    TEST_ASSERT_TRUE(sees());                                           /* no limit */
    spec.max_rate = 0.07 + 1e-12;
    TEST_ASSERT_TRUE(sees());
    spec.max_rate = 0.07 - 1e-12;
    TEST_ASSERT_FALSE(sees());
    view.rate[0] = nan("");
    spec.max_rate = 1.0;
    TEST_ASSERT_FALSE(sees());
}

static void test_while_it_is_blind_the_last_good_attitude_stays(void)
{
    double good[4];
    spec.max_rate = 1.0, spec.noise_across = 1e-3;
    io_star_tracker_begin(&spec, 1, 1, &state);
    view.rate[0] = 2.0;
    io_star_tracker_sample(&spec, &view, &state);
    TEST_ASSERT_TRUE(state.valid == 0 && state.attitude[0] == 1.0 && state.attitude[1] == 0.0);
    view.rate[0] = 0.0;
    set_attitude(0.1, 0.2, 0.3);
    io_star_tracker_sample(&spec, &view, &state);
    TEST_ASSERT_TRUE(state.valid == 1);
    memcpy(good, state.attitude, sizeof good);
    view.rate[0] = 2.0;
    set_attitude(0.5, 0.2, 0.3);
    io_star_tracker_sample(&spec, &view, &state);
    TEST_ASSERT_TRUE(state.valid == 0);
    TEST_ASSERT_EQUAL_MEMORY(good, state.attitude, sizeof good);
}

/* The mark is delayed with its attitude: every fifth image is blurred. */
static void test_attitude_and_mark_are_old_by_the_delay(void)
{
    double said[64][4];
    spec.max_rate = 1.0;
    for (uint32_t delay = 0; delay < IO_STAR_TRACKER_DELAY_MAX; delay++) {
        spec.delay = delay;
        io_star_tracker_begin(&spec, 1, 1, &state);
        for (uint32_t k = 0; k < 64; k++) {
            const uint32_t old = k < delay ? 0 : k - delay;
            view.rate[1] = k % 5 == 4 ? 2.0 : 0.0;
            set_attitude(0.01 * k, 0.0, 0.0);
            memcpy(said[k], k % 5 == 4 ? said[k - 1] : view.attitude, sizeof said[k]);
            const double none[4] = {1.0, 0.0, 0.0, 0.0};
            TEST_ASSERT_EQUAL_INT(k >= delay, io_star_tracker_sample(&spec, &view, &state));
            TEST_ASSERT_EQUAL_UINT64(k >= delay && old % 5 != 4, state.valid);
            TEST_ASSERT_EQUAL_MEMORY(k >= delay ? said[old] : none, state.attitude,
                                     sizeof said[old]);
        }
    }
}

static void test_every_picture_takes_the_same_number_of_draws(void)
{
    TEST_ASSERT_TRUE(sees());
    const struct io_noise plain = state.noise;
    spec.noise_across = 1e-3, spec.noise_about = 1e-2, spec.max_rate = 0.1;
    view.rate[2] = 0.2;
    TEST_ASSERT_FALSE(sees());
    TEST_ASSERT_EQUAL_MEMORY(&plain, &state.noise, sizeof plain);
}

static void test_the_same_seed_gives_the_same_state_bit_for_bit(void)
{
    struct io_star_tracker_state other;
    spec.noise_across = 1e-3, spec.noise_about = 1e-2, spec.delay = 2;
    memset(&other, 0x55, sizeof other);
    io_star_tracker_begin(&spec, 2, 2, &state);
    io_star_tracker_begin(&spec, 2, 2, &other);
    for (int k = 0; k < 100; k++) {
        io_star_tracker_sample(&spec, &view, &state);
        io_star_tracker_sample(&spec, &view, &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_perfect_tracker_says_the_truth_at_once);
    RUN_TEST(test_the_misalignment_turns_in_body_axes);
    RUN_TEST(test_noise_has_its_deviations_across_and_about_the_boresight);
    RUN_TEST(test_the_measured_attitude_stays_a_unit_quaternion);
    RUN_TEST(test_the_sun_blinds_inside_its_exclusion_angle_and_not_outside);
    RUN_TEST(test_the_earth_blinds_by_its_limb);
    RUN_TEST(test_sun_and_earth_have_each_their_own_angle);
    RUN_TEST(test_a_direction_of_zero_length_blinds_not);
    RUN_TEST(test_a_body_that_turns_too_fast_blurs_the_stars);
    RUN_TEST(test_while_it_is_blind_the_last_good_attitude_stays);
    RUN_TEST(test_attitude_and_mark_are_old_by_the_delay);
    RUN_TEST(test_every_picture_takes_the_same_number_of_draws);
    RUN_TEST(test_the_same_seed_gives_the_same_state_bit_for_bit);
    return UNITY_END();
}
