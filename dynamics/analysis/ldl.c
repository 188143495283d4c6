#include "dynamics/analysis/ldl.h"

#include <string.h>

#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"

static int mode_count(const struct dyn_model *model, int modal)
{
    return modal >= 0 ? model->modal[modal].modes : 0;
}

/* The modes by which a link moves, as a node; -1: none. */
static int modal_under(const struct dyn_model *model, const struct dyn_tree_link *link)
{
    return link->node >= 0 ? model->node[link->node].modal : -1;
}

/* Of those that move the link's frame: a link's own modes do not, those under a node do. */
static int last_velocity(const struct dyn_model *model, int link)
{
    for (; link >= 0; link = model->link[link].parent) {
        const struct dyn_tree_link *at = &model->link[link];
        const int under = modal_under(model, at);
        if (under >= 0)
            return model->modal[under].v_at + model->modal[under].modes - 1;
        if (dyn_tree_link_nv(at) > 0)
            return at->v_at + dyn_tree_link_nv(at) - 1;
    }
    return -1;
}

int dyn_ldl_last_velocity(const struct dyn_model *model, int body)
{
    return last_velocity(model, model->body_link[body]);
}

/* How many velocities move the link's frame. */
static size_t depth_of(const struct dyn_model *model, int link)
{
    size_t depth = 0;
    for (; link >= 0; link = model->link[link].parent)
        depth += (size_t)(dyn_tree_link_nv(&model->link[link]) +
                          mode_count(model, modal_under(model, &model->link[link])));
    return depth;
}

/* Entries of all rows: for each velocity those of its link before it, and all towards the root. */
static size_t entry_count(const struct dyn_model *model)
{
    size_t count = 0;
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const int own = dyn_tree_link_nv(link) + mode_count(model, link->modal);
        size_t depth = own > 0 ? depth_of(model, link->parent) : 0;
        for (int k = 0; k < own; k++)
            count += ++depth;
    }
    return count;
}

static size_t lay_out_ldl(struct dyn_ldl *ldl, void *mem, const struct dyn_model *model)
{
    const size_t nv = (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *ldl);
    ldl->parent = dyn_layout_cut(mem, &at, nv * sizeof *ldl->parent);
    ldl->depth = dyn_layout_cut(mem, &at, nv * sizeof *ldl->depth);
    ldl->row = dyn_layout_cut(mem, &at, nv * sizeof *ldl->row);
    ldl->d_inv = dyn_layout_cut(mem, &at, nv * sizeof *ldl->d_inv);
    ldl->entry = dyn_layout_cut(mem, &at, entry_count(model) * sizeof *ldl->entry);
    return at;
}

size_t dyn_ldl_size(const struct dyn_model *model)
{
    struct dyn_ldl probe;
    return lay_out_ldl(&probe, NULL, model);
}

/* Set the parents of so many velocities from `first` on: each the one before, and of the first
 * `under`. */
static void begin_rows(struct dyn_ldl *ldl, int first, int count, int under)
{
    for (int k = first; k < first + count; k++) {
        const int parent = k > first ? k - 1 : under;
        ldl->parent[k] = parent;
        ldl->depth[k] = parent < 0 ? 1 : ldl->depth[parent] + 1;
    }
}

static void begin_link(const struct dyn_model *model, struct dyn_ldl *ldl, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    begin_rows(ldl, link->v_at, dyn_tree_link_nv(link), last_velocity(model, link->parent));
    if (link->modal >= 0)
        begin_rows(ldl, model->modal[link->modal].v_at, model->modal[link->modal].modes,
                   last_velocity(model, i));
}

struct dyn_ldl *dyn_ldl_place(const struct dyn_model *model, void *mem)
{
    struct dyn_ldl *ldl = mem;
    memset(mem, 0, dyn_ldl_size(model));
    lay_out_ldl(ldl, mem, model);
    ldl->nv = model->full_nv;
    for (int i = 0; i < model->link_count; i++)
        begin_link(model, ldl, i);
    for (int k = 0; k < ldl->nv; k++)
        ldl->row[k] = k == 0 ? ldl->entry : ldl->row[k - 1] + ldl->depth[k - 1];
    return ldl;
}

/* y -= s x */
static void subtract_scaled(int count, double s, const double *restrict x, double *restrict y)
{
    for (int k = 0; k < count; k++)
        y[k] -= s * x[k];
}

void dyn_ldl_factor(struct dyn_ldl *ldl)
{
    for (int k = ldl->nv - 1; k >= 0; k--) {
        double *row = ldl->row[k];
        const double d_inv = row[0] > 0.0 ? 1.0 / row[0] : (double)NAN;
        int p = 1;
        for (int i = ldl->parent[k]; i >= 0; i = ldl->parent[i], p++) {
            const double l = row[p] * d_inv;
            subtract_scaled(ldl->depth[i], l, row + p, ldl->row[i]);
            row[p] = l;
        }
        ldl->d_inv[k] = d_inv;
    }
}

/* L' y = b, then D z = y, then L x = z. */
void dyn_ldl_solve(const struct dyn_ldl *ldl, double *b)
{
    for (int k = ldl->nv - 1; k >= 0; k--) {
        int p = 1;
        for (int i = ldl->parent[k]; i >= 0; i = ldl->parent[i], p++)
            b[i] -= ldl->row[k][p] * b[k];
    }
    for (int k = 0; k < ldl->nv; k++) {
        int p = 1;
        b[k] *= ldl->d_inv[k];
        for (int i = ldl->parent[k]; i >= 0; i = ldl->parent[i], p++)
            b[k] -= ldl->row[k][p] * b[i];
    }
}

void dyn_ldl_to_dense(const struct dyn_ldl *ldl, double *M)
{
    const size_t nv = (size_t)ldl->nv;

    memset(M, 0, nv * nv * sizeof *M);
    for (int k = 0; k < ldl->nv; k++) {
        const double *from = ldl->row[k];
        for (int i = k; i >= 0; i = ldl->parent[i], from++)
            M[(size_t)k * nv + (size_t)i] = M[(size_t)i * nv + (size_t)k] = *from;
    }
}
