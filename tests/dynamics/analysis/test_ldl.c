/*
 * The sparse factorisation against a dense solver, on the patterns of random trees.
 */
#include "dynamics/analysis/ldl.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/dense.h"
#include "unity.h"

static struct tree tree;
static struct dyn_ldl *ldl;
static double M[TREE_NV_MAX * TREE_NV_MAX], dense[TREE_NV_MAX][TREE_NV_MAX];
static _Alignas(64) unsigned char ldl_mem[1 << 22];

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static void place(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof ldl_mem, dyn_ldl_size(tree.model));
    memset(ldl_mem, 0xff, sizeof ldl_mem);
    ldl = dyn_ldl_place(tree.model, ldl_mem);
}

/* Any numbers on the tree's pattern, the diagonal large enough to be positive definite. */
static void fill(void)
{
    for (int k = 0; k < ldl->nv; k++) {
        ldl->row[k][0] = ldl->nv + 1.0;
        for (int p = 1; p < ldl->depth[k]; p++)
            ldl->row[k][p] = tree_noise();
    }
    dyn_ldl_to_dense(ldl, M);
    for (int r = 0; r < ldl->nv; r++)
        memcpy(dense[r], M + r * ldl->nv, (size_t)ldl->nv * sizeof(double));
}

static void test_a_solution_is_that_of_the_dense_solver(void)
{
    double x[TREE_NV_MAX], want[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        tree_random(&tree, 1 + (int)(seed % 40), (int)(seed % 2), seed);
        place();
        fill();
        for (int k = 0; k < ldl->nv; k++)
            x[k] = want[k] = tree_noise();
        dyn_ldl_factor(ldl);
        dyn_ldl_solve(ldl, x);
        dense_solve(ldl->nv, dense, want, 1);
        for (int k = 0; k < ldl->nv; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, want[k], x[k]);
    }
}

/* A free bus (0..5), a bolted mast that slides nothing, two hinges on it, one hinge on the bus, and
 * a hinge on the world. */
static void build_bus(void)
{
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_add(&tree, 0, DYN_JOINT_FIXED, 0, 0, 0);
    tree_add(&tree, 1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, 2, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, -1, DYN_JOINT_FIXED, 0, 0, 0);
    tree_build(&tree);
    place();
}

static void test_a_row_holds_what_lies_towards_the_root(void)
{
    const int parent[] = {-1, 0, 1, 2, 3, 4, 5, 6, 5, -1};
    const int depth[] = {1, 2, 3, 4, 5, 6, 7, 8, 7, 1};
    build_bus();
    TEST_ASSERT_EQUAL_INT(10, ldl->nv);
    TEST_ASSERT_EQUAL_INT_ARRAY(parent, ldl->parent, 10);
    TEST_ASSERT_EQUAL_INT_ARRAY(depth, ldl->depth, 10);
    for (int k = 1; k < 10; k++)
        TEST_ASSERT_EQUAL_PTR(ldl->row[k - 1] + ldl->depth[k - 1], ldl->row[k]);
    TEST_ASSERT_EQUAL_PTR(ldl_mem + dyn_ldl_size(tree.model), ldl->row[9] + 1);
}

static void test_the_tip_is_the_last_velocity_that_moves_a_body(void)
{
    const int tip[] = {5, 5, 6, 7, 8, 9, -1};
    build_bus();
    for (int i = 0; i < 7; i++)
        TEST_ASSERT_EQUAL_INT(tip[i], dyn_ldl_last_velocity(tree.model, i));
}

/* Each pivot in turn: the whole tree it belongs to shows it, the other tree does not. */
static void test_a_pivot_that_is_not_positive_shows_in_all_it_touches(void)
{
    static const double bad[] = {0.0, -1.0, (double)NAN};
    build_bus();
    for (int pivot = 0; pivot < 9; pivot++)
        for (int b = 0; b < 3; b++) {
            double x[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
            fill();
            ldl->row[pivot][0] = bad[b];
            dyn_ldl_factor(ldl);
            dyn_ldl_solve(ldl, x);
            for (int k = 0; k < 6; k++)
                TEST_ASSERT_TRUE(isnan(x[k]));
            TEST_ASSERT_TRUE(isnan(x[pivot]));
            TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0 / 11.0, x[9]);
        }
}

/* Zero exactly, with nothing else to spoil it: the answer is NaN, not an infinity. */
static void test_a_pivot_of_zero_is_refused(void)
{
    double x[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    build_bus();
    fill();
    ldl->row[9][0] = 0.0;
    dyn_ldl_factor(ldl);
    dyn_ldl_solve(ldl, x);
    TEST_ASSERT_TRUE(isnan(x[9]));
    for (int k = 0; k < 9; k++)
        TEST_ASSERT_TRUE(isfinite(x[k]));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_solution_is_that_of_the_dense_solver);
    RUN_TEST(test_a_row_holds_what_lies_towards_the_root);
    RUN_TEST(test_the_tip_is_the_last_velocity_that_moves_a_body);
    RUN_TEST(test_a_pivot_that_is_not_positive_shows_in_all_it_touches);
    RUN_TEST(test_a_pivot_of_zero_is_refused);
    return UNITY_END();
}
