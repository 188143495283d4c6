#include "dynamics/effector/lag.h"

#include <math.h>

/* z - z^2/2 = lost, or the z of its greatest value. */
static double invert_second_order(double lost)
{
    return lost < 0.5 ? 1.0 - sqrt(1.0 - 2.0 * lost) : 1.0;
}

/* z - z^2/2 + z^3/6 - z^4/24 = lost, or the last z of the range.  Newton's method from below: the
 * derivative falls all the way, so no step goes too far; slow near the greatest value, and done
 * once for a lag. */
static double invert_fourth_order(double lost)
{
    static const double LAST = 1.2955977425220846; /* beyond it the last stage is past the target */
    enum { STEPS = 60 };
    double z = lost;
    for (int k = 0; k < STEPS && z < LAST; k++) {
        const double value = z * (1.0 - z / 2.0 * (1.0 - z / 3.0 * (1.0 - z / 4.0)));
        const double derivative = 1.0 - z * (1.0 - z / 2.0 * (1.0 - z / 3.0));
        z += (lost - value) / derivative;
    }
    return fmin(z, LAST);
}

double dyn_lag_for_step(enum dyn_integrator integrator, double lag, double h)
{
    const double lost = -expm1(-h / lag);
    switch (integrator) {
    case DYN_RK2:
    case DYN_ROS2:
        return h / invert_second_order(lost);
    case DYN_RK4:
        return h / invert_fourth_order(lost);
    case DYN_SEMI_IMPLICIT_EULER:
    case DYN_AB2:
    case DYN_AB3:
    case DYN_AB4:
        break;
    }
    return h / lost;
}
