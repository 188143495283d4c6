/*
 * Models whose mass matrix is singular in every pose are found, others are not.
 */
#include "dynamics/model_singular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

static struct tree tree;

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static int weakness(const struct dyn_model *model)
{
    void *mem = aligned_alloc(64, (dyn_model_singular_size(model) + 63) / 64 * 64);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0xff, dyn_model_singular_size(model));
    const int body = dyn_model_singular_joint(model, mem);
    free(mem);
    return body;
}

/* A body without mass or inertia. */
static int add_bare(int parent, enum dyn_joint_type joint, double ax, double ay, double az)
{
    const int i = tree_add(&tree, parent, joint, ax, ay, az);
    tree.spec[i].mass = 0.0;
    memset(tree.spec[i].inertia, 0, sizeof tree.spec[i].inertia);
    memset(tree.spec[i].center, 0, sizeof tree.spec[i].center);
    return i;
}

static void expect_weak(int body)
{
    tree_build(&tree);
    TEST_ASSERT_EQUAL_INT(body, weakness(tree.model));
}

static void test_two_massless_hinges_in_one_line_are_found(void)
{
    const int bus = tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    const int inner = add_bare(bus, DYN_JOINT_REVOLUTE, 0.6, 0.8, 0);
    tree_add(&tree, inner, DYN_JOINT_REVOLUTE, 0.6, 0.8, 0);
    expect_weak(inner);
}

/* The line is the same although neither origin nor axes are. */
static void test_hinges_in_one_line_are_found_wherever_they_stand(void)
{
    const int inner = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    const int outer = tree_add(&tree, inner, DYN_JOINT_REVOLUTE, 1, 0, 0);
    const double half = sqrt(0.5);
    memcpy(tree.spec[outer].place_xyz, (double[3]){0, 0, 17.3}, 3 * sizeof(double));
    /* x of the child is z of the parent */
    memcpy(tree.spec[outer].place_quat, (double[4]){half, 0, -half, 0}, 4 * sizeof(double));
    tree.spec[outer].center[1] = 0.3;
    expect_weak(inner);
}

static void test_a_massless_hinge_off_the_line_is_not_singular(void)
{
    const int inner = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    const int outer = tree_add(&tree, inner, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree.spec[outer].place_xyz[0] = 1e-3;
    expect_weak(-1);
}

static void test_a_massless_gimbal_bears_three_turns_and_no_fourth(void)
{
    int at = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    at = add_bare(at, DYN_JOINT_REVOLUTE, 0, 1, 0);
    tree_add(&tree, at, DYN_JOINT_REVOLUTE, 1, 0, 0);
    expect_weak(-1);

    tree_begin(&tree);
    at = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    at = add_bare(at, DYN_JOINT_REVOLUTE, 0, 1, 0);
    at = add_bare(at, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, at, DYN_JOINT_REVOLUTE, 1, 0, 0);
    expect_weak(0);
}

static void test_a_massless_ball_under_a_ball_is_found(void)
{
    const int inner = add_bare(-1, DYN_JOINT_SPHERICAL, 0, 0, 0);
    tree_add(&tree, inner, DYN_JOINT_SPHERICAL, 0, 0, 0);
    expect_weak(inner);
}

static void test_a_massless_slide_under_a_free_body_is_found(void)
{
    const int inner = add_bare(-1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    tree_add(&tree, inner, DYN_JOINT_FREE, 0, 0, 0);
    expect_weak(inner);
}

static void test_screws_of_one_joint_that_depend_on_each_other_are_found(void)
{
    const int body = tree_add(&tree, -1, DYN_JOINT_GENERAL, 0, 0, 0);
    struct dyn_body_spec *spec = &tree.spec[body];
    spec->screw_count = 2;
    spec->screw[0][2] = spec->screw[1][2] = 1.0;
    expect_weak(body);
    spec->screw[1][5] = 0.01; /* a pitch distinguishes them */
    expect_weak(-1);
}

/* A rotor gives its joint inertia; one larger than the parent it is a part of takes it away. */
static void test_a_rotor_counts(void)
{
    const int inner = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    const int outer = tree_add(&tree, inner, DYN_JOINT_REVOLUTE, 0, 0, 1);
    struct dyn_geared_rotor *rotor = &tree.spec[outer].rotor;
    expect_weak(inner);
    *rotor = (struct dyn_geared_rotor){DYN_ROTOR_DIAGONAL, 10.0, 1e-4, {0, 0, 1}};
    expect_weak(-1);
    tree.spec[inner].inertia[0] = tree.spec[inner].inertia[1] = tree.spec[inner].inertia[2] = 1e-3;
    rotor->terms = DYN_ROTOR_FULL;
    expect_weak(-1);
    rotor->inertia = 1.0;
    expect_weak(inner);
}

/* Pivots of M, the dense way: the oracle. */
static double least_pivot(struct tree *t)
{
    static double M[TREE_NV_MAX * TREE_NV_MAX];
    const int n = dyn_model_nv(t->model);
    void *mem = aligned_alloc(64, (dyn_crba_work_size(t->model) + 63) / 64 * 64);
    const struct dyn_state state = tree_state(t);
    double least = HUGE_VAL;
    dyn_crba(t->model, &state, dyn_crba_work_place(t->model, mem), M);
    free(mem);
    for (int k = 0; k < n; k++) {
        least = fmin(least, M[k * n + k]);
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                M[i * n + j] -= M[i * n + k] * M[k * n + j] / M[k * n + k];
    }
    return least;
}

static void test_random_trees_have_no_singular_joint(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        tree_random(&tree, 1 + (int)(seed % 40), (int)(seed & 1), seed);
        TEST_ASSERT_TRUE(least_pivot(&tree) > 0.0);
        TEST_ASSERT_EQUAL_INT(-1, weakness(tree.model));
    }
}

/* A massless hinge slipped under a random hinge, in its line, makes any tree singular. */
static void test_a_doubled_hinge_is_found_in_random_trees(void)
{
    int tried = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        tree_random(&tree, 1 + (int)(seed % 20), (int)(seed & 1), seed);
        const int n = tree.body_count, i = (int)(seed * 7 % (uint64_t)n);
        if (tree.spec[i].joint != DYN_JOINT_REVOLUTE || tree.spec[i].rotor.terms != DYN_ROTOR_NONE)
            continue;
        struct dyn_body_spec bare = tree.spec[i];
        bare.mass = 0.0;
        memset(bare.inertia, 0, sizeof bare.inertia);
        memset(bare.force_spec, 0, sizeof bare.force_spec);
        memmove(&tree.spec[i + 1], &tree.spec[i], (size_t)(n - i) * sizeof tree.spec[0]);
        tree.spec[i] = bare;
        for (int j = i + 1; j <= n; j++)
            tree.spec[j].parent += tree.spec[j].parent >= i;
        tree.spec[i + 1].parent = i;
        memset(tree.spec[i + 1].place_xyz, 0, sizeof tree.spec[0].place_xyz);
        memcpy(tree.spec[i + 1].place_quat, (double[4]){1.0}, sizeof tree.spec[0].place_quat);
        tree.body_count++;
        expect_weak(i);
        tried++;
    }
    TEST_ASSERT_GREATER_THAN_INT(10, tried);
}

/* Each link of a long chain is light against all it carries, which is not singular. */
static void test_a_long_chain_has_no_singular_joint(void)
{
    enum { LINKS = 10000 };
    struct dyn_body_spec *specs = calloc(LINKS, sizeof *specs);
    TEST_ASSERT_NOT_NULL(specs);
    for (int i = 0; i < LINKS; i++)
        specs[i] = (struct dyn_body_spec){.parent = i - 1,
                                          .joint = DYN_JOINT_REVOLUTE,
                                          .axis = {i % 2, 1 - i % 2, 0},
                                          .place_xyz = {0, 0, 1},
                                          .place_quat = {1, 0, 0, 0},
                                          .mass = 1,
                                          .center = {0, 0, 0.5},
                                          .inertia = {0.1, 0.1, 0.01, 0, 0, 0}};
    void *mem = aligned_alloc(64, (dyn_model_size(specs, LINKS) + 63) / 64 * 64);
    TEST_ASSERT_NOT_NULL(mem);
    TEST_ASSERT_EQUAL_INT(-1, weakness(dyn_model_place(specs, LINKS, mem)));
    free(mem);
    free(specs);
}

/* A finger that turns back as far as its massless leader turns it forward. */
static void test_a_leader_whose_follower_undoes_its_motion_is_found(void)
{
    const int leader = add_bare(-1, DYN_JOINT_REVOLUTE, 0.6, 0, 0.8);
    const int mimic_joint = tree_add(&tree, leader, DYN_JOINT_REVOLUTE, 0.6, 0, 0.8);
    tree.spec[mimic_joint].mimic = (struct dyn_mimic){1, leader, -1.0, 0.2};
    expect_weak(leader);
    tree.spec[mimic_joint].mimic.ratio = -0.9;
    expect_weak(-1);
}

static void test_a_leader_may_have_its_inertia_on_another_branch(void)
{
    const int leader = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    const int mimic_joint = tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 1, 0, 0);
    const int light = add_bare(-1, DYN_JOINT_REVOLUTE, 0, 1, 0);
    tree.spec[mimic_joint].mimic = (struct dyn_mimic){1, leader, 2.0, 0.0};
    tree.spec[light].mimic = (struct dyn_mimic){1, leader, 3.0, 0.0};
    expect_weak(-1);
}

/* Nine digits of what hinges a millionth of a radian apart give would be rounding. */
static void test_hinges_that_are_nearly_in_line_are_found(void)
{
    const int body = tree_add(&tree, -1, DYN_JOINT_GENERAL, 0, 0, 0);
    tree.spec[body].screw_count = 2;
    tree.spec[body].screw[0][2] = 1.0;
    tree.spec[body].screw[1][0] = 1e-6;
    tree.spec[body].screw[1][2] = 1.0;
    expect_weak(body);
    tree.spec[body].screw[1][0] = 1e-4;
    expect_weak(-1);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_two_massless_hinges_in_one_line_are_found);
    RUN_TEST(test_hinges_in_one_line_are_found_wherever_they_stand);
    RUN_TEST(test_a_massless_hinge_off_the_line_is_not_singular);
    RUN_TEST(test_a_massless_gimbal_bears_three_turns_and_no_fourth);
    RUN_TEST(test_a_massless_ball_under_a_ball_is_found);
    RUN_TEST(test_a_massless_slide_under_a_free_body_is_found);
    RUN_TEST(test_screws_of_one_joint_that_depend_on_each_other_are_found);
    RUN_TEST(test_a_rotor_counts);
    RUN_TEST(test_random_trees_have_no_singular_joint);
    RUN_TEST(test_a_doubled_hinge_is_found_in_random_trees);
    RUN_TEST(test_a_long_chain_has_no_singular_joint);
    RUN_TEST(test_a_leader_whose_follower_undoes_its_motion_is_found);
    RUN_TEST(test_a_leader_may_have_its_inertia_on_another_branch);
    RUN_TEST(test_hinges_that_are_nearly_in_line_are_found);
    return UNITY_END();
}
