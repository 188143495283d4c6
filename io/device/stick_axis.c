#include "io/device/stick_axis.h"

#include <math.h>

/* A sum of two products, each of which increases with the deflection: so does the rounded sum,
 * and (1 - expo) + expo rounds to 1. */
static double bend(double way, double expo)
{
    return (1.0 - expo) * way + expo * way * way * way;
}

double io_stick_axis_shape(const struct io_stick_axis_spec *spec, double where)
{
    const double out = fmin(fabs(where), 1.0);
    if (isnan(where) || out <= spec->dead_band)
        return 0.0;
    const double way = bend((out - spec->dead_band) / (1.0 - spec->dead_band), spec->expo);
    return signbit(where) != spec->invert ? -spec->scale * way : spec->scale * way;
}
