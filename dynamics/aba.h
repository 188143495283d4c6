/*
 * Articulated-body forward dynamics: forces in, accelerations out, O(bodies).
 */
#pragma once

#include "dynamics/state.h"

/* a = FD(q, v, tau, f).  Never allocates, blocks or fails; an input that is not finite gives an
 * output that is not finite.  Context: frame. */
void dyn_aba(const struct dyn_model *model, const struct dyn_state *state,
             const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output);

/* The same after dyn_kinematics(), for callers whose forces depend on the body velocities in the
 * work. Context: frame. */
void dyn_aba_solve(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output);
