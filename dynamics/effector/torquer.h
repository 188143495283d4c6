/*
 * A magnetic torquer: torque = m a x B.
 */
#pragma once

#include "dynamics/effector/effector_input.h"

struct dyn_torquer {
    double axis[3];    /* a, unit, body axes */
    double max_dipole; /* A m^2; 0: unlimited */
};

/* What is wrong with the torquer, or NULL.  Context: setup. */
const char *dyn_torquer_problem(const struct dyn_torquer *torquer);

/* As dyn_effector_eval(), for a dipole in A m^2; no state.  Context: frame. */
void dyn_torquer_eval(const struct dyn_torquer *torquer, const struct dyn_effector_input *input,
                      double command, struct dyn_vec6 *force);
