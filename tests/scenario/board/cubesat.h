/*
 * A satellite with magnetic torquers in the field of a dipole: rigid body with, if wanted, the
 * momentum of wheels, on a circular polar orbit.  Written for this test alone, with its own
 * Runge-Kutta.
 */
#pragma once

struct cubesat {
    double inertia[3]; /* kg m^2 */
    double orbit_rate; /* rad/s */
    double wheels[3];  /* N m s, body axes */
    double q[4], w[3]; /* body to world; rad/s, body axes */
    double time;       /* s */
};

/* The field here and now in body axes, T. */
void cubesat_field(const struct cubesat *cubesat, double field[3]);
/* A dipole (A m^2) and a torque of the motors on the wheels (N m), held for dt seconds. */
void cubesat_step(struct cubesat *cubesat, const double dipole[3], const double motor[3],
                  double dt);
