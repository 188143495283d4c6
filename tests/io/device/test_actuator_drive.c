/*
 * The drive against closed forms, and its output for invalid controls.
 */
#include "io/device/actuator_drive.h"

#include <math.h>
#include <string.h>

#include "unity.h"

static struct io_actuator_drive_spec spec;
static struct io_actuator_drive_state state;

void setUp(void)
{
    spec = (struct io_actuator_drive_spec){.gain = 0.2};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static double torque_for(double control)
{
    io_actuator_drive_update(&spec, control, &state);
    return state.out;
}

static void test_torque_is_gain_times_control(void)
{
    io_actuator_drive_begin(&spec, &state);
    for (int k = -10; k <= 10; k++)
        TEST_ASSERT_TRUE(torque_for(0.1 * k) == 0.2 * (0.1 * k));
}

static void test_controls_beyond_one_give_the_full_torque(void)
{
    io_actuator_drive_begin(&spec, &state);
    TEST_ASSERT_TRUE(torque_for(1.5) == 0.2);
    TEST_ASSERT_TRUE(torque_for(-1e300) == -0.2);
    TEST_ASSERT_EQUAL_UINT64(0, state.rejected);
}

static void test_quantisation_goes_to_the_nearest_step_and_never_beyond_one(void)
{
    spec.quantum = 0.25;
    io_actuator_drive_begin(&spec, &state);
    TEST_ASSERT_TRUE(torque_for(0.37) == 0.2 * 0.25);
    TEST_ASSERT_TRUE(torque_for(-0.38) == 0.2 * -0.5);
    TEST_ASSERT_TRUE(torque_for(0.1) == 0.0);
    spec.quantum = 0.6; /* the nearest step to 1 would be 1.2 */
    TEST_ASSERT_TRUE(torque_for(1.0) == 0.2);
    TEST_ASSERT_TRUE(torque_for(-1.0) == -0.2);
}

static void test_a_one_sided_drive_gives_nothing_below_zero(void)
{
    spec.one_sided = 1;
    io_actuator_drive_begin(&spec, &state);
    TEST_ASSERT_TRUE(torque_for(-1e-9) == 0.0 && torque_for(-1.0) == 0.0);
    TEST_ASSERT_TRUE(torque_for(1e-9) == 0.2 * 1e-9 && torque_for(0.5) == 0.1);
    TEST_ASSERT_TRUE(torque_for(1.5) == 0.2);
    spec.quantum = 0.25;
    TEST_ASSERT_TRUE(torque_for(-0.2) == 0.0 && torque_for(0.2) == 0.2 * 0.25);
}

static void test_a_duty_below_the_shortest_pulse_gives_nothing(void)
{
    spec.one_sided = 1, spec.min_duty = 0.1;
    io_actuator_drive_begin(&spec, &state);
    TEST_ASSERT_TRUE(torque_for(0.0999) == 0.0 && torque_for(0.1) == 0.2 * 0.1);
    TEST_ASSERT_TRUE(torque_for(0.7) == 0.2 * 0.7 && torque_for(0.05) == 0.0);
    spec.one_sided = 0; /* a pair of thrusters behind one control */
    TEST_ASSERT_TRUE(torque_for(-0.0999) == 0.0 && torque_for(-0.1) == 0.2 * -0.1);
    spec.quantum = 0.09; /* one step of the valve is too short, two are not */
    TEST_ASSERT_TRUE(torque_for(0.13) == 0.0 && torque_for(0.14) == 0.2 * 0.18);
}

static void test_the_torque_is_old_by_the_delay_and_zero_before(void)
{
    for (uint32_t delay = 0; delay < IO_ACTUATOR_DRIVE_DELAY_MAX; delay++) {
        spec.delay = delay;
        io_actuator_drive_begin(&spec, &state);
        for (uint32_t k = 0; k < 3 * IO_ACTUATOR_DRIVE_DELAY_MAX; k++) {
            const double expected = k < delay ? 0.0 : 0.2 * ((k - delay + 1) * 1e-3);
            TEST_ASSERT_TRUE(torque_for((k + 1) * 1e-3) == expected);
        }
    }
}

static void test_a_control_that_is_not_finite_keeps_the_last_good_one_and_is_counted(void)
{
    io_actuator_drive_begin(&spec, &state);
    TEST_ASSERT_TRUE(torque_for(nan("")) == 0.0);
    TEST_ASSERT_TRUE(torque_for(0.5) == 0.1);
    TEST_ASSERT_TRUE(torque_for(nan("")) == 0.1);
    TEST_ASSERT_TRUE(torque_for(HUGE_VAL) == 0.1);
    TEST_ASSERT_TRUE(torque_for(-HUGE_VAL) == 0.1);
    TEST_ASSERT_EQUAL_UINT64(4, state.rejected);
    TEST_ASSERT_TRUE(torque_for(-0.5) == -0.1);
    TEST_ASSERT_EQUAL_UINT64(4, state.rejected);
}

static void test_a_kept_control_takes_its_turn_in_the_delay(void)
{
    spec.delay = 2;
    io_actuator_drive_begin(&spec, &state);
    const double control[] = {0.5, nan(""), 1.0, nan(""), nan("")},
                 torque[] = {0.0, 0.0, 0.1, 0.1, 0.2};
    for (int k = 0; k < 5; k++)
        TEST_ASSERT_TRUE(torque_for(control[k]) == torque[k]);
}

static void test_equal_controls_leave_equal_bytes(void)
{
    struct io_actuator_drive_state other;
    memset(&other, 0x55, sizeof other);
    spec.delay = 5, spec.quantum = 1.0 / 128.0;
    io_actuator_drive_begin(&spec, &state);
    io_actuator_drive_begin(&spec, &other);
    for (int k = 0; k < 200; k++) {
        io_actuator_drive_update(&spec, sin(k), &state);
        io_actuator_drive_update(&spec, sin(k), &other);
        TEST_ASSERT_EQUAL_MEMORY(&state, &other, sizeof state);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_torque_is_gain_times_control);
    RUN_TEST(test_controls_beyond_one_give_the_full_torque);
    RUN_TEST(test_quantisation_goes_to_the_nearest_step_and_never_beyond_one);
    RUN_TEST(test_a_one_sided_drive_gives_nothing_below_zero);
    RUN_TEST(test_a_duty_below_the_shortest_pulse_gives_nothing);
    RUN_TEST(test_the_torque_is_old_by_the_delay_and_zero_before);
    RUN_TEST(test_a_control_that_is_not_finite_keeps_the_last_good_one_and_is_counted);
    RUN_TEST(test_a_kept_control_takes_its_turn_in_the_delay);
    RUN_TEST(test_equal_controls_leave_equal_bytes);
    return UNITY_END();
}
