/*
 * The quadrotor's flight controller in closed loop with a quadrotor written for this test: it takes
 * off, holds its place in noise and wind, and survives what breaks.
 */
#include "tools/board/vehicles/quad.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/scenario/board/instruments.h"
#include "unity.h"

enum { SECOND = 250 }; /* steps */

static const struct board_airframe iris = {.mass = 1.5,
                                           .inertia = {0.029, 0.029, 0.055},
                                           .max_thrust = 7.0,
                                           .forward_arm = 0.22,
                                           .side_arm = 0.20,
                                           .drag_ratio = 0.016};
static const double degree = M_PI / 180.0;

static struct quadrotor quadrotor;
static struct instruments instruments;
static struct board_quad board;
static struct board_command command;
static uint64_t step;
static double worst_side, worst_height, worst_attitude, worst_tilt;

void setUp(void)
{
    quadrotor_place(&quadrotor, 30.0 * degree);
    instruments = (struct instruments){.loudness = 1.0};
    io_noise_seed(&instruments.noise, 7, 1);
    board_quad_begin(&board, &iris, 10.0, 2.663 * degree);
    command = (struct board_command){.armed = false};
    step = 0;
}

void tearDown(void)
{
}

/* The angle between what the board believes and what is. */
static double attitude_error(void)
{
    const double *a = board.attitude.attitude, *b = quadrotor_attitude(&quadrotor);
    const double c = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
    return 2.0 * acos(fmin(c, 1.0));
}

static void note_worst(void)
{
    const double *p = quadrotor_position(&quadrotor);
    worst_side = fmax(worst_side, hypot(p[0], p[1]));
    worst_height = fmax(worst_height, fabs(-p[2] - 10.1)); /* its feet are 0.1 m below */
    worst_attitude = fmax(worst_attitude, attitude_error());
    worst_tilt = fmax(worst_tilt, quadrotor_tilt(&quadrotor));
}

static void fly(double seconds)
{
    struct board_message message[2];
    worst_side = worst_height = worst_attitude = worst_tilt = 0.0;
    for (int k = 0; k < (int)(seconds * SECOND); k++, step++) {
        const int count = instruments_read(&instruments, &quadrotor, step, message);
        for (int i = 0; i < count; i++)
            board_quad_receive(&board, &message[i]);
        board_quad_command(&board, &command);
        for (int i = 0; i < 4; i++)
            quadrotor_step(&quadrotor, command.controls, INSTRUMENTS_STEP_US * 0.25e-6);
        note_worst();
    }
}

static void tell(const char *what)
{
    char line[200];
    snprintf(line, sizeof line, "%s: side %.2f m, height %.2f m, attitude %.2f deg, tilt %.1f deg",
             what, worst_side, worst_height, worst_attitude / degree, worst_tilt / degree);
    TEST_MESSAGE(line);
}

static void test_the_motors_stand_until_the_sensors_were_healthy_for_a_second(void)
{
    fly(0.9);
    TEST_ASSERT_FALSE(command.armed);
    for (int i = 0; i < BOARD_CONTROL_COUNT; i++)
        TEST_ASSERT_TRUE(command.controls[i] == 0.0);
    fly(0.5);
    TEST_ASSERT_TRUE(command.armed);
}

static void test_without_gps_it_never_arms(void)
{
    instruments.no_gps = true;
    fly(10.0);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_DISARMED, board.phase);
}

static void test_it_takes_off_and_holds_ten_metres(void)
{
    fly(15.0);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_HOLD, board.phase);
    fly(15.0);
    tell("hold");
    TEST_ASSERT_TRUE(worst_height < 0.3);
    TEST_ASSERT_TRUE(worst_side < 0.5);
    TEST_ASSERT_TRUE(worst_attitude < 2.0 * degree);
    TEST_ASSERT_TRUE(worst_tilt < 5.0 * degree);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.725, command.controls[0]); /* sqrt(m g / 4 max_thrust) */
}

static void test_it_holds_in_wind(void)
{
    fly(15.0);
    quadrotor.wind[0] = 5.0;
    quadrotor.wind[1] = -3.0;
    fly(10.0);
    tell("gust");
    TEST_ASSERT_TRUE(worst_side < 3.0);
    fly(15.0);
    tell("wind");
    TEST_ASSERT_TRUE(worst_height < 0.3);
    TEST_ASSERT_TRUE(worst_side < 0.5);
    TEST_ASSERT_TRUE(worst_attitude < 3.0 * degree);
    /* it leans against the wind: atan(0.3 * 5.83 / 1.5 g) */
    TEST_ASSERT_DOUBLE_WITHIN(1.5 * degree, 6.8 * degree, quadrotor_tilt(&quadrotor));
}

static void test_a_heavier_vehicle_than_it_believes_reaches_the_same_height(void)
{
    quadrotor.mass = 1.7;
    fly(20.0);
    fly(10.0);
    tell("heavy");
    TEST_ASSERT_TRUE(worst_height < 0.3);
}

static void test_it_survives_three_seconds_without_gps(void)
{
    quadrotor.wind[0] = 3.0;
    fly(20.0);
    instruments.no_gps = true;
    fly(3.0);
    tell("no GPS");
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_HOLD, board.phase);
    TEST_ASSERT_TRUE(worst_side < 3.0);
    TEST_ASSERT_TRUE(worst_height < 0.5);
    instruments.no_gps = false;
    fly(10.0);
    fly(10.0);
    tell("after");
    TEST_ASSERT_TRUE(worst_side < 0.5);
}

static void test_gps_that_is_late_and_twice_the_noise_are_survived(void)
{
    instruments.late_gps = true;
    instruments.loudness = 2.0;
    quadrotor.wind[1] = 4.0;
    fly(20.0);
    fly(20.0);
    tell("late, loud");
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_HOLD, board.phase);
    TEST_ASSERT_TRUE(worst_side < 1.0);
    TEST_ASSERT_TRUE(worst_height < 0.6);
}

static void test_instruments_without_noise_are_not_called_stuck(void)
{
    instruments.loudness = 0.0;
    fly(20.0);
    fly(10.0);
    tell("no noise");
    TEST_ASSERT_TRUE(worst_height < 0.1);
    TEST_ASSERT_TRUE(worst_side < 0.1);
}

static void test_a_stuck_barometer_is_replaced_by_gps(void)
{
    fly(8.0); /* it still climbs */
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_TAKE_OFF, board.phase);
    instruments.stuck_pressure = true;
    fly(12.0);
    fly(10.0);
    tell("stuck");
    TEST_ASSERT_TRUE(worst_height < 1.0);
}

static void test_without_gps_for_long_it_comes_down_level(void)
{
    fly(15.0);
    instruments.no_gps = true;
    fly(8.0);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_DESCEND, board.phase);
    fly(2.0);
    tell("coming down");
    TEST_ASSERT_TRUE(worst_tilt < 6.0 * degree);
    fly(30.0);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_LANDED, board.phase);
    TEST_ASSERT_FALSE(command.armed);
    TEST_ASSERT_TRUE(command.controls[0] == 0.0);
    TEST_ASSERT_TRUE(quadrotor_position(&quadrotor)[2] > -0.15);
}

static void test_without_a_gyro_it_gives_no_torque_and_descends(void)
{
    fly(15.0);
    instruments.no_gyro = true;
    fly(0.19);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_HOLD, board.phase);
    fly(0.05);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_DESCEND, board.phase);
    for (int i = 1; i < 4; i++)
        TEST_ASSERT_TRUE(command.controls[i] == command.controls[0]);
    TEST_ASSERT_TRUE(command.controls[0] > 0.5 && command.controls[0] < 0.76);
    instruments.no_gyro = false;
    fly(20.0);
    fly(5.0);
    tell("gyro back");
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_HOLD, board.phase);
    TEST_ASSERT_TRUE(worst_height < 0.5);
}

static void test_without_an_accelerometer_it_descends_level(void)
{
    fly(15.0);
    instruments.no_accel = true;
    fly(1.0);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_DESCEND, board.phase);
    TEST_ASSERT_TRUE(worst_tilt < 6.0 * degree);
}

static void test_on_its_own_clock_silence_is_loss(void)
{
    fly(15.0);
    const uint64_t last_us = step * INSTRUMENTS_STEP_US;
    board_quad_elapse(&board, last_us + 150000);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_HOLD, board.phase);
    for (uint64_t wait_us = 200000; wait_us <= 400000; wait_us += 5000)
        board_quad_elapse(&board, last_us + wait_us);
    TEST_ASSERT_EQUAL_INT(BOARD_QUAD_DESCEND, board.phase);
}

static void test_the_same_messages_give_the_same_commands(void)
{
    struct board_command first;
    fly(12.0);
    first = command;
    setUp();
    fly(12.0);
    TEST_ASSERT_EQUAL_MEMORY(first.controls, command.controls, sizeof first.controls);
}

/* A simulator that sends position and attitude leaves only the control. */
static void test_with_a_known_state_it_holds_within_centimetres(void)
{
    for (step = 0; step < 25 * SECOND; step++) {
        struct board_message state = {.type = BOARD_MESSAGE_STATE, .time_us = (step + 1) * 4000};
        memcpy(state.position, quadrotor_position(&quadrotor), sizeof state.position);
        memcpy(state.velocity, quadrotor_velocity(&quadrotor), sizeof state.velocity);
        memcpy(state.attitude, quadrotor_attitude(&quadrotor), sizeof state.attitude);
        memcpy(state.gyro, quadrotor_rate(&quadrotor), sizeof state.gyro);
        board_quad_receive(&board, &state);
        board_quad_command(&board, &command);
        for (int i = 0; i < 4; i++)
            quadrotor_step(&quadrotor, command.controls, 1e-3);
    }
    TEST_ASSERT_DOUBLE_WITHIN(0.02, -10.1, quadrotor_position(&quadrotor)[2]);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.0, quadrotor_position(&quadrotor)[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_motors_stand_until_the_sensors_were_healthy_for_a_second);
    RUN_TEST(test_without_gps_it_never_arms);
    RUN_TEST(test_it_takes_off_and_holds_ten_metres);
    RUN_TEST(test_it_holds_in_wind);
    RUN_TEST(test_a_heavier_vehicle_than_it_believes_reaches_the_same_height);
    RUN_TEST(test_it_survives_three_seconds_without_gps);
    RUN_TEST(test_gps_that_is_late_and_twice_the_noise_are_survived);
    RUN_TEST(test_instruments_without_noise_are_not_called_stuck);
    RUN_TEST(test_a_stuck_barometer_is_replaced_by_gps);
    RUN_TEST(test_without_gps_for_long_it_comes_down_level);
    RUN_TEST(test_without_a_gyro_it_gives_no_torque_and_descends);
    RUN_TEST(test_without_an_accelerometer_it_descends_level);
    RUN_TEST(test_on_its_own_clock_silence_is_loss);
    RUN_TEST(test_the_same_messages_give_the_same_commands);
    RUN_TEST(test_with_a_known_state_it_holds_within_centimetres);
    return UNITY_END();
}
