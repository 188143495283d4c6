/*
 * The servo of a joint: it tracks a commanded rate and its integral, the reference.
 *
 *      reference += command h
 *      tau = bias + stiffness (reference - q) + damping (command - v),   within +-torque_max
 *
 * The reference never runs further ahead than full torque reaches, so that a motor that could not
 * keep up does not catch up later.  Without stiffness the reference is the position of the joint.
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
