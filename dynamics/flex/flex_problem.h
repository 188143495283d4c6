/*
 * Checks of the spec of a flexible body.  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/model.h"

/* What is wrong with the modes of a body, whose mass and inertia are valid, or NULL.  Context:
 * setup. */
const char *dyn_flex_problem(const struct dyn_body_spec *spec);

/* What is wrong with the node that carries a body; on NULL: the world.  Context: setup. */
const char *dyn_node_problem(const struct dyn_body_spec *spec, const struct dyn_body_spec *on);
