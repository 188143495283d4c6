/*
 * Flexible trees: the kernel against the book, and both against physics.
 */
#include <math.h>
#include <string.h>

#include "dynamics/aba.h"
#include "dynamics/composite.h"
#include "dynamics/isa.h"
#include "dynamics/rnea.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flexible.h"
#include "unity.h"

static struct tree tree;
static double M[TREE_NV_MAX * TREE_NV_MAX];
static _Alignas(64) unsigned char crba_mem[1 << 23];

void setUp(void)
{
}

void tearDown(void)
{
}

static int nv(void)
{
    return dyn_model_nv(tree.model);
}

static struct dyn_crba_work *crba_work(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof crba_mem, dyn_crba_work_size(tree.model));
    return dyn_crba_work_place(tree.model, crba_mem);
}

/* Size of the forces inside the tree: what a residual must be measured against. */
static double force_scale(void)
{
    double scale = 1.0;
    for (int i = 0; i < tree.model->link_count; i++) {
        scale = fmax(scale, dyn_norm(tree.work->f[i].ang));
        scale = fmax(scale, dyn_norm(tree.work->f[i].lin));
    }
    for (int k = 0; k < nv(); k++)
        scale = fmax(scale, fabs(tree.tau[k]));
    return scale;
}

/* What is left of tau when inverse dynamics have had an answer of forward dynamics. */
static double residual(const struct dyn_input *input, const double *a)
{
    double tau[TREE_NV_MAX], worst = 0.0;
    const struct dyn_state state = tree_state(&tree);
    tree_poison(&tree);
    dyn_rnea(tree.model, &state, a, input, tree.work, tau);
    const double scale = force_scale();
    for (int k = 0; k < nv(); k++) {
        if (!isfinite(tau[k]))
            return (double)INFINITY;
        worst = fmax(worst, fabs(tau[k] - tree.tau[k]) / scale);
    }
    return worst;
}

static void forward(const struct dyn_input *input, double *a)
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_output output = {.a = a};
    tree_poison(&tree);
    dyn_aba(tree.model, &state, input, tree.work, &output);
}

static void forward_by_mass(const struct dyn_input *input, double *a)
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_output output = {.a = a};
    dyn_crba_forward(tree.model, &state, input, crba_work(), &output);
}

/* One of many trees: bases that fly and that stand, one to twelve bodies. */
static void take_tree(uint64_t seed)
{
    flexible_random(&tree, 1 + (int)(seed % 12), (int)(seed / 12 % 2), seed);
}

static void test_inverse_dynamics_returns_the_forces_of_both(void)
{
    double by_mass[TREE_NV_MAX], worst = 0.0, worst_by_mass = 0.0;
    for (uint64_t seed = 1; seed <= 10000; seed++) {
        take_tree(seed);
        const struct dyn_input input = tree_input(&tree);
        forward(&input, tree.a);
        forward_by_mass(&input, by_mass);
        worst = fmax(worst, residual(&input, tree.a));
        worst_by_mass = fmax(worst_by_mass, residual(&input, by_mass));
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst_by_mass);
}

static void test_every_instruction_set_answers_alike(void)
{
    static const enum dyn_isa isas[] = {DYN_ISA_SSE2, DYN_ISA_AVX2, DYN_ISA_AVX512};
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        take_tree(seed);
        const struct dyn_input input = tree_input(&tree);
        for (int k = 0; k < 3; k++) {
            if (!dyn_isa_runs(isas[k]))
                continue;
            dyn_model_use_isa((struct dyn_model *)tree.model_mem, isas[k]);
            forward(&input, tree.a);
            TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, tree.a));
        }
    }
}

/* Columns of the mass matrix by inverse dynamics. */
static void test_the_mass_matrix_is_what_accelerations_cost(void)
{
    double zero[TREE_NV_MAX] = {0}, bias[TREE_NV_MAX], column[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        take_tree(seed);
        const struct dyn_state state = tree_state(&tree);
        const struct dyn_input none = {0};
        memset(tree.v, 0, sizeof tree.v);
        dyn_crba(tree.model, &state, crba_work(), M);
        dyn_rnea(tree.model, &state, zero, &none, tree.work, bias);
        for (int c = 0; c < nv(); c++) {
            zero[c] = 1.0;
            dyn_rnea(tree.model, &state, zero, &none, tree.work, column);
            zero[c] = 0.0;
            for (int r = 0; r < nv(); r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-11 * (1.0 + fabs(bias[r])) * (1.0 + M[c * nv() + c]),
                                          column[r] - bias[r], M[r * nv() + c]);
        }
    }
}

/* Springs and dampers that act on what will be. */
static void test_a_lead_of_the_modes_is_the_same_in_all_three(void)
{
    double by_mass[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        take_tree(seed);
        struct dyn_input input = tree_input(&tree);
        input.modal_lead = 0.05 * (1.0 + tree_noise());
        forward(&input, tree.a);
        forward_by_mass(&input, by_mass);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, tree.a));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, by_mass));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_inverse_dynamics_returns_the_forces_of_both);
    RUN_TEST(test_every_instruction_set_answers_alike);
    RUN_TEST(test_the_mass_matrix_is_what_accelerations_cost);
    RUN_TEST(test_a_lead_of_the_modes_is_the_same_in_all_three);
    return UNITY_END();
}
