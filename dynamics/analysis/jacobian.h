/*
 * How points of the bodies move with the velocities: Jacobians, velocities and accelerations.
 *
 * Answers are angular first, in world axes: the turning of the body, then the motion of the point.
 */
#pragma once

#include "dynamics/state.h"

struct dyn_point {
    int body;
    double at[3]; /* body axes */
};

struct dyn_tree_pose; /* opaque: the tree at one state; its fields are in
                       * dynamics/analysis/tree_pose.h
                       */

/* Bytes for a scene, and the scene laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_tree_pose_size(const struct dyn_model *model);
struct dyn_tree_pose *dyn_tree_pose_place(const struct dyn_model *model, void *mem);

/* Take the state; the functions below then read any number of points, until the next take.
 * Context: frame. */
void dyn_tree_pose_update(const struct dyn_model *model, const struct dyn_state *state,
                          struct dyn_tree_pose *tree_pose);

/* J, 6 x nv by rows.  Context: frame. */
void dyn_jacobian(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                  const struct dyn_point *point, double *J);

/* J v.  Context: frame. */
struct dyn_vec6 dyn_point_velocity(const struct dyn_model *model,
                                   const struct dyn_tree_pose *tree_pose,
                                   const struct dyn_point *point);

/* J a + dJ/dt v for dv/dt = a, nv values; NULL: none.  What an accelerometer would feel there is
 * this less gravity.  Context: frame. */
struct dyn_vec6 dyn_point_acceleration(const struct dyn_model *model,
                                       const struct dyn_tree_pose *tree_pose,
                                       const struct dyn_point *point, const double *a);
