/*
 * The inward pass of a batch kernel through hinges without a rotor, its hot path.  Compiles as C
 * and as C++, as batch_rigid.h does.  Tested by tests/dynamics/kernel/batch/test_batch.c.
 */
#pragma once

#include "dynamics/kernel/batch/batch_outward.h"

/* ---- links and their parents --------------------------------------------------------------- */

/* The articulated inertia that a leaf carries: zero. */
static const struct articulated NOTHING;

WIDE_INLINE const struct articulated *carried_by(const struct dyn_batch_link *link,
                                                 const struct scratch *at)
{
    return link->is_leaf ? &NOTHING : &at->sum[link->sum];
}

/* The link's own inertia, and the force that its velocity needs: w x (I w), w x (w x mc). */
static void add_link(const struct dyn_batch_link *link, const wide w[3], struct articulated *A)
{
    const wide m = wide_splat(link->mass);
    wide I[6], Iw[3], h[3], wh[3];
    for (int k = 0; k < 6; k++) {
        I[k] = wide_splat(link->I[k]);
        A->I[k] = A->I[k] + I[k];
    }
    splat3(link->mc, h);
    A->H[0][1] = A->H[0][1] - h[2], A->H[0][2] = A->H[0][2] + h[1];
    A->H[1][0] = A->H[1][0] + h[2], A->H[1][2] = A->H[1][2] - h[0];
    A->H[2][0] = A->H[2][0] - h[1], A->H[2][1] = A->H[2][1] + h[0];
    for (int k = 0; k < 3; k++)
        A->M[k] = A->M[k] + m;
    sym_mul(I, w, Iw);
    add_cross(w, Iw, A->pa);
    cross(w, h, wh);
    add_cross(w, wh, A->pl);
}

/* ---- hinges -------------------------------------------------------------------------------- */

struct force {
    wide pa[3], pl[3];
};

/*
 * A hinge's D^-1 leaves an inertia of which the z rows of I and H are zero.  What follows goes
 * block by block, so that few numbers are alive at a time.
 */
struct planar {
    wide xx, yy, xy, x[3], y[3], M[6]; /* x and y are rows of H */
    struct force p;
};

/* U is the z column of IA and g is D^-1 U; g.z is one. */
struct hinge {
    wide Ux, Uy, U[3];
    wide gx, gy, g[3], ud;
};

/* pA, with the force that the link's own velocity needs: w x (I w), w x (w x mc). */
WIDE_INLINE void take_force(const struct dyn_batch_link *link, const struct articulated *A,
                            const wide w[3], struct planar *P)
{
    const wide I[6] = {wide_splat(link->I[0]), wide_splat(link->I[1]), wide_splat(link->I[2]),
                       wide_splat(link->I[3]), wide_splat(link->I[4]), wide_splat(link->I[5])};
    const wide h[3] = {wide_splat(link->mc[0]), wide_splat(link->mc[1]), wide_splat(link->mc[2])};
    wide Iw[3], wh[3];

    P->p.pa[0] = A->pa[0], P->p.pa[1] = A->pa[1], P->p.pa[2] = A->pa[2];
    sym_mul(I, w, Iw);
    add_cross(w, Iw, P->p.pa);
    P->p.pl[0] = A->pl[0], P->p.pl[1] = A->pl[1], P->p.pl[2] = A->pl[2];
    cross(w, h, wh);
    add_cross(w, wh, P->p.pl);
}

/* D^-1 U, D^-1 u and pA + U D^-1 u. */
WIDE_INLINE struct hinge solve_hinge(const struct dyn_batch_link *link, wide tau,
                                     const struct articulated *A, struct planar *P)
{
    const wide D_inv = wide_inverse(A->I[2] + wide_splat(link->I[2]));
    struct hinge J;

    J.ud = (tau - P->p.pa[2]) * D_inv;
    J.Ux = A->I[4] + wide_splat(link->I[4]);
    J.Uy = A->I[5] + wide_splat(link->I[5]);
    J.U[0] = A->H[2][0] - wide_splat(link->mc[1]);
    J.U[1] = A->H[2][1] + wide_splat(link->mc[0]);
    J.U[2] = A->H[2][2];
    J.gx = J.Ux * D_inv;
    J.gy = J.Uy * D_inv;
    J.g[0] = J.U[0] * D_inv;
    J.g[1] = J.U[1] * D_inv;
    J.g[2] = J.U[2] * D_inv;
    P->p.pa[0] = P->p.pa[0] + J.Ux * J.ud;
    P->p.pa[1] = P->p.pa[1] + J.Uy * J.ud;
    P->p.pa[2] = tau;
    P->p.pl[0] = P->p.pl[0] + J.U[0] * J.ud;
    P->p.pl[1] = P->p.pl[1] + J.U[1] * J.ud;
    P->p.pl[2] = P->p.pl[2] + J.U[2] * J.ud;
    return J;
}

WIDE_INLINE void keep_hinge(const struct hinge *J, struct moving *L)
{
    L->ga[0] = J->gx;
    L->ga[1] = J->gy;
    L->gl[0] = J->g[0];
    L->gl[1] = J->g[1];
    L->gl[2] = J->g[2];
    L->ud = J->ud;
}

/* Ia = IA - U D^-1 U' in joint axes, a block of it, with its part of pa += Ia c. */
WIDE_INLINE void take_M(const struct dyn_batch_link *link, const struct articulated *A,
                        const struct hinge *J, const struct moving *L, struct planar *P)
{
    const wide m = wide_splat(link->mass), *cl = L->cl;
    wide *M = P->M, *pl = P->p.pl;
    M[0] = A->M[0] + m - J->U[0] * J->g[0];
    M[1] = A->M[1] + m - J->U[1] * J->g[1];
    M[3] = A->M[3] - J->U[0] * J->g[1];
    turn_sym_back(L->s, L->c, &M[0], &M[1], &M[3]);
    M[4] = A->M[4] - J->U[0] * J->g[2];
    M[5] = A->M[5] - J->U[1] * J->g[2];
    turn_back(L->s, L->c, &M[4], &M[5]);
    M[2] = A->M[2] + m - J->U[2] * J->g[2];
    pl[0] = pl[0] + M[0] * cl[0] + M[3] * cl[1] + M[4] * cl[2];
    pl[1] = pl[1] + M[3] * cl[0] + M[1] * cl[1] + M[5] * cl[2];
    pl[2] = pl[2] + M[4] * cl[0] + M[5] * cl[1] + M[2] * cl[2];
}

WIDE_INLINE void take_H(const struct dyn_batch_link *link, const struct articulated *A,
                        const struct hinge *J, const struct moving *L, struct planar *P)
{
    const wide h[3] = {wide_splat(link->mc[0]), wide_splat(link->mc[1]), wide_splat(link->mc[2])};
    const wide *ca = L->ca, *cl = L->cl;
    wide *x = P->x, *y = P->y, *pa = P->p.pa, *pl = P->p.pl;
    x[0] = A->H[0][0] - J->Ux * J->g[0];
    x[1] = A->H[0][1] - h[2] - J->Ux * J->g[1];
    y[0] = A->H[1][0] + h[2] - J->Uy * J->g[0];
    y[1] = A->H[1][1] - J->Uy * J->g[1];
    turn_block_back(L->s, L->c, &x[0], &x[1], &y[0], &y[1]);
    x[2] = A->H[0][2] + h[1] - J->Ux * J->g[2];
    y[2] = A->H[1][2] - h[0] - J->Uy * J->g[2];
    turn_back(L->s, L->c, &x[2], &y[2]);
    pl[0] = pl[0] + x[0] * ca[0] + y[0] * ca[1];
    pl[1] = pl[1] + x[1] * ca[0] + y[1] * ca[1];
    pl[2] = pl[2] + x[2] * ca[0] + y[2] * ca[1];
    pa[0] = pa[0] + x[0] * cl[0] + x[1] * cl[1] + x[2] * cl[2];
    pa[1] = pa[1] + y[0] * cl[0] + y[1] * cl[1] + y[2] * cl[2];
}

WIDE_INLINE void take_I(const struct dyn_batch_link *link, const struct articulated *A,
                        const struct hinge *J, const struct moving *L, struct planar *P)
{
    P->xx = A->I[0] + wide_splat(link->I[0]) - J->Ux * J->gx;
    P->yy = A->I[1] + wide_splat(link->I[1]) - J->Uy * J->gy;
    P->xy = A->I[3] + wide_splat(link->I[3]) - J->Ux * J->gy;
    turn_sym_back(L->s, L->c, &P->xx, &P->yy, &P->xy);
    P->p.pa[0] = P->p.pa[0] + P->xx * L->ca[0] + P->xy * L->ca[1];
    P->p.pa[1] = P->p.pa[1] + P->xy * L->ca[0] + P->yy * L->ca[1];
}

/* The transformation from joint axes to the parent's, and into its sum. */
struct parent_axes {
    enum dyn_batch_tilt tilt;
    int is_skewed, adds; /* adds: the sum has the siblings before already */
    wide s, c;           /* of the tilt */
    wide skew_s, skew_c;
    wide x, y; /* of the arm, which is level */
};

WIDE_INLINE void tilt_back(const struct parent_axes *parent_axes, wide *a, wide *b)
{
    const wide x = *a;
    if (parent_axes->tilt == DYN_BATCH_TILT_ANY) {
        turn_back(parent_axes->s, parent_axes->c, a, b);
    } else if (parent_axes->tilt == DYN_BATCH_TILT_QUARTER) {
        *a = -*b;
        *b = x;
    }
}

WIDE_INLINE void tilt_sym_back(const struct parent_axes *parent_axes, wide *aa, wide *bb, wide *ab)
{
    const wide x = *aa;
    if (parent_axes->tilt == DYN_BATCH_TILT_ANY) {
        turn_sym_back(parent_axes->s, parent_axes->c, aa, bb, ab);
    } else if (parent_axes->tilt == DYN_BATCH_TILT_QUARTER) {
        *aa = *bb;
        *bb = x;
        *ab = -*ab;
    }
}

WIDE_INLINE void tilt_block_back(const struct parent_axes *parent_axes, wide *aa, wide *ab,
                                 wide *ba, wide *bb)
{
    const wide x = *aa, y = *ab;
    if (parent_axes->tilt == DYN_BATCH_TILT_ANY) {
        turn_block_back(parent_axes->s, parent_axes->c, aa, ab, ba, bb);
    } else if (parent_axes->tilt == DYN_BATCH_TILT_QUARTER) {
        *aa = *bb;
        *ab = -*ba;
        *ba = -y;
        *bb = x;
    }
}

/* The first of the siblings overwrites the sum. */
WIDE_INLINE void make_room(const struct dyn_batch_link *link, struct articulated *sum)
{
    if (link->is_first)
        *sum = NOTHING;
}

WIDE_INLINE void add_to_sum(const struct parent_axes *parent_axes, wide a, wide *sum)
{
    if (parent_axes->adds)
        a = a + *sum;
    *sum = a;
}

/* From joint axes: vectors and symmetric blocks. */
WIDE_INLINE void turn_to_parent(const struct parent_axes *parent_axes, wide a[3])
{
    tilt_back(parent_axes, &a[1], &a[2]);
    if (parent_axes->is_skewed)
        turn_back(parent_axes->skew_s, parent_axes->skew_c, &a[0], &a[1]);
}

WIDE_INLINE void turn_sym_to_parent(const struct parent_axes *parent_axes, wide m[6])
{
    tilt_sym_back(parent_axes, &m[1], &m[2], &m[5]);
    tilt_back(parent_axes, &m[3], &m[4]);
    if (parent_axes->is_skewed) {
        turn_sym_back(parent_axes->skew_s, parent_axes->skew_c, &m[0], &m[1], &m[3]);
        turn_back(parent_axes->skew_s, parent_axes->skew_c, &m[4], &m[5]);
    }
}

WIDE_INLINE void add_vector_to_parent(const struct parent_axes *parent_axes, wide a[3], wide sum[3])
{
    turn_to_parent(parent_axes, a);
    for (int k = 0; k < 3; k++)
        add_to_sum(parent_axes, a[k], &sum[k]);
}

WIDE_INLINE void add_sym_to_parent(const struct parent_axes *parent_axes, wide m[6], wide sum[6])
{
    turn_sym_to_parent(parent_axes, m);
    for (int k = 0; k < 6; k++)
        add_to_sum(parent_axes, m[k], &sum[k]);
}

WIDE_INLINE void add_block_to_parent(const struct parent_axes *parent_axes, wide x[3], wide y[3],
                                     wide z[3], wide sum[3][3])
{
    tilt_back(parent_axes, &x[1], &x[2]);
    tilt_back(parent_axes, &y[0], &z[0]);
    tilt_block_back(parent_axes, &y[1], &y[2], &z[1], &z[2]);
    if (parent_axes->is_skewed) {
        turn_block_back(parent_axes->skew_s, parent_axes->skew_c, &x[0], &x[1], &y[0], &y[1]);
        turn_back(parent_axes->skew_s, parent_axes->skew_c, &x[2], &y[2]);
        turn_back(parent_axes->skew_s, parent_axes->skew_c, &z[0], &z[1]);
    }
    for (int k = 0; k < 3; k++) {
        add_to_sum(parent_axes, x[k], &sum[0][k]);
        add_to_sum(parent_axes, y[k], &sum[1][k]);
        add_to_sum(parent_axes, z[k], &sum[2][k]);
    }
}

WIDE_INLINE void add_force_to_parent(const struct parent_axes *parent_axes, const struct force *p,
                                     struct articulated *sum)
{
    wide pl[3] = {p->pl[0], p->pl[1], p->pl[2]};
    wide pa[3] = {p->pa[0] + parent_axes->y * pl[2], p->pa[1] - parent_axes->x * pl[2],
                  p->pa[2] + parent_axes->x * pl[1] - parent_axes->y * pl[0]};
    add_vector_to_parent(parent_axes, pa, sum->pa);
    add_vector_to_parent(parent_axes, pl, sum->pl);
}

/*
 * About an origin from which this one is at r, with H the rows here and h the rows there:
 *      h = H + r x M,   I_ij + (r x H_j)_i + (r x h_i)_j
 */
WIDE_INLINE void add_I_and_H_to_parent(const struct parent_axes *parent_axes,
                                       const struct planar *P, struct articulated *sum)
{
    const wide rx = parent_axes->x, ry = parent_axes->y, *x = P->x, *y = P->y, *M = P->M;
    wide hx[3] = {x[0] + ry * M[4], x[1] + ry * M[5], x[2] + ry * M[2]};
    wide hy[3] = {y[0] - rx * M[4], y[1] - rx * M[5], y[2] - rx * M[2]};
    wide hz[3] = {rx * M[3] - ry * M[0], rx * M[1] - ry * M[3], rx * M[5] - ry * M[4]};
    wide I[6] = {P->xx + ry * (x[2] + hx[2]), P->yy - rx * (y[2] + hy[2]),
                 rx * hz[1] - ry * hz[0],     P->xy + ry * y[2] - rx * hx[2],
                 rx * hx[1] - ry * hx[0],     rx * hy[1] - ry * hy[0]};
    add_sym_to_parent(parent_axes, I, sum->I);
    add_block_to_parent(parent_axes, hx, hy, hz, sum->H);
}

/* All arguments that are not wide are constants where this is inlined. */
WIDE_INLINE struct parent_axes parent_axes_of(const struct dyn_batch_link *link,
                                              enum dyn_batch_tilt tilt, int is_skewed, int adds)
{
    struct parent_axes parent_axes;
    parent_axes.tilt = tilt;
    parent_axes.is_skewed = is_skewed;
    parent_axes.adds = adds;
    parent_axes.s = wide_splat(link->tilt_sine);
    parent_axes.c = wide_splat(link->tilt_cosine);
    parent_axes.skew_s = wide_splat(link->skew_sine);
    parent_axes.skew_c = wide_splat(link->skew_cosine);
    parent_axes.x = wide_splat(link->r[0]);
    parent_axes.y = wide_splat(link->r[1]);
    return parent_axes;
}

WIDE_INLINE void add_planar_to_parent(struct parent_axes parent_axes, const struct planar *P,
                                      struct articulated *sum)
{
    wide M[6] = {P->M[0], P->M[1], P->M[2], P->M[3], P->M[4], P->M[5]};
    add_I_and_H_to_parent(&parent_axes, P, sum);
    add_sym_to_parent(&parent_axes, M, sum->M);
    add_force_to_parent(&parent_axes, &P->p, sum);
}

WIDE_INLINE void add_hinge_to_parent(const struct dyn_batch_link *link, const struct planar *P,
                                     struct articulated *sum)
{
    if (__builtin_expect(link->is_skewed || !link->is_first, 0)) {
        make_room(link, sum);
        add_planar_to_parent(parent_axes_of(link, DYN_BATCH_TILT_ANY, 1, 1), P, sum);
    } else if (link->tilt == DYN_BATCH_TILT_ANY) {
        add_planar_to_parent(parent_axes_of(link, DYN_BATCH_TILT_ANY, 0, 0), P, sum);
    } else if (link->tilt == DYN_BATCH_TILT_QUARTER) {
        add_planar_to_parent(parent_axes_of(link, DYN_BATCH_TILT_QUARTER, 0, 0), P, sum);
    } else {
        add_planar_to_parent(parent_axes_of(link, DYN_BATCH_TILT_NONE, 0, 0), P, sum);
    }
}

/* The hot path. */
WIDE_INLINE void inward_hinge(const struct dyn_batch_link *link, wide tau, const struct scratch *at,
                              const struct dyn_batch_link *links, struct moving *L)
{
    const struct articulated *A = &at->sum[link->sum];
    struct planar P;

    take_force(link, A, L->w, &P);
    const struct hinge J = solve_hinge(link, tau, A, &P);
    keep_hinge(&J, L);
    if (link->parent < 0)
        return;
    turn_back(L->s, L->c, &P.p.pa[0], &P.p.pa[1]);
    turn_back(L->s, L->c, &P.p.pl[0], &P.p.pl[1]);
    take_M(link, A, &J, L, &P);
    take_H(link, A, &J, L, &P);
    take_I(link, A, &J, L, &P);
    add_hinge_to_parent(link, &P, &at->sum[links[link->parent].sum]);
}
