/*
 * The derivative of one step of the integrator with respect to the vehicle's state.
 *
 * ROS2 steps the modes of flexible bodies implicitly and the rest explicitly, and their interaction
 * is not a function of the vehicle's eigenvalues: a damper at a hinge acts on an inertia that
 * depends on how far the modes yield within a step.  So the step itself is linearised, and its
 * eigenvalues are judged.
 */
#pragma once

#include "config/resolve/step_growth.h"
#include "rt/executive/state/run_state.h"

/* Rates of the vehicle itself, to distinguish its own motion from that of the step. */
struct cfg_growth_rates {
    int count;
    const double *re, *im; /* 1/s */
};

/* slope: count x count by rows, d x(t + h) / d x(t) of the first `count` states at x, which is
 * restored.  false: the step failed.  Context: setup. */
bool cfg_step_derivative(const struct sim_vehicle *vehicle, double h, int count, double *x,
                         double *slope);

/* The growth per step of an eigenvalue of this derivative, where the vehicle itself does not grow.
 * 0 where it does not, or by less than 0.1 % a step, or where it swings slowly and grows by less
 * than twofold in two periods.  Context: setup. */
double cfg_step_excess(struct cfg_growth_rate eigenvalue, double h,
                       const struct cfg_growth_rates *rates);
