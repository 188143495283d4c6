/*
 * A body that changes hands: grapple and release.
 *
 * Two models, alike in every body but for the parent and the place of one, which sits on a free
 * joint in both: on the bay and on the hand.  So q and v have the same layout in both, and only the
 * seven and six numbers of that joint differ.
 *
 *      release     carry                  the same motion, told from the other parent
 *      grapple     carry, then arrest     its six velocities end in one blow between body and hand
 *
 * Only relative motion enters: a vehicle in orbit loses no digits.
 */
#pragma once

#include <stddef.h>

#include "dynamics/state.h"

struct dyn_handover_work; /* scratch; means nothing between two calls */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_handover_work_size(const struct dyn_model *from, const struct dyn_model *to);
struct dyn_handover_work *dyn_handover_work_place(const struct dyn_model *from,
                                                  const struct dyn_model *to, void *mem);

/* q and v of `from` become those of `to`: every body stays where it is and moves as it did.
 * Context: frame. */
void dyn_handover_carry(const struct dyn_model *from, const struct dyn_model *to, int body,
                        struct dyn_handover_work *work, double *q, double *v);

/*
 * A blow brings the velocities marked in held (nv) to rest; what is not held takes it up:
 *
 *      M v+ = M v + forces where held,   v+ = 0 where held
 *
 * Momentum of everything that is free is kept, of modes too; energy is not.  lost: kinetic energy
 * that went, J, may be NULL.  The model is `to` of the work.  Context: frame.
 */
void dyn_handover_arrest(const struct dyn_model *to, const unsigned char *held, const double *q,
                         struct dyn_handover_work *work, double *v, double *lost);
