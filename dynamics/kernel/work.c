#include "dynamics/kernel/work.h"

#include <string.h>

#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"

/* Lanes of the widest sine. */
static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

static void lay_out_follow(struct dyn_follow_work *follow, void *mem, size_t *at,
                           const struct dyn_model *model)
{
    const size_t count = (size_t)model->follower_count;
    const size_t nq = count > 0 ? (size_t)model->full_nq : 0;
    const size_t nv = count > 0 ? (size_t)model->full_nv : 0;
    double **const by_velocity[] = {&follow->v,        &follow->a,     &follow->tau,
                                    &follow->held_a,   &follow->still, &follow->unit,
                                    &follow->held_tau, &follow->need};
    follow->q = dyn_cut(mem, at, nq * sizeof *follow->q);
    for (size_t k = 0; k < sizeof by_velocity / sizeof *by_velocity; k++)
        *by_velocity[k] = dyn_cut(mem, at, nv * sizeof(double));
    follow->held = dyn_cut(mem, at, nv * sizeof *follow->held);
    /* at most so many are followed */
    const size_t leaders = count < (size_t)model->nv ? count : (size_t)model->nv;
    follow->inertia = dyn_cut(mem, at, leaders * leaders * sizeof *follow->inertia);
    follow->y = dyn_cut(mem, at, leaders * sizeof *follow->y);
    follow->leader = dyn_cut(mem, at, leaders * sizeof *follow->leader);
}

static double *rows(void *mem, size_t *at, int count, int lanes)
{
    return dyn_cut(mem, at, (size_t)count * (size_t)lanes * sizeof(double));
}

/* Close together: all of it is used at once. */
static struct dyn_modal_work modal_rows(int lanes, void *mem, size_t *at)
{
    double *all = rows(mem, at, 18 + lanes, lanes);
    struct dyn_row *R = dyn_cut(mem, at, 3 * sizeof *R);
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
    work->modal = dyn_cut(mem, at, (size_t)model->modal_count * sizeof *work->modal);
    work->node = dyn_cut(mem, at, (size_t)model->node_count * sizeof *work->node);
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_work modal = modal_rows(model->modal[m].lanes, mem, at);
        if (mem != NULL)
            work->modal[m] = modal;
    }
    for (int n = 0; n < model->node_count; n++) {
        double *node = rows(mem, at, 6, model->modal[model->node[n].modal].lanes);
        if (mem != NULL)
            work->node[n] = node;
    }
}

/* One layout answers both questions below, so size and placement cannot drift apart. */
static size_t lay_out(struct dyn_work *work, void *mem, const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count, nv = (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *work);
    work->link = dyn_cut(mem, &at, (n + 1) * sizeof *work->link);
    work->column = dyn_cut(mem, &at, nv * sizeof *work->column);
    work->sine = dyn_cut(mem, &at, padded(n) * sizeof *work->sine);
    work->cosine = dyn_cut(mem, &at, padded(n) * sizeof *work->cosine);
    work->tau = dyn_cut(mem, &at, nv * sizeof *work->tau);
    lay_out_modes(work, mem, &at, model);
    work->X = dyn_cut(mem, &at, n * sizeof *work->X);
    work->v = dyn_cut(mem, &at, n * sizeof *work->v);
    work->c = dyn_cut(mem, &at, n * sizeof *work->c);
    work->f = dyn_cut(mem, &at, n * sizeof *work->f);
    work->a = dyn_cut(mem, &at, n * sizeof *work->a);
    lay_out_follow(&work->follow, mem, &at, model);
    return at;
}

size_t dyn_work_size(const struct dyn_model *model)
{
    struct dyn_work probe;
    return lay_out(&probe, NULL, model);
}

struct dyn_work *dyn_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_work *work = mem;
    memset(mem, 0, dyn_work_size(model));
    lay_out(work, mem, model);
    work->link++;
    return work;
}
