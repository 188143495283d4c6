/*
 * The truth about a tree, from the author's specs alone: dull, slow and not of the kernel's making.
 *
 * A pose is a 4x4 matrix T with its first and second time derivative; a joint is a product of
 * exponentials of screws, a body the product of the joints that carry it.  Velocities,
 * accelerations and Jacobians are read off the derivatives, and the motion equation is virtual
 * power, summed over all bodies and rotors:
 *
 *      sum  J_w' (I w_rate + w x I w)  +  J_c' m (c_acc - g)   =   tau
 *
 * Joint laws, loads and held joints are not of its business.
 */
#pragma once

#include "tests/dynamics/tree.h"
#include "tests/dynamics/vec.h"

/* World axes, all of them. */
struct oracle_body {
    struct vec_mat R;                 /* body axes to world axes */
    double p[3], p_rate[3], p_acc[3]; /* of its origin */
    double w[3], w_rate[3];
};

int oracle_nv(const struct tree *tree);

/* How every body moves at the tree's q with these v and dv/dt; NULL: none. */
void oracle_move(const struct tree *tree, const double *v, const double *a,
                 struct oracle_body *bodies);

/* A vector in body axes, seen from the world. */
void oracle_to_world(const struct oracle_body *body, const double e[3], double out[3]);

/* Inertia about the mass centre in world axes. */
void oracle_inertia(const struct dyn_body_spec *spec, const struct oracle_body *body,
                    struct vec_mat *I);

/* M(q), nv x nv by rows. */
void oracle_mass(const struct tree *tree, double *M);

/* What the motors must give for dv/dt = a, at the tree's q, v and gravity. */
void oracle_inverse(const struct tree *tree, const double *a, double *tau);

/* dv/dt at the tree's q, v, tau and gravity. */
void oracle_forward(const struct tree *tree, double *a);

/* K of bodies and rotors, V of gravity. */
double oracle_kinetic(const struct tree *tree);
double oracle_potential(const struct tree *tree);
