/*
 * Hinges with nothing beyond them, of which struct dyn_batch_leaf knows most beforehand.  C and C++
 * at once, as batch_lanes.h.
 */
#pragma once

#include "dynamics/batch_hinge.h"

/* pA = [ w x (I w); w x (w x mc) ], of which mc has no y. */
WIDE_INLINE void take_leaf_force(const struct dyn_batch_link *link, const wide w[3],
                                 struct planar *P)
{
    const wide I[6] = {wide_splat(link->I[0]), wide_splat(link->I[1]), wide_splat(link->I[2]),
                       wide_splat(link->I[3]), wide_splat(link->I[4]), wide_splat(link->I[5])};
    const wide x = wide_splat(link->mc[0]), z = wide_splat(link->mc[2]);
    const wide wh[3] = {w[1] * z, w[2] * x - w[0] * z, -(w[1] * x)};
    wide Iw[3];

    sym_mul(I, w, Iw);
    cross(w, Iw, P->pa);
    cross(w, wh, P->pl);
}

/* D^-1 u and pA + U D^-1 u. */
WIDE_INLINE wide solve_leaf(const struct dyn_batch_leaf *leaf, wide tau, struct planar *P)
{
    const wide ud = (tau - P->pa[2]) * wide_splat(leaf->D_inv);
    P->pa[0] = P->pa[0] + wide_splat(leaf->Ux) * ud;
    P->pa[1] = P->pa[1] + wide_splat(leaf->Uy) * ud;
    P->pa[2] = tau;
    P->pl[1] = P->pl[1] + wide_splat(leaf->U) * ud;
    return ud;
}

/* Blocks of Ia in joint axes, as take_M() and the others of a hinge do it. */
WIDE_INLINE void take_leaf_M(const struct dyn_batch_link *link, const struct dyn_batch_leaf *leaf,
                             const struct moving *L, struct planar *P)
{
    const wide *cl = L->cl;
    const wide t = L->s * wide_splat(link->mass - leaf->Myy);
    wide *M = P->M, *pl = P->pl;
    M[0] = wide_splat(link->mass) - L->s * t;
    M[1] = wide_splat(leaf->Myy) + L->s * t;
    M[2] = wide_splat(link->mass);
    M[3] = L->c * t;
    M[4] = wide_splat(0.0);
    M[5] = wide_splat(0.0);
    pl[0] = pl[0] + M[0] * cl[0] + M[3] * cl[1];
    pl[1] = pl[1] + M[3] * cl[0] + M[1] * cl[1];
    pl[2] = pl[2] + M[2] * cl[2];
}

WIDE_INLINE void take_leaf_H(const struct dyn_batch_leaf *leaf, const struct moving *L,
                             struct planar *P)
{
    const wide t = L->c * wide_splat(leaf->H01 + leaf->H10) - L->s * wide_splat(leaf->H11);
    P->x[0] = -(L->s * t);
    P->x[1] = L->c * t - wide_splat(leaf->H10);
    P->x[2] = -(L->s * wide_splat(leaf->H12));
    P->y[0] = L->c * t - wide_splat(leaf->H01);
    P->y[1] = L->s * t + wide_splat(leaf->H11);
    P->y[2] = L->c * wide_splat(leaf->H12);
    feel_H(L, P);
}

WIDE_INLINE void take_leaf_I(const struct dyn_batch_leaf *leaf, const struct moving *L,
                             struct planar *P)
{
    const wide t = L->s * wide_splat(leaf->xx - leaf->yy) + L->c * wide_splat(leaf->xy + leaf->xy);
    P->xx = wide_splat(leaf->xx) - L->s * t;
    P->yy = wide_splat(leaf->yy) + L->s * t;
    P->xy = L->c * t - wide_splat(leaf->xy);
    feel_I(L, P);
}

static void inward_leaf(const struct dyn_batch_link *link, const struct dyn_batch_leaf *leaf,
                        wide tau, const struct scratch *at, const struct dyn_batch_link *links,
                        struct moving *L)
{
    struct planar P;

    take_leaf_force(link, L->w, &P);
    L->ud = solve_leaf(leaf, tau, &P);
    if (link->parent < 0)
        return;
    turn_back(L->s, L->c, &P.pa[0], &P.pa[1]);
    turn_back(L->s, L->c, &P.pl[0], &P.pl[1]);
    take_leaf_M(link, leaf, L, &P);
    take_leaf_H(leaf, L, &P);
    take_leaf_I(leaf, L, &P);
    give_hinge(link, &P, &at->sum[links[link->parent].sum]);
}

/* alpha and a are the parent's. */
WIDE_INLINE wide leaf_acceleration(const struct dyn_batch_link *link,
                                   const struct dyn_batch_leaf *leaf, wide alpha[3], wide a[3],
                                   const struct moving *L)
{
    const wide x = wide_splat(link->r[0]), y = wide_splat(link->r[1]);
    wide out[3];

    to_joint(link, alpha);
    to_joint(link, a);
    out[0] = a[0] - alpha[2] * y + L->cl[0];
    out[1] = a[1] + alpha[2] * x + L->cl[1];
    alpha[0] = alpha[0] + L->ca[0];
    alpha[1] = alpha[1] + L->ca[1];
    turn(L->s, L->c, &alpha[0], &alpha[1]);
    return L->ud - alpha[2] - wide_splat(leaf->gx) * alpha[0] - wide_splat(leaf->gy) * alpha[1] -
           wide_splat(leaf->g) * (L->c * out[1] - L->s * out[0]);
}
