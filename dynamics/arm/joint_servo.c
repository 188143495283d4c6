#include "dynamics/arm/joint_servo.h"

#include <math.h>

static double clamp_symmetric(double value, double limit)
{
    return fmin(fmax(value, -limit), limit);
}

double dyn_joint_servo(const struct dyn_joint_servo_spec *servo, double bias, double command,
                       double q, double v, double h, double *reference, int *limited)
{
    *reference += command * h;
    if (servo->stiffness > 0.0)
        *reference = q + clamp_symmetric(*reference - q, servo->torque_max / servo->stiffness);
    else
        *reference = q;
    const double tau = bias + servo->stiffness * (*reference - q) + servo->damping * (command - v);
    if (fabs(tau) > servo->torque_max)
        *limited = 1;
    return clamp_symmetric(tau, servo->torque_max);
}
