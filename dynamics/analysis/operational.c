/*
 * With M = L' D L and one point's Y = D^-1/2 L^-T J', the block of two points is Ya' Yb.  J' has
 * entries only between point and root, and so has Y; two points share what lies between root and
 * their last common velocity.  That this is nothing for siblings (Rodriguez, Jain, Kreutz 1989,
 * A.5) holds only where no moving body carries both.
 *
 * Joints that mimic others tie any two branches together: there M = L L' is dense, and so is Y =
 * L^-1 J'.
 */
#include "dynamics/analysis/operational.h"

#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/crba_work.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"

struct dyn_operational_work {
    int nv;
    int point_max;
    struct dyn_crba_work *mass;
    double (*Y)[6]; /* nv for each point: from the point's last velocity towards the root; or, where
                       joints mimic others, Y' by rows */
    int *tip;       /* per point: that velocity; -1: none */
};

static size_t lay_out_operational_work(struct dyn_operational_work *work, void *mem,
                                       const struct dyn_model *model, size_t point_max)
{
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->mass = dyn_layout_cut(mem, &at, dyn_crba_work_size(model));
    work->Y = dyn_layout_cut(mem, &at, point_max * (size_t)model->nv * sizeof *work->Y);
    work->tip = dyn_layout_cut(mem, &at, point_max * sizeof *work->tip);
    return at;
}

size_t dyn_operational_work_size(const struct dyn_model *model, int point_max)
{
    struct dyn_operational_work probe;
    return lay_out_operational_work(&probe, NULL, model, (size_t)point_max);
}

struct dyn_operational_work *dyn_operational_work_place(const struct dyn_model *model,
                                                        int point_max, void *mem)
{
    struct dyn_operational_work *work = mem;
    memset(mem, 0, dyn_operational_work_size(model, point_max));
    lay_out_operational_work(work, mem, model, (size_t)point_max);
    work->nv = model->nv;
    work->point_max = point_max;
    (void)dyn_crba_work_place(model, work->mass);
    return work;
}

static void put_column(const struct dyn_vec6 *S, struct dyn_vec3 arm, double Y[6])
{
    const struct dyn_vec6 column = dyn_motion_shift(S, arm);
    dyn_vec3_store(column.ang, Y);
    dyn_vec3_store(column.lin, Y + 3);
}

/* The columns of J from the point towards the root, one after the other. */
static void branch_columns(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                           const struct dyn_point *point, double (*Y)[6])
{
    struct dyn_vec3 arm = dyn_tree_pose_arm(model, tree_pose, point);
    for (int i = model->body_link[point->body]; i >= 0; i = model->link[i].parent) {
        const struct dyn_tree_link *link = &model->link[i];
        if (link->node >= 0)
            for (int p = dyn_modal_shape_of_node(model, link)->modes - 1; p >= 0; p--)
                put_column(&tree_pose->X[link->node][p], arm, *Y++);
        for (int k = dyn_tree_link_nv(link) - 1; k >= 0; k--)
            put_column(&tree_pose->S[link->v_at + k], arm, *Y++);
        arm = dyn_add(arm, tree_pose->arm[i]);
    }
}

/* L^-T and then D^-1/2, from the tip to the root. */
static void scale_by_factor(const struct dyn_ldl *ldl, int tip, double (*Y)[6])
{
    for (int k = tip; k >= 0; k = ldl->parent[k], Y++) {
        const double scale = sqrt(ldl->d_inv[k]);
        for (int p = 1; p < ldl->depth[k]; p++)
            for (int c = 0; c < 6; c++)
                Y[p][c] -= ldl->row[k][p] * Y[0][c];
        for (int c = 0; c < 6; c++)
            Y[0][c] *= scale;
    }
}

/* Ya' Yb over what both share.  The larger index cannot lie between the other one and the root. */
static void sparse_block(const struct dyn_operational_work *work, int a, int b, double out[6][6])
{
    const struct dyn_ldl *ldl = work->mass->ldl;
    const double(*Ya)[6] = (const double(*)[6])(work->Y + (size_t)a * (size_t)work->nv);
    const double(*Yb)[6] = (const double(*)[6])(work->Y + (size_t)b * (size_t)work->nv);
    int ka = work->tip[a], kb = work->tip[b];

    memset(out, 0, 36 * sizeof(double));
    while (ka != kb) {
        if (ka > kb)
            ka = ldl->parent[ka], Ya++;
        else
            kb = ldl->parent[kb], Yb++;
    }
    for (; ka >= 0; ka = ldl->parent[ka], Ya++, Yb++)
        for (int r = 0; r < 6; r++)
            for (int c = 0; c < 6; c++)
                out[r][c] += Ya[0][r] * Yb[0][c];
}

/* Ya' Yb where both are dense. */
static void dense_block(const struct dyn_operational_work *work, int a, int b, double out[6][6])
{
    const size_t nv = (size_t)work->nv;
    const double *Ya = *(work->Y + (size_t)a * nv), *Yb = *(work->Y + (size_t)b * nv);

    memset(out, 0, 36 * sizeof(double));
    for (size_t r = 0; r < 6; r++)
        for (size_t c = 0; c < 6; c++)
            for (size_t k = 0; k < nv; k++)
                out[r][c] += Ya[r * nv + k] * Yb[c * nv + k];
}

static void store_block(double sparse_block[6][6], size_t side, size_t a, size_t b, double *inverse)
{
    for (size_t r = 0; r < 6; r++)
        for (size_t c = 0; c < 6; c++) {
            inverse[(6 * a + r) * side + 6 * b + c] = sparse_block[r][c];
            inverse[(6 * b + c) * side + 6 * a + r] = sparse_block[r][c];
        }
}

/* M is in mass->ldl. */
static void sparse_inverse(const struct dyn_model *model, const struct dyn_point *points, int n,
                           struct dyn_operational_work *work, double *inverse)
{
    const struct dyn_crba_work *mass = work->mass;
    double both[6][6];

    dyn_ldl_factor(mass->ldl);
    for (int a = 0; a < n; a++) {
        double(*Y)[6] = work->Y + (size_t)a * (size_t)work->nv;
        work->tip[a] = dyn_ldl_last_velocity(model, points[a].body);
        branch_columns(model, mass->tree_pose, &points[a], Y);
        scale_by_factor(mass->ldl, work->tip[a], Y);
        for (int b = 0; b <= a; b++) {
            sparse_block(work, a, b, both);
            store_block(both, 6 * (size_t)n, (size_t)a, (size_t)b, inverse);
        }
    }
}

static void dense_inverse(const struct dyn_model *model, const struct dyn_point *points, int n,
                          struct dyn_operational_work *work, double *inverse)
{
    const struct dyn_crba_work *mass = work->mass;
    double both[6][6];

    dyn_mimic_mass(model, mass->ldl, mass->dense);
    dyn_cholesky_factor(work->nv, mass->dense);
    for (int a = 0; a < n; a++) {
        double *Y = *(work->Y + (size_t)a * (size_t)work->nv);
        dyn_jacobian(model, mass->tree_pose, &points[a], Y);
        for (int r = 0; r < 6; r++)
            dyn_cholesky_solve_lower(work->nv, mass->dense, Y + r * work->nv);
        for (int b = 0; b <= a; b++) {
            dense_block(work, a, b, both);
            store_block(both, 6 * (size_t)n, (size_t)a, (size_t)b, inverse);
        }
    }
}

void dyn_operational_inverse(const struct dyn_model *model, const struct dyn_state *state,
                             const struct dyn_point *points, int n,
                             struct dyn_operational_work *work, double *inverse)
{
    DYN_CHECK(n <= work->point_max);

    dyn_tree_pose_update(model, state, work->mass->tree_pose);
    dyn_composite_rows(model, work->mass);
    if (dyn_mimic_any(model))
        dense_inverse(model, points, n, work, inverse);
    else
        sparse_inverse(model, points, n, work, inverse);
}
