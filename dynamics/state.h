/*
 * What goes into the kernel and what comes out, one struct per lifetime.
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

struct dyn_input {
    const double *tau;            /* nv, springs and dampers not included; NULL: none */
    const struct dyn_vec6 *force; /* per body, on it, at its origin, body axes; NULL: none */
    double gravity[3];            /* m/s^2, world */
};

struct dyn_output {
    double *a; /* nv, dv/dt */
};

struct dyn_work; /* opaque: its fields are of no use outside dynamics/ */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_work_size(const struct dyn_model *model);
struct dyn_work *dyn_work_place(const struct dyn_model *model, void *mem);
