/*
 * Modal data that no body has are refused, each for its own reason.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/model_singular.h"
#include "tests/dynamics/flex/flexible.h"
#include "unity.h"

enum { MODES = 3 };

static struct tree tree;
static struct flexible body;

/* A flexible hinge with nodes, and a rigid body on the last of them. */
void setUp(void)
{
    tree_begin(&tree);
    tree_noise_seed(1);
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    do
        flexible_make(&body, MODES, DYN_FLEX_CONSISTENT, &tree.spec[0]);
    while (body.flex.nodes < 2);
    tree.spec[tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 1, 0, 0)].node = body.flex.nodes;
}

void tearDown(void)
{
}

static void assert_refused(int at, const char *why)
{
    int where = -1;
    const char *flaw = dyn_model_problem(tree.spec, tree.body_count, &where);
    TEST_ASSERT_NOT_NULL_MESSAGE(flaw, why);
    TEST_ASSERT_EQUAL_STRING(why, flaw);
    TEST_ASSERT_EQUAL_INT(at, where);
}

static void assert_accepted(void)
{
    int where;
    TEST_ASSERT_NULL(dyn_model_problem(tree.spec, tree.body_count, &where));
}

/* *number changed and changed back; it must be minded meanwhile. */
static void mind(double *number, double other, const char *why)
{
    const double was = *number;
    *number = other;
    assert_refused(0, why);
    *number = was;
    assert_accepted();
}

static void test_a_valid_flexible_body_has_no_problem(void)
{
    for (int k = DYN_FLEX_RIGID; k <= DYN_FLEX_INCONSISTENT; k++) {
        body.flex.fidelity = (enum dyn_fidelity)k;
        assert_accepted();
    }
    body.flex.S = body.flex.P2 = body.flex.L2 = NULL;
    assert_accepted();
}

static void test_fidelity_and_modes_are_within_bounds(void)
{
    body.flex.fidelity = (enum dyn_fidelity)4;
    assert_refused(0, "unknown fidelity");
    body.flex.fidelity = DYN_FLEX_CONSISTENT;
    body.flex.modes = 0;
    assert_refused(0, "a flexible body has 1 to 64 modes");
    body.flex.modes = DYN_MODES_MAX + 1;
    assert_refused(0, "a flexible body has 1 to 64 modes");
}

static void test_every_table_must_be_there(void)
{
    const double **const tables[] = {&body.flex.P,      &body.flex.L,       &body.flex.N,
                                     &body.flex.M,      &body.flex.K,       &body.flex.C,
                                     &body.node[1].psi, &body.node[1].theta};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        const double *was = *tables[k];
        *tables[k] = NULL;
        assert_refused(0, "a modal table is missing");
        *tables[k] = was;
    }
    body.flex.node = NULL;
    assert_refused(0, "a modal table is missing");
    body.flex.node = body.node, body.flex.nodes = -1;
    assert_refused(0, "a modal table is missing");
}

static void test_every_modal_number_must_be_finite(void)
{
    double *const last[] = {&body.P[3 * MODES - 1],          &body.L[9 * MODES - 1],
                            &body.S[3 * MODES - 1],          &body.N[9 * MODES * MODES - 1],
                            &body.P2[3 * MODES * MODES - 1], &body.L2[9 * MODES * MODES - 1],
                            &body.M[MODES * MODES - 1],      &body.K[MODES * MODES - 1],
                            &body.C[MODES * MODES - 1],      &body.node[1].r[2],
                            &body.of_node[1][3 * MODES - 1], &body.of_node[1][6 * MODES - 1]};
    for (size_t k = 0; k < sizeof last / sizeof *last; k++) {
        mind(last[k], (double)NAN, "a modal number is not finite");
        mind(last[k], (double)INFINITY, "a modal number is not finite");
    }
}

static void test_what_is_symmetric_by_nature_must_be(void)
{
    static const char square[] = "modal mass, stiffness and damping must be symmetric";
    static const char second[] = "P2, L2, psi2 and theta2 must be symmetric in their two modes";
    mind(&body.M[1], body.M[1] + 1e-3, square);
    mind(&body.K[2], body.K[2] + 1e-1, square);
    mind(&body.C[1], body.C[1] + 1e-3, square);
    mind(&body.N[1], body.N[1] + 1e-3,
         "N of modes (p, q) must be the transpose of N of modes (q, p)");
    mind(&body.N[9], body.N[9] + 1e-3,
         "N of modes (p, q) must be the transpose of N of modes (q, p)");
    mind(&body.P2[3], body.P2[3] + 1e-3, second);
    mind(&body.L2[9], body.L2[9] + 1e-3, second);
    body.node[0].psi2 = body.of_node[0] + 6 * MODES;
    body.node[0].theta2 = body.node[0].psi2 + 3 * MODES * MODES;
    mind(&body.of_node[0][6 * MODES + 3], 9.0, second);
    mind(&body.of_node[0][6 * MODES + 3 * MODES * MODES + 3], 9.0, second);
}

static void test_modes_must_have_a_mass_of_their_own(void)
{
    static const char why[] = "the modal mass matrix is not positive definite";
    mind(&body.M[0], 0.0, why);
    mind(&body.M[0], -1.0, why);
    for (int p = 0; p < MODES; p++) /* the second mode is the first */
        body.M[MODES + p] = body.M[p];
    for (int p = 0; p < MODES; p++)
        body.M[p * MODES + 1] = body.M[p * MODES];
    assert_refused(0, why);
}

static void test_springs_and_dampers_of_modes_never_push(void)
{
    mind(&body.K[0], -1.0, "the modal stiffness matrix is not positive semidefinite");
    mind(&body.C[0], -1.0, "the modal damping matrix is not positive semidefinite");
    memset(body.K, 0, sizeof body.K), memset(body.C, 0, sizeof body.C);
    assert_accepted();
    body.K[1] = body.K[MODES] = 1.0; /* both diagonals are zero, one direction is not */
    assert_refused(0, "the modal stiffness matrix is not positive semidefinite");
}

static void test_modes_weigh_no_more_than_their_body(void)
{
    tree.spec[0].mass *= 1e-2;
    for (int k = 0; k < 6; k++)
        tree.spec[0].inertia[k] *= 1e-2;
    assert_refused(0, "the effective mass of the modes exceeds the mass or inertia of the body");
    setUp();
    mind(&body.S[2], 9.0,
         "the effective mass of the modes exceeds the mass or inertia of the body");
}

static void test_a_node_is_one_of_a_flexible_parent(void)
{
    tree.spec[1].node = body.flex.nodes + 1;
    assert_refused(1, "the parent has no such node");
    tree.spec[1].node = -1;
    assert_refused(1, "the parent has no such node");
    tree.spec[1].node = 1, tree.spec[0].flex = NULL;
    assert_refused(1, "the joint names a node, but its parent is not flexible");
    tree.spec[1].parent = -1;
    assert_refused(1, "the joint names a node, but its parent is not flexible");
}

/* The hinge's body has no mass: a node holds what it turns. */
static void test_a_node_is_where_its_body_meets_inertia(void)
{
    const struct dyn_body_spec point = {
        .parent = 1, .joint = DYN_JOINT_FIXED, .place_quat = {1.0, 0.0, 0.0, 0.0}, .mass = 1.0};
    struct flexible light;
    tree.spec[1].mass = 0.0;
    memset(tree.spec[1].inertia, 0, sizeof tree.spec[1].inertia);
    tree.spec[2] = point, tree.body_count = 3;
    assert_refused(1, "the joint carries no inertia"); /* it is on the axis */
    flexible_make(&light, 1, DYN_FLEX_RIGID, &tree.spec[1]);
    memset(light.P, 0, sizeof light.P), memset(light.L, 0, sizeof light.L);
    memset(light.S, 0, sizeof light.S);
    tree.spec[1].mass = 0.0;
    memset(tree.spec[1].center, 0, sizeof tree.spec[1].center);
    memset(tree.spec[1].inertia, 0, sizeof tree.spec[1].inertia);
    light.flex.nodes = 1;
    light.node[0] =
        (struct dyn_node){.r = {0.0, 0.5, 0.0}, .psi = light.of_node[0], .theta = light.of_node[0]};
    tree.spec[2].node = 1;
    assert_accepted();
}

/* A slide whose one mode moves all of its mass along it. */
static void test_a_joint_whose_modes_take_all_its_inertia_is_weak(void)
{
    const double P[3] = {1.0, 0.0, 0.0}, nothing[9] = {0.0}, N[9] = {1.0}, one[1] = {1.0};
    const struct dyn_flex flex = {.fidelity = DYN_FLEX_CONSISTENT,
                                  .modes = 1,
                                  .P = P,
                                  .L = nothing,
                                  .N = N,
                                  .M = one,
                                  .K = one,
                                  .C = nothing};
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    for (int k = 0; k < 2; k++) {
        tree.spec[0].mass = k == 0 ? 1.0 : 1.01;
        tree.spec[0].flex = &flex;
        tree_build(&tree);
        void *mem = aligned_alloc(64, (dyn_model_singular_size(tree.model) + 63) / 64 * 64);
        TEST_ASSERT_EQUAL_INT(k == 0 ? 0 : -1, dyn_model_singular_joint(tree.model, mem));
        free(mem);
    }
}

static void test_random_flexible_trees_are_not_weak(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        flexible_random(&tree, 1 + (int)(seed % 6), (int)(seed % 2), seed);
        void *mem = aligned_alloc(64, (dyn_model_singular_size(tree.model) + 63) / 64 * 64);
        TEST_ASSERT_EQUAL_INT(-1, dyn_model_singular_joint(tree.model, mem));
        free(mem);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_valid_flexible_body_has_no_problem);
    RUN_TEST(test_fidelity_and_modes_are_within_bounds);
    RUN_TEST(test_every_table_must_be_there);
    RUN_TEST(test_every_modal_number_must_be_finite);
    RUN_TEST(test_what_is_symmetric_by_nature_must_be);
    RUN_TEST(test_modes_must_have_a_mass_of_their_own);
    RUN_TEST(test_springs_and_dampers_of_modes_never_push);
    RUN_TEST(test_modes_weigh_no_more_than_their_body);
    RUN_TEST(test_a_node_is_one_of_a_flexible_parent);
    RUN_TEST(test_a_node_is_where_its_body_meets_inertia);
    RUN_TEST(test_a_joint_whose_modes_take_all_its_inertia_is_weak);
    RUN_TEST(test_random_flexible_trees_are_not_weak);
    return UNITY_END();
}
