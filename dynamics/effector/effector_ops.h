/*
 * The row of a type of effector: its law, and all that others ask of the type.
 *
 * Each law has a row in its own file.  The functions of a row are given the parameters of their
 * type (struct dyn_wheel and so on) as `law`; whoever calls them takes effector.h.
 */
#pragma once

#include <stdbool.h>

#include "dynamics/effector/effector_input.h"

/* The most that an effector does to the vehicle. */
struct dyn_effector_limits {
    double force;  /* N */
    double torque; /* N m */
    double speed;  /* rad/s, of what turns in it */
};

/* What turns in an effector. */
struct dyn_spin {
    struct dyn_vec3 momentum; /* N m s, world axes, on top of what its body counts */
    double energy;            /* J, kinetic, likewise */
};

/* A rotor whose absolute momentum about its axis is the first state of its effector.  The kernel's
 * inertia of the body is without inertia a a'. */
struct dyn_gyrostat {
    const double *axis; /* a, unit, body axes */
    double inertia;     /* kg m^2 */
};

/* A point of the body that the ground pushes. */
struct dyn_foot {
    const double *at; /* m, body axes */
    double stiffness; /* N/m */
    double damping;   /* N s/m */
};

struct dyn_effector_ops {
    unsigned needs; /* of enum dyn_need */
    double cost;    /* instructions of an evaluation, at most, as tools/airbearing/worst_case.c
                       counts; without extra_cost */
    /* What is wrong with it, or NULL. */
    const char *(*problem)(const void *law);
    /* Force on the body (body axes, at the body origin) and the states' rates. */
    void (*eval)(const void *law, const struct dyn_effector_input *input, double command,
                 const double *state, double *state_rate, struct dyn_vec6 *force);

    /* the rest may be NULL */
    int (*state_count)(const void *law);                  /* NULL: no state */
    bool (*lags)(const void *law, struct dyn_lags *lags); /* NULL: its states follow no target */
    double (*extra_cost)(const void *law);                /* NULL: 0 */
    /* NULL: it takes energy, or has none of its own. */
    void (*limits)(const void *law, struct dyn_effector_limits *limits);
    /* On a body that is turned from world axes by `turn` and has this rate, world axes.  NULL:
     * nothing turns in it. */
    void (*spin)(const void *law, struct dyn_quat turn, struct dyn_vec3 rate, const double *state,
                 struct dyn_spin *spin);
    void (*gyrostat)(const void *law, struct dyn_gyrostat *gyrostat); /* NULL: it is none */
    void (*foot)(const void *law, struct dyn_foot *foot);             /* NULL: it touches nothing */
    /* Directions in which dry friction (dynamics/friction.h) acts on it, and its end.  Both or
     * NULL: it has none. */
    int (*dry_directions)(const void *law);
    void (*remove_dry_friction)(void *law);
};
