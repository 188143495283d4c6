#include "dynamics/work.h"

#include <string.h>

#include "dynamics/cut.h"
#include "dynamics/tree.h"

/* Lanes of the widest sine. */
static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
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
    work->X = dyn_cut(mem, &at, n * sizeof *work->X);
    work->v = dyn_cut(mem, &at, n * sizeof *work->v);
    work->c = dyn_cut(mem, &at, n * sizeof *work->c);
    work->f = dyn_cut(mem, &at, n * sizeof *work->f);
    work->a = dyn_cut(mem, &at, n * sizeof *work->a);
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
