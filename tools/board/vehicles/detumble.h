/*
 * Detumbling by magnetic torquers alone.  In a turning body the field turns the other way, dB/dt
 * = -rate x B, and a dipole against that change brakes it:
 *
 *      m = -k (dB/dt) / B^2         torque = m x B = -k (rate across B)
 *
 * The rate along B is out of reach until the orbit has turned the field.  The derivative is that of
 * a first-order filter, so a second of magnetometer noise is averaged.
 */
#pragma once

#include <stdbool.h>

struct board_detumble {
    double gain;       /* k, N m s */
    double dipole_max; /* A m^2, each torquer */

    bool has_field;
    double smooth[3]; /* T */
    double change[3]; /* T/s */
    double dipole[3]; /* A m^2 */
};

/* A magnetometer sample (T, body axes), dt seconds after the last. */
void board_detumble_field(struct board_detumble *detumble, const double field[3], double dt);
