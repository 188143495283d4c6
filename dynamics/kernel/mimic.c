/*
 * Forward dynamics: every leader and every mimicking joint is held, the leaders at accelerations y
 * and the mimicking joints at ratio times those.  Holding them needs forces, projected on the
 * leaders
 *
 *      h(y) = G' held_tau = h(0) + Lambda y
 *
 * and y is right when they are zero.  Lambda is the inertia at the leaders while the rest of the
 * tree moves freely.  So only an inertia is inverted, and no large coupling forces cancel each
 * other: leaders and mimicking joints may be as light as they like.  It takes two runs of the
 * kernel more than there are leaders.
 */
#include "dynamics/kernel/mimic.h"

#include <string.h>

#include "dynamics/kernel/aba_isa.h"
#include "dynamics/math/cholesky.h"

/* Set the mimicking joints from their leaders. */
static void set_mimic_joints(const struct dyn_model *model, double *full)
{
    for (int k = 0; k < model->mimic_joint_count; k++) {
        const struct dyn_mimic_joint *mimic_joint = &model->mimic_joint[k];
        full[mimic_joint->v_at] = mimic_joint->ratio * full[mimic_joint->v_of];
    }
}

void dyn_mimic_to_full(const struct dyn_model *model, const double *a, double *full)
{
    memcpy(full, a, (size_t)model->nv * sizeof *full);
    set_mimic_joints(model, full);
}

void dyn_mimic_from_full(const struct dyn_model *model, const double *full, double *tau)
{
    memcpy(tau, full, (size_t)model->nv * sizeof *tau);
    for (int k = 0; k < model->mimic_joint_count; k++) {
        const struct dyn_mimic_joint *mimic_joint = &model->mimic_joint[k];
        tau[mimic_joint->v_of] += mimic_joint->ratio * full[mimic_joint->v_at];
    }
}

struct dyn_state dyn_mimic_expand_state(const struct dyn_model *model,
                                        const struct dyn_state *state,
                                        const struct dyn_mimic_work *mimic)
{
    memcpy(mimic->q, state->q, (size_t)model->nq * sizeof *mimic->q);
    for (int k = 0; k < model->mimic_joint_count; k++) {
        const struct dyn_mimic_joint *mimic_joint = &model->mimic_joint[k];
        mimic->q[mimic_joint->q_at] =
            mimic_joint->ratio * state->q[mimic_joint->q_of] + mimic_joint->offset;
    }
    dyn_mimic_to_full(model, state->v, mimic->v);
    return (struct dyn_state){mimic->q, mimic->v};
}

void dyn_mimic_mass(const struct dyn_model *model, const struct dyn_ldl *ldl, double *M)
{
    const size_t nv = (size_t)model->nv;

    memset(M, 0, nv * nv * sizeof *M);
    for (int k = 0; k < ldl->nv; k++) {
        const struct dyn_mimic_row at = dyn_mimic_row(model, k);
        const double *entry = ldl->row[k];
        for (int i = k; i >= 0; i = ldl->parent[i], entry++) {
            const struct dyn_mimic_row by = dyn_mimic_row(model, i);
            const double m = at.ratio * by.ratio * *entry;
            M[(size_t)at.of * nv + (size_t)by.of] += m;
            if (i != k) /* twice on the diagonal where both move by one coordinate */
                M[(size_t)by.of * nv + (size_t)at.of] += m;
        }
    }
}

/* ---- forward dynamics ---- */

static int is_velocity_held(const struct dyn_input *input, int v)
{
    return input->held != NULL && input->held[v];
}

/* The leaders that the caller does not hold, each once; returns how many.  They are held from now
 * on, at accelerations that are to be found. */
static int find_leaders(const struct dyn_model *model, const struct dyn_mimic_work *mimic)
{
    int count = 0;
    for (int k = 0; k < model->mimic_joint_count; k++) {
        const int leader = model->mimic_joint[k].v_of;
        if (!mimic->held[leader])
            mimic->leader[count++] = leader;
        mimic->held[leader] = 1;
    }
    return count;
}

/* The input of all links, with every leader and mimicking joint held: at the acceleration that the
 * caller gives, or at zero. */
static struct dyn_input full_input(const struct dyn_model *model, const struct dyn_input *input,
                                   const struct dyn_mimic_work *mimic)
{
    struct dyn_input all = *input;
    for (int k = 0; k < model->nv; k++) {
        const int held = is_velocity_held(input, k);
        mimic->held[k] = (unsigned char)held;
        mimic->held_a[k] = held && input->held_a != NULL ? input->held_a[k] : 0.0;
        mimic->tau[k] = input->tau != NULL ? input->tau[k] : 0.0;
    }
    for (int k = model->nv; k < model->full_nv; k++) {
        mimic->held[k] = 1;
        mimic->tau[k] = 0.0;
    }
    set_mimic_joints(model, mimic->held_a);
    all.tau = mimic->tau;
    all.held = mimic->held;
    all.held_a = mimic->held_a;
    return all;
}

/* The modal forces that keep the deformation constant. */
static void add_modal_spring_forces(const struct dyn_model *model, const double *q, double *tau)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++)
            for (int r = 0; r < modal->modes; r++)
                tau[modal->v_at + p] += modal->K[r * modal->lanes + p] * q[modal->q_at + r];
    }
}

/* Column c of Lambda: the forces that accelerate one leader from rest, without any other force. */
static void find_lambda_column(const struct dyn_model *model, int c, int count,
                               double modal_implicit_step, struct dyn_work *work)
{
    const struct dyn_mimic_work *mimic = &work->mimic;
    const struct dyn_state still = {mimic->q, mimic->still};
    const struct dyn_input given = {
        .held = mimic->held, .held_a = mimic->unit, .modal_implicit_step = modal_implicit_step};
    struct dyn_output output = {.a = mimic->a, .held_tau = mimic->held_tau};
    const size_t size = (size_t)model->full_nv * sizeof *mimic->unit;

    memset(mimic->unit, 0, size);
    mimic->unit[mimic->leader[c]] = 1.0;
    set_mimic_joints(model, mimic->unit);
    memset(mimic->still, 0, size);
    memset(work->tau, 0, size);
    add_modal_spring_forces(model, mimic->q, work->tau);
    dyn_tree_links_velocity_pass(model, &still, work);
    dyn_tree_links_solve_given_forces(model, &given, work, &output);
    dyn_mimic_from_full(model, mimic->held_tau, mimic->need);
    for (int r = 0; r < count; r++)
        mimic->inertia[r * count + c] = mimic->need[mimic->leader[r]];
}

/* y into held_a, from held_tau of y = 0. */
static void find_accelerations(const struct dyn_model *model, int count, double modal_implicit_step,
                               struct dyn_work *work)
{
    const struct dyn_mimic_work *mimic = &work->mimic;

    dyn_mimic_from_full(model, mimic->held_tau, mimic->need);
    for (int r = 0; r < count; r++)
        mimic->y[r] = -mimic->need[mimic->leader[r]];
    for (int c = 0; c < count; c++)
        find_lambda_column(model, c, count, modal_implicit_step, work);
    dyn_cholesky_factor(count, mimic->inertia);
    dyn_cholesky_solve(count, mimic->inertia, mimic->y);
    for (int r = 0; r < count; r++)
        mimic->held_a[mimic->leader[r]] = mimic->y[r];
    set_mimic_joints(model, mimic->held_a);
}

/* Copy the holding forces of the joints that the caller holds. */
static void store_held_tau(const struct dyn_model *model, const struct dyn_input *input,
                           const struct dyn_mimic_work *mimic, double *held_tau)
{
    dyn_mimic_from_full(model, mimic->held_tau, held_tau);
    for (int k = 0; k < model->nv; k++)
        if (!is_velocity_held(input, k))
            held_tau[k] = 0.0;
}

void dyn_mimic_solve(const struct dyn_model *model, const struct dyn_state *state,
                     const struct dyn_input *input, struct dyn_work *work,
                     struct dyn_output *output)
{
    const struct dyn_mimic_work *mimic = &work->mimic;
    const struct dyn_state links = dyn_mimic_expand_state(model, state, mimic);
    const struct dyn_input all = full_input(model, input, mimic);
    const int count = find_leaders(model, mimic);
    struct dyn_output out = {.a = mimic->a, .held_tau = mimic->held_tau};

    dyn_tree_links_solve(model, &links, &all, work, &out);
    if (count > 0) {
        find_accelerations(model, count, input->modal_implicit_step, work);
        dyn_tree_links_velocity_pass(model, &links, work);
        dyn_tree_links_solve(model, &links, &all, work, &out);
    }
    memcpy(output->a, mimic->a, (size_t)model->nv * sizeof *output->a);
    if (output->held_tau != NULL)
        store_held_tau(model, input, mimic, output->held_tau);
}
