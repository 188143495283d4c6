/*
 * Many states at once against one at a time, and against the inverse dynamics.
 */
#include "dynamics/kernel/batch/batch.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/batch/batch_isa.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "tests/dynamics/kernel/batch/batch_eight.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { STATE_MAX = 2 * DYN_BATCH_WIDTH_MAX + 1, STRIDE = STATE_MAX + 2, UNTOUCHED = 77 };

static struct tree tree;
static const struct dyn_batch_kernel *kernel; /* NULL: the model's own */
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
    kernel = NULL;
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
        batch.a[k] = UNTOUCHED;
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

static int width(void)
{
    return kernel != NULL ? kernel->width : dyn_batch_width(tree.model);
}

static void run(void)
{
    poison();
    if (kernel != NULL)
        dyn_batch_run(kernel, tree.model, &batch.given, batch.work, batch.a);
    else
        dyn_aba_batch(tree.model, &batch.given, batch.work, batch.a);
}

/* A random tree with as many states as go at once. */
static void run_random(uint64_t seed)
{
    tree_random(&tree, 1 + (int)(seed % 40), (int)(seed / 40 % 2), seed);
    place_work();
    make_states(width());
    run();
}

static void test_every_state_obeys_the_inverse_dynamics(void)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        run_random(seed);
        for (int s = 0; s < batch.given.count; s++)
            worst = fmax(worst, residual_of_state(s));
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
}

/* Where the two differ by much the tree is to blame: few are so ill-conditioned. */
static void test_every_state_moves_as_it_does_alone(void)
{
    int far = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        run_random(seed);
        const double error = worst_error();
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, 0.0, error);
        far += error > 1e-12;
    }
    TEST_ASSERT_LESS_OR_EQUAL_INT(5, far);
}

static void test_eight_lanes_are_as_good_as_any(void)
{
    double worst = 0.0;
    kernel = &batch_eight;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        run_random(seed);
        for (int s = 0; s < batch.given.count; s++)
            worst = fmax(worst, residual_of_state(s));
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
}

static const struct dyn_batch_kernel *const kernel_of_isa[] = {&dyn_batch_sse2, &dyn_batch_avx2,
                                                               &dyn_batch_avx512};

/* Largest difference of two sets of answers in a state, against the largest of the first. */
static double difference(const double *a, const double *b, int s)
{
    double worst = 0.0, scale = 1.0;
    for (int k = 0; k < dyn_model_nv(tree.model); k++) {
        scale = fmax(scale, fabs(a[k * STRIDE + s]));
        worst = fmax(worst, fabs(a[k * STRIDE + s] - b[k * STRIDE + s]));
    }
    return worst / scale;
}

/* Each against the plainest. */
static void test_every_instruction_set_gives_the_same_answer(void)
{
    static double plain[TREE_NV_MAX * STRIDE];
    for (uint64_t seed = 1; seed <= 100; seed++)
        for (int isa = DYN_ISA_SSE2; isa <= DYN_ISA_AVX512; isa++) {
            if (!dyn_isa_runs((enum dyn_isa)isa))
                continue;
            kernel = kernel_of_isa[isa];
            tree_random(&tree, 12, (int)(seed % 2), seed);
            place_work();
            make_states(DYN_BATCH_WIDTH_MAX);
            run();
            if (isa == DYN_ISA_SSE2)
                memcpy(plain, batch.a, sizeof plain);
            for (int s = 0; s < batch.given.count; s++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, difference(plain, batch.a, s));
        }
}

static void test_the_model_says_which_instruction_set_is_used(void)
{
    static double own[TREE_NV_MAX * STRIDE];
    for (int isa = DYN_ISA_SSE2; isa <= DYN_ISA_AVX512; isa++) {
        if (!dyn_isa_runs((enum dyn_isa)isa))
            continue;
        tree_random(&tree, 12, 1, 23);
        dyn_model_use_isa((struct dyn_model *)(void *)tree.model_mem, (enum dyn_isa)isa);
        TEST_ASSERT_EQUAL_INT(kernel_of_isa[isa]->width, dyn_batch_width(tree.model));
        place_work();
        make_states(STATE_MAX);
        kernel = NULL;
        run();
        memcpy(own, batch.a, sizeof own);
        kernel = kernel_of_isa[isa];
        run();
        TEST_ASSERT_EQUAL_MEMORY(own, batch.a, sizeof own);
    }
}

/* Of a count that does not fill the lanes no state is left out, and none is written that is not
 * there. */
static void test_any_count_is_answered_and_no_more(void)
{
    for (int wide = 0; wide < 2; wide++) {
        kernel = wide ? &batch_eight : NULL;
        tree_random(&tree, 9, 1, 31);
        place_work();
        for (int count = 0; count <= 2 * width() + 1; count++) {
            make_states(count);
            run();
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst_error());
            for (int k = 0; k < TREE_NV_MAX; k++)
                for (int s = k < dyn_model_nv(tree.model) ? count : 0; s < STRIDE; s++)
                    TEST_ASSERT_TRUE(batch.a[k * STRIDE + s] == UNTOUCHED);
        }
    }
}

/* The sanitizers watch the ends of these arrays. */
static void test_nothing_beyond_the_last_state_is_read(void)
{
    enum { COUNT = 5, NV = 3 };
    double q[NV * COUNT], v[NV * COUNT], tau[NV * COUNT], a[NV * COUNT];
    for (int i = 0; i < NV; i++)
        tree_add(&tree, i - 1, DYN_JOINT_REVOLUTE, 1.0, 0.0, 0.0);
    tree_build(&tree);
    place_work();
    for (int k = 0; k < NV * COUNT; k++)
        q[k] = 0.1 * k, v[k] = 0.2 * k, tau[k] = 1.0;
    const struct dyn_batch given = {.count = COUNT, .stride = COUNT, .q = q, .v = v, .tau = tau};
    dyn_aba_batch(tree.model, &given, batch.work, a);
    for (int k = 0; k < NV * COUNT; k++)
        TEST_ASSERT_TRUE(isfinite(a[k]));
}

static void test_absent_forces_are_zero_forces(void)
{
    static double with[TREE_NV_MAX * STRIDE];
    tree_random(&tree, 20, 1, 11);
    place_work();
    make_states(width() + 1);
    memset(batch.tau, 0, sizeof batch.tau);
    run();
    memcpy(with, batch.a, sizeof with);
    batch.given.tau = NULL;
    run();
    for (size_t k = 0; k < sizeof with / sizeof with[0]; k++)
        TEST_ASSERT_TRUE(with[k] == batch.a[k]);
}

/* Not a bit of the others changes. */
static void test_a_runaway_state_spoils_no_other(void)
{
    static double sound[TREE_NV_MAX * STRIDE];
    tree_random(&tree, 12, 1, 17);
    place_work();
    make_states(width());
    run();
    memcpy(sound, batch.a, sizeof sound);
    for (int k = 0; k < dyn_model_nq(tree.model); k++)
        batch.q[k * STRIDE + 1] = (double)NAN;
    run();
    for (int k = 0; k < dyn_model_nv(tree.model); k++) {
        TEST_ASSERT_FALSE(isfinite(batch.a[k * STRIDE + 1]));
        for (int s = 0; s < batch.given.count; s++)
            TEST_ASSERT_TRUE(s == 1 || sound[k * STRIDE + s] == batch.a[k * STRIDE + s]);
    }
}

/* Beyond the reach of the series, in some lanes only. */
static void test_wheels_that_have_turned_for_long_are_as_accurate(void)
{
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 0.6, 0.8);
    tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 1.0, 0.0, 0.0);
    tree.spec[0].center[0] = tree.spec[1].center[1] = 0.5;
    tree.spec[1].place_xyz[2] = 0.7;
    tree_build(&tree);
    place_work();
    tree.gravity[0] = 9.81;
    make_states(width());
    batch.q[0] = 1e5, batch.q[1] = 3e7, batch.q[STRIDE] = -8e17, batch.q[STRIDE + 1] = 1e9;
    run();
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst_error());
}

/* No valid model has such a pivot; a negative mass that passes no check makes one. */
static void test_a_pivot_that_is_not_positive_gives_no_plausible_answer(void)
{
    static const enum dyn_joint_type joints[] = {DYN_JOINT_REVOLUTE, DYN_JOINT_PRISMATIC,
                                                 DYN_JOINT_SPHERICAL, DYN_JOINT_FREE};
    for (int k = 0; k < 4; k++) {
        tree_begin(&tree);
        tree_add(&tree, -1, joints[k], 1, 0, 0);
        tree_build(&tree);
        tree.spec[0].mass = -1.0;
        tree.spec[0].inertia[0] = tree.spec[0].inertia[1] = tree.spec[0].inertia[2] = -1.0;
        tree.model = dyn_model_place(tree.spec, 1, tree.model_mem);
        place_work();
        make_states(width());
        run();
        TEST_ASSERT_FALSE(isfinite(batch.a[0]));
    }
}

/* Parallel and opposite axes have no tilt, or a full half turn: the axes chosen for them must do.
 */
static void test_axes_along_each_other_are_no_exception(void)
{
    static const double axis[4][3] = {{0, 0, 1}, {0, 0, -1}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 16; i++) {
        const double *a = axis[i * i % 7 % 4];
        tree_add(&tree, i % 5 == 4 ? i - 3 : i - 1, DYN_JOINT_REVOLUTE, a[0], a[1], a[2]);
        tree.spec[i].place_xyz[0] = 0.4, tree.spec[i].place_xyz[2] = 0.1 * i;
        tree.spec[i].center[1] = 0.2;
    }
    tree_build(&tree);
    place_work();
    tree.gravity[1] = 9.81;
    make_states(width());
    run();
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst_error());
}

static void test_a_long_chain_keeps_its_digits(void)
{
    tree_noise_seed(3);
    for (int i = 0; i < TREE_BODY_MAX; i++) {
        tree_add(&tree, i - 1, DYN_JOINT_REVOLUTE, i % 3 == 0, i % 3 == 1, i % 3 == 2);
        tree.spec[i].place_xyz[i % 2] = 0.3;
        tree.spec[i].center[0] = 0.1;
    }
    tree_build(&tree);
    place_work();
    tree.gravity[2] = -9.81;
    make_states(width());
    run();
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst_error());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_state_obeys_the_inverse_dynamics);
    RUN_TEST(test_every_state_moves_as_it_does_alone);
    RUN_TEST(test_eight_lanes_are_as_good_as_any);
    RUN_TEST(test_every_instruction_set_gives_the_same_answer);
    RUN_TEST(test_the_model_says_which_instruction_set_is_used);
    RUN_TEST(test_any_count_is_answered_and_no_more);
    RUN_TEST(test_nothing_beyond_the_last_state_is_read);
    RUN_TEST(test_absent_forces_are_zero_forces);
    RUN_TEST(test_a_runaway_state_spoils_no_other);
    RUN_TEST(test_wheels_that_have_turned_for_long_are_as_accurate);
    RUN_TEST(test_a_pivot_that_is_not_positive_gives_no_plausible_answer);
    RUN_TEST(test_axes_along_each_other_are_no_exception);
    RUN_TEST(test_a_long_chain_keeps_its_digits);
    return UNITY_END();
}
