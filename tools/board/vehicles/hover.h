/*
 * The outer half of the flight controller: from a target position to the attitude and thrust that
 * lead there.  Each stage gives the next a bounded target:
 *
 *      place --> velocity --> acceleration --> tilt and thrust
 *
 * The velocity error is integrated, which corrects for wind and a wrong mass.
 */
#pragma once

struct board_hover {
    double speed_max;   /* m/s, horizontal */
    double climb_max;   /* m/s, upwards; half of it downwards */
    double tilt_max;    /* rad */
    double integral[3]; /* m/s^2, world axes */
};

/* Attitude and thrust (m/s^2, per mass) for this motion, dt seconds after the last. */
void board_hover_update(struct board_hover *hover, const double target[3], double heading,
                        const double position[3], const double velocity[3], double dt,
                        double attitude[4], double *lift);

/* The attitude of this heading whose z axis is against the thrust vector (world axes). */
void board_hover_lean(const double thrust[3], double heading, double attitude[4]);
