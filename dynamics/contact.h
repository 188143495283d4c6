/*
 * One point of the body against level ground.  Depth d and, along the ground, velocity v:
 *
 *      N        = max(0, stiffness d + damping dd/dt)           up, while d > 0
 *      friction = -friction N v / sqrt(v^2 + slip_speed^2)
 *
 * There is no memory of where the point came down, so a foot that is pushed sideways by a part p of
 * what friction can bear creeps, at p / sqrt(1 - p^2) of slip_speed.  A foot that stands is a
 * damper of friction N / slip_speed, and one that carries the mass m wants steps below about 2
 * slip_speed / (friction g).
 */
#pragma once

#include "dynamics/felt.h"

struct dyn_contact {
    double at[3];      /* m, body axes */
    double stiffness;  /* N/m */
    double damping;    /* N s/m */
    double friction;   /* coefficient */
    double slip_speed; /* m/s, positive where friction is */
};

/* What is wrong with the contact, or NULL.  Context: setup. */
const char *dyn_contact_flaw(const struct dyn_contact *contact);

/* As dyn_effector_eval(); no command and no state.  Context: frame. */
void dyn_contact_eval(const struct dyn_contact *contact, const struct dyn_felt *felt,
                      struct dyn_vec6 *force);
