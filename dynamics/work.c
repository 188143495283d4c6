#include "dynamics/work.h"

#include <string.h>

#include "dynamics/cut.h"
#include "dynamics/tree.h"

/* One layout answers both questions below, so size and placement cannot drift apart. */
static size_t lay_out(struct dyn_work *work, void *mem, size_t n)
{
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *work);
    work->X = dyn_cut(mem, &at, n * sizeof *work->X);
    work->v = dyn_cut(mem, &at, n * sizeof *work->v);
    work->c = dyn_cut(mem, &at, n * sizeof *work->c);
    work->IA = dyn_cut(mem, &at, n * sizeof *work->IA);
    work->pA = dyn_cut(mem, &at, n * sizeof *work->pA);
    work->U = dyn_cut(mem, &at, n * sizeof *work->U);
    work->d_inv = dyn_cut(mem, &at, n * sizeof *work->d_inv);
    work->u = dyn_cut(mem, &at, n * sizeof *work->u);
    work->a = dyn_cut(mem, &at, n * sizeof *work->a);
    return at;
}

size_t dyn_work_size(const struct dyn_model *model)
{
    struct dyn_work probe;
    return lay_out(&probe, NULL, (size_t)model->body_count);
}

struct dyn_work *dyn_work_place(const struct dyn_model *model, void *mem)
{
    memset(mem, 0, dyn_work_size(model));
    lay_out(mem, mem, (size_t)model->body_count);
    return mem;
}
