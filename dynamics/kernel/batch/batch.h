/*
 * Forward dynamics of many states of one model at once, one state to a SIMD lane.
 *
 * For estimators, sampling controllers and campaigns, where the number of states per second counts
 * and not the time of one.  The answers are those of dyn_aba() to rounding, not to the bit.
 */
#pragma once

#include <stddef.h>

#include "dynamics/model.h"

/* Coordinate k of state s is at q[k * stride + s], and so on for v and tau. */
struct dyn_batch {
    int count;         /* of states; any */
    size_t stride;     /* at least count */
    const double *q;   /* nq rows */
    const double *v;   /* nv rows */
    const double *tau; /* nv rows, the joints' own forces not included; NULL: none */
    double gravity[3]; /* m/s^2, world, of all states */
};

struct dyn_batch_work; /* opaque; of one model, on any instruction set */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.  The
 * model must have no mimicking joint and no modes.  Context: setup. */
size_t dyn_batch_work_size(const struct dyn_model *model);
struct dyn_batch_work *dyn_batch_work_place(const struct dyn_model *model, void *mem);

/* States that the model's kernel takes at a time.  A count that is a multiple of it wastes no
 * lanes.  Context: any. */
int dyn_batch_width(const struct dyn_model *model);

/* a = FD(q, v, tau) of every state, laid out as v.  The joints' own forces and rotors are
 * included; there are no loads and no held joints, and the world is at rest.  Never allocates,
 * blocks or fails; a state that is not finite gives an answer that is not finite and leaves the
 * others alone.  Context: frame. */
void dyn_aba_batch(const struct dyn_model *model, const struct dyn_batch *batch,
                   struct dyn_batch_work *work, double *a);
