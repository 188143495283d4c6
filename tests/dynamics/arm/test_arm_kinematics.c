/*
 * What an arm's computer works out, against numeric differences of where the hand is.
 *
 * The arm: six joints or seven, the upper boom bends, on a mount that sits askew on a free base;
 * and a payload that floats beside it.
 */
#include "dynamics/arm/arm_kinematics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/analysis/body_pose.h"
#include "tests/dynamics/flex/flexible.h"
#include "unity.h"

enum { BASE, MOUNT, FIRST };

static struct tree tree;
static struct flexible boom;
static struct dyn_arm arm;
static struct dyn_arm_work *work;
static int payload;
static _Alignas(64) unsigned char work_mem[1 << 18];
static double rates[DYN_ARM_JOINT_MAX], asked[6];

/* ---- the arm ---- */

static void bend(int body)
{
    do
        flexible_make(&boom, 3, DYN_FLEX_CONSISTENT, &tree.spec[body]);
    while (boom.flex.nodes < 1);
    boom.node[0].r[0] = 3.0, boom.node[0].r[1] = boom.node[0].r[2] = 0.0;
}

static void add_joints(int spare)
{
    static const struct {
        double ax, ay, az, x;
    } joint[] = {{0, 0, 1, 0},   {0, 1, 0, 0.4}, {1, 0, 0, 0.0}, {0, 1, 0, 3.4},
                 {0, 1, 0, 7.1}, {0, 0, 1, 0.5}, {1, 0, 0, 0.8}};
    for (int i = 0, parent = MOUNT; i < 7; i++) {
        if (i == 2 && !spare)
            continue;
        const int body =
            tree_add(&tree, parent, DYN_JOINT_REVOLUTE, joint[i].ax, joint[i].ay, joint[i].az);
        const int on_boom = tree.spec[parent].flex != NULL;
        tree.spec[body].node = on_boom;
        tree.spec[body].place_xyz[0] = joint[i].x;
        if (i == 1)
            bend(body);
        arm.q_at[arm.resolve.joints++] = body; /* for now */
        parent = body;
    }
}

static void make(int spare)
{
    arm = (struct dyn_arm){.base = MOUNT,
                           .grip = {dyn_quat_exp((struct dyn_vec3){0.3, -0.8, 0.5}), {0.6, 0.1, 0}},
                           .resolve = {.length = 7.0, .damped_below = 0.6, .damping = 0.5}};
    tree_noise_seed(7);
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_add(&tree, BASE, DYN_JOINT_FIXED, 0, 0, 0);
    dyn_quat_store(dyn_quat_exp((struct dyn_vec3){-0.4, 0.9, 1.3}), tree.spec[MOUNT].place_quat);
    tree.spec[MOUNT].place_xyz[1] = 2.5;
    add_joints(spare);
    arm.hand = tree.body_count - 1;
    payload = tree_add(&tree, BASE, DYN_JOINT_FREE, 0, 0, 0);
    tree.spec[payload].place_xyz[2] = 0.7;
    tree_build(&tree);
    arm.model = tree.model;
    for (int n = 0; n < arm.resolve.joints; n++) {
        const int body = arm.q_at[n];
        arm.q_at[n] = dyn_model_q_index(tree.model, body);
        arm.v_at[n] = dyn_model_v_index(tree.model, body);
        arm.resolve.braking[n] = 0.1;
    }
    TEST_ASSERT_TRUE(dyn_arm_work_size(tree.model) <= sizeof work_mem);
    work = dyn_arm_work_place(tree.model, work_mem);
}

void setUp(void)
{
    make(0);
}

void tearDown(void)
{
}

/* ---- states ---- */

static const double bent[7] = {0.4, -0.7, 1.1, -0.5, 0.6, 0.3, 0.2};

static void put_angles(const double *angles)
{
    for (int n = 0; n < arm.resolve.joints; n++)
        tree.q[arm.q_at[n]] = angles[n];
}

/* Everything that the arm's computer does not look at. */
static void disturb(void)
{
    double angles[DYN_ARM_JOINT_MAX];
    for (int n = 0; n < arm.resolve.joints; n++)
        angles[n] = tree.q[arm.q_at[n]];
    tree_random_state(&tree);
    for (int p = 0; p < 3; p++)
        tree.q[dyn_model_eta_index(tree.model, FIRST + 1) + p] *= 0.1;
    put_angles(angles);
}

static void some_angles(double *angles)
{
    for (int n = 0; n < arm.resolve.joints; n++)
        angles[n] = 1.5 * tree_noise();
}

static struct dyn_pose some_pose(void)
{
    const struct dyn_vec3 turn = {tree_noise(), tree_noise(), tree_noise()};
    return (struct dyn_pose){dyn_quat_exp(turn), {tree_noise(), tree_noise(), tree_noise()}};
}

/* q after a moment of the tree's v. */
static void after(double dt, double *q)
{
    memcpy(q, tree.q, sizeof tree.q);
    for (int i = 0; i < tree.body_count; i++) {
        double *at = q + dyn_model_q_index(tree.model, i);
        const double *v = tree.v + dyn_model_v_index(tree.model, i);
        if (tree.spec[i].joint == DYN_JOINT_FREE) {
            const struct dyn_quat turn = dyn_quat_load(at + 3);
            const struct dyn_vec3 way = dyn_quat_rotate(turn, dyn_vec3_load(v + 3));
            dyn_vec3_store(dyn_add(dyn_vec3_load(at), dyn_scale(dt, way)), at);
            const struct dyn_quat more = dyn_quat_exp(dyn_scale(dt, dyn_vec3_load(v)));
            dyn_quat_store(dyn_quat_mul(turn, more), at + 3);
        } else if (tree.spec[i].joint == DYN_JOINT_REVOLUTE) {
            at[0] += dt * v[0];
        }
        for (int p = 0; p < dyn_model_modes(tree.model, i); p++)
            q[dyn_model_eta_index(tree.model, i) + p] +=
                dt * tree.v[dyn_model_xi_index(tree.model, i) + p];
    }
}

static struct dyn_pose between(const double *q, int base, const struct dyn_pose *of)
{
    const struct dyn_pose from = dyn_body_pose(tree.model, q, base);
    const struct dyn_pose body = dyn_body_pose(tree.model, q, arm.hand);
    const struct dyn_pose hand = dyn_pose_mul(&body, &arm.grip);
    const struct dyn_pose to = dyn_pose_mul(&hand, of);
    return dyn_pose_between(&from, &to);
}

/* The twist that leads from one pose to another, in the axes in which they are given. */
static void twist_of(const struct dyn_pose *a, const struct dyn_pose *b, double dt, double twist[6])
{
    const struct dyn_quat more =
        dyn_quat_mul(dyn_quat_unit(b->turn), dyn_quat_conjugate(dyn_quat_unit(a->turn)));
    const double sign = more.w < 0.0 ? -1.0 : 1.0;
    twist[0] = sign * 2.0 * more.x / dt;
    twist[1] = sign * 2.0 * more.y / dt;
    twist[2] = sign * 2.0 * more.z / dt;
    dyn_vec3_store(dyn_scale(1.0 / dt, dyn_sub(b->origin, a->origin)), twist + 3);
}

static const struct dyn_pose hand_itself = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

/* What the rates do to the tool of an arm that does not bend. */
static void moved_by_rates(const struct dyn_pose *tool, double twist[6])
{
    static double q[2][TREE_NV_MAX];
    const double dt = 1e-5;
    struct dyn_pose pose[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < tree.body_count; i++)
            dyn_joint_zero(&tree.spec[i], q[k] + dyn_model_q_index(tree.model, i));
        for (int p = 0; p < 3; p++)
            q[k][dyn_model_eta_index(tree.model, FIRST + 1) + p] = 0.0;
        for (int n = 0; n < arm.resolve.joints; n++)
            q[k][arm.q_at[n]] = tree.q[arm.q_at[n]] + (k ? dt : -dt) * rates[n];
        pose[k] = between(q[k], arm.base, tool);
    }
    twist_of(&pose[0], &pose[1], 2.0 * dt, twist);
}

/* ---- resolved rates ---- */

static void expect_twist(const double want[6], const double got[6], double tolerance)
{
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(tolerance, want[i], got[i]);
}

static void expect_resolved(const struct dyn_pose *tool, int in_tool_axes, const double twist[6])
{
    double want[6], got[6];
    const unsigned flags =
        dyn_arm_resolved_rate(&arm, tree.q, tool, in_tool_axes, twist, work, asked, rates);
    TEST_ASSERT_EQUAL_UINT(0, flags);
    memcpy(want, twist, sizeof want);
    if (in_tool_axes) {
        static double q[TREE_NV_MAX];
        memcpy(q, tree.q, sizeof q);
        for (int p = 0; p < 3; p++)
            q[dyn_model_eta_index(tree.model, FIRST + 1) + p] = 0.0;
        const struct dyn_quat turn = between(q, arm.base, tool).turn;
        dyn_vec3_store(dyn_quat_rotate(turn, dyn_vec3_load(twist)), want);
        dyn_vec3_store(dyn_quat_rotate(turn, dyn_vec3_load(twist + 3)), want + 3);
    }
    expect_twist(want, asked, 1e-12);
    moved_by_rates(tool, got);
    expect_twist(want, got, 1e-8);
}

static void test_the_tool_does_what_is_asked_for(void)
{
    int tried = 0;
    for (int k = 0; k < 400; k++) {
        double angles[DYN_ARM_JOINT_MAX], twist[6];
        some_angles(angles);
        put_angles(angles);
        disturb();
        for (int i = 0; i < 6; i++)
            twist[i] = (i < 3 ? 0.05 : 0.3) * tree_noise();
        const struct dyn_pose tool = k % 2 ? some_pose() : hand_itself;
        if (dyn_arm_resolved_rate(&arm, tree.q, &tool, 1, twist, work, asked, rates) != 0)
            continue; /* near a singular pose */
        tried++;
        expect_resolved(&tool, 1, twist);
        expect_resolved(&tool, 0, twist);
    }
    TEST_ASSERT_TRUE(tried > 100);
}

/* About the payload's origin: that stands, the hand goes round it. */
static void test_a_payload_turns_about_its_own_origin(void)
{
    const struct dyn_pose tool = {dyn_quat_exp((struct dyn_vec3){0.2, 0.1, -0.4}), {2.0, 0.5, -1}};
    const double twist[6] = {0.0, 0.03, 0.0, 0.0, 0.0, 0.0};
    double at_tool[6], at_hand[6];
    put_angles(bent);
    (void)dyn_arm_resolved_rate(&arm, tree.q, &tool, 1, twist, work, asked, rates);
    moved_by_rates(&tool, at_tool);
    moved_by_rates(&hand_itself, at_hand);
    for (int i = 3; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, at_tool[i]);
    TEST_ASSERT_TRUE(dyn_norm(dyn_vec3_load(at_hand + 3)) > 0.02);
}

static void test_the_computer_does_not_know_what_bends_or_where_the_base_is(void)
{
    const double twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    double plain[DYN_ARM_JOINT_MAX], plain_asked[6];
    put_angles(bent);
    (void)dyn_arm_resolved_rate(&arm, tree.q, &hand_itself, 0, twist, work, plain_asked, plain);
    for (int k = 0; k < 10; k++) {
        disturb();
        (void)dyn_arm_resolved_rate(&arm, tree.q, &hand_itself, 0, twist, work, asked, rates);
        TEST_ASSERT_EQUAL_MEMORY(plain, rates, 6 * sizeof *rates);
        TEST_ASSERT_EQUAL_MEMORY(plain_asked, asked, sizeof asked);
    }
}

/* Largest change of a rate between two looks on a straight way through the joints. */
static double largest_jump(const double *from, const double *to, int steps, unsigned *seen)
{
    const double twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    double before[DYN_ARM_JOINT_MAX] = {0}, angles[DYN_ARM_JOINT_MAX], jump = 0.0;
    for (int k = 0; k <= steps; k++) {
        for (int n = 0; n < arm.resolve.joints; n++)
            angles[n] = from[n] + (to[n] - from[n]) * k / steps;
        put_angles(angles);
        *seen |= dyn_arm_resolved_rate(&arm, tree.q, &hand_itself, 1, twist, work, asked, rates);
        for (int n = 0; n < arm.resolve.joints; n++) {
            if (k > 0)
                jump = fmax(jump, fabs(rates[n] - before[n]));
            before[n] = rates[n];
        }
    }
    return jump;
}

/* Through a stretched elbow, a stretched wrist, both at once, and anything. */
static void test_no_rate_jumps_through_singular_poses(void)
{
    for (int n = 0; n < 6; n++)
        arm.resolve.rate_max[n] = 0.08;
    unsigned seen = 0;
    for (int k = 0; k < 40; k++) {
        double from[DYN_ARM_JOINT_MAX], to[DYN_ARM_JOINT_MAX];
        some_angles(from);
        some_angles(to);
        if (k % 4 == 0)
            to[2] = -from[2]; /* the elbow, half way */
        if (k % 4 == 1)
            to[4] = -from[4]; /* the wrist */
        for (int n = 0; n < 6 && k % 4 == 2; n++)
            to[n] = -from[n]; /* all of it, at once */
        const double coarse = largest_jump(from, to, 2000, &seen);
        const double fine = largest_jump(from, to, 8000, &seen);
        TEST_ASSERT_TRUE_MESSAGE(fine < 0.4 * coarse, "a step cannot be refined away");
    }
    TEST_ASSERT_TRUE(seen & DYN_RESOLVED_RATE_SINGULAR);
    TEST_ASSERT_TRUE(seen & DYN_RESOLVED_RATE_SLOWED);
}

/* ---- a spare joint ---- */

static double from_middle(void)
{
    double sum = 0.0;
    for (int n = 0; n < 7; n++)
        sum += tree.q[arm.q_at[n]] * tree.q[arm.q_at[n]];
    return sum;
}

static void test_a_spare_joint_goes_to_the_middle_and_the_hand_stands(void)
{
    static const double rest[6];
    make(1);
    arm.resolve.center_gain = 0.2;
    for (int n = 0; n < 7; n++)
        arm.resolve.lower[n] = -3.0, arm.resolve.upper[n] = 3.0;
    put_angles(bent);
    const struct dyn_pose before = between(tree.q, arm.base, &hand_itself);
    const double far = from_middle();
    double least = far;
    for (int k = 0; k < 20000; k++) {
        (void)dyn_arm_resolved_rate(&arm, tree.q, &hand_itself, 1, rest, work, asked, rates);
        for (int n = 0; n < 7; n++)
            tree.q[arm.q_at[n]] += 1e-3 * rates[n];
        TEST_ASSERT_TRUE(from_middle() <= least * (1.0 + 1e-9));
        least = from_middle();
    }
    const struct dyn_pose now = between(tree.q, arm.base, &hand_itself);
    TEST_ASSERT_TRUE(least < far - 0.05);
    TEST_ASSERT_TRUE(dyn_norm(dyn_sub(now.origin, before.origin)) < 1e-3);
}

/* Also where a direction is about to be lost. */
static void test_a_spare_joint_does_not_push_the_hand_near_a_singular_pose(void)
{
    static const double rest[6];
    make(1);
    arm.resolve.center_gain = 0.2;
    for (int n = 0; n < 7; n++)
        arm.resolve.lower[n] = -3.0, arm.resolve.upper[n] = 3.0;
    double worst = 0.0, twist[6], angles[7];
    memcpy(angles, bent, sizeof angles);
    for (int k = 0; k <= 1000; k++) {
        angles[3] = 0.5 - 1e-3 * k; /* the elbow stretches */
        put_angles(angles);
        (void)dyn_arm_resolved_rate(&arm, tree.q, &hand_itself, 1, rest, work, asked, rates);
        moved_by_rates(&hand_itself, twist);
        worst = fmax(worst, dyn_norm(dyn_vec3_load(twist + 3)));
    }
    printf("hand at rest near a singular pose: %.1e m/s\n", worst);
    TEST_ASSERT_TRUE(worst < 1e-3);
}

/* ---- one joint, and a stored pose ---- */

static void test_a_single_joint_moves_alone_and_within_its_limits(void)
{
    put_angles(bent);
    for (int n = 0; n < 6; n++)
        arm.resolve.rate_max[n] = 0.1, arm.resolve.lower[n] = -1.2, arm.resolve.upper[n] = 1.2;
    for (int joint = 0; joint < 6; joint++) {
        TEST_ASSERT_EQUAL_UINT(0, dyn_arm_single_joint(&arm, tree.q, joint, -0.07, rates));
        for (int n = 0; n < 6; n++)
            TEST_ASSERT_EQUAL_DOUBLE(n == joint ? -0.07 : 0.0, rates[n]);
    }
    TEST_ASSERT_EQUAL_UINT(DYN_RESOLVED_RATE_SLOWED,
                           dyn_arm_single_joint(&arm, tree.q, 1, 5.0, rates));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.1, rates[1]);
    tree.q[arm.q_at[1]] = 1.2 - 1e-3; /* it brakes with 0.1 rad/s^2 */
    TEST_ASSERT_EQUAL_UINT(DYN_RESOLVED_RATE_LIMIT,
                           dyn_arm_single_joint(&arm, tree.q, 1, 0.1, rates));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, sqrt(2.0 * 0.1 * 1e-3), rates[1]);
    tree.q[arm.q_at[1]] = 1.3; /* outside: only back */
    TEST_ASSERT_EQUAL_UINT(DYN_RESOLVED_RATE_LIMIT,
                           dyn_arm_single_joint(&arm, tree.q, 1, 0.1, rates));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, rates[1]);
    TEST_ASSERT_EQUAL_UINT(0, dyn_arm_single_joint(&arm, tree.q, 1, -0.1, rates));
    TEST_ASSERT_EQUAL_DOUBLE(-0.1, rates[1]);
}

/* All joints arrive together, none is too fast or brakes too hard, and there they stand. */
static void test_an_approach_is_a_straight_line_that_ends_at_rest(void)
{
    const double dt = 1e-3, pose[6] = {-0.5, 0.3, -0.8, -0.45, -0.3, 1.9};
    double far, angles[6], before[6], start[6], time = 0.0;
    for (int n = 0; n < 6; n++)
        arm.resolve.rate_max[n] = 0.05 + 0.01 * n, arm.resolve.braking[n] = 0.02 + 0.005 * n;
    memcpy(angles, bent, sizeof angles);
    for (int n = 0; n < 6; n++)
        start[n] = bent[n] - pose[n];
    (void)dyn_arm_rates_to_pose(&arm, angles, pose, rates, &far);
    for (; far > 1e-7 && time < 200.0; time += dt) {
        memcpy(before, rates, sizeof before);
        TEST_ASSERT_EQUAL_UINT(0, dyn_arm_rates_to_pose(&arm, angles, pose, rates, &far));
        for (int n = 0; n < 6; n++) {
            const double left = angles[n] - pose[n];
            TEST_ASSERT_TRUE(fabs(rates[n]) <= arm.resolve.rate_max[n] * (1.0 + 1e-12));
            TEST_ASSERT_TRUE(fabs(rates[n] - before[n]) <= arm.resolve.braking[n] * dt * 1.01);
            TEST_ASSERT_TRUE(fabs(left) <= far);
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, left / start[n], (angles[5] - pose[5]) / start[5]);
            angles[n] += dt * rates[n];
        }
    }
    TEST_ASSERT_TRUE(time < 1.7 / 0.1 + 20.0); /* at the pace of the slowest, not slower */
    TEST_ASSERT_EQUAL_UINT(0, dyn_arm_rates_to_pose(&arm, pose, pose, rates, &far));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, far);
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_EQUAL_DOUBLE(0.0, rates[n]);
}

/* ---- weight ---- */

static void give_laws(double lower, double upper)
{
    for (int i = FIRST; i <= arm.hand; i++) {
        struct dyn_joint_force_spec *force_spec = &tree.spec[i].force_spec[0];
        force_spec->stiffness = 300.0, force_spec->rest = 0.3;
        force_spec->lower = lower, force_spec->upper = upper, force_spec->limit_stiffness = 5000.0;
    }
    tree_build(&tree);
    arm.model = tree.model;
    work = dyn_arm_work_place(tree.model, work_mem);
}

/* Or the servos would push a joint on into its stop. */
static void test_springs_and_stops_are_no_weight(void)
{
    static const double none[3], down[3] = {1.0, -3.0, 9.0};
    double bare[DYN_ARM_JOINT_MAX], with[DYN_ARM_JOINT_MAX], most = 0.0;
    put_angles(bent);
    dyn_arm_gravity_torques(&arm, tree.q, down, work, bare);
    give_laws(-1.0, 0.1); /* most angles are beyond one of them */
    put_angles(bent);
    dyn_arm_gravity_torques(&arm, tree.q, down, work, with);
    for (int n = 0; n < arm.resolve.joints; n++) {
        TEST_ASSERT_EQUAL_DOUBLE(bare[n], with[n]);
        most = fmax(most, fabs(bare[n]));
    }
    TEST_ASSERT_TRUE(most > 1.0);
    dyn_arm_gravity_torques(&arm, tree.q, none, work, with);
    for (int n = 0; n < arm.resolve.joints; n++)
        TEST_ASSERT_EQUAL_DOUBLE(0.0, with[n]);
}

/* ---- where the hand is ---- */

static void test_the_motion_of_the_hand_is_that_of_its_pose(void)
{
    static double q[2][TREE_NV_MAX];
    const double dt = 1e-6;
    for (int k = 0; k < 100; k++) {
        double angles[DYN_ARM_JOINT_MAX], twist[6], want[6];
        some_angles(angles);
        put_angles(angles);
        disturb();
        struct dyn_pose pose, at[2];
        dyn_arm_hand_motion(&arm, &(struct dyn_state){tree.q, tree.v}, work, &pose, twist);
        const struct dyn_pose here = between(tree.q, arm.base, &hand_itself);
        TEST_ASSERT_TRUE(dyn_norm(dyn_sub(here.origin, pose.origin)) < 1e-12);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0,
                                  fabs(here.turn.w * pose.turn.w + here.turn.x * pose.turn.x +
                                       here.turn.y * pose.turn.y + here.turn.z * pose.turn.z));
        for (int i = 0; i < 2; i++) {
            after(i ? dt : -dt, q[i]);
            at[i] = between(q[i], arm.base, &hand_itself);
        }
        twist_of(&at[0], &at[1], 2.0 * dt, want);
        expect_twist(want, twist, 1e-6);
    }
}

static void test_the_angle_of_a_turn_is_how_far_it_goes(void)
{
    for (int k = 0; k < 100; k++) {
        const struct dyn_vec3 axis = {tree_noise(), tree_noise(), tree_noise()};
        const double angle = 0.0314 * k;
        const struct dyn_quat q = dyn_quat_exp(dyn_scale(angle / dyn_norm(axis), axis));
        const struct dyn_quat same = {-3 * q.w, -3 * q.x, -3 * q.y, -3 * q.z};
        TEST_ASSERT_DOUBLE_WITHIN(4e-15, angle, dyn_turn_angle(q));
        TEST_ASSERT_DOUBLE_WITHIN(4e-15, angle, dyn_turn_angle(same));
    }
}

/* Distance and angle by a payload put there; speed as that of the hand in the payload's frame. */
static void test_the_gap_to_a_fixture_is_distance_angle_and_speed(void)
{
    static double q[2][TREE_NV_MAX];
    const double dt = 1e-6;
    for (int k = 0; k < 100; k++) {
        double angles[DYN_ARM_JOINT_MAX];
        some_angles(angles);
        put_angles(angles);
        disturb();
        const struct dyn_pose fixture = some_pose(), off = some_pose();
        const struct dyn_pose tool = k % 2 ? some_pose() : hand_itself;
        const struct dyn_pose world = dyn_body_pose(tree.model, tree.q, arm.hand);
        const struct dyn_pose hand = dyn_pose_mul(&world, &arm.grip);
        const struct dyn_pose from = dyn_pose_mul(&hand, &tool), target = dyn_pose_mul(&from, &off);
        const struct dyn_pose back = dyn_pose_between(&fixture, &hand_itself);
        const struct dyn_pose body = dyn_pose_mul(&target, &back);
        double *free_q = tree.q + dyn_model_q_index(tree.model, payload);
        const double none[7] = {0, 0, 0, 1, 0, 0, 0};
        memcpy(free_q, none, sizeof none);
        const struct dyn_pose parent_pose = dyn_body_pose(tree.model, tree.q, payload);
        const struct dyn_pose joint = dyn_pose_between(&parent_pose, &body);
        dyn_vec3_store(joint.origin, free_q);
        dyn_quat_store(dyn_quat_unit(joint.turn), free_q + 3);

        dyn_arm_update(&arm, &(struct dyn_state){tree.q, tree.v}, work);
        const struct dyn_tool_gap gap =
            dyn_arm_gap(&arm, &(struct dyn_state){tree.q, tree.v}, &tool, payload, &fixture, work);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, dyn_norm(off.origin), gap.reach);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2.0 * acos(fmin(1.0, fabs(off.turn.w))), gap.tilt);
        struct dyn_pose at[2];
        for (int i = 0; i < 2; i++) {
            after(i ? dt : -dt, q[i]);
            at[i] = between(q[i], payload, &tool);
        }
        const struct dyn_vec3 way = dyn_sub(at[1].origin, at[0].origin);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, dyn_norm(way) / (2.0 * dt), gap.closing);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_tool_does_what_is_asked_for);
    RUN_TEST(test_a_payload_turns_about_its_own_origin);
    RUN_TEST(test_the_computer_does_not_know_what_bends_or_where_the_base_is);
    RUN_TEST(test_no_rate_jumps_through_singular_poses);
    RUN_TEST(test_a_spare_joint_goes_to_the_middle_and_the_hand_stands);
    RUN_TEST(test_a_spare_joint_does_not_push_the_hand_near_a_singular_pose);
    RUN_TEST(test_a_single_joint_moves_alone_and_within_its_limits);
    RUN_TEST(test_an_approach_is_a_straight_line_that_ends_at_rest);
    RUN_TEST(test_springs_and_stops_are_no_weight);
    RUN_TEST(test_the_motion_of_the_hand_is_that_of_its_pose);
    RUN_TEST(test_the_angle_of_a_turn_is_how_far_it_goes);
    RUN_TEST(test_the_gap_to_a_fixture_is_distance_angle_and_speed);
    return UNITY_END();
}
