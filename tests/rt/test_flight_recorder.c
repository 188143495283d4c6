/*
 * The flight recorder in the frame loop, on a scripted clock: what its rows say against what the
 * script did, and which of them come out after an overrun.
 */
#include "rt/flight_recorder.h"

#include <string.h>

#include "rt/frame.h"
#include "tests/rt/fake_clock.h"
#include "unity.h"

enum { H = 1000 * 1000, FRAMES_MAX = 1000, JOBS = 2 };
/* What the script spends, each a number of its own. */
enum { COMMIT = 1000, LATCH = 300, JOB_A = 20000, JOB_B = 5000, RECORD = 70, AWAIT = 9000 };

static struct rt_frame frame;
static struct rt_flight_recorder *recorder;
static struct fake_clock fake;
static int64_t wake_late[FRAMES_MAX + 2];              /* by wait */
static int64_t extra[FRAMES_MAX];                      /* by frame; spent in job a beyond JOB_A */
static struct rt_flight_recorder_row rows[FRAMES_MAX]; /* what came out, in order */
static uint64_t row_at[FRAMES_MAX];                    /* and after which frame */
static uint64_t row_count, recorded;
static uint64_t no_reply_at;
static bool room; /* for what comes out */

static uint64_t script_ns(void)
{
    return fake.now_ns;
}

static void run_a(void *self, uint64_t k)
{
    (void)self;
    fake_clock_spend(&fake, JOB_A + extra[k]);
}

static void run_b(void *self, uint64_t k)
{
    (void)self, (void)k;
    fake_clock_spend(&fake, JOB_B);
}

static void commit(void *self, uint64_t k)
{
    (void)self, (void)k;
    fake_clock_spend(&fake, COMMIT);
}

static bool await_reply(void *self, uint64_t k)
{
    (void)self;
    fake_clock_spend(&fake, AWAIT);
    return k != no_reply_at;
}

static void latch(void *self, uint64_t k, bool held)
{
    (void)self, (void)k, (void)held;
    fake_clock_spend(&fake, LATCH);
}

static void record(void *self, const struct rt_frame_record *taken)
{
    (void)self;
    fake_clock_spend(&fake, RECORD);
    recorded = taken->frame;
}

static bool drain(void *self)
{
    (void)self;
    const struct rt_flight_recorder_row *row = room ? rt_flight_recorder_take(recorder) : NULL;
    if (!row)
        return false;
    memcpy(&rows[row_count], row, recorder->row_size);
    row_at[row_count++] = recorded;
    return true;
}

static void invalidate_outputs(void *self)
{
    (void)self;
}

void setUp(void)
{
    static _Alignas(64) unsigned char mem[1 << 17], recorder_mem[1 << 15];
    const struct rt_job jobs[JOBS] = {{.name = "a", .run = run_a, .every = 1},
                                      {.name = "b", .run = run_b, .every = 2}};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, rt_schedule_size(jobs, JOBS));
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof recorder_mem, rt_flight_recorder_size(JOBS));
    memset(recorder_mem, 0xff, sizeof recorder_mem);
    memset(&frame, 0, sizeof frame);
    memset(wake_late, 0, sizeof wake_late);
    memset(extra, 0, sizeof extra);
    memset(rows, 0, sizeof rows);
    fake = (struct fake_clock){.wake_late_ns = wake_late, .wake_count = FRAMES_MAX + 2};
    row_count = recorded = 0;
    no_reply_at = UINT64_MAX;
    room = true;
    recorder = rt_flight_recorder_place(JOBS, recorder_mem);
    frame.spec = (struct rt_frame_spec){.period_ns = H, .frame_count = 300};
    frame.tasks = (struct rt_frame_tasks){.commit = commit,
                                          .await = await_reply,
                                          .latch = latch,
                                          .record = record,
                                          .drain = drain,
                                          .invalidate_outputs = invalidate_outputs};
    frame.recorder = recorder;
    frame.schedule = rt_schedule_place(jobs, JOBS, mem);
    frame.clock = fake_clock_seam(&fake);
    frame.schedule->now_ns = script_ns;
}

void tearDown(void)
{
}

static void check_span(uint64_t from, uint64_t to)
{
    TEST_ASSERT_EQUAL_UINT64(to - from + 1, row_count);
    for (uint64_t i = 0; i < row_count; i++)
        TEST_ASSERT_EQUAL_UINT64(from + i, rows[i].frame);
}

/* ---- what a row says ---- */

static void test_a_row_has_every_boundary_of_its_frame_in_order(void)
{
    frame.spec.frame_count = 3;
    wake_late[2] = 4000;
    rt_frame_run(&frame);
    const struct rt_flight_recorder_row *row = rt_flight_recorder_row(recorder, 2);
    TEST_ASSERT_EQUAL_UINT64(2, row->frame);
    TEST_ASSERT_EQUAL_UINT64(3 * H, row->release_ns);
    TEST_ASSERT_EQUAL_UINT64(row->release_ns + 4000, row->start_ns);
    TEST_ASSERT_EQUAL_UINT64(row->start_ns + COMMIT, row->sent_ns);
    TEST_ASSERT_EQUAL_UINT64(row->sent_ns + LATCH, row->jobs_ns);
    TEST_ASSERT_EQUAL_UINT64(3, row->due);
    TEST_ASSERT_EQUAL_UINT32(JOB_A, row->spent_ns[0]);
    TEST_ASSERT_EQUAL_UINT32(JOB_B, row->spent_ns[1]);
    TEST_ASSERT_EQUAL_UINT64(row->jobs_ns + JOB_A + JOB_B, row->end_ns);
    TEST_ASSERT_EQUAL_UINT64(row->end_ns + RECORD, row->recorded_ns);
    TEST_ASSERT_EQUAL_UINT64(0, row->await_ns);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_NONE, row->cause);
    TEST_ASSERT_EQUAL_UINT64(1, rt_flight_recorder_row(recorder, 1)->due);
}

static void test_the_first_frame_has_sent_nothing(void)
{
    frame.spec.frame_count = 1;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, rt_flight_recorder_row(recorder, 0)->sent_ns);
    TEST_ASSERT_EQUAL_UINT64(1, recorder->count);
}

static void test_an_early_sample_leaves_after_the_jobs(void)
{
    frame.spec.frame_count = 2;
    frame.spec.commit = RT_COMMIT_EARLY;
    rt_frame_run(&frame);
    const struct rt_flight_recorder_row *row = rt_flight_recorder_row(recorder, 1);
    TEST_ASSERT_EQUAL_UINT64(row->jobs_ns + JOB_A + COMMIT, row->sent_ns);
    TEST_ASSERT_EQUAL_UINT64(row->sent_ns, row->end_ns);
}

static void test_a_wait_for_a_reply_lasts_until_the_start(void)
{
    frame.spec.pace = RT_PACE_LOCKSTEP;
    frame.spec.frame_count = 3;
    rt_frame_run(&frame);
    const struct rt_flight_recorder_row *row = rt_flight_recorder_row(recorder, 2);
    TEST_ASSERT_EQUAL_UINT64(row->sent_ns, row->await_ns);
    TEST_ASSERT_EQUAL_UINT64(row->await_ns + AWAIT, row->start_ns);
    TEST_ASSERT_EQUAL_UINT64(0, rt_flight_recorder_row(recorder, 0)->await_ns);
    TEST_ASSERT_EQUAL_UINT64(0, row_count);
}

static void test_a_late_frame_has_its_cause_and_the_next_what_it_cost(void)
{
    extra[50] = 3 * H;
    rt_frame_run(&frame);
    const struct rt_flight_recorder_row *late = &rows[RT_FLIGHT_RECORDER_BEFORE];
    TEST_ASSERT_EQUAL_UINT64(50, late->frame);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_OWN, late->cause);
    TEST_ASSERT_EQUAL_UINT32(JOB_A + 3 * H, late->spent_ns[0]);
    TEST_ASSERT_EQUAL_UINT32(0, late->missed);
    TEST_ASSERT_EQUAL_UINT32(3, late[1].missed);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_NONE, late[1].cause);
}

static void test_held_frames_say_so(void)
{
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.max_catch_up = 10;
    extra[50] = 3 * H;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT8(0, rows[RT_FLIGHT_RECORDER_BEFORE].held);
    TEST_ASSERT_EQUAL_UINT8(1, rows[RT_FLIGHT_RECORDER_BEFORE + 1].held);
    TEST_ASSERT_EQUAL_UINT64(0, rows[RT_FLIGHT_RECORDER_BEFORE + 1].sent_ns);
}

/* ---- which rows come out ---- */

static void test_a_punctual_run_writes_nothing(void)
{
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, row_count);
    TEST_ASSERT_EQUAL_UINT64(300, recorder->count);
    TEST_ASSERT_EQUAL_UINT64(0, recorder->lost);
}

static void test_an_overrun_writes_the_frames_before_it_and_a_few_after(void)
{
    extra[200] = 2 * H; /* the circle has gone round by then */
    rt_frame_run(&frame);
    check_span(200 - RT_FLIGHT_RECORDER_BEFORE, 200 + RT_FLIGHT_RECORDER_AFTER);
    TEST_ASSERT_EQUAL_UINT64(0, recorder->lost);
}

static void test_an_overrun_at_the_beginning_writes_what_there_is(void)
{
    extra[2] = 2 * H;
    rt_frame_run(&frame);
    check_span(0, 2 + RT_FLIGHT_RECORDER_AFTER);
}

static void test_two_overruns_in_a_row_write_each_frame_once(void)
{
    extra[100] = extra[101] = 2 * H;
    rt_frame_run(&frame);
    check_span(100 - RT_FLIGHT_RECORDER_BEFORE, 101 + RT_FLIGHT_RECORDER_AFTER);
}

static void test_two_overruns_apart_write_each_their_own(void)
{
    extra[100] = extra[250] = 2 * H;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(2 * (RT_FLIGHT_RECORDER_BEFORE + 1 + RT_FLIGHT_RECORDER_AFTER),
                             row_count);
    TEST_ASSERT_EQUAL_UINT64(250 - RT_FLIGHT_RECORDER_BEFORE,
                             rows[RT_FLIGHT_RECORDER_BEFORE + 1 + RT_FLIGHT_RECORDER_AFTER].frame);
}

static void test_a_reply_that_does_not_come_is_written(void)
{
    frame.spec.pace = RT_PACE_LOCKSTEP;
    no_reply_at = 60;
    rt_frame_run(&frame);
    check_span(60 - RT_FLIGHT_RECORDER_BEFORE, 60 + RT_FLIGHT_RECORDER_AFTER);
    TEST_ASSERT_EQUAL_UINT8(1, rows[RT_FLIGHT_RECORDER_BEFORE].unanswered);
    TEST_ASSERT_EQUAL_UINT8(0, rows[RT_FLIGHT_RECORDER_BEFORE + 1].unanswered);
}

/* ---- when they come out ---- */

static void test_no_frame_takes_out_more_than_its_share(void)
{
    extra[100] = 2 * H;
    rt_frame_run(&frame);
    for (uint64_t i = RT_FLIGHT_RECORDER_DRAIN; i < row_count; i++)
        TEST_ASSERT_GREATER_THAN_UINT64(row_at[i - RT_FLIGHT_RECORDER_DRAIN], row_at[i]);
    TEST_ASSERT_LESS_THAN_UINT64(100 + RT_FLIGHT_RECORDER_BEFORE + RT_FLIGHT_RECORDER_AFTER,
                                 row_at[row_count - 1]);
}

static void test_a_frame_without_slack_takes_out_nothing(void)
{
    extra[100] = 2 * H;
    for (int k = 101; k < 110; k++)
        extra[k] = H - COMMIT - LATCH - JOB_A - JOB_B - RECORD - 1000;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    check_span(100 - RT_FLIGHT_RECORDER_BEFORE, 100 + RT_FLIGHT_RECORDER_AFTER);
    TEST_ASSERT_EQUAL_UINT64(100,
                             row_at[RT_FLIGHT_RECORDER_DRAIN - 1]); /* waits for the next release */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(110, row_at[2 * RT_FLIGHT_RECORDER_DRAIN]);
}

static void test_rows_that_are_not_taken_are_overwritten_and_counted(void)
{
    extra[10] = 2 * H;
    room = false;
    rt_frame_run(&frame);
    room = true;
    TEST_ASSERT_FALSE(drain(NULL));
    TEST_ASSERT_EQUAL_UINT64(10 + 1 + RT_FLIGHT_RECORDER_AFTER, recorder->lost);
    TEST_ASSERT_EQUAL_UINT64(0, row_count);
}

/* Late from first to last: what is written at the end is the newest that the circle holds. */
static void test_a_run_that_is_always_late_keeps_its_last_frames(void)
{
    room = false;
    for (int k = 0; k < 300; k++)
        extra[k] = H;
    rt_frame_run(&frame);
    room = true;
    while (drain(NULL))
        continue;
    check_span(300 - RT_FLIGHT_RECORDER_FRAMES, 299);
    TEST_ASSERT_EQUAL_UINT64(300 - RT_FLIGHT_RECORDER_FRAMES, recorder->lost);
}

/* Any script: rows come out in order, none twice, and every late frame's is among them or lost. */
static void test_random_scripts_lose_nothing_while_there_is_slack(void)
{
    uint64_t noise = 88172645463325252u;
    for (int run = 0; run < 50; run++) {
        setUp();
        frame.spec.frame_count = 900;
        for (int k = 0; k < 880; k++) {
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            extra[k] = noise % 40 == 0 ? (int64_t)(noise >> 32) % (5 * H) : 0;
        }
        rt_frame_run(&frame);
        while (drain(NULL))
            continue;
        uint64_t late = 0;
        for (uint64_t i = 0; i < row_count; i++) {
            TEST_ASSERT_TRUE(i == 0 || rows[i].frame > rows[i - 1].frame);
            late += rows[i].cause != RT_CAUSE_NONE;
        }
        TEST_ASSERT_EQUAL_UINT64(frame.overruns, late);
        TEST_ASSERT_EQUAL_UINT64(0, recorder->lost);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_row_has_every_boundary_of_its_frame_in_order);
    RUN_TEST(test_the_first_frame_has_sent_nothing);
    RUN_TEST(test_an_early_sample_leaves_after_the_jobs);
    RUN_TEST(test_a_wait_for_a_reply_lasts_until_the_start);
    RUN_TEST(test_a_late_frame_has_its_cause_and_the_next_what_it_cost);
    RUN_TEST(test_held_frames_say_so);
    RUN_TEST(test_a_punctual_run_writes_nothing);
    RUN_TEST(test_an_overrun_writes_the_frames_before_it_and_a_few_after);
    RUN_TEST(test_an_overrun_at_the_beginning_writes_what_there_is);
    RUN_TEST(test_two_overruns_in_a_row_write_each_frame_once);
    RUN_TEST(test_two_overruns_apart_write_each_their_own);
    RUN_TEST(test_a_reply_that_does_not_come_is_written);
    RUN_TEST(test_no_frame_takes_out_more_than_its_share);
    RUN_TEST(test_a_frame_without_slack_takes_out_nothing);
    RUN_TEST(test_rows_that_are_not_taken_are_overwritten_and_counted);
    RUN_TEST(test_a_run_that_is_always_late_keeps_its_last_frames);
    RUN_TEST(test_random_scripts_lose_nothing_while_there_is_slack);
    return UNITY_END();
}
