/*
 * The inner half of a flight controller: from the target attitude to the torque.
 *
 *      attitude --> rate --> torque = I c (wanted - rate) + rate x I rate + trim
 */
#pragma once

struct board_steer {
    double inertia[3];    /* kg m^2 */
    double attitude_gain; /* 1/s, roll and pitch; a third of it for yaw */
    double rate_gain;     /* 1/s, roll and pitch; half of it for yaw */
    double trim[3];       /* N m */
};

/* The rate that leads from this attitude to the target, rad/s, body axes, bounded. */
void board_steer_rate(const struct board_steer *steer, const double attitude[4],
                      const double wanted[4], double rate[3]);
void board_steer_torque(struct board_steer *steer, const double rate[3], const double wanted[3],
                        double dt, double torque[3]);
