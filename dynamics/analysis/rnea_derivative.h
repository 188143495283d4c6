/*
 * Derivatives of inverse dynamics by every coordinate and velocity.  Private to dynamics/ and
 * tests/.
 *
 * The derivatives are with respect to the full coordinates of dynamics/kernel/mimic.h; state,
 * accelerations and input are the author's.
 */
#pragma once

#include "dynamics/analysis/rnea_derivative_parts.h"
#include "dynamics/state.h"

/* Bytes, and the work laid out in mem, 64-byte aligned and owned by the caller.  Context: setup. */
size_t dyn_rnea_derivative_work_size(const struct dyn_model *model);
struct dyn_rnea_derivative_work *dyn_rnea_derivative_work_place(const struct dyn_model *model,
                                                                void *mem);

/* An acceleration is given where it is held, and everywhere where finds is NULL.  Context: any. */
static inline int dyn_acceleration_is_given(const struct dyn_input *finds, int k)
{
    return finds == NULL || (finds->held != NULL && finds->held[k]);
}

/* Derivatives of tau = ID(q, v, a, f) at constant accelerations.  The acceleration of a free base
 * is constant in the world, dv/dt + w x v, but for the components that are given in its own axes;
 * dyn_rnea_derivative_base_turn() has the rest.  Context: frame. */
void dyn_rnea_derivative_compute(const struct dyn_model *model, const struct dyn_state *state,
                                 const double *a, const struct dyn_input *input,
                                 const struct dyn_input *finds,
                                 struct dyn_rnea_derivative_work *work,
                                 const struct dyn_rnea_derivative_full *derivative);

/* a_v of nv columns takes what turning a free base does to dv/dt where it is found: -dw x v.
 * Context: frame. */
void dyn_rnea_derivative_base_turn(const struct dyn_model *model, const double *v,
                                   const struct dyn_input *finds, int nv, double *a_v);
