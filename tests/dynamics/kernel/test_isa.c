/*
 * Every instruction set that runs here against the plain one.
 */
#include "dynamics/kernel/isa.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

static struct tree tree;

void setUp(void)
{
}

void tearDown(void)
{
}

static void forward_by(enum dyn_isa isa, double *a)
{
    dyn_model_use_isa((struct dyn_model *)tree.model_mem, isa);
    tree_forward(&tree);
    memset(a, 0, sizeof tree.a);
    memcpy(a, tree.a, (size_t)dyn_model_nv(tree.model) * sizeof *a);
}

/* Of all components against the largest. */
static double difference(const double *a, const double *b)
{
    double scale = 1e-3, worst = 0.0;
    for (int k = 0; k < dyn_model_nv(tree.model); k++) {
        scale = fmax(scale, fabs(a[k]));
        worst = fmax(worst, fabs(a[k] - b[k]));
    }
    return worst / scale;
}

static void assert_agrees(enum dyn_isa isa)
{
    static double plain[TREE_NV_MAX], fast[TREE_NV_MAX], again[TREE_NV_MAX];
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        tree_random(&tree, 1 + (int)(seed % 30), (int)(seed % 2), seed);
        forward_by(DYN_ISA_SSE2, plain);
        forward_by(isa, fast);
        forward_by(isa, again);
        worst = fmax(worst, difference(plain, fast));
        TEST_ASSERT_EQUAL_INT(0, memcmp(fast, again, sizeof fast));
    }
    printf("%s: %.1e from sse2\n", dyn_isa_name(isa), worst);
    TEST_ASSERT_TRUE(worst < 1e-10);
}

static void test_avx2_agrees_with_the_baseline(void)
{
    if (!dyn_isa_runs(DYN_ISA_AVX2))
        TEST_IGNORE_MESSAGE("this processor has no AVX2");
    assert_agrees(DYN_ISA_AVX2);
}

static void test_avx512_agrees_with_the_baseline(void)
{
    if (!dyn_isa_runs(DYN_ISA_AVX512))
        TEST_IGNORE_MESSAGE("this processor has no AVX-512");
    assert_agrees(DYN_ISA_AVX512);
}

static void test_the_best_is_one_that_runs(void)
{
    TEST_ASSERT_TRUE(dyn_isa_runs(DYN_ISA_SSE2));
    TEST_ASSERT_TRUE(dyn_isa_runs(dyn_isa_best()));
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_build(&tree);
    TEST_ASSERT_EQUAL_INT(dyn_isa_best(), dyn_model_isa(tree.model));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_best_is_one_that_runs);
    RUN_TEST(test_avx2_agrees_with_the_baseline);
    RUN_TEST(test_avx512_agrees_with_the_baseline);
    return UNITY_END();
}
