/*
 * A body made of point masses that modes move: what a flexible body is before anyone integrates.
 *
 *      x = r + sum_p psi_p eta_p + 1/2 sum_pq psi2_pq eta_p eta_q
 */
#pragma once

#include "dynamics/model.h"

enum { LUMPS_MODES_MAX = 16, LUMPS_MAX = 48, LUMPS_NODES_MAX = 2 };

/* Rows as in dynamics/flex/flex.h: psi by mode, psi2 by pair of modes. */
struct lump {
    double mass, r[3];
    double psi[3 * LUMPS_MODES_MAX], psi2[3 * LUMPS_MODES_MAX * LUMPS_MODES_MAX];
    double theta[3 * LUMPS_MODES_MAX], theta2[3 * LUMPS_MODES_MAX * LUMPS_MODES_MAX]; /* of nodes */
};

struct lumps {
    int modes, count, nodes; /* no modes: rigid */
    struct lump lump[LUMPS_MAX], node[LUMPS_NODES_MAX];
    double rotary[6]; /* inertia that the modes leave alone: xx yy zz xy xz yz */
    double K[LUMPS_MODES_MAX * LUMPS_MODES_MAX], C[LUMPS_MODES_MAX * LUMPS_MODES_MAX];
    /* after lumps_sum() */
    double P[3 * LUMPS_MODES_MAX], L[9 * LUMPS_MODES_MAX];
    double N[9 * LUMPS_MODES_MAX * LUMPS_MODES_MAX], M[LUMPS_MODES_MAX * LUMPS_MODES_MAX];
    double P2[3 * LUMPS_MODES_MAX * LUMPS_MODES_MAX], L2[9 * LUMPS_MODES_MAX * LUMPS_MODES_MAX];
    struct dyn_node dyn_node[LUMPS_NODES_MAX];
    struct dyn_flex flex;
};

/* Mass, centre and inertia of the undeformed lumps into the spec, and their modes, if any; the spec
 * points into the lumps. */
void lumps_sum(struct lumps *lumps, enum dyn_fidelity fidelity, struct dyn_body_spec *spec);

/* Where a lump or node is at eta. */
void lumps_place(const struct lumps *lumps, const struct lump *lump, const double *eta,
                 double x[3]);

/* A unit spring of each mode made `by` times as stiff, and no damping. */
void lumps_spring(struct lumps *lumps, double by);
