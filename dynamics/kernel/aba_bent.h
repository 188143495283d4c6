/*
 * The velocity pass of flexible links of any shape, and of their nodes: a part of the kernel
 * (aba_kernel.h).  Letters as in flex.h and work.h.  aba_slender.h has the slender links.
 * Tested by tests/dynamics/flex/test_flex.c.
 */
#pragma once

#include "dynamics/kernel/aba_modes.h"
#include "dynamics/kernel/aba_rigid_velocity.h"
#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"

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

/* The terms that deformation adds to a link, in link axes. */
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

/* The forces on four modes of springs, dampers and rates, and how the modes couple to the link.
 * The order keeps few values alive. */
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

/* In place of move_inertia, for a link of fidelity `ruthless`: its inertia is that of the
 * undeformed link. */
DYN_APART void move_straight(const struct dyn_model *model, const struct dyn_tree_link *link,
                             struct dyn_tree_link_work *L, struct dyn_modal_work *work)
{
    const struct dyn_modal_link *modal = &model->modal[link->modal];

    move_inertia(link, L);
    if (modal->lanes == 4)
        move_modes(modal, 0, 4, 4, L, work, NULL); /* empty lanes have no effect */
    else
        move_modes(modal, 0, modal->modes, modal->lanes, L, work, NULL);
}

/* The same for a link that deforms. */
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

/* The displacement of a node by the modes, in the axes of its link: turn theta and travel u. */
struct dyn_node_place {
    dyn_lane theta, u;
};

/* Also writes X = d[theta; u]/deta. */
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

/* sum_pq d1_pq xi_p xi_q: the acceleration at zero eta''. */
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

/* The axes of a node; E is often a turn about x or the identity. */
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
    const dyn_lane bent =
        node->has_psi1 ? bend_rate(node->psi1, modes, lanes, work->xi)
                       : lane_splat(0.0); /* computed while the division for s is under way */
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

/* The node of a link of fidelity `ruthless`: the modes give it a velocity but do not displace
 * it. */
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
