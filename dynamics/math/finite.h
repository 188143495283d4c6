/*
 * Numbers that are some.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* None is infinite or no number at all.  NULL is zero, and finite.  Context: any. */
static inline bool dyn_all_finite(const double *e, int count)
{
    bool good = true;
    for (int k = 0; e != NULL && k < count; k++)
        good = good && isfinite(e[k]);
    return good;
}
