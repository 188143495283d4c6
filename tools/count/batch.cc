/*
 * The batch kernel with one lane, of a number that counts.
 */
#include <cerrno>
#include <cmath>
#include <cstdlib>

#define _Alignas alignas
#define _Static_assert static_assert
extern "C" {
#include "dynamics/kernel/batch/batch.h"
#include "dynamics/kernel/batch/batch_isa.h"
}
#include "tools/count/flops.h"

static struct flop_count counted;

struct wide {
    double e;
    wide() : e(0.0)
    {
    }
    explicit wide(double a) : e(a)
    {
    }
};

static wide operator+(wide a, wide b)
{
    counted.additions++;
    return wide(a.e + b.e);
}

static wide operator-(wide a, wide b)
{
    counted.additions++;
    return wide(a.e - b.e);
}

static wide operator*(wide a, wide b)
{
    counted.multiplications++;
    return wide(a.e * b.e);
}

/* A sign is no operation: the next addition takes it along. */
static wide operator-(wide a)
{
    return wide(-a.e);
}

static wide wide_splat(double a)
{
    return wide(a);
}

static wide wide_load(const double *row)
{
    return wide(*row);
}

static void wide_store(double *row, wide a)
{
    *row = a.e;
}

static wide wide_inverse(wide D)
{
    counted.divisions++;
    return wide(1.0 / D.e);
}

static wide wide_where_positive(wide x, wide a)
{
    return x.e > 0.0 ? a : wide();
}

static wide wide_tanh(wide x)
{
    counted.functions++;
    return wide(tanh(x.e));
}

enum { WIDE_ANGLES = 1 };

static void wide_sine_cosine(int count, const wide *x, wide *sine, wide *cosine, wide *far)
{
    for (int k = 0; k < count; k++)
        sine[k].e = sin(x[k].e), cosine[k].e = cos(x[k].e);
    counted.functions += count;
    *far = wide();
}

static int wide_is_zero(wide a)
{
    return a.e == 0.0;
}

static void wide_far_sine_cosine(wide x, wide *sine, wide *cosine)
{
    sine->e = sin(x.e);
    cosine->e = cos(x.e);
}

#define WIDE_INLINE      static inline
#define DYN_WIDE         1
#define DYN_BATCH_KERNEL counting_kernel
#include "dynamics/kernel/batch/batch_rigid.h"

/* At rest in the zero pose.  The operations do not depend on the state. */
static void run_once(const struct dyn_model *model, void *mem, double *rows)
{
    double *q = rows, *v = q + model->nq, *a = v + model->nv;
    struct dyn_batch given = {};
    for (int i = 0; i < model->body_count; i++)
        dyn_joint_zero(&model->spec[i], q + model->q_index[i]);
    given.count = 1;
    given.stride = 1;
    given.q = q;
    given.v = v;
    given.tau = v;
    counted = flop_count();
    dyn_batch_run(&counting_kernel, model, &given, dyn_batch_work_place(model, mem), a);
}

int count_flops(const struct dyn_model *model, struct flop_count *count)
{
    const size_t line = 64;
    const size_t row_count = (size_t)(model->nq + 2 * model->nv);
    void *mem = aligned_alloc(line, (dyn_batch_work_size(model) + line - 1) / line * line);
    double *rows = static_cast<double *>(calloc(row_count, sizeof(double)));
    const int no_memory = mem == nullptr || rows == nullptr;

    if (!no_memory)
        run_once(model, mem, rows);
    *count = counted;
    free(mem);
    free(rows);
    return no_memory ? -ENOMEM : 0;
}
