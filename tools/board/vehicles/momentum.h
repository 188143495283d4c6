/*
 * Unloading the wheels with magnetic torquers.  The wire does not carry wheel speeds, so the
 * momentum of the wheels is the integral of their commanded torques.  Friction makes it wrong, but
 * with the right sign, so unloading by it still ends at rest.
 *
 *      m = k (h x B) / B^2          torque on the body = m x B = -k (h across B)
 */
#pragma once

struct board_momentum {
    double gain;       /* k, 1/s */
    double dipole_max; /* A m^2, each torquer */

    double wheels[3]; /* h, N m s, body axes */
    double dipole[3]; /* A m^2 */
};

/* Add the torque (N m, on the wheels) that the wheel motors gave for dt seconds. */
void board_momentum_add(struct board_momentum *momentum, const double torque[3], double dt);
/* Compute the dipole for this field, T, body axes; where it is limited it keeps its direction. */
void board_momentum_unload(struct board_momentum *momentum, const double field[3]);
