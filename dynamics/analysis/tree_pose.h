/*
 * The tree at one state, in world axes: the basis of mass matrix and Jacobians.  Private to
 * dynamics/ and tests/.
 *
 * Only axes are the world's.  Every vector starts at an origin of its own branch, never at the
 * world's, so a vehicle far from there and the tip of a long chain lose no digits.
 */
#pragma once

#include "dynamics/analysis/point.h"
#include "dynamics/kernel/work.h"

struct dyn_tree_pose {
    struct dyn_work *kernel; /* after dyn_kinematics() */
    struct dyn_mat3 *E;      /* per link: world axes to link axes */
    struct dyn_vec3 *arm;    /* per link: from the parent's origin to its own */
    struct dyn_vec6 *S;      /* per velocity: the motion it gives its link, at the link's origin */
    struct dyn_vec6 **X;     /* per node, per mode of its parent: the same at the node's origin */
};

/* The same as dyn_tree_pose_update() when the kernel's X, v and c are there already.  Context:
 * frame. */
void dyn_tree_pose_from_kernel(const struct dyn_model *model, struct dyn_tree_pose *tree_pose);

/* A direction of a body's axes in world axes.  Context: frame. */
struct dyn_vec3 dyn_body_to_world(const struct dyn_model *model,
                                  const struct dyn_tree_pose *tree_pose, int body,
                                  struct dyn_vec3 a);

/* From the origin of the link that carries it to the point, world axes; from the world's where none
 * does.  Context: frame. */
struct dyn_vec3 dyn_tree_pose_arm(const struct dyn_model *model,
                                  const struct dyn_tree_pose *tree_pose,
                                  const struct dyn_point *point);
