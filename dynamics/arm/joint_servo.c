#include "dynamics/arm/joint_servo.h"

#include <math.h>

static double within(double value, double limit)
{
    return fmin(fmax(value, -limit), limit);
}

double dyn_servo(const struct dyn_servo *servo, double bias, double command, double q, double v,
                 double h, double *reference, int *limited)
{
    *reference += command * h;
    if (servo->stiffness > 0.0)
        *reference = q + within(*reference - q, servo->torque_max / servo->stiffness);
    else
        *reference = q;
    const double tau = bias + servo->stiffness * (*reference - q) + servo->damping * (command - v);
    if (fabs(tau) > servo->torque_max)
        *limited = 1;
    return within(tau, servo->torque_max);
}
