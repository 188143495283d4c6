/*
 * Resolved rates of an arm like the Shuttle's, by its own Jacobian: what is asked for is done where
 * it can be, and nothing jumps where it cannot.
 */
#include "dynamics/arm/resolved_rate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/analysis/jacobian.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

static struct tree tree;
static struct dyn_resolved_rate_spec arm;
static _Alignas(64) unsigned char scene_mem[1 << 16];
static double J[6 * DYN_ARM_JOINT_MAX];
static double rates[DYN_ARM_JOINT_MAX];

/* Shoulder yaw and pitch, elbow pitch, wrist pitch, yaw, roll; with `spare` a turn more in the
 * upper boom. */
static void make(int spare)
{
    static const struct {
        double ax, ay, az, x;
    } joint[] = {{0, 0, 1, 0},   {0, 1, 0, 0.4}, {1, 0, 0, 3.0}, {0, 1, 0, 3.4},
                 {0, 1, 0, 7.1}, {0, 0, 1, 0.5}, {1, 0, 0, 0.8}};
    tree_begin(&tree);
    for (int i = 0, parent = -1; i < 7; i++) {
        if (i == 2 && !spare)
            continue;
        const int body =
            tree_add(&tree, parent, DYN_JOINT_REVOLUTE, joint[i].ax, joint[i].ay, joint[i].az);
        tree.spec[body].place_xyz[0] = joint[i].x + (i == 3 && !spare ? 3.0 : 0.0);
        parent = body;
    }
    tree_build(&tree);
    arm = (struct dyn_resolved_rate_spec){
        .joints = tree.body_count, .length = 7.0, .damped_below = 0.6, .damping = 0.5};
}

static void take(const double *q)
{
    memcpy(tree.q, q, (size_t)arm.joints * sizeof *q);
    struct dyn_tree_pose *tree_pose = dyn_tree_pose_place(tree.model, scene_mem);
    dyn_tree_pose_update(tree.model, &(struct dyn_state){tree.q, tree.v}, tree_pose);
    dyn_jacobian(tree.model, tree_pose, &(struct dyn_point){.body = arm.joints - 1, .at = {0.6}},
                 J);
}

static double hand_of(int i)
{
    double sum = 0.0;
    for (int n = 0; n < arm.joints; n++)
        sum += J[i * arm.joints + n] * rates[n];
    return sum;
}

void setUp(void)
{
    make(0);
}

void tearDown(void)
{
}

static const double bent[7] = {0.4, -0.7, 1.1, -0.5, 0.6, 0.3, 0.2};

static void test_the_hand_does_what_is_asked_for(void)
{
    const double twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    take(bent);
    TEST_ASSERT_EQUAL_UINT(0, dyn_resolved_rate(&arm, J, twist, bent, rates));
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, twist[i], hand_of(i));
}

/* What lies behind the last joint's rate is not the arm's. */
static void test_only_the_joints_get_rates(void)
{
    const double twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    double q[8] = {0.4, -0.7, 1.1, -0.5, 0.6, 0.3, 0.2, 0.1};
    for (int spare = 0; spare < 2; spare++) {
        make(spare);
        take(q);
        arm.joints = tree.body_count;
        rates[arm.joints] = 77.0;
        dyn_resolved_rate(&arm, J, twist, q, rates);
        dyn_resolved_rate_limit(&arm, q, rates);
        TEST_ASSERT_EQUAL_DOUBLE(77.0, rates[arm.joints]);
    }
}

static void test_a_spare_joint_does_not_move_the_hand(void)
{
    const double twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    make(1);
    take(bent);
    (void)dyn_resolved_rate(&arm, J, twist, bent, rates);
    double plain[7], pull = 0.0;
    memcpy(plain, rates, sizeof plain);
    arm.center_gain = 0.5;
    for (int n = 0; n < 7; n++)
        arm.lower[n] = -3.0, arm.upper[n] = 3.0, arm.braking[n] = 1.0;
    TEST_ASSERT_EQUAL_UINT(0, dyn_resolved_rate(&arm, J, twist, bent, rates));
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, twist[i], hand_of(i));
    for (int n = 0; n < 7; n++)
        pull += (rates[n] - plain[n]) * -bent[n]; /* towards the middle, which is zero */
    TEST_ASSERT_TRUE(pull > 1e-3);
}

/* All twists in all poses, for some weak and damping: no joint is faster than resolve.h says. */
static void test_rates_are_bounded_as_the_law_says(void)
{
    tree_noise_seed(3);
    double worst = 0.0;
    for (int k = 0; k < 20000; k++) {
        double q[6], twist[6], size = 0.0, fast = 0.0;
        arm.damped_below = 0.1 + 0.2 * (k % 11), arm.damping = 0.1 + 0.15 * (k % 7);
        for (int n = 0; n < 6; n++) {
            q[n] = 0.3 * tree_noise();
            twist[n] = tree_noise() / (n < 3 ? arm.length : 1.0);
            size += (n < 3 ? arm.length * arm.length : 1.0) * twist[n] * twist[n];
        }
        take(q);
        (void)dyn_resolved_rate(&arm, J, twist, q, rates);
        for (int n = 0; n < 6; n++)
            fast += rates[n] * rates[n];
        worst = fmax(worst, sqrt(fast / size) * fmin(arm.damped_below, 2.0 * arm.damping));
    }
    printf("fastest: %.3f |V| / min(weak, 2 damping)\n", worst);
    TEST_ASSERT_TRUE(worst < 1.3);
    TEST_ASSERT_TRUE(worst > 0.9); /* or they were not near */
}

/* The hand comes first: what the joints would rather do takes the rates and limits that are left.
 */
/* The least damping that a scenario may ask for, in poses that have lost directions altogether. */
static void test_little_damping_gives_no_infinite_rates(void)
{
    static const double straight[7], twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    for (int spare = 0; spare < 2; spare++) {
        make(spare);
        arm.damped_below = arm.damping = 1e-4;
        arm.center_gain = 0.5;
        for (int n = 0; n < arm.joints; n++)
            arm.lower[n] = -3.0, arm.upper[n] = 2.0, arm.braking[n] = 1.0, arm.rate_max[n] = 0.1;
        for (int lost = 0; lost < 2; lost++) {
            take(straight);
            if (lost)
                memset(J, 0, sizeof J);
            TEST_ASSERT_TRUE(dyn_resolved_rate(&arm, J, twist, straight, rates) &
                             DYN_RESOLVED_RATE_SINGULAR);
            for (int n = 0; n < arm.joints; n++)
                TEST_ASSERT_TRUE(fabs(rates[n]) <= 0.1 * (1.0 + 1e-12));
        }
    }
}

static void test_a_spare_joint_neither_slows_nor_stops_the_hand(void)
{
    const double twist[6] = {0.01, -0.02, 0.015, 0.3, -0.2, 0.1};
    double plain[7], fast = 0.0;
    make(1);
    for (int n = 0; n < 7; n++)
        arm.lower[n] = -3.0, arm.upper[n] = 3.0, arm.braking[n] = 1.0;
    take(bent);
    TEST_ASSERT_EQUAL_UINT(0, dyn_resolved_rate(&arm, J, twist, bent, plain));
    for (int n = 0; n < 7; n++)
        fast = fmax(fast, fabs(plain[n]));
    for (int n = 0; n < 7; n++)
        arm.rate_max[n] = 1.1 * fast;
    arm.center_gain = 10.0;
    TEST_ASSERT_EQUAL_UINT(0, dyn_resolved_rate(&arm, J, twist, bent, rates));
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, twist[i], hand_of(i));
    double most = 0.0;
    for (int n = 0; n < 7; n++)
        most = fmax(most, fabs(rates[n]));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.1 * fast, most); /* all that is left */

    for (int joint = 0; joint < 7; joint++) { /* one of them stands at its limit, either one */
        for (int n = 0; n < 7; n++)
            arm.lower[n] = -3.0, arm.upper[n] = 3.0;
        *(plain[joint] > 0.0 ? &arm.lower[joint] : &arm.upper[joint]) = bent[joint];
        TEST_ASSERT_EQUAL_UINT(0, dyn_resolved_rate(&arm, J, twist, bent, rates));
        for (int i = 0; i < 6; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, twist[i], hand_of(i));
        TEST_ASSERT_TRUE(rates[joint] * plain[joint] > -1e-15); /* it does not go there */
    }
}

/* Straight through the stretched elbow: rates are bounded, and change as little as the pose. */
static void test_a_singularity_is_passed_without_a_jump(void)
{
    const double twist[6] = {0, 0, 0, 0.3, 0, 0};
    double q[7], before[7] = {0}, largest = 0.0, step = 0.0;
    int damped = 0;
    memcpy(q, bent, sizeof q);
    for (int k = 0; k <= 20000; k++) {
        q[2] = 1.0 - 1e-4 * k;
        take(q);
        const unsigned flags = dyn_resolved_rate(&arm, J, twist, q, rates);
        damped += (flags & DYN_RESOLVED_RATE_SINGULAR) != 0;
        for (int n = 0; n < 6; n++) {
            largest = fmax(largest, fabs(rates[n]));
            if (k > 0)
                step = fmax(step, fabs(rates[n] - before[n]));
            before[n] = rates[n];
        }
    }
    TEST_ASSERT_TRUE(damped > 100 && damped < 20000);
    TEST_ASSERT_TRUE(largest <= 1.3 * 0.3 / fmin(arm.damped_below, 2 * arm.damping));
    TEST_ASSERT_TRUE(step < 1e-3); /* of rates of the order of 0.1, for 1e-4 of a turn */
}

static void test_full_reach_gives_no_motion_outward_and_says_so(void)
{
    const double q[6] = {0}, twist[6] = {0, 0, 0, 0.3, 0, 0};
    take(q);
    TEST_ASSERT_TRUE(dyn_resolved_rate(&arm, J, twist, q, rates) & DYN_RESOLVED_RATE_SINGULAR);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, hand_of(3));
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_TRUE(isfinite(rates[n]) && fabs(rates[n]) < 1e-9);
}

static void test_a_fast_hand_keeps_its_direction(void)
{
    const double twist[6] = {0, 0, 0, 30, -20, 10};
    take(bent);
    for (int n = 0; n < 6; n++)
        arm.rate_max[n] = 0.1;
    TEST_ASSERT_EQUAL_UINT(DYN_RESOLVED_RATE_SLOWED,
                           dyn_resolved_rate(&arm, J, twist, bent, rates));
    double fastest = 0.0;
    for (int n = 0; n < 6; n++)
        fastest = fmax(fastest, fabs(rates[n]));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.1, fastest);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, hand_of(3) * -20, hand_of(4) * 30);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, hand_of(3) * 10, hand_of(5) * 30);
    TEST_ASSERT_TRUE(hand_of(3) > 0.0);
}

/* Driven on and on, a joint stops at its limit and not behind it. */
static void test_a_joint_stops_before_its_limit(void)
{
    const double twist[6] = {0, 0, 0, 0, 0.3, 0};
    double q[7];
    memcpy(q, bent, sizeof q);
    for (int n = 0; n < 6; n++)
        arm.lower[n] = -0.9, arm.upper[n] = 1.2, arm.braking[n] = 0.1;
    unsigned seen = 0;
    for (int k = 0; k < 80000; k++) {
        take(q);
        seen |= dyn_resolved_rate(&arm, J, twist, q, rates);
        for (int n = 0; n < 6; n++) {
            q[n] += 1e-3 * rates[n];
            TEST_ASSERT_TRUE(q[n] > -0.9 - 1e-6 && q[n] < 1.2 + 1e-6);
        }
    }
    TEST_ASSERT_TRUE(seen & DYN_RESOLVED_RATE_LIMIT);
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.0, rates[n]);
}

static void test_what_stands_at_its_limit_does_not_stop_the_others(void)
{
    double q[6] = {0}, some[6] = {0.1, 1e-17, -1e-18, 0.0, 0.05, 0.0};
    for (int n = 0; n < 6; n++)
        arm.lower[n] = -1.0, arm.upper[n] = 1.0, arm.braking[n] = 0.1;
    q[1] = 1.0, q[2] = -1.0 - 1e-9;
    TEST_ASSERT_EQUAL_UINT(0, dyn_resolved_rate_limit(&arm, q, some));
    TEST_ASSERT_EQUAL_DOUBLE(0.1, some[0]);
    some[1] = 1e-6;
    TEST_ASSERT_EQUAL_UINT(DYN_RESOLVED_RATE_LIMIT, dyn_resolved_rate_limit(&arm, q, some));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, some[0]);
}

/* Far from its limits a joint that is asked too much is too fast, and no more. */
static void test_too_fast_is_not_too_far(void)
{
    double some[6] = {5.0, 0, 0, 0, 0, 0};
    const double q[6] = {0};
    for (int n = 0; n < 6; n++)
        arm.lower[n] = -1.0, arm.upper[n] = 1.0, arm.braking[n] = 0.1, arm.rate_max[n] = 0.05;
    TEST_ASSERT_EQUAL_UINT(DYN_RESOLVED_RATE_SLOWED, dyn_resolved_rate_limit(&arm, q, some));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.05, some[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_hand_does_what_is_asked_for);
    RUN_TEST(test_only_the_joints_get_rates);
    RUN_TEST(test_a_spare_joint_does_not_move_the_hand);
    RUN_TEST(test_rates_are_bounded_as_the_law_says);
    RUN_TEST(test_little_damping_gives_no_infinite_rates);
    RUN_TEST(test_a_spare_joint_neither_slows_nor_stops_the_hand);
    RUN_TEST(test_a_singularity_is_passed_without_a_jump);
    RUN_TEST(test_full_reach_gives_no_motion_outward_and_says_so);
    RUN_TEST(test_a_fast_hand_keeps_its_direction);
    RUN_TEST(test_a_joint_stops_before_its_limit);
    RUN_TEST(test_what_stands_at_its_limit_does_not_stop_the_others);
    RUN_TEST(test_too_fast_is_not_too_far);
    return UNITY_END();
}
