/*
 * Continuous force laws on a body, with their own continuous states.
 *
 * Reaction wheel (gyrostat, exact): state h, the absolute axial momentum of the rotor.
 *      Omega = h / J - a.w                     rotor speed relative to the body
 *      tau   = motor - friction(Omega)         on the rotor
 *      dh/dt = tau
 *      torque on the body = -a tau - w x (a h)
 * The body's inertia is understood with the rotor's axial inertia J a a' taken out; config/ does
 * that.
 */
#pragma once

enum dyn_effector_type { DYN_EFFECTOR_WHEEL };

struct dyn_wheel {
    double axis[3];       /* a, unit, body axes */
    double inertia;       /* J, kg m^2 */
    double max_torque;    /* N m, motor; 0: unlimited */
    double max_speed;     /* rad/s: the motor gives no torque that would raise the speed further; 0:
                             unlimited */
    double viscous;       /* N m s */
    double coulomb;       /* N m, smoothed by tanh(Omega / coulomb_speed) */
    double coulomb_speed; /* rad/s, positive where coulomb is */
};

struct dyn_effector {
    enum dyn_effector_type type;
    int body;
    union {
        struct dyn_wheel wheel;
    };
};

/* What is wrong with the effector of a vehicle with so many bodies, or NULL.  Context: setup. */
const char *dyn_effector_flaw(const struct dyn_effector *effector, int body_count);

/* Continuous states of this effector.  Context: setup. */
int dyn_effector_state_count(const struct dyn_effector *effector);

/* Force on the body (angular first, body axes, at the body origin) and the state's rate, for motor
 * torque command.  Context: frame. */
void dyn_effector_eval(const struct dyn_effector *effector, const double rate[3], double command,
                       const double *state, double *state_rate, double force[6]);

/* Rotor speed relative to the body, rad/s.  Context: any. */
double dyn_wheel_speed(const struct dyn_wheel *wheel, const double rate[3], double momentum);

/* The inverse: the momentum of a rotor at this speed.  Context: any. */
double dyn_wheel_momentum(const struct dyn_wheel *wheel, const double rate[3], double speed);
