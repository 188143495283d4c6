/*
 * One point of the body against level ground.  Depth d and, along the ground, velocity v:
 *
 *      N        = max(0, stiffness d + damping dd/dt)           up, while d > 0
 *      friction = friction N against v; at rest the force that keeps it there, up to that bound
 *
 * of which friction.h computes the second line, once a step: a foot at rest stays until it is
 * pushed by more than friction N.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_contact {
    double at[3];     /* m, body axes */
    double stiffness; /* N/m */
    double damping;   /* N s/m */
    double friction;  /* coefficient */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_contact_ops;

/* The bound of the friction force along the ground.  Context: frame. */
double dyn_contact_friction_bound(const struct dyn_contact *contact,
                                  const struct dyn_effector_input *input);
