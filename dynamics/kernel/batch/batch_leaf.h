/*
 * Hinges with nothing beyond them, for which struct dyn_batch_leaf has most terms precomputed.
 * Compiles as C and as C++, as batch_rigid.h does.  Tested by
 * tests/dynamics/kernel/batch/test_batch.c.
 */
#pragma once

#include "dynamics/kernel/batch/batch_hinge.h"

/* A leaf without its rod, in joint axes: I and mc = [x y 0].  U is the z column: Ua of I, Ul = z x
 * mc.
 */
struct leaf {
    wide I[6], x, y;
};

WIDE_INLINE struct leaf take_leaf(const struct dyn_batch_link *link, const struct moving *L)
{
    const wide x = wide_splat(link->mc[0]), s = L->s, c = L->c;
    const wide t = s * wide_splat(link->I[0]) + c * wide_splat(2.0 * link->I[3]);
    struct leaf A;
    A.I[0] = wide_splat(link->I[0]) - s * t;
    A.I[1] = s * t;
    A.I[2] = wide_splat(link->I[2]);
    A.I[3] = c * t - wide_splat(link->I[3]);
    A.I[4] = wide_splat(link->I[4]);
    A.I[5] = wide_splat(link->I[5]);
    turn_back(s, c, &A.I[4], &A.I[5]);
    A.x = c * x;
    A.y = s * x;
    return A;
}

/* pA = [ w x (I w); w x (w x mc) ] in link axes. */
WIDE_INLINE struct force leaf_force(const struct dyn_batch_link *link, const wide w[3])
{
    const wide xx = wide_splat(link->I[0]), zz = wide_splat(link->I[2]);
    const wide xy = wide_splat(link->I[3]), xz = wide_splat(link->I[4]);
    const wide yz = wide_splat(link->I[5]), x = wide_splat(link->mc[0]);
    const wide Iw[3] = {xx * w[0] + xy * w[1] + xz * w[2], xy * w[0] + yz * w[2],
                        xz * w[0] + yz * w[1] + zz * w[2]};
    const wide wy = w[2] * x, wz = -(w[1] * x); /* of w x mc */
    struct force p;

    cross(w, Iw, p.pa);
    p.pl[0] = w[1] * wz - w[2] * wy;
    p.pl[1] = -(w[0] * wz);
    p.pl[2] = w[0] * wy;
    return p;
}

/* pa = pA + I c + U D^-1 (u - U' c), joint axes. */
WIDE_INLINE void pass_force(const struct leaf *A, wide D_inv, wide u, wide tau,
                            const struct moving *L, struct force *p)
{
    const wide *I = A->I, *ca = L->ca, *cl = L->cl;
    const wide push = (u - I[4] * ca[0] - I[5] * ca[1] + A->y * cl[0] - A->x * cl[1]) * D_inv;

    turn_back(L->s, L->c, &p->pa[0], &p->pa[1]);
    turn_back(L->s, L->c, &p->pl[0], &p->pl[1]);
    p->pa[0] = p->pa[0] + I[0] * ca[0] + I[3] * ca[1] + A->y * cl[2] + I[4] * push;
    p->pa[1] = p->pa[1] + I[3] * ca[0] + I[1] * ca[1] - A->x * cl[2] + I[5] * push;
    p->pa[2] = tau;
    p->pl[0] = p->pl[0] - A->y * push;
    p->pl[1] = p->pl[1] + A->x * push;
    p->pl[2] = p->pl[2] + A->y * ca[0] - A->x * ca[1];
}

/* I - U D^-1 U' in the parent's axes, about its origin. */
WIDE_INLINE void add_leaf_to_parent(struct parent_axes parent_axes, const struct leaf *A,
                                    wide D_inv, const struct force *p, struct articulated *sum)
{
    const wide along = parent_axes.x * A->x + parent_axes.y * A->y;
    wide I[6] = {A->I[0] + wide_splat(2.0) * (parent_axes.y * A->y),
                 A->I[1] + wide_splat(2.0) * (parent_axes.x * A->x),
                 A->I[2] + along + along,
                 A->I[3] - parent_axes.x * A->y - parent_axes.y * A->x,
                 A->I[4],
                 A->I[5]};
    wide a[3] = {A->I[4], A->I[5], A->I[2] + along}; /* Ua + r x Ul */
    wide l[3] = {-A->y, A->x, wide_splat(0.0)};      /* Ul */
    wide h[3] = {A->x, A->y, wide_splat(0.0)};       /* mc */

    turn_to_parent(&parent_axes, a);
    turn_to_parent(&parent_axes, l);
    turn_to_parent(&parent_axes, h);
    turn_sym_to_parent(&parent_axes, I);
    const wide gl[3] = {l[0] * D_inv, l[1] * D_inv, l[2] * D_inv};
    add_to_sum(&parent_axes, -(l[0] * gl[0]), &sum->M[0]);
    add_to_sum(&parent_axes, -(l[1] * gl[1]), &sum->M[1]);
    add_to_sum(&parent_axes, -(l[2] * gl[2]), &sum->M[2]);
    add_to_sum(&parent_axes, -(l[0] * gl[1]), &sum->M[3]);
    add_to_sum(&parent_axes, -(l[0] * gl[2]), &sum->M[4]);
    add_to_sum(&parent_axes, -(l[1] * gl[2]), &sum->M[5]);
    add_to_sum(&parent_axes, -(a[0] * gl[0]), &sum->H[0][0]);
    add_to_sum(&parent_axes, -h[2] - a[0] * gl[1], &sum->H[0][1]);
    add_to_sum(&parent_axes, h[1] - a[0] * gl[2], &sum->H[0][2]);
    add_to_sum(&parent_axes, h[2] - a[1] * gl[0], &sum->H[1][0]);
    add_to_sum(&parent_axes, -(a[1] * gl[1]), &sum->H[1][1]);
    add_to_sum(&parent_axes, -h[0] - a[1] * gl[2], &sum->H[1][2]);
    add_to_sum(&parent_axes, -h[1] - a[2] * gl[0], &sum->H[2][0]);
    add_to_sum(&parent_axes, h[0] - a[2] * gl[1], &sum->H[2][1]);
    add_to_sum(&parent_axes, -(a[2] * gl[2]), &sum->H[2][2]);
    const wide ga[3] = {a[0] * D_inv, a[1] * D_inv, a[2] * D_inv};
    add_to_sum(&parent_axes, I[0] - a[0] * ga[0], &sum->I[0]);
    add_to_sum(&parent_axes, I[1] - a[1] * ga[1], &sum->I[1]);
    add_to_sum(&parent_axes, I[2] - a[2] * ga[2], &sum->I[2]);
    add_to_sum(&parent_axes, I[3] - a[0] * ga[1], &sum->I[3]);
    add_to_sum(&parent_axes, I[4] - a[0] * ga[2], &sum->I[4]);
    add_to_sum(&parent_axes, I[5] - a[1] * ga[2], &sum->I[5]);
    add_force_to_parent(&parent_axes, p, sum);
}

static void inward_leaf(const struct dyn_batch_link *link, const struct dyn_batch_leaf *leaf,
                        wide tau, const struct scratch *at, const struct dyn_batch_link *links,
                        struct moving *L)
{
    const wide D_inv = wide_splat(leaf->D_inv);
    struct force p = leaf_force(link, L->w);
    const wide u = tau - p.pa[2];

    L->ud = u * D_inv;
    if (link->parent < 0)
        return;
    const struct leaf A = take_leaf(link, L);
    struct articulated *sum = &at->sum[links[link->parent].sum];
    pass_force(&A, D_inv, u, tau, L, &p);
    if (link->is_skewed || !link->is_first) {
        make_room(link, sum);
        add_leaf_to_parent(parent_axes_of(link, DYN_BATCH_TILT_ANY, 1, 1), &A, D_inv, &p, sum);
    } else {
        add_leaf_to_parent(parent_axes_of(link, DYN_BATCH_TILT_ANY, 0, 0), &A, D_inv, &p, sum);
    }
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
