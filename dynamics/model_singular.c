#include "dynamics/model_singular.h"

#include <stdint.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/kernel/work.h"
#include "dynamics/layout.h"

enum { POSES = 3 };

/* A pivot below this part of its value before the elimination is rounding. */
static const double ROUNDING = 1e-11;

/* The most velocities for which models with mimicking joints or flexible bodies are tried; their
 * mass matrix is dense. */
enum { COUPLED_NV_MAX = 1500 };

struct elimination {
    double *q, *v; /* full coordinates; v is zero */
    struct dyn_work *kernel;
    struct dyn_articulated *A; /* by link: with those further out giving way */
    struct dyn_articulated *B; /* by link: with its children's joints locked */

    /* where joints mimic others or bodies bend */
    struct dyn_crba_work *crba;
    double *M; /* nv x nv */
};

static int needs_mass_matrix(const struct dyn_model *model)
{
    return model->mimic_joint_count > 0 || model->modal_count > 0;
}

static size_t lay_out_elimination(struct elimination *elimination, void *mem,
                                  const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count;
    size_t at = 0;
    elimination->q = dyn_layout_cut(mem, &at, (size_t)model->full_nq * sizeof *elimination->q);
    elimination->v = dyn_layout_cut(mem, &at, (size_t)model->full_nv * sizeof *elimination->v);
    elimination->A = dyn_layout_cut(mem, &at, n * sizeof *elimination->A);
    elimination->B = dyn_layout_cut(mem, &at, n * sizeof *elimination->B);
    elimination->kernel = dyn_layout_cut(mem, &at, dyn_work_size(model));
    if (needs_mass_matrix(model) && model->nv <= COUPLED_NV_MAX) {
        elimination->crba = dyn_layout_cut(mem, &at, dyn_crba_work_size(model));
        elimination->M = dyn_layout_cut(
            mem, &at, (size_t)model->nv * (size_t)model->nv * sizeof *elimination->M);
    }
    return at;
}

size_t dyn_model_singular_size(const struct dyn_model *model)
{
    struct elimination probe = {0};
    return lay_out_elimination(&probe, NULL, model);
}

/* Uniform in [-pi, pi), always the same sequence. */
static double next_random_angle(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return 3.14159265358979323846 * ((double)(*seed >> 11) * 0x1p-52 - 1.0);
}

/* An arbitrary pose, so that a term that vanishes there vanishes everywhere.  Nothing is bent: a
 * flexible body may be valid only at small deformations. */
static void set_random_pose(const struct dyn_model *model, uint64_t *seed,
                            struct elimination *elimination)
{
    const struct dyn_state state = {elimination->q, elimination->v};
    for (int k = 0; k < model->full_nq; k++)
        elimination->q[k] = next_random_angle(seed);
    for (int m = 0; m < model->modal_count; m++)
        memset(elimination->q + model->modal[m].q_at, 0,
               (size_t)model->modal[m].modes * sizeof *elimination->q);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        double *quat = elimination->q + link->q_at + (link->kind == DYN_TREE_LINK_FREE ? 3 : 0);
        if (link->kind == DYN_TREE_LINK_FREE || link->kind == DYN_TREE_LINK_SPHERICAL)
            dyn_quat_store(dyn_quat_unit(dyn_quat_load(quat)), quat);
    }
    dyn_kinematics(model, &state, elimination->kernel);
}

/* Eliminate the joint velocities of link i, one after the other, and add the remaining inertia to
 * the parent.  0 where a velocity moves no inertia. */
static int eliminate_joint(const struct dyn_model *model, int i, struct elimination *elimination)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_transform *X = &elimination->kernel->X[i];
    struct dyn_articulated A = elimination->A[i];
    const struct dyn_articulated locked = dyn_articulated_to_parent(X, &A);
    struct dyn_articulated left = locked;

    for (int k = 0; k < dyn_tree_link_nv(link); k++) {
        double unit[6] = {0.0};
        unit[k] = 1.0;
        const struct dyn_vec6 S = dyn_joint_motion(link, unit);
        const struct dyn_vec6 U = dyn_articulated_mul(&A, &S);
        const struct dyn_vec6 W = dyn_articulated_mul(&elimination->B[i], &S);
        const double D = dyn_dot6(&U, &S) + link->rotor;
        if (!(D > ROUNDING * (dyn_dot6(&W, &S) + link->rotor)))
            return 0;
        struct dyn_vec6 G = dyn_force_to_parent(X, &U);
        G.ang = dyn_add(G.ang, link->rotor_spin);
        A = dyn_articulated_add_square(&A, -1.0 / D, &U);
        left = dyn_articulated_add_square(&left, -1.0 / D, &G);
    }
    if (link->parent >= 0) {
        elimination->A[link->parent] = dyn_articulated_add(&elimination->A[link->parent], &left);
        elimination->B[link->parent] = dyn_articulated_add(&elimination->B[link->parent], &locked);
    }
    return 1;
}

/* From the tips to the root; -1: every joint meets inertia. */
static int singular_body(const struct dyn_model *model, struct elimination *elimination)
{
    for (int i = 0; i < model->link_count; i++)
        elimination->A[i] = elimination->B[i] = dyn_articulated_make(&model->inertia[i]);
    for (int i = model->link_count - 1; i >= 0; i--)
        if (!eliminate_joint(model, i, elimination))
            return model->link[i].body;
    return -1;
}

static int body_of_velocity(const struct dyn_model *model, int v)
{
    int i = 0;
    for (int m = 0; m < model->modal_count; m++)
        if (v >= model->modal[m].v_at && v < model->modal[m].v_at + model->modal[m].modes)
            return model->link[model->modal[m].link].body;
    while (v < model->link[i].v_at || v >= model->link[i].v_at + dyn_tree_link_nv(&model->link[i]))
        i++;
    return model->link[i].body;
}

/* Pivots of the mass matrix itself: leaders move inertia together with their mimicking joints, and
 * joints together with modes. */
static int singular_pivot(const struct dyn_model *model, struct elimination *elimination)
{
    const struct dyn_state state = {elimination->q, elimination->v};
    const size_t nv = (size_t)model->nv;
    double *M = elimination->M;

    dyn_crba(model, &state, elimination->crba, M);
    for (size_t k = 0; k < nv; k++) {
        const double whole = M[k * nv + k];
        for (size_t j = 0; j < k; j++)
            M[k * nv + k] -= M[k * nv + j] * M[k * nv + j] * M[j * nv + j];
        if (!(M[k * nv + k] > ROUNDING * whole))
            return body_of_velocity(model, (int)k);
        for (size_t r = k + 1; r < nv; r++) {
            for (size_t j = 0; j < k; j++)
                M[r * nv + k] -= M[r * nv + j] * M[k * nv + j] * M[j * nv + j];
            M[r * nv + k] /= M[k * nv + k];
        }
    }
    return -1;
}

static int singular_in_pose(const struct dyn_model *model, struct elimination *elimination)
{
    if (!needs_mass_matrix(model))
        return singular_body(model, elimination);
    return model->nv <= COUPLED_NV_MAX ? singular_pivot(model, elimination) : -1;
}

int dyn_model_singular_joint(const struct dyn_model *model, void *mem)
{
    struct elimination elimination = {0};
    uint64_t seed = 1;
    int body = 0;
    memset(mem, 0, dyn_model_singular_size(model));
    lay_out_elimination(&elimination, mem, model);
    elimination.kernel = dyn_work_place(model, elimination.kernel);
    if (needs_mass_matrix(model) && model->nv <= COUPLED_NV_MAX)
        elimination.crba = dyn_crba_work_place(model, elimination.crba);
    for (int k = 0; k < POSES && body >= 0; k++) {
        set_random_pose(model, &seed, &elimination);
        body = singular_in_pose(model, &elimination);
    }
    return body;
}
