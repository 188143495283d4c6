/*
 * The servo of a joint: it follows a rate, and the place to which that rate would have led.
 *
 *      reference += command h
 *      tau = bias + stiffness (reference - q) + damping (command - v),   within +-torque_max
 *
 * The reference never runs further ahead than full torque reaches, so that a motor that could not
 * follow does not make up for it later.  Without stiffness nothing leads back to it, and it is
 * where the joint is.
 */
#pragma once

struct dyn_joint_servo_spec {
    double stiffness, damping; /* N m/rad, N m s/rad */
    double torque_max;         /* N m */
};

/* One period h.  bias: what is needed anyway, as for a weight.  limited: set to 1 where the torque
 * is at its limit, else left alone. Context: frame. */
double dyn_joint_servo(const struct dyn_joint_servo_spec *servo, double bias, double command,
                       double q, double v, double h, double *reference, int *limited);
