/*
 * What the author of a flexible body can get wrong.  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/model.h"

/* What is wrong with the modes of a body, whose mass and inertia are sound, or NULL.
 * Context: setup. */
const char *dyn_flex_problem(const struct dyn_body_spec *spec);

/* What is wrong with the node that a body is to sit on; on NULL: the world.  Context: setup. */
const char *dyn_node_problem(const struct dyn_body_spec *spec, const struct dyn_body_spec *on);
