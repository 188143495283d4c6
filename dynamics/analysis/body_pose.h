/*
 * The pose of a body from the coordinates.
 */
#pragma once

#include "dynamics/model.h"

/* The pose of a body in the world at the coordinates q.  Context: frame. */
struct dyn_pose dyn_body_pose(const struct dyn_model *model, const double *q, int body);
