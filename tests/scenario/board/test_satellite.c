/*
 * The satellite's magnetic laws in closed loop with a satellite in the field of a dipole, and its
 * choice of attitudes.
 */
#include "tools/board/vehicles/satellite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/device/noise.h"
#include "tests/scenario/board/cubesat.h"
#include "unity.h"

static const double degree = M_PI / 180.0;
static const double none[3] = {0.0, 0.0, 0.0};

static struct board_satellite board;
static struct cubesat cubesat;
static struct io_noise noise;
static struct board_command command;

void setUp(void)
{
    board = (struct board_satellite){.law = {.target = {1.0, 0.0, 0.0, 0.0},
                                             .inertia = {12.0, 14.0, 10.0},
                                             .torque_max = 0.2,
                                             .rate_limit = 0.1,
                                             .attitude_gain = 1.7,
                                             .rate_gain = 3.4,
                                             .trim_gain = 0.5,
                                             .authority = 0.8,
                                             .roll_off = 5.0},
                                     .momentum = {.gain = 0.005, .dipole_max = 30.0},
                                     .detumble = {.gain = 4e-5, .dipole_max = 0.2}};
    io_noise_seed(&noise, 3, 1);
}

void tearDown(void)
{
}

static struct board_message sense(double deviation)
{
    struct board_message sensor = {.type = BOARD_MESSAGE_SENSOR,
                                   .time_us = (uint64_t)llround(cubesat.time * 1e6),
                                   .has_field = true,
                                   .has_gyro = true};
    cubesat_field(&cubesat, sensor.field);
    for (int i = 0; i < 3; i++) {
        sensor.field[i] += deviation * io_noise_normal(&noise);
        sensor.gyro[i] = cubesat.w[i];
    }
    return sensor;
}

static double turning(void)
{
    return sqrt(cubesat.w[0] * cubesat.w[0] + cubesat.w[1] * cubesat.w[1] +
                cubesat.w[2] * cubesat.w[2]);
}

/* A 3U cubesat at 10 deg/s, magnetometer at 10 Hz with 100 nT of noise. */
static void detumble(double seconds)
{
    while (cubesat.time < seconds) {
        const struct board_message sensor = sense(1e-7);
        double dipole[3];
        board_satellite_receive(&board, &sensor);
        board_satellite_command(&board, &command);
        for (int i = 0; i < 3; i++) {
            TEST_ASSERT_TRUE(fabs(command.controls[i]) <= 1.0);
            dipole[i] = 0.2 * command.controls[i];
        }
        cubesat_step(&cubesat, dipole, none, 0.1);
    }
}

static void tumble(void)
{
    cubesat = (struct cubesat){.inertia = {0.007, 0.03, 0.03},
                               .orbit_rate = 1.1e-3,
                               .q = {1.0, 0.0, 0.0, 0.0},
                               .w = {6.0 * degree, -6.0 * degree, 5.3 * degree}};
    board.detumbles = true;
}

static void test_the_dipole_against_the_change_of_the_field_detumbles(void)
{
    char line[100];
    tumble();
    TEST_ASSERT_TRUE(turning() > 9.9 * degree);
    detumble(3000.0);
    const double half_way = turning();
    detumble(9000.0);
    snprintf(line, sizeof line, "deg/s: 10.0, after 3000 s %.2f, after 9000 s %.3f",
             half_way / degree, turning() / degree);
    TEST_MESSAGE(line);
    TEST_ASSERT_TRUE(half_way < 7.0 * degree);
    TEST_ASSERT_TRUE(turning() < 1.0 * degree);
    for (int i = 3; i < BOARD_CONTROL_COUNT; i++)
        TEST_ASSERT_TRUE(command.controls[i] == 0.0);
}

static void test_it_never_speeds_the_tumbling_up(void)
{
    tumble();
    double energy = 1.0;
    for (int k = 1; k <= 30; k++) {
        detumble(100.0 * k);
        double now = 0.0;
        for (int i = 0; i < 3; i++)
            now += 0.5 * cubesat.inertia[i] * cubesat.w[i] * cubesat.w[i];
        TEST_ASSERT_TRUE(now < energy);
        energy = now;
    }
}

static void test_one_look_at_the_field_is_not_enough_to_arm(void)
{
    tumble();
    struct board_message sensor = sense(0.0);
    board_satellite_receive(&board, &sensor);
    board_satellite_command(&board, &command);
    TEST_ASSERT_FALSE(command.armed);
    detumble(1.0);
    TEST_ASSERT_TRUE(command.armed);
}

/* A turning body sees the field turn: B along x, turning about z, dB/dt = -w x B along -y. */
static void test_the_dipole_brakes_across_the_field(void)
{
    struct board_detumble law = {.gain = 1e-4, .dipole_max = 100.0};
    const double B = 3e-5, w = 0.02;
    for (int k = 0; k < 200; k++)
        board_detumble_field(&law, (double[]){B * cos(0.1 * k * w), -B * sin(0.1 * k * w), 0.0},
                             0.1);
    const double t = 19.9 * w, across = law.dipole[0] * sin(t) + law.dipole[1] * cos(t);
    TEST_ASSERT_DOUBLE_WITHIN(0.06 * 1e-4 * w / B, 1e-4 * w / B, across); /* k w / B */
}

/* Wheels hold 2 N m s at the start; the law keeps pointing while the torquers take it out. */
static void test_torquers_unload_the_wheels_while_it_points(void)
{
    char line[100];
    cubesat = (struct cubesat){.inertia = {12.0, 14.0, 10.0},
                               .orbit_rate = 1.1e-3,
                               .wheels = {0.4, -0.4, 0.3},
                               .q = {1.0, 0.0, 0.0, 0.0}};
    memcpy(board.momentum.wheels, cubesat.wheels, sizeof cubesat.wheels); /* spun up by it */
    while (cubesat.time < 6000.0) {
        struct board_message star = {.type = BOARD_MESSAGE_TRACKER,
                                     .time_us = (uint64_t)llround(cubesat.time * 1e6)};
        const struct board_message sensor = sense(1e-7);
        double dipole[3], motor[3];
        memcpy(star.attitude, cubesat.q, sizeof star.attitude);
        board_satellite_receive(&board, &star);
        board_satellite_receive(&board, &sensor);
        board_satellite_command(&board, &command);
        for (int i = 0; i < 3; i++) {
            motor[i] = 0.2 * command.controls[i];
            dipole[i] = 30.0 * command.controls[3 + i];
            TEST_ASSERT_TRUE(fabs(command.controls[3 + i]) <= 1.0);
        }
        cubesat_step(&cubesat, dipole, motor, 0.05);
        TEST_ASSERT_TRUE(fabs(cubesat.q[0]) > cos(0.5 * 0.5 * degree));
    }
    const double *h = cubesat.wheels;
    const double left = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
    snprintf(line, sizeof line, "N m s: 0.640, after 6000 s %.4f", left);
    TEST_MESSAGE(line);
    TEST_ASSERT_TRUE(left < 0.05);
}

/* The torque of the dipole is -k times the momentum across the field. */
static void test_unloading_acts_across_the_field(void)
{
    struct board_momentum law = {.gain = 0.01, .dipole_max = 1e6, .wheels = {1.0, 2.0, 3.0}};
    board_momentum_unload(&law, (double[]){0.0, 0.0, 4e-5});
    const double *m = law.dipole;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.01 * 1.0, m[1] * 4e-5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.01 * 2.0, -m[0] * 4e-5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, m[2]);
    law.dipole_max = 100.0;
    board_momentum_unload(&law, (double[]){0.0, 0.0, 4e-5});
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 100.0, m[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -50.0, m[1]);
}

static void take(enum board_message_type type, uint64_t time_us, double w, double x)
{
    const struct board_message message = {
        .type = type, .time_us = time_us, .has_gyro = true, .attitude = {w, x, 0.0, 0.0}};
    board_satellite_receive(&board, &message);
}

static void test_truth_is_the_attitude_until_a_star_tracker_sends(void)
{
    take(BOARD_MESSAGE_TRUTH, 4000, 0.6, 0.8);
    take(BOARD_MESSAGE_SENSOR, 4000, 0.0, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.8, board.estimator.attitude[1]);
    board.estimator.has_attitude = false;
    take(BOARD_MESSAGE_TRACKER, 8000, 1.0, 0.0);
    take(BOARD_MESSAGE_TRUTH, 8000, 0.6, 0.8);
    take(BOARD_MESSAGE_SENSOR, 8000, 0.0, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, board.estimator.attitude[1]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_dipole_against_the_change_of_the_field_detumbles);
    RUN_TEST(test_it_never_speeds_the_tumbling_up);
    RUN_TEST(test_one_look_at_the_field_is_not_enough_to_arm);
    RUN_TEST(test_the_dipole_brakes_across_the_field);
    RUN_TEST(test_torquers_unload_the_wheels_while_it_points);
    RUN_TEST(test_unloading_acts_across_the_field);
    RUN_TEST(test_truth_is_the_attitude_until_a_star_tracker_sends);
    return UNITY_END();
}
