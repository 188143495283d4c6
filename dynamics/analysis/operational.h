/*
 * The inertia that points of the bodies show to forces on them, its inverse first:
 *
 *      Lambda^-1 = J M^-1 J',   accelerations of the points = Lambda^-1 (forces on them) + bias
 *
 * between any points: of one branch, of siblings on a moving base, of bodies that share nothing.
 */
#pragma once

#include "dynamics/analysis/jacobian.h"

struct dyn_operational_work; /* scratch; means nothing between two calls */

/* Bytes for a work of so many points, and the work laid out in mem, 64-byte aligned and owned by
 * the caller.  Context: setup. */
size_t dyn_operational_work_size(const struct dyn_model *model, int point_max);
struct dyn_operational_work *dyn_operational_work_place(const struct dyn_model *model,
                                                        int point_max, void *mem);

/* Lambda^-1, 6n x 6n by rows, for the n points in their order, each angular first in world axes.
 * It is singular where the points cannot move freely; the caller must know that.  n is at most
 * point_max.  Context: frame. */
void dyn_operational_inverse(const struct dyn_model *model, const struct dyn_state *state,
                             const struct dyn_point *points, int n,
                             struct dyn_operational_work *work, double *inverse);
