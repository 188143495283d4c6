/*
 * Principal moments and axes of a symmetric matrix.
 */
#pragma once

#include "dynamics/math/spatial.h"

struct dyn_principal {
    double moment[3]; /* ascending */
    struct dyn_vec3 axis[3];
};

/* Jacobi's rotations.  Context: setup. */
struct dyn_principal dyn_principal(const struct dyn_sym3 *s);
