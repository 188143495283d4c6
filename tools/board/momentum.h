/*
 * Unloading the wheels with magnetic torquers.  The wire tells no wheel speeds, so the momentum of
 * the wheels is what their motors were told to give, added up.  Friction makes that wrong, yet it
 * is wrong towards the side the wheels really turn to, so unloading by it still ends at rest.
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

/* Wheel motors gave this torque (N m, on the wheels) for dt seconds. */
void board_momentum_add(struct board_momentum *momentum, const double torque[3], double dt);
/* The dipole for this field, T, body axes; its direction is kept where it must be shrunk. */
void board_momentum_unload(struct board_momentum *momentum, const double field[3]);
