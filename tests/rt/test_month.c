/*
 * Months in seconds: the frame loop on a fake clock for as long as rigs are left running, with rare
 * troubles, on clocks that have been up for a month and for centuries.  What is checked is exact:
 * no nanosecond of the grid is lost to rounding, and every count is the one the script implies.
 */
#include "rt/frame.h"

#include <string.h>

#include "unity.h"

enum {
    SECOND = 999999937, /* ns: a period of which no round time is a multiple */
    TENTH = 99999989,   /* ns: another */
    MS = 1000 * 1000,
    /* Troubles, one every so many frames; primes, so that they meet in all orders. */
    LATE_EVERY = 100003, /* woken two and a half periods late */
    LONG_EVERY = 70001,  /* works for three periods and a half */
    EDGE_EVERY = 50021,  /* ends on the very release of the next frame */
};
#define DAY_NS (UINT64_C(86400) * 1000 * MS)
#ifdef __SANITIZE_ADDRESS__ /* a sanitizer has nothing to say about more of the same */
#define MONTH_NS (3 * DAY_NS)
#else
#define MONTH_NS (30 * DAY_NS)
#endif
#define MONTH        (MONTH_NS / SECOND) /* frames: 2.6 million */
#define MONTH_TENTHS (MONTH_NS / TENTH)  /* 26 million */

static struct rt_frame frame;
static struct rt_schedule *schedule;
static uint64_t now_ns;
static uint64_t frame_now; /* of the wait that is going on */
static bool troubles;
static uint64_t jump_at, jump_ns;

static uint64_t commit_count, held_count, reply_count, safe_count;
static uint64_t record_count, missed_sum, off_grid;
static uint64_t release_ns; /* of the last record, from adding up periods */

static bool strikes(uint64_t k, uint64_t every)
{
    return troubles && k % every == every - 1;
}

/* ---- clock and tasks ---- */

static uint64_t clock_now(void *self)
{
    (void)self;
    return now_ns;
}

static void clock_wait(void *self, uint64_t deadline_ns)
{
    const uint64_t k = frame_now++, period_ns = frame.spec.period_ns;
    (void)self;
    now_ns = now_ns > deadline_ns ? now_ns : deadline_ns;
    if (strikes(k, LATE_EVERY))
        now_ns += 2 * period_ns + period_ns / 2;
    if (k == jump_at)
        now_ns += jump_ns;
}

static void work(void *self, uint64_t k)
{
    const uint64_t period_ns = frame.spec.period_ns;
    (void)self;
    if (strikes(k, LONG_EVERY))
        now_ns += 3 * period_ns + period_ns / 2;
    else if (strikes(k, EDGE_EVERY))
        now_ns += period_ns;
    else
        now_ns += period_ns / 5;
}

static void commit(void *self, uint64_t k)
{
    (void)self;
    (void)k;
    commit_count++;
}

static bool await_reply(void *self, uint64_t k)
{
    (void)self;
    reply_count++;
    return !strikes(k, LATE_EVERY);
}

static void latch(void *self, uint64_t k, bool held)
{
    (void)self;
    held_count += held;
    frame_now = k + 1; /* held frames have no wait of their own */
}

/* Adding up periods and multiplying by the slot must come to the same, a month later too. */
static void record(void *self, const struct rt_frame_record *taken)
{
    const uint64_t period_ns = frame.spec.period_ns;
    (void)self;
    release_ns = record_count == 0 ? taken->release_ns
                                   : release_ns + (1 + (uint64_t)taken->missed) * period_ns;
    off_grid += taken->release_ns != release_ns || taken->frame != record_count ||
                taken->start_ns < taken->release_ns || taken->end_ns < taken->start_ns;
    missed_sum += taken->missed;
    record_count++;
}

static void invalidate_outputs(void *self)
{
    (void)self;
    safe_count++;
}

void setUp(void)
{
    static _Alignas(64) unsigned char mem[1 << 17];
    const struct rt_job job = {.name = "work", .run = work, .every = 1};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, rt_schedule_size(&job, 1));
    schedule = rt_schedule_place(&job, 1, mem);
    memset(&frame, 0, sizeof frame);
    frame.spec = (struct rt_frame_spec){.period_ns = SECOND, .frame_count = MONTH};
    frame.tasks = (struct rt_frame_tasks){.commit = commit,
                                          .await = await_reply,
                                          .latch = latch,
                                          .record = record,
                                          .invalidate_outputs = invalidate_outputs};
    frame.schedule = schedule;
    frame.clock = (struct rt_clock){.now_ns = clock_now, .wait_until_ns = clock_wait};
    now_ns = frame_now = 0;
    troubles = true;
    jump_at = UINT64_MAX;
    commit_count = held_count = reply_count = safe_count = 0;
    record_count = missed_sum = off_grid = 0;
}

void tearDown(void)
{
}

/* ---- what must hold for any run on the grid ---- */

static uint64_t struck(uint64_t every)
{
    return frame.spec.frame_count / every;
}

static void check_grid(void)
{
    uint64_t causes = 0;
    for (int c = 0; c < RT_CAUSE_COUNT; c++)
        causes += frame.causes[c];
    TEST_ASSERT_EQUAL_UINT64(0, off_grid);
    TEST_ASSERT_EQUAL_UINT64(record_count, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(frame.overruns, causes);
    TEST_ASSERT_EQUAL_UINT64(missed_sum, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(frame.frames, frame.start_error_ns.count);
    TEST_ASSERT_EQUAL_UINT64(frame.frames, frame.busy_ns.count);
    TEST_ASSERT_EQUAL_UINT64(frame.frames, frame.response_ns.count);
    TEST_ASSERT_EQUAL_UINT64(release_ns, frame.last_release_ns);
    TEST_ASSERT_EQUAL_UINT64((frame.frames + frame.missed) * frame.spec.period_ns,
                             frame.last_release_ns + frame.spec.period_ns - frame.first_release_ns);
}

static uint64_t bucket_sum(const struct rt_histogram *histogram)
{
    uint64_t sum = 0;
    for (int i = 0; i < RT_HISTOGRAM_BUCKETS; i++)
        sum += histogram->bucket[i];
    return sum;
}

/* Every frame is in its histograms, and their sums are those of the script to the nanosecond. */
static void check_histograms(void)
{
    const uint64_t period_ns = frame.spec.period_ns, frames = frame.spec.frame_count;
    const uint64_t late = struck(LATE_EVERY), edges = struck(EDGE_EVERY),
                   longs = struck(LONG_EVERY);
    const uint64_t long_ns = 3 * period_ns + period_ns / 2;
    TEST_ASSERT_EQUAL_UINT64(frames, bucket_sum(&frame.busy_ns));
    TEST_ASSERT_EQUAL_UINT64(frames, bucket_sum(&frame.start_error_ns));
    TEST_ASSERT_EQUAL_UINT64(late * (2 * period_ns + period_ns / 2), frame.start_error_ns.sum);
    TEST_ASSERT_EQUAL_UINT64((frames - longs - edges) * (period_ns / 5) + edges * period_ns +
                                 longs * long_ns,
                             frame.busy_ns.sum);
    TEST_ASSERT_EQUAL_UINT64(long_ns, frame.busy_ns.max);
    TEST_ASSERT_EQUAL_UINT64(LONG_EVERY - 1, frame.busy_ns.max_frame);
    TEST_ASSERT_EQUAL_UINT64(period_ns / 5, frame.busy_ns.min);
}

static void check_skipped(void)
{
    check_grid();
    TEST_ASSERT_EQUAL_UINT64(frame.spec.frame_count, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(struck(LATE_EVERY) + struck(LONG_EVERY), frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(2 * struck(LATE_EVERY) + 3 * struck(LONG_EVERY), frame.missed);
    TEST_ASSERT_EQUAL_UINT64(struck(LATE_EVERY), frame.causes[RT_CAUSE_UNKNOWN]);
    TEST_ASSERT_EQUAL_UINT64(struck(LONG_EVERY), frame.causes[RT_CAUSE_OWN]);
    TEST_ASSERT_EQUAL_UINT64(frame.spec.frame_count, commit_count);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, frame.drift_ppm);
    check_histograms();
}

/* ---- the policies, a month each ---- */

static void test_a_month_of_skipping_keeps_the_grid_to_the_nanosecond(void)
{
    frame.spec.period_ns = TENTH;
    frame.spec.frame_count = MONTH_TENTHS;
    rt_frame_run(&frame);
    check_skipped();
    TEST_ASSERT_EQUAL_UINT64(frame.spec.period_ns, frame.first_release_ns);
}

static void test_a_month_of_early_commits_keeps_the_grid_too(void)
{
    frame.spec.commit = RT_COMMIT_EARLY;
    rt_frame_run(&frame);
    check_skipped();
}

static void test_a_month_of_catching_up_loses_nothing(void)
{
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.max_catch_up = 8;
    rt_frame_run(&frame);
    check_grid();
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(held_count, frame.caught_up);
    /* Frames of a fifth of a period each: two lost ones are made good by three, three by four. */
    TEST_ASSERT_EQUAL_UINT64(3 * struck(LATE_EVERY) + 4 * struck(LONG_EVERY), frame.caught_up);
    TEST_ASSERT_EQUAL_UINT64(MONTH, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(MONTH - frame.caught_up, commit_count);
}

static void test_the_stop_policy_waits_a_month_for_its_overrun(void)
{
    troubles = false;
    frame.spec.overrun = RT_OVERRUN_STOP;
    jump_at = MONTH - 2;
    jump_ns = SECOND;
    rt_frame_run(&frame);
    check_grid();
    TEST_ASSERT_EQUAL_INT(RT_END_POLICY, frame.end);
    TEST_ASSERT_EQUAL_UINT64(MONTH - 1, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(1, safe_count);
}

static void test_a_month_of_lockstep_counts_every_reply_that_did_not_come(void)
{
    frame.spec.pace = RT_PACE_LOCKSTEP;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(MONTH, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(MONTH - 1, reply_count);
    TEST_ASSERT_EQUAL_UINT64(struck(LATE_EVERY), frame.missed_replies);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns + frame.missed);
    TEST_ASSERT_EQUAL_UINT64(MONTH, commit_count);
}

static void test_a_month_of_fast_frames_is_never_late(void)
{
    frame.spec.pace = RT_PACE_FAST;
    frame.tasks.await = NULL;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(MONTH, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns + frame.missed + frame.missed_replies);
    TEST_ASSERT_EQUAL_UINT64(MONTH, commit_count);
    TEST_ASSERT_EQUAL_UINT64(0, frame_now - MONTH); /* latched, never waited */
}

/* Fast by 25 ppm against the frame's clock. */
static uint64_t raw_clock(void *self)
{
    (void)self;
    return now_ns + now_ns / 40000;
}

static void test_drift_over_a_month_is_right_to_a_millionth_of_a_ppm(void)
{
    troubles = false;
    frame.clock.raw_ns = raw_clock;
    rt_frame_run(&frame);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, (1.0 / (1.0 + 25e-6) - 1.0) * 1e6, frame.drift_ppm);
}

/* ---- machines that have been up for long ---- */

static void run_from(uint64_t begin_ns, uint64_t period_ns)
{
    now_ns = begin_ns;
    frame.spec.period_ns = period_ns;
    frame.spec.frame_count = 1000000;
    rt_frame_run(&frame);
    check_skipped();
    TEST_ASSERT_EQUAL_UINT64(begin_ns + period_ns, frame.first_release_ns);
    TEST_ASSERT_EQUAL_INT64(period_ns - (3 * period_ns + period_ns / 2), frame.margin_ns_min);
}

static void test_a_machine_up_for_a_month_runs_ten_thousand_frames_a_second(void)
{
    run_from(31 * DAY_NS + 17, 100 * 1000);
}

/* 2^53 ns are 104 days: from there on a double no longer holds every nanosecond. */
static void test_a_machine_up_for_three_years_loses_no_nanosecond(void)
{
    run_from(3 * 365 * DAY_NS + 1, 333333);
}

static void test_time_passes_through_the_sign_bit_of_the_clock(void)
{
    run_from((uint64_t)INT64_MAX - UINT64_C(100) * 1000 * MS, MS);
}

/* At 1 kHz sixty days are more releases than 32 bits count. */
static void test_a_machine_that_slept_for_sixty_days_has_missed_them_all(void)
{
    troubles = false;
    frame.spec.period_ns = MS;
    frame.spec.frame_count = 10;
    jump_at = 4;
    jump_ns = 60 * DAY_NS;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(60 * DAY_NS / MS, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(UINT32_MAX, missed_sum); /* the record says as much as it can */
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64((10 + frame.missed) * MS,
                             frame.last_release_ns + MS - frame.first_release_ns);
}

/* ---- stolen time ---- */

/* The clock's account of its spin is all the evidence there is: gaps, and nothing else. */
static struct rt_clock_real spin;

static void clock_wait_and_lose(void *self, uint64_t deadline_ns)
{
    const uint64_t k = frame_now;
    clock_wait(self, deadline_ns);
    if (k % 5003 != 5002)
        return;
    now_ns += 2 * frame.spec.period_ns;
    spin.gap_ns_total += 2 * frame.spec.period_ns;
}

static void test_stolen_time_of_a_day_is_distinguished_from_own_work_and_the_unexplained(void)
{
    struct rt_cause_finder cause_finder = {.sources = RT_EVIDENCE_RUN_DELAY, /* none was delayed */
                                           .schedstat_fd = -1,
                                           .stat_fd = -1,
                                           .cpu = -1,
                                           .real = &spin};
    frame.spec.frame_count = DAY_NS / SECOND;
    frame.clock.wait_until_ns = clock_wait_and_lose;
    frame.cause_finder = &cause_finder;
    spin.gap_ns_total = 0;
    /* The witness asks the real clock whether its reading is beyond the next release: no machine
     * has been up for as long as this one. */
    now_ns = UINT64_C(100) * 365 * DAY_NS;
    rt_frame_run(&frame);
    check_grid();
    const uint64_t thefts = struck(5003);
    const uint64_t faults = frame.causes[RT_CAUSE_FAULT]; /* this process may really have some */
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(2, faults);
    TEST_ASSERT_UINT64_WITHIN(faults, thefts, frame.causes[RT_CAUSE_STOLEN]);
    TEST_ASSERT_UINT64_WITHIN(faults, struck(LONG_EVERY), frame.causes[RT_CAUSE_OWN]);
    TEST_ASSERT_UINT64_WITHIN(faults, struck(LATE_EVERY), frame.causes[RT_CAUSE_UNKNOWN]);
    TEST_ASSERT_EQUAL_UINT64(thefts * 2 * SECOND, cause_finder.stolen_ns_total);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_month_of_skipping_keeps_the_grid_to_the_nanosecond);
    RUN_TEST(test_a_month_of_early_commits_keeps_the_grid_too);
    RUN_TEST(test_a_month_of_catching_up_loses_nothing);
    RUN_TEST(test_the_stop_policy_waits_a_month_for_its_overrun);
    RUN_TEST(test_a_month_of_lockstep_counts_every_reply_that_did_not_come);
    RUN_TEST(test_a_month_of_fast_frames_is_never_late);
    RUN_TEST(test_drift_over_a_month_is_right_to_a_millionth_of_a_ppm);
    RUN_TEST(test_a_machine_up_for_a_month_runs_ten_thousand_frames_a_second);
    RUN_TEST(test_a_machine_up_for_three_years_loses_no_nanosecond);
    RUN_TEST(test_time_passes_through_the_sign_bit_of_the_clock);
    RUN_TEST(test_a_machine_that_slept_for_sixty_days_has_missed_them_all);
    RUN_TEST(test_stolen_time_of_a_day_is_distinguished_from_own_work_and_the_unexplained);
    return UNITY_END();
}
