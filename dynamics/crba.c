/*
 * Letters as in Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.2, in world axes:
 *
 *      Ic = I + sum of the children's Ic
 *      M[k][j] = S_j . F,  F = Ic S_k, carried from origin to origin towards the root
 */
#include "dynamics/crba.h"

#include <string.h>

#include "dynamics/cholesky.h"
#include "dynamics/composite.h"
#include "dynamics/cut.h"
#include "dynamics/follow.h"
#include "dynamics/rnea.h"
#include "dynamics/tree.h"

static size_t lay_out(struct dyn_crba_work *work, void *mem, const struct dyn_model *model)
{
    const size_t dense = model->follower_count > 0 ? (size_t)model->nv * (size_t)model->nv : 0;
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *work);
    work->scene = dyn_cut(mem, &at, dyn_scene_size(model));
    work->Ic = dyn_cut(mem, &at, (size_t)model->link_count * sizeof *work->Ic);
    work->ldl = dyn_cut(mem, &at, dyn_ldl_size(model));
    work->rest = dyn_cut(mem, &at, (size_t)model->nv * sizeof *work->rest);
    work->dense = dyn_cut(mem, &at, dense * sizeof *work->dense);
    return at;
}

size_t dyn_crba_work_size(const struct dyn_model *model)
{
    struct dyn_crba_work probe;
    return lay_out(&probe, NULL, model);
}

struct dyn_crba_work *dyn_crba_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_crba_work *work = mem;
    memset(mem, 0, dyn_crba_work_size(model));
    lay_out(work, mem, model);
    (void)dyn_scene_place(model, work->scene);
    (void)dyn_ldl_place(model, work->ldl);
    return work;
}

/* The row of velocity k, which moves what Ic is the inertia of.  `spin` is what its rotor hands to
 * the parent. */
static void fill_row(const struct dyn_scene *scene, const struct dyn_inertia *Ic, double rotor,
                     struct dyn_vec3 spin, int k, struct dyn_ldl *ldl)
{
    struct dyn_vec6 F = dyn_inertia_mul(Ic, &scene->S[k]);
    double *row = ldl->row[k];

    row[0] = dyn_dot6(&F, &scene->S[k]) + rotor;
    F.ang = dyn_add(F.ang, spin);
    for (int p = 1, j = k; p < ldl->depth[k]; p++) {
        F = dyn_force_shift(&F, scene->hop[j]);
        j = ldl->parent[j];
        row[p] = dyn_dot6(&F, &scene->S[j]);
    }
}

void dyn_composite_rows(const struct dyn_model *model, struct dyn_crba_work *work)
{
    for (int i = 0; i < model->link_count; i++)
        work->Ic[i] = dyn_inertia_turn(&model->inertia[i], &work->scene->E[i]);

    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_link *link = &model->link[i];
        const int parent = link->parent;
        const struct dyn_vec3 spin =
            parent >= 0 ? dyn_mul_t(&work->scene->E[parent], link->rotor_spin) : link->rotor_spin;
        for (int k = 0; k < dyn_link_nv(link); k++)
            fill_row(work->scene, &work->Ic[i], link->rotor, spin, link->v_at + k, work->ldl);
        if (parent >= 0) {
            const struct dyn_inertia J = dyn_inertia_shift(&work->Ic[i], work->scene->arm[i]);
            work->Ic[parent] = dyn_inertia_add(&work->Ic[parent], &J);
        }
    }
}

void dyn_crba(const struct dyn_model *model, const struct dyn_state *state,
              struct dyn_crba_work *work, double *M)
{
    dyn_scene_take(model, state, work->scene);
    dyn_composite_rows(model, work);
    if (dyn_follow_any(model))
        dyn_follow_mass(model, work->ldl, M);
    else
        dyn_ldl_spread(work->ldl, M);
}

/*
 * Any acceleration may stand between both sides of M (a - rest) = tau - ID(rest).  With zero, a
 * vehicle at orbital speed would push m w x v through all its joints and lose digits there; so the
 * origin of a free base is held instead: dv/dt = -w x v.
 */
static void take_rest(const struct dyn_model *model, const struct dyn_state *state, double *rest)
{
    memset(rest, 0, (size_t)model->nv * sizeof *rest);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        const double *v = state->v + link->v_at;
        if (link->kind == DYN_LINK_FREE)
            dyn_vec3_store(dyn_cross(dyn_vec3_load(v + 3), dyn_vec3_load(v)),
                           rest + link->v_at + 3);
    }
}

/* Of the rows: b = M^-1 b.  A chain of followers and leaders closes loops that rows have no place
 * for, so M is filled out. */
static void solve(const struct dyn_model *model, struct dyn_crba_work *work, double *b)
{
    if (dyn_follow_any(model)) {
        dyn_follow_mass(model, work->ldl, work->dense);
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

    take_rest(model, state, work->rest);
    dyn_rnea(model, state, work->rest, input, work->scene->kernel, a);
    for (int k = 0; k < model->nv; k++)
        a[k] = (input->tau != NULL ? input->tau[k] : 0.0) - a[k];

    dyn_scene_turn(model, work->scene);
    dyn_composite_rows(model, work);
    solve(model, work, a);
    for (int k = 0; k < model->nv; k++)
        a[k] += work->rest[k];
}
