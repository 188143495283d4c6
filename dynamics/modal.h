/*
 * Modal integrals from a body's stations: points with mass, and how the modes move them.
 *
 * A finite-element model has such points; of a beam or a plate they are those of a quadrature rule.
 * Everything is summed once, at load.
 */
#pragma once

#include <stddef.h>

#include "dynamics/flex.h"

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
size_t dyn_modal_room(int modes);

/* P L S N P2 L2 and M in room, mass, centre and inertia of the whole.  Context: setup. */
void dyn_modal_integrate(const struct dyn_station *stations, int count, int modes, double *room,
                         struct dyn_modal *modal);

/*
 * Shapes that move the joint, made to stand still there: psi_p(r) - psi_p(0) - theta_p(0) x r and
 * theta_p(r) - theta_p(0), with the joint at the origin.  The strain is the same, so K and C are;
 * M becomes full.  In place, for one station or node; `root` has psi and theta of the joint.  What
 * psi2 has at the joint goes the same way.  Context: setup.
 */
void dyn_modal_clamp(const struct dyn_node *root, int modes, const double r[3], double *psi,
                     double *theta, double *psi2, double *theta2);

/* Greatest share, 0 to 1, of the body's inertia that the modes take with them in any direction: the
 * greatest eigenvalue of M_rf M_ff^-1 M_fr against M_rr, by power steps.  Below 1 the body's mass
 * matrix is positive definite, not below: the modes weigh more than the body.  NaN: M itself is not
 * positive.  Context: setup. */
double dyn_modal_effective_mass(const struct dyn_flex *flex, double mass, const double center[3],
                                const double inertia[6]);
