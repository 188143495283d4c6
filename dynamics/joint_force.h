/*
 * Passive joint forces: springs, dampers, friction, limits.  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

struct dyn_joint_force_derivative {
    double dq, dv;
};

/* The force along the velocity, and how it changes with q and v.  Context: frame. */
double dyn_joint_force(const struct dyn_joint_force_spec *force_spec, double q, double v);
double dyn_joint_force_smooth(const struct dyn_joint_force_spec *force_spec, double q,
                              double v); /* without dry friction */
struct dyn_joint_force_derivative
dyn_joint_force_derivative(const struct dyn_joint_force_spec *force_spec, double q, double v);

/* tau += sign times the passive forces of all joints; full coordinates.  dry: their dry friction,
 * by model->force_entry; NULL: the smooth friction of model.h.  Context: frame. */
void dyn_joint_force_add(const struct dyn_model *model, const double *q, const double *v,
                         const double *dry, double sign, double *tau);
