/*
 * How points of the bodies move with the velocities: Jacobians, velocities and accelerations.
 *
 * Answers are angular first, in world axes: the turning of the body, then the motion of the point.
 */
#pragma once

#include "dynamics/analysis/point.h"
#include "dynamics/state.h"

/* J, 6 x nv by rows.  Context: frame. */
void dyn_jacobian(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                  const struct dyn_point *point, double *J);

/* J v.  Context: frame. */
struct dyn_vec6 dyn_point_velocity(const struct dyn_model *model,
                                   const struct dyn_tree_pose *tree_pose,
                                   const struct dyn_point *point);

/* J a + dJ/dt v for dv/dt = a, nv values; NULL: none.  An accelerometer at the point would measure
 * this less gravity.  Context: frame. */
struct dyn_vec6 dyn_point_acceleration(const struct dyn_model *model,
                                       const struct dyn_tree_pose *tree_pose,
                                       const struct dyn_point *point, const double *a);
