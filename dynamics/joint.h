/*
 * A joint of a spec, taken apart into screws.  Private to dynamics/ and tests/.
 *
 *      pose of the body = place exp(s1 q1) exp(s2 q2) ...
 *
 * Each screw is a turn about z, a slide along z or both in a frame of its own.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

struct dyn_screw {
    enum dyn_tree_link_kind kind; /* a ball or a free joint is one screw of its own kind */
    struct dyn_pose frame;        /* z on the screw axis, seen from the joint frame at q = 0 */
    double pitch;
};

/* Links that a joint needs, mimicking or not.  A fixed joint needs none, unless the body is
 * flexible.  Context: setup. */
int dyn_joint_screw_count(const struct dyn_body_spec *spec);
struct dyn_screw dyn_joint_screw(const struct dyn_body_spec *spec, int k);

/* Modes that a body has in the dynamics: none at the fidelity `rigid`.  Context: any. */
int dyn_flex_modes(const struct dyn_body_spec *spec);
