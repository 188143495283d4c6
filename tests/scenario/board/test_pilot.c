/*
 * Angle mode: the radio arms, sticks are angles, and the signs are those of a pilot's hands.
 */
#include "tools/board/vehicles/pilot.h"

#include <math.h>
#include <string.h>

#include "tests/scenario/board/quadrotor.h"
#include "unity.h"

static const struct board_airframe iris = {.mass = 1.5,
                                           .inertia = {0.029, 0.029, 0.055},
                                           .max_thrust = 7.0,
                                           .forward_arm = 0.22,
                                           .side_arm = 0.20,
                                           .drag_ratio = 0.016};
static struct board_pilot pilot;
static struct quadrotor quadrotor;
static struct board_command command;
static uint64_t time_us;

void setUp(void)
{
    board_pilot_begin(&pilot, &iris);
    quadrotor_place(&quadrotor, 0.5);
    quadrotor.state[2] = -50.0;
    time_us = 0;
}

void tearDown(void)
{
}

static void radio(uint16_t roll, uint16_t pitch, uint16_t throttle, uint16_t yaw, uint16_t arm)
{
    const struct board_message sticks = {.type = BOARD_MESSAGE_STICKS,
                                         .stick = {roll, pitch, throttle, yaw, arm}};
    board_pilot_receive(&pilot, &sticks);
}

static void motion(void)
{
    struct board_message state = {.type = BOARD_MESSAGE_STATE, .time_us = time_us += 1000};
    memcpy(state.attitude, quadrotor_attitude(&quadrotor), sizeof state.attitude);
    memcpy(state.gyro, quadrotor_rate(&quadrotor), sizeof state.gyro);
    board_pilot_receive(&pilot, &state);
    board_pilot_command(&pilot, &command);
}

static void fly(int milliseconds)
{
    for (int k = 0; k < milliseconds; k++) {
        motion();
        quadrotor_step(&quadrotor, command.controls, 1e-3);
    }
}

static void arm(void)
{
    radio(1500, 1500, 1000, 1500, 2000);
    motion();
    TEST_ASSERT_TRUE(command.armed);
}

static void test_motors_stand_until_the_radio_arms(void)
{
    motion();
    TEST_ASSERT_TRUE(!command.armed && command.controls[0] == 0.0);
    radio(1500, 1500, 1000, 1500, 1700);
    motion();
    TEST_ASSERT_FALSE(command.armed);
    arm();
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.07, command.controls[i]);
}

static void test_a_switch_thrown_at_high_throttle_does_not_arm(void)
{
    radio(1500, 1500, 1500, 1500, 2000);
    motion();
    TEST_ASSERT_FALSE(command.armed);
    radio(1500, 1500, 1000, 1500, 2000); /* too late: the switch must go down first */
    motion();
    TEST_ASSERT_FALSE(command.armed);
    radio(1500, 1500, 1000, 1500, 1000);
    arm();
}

static void test_the_switch_and_a_lost_radio_disarm(void)
{
    arm();
    radio(1500, 1500, 1500, 1500, 1000);
    motion();
    TEST_ASSERT_TRUE(!command.armed && command.controls[0] == 0.0);
    arm();
    fly(498);
    TEST_ASSERT_TRUE(command.armed);
    fly(10);
    TEST_ASSERT_FALSE(command.armed);
}

static void euler(double *roll, double *pitch, double *yaw_rate)
{
    const double *q = quadrotor_attitude(&quadrotor);
    *roll = atan2(2.0 * (q[0] * q[1] + q[2] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]));
    *pitch = asin(2.0 * (q[0] * q[2] - q[3] * q[1]));
    *yaw_rate = quadrotor_rate(&quadrotor)[2];
}

static void hold(uint16_t r, uint16_t p, uint16_t y, double *roll, double *pitch, double *yaw_rate)
{
    arm();
    for (int k = 0; k < 20; k++) {
        radio(r, p, 1700, y, 2000);
        fly(100);
    }
    euler(roll, pitch, yaw_rate);
}

static void test_half_a_stick_to_the_right_rolls_right_by_half_of_45_degrees(void)
{
    double roll, pitch, yaw_rate;
    hold(1750, 1500, 1500, &roll, &pitch, &yaw_rate);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, M_PI / 8.0, roll);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.0, pitch);
}

static void test_stick_forward_is_nose_down(void)
{
    double roll, pitch, yaw_rate;
    hold(1500, 1750, 1500, &roll, &pitch, &yaw_rate);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, -M_PI / 8.0, pitch);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.0, roll);
}

static void test_yaw_to_the_right_turns_clockwise(void)
{
    double roll, pitch, yaw_rate;
    hold(1500, 1500, 1600, &roll, &pitch, &yaw_rate);
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 0.2 * 200.0 * M_PI / 180.0, yaw_rate);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.0, roll);
}

static void test_throttle_is_the_speed_of_the_motors(void)
{
    arm();
    radio(1500, 1500, 1500, 1500, 2000);
    motion();
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.535, command.controls[i]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_motors_stand_until_the_radio_arms);
    RUN_TEST(test_a_switch_thrown_at_high_throttle_does_not_arm);
    RUN_TEST(test_the_switch_and_a_lost_radio_disarm);
    RUN_TEST(test_half_a_stick_to_the_right_rolls_right_by_half_of_45_degrees);
    RUN_TEST(test_stick_forward_is_nose_down);
    RUN_TEST(test_yaw_to_the_right_turns_clockwise);
    RUN_TEST(test_throttle_is_the_speed_of_the_motors);
    return UNITY_END();
}
