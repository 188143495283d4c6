/*
 * Derivatives of the forces by the links' coordinates, brought to the author's coordinates and
 * through M^-1 to accelerations.
 *
 * The links move by v_full = G v (mimic.h), so every derivative X becomes G' X G.
 */
#include "dynamics/analysis/linearize.h"

#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/rnea_derivative.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/layout.h"

struct dyn_linear_work {
    struct dyn_rnea_derivative_work *derivative;

    /* where joints mimic others, which ties branches together: M is as full as that of a chain */
    double *full_q, *full_v; /* full_nv x full_nv */
    struct dyn_ldl chain;
};

/* A chain of velocities: each has all before it towards the root. */
static void lay_out_chain(struct dyn_ldl *ldl, void *mem, size_t *at, size_t nv)
{
    ldl->parent = dyn_layout_cut(mem, at, nv * sizeof *ldl->parent);
    ldl->depth = dyn_layout_cut(mem, at, nv * sizeof *ldl->depth);
    ldl->row = dyn_layout_cut(mem, at, nv * sizeof *ldl->row);
    ldl->d_inv = dyn_layout_cut(mem, at, nv * sizeof *ldl->d_inv);
    ldl->entry = dyn_layout_cut(mem, at, nv * (nv + 1) / 2 * sizeof *ldl->entry);
}

static size_t lay_out_linear_work(struct dyn_linear_work *work, void *mem,
                                  const struct dyn_model *model)
{
    const size_t full = (size_t)model->full_nv * (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->derivative = dyn_layout_cut(mem, &at, dyn_rnea_derivative_work_size(model));
    if (!dyn_mimic_any(model))
        return at;
    work->full_q = dyn_layout_cut(mem, &at, full * sizeof *work->full_q);
    work->full_v = dyn_layout_cut(mem, &at, full * sizeof *work->full_v);
    lay_out_chain(&work->chain, mem, &at, (size_t)model->nv);
    return at;
}

size_t dyn_linear_work_size(const struct dyn_model *model)
{
    struct dyn_linear_work probe;
    return lay_out_linear_work(&probe, NULL, model);
}

struct dyn_linear_work *dyn_linear_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_linear_work *work = mem;
    memset(mem, 0, dyn_linear_work_size(model));
    lay_out_linear_work(work, mem, model);
    (void)dyn_rnea_derivative_work_place(model, work->derivative);
    work->chain.nv = model->nv;
    for (int k = 0; dyn_mimic_any(model) && k < model->nv; k++) {
        work->chain.parent[k] = k - 1;
        work->chain.depth[k] = k + 1;
        work->chain.row[k] = work->chain.entry + k * (k + 1) / 2;
    }
    return work;
}

/* ---- inverse ------------------------------------------------------------------------------ */

/* G' X G */
static void to_author_coordinates(const struct dyn_model *model, const double *X, double *folded)
{
    const int full = model->full_nv, nv = model->nv;

    memset(folded, 0, (size_t)nv * (size_t)nv * sizeof *folded);
    for (int r = 0; r < full; r++) {
        const struct dyn_mimic_row at = dyn_mimic_row(model, r);
        for (int c = 0; c < full; c++) {
            const struct dyn_mimic_row by = dyn_mimic_row(model, c);
            folded[at.of * nv + by.of] += at.ratio * by.ratio * X[r * full + c];
        }
    }
}

/* Both derivatives in the author's coordinates.  Returns the rows of M, not yet factored. */
static struct dyn_ldl *find_derivatives(const struct dyn_model *model,
                                        const struct dyn_state *state, const double *a,
                                        const struct dyn_input *input,
                                        const struct dyn_input *finds, struct dyn_linear_work *work,
                                        const struct dyn_rnea_derivative_full *to)
{
    const struct dyn_rnea_derivative_full full = {work->full_q, work->full_v};
    struct dyn_crba_work *crba = work->derivative->crba;

    if (!dyn_mimic_any(model)) {
        dyn_rnea_derivative_compute(model, state, a, input, finds, work->derivative, to);
        return crba->ldl;
    }
    dyn_rnea_derivative_compute(model, state, a, input, finds, work->derivative, &full);
    to_author_coordinates(model, full.tau_q, to->tau_q);
    to_author_coordinates(model, full.tau_v, to->tau_v);
    dyn_mimic_mass(model, crba->ldl, crba->dense);
    for (int k = 0; k < model->nv; k++)
        for (int p = 0; p <= k; p++)
            work->chain.row[k][p] = crba->dense[k * model->nv + k - p];
    return &work->chain;
}

void dyn_rnea_differentiate(const struct dyn_model *model, const struct dyn_state *state,
                            const double *a, const struct dyn_input *input,
                            struct dyn_linear_work *work, struct dyn_rnea_derivative *derivative)
{
    const struct dyn_rnea_derivative_full to = {derivative->tau_q, derivative->tau_v};
    const struct dyn_ldl *ldl = find_derivatives(model, state, a, input, NULL, work, &to);
    dyn_ldl_to_dense(ldl, derivative->tau_a);
}

/* ---- forward ------------------------------------------------------------------------------ */

/* Held velocities leave the equations: 1 on the diagonal of M, zero beside it. */
static void hold_sparse_rows(const struct dyn_input *input, struct dyn_ldl *ldl)
{
    for (int k = 0; k < ldl->nv; k++) {
        double *entry = ldl->row[k];
        const int held = dyn_acceleration_is_given(input, k);
        *entry = held ? 1.0 : *entry;
        for (int i = ldl->parent[k]; i >= 0; i = ldl->parent[i]) {
            entry++;
            if (held || dyn_acceleration_is_given(input, i))
                *entry = 0.0;
        }
    }
}

static void hold_dense_rows(const struct dyn_input *input, size_t nv, double *B)
{
    for (size_t k = 0; input->held != NULL && k < nv; k++)
        for (size_t i = 0; i < nv; i++)
            if (dyn_acceleration_is_given(input, (int)k) ||
                dyn_acceleration_is_given(input, (int)i))
                B[k * nv + i] = 0.0;
}

/* y -= s x */
static void subtract_scaled(size_t count, double s, const double *restrict x, double *restrict y)
{
    for (size_t k = 0; k < count; k++)
        y[k] -= s * x[k];
}

/* B = -M^-1 B of nv x nv by rows: what dyn_ldl_solve() does, with rows in place of numbers. */
static void solve_rows(const struct dyn_ldl *ldl, double *B)
{
    const size_t nv = (size_t)ldl->nv;

    for (int k = ldl->nv - 1; k >= 0; k--) {
        const double *row = ldl->row[k];
        for (int i = ldl->parent[k]; i >= 0; i = ldl->parent[i])
            subtract_scaled(nv, *++row, B + (size_t)k * nv, B + (size_t)i * nv);
    }
    for (int k = 0; k < ldl->nv; k++) {
        const double *row = ldl->row[k];
        double *b = B + (size_t)k * nv;
        for (size_t c = 0; c < nv; c++)
            b[c] *= -ldl->d_inv[k];
        for (int i = ldl->parent[k]; i >= 0; i = ldl->parent[i])
            subtract_scaled(nv, *++row, B + (size_t)i * nv, b);
    }
}

static void set_minus_unit(size_t nv, double *B)
{
    memset(B, 0, nv * nv * sizeof *B);
    for (size_t k = 0; k < nv; k++)
        B[k * (nv + 1)] = -1.0;
}

void dyn_linearize(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_linear_work *work,
                   struct dyn_linear *linear)
{
    const size_t nv = (size_t)model->nv;
    double *const each[3] = {linear->a_q, linear->a_v, linear->a_tau};
    const struct dyn_rnea_derivative_full to = {linear->a_q, linear->a_v};
    struct dyn_output output = {.a = linear->a};
    struct dyn_input now = *input;

    now.modal_implicit_step = 0.0;
    dyn_aba(model, state, &now, work->derivative->crba->tree_pose->kernel, &output);
    struct dyn_ldl *ldl = find_derivatives(model, state, linear->a, &now, input, work, &to);
    hold_sparse_rows(input, ldl);
    dyn_ldl_factor(ldl);
    set_minus_unit(nv, linear->a_tau);
    for (int m = 0; m < 3; m++) {
        hold_dense_rows(input, nv, each[m]);
        solve_rows(ldl, each[m]);
    }
    dyn_rnea_derivative_base_turn(model, state->v, input, model->nv, linear->a_v);
}

/* ---- what dq is measured in --------------------------------------------------------------- */

/* Column k of -v x. */
static void drift_column(const struct dyn_tree_link *link, const double *v, int k, int nv,
                         double *drift)
{
    const struct dyn_vec6 own = dyn_joint_motion(link, v + link->v_at);
    double unit[6] = {0.0}, column[6];
    unit[k] = 1.0;
    const struct dyn_vec6 step = dyn_joint_motion(link, unit);
    dyn_vec3_store(dyn_cross(step.ang, own.ang), column);
    dyn_vec3_store(dyn_add(dyn_cross(step.ang, own.lin), dyn_cross(step.lin, own.ang)), column + 3);
    for (int r = 0; r < dyn_tree_link_nv(link); r++)
        drift[(link->v_at + r) * nv + link->v_at + k] = column[r];
}

void dyn_linear_drift(const struct dyn_model *model, const double *v, double *drift)
{
    const size_t nv = (size_t)model->nv;

    memset(drift, 0, nv * nv * sizeof *drift);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        for (int k = 0; dyn_tree_link_nv(link) > 1 && k < dyn_tree_link_nv(link); k++)
            drift_column(link, v, k, model->nv, drift);
    }
}
