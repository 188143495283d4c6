/*
 * Checks for NaN and infinity.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* True when no element is infinite or NaN.  NULL counts as zeros, which are finite.  Context:
 * any. */
static inline bool dyn_all_finite(const double *e, int count)
{
    bool good = true;
    for (int k = 0; e != NULL && k < count; k++)
        good = good && isfinite(e[k]);
    return good;
}
