/*
 * The scratch of the composite-body algorithm.  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/analysis/ldl.h"
#include "dynamics/analysis/tree_pose.h"

struct dyn_crba_work {
    struct dyn_tree_pose *tree_pose;
    struct dyn_inertia *Ic; /* per body: of all it carries, about its origin, world axes */
    struct dyn_vec6 *B; /* per velocity, of modes: the force that its unit acceleration needs of all
                           that its link carries, about the link's origin, world axes */
    struct dyn_ldl *ldl;
    double *rest;  /* nv: the accelerations that leave every body origin of a free base unmoved */
    double *dense; /* nv x nv, where joints mimic others: M without their coordinates, or L */
};

/* Rows of M(q), full coordinates, into work->ldl; needs the tree pose.  Context: frame. */
void dyn_composite_rows(const struct dyn_model *model, struct dyn_crba_work *work);

/* M + s C + s^2 K of the modes, whose springs and dampers act on the modal state after the time s;
 * before the factorisation.  Context: frame. */
void dyn_composite_add_modal_implicit(const struct dyn_model *model, double s,
                                      const struct dyn_ldl *ldl);
