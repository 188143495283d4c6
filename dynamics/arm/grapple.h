/*
 * A body that changes its parent: grapple and release.
 *
 * Two models, alike in every body but for the parent and the place of one, which sits on a free
 * joint in both: on the bay and on the hand.  So q and v have the same layout in both, and only
 * the seven and six numbers of that joint differ.
 *
 *      grapple     carry, then arrest     its six velocities end in one impact between body and
 * hand release     carry, then arrest     the same motion relative to the other parent; there is no
 *                                         impact unless a berth stops it
 *
 * Only relative motion enters: a vehicle in orbit loses no digits.
 */
#pragma once

#include <stddef.h>

#include "dynamics/state.h"

struct dyn_grapple_work; /* scratch; means nothing between two calls */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_grapple_work_size(const struct dyn_model *from, const struct dyn_model *to);
struct dyn_grapple_work *dyn_grapple_work_place(const struct dyn_model *from,
                                                const struct dyn_model *to, void *mem);

/* q and v of `from` become those of `to`: every body stays where it is and moves as it did.
 * Context: frame. */
void dyn_grapple_reparent(const struct dyn_model *from, const struct dyn_model *to, int body,
                          struct dyn_grapple_work *work, double *q, double *v);

/* The effect of an impact on a velocity. */
enum dyn_impact {
    DYN_IMPACT_FREE,      /* it takes up what there is to take up */
    DYN_IMPACT_STOPPED,   /* it comes to rest */
    DYN_IMPACT_PRESCRIBED /* it is moved from outside, and does not change */
};

/*
 * An impact brings the velocities marked in held (nv, enum dyn_impact) to rest; the free
 * velocities take up the impulse:
 *
 *      M v+ = M v + impulse where held,   v+ = 0 where it stops,   v+ = v where it goes on
 *
 * Momentum of everything that is free is kept, of modes too; energy is not.  lost: the energy
 * lost, 1/2 (v+ - v)' M (v+ - v), J, may be NULL; in this form it depends on relative motion
 * alone, however fast the vehicle flies.  The model is `to` of the work.  Context: frame.
 */
void dyn_grapple_impact(const struct dyn_model *to, const unsigned char *held, const double *q,
                        struct dyn_grapple_work *work, double *v, double *lost);

/* The impulse of the last arrest: nv values, N s or N m s, zero where free.  Context: frame. */
const double *dyn_grapple_impulse(const struct dyn_grapple_work *work);
