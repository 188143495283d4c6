/*
 * Input and output of the kernel, one struct per lifetime.
 *
 * The model is const after load.  The state is all that a snapshot must hold.  Input and output
 * live for one call.  The work is scratch: it means nothing between two calls.
 */
#pragma once

#include <stddef.h>

#include "dynamics/model.h"

struct dyn_state {
    const double *q; /* nq */
    const double *v; /* nv */
};

/* A force on a body at a point of it. */
struct dyn_load {
    int body;
    double at[3];     /* body axes */
    double moment[3]; /* body axes */
    double force[3];
};

struct dyn_input {
    const double *tau; /* nv, the joints' own forces not included; NULL: none */
    const double *dry; /* dry friction of the joints, found by friction.h; NULL: the smooth friction
                          of model.h */
    const struct dyn_load *loads;
    int load_count;
    double gravity[3];           /* m/s^2, world */
    double base_acceleration[6]; /* of the world itself, angular first; zero: at rest */
    const unsigned char *held;   /* nv, 1: the acceleration is given, not found; NULL: none.  Modes
                                    are never held */
    const double *held_a;        /* nv, read where held; NULL: zero, locked.  v is the caller's */
    double modal_implicit_step;  /* s; the modes' springs and dampers act on eta and its rate after
                                    this time at the found acceleration; zero: now */
};

struct dyn_output {
    double *a;        /* nv, dv/dt */
    double *held_tau; /* nv: the force that holding needs, on top of tau; zero where not held. NULL:
                         not computed */
};

struct dyn_work; /* opaque: its fields are of no use outside dynamics/ */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_work_size(const struct dyn_model *model);
struct dyn_work *dyn_work_place(const struct dyn_model *model, void *mem);
