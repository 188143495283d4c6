/*
 * The flexible half of the kernel, included by aba_lanes.h.  Letters as in flex.h and work.h.
 *
 *      move      W(eta), and with it the deformed inertia and B, f of the link; X of each node
 *      inward    a node hands  A to its parent, and A X to B, X' A X to D, X' (p + A c) to f
 *                A - B D^-1 B',  p - B D^-1 f: modes are gone before the joint's turn comes
 *      outward   eta'' = -D^-1 (f + B' a),  a of a node = a of its parent + c + X eta''
 *
 * Modes lie in lanes, so all but D^-1 is done for four of them at once.
 */
#pragma once

#include <math.h>

#include "dynamics/kernel/lane.h"

/* Compiled anew for four lanes, in which no loop is left, often for eight, whose distances are
 * known then, and for any number of them. */
#define DYN_FOR_LANES static inline __attribute__((always_inline))

/* Not to take registers from links that do not bend. */
#define DYN_APART static __attribute__((noinline))

/* The lanes that a row of modes begins with. */
static inline dyn_lane modes_at(const double *row)
{
    return *(const dyn_lane *)row;
}

static inline void modes_put(double *row, dyn_lane a)
{
    *(dyn_lane *)row = a;
}

/* Rows over modes, named by component. */
struct dyn_mode_rows {
    dyn_lane x, y, z;
};

static inline struct dyn_mode_rows rows_none(void)
{
    const dyn_lane none = lane_splat(0.0);
    return (struct dyn_mode_rows){none, none, none};
}

static inline struct dyn_mode_rows rows_at(const double *row, int lanes)
{
    return (struct dyn_mode_rows){modes_at(row), modes_at(row + lanes), modes_at(row + 2 * lanes)};
}

static inline void rows_put(double *row, int lanes, struct dyn_mode_rows a)
{
    modes_put(row, a.x);
    modes_put(row + lanes, a.y);
    modes_put(row + 2 * lanes, a.z);
}

static inline void rows_add(double *row, int lanes, struct dyn_mode_rows a)
{
    modes_put(row, modes_at(row) + a.x);
    modes_put(row + lanes, modes_at(row + lanes) + a.y);
    modes_put(row + 2 * lanes, modes_at(row + 2 * lanes) + a.z);
}

static inline struct dyn_mode_rows rows_sum_of(struct dyn_mode_rows a, struct dyn_mode_rows b)
{
    return (struct dyn_mode_rows){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline struct dyn_mode_rows rows_axpy(struct dyn_mode_rows a, dyn_lane s,
                                             struct dyn_mode_rows b)
{
    return (struct dyn_mode_rows){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline struct dyn_mode_rows rows_scale(dyn_lane s, struct dyn_mode_rows a)
{
    return (struct dyn_mode_rows){s * a.x, s * a.y, s * a.z};
}

/* a + sum_q s_q d_q: what depends on a second mode, for all of them. */
DYN_FOR_LANES struct dyn_mode_rows rows_gather(struct dyn_mode_rows a, const double *d,
                                               const double *s, int modes, int lanes)
{
#pragma GCC unroll 4
    for (int q = 0; q < modes; q++)
        a = rows_axpy(a, lane_splat(s[q]), rows_at(d + q * 3 * lanes, lanes));
    return a;
}

static inline struct dyn_mode_rows rows_cross(struct dyn_vec3 r, struct dyn_mode_rows a)
{
    const dyn_lane x = lane_splat(r.x), y = lane_splat(r.y), z = lane_splat(r.z);
    return (struct dyn_mode_rows){y * a.z - z * a.y, z * a.x - x * a.z, x * a.y - y * a.x};
}

static inline dyn_lane rows_dot(struct dyn_vec3 r, struct dyn_mode_rows a)
{
    return lane_splat(r.x) * a.x + lane_splat(r.y) * a.y + lane_splat(r.z) * a.z;
}

/* Link axes to world axes. */
static inline struct dyn_mode_rows rows_turn(const struct dyn_row R[3], struct dyn_mode_rows a)
{
    return (struct dyn_mode_rows){rows_dot((struct dyn_vec3){R[0].e[0], R[1].e[0], R[2].e[0]}, a),
                                  rows_dot((struct dyn_vec3){R[0].e[1], R[1].e[1], R[2].e[1]}, a),
                                  rows_dot((struct dyn_vec3){R[0].e[2], R[1].e[2], R[2].e[2]}, a)};
}

/* Over all modes, as a vector. */
static inline dyn_lane rows_sum(struct dyn_mode_rows a)
{
    return lane_sums(a.x, a.y, a.z, lane_splat(0.0));
}

static inline struct dyn_vec3 lane_vec3(dyn_lane a)
{
    return (struct dyn_vec3){a[0], a[1], a[2]};
}

/* ---- move ---------------------------------------------------------------------------------- */

/* Up to four from where modes stand side by side, zero in the empty lanes. */
static inline dyn_lane modes_from(const double *from, int modes)
{
    dyn_lane row = lane_splat(0.0);
    if (__builtin_expect(modes >= 4, 1))
        return lane_at(from);
    for (int p = 0; p < modes; p++)
        row[p] = from[p];
    return row;
}

static inline void load_row(const double *from, int modes, int lanes, double *row)
{
    if (__builtin_expect(modes == 4, 1)) {
        modes_put(row, lane_at(from));
        return;
    }
    for (int g = 0; g < lanes; g += 4)
        modes_put(row + g, modes_from(from + g, modes - g));
}

/* W = int psi x' dm of four modes. */
struct dyn_mode_matrix {
    struct dyn_mode_rows x, y, z; /* its rows */
};

static inline struct dyn_mode_matrix matrix_at(const double *row, int lanes)
{
    return (struct dyn_mode_matrix){rows_at(row, lanes), rows_at(row + 3 * lanes, lanes),
                                    rows_at(row + 6 * lanes, lanes)};
}

DYN_FOR_LANES struct dyn_mode_matrix deformed_W(const struct dyn_modal_link *modal, int g,
                                                const double *eta, int modes, int lanes)
{
    struct dyn_mode_matrix W = matrix_at(modal->L + g, lanes);
#pragma GCC unroll 4
    for (int q = 0; q < modes; q++) {
        const struct dyn_mode_matrix d = matrix_at(modal->W1 + q * 9 * lanes + g, lanes);
        const dyn_lane s = lane_splat(eta[q]);
        W = (struct dyn_mode_matrix){rows_axpy(W.x, s, d.x), rows_axpy(W.y, s, d.y),
                                     rows_axpy(W.z, s, d.z)};
    }
    return W;
}

static inline struct dyn_mode_rows axial(struct dyn_mode_matrix W)
{
    return (struct dyn_mode_rows){W.z.y - W.y.z, W.x.z - W.z.x, W.y.x - W.x.y};
}

/* tr(W) w - W w */
static inline struct dyn_mode_rows turn_times(struct dyn_mode_matrix W, struct dyn_vec3 w)
{
    const dyn_lane trace = W.x.x + W.y.y + W.z.z;
    return (struct dyn_mode_rows){trace * lane_splat(w.x) - rows_dot(w, W.x),
                                  trace * lane_splat(w.y) - rows_dot(w, W.y),
                                  trace * lane_splat(w.z) - rows_dot(w, W.z)};
}

/* What deformation adds to a link, in link axes. */
struct dyn_bent {
    dyn_lane mc, force, torque;
    dyn_lane Z_diagonal, Z_across; /* xx yy zz, - xy xz yz of Z */
};

/* Z of four modes. */
DYN_FOR_LANES void bend_inertia(const double *Z0, int lanes, const struct dyn_mode_matrix *W,
                                dyn_lane eta, struct dyn_bent *bent)
{
    const struct dyn_mode_rows diagonal0 = rows_at(Z0, lanes);
    const struct dyn_mode_rows across0 = rows_at(Z0 + 3 * lanes, lanes);
    const dyn_lane half_eta = lane_splat(0.5) * eta;

    bent->Z_diagonal += lane_sums(eta * (W->x.x + diagonal0.x), eta * (W->y.y + diagonal0.y),
                                  eta * (W->z.z + diagonal0.z), lane_splat(0.0));
    bent->Z_across += lane_sums(lane_splat(0.0), half_eta * (W->x.y + W->y.x + across0.x),
                                half_eta * (W->x.z + W->z.x + across0.y),
                                half_eta * (W->y.z + W->z.y + across0.z));
}

/* Forces on the modes, and torque on the link, of w and the modes' rates: t = tr(W) w - W w. */
DYN_FOR_LANES dyn_lane bend_torque(const struct dyn_modal_link *modal, int g, int modes, int lanes,
                                   struct dyn_vec3 w, const struct dyn_mode_rows *t,
                                   const struct dyn_modal_work *work, struct dyn_bent *bent)
{
    const struct dyn_mode_rows Y = rows_gather(rows_none(), modal->Y1 + g, work->xi, modes, lanes);
    struct dyn_mode_rows torque = rows_scale(lane_splat(2.0), *t);

    if (modal->rotary)
        torque = rows_sum_of(torque, rows_cross(w, rows_at(modal->S + g, lanes)));
    if (modal->has_second_order)
        torque = rows_gather(torque, modal->G1 + g, work->xi, modes, lanes);
    bent->torque += rows_sum(rows_scale(modes_at(work->xi + g), torque));
    return lane_splat(2.0) * rows_dot(w, Y);
}

/* P of four modes, the mass centre, and the force on the link. */
DYN_FOR_LANES struct dyn_mode_rows bend_center(const struct dyn_modal_link *modal, int g, int modes,
                                               int lanes, struct dyn_vec3 w,
                                               const struct dyn_modal_work *work,
                                               struct dyn_bent *bent)
{
    const struct dyn_mode_rows P0 = rows_at(modal->P + g, lanes);
    struct dyn_mode_rows P = P0;
    if (modal->has_second_order)
        P = rows_gather(P, modal->P1 + g, work->eta, modes, lanes);
    bent->mc += rows_sum(rows_scale(lane_splat(0.5) * modes_at(work->eta + g), rows_sum_of(P0, P)));

    struct dyn_mode_rows force = rows_cross(dyn_scale(2.0, w), P);
    if (modal->has_second_order)
        force = rows_gather(force, modal->P1 + g, work->xi, modes, lanes);
    bent->force += rows_sum(rows_scale(modes_at(work->xi + g), force));
    return P;
}

/* K eta + C xi of four modes. */
DYN_FOR_LANES dyn_lane spring_force(const struct dyn_modal_link *modal, int g, int modes, int lanes,
                                    const struct dyn_modal_work *work)
{
    dyn_lane spring = lane_splat(0.0), damper = spring;
    if (modal->has_diagonal_stiffness)
        return modes_at(modal->k + g) * modes_at(work->eta + g) +
               modes_at(modal->c + g) * modes_at(work->xi + g);
#pragma GCC unroll 4
    for (int q = 0; q < modes; q++) {
        spring += modes_at(modal->K + q * lanes + g) * lane_splat(work->eta[q]);
        damper += modes_at(modal->C + q * lanes + g) * lane_splat(work->xi[q]);
    }
    return spring + damper;
}

/* What four modes feel of springs, dampers and rates, and how they couple to the link.  In an order
 * that keeps few values alive. */
DYN_FOR_LANES void move_four(const struct dyn_modal_link *modal, int deforms, int g, int modes,
                             int lanes, struct dyn_vec3 w, const struct dyn_tree_link_work *L,
                             struct dyn_modal_work *work, struct dyn_bent *bent)
{
    const struct dyn_mode_matrix W =
        deforms ? deformed_W(modal, g, work->eta, modes, lanes) : matrix_at(modal->L + g, lanes);
    if (deforms)
        bend_inertia(modal->Z0 + g, lanes, &W, modes_at(work->eta + g), bent);
    const struct dyn_mode_rows t = turn_times(W, w);
    struct dyn_mode_rows H = axial(W);
    if (modal->rotary)
        H = rows_sum_of(H, rows_at(modal->S + g, lanes));
    rows_put(work->B + g, lanes, rows_turn(L->R, H));

    dyn_lane f = spring_force(modal, g, modes, lanes, work) - rows_dot(w, t);
    if (deforms)
        f += bend_torque(modal, g, modes, lanes, w, &t, work, bent);
    modes_put(work->f + g, f);

    const struct dyn_mode_rows P =
        deforms ? bend_center(modal, g, modes, lanes, w, work, bent) : rows_at(modal->P + g, lanes);
    rows_put(work->B + 3 * lanes + g, lanes, rows_turn(L->R, P));
}

/* I0 + tr(Z) 1 - Z, in world axes. */
static inline struct dyn_lane3 bent_inertia(const struct dyn_bent *bent, const struct dyn_sym3 *I0,
                                            const struct dyn_row R_rows[3])
{
    const struct dyn_lane3 R = lane3_load(R_rows);
    const dyn_lane yzx = lane_yzx(bent->Z_diagonal);
    const dyn_lane d = lane_at(&I0->xx) + yzx + lane_yzx(yzx); /* the last lane is not used, */
    const dyn_lane c = lane_at(&I0->zz) - bent->Z_across;      /* nor the first */
    const struct dyn_lane3 RI = {lane3_mul(R, (struct dyn_vec3){d[0], c[1], c[2]}),
                                 lane3_mul(R, (struct dyn_vec3){c[1], d[1], c[3]}),
                                 lane3_mul(R, (struct dyn_vec3){c[2], c[3], d[2]})};
    return (struct dyn_lane3){
        lane3_mul(RI, (struct dyn_vec3){R_rows[0].e[0], R_rows[1].e[0], R_rows[2].e[0]}),
        lane3_mul(RI, (struct dyn_vec3){R_rows[0].e[1], R_rows[1].e[1], R_rows[2].e[1]}),
        lane3_mul(RI, (struct dyn_vec3){R_rows[0].e[2], R_rows[1].e[2], R_rows[2].e[2]})};
}

/* As move_inertia, of the deformed link. */
static inline void move_bent_inertia(const struct dyn_tree_link *link,
                                     const struct dyn_inertia *own, const struct dyn_bent *bent,
                                     struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 R = lane3_load(L->R);
    const dyn_lane w = lane_load(&L->w);
    const struct dyn_lane3 I = bent_inertia(bent, &own->I, L->R);
    const dyn_lane h = lane3_mul(R, lane_vec3(lane_at(&own->mc.x) + bent->mc));
    const dyn_lane n = lane3_mul(R, lane_vec3(bent->torque));
    const dyn_lane f = lane3_mul(R, lane_vec3(bent->force));

    lane3_store(L->I, I);
    lane3_store(L->H, skew(h));
    lane3_store(L->M, lane3_load(link->mass_rows));
    lane_store(&L->pa, lane_cross(w, lane3_mul(I, dyn_vec3_load(L->w.e))) + n);
    lane_store(&L->pl, lane_cross(w, lane_cross(w, h)) + f);
}

DYN_FOR_LANES void move_modes(const struct dyn_modal_link *modal, int deforms, int modes, int lanes,
                              const struct dyn_tree_link_work *L, struct dyn_modal_work *work,
                              struct dyn_bent *bent)
{
    const struct dyn_lane3 R = lane3_load(L->R);
    const dyn_lane w = lane_load(&L->w);
    const struct dyn_vec3 w_link = lane_vec3(lane_sums(R.x * w, R.y * w, R.z * w, w));

    for (int g = 0; g < lanes; g += 4)
        move_four(modal, deforms, g, modes, lanes, w_link, L, work, bent);
    for (int k = 0; k < lanes * lanes; k += 4)
        modes_put(work->D + k, modes_at(modal->M + k));
}

/* The state of the modes, zero in the empty lanes. */
static inline void load_modal_state(const struct dyn_modal_link *modal, const double *q,
                                    const double *v, const struct dyn_modal_work *work)
{
    load_row(q + modal->q_at, modal->modes, modal->lanes, work->eta);
    load_row(v + modal->v_at, modal->modes, modal->lanes, work->xi);
}

/* In place of move_inertia: a link that keeps its shape for all but its modes. */
DYN_APART void move_straight(const struct dyn_model *model, const struct dyn_tree_link *link,
                             struct dyn_tree_link_work *L, struct dyn_modal_work *work)
{
    const struct dyn_modal_link *modal = &model->modal[link->modal];

    move_inertia(link, L);
    if (modal->lanes == 4)
        move_modes(modal, 0, 4, 4, L, work, NULL); /* empty ones do no harm */
    else
        move_modes(modal, 0, modal->modes, modal->lanes, L, work, NULL);
}

/* The same of a link that deforms. */
DYN_APART void move_bent(const struct dyn_model *model, const struct dyn_tree_link *link,
                         struct dyn_tree_link_work *L, struct dyn_modal_work *work)
{
    const struct dyn_modal_link *modal = &model->modal[link->modal];
    const dyn_lane none = lane_splat(0.0);
    struct dyn_bent bent = {none, none, none, none, none};

    if (modal->lanes == 4)
        move_modes(modal, 1, 4, 4, L, work, &bent);
    else if (modal->lanes == 8)
        move_modes(modal, 1, modal->modes, 8, L, work, &bent);
    else
        move_modes(modal, 1, modal->modes, modal->lanes, L, work, &bent);
    move_bent_inertia(link, &model->inertia[modal->link], &bent, L);
}

/* ---- nodes ---- */

/* Where modes put a node, in the axes of its link: turn theta and travel u. */
struct dyn_node_place {
    dyn_lane theta, u;
};

/* X = d[theta; u]/deta comes to the place where it belongs. */
DYN_FOR_LANES struct dyn_node_place place_node(const struct dyn_modal_node *node, int modes,
                                               int lanes, const struct dyn_modal_work *work,
                                               double *X)
{
    struct dyn_mode_rows u = rows_none(), theta = u;
    for (int g = 0; g < lanes; g += 4) {
        const dyn_lane half_eta = lane_splat(0.5) * modes_at(work->eta + g);
        const struct dyn_mode_rows psi0 = rows_at(node->psi + g, lanes),
                                   theta0 = rows_at(node->theta + g, lanes);
        struct dyn_mode_rows psi = psi0, turn = theta0;
        if (node->has_psi1)
            psi = rows_gather(psi, node->psi1 + g, work->eta, modes, lanes);
        if (node->has_theta1)
            turn = rows_gather(turn, node->theta1 + g, work->eta, modes, lanes);
        u = rows_axpy(u, half_eta, rows_sum_of(psi0, psi));
        theta = rows_axpy(theta, half_eta, rows_sum_of(theta0, turn));
        rows_put(X + g, lanes, turn);
        rows_put(X + 3 * lanes + g, lanes, psi);
    }
    return (struct dyn_node_place){rows_sum(theta), rows_sum(u)};
}

/* sum_pq d1_pq xi_p xi_q: what moves on when no mode accelerates. */
DYN_FOR_LANES dyn_lane bend_rate(const double *d1, int modes, int lanes, const double *xi)
{
    struct dyn_mode_rows sum = rows_none();
    for (int g = 0; g < lanes; g += 4)
        sum = rows_axpy(sum, modes_at(xi + g), rows_gather(rows_none(), d1 + g, xi, modes, lanes));
    return rows_sum(sum);
}

/* P (theta x), by columns. */
static inline struct dyn_lane3 times_skew(struct dyn_lane3 P, struct dyn_vec3 theta)
{
    const dyn_lane x = lane_splat(theta.x), y = lane_splat(theta.y), z = lane_splat(theta.z);
    return (struct dyn_lane3){z * P.y - y * P.z, x * P.z - z * P.x, y * P.x - x * P.y};
}

/* The parent's axes P, turned by theta: 1 + s (theta x) + s/2 (theta x)^2. */
static inline struct dyn_lane3 rotated_by_modes(struct dyn_lane3 P, dyn_lane s,
                                                struct dyn_vec3 theta)
{
    const struct dyn_lane3 once = times_skew(P, theta), twice = times_skew(once, theta);
    const struct dyn_lane3 sum = lane3_axpy(once, lane_splat(0.5), twice);
    return lane3_axpy(P, s, sum);
}

/* The axes of a node, where E is often a turn about x and oftener none. */
static inline struct dyn_lane3 node_axes(struct dyn_lane3 P, const struct dyn_tree_link *link)
{
    return link->axial ? rotated_about_x(P, link->E.row[1]) : rotated(P, &link->E);
}

/* How modes move a node, world axes. */
struct dyn_node_rate {
    dyn_lane spin, travel;
};

/* X to world axes, its turn as an angular velocity s (theta' + theta x theta' / 2); and X xi. */
DYN_FOR_LANES struct dyn_node_rate turn_node_columns(const struct dyn_row R[3], dyn_lane s,
                                                     struct dyn_vec3 theta, int lanes,
                                                     const double *xi, double *X)
{
    const struct dyn_vec3 half_theta = dyn_scale(0.5, theta);
    struct dyn_mode_rows spin = rows_none(), travel = spin;
    for (int g = 0; g < lanes; g += 4) {
        const struct dyn_mode_rows t = rows_at(X + g, lanes);
        const struct dyn_mode_rows w = rows_scale(s, rows_sum_of(t, rows_cross(half_theta, t)));
        const struct dyn_mode_rows Xa = rows_turn(R, w);
        const struct dyn_mode_rows Xl = rows_turn(R, rows_at(X + 3 * lanes + g, lanes));
        spin = rows_axpy(spin, modes_at(xi + g), Xa);
        travel = rows_axpy(travel, modes_at(xi + g), Xl);
        rows_put(X + g, lanes, Xa);
        rows_put(X + 3 * lanes + g, lanes, Xl);
    }
    return (struct dyn_node_rate){rows_sum(spin), rows_sum(travel)};
}

/* The node of a link that deforms. */
DYN_FOR_LANES void move_bent_node(const struct dyn_tree_link *link,
                                  const struct dyn_modal_node *node, int modes, int lanes,
                                  const struct dyn_modal_work *work, double *X,
                                  const struct dyn_tree_link_work *on, struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 P = lane3_load(on->R);
    const dyn_lane w_on = lane_load(&on->w), half = lane_splat(0.5);
    const struct dyn_node_place at = place_node(node, modes, lanes, work, X);
    const struct dyn_vec3 theta = lane_vec3(at.theta);
    const dyn_lane s =
        lane_splat(1.0) / (lane_splat(1.0) + lane_splat(0.25) * lane_sum(at.theta * at.theta));
    const dyn_lane bent = node->has_psi1 ? bend_rate(node->psi1, modes, lanes, work->xi)
                                         : lane_splat(0.0); /* while s is waited for */
    const struct dyn_node_rate rate = turn_node_columns(on->R, s, theta, lanes, work->xi, X);
    const dyn_lane r = lane3_mul(P, lane_vec3(lane_load(&link->origin_row) + at.u));
    const dyn_lane carried = lane_cross(w_on, r) + lane_splat(2.0) * rate.travel;
    dyn_lane ca =
        lane_cross(w_on, rate.spin) - half * lane_sum(lane3_mul(P, theta) * rate.spin) * rate.spin;

    if (node->has_theta1) {
        const dyn_lane b = bend_rate(node->theta1, modes, lanes, work->xi);
        ca += s * lane3_mul(P, lane_vec3(b + half * lane_cross(at.theta, b)));
    }
    lane3_store(L->R, node_axes(rotated_by_modes(P, s, theta), link));
    lane_store(&L->r, r);
    lane_keep(&L->w, w_on + rate.spin);
    lane_store(&L->travel, rate.travel);
    lane_store(&L->ca, ca);
    lane_store(&L->cl, lane_cross(w_on, carried) + lane3_mul(P, lane_vec3(bent)));
}

/* The node of a link whose modes move it, but not its place. */
DYN_FOR_LANES void move_straight_node(const struct dyn_tree_link *link,
                                      const struct dyn_modal_node *node, int lanes,
                                      const struct dyn_modal_work *work, double *X,
                                      const struct dyn_tree_link_work *on,
                                      struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 P = lane3_load(on->R);
    const dyn_lane w_on = lane_load(&on->w), r = lane3_mul(P, link->origin);
    struct dyn_mode_rows spin = rows_none(), travel = spin;

    for (int g = 0; g < lanes; g += 4) {
        const dyn_lane xi = modes_at(work->xi + g);
        const struct dyn_mode_rows theta = rows_turn(on->R, rows_at(node->theta + g, lanes));
        const struct dyn_mode_rows psi = rows_turn(on->R, rows_at(node->psi + g, lanes));
        rows_put(X + g, lanes, theta);
        rows_put(X + 3 * lanes + g, lanes, psi);
        spin = rows_axpy(spin, xi, theta);
        travel = rows_axpy(travel, xi, psi);
    }
    lane3_store(L->R, node_axes(P, link));
    lane_store(&L->r, r);
    lane_keep(&L->w, w_on + rows_sum(spin));
    lane_store(&L->travel, rows_sum(travel));
    lane_store(&L->ca, lane_splat(0.0));
    lane_store(&L->cl, lane_cross(w_on, lane_cross(w_on, r)));
}

#include "dynamics/kernel/aba_beam.h"

DYN_APART void move_node(const struct dyn_model *model, const struct dyn_tree_link *link,
                         const struct dyn_work *work, const struct dyn_tree_link_work *on,
                         struct dyn_tree_link_work *L)
{
    const struct dyn_modal_node *node = &model->node[link->node];
    const struct dyn_modal_link *modal = &model->modal[node->modal];
    const struct dyn_modal_work *modes = &work->modal[node->modal];
    double *X = work->node[link->node];

    if (modal->is_slender && modal->lanes == 4)
        move_slender_node(&node->slender, 4, modes, X, on, L);
    else if (modal->is_slender)
        move_slender_node(&node->slender, modal->lanes, modes, X, on, L);
    else if (modal->deforms && modal->lanes == 4)
        move_bent_node(link, node, 4, 4, modes, X, on, L);
    else if (modal->deforms && modal->lanes == 8)
        move_bent_node(link, node, modal->modes, 8, modes, X, on, L);
    else if (modal->deforms)
        move_bent_node(link, node, modal->modes, modal->lanes, modes, X, on, L);
    else if (modal->lanes == 4)
        move_straight_node(link, node, 4, modes, X, on, L);
    else
        move_straight_node(link, node, modal->lanes, modes, X, on, L);
}

/* ---- inward -------------------------------------------------------------------------------- */

/* Columns m, whose elements stand in memory, times rows over modes. */
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

/* B, D and f of the parent feel what the node N carries at the end of the arm: A X, X' A X, X' p,
 * with p = pA + A c. */
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

/* Nothing is eliminated at a node; all it carries goes on, and to the modes. */
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

/* ---- a hinge that is all its node carries ---- */

/*
 * The two go as one joint, of which only its last origin is ever referred to: that of the hinge,
 * at the arm r of the node and of the hinge together.  There X moves, and c is that of both.  The
 * node has what is left of A and p once the hinge is eliminated, and its acceleration without c.
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

/* A of the hinge's link, the hinge eliminated, to the node; its bias with c is left in *pa, *pl. */
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

/* Pivots come in pairs, the second as the determinant over the first: two waits for a division
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

    /* as quotient() has it; one of them is enough, all four modes wait for the last */
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
 * Modes b to b + 3 out of the link and of the modes behind them.  What the outward pass needs takes
 * the place of their rows of D: D^-1 of what stood behind, and D^-1 [B' f] in the place of D
 * itself, with its linear half in Z.
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

/* ---- outward ------------------------------------------------------------------------------- */

/* Modes b to b + 3, when those behind them are known; 1 stands where alpha has nothing. */
DYN_FOR_LANES dyn_lane modal_accelerations_of_four(int b, int lanes,
                                                   const struct dyn_tree_link_work *L,
                                                   const struct dyn_modal_work *work)
{
    const dyn_lane a = lane_load(&L->a);
    const dyn_lane alpha = lane_last(lane_load(&L->alpha), lane_splat(1.0));
    const double *row = work->D + b * lanes;
    const struct dyn_by_mode Y = by_mode_at(row + b, lanes), Z = by_mode_at(work->Z + 4 * b, 4);
    struct dyn_by_mode t = {Y.p0 * alpha + Z.p0 * a, Y.p1 * alpha + Z.p1 * a,
                            Y.p2 * alpha + Z.p2 * a, Y.p3 * alpha + Z.p3 * a};
    for (int h = b + 4; h < lanes; h += 4) {
        const struct dyn_by_mode X = by_mode_at(row + h, lanes);
        const dyn_lane x = modes_at(work->a + h);
        t = (struct dyn_by_mode){t.p0 + X.p0 * x, t.p1 + X.p1 * x, t.p2 + X.p2 * x,
                                 t.p3 + X.p3 * x};
    }
    return -lane_sums(t.p0, t.p1, t.p2, t.p3);
}

/* eta'' = -D^-1 (f + B' a) */
static inline void modal_accelerations(const struct dyn_modal_link *modal,
                                       const struct dyn_tree_link_work *L,
                                       const struct dyn_modal_work *work, double *out)
{
    if (modal->lanes == 4)
        modes_put(work->a, modal_accelerations_of_four(0, 4, L, work));
    else
        for (int b = modal->lanes - 4; b >= 0; b -= 4)
            modes_put(work->a + b, modal_accelerations_of_four(b, modal->lanes, L, work));
    if (modal->modes == 4)
        lane_put(out + modal->v_at, modes_at(work->a));
    else
        memcpy(out + modal->v_at, work->a, (size_t)modal->modes * sizeof *out);
}

/* How the modes of its link make a node accelerate. */
DYN_FOR_LANES void swing_node(int lanes, const double *X, const double *eta_aa,
                              struct dyn_tree_link_work *N, const struct dyn_tree_link_work *on)
{
    struct dyn_mode_rows turn = rows_none(), travel = turn;
    const dyn_lane alpha = lane_load(&on->alpha);

    for (int g = 0; g < lanes; g += 4) {
        turn = rows_axpy(turn, modes_at(eta_aa + g), rows_at(X + g, lanes));
        travel = rows_axpy(travel, modes_at(eta_aa + g), rows_at(X + 3 * lanes + g, lanes));
    }
    lane_store(&N->alpha, alpha + lane_load(&N->ca) + rows_sum(turn));
    lane_store(&N->a, lane_load(&on->a) + lane_cross(alpha, lane_load(&N->r)) + lane_load(&N->cl) +
                          rows_sum(travel));
}

/* How the modes of its link make the end of an arm accelerate, but for c. */
DYN_FOR_LANES void swing_hinge(int lanes, const double *X, const double *eta_aa,
                               struct dyn_tree_link_work *N, const struct dyn_tree_link_work *on)
{
    struct dyn_mode_rows turn = rows_none(), travel = turn;
    const dyn_lane alpha = lane_load(&on->alpha);

    for (int g = 0; g < lanes; g += 4) {
        turn = rows_axpy(turn, modes_at(eta_aa + g), rows_at(X + g, lanes));
        travel = rows_axpy(travel, modes_at(eta_aa + g), rows_at(X + 3 * lanes + g, lanes));
    }
    lane_store(&N->alpha, alpha + rows_sum(turn));
    lane_store(&N->a, lane_load(&on->a) + lane_cross(alpha, lane_load(&N->ga)) + rows_sum(travel));
}

DYN_APART void outward_hinge(const struct dyn_model *model, const struct dyn_tree_link *link,
                             const struct dyn_work *work, struct dyn_tree_link_work *L, double *qdd)
{
    const struct dyn_tree_link *under = &model->link[link->parent];
    const int node = under->node, m = model->node[node].modal;
    const int lanes = model->modal[m].lanes;
    struct dyn_tree_link_work *N = &work->link[link->parent];
    const struct dyn_tree_link_work *on = &work->link[under->parent];

    if (lanes == 4)
        swing_hinge(4, work->node[node], work->modal[m].a, N, on);
    else
        swing_hinge(lanes, work->node[node], work->modal[m].a, N, on);
    const dyn_lane alpha = lane_load(&N->alpha), a = lane_load(&N->a);
    const dyn_lane t = lane_load(&L->ga) * alpha + lane_load(&L->gl) * a;
    const dyn_lane x = lane_splat(L->ud) - lane_sum(t);
    lane_store(&L->alpha, alpha + lane_load(&L->ca) + lane_load(&L->R[2]) * x);
    lane_store(&L->a, a + lane_load(&L->cl));
    *qdd = x[0];
}

DYN_APART void outward_node(const struct dyn_model *model, const struct dyn_tree_link *link,
                            const struct dyn_work *work, struct dyn_tree_link_work *N,
                            const struct dyn_tree_link_work *on)
{
    const struct dyn_modal_node *node = &model->node[link->node];
    const int lanes = model->modal[node->modal].lanes;
    const double *X = work->node[link->node], *eta_aa = work->modal[node->modal].a;

    if (lanes == 4)
        swing_node(4, X, eta_aa, N, on);
    else
        swing_node(lanes, X, eta_aa, N, on);
}
