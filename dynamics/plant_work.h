/*
 * The scratch of a plant.  Private to dynamics/ and tests/.
 */
#pragma once

#include <stdbool.h>

#include "dynamics/effector/effector_input.h"
#include "dynamics/kernel/work.h"
#include "dynamics/plant_spec.h"

struct dyn_friction;
struct dyn_orbital_gravity_body;

/* A body that carries effectors: its motion is found once for all of them, and their forces are
 * summed on it. */
struct dyn_effector_body {
    int body;
    unsigned needs; /* of all of them */
};

/* The body and the state index of an effector. */
struct dyn_effector_slot {
    int effector_body;
    int state_at;
    bool is_lag; /* its first state follows a target */
    struct dyn_lags own, in_step;
    double next; /* of that state, at the end of a step of Adams-Bashforth */
};

struct dyn_plant_work {
    /* constant after the placement */
    int rate_count; /* doubles of x that have a rate */
    int x_count;    /* and all of them */
    int effector_body_count;
    int load_count;
    int battery;     /* which effector; -1: none */
    double lag_step; /* the step that effector_slot.in_step is for; and the method */
    enum dyn_integrator lag_method;
    struct dyn_effector_body *effector_body;       /* at most one per effector */
    struct dyn_effector_slot *effector_slot;       /* per effector */
    struct dyn_orbital_gravity_body *gravity_body; /* per body, in orbit */

    struct dyn_work *kernel;
    struct dyn_effector_input *effector_input; /* per effector_body */
    struct dyn_load *load;                     /* per effector_body; in orbit then per body */
    struct dyn_supply supply;
    struct dyn_friction *friction; /* friction.h */
    double *x_rate;                /* dx/dt of the last evaluation */
    double *v_rate;                /* the part of it that is dv/dt */
    double *held_tau;              /* nv, of the last evaluation; NULL: nothing is held */
    double *stage;                 /* x of an integrator stage */
    double *sum;                   /* weighted sum of the stages' rates */
    double *tau;                   /* nv, joint_tau plus the terms of a stage; ROS2 */
    double *trial;                 /* the next x, not yet known to be finite */
};
