/*
 * A satellite to point: rigid body, two flexible modes in hybrid coordinates, three wheels with
 * friction.  Written for this test alone and integrated with its own Runge-Kutta, so that the board
 * is tried against something that shares no code with the simulator.
 */
#pragma once

enum { SATELLITE_MODES = 2, SATELLITE_STATES = 10 + 2 * SATELLITE_MODES };

struct satellite {
    double inertia[3];                   /* kg m^2, wheels locked, panels rigid */
    double coupling[SATELLITE_MODES][3]; /* kg^1/2 m */
    double frequency[SATELLITE_MODES];   /* rad/s, panels on a fixed base */
    double damping;                      /* ratio */
    double wheel_inertia;                /* kg m^2 */
    double viscous, coulomb;             /* N m s, N m */
    double torque_max;                   /* N m at control 1 */
    double state[SATELLITE_STATES];      /* q[4], rate[3], wheel momentum[3], mode, mode rate */
};

/* Attitude turned by angle about the unit axis, rate along the same axis. */
void satellite_place(struct satellite *satellite, const double axis[3], double angle, double rate);
/* Hold the controls for dt seconds. */
void satellite_step(struct satellite *satellite, const double controls[3], double dt);
const double *satellite_attitude(const struct satellite *satellite);
const double *satellite_rate(const struct satellite *satellite);
/* Angle from the attitude 1, 0, 0, 0, rad. */
double satellite_error(const struct satellite *satellite);
