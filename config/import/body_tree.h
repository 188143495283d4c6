/*
 * A tree of bodies, checked and prepared for the kernel.
 */
#pragma once

#include "dynamics/model.h"

/* The problem with the specs as a text, or NULL; *body is the body that has it. Refused is
 * everything that dyn_model_problem() refuses, and joints that have no inertia only in combination.
 * Context: setup. */
const char *cfg_tree_problem(const struct dyn_body_spec *specs, int body_count, int *body);

/* The model in memory of its own, for free().  The specs must have no problem.  Context: setup. */
struct dyn_model *cfg_tree_place(const struct dyn_body_spec *specs, int body_count);
