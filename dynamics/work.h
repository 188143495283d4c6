/*
 * The kernel's scratch, arrays by body.  Private to dynamics/ and tests/.
 *
 * Accelerations are classical: of the material point at the body origin, as an accelerometer there
 * would have it, not the spatial ones of the book.  So no force depends on linear velocity, and a
 * vehicle at orbital speed loses no digits to v x (m v).
 */
#pragma once

#include "dynamics/state.h"

struct dyn_work {
    /* computed by dyn_kinematics */
    struct dyn_transform *X; /* parent to body */
    struct dyn_vec6 *v;      /* velocity, body axes */
    struct dyn_vec6 *c;      /* acceleration that the velocities alone cause across the joint */

    /* computed by dyn_aba; dyn_rnea uses pA for the joint forces, and a */
    struct dyn_articulated *IA;
    struct dyn_vec6 *pA;
    struct dyn_vec6 *U; /* IA S, one-dof joints */
    double *d_inv;      /* 1 / S' U */
    double *u;          /* tau - S' pA */
    struct dyn_vec6 *a; /* acceleration minus gravity, body axes */
};
