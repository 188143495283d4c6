/*
 * Letters as in Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.2, in world axes:
 *
 *      Ic = I + sum of the children's Ic
 *      M[k][j] = S_j . F,  F = Ic S_k, carried from origin to origin towards the root
 *
 * A mode moves what the nodes of its link carry, each by a column X of its own.
 */
#include "dynamics/analysis/crba.h"

#include <string.h>

#include "dynamics/analysis/crba_work.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"

static size_t lay_out_crba_work(struct dyn_crba_work *work, void *mem,
                                const struct dyn_model *model)
{
    const size_t dense = model->mimic_joint_count > 0 ? (size_t)model->nv * (size_t)model->nv : 0;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->tree_pose = dyn_layout_cut(mem, &at, dyn_tree_pose_size(model));
    work->Ic = dyn_layout_cut(mem, &at, (size_t)model->link_count * sizeof *work->Ic);
    work->B = dyn_layout_cut(mem, &at, (size_t)model->full_nv * sizeof *work->B);
    work->ldl = dyn_layout_cut(mem, &at, dyn_ldl_size(model));
    work->rest = dyn_layout_cut(mem, &at, (size_t)model->nv * sizeof *work->rest);
    work->dense = dyn_layout_cut(mem, &at, dense * sizeof *work->dense);
    return at;
}

size_t dyn_crba_work_size(const struct dyn_model *model)
{
    struct dyn_crba_work probe;
    return lay_out_crba_work(&probe, NULL, model);
}

struct dyn_crba_work *dyn_crba_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_crba_work *work = mem;
    memset(mem, 0, dyn_crba_work_size(model));
    lay_out_crba_work(work, mem, model);
    (void)dyn_tree_pose_place(model, work->tree_pose);
    (void)dyn_ldl_place(model, work->ldl);
    return work;
}

/* The force F at link i's origin, projected on the velocities that move the link's frame, the last
 * first. */
static void project_force(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                          int i, struct dyn_vec6 F, double *row)
{
    for (; i >= 0; i = model->link[i].parent) {
        const struct dyn_tree_link *link = &model->link[i];
        if (link->node >= 0)
            for (int p = dyn_modal_shape_of_node(model, link)->modes - 1; p >= 0; p--)
                *row++ = dyn_dot6(&F, &tree_pose->X[link->node][p]);
        for (int k = dyn_tree_link_nv(link) - 1; k >= 0; k--)
            *row++ = dyn_dot6(&F, &tree_pose->S[link->v_at + k]);
        F = dyn_force_shift(&F, tree_pose->arm[i]);
    }
}

/* The row of velocity k of link i's joint, which moves what Ic is the inertia of.  The rotor hands
 * its spin to the parent. */
static void fill_mass_row(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                          const struct dyn_inertia *Ic, int i, int k, double *row)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_vec6 *S = tree_pose->S + link->v_at;
    struct dyn_vec6 F = dyn_inertia_mul(Ic, &S[k]);

    for (int j = k; j >= 0; j--)
        *row++ = dyn_dot6(&F, &S[j]) + (j == k ? link->rotor : 0.0);
    if (link->parent < 0)
        return;
    F.ang = dyn_add(F.ang, dyn_mul_t(&tree_pose->E[link->parent], link->rotor_spin));
    F = dyn_force_shift(&F, tree_pose->arm[i]);
    project_force(model, tree_pose, link->parent, F, row);
}

/* ---- modes ---- */

/* Of the flexible link alone: its rows and B. */
static void begin_modes(const struct dyn_modal_link *modal, const struct dyn_crba_work *work,
                        const double *eta)
{
    const struct dyn_mat3 *E = &work->tree_pose->E[modal->link];
    for (int p = 0; p < modal->modes; p++) {
        double *row = work->ldl->row[modal->v_at + p];
        for (int q = p; q >= 0; q--)
            row[p - q] = modal->M[q * modal->lanes + p];
        work->B[modal->v_at + p] =
            (struct dyn_vec6){dyn_mul_t(E, dyn_modal_shape_H(modal, eta, p)),
                              dyn_mul_t(E, dyn_modal_shape_P(modal, eta, p))};
    }
}

/* The modes under node i move what it carries. */
static void add_modal_rows(const struct dyn_model *model, const struct dyn_crba_work *work, int i)
{
    const struct dyn_modal_link *modal = dyn_modal_shape_of_node(model, &model->link[i]);
    const struct dyn_vec6 *X = work->tree_pose->X[model->link[i].node];
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec6 F = dyn_inertia_mul(&work->Ic[i], &X[p]);
        const struct dyn_vec6 shifted = dyn_force_shift(&F, work->tree_pose->arm[i]);
        struct dyn_vec6 *B = &work->B[modal->v_at + p];
        double *row = work->ldl->row[modal->v_at + p];
        *B = dyn_add6(B, &shifted);
        for (int q = p; q >= 0; q--)
            row[p - q] += dyn_dot6(&F, &X[q]);
    }
}

/* The rows of the modes couple to the joints between the flexible link and the root. */
static void end_modes(const struct dyn_model *model, const struct dyn_modal_link *modal,
                      const struct dyn_crba_work *work)
{
    for (int p = 0; p < modal->modes; p++)
        project_force(model, work->tree_pose, modal->link, work->B[modal->v_at + p],
                      work->ldl->row[modal->v_at + p] + p + 1);
}

void dyn_composite_rows(const struct dyn_model *model, struct dyn_crba_work *work)
{
    const struct dyn_work *kernel = work->tree_pose->kernel;

    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_inertia J = dyn_modal_shape_link_inertia(model, kernel, i);
        work->Ic[i] = dyn_inertia_turn(&J, &work->tree_pose->E[i]);
    }
    for (int m = 0; m < model->modal_count; m++)
        begin_modes(&model->modal[m], work, kernel->modal[m].eta);

    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        const int parent = link->parent;
        for (int k = 0; k < dyn_tree_link_nv(link); k++)
            fill_mass_row(model, work->tree_pose, &work->Ic[i], i, k,
                          work->ldl->row[link->v_at + k]);
        if (link->modal >= 0)
            end_modes(model, &model->modal[link->modal], work);
        if (link->node >= 0)
            add_modal_rows(model, work, i);
        if (parent >= 0) {
            const struct dyn_inertia J = dyn_inertia_shift(&work->Ic[i], work->tree_pose->arm[i]);
            work->Ic[parent] = dyn_inertia_add(&work->Ic[parent], &J);
        }
    }
}

void dyn_crba(const struct dyn_model *model, const struct dyn_state *state,
              struct dyn_crba_work *work, double *M)
{
    dyn_tree_pose_update(model, state, work->tree_pose);
    dyn_composite_rows(model, work);
    if (dyn_mimic_any(model))
        dyn_mimic_mass(model, work->ldl, M);
    else
        dyn_ldl_to_dense(work->ldl, M);
}

void dyn_composite_add_modal_implicit(const struct dyn_model *model, double s,
                                      const struct dyn_ldl *ldl)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++)
            for (int q = p; q >= 0; q--) {
                const int at = q * modal->lanes + p;
                ldl->row[modal->v_at + p][p - q] += s * (modal->C[at] + s * modal->K[at]);
            }
    }
}

/*
 * M (a - rest) = tau - ID(rest) holds for any acceleration `rest`.  With zero, a vehicle at
 * orbital speed would have forces m w x v in all its joints and lose digits there; so the origin
 * of a free base is held instead: dv/dt = -w x v.
 */
static void find_rest_acceleration(const struct dyn_model *model, const struct dyn_state *state,
                                   double *rest)
{
    memset(rest, 0, (size_t)model->nv * sizeof *rest);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const double *v = state->v + link->v_at;
        if (link->kind == DYN_TREE_LINK_FREE)
            dyn_vec3_store(dyn_cross(dyn_vec3_load(v + 3), dyn_vec3_load(v)),
                           rest + link->v_at + 3);
    }
}

/* Of the rows: b = M^-1 b.  Mimicking joints couple branches that the rows of a tree do not, so M
 * is dense. */
static void solve_mass(const struct dyn_model *model, struct dyn_crba_work *work, double *b)
{
    if (dyn_mimic_any(model)) {
        dyn_mimic_mass(model, work->ldl, work->dense);
        dyn_cholesky_factor(model->nv, work->dense);
        dyn_cholesky_solve(model->nv, work->dense, b);
    } else {
        dyn_ldl_factor(work->ldl);
        dyn_ldl_solve(work->ldl, b);
    }
}

void dyn_crba_forward(const struct dyn_model *model, const struct dyn_state *state,
                      const struct dyn_input *input, struct dyn_crba_work *work,
                      struct dyn_output *output)
{
    double *a = output->a;

    find_rest_acceleration(model, state, work->rest);
    dyn_rnea(model, state, work->rest, input, work->tree_pose->kernel, a);
    for (int k = 0; k < model->nv; k++)
        a[k] = (input->tau != NULL ? input->tau[k] : 0.0) - a[k];

    dyn_tree_pose_from_kernel(model, work->tree_pose);
    dyn_composite_rows(model, work);
    if (input->modal_implicit_step > 0.0)
        dyn_composite_add_modal_implicit(model, input->modal_implicit_step, work->ldl);
    solve_mass(model, work, a);
    for (int k = 0; k < model->nv; k++)
        a[k] += work->rest[k];
}
