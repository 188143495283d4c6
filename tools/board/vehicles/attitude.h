/*
 * Attitude of a vehicle that flies near the ground, from gyro, accelerometer, magnetometer and,
 * where there is one, the velocity by GPS.  A complementary filter after Mahony: the gyro moves a
 * quaternion, the others correct it slowly, and a lasting correction is the gyro's bias.
 *
 * The accelerometer of a rotorcraft measures little but the thrust, so while the vehicle
 * accelerates it appears to be level.  With GPS the tilt is therefore read from the velocity that
 * the accelerometer led to:
 *
 *      velocity error' = tilt error x force     =>     tilt error ~ force x velocity error /
 * force^2
 *
 * and only without GPS from the direction of the force itself.
 */
#pragma once

#include <stdbool.h>

struct board_attitude {
    double declination;  /* rad, of the magnetic field from true north */
    bool ready;          /* aligned; before, it collects samples */
    double attitude[4];  /* body to world */
    double rate[3];      /* gyro less bias, rad/s */
    double bias[3];      /* rad/s */
    double accel_sum[3]; /* of the alignment */
    double field[3];     /* newest magnetometer sample, T */
    bool has_field;
    int samples;
};

/* A gyro sample, dt seconds after the last. */
void board_attitude_gyro(struct board_attitude *a, const double gyro[3], double dt);
/* A specific force, dt seconds after the last; `trusted` when its direction is up. */
void board_attitude_accel(struct board_attitude *a, const double accel[3], double dt, bool trusted);
void board_attitude_field(struct board_attitude *a, const double field[3], double dt);
/* Correct by the difference of GPS velocity from the velocity integrated from the specific force
 * (world axes). */
void board_attitude_velocity(struct board_attitude *a, const double error[3], const double force[3],
                             double dt);
/* Set an attitude that is known from elsewhere. */
void board_attitude_set(struct board_attitude *a, const double attitude[4], const double rate[3]);
