/*
 * A quadrotor seen from above, and the distribution of thrust and torque to its four motors:
 *
 *          forward
 *      2 CW  .  0 CCW        thrust of one motor = max_thrust command^2
 *          \ | /             drag of a CCW propeller turns the body clockwise, which is +z
 *           \|/
 *           /|\              Mx = side    (-T0 + T1 + T2 - T3)
 *          / | \             My = forward (+T0 - T1 + T2 - T3)
 *      1 CCW .  3 CW         Mz = drag    (+T0 + T1 - T2 - T3)
 */
#pragma once

struct board_airframe {
    double mass;        /* kg */
    double inertia[3];  /* kg m^2 */
    double max_thrust;  /* N, one motor at command 1 */
    double forward_arm; /* m, of each motor from the centre, along x */
    double side_arm;    /* m, along y */
    double drag_ratio;  /* m, torque of a propeller over its thrust */
};

/* Commands 0..1 for a thrust (N, upwards) and a torque (N m).  Where the motors are too weak, they
 * give up in this order: yaw, then thrust, then roll and pitch. */
void board_mix(const struct board_airframe *airframe, double thrust, const double torque[3],
               double motor[4]);
