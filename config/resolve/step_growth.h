/*
 * What a step of each integrator makes of a motion that goes as exp(mu t).
 */
#pragma once

#include <stdbool.h>

#include "dynamics/plant.h"

/* A rate of growth, 1/s; or that times a step. */
struct cfg_growth_rate {
    double re, im;
};

/* The factor, z being mu times the step: the greatest of all that the method can make of it.  Of
 * semi-implicit Euler as for an oscillator, or for a damper where im is 0.  ROS2 as for what is not
 * a mode.  Context: setup. */
double cfg_step_growth(enum dyn_integrator integrator, struct cfg_growth_rate z);

/* Whether the method can be trusted with it: what decays must not grow; what swings without
 * damping may grow by less than twofold in two periods, for RK2 and Adams-Bashforth always let it
 * grow a little; what grows by itself may.  Context: setup. */
bool cfg_step_is_sound(enum dyn_integrator integrator, struct cfg_growth_rate z);

/* The longest sound step, s; infinite: any.  Context: setup. */
double cfg_step_limit(enum dyn_integrator integrator, struct cfg_growth_rate mu);

/* Whether what swings without damping grows so little in each step.  Context: setup. */
bool cfg_growth_is_faint(struct cfg_growth_rate z, double growth);
