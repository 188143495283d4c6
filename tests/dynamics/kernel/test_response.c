/*
 * Answers to forces, from the kernel's own factors, against the mass matrix of the composite
 * bodies: of random trees, rigid and flexible, with joints held and none.
 */
#include "dynamics/kernel/response.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/crba_work.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/kernel/aba.h"
#include "tests/dynamics/flex/flexible.h"
#include "unity.h"

static struct tree tree;
static double M[TREE_NV_MAX * TREE_NV_MAX], J[6 * TREE_NV_MAX];
static double w[TREE_NV_MAX], other[TREE_NV_MAX], answer[TREE_NV_MAX], force[TREE_NV_MAX];
static unsigned char held[TREE_NV_MAX];
static _Alignas(64) unsigned char mass_mem[1 << 23], response_mem[1 << 20];
static struct dyn_crba_work *mass;
static struct dyn_response *response;

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

static int is_held(int v)
{
    return response->held != NULL && response->held[v];
}

/* Each joint velocity of three, or none. */
static const unsigned char *hold_some(int some)
{
    memset(held, 0, sizeof held);
    for (int i = 0; i < tree.model->link_count; i++)
        for (int k = 0; k < dyn_tree_link_nv(&tree.model->link[i]); k++)
            held[tree.model->link[i].v_at + k] = tree_noise() < -0.3;
    return some ? held : NULL;
}

/* The tree solved with these held, its modes led; and M. */
static void take(const unsigned char *with, double lead)
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_input input = tree_input(&tree);
    input.held = with;
    input.modal_implicit_step = lead;
    TEST_ASSERT_TRUE(dyn_crba_work_size(tree.model) <= sizeof mass_mem);
    TEST_ASSERT_TRUE(dyn_response_size(tree.model) <= sizeof response_mem);
    mass = dyn_crba_work_place(tree.model, mass_mem);
    response = dyn_response_place(tree.model, response_mem);
    dyn_tree_pose_update(tree.model, &state, mass->tree_pose);
    dyn_composite_rows(tree.model, mass);
    dyn_composite_add_modal_implicit(tree.model, lead, mass->ldl);
    dyn_ldl_to_dense(mass->ldl, M);
    tree_poison(&tree);
    dyn_aba(tree.model, &state, &input, tree.work, &(struct dyn_output){.a = tree.a});
    dyn_response_begin(with, tree.work, response);
}

/* M answer = force, but for what is held, which stays. */
static void assert_answer_balances(void)
{
    for (int r = 0; r < nv(); r++) {
        double left = -force[r], size = 1.0;
        for (int c = 0; c < nv(); c++) {
            left += M[r * nv() + c] * answer[c];
            size += fabs(M[r * nv() + c] * answer[c]);
        }
        if (is_held(r))
            TEST_ASSERT_EQUAL_DOUBLE(0.0, answer[r]);
        else
            TEST_ASSERT_TRUE(fabs(left) <= 1e-11 * size);
    }
}

/* A force works on its own answer by the square of w. */
static void assert_w_is_a_root(void)
{
    double square = 0.0, work = 0.0, size = 1e-300;
    for (int k = 0; k < nv(); k++) {
        square += w[k] * w[k];
        work += is_held(k) ? 0.0 : force[k] * answer[k];
        size += fabs(force[k] * answer[k]);
    }
    TEST_ASSERT_TRUE(fabs(square - work) <= 1e-10 * size);
}

static void find_answer(void)
{
    memset(answer, 0, sizeof answer);
    dyn_response_add_acceleration(response, w, answer);
    assert_answer_balances();
    assert_w_is_a_root();
}

static void assert_joints_answer(void)
{
    for (int i = 0; i < tree.model->link_count; i++)
        for (int k = 0; k < dyn_tree_link_nv(&tree.model->link[i]); k++) {
            const int v = tree.model->link[i].v_at + k;
            if (is_held(v))
                continue;
            memset(force, 0, sizeof force);
            force[v] = 1.0;
            dyn_response_of_joint_force(response, v, w);
            find_answer();
        }
}

static void assert_loads_answer(void)
{
    for (int body = 0; body < tree.body_count; body++) {
        const struct dyn_point point = {body, {tree_noise(), tree_noise(), tree_noise()}};
        const double F[6] = {tree_noise(), tree_noise(), tree_noise(),
                             tree_noise(), tree_noise(), tree_noise()};
        const struct dyn_vec6 there = {dyn_vec3_load(F), dyn_vec3_load(F + 3)};
        const struct dyn_vec6 at_link =
            dyn_force_shift(&there, dyn_tree_pose_arm(tree.model, mass->tree_pose, &point));
        dyn_jacobian(tree.model, mass->tree_pose, &point, J);
        for (int k = 0; k < nv(); k++) {
            force[k] = 0.0;
            for (int c = 0; c < 6; c++)
                force[k] += J[c * nv() + k] * F[c];
        }
        dyn_response_of_link_force(response, tree.model->body_link[body], &at_link, w);
        find_answer();
    }
}

/* One force works on the other's answer as that on its own, by the product of both w. */
static void assert_mutual(int v, int u)
{
    double of_v[TREE_NV_MAX] = {0.0}, of_u[TREE_NV_MAX] = {0.0};
    double product = 0.0, ww = 0.0, oo = 0.0;
    dyn_response_of_joint_force(response, v, w);
    dyn_response_of_joint_force(response, u, other);
    dyn_response_add_acceleration(response, w, of_v);
    dyn_response_add_acceleration(response, other, of_u);
    for (int k = 0; k < nv(); k++) {
        product += w[k] * other[k];
        ww += w[k] * w[k];
        oo += other[k] * other[k];
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11 * sqrt(ww * oo), product, of_v[u]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11 * sqrt(ww * oo), product, of_u[v]);
}

static void assert_pairs_answer(void)
{
    int before = -1;
    for (int i = 0; i < tree.model->link_count; i++)
        for (int k = 0; k < dyn_tree_link_nv(&tree.model->link[i]); k++) {
            const int v = tree.model->link[i].v_at + k;
            if (is_held(v))
                continue;
            if (before >= 0)
                assert_mutual(v, before);
            before = v;
        }
}

static void assert_all(double lead)
{
    for (int some = 0; some < 2; some++) {
        take(hold_some(some), lead);
        assert_joints_answer();
        assert_loads_answer();
        assert_pairs_answer();
    }
}

static void test_rigid_trees_answer_by_their_mass_matrix(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        tree_random(&tree, 1 + (int)(seed % 9), seed & 1, seed);
        tree_build(&tree);
        tree_random_state(&tree);
        if (tree.model->mimic_joint_count == 0)
            assert_all(0.0);
    }
}

static void test_flexible_trees_answer_by_their_mass_matrix(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        flexible_random(&tree, 2 + (int)(seed % 6), seed & 1, seed);
        if (tree.model->mimic_joint_count == 0)
            assert_all(seed % 3 == 0 ? 1e-3 : 0.0);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_rigid_trees_answer_by_their_mass_matrix);
    RUN_TEST(test_flexible_trees_answer_by_their_mass_matrix);
    return UNITY_END();
}
