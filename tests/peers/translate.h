/*
 * From the specs of our kernel to the bodies of an engine.
 */
#pragma once

#include "dynamics/model.h"
#include "tests/peers/engine.h"

/* The tree is the one placed from the specs and gives the order of the numbers.  Gravity is 9.81
 * down.  model->bodies is the caller's to free.  Context: setup. */
void translate_specs(const struct dyn_body_spec *specs, int body_count,
                     const struct dyn_model *tree, struct engine_model *model);
