/*
 * The seven-joint arm stands in gravity: servos that know its weight hold it, brakes hold it
 * without them, and what its hand lets go of falls.
 */
#include "config/scenario.h"
#include "dynamics/analysis/monitor.h"
#include "tests/rt/executive/frames.h"

enum { GRAPPLE = 8, RELEASE = 9, SELECT = 16, BRAKES = 7 };
enum { HOLD, JOINT, TOOL, BASE, PAYLOAD, AUTO };

static struct sim_record_input hand;

static void bring_up_arm_at(const char *rate, const char *servo, const char *more)
{
    char error[CFG_ERROR_MAX] = "";
    const char *overrides[] = {
        "links.hand.bus=udp", "links.hand.listen=127.0.0.1:14590", rate, servo, more, NULL};
    bring_down();
    TEST_ASSERT_EQUAL_INT_MESSAGE(0,
                                  cfg_scenario_load(AIRBEARING_SCENARIOS "/arm7.yaml", overrides,
                                                    more != NULL ? 5 : 4, &scenario, error),
                                  error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = gather_nothing;
    frames = 0;
    hand = (struct sim_record_input){.command.kind = IO_COMMAND_CONTROLS};
}

static void bring_up_arm(const char *more)
{
    bring_up_arm_at("rate=1 kHz", "arm.servo=1 kHz", more);
}

static void push(int control, double way)
{
    memset(hand.command.controls, 0, sizeof hand.command.controls);
    hand.command.controls[control] = (float)way;
    hand.frame = frames;
    sim_apply_input(sim, &hand);
}

static void press(int button)
{
    if (sim->vehicle->link[0].commands == 0)
        push(0, 0.0); /* how it stands at first is no press */
    hand.command.flags ^= 1ull << (32 + button);
    push(0, 0.0);
    run_frames(2);
}

static double angle(int n)
{
    return sim->vehicle->x[sim->vehicle->kinematics.q_at[n]];
}

static double height_of_block(void)
{
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_solve(&sim->vehicle->plant, sim->vehicle->command, sim->vehicle->joint_tau,
                    sim->vehicle->x, sim->vehicle->work);
    dyn_plant_motion(&sim->vehicle->plant, sim->vehicle->work, sim->vehicle->x,
                     scenario->spec.arm.payload[0].body, origin, &motion);
    return motion.position[2];
}

/* Furthest that a joint strays in a second after the brakes are let go in hold. */
static double sag(const char *more)
{
    double before[DYN_ARM_JOINT_MAX], most = 0.0;
    bring_up_arm(more);
    run_frames(100);
    for (int n = 0; n < 7; n++)
        before[n] = angle(n);
    press(BRAKES);
    run_frames(1000);
    for (int n = 0; n < 7; n++) {
        TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_OFF, sim->vehicle->arm->brake[n]);
        most = fmax(most, fabs(angle(n) - before[n]));
    }
    return most;
}

static void test_servos_that_know_the_weight_hold_it(void)
{
    TEST_ASSERT_TRUE(sag(NULL) < 1e-6);
    TEST_ASSERT_TRUE(sag("arm.weight=false") > 1e-3);
}

/* Nothing acts but gravity and servos that carry it: friction does not move the arm. */
static void test_the_arm_stands_still_at_a_coarse_step(void)
{
    static const char *const rate[] = {"rate=250 Hz", "rate=100 Hz"};
    static const char *const servo[] = {"arm.servo=250 Hz", "arm.servo=100 Hz"};
    static const int second[] = {250, 100};
    for (int k = 0; k < 2; k++) {
        double before[DYN_ARM_JOINT_MAX];
        bring_up_arm_at(rate[k], servo[k], NULL);
        run_frames(second[k]);
        for (int n = 0; n < 7; n++)
            before[n] = angle(n);
        press(BRAKES);
        run_frames(5 * second[k]);
        for (int n = 0; n < 7; n++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, before[n], angle(n));
    }
}

/* On a wall, and hanging from a beam that leans. */
static void test_the_weight_is_that_of_a_turned_base_too(void)
{
    TEST_ASSERT_TRUE(sag("urdf={file: arm7.urdf, attitude: {pitch: 90 deg}}") < 1e-6);
    TEST_ASSERT_TRUE(sag("urdf={file: arm7.urdf, attitude: {roll: 160 deg, yaw: 30 deg}}") < 1e-6);
}

/* A brake on a joint that stands pushes nothing, whatever sense its last rounding had. */
static void test_a_brake_on_a_joint_that_stands_does_not_move_it(void)
{
    bring_up_arm("arm.joints.1.brake=5000 N m");
    run_frames(10);
    press(BRAKES);
    run_frames(500);
    const double before = angle(1);
    sim->vehicle->x[dyn_model_nq(sim->vehicle->plant.model) + sim->vehicle->kinematics.v_at[1]] =
        -1e-6;
    sim->vehicle->arm->rub[1] = 1.0; /* of another time */
    press(BRAKES);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_HOLDS, sim->vehicle->arm->brake[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, before, angle(1));
}

/* The weight is how the height of all mass changes with the angles, by the monitor, which shares no
 * code with it.  The block is latched, and the stops are not touched. */
static void test_the_weight_is_the_gradient_of_the_potential(void)
{
    bring_up_arm(NULL);
    const struct sim_vehicle *vehicle = sim->vehicle;
    const struct dyn_plant *plant = &vehicle->plant;
    void *mem = aligned_alloc(64, (dyn_monitor_work_size(plant) / 64 + 1) * 64);
    struct dyn_monitor_work *work = dyn_monitor_work_place(plant, mem);
    double torques[DYN_ARM_JOINT_MAX];
    for (int k = 0; k < 7; k++)
        vehicle->x[vehicle->kinematics.q_at[k]] += 0.2 * sin(1.0 + k);
    dyn_arm_gravity_torques(&vehicle->kinematics, vehicle->x, plant->environment.gravity,
                            vehicle->arm_work, torques);
    for (int k = 0; k < 7; k++) {
        const double step = 1e-5;
        struct dyn_monitor above, below;
        double *q = &vehicle->x[vehicle->kinematics.q_at[k]];
        *q += step;
        dyn_monitor_compute(plant, vehicle->x, work, &above);
        *q -= 2.0 * step;
        dyn_monitor_compute(plant, vehicle->x, work, &below);
        *q += step;
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, (above.potential - below.potential) / (2.0 * step),
                                  torques[k]);
    }
    free(mem);
}

/* Where a joint comes to rest that stood beyond its stop when the brakes were let go. */
static double pushed_out(bool carries_weight)
{
    bring_up_arm("environment.gravity=0 0 0");
    scenario->spec.arm.carries_weight = carries_weight;
    const double stop = scenario->spec.arm.resolve.upper[3];
    sim->vehicle->x[sim->vehicle->kinematics.q_at[3]] = stop + 0.01;
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
    run_frames(10);
    press(BRAKES);
    run_frames(1000);
    TEST_ASSERT_EQUAL_UINT64(SIM_ARM_BRAKE_OFF, sim->vehicle->arm->brake[3]);
    return angle(3) - stop;
}

/* The weight is gravity's alone: what a stop does to a joint the servos do not undo. */
static void test_a_stop_pushes_a_joint_whose_weight_is_carried(void)
{
    const double without = pushed_out(false), with = pushed_out(true);
    TEST_ASSERT_TRUE(without < 0.005);
    TEST_ASSERT_EQUAL_DOUBLE(without, with);
}

static void test_the_block_is_lifted_and_falls_when_let_go(void)
{
    bring_up_arm(NULL);
    const struct sim_arm_state *arm = sim->vehicle->arm;
    press(AUTO);
    TEST_ASSERT_EQUAL_UINT64(AUTO, arm->panel.mode);
    press(SELECT + 1); /* above the block */
    TEST_ASSERT_EQUAL_UINT64(2, arm->panel.pose);
    for (int i = 0; i < 200 && (i < 2 || arm->flags & SIM_ARM_AUTO); i++)
        run_frames(100);
    run_frames(500);
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.12, arm->reach);

    press(TOOL);
    push(2, 0.3);
    for (int i = 0; i < 600 && arm->reach > 0.01; i++)
        run_frames(10);
    push(2, 0.0);
    run_frames(500);
    const double stands = height_of_block();
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1, arm->configuration);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, stands, height_of_block());

    press(BASE);
    push(2, 0.5);
    run_frames(3000);
    push(2, 0.0);
    run_frames(1500);
    const double lifted = height_of_block();
    TEST_ASSERT_TRUE(lifted > stands + 0.15);

    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm->configuration);
    TEST_ASSERT_EQUAL_UINT64(0, arm->latched);
    const double let_go = height_of_block();
    run_frames(200);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.5 * 9.81 * 0.2 * 0.2, let_go - height_of_block());
}

/* Sum of squares of how far the joints are from the middle of their range. */
static double from_middle(void)
{
    const struct dyn_resolved_rate_spec *limits = &scenario->spec.arm.resolve;
    double sum = 0.0;
    for (int n = 0; n < 7; n++) {
        const double off = angle(n) - 0.5 * (limits->lower[n] + limits->upper[n]);
        sum += off * off;
    }
    return sum;
}

/* The spare joint leads the others to the middle while the hand moves, and to nowhere while
 * the stick is not touched. */
static void test_joints_go_to_the_middle_only_under_a_hand(void)
{
    bring_up_arm(NULL);
    double before[7];
    press(TOOL);
    run_frames(300);
    for (int n = 0; n < 7; n++)
        before[n] = angle(n);
    run_frames(3000);
    for (int n = 0; n < 7; n++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-4, before[n], angle(n));
    double end[2];
    for (int centers = 0; centers < 2; centers++) {
        bring_up_arm(centers ? NULL : "arm.resolve.center=never");
        press(TOOL);
        for (int k = 0; k < 8; k++) { /* to and fro */
            push(5, k % 2 ? 1.0 : -1.0);
            run_frames(1000);
        }
        end[centers] = from_middle();
    }
    TEST_ASSERT_TRUE(end[1] < end[0] - 0.05);
}

/* To a pose, with the block in the hand: it sags by what the servos give, rests where friction lets
 * it, and is there. */
static void test_auto_arrives_with_the_block(void)
{
    bring_up_arm("arm.capture={reach: 10 m, tilt: 4 rad}");
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->arm->configuration);
    press(AUTO);
    press(SELECT + 1);
    for (int i = 0; i < 200 && (i < 2 || sim->vehicle->arm->flags & SIM_ARM_AUTO); i++)
        run_frames(100);
    TEST_ASSERT_FALSE(sim->vehicle->arm->flags & SIM_ARM_AUTO);
    for (int n = 0; n < 7; n++)
        TEST_ASSERT_DOUBLE_WITHIN(0.022, scenario->spec.arm.pose[1].angle[n], angle(n));
}

static void test_brakes_hold_what_servos_do_not(void)
{
    bring_up_arm("arm.weight=false");
    double before[7];
    for (int n = 0; n < 7; n++)
        before[n] = angle(n);
    run_frames(5000);
    for (int n = 0; n < 7; n++)
        TEST_ASSERT_EQUAL_DOUBLE(before[n], angle(n));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_servos_that_know_the_weight_hold_it);
    RUN_TEST(test_the_arm_stands_still_at_a_coarse_step);
    RUN_TEST(test_the_weight_is_that_of_a_turned_base_too);
    RUN_TEST(test_a_brake_on_a_joint_that_stands_does_not_move_it);
    RUN_TEST(test_the_weight_is_the_gradient_of_the_potential);
    RUN_TEST(test_a_stop_pushes_a_joint_whose_weight_is_carried);
    RUN_TEST(test_the_block_is_lifted_and_falls_when_let_go);
    RUN_TEST(test_joints_go_to_the_middle_only_under_a_hand);
    RUN_TEST(test_auto_arrives_with_the_block);
    RUN_TEST(test_brakes_hold_what_servos_do_not);
    return UNITY_END();
}
