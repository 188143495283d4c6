/*
 * The drift of the report: what the raw clock does shows, what the machine does to the frames does
 * not.  Outages here are as long as those of a shared virtual machine.
 */
#include "rt/frame.h"

#include <string.h>

#include "tests/rt/fake_clock.h"
#include "unity.h"

enum { H = 1000 * 1000, FRAMES = 6400 };

static struct rt_frame frame;
static struct fake_clock fake;
static int64_t wake_late[FRAMES + 2]; /* by wait */
static double clock_rate;             /* of the raw clock against the frame's clock */
static uint64_t step_from_ns;         /* from when on the raw clock is a millisecond ahead */

static uint64_t raw_clock(void *self)
{
    const struct fake_clock *clock = self;
    const uint64_t step_ns = clock->now_ns >= step_from_ns ? 1000 * 1000 : 0;
    return 7777 + (uint64_t)((double)clock->now_ns * clock_rate) + step_ns;
}

static void run_job(void *self, uint64_t k)
{
    (void)self, (void)k;
    fake_clock_spend(&fake, H / 5);
}

static void commit(void *self, uint64_t k)
{
    (void)self, (void)k;
}

static void latch(void *self, uint64_t k, bool held)
{
    (void)self, (void)k, (void)held;
}

static void record(void *self, const struct rt_frame_record *taken)
{
    (void)self, (void)taken;
}

static void invalidate_outputs(void *self)
{
    (void)self;
}

void setUp(void)
{
    static _Alignas(64) unsigned char mem[1 << 17];
    const struct rt_job job = {.name = "work", .run = run_job, .every = 1};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, rt_schedule_size(&job, 1));
    memset(&frame, 0, sizeof frame);
    memset(wake_late, 0, sizeof wake_late);
    fake = (struct fake_clock){.wake_late_ns = wake_late, .wake_count = FRAMES + 2};
    frame.spec = (struct rt_frame_spec){.period_ns = H, .frame_count = FRAMES};
    frame.tasks = (struct rt_frame_tasks){.commit = commit,
                                          .latch = latch,
                                          .record = record,
                                          .invalidate_outputs = invalidate_outputs};
    frame.schedule = rt_schedule_place(&job, 1, mem);
    frame.clock = fake_clock_seam(&fake);
    frame.clock.raw_ns = raw_clock;
    step_from_ns = UINT64_MAX;
    clock_rate = 1.0 / (1.0 + 25e-6); /* the raw clock is slow, so sim runs ahead of it */
}

void tearDown(void)
{
}

/* Half of the wall time is lost in the middle of the run; the clocks part on all the same. */
static void test_an_outage_as_long_as_the_run_leaves_the_drift_as_it_was(void)
{
    wake_late[FRAMES / 2] = INT64_C(6400) * H;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(6400, frame.missed);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 25.0, frame.drift_ppm);
}

static void test_many_outages_leave_the_drift_as_it_was(void)
{
    for (int k = 100; k < FRAMES; k += 300)
        wake_late[k] = INT64_C(250) * H + k;
    rt_frame_run(&frame);
    TEST_ASSERT_GREATER_THAN_UINT64(5000, frame.missed);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 25.0, frame.drift_ppm);
}

/* Its block holds nothing but that frame, at the far end of the lever. */
static void test_a_late_last_frame_is_not_drift(void)
{
    frame.spec.frame_count = FRAMES - 63;
    wake_late[FRAMES - 64] = H / 2;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(H / 2, frame.start_error_ns.max);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 25.0, frame.drift_ppm);
}

/* All frames of one block come a period or more late. */
static void test_a_block_of_outages_is_not_drift(void)
{
    for (int k = 64; k < 128; k++)
        wake_late[k] = 20 * H;
    rt_frame_run(&frame);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 25.0, frame.drift_ppm);
}

/* Two cut blocks are all that there is, and better than nothing. */
static void test_a_short_run_has_a_drift_too(void)
{
    frame.spec.frame_count = 74;
    rt_frame_run(&frame);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 25.0, frame.drift_ppm);
}

/* The raw clock steps after ten blocks of 64 frames: with half a block more the step shows. */
static void test_half_a_block_at_the_end_counts_and_less_does_not(void)
{
    static _Alignas(64) unsigned char fresh[sizeof frame];
    memcpy(fresh, &frame, sizeof frame);
    for (int more = 31; more <= 32; more++) {
        memcpy(&frame, fresh, sizeof frame);
        fake = (struct fake_clock){.wake_late_ns = wake_late, .wake_count = FRAMES + 2};
        frame.spec.frame_count = 640 + (uint64_t)more;
        step_from_ns = UINT64_C(639) * H + H / 2;
        rt_frame_run(&frame);
        if (more == 31)
            TEST_ASSERT_DOUBLE_WITHIN(0.01, 25.0, frame.drift_ppm);
        else
            TEST_ASSERT_TRUE(frame.drift_ppm < -100.0);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_half_a_block_at_the_end_counts_and_less_does_not);
    RUN_TEST(test_an_outage_as_long_as_the_run_leaves_the_drift_as_it_was);
    RUN_TEST(test_many_outages_leave_the_drift_as_it_was);
    RUN_TEST(test_a_late_last_frame_is_not_drift);
    RUN_TEST(test_a_block_of_outages_is_not_drift);
    RUN_TEST(test_a_short_run_has_a_drift_too);
    return UNITY_END();
}
