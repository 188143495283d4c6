/*
 * A person flies the arm, frame by frame and without a clock: modes, servos, brakes, a grapple that
 * keeps momentum, a berth, and the loss of the operator.
 */
#include "config/scenario.h"
#include "dynamics/analysis/body_pose.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/monitor.h"
#include "rt/executive/arm/arm.h"
#include "rt/executive/arm/arm_record.h"
#include "rt/executive/operator/operator.h"
#include "tests/rt/executive/frames.h"

enum { VERNIER = 6, BRAKES, GRAPPLE, RELEASE, SAFE, NEXT, SELECT = 16 };
enum { HOLD, JOINT, TOOL, BASE, PAYLOAD, AUTO }; /* buttons of modes */
enum { SERVO = 10 };                             /* frames */
enum { ORBITER, HAND = 6, SATELLITE, MODULE, FLYER, BODIES };

static const char anything[] =
    "arm.capture={reach: 100 m, tilt: 4 rad, speed: 100 m/s, rate: 100 rad/s}";

static struct sim_record_input hand; /* as the operator holds it */

static void bring_up_arm(const char *const *more, int count)
{
    char error[CFG_ERROR_MAX] = "";
    const char *overrides[8] = {"links.hand.bus=udp", "links.hand.listen=127.0.0.1:14590"};
    for (int i = 0; i < count; i++)
        overrides[2 + i] = more[i];
    bring_down();
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0,
        cfg_scenario_load(AIRBEARING_SCENARIOS "/rms.yaml", overrides, 2 + count, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = gather_nothing;
    frames = 0;
    hand = (struct sim_record_input){.command.kind = IO_COMMAND_CONTROLS};
}

static void send_hand(void)
{
    struct sim_record_input input = hand;
    input.frame = frames;
    sim_apply_input(sim, &input);
}

static void press(int button)
{
    if (sim->vehicle->link[0].commands == 0)
        send_hand(); /* how it stands at first is no press */
    hand.command.flags ^= 1ull << (32 + button);
    send_hand();
    run_frames(SERVO);
}

static void push(int control, double way)
{
    memset(hand.command.controls, 0, sizeof hand.command.controls);
    hand.command.controls[control] = (float)way;
    send_hand();
}

static void let_go(void)
{
    push(0, 0.0);
}

static void lose_operator(void)
{
    struct sim_record_input input = {.frame = frames, .command.kind = IO_COMMAND_LOSS};
    sim_apply_input(sim, &input);
}

static const struct sim_arm_state *arm(void)
{
    return sim->vehicle->arm;
}

static double angle(int n)
{
    return sim->vehicle->x[sim->vehicle->kinematics.q_at[n]];
}

static double rate(int n)
{
    return sim->vehicle
        ->x[dyn_model_nq(sim->vehicle->plant.model) + sim->vehicle->kinematics.v_at[n]];
}

static double fastest(void)
{
    double most = 0.0;
    for (int n = 0; n < scenario->spec.arm.joint_count; n++)
        most = fmax(most, fabs(rate(n)));
    return most;
}

static struct dyn_monitor seen(void)
{
    const struct dyn_plant *plant = &sim->vehicle->plant;
    void *mem = aligned_alloc(64, (dyn_monitor_work_size(plant) / 64 + 1) * 64);
    struct dyn_monitor monitor;
    dyn_monitor_compute(plant, sim->vehicle->x, dyn_monitor_work_place(plant, mem), &monitor);
    free(mem);
    return monitor;
}

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

/* ---- where everything is ---- */

struct view {
    struct dyn_pose pose[BODIES];
    struct dyn_vec6 moves[BODIES];
};

static struct view view(void)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    void *mem = aligned_alloc(64, (dyn_tree_pose_size(model) / 64 + 1) * 64);
    struct dyn_tree_pose *scene = dyn_tree_pose_place(model, mem);
    struct view out;
    dyn_tree_pose_update(
        model, &(struct dyn_state){sim->vehicle->x, sim->vehicle->x + dyn_model_nq(model)}, scene);
    for (int i = 0; i < BODIES; i++) {
        out.pose[i] = dyn_body_pose(model, sim->vehicle->x, i);
        out.moves[i] = dyn_point_velocity(model, scene, &(struct dyn_point){.body = i});
    }
    free(mem);
    return out;
}

static double size_of(const double a[3])
{
    return dyn_norm(dyn_vec3_load(a));
}

static double apart(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return dyn_norm(dyn_sub(a, b));
}

static double turn_between(struct dyn_quat a, struct dyn_quat b)
{
    const struct dyn_quat left =
        dyn_quat_mul(dyn_quat_conjugate(dyn_quat_unit(a)), dyn_quat_unit(b));
    return 2.0 * dyn_norm((struct dyn_vec3){left.x, left.y, left.z});
}

static void expect_same_places(const struct view *a, const struct view *b)
{
    for (int i = 0; i < BODIES; i++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, apart(a->pose[i].origin, b->pose[i].origin));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, turn_between(a->pose[i].turn, b->pose[i].turn));
    }
}

/* A body as seen from the orbiter. */
static struct dyn_pose in_bay(int body)
{
    const struct view now = view();
    return dyn_pose_between(&now.pose[ORBITER], &now.pose[body]);
}

static struct dyn_pose hand_pose(void)
{
    const struct dyn_pose body = in_bay(HAND);
    return dyn_pose_mul(&body, &scenario->spec.arm.grip);
}

static double *v_of(int body)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    return sim->vehicle->x + dyn_model_nq(model) + dyn_model_v_index(model, body);
}

/* The payload there where the hand would hold it, but for `off`. */
static void put_at_hand(int payload, const struct dyn_pose *off)
{
    const struct sim_payload *it = &scenario->spec.arm.payload[payload];
    const struct dyn_model *model = sim->vehicle->plant.model;
    const struct dyn_pose none = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    double *q = sim->vehicle->x + dyn_model_q_index(model, it->body);
    dyn_vec3_store(none.origin, q);
    dyn_quat_store(none.turn, q + 3);
    const struct dyn_pose seat = dyn_body_pose(model, sim->vehicle->x, it->body);
    const struct dyn_pose body = dyn_body_pose(model, sim->vehicle->x, HAND);
    const struct dyn_pose hand_there = dyn_pose_mul(&body, &scenario->spec.arm.grip);
    const struct dyn_pose fixture = dyn_pose_mul(&hand_there, off);
    const struct dyn_pose back = dyn_pose_between(&it->fixture, &none);
    const struct dyn_pose place = dyn_pose_mul(&fixture, &back);
    const struct dyn_pose joint = dyn_pose_between(&seat, &place);
    dyn_vec3_store(joint.origin, q);
    dyn_quat_store(dyn_quat_unit(joint.turn), q + 3);
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
}

static const struct dyn_pose exactly = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

/* In the hand, as it is now, without a flight to it. */
static void take_at_once(int payload)
{
    put_at_hand(payload, &exactly);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1 + payload, arm()->configuration);
}

/* From the start down to the satellite, and take hold of it. */
static void fly_to_satellite(void)
{
    press(TOOL);
    push(0, 0.5);
    for (int i = 0; i < 60 && !(arm()->flags & SIM_ARM_CAPTURE_READY); i++) {
        run_frames(250);
        if (arm()->reach < 0.35)
            push(0, 0.1);
    }
    let_go();
    run_frames(2000);
    TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_CAPTURE_READY);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->near);
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

/* The twist of the hand by what the joints are told, base axes, angular first. */
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

static void stand_at(const double *degrees)
{
    for (int n = 0; n < 6; n++)
        sim->vehicle->x[sim->vehicle->kinematics.q_at[n]] = degrees[n] * DEGREE;
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
    run_frames(SERVO);
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

/* ---- grapple and release ---- */

static double off_by(const double a[3], const double b[3])
{
    return apart(dyn_vec3_load(a), dyn_vec3_load(b));
}

static void test_a_grapple_needs_reach_aim_and_patience(void)
{
    const struct {
        struct dyn_pose off;
        double speed;
        int taken;
    } tries[] = {
        {{{1, 0, 0, 0}, {0.099, 0, 0}}, 0.0, 1},
        {{{1, 0, 0, 0}, {0.101, 0, 0}}, 0.0, 0},
        {{dyn_quat_exp((struct dyn_vec3){0, 14.9 * DEGREE, 0}), {0, 0, 0}}, 0.0, 1},
        {{dyn_quat_exp((struct dyn_vec3){0, 15.1 * DEGREE, 0}), {0, 0, 0}}, 0.0, 0},
        {{{1, 0, 0, 0}, {0, 0, 0}}, 0.099, 1},
        {{{1, 0, 0, 0}, {0, 0, 0}}, 0.101, 0},
    };
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        bring_up_arm(NULL, 0);
        put_at_hand(2, &tries[i].off);
        memset(v_of(FLYER), 0, 6 * sizeof(double));
        v_of(FLYER)[3] = tries[i].speed;
        press(GRAPPLE);
        TEST_ASSERT_EQUAL_UINT64(tries[i].taken ? 3 : 0, arm()->configuration);
        TEST_ASSERT_EQUAL_UINT64(tries[i].taken, arm()->grapples);
        TEST_ASSERT_EQUAL_UINT64(!tries[i].taken, arm()->refused);
        press(GRAPPLE); /* and with a full hand it is refused anyway */
        TEST_ASSERT_EQUAL_UINT64(tries[i].taken, arm()->grapples);
        TEST_ASSERT_EQUAL_UINT64(1 + !tries[i].taken, arm()->refused);
    }
}

/* The nearest fixture cannot be gripped; one that can is taken instead. */
static void test_of_two_fixtures_the_one_that_fits_is_taken(void)
{
    const struct dyn_pose askew = {dyn_quat_exp((struct dyn_vec3){0, 0.5, 0}), {0.01, 0, 0}};
    const struct dyn_pose further = {{1, 0, 0, 0}, {0.05, 0, 0}};
    for (int first = 0; first < 3; first += 2) {
        bring_up_arm(NULL, 0);
        put_at_hand(first, &askew);
        put_at_hand(2 - first, &further);
        memset(v_of(FLYER), 0, 6 * sizeof(double));
        run_frames(SERVO);
        TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_CAPTURE_READY);
        TEST_ASSERT_EQUAL_UINT64(1 + 2 - first, arm()->near);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.05, arm()->reach);
        press(GRAPPLE);
        TEST_ASSERT_EQUAL_UINT64(1 + 2 - first, arm()->configuration);
    }
}

static void test_an_empty_hand_releases_nothing(void)
{
    bring_up_arm(NULL, 0);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->releases);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
}

/* Flown there by hand: the bay lets go and the hand takes hold in one event, nothing moves by it,
 * and momentum is kept. */
static void test_a_flight_to_the_satellite_ends_in_a_grapple(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
    const struct view before = view();
    const struct dyn_monitor kept = seen();
    hand.command.flags ^= 1ull << (32 + GRAPPLE);
    send_hand();
    sim_arm_servo(sim->vehicle);
    const struct view after = view();
    const struct dyn_monitor now = seen();
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->grapples);
    expect_same_places(&before, &after);
    /* What moves is the arm; of its momentum. */
    TEST_ASSERT_TRUE(off_by(kept.linear_momentum, now.linear_momentum) < 1e-12 * 410.0);
    TEST_ASSERT_TRUE(off_by(kept.angular_momentum, now.angular_momentum) < 1e-12 * 4100.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, kept.kinetic - now.kinetic, arm()->blow);
    run_frames(5000);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
}

static uint64_t noise_state;

static double noise(void)
{
    noise_state = noise_state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(noise_state >> 11) / (double)(1ull << 52) - 1.0;
}

/* Everything that is not held moves; some brakes hold, or none is on and the servos work. */
static void stir(bool braked)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    double *v = sim->vehicle->x + dyn_model_nq(model);
    sim->vehicle->arm->panel.brakes = braked;
    sim->vehicle->arm->panel.mode = braked ? IO_ARM_PANEL_HOLD : IO_ARM_PANEL_BASE;
    for (int n = 0; n < 6; n++)
        sim->vehicle->arm->brake[n] = !braked         ? SIM_ARM_BRAKE_OFF
                                      : noise() > 0.0 ? SIM_ARM_BRAKE_HOLDS
                                                      : SIM_ARM_BRAKE_SLIPS;
    sim_vehicle_apply_arm_configuration(sim->vehicle);
    for (int i = 0; i < dyn_model_nv(model); i++)
        v[i] = sim->vehicle->held[i] ? 0.0 : 0.05 * noise();
}

/* Everything moves, bends and has its own brakes. */
static void shake(int payload, bool braked)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    double *x = sim->vehicle->x;
    for (int body = 0; body < BODIES; body++)
        for (int p = 0; p < dyn_model_modes(model, body); p++)
            x[dyn_model_eta_index(model, body) + p] = 0.01 * noise();
    for (int n = 0; n < 6; n++)
        x[sim->vehicle->kinematics.q_at[n]] += 0.2 * noise();
    stir(braked);
    const struct dyn_pose off = {
        dyn_quat_exp((struct dyn_vec3){0.2 * noise(), 0.2 * noise(), noise()}),
        {0.1 * noise(), 0.1 * noise(), 0.1 * noise()}};
    for (int i = 0; i < 3; i++) /* the others are out of reach */
        x[dyn_model_q_index(model, SATELLITE + i) + 2] = 40.0 + 20.0 * i;
    put_at_hand(payload, &off);
}

/* Spin of a body about its mass centre, which is its origin; world axes. */
static struct dyn_vec3 spin_of(int body, const struct view *of)
{
    const struct dyn_quat turn = dyn_quat_unit(of->pose[body].turn);
    const struct dyn_vec3 w = dyn_quat_rotate(dyn_quat_conjugate(turn), of->moves[body].ang);
    const double *I = scenario->spec.bodies[body].spec.inertia; /* about its axes */
    return dyn_quat_rotate(turn, (struct dyn_vec3){I[0] * w.x, I[1] * w.y, I[2] * w.z});
}

/* The impulse that is told is how the payload's momentum changed, about the hand; relative. */
static double impulse_error(int payload, const struct view *before, const struct view *after)
{
    const int body = scenario->spec.arm.payload[payload].body;
    const struct dyn_pose grip = dyn_pose_mul(&after->pose[HAND], &scenario->spec.arm.grip);
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(grip.turn));
    const struct dyn_vec3 force =
        dyn_scale(scenario->spec.bodies[body].spec.mass,
                  dyn_sub(after->moves[body].lin, before->moves[body].lin));
    const struct dyn_vec3 arm_to = dyn_sub(after->pose[body].origin, grip.origin);
    const struct dyn_vec3 moment =
        dyn_add(dyn_sub(spin_of(body, after), spin_of(body, before)), dyn_cross(arm_to, force));
    return fmax(
        apart(dyn_quat_rotate(back, moment), dyn_vec3_load(arm()->impulse)) / dyn_norm(moment),
        apart(dyn_quat_rotate(back, force), dyn_vec3_load(arm()->impulse + 3)) / dyn_norm(force));
}

struct kept {
    double linear, angular, energy, impulse;
};

/* One look of the servos with this button pressed, and what it changed that should be kept. */
static void act_and_compare(int button, int payload, struct kept *worst)
{
    const struct dyn_monitor before = seen();
    const struct view placed = view();
    hand.command.flags ^= 1ull << (32 + button);
    send_hand();
    sim_arm_servo(sim->vehicle);
    const struct dyn_monitor after = seen();
    const struct view now = view();
    expect_same_places(&placed, &now);
    worst->linear = fmax(worst->linear, off_by(before.linear_momentum, after.linear_momentum) /
                                            size_of(before.linear_momentum));
    worst->angular = fmax(worst->angular, off_by(before.angular_momentum, after.angular_momentum) /
                                              size_of(before.angular_momentum));
    if (button == RELEASE && !(arm()->latched >> payload & 1))
        return;
    worst->energy =
        fmax(worst->energy, fabs(before.kinetic - after.kinetic - arm()->blow) / before.kinetic);
    worst->impulse = fmax(worst->impulse, impulse_error(payload, &placed, &now));
    TEST_ASSERT_TRUE(arm()->blow > 0.0);
}

/* Each from other places and speeds, on a free orbiter, with brakes and without; and let go of
 * again, the satellite into its berth, which is another blow. */
static void test_a_thousand_grapples_through_the_rig_keep_momentum_and_places(void)
{
    const char *more[] = {
        anything,
        "payloads.0.berth={reach: 1000 m, tilt: 4 rad, speed: 1000 m/s, rate: 1000 rad/s}"};
    struct kept taken = {0}, given = {0};
    noise_state = 8;
    bring_up_arm(more, 2);
    send_hand(); /* how it stands at first is no press */
    const size_t size = sim->vehicle->state_size;
    unsigned char *start = malloc(size);
    memcpy(start, sim->vehicle->state, size);
    for (int k = 0; k < 1000; k++) {
        const int payload = k % 3;
        memcpy(sim->vehicle->state, start, size);
        sim->vehicle->arm->latched = (uint64_t)(k / 3 % 8);
        sim_vehicle_apply_state(sim->vehicle);
        hand.command.flags = 0;
        shake(payload, k / 24 % 2);
        act_and_compare(GRAPPLE, payload, &taken);
        TEST_ASSERT_EQUAL_UINT64(1 + payload, arm()->configuration);
        TEST_ASSERT_FALSE(arm()->latched >> payload & 1);
        stir(k / 24 % 2);
        act_and_compare(RELEASE, payload, &given);
        TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
        TEST_ASSERT_EQUAL_UINT64(payload == 0, arm()->latched >> payload & 1);
    }
    free(start);
    printf("1000 grapples through the rig: linear momentum %.1e, angular %.1e, energy %.1e, "
           "impulse %.1e; releases %.1e, %.1e, %.1e, %.1e\n",
           taken.linear, taken.angular, taken.energy, taken.impulse, given.linear, given.angular,
           given.energy, given.impulse);
    TEST_ASSERT_TRUE(taken.linear < 1e-12 && given.linear < 1e-12);
    TEST_ASSERT_TRUE(taken.angular < 1e-12 && given.angular < 1e-12);
    TEST_ASSERT_TRUE(taken.energy < 1e-10 && given.energy < 1e-10);
    TEST_ASSERT_TRUE(taken.impulse < 1e-9 && given.impulse < 1e-9);
}

static void test_what_is_released_floats_on_as_it_moved(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    take_at_once(0);
    press(BASE);
    push(2, 1.0);
    run_frames(6000);
    const struct view before = view();
    hand.command.flags ^= 1ull << (32 + RELEASE);
    send_hand();
    sim_arm_servo(sim->vehicle);
    const struct view after = view();
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->releases);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
    expect_same_places(&before, &after);
    for (int i = 0; i < BODIES; i++) {
        TEST_ASSERT_TRUE(apart(before.moves[i].ang, after.moves[i].ang) < 1e-14);
        TEST_ASSERT_TRUE(apart(before.moves[i].lin, after.moves[i].lin) < 1e-14);
    }
    TEST_ASSERT_TRUE(dyn_norm(after.moves[SATELLITE].lin) > 0.1);
    run_frames(10000); /* it flies straight, whatever the arm does */
    const struct view later = view();
    const struct dyn_vec3 there =
        dyn_add(after.pose[SATELLITE].origin, dyn_scale(10.0, after.moves[SATELLITE].lin));
    TEST_ASSERT_TRUE(apart(there, later.pose[SATELLITE].origin) < 1e-9);
}

/* How far what the hand has is from its berth, against where it is in the bay by the whole plant.
 */
static void expect_berth_told(int body, bool ready)
{
    const struct sim_payload *it = &scenario->spec.arm.payload[arm()->configuration - 1];
    const struct dyn_pose there = {dyn_quat_load(it->berth + 3), dyn_vec3_load(it->berth)};
    const struct dyn_pose berth = dyn_pose_mul(&it->on_bay, &there), here = in_bay(body);
    TEST_ASSERT_EQUAL_UINT64(arm()->configuration, arm()->near);
    TEST_ASSERT_DOUBLE_WITHIN(2e-3, apart(berth.origin, here.origin), arm()->reach);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, turn_between(berth.turn, here.turn), arm()->tilt);
    TEST_ASSERT_EQUAL(ready, (arm()->flags & SIM_ARM_BERTH_READY) != 0);
}

/* Out of it the light is off, and the way back is told. */
static void test_the_berth_of_what_the_hand_has_is_told(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    TEST_ASSERT_FALSE(arm()->flags & SIM_ARM_BERTH_READY);
    press(GRAPPLE);
    push(0, -1.0);
    run_frames(8000);
    let_go();
    run_frames(4000);
    TEST_ASSERT_TRUE(arm()->reach > 0.1);
    TEST_ASSERT_FALSE(arm()->flags & SIM_ARM_CAPTURE_READY);
    expect_berth_told(SATELLITE, false);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
}

static void test_a_release_at_the_berth_latches(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
    run_frames(500);
    expect_berth_told(SATELLITE, true);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
    const struct dyn_pose before = in_bay(SATELLITE);
    run_frames(3000);
    const struct dyn_pose after = in_bay(SATELLITE);
    TEST_ASSERT_TRUE(apart(before.origin, after.origin) < 1e-12);
    TEST_ASSERT_TRUE(turn_between(before.turn, after.turn) < 1e-12);
}

/* The satellite in the hand, where it began, and the shoulder turns so that it has this speed;
 * released as it is. */
static void release_moving(const char *berth, double speed, bool latches)
{
    const char *more[] = {anything, berth};
    bring_up_arm(more, 2);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
    const double blow = arm()->blow;
    double *shoulder = &sim->vehicle->x[dyn_model_nq(sim->vehicle->plant.model)];
    shoulder += sim->vehicle->kinematics.v_at[0];
    stir(false);
    memset(sim->vehicle->x + dyn_model_nq(sim->vehicle->plant.model), 0,
           (size_t)dyn_model_nv(sim->vehicle->plant.model) * sizeof(double));
    *shoulder = 1.0;
    *shoulder = speed / dyn_norm(view().moves[SATELLITE].lin);

    struct kept kept = {0};
    act_and_compare(RELEASE, 0, &kept);
    TEST_ASSERT_EQUAL_UINT64(latches ? 3 : 2, arm()->latched);
    const struct view now = view();
    const double left = apart(now.moves[SATELLITE].lin, now.moves[ORBITER].lin);
    if (latches) {
        TEST_ASSERT_TRUE(kept.energy < 1e-10 && kept.impulse < 1e-9);
        TEST_ASSERT_TRUE(left < 0.02 * speed); /* the orbiter turns a little */
    } else {
        TEST_ASSERT_EQUAL_DOUBLE(blow, arm()->blow);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, speed, left);
    }
}

static void test_what_is_too_fast_for_its_berth_floats_on(void)
{
    release_moving("payloads.0.berth={rate: 100 rad/s}", 0.5, false);
    release_moving("payloads.0.berth={rate: 100 rad/s}", 0.051, false);
    release_moving("payloads.0.berth={rate: 100 rad/s}", 0.049, true);
    release_moving("payloads.0.berth={speed: 100 m/s}", 0.5, false); /* 5 deg/s */
    release_moving("payloads.0.berth={speed: 100 m/s}", 0.05, true);
}

/* It has no berth, and is not bolted to the orbiter in mid-air. */
static void test_what_began_afloat_floats_on_where_it_began(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    stand_at((const double[]){19.83, 78.64, -63.7, -104.93, 0, 19.83});
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->configuration);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
}

/* ---- run state ---- */

/* Grapple, lift, release; the same again from a copy of the run state. */
static void fly_a_program(void)
{
    press(GRAPPLE);
    press(BASE);
    push(2, 0.7);
    run_frames(3000);
    press(RELEASE);
    push(1, -0.3);
    run_frames(1500);
    press(SAFE);
    run_frames(1500);
}

static void test_the_run_state_is_all_of_the_state_across_a_grapple(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    const size_t size = sim->vehicle->state_size;
    unsigned char *saved = malloc(size), *end = malloc(size);
    const struct sim_record_input hand_then = hand;
    const uint64_t frames_then = frames, hash_then = sim->scratch.hash;
    memcpy(saved, sim->vehicle->state, size);
    fly_a_program();
    TEST_ASSERT_EQUAL_UINT64(1, arm()->grapples);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->releases);
    const uint64_t hash_end = sim->scratch.hash;
    memcpy(end, sim->vehicle->state, size);

    memcpy(sim->vehicle->state, saved, size);
    sim_vehicle_apply_state(sim->vehicle);
    sim->scratch.hash = hash_then;
    hand = hand_then;
    frames = frames_then;
    fly_a_program();
    TEST_ASSERT_EQUAL_MEMORY(end, sim->vehicle->state, size);
    TEST_ASSERT_EQUAL_UINT64(hash_end, sim->scratch.hash);
    free(saved);
    free(end);
}

/* The operator's next word after a restore is not a press of what he pressed since. */
static void test_a_restore_presses_no_buttons(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    void *copy = malloc(sim->vehicle->state_size);
    memcpy(copy, sim->vehicle->state, sim->vehicle->state_size);
    const struct sim_snapshot snapshot = {.state = copy, .hash = sim->scratch.hash};
    press(GRAPPLE);
    press(VERNIER);
    press(BASE);
    struct sim_record_act act = {.frame = frames, .act = SIM_ACT_RESTORE};
    sim_apply_act(sim, &act, &snapshot);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    run_frames(3 * SERVO);
    send_hand();
    run_frames(3 * SERVO);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(HOLD, arm()->panel.mode);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.vernier);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
    free(copy);
}

/* Taken with the satellite in the hand, put back after it was let go of: the hand has it again, and
 * all goes on as it did. */
static void test_a_restore_gives_the_payload_back_to_the_hand(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    press(GRAPPLE);
    press(BASE);
    push(2, 0.5);
    run_frames(3000);
    const size_t size = sim->vehicle->state_size;
    unsigned char *copy = malloc(size), *later = malloc(size);
    memcpy(copy, sim->vehicle->state, size);
    const struct sim_snapshot snapshot = {.state = copy, .hash = sim->scratch.hash};
    run_frames(1000);
    memcpy(later, sim->vehicle->x,
           (size_t)dyn_plant_state_count(&sim->vehicle->plant) * sizeof(double));
    press(RELEASE);
    run_frames(500);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    struct sim_record_act act = {
        .frame = frames, .act = SIM_ACT_RESTORE, .index = 1}; /* his hands, too */
    sim_apply_act(sim, &act, &snapshot);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
    TEST_ASSERT_EQUAL_PTR(sim->vehicle->models[1], sim->vehicle->plant.model);
    run_frames(1000);
    TEST_ASSERT_EQUAL_MEMORY(later, sim->vehicle->x,
                             (size_t)dyn_plant_state_count(&sim->vehicle->plant) * sizeof(double));
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);

    act = (struct sim_record_act){.frame = frames, .act = SIM_ACT_RESET};
    sim_apply_act(sim, &act, NULL); /* back in the bay, and latched */
    run_frames(1000);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.6, in_bay(SATELLITE).origin.z);
    free(copy);
    free(later);
}

/* Where the flyer is some frames after it ran into the hand and was caught. */
static struct dyn_pose caught_with(const char *integrator)
{
    const char *more[] = {anything, integrator};
    bring_up_arm(more, 2);
    put_at_hand(2, &exactly);
    v_of(FLYER)[3] = 0.2;
    run_frames(SERVO);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->configuration);
    TEST_ASSERT_TRUE(arm()->blow > 0.9);
    run_frames(5);
    return in_bay(FLYER);
}

/* A method with several steps has seen the motion before the blow, and must not go on with it: one
 * step of that is twenty micrometres. */
static void test_a_grapple_is_new_to_an_integrator_that_looks_back(void)
{
    const struct dyn_pose want = caught_with("integrator={method: rk4, substeps: 10}"),
                          got = caught_with("integrator={method: ab4, substeps: 10}");
    TEST_ASSERT_TRUE(apart(want.origin, got.origin) < 1e-6);
    TEST_ASSERT_TRUE(turn_between(want.turn, got.turn) < 1e-6);
}

/* Sticks are where the operator holds them, not where he held them when the state was taken. */
static void test_a_restore_leaves_the_sticks_to_the_operator(void)
{
    bring_up_arm(NULL, 0);
    press(BASE);
    push(2, 1.0);
    run_frames(2000);
    void *copy = malloc(sim->vehicle->state_size);
    memcpy(copy, sim->vehicle->state, sim->vehicle->state_size);
    const struct sim_snapshot snapshot = {.state = copy, .hash = sim->scratch.hash};
    let_go();
    run_frames(SERVO);
    struct sim_record_act act = {.frame = frames, .act = SIM_ACT_RESTORE};
    sim_apply_act(sim, &act, &snapshot);
    run_frames(6000); /* nothing new comes: a stick at rest sends nothing */
    TEST_ASSERT_TRUE(fastest() < 0.05 * DEGREE);

    bring_up_arm(NULL, 0); /* in a run in which nobody has taken the stick yet */
    act = (struct sim_record_act){.frame = frames, .act = SIM_ACT_RESTORE};
    sim_apply_act(sim, &act, &snapshot);
    TEST_ASSERT_EQUAL_UINT64(HOLD, arm()->panel.mode);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.safed);
    run_frames(4000);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[0]);

    bring_up_arm(NULL, 0); /* and where what he did last is to be held */
    act = (struct sim_record_act){.frame = frames, .act = SIM_ACT_RESTORE, .index = 1};
    sim_apply_act(sim, &act, &snapshot);
    run_frames(100);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_BASE, arm()->panel.mode);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, sim->vehicle->link[0].control[2]);
    TEST_ASSERT_TRUE(fastest() > 0.05 * DEGREE);
    free(copy);
}

/* The stick is still held, and what it moved when the state was taken does not move again. */
static void expect_a_stop(const struct sim_snapshot *snapshot)
{
    struct sim_record_act act = {.frame = frames, .act = SIM_ACT_RESTORE};
    sim_apply_act(sim, &act, snapshot);
    TEST_ASSERT_EQUAL_UINT64(HOLD, arm()->panel.mode);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.safed);
    push(2, 0.9);
    run_frames(6000);
    TEST_ASSERT_EQUAL_UINT64(HOLD, arm()->panel.mode);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
    TEST_ASSERT_TRUE(fastest() < 0.05 * DEGREE);
    press(BASE);
    push(2, 1.0);
    run_frames(2000);
    TEST_ASSERT_TRUE(fastest() > 0.05 * DEGREE);
}

static void test_after_a_restore_the_sticks_wait_for_a_mode(void)
{
    bring_up_arm(NULL, 0);
    void *start = malloc(sim->vehicle->state_size), *copy = malloc(sim->vehicle->state_size);
    memcpy(start, sim->vehicle->state, sim->vehicle->state_size);
    press(BASE);
    push(2, 1.0);
    run_frames(2000);
    memcpy(copy, sim->vehicle->state, sim->vehicle->state_size);
    const struct sim_snapshot moving = {.state = copy, .hash = sim->scratch.hash};
    expect_a_stop(&moving); /* while he moves it */
    press(SAFE);
    run_frames(400 * SERVO);
    expect_a_stop(&moving); /* when he has stopped it */
    press(SAFE);
    expect_a_stop(&(struct sim_snapshot){.state = start}); /* that was before, and braked */
    free(start);
    free(copy);
}

static void test_a_restore_without_anybody_sets_the_brakes(void)
{
    bring_up_arm(NULL, 0);
    press(HOLD);
    run_frames(400 * SERVO);
    press(BRAKES); /* servos hold it */
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.brakes);
    void *copy = malloc(sim->vehicle->state_size);
    memcpy(copy, sim->vehicle->state, sim->vehicle->state_size);
    const struct sim_snapshot snapshot = {.state = copy, .hash = sim->scratch.hash};
    bring_up_arm(NULL, 0);
    struct sim_record_act act = {.frame = frames, .act = SIM_ACT_RESTORE};
    sim_apply_act(sim, &act, &snapshot);
    run_frames(400 * SERVO);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[0]);
    free(copy);
}

static void test_what_was_pressed_before_the_run_presses_no_buttons(void)
{
    bring_up_arm(NULL, 0);
    hand.command.flags = 1ull << (32 + TOOL) | 1ull << (32 + VERNIER);
    send_hand();
    run_frames(SERVO);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_HOLD, arm()->panel.mode);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.vernier);
    press(TOOL);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, arm()->panel.mode);
}

/* A board on another wire may put the vehicle back to its start. */
static void test_a_reset_presses_no_buttons(void)
{
    bring_up_arm(NULL, 0);
    press(TOOL);
    press(VERNIER);
    struct sim_record_input input = {.frame = frames, .command.kind = IO_COMMAND_RESET};
    sim_apply_input(sim, &input);
    run_frames(3 * SERVO);
    send_hand();
    run_frames(3 * SERVO);
    TEST_ASSERT_EQUAL_UINT64(HOLD, arm()->panel.mode);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.vernier);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
}

/* ---- stops ---- */

static void fly_fast(void)
{
    press(BASE);
    push(2, 1.0);
    run_frames(5000);
    TEST_ASSERT_TRUE(fastest() > 0.5 * DEGREE);
}

static void expect_no_command(void)
{
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_EQUAL_DOUBLE(0.0, arm()->command[n]);
}

/* A press and one frame, in which no servo looks. */
static void tap(int button)
{
    hand.command.flags ^= 1ull << (32 + button);
    hand.command.mode = button <= AUTO ? (uint32_t)button : hand.command.mode;
    send_hand();
    run_frames(1);
}

static void test_the_desk_safes_it(void)
{
    bring_up_arm(NULL, 0);
    fly_fast();
    run_frames(3);
    struct sim_record_act act = {.frame = frames, .act = SIM_ACT_STOP_ARM};
    sim_apply_act(sim, &act, NULL);
    run_frames(SERVO);
    expect_no_command();
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.safed);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
    send_hand(); /* the stick is still out */
    run_frames(20 * SERVO);
    expect_no_command();
    press(BASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.safed);
}

static void test_safe_twice_between_two_looks_stops_it(void)
{
    bring_up_arm(NULL, 0);
    fly_fast();
    run_frames(3);
    tap(SAFE);
    tap(SAFE);
    run_frames(SERVO);
    expect_no_command();
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.safed);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
}

static void test_of_modes_between_two_looks_the_last_counts(void)
{
    bring_up_arm(NULL, 0);
    fly_fast();
    run_frames(3);
    tap(HOLD);
    tap(TOOL);
    tap(HOLD);
    run_frames(SERVO);
    TEST_ASSERT_EQUAL_UINT64(HOLD, arm()->panel.mode);
    run_frames(SERVO - 6);
    tap(HOLD);
    tap(TOOL);
    run_frames(SERVO);
    TEST_ASSERT_EQUAL_UINT64(TOOL, arm()->panel.mode);
}

/* Lost and found again between two looks of the servos. */
static void test_a_short_loss_stops_it_too(void)
{
    bring_up_arm(NULL, 0);
    fly_fast();
    run_frames(3);
    lose_operator();
    run_frames(2);
    send_hand();
    run_frames(SERVO);
    expect_no_command();
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.safed);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_LINK_LOST, arm()->flags & SIM_ARM_LINK_LOST);
    run_frames(SERVO);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->flags & SIM_ARM_LINK_LOST);
    press(BASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.safed);
}

static void test_a_lost_operator_stops_it_within_one_servo_period(void)
{
    bring_up_arm(NULL, 0);
    fly_fast();
    run_frames(3);
    lose_operator();
    run_frames(SERVO);
    expect_no_command();
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_LINK_LOST | SIM_ARM_STOPPED,
                             arm()->flags & (SIM_ARM_LINK_LOST | SIM_ARM_STOPPED));
    TEST_ASSERT_EQUAL_UINT64(0, arm()->panel.brakes);
    run_frames(2100); /* settle: 2 s */
    TEST_ASSERT_EQUAL_UINT64(1, arm()->panel.brakes);
    run_frames(2000);
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[n]);
    send_hand(); /* he is back, with the stick where it was */
    run_frames(1000);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, fastest());
    TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_STOPPED);
    TEST_ASSERT_FALSE(arm()->flags & SIM_ARM_LINK_LOST);
}

/* With 29.5 t in the hand, too; then the brakes slip for a while. */
static void test_a_lost_operator_stops_the_module(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    take_at_once(1);
    press(BASE);
    push(2, 1.0);
    run_frames(12000);
    lose_operator();
    run_frames(SERVO);
    expect_no_command();
    run_frames(2100);
    int slipping = 0;
    for (int n = 0; n < 6; n++) {
        TEST_ASSERT_TRUE(arm()->brake[n] != SIM_ARM_BRAKE_OFF);
        slipping += arm()->brake[n] == SIM_ARM_BRAKE_SLIPS;
    }
    TEST_ASSERT_TRUE(slipping > 0);
    run_frames(20000);
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[n]);
}

static void test_safe_brakes_at_once(void)
{
    bring_up_arm(NULL, 0);
    fly_fast();
    press(SAFE);
    expect_no_command();
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_TRUE(arm()->brake[n] != SIM_ARM_BRAKE_OFF);
    run_frames(2000);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, fastest());
}

/* ---- brakes ---- */

static double energy(void)
{
    const struct dyn_monitor now = seen();
    return now.kinetic + now.potential;
}

static void bend_booms(double by)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    for (int body = 0; body < BODIES; body++)
        if (dyn_model_modes(model, body) > 0)
            sim->vehicle->x[dyn_model_eta_index(model, body)] = by;
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
}

static void test_a_brake_slips_above_its_torque_and_only_eats_energy(void)
{
    const char *weak[] = {"arm.joints.0.brake=20 N m", "arm.joints.1.brake=20 N m",
                          "arm.joints.2.brake=20 N m"};
    bring_up_arm(weak, 3);
    bend_booms(0.05); /* the joint's own dry friction holds 60 N m more */
    double before = energy(), moved = 0.0;
    int slipped = 0;
    const double began = angle(0);
    for (int k = 0; k < 8000; k++) {
        run_frames(1);
        const double now = energy();
        TEST_ASSERT_TRUE_MESSAGE(now <= before * (1.0 + 1e-10), "a brake gave energy");
        slipped += arm()->brake[0] == SIM_ARM_BRAKE_SLIPS;
        moved = fmax(moved, fabs(angle(0) - began));
        before = now;
    }
    TEST_ASSERT_TRUE(slipped > 10);
    TEST_ASSERT_TRUE(moved > 1e-4);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[0]);
}

/* The torque of a brake is that of its state, in the frame in which that changes too: what sensors
 * feel is solved with it. */
static void test_a_brake_rubs_from_the_frame_on_in_which_it_slips(void)
{
    const char *weak[] = {"arm.joints.0.brake=20 N m", "arm.joints.1.brake=20 N m",
                          "arm.joints.2.brake=20 N m"};
    int slips = 0, catches = 0;
    bring_up_arm(weak, 3);
    bend_booms(0.02);
    for (int k = 0; k < 8000; k++) {
        const uint64_t before = arm()->brake[0];
        run_frames(1);
        slips += before == SIM_ARM_BRAKE_HOLDS && arm()->brake[0] == SIM_ARM_BRAKE_SLIPS;
        catches += before == SIM_ARM_BRAKE_SLIPS && arm()->brake[0] == SIM_ARM_BRAKE_HOLDS;
        for (int n = 0; n < 3; n++) {
            const double tau = sim->vehicle->joint_tau[sim->vehicle->kinematics.v_at[n]];
            TEST_ASSERT_EQUAL_DOUBLE(
                arm()->brake[n] == SIM_ARM_BRAKE_SLIPS ? 20.0 * arm()->rub[n] : 0.0, tau);
        }
    }
    TEST_ASSERT_TRUE(slips > 2 && catches > 2);
}

static void test_a_brake_holds_below_its_torque(void)
{
    bring_up_arm(NULL, 0); /* the shoulder's: 1570 N m */
    bend_booms(0.005);
    double before[6];
    for (int n = 0; n < 6; n++)
        before[n] = angle(n);
    for (int k = 0; k < 5000; k++) {
        run_frames(1);
        for (int n = 0; n < 6; n++)
            TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, arm()->brake[n]);
    }
    for (int n = 0; n < 6; n++)
        TEST_ASSERT_EQUAL_DOUBLE(before[n], angle(n));
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
    TEST_ASSERT_TRUE(fastest() < 0.1 * DEGREE); /* until it is told where */
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

/* Through the angles, as the servos are told. */
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

/* ---- the record ---- */

static double number_at(const unsigned char *record, size_t at)
{
    double number;
    memcpy(&number, record + at, sizeof number);
    return number;
}

static uint64_t recorded_us(void)
{
    unsigned char record[512];
    uint64_t us;
    sim_arm_record_fill(sim->vehicle, record);
    memcpy(&us, record, sizeof us);
    return us;
}

/* Or the way to the picture would seem shorter than it is. */
static void test_the_record_has_the_command_that_the_servos_saw(void)
{
    bring_up_arm(NULL, 0);
    hand.command.board_us = 7;
    push(0, 0.1);
    run_frames(1);
    hand.command.board_us = 8;
    push(0, 0.2);
    for (int i = 0; i < SERVO; i++) {
        TEST_ASSERT_EQUAL_UINT64(7, recorded_us());
        run_frames(1);
    }
    TEST_ASSERT_EQUAL_UINT64(8, recorded_us());
}

static void test_the_record_has_every_number_in_its_place(void)
{
    unsigned char record[512];
    bring_up_arm(NULL, 0);
    TEST_ASSERT_EQUAL_size_t(467, sim_arm_record_size(6));
    hand.command.board_us = 0x0123456789abcdefull;
    fly_to_satellite();
    press(GRAPPLE);
    press(GRAPPLE);
    press(VERNIER);
    press(PAYLOAD);
    push(0, -0.4);
    run_frames(3000); /* the servos lead until they overcome dry friction */
    memset(record, 0xee, sizeof record);
    sim_arm_record_fill(sim->vehicle, record);

    uint64_t count;
    memcpy(&count, record, 8);
    TEST_ASSERT_EQUAL_UINT64(0x0123456789abcdefull, count);
    memcpy(&count, record + 8, 8);
    TEST_ASSERT_EQUAL_UINT64(sim->vehicle->link[0].commands, count);
    for (size_t n = 0; n < 6; n++) {
        TEST_ASSERT_EQUAL_DOUBLE(angle((int)n), number_at(record, 16 + 8 * n));
        TEST_ASSERT_EQUAL_DOUBLE(rate((int)n), number_at(record, 64 + 8 * n));
        TEST_ASSERT_EQUAL_DOUBLE(arm()->command[n], number_at(record, 112 + 8 * n));
        TEST_ASSERT_EQUAL_DOUBLE(arm()->torque[n], number_at(record, 160 + 8 * n));
        TEST_ASSERT_EQUAL_DOUBLE(arm()->asked[n], number_at(record, 312 + 8 * n));
        TEST_ASSERT_EQUAL_DOUBLE(arm()->impulse[n], number_at(record, 400 + 8 * n));
        TEST_ASSERT_TRUE(arm()->impulse[n] != 0.0);
    }
    const struct dyn_pose pose = hand_pose();
    EXPECT_VECTOR(1e-12, (const double *)(const void *)(record + 208), pose.origin.x, pose.origin.y,
                  pose.origin.z);
    const double sign = pose.turn.w * number_at(record, 232) < 0.0 ? -1.0 : 1.0;
    EXPECT_VECTOR(1e-12, (const double *)(const void *)(record + 232), sign * pose.turn.w,
                  sign * pose.turn.x, sign * pose.turn.y, sign * pose.turn.z);
    const struct view now = view();
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(now.pose[ORBITER].turn));
    const struct dyn_vec3 turns =
        dyn_quat_rotate(back, dyn_sub(now.moves[HAND].ang, now.moves[ORBITER].ang));
    EXPECT_VECTOR(1e-12, (const double *)(const void *)(record + 264), turns.x, turns.y, turns.z);
    TEST_ASSERT_EQUAL_DOUBLE(arm()->reach, number_at(record, 360));
    TEST_ASSERT_EQUAL_DOUBLE(arm()->tilt, number_at(record, 368));
    TEST_ASSERT_EQUAL_DOUBLE(arm()->closing, number_at(record, 376));
    TEST_ASSERT_TRUE(arm()->reach > 0.0 && arm()->tilt > 0.0 && arm()->closing > 0.0);
    run_frames(1);
    const struct dyn_pose next = hand_pose();
    const struct dyn_vec3 way = dyn_scale(1000.0, dyn_sub(next.origin, pose.origin));
    EXPECT_VECTOR(1e-3, (const double *)(const void *)(record + 288), way.x, way.y, way.z);
    TEST_ASSERT_TRUE(dyn_norm(way) > 5e-3);
    TEST_ASSERT_EQUAL_DOUBLE(arm()->blow, number_at(record, 384));
    TEST_ASSERT_TRUE(arm()->blow >= 0.0);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, number_at(record, 392));
    uint32_t flags;
    memcpy(&flags, record + 448, 4);
    TEST_ASSERT_EQUAL_UINT32(arm()->flags, flags);
    TEST_ASSERT_TRUE(flags & SIM_ARM_VERNIER);
    const unsigned char rest[] = {0, 0, 0, 0, 0, 0, PAYLOAD, 0, 1, 0, 1, 1, 0, 1, 2};
    TEST_ASSERT_EQUAL_MEMORY(rest, record + 452, sizeof rest);
    TEST_ASSERT_EQUAL_UINT8(0xee, record[467]);
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
    RUN_TEST(test_a_grapple_needs_reach_aim_and_patience);
    RUN_TEST(test_of_two_fixtures_the_one_that_fits_is_taken);
    RUN_TEST(test_an_empty_hand_releases_nothing);
    RUN_TEST(test_a_flight_to_the_satellite_ends_in_a_grapple);
    RUN_TEST(test_a_thousand_grapples_through_the_rig_keep_momentum_and_places);
    RUN_TEST(test_what_is_released_floats_on_as_it_moved);
    RUN_TEST(test_the_berth_of_what_the_hand_has_is_told);
    RUN_TEST(test_a_release_at_the_berth_latches);
    RUN_TEST(test_what_is_too_fast_for_its_berth_floats_on);
    RUN_TEST(test_what_began_afloat_floats_on_where_it_began);
    RUN_TEST(test_the_run_state_is_all_of_the_state_across_a_grapple);
    RUN_TEST(test_a_restore_presses_no_buttons);
    RUN_TEST(test_a_restore_gives_the_payload_back_to_the_hand);
    RUN_TEST(test_a_grapple_is_new_to_an_integrator_that_looks_back);
    RUN_TEST(test_a_restore_leaves_the_sticks_to_the_operator);
    RUN_TEST(test_after_a_restore_the_sticks_wait_for_a_mode);
    RUN_TEST(test_a_restore_without_anybody_sets_the_brakes);
    RUN_TEST(test_what_was_pressed_before_the_run_presses_no_buttons);
    RUN_TEST(test_a_reset_presses_no_buttons);
    RUN_TEST(test_the_desk_safes_it);
    RUN_TEST(test_safe_twice_between_two_looks_stops_it);
    RUN_TEST(test_of_modes_between_two_looks_the_last_counts);
    RUN_TEST(test_a_short_loss_stops_it_too);
    RUN_TEST(test_a_lost_operator_stops_it_within_one_servo_period);
    RUN_TEST(test_a_lost_operator_stops_the_module);
    RUN_TEST(test_safe_brakes_at_once);
    RUN_TEST(test_a_brake_slips_above_its_torque_and_only_eats_energy);
    RUN_TEST(test_a_brake_rubs_from_the_frame_on_in_which_it_slips);
    RUN_TEST(test_a_brake_holds_below_its_torque);
    RUN_TEST(test_auto_goes_to_each_pose_and_stands_there);
    RUN_TEST(test_auto_goes_straight);
    RUN_TEST(test_auto_takes_the_module_to_a_pose);
    RUN_TEST(test_joints_end_at_their_limits);
    RUN_TEST(test_a_joint_without_stiffness_ends_at_its_limit);
    RUN_TEST(test_the_record_has_the_command_that_the_servos_saw);
    RUN_TEST(test_the_record_has_every_number_in_its_place);
    return UNITY_END();
}
