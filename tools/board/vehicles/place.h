/*
 * The vehicle's position in metres north, east and down of its start: the accelerometer
 * propagates position and velocity, GPS corrects the horizontal part, the barometer the height.
 * A barometer that is lost, or repeats the same number for long in flight, is replaced by GPS
 * height.
 */
#pragma once

#include <stdbool.h>

struct board_place {
    double position[3], velocity[3]; /* m, m/s */
    double lift_bias;                /* m/s^2, of the vertical acceleration */
    double force[3];                 /* newest specific force, world axes */

    bool has_pressure, has_fix;           /* the references below are set */
    double pressure;                      /* Pa, newest */
    double ground;                        /* m, barometric height of the start */
    double latitude, longitude, altitude; /* rad, rad, m: of the start by GPS */
    double gps_height_offset;             /* m, GPS height less ours while the barometer works */
    double since_pressure, since_change;  /* s: since a sample, since its number changed */
    double since_fix;                     /* s */
};

/* True when the height is known, by a working barometer or GPS. */
bool board_place_has_height(const struct board_place *p);
bool board_place_has_fix(const struct board_place *p);

/* A specific force in body axes at this attitude, dt seconds after the last. */
void board_place_accel(struct board_place *p, const double attitude[4], const double accel[3],
                       double dt);
/* Time that passed without a specific force. */
void board_place_elapse(struct board_place *p, double dt);
void board_place_pressure(struct board_place *p, double pressure, bool flying);
/* A GPS fix; error becomes the velocity by GPS less ours before the correction, dt the seconds
 * that it stands for. */
void board_place_fix(struct board_place *p, const double place[3], const double velocity[3],
                     double error[3], double *dt);
