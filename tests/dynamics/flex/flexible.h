/*
 * Random flexible bodies, of stations: so their integrals are those of something that exists.
 */
#pragma once

#include "dynamics/flex/modal.h"
#include "tests/dynamics/tree.h"

enum { FLEXIBLE_MODES_MAX = 9, FLEXIBLE_STATIONS = 12, FLEXIBLE_NODES_MAX = 3 };

enum {
    FLEXIBLE_PAIRS = FLEXIBLE_MODES_MAX * FLEXIBLE_MODES_MAX,
    FLEXIBLE_NODE_SIZE = 6 * (FLEXIBLE_MODES_MAX + FLEXIBLE_PAIRS)
};

/* A flexible body and all that it points at. */
struct flexible {
    struct dyn_flex flex;
    struct dyn_station station[FLEXIBLE_STATIONS];
    struct dyn_node node[FLEXIBLE_NODES_MAX];
    double P[3 * FLEXIBLE_MODES_MAX], L[9 * FLEXIBLE_MODES_MAX], S[3 * FLEXIBLE_MODES_MAX];
    double N[9 * FLEXIBLE_PAIRS], P2[3 * FLEXIBLE_PAIRS], L2[9 * FLEXIBLE_PAIRS];
    double M[FLEXIBLE_PAIRS], K[FLEXIBLE_PAIRS], C[FLEXIBLE_PAIRS];
    double of_station[FLEXIBLE_STATIONS][FLEXIBLE_NODE_SIZE];
    double of_node[FLEXIBLE_NODES_MAX][FLEXIBLE_NODE_SIZE];
};

/* Random stations with so many modes, what they amount to in spec, and nodes. */
void flexible_make(struct flexible *flexible, int modes, enum dyn_fidelity fidelity,
                   struct dyn_body_spec *spec);

/* The same body, bending from a line and doing nothing else, as a beam. */
void flexible_make_slender(struct flexible *flexible, struct dyn_body_spec *spec);

/* The integrals of the first so many stations anew, and mass, centre and inertia of them. */
void flexible_sum(struct flexible *flexible, int stations, struct dyn_body_spec *spec);

/* tree_random() with every other body flexible, of any fidelity, and joints and bolts on nodes; two
 * of five bend and do nothing else, as a beam.  The bodies last until the next call. */
void flexible_random(struct tree *tree, int body_count, int free_base, uint64_t seed);

/* The flexible body that a body is; NULL: it is rigid. */
struct flexible *flexible_of(const struct tree *tree, int body);

/* The vehicle laid out anew after its specs changed, in another random state. */
void flexible_build(struct tree *tree);

/* The same with every flexible body at one fidelity. */
void flexible_set(struct tree *tree, enum dyn_fidelity fidelity);
