/*
 * Where the bodies are: what coordinates say of places.
 */
#pragma once

#include "dynamics/model.h"

/* Place of a body in the world at positions q.  Context: frame. */
struct dyn_pose dyn_body_pose(const struct dyn_model *model, const double *q, int body);
