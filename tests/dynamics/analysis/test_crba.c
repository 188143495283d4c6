/*
 * The mass matrix against closed forms, inverse dynamics and the energy monitor; forward dynamics
 * through it against the articulated bodies.
 */
#include "dynamics/analysis/crba.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba_work.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/link_tree.h"
#include "tests/dynamics/craft.h"
#include "unity.h"

static struct craft craft;
static struct tree *const tree = &craft.tree;
static double M[TREE_NV_MAX * TREE_NV_MAX], by_aba[TREE_NV_MAX];
static _Alignas(64) unsigned char work_mem[1 << 23];

void setUp(void)
{
    memset(&craft, 0, sizeof craft);
}

void tearDown(void)
{
}

static int nv(void)
{
    return dyn_model_nv(tree->model);
}

static double m(int r, int c)
{
    return M[r * nv() + c];
}

/* Whatever the work may carry from a call before is NaN. */
static struct dyn_crba_work *poisoned_work(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof work_mem, dyn_crba_work_size(tree->model));
    struct dyn_crba_work *work = dyn_crba_work_place(tree->model, work_mem);
    const struct dyn_tree_pose *tree_pose = work->tree_pose;
    const struct dyn_ldl *ldl = work->ldl;
    const size_t bodies = (size_t)tree->model->link_count, n = (size_t)nv();

    memset(tree_pose->E, 0xff, bodies * sizeof *tree_pose->E);
    memset(tree_pose->arm, 0xff, bodies * sizeof *tree_pose->arm);
    memset(tree_pose->S, 0xff, n * sizeof *tree_pose->S);
    memset(work->Ic, 0xff, bodies * sizeof *work->Ic);
    memset(work->rest, 0xff, n * sizeof *work->rest);
    memset(ldl->d_inv, 0xff, n * sizeof *ldl->d_inv);
    for (int k = 0; k < nv(); k++)
        memset(ldl->row[k], 0xff, (size_t)ldl->depth[k] * sizeof(double));
    memset((unsigned char *)tree_pose->kernel + sizeof(struct dyn_work), 0xff,
           dyn_work_size(tree->model) - sizeof(struct dyn_work));
    return work;
}

static void take_mass(void)
{
    const struct dyn_state state = tree_state(tree);
    memset(M, 0xff, sizeof M);
    dyn_crba(tree->model, &state, poisoned_work(), M);
}

/* a by the mass matrix; by_aba by the articulated bodies. */
static void forward_both(void)
{
    const struct dyn_state state = tree_state(tree);
    const struct dyn_input input = tree_input(tree);
    struct dyn_output output = {.a = tree->a};
    tree_forward(tree);
    memcpy(by_aba, tree->a, sizeof by_aba);
    memset(tree->a, 0xff, sizeof tree->a);
    dyn_crba_forward(tree->model, &state, &input, poisoned_work(), &output);
}

static void set_body(int body, double mass, double cx, double I)
{
    struct dyn_body_spec *spec = &tree->spec[body];
    spec->mass = mass;
    spec->center[0] = cx;
    memcpy(spec->inertia, (double[]){I, I, I, 0.0, 0.0, 0.0}, sizeof spec->inertia);
}

/*
 * With J2 = I2 + m2 c2^2 and the second angle q from the first link:
 *      I1 + m1 c1^2 + m2 l^2 + J2 + 2 m2 l c2 cos q    J2 + m2 l c2 cos q
 *      J2 + m2 l c2 cos q                              J2
 */
static void test_a_double_pendulum_has_the_mass_matrix_of_the_book(void)
{
    const double m1 = 1.3, m2 = 0.7, c1 = 0.4, c2 = 0.6, l = 1.1, I1 = 0.05, I2 = 0.08;
    tree_add(tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    set_body(0, m1, c1, I1);
    set_body(1, m2, c2, I2);
    tree->spec[1].place_xyz[0] = l;
    memcpy(tree->spec[0].place_quat, (double[]){0.1, -0.7, 0.5, 0.5}, 4 * sizeof(double));
    memcpy(tree->spec[0].place_xyz, (double[]){3, -4, 5}, 3 * sizeof(double));
    tree_build(tree);
    for (int k = 0; k < 100; k++) {
        tree->q[0] = 0.31 * k, tree->q[1] = 0.17 * k;
        const double lc = m2 * l * c2 * cos(tree->q[1]), J2 = I2 + m2 * c2 * c2;
        take_mass();
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, I1 + m1 * c1 * c1 + m2 * l * l + J2 + 2 * lc, m(0, 0));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, J2 + lc, m(1, 0));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, J2 + lc, m(0, 1));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, J2, m(1, 1));
    }
}

/* A bead that slides on a turning rod: J + m r^2, and nothing between both. */
static void test_a_bead_on_a_rod_has_a_diagonal_mass_matrix(void)
{
    tree_add(tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(tree, 0, DYN_JOINT_PRISMATIC, 1, 0, 0);
    set_body(0, 2.0, 0.0, 0.3);
    set_body(1, 0.8, 0.0, 0.0);
    tree_build(tree);
    tree->q[0] = 0.4, tree->q[1] = 0.9;
    take_mass();
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.3 + 0.8 * 0.81, m(0, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0, m(1, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.8, m(1, 1));
}

/* In body axes, whatever the pose: [ Ic + m (c.c 1 - c c')  m c x ; -m c x  m 1 ]. */
static void test_a_free_body_has_its_own_inertia_in_every_pose(void)
{
    const double c[3] = {0.2, -0.1, 0.4}, mass = 3.0;
    const double I[3][3] = {
        {0.5 + 0.51, 0.06, -0.24}, {0.06, 0.7 + 0.6, 0.12}, {-0.24, 0.12, 1.05}};
    const double mc[3][3] = {{0, -1.2, -0.3}, {1.2, 0, -0.6}, {0.3, 0.6, 0}};
    tree_add(tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree->spec[0].mass = mass;
    memcpy(tree->spec[0].center, c, sizeof c);
    memcpy(tree->spec[0].inertia, (double[]){0.5, 0.7, 0.9, 0, 0, 0}, 6 * sizeof(double));
    tree_build(tree);
    memcpy(tree->q, (double[]){7e6, -3e5, 1e4, 0.1, -0.7, 0.5, 0.5}, 7 * sizeof(double));
    take_mass();
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, I[r][k], m(r, k));
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, mc[r][k], m(r, k + 3));
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, mc[r][k], m(k + 3, r));
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, r == k ? mass : 0.0, m(r + 3, k + 3));
        }
}

/* What inverse dynamics asks for a unit acceleration more than for none. */
static void assert_columns_of_inverse_dynamics(double within)
{
    const struct dyn_state state = tree_state(tree);
    const struct dyn_input input = tree_input(tree);
    double a[TREE_NV_MAX] = {0}, bias[TREE_NV_MAX], with[TREE_NV_MAX];
    dyn_rnea(tree->model, &state, a, &input, tree->work, bias);
    for (int c = 0; c < nv(); c++) {
        a[c] = 1.0;
        dyn_rnea(tree->model, &state, a, &input, tree->work, with);
        a[c] = 0.0;
        for (int r = 0; r < nv(); r++)
            TEST_ASSERT_DOUBLE_WITHIN(within, with[r] - bias[r], m(r, c));
    }
}

static void test_its_columns_are_those_of_inverse_dynamics(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        tree_random(tree, 1 + (int)(seed % 24), (int)(seed % 2), seed);
        take_mass();
        assert_columns_of_inverse_dynamics(1e-9);
    }
}

/* Cholesky's own test: all pivots positive, of a copy. */
static void assert_positive_definite(void)
{
    static double A[TREE_NV_MAX * TREE_NV_MAX];
    const int n = nv();
    memcpy(A, M, sizeof A);
    for (int k = 0; k < n; k++) {
        TEST_ASSERT_TRUE(A[k * n + k] > 0.0);
        for (int r = k + 1; r < n; r++)
            for (int c = k + 1; c < n; c++)
                A[r * n + c] -= A[r * n + k] * A[k * n + c] / A[k * n + k];
    }
}

static void test_it_is_symmetric_and_positive_definite(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        tree_random(tree, 1 + (int)(seed % 30), (int)(seed % 2), 31 * seed);
        take_mass();
        for (int r = 0; r < nv(); r++)
            for (int c = 0; c < r; c++)
                TEST_ASSERT_TRUE(m(r, c) == m(c, r));
        assert_positive_definite();
    }
}

static void test_half_v_m_v_is_the_kinetic_energy(void)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        double sum = 0.0;
        setUp();
        tree_random(tree, 1 + (int)(seed % 40), (int)(seed % 2), 7 * seed);
        craft_build(&craft);
        take_mass();
        for (int r = 0; r < nv(); r++)
            for (int c = 0; c < nv(); c++)
                sum += 0.5 * tree->v[r] * m(r, c) * tree->v[c];
        const double kinetic = craft_monitor(&craft).kinetic;
        TEST_ASSERT_DOUBLE_WITHIN(1e-13 * (1.0 + kinetic), kinetic, sum);
    }
}

/* Inverse dynamics of a, less tau, against the largest force inside the tree. */
static double backward_error(void)
{
    const struct dyn_state state = tree_state(tree);
    const struct dyn_input input = tree_input(tree);
    double tau[TREE_NV_MAX], scale = 1e-3, error = 0.0;
    tree_poison(tree);
    dyn_rnea(tree->model, &state, tree->a, &input, tree->work, tau);
    for (int i = 0; i < tree->model->link_count; i++)
        scale = fmax(scale, fmax(dyn_norm(tree->work->f[i].ang), dyn_norm(tree->work->f[i].lin)));
    for (int k = 0; k < nv(); k++) {
        TEST_ASSERT_TRUE(isfinite(tau[k]));
        scale = fmax(scale, fabs(tree->tau[k]));
        error = fmax(error, fabs(tau[k] - tree->tau[k]));
    }
    return error / scale;
}

static double forward_error(void)
{
    double scale = 1e-3, error = 0.0;
    for (int k = 0; k < nv(); k++) {
        scale = fmax(scale, fabs(by_aba[k]));
        error = fmax(error, fabs(by_aba[k] - tree->a[k]));
    }
    return error / scale;
}

/* Measured: 3.5e-12 backward, 7.5e-11 forward; joints of several screws are the worst. */
static void test_forward_dynamics_is_that_of_the_articulated_bodies(void)
{
    double backward = 0.0, forward = 0.0;
    for (uint64_t seed = 1; seed <= TREES_MANY; seed++) {
        tree_random(tree, 1 + (int)(seed % 48), (int)(seed / 48 % 2), seed);
        forward_both();
        backward = fmax(backward, backward_error());
        forward = fmax(forward, forward_error());
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, backward);
    TEST_ASSERT_DOUBLE_WITHIN(3e-10, 0.0, forward);
}

static void test_absent_forces_are_zero_forces(void)
{
    double with[TREE_NV_MAX];
    tree_random(tree, 20, 1, 11);
    memset(tree->tau, 0, sizeof tree->tau);
    memset(tree->force, 0, sizeof tree->force);
    forward_both();
    memcpy(with, tree->a, sizeof with);

    const struct dyn_state state = tree_state(tree);
    struct dyn_input input = tree_input(tree);
    struct dyn_output output = {.a = tree->a};
    input.tau = NULL, input.load_count = 0;
    dyn_crba_forward(tree->model, &state, &input, poisoned_work(), &output);
    for (int k = 0; k < nv(); k++)
        TEST_ASSERT_TRUE(with[k] == tree->a[k]);
}

/* 7.6 km/s leave no trace in the joints that follow velocity `base`. */
static void assert_joints_do_not_feel_speed(int base)
{
    double slow[TREE_NV_MAX];
    double *v = tree->v + base + 3;
    memset(v, 0, 3 * sizeof *v);
    forward_both();
    memcpy(slow, tree->a, sizeof slow);
    v[0] = 7600.0, v[1] = -300.0, v[2] = 11.0;
    forward_both();
    for (int k = base + 6; k < nv(); k++)
        TEST_ASSERT_TRUE(slow[k] == tree->a[k]);
}

static void test_joints_do_not_feel_the_orbital_speed(void)
{
    tree_random(tree, 20, 1, 3);
    tree_unlaw_base(tree);
    memset(tree->gravity, 0, sizeof tree->gravity);
    assert_joints_do_not_feel_speed(0);
}

static void test_joints_of_a_second_vehicle_do_not_feel_its_speed(void)
{
    tree_add(tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_add(tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    for (int k = 0; k < 4; k++) {
        const int arm = tree_add(tree, 1 + k, DYN_JOINT_REVOLUTE, 0.6, 0, 0.8);
        memcpy(tree->spec[arm].place_xyz, (double[]){0.3, 0.5, 0.7}, 3 * sizeof(double));
    }
    tree_build(tree);
    for (int k = 0; k < nv(); k++)
        tree->v[k] = 0.1 + 0.03 * k;
    assert_joints_do_not_feel_speed(6);
}

static void test_a_runaway_state_gives_no_plausible_answer(void)
{
    tree_random(tree, 5, 1, 9);
    tree->q[3] = (double)NAN;
    forward_both();
    TEST_ASSERT_FALSE(isfinite(tree->a[0]));
}

/* No valid model has such a pivot; a negative mass that passes no check makes one. */
static void test_a_pivot_that_is_not_positive_gives_no_plausible_answer(void)
{
    static const enum dyn_joint_type joints[] = {DYN_JOINT_PRISMATIC, DYN_JOINT_FREE};
    for (int k = 0; k < 2; k++) {
        setUp();
        tree_add(tree, -1, joints[k], 1, 0, 0);
        tree_build(tree);
        tree->spec[0].mass = -1.0;
        tree->model = dyn_model_place(tree->spec, 1, tree->model_mem);
        tree->tau[0] = 1.0;
        forward_both();
        TEST_ASSERT_FALSE(isfinite(tree->a[nv() - 1]));
    }
}

static void test_a_tree_that_cannot_move_has_no_mass_matrix(void)
{
    tree_add(tree, -1, DYN_JOINT_FIXED, 0, 0, 0);
    tree_build(tree);
    M[0] = 42.0;
    const struct dyn_state state = tree_state(tree);
    dyn_crba(tree->model, &state, poisoned_work(), M);
    forward_both();
    TEST_ASSERT_EQUAL_DOUBLE(42.0, M[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_double_pendulum_has_the_mass_matrix_of_the_book);
    RUN_TEST(test_a_bead_on_a_rod_has_a_diagonal_mass_matrix);
    RUN_TEST(test_a_free_body_has_its_own_inertia_in_every_pose);
    RUN_TEST(test_its_columns_are_those_of_inverse_dynamics);
    RUN_TEST(test_it_is_symmetric_and_positive_definite);
    RUN_TEST(test_half_v_m_v_is_the_kinetic_energy);
    RUN_TEST(test_forward_dynamics_is_that_of_the_articulated_bodies);
    RUN_TEST(test_absent_forces_are_zero_forces);
    RUN_TEST(test_joints_do_not_feel_the_orbital_speed);
    RUN_TEST(test_joints_of_a_second_vehicle_do_not_feel_its_speed);
    RUN_TEST(test_a_runaway_state_gives_no_plausible_answer);
    RUN_TEST(test_a_pivot_that_is_not_positive_gives_no_plausible_answer);
    RUN_TEST(test_a_tree_that_cannot_move_has_no_mass_matrix);
    return UNITY_END();
}
