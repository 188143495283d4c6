/*
 * Joints that mimic others.  Private to dynamics/ and tests/.
 *
 * State, input and output of every algorithm have the coordinates of the joints that mimic none:
 * the author's coordinates.  The links have full coordinates: the author's first, then one for
 * each mimicking joint in the order of model->mimic_joint:
 *
 *      q_full = [ q ; ratio q(leader) + offset ]
 *      v_full = G v,   a_full = G a,   tau = G' tau_full,   M = G' M_full G
 *
 * G has a one for each coordinate of the author's and a ratio for each mimicking joint.  Without
 * mimicking joints both are the same, and an algorithm spends one branch to test for it.
 */
#pragma once

#include "dynamics/analysis/ldl.h"
#include "dynamics/kernel/work.h"
#include "dynamics/state.h"

/* G a, full_nv values; G' full, nv values.  Context: frame. */
void dyn_mimic_to_full(const struct dyn_model *model, const double *a, double *full);
void dyn_mimic_from_full(const struct dyn_model *model, const double *full, double *tau);

/* The state of all links, in the scratch.  Context: frame. */
struct dyn_state dyn_mimic_expand_state(const struct dyn_model *model,
                                        const struct dyn_state *state,
                                        const struct dyn_mimic_work *mimic);

/* G' M G, nv x nv by rows, both triangles, of the rows of M before their factorisation.
 * Context: frame. */
void dyn_mimic_mass(const struct dyn_model *model, const struct dyn_ldl *ldl, double *M);

/* dyn_aba_solve() where joints mimic others.  Context: frame. */
void dyn_mimic_solve(const struct dyn_model *model, const struct dyn_state *state,
                     const struct dyn_input *input, struct dyn_work *work,
                     struct dyn_output *output);

/* Context: any. */
static inline int dyn_mimic_any(const struct dyn_model *model)
{
    return __builtin_expect(model->mimic_joint_count > 0, 0) != 0;
}

/* The state of all links: the author's own where no joint mimics.  Context: frame. */
static inline struct dyn_state dyn_mimic_state(const struct dyn_model *model,
                                               const struct dyn_state *state,
                                               const struct dyn_mimic_work *mimic)
{
    return dyn_mimic_any(model) ? dyn_mimic_expand_state(model, state, mimic) : *state;
}

/* The one entry in row v of G: which of the author's velocities moves along v, and how far. */
struct dyn_mimic_row {
    int of;
    double ratio;
};

/* Context: any. */
static inline struct dyn_mimic_row dyn_mimic_row(const struct dyn_model *model, int v)
{
    if (__builtin_expect(v < model->nv, 1))
        return (struct dyn_mimic_row){v, 1.0};
    const struct dyn_mimic_joint *mimic_joint = &model->mimic_joint[v - model->nv];
    return (struct dyn_mimic_row){mimic_joint->v_of, mimic_joint->ratio};
}

/* The coordinates, or the velocities, of a link's joint: a pointer to the author's or, for a
 * mimicking joint, to *own, which is set.  Context: any. */
static inline const double *dyn_mimic_q(const struct dyn_model *model,
                                        const struct dyn_tree_link *link, const double *q,
                                        double *own)
{
    if (__builtin_expect(link->q_at < model->nq, 1))
        return q + link->q_at;
    const struct dyn_mimic_joint *mimic_joint = &model->mimic_joint[link->q_at - model->nq];
    *own = mimic_joint->ratio * q[mimic_joint->q_of] + mimic_joint->offset;
    return own;
}

static inline const double *dyn_mimic_v(const struct dyn_model *model,
                                        const struct dyn_tree_link *link, const double *v,
                                        double *own)
{
    const struct dyn_mimic_row share = dyn_mimic_row(model, link->v_at);
    *own = share.ratio * v[share.of];
    return link->v_at < model->nv ? v + link->v_at : own;
}
