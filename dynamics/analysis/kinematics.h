/*
 * Motion without forces, from coordinates and velocities.  Private to dynamics/ and tests/.
 *
 * In link axes, as in Featherstone, Rigid Body Dynamics Algorithms, for the algorithms that check
 * the kernel or run seldom.
 */
#pragma once

#include "dynamics/analysis/body_pose.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/state.h"

/* Transforms, velocities and velocity-caused accelerations of every link: X, v and c of the work.
 * The state is the links', in full coordinates; further down it is the author's.
 * Context: frame. */
void dyn_kinematics(const struct dyn_model *model, const struct dyn_state *state,
                    struct dyn_work *work);

/* The parent's acceleration at link i plus the velocity terms: a[i] without the joint's own
 * acceleration.  `world` is that of the parent of a root.  Needs dyn_kinematics().  Context:
 * frame. */
struct dyn_vec6 dyn_carried_acceleration(const struct dyn_model *model, const struct dyn_work *work,
                                         int i, const struct dyn_vec6 *world);

/* The fictitious acceleration of the world that represents gravity.  Context: frame. */
struct dyn_vec6 dyn_world_acceleration(const struct dyn_input *input);

/* S a and S' f of the joint of a link, which leaves its z axis where it is.  Context: frame. */
struct dyn_vec6 dyn_joint_motion(const struct dyn_tree_link *link, const double *a);
void dyn_joint_project(const struct dyn_tree_link *link, const struct dyn_vec6 *f, double *tau);

/* dq/dt, nq values.  Context: frame. */
void dyn_position_rate(const struct dyn_model *model, const struct dyn_state *state,
                       double *q_rate);

/* q moved along the held velocity v for a time h, staying on the unit sphere of quaternions.
 * Context: frame. */
void dyn_position_advance(const struct dyn_model *model, const double *v, double h, double *q);

/* Quaternions back to unit length.  Context: frame. */
void dyn_position_normalise(const struct dyn_model *model, double *q);
