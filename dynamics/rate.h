/*
 * The plant as a differential equation: dx/dt = f(x, drive).  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/plant.h"
#include "dynamics/work.h"

/* What is held over a step. */
struct dyn_drive {
    const double *commands;  /* one per effector */
    const double *joint_tau; /* nv, or NULL */
    double modal_lead;       /* as in dyn_input */
};

struct dyn_plant_work {
    struct dyn_work *kernel;
    struct dyn_load *load; /* per effector */
    double *x_rate;        /* dx/dt of the last evaluation */
    double *v_rate;        /* the part of it that is dv/dt */
    double *stage;         /* x where an integrator stage looks */
    double *sum;           /* weighted sum of the stages' rates */
    double *tau;           /* nv, what a stage adds to joint_tau included; ROS2 */
    double *trial;         /* x to be, not yet known to be finite */
};

/* work->x_rate = f(x, drive).  Context: frame. */
void dyn_plant_rate(const struct dyn_plant *plant, const struct dyn_drive *drive, const double *x,
                    struct dyn_plant_work *work);
