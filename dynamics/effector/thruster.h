/*
 * A thruster: a force along its axis, as large as its level.
 *
 * The level follows the command, 0 to 1, with d(level)/dt = (command - level) / (rise or fall);
 * without either it is the command and there is no state.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_thruster {
    double at[3];      /* m, body axes */
    double axis[3];    /* unit, body axes, direction of the force on the body */
    double thrust;     /* N at level 1 */
    double rise, fall; /* s; both or neither */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_thruster_ops;
