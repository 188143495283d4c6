/*
 * A tree of bodies made of point masses, flexible and rigid, on nodes and frames.
 */
#pragma once

#include "tests/dynamics/flex/lumps.h"
#include "tests/dynamics/tree.h"

enum { FLEX_TREE_MAX = 7 };

struct flex_tree {
    struct tree tree;
    struct lumps lumps[FLEX_TREE_MAX];
};

/*
 * So many bodies at random, on joints of every type, the first often free; two of three bodies
 * flexible, and psi2 of a mass across its psi, as it is in all that bends.  A random state: eta and
 * its rate of the order of `deflection`, all others of the order of one; and random forces, modal
 * ones too, and gravity.
 */
void flex_tree_random(struct flex_tree *flex, int body_count, enum dyn_fidelity fidelity,
                      double deflection, uint64_t seed);

/* The tree with bodies of another fidelity, springs and dampers; the state stays.  Not to or from
 * DYN_FLEX_RIGID. */
void flex_tree_rebuild(struct flex_tree *flex, enum dyn_fidelity fidelity);

/* tree.a = dyn_aba() with a load of tree.load on each body. */
void flex_tree_forward(struct flex_tree *flex);
