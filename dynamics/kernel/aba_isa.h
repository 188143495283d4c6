/*
 * The passes of the kernel, compiled once per instruction set, and the functions that run them.
 * Private to aba*.c and mimic.c.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "dynamics/state.h"

struct dyn_aba_kernel {
    void (*move)(const struct dyn_model *model, const double *q, const double *v,
                 struct dyn_work *work);
    /* tau: all forces on the joints; the links' pa and pl have the loads taken off */
    void (*solve)(const struct dyn_model *model, const struct dyn_input *input, const double *tau,
                  struct dyn_work *work, double *a);
};

extern const struct dyn_aba_kernel dyn_aba_sse2, dyn_aba_avx2, dyn_aba_avx512;

/* dyn_aba_velocity_pass() and dyn_aba_solve() of all links, in full coordinates.  Context: frame.
 */
void dyn_tree_links_velocity_pass(const struct dyn_model *model, const struct dyn_state *state,
                                  struct dyn_work *work);
void dyn_tree_links_solve(const struct dyn_model *model, const struct dyn_state *state,
                          const struct dyn_input *input, struct dyn_work *work,
                          struct dyn_output *output);

/* The same when work->tau and the links' bias already include all forces: neither tau nor loads of
 * the input are read, nor are passive joint forces added.  Context: frame. */
void dyn_tree_links_solve_given_forces(const struct dyn_model *model, const struct dyn_input *input,
                                       struct dyn_work *work, struct dyn_output *output);
