/*
 * Continuous force laws on a body, with their own continuous states.  Each law has a file of its
 * own; this file is their common interface.
 *
 *      type        command              states
 *      wheel       motor torque, N m    momentum; angle where it is out of balance
 *      rotor       0 to 1               speed
 *      torquer     dipole, A m^2        -
 *      thruster    0 to 1               level, where it rises and falls
 *      drag        not read             -
 *      contact     not read             -
 *      battery     not read             charge used
 */
#pragma once

#include <stdbool.h>

#include "dynamics/effector/battery.h"
#include "dynamics/effector/contact.h"
#include "dynamics/effector/drag.h"
#include "dynamics/effector/effector_input.h"
#include "dynamics/effector/rotor.h"
#include "dynamics/effector/thruster.h"
#include "dynamics/effector/torquer.h"
#include "dynamics/effector/wheel.h"

enum dyn_effector_type {
    DYN_EFFECTOR_WHEEL,
    DYN_EFFECTOR_ROTOR,
    DYN_EFFECTOR_TORQUER,
    DYN_EFFECTOR_THRUSTER,
    DYN_EFFECTOR_DRAG,
    DYN_EFFECTOR_CONTACT,
    DYN_EFFECTOR_BATTERY, /* at most one in a plant; any body */
};

struct dyn_effector {
    enum dyn_effector_type type;
    int body;
    union {
        struct dyn_wheel wheel;
        struct dyn_rotor rotor;
        struct dyn_torquer torquer;
        struct dyn_thruster thruster;
        struct dyn_drag drag;
        struct dyn_contact contact;
        struct dyn_battery battery;
    };
};

/* What is wrong with the effector of a vehicle with so many bodies, or NULL.  Context: setup. */
const char *dyn_effector_problem(const struct dyn_effector *effector, int body_count);

/* Continuous states of this effector.  Context: any. */
int dyn_effector_state_count(const struct dyn_effector *effector);

/* Whether its first state follows a target with lags, and which.  Context: frame. */
bool dyn_effector_lags(const struct dyn_effector *effector, struct dyn_lags *lags);

/* The inputs that its law needs, of enum dyn_need.  Context: setup. */
unsigned dyn_effector_needs(const struct dyn_effector *effector);

/* Force on the body (body axes, at the body origin) and the states' rates.  Context: frame. */
void dyn_effector_eval(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force);
