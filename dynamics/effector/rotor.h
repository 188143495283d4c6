/*
 * A propeller and its motor: state Omega >= 0, the speed relative to the body, rad/s.
 *
 *      target   = max(idle_speed, command max_speed) supply        0 at command 0
 *      dOmega/dt = (target - Omega) / lag                          lag_up or lag_down
 *      thrust   = density' thrust Omega (Omega - inflow V)         along the axis, never negative
 *      drag     = -density' lateral_drag Omega v                   v: across the axis
 *      torque on the body = -s a (density' torque Omega^2 + J dOmega/dt) - w x (s a J Omega)
 *
 * with density' relative to the sea's 1.225 kg/m^3, s the sense of spin, and V and v the velocity
 * of the hub against the air, along the axis and across it.  So thrust is lost in proportion to the
 * advance by turn, and ends at V = Omega / inflow: inflow is 2 pi over the pitch of the propeller.
 * It is gained in descent; there is no vortex ring.  The body's inertia includes the rotor, locked.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_rotor {
    double at[3];        /* m, hub, body axes */
    double axis[3];      /* unit, body axes, where the thrust points */
    double spin;         /* +1: turns right-handed about the axis, -1: left-handed */
    double max_speed;    /* rad/s at command 1 and a full battery */
    double idle_speed;   /* rad/s at any command above 0 */
    double thrust;       /* N s^2 */
    double torque;       /* N m s^2 */
    double lag_up;       /* s, positive */
    double lag_down;     /* s, positive */
    double inertia;      /* J, kg m^2, about the axis */
    double lateral_drag; /* N s^2/m */
    double inflow;       /* 1/m; 0: thrust does not depend on the airspeed */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_rotor_ops;

/* Signed, right-handed about the axis, relative to the body, rad/s.  Context: any. */
double dyn_rotor_speed(const struct dyn_rotor *rotor, double omega);

/* The power needed to turn against the air, W.  Context: frame. */
double dyn_rotor_power(const struct dyn_rotor *rotor, double density, double omega);
