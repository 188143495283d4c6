/*
 * Kernels that count their operations, where the numbers can be known beforehand.
 */
#include "tools/count/flops.h"

#include <math.h>

#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "tests/dynamics/flex/flexible.h"
#include "tools/count/tree.h"
#include "unity.h"

static struct tree tree;

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static struct flop_count count_tree(void)
{
    struct flop_count count;
    tree_build(&tree);
    TEST_ASSERT_EQUAL_INT(0, count_flops(tree.model, &count));
    return count;
}

static long sum_of(const struct flop_count *count)
{
    return count->multiplications + count->additions + count->divisions;
}

/* Hinges neither along nor across each other. */
static struct flop_count count_chain(int body_count)
{
    tree_begin(&tree);
    for (int i = 0; i < body_count; i++) {
        tree_add(&tree, i - 1, DYN_JOINT_REVOLUTE, i % 2 ? 0.6 : 0.0, 0.0, i % 2 ? 0.8 : 1.0);
        tree.spec[i].place_xyz[0] = 0.5;
    }
    return count_tree();
}

static void test_every_hinge_more_costs_the_same(void)
{
    const struct flop_count few = count_chain(10), more = count_chain(11), many = count_chain(110);
    const long step = sum_of(&more) - sum_of(&few);
    TEST_ASSERT_EQUAL_INT64(sum_of(&few) + 100 * step, sum_of(&many));
}

/* The last one's pivot is known beforehand. */
static void test_a_hinge_is_one_sine_and_one_division_if_it_carries_others(void)
{
    const struct flop_count count = count_chain(7);
    TEST_ASSERT_EQUAL_INT64(6, count.divisions);
    TEST_ASSERT_EQUAL_INT64(7, count.functions);
}

/* Three pairs of pivots, and the length of the quaternion. */
static void test_a_free_body_is_four_divisions(void)
{
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    const struct flop_count count = count_tree();
    TEST_ASSERT_EQUAL_INT64(4, count.divisions);
    TEST_ASSERT_EQUAL_INT64(0, count.functions);
}

/* Two terms of the law, each with a factor: one for the travel, one for the speed. */
static void test_a_spring_costs_what_its_formula_says(void)
{
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    const struct flop_count bare = count_tree();
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    tree.spec[0].force_spec[0].stiffness = 1.0;
    const struct flop_count sprung = count_tree();
    TEST_ASSERT_EQUAL_INT64(bare.multiplications + 2, sprung.multiplications);
    TEST_ASSERT_EQUAL_INT64(bare.additions + 3, sprung.additions);
}

/* ---- one call, any tree ---- */

static struct count_call call_of(const struct tree *given)
{
    return (struct count_call){
        given->q, given->v, given->tau, {given->gravity[0], given->gravity[1], given->gravity[2]}};
}

static void build_flexible(int body_count, uint64_t seed)
{
    flexible_random(&tree, body_count, 0, seed);
    for (int i = 0; i < body_count; i++)
        tree.spec[i].mimic.on = 0;
    flexible_build(&tree);
}

static void expect_same(const double *expected, const double *a)
{
    double size = 0.0;
    for (int k = 0; k < tree.model->nv; k++)
        size = fmax(size, fabs(expected[k]));
    for (int k = 0; k < tree.model->nv; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-7 * size, expected[k], a[k]);
}

static void test_numbers_that_count_are_numbers_still(void)
{
    static double expected[TREE_NV_MAX], a[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        build_flexible(1 + (int)seed % 9, seed);
        const struct dyn_state state = tree_state(&tree);
        const struct count_call call = call_of(&tree);
        const struct dyn_input input = {
            .tau = tree.tau, .gravity = {call.gravity[0], call.gravity[1], call.gravity[2]}};
        struct dyn_output output = {.a = expected};
        struct flop_count count, parts[COUNT_PARTS];
        dyn_aba(tree.model, &state, &input, tree.work, &output);
        TEST_ASSERT_EQUAL_INT(0, count_articulated(tree.model, &call, a, &count));
        expect_same(expected, a);
        TEST_ASSERT_EQUAL_INT(0, count_composite(tree.model, &call, a, parts));
        expect_same(expected, a);
    }
}

/* A chain on a hinge each: the triangle of its mass matrix is full. */
static void build_chain(int body_count)
{
    (void)count_chain(body_count);
    for (int i = 0; i < body_count; i++)
        tree.spec[i].inertia[2] = 1.1; /* dividing by one would be nothing */
    tree_build(&tree);
    tree_random_state(&tree);
}

static void test_a_full_triangle_is_factored_by_its_formula(void)
{
    struct flop_count parts[COUNT_PARTS];
    static double a[TREE_NV_MAX];
    const int n = 12, rows = n * (n - 1) / 2, pairs = (n - 1) * n * (n + 1) / 6;
    build_chain(n);
    const struct count_call call = call_of(&tree);
    TEST_ASSERT_EQUAL_INT(0, count_composite(tree.model, &call, a, parts));
    TEST_ASSERT_EQUAL_INT64(rows + pairs, parts[COUNT_FACTOR].multiplications);
    TEST_ASSERT_EQUAL_INT64(pairs, parts[COUNT_FACTOR].additions);
    TEST_ASSERT_EQUAL_INT64(n, parts[COUNT_FACTOR].divisions);
    TEST_ASSERT_EQUAL_INT64(2 * rows + n, parts[COUNT_SOLVE].multiplications);
    TEST_ASSERT_EQUAL_INT64(2 * rows, parts[COUNT_SOLVE].additions);
}

/* And sines are sums, whose lanes beyond the last hinge are empty. */
static void test_a_pivot_in_all_lanes_is_one_division(void)
{
    struct flop_count count;
    static double a[TREE_NV_MAX];
    build_chain(5);
    const struct count_call call = call_of(&tree);
    TEST_ASSERT_EQUAL_INT(0, count_articulated(tree.model, &call, a, &count));
    TEST_ASSERT_EQUAL_INT64(5, count.divisions);
    TEST_ASSERT_EQUAL_INT64(0, count.functions);
}

static void test_empty_lanes_cost_nothing_but_half_of_a_pair(void)
{
    static struct flexible beam;
    static double a[TREE_NV_MAX];
    long cost[4];
    for (int modes = 1; modes <= 4; modes++) {
        struct flop_count count;
        tree_begin(&tree);
        tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.6, 0.0, 0.8);
        flexible_make(&beam, modes, DYN_FLEX_RUTHLESS, &tree.spec[0]);
        tree_build(&tree);
        tree_random_state(&tree);
        const struct count_call call = call_of(&tree);
        TEST_ASSERT_EQUAL_INT(0, count_articulated(tree.model, &call, a, &count));
        TEST_ASSERT_EQUAL_INT64(1 + (modes + 1) / 2 * 2, count.divisions); /* pivots go by pairs */
        cost[modes - 1] = sum_of(&count);
    }
    for (int modes = 2; modes <= 4; modes++)
        TEST_ASSERT_GREATER_THAN_INT64(cost[modes - 2] + 100, cost[modes - 1]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_hinge_more_costs_the_same);
    RUN_TEST(test_a_hinge_is_one_sine_and_one_division_if_it_carries_others);
    RUN_TEST(test_a_free_body_is_four_divisions);
    RUN_TEST(test_a_spring_costs_what_its_formula_says);
    RUN_TEST(test_numbers_that_count_are_numbers_still);
    RUN_TEST(test_a_full_triangle_is_factored_by_its_formula);
    RUN_TEST(test_a_pivot_in_all_lanes_is_one_division);
    RUN_TEST(test_empty_lanes_cost_nothing_but_half_of_a_pair);
    return UNITY_END();
}
