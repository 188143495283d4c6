/*
 * Fixed-step integrators of the plant.  Private to dynamics/ and tests/.
 *
 * All leave quaternions at unit length.  Within a step all but semi-implicit Euler treat x as
 * plain numbers: the rotation of a quaternion does not depend on its length, and what a step adds
 * to that length is of the size of the step's own error, so the order stays.  Semi-implicit Euler
 * takes velocities and effectors first, then moves the coordinates with the new velocities.
 *
 * Adams-Bashforth uses the rates of the steps before.  They lie in x behind the effectors, all
 * zero when there are none:
 *
 *      history = [ how many rates are kept | dx/dt of q, v and effectors one step ago | two ... ]
 *
 * While some are missing it takes steps of RK4, which is at least as accurate.
 */
#pragma once

#include "dynamics/plant_rate.h"

/* Doubles of x that have a rate: q, v and effectors; and those of the history.  Context: any. */
int dyn_rate_count(const struct dyn_plant *plant);
int dyn_history_count(const struct dyn_plant *plant);

/* x(t) -> x(t + h), in place, by plant->integrator.  Context: frame. */
void dyn_integrate(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                   double h, struct dyn_plant_work *work, double *x);
