/*
 * Articulated-body forward dynamics: forces in, accelerations out, O(bodies).
 */
#pragma once

#include "dynamics/state.h"

/* a = FD(q, v, tau, loads).  Never allocates, blocks or fails; an input that is not finite gives an
 * output that is not finite.  Context: frame. */
void dyn_aba(const struct dyn_model *model, const struct dyn_state *state,
             const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output);

/* The same in two halves, for callers whose forces depend on how the bodies move: after the first
 * dyn_body_velocity() answers.  Context: frame. */
void dyn_aba_velocity_pass(const struct dyn_model *model, const struct dyn_state *state,
                           struct dyn_work *work);
void dyn_aba_solve(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output);

/* Velocity of a body at its origin, angular first, body axes; after dyn_aba_velocity_pass().
 * Context: frame. */
struct dyn_vec6 dyn_body_velocity(const struct dyn_model *model, const struct dyn_work *work,
                                  int body);

/* Acceleration of the body's origin less gravity, angular first, body axes; after dyn_aba_solve().
 * Context: frame. */
struct dyn_vec6 dyn_body_acceleration(const struct dyn_model *model, const struct dyn_work *work,
                                      int body);
