/*
 * The articulated-body kernel: included once by each of aba_sse2.c, aba_avx2.c and aba_avx512.c,
 * which name it in DYN_ABA_KERNEL and are compiled for that instruction set.  The passes are in
 * the files aba_*_velocity.h, aba_*_inward.h and aba_*_outward.h.
 *
 * Letters as in Featherstone, Rigid Body Dynamics Algorithms (2008), table 7.1, with classical
 * instead of spatial accelerations (work.h).  Everything is in world axes about the link's origin,
 * so a step from link to link is a shift by the arm r, X = [ 1 0 ; -r x 1 ], and never a turn:
 *
 *      move      R, r, w, c, and I, p of the link alone
 *      inward    IA = I + sum X' Ia X,  pA = p + sum X' pa
 *                U = IA S,  D = S' U,  u = tau - S' (pA + IA c)
 *                X' Ia X = X' IA X - (X' U) D^-1 (X' U)'
 *                X' pa = X' (pA + IA c) + (X' U) D^-1 u
 *      outward   qdd = D^-1 u - D^-1 (X' U)' a_parent,  a = X a_parent + c + S qdd
 *
 * The shift comes before the elimination: so it does not depend on the division, and the outward
 * pass multiplies the parent's acceleration at the parent's origin.
 */
#include "dynamics/kernel/aba_flex_inward.h"
#include "dynamics/kernel/aba_flex_outward.h"
#include "dynamics/kernel/aba_flex_velocity.h"
#include "dynamics/kernel/aba_isa.h"
#include "dynamics/kernel/aba_rigid_inward.h"
#include "dynamics/kernel/aba_rigid_outward.h"
#include "dynamics/kernel/aba_rigid_velocity.h"
#include "dynamics/kernel/aba_sine.h"
#include "dynamics/kernel/lane.h"

/* The world is at rest and takes no forces. */
static void reset_world(struct dyn_tree_link_work *world)
{
    const dyn_lane zero = lane_splat(0.0);
    lane_store(&world->R[0], (dyn_lane){1.0, 0.0, 0.0, 0.0});
    lane_store(&world->R[1], (dyn_lane){0.0, 1.0, 0.0, 0.0});
    lane_store(&world->R[2], (dyn_lane){0.0, 0.0, 1.0, 0.0});
    lane_store(&world->w, zero);
}

static void velocity_pass(const struct dyn_model *model, const double *q, const double *v,
                          struct dyn_work *work)
{
    reset_world(&work->link[-1]);
    find_sines_cosines(model, q, work);
    if (model->modal_count > 0)
        take_shapes(model, q, v, work);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        struct dyn_tree_link_work *L = &work->link[i], *on = &work->link[link->parent];
        const double sine = work->sine[i], cosine = work->cosine[i];
        if (link->kind == DYN_TREE_LINK_REVOLUTE && link->parent < 0)
            move_root_revolute(link, v[link->v_at], sine, cosine, L);
        else if (__builtin_expect(link->kind == DYN_TREE_LINK_REVOLUTE, 1))
            move_revolute(link, v[link->v_at], sine, cosine, on, L);
        else if (link->node >= 0)
            move_node(model, link, work, on, L);
        else
            move_joint(link, q + link->q_at, v + link->v_at, sine, cosine, on, L);
        if (__builtin_expect(link->modal >= 0, 0))
            move_flexible(model, link, L, &work->modal[link->modal]);
        else if (__builtin_expect(link->massless, 0))
            zero_massless(link, L);
        else
            move_inertia(link, L);
        if (__builtin_expect(link->has_rotor && link->parent >= 0, 0))
            turn_rotor(link, v[link->v_at], on);
    }
}

/* Where joints are held, a node with a lone hinge is treated by itself and needs an inertia of its
 * own, zero. */
static void split_lone_hinges(const struct dyn_model *model, struct dyn_work *work)
{
    for (int n = 0; n < model->node_count; n++)
        if (model->link[model->node_link[n]].pass == DYN_PASS_LONE_NODE)
            zero_inertia(&work->link[model->node_link[n]]);
}

static void add_held_accelerations(const struct dyn_model *model, const struct dyn_input *input,
                                   struct dyn_work *work)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        for (int k = 0; k < dyn_tree_link_nv(link); k++)
            if (is_velocity_held(input, link->v_at + k))
                add_held_acceleration(link, k, held_acceleration(input, link->v_at + k),
                                      &work->link[i]);
    }
}

static void solve_accelerations(const struct dyn_model *model, const struct dyn_input *input,
                                const double *tau, struct dyn_work *work, double *a)
{
    if (input->held != NULL) {
        add_held_accelerations(model, input, work);
        split_lone_hinges(model, work);
    }
    if (model->modal_count > 0) {
        inward_flexible(model, input, tau, work);
        outward_flexible(model, input, work, a);
    } else {
        inward_pass(model, input, tau, work);
        outward_pass(model, input, work, a);
    }
}

const struct dyn_aba_kernel DYN_ABA_KERNEL = {velocity_pass, solve_accelerations};
