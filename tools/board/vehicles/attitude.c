#include "tools/board/vehicles/attitude.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/quaternion.h"
#include "tools/board/vehicles/vector.h"

enum { ALIGN_SAMPLES = 25 };

static const double level_gain = 0.3;    /* 1/s */
static const double heading_gain = 0.5;  /* 1/s */
static const double velocity_gain = 1.0; /* 1/s^2, of the observer of tilt and velocity */
static const double bias_gain = 0.15;    /* 1/s, share of each correction that goes to the bias */
static const double bias_max = 0.1;      /* rad/s */

void board_attitude_gyro(struct board_attitude *a, const double gyro[3], double dt)
{
    double turn[3];
    for (int i = 0; i < 3; i++) {
        a->rate[i] = gyro[i] - a->bias[i];
        turn[i] = a->rate[i] * dt;
    }
    if (a->ready)
        board_quaternion_turn(a->attitude, turn);
}

static void pull(struct board_attitude *a, const double turn[3])
{
    board_quaternion_turn(a->attitude, turn);
    for (int i = 0; i < 3; i++)
        a->bias[i] = board_clamp(a->bias[i] - bias_gain * turn[i], bias_max);
}

/* Roll and pitch from the mean force, heading from the field turned level. */
static void align(struct board_attitude *a)
{
    const double *f = a->accel_sum;
    const double roll = atan2(-f[1], -f[2]), pitch = atan2(f[0], hypot(f[1], f[2]));
    double level[3];

    a->attitude[0] = 1.0;
    memset(a->attitude + 1, 0, 3 * sizeof a->attitude[0]);
    board_quaternion_turn(a->attitude, (double[]){0.0, pitch, 0.0});
    board_quaternion_turn(a->attitude, (double[]){roll, 0.0, 0.0});
    board_to_world(a->attitude, a->field, level);
    const double yaw = a->declination - atan2(level[1], level[0]);
    double north[4] = {cos(0.5 * yaw), 0.0, 0.0, sin(0.5 * yaw)}, tilt[4];
    memcpy(tilt, a->attitude, sizeof tilt);
    board_quaternion_multiply(north, tilt, a->attitude);
    a->ready = true;
}

void board_attitude_accel(struct board_attitude *a, const double accel[3], double dt, bool trusted)
{
    const double force = board_length(accel);
    if (!(force > 1.0))
        return;
    if (!a->ready) {
        for (int i = 0; i < 3; i++)
            a->accel_sum[i] += accel[i];
        if (++a->samples >= ALIGN_SAMPLES && a->has_field)
            align(a);
        return;
    }
    if (!trusted)
        return;

    /* measured down x expected down */
    double down[3] = {-accel[0] / force, -accel[1] / force, -accel[2] / force}, expected[3],
           turn[3];
    board_to_body(a->attitude, (double[]){0.0, 0.0, 1.0}, expected);
    board_cross(down, expected, turn);
    for (int i = 0; i < 3; i++)
        turn[i] *= level_gain * dt;
    pull(a, turn);
}

void board_attitude_field(struct board_attitude *a, const double field[3], double dt)
{
    double level[3], turn[3];
    memcpy(a->field, field, sizeof a->field);
    a->has_field = true;
    if (!a->ready)
        return;

    board_to_world(a->attitude, field, level);
    const double error = remainder(a->declination - atan2(level[1], level[0]), 2.0 * M_PI);
    board_to_body(a->attitude, (double[]){0.0, 0.0, heading_gain * error * dt}, turn);
    pull(a, turn);
}

void board_attitude_velocity(struct board_attitude *a, const double error[3], const double force[3],
                             double dt)
{
    const double square = board_dot(force, force);
    double tilt[3], turn[3];
    if (!a->ready || !(square > 1.0))
        return;

    board_cross(force, error, tilt);
    for (int i = 0; i < 3; i++)
        tilt[i] = i < 2 ? velocity_gain * tilt[i] * dt / square : 0.0; /* heading is the field's */
    board_to_body(a->attitude, tilt, turn);
    pull(a, turn);
}

void board_attitude_set(struct board_attitude *a, const double attitude[4], const double rate[3])
{
    double q[4];
    memcpy(q, attitude, sizeof q);
    if (!board_quaternion_normalise(q))
        return;
    memcpy(a->attitude, q, sizeof q);
    memcpy(a->rate, rate, sizeof a->rate);
    a->ready = true;
}
