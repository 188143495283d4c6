#include "dynamics/kernel/work.h"

#include <string.h>

#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"

/* Lanes of the widest sine. */
static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

static void lay_out_mimic(struct dyn_mimic_work *mimic, void *mem, size_t *at,
                          const struct dyn_model *model)
{
    const size_t count = (size_t)model->mimic_joint_count;
    const size_t nq = count > 0 ? (size_t)model->full_nq : 0;
    const size_t nv = count > 0 ? (size_t)model->full_nv : 0;
    double **const by_velocity[] = {&mimic->v,     &mimic->a,    &mimic->tau,      &mimic->held_a,
                                    &mimic->still, &mimic->unit, &mimic->held_tau, &mimic->need};
    mimic->q = dyn_layout_cut(mem, at, nq * sizeof *mimic->q);
    for (size_t k = 0; k < sizeof by_velocity / sizeof *by_velocity; k++)
        *by_velocity[k] = dyn_layout_cut(mem, at, nv * sizeof(double));
    mimic->held = dyn_layout_cut(mem, at, nv * sizeof *mimic->held);
    /* the number of leaders at most */
    const size_t leaders = count < (size_t)model->nv ? count : (size_t)model->nv;
    mimic->inertia = dyn_layout_cut(mem, at, leaders * leaders * sizeof *mimic->inertia);
    mimic->y = dyn_layout_cut(mem, at, leaders * sizeof *mimic->y);
    mimic->leader = dyn_layout_cut(mem, at, leaders * sizeof *mimic->leader);
}

static double *cut_rows(void *mem, size_t *at, int count, int lanes)
{
    return dyn_layout_cut(mem, at, (size_t)count * (size_t)lanes * sizeof(double));
}

/* Close together: all of it is used at once. */
static struct dyn_modal_work cut_modal_work(int lanes, void *mem, size_t *at)
{
    double *all = cut_rows(mem, at, 18 + lanes, lanes);
    struct dyn_row *R = dyn_layout_cut(mem, at, 3 * sizeof *R);
    const ptrdiff_t n = lanes;
    if (mem == NULL)
        return (struct dyn_modal_work){0};
    return (struct dyn_modal_work){
        .eta = all,
        .xi = all + n,
        .B = all + 2 * n,
        .D = all + 8 * n,
        .f = all + (8 + n) * n,
        .Z = all + (9 + n) * n,
        .F = all + (13 + n) * n,
        .a = all + (17 + n) * n,
        .R = R,
    };
}

static void lay_out_modes(struct dyn_work *work, void *mem, size_t *at,
                          const struct dyn_model *model)
{
    work->modal = dyn_layout_cut(mem, at, (size_t)model->modal_count * sizeof *work->modal);
    work->node = dyn_layout_cut(mem, at, (size_t)model->node_count * sizeof *work->node);
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_work modal = cut_modal_work(model->modal[m].lanes, mem, at);
        if (mem != NULL)
            work->modal[m] = modal;
    }
    for (int n = 0; n < model->node_count; n++) {
        double *node = cut_rows(mem, at, 6, model->modal[model->node[n].modal].lanes);
        if (mem != NULL)
            work->node[n] = node;
    }
}

/* One layout answers both questions below, so size and placement cannot drift apart. */
static size_t lay_out_work(struct dyn_work *work, void *mem, const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count, nv = (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->link = dyn_layout_cut(mem, &at, (n + 1) * sizeof *work->link);
    work->column = dyn_layout_cut(mem, &at, nv * sizeof *work->column);
    work->sine = dyn_layout_cut(mem, &at, padded(n) * sizeof *work->sine);
    work->cosine = dyn_layout_cut(mem, &at, padded(n) * sizeof *work->cosine);
    work->tau = dyn_layout_cut(mem, &at, nv * sizeof *work->tau);
    lay_out_modes(work, mem, &at, model);
    work->X = dyn_layout_cut(mem, &at, n * sizeof *work->X);
    work->v = dyn_layout_cut(mem, &at, n * sizeof *work->v);
    work->c = dyn_layout_cut(mem, &at, n * sizeof *work->c);
    work->f = dyn_layout_cut(mem, &at, n * sizeof *work->f);
    work->a = dyn_layout_cut(mem, &at, n * sizeof *work->a);
    lay_out_mimic(&work->mimic, mem, &at, model);
    return at;
}

size_t dyn_work_size(const struct dyn_model *model)
{
    struct dyn_work probe;
    return lay_out_work(&probe, NULL, model);
}

struct dyn_work *dyn_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_work *work = mem;
    memset(mem, 0, dyn_work_size(model));
    lay_out_work(work, mem, model);
    work->link++;
    return work;
}
