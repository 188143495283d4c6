/*
 * Reaction wheel (gyrostat, exact): state h, the absolute axial momentum of the rotor.
 *
 *      Omega = h / J - a.w                     rotor speed relative to the body
 *      tau   = motor - friction(Omega)         on the rotor
 *      dh/dt = tau
 *      torque on the body = -a tau - w x (a h)
 *
 * The body's inertia is understood with the rotor's axial inertia J a a' taken out; config/ does
 * that.  Friction follows Stribeck:
 *
 *      friction = viscous Omega + (coulomb + stiction exp(-(Omega / stribeck_speed)^2)) sign(Omega)
 *
 * of which friction.h computes the dry part, once a step: a rotor at rest stays until the motor
 * exceeds coulomb + stiction.
 *
 * A rotor that is out of balance has its angle for a second state, d(angle)/dt = Omega.  It pushes
 * the body with static_imbalance Omega^2 at the rotor's place, along a direction e that turns with
 * the angle, and twists it with dynamic_imbalance Omega^2 about a x e.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_wheel {
    double axis[3];           /* a, unit, body axes */
    double inertia;           /* J, kg m^2 */
    double max_torque;        /* N m, motor; 0: unlimited */
    double max_speed;         /* rad/s: the motor gives no torque that would raise the speed
                                 further; 0: unlimited */
    double viscous;           /* N m s */
    double coulomb;           /* N m */
    double stiction;          /* N m, of breakaway, on top of coulomb */
    double stribeck_speed;    /* rad/s, positive where stiction is */
    double static_imbalance;  /* kg m */
    double dynamic_imbalance; /* kg m^2 */
    double at[3];             /* m, centre of the rotor, body axes */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_wheel_ops;

/* The bound of the dry friction torque at this momentum.  Context: frame. */
double dyn_wheel_friction_bound(const struct dyn_wheel *wheel,
                                const struct dyn_effector_input *input, double momentum);

/* Rotor speed relative to the body, rad/s.  Context: any. */
double dyn_wheel_speed(const struct dyn_wheel *wheel, const double rate[3], double momentum);

/* The inverse: the momentum of a rotor at this speed.  Context: any. */
double dyn_wheel_momentum(const struct dyn_wheel *wheel, const double rate[3], double speed);
