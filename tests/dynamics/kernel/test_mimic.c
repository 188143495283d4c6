/*
 * Joints that follow others, against closed forms and against the same tree without them:
 *
 *      G' M G a = G' (tau - b),   M and b of the loose tree, G written down by the test
 */
#include "dynamics/kernel/mimic.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/operational.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "tests/dynamics/craft.h"
#include "tests/dynamics/dense.h"
#include "unity.h"

enum { POINT_MAX = 3 };

static struct craft craft;
static struct tree *const tree = &craft.tree; /* with followers */
static struct tree loose;                     /* the same bodies, all joints for themselves */
static double G[TREE_NV_MAX][TREE_NV_MAX];    /* loose.v = G tree->v */
static double M_loose[TREE_NV_MAX * TREE_NV_MAX], M[TREE_NV_MAX * TREE_NV_MAX];
static double dense[TREE_NV_MAX][TREE_NV_MAX];
static double bias[TREE_NV_MAX]; /* G' b */
static double got[TREE_NV_MAX * TREE_NV_MAX], want[TREE_NV_MAX * TREE_NV_MAX];
static _Alignas(64) unsigned char mem[1 << 23], loose_mem[1 << 23];

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

static void follow(int body, int leader, double ratio, double offset)
{
    tree->spec[body].mimic = (struct dyn_mimic){1, leader, ratio, offset};
}

/* ---- closed forms ---- */

static void add_disc(double inertia)
{
    const int body = tree_add(tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    for (int k = 0; k < 3; k++)
        tree->spec[body].inertia[k] = inertia;
}

static void test_two_discs_turn_as_one(void)
{
    const double J1 = 0.3, J2 = 0.7, r = -2.5;
    add_disc(J1);
    add_disc(J2);
    follow(1, 0, r, 0.4);
    tree_build(tree);
    TEST_ASSERT_EQUAL_INT(1, nv());
    tree->tau[0] = 1.7;
    tree_forward(tree);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.7 / (J1 + r * r * J2), tree->a[0]);
}

/* The follower's spring is stretched by the follower's own angle, its rotor turns with it. */
static void test_what_a_follower_does_by_itself_reaches_the_leader(void)
{
    const double J1 = 0.3, J2 = 0.7, r = -2.5, offset = 0.4, k = 3.0, d = 0.2, q = 0.6, v = 1.1;
    add_disc(J2);
    add_disc(J1);
    follow(0, 1, r, offset);
    tree->spec[0].force_spec[0] =
        (struct dyn_joint_force_spec){.stiffness = k, .rest = 0.1, .damping = d};
    tree->spec[0].rotor = (struct dyn_geared_rotor){DYN_ROTOR_DIAGONAL, 10.0, 0.002, {0, 0, 1}};
    tree_build(tree);
    tree->q[0] = q, tree->v[0] = v;
    tree_forward(tree);
    const double force = -k * (r * q + offset - 0.1) - d * r * v;
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, r * force / (J1 + r * r * (J2 + 0.2)), tree->a[0]);
}

/* The light one would be thrown about by the forces of the coupling, were they ever computed. */
static void test_a_light_leader_keeps_its_digits(void)
{
    const double J1 = 1e-14, J2 = 0.7, r = 0.3;
    add_disc(J1);
    add_disc(J2);
    follow(1, 0, r, 0.0);
    tree_build(tree);
    tree->tau[0] = 1.7;
    tree_forward(tree);
    const double a = 1.7 / (J1 + r * r * J2);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14 * a, a, tree->a[0]);
}

/* Fingers that slide apart on a cart: with equal masses the cart stays where it is. */
static void test_a_gripper_pushes_its_cart_by_what_the_fingers_differ(void)
{
    const double force = 2.0, fingers[2][2] = {{0.3, 0.3}, {0.3, 0.8}};
    for (int k = 0; k < 2; k++) {
        const double m1 = fingers[k][0], m2 = fingers[k][1];
        setUp();
        tree_add(tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
        tree_add(tree, 0, DYN_JOINT_PRISMATIC, 1, 0, 0);
        tree_add(tree, 0, DYN_JOINT_PRISMATIC, -1, 0, 0);
        tree->spec[0].mass = 5.0, tree->spec[1].mass = m1, tree->spec[2].mass = m2;
        follow(2, 1, 1.0, 0.01);
        tree_build(tree);
        tree->tau[1] = force;
        tree_forward(tree);
        /* [ total, m1 - m2 ; m1 - m2, m1 + m2 ] a = [ 0 ; force ] */
        const double total = 5.0 + m1 + m2, across = m1 - m2;
        const double a = force / (m1 + m2 - across * across / total);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, a, tree->a[1]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, -across / total * a, tree->a[0]);
    }
}

/* ---- random trees ---- */

static int is_one_dof(const struct dyn_body_spec *spec)
{
    return spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC ||
           (spec->joint == DYN_JOINT_GENERAL && spec->screw_count == 1);
}

/* What the trees of a test have had among their pairs. */
struct census {
    int followers, leader_outside, follower_outside, leader_later, shared;
};

static int carries(int inner, int outer)
{
    for (; outer >= 0; outer = tree->spec[outer].parent)
        if (outer == inner)
            return 1;
    return 0;
}

static void count_pair(int mimic_joint, int leader, struct census *census)
{
    census->followers++;
    census->follower_outside += carries(leader, mimic_joint);
    census->leader_outside += carries(mimic_joint, leader);
    census->leader_later += leader > mimic_joint;
    for (int i = 0; i < mimic_joint; i++)
        census->shared += tree->spec[i].mimic.on && tree->spec[i].mimic.leader == leader;
}

/* About a half of the one-dof joints follow one of the others. */
static void choose_followers(struct census *census)
{
    int may_lead[TREE_BODY_MAX], count = 0;
    for (int i = 0; i < tree->body_count; i++)
        if (is_one_dof(&tree->spec[i])) {
            tree->spec[i].mimic.on = tree_noise() > 0.0;
            if (!tree->spec[i].mimic.on)
                may_lead[count++] = i;
        }
    for (int i = 0; i < tree->body_count; i++) {
        if (!tree->spec[i].mimic.on)
            continue;
        if (count == 0) {
            tree->spec[i].mimic.on = 0;
            continue;
        }
        const int leader = may_lead[(int)(0.5 * (tree_noise() + 1.0) * count)];
        follow(i, leader, 2.0 * tree_noise(), tree_noise());
        count_pair(i, leader, census);
    }
}

/* v of the loose tree that one v of the author's moves. */
static void fill_G(void)
{
    memset(G, 0, sizeof G);
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_mimic *mimic = &tree->spec[i].mimic;
        const int to = dyn_model_v_index(loose.model, i);
        if (mimic->on)
            G[to][dyn_model_v_index(tree->model, mimic->leader)] = mimic->ratio;
        else
            for (int k = 0; k < dyn_joint_nv(&tree->spec[i]); k++)
                G[to + k][dyn_model_v_index(tree->model, i) + k] = 1.0;
    }
}

static void times_G(const double *v, double *out)
{
    for (int r = 0; r < dyn_model_nv(loose.model); r++) {
        out[r] = 0.0;
        for (int c = 0; c < nv(); c++)
            out[r] += G[r][c] * v[c];
    }
}

static void times_Gt(const double *tau, double *out)
{
    for (int c = 0; c < nv(); c++) {
        out[c] = 0.0;
        for (int r = 0; r < dyn_model_nv(loose.model); r++)
            out[c] += G[r][c] * tau[r];
    }
}

/* The author's q, first taken from the loose tree's, then put where the followers are. */
static void couple_state(void)
{
    for (int i = 0; i < tree->body_count; i++)
        memcpy(tree->q + dyn_model_q_index(tree->model, i),
               loose.q + dyn_model_q_index(loose.model, i),
               (size_t)dyn_joint_nq(&tree->spec[i]) * sizeof *tree->q);
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_mimic *mimic = &tree->spec[i].mimic;
        if (mimic->on)
            loose.q[dyn_model_q_index(loose.model, i)] =
                mimic->ratio * loose.q[dyn_model_q_index(loose.model, mimic->leader)] +
                mimic->offset;
    }
    for (int k = 0; k < nv(); k++) {
        tree->v[k] = tree_noise();
        tree->tau[k] = 5.0 * tree_noise();
    }
    times_G(tree->v, loose.v);
    memcpy(tree->force, loose.force, sizeof tree->force);
    memcpy(tree->gravity, loose.gravity, sizeof tree->gravity);
}

static void random_pair(uint64_t seed, struct census *census)
{
    setUp();
    tree_random(&loose, 2 + (int)(seed % 18), (int)(seed % 2), seed);
    tree->body_count = loose.body_count;
    memcpy(tree->spec, loose.spec, sizeof tree->spec);
    choose_followers(census);
    tree_build(tree);
    fill_G();
    couple_state();
}

static struct dyn_crba_work *mass_work(struct tree *of, unsigned char *at)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_crba_work_size(of->model));
    return dyn_crba_work_place(of->model, at);
}

/* M = G' M_loose G and bias = G' b. */
static void take_truth(void)
{
    const struct dyn_state state = tree_state(&loose);
    const struct dyn_input input = tree_input(&loose);
    const int n = dyn_model_nv(loose.model);
    static double b[TREE_NV_MAX], none[TREE_NV_MAX], column[TREE_NV_MAX], row[TREE_NV_MAX];

    dyn_crba(loose.model, &state, mass_work(&loose, loose_mem), M_loose);
    dyn_rnea(loose.model, &state, none, &input, loose.work, b);
    times_Gt(b, bias);
    for (int c = 0; c < nv(); c++) {
        for (int r = 0; r < n; r++) {
            column[r] = 0.0;
            for (int k = 0; k < n; k++)
                column[r] += M_loose[r * n + k] * G[k][c];
        }
        times_Gt(column, row);
        for (int r = 0; r < nv(); r++)
            M[r * nv() + c] = row[r];
    }
}

/* Of M a + bias = tau, relative to what is added up in it. */
static void assert_solves(const double *a)
{
    for (int r = 0; r < nv(); r++) {
        double left = bias[r] - tree->tau[r], scale = fabs(bias[r]) + fabs(tree->tau[r]) + 1.0;
        for (int c = 0; c < nv(); c++) {
            left += M[r * nv() + c] * a[c];
            scale += fabs(M[r * nv() + c] * a[c]);
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-11 * scale, 0.0, left);
    }
}

static void assert_all(int count, double within, const double *expected, const double *actual)
{
    for (int k = 0; k < count; k++)
        TEST_ASSERT_DOUBLE_WITHIN(within, expected[k], actual[k]);
}

static void assert_vec6(double within, struct dyn_vec6 expected, struct dyn_vec6 actual)
{
    TEST_ASSERT_DOUBLE_WITHIN(within, 0.0, dyn_norm(dyn_sub(expected.ang, actual.ang)));
    TEST_ASSERT_DOUBLE_WITHIN(within, 0.0, dyn_norm(dyn_sub(expected.lin, actual.lin)));
}

static void test_every_algorithm_agrees_with_the_loose_tree(void)
{
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_pair(seed, &census);
        take_truth();
        const struct dyn_state state = tree_state(tree);
        const struct dyn_input input = tree_input(tree);
        struct dyn_output output = {.a = tree->a};

        tree_forward(tree);
        assert_solves(tree->a);
        dyn_rnea(tree->model, &state, tree->a, &input, tree->work, got);
        for (int k = 0; k < nv(); k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-9 * (1.0 + fabs(bias[k])), tree->tau[k], got[k]);

        memset(got, 0xff, sizeof got);
        dyn_crba(tree->model, &state, mass_work(tree, mem), got);
        assert_all(nv() * nv(), 1e-10, M, got);
        memset(tree->a, 0xff, sizeof tree->a);
        dyn_crba_forward(tree->model, &state, &input, mass_work(tree, mem), &output);
        assert_solves(tree->a);
    }
    TEST_ASSERT_GREATER_THAN_INT(500, census.followers);
    TEST_ASSERT_GREATER_THAN_INT(50, census.follower_outside);
    TEST_ASSERT_GREATER_THAN_INT(50, census.leader_outside);
    TEST_ASSERT_GREATER_THAN_INT(50, census.leader_later);
    TEST_ASSERT_GREATER_THAN_INT(50, census.shared);
}

static void test_every_instruction_set_gives_the_same_answer(void)
{
    static const enum dyn_isa isas[] = {DYN_ISA_SSE2, DYN_ISA_AVX2, DYN_ISA_AVX512};
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        random_pair(seed, &census);
        take_truth();
        for (int k = 0; k < 3; k++) {
            if (!dyn_isa_runs(isas[k]))
                continue;
            dyn_model_use_isa((struct dyn_model *)tree->model_mem, isas[k]);
            tree_forward(tree);
            assert_solves(tree->a);
        }
    }
}

/* Of the laws, the rotors and the loads of the loose tree nothing is lost, and nothing of a call
 * before is left: the work answers for the bodies as if the motion of all joints were prescribed.
 */
static void test_the_work_area_has_the_motion_of_the_bodies(void)
{
    static unsigned char all[TREE_NV_MAX];
    static double a[TREE_NV_MAX];
    struct census census = {0};
    memset(all, 1, sizeof all);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        random_pair(seed, &census);
        tree_forward(tree);
        times_G(tree->a, a);
        const struct dyn_state state = tree_state(&loose);
        struct dyn_input input = tree_input(&loose);
        struct dyn_output output = {.a = got};
        input.held = all, input.held_a = a;
        dyn_aba(loose.model, &state, &input, loose.work, &output);
        double scale = 1.0;
        for (int k = 0; k < nv(); k++)
            scale += fabs(tree->a[k]);
        for (int i = 0; i < tree->body_count; i++) {
            if (tree->model->body_link[i] < 0)
                continue;
            assert_vec6(1e-12, dyn_body_velocity(loose.model, loose.work, i),
                        dyn_body_velocity(tree->model, tree->work, i));
            assert_vec6(1e-12 * scale, dyn_body_acceleration(loose.model, loose.work, i),
                        dyn_body_acceleration(tree->model, tree->work, i));
        }
    }
}

/* ---- held joints ---- */

static void test_a_held_leader_holds_its_follower(void)
{
    const double J1 = 0.3, J2 = 0.7, r = -2.5;
    const unsigned char held = 1;
    const double held_a = 4.0;
    double held_tau;
    add_disc(J1);
    add_disc(J2);
    follow(1, 0, r, 0.0);
    tree_build(tree);
    tree->tau[0] = 0.5;
    const struct dyn_state state = tree_state(tree);
    struct dyn_input input = tree_input(tree);
    struct dyn_output output = {.a = tree->a, .held_tau = &held_tau};
    input.held = &held, input.held_a = &held_a;
    dyn_aba(tree->model, &state, &input, tree->work, &output);
    TEST_ASSERT_EQUAL_DOUBLE(4.0, tree->a[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, (J1 + r * r * J2) * 4.0 - 0.5, held_tau);

    input.held_a = NULL;
    dyn_aba(tree->model, &state, &input, tree->work, &output);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, tree->a[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.5, held_tau);
}

/* With the force that holding needs, inverse dynamics asks for nothing else. */
static void test_held_forces_are_those_of_inverse_dynamics(void)
{
    static unsigned char held[TREE_NV_MAX];
    static double held_a[TREE_NV_MAX], held_tau[TREE_NV_MAX];
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        random_pair(seed, &census);
        take_truth();
        for (int k = 0; k < nv(); k++) {
            held[k] = tree_noise() > 0.3;
            held_a[k] = held[k] ? tree_noise() : (double)NAN;
        }
        const struct dyn_state state = tree_state(tree);
        struct dyn_input input = tree_input(tree);
        struct dyn_output output = {.a = tree->a, .held_tau = held_tau};
        input.held = held, input.held_a = held_a;
        tree_poison(tree);
        memset(held_tau, 0xff, sizeof held_tau);
        dyn_aba(tree->model, &state, &input, tree->work, &output);
        for (int k = 0; k < nv(); k++) {
            if (held[k])
                TEST_ASSERT_EQUAL_DOUBLE(held_a[k], tree->a[k]);
            else
                TEST_ASSERT_EQUAL_DOUBLE(0.0, held_tau[k]);
            tree->tau[k] += held_tau[k];
        }
        assert_solves(tree->a);
    }
}

/* ---- places, Jacobians, operational space ---- */

static void test_bodies_are_where_the_loose_tree_has_them(void)
{
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        random_pair(seed, &census);
        for (int i = 0; i < tree->body_count; i++) {
            const struct dyn_pose expected = dyn_body_pose(loose.model, loose.q, i);
            const struct dyn_pose actual = dyn_body_pose(tree->model, tree->q, i);
            assert_all(3, 1e-12,
                       (double[]){expected.origin.x, expected.origin.y, expected.origin.z},
                       (double[]){actual.origin.x, actual.origin.y, actual.origin.z});
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected.turn.w, actual.turn.w);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected.turn.x, actual.turn.x);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected.turn.y, actual.turn.y);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected.turn.z, actual.turn.z);
        }
    }
}

static struct dyn_point random_point(void)
{
    const int body = (int)(0.5 * (tree_noise() + 1.0) * tree->body_count);
    return (struct dyn_point){body, {tree_noise(), tree_noise(), tree_noise()}};
}

/* The pose of a body with velocity k taken for a time h. */
static struct dyn_pose moved_pose(int body, int k, double h)
{
    double q[TREE_NV_MAX], unit[TREE_NV_MAX] = {0};
    memcpy(q, tree->q, sizeof q);
    unit[k] = 1.0;
    dyn_position_advance(tree->model, unit, h, q);
    return dyn_body_pose(tree->model, q, body);
}

/* Column k of J: the turning, from the quaternion between two poses, and the way of the point. */
static void difference_column(const struct dyn_point *point, int k, double column[6])
{
    const double h = 1e-5;
    const struct dyn_pose from = moved_pose(point->body, k, -h), to = moved_pose(point->body, k, h);
    const struct dyn_quat turn = dyn_quat_mul(to.turn, dyn_quat_conjugate(from.turn));
    const struct dyn_vec3 at = dyn_vec3_load(point->at);
    const struct dyn_vec3 way = dyn_sub(dyn_pose_point(&to, at), dyn_pose_point(&from, at));
    dyn_vec3_store(dyn_scale(1.0 / h, (struct dyn_vec3){turn.x, turn.y, turn.z}), column);
    dyn_vec3_store(dyn_scale(0.5 / h, way), column + 3);
}

static struct dyn_tree_pose *take_scene(struct tree *of, unsigned char *at)
{
    const struct dyn_state state = tree_state(of);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_tree_pose_size(of->model));
    struct dyn_tree_pose *tree_pose = dyn_tree_pose_place(of->model, at);
    dyn_tree_pose_update(of->model, &state, tree_pose);
    return tree_pose;
}

static void test_a_jacobian_is_the_motion_of_its_point(void)
{
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        random_pair(seed, &census);
        const struct dyn_tree_pose *tree_pose = take_scene(tree, mem);
        const struct dyn_point point = random_point();
        dyn_jacobian(tree->model, tree_pose, &point, got);
        for (int k = 0; k < nv(); k++) {
            double column[6];
            difference_column(&point, k, column);
            for (int r = 0; r < 6; r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-7, column[r], got[r * nv() + k]);
        }
    }
}

static void test_points_move_as_in_the_loose_tree(void)
{
    static double a[TREE_NV_MAX];
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        random_pair(seed, &census);
        const struct dyn_tree_pose *tree_pose = take_scene(tree, mem),
                                   *other = take_scene(&loose, loose_mem);
        for (int k = 0; k < nv(); k++)
            tree->a[k] = tree_noise();
        times_G(tree->a, a);
        for (int k = 0; k < 4; k++) {
            const struct dyn_point point = random_point();
            assert_vec6(1e-11, dyn_point_velocity(loose.model, other, &point),
                        dyn_point_velocity(tree->model, tree_pose, &point));
            assert_vec6(1e-11, dyn_point_acceleration(loose.model, other, &point, NULL),
                        dyn_point_acceleration(tree->model, tree_pose, &point, NULL));
            assert_vec6(1e-11, dyn_point_acceleration(loose.model, other, &point, a),
                        dyn_point_acceleration(tree->model, tree_pose, &point, tree->a));
        }
    }
}

/* J M^-1 J' with the dense truth; followers tie points together that share no joint. */
static void test_the_operational_inertia_is_that_of_the_coupled_tree(void)
{
    enum { SIDE = 6 * POINT_MAX };
    static double J[SIDE * TREE_NV_MAX], solved[TREE_NV_MAX * SIDE];
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct dyn_point points[POINT_MAX];
        random_pair(seed, &census);
        take_truth();
        const struct dyn_tree_pose *tree_pose = take_scene(tree, mem);
        for (int p = 0; p < POINT_MAX; p++) {
            points[p] = random_point();
            dyn_jacobian(tree->model, tree_pose, &points[p], J + 6 * p * nv());
        }
        for (int r = 0; r < nv(); r++) {
            memcpy(dense[r], M + r * nv(), (size_t)nv() * sizeof *M);
            for (int c = 0; c < SIDE; c++)
                solved[r * SIDE + c] = J[c * nv() + r];
        }
        dense_solve(nv(), dense, solved, SIDE);
        double scale = 1.0;
        for (int r = 0; r < SIDE; r++)
            for (int c = 0; c < SIDE; c++) {
                want[r * SIDE + c] = 0.0;
                for (int k = 0; k < nv(); k++)
                    want[r * SIDE + c] += J[r * nv() + k] * solved[k * SIDE + c];
                scale = fmax(scale, fabs(want[r * SIDE + c]));
            }
        const struct dyn_state state = tree_state(tree);
        TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem,
                                         dyn_operational_work_size(tree->model, POINT_MAX));
        struct dyn_operational_work *work = dyn_operational_work_place(tree->model, POINT_MAX, mem);
        dyn_operational_inverse(tree->model, &state, points, POINT_MAX, work, got);
        assert_all(SIDE * SIDE, 1e-9 * scale, want, got);
    }
}

/* ---- the plant ---- */

/* Nothing is lost, and nothing can fly away for good. */
static void calm(struct dyn_body_spec *spec, int i)
{
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
        spec->force_spec[k].damping = spec->force_spec[k].coulomb =
            spec->force_spec[k].limit_stiffness = 0.0;
    if (i > 0 && spec->parent < 0)
        spec->parent = 0;
    if (spec->joint == DYN_JOINT_PRISMATIC)
        spec->force_spec[0].stiffness = 20.0;
}

static void random_floating(uint64_t seed)
{
    struct census census = {0};
    setUp();
    tree_random(tree, 9, 1, seed);
    for (int i = 0; i < tree->body_count; i++)
        calm(&tree->spec[i], i);
    for (int tries = 0; tries < 100 && census.followers == 0; tries++)
        choose_followers(&census);
    tree_build(tree);
    for (int k = 0; k < nv(); k++)
        tree->v[k] = tree_noise();
    memset(tree->gravity, 0, sizeof tree->gravity);
    craft_build(&craft);
    TEST_ASSERT_GREATER_THAN_INT(0, tree->model->mimic_joint_count);
    TEST_ASSERT_EQUAL_INT(dyn_model_nq(tree->model) + nv(), craft.x_count);
}

static void test_a_floating_tree_keeps_energy_and_momentum(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_floating(seed);
        const struct dyn_monitor from = craft_monitor(&craft);
        craft_run(&craft, 2000, 0.001);
        const struct dyn_monitor to = craft_monitor(&craft);
        const double energy = from.kinetic + from.potential;
        TEST_ASSERT_DOUBLE_WITHIN(1e-7 * energy, energy, to.kinetic + to.potential);
        assert_all(3, 1e-7, from.linear_momentum, to.linear_momentum);
        assert_all(3, 1e-7, from.angular_momentum, to.angular_momentum);
    }
}

/* Behind the author's coordinates lies what is not theirs to touch. */
static void test_positions_move_in_the_coordinates_of_the_author_alone(void)
{
    enum { BEHIND = 64 };
    const double h = 0.01;
    struct census census = {0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_pair(seed, &census);
        const int nq = dyn_model_nq(tree->model);
        const struct dyn_state state = tree_state(tree);
        double rate[TREE_NV_MAX], q[TREE_NV_MAX];
        memcpy(q, tree->q, sizeof q);
        for (int k = 0; k < BEHIND; k++)
            rate[nq + k] = q[nq + k] = tree->v[nv() + k] = 7.0;
        dyn_position_rate(tree->model, &state, rate);
        dyn_position_advance(tree->model, tree->v, h, q);
        dyn_position_normalise(tree->model, q);
        for (int k = 0; k < BEHIND; k++) {
            TEST_ASSERT_EQUAL_DOUBLE(7.0, rate[nq + k]);
            TEST_ASSERT_EQUAL_DOUBLE(7.0, q[nq + k]);
        }
        for (int i = 0; i < tree->body_count; i++) {
            if (!is_one_dof(&tree->spec[i]) || tree->spec[i].mimic.on)
                continue;
            const int at = dyn_model_q_index(tree->model, i);
            const double v = tree->v[dyn_model_v_index(tree->model, i)];
            TEST_ASSERT_EQUAL_DOUBLE(v, rate[at]);
            TEST_ASSERT_EQUAL_DOUBLE(tree->q[at] + h * v, q[at]);
        }
    }
}

static void test_a_state_that_is_no_number_gives_none(void)
{
    add_disc(0.3);
    add_disc(0.7);
    follow(1, 0, 2.0, 0.0);
    tree_build(tree);
    tree->v[0] = (double)NAN;
    tree_forward(tree);
    TEST_ASSERT_TRUE(isnan(tree->a[0]));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_two_discs_turn_as_one);
    RUN_TEST(test_what_a_follower_does_by_itself_reaches_the_leader);
    RUN_TEST(test_a_light_leader_keeps_its_digits);
    RUN_TEST(test_a_gripper_pushes_its_cart_by_what_the_fingers_differ);
    RUN_TEST(test_every_algorithm_agrees_with_the_loose_tree);
    RUN_TEST(test_every_instruction_set_gives_the_same_answer);
    RUN_TEST(test_the_work_area_has_the_motion_of_the_bodies);
    RUN_TEST(test_a_held_leader_holds_its_follower);
    RUN_TEST(test_held_forces_are_those_of_inverse_dynamics);
    RUN_TEST(test_bodies_are_where_the_loose_tree_has_them);
    RUN_TEST(test_a_jacobian_is_the_motion_of_its_point);
    RUN_TEST(test_points_move_as_in_the_loose_tree);
    RUN_TEST(test_the_operational_inertia_is_that_of_the_coupled_tree);
    RUN_TEST(test_a_floating_tree_keeps_energy_and_momentum);
    RUN_TEST(test_positions_move_in_the_coordinates_of_the_author_alone);
    RUN_TEST(test_a_state_that_is_no_number_gives_none);
    return UNITY_END();
}
