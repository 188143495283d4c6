/*
 * The arm's record in the log: every number, and where it stands.
 */
#include "rt/executive/arm/arm_record.h"
#include "tests/rt/executive/arm/arm_fixture.h"

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

/* Otherwise the latency to the display would seem shorter than it is. */
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
    RUN_TEST(test_the_record_has_the_command_that_the_servos_saw);
    RUN_TEST(test_the_record_has_every_number_in_its_place);
    return UNITY_END();
}
