/*
 * Range checks of effector parameters.  Private to dynamics/.
 */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "dynamics/math/spatial.h"

static inline bool dyn_is_not_negative(double value)
{
    return value >= 0.0 && value <= DBL_MAX;
}

static inline bool dyn_is_positive(double value)
{
    return value > 0.0 && value <= DBL_MAX;
}

static inline bool dyn_is_unit(const double axis[3])
{
    const struct dyn_vec3 a = dyn_vec3_load(axis);
    return fabs(dyn_dot(a, a) - 1.0) <= 1e-9;
}

static inline bool dyn_is_finite_point(const double at[3])
{
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

static inline bool dyn_all_not_negative(const double each[3])
{
    return dyn_is_not_negative(each[0]) && dyn_is_not_negative(each[1]) &&
           dyn_is_not_negative(each[2]);
}

/* NaN clamps to low. */
static inline double dyn_clamp(double value, double low, double high)
{
    if (value >= high)
        return high;
    return value > low ? value : low;
}
