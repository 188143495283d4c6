/*
 * Derivatives of the shape of a flexible link, and of its own forces, by its modal coordinates and
 * rates.  Private to dynamics/ and tests/.
 *
 * All in the axes of the link.  A link without deformation has derivatives of its springs and
 * dampers only; its nodes do not move.
 */
#pragma once

#include "dynamics/flex/modal_shape.h"

/* How the link moves: its angular velocity, the velocity of its origin, its classical acceleration
 * less gravity, and the motion of its modes. */
struct dyn_modal_shape_motion {
    const double *eta, *xi, *accel;
    struct dyn_vec3 w, u;
    struct dyn_vec6 a;
};

/* The force of the link itself, but for what its nodes carry, along eta_j and xi_j.
 * Context: frame. */
struct dyn_vec6 dyn_modal_shape_force_dq(const struct dyn_modal_link *modal,
                                         const struct dyn_modal_shape_motion *at, int j);
struct dyn_vec6 dyn_modal_shape_force_dv(const struct dyn_modal_link *modal,
                                         const struct dyn_modal_shape_motion *at, int j);

/* The same along a turning d of its motion, and the acceleration d x w, 2 d x u that goes with it:
 * the part of the modes' rates, beyond that of a rigid link.  Context: frame. */
struct dyn_vec6 dyn_modal_shape_force_dw(const struct dyn_modal_link *modal,
                                         const struct dyn_modal_shape_motion *at,
                                         struct dyn_vec3 d);

/* The derivatives of the force on mode p by eta_j and xi_j; and by d as above, as a vector to
 * multiply by d.  Context: frame. */
double dyn_modal_shape_tau_dq(const struct dyn_modal_link *modal,
                              const struct dyn_modal_shape_motion *at, int p, int j);
double dyn_modal_shape_tau_dv(const struct dyn_modal_link *modal,
                              const struct dyn_modal_shape_motion *at, int p, int j);
struct dyn_vec3 dyn_modal_shape_tau_dw(const struct dyn_modal_link *modal,
                                       const struct dyn_modal_shape_motion *at, int p);

/* The turn and the travel of a node of a link that deforms, with their rates. */
struct dyn_modal_shape_path {
    struct dyn_vec3 theta, theta_rate, theta_accel;
    struct dyn_vec3 u_rate, u_accel;
    double s, s_rate, s_accel; /* 1 / (1 + theta^2 / 4) */
};

/* Context: frame. */
struct dyn_modal_shape_path dyn_modal_shape_path(const struct dyn_model *model, int node,
                                                 const struct dyn_modal_shape_motion *at);

/* The column of mode p as a motion vector of the link, at the node's origin: its first and second
 * derivative by time, in the moving axes of the link.  Context: frame. */
struct dyn_modal_column_rate {
    struct dyn_vec6 rate, accel;
};

struct dyn_modal_column_rate dyn_modal_shape_column_rate(const struct dyn_model *model, int node,
                                                         const struct dyn_modal_shape_motion *at,
                                                         const struct dyn_modal_shape_path *path,
                                                         int p);

/* The same along eta_q.  Context: frame. */
struct dyn_vec6 dyn_modal_shape_column_dq(const struct dyn_model *model, int node,
                                          const struct dyn_modal_shape_motion *at,
                                          const struct dyn_modal_shape_path *path, int p, int q);
