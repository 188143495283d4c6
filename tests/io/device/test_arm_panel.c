/*
 * The operator's panel, button by button: presses between two updates, the loss of the operator, a
 * stop that lasts, automatic brakes, and a restored run.
 */
#include "io/device/arm_panel.h"

#include <string.h>

#include "unity.h"

enum { JOINTS = 3, POSES = 2, SETTLE = 20 };
enum { VERNIER = 6, BRAKES, GRAPPLE, RELEASE, SAFE, NEXT, SELECT = 16 };

static struct io_arm_panel_spec spec;
static struct io_arm_panel_state state;
static uint32_t presses, down;
static uint64_t last_mode;
static bool lost, still;

void setUp(void)
{
    spec = (struct io_arm_panel_spec){.mode = {0, 1, 2, 3, 4, 5},
                                      .button = {VERNIER, BRAKES, GRAPPLE, RELEASE, SAFE, NEXT},
                                      .select_count = 4,
                                      .select = {SELECT, SELECT + 1, SELECT + 2, 31},
                                      .joints = JOINTS,
                                      .poses = POSES,
                                      .settle = SETTLE};
    io_arm_panel_begin(&state);
    presses = down = 0;
    last_mode = 0;
    lost = still = false;
}

void tearDown(void)
{
}

static void look(void)
{
    io_arm_panel_update(&spec, (uint64_t)presses << 32 | down, lost, still, &state);
}

static void picture(uint32_t flips)
{
    presses ^= flips;
    io_arm_panel_latch_command(&spec, (uint64_t)presses << 32 | down, last_mode, &state);
}

static void press(int button)
{
    picture(1u << button);
    look();
}

static void look_often(int looks)
{
    for (int i = 0; i < looks; i++)
        look();
}

static void expect_hold(bool brakes, bool safed)
{
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_HOLD, state.mode);
    TEST_ASSERT_EQUAL_UINT64(brakes, state.brakes);
    TEST_ASSERT_EQUAL_UINT64(safed, state.safed);
}

/* ---- buttons ---- */

static void test_it_begins_in_hold_with_brakes(void)
{
    look_often(3 * SETTLE);
    expect_hold(true, false);
}

static void test_a_press_in_the_first_picture_counts(void)
{
    press(2);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
}

static void test_every_mode_has_its_button_and_lets_the_brakes_go(void)
{
    for (int mode = IO_ARM_PANEL_JOINT; mode < IO_ARM_PANEL_MODE_COUNT; mode++) {
        io_arm_panel_begin(&state);
        state.presses = presses;
        press(mode);
        TEST_ASSERT_EQUAL_UINT64(mode, state.mode);
        TEST_ASSERT_EQUAL_UINT64(0, state.brakes);
        look_often(3 * SETTLE);
        TEST_ASSERT_EQUAL_UINT64(mode, state.mode);
        TEST_ASSERT_EQUAL_UINT64(0, state.brakes);
    }
}

static void test_hold_leaves_the_brakes_as_they_are_at_first(void)
{
    press(0);
    expect_hold(true, false);
    press(2);
    press(0);
    expect_hold(false, false);
}

static void test_vernier_and_brakes_go_on_and_off_in_turns(void)
{
    press(2);
    for (uint64_t i = 1; i <= 4; i++) {
        press(VERNIER);
        TEST_ASSERT_EQUAL_UINT64(i % 2, state.vernier);
        press(BRAKES);
        TEST_ASSERT_EQUAL_UINT64(i % 2, state.brakes);
        TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    }
}

static void test_grapple_and_release_ask_once(void)
{
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1, state.grapple);
    TEST_ASSERT_EQUAL_UINT64(0, state.release);
    look();
    TEST_ASSERT_EQUAL_UINT64(0, state.grapple);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, state.grapple);
    TEST_ASSERT_EQUAL_UINT64(1, state.release);
    look();
    TEST_ASSERT_EQUAL_UINT64(0, state.release);
}

static void test_next_goes_round_the_joints_in_mode_joint_only(void)
{
    press(NEXT);
    TEST_ASSERT_EQUAL_UINT64(0, state.joint);
    press(1);
    for (uint64_t i = 1; i <= 2 * JOINTS; i++) {
        press(NEXT);
        TEST_ASSERT_EQUAL_UINT64(i % JOINTS, state.joint);
    }
    press(2);
    press(NEXT);
    TEST_ASSERT_EQUAL_UINT64(0, state.joint);
}

static void test_select_means_a_joint_or_a_pose_as_the_mode_has_it(void)
{
    press(SELECT + 1); /* hold */
    TEST_ASSERT_EQUAL_UINT64(0, state.joint);
    TEST_ASSERT_EQUAL_UINT64(0, state.pose);
    press(1);
    press(SELECT + 2);
    TEST_ASSERT_EQUAL_UINT64(2, state.joint);
    TEST_ASSERT_EQUAL_UINT64(0, state.pose);
    press(31); /* there is no joint 3 */
    TEST_ASSERT_EQUAL_UINT64(2, state.joint);
    press(5);
    TEST_ASSERT_EQUAL_UINT64(0, state.pose);
    press(SELECT + 1);
    TEST_ASSERT_EQUAL_UINT64(2, state.pose);
    press(SELECT + 2); /* nor a pose 2 */
    TEST_ASSERT_EQUAL_UINT64(2, state.pose);
    TEST_ASSERT_EQUAL_UINT64(2, state.joint);
    press(5); /* selected anew, the arm does not move until a pose is selected */
    TEST_ASSERT_EQUAL_UINT64(0, state.pose);
}

static void test_a_panel_without_buttons_receives_nothing(void)
{
    for (int k = 0; k < IO_ARM_PANEL_MODE_COUNT; k++)
        spec.mode[k] = -1;
    for (int k = 0; k < IO_ARM_PANEL_BUTTON_COUNT; k++)
        spec.button[k] = -1;
    spec.select_count = 0;
    struct io_arm_panel_state before = state;
    picture(~0u);
    look();
    before.presses = ~0u;
    before.held = state.held;
    TEST_ASSERT_EQUAL_MEMORY(&before, &state, sizeof state);
}

/* ---- between two updates ---- */

static void test_presses_that_came_and_went_between_two_looks_count(void)
{
    picture(1u << 3);
    picture(0);
    picture(1u << VERNIER);
    picture(1u << GRAPPLE);
    look();
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_BASE, state.mode);
    TEST_ASSERT_EQUAL_UINT64(1, state.vernier);
    TEST_ASSERT_EQUAL_UINT64(1, state.grapple);
}

/* Every command counts, however rare the updates are. */
static void test_twice_between_two_looks_is_once_unless_it_works_in_turns(void)
{
    press(2);
    picture(1u << GRAPPLE | 1u << VERNIER);
    picture(1u << GRAPPLE | 1u << VERNIER);
    look();
    TEST_ASSERT_EQUAL_UINT64(1, state.grapple);
    TEST_ASSERT_EQUAL_UINT64(0, state.vernier);
    look();
    TEST_ASSERT_EQUAL_UINT64(0, state.grapple);
    picture(1u << SAFE);
    picture(1u << SAFE);
    look();
    expect_hold(true, true);
}

static void press_mode(uint64_t which)
{
    last_mode = which;
    picture(1u << which);
}

static void test_of_several_modes_the_last_counts(void)
{
    press_mode(IO_ARM_PANEL_TOOL);
    press_mode(IO_ARM_PANEL_HOLD);
    look();
    expect_hold(true, false);
    press_mode(IO_ARM_PANEL_HOLD);
    press_mode(IO_ARM_PANEL_TOOL);
    look();
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    last_mode =
        IO_ARM_PANEL_HOLD; /* hold, base, hold in one command: the decoder has merged the holds */
    picture(1u << IO_ARM_PANEL_HOLD | 1u << IO_ARM_PANEL_BASE);
    look();
    expect_hold(false, false);
    last_mode = 77; /* not a mode that a hand controller reports */
    picture(1u << IO_ARM_PANEL_BASE);
    look();
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_BASE, state.mode);
}

static void test_buttons_that_work_in_turns_may_flip_back(void)
{
    const uint32_t once = io_arm_panel_idempotent_buttons(&spec);
    TEST_ASSERT_EQUAL_HEX32(0, once & (1u << VERNIER | 1u << BRAKES));
    TEST_ASSERT_EQUAL_HEX32(0x80070f3f, once);
    spec.button[IO_ARM_PANEL_SAFE] = spec.mode[0] = spec.select[3] = -1;
    TEST_ASSERT_EQUAL_HEX32(0x00070b3e, io_arm_panel_idempotent_buttons(&spec));
}

static void test_the_safe_button_stops_also_while_it_is_down(void)
{
    press(2);
    down = 1u << SAFE; /* since before the first command */
    look();
    expect_hold(true, true);
    press(2); /* no mode ends the stop while the button is down */
    expect_hold(true, true);
    press(BRAKES);
    expect_hold(true, true);
    down = 0;
    look();
    expect_hold(true, true);
    press(2);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    TEST_ASSERT_EQUAL_UINT64(0, state.brakes);
}

static void test_another_button_that_is_down_does_nothing(void)
{
    press(2);
    down = ~(1u << SAFE);
    look_often(3);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    TEST_ASSERT_EQUAL_UINT64(0, state.brakes);
    TEST_ASSERT_EQUAL_UINT64(0, state.safed);
}

static void test_a_mode_and_its_choice_in_one_look_act_in_that_order(void)
{
    picture(1u << SELECT | 1u << 5);
    look();
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_AUTO, state.mode);
    TEST_ASSERT_EQUAL_UINT64(1, state.pose);
}

static void test_the_safe_button_wins_over_all_that_is_pressed_with_it(void)
{
    picture(~0u);
    look();
    expect_hold(true, true);
    TEST_ASSERT_EQUAL_UINT64(0, state.pose);
}

/* ---- a stop ---- */

static void test_the_stop_brakes_at_once(void)
{
    press(2);
    press(SAFE);
    expect_hold(true, true);
}

static void test_a_stop_without_a_hand_controller_brakes_it_too(void)
{
    press(2);
    press_mode(IO_ARM_PANEL_BASE); /* received, but not yet in an update */
    io_arm_panel_stop_and_brake(&state);
    look();
    expect_hold(true, true);
    press(3);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_BASE, state.mode);
}

static void test_safing_ends_only_with_a_mode(void)
{
    static const int other[] = {VERNIER, GRAPPLE, RELEASE,    SAFE,       NEXT,
                                SELECT,  BRAKES,  SELECT + 1, SELECT + 2, 30};
    press(3);
    press(SAFE);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        press(other[i]);
        expect_hold(true, true);
    }
    look_often(3 * SETTLE);
    expect_hold(true, true);
    press(0);
    expect_hold(true, false);
    press(SAFE);
    press(4);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_PAYLOAD, state.mode);
    TEST_ASSERT_EQUAL_UINT64(0, state.safed);
    TEST_ASSERT_EQUAL_UINT64(0, state.brakes);
}

static void test_a_lost_operator_stops_the_arm_and_then_the_brakes_come_on(void)
{
    press(5);
    press(SELECT);
    lost = true;
    look();
    expect_hold(false, true);
    TEST_ASSERT_EQUAL_UINT64(0, state.pose);
    look_often(SETTLE - 1);
    expect_hold(false, true);
    look();
    expect_hold(true, true);
    lost = false; /* the operator is back, with the stick where it was */
    look_often(3 * SETTLE);
    expect_hold(true, true);
    press(2);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    TEST_ASSERT_EQUAL_UINT64(0, state.safed);
}

static void test_an_operator_that_was_gone_for_a_moment_was_lost(void)
{
    press(2);
    io_arm_panel_mark_lost(&state);
    look();
    expect_hold(false, true);
    press(2);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    look_often(3);
    TEST_ASSERT_EQUAL_UINT64(0, state.safed);
}

static void test_the_stop_brakes_a_lost_arm_at_once_too(void)
{
    press(2);
    lost = true;
    look();
    press(SAFE);
    expect_hold(true, true);
}

/* Of two links, the one with the buttons may still be connected. */
static void test_while_one_link_is_lost_no_mode_moves_the_arm(void)
{
    press(2);
    lost = true;
    look_often(2 * SETTLE);
    expect_hold(true, true);
    press(3);
    expect_hold(true, true);
    press(0);
    expect_hold(true, true);
}

/* ---- hold ---- */

static void test_hold_brakes_when_the_joints_are_still(void)
{
    press(2);
    press(0);
    look_often(5);
    expect_hold(false, false);
    still = true;
    look();
    expect_hold(true, false);
}

static void test_hold_brakes_after_settle_looks_at_the_latest(void)
{
    press(2);
    press(0); /* the first update of hold */
    look_often(SETTLE - 1);
    expect_hold(false, false);
    look();
    expect_hold(true, false);
    spec.settle = 0;
    press(2);
    press(0);
    expect_hold(true, false);
}

static void test_releasing_the_brakes_in_hold_lets_the_servos_hold_the_arm(void)
{
    still = true;
    press(2);
    press(0);
    expect_hold(true, false);
    press(BRAKES);
    look_often(3 * SETTLE);
    expect_hold(false, false);
    press(0); /* hold anew */
    expect_hold(true, false);
}

/* ---- a restored run ---- */

/* The state is of another time: the buttons as they are now are not presses, and the next change
 * is one. */
static void test_what_was_pressed_in_another_time_does_not_count(void)
{
    press(2);
    const struct io_arm_panel_state saved = state;
    press(GRAPPLE);
    press(VERNIER);
    press(3);

    state = saved;
    io_arm_panel_adopt_buttons(&state, presses);
    look_often(3);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_TOOL, state.mode);
    TEST_ASSERT_EQUAL_UINT64(0, state.grapple);
    TEST_ASSERT_EQUAL_UINT64(0, state.vernier);
    press(SAFE);
    expect_hold(true, true);
}

static void test_a_lost_operator_stops_an_arm_that_was_put_back(void)
{
    press(2);
    io_arm_panel_adopt_buttons(&state, presses);
    lost = true;
    look();
    expect_hold(false, true);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_it_begins_in_hold_with_brakes);
    RUN_TEST(test_a_press_in_the_first_picture_counts);
    RUN_TEST(test_every_mode_has_its_button_and_lets_the_brakes_go);
    RUN_TEST(test_hold_leaves_the_brakes_as_they_are_at_first);
    RUN_TEST(test_vernier_and_brakes_go_on_and_off_in_turns);
    RUN_TEST(test_grapple_and_release_ask_once);
    RUN_TEST(test_next_goes_round_the_joints_in_mode_joint_only);
    RUN_TEST(test_select_means_a_joint_or_a_pose_as_the_mode_has_it);
    RUN_TEST(test_a_panel_without_buttons_receives_nothing);
    RUN_TEST(test_presses_that_came_and_went_between_two_looks_count);
    RUN_TEST(test_twice_between_two_looks_is_once_unless_it_works_in_turns);
    RUN_TEST(test_of_several_modes_the_last_counts);
    RUN_TEST(test_buttons_that_work_in_turns_may_flip_back);
    RUN_TEST(test_the_safe_button_stops_also_while_it_is_down);
    RUN_TEST(test_another_button_that_is_down_does_nothing);
    RUN_TEST(test_a_mode_and_its_choice_in_one_look_act_in_that_order);
    RUN_TEST(test_the_safe_button_wins_over_all_that_is_pressed_with_it);
    RUN_TEST(test_the_stop_brakes_at_once);
    RUN_TEST(test_a_stop_without_a_hand_controller_brakes_it_too);
    RUN_TEST(test_safing_ends_only_with_a_mode);
    RUN_TEST(test_a_lost_operator_stops_the_arm_and_then_the_brakes_come_on);
    RUN_TEST(test_an_operator_that_was_gone_for_a_moment_was_lost);
    RUN_TEST(test_the_stop_brakes_a_lost_arm_at_once_too);
    RUN_TEST(test_while_one_link_is_lost_no_mode_moves_the_arm);
    RUN_TEST(test_hold_brakes_when_the_joints_are_still);
    RUN_TEST(test_hold_brakes_after_settle_looks_at_the_latest);
    RUN_TEST(test_releasing_the_brakes_in_hold_lets_the_servos_hold_the_arm);
    RUN_TEST(test_what_was_pressed_in_another_time_does_not_count);
    RUN_TEST(test_a_lost_operator_stops_an_arm_that_was_put_back);
    return UNITY_END();
}
