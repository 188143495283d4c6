/*
 * The arm across a saved run state: a restore or a reset moves no joint that the operator does not
 * move, and presses none of his buttons.
 */
#include "tests/rt/executive/arm/arm_fixture.h"

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

/* The operator's next report after a restore is not a press of a button that was pressed since. */
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

    bring_up_arm(NULL, 0); /* in a run in which the stick has not been touched yet */
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_run_state_is_all_of_the_state_across_a_grapple);
    RUN_TEST(test_a_restore_presses_no_buttons);
    RUN_TEST(test_a_restore_gives_the_payload_back_to_the_hand);
    RUN_TEST(test_a_restore_leaves_the_sticks_to_the_operator);
    RUN_TEST(test_after_a_restore_the_sticks_wait_for_a_mode);
    RUN_TEST(test_a_restore_without_anybody_sets_the_brakes);
    RUN_TEST(test_what_was_pressed_before_the_run_presses_no_buttons);
    RUN_TEST(test_a_reset_presses_no_buttons);
    return UNITY_END();
}
