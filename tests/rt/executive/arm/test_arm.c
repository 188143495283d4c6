/*
 * A person flies the arm: its servos, its modes, the way to a pose by itself, and the limits of its
 * joints.
 */
#include "tests/rt/executive/arm/arm_fixture.h"

static void test_it_begins_braked_and_stays(void)
{
    bring_up_arm(NULL, 0);
    double before[6];
    for (int n = 0; n < 6; n++)
        before[n] = angle(n);
    run_frames(2000);
    for (int n = 0; n < 6; n++) {
        TEST_ASSERT_EQUAL_DOUBLE(before[n], angle(n));
        TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[n]);
    }
}

static void test_one_joint_follows_its_rate(void)
{
    bring_up_arm(NULL, 0);
    press(1);
    press(SELECT + 5);
    TEST_ASSERT_EQUAL_UINT64(5, arm()->panel.joint);
    push(0, 1.0);
    run_frames(6000);
    TEST_ASSERT_DOUBLE_WITHIN(0.05 * 4.76 * DEGREE, 4.76 * DEGREE, rate(5));
    TEST_ASSERT_TRUE(fabs(rate(0)) < 0.1 * DEGREE);
    let_go();
    run_frames(4000);
    TEST_ASSERT_TRUE(fabs(rate(5)) < 0.1 * DEGREE);
}

/* ---- modes ---- */

/* Straight along one axis for some seconds once settled: how far, and how far aside. */
static void expect_straight(const struct dyn_pose *from, struct dyn_vec3 axis, double way)
{
    const struct dyn_pose to = hand_pose();
    const struct dyn_vec3 moved = dyn_sub(to.origin, from->origin);
    const double along = dyn_dot(moved, axis);
    TEST_ASSERT_DOUBLE_WITHIN(0.03 * way, way, along);
    TEST_ASSERT_TRUE(dyn_norm(dyn_sub(moved, dyn_scale(along, axis))) < 0.03 * way);
    TEST_ASSERT_TRUE(turn_between(from->turn, to.turn) < 0.5 * DEGREE);
}

static void test_mode_end_effector_moves_along_the_axes_of_the_hand(void)
{
    for (int k = 0; k < 3; k++) {
        bring_up_arm(NULL, 0);
        press(TOOL);
        push(k, -0.2);
        run_frames(6000);
        const struct dyn_pose from = hand_pose();
        struct dyn_vec3 axis = {k == 0 ? -1.0 : 0.0, k == 1 ? -1.0 : 0.0, k == 2 ? -1.0 : 0.0};
        axis = dyn_quat_rotate(from.turn, axis);
        run_frames(5000);
        expect_straight(&from, axis, 5.0 * 0.2 * 0.6);
    }
}

static void test_mode_base_moves_along_the_axes_of_the_orbiter(void)
{
    for (int k = 0; k < 3; k++) {
        bring_up_arm(NULL, 0);
        press(BASE);
        push(k, k == 2 ? 0.2 : -0.2); /* up, and away */
        run_frames(6000);
        const struct dyn_pose from = hand_pose();
        run_frames(5000);
        const struct dyn_vec3 axis = {k == 0 ? -1.0 : 0.0, k == 1 ? -1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        expect_straight(&from, axis, 5.0 * 0.2 * 0.6);
    }
}

/* The twist of the hand by the commanded joint rates, base axes, angular first. */
static void commanded_twist(double twist[6])
{
    static double v[256];
    const struct dyn_arm *kinematics = &sim->vehicle->kinematics;
    struct dyn_pose pose;
    memset(v, 0, sizeof v);
    for (int n = 0; n < 6; n++)
        v[kinematics->v_at[n]] = arm()->command[n];
    dyn_arm_hand_motion(kinematics, &(struct dyn_state){sim->vehicle->x, v}, sim->vehicle->arm_work,
                        &pose, twist);
}

/* Straight along an axis of the orbiter, however fast. */
static void expect_direction(struct dyn_vec3 axis)
{
    double twist[6];
    commanded_twist(twist);
    const struct dyn_vec3 speed = dyn_vec3_load(twist + 3);
    TEST_ASSERT_TRUE(dyn_norm(dyn_cross(axis, speed)) <= 0.03 * dyn_norm(speed) + 1e-9);
    TEST_ASSERT_TRUE(dyn_dot(axis, speed) >= 0.0);
    TEST_ASSERT_TRUE(dyn_norm(dyn_vec3_load(twist)) <= 0.03 * dyn_norm(speed) + 1e-9);
}

/* Each joint has its own acceleration: what the stick asks for begins and ends together all the
 * same. */
static void test_the_hand_keeps_its_direction_while_it_gains_and_loses_speed(void)
{
    for (int k = 0; k < 3; k++) {
        const double sign = k == 2 ? 1.0 : -1.0;
        const struct dyn_vec3 axis = {k == 0 ? sign : 0.0, k == 1 ? sign : 0.0,
                                      k == 2 ? sign : 0.0};
        bring_up_arm(NULL, 0);
        press(BASE);
        push(k, sign);
        for (int i = 0; i < 100; i++) {
            run_frames(SERVO);
            expect_direction(axis);
        }
        let_go();
        for (int i = 0; i < 100; i++) {
            run_frames(SERVO);
            expect_direction(axis);
        }
    }
}

static void test_mode_end_effector_turns_about_the_hand(void)
{
    bring_up_arm(NULL, 0);
    press(TOOL);
    push(4, 0.3);
    run_frames(4000);
    const struct dyn_pose from = hand_pose();
    run_frames(4000);
    const struct dyn_pose to = hand_pose();
    TEST_ASSERT_DOUBLE_WITHIN(0.3 * DEGREE, 4.0 * 0.3 * 4.76 * DEGREE,
                              turn_between(from.turn, to.turn));
    TEST_ASSERT_TRUE(apart(from.origin, to.origin) < 0.02);
}

static void test_mode_payload_turns_about_its_origin(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    take_at_once(0);
    press(PAYLOAD);
    push(5, 0.5);
    run_frames(8000);
    const struct dyn_pose from = in_bay(SATELLITE), hand_from = hand_pose();
    run_frames(8000);
    const struct dyn_pose to = in_bay(SATELLITE), hand_to = hand_pose();
    const double turn = 8.0 * 0.5 * 0.5 * 4.76 * DEGREE; /* half the speed, loaded */
    TEST_ASSERT_DOUBLE_WITHIN(0.05 * turn, turn, turn_between(from.turn, to.turn));
    TEST_ASSERT_TRUE(apart(from.origin, to.origin) < 0.05);
    TEST_ASSERT_TRUE(apart(hand_from.origin, hand_to.origin) < 0.05); /* it is above */
    const struct dyn_quat back = dyn_quat_conjugate(from.turn);
    const struct dyn_quat left = dyn_quat_mul(back, to.turn);
    TEST_ASSERT_TRUE(fabs(left.z) > 20.0 * fabs(left.x)); /* about its own z */
    TEST_ASSERT_TRUE(fabs(left.z) > 20.0 * fabs(left.y));
}

/* ---- no jumps ---- */

static double command_before[DYN_ARM_JOINT_MAX];

/* No commanded rate changes faster than its joint may accelerate, but for the last looks before a
 * limit, and none is too fast; all flags that were seen. */
static uint64_t fly_smoothly(int looks)
{
    const struct dyn_resolved_rate_spec *limits = &scenario->spec.arm.resolve;
    uint64_t seen_flags = 0;
    for (int k = 0; k < looks; k++) {
        memcpy(command_before, arm()->command, sizeof command_before);
        run_frames(SERVO);
        seen_flags |= arm()->flags;
        for (int n = 0; n < 6; n++) {
            const double step = fabs(arm()->command[n] - command_before[n]);
            TEST_ASSERT_TRUE(step <= 2.0 * limits->braking[n] * SERVO * sim->vehicle->h);
            TEST_ASSERT_TRUE(fabs(arm()->command[n]) <= limits->rate_max[n] * (1.0 + 1e-12));
        }
    }
    return seen_flags;
}

/* To full reach, and to a wrist bent by a right angle, in every resolved mode: it says so, nothing
 * jumps, and it comes back. */
static void test_singular_poses_are_flagged_and_nothing_jumps(void)
{
    static const double stretched[] = {0, 20, -25, -85, 0, 0}, bent[] = {15, 95, -135, -5, 86, 45};
    const char *more[] = {anything};
    const struct {
        const double *from;
        int mode, control;
        double way;
    } flight[] = {{stretched, TOOL, 2, 1.0},     {stretched, BASE, 0, -1.0},
                  {stretched, PAYLOAD, 0, -1.0}, {bent, TOOL, 5, 1.0},
                  {bent, BASE, 3, -1.0},         {bent, PAYLOAD, 3, -1.0}};
    for (size_t i = 0; i < sizeof flight / sizeof flight[0]; i++) {
        bring_up_arm(more, 1);
        stand_at(flight[i].from);
        if (flight[i].mode == PAYLOAD)
            take_at_once(2);
        press(flight[i].mode);
        push(flight[i].control, flight[i].way);
        TEST_ASSERT_TRUE(fly_smoothly(900) & DYN_RESOLVED_RATE_SINGULAR);
        const struct dyn_pose from = hand_pose();
        push(flight[i].control, -flight[i].way);
        (void)fly_smoothly(600);
        const struct dyn_pose to = hand_pose();
        TEST_ASSERT_TRUE(flight[i].control < 3 ? apart(from.origin, to.origin) > 0.05
                                               : turn_between(from.turn, to.turn) > 2.0 * DEGREE);
    }
}

/* From every mode to every other while the arm moves and the stick is out. */
static void test_a_change_of_mode_under_way_jumps_nowhere(void)
{
    bring_up_arm(NULL, 0);
    for (int from = JOINT; from <= AUTO; from++) {
        for (int to = JOINT; to <= AUTO; to++) {
            press(from);
            press(SELECT + 1 + from % 2);
            push(2, to % 2 ? 0.8 : -0.8);
            hand.command.controls[0] = 0.5f;
            hand.command.controls[4] = -0.6f;
            send_hand();
            (void)fly_smoothly(50);
            hand.command.flags ^= 1ull << (32 + to);
            send_hand();
            (void)fly_smoothly(50);
            TEST_ASSERT_EQUAL_UINT64(to, arm()->panel.mode);
        }
    }
    hand.command.flags ^= 1ull << (32 + HOLD);
    send_hand();
    (void)fly_smoothly(600);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[0]);
}

/* ---- speeds ---- */

static double commanded(int joint)
{
    press(JOINT);
    press(SELECT + joint);
    push(0, 1.0);
    run_frames(5000);
    const double rate_then = arm()->command[joint];
    let_go();
    run_frames(5000);
    return rate_then;
}

static void test_fine_and_loaded_are_slower(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.76 * DEGREE, commanded(5));
    press(VERNIER);
    TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_VERNIER);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.1 * 4.76 * DEGREE, commanded(5));
    press(VERNIER);
    take_at_once(0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * 4.76 * DEGREE, commanded(5));
    press(VERNIER);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.05 * 4.76 * DEGREE, commanded(5));
    press(VERNIER);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.76 * DEGREE, commanded(5));
}

/* What is asked of the hand with these deflections along, or about, its axes. */
static double asked_speed(int first, double x, double y, double z)
{
    memset(hand.command.controls, 0, sizeof hand.command.controls);
    hand.command.controls[first] = (float)x;
    hand.command.controls[first + 1] = (float)y;
    hand.command.controls[first + 2] = (float)z;
    send_hand();
    run_frames(SERVO);
    return size_of(arm()->asked + (first == 0 ? 3 : 0));
}

static void test_all_axes_at_once_are_no_faster_than_one(void)
{
    const double turn = 4.76 * DEGREE;
    bring_up_arm(NULL, 0);
    press(TOOL);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.6, asked_speed(0, 0.0, 1.0, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.6, asked_speed(0, 1.0, -1.0, 1.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.6, asked_speed(0, 1.0, 0.0, 0.25));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.375 * 0.6, asked_speed(0, 0.25, -0.25, 0.125));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, turn, asked_speed(3, 1.0, -1.0, 1.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * turn, asked_speed(3, 0.0, 0.0, 0.5));
    const double *asked = arm()->asked;
    (void)asked_speed(0, 1.0, -1.0, 0.5); /* and it goes where the stick points */
    const struct dyn_vec3 along = dyn_quat_rotate(hand_pose().turn, (struct dyn_vec3){2, -2, 1});
    EXPECT_VECTOR(2e-3, asked + 3, 0.2 * along.x, 0.2 * along.y, 0.2 * along.z);
}

/* ---- what must not move it ---- */

static void test_a_command_that_is_not_a_number_is_none(void)
{
    bring_up_arm(NULL, 0);
    press(BASE);
    for (int k = 0; k < IO_CONTROL_MAX; k++)
        hand.command.controls[k] = NAN;
    send_hand();
    run_frames(1000);
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_EQUAL_DOUBLE(0.0, arm()->command[n]);
    press(JOINT);
    run_frames(1000);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, arm()->command[0]);
    TEST_ASSERT_TRUE(fastest() < 1e-6);
}

/* ---- auto ---- */

/* Where the spring of the servo is weaker than dry friction, the joint may come to rest. */
static double rest_band(int n)
{
    const struct sim_arm_joint *joint = &scenario->spec.arm.joint[n];
    const double coulomb = scenario->spec.bodies[joint->body].spec.force_spec[0].coulomb;
    return 0.05 * DEGREE + coulomb / joint->servo.stiffness;
}

static void test_auto_goes_to_each_pose_and_stands_there(void)
{
    bring_up_arm(NULL, 0);
    press(AUTO);
    run_frames(1000);
    TEST_ASSERT_TRUE(fastest() < 0.1 * DEGREE); /* until it is commanded */
    for (int pose = 0; pose < scenario->spec.arm.pose_count; pose++) {
        press(SELECT + pose);
        TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_AUTO);
        for (int k = 0; k < 120 && (k == 0 || arm()->flags & SIM_ARM_AUTO); k++)
            run_frames(1000);
        TEST_ASSERT_FALSE(arm()->flags & SIM_ARM_AUTO);
        run_frames(5000);
        for (int n = 0; n < 6; n++) {
            TEST_ASSERT_DOUBLE_WITHIN(rest_band(n), scenario->spec.arm.pose[pose].angle[n],
                                      angle(n));
            TEST_ASSERT_TRUE(fabs(rate(n)) < 0.02 * DEGREE);
        }
    }
}

/* Through the angles that the servos are commanded. */
static void test_auto_goes_straight(void)
{
    double from[6], goal[6], off = 0.0;
    bring_up_arm(NULL, 0);
    press(AUTO);
    memcpy(from, arm()->reference, sizeof from);
    memcpy(goal, scenario->spec.arm.pose[3].angle, sizeof goal);
    press(SELECT + 3);
    TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_AUTO);
    while (arm()->flags & SIM_ARM_AUTO) {
        double way = 0.0, done = 0.0;
        for (int n = 0; n < 6; n++) {
            way += (goal[n] - from[n]) * (goal[n] - from[n]);
            done += (arm()->reference[n] - from[n]) * (goal[n] - from[n]);
        }
        for (int n = 0; n < 6; n++)
            off = fmax(off, fabs(from[n] + done / way * (goal[n] - from[n]) - arm()->reference[n]));
        run_frames(SERVO);
    }
    TEST_ASSERT_TRUE(off < 1e-6);
}

/* With the greatest load, whose joints lag and swing: it comes to the pose and stays about it. */
static void test_auto_takes_the_module_to_a_pose(void)
{
    const char *more[] = {anything};
    double most = 0.0;
    bring_up_arm(more, 1);
    stand_at((const double[]){15, 73, -92, -70, 3, 15});
    take_at_once(1);
    press(AUTO);
    press(SELECT + 3);
    TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_AUTO);
    run_frames(60000);
    for (int k = 0; k < 60; k++) {
        run_frames(1000);
        for (int n = 0; n < 6; n++)
            most = fmax(most, fabs(angle(n) - scenario->spec.arm.pose[3].angle[n]));
    }
    printf("the module swings by %.2f deg about its pose\n", most / DEGREE);
    TEST_ASSERT_TRUE(most < 2.0 * DEGREE);
}

/* ---- limits ---- */

static void drive_to_limit(int joint, int way, int payload)
{
    const struct dyn_resolved_rate_spec *limit = &scenario->spec.arm.resolve;
    const double end = way > 0 ? limit->upper[joint] : limit->lower[joint];
    const double share = payload < 0 ? 1.0 : scenario->spec.arm.payload[payload].speed;
    sim->vehicle->x[sim->vehicle->kinematics.q_at[joint]] = end - way * share * 6.0 * DEGREE;
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
    if (payload >= 0)
        take_at_once(payload);
    press(JOINT);
    press(SELECT + joint);
    push(0, way);
    double past = -HUGE_VAL, asked = -HUGE_VAL;
    for (int k = 0; k < 12000; k++) {
        run_frames(1);
        for (int n = 0; n < 6; n++) {
            const double at = arm()->reference[n];
            past = fmax(past, fmax(angle(n) - limit->upper[n], limit->lower[n] - angle(n)));
            asked = fmax(asked, fmax(at - limit->upper[n], limit->lower[n] - at));
        }
    }
    char which[64];
    snprintf(which, sizeof which, "joint %d: %.3f deg past, stands at %.3f of %.3f deg", joint,
             past / DEGREE, angle(joint) / DEGREE, end / DEGREE);
    TEST_ASSERT_TRUE_MESSAGE(asked < 1e-9, which);
    TEST_ASSERT_TRUE_MESSAGE(past < (payload < 0 ? 0.2 : 1.5) * DEGREE, which);
    TEST_ASSERT_TRUE_MESSAGE(fabs(angle(joint) - end) < (payload < 0 ? 0.01 : 1.0) * DEGREE, which);
}

/* No servo is ever sent beyond them; a joint passes them by what a loaded servo swings, no more. */
static void test_joints_end_at_their_limits(void)
{
    const char *more[] = {anything};
    for (int payload = -1; payload < 1; payload++)
        for (int joint = 0; joint < 6; joint += payload < 0 ? 1 : 3)
            for (int way = -1; way <= 1; way += 2) {
                bring_up_arm(more, 1);
                drive_to_limit(joint, way, payload);
            }
}

/* It lags by what friction takes, and its place is what counts. */
static void test_a_joint_without_stiffness_ends_at_its_limit(void)
{
    const char *more[] = {"arm.joints.5.stiffness=0", "arm.poses=[]"};
    const double end = 440.0 * DEGREE;
    bring_up_arm(more, 2);
    sim->vehicle->x[sim->vehicle->kinematics.q_at[5]] = end - 60.0 * DEGREE;
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
    run_frames(SERVO);
    press(JOINT);
    press(SELECT + 5);
    push(0, 1.0);
    run_frames(25000);
    TEST_ASSERT_DOUBLE_WITHIN(0.02 * DEGREE, end, angle(5));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_it_begins_braked_and_stays);
    RUN_TEST(test_one_joint_follows_its_rate);
    RUN_TEST(test_mode_end_effector_moves_along_the_axes_of_the_hand);
    RUN_TEST(test_mode_base_moves_along_the_axes_of_the_orbiter);
    RUN_TEST(test_the_hand_keeps_its_direction_while_it_gains_and_loses_speed);
    RUN_TEST(test_mode_end_effector_turns_about_the_hand);
    RUN_TEST(test_mode_payload_turns_about_its_origin);
    RUN_TEST(test_singular_poses_are_flagged_and_nothing_jumps);
    RUN_TEST(test_a_change_of_mode_under_way_jumps_nowhere);
    RUN_TEST(test_fine_and_loaded_are_slower);
    RUN_TEST(test_all_axes_at_once_are_no_faster_than_one);
    RUN_TEST(test_a_command_that_is_not_a_number_is_none);
    RUN_TEST(test_auto_goes_to_each_pose_and_stands_there);
    RUN_TEST(test_auto_goes_straight);
    RUN_TEST(test_auto_takes_the_module_to_a_pose);
    RUN_TEST(test_joints_end_at_their_limits);
    RUN_TEST(test_a_joint_without_stiffness_ends_at_its_limit);
    return UNITY_END();
}
