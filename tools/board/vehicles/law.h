/*
 * The control law: rate-limited quaternion feedback with a braking curve.
 *
 * The rotation vector from target to body has the angle p about the axis e.  The body should turn
 * back about e, as fast as it can still be stopped (a is the acceleration the wheels can give about
 * this axis, times the share of it that is planned with):
 *
 *      speed(p) = k p                       p <= a / k^2          soft landing
 *                 sqrt(2 a p - a^2 / k^2)   beyond                braking at a
 *                 rate limit                where that is less    coasting
 *
 * and the torque makes it so, with the braking fed forward and the gyroscopic torque compensated:
 *
 *      torque = I ( c (wanted - rate) + d wanted/dt ) + rate x I rate + trim
 *
 * Near the target this is the linear law with poles at -k and -c.  The trim integrates the rate
 * error near the target only, and never while a wheel is at its limit, so that it does not wind
 * up in a slew; it compensates wheel friction.  A first-order roll-off keeps gyro noise out of
 * the motors.
 *
 * Modes of flexible panels lie above k and c.  Gyro and wheels sit on the same body, so the rate
 * feedback takes energy out of a mode as long as roll-off and wire delay turn the phase by less
 * than a quarter period: with a 5 Hz roll-off and 8 ms of delay by 21 degrees at 1.5 Hz, 50 at
 * 4 Hz, and 90 at 9.6 Hz.  Beyond, the loop is weak, and the mode's own damping must hold.
 */
#pragma once

struct board_law {
    double target[4];     /* attitude to hold */
    double inertia[3];    /* kg m^2, principal, body axes */
    double torque_max;    /* N m, each wheel */
    double rate_limit;    /* rad/s */
    double attitude_gain; /* k, 1/s */
    double rate_gain;     /* c, 1/s */
    double trim_gain;     /* of the integrated rate error, 1/s^2 */
    double authority;     /* share of the torque that braking is planned with */
    double roll_off;      /* Hz */

    double trim[3];   /* N m */
    double torque[3]; /* N m on the body, each within torque_max */
};

/* Next torque for this attitude and rate (rad/s, body axes), dt seconds after the last. */
void board_law_update(struct board_law *law, const double attitude[4], const double rate[3],
                      double dt);

/* Angle between attitude and target, rad. */
double board_law_error(const struct board_law *law, const double attitude[4]);
