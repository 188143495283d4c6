/*
 * Many states at once against one at a time, and against the inverse dynamics.
 */
#include "dynamics/batch.h"

#include <math.h>
#include <string.h>

#include "dynamics/aba.h"
#include "dynamics/batch_kernel.h"
#include "dynamics/rnea.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { STATE_MAX = 24, STRIDE = STATE_MAX + 3 };

static struct tree tree;
static struct {
    double q[TREE_NV_MAX * STRIDE], v[TREE_NV_MAX * STRIDE], tau[TREE_NV_MAX * STRIDE];
    double a[TREE_NV_MAX * STRIDE];
    struct dyn_batch given;
    struct dyn_batch_work *work;
    _Alignas(64) unsigned char mem[1 << 22];
} batch;

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static void place_work(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof batch.mem, dyn_batch_work_size(tree.model));
    batch.work = dyn_batch_work_place(tree.model, batch.mem);
}

/* The scratch means nothing between two calls. */
static void poison(void)
{
    const size_t from = (size_t)((unsigned char *)batch.work->moving - batch.mem);
    const size_t to = (size_t)((unsigned char *)batch.work->branch - batch.mem);
    memset(batch.mem + from, 0xff, to - from);
    for (size_t k = 0; k < sizeof batch.a / sizeof batch.a[0]; k++)
        batch.a[k] = 77.0;
}

/* The tree's own state first, then others like it.  Quaternions need not be unit. */
static void make_states(int count)
{
    const int nq = dyn_model_nq(tree.model), nv = dyn_model_nv(tree.model);
    for (int s = 0; s < count; s++) {
        const double far = s == 0 ? 0.0 : 0.5;
        for (int k = 0; k < nq; k++)
            batch.q[k * STRIDE + s] = tree.q[k] + far * tree_noise();
        for (int k = 0; k < nv; k++) {
            batch.v[k * STRIDE + s] = tree.v[k] + far * tree_noise();
            batch.tau[k * STRIDE + s] = tree.tau[k] + far * tree_noise();
        }
    }
    batch.given = (struct dyn_batch){
        .count = count, .stride = STRIDE, .q = batch.q, .v = batch.v, .tau = batch.tau};
    memcpy(batch.given.gravity, tree.gravity, sizeof batch.given.gravity);
}

/* State s to the tree, without loads. */
static struct dyn_input take_state(int s)
{
    struct dyn_input input = {.tau = batch.given.tau != NULL ? tree.tau : NULL};
    for (int k = 0; k < dyn_model_nq(tree.model); k++)
        tree.q[k] = batch.q[k * STRIDE + s];
    for (int k = 0; k < dyn_model_nv(tree.model); k++) {
        tree.v[k] = batch.v[k * STRIDE + s];
        tree.tau[k] = batch.tau[k * STRIDE + s];
    }
    memcpy(input.gravity, batch.given.gravity, sizeof input.gravity);
    return input;
}

/* Largest difference to dyn_aba() in a state, against its largest acceleration. */
static double error_of_state(int s)
{
    const struct dyn_input input = take_state(s);
    const struct dyn_state state = tree_state(&tree);
    struct dyn_output output = {.a = tree.a};
    double worst = 0.0, scale = 1.0;

    dyn_aba(tree.model, &state, &input, tree.work, &output);
    for (int k = 0; k < dyn_model_nv(tree.model); k++) {
        const double a = batch.a[k * STRIDE + s];
        if (!isfinite(a))
            return (double)INFINITY;
        scale = fmax(scale, fabs(tree.a[k]));
        worst = fmax(worst, fabs(a - tree.a[k]));
    }
    return worst / scale;
}

static double worst_error(void)
{
    double worst = 0.0;
    for (int s = 0; s < batch.given.count; s++)
        worst = fmax(worst, error_of_state(s));
    return worst;
}

/* What the inverse dynamics miss of tau, against the largest force inside the tree. */
static double residual_of_state(int s)
{
    const struct dyn_input input = take_state(s);
    const struct dyn_state state = tree_state(&tree);
    const int nv = dyn_model_nv(tree.model);
    double a[TREE_NV_MAX], tau[TREE_NV_MAX], worst = 0.0, scale = 0.0;

    for (int k = 0; k < nv; k++)
        a[k] = batch.a[k * STRIDE + s];
    dyn_rnea(tree.model, &state, a, &input, tree.work, tau);
    for (int i = 0; i < tree.model->link_count; i++) {
        scale = fmax(scale, dyn_norm(tree.work->f[i].ang));
        scale = fmax(scale, dyn_norm(tree.work->f[i].lin));
    }
    for (int k = 0; k < nv; k++) {
        if (!isfinite(tau[k]))
            return (double)INFINITY;
        scale = fmax(scale, fabs(tree.tau[k]));
        worst = fmax(worst, fabs(tau[k] - tree.tau[k]));
    }
    return nv == 0 ? 0.0 : worst / scale;
}

static void run(void)
{
    poison();
    dyn_aba_batch(tree.model, &batch.given, batch.work, batch.a);
}

static void test_every_state_obeys_the_inverse_dynamics(void)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        tree_random(&tree, 1 + (int)(seed % 40), (int)(seed / 40 % 2), seed);
        place_work();
        make_states(dyn_batch_width(tree.model));
        run();
        for (int s = 0; s < batch.given.count; s++)
            worst = fmax(worst, residual_of_state(s));
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst);
}
int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_state_obeys_the_inverse_dynamics);
    return UNITY_END();
}
