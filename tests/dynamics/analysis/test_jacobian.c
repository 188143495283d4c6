/*
 * Jacobians against differences of places, velocities against the plant's, accelerations against
 * differences of velocities.
 */
#include "dynamics/analysis/jacobian.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/tree_pose.h"
#include "tests/dynamics/craft.h"
#include "unity.h"

static struct craft craft;
static struct tree *const tree = &craft.tree;
static struct dyn_tree_pose *tree_pose;
static double J[6 * TREE_NV_MAX];
static _Alignas(64) unsigned char scene_mem[1 << 22];

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

static void take_at(const double *q, const double *v)
{
    const struct dyn_state state = {q, v};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof scene_mem, dyn_tree_pose_size(tree->model));
    tree_pose = dyn_tree_pose_place(tree->model, scene_mem);
    const size_t head = sizeof(struct dyn_work), bodies = (size_t)tree->body_count;
    memset((unsigned char *)tree_pose->kernel + head, 0xff, dyn_work_size(tree->model) - head);
    memset(tree_pose->E, 0xff, bodies * sizeof *tree_pose->E);
    memset(tree_pose->arm, 0xff, bodies * sizeof *tree_pose->arm);
    memset(tree_pose->S, 0xff, (size_t)nv() * sizeof *tree_pose->S);
    dyn_tree_pose_update(tree->model, &state, tree_pose);
}

/* A random vehicle, its scene, and a point on one of its bodies with the Jacobian there. */
static struct dyn_point begin(int body_count, uint64_t seed)
{
    tree_random(tree, body_count, (int)(seed % 2), seed);
    take_at(tree->q, tree->v);
    const struct dyn_point point = {(int)(seed / 2) % body_count,
                                    {tree_noise(), tree_noise(), tree_noise()}};
    memset(J, 0xff, sizeof J);
    dyn_jacobian(tree->model, tree_pose, &point, J);
    return point;
}

static void store(const struct dyn_vec6 *m, double e[6])
{
    dyn_vec3_store(m->ang, e);
    dyn_vec3_store(m->lin, e + 3);
}

/* (pose and place of the point) after h along velocity k */
static struct dyn_pose moved(const struct dyn_point *point, int k, double h)
{
    double q[TREE_NV_MAX], v[TREE_NV_MAX] = {0};
    v[k] = 1.0;
    memcpy(q, tree->q, sizeof q);
    dyn_position_advance(tree->model, v, h, q);
    struct dyn_pose pose = dyn_body_pose(tree->model, q, point->body);
    pose.origin = dyn_pose_point(&pose, dyn_vec3_load(point->at));
    return pose;
}

/* Twice the vector part of (to from^-1) is the turn, for small ones. */
static void difference(const struct dyn_pose *from, const struct dyn_pose *to, double h,
                       double e[6])
{
    const struct dyn_quat turn = dyn_quat_mul(to->turn, dyn_quat_conjugate(from->turn));
    dyn_vec3_store(dyn_scale(2.0 / h, (struct dyn_vec3){turn.x, turn.y, turn.z}), e);
    dyn_vec3_store(dyn_scale(1.0 / h, dyn_sub(to->origin, from->origin)), e + 3);
}

static void test_columns_are_differences_of_places(void)
{
    const double h = 1e-5;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const struct dyn_point point = begin(1 + (int)(seed % 20), seed);
        for (int k = 0; k < nv(); k++) {
            const struct dyn_pose from = moved(&point, k, -h), to = moved(&point, k, h);
            double want[6];
            difference(&from, &to, 2 * h, want);
            for (int r = 0; r < 6; r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-8, want[r], J[r * nv() + k]);
        }
    }
}

/* Tip of a planar two-link arm: x = l1 cos a + l2 cos (a+b), y the same with sines. */
static void test_a_planar_arm_has_the_jacobian_of_the_book(void)
{
    const double l1 = 1.1, l2 = 0.7, a = 0.4, b = -1.3;
    const struct dyn_point tip = {1, {l2, 0, 0}};
    tree_add(tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(tree, 0, DYN_JOINT_PRISMATIC, 1, 0, 0); /* does not move the tip */
    tree->spec[0].place_xyz[0] = 5.0;
    tree->spec[1].place_xyz[0] = l1;
    tree_build(tree);
    tree->q[0] = a, tree->q[1] = b, tree->q[2] = 0.3;
    take_at(tree->q, tree->v);
    dyn_jacobian(tree->model, tree_pose, &tip, J);
    const double want[6][3] = {
        {0},
        {0},
        {1, 1, 0},
        {-l1 * sin(a) - l2 * sin(a + b), -l2 * sin(a + b), 0},
        {l1 * cos(a) + l2 * cos(a + b), l2 * cos(a + b), 0},
        {0},
    };
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 3; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-15, want[r][k], J[r * 3 + k]);
}

static void test_j_v_is_the_velocity_of_the_point(void)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const struct dyn_point point = begin(1 + (int)(seed % 40), 3 * seed);
        double velocity[6];
        const struct dyn_vec6 velocity_m = dyn_point_velocity(tree->model, tree_pose, &point);
        store(&velocity_m, velocity);
        for (int r = 0; r < 6; r++) {
            double sum = 0.0;
            for (int k = 0; k < nv(); k++)
                sum += J[r * nv() + k] * tree->v[k];
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, sum, velocity[r]);
        }
    }
}

static void test_velocity_and_acceleration_are_those_of_a_device_mounted_there(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        setUp();
        const struct dyn_point point = begin(1 + (int)(seed % 30), 5 * seed);
        struct dyn_motion motion;
        craft_build(&craft);
        dyn_plant_solve(&craft.plant, NULL, tree->tau, craft.x, craft.work);
        dyn_plant_motion(&craft.plant, craft.work, craft.x, point.body, point.at, &motion);

        const double *a = dyn_plant_acceleration(craft.work);
        const struct dyn_vec6 v = dyn_point_velocity(tree->model, tree_pose, &point);
        const struct dyn_vec6 acc = dyn_point_acceleration(tree->model, tree_pose, &point, a);
        const struct dyn_quat turn = dyn_quat_load(motion.attitude);
        const struct dyn_vec3 rate = dyn_quat_rotate(turn, dyn_vec3_load(motion.rate));
        const struct dyn_vec3 felt = dyn_quat_rotate(turn, dyn_vec3_load(motion.specific_force));
        const struct dyn_vec3 fall = dyn_add(felt, dyn_vec3_load(tree->gravity));
        const double scale = 1.0 + dyn_norm(felt);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, dyn_norm(dyn_sub(rate, v.ang)));
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0,
                                  dyn_norm(dyn_sub(dyn_vec3_load(motion.velocity), v.lin)));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11 * scale, 0.0, dyn_norm(dyn_sub(fall, acc.lin)));
    }
}

/* Velocity of the point a time h later, with dv/dt = a all the while. */
static void velocity_after(const struct dyn_point *point, const double *a, double h, double e[6])
{
    double q[TREE_NV_MAX], v[TREE_NV_MAX];
    memcpy(q, tree->q, sizeof q);
    dyn_position_advance(tree->model, tree->v, h, q);
    for (int k = 0; k < nv(); k++)
        v[k] = tree->v[k] + h * a[k];
    take_at(q, v);
    const struct dyn_vec6 e_m = dyn_point_velocity(tree->model, tree_pose, point);
    store(&e_m, e);
}

static void test_acceleration_is_the_difference_of_velocities(void)
{
    const double h = 1e-5;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        const struct dyn_point point = begin(1 + (int)(seed % 20), 7 * seed);
        double a[TREE_NV_MAX], got[6], before[6], after[6], scale = 1.0;
        for (int k = 0; k < nv(); k++)
            a[k] = tree_noise();
        const struct dyn_vec6 got_m = dyn_point_acceleration(tree->model, tree_pose, &point, a);
        store(&got_m, got);
        velocity_after(&point, a, -h, before);
        velocity_after(&point, a, h, after);
        for (int r = 0; r < 6; r++)
            scale = fmax(scale, fabs(got[r]));
        for (int r = 0; r < 6; r++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-6 * scale, (after[r] - before[r]) / (2 * h), got[r]);
    }
}

static void test_without_joint_accelerations_only_the_velocities_count(void)
{
    const struct dyn_point point = begin(20, 9);
    const double none[TREE_NV_MAX] = {0};
    double with[6], without[6];
    const struct dyn_vec6 with_m = dyn_point_acceleration(tree->model, tree_pose, &point, none);
    store(&with_m, with);
    const struct dyn_vec6 without_m = dyn_point_acceleration(tree->model, tree_pose, &point, NULL);
    store(&without_m, without);
    for (int r = 0; r < 6; r++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, with[r], without[r]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_columns_are_differences_of_places);
    RUN_TEST(test_a_planar_arm_has_the_jacobian_of_the_book);
    RUN_TEST(test_j_v_is_the_velocity_of_the_point);
    RUN_TEST(test_velocity_and_acceleration_are_those_of_a_device_mounted_there);
    RUN_TEST(test_acceleration_is_the_difference_of_velocities);
    RUN_TEST(test_without_joint_accelerations_only_the_velocities_count);
    return UNITY_END();
}
