/*
 * Fixed-step integrators of the plant.  Private to dynamics/ and tests/.
 *
 * Both leave quaternions at unit length.  Runge-Kutta of order four treats x as plain numbers
 * within a step; the rotation it stands for does not depend on its length.  Semi-implicit Euler
 * takes velocities and effectors first, then moves the coordinates with the new velocities.
 */
#pragma once

#include "dynamics/rate.h"

/* x(t) -> x(t + h), in place, by plant->integrator.  Context: frame. */
void dyn_integrate(const struct dyn_plant *plant, const struct dyn_drive *drive, double h,
                   struct dyn_plant_work *work, double *x);
