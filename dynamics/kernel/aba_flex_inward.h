/*
 * The inward pass of trees with flexible links: a part of the kernel (aba_kernel.h).
 *
 *      a node adds  A to its parent, and A X to B, X' A X to D, X' (p + A c) to f of the modes
 *      A - B D^-1 B',  p - B D^-1 f: the modes are eliminated before the joint
 *
 * Tested by tests/dynamics/flex/test_flex.c.
 */
#pragma once

#include "dynamics/kernel/aba_modes.h"
#include "dynamics/kernel/aba_rigid_inward.h"
#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "dynamics/state.h"

/* The matrix with the columns m, in memory, times rows over modes. */
static inline dyn_lane row_times(const struct dyn_row m[3], int i, struct dyn_mode_rows a)
{
    return lane_splat(m[0].e[i]) * a.x + lane_splat(m[1].e[i]) * a.y + lane_splat(m[2].e[i]) * a.z;
}

static inline struct dyn_mode_rows columns_times(const struct dyn_row m[3], struct dyn_mode_rows a)
{
    return (struct dyn_mode_rows){row_times(m, 0, a), row_times(m, 1, a), row_times(m, 2, a)};
}

/* Row h of H, both ways: returns ta + h' Xl, and adds h xa to Tl. */
static inline dyn_lane couple(dyn_lane ta, const struct dyn_row *h, struct dyn_mode_rows Xl,
                              dyn_lane xa, struct dyn_mode_rows *Tl)
{
    const dyn_lane x = lane_splat(h->e[0]), y = lane_splat(h->e[1]), z = lane_splat(h->e[2]);
    *Tl = (struct dyn_mode_rows){Tl->x + x * xa, Tl->y + y * xa, Tl->z + z * xa};
    return ta + x * Xl.x + y * Xl.y + z * Xl.z;
}

/* Add to B, D and f of the parent the terms of the node N at the end of the arm: A X, X' A X, X'
 * p, with p = pA + A c. */
DYN_FOR_LANES void add_modal_loads(const struct dyn_tree_link_work *N, const struct dyn_row *arm,
                                   dyn_lane pa, dyn_lane pl, int modes, int lanes, const double *X,
                                   struct dyn_modal_work *work)
{
    const struct dyn_vec3 r = dyn_vec3_load(arm->e), n = lane_vec3(pa), f = lane_vec3(pl);
    for (int g = 0; g < lanes; g += 4) {
        const struct dyn_mode_rows Xa = rows_at(X + g, lanes),
                                   Xl = rows_at(X + 3 * lanes + g, lanes);
        struct dyn_mode_rows Ta = columns_times(N->I, Xa), Tl = columns_times(N->M, Xl);
        Ta.x = couple(Ta.x, &N->H[0], Xl, Xa.x, &Tl);
        Ta.y = couple(Ta.y, &N->H[1], Xl, Xa.y, &Tl);
        Ta.z = couple(Ta.z, &N->H[2], Xl, Xa.z, &Tl);
        rows_add(work->B + g, lanes, rows_sum_of(Ta, rows_cross(r, Tl)));
        rows_add(work->B + 3 * lanes + g, lanes, Tl);
        modes_put(work->f + g, modes_at(work->f + g) + rows_dot(n, Xa) + rows_dot(f, Xl));
        for (int p = 0; p < modes; p++) {
            const double *x = X + p;
            const struct dyn_vec3 xa = {x[0], x[lanes], x[2 * lanes]};
            const struct dyn_vec3 xl = {x[3 * lanes], x[4 * lanes], x[5 * lanes]};
            double *D = work->D + p * lanes + g;
            modes_put(D, modes_at(D) + rows_dot(xa, Ta) + rows_dot(xl, Tl));
        }
    }
}

/* p + A c of a node. */
static inline void node_bias(const struct dyn_tree_link_work *N, dyn_lane *pa, dyn_lane *pl)
{
    struct articulated A = load_articulated(N);
    add_bias(N, &A);
    *pa = A.pa;
    *pl = A.pl;
}

/* Nothing is eliminated at a node: its articulated inertia and bias are added to the parent and to
 * the modes. */
DYN_APART void inward_node(const struct dyn_model *model, const struct dyn_tree_link *link,
                           struct dyn_work *work, struct dyn_tree_link_work *N,
                           struct dyn_tree_link_work *on)
{
    const struct dyn_modal_node *node = &model->node[link->node];
    const struct dyn_modal_link *modal = &model->modal[node->modal];
    const double *X = work->node[link->node];
    struct dyn_modal_work *modes = &work->modal[node->modal];
    dyn_lane pa, pl;

    node_bias(N, &pa, &pl);
    if (modal->lanes == 4)
        add_modal_loads(N, &N->r, pa, pl, 4, 4, X, modes);
    else
        add_modal_loads(N, &N->r, pa, pl, modal->modes, modal->lanes, X, modes);
    const struct articulated A = {lane3_load(N->I), lane3_load(N->H), lane3_load(N->M), pa, pl};
    pass_whole_to_parent(&A, &N->r, on);
}

/* ---- a node that carries one hinge and nothing else ---- */

/*
 * Node and hinge are treated as one joint, referred to its last origin only: that of the hinge, at
 * the arm r of the node and of the hinge together.  X is moved there, and c is that of both.  The
 * node holds A and p after the elimination of the hinge, and its acceleration without c.
 */

/* X at the end of another arm d. */
DYN_FOR_LANES void extend_columns(struct dyn_vec3 d, int lanes, double *X)
{
    for (int g = 0; g < lanes; g += 4) {
        const struct dyn_mode_rows more = rows_cross(d, rows_at(X + g, lanes));
        double *Xl = X + 3 * lanes + g;
        modes_put(Xl, modes_at(Xl) - more.x);
        modes_put(Xl + lanes, modes_at(Xl + lanes) - more.y);
        modes_put(Xl + 2 * lanes, modes_at(Xl + 2 * lanes) - more.z);
    }
}

/* c and r of both. */
static inline void join_hinge(struct dyn_tree_link_work *L, struct dyn_tree_link_work *N)
{
    const dyn_lane d = lane_load(&L->r), ca = lane_load(&N->ca);
    lane_keep(&L->cl, lane_load(&L->cl) + lane_load(&N->cl) + lane_cross(ca, d));
    lane_keep(&L->ca, lane_load(&L->ca) + ca);
    lane_keep(&N->ga, lane_load(&N->r) + d);
}

/* A of the hinge's link, the hinge eliminated, to the node; the bias with c goes to pa and pl of
 * the node. */
static inline void eliminate_hinge(double tau, struct dyn_tree_link_work *L,
                                   struct dyn_tree_link_work *N)
{
    struct articulated A = load_articulated(L);
    const struct dyn_vec3 axis = dyn_vec3_load(L->R[2].e);
    const dyn_lane z = lane_load(&L->R[2]);
    const dyn_lane Ua = lane3_mul(A.I, axis), Ul = lane3_mul(A.H, axis);
    const dyn_lane D_inv = inverse(lane_sum(z * Ua));
    const dyn_lane u = lane_splat(tau) - lane_sum(z * A.pa + bias_product(Ua, Ul, L));
    const struct elimination f = {Ua, Ul, Ua * D_inv, Ul * D_inv, u};

    put_gain(&f, D_inv, L);
    add_bias(L, &A);
    lane_store(&N->pa, A.pa + f.ga * u);
    lane_store(&N->pl, A.pl + f.gl * u);
    subtract_outer_product(Ua, Ul, f.ga, f.gl, L->keep, &A);
    lane3_keep(N->I, A.I);
    lane3_keep(N->H, A.H);
    lane3_keep(N->M, A.M);
}

DYN_FOR_LANES void pass_hinge_to_node(const struct dyn_tree_link_work *L,
                                      const struct dyn_tree_link_work *N, int modes, int lanes,
                                      double *X, struct dyn_modal_work *work,
                                      struct dyn_tree_link_work *on)
{
    const struct articulated A = load_articulated(N);
    extend_columns(dyn_vec3_load(L->r.e), lanes, X);
    add_modal_loads(N, &N->ga, A.pa, A.pl, modes, lanes, X, work);
    pass_whole_to_parent(&A, &N->ga, on);
}

DYN_APART void inward_hinge(const struct dyn_model *model, const struct dyn_tree_link *link,
                            double tau, struct dyn_work *work, struct dyn_tree_link_work *L)
{
    const struct dyn_tree_link *under = &model->link[link->parent];
    const int node = under->node, m = model->node[node].modal;
    const struct dyn_modal_link *modal = &model->modal[m];
    struct dyn_tree_link_work *N = &work->link[link->parent], *on = &work->link[under->parent];

    join_hinge(L, N);
    eliminate_hinge(tau, L, N);
    if (modal->lanes == 4)
        pass_hinge_to_node(L, N, 4, 4, work->node[node], &work->modal[m], on);
    else if (modal->lanes == 8)
        pass_hinge_to_node(L, N, modal->modes, 8, work->node[node], &work->modal[m], on);
    else
        pass_hinge_to_node(L, N, modal->modes, modal->lanes, work->node[node], &work->modal[m], on);
}

/* M becomes M + s C + s^2 K, and K acts on eta + s xi. */
static void add_modal_implicit(const struct dyn_modal_link *modal, double s,
                               struct dyn_modal_work *work)
{
    const int lanes = modal->lanes;
    const dyn_lane lead = lane_splat(s);
    for (int q = 0; q < modal->modes; q++)
        for (int g = 0; g < lanes; g += 4) {
            const dyn_lane K = modes_at(modal->K + q * lanes + g);
            const dyn_lane C = modes_at(modal->C + q * lanes + g);
            double *D = work->D + q * lanes + g, *f = work->f + g;
            modes_put(D, modes_at(D) + lead * (C + lead * K));
            modes_put(f, modes_at(f) + lead * K * lane_splat(work->xi[q]));
        }
}

/* ---- four modes at a time, which fill one vector ---- */

/* L and D^-1 of L D L', each number in all lanes. */
struct dyn_four {
    dyn_lane l10, l20, l30, l21, l31, l32;
    dyn_lane d0, d1, d2, d3;
};

/* Pivots come in pairs, the second as the determinant over the first: two dependent divisions
 * instead of four. */
DYN_FOR_LANES struct dyn_four factor_four(const double *row0, int lanes)
{
    const double *row1 = row0 + lanes, *row2 = row1 + lanes, *row3 = row2 + lanes;
    const dyn_lane D00 = lane_splat(row0[0]), D01 = lane_splat(row0[1]);
    const dyn_lane D02 = lane_splat(row0[2]), D03 = lane_splat(row0[3]);
    const dyn_lane D11 = lane_splat(row1[1]), D12 = lane_splat(row1[2]);
    const dyn_lane D13 = lane_splat(row1[3]), D22 = lane_splat(row2[2]);
    const dyn_lane D23 = lane_splat(row2[3]), D33 = lane_splat(row3[3]);

    const dyn_lane one = lane_splat(1.0), none = lane_splat(0.0);
    const dyn_lane minor = D00 * D11 - D01 * D01;
    const dyn_lane d0 = one / D00, d1 = D00 / minor;
    const dyn_lane l10 = D01 * d0, l20 = D02 * d0, l30 = D03 * d0;
    const dyn_lane e12 = D12 - D01 * l20, e13 = D13 - D01 * l30;
    const dyn_lane l21 = e12 * d1, l31 = e13 * d1;

    const dyn_lane e22 = D22 - D02 * l20 - e12 * l21, e23 = D23 - D02 * l30 - e12 * l31;
    const dyn_lane e33 = D33 - D03 * l30 - e13 * l31;
    const dyn_lane rest = e22 * e33 - e23 * e23;
    const dyn_lane d2 = one / e22, d3 = e22 / rest;

    /* as in checked_quotient(); one pivot is enough, because all four modes depend on the last */
    const dyn_lane_mask good = (D00 > none) & (minor > none) & (e22 > none) & (rest > none);
    const dyn_lane last = (dyn_lane)((dyn_lane_mask)d3 | ~good);
    return (struct dyn_four){l10, l20, l30, l21, l31, e23 * d2, d0, d1, d2, last};
}

/* One lane vector by mode. */
struct dyn_by_mode {
    dyn_lane p0, p1, p2, p3;
};

/* From a row by component to a vector by mode. */
static inline struct dyn_by_mode by_mode(dyn_lane x, dyn_lane y, dyn_lane z, dyn_lane w)
{
    const dyn_lane xy02 = __builtin_shufflevector(x, y, 0, 4, 2, 6);
    const dyn_lane xy13 = __builtin_shufflevector(x, y, 1, 5, 3, 7);
    const dyn_lane zw02 = __builtin_shufflevector(z, w, 0, 4, 2, 6);
    const dyn_lane zw13 = __builtin_shufflevector(z, w, 1, 5, 3, 7);
    return (struct dyn_by_mode){__builtin_shufflevector(xy02, zw02, 0, 1, 4, 5),
                                __builtin_shufflevector(xy13, zw13, 0, 1, 4, 5),
                                __builtin_shufflevector(xy02, zw02, 2, 3, 6, 7),
                                __builtin_shufflevector(xy13, zw13, 2, 3, 6, 7)};
}

/* L^-1 u */
static inline struct dyn_by_mode forward_four(const struct dyn_four *D, struct dyn_by_mode u)
{
    u.p1 -= D->l10 * u.p0;
    u.p2 = u.p2 - D->l20 * u.p0 - D->l21 * u.p1;
    u.p3 = u.p3 - D->l30 * u.p0 - D->l31 * u.p1 - D->l32 * u.p2;
    return u;
}

/* L^-T u */
static inline struct dyn_by_mode backward_four(const struct dyn_four *D, struct dyn_by_mode u)
{
    u.p2 -= D->l32 * u.p3;
    u.p1 = u.p1 - D->l31 * u.p3 - D->l21 * u.p2;
    u.p0 = u.p0 - D->l30 * u.p3 - D->l20 * u.p2 - D->l10 * u.p1;
    return u;
}

static inline struct dyn_by_mode by_mode_at(const double *row, int lanes)
{
    return (struct dyn_by_mode){modes_at(row), modes_at(row + lanes), modes_at(row + 2 * lanes),
                                modes_at(row + 3 * lanes)};
}

static inline void by_mode_put(double *row, int lanes, struct dyn_by_mode u)
{
    modes_put(row, u.p0);
    modes_put(row + lanes, u.p1);
    modes_put(row + 2 * lanes, u.p2);
    modes_put(row + 3 * lanes, u.p3);
}

static inline struct dyn_by_mode gain_of_four(const struct dyn_four *D, struct dyn_by_mode u)
{
    return (struct dyn_by_mode){D->d0 * u.p0, D->d1 * u.p1, D->d2 * u.p2, D->d3 * u.p3};
}

static inline struct dyn_by_mode three_of_four(struct dyn_by_mode u)
{
    const dyn_lane none = lane_splat(0.0);
    return (struct dyn_by_mode){lane_last(u.p0, none), lane_last(u.p1, none), lane_last(u.p2, none),
                                lane_last(u.p3, none)};
}

static inline void keep_four(struct dyn_row keep[4], struct dyn_by_mode u)
{
    lane_keep(&keep[0], u.p0);
    lane_keep(&keep[1], u.p1);
    lane_keep(&keep[2], u.p2);
    lane_keep(&keep[3], u.p3);
}

/* row - sum_p g_p u_p, of an element of u. */
static inline dyn_lane subtract_modes(dyn_lane row, struct dyn_by_mode g, double u0, double u1,
                                      double u2, double u3)
{
    return row - g.p0 * lane_splat(u0) - g.p1 * lane_splat(u1) - g.p2 * lane_splat(u2) -
           g.p3 * lane_splat(u3);
}

static inline void subtract_modes_from_row(struct dyn_row *row, struct dyn_by_mode g,
                                           const struct dyn_row u[4], int c)
{
    lane_store(row, subtract_modes(lane_load(row), g, u[0].e[c], u[1].e[c], u[2].e[c], u[3].e[c]));
}

/* u = L^-1 B' of four modes, f behind the angular half, in memory. */
struct dyn_four_kept {
    struct dyn_row a[4], l[4];
};

/* A - u D^-1 u', p - u D^-1 f. */
static inline void subtract_modes_from_link(struct dyn_by_mode gf, struct dyn_by_mode gl,
                                            const struct dyn_four_kept *u,
                                            struct dyn_tree_link_work *L)
{
    const struct dyn_by_mode ga = three_of_four(gf);
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
        subtract_modes_from_row(&L->I[c], ga, u->a, c);
        subtract_modes_from_row(&L->H[c], gl, u->a, c);
        subtract_modes_from_row(&L->M[c], gl, u->l, c);
    }
    subtract_modes_from_row(&L->pa, ga, u->a, 3);
    subtract_modes_from_row(&L->pl, gl, u->a, 3);
}

/* The same of the modes that come later, at h: of their B, f, and of D beside the modes between. */
static inline void subtract_modes_from_modes(int b, int h, int lanes, struct dyn_by_mode g,
                                             const struct dyn_four_kept *u,
                                             const struct dyn_modal_work *work)
{
    double *B = work->B + h, *f = work->f + h, *d = work->D + b * lanes;
    for (int c = 0; c < 3; c++) {
        double *Ba = B + c * lanes, *Bl = Ba + 3 * lanes;
        modes_put(Ba, subtract_modes(modes_at(Ba), g, u->a[0].e[c], u->a[1].e[c], u->a[2].e[c],
                                     u->a[3].e[c]));
        modes_put(Bl, subtract_modes(modes_at(Bl), g, u->l[0].e[c], u->l[1].e[c], u->l[2].e[c],
                                     u->l[3].e[c]));
    }
    modes_put(
        f, subtract_modes(modes_at(f), g, u->a[0].e[3], u->a[1].e[3], u->a[2].e[3], u->a[3].e[3]));
    for (int r = b + 4; r < h + 4; r++) {
        double *row = work->D + r * lanes + h;
        modes_put(row, subtract_modes(modes_at(row), g, d[r], d[lanes + r], d[2 * lanes + r],
                                      d[3 * lanes + r]));
    }
}

/*
 * Eliminate modes b to b + 3 from the link and from the modes behind them.  Their rows of D are
 * overwritten with the values that the outward pass needs: D^-1 times the columns behind, and D^-1
 * [B' f] in place of D itself, with its linear half in Z.
 */
DYN_FOR_LANES void eliminate_four(int b, int lanes, const struct dyn_modal_work *work,
                                  struct dyn_tree_link_work *L)
{
    double *row = work->D + b * lanes;
    const struct dyn_mode_rows Ba = rows_at(work->B + b, lanes),
                               Bl = rows_at(work->B + 3 * lanes + b, lanes);
    const struct dyn_four D = factor_four(row + b, lanes);
    const struct dyn_by_mode ua =
        forward_four(&D, by_mode(Ba.x, Ba.y, Ba.z, modes_at(work->f + b)));
    const struct dyn_by_mode ul = forward_four(&D, by_mode(Bl.x, Bl.y, Bl.z, lane_splat(0.0)));
    const struct dyn_by_mode gf = gain_of_four(&D, ua), gl = gain_of_four(&D, ul);
    struct dyn_four_kept kept;

    by_mode_put(work->F + 4 * b, 4, by_mode_at(row + b, lanes));
    keep_four(kept.a, ua);
    keep_four(kept.l, ul);
    by_mode_put(row + b, lanes, backward_four(&D, gf));
    by_mode_put(work->Z + 4 * b, 4, backward_four(&D, gl));
    subtract_modes_from_link(gf, gl, &kept, L);
    for (int h = b + 4; h < lanes; h += 4)
        by_mode_put(row + h, lanes, forward_four(&D, by_mode_at(row + h, lanes)));
    for (int h = lanes - 4; h > b; h -= 4) {
        const struct dyn_by_mode g = gain_of_four(&D, by_mode_at(row + h, lanes));
        subtract_modes_from_modes(b, h, lanes, g, &kept, work);
        by_mode_put(row + h, lanes, backward_four(&D, g));
    }
}

DYN_APART void eliminate_modes(const struct dyn_modal_link *modal, const struct dyn_input *input,
                               const double *tau, struct dyn_modal_work *work,
                               struct dyn_tree_link_work *L)
{
    const int modes = modal->modes, lanes = modal->lanes;

    if (input->modal_implicit_step > 0.0)
        add_modal_implicit(modal, input->modal_implicit_step, work);
    for (int g = 0; g < lanes; g += 4)
        modes_put(work->f + g,
                  modes_at(work->f + g) - modes_from(tau + modal->v_at + g, modes - g));
    if (lanes == 4)
        eliminate_four(0, 4, work, L);
    else if (lanes == 8)
        for (int b = 0; b < 8; b += 4)
            eliminate_four(b, 8, work, L);
    else
        for (int b = 0; b < lanes; b += 4)
            eliminate_four(b, lanes, work, L);
}

/* Where joints are held, each link is treated by itself. */
static inline enum dyn_tree_link_pass pass_of(const struct dyn_tree_link *link,
                                              const struct dyn_input *input)
{
    return input->held == NULL ? link->pass : DYN_PASS_OTHER;
}

/* The inward pass of a tree with modes: those of a link are eliminated before its joint. */
DYN_APART void inward_flexible(const struct dyn_model *model, const struct dyn_input *input,
                               const double *tau, struct dyn_work *work)
{
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        const enum dyn_tree_link_pass pass = pass_of(link, input);
        struct dyn_tree_link_work *L = &work->link[i], *on = &work->link[link->parent];

        if (pass == DYN_PASS_LONE_NODE || pass == DYN_PASS_EMPTY_NODE)
            continue; /* done with its hinge, or nothing to do */
        if (link->modal >= 0)
            eliminate_modes(&model->modal[link->modal], input, tau, &work->modal[link->modal], L);
        if (pass == DYN_PASS_LONE_REVOLUTE)
            inward_hinge(model, link, tau[link->v_at], work, L);
        else if (pass == DYN_PASS_REVOLUTE)
            inward_revolute(link, tau[link->v_at], L, on);
        else if (pass == DYN_PASS_FREE)
            inward_free(link, tau + link->v_at, L, on);
        else if (link->node >= 0)
            inward_node(model, link, work, L, on);
        else
            inward_other(link, input, tau, work, L, on);
    }
}
