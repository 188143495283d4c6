/*
 * The plant as a differential equation: dx/dt = f(x, drive).  Private to dynamics/ and tests/.
 */
#pragma once

#include <stdbool.h>

#include "dynamics/plant_spec.h"
#include "dynamics/plant_work.h"

/* The inputs that are held over a step. */
struct dyn_plant_input {
    const double *commands;     /* one per effector */
    const double *joint_tau;    /* nv, or NULL */
    double modal_implicit_step; /* as in dyn_input */
    bool in_step; /* lags are those of effector_slot.in_step; else the effectors' own */
};

/* Fill effector_body, effector_slot and the other constants of the effectors.  Context: setup. */
void dyn_plant_place_effectors(const struct dyn_plant *plant, struct dyn_plant_work *work);

/* Lags of the effectors as a step of h by this method takes them.  Context: frame. */
void dyn_plant_set_lags(const struct dyn_plant *plant, enum dyn_integrator method, double h,
                        struct dyn_plant_work *work);

/* work->x_rate = f(x, drive).  Context: frame. */
void dyn_plant_rate(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                    const double *x, struct dyn_plant_work *work);
