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
 *      battery     not read             charge used; at most one in a plant; any body
 */
#pragma once

#include <stdbool.h>

#include "dynamics/effector/battery.h"
#include "dynamics/effector/contact.h"
#include "dynamics/effector/drag.h"
#include "dynamics/effector/effector_ops.h"
#include "dynamics/effector/rotor.h"
#include "dynamics/effector/thruster.h"
#include "dynamics/effector/torquer.h"
#include "dynamics/effector/wheel.h"

/* One line per type: the end of its enum value, and NAME of its file: its parameters are struct
 * dyn_NAME and a member of struct dyn_effector, its row is dyn_NAME_ops. */
#define DYN_EFFECTOR_LIST(ROW)                                                                     \
    ROW(WHEEL, wheel)                                                                              \
    ROW(ROTOR, rotor)                                                                              \
    ROW(TORQUER, torquer)                                                                          \
    ROW(THRUSTER, thruster)                                                                        \
    ROW(DRAG, drag)                                                                                \
    ROW(CONTACT, contact)                                                                          \
    ROW(BATTERY, battery)

/* DYN_EFFECTOR_WHEEL, DYN_EFFECTOR_ROTOR and so on, in the order of the list. */
enum dyn_effector_type {
#define DYN_EFFECTOR_TYPE(type, name) DYN_EFFECTOR_##type,
    DYN_EFFECTOR_LIST(DYN_EFFECTOR_TYPE)
#undef DYN_EFFECTOR_TYPE
        DYN_EFFECTOR_TYPE_COUNT
};

struct dyn_effector {
    enum dyn_effector_type type;
    int body;
    union { /* struct dyn_wheel wheel; struct dyn_rotor rotor; and so on */
#define DYN_EFFECTOR_LAW(type, name) struct dyn_##name name;
        DYN_EFFECTOR_LIST(DYN_EFFECTOR_LAW)
#undef DYN_EFFECTOR_LAW
    };
};

/* The rows, by enum dyn_effector_type. */
extern const struct dyn_effector_ops *const dyn_effector_rows[DYN_EFFECTOR_TYPE_COUNT];

/* Its parameters, for the functions of its row.  Context: any. */
static inline const void *dyn_effector_law(const struct dyn_effector *effector)
{
    return &effector->wheel; /* the members of a union begin at one address */
}

/* What is wrong with the effector of a vehicle with so many bodies, or NULL.  Context: setup. */
const char *dyn_effector_problem(const struct dyn_effector *effector, int body_count);

/* Continuous states of this effector.  Context: any. */
int dyn_effector_state_count(const struct dyn_effector *effector);

/* Whether its first state follows a target with lags, and which.  Context: frame. */
bool dyn_effector_lags(const struct dyn_effector *effector, struct dyn_lags *lags);

/* The inputs that its law needs, of enum dyn_need.  Context: setup. */
unsigned dyn_effector_needs(const struct dyn_effector *effector);

/* Instructions of an evaluation of its law, at most.  Context: setup. */
double dyn_effector_cost(const struct dyn_effector *effector);

/* The most that it does to the vehicle; zeros where it only takes energy.  Context: any. */
struct dyn_effector_limits dyn_effector_limits(const struct dyn_effector *effector);

/* What turns in it, on a body that is turned from world axes by `turn` and has this rate, world
 * axes.  False: nothing turns.  Context: frame. */
bool dyn_effector_spin(const struct dyn_effector *effector, struct dyn_quat turn,
                       struct dyn_vec3 rate, const double *state, struct dyn_spin *spin);

/* Whether it is a rotor with a momentum of its own, and which.  Context: any. */
bool dyn_effector_gyrostat(const struct dyn_effector *effector, struct dyn_gyrostat *gyrostat);

/* Whether it is a point that touches the ground, and which.  Context: any. */
bool dyn_effector_foot(const struct dyn_effector *effector, struct dyn_foot *foot);

/* Directions in which dry friction acts on it; and its end.  Context: setup. */
int dyn_effector_dry_directions(const struct dyn_effector *effector);
void dyn_effector_remove_dry_friction(struct dyn_effector *effector);
