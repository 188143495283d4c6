/*
 * The arm stops: by a button, by an act, when its operator is lost; and its brakes hold it.
 */
#include "tests/rt/executive/arm/arm_fixture.h"

static void lose_operator(void)
{
    struct sim_record_input input = {.frame = frames, .command.kind = IO_COMMAND_LOSS};
    sim_apply_input(sim, &input);
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

static void test_the_operator_stops_and_brakes_it(void)
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

static void test_a_stop_twice_between_two_servo_jobs_stops_it(void)
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

static void test_the_stop_brakes_at_once(void)
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_operator_stops_and_brakes_it);
    RUN_TEST(test_a_stop_twice_between_two_servo_jobs_stops_it);
    RUN_TEST(test_of_modes_between_two_looks_the_last_counts);
    RUN_TEST(test_a_short_loss_stops_it_too);
    RUN_TEST(test_a_lost_operator_stops_it_within_one_servo_period);
    RUN_TEST(test_a_lost_operator_stops_the_module);
    RUN_TEST(test_the_stop_brakes_at_once);
    RUN_TEST(test_a_brake_slips_above_its_torque_and_only_eats_energy);
    RUN_TEST(test_a_brake_rubs_from_the_frame_on_in_which_it_slips);
    RUN_TEST(test_a_brake_holds_below_its_torque);
    return UNITY_END();
}
