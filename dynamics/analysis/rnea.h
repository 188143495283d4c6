/*
 * Inverse dynamics: accelerations in, the forces that cause them out, O(bodies).
 */
#pragma once

#include "dynamics/state.h"

/* tau = ID(q, v, a, loads), nv values: what the motors must give besides the joints' own forces,
 * which is input->tau of dyn_aba().  input->tau and input->held are not read.  Context: frame. */
void dyn_rnea(const struct dyn_model *model, const struct dyn_state *state, const double *a,
              const struct dyn_input *input, struct dyn_work *work, double *tau);

/* The same without the joints' own springs, dampers, friction and stops.  Context: frame. */
void dyn_rnea_without_joint_forces(const struct dyn_model *model, const struct dyn_state *state,
                                   const double *a, const struct dyn_input *input,
                                   struct dyn_work *work, double *tau);
