/*
 * The velocity pass of slender links (struct dyn_slender_link) and of their nodes: a part of the
 * kernel (aba_kernel.h).  The equations are those of aba_bent.h in the link's own axes, without the
 * terms that are zero there: of a mode, the two components across the axis are constant, and the
 * one along it depends on the other modes. Tested by tests/dynamics/flex/test_flex.c.
 */
#pragma once

#include "dynamics/kernel/aba_bent.h"
#include "dynamics/kernel/aba_modes.h"
#include "dynamics/kernel/aba_rigid_velocity.h"
#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"

/* Sums over the modes, each in its lane. */
struct dyn_slender_sums {
    dyn_lane inertia; /* xx yy zz yz */
    dyn_lane force;   /* twice the mass centre's x, then half the force on the link */
    dyn_lane torque;
};

/* J of four modes, of which xy and xz are constant. */
struct dyn_slender_inertia {
    dyn_lane xx, yy, zz, yz;
};

DYN_FOR_LANES struct dyn_slender_inertia slender_inertia(const double *along, int modes, int lanes,
                                                         const double *eta)
{
    const dyn_lane first = lane_splat(eta[0]);
    struct dyn_slender_inertia J = {first * modes_at(along), first * modes_at(along + lanes),
                                    first * modes_at(along + 2 * lanes),
                                    first * modes_at(along + 3 * lanes)};
#pragma GCC unroll 4
    for (int q = 1; q < modes; q++) {
        const double *row = along + 6 * q * lanes;
        const dyn_lane s = lane_splat(eta[q]);
        J.xx += s * modes_at(row);
        J.yy += s * modes_at(row + lanes);
        J.zz += s * modes_at(row + 2 * lanes);
        J.yz += s * modes_at(row + 3 * lanes);
    }
    return J;
}

/* J w */
static inline struct dyn_mode_rows slender_turn_times(const struct dyn_slender_inertia *J,
                                                      dyn_lane Jxy, dyn_lane Jxz, struct dyn_vec3 w)
{
    const dyn_lane x = lane_splat(w.x), y = lane_splat(w.y), z = lane_splat(w.z);
    return (struct dyn_mode_rows){J->xx * x + Jxy * y + Jxz * z, Jxy * x + J->yy * y + J->yz * z,
                                  Jxz * x + J->yz * y + J->zz * z};
}

/* x of H and P of four modes, and the same of rates in place of the coordinates. */
struct dyn_slender_along {
    dyn_lane H, P, H_rate, P_rate;
};

DYN_FOR_LANES struct dyn_slender_along slender_along(const double *along, int modes, int lanes,
                                                     const double *eta, const double *xi)
{
    const dyn_lane H = modes_at(along), P = modes_at(along + lanes);
    struct dyn_slender_along x = {lane_splat(eta[0]) * H, lane_splat(eta[0]) * P,
                                  lane_splat(xi[0]) * H, lane_splat(xi[0]) * P};
#pragma GCC unroll 4
    for (int q = 1; q < modes; q++) {
        const dyn_lane more_H = modes_at(along + 6 * q * lanes);
        const dyn_lane more_P = modes_at(along + (6 * q + 1) * lanes);
        x.H += lane_splat(eta[q]) * more_H;
        x.P += lane_splat(eta[q]) * more_P;
        x.H_rate += lane_splat(xi[q]) * more_H;
        x.P_rate += lane_splat(xi[q]) * more_P;
    }
    return x;
}

/* As move_four.  What is not symmetric in W, and S, turn with the link: -2 W w has w x H more than
 * 2 J w. */
DYN_FOR_LANES struct dyn_slender_sums slender_four(const struct dyn_modal_link *modal, int g,
                                                   int modes, int lanes, struct dyn_vec3 w,
                                                   const struct dyn_modal_work *work)
{
    const double *across = modal->slender.across + g, *along = modal->slender.along + g;
    const dyn_lane eta = modes_at(work->eta + g), xi = modes_at(work->xi + g);
    const dyn_lane spring = spring_force(modal, g, modes, lanes, work);
    const struct dyn_slender_inertia J = slender_inertia(along, modes, lanes, work->eta);
    const dyn_lane inertia = lane_sums(eta * J.xx, eta * J.yy, eta * J.zz, eta * J.yz);
    const struct dyn_mode_rows t =
        slender_turn_times(&J, modes_at(across), modes_at(across + lanes), w);

    const struct dyn_slender_along x =
        slender_along(along + 4 * lanes, modes, lanes, work->eta, work->xi);
    const struct dyn_mode_rows H = {x.H, modes_at(across + 2 * lanes),
                                    modes_at(across + 3 * lanes)};
    const struct dyn_mode_rows P = {x.P, modes_at(across + 4 * lanes),
                                    modes_at(across + 5 * lanes)};
    const struct dyn_mode_rows n = rows_axpy(rows_cross(w, H), lane_splat(2.0), t);
    const struct dyn_mode_rows f = rows_cross(w, P);
    const struct dyn_slender_sums sums = {
        inertia, lane_sums(eta * x.P, xi * (f.x + lane_splat(0.5) * x.P_rate), xi * f.y, xi * f.z),
        rows_sum(rows_scale(xi, n))};

    const struct dyn_mode_rows Ba = rows_turn(work->R, H), Bl = rows_turn(work->R, P);
    modes_put(work->f + g, spring - rows_dot(w, t) + lane_splat(2.0) * lane_splat(w.x) * x.H_rate);
    rows_put(work->B + g, lanes, Ba);
    rows_put(work->B + 3 * lanes + g, lanes, Bl);
    return sums;
}

/* The displacement across the axis, which is linear in the modes. */
DYN_FOR_LANES dyn_lane slender_drift(const struct dyn_row *drift, const double *eta, int modes)
{
    dyn_lane sum = lane_load(&drift[0]) * lane_splat(eta[0]);
#pragma GCC unroll 4
    for (int p = 1; p < modes; p++)
        sum += lane_load(&drift[p]) * lane_splat(eta[p]);
    return sum;
}

/* As move_bent_inertia; own is in lanes as in struct dyn_slender_link, with the force behind. */
static inline void put_slender(const struct dyn_tree_link *link, const struct dyn_row own[3],
                               dyn_lane torque, const struct dyn_row R_rows[3],
                               struct dyn_tree_link_work *L)
{
    const double *a = own[0].e, *b = own[1].e, *c = own[2].e;
    const struct dyn_lane3 R = lane3_load(R_rows);
    const dyn_lane w = lane_load(&L->w);
    const struct dyn_lane3 RI = {lane3_mul(R, (struct dyn_vec3){a[0], b[0], b[1]}),
                                 lane3_mul(R, (struct dyn_vec3){b[0], a[1], a[3]}),
                                 lane3_mul(R, (struct dyn_vec3){b[1], a[3], a[2]})};
    const struct dyn_lane3 I = {
        lane3_mul(RI, (struct dyn_vec3){R_rows[0].e[0], R_rows[1].e[0], R_rows[2].e[0]}),
        lane3_mul(RI, (struct dyn_vec3){R_rows[0].e[1], R_rows[1].e[1], R_rows[2].e[1]}),
        lane3_mul(RI, (struct dyn_vec3){R_rows[0].e[2], R_rows[1].e[2], R_rows[2].e[2]})};
    const dyn_lane h = lane3_mul(R, (struct dyn_vec3){c[0], b[2], b[3]});
    const dyn_lane f = lane3_mul(R, (struct dyn_vec3){c[1], c[2], c[3]});
    const dyn_lane n = lane3_mul(R, lane_vec3(torque));

    lane3_store(L->I, I);
    lane3_store(L->H, skew(h));
    lane3_store(L->M, lane3_load(link->mass_rows));
    lane_store(&L->pa, lane_cross(w, lane3_mul(I, dyn_vec3_load(L->w.e))) + n);
    lane_store(&L->pl, lane_cross(w, lane_cross(w, h)) + f);
}

DYN_FOR_LANES void move_slender_modes(const struct dyn_tree_link *link,
                                      const struct dyn_modal_link *modal, int modes, int lanes,
                                      struct dyn_tree_link_work *L,
                                      const struct dyn_modal_work *work)
{
    static const struct dyn_row twice_and_half = {{0.5, 2.0, 2.0, 2.0}};
    const struct dyn_slender_link *slender = &modal->slender;
    const dyn_lane none = lane_splat(0.0), w = lane_load(&L->w);
    const struct dyn_lane3 R = rotated(lane3_load(L->R), &slender->E);
    const struct dyn_vec3 w_own = lane_vec3(lane_sums(R.x * w, R.y * w, R.z * w, none));
    const double *M = modal->M;
    struct dyn_row own[3];

    lane3_keep(work->R, R);
    struct dyn_slender_sums sums = slender_four(modal, 0, modes, lanes, w_own, work);
    for (int g = 4; g < lanes; g += 4) {
        const struct dyn_slender_sums more = slender_four(modal, g, modes, lanes, w_own, work);
        sums = (struct dyn_slender_sums){sums.inertia + more.inertia, sums.force + more.force,
                                         sums.torque + more.torque};
    }
    for (int k = 0; k < lanes * lanes; k += 4)
        modes_put(work->D + k, modes_at(M + k));
    lane_keep(&own[0], lane_load(&slender->own[0]) + sums.inertia);
    lane_keep(&own[1],
              lane_load(&slender->own[1]) + slender_drift(slender->drift, work->eta, modes));
    lane_keep(&own[2], lane_load(&slender->own[2]) + lane_load(&twice_and_half) * sums.force);
    put_slender(link, own, sums.torque, work->R, L);
}

/* In place of move_bent. */
DYN_APART void move_slender(const struct dyn_model *model, const struct dyn_tree_link *link,
                            struct dyn_tree_link_work *L, struct dyn_modal_work *work)
{
    const struct dyn_modal_link *modal = &model->modal[link->modal];
    const struct dyn_modal_work here =
        *work; /* a local copy, so that the compiler knows that no store changes the pointers */

    if (modal->lanes == 4)
        move_slender_modes(link, modal, 4, 4, L, &here);
    else
        move_slender_modes(link, modal, modal->modes, modal->lanes, L, &here);
}

/* ---- nodes ---- */

/* Writes X along the axis; returns theta x and u x, and their accelerations at zero eta''. */
DYN_FOR_LANES dyn_lane place_slender_four(const double *along, int g, int modes, int lanes,
                                          const struct dyn_modal_work *work, double *X)
{
    const double *eta = work->eta, *xi = work->xi;
    const dyn_lane half_eta = lane_splat(0.5) * modes_at(eta + g), xi_g = modes_at(xi + g);
    const dyn_lane theta0 = modes_at(along + g), psi0 = modes_at(along + lanes + g);
    dyn_lane theta = lane_splat(eta[0]) * theta0, psi = lane_splat(eta[0]) * psi0;
    dyn_lane theta_rate = lane_splat(xi[0]) * theta0, psi_rate = lane_splat(xi[0]) * psi0;
#pragma GCC unroll 4
    for (int q = 1; q < modes; q++) {
        const dyn_lane theta1 = modes_at(along + 2 * q * lanes + g);
        const dyn_lane psi1 = modes_at(along + (2 * q + 1) * lanes + g);
        theta += lane_splat(eta[q]) * theta1;
        psi += lane_splat(eta[q]) * psi1;
        theta_rate += lane_splat(xi[q]) * theta1;
        psi_rate += lane_splat(xi[q]) * psi1;
    }
    modes_put(X + g, theta);
    modes_put(X + 3 * lanes + g, psi);
    return lane_sums(half_eta * theta, half_eta * psi, xi_g * theta_rate, xi_g * psi_rate);
}

DYN_FOR_LANES dyn_lane place_slender_node(const double *along, int modes, int lanes,
                                          const struct dyn_modal_work *work, double *X)
{
    dyn_lane sums = place_slender_four(along, 0, modes, lanes, work, X);
    for (int g = 4; g < lanes; g += 4)
        sums += place_slender_four(along, g, modes, lanes, work, X);
    return sums;
}

/*
 * The part of a node's motion that depends on the modes alone.  It is computed before the links
 * move, because its latency is long, and is kept in rows of the node that only the outward pass
 * writes,
 *
 *      alpha   x of theta and of u, and their accelerations at zero eta''
 *      a       y and z of theta, y and z of u
 *      ga, gl  s/2 times the two, with ud = s = 1 / (1 + theta^2 / 4)
 */
DYN_FOR_LANES void take_slender_node(const struct dyn_slender_node *node, int modes, int lanes,
                                     const struct dyn_modal_work *work, double *X,
                                     struct dyn_tree_link_work *N)
{
    const dyn_lane along = place_slender_node(node->along, modes, lanes, work, X);
    const dyn_lane across = slender_drift(node->drift, work->eta, modes);

    lane_keep(&N->alpha, along);
    lane_keep(&N->a, across);
    const struct dyn_vec3 theta = {N->alpha.e[0], N->a.e[0], N->a.e[1]};
    const double s = 1.0 / (1.0 + 0.25 * dyn_dot(theta, theta));
    lane_store(&N->ga, lane_splat(0.5 * s) * along);
    lane_store(&N->gl, lane_splat(0.5 * s) * across);
    N->ud = s;
}

/* As turn_node_columns, where X has only the components along the axis. */
DYN_FOR_LANES struct dyn_node_rate turn_slender_columns(const struct dyn_row R[3],
                                                        const struct dyn_tree_link_work *N,
                                                        int lanes, const double *across,
                                                        const double *xi, double *X)
{
    const struct dyn_vec3 part = {N->ga.e[0], N->gl.e[0], N->gl.e[1]};
    const dyn_lane s = lane_splat(N->ud);
    struct dyn_mode_rows spin = rows_none(), travel = spin;
    for (int g = 0; g < lanes; g += 4) {
        const struct dyn_mode_rows t = {modes_at(X + g), modes_at(across + g),
                                        modes_at(across + lanes + g)};
        const struct dyn_mode_rows u = {modes_at(X + 3 * lanes + g),
                                        modes_at(across + 2 * lanes + g),
                                        modes_at(across + 3 * lanes + g)};
        const struct dyn_mode_rows w = rows_axpy(rows_cross(part, t), s, t);
        const struct dyn_mode_rows Xa = rows_turn(R, w), Xl = rows_turn(R, u);
        const dyn_lane rate = modes_at(xi + g);
        spin = g == 0 ? rows_scale(rate, Xa) : rows_axpy(spin, rate, Xa);
        travel = g == 0 ? rows_scale(rate, Xl) : rows_axpy(travel, rate, Xl);
        rows_put(X + g, lanes, Xa);
        rows_put(X + 3 * lanes + g, lanes, Xl);
    }
    return (struct dyn_node_rate){rows_sum(spin), rows_sum(travel)};
}

/* As move_bent_node. */
DYN_FOR_LANES void move_slender_node(const struct dyn_slender_node *node, int lanes,
                                     const struct dyn_modal_work *work, double *X,
                                     const struct dyn_tree_link_work *on,
                                     struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 P = lane3_load(work->R);
    const dyn_lane w_on = lane_load(&on->w), half = lane_splat(0.5), s = lane_splat(L->ud);
    const struct dyn_vec3 theta = {L->alpha.e[0], L->a.e[0], L->a.e[1]};
    const struct dyn_vec3 u = {L->alpha.e[1], L->a.e[2], L->a.e[3]};
    const struct dyn_lane3 once = times_skew(P, theta), twice = times_skew(once, theta);
    const struct dyn_lane3 turn = lane3_axpy(P, s, lane3_axpy(once, half, twice));
    lane3_store(L->R, rotated(turn, &node->E));

    const struct dyn_node_rate rate =
        turn_slender_columns(work->R, L, lanes, node->across, work->xi, X);
    const dyn_lane r = lane3_mul(P, node->origin) + lane3_mul(P, u);
    const dyn_lane carried = lane_cross(w_on, r) + lane_splat(2.0) * rate.travel;
    const dyn_lane twist = s * lane_splat(L->alpha.e[2]) * (P.x + half * once.x);
    const dyn_lane swing = half * lane_sum(lane3_mul(P, theta) * rate.spin) * rate.spin;

    lane_store(&L->r, r);
    lane_keep(&L->w, w_on + rate.spin);
    lane_store(&L->travel, rate.travel);
    lane_store(&L->ca, lane_cross(w_on, rate.spin) - swing + twist);
    lane_store(&L->cl, lane_cross(w_on, carried) + P.x * lane_splat(L->alpha.e[3]));
}
