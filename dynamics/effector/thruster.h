/*
 * A thruster: a force along its axis, as large as its level.
 *
 * The level follows the command, 0 to 1, with d(level)/dt = (command - level) / (rise or fall);
 * without either it is the command and there is no state.
 */
#pragma once

#include "dynamics/effector/effector_input.h"

struct dyn_thruster {
    double at[3];      /* m, body axes */
    double axis[3];    /* unit, body axes, direction of the force on the body */
    double thrust;     /* N at level 1 */
    double rise, fall; /* s; both or neither */
};

/* What is wrong with the thruster, or NULL.  Context: setup. */
const char *dyn_thruster_problem(const struct dyn_thruster *thruster);

/* 1, the level, when the thruster has rise and fall; else 0.  Context: any. */
int dyn_thruster_state_count(const struct dyn_thruster *thruster);

/* As dyn_effector_eval().  Context: frame. */
void dyn_thruster_eval(const struct dyn_thruster *thruster, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force);
