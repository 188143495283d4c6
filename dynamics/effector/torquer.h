/*
 * A magnetic torquer: torque = m a x B.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_torquer {
    double axis[3];    /* a, unit, body axes */
    double max_dipole; /* A m^2; 0: unlimited */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_torquer_ops;
