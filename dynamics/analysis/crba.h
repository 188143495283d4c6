/*
 * The mass matrix by composite bodies, and forward dynamics with it: O(bodies x depth^2) at most.
 * It checks dyn_aba(), and gives M itself to callers that need it.
 */
#pragma once

#include "dynamics/state.h"

struct dyn_crba_work; /* scratch; means nothing between two calls */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.  Grows
 * with the sum of all depths.  Context: setup. */
size_t dyn_crba_work_size(const struct dyn_model *model);
struct dyn_crba_work *dyn_crba_work_place(const struct dyn_model *model, void *mem);

/* M(q), nv x nv by rows, both triangles; v is read and does not matter.  Context: frame. */
void dyn_crba(const struct dyn_model *model, const struct dyn_state *state,
              struct dyn_crba_work *work, double *M);

/* a = FD(q, v, tau, loads), the same as dyn_aba() where nothing is held: input->held is not read.
 * Never allocates, blocks or fails; an input that is
 * not finite gives an output that is not finite.  Context: frame. */
void dyn_crba_forward(const struct dyn_model *model, const struct dyn_state *state,
                      const struct dyn_input *input, struct dyn_crba_work *work,
                      struct dyn_output *output);
