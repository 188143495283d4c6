#include "tools/board/vehicles/pilot.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/quaternion.h"
#include "tools/board/vehicles/vector.h"

enum { ROLL, PITCH, THROTTLE, YAW, SWITCH }; /* AETR, then the first switch */
enum { SWITCH_ON = 1700, THROTTLE_LOW = 1050 };

static const double angle_max = 45.0 * M_PI / 180.0; /* at full stick */
static const double yaw_rate_max = 200.0 * M_PI / 180.0;
static const double idle = 0.07; /* command of an armed motor at throttle zero */
static const double silence_max_s = 0.5, step_max_s = 0.1;

void board_pilot_begin(struct board_pilot *pilot, const struct board_airframe *airframe)
{
    *pilot = (struct board_pilot){.airframe = *airframe, .attitude = {1.0, 0.0, 0.0, 0.0}};
    pilot->steer = (struct board_steer){.attitude_gain = 6.0, .rate_gain = 18.0};
    memcpy(pilot->steer.inertia, airframe->inertia, sizeof airframe->inertia);
}

static double deflection(const struct board_pilot *pilot, int channel)
{
    return board_clamp(((double)pilot->stick[channel] - 1500.0) / 500.0, 1.0);
}

static void disarm(struct board_pilot *pilot)
{
    pilot->armed = false;
    memset(pilot->motor, 0, sizeof pilot->motor);
    memset(pilot->steer.trim, 0, sizeof pilot->steer.trim);
}

static void take_sticks(struct board_pilot *pilot, const struct board_message *message)
{
    memcpy(pilot->stick, message->stick, sizeof pilot->stick);
    pilot->has_sticks = true;
    pilot->since_sticks = 0.0;

    const bool wanted = pilot->stick[SWITCH] > SWITCH_ON;
    if (!wanted) {
        disarm(pilot);
        pilot->refused = false;
    } else if (!pilot->armed && !pilot->refused) {
        pilot->armed = pilot->stick[THROTTLE] < THROTTLE_LOW;
        pilot->refused = !pilot->armed;
    }
}

/* Stick forward is nose down; the heading is where the nose is. */
static void want_attitude(const struct board_pilot *pilot, double wanted[4])
{
    const double *q = pilot->attitude;
    const double yaw =
        atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]));
    wanted[0] = cos(0.5 * yaw);
    wanted[1] = wanted[2] = 0.0;
    wanted[3] = sin(0.5 * yaw);
    board_quaternion_turn(wanted, (double[]){0.0, -angle_max * deflection(pilot, PITCH), 0.0});
    board_quaternion_turn(wanted, (double[]){angle_max * deflection(pilot, ROLL), 0.0, 0.0});
}

static void fly(struct board_pilot *pilot, double dt)
{
    const double throttle = 0.5 + 0.5 * deflection(pilot, THROTTLE);
    const double command = idle + (1.0 - idle) * throttle;
    double wanted[4], rate[3], torque[3];

    want_attitude(pilot, wanted);
    board_steer_rate(&pilot->steer, pilot->attitude, wanted, rate);
    rate[2] = yaw_rate_max * deflection(pilot, YAW);
    board_steer_torque(&pilot->steer, pilot->rate, rate, dt, torque);
    if (pilot->stick[THROTTLE] < THROTTLE_LOW) /* on the ground nothing may wind up */
        memset(pilot->steer.trim, 0, sizeof pilot->steer.trim);
    board_mix(&pilot->airframe, 4.0 * pilot->airframe.max_thrust * command * command, torque,
              pilot->motor);
}

static void take_state(struct board_pilot *pilot, const struct board_message *message)
{
    const double dt = (double)(int64_t)(message->time_us - pilot->time_us) * 1e-6;
    const double step = pilot->has_time ? fmin(fmax(dt, 0.0), step_max_s) : 0.0;
    double attitude[4];

    pilot->has_time = true;
    pilot->time_us = message->time_us;
    pilot->since_sticks += step;
    memcpy(attitude, message->attitude, sizeof attitude);
    if (board_quaternion_normalise(attitude) && isfinite(board_length(message->gyro))) {
        memcpy(pilot->attitude, attitude, sizeof attitude);
        memcpy(pilot->rate, message->gyro, sizeof pilot->rate);
    }
    if (!pilot->has_sticks || pilot->since_sticks > silence_max_s)
        disarm(pilot);
    memset(pilot->motor, 0, sizeof pilot->motor);
    if (pilot->armed)
        fly(pilot, step);
}

void board_pilot_receive(struct board_pilot *pilot, const struct board_message *message)
{
    if (message->type == BOARD_MESSAGE_STICKS)
        take_sticks(pilot, message);
    else if (message->type == BOARD_MESSAGE_STATE)
        take_state(pilot, message);
}

void board_pilot_command(const struct board_pilot *pilot, struct board_command *command)
{
    *command = (struct board_command){.armed = pilot->armed, .has_attitude = pilot->has_time};
    memcpy(command->controls, pilot->motor, sizeof pilot->motor);
    memcpy(command->attitude, pilot->attitude, sizeof command->attitude);
    memcpy(command->rate, pilot->rate, sizeof command->rate);
}
