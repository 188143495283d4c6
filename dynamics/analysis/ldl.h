/*
 * M = L' D L of a tree's mass matrix, without fill.  Private to dynamics/ and tests/.
 *
 * M couples two velocities only when one lies between the other and the root.  So row k holds the
 * velocities from k towards the root and nothing else, in that order:
 *
 *      row k:  k  parent[k]  parent[parent[k]] ... root
 *
 * Eliminated from the leaves, M keeps this pattern (Featherstone, section 6.5), and the tail of a
 * row lies in step with the row of the velocity it begins at: each inner loop runs over two plain
 * arrays.  A chain is a dense triangle; of a branching tree little is left.  The parents of the
 * modes of a link are its joint's velocities; the modes are the parents of the joints on its
 * nodes, but not of those on its frame.
 *
 * Rows are of full coordinates.  Where joints mimic others a velocity may come behind one that it
 * carries: the rows are still M, but the factorisation is for models without.
 */
#pragma once

#include <stddef.h>

#include "dynamics/model.h"

struct dyn_ldl {
    int nv;
    int *parent;   /* per velocity: the next towards the root, -1: none */
    int *depth;    /* per velocity: the length of its row */
    double **row;  /* per velocity: of M; after the factorisation of L, D in place of its ones */
    double *entry; /* all rows, one after the other */
    double *d_inv; /* per velocity: of D^-1 */
};

/* Bytes, and the empty rows laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_ldl_size(const struct dyn_model *model);
struct dyn_ldl *dyn_ldl_place(const struct dyn_model *model, void *mem);

/* The last velocity between body and root, that of its own joint if it has one; -1: the body
 * cannot move.  Context: any. */
int dyn_ldl_last_velocity(const struct dyn_model *model, int body);

/* Rows of M to rows of L, in place.  A pivot that is not positive gives NaN, which every solution
 * on its branch shows.  Context: frame. */
void dyn_ldl_factor(struct dyn_ldl *ldl);

/* b = M^-1 b, nv values, after the factorisation.
 * Context: frame. */
void dyn_ldl_solve(const struct dyn_ldl *ldl, double *b);

/* Rows of M spread to nv x nv by rows, both triangles; before the factorisation.  Context: any. */
void dyn_ldl_to_dense(const struct dyn_ldl *ldl, double *M);
