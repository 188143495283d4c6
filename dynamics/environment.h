/*
 * The world around the vehicle: uniform fields for now, in world axes.
 */
#pragma once

struct dyn_environment {
    double gravity[3];        /* m/s^2 */
    double magnetic_field[3]; /* tesla */
};
