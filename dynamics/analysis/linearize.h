/*
 * The equations of motion to first order about any state, exactly and not by differences.
 *
 * A coordinate is varied along its velocity: q of a ball by three small turns in its own axes, q
 * of a free body by three turns and then three travels, both in body axes.  So dq has nv
 * components, named and ordered as those of v; modal coordinates of flexible bodies are among
 * them.
 *
 *      d(dv/dt) = a_q dq + a_v dv + a_tau dtau
 *      d(dq)/dt = drift dq + dv
 *
 * Loads stay as they are in the axes of their bodies; the joints' own forces and geared rotors
 * count.  Effectors are no part of the tree: their forces, how those change and their states are
 * not here, nor is what gravity differs by over a vehicle in orbit.  A joint that mimics another
 * is part of that one.  Springs and dampers of modes act on what eta and its rate are:
 * input->modal_implicit_step is not read.
 */
#pragma once

#include "dynamics/state.h"

struct dyn_linear_work; /* scratch; means nothing between two calls */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_linear_work_size(const struct dyn_model *model);
struct dyn_linear_work *dyn_linear_work_place(const struct dyn_model *model, void *mem);

/* nv x nv by rows, a row per force; tau_a is the mass matrix. */
struct dyn_rnea_derivative {
    double *tau_q, *tau_v, *tau_a;
};

/* How tau = ID(q, v, a, f) changes.  O(bodies x depth).  Context: frame. */
void dyn_rnea_differentiate(const struct dyn_model *model, const struct dyn_state *state,
                            const double *a, const struct dyn_input *input,
                            struct dyn_linear_work *work, struct dyn_rnea_derivative *derivative);

struct dyn_linear {
    double *a;                 /* nv: dv/dt at the state itself */
    double *a_q, *a_v, *a_tau; /* nv x nv by rows, a row per acceleration */
};

/* Forward dynamics and how it changes.  A velocity that is held takes no part: its row and its
 * column are zero.  Context: frame. */
void dyn_linearize(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_linear_work *work,
                   struct dyn_linear *linear);

/* How v turns the axes in which dq is measured: nv x nv by rows, zero but for balls and free bodies
 * that move, where it is -v x.  Context: frame. */
void dyn_linear_drift(const struct dyn_model *model, const double *v, double *drift);
