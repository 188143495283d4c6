/*
 * The outward acceleration pass of trees with flexible links: a part of the kernel (aba_kernel.h).
 *
 *      eta'' = -D^-1 (f + B' a),  a of a node = a of its parent + c + X eta''
 *
 * Tested by tests/dynamics/flex/test_flex.c.
 */
#pragma once

#include <string.h>

#include "dynamics/kernel/aba_flex_inward.h"
#include "dynamics/kernel/aba_modes.h"
#include "dynamics/kernel/aba_rigid_outward.h"
#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "dynamics/state.h"

/* Modes b to b + 3, when those behind them are known; the last lane of alpha is one, for the
 * column of f. */
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

/* The acceleration of a node, from that of its link and the modes. */
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

/* The same at the end of the arm to a lone hinge, without c. */
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

DYN_APART void outward_flexible(const struct dyn_model *model, const struct dyn_input *input,
                                struct dyn_work *work, double *out)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const enum dyn_tree_link_pass pass = pass_of(link, input);
        struct dyn_tree_link_work *L = &work->link[i];
        const struct dyn_tree_link_work *on = &work->link[link->parent];

        if (pass == DYN_PASS_LONE_NODE)
            continue; /* done with its hinge */
        if (pass == DYN_PASS_LONE_REVOLUTE)
            outward_hinge(model, link, work, L, out + link->v_at);
        else if (pass == DYN_PASS_REVOLUTE)
            outward_revolute(L, on, out + link->v_at);
        else if (pass == DYN_PASS_FREE)
            outward_free(L, on, out + link->v_at);
        else if (link->node >= 0)
            outward_node(model, link, work, L, on);
        else
            outward_other(link, input, work, L, on, out + link->v_at);
        if (link->modal >= 0)
            modal_accelerations(&model->modal[link->modal], L, &work->modal[link->modal], out);
    }
}
