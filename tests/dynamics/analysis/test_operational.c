/*
 * Inertia between points against dense matrices, against what forces on them do, and by hand.
 */
#include "dynamics/analysis/operational.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "unity.h"

enum { POINTS = 4, SIDE = 6 * POINTS };

static struct tree tree;
static struct dyn_point points[POINTS];
static int point_count;
static double inverse[SIDE * SIDE];
static _Alignas(64) unsigned char work_mem[1 << 23], mass_mem[1 << 23], scene_mem[1 << 22];

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static int nv(void)
{
    return dyn_model_nv(tree.model);
}

static double entry(int r, int c)
{
    return inverse[r * 6 * point_count + c];
}

static void take_inverse(int count)
{
    const struct dyn_state state = tree_state(&tree);
    point_count = count;
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof work_mem, dyn_operational_work_size(tree.model, count));
    struct dyn_operational_work *work = dyn_operational_work_place(tree.model, count, work_mem);
    memset(inverse, 0xff, sizeof inverse);
    dyn_operational_inverse(tree.model, &state, points, count, work, inverse);
}

static void random_points(int count)
{
    for (int k = 0; k < count; k++) {
        const int body = (int)(0.5 * (tree_noise() + 1.0) * tree.body_count);
        points[k] = (struct dyn_point){body, {tree_noise(), tree_noise(), tree_noise()}};
    }
}

/* J of all points, 6n x nv by rows, and M^-1 J', nv x 6n. */
static double J[SIDE * TREE_NV_MAX], solved[TREE_NV_MAX * SIDE];

static void take_dense(int count)
{
    static double flat[TREE_NV_MAX * TREE_NV_MAX], M[TREE_NV_MAX][TREE_NV_MAX];
    const struct dyn_state state = tree_state(&tree);
    struct dyn_tree_pose *tree_pose = dyn_tree_pose_place(tree.model, scene_mem);
    dyn_crba(tree.model, &state, dyn_crba_work_place(tree.model, mass_mem), flat);
    for (int r = 0; r < nv(); r++)
        memcpy(M[r], flat + r * nv(), (size_t)nv() * sizeof(double));
    dyn_tree_pose_update(tree.model, &state, tree_pose);
    for (int k = 0; k < count; k++)
        dyn_jacobian(tree.model, tree_pose, &points[k], J + 6 * k * nv());
    for (int r = 0; r < nv(); r++)
        for (int c = 0; c < 6 * count; c++)
            solved[r * 6 * count + c] = J[c * nv() + r];
    dense_solve(nv(), M, solved, 6 * count);
}

static void test_it_is_the_dense_product(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        double scale = 1.0;
        tree_random(&tree, 1 + (int)(seed % 24), (int)(seed % 2), seed);
        random_points(POINTS);
        take_inverse(POINTS);
        take_dense(POINTS);
        for (int r = 0; r < SIDE; r++)
            scale = fmax(scale, entry(r, r));
        for (int r = 0; r < SIDE; r++)
            for (int c = 0; c < SIDE; c++) {
                double sum = 0.0;
                for (int k = 0; k < nv(); k++)
                    sum += J[r * nv() + k] * solved[k * SIDE + c];
                TEST_ASSERT_DOUBLE_WITHIN(1e-11 * scale, sum, entry(r, c));
                TEST_ASSERT_TRUE(entry(r, c) == entry(c, r));
            }
    }
}

/* A force or moment in world axes at a point, as the kernel wants it: body axes, at the origin. */
static void push(const struct dyn_point *point, int axis, double size)
{
    double e[6] = {0};
    e[axis] = size;
    const struct dyn_pose pose = dyn_body_pose(tree.model, tree.q, point->body);
    const struct dyn_quat in = dyn_quat_conjugate(pose.turn);
    const struct dyn_vec3 n = dyn_quat_rotate(in, dyn_vec3_load(e));
    const struct dyn_vec3 f = dyn_quat_rotate(in, dyn_vec3_load(e + 3));
    const struct dyn_vec3 r = dyn_vec3_load(point->at);
    tree.force[point->body] = (struct dyn_vec6){dyn_add(n, dyn_cross(r, f)), f};
}

static void felt(const struct dyn_point *point, double e[6])
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_tree_pose *tree_pose = dyn_tree_pose_place(tree.model, scene_mem);
    tree_forward(&tree);
    dyn_tree_pose_update(tree.model, &state, tree_pose);
    const struct dyn_vec6 a = dyn_point_acceleration(tree.model, tree_pose, point, tree.a);
    dyn_vec3_store(a.ang, e);
    dyn_vec3_store(a.lin, e + 3);
}

/* By the articulated bodies: what a unit push here accelerates there. */
static void test_a_push_on_one_point_accelerates_the_others(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        tree_random(&tree, 2 + (int)(seed % 20), (int)(seed % 2), 13 * seed);
        random_points(2);
        take_inverse(2);
        memset(tree.force, 0, sizeof tree.force);
        for (int c = 0; c < 6; c++) {
            double without[6], with[6];
            push(&points[1], c, 0.0);
            felt(&points[0], without);
            push(&points[1], c, 1.0);
            felt(&points[0], with);
            for (int r = 0; r < 6; r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-9, with[r] - without[r], entry(r, 6 + c));
        }
    }
}

/* 1/m 1 - ra x Ic^-1 rb x, arms from the mass centre; turned by a quarter about z. */
static void test_a_free_body_shows_its_mass_and_its_arms(void)
{
    const double Ix = 0.5, Iy = 0.7, Iz = 0.9, mass = 2.0;
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree.spec[0].mass = mass;
    memcpy(tree.spec[0].center, (double[]){0.3, 0.1, -0.2}, 3 * sizeof(double));
    memcpy(tree.spec[0].inertia, (double[]){Ix, Iy, Iz, 0, 0, 0}, 6 * sizeof(double));
    tree_build(&tree);
    memcpy(tree.q, (double[]){1, 2, 3, sqrt(0.5), 0, 0, sqrt(0.5)}, 7 * sizeof(double));
    points[0] = (struct dyn_point){0, {0.3 + 0.4, 0.1, -0.2}}; /* arm 0.4 along its x, world y */
    points[1] = (struct dyn_point){0, {0.3, 0.1 + 0.6, -0.2}}; /* 0.6 along its y, world -x */
    take_inverse(2);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / Iy, entry(0, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / Ix, entry(1, 1));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / Iz, entry(2, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / mass + 0.16 / Iz, entry(3, 3));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / mass, entry(4, 4));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / mass + 0.16 / Iy, entry(5, 5));
    /* a push along world y on point 1 turns by -0.6/Iz about z: point 0 moves along x by 0.24 / Iz
     */
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.24 / Iz, entry(3, 6 + 4));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, -0.6 / Iz, entry(2, 6 + 4));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1 / mass, entry(4, 6 + 4));
}

/* Two arms: on a bus that floats they feel each other, bolted to the world they do not. */
static double sibling_coupling(enum dyn_joint_type bus)
{
    double sum = 0.0;
    tree_begin(&tree);
    tree_add(&tree, -1, bus, 0, 0, 0);
    for (int k = 0; k < 2; k++) {
        const int arm = tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
        tree.spec[arm].place_xyz[1] = k == 0 ? 0.5 : -0.5;
        points[k] = (struct dyn_point){arm, {0.8, 0, 0}};
    }
    tree_build(&tree);
    take_inverse(2);
    for (int r = 0; r < 6; r++)
        for (int c = 6; c < 12; c++)
            sum += fabs(entry(r, c));
    return sum;
}

static void test_siblings_feel_each_other_through_a_moving_base(void)
{
    TEST_ASSERT_TRUE(sibling_coupling(DYN_JOINT_FREE) > 0.1);
    TEST_ASSERT_TRUE(sibling_coupling(DYN_JOINT_FIXED) == 0.0);
}

static void test_a_point_that_cannot_move_feels_nothing(void)
{
    tree_add(&tree, -1, DYN_JOINT_FIXED, 0, 0, 0);
    tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_build(&tree);
    points[0] = (struct dyn_point){0, {1, 2, 3}};
    points[1] = (struct dyn_point){1, {1, 2, 3}};
    take_inverse(2);
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 12; c++)
            TEST_ASSERT_TRUE(entry(r, c) == 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0, entry(8, 8));
}

static void test_a_pivot_that_is_not_positive_gives_no_plausible_answer(void)
{
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    tree_build(&tree);
    tree.spec[0].mass = -1.0;
    tree.model = dyn_model_place(tree.spec, 1, tree.model_mem);
    points[0] = (struct dyn_point){0, {0, 0, 0}};
    take_inverse(1);
    TEST_ASSERT_TRUE(isnan(entry(3, 3)));
}

/* It traps in a child, before anything is written past the end. */
static void test_more_points_than_the_work_holds_are_a_bug(void)
{
    int status = 0;
    tree_random(&tree, 5, 1, 1);
    random_points(2);
    const struct dyn_state state = tree_state(&tree);
    struct dyn_operational_work *work = dyn_operational_work_place(tree.model, 1, work_mem);
    const pid_t child = fork();
    TEST_ASSERT_TRUE(child >= 0);
    if (child == 0) {
        signal(SIGILL, SIG_DFL);
        dyn_operational_inverse(tree.model, &state, points, 2, work, inverse);
        _exit(0);
    }
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_TRUE(WIFSIGNALED(status));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_it_is_the_dense_product);
    RUN_TEST(test_a_push_on_one_point_accelerates_the_others);
    RUN_TEST(test_a_free_body_shows_its_mass_and_its_arms);
    RUN_TEST(test_siblings_feel_each_other_through_a_moving_base);
    RUN_TEST(test_a_point_that_cannot_move_feels_nothing);
    RUN_TEST(test_a_pivot_that_is_not_positive_gives_no_plausible_answer);
    RUN_TEST(test_more_points_than_the_work_holds_are_a_bug);
    return UNITY_END();
}
