/*
 * Modal integrals from a body's stations: points with mass, and how the modes move them.
 *
 * A finite-element model has such points; of a beam or a plate they are those of a quadrature rule.
 * Everything is summed once, at load.
 */
#pragma once

#include <stddef.h>

#include "dynamics/flex/flex.h"

struct dyn_station {
    double r[3]; /* undeformed, body axes */
    double mass;
    double inertia[6];   /* of the station about itself, body axes: xx yy zz xy xz yz */
    const double *psi;   /* modes x 3 */
    const double *theta; /* modes x 3; NULL: zero */
    const double *psi2;  /* modes x modes x 3, symmetric in the modes; NULL: zero */
};

/* The integrals that stations amount to, room included.  K, C and nodes are the author's. */
struct dyn_modal {
    struct dyn_flex flex;
    double mass, center[3], inertia[6]; /* of the stations, about the centre, as in a body spec */
};

/* Doubles of room that dyn_modal_integrate needs.  Context: setup. */
size_t dyn_modal_storage_count(int modes);

/* P L S N P2 L2 and M in room, mass, centre and inertia of the whole; the rest of `modal` is left
 * as it is.  P2 and L2 are NULL when no station has psi2.  Context: setup. */
void dyn_modal_integrate(const struct dyn_station *stations, int count, int modes, double *room,
                         struct dyn_modal *modal);

/*
 * Shapes that move the joint, made to vanish there: the body frame moves with `root`, the node in
 * the joint.  With d = r - r_root and the root's psi_p, theta_p marked o,
 *
 *      psi_p    - psi_po - theta_po x d
 *      theta_p  - theta_po
 *      psi2_pq  - psi2_pqo - theta2_pqo x d
 *               - theta_po x (psi_q - psi_qo) - theta_qo x (psi_p - psi_po)
 *               + 1/2 (theta_po x (theta_qo x d) + theta_qo x (theta_po x d))
 *      theta2_pq - theta2_pqo - 1/2 (theta_po x theta_q + theta_qo x theta_p)
 *
 * which is R_o' (r + u - r_root - u_o) and R_o' R to second order, in Gibbs' vector.  The strain
 * is the same, so K and C are; M becomes full.  In place, for one station or node; theta, psi2 and
 * theta2 may be NULL and then stay zero.  So psi2 of a body that shall have it must be given, zero
 * or not.  The root's own node goes last, or `root` is a copy.  Context: setup.
 */
void dyn_modal_clamp(const struct dyn_node *root, int modes, const double r[3], double *psi,
                     double *theta, double *psi2, double *theta2);

/* Greatest share, 0 to 1, of the body's inertia that the modes take with them in any direction:
 * the greatest eigenvalue of M_rf M_ff^-1 M_fr against M_rr.  Below 1 the mass matrix of the body
 * is positive definite; at 1 or above the modes have more mass than the body.  A direction without
 * inertia, such as a line's own axis, has no share; modes that do move it have an infinite one.
 * NaN: M itself is not positive.  `scratch` has modes x modes.  Context: setup. */
double dyn_modal_effective_mass(const struct dyn_flex *flex, double mass, const double center[3],
                                const double inertia[6], double *scratch);
