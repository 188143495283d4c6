/*
 * A tree of bodies made ready for the kernel, or refused.
 */
#pragma once

#include "dynamics/model.h"

/* What is wrong with the specs, or NULL; *body tells where.  All that dyn_model_problem() refuses,
 * and joints that only together have no inertia to move.  Context: setup. */
const char *cfg_tree_problem(const struct dyn_body_spec *specs, int body_count, int *body);

/* The model in memory of its own, for free().  The specs have no problem.  Context: setup. */
struct dyn_model *cfg_tree_place(const struct dyn_body_spec *specs, int body_count);
