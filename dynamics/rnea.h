/*
 * Inverse dynamics: accelerations in, the forces that cause them out, O(bodies).
 */
#pragma once

#include "dynamics/state.h"

/* tau = ID(q, v, a, f), nv values: what the motors must give besides springs and dampers, which is
 * input->tau of dyn_aba().  input->tau itself is not read.  Context: frame. */
void dyn_rnea(const struct dyn_model *model, const struct dyn_state *state, const double *a,
              const struct dyn_input *input, struct dyn_work *work, double *tau);
