/*
 * The angle between two directions, well defined at any angle and length.
 */
#pragma once

#include <math.h>

#include "dynamics/math/spatial.h"

/* rad, 0 to pi.  Context: any. */
static inline double io_angle_between(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return atan2(dyn_norm(dyn_cross(a, b)), dyn_dot(a, b));
}
