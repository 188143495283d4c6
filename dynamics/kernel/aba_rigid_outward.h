/*
 * The outward acceleration pass of rigid links: a part of the kernel (aba_kernel.h, which has the
 * equations).  It finds the joint accelerations from the factors that the inward pass left.
 * Tested by tests/dynamics/kernel/test_aba.c.
 */
#pragma once

#include "dynamics/kernel/aba_rigid_inward.h"
#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "dynamics/state.h"

static void column_accelerations(const struct dyn_tree_link *link, const struct dyn_input *input,
                                 const struct dyn_work *work, const struct dyn_tree_link_work *L,
                                 dyn_lane *alpha, dyn_lane *a, double *qdd)
{
    for (int k = dyn_tree_link_nv(link) - 1; k >= 0; k--) {
        const struct dyn_column_work *column = &work->column[link->v_at + k];
        const dyn_lane s = lane_load(&L->R[k % 3]);

        if (is_velocity_held(input, link->v_at + k)) {
            qdd[k] = held_acceleration(input, link->v_at + k);
            continue; /* in c already */
        }
        const dyn_lane t = lane_load(&column->ga) * *alpha + lane_load(&column->gl) * *a;
        const dyn_lane x = lane_splat(column->ud) - lane_sum(t);
        *(k < 3 ? alpha : a) += s * x;
        qdd[k] = x[0];
    }
}

/* qdd, in all lanes. */
static inline dyn_lane joint_acceleration(const struct dyn_tree_link_work *L,
                                          const struct dyn_tree_link_work *on)
{
    const dyn_lane t =
        lane_load(&L->ga) * lane_load(&on->alpha) + lane_load(&L->gl) * lane_load(&on->a);
    return lane_splat(L->ud) - lane_sum(t);
}

static inline void outward_revolute(struct dyn_tree_link_work *L,
                                    const struct dyn_tree_link_work *on, double *qdd)
{
    const dyn_lane alpha = lane_load(&on->alpha), x = joint_acceleration(L, on);
    const dyn_lane a = lane_load(&on->a) + lane_load(&L->cl);

    lane_store(&L->a, a + lane_cross(alpha, lane_load(&L->r)));
    lane_store(&L->alpha, alpha + lane_load(&L->ca) + lane_load(&L->R[2]) * x);
    *qdd = x[0];
}

static void outward_other(const struct dyn_tree_link *link, const struct dyn_input *input,
                          struct dyn_work *work, struct dyn_tree_link_work *L,
                          const struct dyn_tree_link_work *on, double *qdd)
{
    dyn_lane alpha = lane_load(&on->alpha);
    dyn_lane a = lane_load(&on->a) + lane_cross(alpha, lane_load(&L->r));

    if (is_unheld_free(input, link)) {
        outward_free(L, on, qdd);
        return;
    }
    if (link->kind == DYN_TREE_LINK_FIXED) {
        /* moves with its parent */
    } else if (link->kind == DYN_TREE_LINK_SPHERICAL || link->kind == DYN_TREE_LINK_FREE) {
        column_accelerations(link, input, work, L, &alpha, &a, qdd);
    } else if (is_velocity_held(input, link->v_at)) {
        qdd[0] = held_acceleration(input, link->v_at);
    } else {
        const dyn_lane x = joint_acceleration(L, on), z = lane_load(&L->R[2]);
        qdd[0] = x[0];
        if (dyn_tree_link_turns(link))
            alpha += z * x;
        a += z * x * lane_splat(link->pitch);
    }
    /* c is added last, because u already includes it */
    lane_store(&L->alpha, alpha + lane_load(&L->ca));
    lane_store(&L->a, a + lane_load(&L->cl));
}

static void outward_pass(const struct dyn_model *model, const struct dyn_input *input,
                         struct dyn_work *work, double *out)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        struct dyn_tree_link_work *L = &work->link[i];
        const struct dyn_tree_link_work *on = &work->link[link->parent];

        if (__builtin_expect(link->kind == DYN_TREE_LINK_REVOLUTE && input->held == NULL, 1))
            outward_revolute(L, on, out + link->v_at);
        else
            outward_other(link, input, work, L, on, out + link->v_at);
    }
}
