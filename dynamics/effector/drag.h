/*
 * Drag of the body against the air, wind included.  With v the velocity of the point against the
 * air and w the body's rate, along each body axis k:
 *
 *      force_k  = -density/2 area_k |v| v_k - density' linear_k v_k
 *      torque_k = -density' angular_k w_k              on top of what the force does at its point
 *
 * where density' is relative to the sea's 1.225 kg/m^3.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_drag {
    double at[3];      /* m, centre of pressure, body axes */
    double area[3];    /* m^2, drag coefficient times area, along each body axis */
    double linear[3];  /* N s/m */
    double angular[3]; /* N m s */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_drag_ops;
