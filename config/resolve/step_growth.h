/*
 * The growth of a motion exp(mu t) in one step of each integrator.
 */
#pragma once

#include <stdbool.h>

#include "dynamics/plant.h"

/* A rate of growth, 1/s; or that times a step. */
struct cfg_growth_rate {
    double re, im;
};

/* The largest factor of growth in a step, with z = mu times the step. For semi-implicit Euler that
 * of an oscillator, or of a damper where im is 0; for ROS2 that of a motion that is not a mode.
 * Context: setup. */
double cfg_step_growth(enum dyn_integrator integrator, struct cfg_growth_rate z);

/* True when the method is stable for it: a decaying motion must not grow; an undamped oscillation
 * may grow by less than twofold in two periods, because it always grows a little with RK2 and
 * Adams-Bashforth; a growing motion may grow.  Context: setup. */
bool cfg_step_is_sound(enum dyn_integrator integrator, struct cfg_growth_rate z);

/* The longest stable step, s; infinite: any.  Context: setup. */
double cfg_step_limit(enum dyn_integrator integrator, struct cfg_growth_rate mu);

/* True when an undamped oscillation grows by no more than that in each step.  Context: setup. */
bool cfg_growth_is_faint(struct cfg_growth_rate z, double growth);
