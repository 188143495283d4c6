/*
 * Forward dynamics: every leader and every follower is held, the leaders at accelerations y and the
 * followers at what follows from them.  Holding then needs forces, as the leaders feel them
 *
 *      h(y) = G' held_tau = h(0) + Lambda y
 *
 * and y is right where it needs none.  Lambda is the inertia that the leaders feel while the rest
 * of the tree gives way.  So nothing is inverted but an inertia, and no large force of a coupling
 * ever meets its opposite: leaders and followers may be as light as they like.  It takes as many
 * runs of the kernel as joints lead, and two.
 */
#include "dynamics/kernel/mimic.h"

#include <string.h>

#include "dynamics/kernel/aba_isa.h"
#include "dynamics/math/cholesky.h"

/* Followers do as their leaders. */
static void lead(const struct dyn_model *model, double *full)
{
    for (int k = 0; k < model->follower_count; k++) {
        const struct dyn_follower *follower = &model->follower[k];
        full[follower->v_at] = follower->ratio * full[follower->v_of];
    }
}

void dyn_follow_spread(const struct dyn_model *model, const double *a, double *full)
{
    memcpy(full, a, (size_t)model->nv * sizeof *full);
    lead(model, full);
}

void dyn_follow_gather(const struct dyn_model *model, const double *full, double *tau)
{
    memcpy(tau, full, (size_t)model->nv * sizeof *tau);
    for (int k = 0; k < model->follower_count; k++) {
        const struct dyn_follower *follower = &model->follower[k];
        tau[follower->v_of] += follower->ratio * full[follower->v_at];
    }
}

struct dyn_state dyn_follow_expand(const struct dyn_model *model, const struct dyn_state *state,
                                   const struct dyn_follow_work *follow)
{
    memcpy(follow->q, state->q, (size_t)model->nq * sizeof *follow->q);
    for (int k = 0; k < model->follower_count; k++) {
        const struct dyn_follower *follower = &model->follower[k];
        follow->q[follower->q_at] = follower->ratio * state->q[follower->q_of] + follower->offset;
    }
    dyn_follow_spread(model, state->v, follow->v);
    return (struct dyn_state){follow->q, follow->v};
}

void dyn_follow_mass(const struct dyn_model *model, const struct dyn_ldl *ldl, double *M)
{
    const size_t nv = (size_t)model->nv;

    memset(M, 0, nv * nv * sizeof *M);
    for (int k = 0; k < ldl->nv; k++) {
        const struct dyn_follow_share at = dyn_follow_share(model, k);
        const double *entry = ldl->row[k];
        for (int i = k; i >= 0; i = ldl->parent[i], entry++) {
            const struct dyn_follow_share by = dyn_follow_share(model, i);
            const double m = at.ratio * by.ratio * *entry;
            M[(size_t)at.of * nv + (size_t)by.of] += m;
            if (i != k) /* twice on the diagonal where both move by one coordinate */
                M[(size_t)by.of * nv + (size_t)at.of] += m;
        }
    }
}

/* ---- forward dynamics ---- */

static int is_held(const struct dyn_input *input, int v)
{
    return input->held != NULL && input->held[v];
}

/* The leaders that the author does not hold, each once; how many.  They are held from now on, at
 * accelerations that are to be found. */
static int find_leaders(const struct dyn_model *model, const struct dyn_follow_work *follow)
{
    int count = 0;
    for (int k = 0; k < model->follower_count; k++) {
        const int leader = model->follower[k].v_of;
        if (!follow->held[leader])
            follow->leader[count++] = leader;
        follow->held[leader] = 1;
    }
    return count;
}

/* The input of all links, every leader and follower held: at the acceleration which the author
 * gives, or at none. */
static struct dyn_input take_input(const struct dyn_model *model, const struct dyn_input *input,
                                   const struct dyn_follow_work *follow)
{
    struct dyn_input all = *input;
    for (int k = 0; k < model->nv; k++) {
        const int held = is_held(input, k);
        follow->held[k] = (unsigned char)held;
        follow->held_a[k] = held && input->held_a != NULL ? input->held_a[k] : 0.0;
        follow->tau[k] = input->tau != NULL ? input->tau[k] : 0.0;
    }
    for (int k = model->nv; k < model->full_nv; k++) {
        follow->held[k] = 1;
        follow->tau[k] = 0.0;
    }
    lead(model, follow->held_a);
    all.tau = follow->tau;
    all.held = follow->held;
    all.held_a = follow->held_a;
    return all;
}

/* The forces that keep what is bent as it is. */
static void keep_bent(const struct dyn_model *model, const double *q, double *tau)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++)
            for (int r = 0; r < modal->modes; r++)
                tau[modal->v_at + p] += modal->K[r * modal->lanes + p] * q[modal->q_at + r];
    }
}

/* Column c of Lambda: what it takes to move one leader from rest, where no other force acts. */
static void find_column(const struct dyn_model *model, int c, int count, double modal_lead,
                        struct dyn_work *work)
{
    const struct dyn_follow_work *follow = &work->follow;
    const struct dyn_state still = {follow->q, follow->still};
    const struct dyn_input given = {
        .held = follow->held, .held_a = follow->unit, .modal_lead = modal_lead};
    struct dyn_output output = {.a = follow->a, .held_tau = follow->held_tau};
    const size_t size = (size_t)model->full_nv * sizeof *follow->unit;

    memset(follow->unit, 0, size);
    follow->unit[follow->leader[c]] = 1.0;
    lead(model, follow->unit);
    memset(follow->still, 0, size);
    memset(work->tau, 0, size);
    keep_bent(model, follow->q, work->tau);
    dyn_links_move(model, &still, work);
    dyn_links_react(model, &given, work, &output);
    dyn_follow_gather(model, follow->held_tau, follow->need);
    for (int r = 0; r < count; r++)
        follow->inertia[r * count + c] = follow->need[follow->leader[r]];
}

/* y into held_a, from held_tau of y = 0. */
static void find_accelerations(const struct dyn_model *model, int count, double modal_lead,
                               struct dyn_work *work)
{
    const struct dyn_follow_work *follow = &work->follow;

    dyn_follow_gather(model, follow->held_tau, follow->need);
    for (int r = 0; r < count; r++)
        follow->y[r] = -follow->need[follow->leader[r]];
    for (int c = 0; c < count; c++)
        find_column(model, c, count, modal_lead, work);
    dyn_cholesky_factor(count, follow->inertia);
    dyn_cholesky_solve(count, follow->inertia, follow->y);
    for (int r = 0; r < count; r++)
        follow->held_a[follow->leader[r]] = follow->y[r];
    lead(model, follow->held_a);
}

/* What is held for the author's sake. */
static void give_held_tau(const struct dyn_model *model, const struct dyn_input *input,
                          const struct dyn_follow_work *follow, double *held_tau)
{
    dyn_follow_gather(model, follow->held_tau, held_tau);
    for (int k = 0; k < model->nv; k++)
        if (!is_held(input, k))
            held_tau[k] = 0.0;
}

void dyn_follow_solve(const struct dyn_model *model, const struct dyn_state *state,
                      const struct dyn_input *input, struct dyn_work *work,
                      struct dyn_output *output)
{
    const struct dyn_follow_work *follow = &work->follow;
    const struct dyn_state links = dyn_follow_expand(model, state, follow);
    const struct dyn_input all = take_input(model, input, follow);
    const int count = find_leaders(model, follow);
    struct dyn_output out = {.a = follow->a, .held_tau = follow->held_tau};

    dyn_links_solve(model, &links, &all, work, &out);
    if (count > 0) {
        find_accelerations(model, count, input->modal_lead, work);
        dyn_links_move(model, &links, work);
        dyn_links_solve(model, &links, &all, work, &out);
    }
    memcpy(output->a, follow->a, (size_t)model->nv * sizeof *output->a);
    if (output->held_tau != NULL)
        give_held_tau(model, input, follow, output->held_tau);
}
