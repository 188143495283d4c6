/*
 * Flexible bodies: the modes of a body, as the author of a model gives them.
 *
 * A point that lies at r in the undeformed body lies, in body axes, at
 *
 *      x(r, eta) = r + sum_p psi_p(r) eta_p + 1/2 sum_pq psi2_pq(r) eta_p eta_q
 *
 * psi_p are the mode shapes, eta_p the modal coordinates.  psi2, symmetric in its modes, is the
 * shortening of a bending body at second order; a beam along x has psi2_x = -int phi_p' phi_q'.
 * Without it centrifugal force and thrust have no lever to stiffen or to buckle the body: minus
 * psi2_pq is the geometric stiffness of a unit load at r (Banerjee and others; Padilla and von
 * Flotow).
 *
 * The body frame is fixed in the joint: the shapes have no turn and no travel at the body's joint.
 * Shapes that move there (free-free, Craig-Bampton) are brought to this form by dyn_modal_clamp in
 * modal.h; a free joint needs nothing, its frame may float among the modes.
 *
 * The dynamics need only integrals over the body's mass (Stoneking 2010: c, P, J, H, L, N), about
 * the body's origin in body axes.  With W_p = int psi_p x' dm, which is L_p + sum_q (N_pq + L2_pq)
 * eta_q, the kinetic energy is
 *
 *      mass centre     m c = m c0 + sum (P_p + 1/2 sum P2_pq eta_q) eta_p
 *      inertia         J = J0 + tr(Z) 1 - Z,  Z the symmetric part of sum_p eta_p (W_p + L_p')
 *      momenta         of mode p: P_p(eta) = P_p + sum P2_pq eta_q, and
 *                      H_p(eta) = int x x psi_p dm + S_p, the axial vector of W_p, and S_p
 *
 * and the equations of motion are its exact derivatives: the model conserves its own momenta and
 * energy to rounding.
 */
#pragma once

enum { DYN_MODES_MAX = 64 }; /* of one body */

enum dyn_fidelity {
    DYN_FLEX_RIGID,        /* no modes: nodes do not move */
    DYN_FLEX_RUTHLESS,     /* inertia and nodes of the undeformed body, and no product of eta or
                              its rate with a rate of the body; bodies on a node still move with it */
    DYN_FLEX_CONSISTENT,   /* all of the above */
    DYN_FLEX_INCONSISTENT, /* without psi2: wrong where rates reach a tenth of a frequency; tests */
};

/* A point of the body that carries another body's joint, a sensor or a force. */
struct dyn_node {
    double r[3];          /* undeformed, body axes */
    const double *psi;    /* modes x 3 */
    const double *theta;  /* modes x 3: how the modes turn it */
    const double *psi2;   /* modes x modes x 3, symmetric in the modes; NULL: zero */
    const double *theta2; /* the same of the turn */
};

struct dyn_flex {
    enum dyn_fidelity fidelity;
    int modes;        /* 1 to DYN_MODES_MAX */
    const double *P;  /* modes x 3: int psi_p dm */
    const double *L;  /* modes x 3 x 3: int psi_p r' dm, by rows */
    const double *S;  /* modes x 3: int dI theta_p, of stations with rotary inertia; NULL: zero */
    const double *N;  /* modes x modes x 3 x 3: int psi_p psi_q' dm */
    const double *P2; /* modes x modes x 3: int psi2_pq dm; NULL: zero */
    const double *L2; /* modes x modes x 3 x 3: int psi2_pq r' dm; NULL: zero */
    const double *M, *K, *C; /* modes x modes, symmetric: mass, stiffness, damping */
    int stiffens;  /* 1: psi2 is of the body's own bending, and so has its geometric stiffness; 0:
                      there is no psi2, or only that of dyn_modal_clamp */
    double length; /* m, of the body, for limits of its deflection; 0: not known */
    const double
        *reach; /* modes: the greatest travel of any point by a unit of the mode; NULL: 0 */
    int nodes;
    const struct dyn_node *node;
};
