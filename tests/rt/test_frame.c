/*
 * The frame loop on a scripted clock.  What it called is compared with the sequence it should have
 * called, and what it counted with what its own records add up to, over random scripts.
 */
#include "rt/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rt/fake_clock.h"
#include "unity.h"

enum { H = 1000 * 1000, FRAMES_MAX = 400, LOG_SIZE = 4096 };

static struct rt_frame frame;
static struct fake_clock fake;
static int64_t wake_late[FRAMES_MAX + 2]; /* by wait */
static int64_t work[FRAMES_MAX];          /* by frame; spent in its job */
static int64_t commit_cost;
static uint64_t stop_at, no_reply_at;
static uint64_t pause_at, pause_for; /* before that frame, for so many releases */
static uint64_t stop_in_pause;       /* at that look of a pause, counted from 1; 0: never */
static int64_t pause_cost;           /* of asking */
static bool log_calls, log_waits;

static char log_text[LOG_SIZE];
static struct rt_frame_record records[FRAMES_MAX];
static uint64_t record_count;
static uint64_t commits[FRAMES_MAX];   /* frames whose sample left, in order */
static uint64_t commit_ns[FRAMES_MAX]; /* and when */
static uint64_t commit_count;
static struct rt_schedule *schedule;

static void note(char what, uint64_t k)
{
    if (!log_calls)
        return;
    const size_t used = strlen(log_text);
    snprintf(log_text + used, LOG_SIZE - used, "%s%c%llu", used ? " " : "", what,
             (unsigned long long)k);
}

static void wait_and_note(void *self, uint64_t deadline_ns)
{
    if (log_waits)
        note('W', (deadline_ns - H) / H); /* the grid begins one period after time 0 */
    fake_clock_wait(self, deadline_ns);
}

static void run_job(void *self, uint64_t k)
{
    (void)self;
    note('J', k);
    fake_clock_spend(&fake, work[k]);
    if (k == stop_at)
        atomic_store(&frame.stop, true);
}

static void commit(void *self, uint64_t k)
{
    (void)self;
    note('C', k);
    commits[commit_count] = k;
    commit_ns[commit_count++] = fake.now_ns;
    fake_clock_spend(&fake, commit_cost);
}

static bool await_reply(void *self, uint64_t k)
{
    (void)self;
    note('A', k);
    return k != no_reply_at;
}

static bool boundary(void *self, uint64_t k)
{
    (void)self;
    fake_clock_spend(&fake, pause_cost);
    if (frame.watchdog != NULL)
        TEST_ASSERT_FALSE(rt_watchdog_expired(frame.watchdog, fake.now_ns));
    if (k < pause_at)
        return false;
    note('P', k);
    if (stop_in_pause > 0 && --stop_in_pause == 0)
        atomic_store(&frame.stop, true);
    if (pause_for == 0)
        atomic_store(&frame.boundary_wanted, false);
    return pause_for > 0 && pause_for-- > 0;
}

static void latch(void *self, uint64_t k, bool held)
{
    (void)self;
    note(held ? 'H' : 'L', k);
}

static void record(void *self, const struct rt_frame_record *taken)
{
    (void)self;
    note('R', taken->frame);
    records[record_count++] = *taken;
}

static void invalidate_outputs(void *self)
{
    (void)self;
    note('S', record_count);
}

void setUp(void)
{
    static _Alignas(64) unsigned char mem[1 << 17];
    const struct rt_job job = {.name = "work", .run = run_job, .every = 1};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, rt_schedule_size(&job, 1));
    schedule = rt_schedule_place(&job, 1, mem);
    memset(&frame, 0, sizeof frame);
    memset(wake_late, 0, sizeof wake_late);
    for (int k = 0; k < FRAMES_MAX; k++)
        work[k] = H / 5;
    fake = (struct fake_clock){.wake_late_ns = wake_late, .wake_count = FRAMES_MAX + 2};
    commit_cost = 0;
    stop_at = no_reply_at = pause_at = UINT64_MAX;
    pause_for = stop_in_pause = 0;
    pause_cost = 0;
    log_calls = true;
    log_waits = false;
    log_text[0] = '\0';
    record_count = commit_count = 0;
    frame.spec = (struct rt_frame_spec){.period_ns = H, .frame_count = 4};
    frame.tasks = (struct rt_frame_tasks){
        .commit = commit,
        .await = await_reply,
        .boundary = boundary,
        .latch = latch,
        .record = record,
        .invalidate_outputs = invalidate_outputs,
    };
    frame.schedule = schedule;
    frame.clock = fake_clock_seam(&fake);
    frame.clock.wait_until_ns = wait_and_note;
}

void tearDown(void)
{
}

static uint64_t wall_ns(void)
{
    return frame.last_release_ns + H - frame.first_release_ns;
}

static void check_identity(void)
{
    TEST_ASSERT_EQUAL_UINT64((frame.frames + frame.missed + frame.paused) * H, wall_ns());
}

/* ---- the order of things ---- */

static void test_a_punctual_grid_run_commits_at_the_next_release(void)
{
    log_waits = true;
    frame.spec.frame_count = 3;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 W2 C1 L2 J2 R2 W3 C2", log_text);
    for (uint64_t k = 0; k < 3; k++) {
        TEST_ASSERT_EQUAL_UINT64(H + k * H, records[k].release_ns);
        TEST_ASSERT_EQUAL_UINT64(records[k].release_ns, records[k].start_ns);
        TEST_ASSERT_EQUAL_UINT64(records[k].start_ns + H / 5, records[k].end_ns);
        TEST_ASSERT_EQUAL_UINT64(records[k].release_ns + H, commit_ns[k]);
    }
    TEST_ASSERT_EQUAL_INT(RT_END_FRAME_COUNT, frame.end);
    TEST_ASSERT_EQUAL_INT64(H - H / 5, frame.margin_ns_min);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns);
    check_identity();
}

static void test_an_early_commit_leaves_right_after_the_jobs(void)
{
    log_waits = true;
    frame.spec.frame_count = 2;
    frame.spec.commit = RT_COMMIT_EARLY;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 C0 R0 W1 L1 J1 C1 R1", log_text);
    TEST_ASSERT_EQUAL_UINT64(records[1].release_ns + H / 5, commit_ns[1]);
}

static void test_fast_pace_never_waits_and_is_never_late(void)
{
    log_waits = true;
    work[1] = 5 * H;
    no_reply_at = 2;
    frame.spec.pace = RT_PACE_FAST;
    frame.spec.frame_count = 3;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 R0 C0 A1 L1 J1 R1 C1 A2 L2 J2 R2 C2", log_text);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(0, frame.response_ns.count);
    TEST_ASSERT_EQUAL_UINT64(0, frame.start_error_ns.max);
    TEST_ASSERT_EQUAL_UINT64(5 * H, frame.busy_ns.max);
    TEST_ASSERT_EQUAL_UINT64(1, frame.missed_replies);
}

static void test_lockstep_awaits_the_reply_to_what_it_sent(void)
{
    no_reply_at = 1;
    frame.spec.pace = RT_PACE_LOCKSTEP;
    frame.spec.commit = RT_COMMIT_EARLY;
    frame.spec.frame_count = 3;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 C0 R0 A1 L1 J1 C1 R1 A2 L2 J2 C2 R2", log_text);
    TEST_ASSERT_EQUAL_UINT64(1, frame.missed_replies);
}

static void test_frames_without_an_await_do_not_wait(void)
{
    frame.spec.pace = RT_PACE_FAST;
    frame.spec.frame_count = 2;
    frame.tasks.await = NULL;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 R0 C0 L1 J1 R1 C1", log_text);
}

static void test_a_run_of_no_frames_does_nothing(void)
{
    log_waits = true;
    frame.spec.frame_count = 0;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("", log_text);
    TEST_ASSERT_EQUAL_UINT64(0, frame.frames);
}

/* ---- pauses ---- */

static void pause_before(uint64_t k, uint64_t releases)
{
    pause_at = k;
    pause_for = releases;
    atomic_store(&frame.boundary_wanted, true);
}

static void test_a_pause_holds_a_frame_back_while_the_grid_goes_on(void)
{
    log_waits = true;
    pause_before(2, 3);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 W2 C1 P2 W3 P2 W4 P2 W5 P2 L2 J2 R2 "
                             "W6 C2 L3 J3 R3 W7 C3",
                             log_text);
    TEST_ASSERT_EQUAL_UINT64(3, frame.paused);
    TEST_ASSERT_EQUAL_UINT32(3, records[2].paused);
    TEST_ASSERT_EQUAL_UINT32(0, records[3].paused);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(4, frame.start_error_ns.count);
    check_identity();
}

static void test_a_pause_before_the_first_frame_and_at_the_end_counts(void)
{
    pause_before(0, 2);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(2, frame.paused);
    TEST_ASSERT_EQUAL_UINT64(H, frame.first_release_ns);
    check_identity();

    setUp();
    stop_at = 1;
    pause_before(2, 1000);
    frame.spec.frame_count = UINT64_MAX;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(2, frame.frames);
    check_identity();
}

/* Nothing follows the pause, so its last release is that of the run. */
static void test_a_run_that_ends_in_a_pause_ends_with_its_last_release(void)
{
    stop_in_pause = 3;
    pause_before(2, 1000);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(2, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(3, frame.paused);
    TEST_ASSERT_EQUAL_UINT64(5 * H, frame.last_release_ns);
    check_identity();

    setUp();
    stop_in_pause = 2;
    pause_cost = 2 * H + H / 2; /* two more releases pass at each look */
    pause_before(0, 1000);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(6, frame.paused);
    TEST_ASSERT_EQUAL_UINT64(6 * H, frame.last_release_ns);
    check_identity();
}

static void test_what_is_missed_before_and_in_a_pause_is_distinguished(void)
{
    work[1] = 2 * H + H / 2;
    pause_cost = H / 4;
    wake_late[3] = 5 * H + H / 2; /* the second wait of the pause */
    pause_before(2, 2);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(2, frame.missed);
    TEST_ASSERT_EQUAL_UINT32(2, records[2].missed);
    TEST_ASSERT_EQUAL_UINT64(7, frame.paused); /* the first, and the second with five that passed */
    TEST_ASSERT_EQUAL_UINT32(7, records[2].paused);
    check_identity();
}

static void test_a_pause_is_no_drift(void)
{
    log_calls = false;
    frame.spec.frame_count = 300;
    pause_before(100, 50);
    rt_frame_run(&frame);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, frame.drift_ppm);
}

static void test_nothing_is_caught_up_while_a_boundary_is_wanted(void)
{
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.max_catch_up = 10;
    work[1] = 2 * H + H / 2;
    pause_before(2, 1);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, frame.caught_up);
    TEST_ASSERT_EQUAL_UINT64(2, frame.missed);
    check_identity();
}

static void test_a_paused_run_is_not_hung(void)
{
    struct rt_watchdog dog = {.limit_ns = 5 * H};
    frame.watchdog = &dog;
    frame.spec.frame_count = UINT64_MAX;
    stop_at = 3;
    pause_before(2, 100);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(100, frame.paused);
}

static void test_a_lockstep_pause_comes_after_the_reply_which_is_awaited_once(void)
{
    log_waits = true;
    pause_before(1, 2);
    frame.spec.pace = RT_PACE_LOCKSTEP;
    frame.spec.commit = RT_COMMIT_EARLY;
    frame.spec.frame_count = 2;
    fake.now_ns = H;
    work[0] = 0;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 C0 R0 A1 P1 W1 P1 W2 P1 L1 J1 C1 R1", log_text);
    TEST_ASSERT_EQUAL_UINT64(2, frame.paused);
    TEST_ASSERT_EQUAL_UINT32(2, records[1].paused);
}

static void test_the_stop_flag_ends_a_pause_without_a_wall_clock_too(void)
{
    pause_before(2, UINT64_MAX);
    stop_at = 1;
    frame.spec.pace = RT_PACE_FAST;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(2, frame.frames);
    TEST_ASSERT_EQUAL_INT(RT_END_STOPPED, frame.end);
}

/* ---- overruns ---- */

static void test_an_overrun_drops_releases_and_keeps_the_grid(void)
{
    log_waits = true;
    work[1] = 2 * H + H / 2; /* ends within slot 3 */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 W4 C1 L2 J2 R2 W5 C2 L3 J3 R3 W6 C3",
                             log_text);
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(2, frame.missed);
    TEST_ASSERT_EQUAL_UINT32(2, records[2].missed);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_OWN, records[1].cause);
    TEST_ASSERT_EQUAL_INT64(-(H + H / 2), frame.margin_ns_min);
    TEST_ASSERT_EQUAL_UINT64(1, frame.margin_frame_min);
    check_identity();
}

static void test_a_frame_that_ends_on_the_next_release_is_in_time(void)
{
    work[1] = H;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_INT64(0, frame.margin_ns_min);
    work[1] = H + 1;
    fake.waits = 0;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(1, frame.missed);
}

static void test_a_late_wake_that_nothing_explains_is_unknown(void)
{
    wake_late[1] = 3 * H;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_UNKNOWN, records[1].cause);
    TEST_ASSERT_EQUAL_UINT64(3 * H, frame.start_error_ns.max);
    TEST_ASSERT_EQUAL_UINT64(1, frame.start_error_ns.max_frame);
    TEST_ASSERT_EQUAL_UINT64(3, frame.missed);
    check_identity();
}

static void test_misses_after_the_last_frame_do_not_count(void)
{
    log_waits = true;
    frame.spec.frame_count = 2;
    work[1] = 3 * H + 1;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 W5 C1", log_text);
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(2 * H, wall_ns());
}

static void wait_for_io(void *self, uint64_t k, bool held)
{
    latch(self, k, held);
    if (k != 2)
        return;
    fake_clock_spend(&fake, 2 * H);
    frame.waited_ns += 2 * H;
}

static void test_waiting_for_io_is_the_cause_when_a_task_says_so(void)
{
    frame.tasks.latch = wait_for_io;
    work[3] = 3 * H; /* the wait of frame 2 is no excuse for it */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_IO, records[2].cause);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_OWN, records[3].cause);
    TEST_ASSERT_EQUAL_UINT64(2, frame.overruns);
}

/* ---- catch-up ---- */

static void test_catch_up_runs_lost_frames_held_and_sends_only_the_last(void)
{
    log_waits = true;
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.max_catch_up = 8;
    frame.spec.frame_count = 6;
    work[1] = 2 * H + H / 2; /* slots 2 and 3 are lost */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 H2 J2 R2 H3 J3 R3 "
                             "W4 C3 L4 J4 R4 W5 C4 L5 J5 R5 W6 C5",
                             log_text);
    TEST_ASSERT_EQUAL_UINT64(2, frame.caught_up);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(2, frame.overruns); /* frame 2 ends after release 3 too */
    TEST_ASSERT_EQUAL_UINT64(2, frame.causes[RT_CAUSE_OWN]);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_OWN, records[2].cause);
    TEST_ASSERT_EQUAL_UINT8(RT_CAUSE_NONE, records[3].cause);
    TEST_ASSERT_EQUAL_UINT8(1, records[3].held);
    check_identity();
}

static void test_catch_up_beyond_its_limit_is_missed(void)
{
    log_waits = true;
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.max_catch_up = 2;
    frame.spec.frame_count = 5;
    wake_late[1] = 5 * H + H / 2; /* slots 2 to 6 are lost; 2 and 3 run, then it is past 7 */
    work[3] = H / 2;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 H2 J2 R2 H3 J3 R3 W8 C3 L4 J4 R4 W9 C4",
                             log_text);
    TEST_ASSERT_EQUAL_UINT64(2, frame.caught_up);
    TEST_ASSERT_EQUAL_UINT64(4, frame.missed);
    TEST_ASSERT_EQUAL_UINT32(4, records[4].missed);
    TEST_ASSERT_EQUAL_UINT64(3, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(3, frame.causes[RT_CAUSE_UNKNOWN]); /* held frames inherit it */
    check_identity();
}

static void test_an_early_catch_up_sends_the_late_frame_and_the_last(void)
{
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.commit = RT_COMMIT_EARLY;
    frame.spec.max_catch_up = 8;
    frame.spec.frame_count = 6;
    work[1] = 3 * H + H / 5; /* slots 2 to 4 are lost, and run within slot 4 */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 C0 R0 L1 J1 C1 R1 H2 J2 R2 H3 J3 R3 H4 J4 C4 R4 L5 J5 C5 R5",
                             log_text);
}

static void test_an_early_catch_up_sends_the_last_it_is_allowed(void)
{
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.commit = RT_COMMIT_EARLY;
    frame.spec.max_catch_up = 2;
    work[1] = 4 * H + H / 5;
    frame.spec.frame_count = 5;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 C0 R0 L1 J1 C1 R1 H2 J2 R2 H3 J3 C3 R3 L4 J4 C4 R4", log_text);
}

static void test_a_run_that_ends_in_a_catch_up_sends_its_last_sample(void)
{
    log_waits = true;
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.commit = RT_COMMIT_EARLY;
    frame.spec.max_catch_up = 8;
    frame.spec.frame_count = 3;
    work[1] = 3 * H + H / 2;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 C0 R0 W1 L1 J1 C1 R1 H2 J2 R2 C2", log_text);
}

/* ---- stop ---- */

static void test_the_stop_policy_records_invalidates_the_outputs_and_ends(void)
{
    frame.spec.overrun = RT_OVERRUN_STOP;
    work[1] = H + 1;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 R0 C0 L1 J1 R1 S2", log_text);
    TEST_ASSERT_EQUAL_INT(RT_END_POLICY, frame.end);
    TEST_ASSERT_EQUAL_UINT64(2, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(1, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    check_identity();
}

static void test_the_stop_policy_holds_for_the_last_frame_too(void)
{
    frame.spec.overrun = RT_OVERRUN_STOP;
    frame.spec.frame_count = 2;
    work[1] = H + 1;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_INT(RT_END_POLICY, frame.end);
}

static void test_the_stop_flag_ends_a_run_at_a_frame_boundary(void)
{
    log_waits = true;
    stop_at = 1;
    frame.spec.frame_count = UINT64_MAX;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("W0 L0 J0 R0 W1 C0 L1 J1 R1 W2 C1", log_text);
    TEST_ASSERT_EQUAL_INT(RT_END_STOPPED, frame.end);
    TEST_ASSERT_EQUAL_UINT64(2, frame.frames);
    check_identity();
}

static void test_the_stop_flag_ends_a_fast_run_too(void)
{
    stop_at = 1;
    frame.spec.pace = RT_PACE_FAST;
    frame.spec.frame_count = UINT64_MAX;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_STRING("L0 J0 R0 C0 A1 L1 J1 R1 C1", log_text);
    TEST_ASSERT_EQUAL_INT(RT_END_STOPPED, frame.end);
}

/* ---- clocks that jump ---- */

static void test_a_clock_that_jumps_forward_costs_releases(void)
{
    wake_late[2] = INT64_C(3600) * 1000 * H; /* an hour */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(4, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(3600 * 1000, frame.missed);
    TEST_ASSERT_EQUAL_UINT32(3600 * 1000, records[3].missed);
    check_identity();
}

static void test_a_clock_that_jumps_back_shows_no_error(void)
{
    frame.spec.frame_count = 6;
    fake.now_ns = 100 * H;
    wake_late[2] = -50 * H; /* woken before the release, by far */
    work[3] = -20 * H;      /* and back again within a frame */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(6, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(0, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(0, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(0, frame.start_error_ns.max);
    TEST_ASSERT_EQUAL_UINT64(H / 5, frame.busy_ns.max);
    TEST_ASSERT_EQUAL_UINT64(0, frame.response_ns.min);
    TEST_ASSERT_EQUAL_UINT64(H / 5, frame.response_ns.max);
    check_identity();
}

static void test_a_clock_that_jumps_before_the_grid_still_ends_the_run(void)
{
    fake.now_ns = 100 * H;
    work[3] = -90 * H; /* after the last frame the clock stands before the first release */
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(4, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(3, commits[commit_count - 1]);
    TEST_ASSERT_EQUAL_UINT64(105 * H, commit_ns[commit_count - 1]);
}

/* ---- drift ---- */

static double clock_rate; /* of the raw clock against the frame's clock */

static uint64_t raw_clock(void *self)
{
    const struct fake_clock *clock = self;
    return 7777 + (uint64_t)((double)clock->now_ns * clock_rate);
}

static void test_drift_is_the_rate_of_sim_against_the_raw_clock(void)
{
    frame.spec.frame_count = FRAMES_MAX;
    frame.clock.raw_ns = raw_clock;
    clock_rate = 1.0 / (1.0 + 25e-6); /* the raw clock is slow, so sim runs ahead of it */
    rt_frame_run(&frame);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 25.0, frame.drift_ppm);
}

static void test_neither_misses_nor_late_wakes_are_drift(void)
{
    frame.spec.frame_count = FRAMES_MAX;
    for (int k = 10; k < FRAMES_MAX; k += 7) {
        wake_late[k] = k * 1000;
        work[k + 3 < FRAMES_MAX ? k + 3 : k] = 3 * H;
    }
    rt_frame_run(&frame);
    TEST_ASSERT_GREATER_THAN_UINT64(100, frame.missed);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, frame.drift_ppm);
}

/* ---- what others see ---- */

static void test_the_live_figures_have_what_has_been_counted_so_far(void)
{
    static _Alignas(64) unsigned char mem[4096];
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, rt_mailbox_size(sizeof(struct rt_frame_live)));
    frame.live = rt_mailbox_place(sizeof(struct rt_frame_live), mem);
    frame.live_every = 5;
    frame.spec.frame_count = 13;
    work[3] = 2 * H;
    work[11] = 2 * H; /* after the last figures, at frame 10 */
    rt_frame_run(&frame);
    bool fresh = false;
    const struct rt_frame_live *live = rt_mailbox_take(frame.live, &fresh);
    TEST_ASSERT_TRUE(fresh);
    TEST_ASSERT_EQUAL_UINT64(10, live->frame);
    TEST_ASSERT_EQUAL_UINT64(1, live->overruns);
    TEST_ASSERT_EQUAL_UINT64(1, live->missed);
    TEST_ASSERT_EQUAL_INT64(-H, live->margin_ns_min);
    TEST_ASSERT_DOUBLE_WITHIN(0.032 * H / 5, H / 5, (double)live->busy_ns); /* to a bucket */
}

static uint64_t kicked_ns[FRAMES_MAX];
static struct rt_watchdog watchdog;

static void look_at_the_watchdog(void *self, uint64_t k)
{
    run_job(self, k);
    kicked_ns[k] = atomic_load(&watchdog.kicked_ns);
}

static void test_every_frame_kicks_the_watchdog_and_the_end_disarms_it(void)
{
    schedule->job[0].run = look_at_the_watchdog;
    frame.watchdog = &watchdog;
    frame.spec.overrun = RT_OVERRUN_CATCH_UP;
    frame.spec.max_catch_up = 2;
    work[1] = 2 * H;
    rt_frame_run(&frame);
    for (uint64_t k = 0; k < frame.frames; k++)
        TEST_ASSERT_EQUAL_UINT64(records[k].start_ns, kicked_ns[k]);
    TEST_ASSERT_EQUAL_UINT64(0, atomic_load(&watchdog.kicked_ns));
}

static void slow_record(void *self, const struct rt_frame_record *taken)
{
    record(self, taken);
    fake_clock_spend(&fake, H / 10);
}

static void test_busy_has_the_taking_of_the_record(void)
{
    frame.tasks.record = slow_record;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(H / 5 + H / 10, frame.busy_ns.min);
    TEST_ASSERT_EQUAL_UINT64(H / 5 + H / 10, frame.busy_ns.max);
    TEST_ASSERT_EQUAL_UINT64(H / 5, records[0].end_ns - records[0].start_ns);
}

/* ---- random scripts ---- */

static uint64_t seed = 0x2545f4914f6cdd1du;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* Mostly punctual, now and then late by periods, long by periods, or thrown about. */
static void draw_script(void)
{
    for (int k = 0; k < FRAMES_MAX; k++) {
        wake_late[k] = (int64_t)(draw(10) == 0 ? draw(4 * H) : draw(H / 10));
        work[k] = (int64_t)(draw(12) == 0 ? draw(6 * H) : draw(H / 2));
        if (draw(50) == 0)
            wake_late[k] = -(int64_t)draw(5 * H);
        if (draw(50) == 0)
            work[k] = -(int64_t)draw(5 * H);
        if (draw(30) == 0)
            work[k] = (int64_t)(draw(4) * H) - wake_late[k]; /* ends on the grid */
    }
    commit_cost = (int64_t)draw(H / 20);
}

/* Releases strictly between frame i's own and its end: those it cost. */
static uint64_t lost_after(uint64_t i)
{
    uint64_t lost = 0;
    for (uint64_t at = records[i].release_ns + H; at < records[i].end_ns; at += H)
        lost++;
    return lost;
}

static void check_records(uint64_t max_catch_up)
{
    uint64_t overruns = 0, missed = 0, held_run = 0, caught_up = 0;
    int64_t margin_min = INT64_MAX;
    for (uint64_t i = 0; i < record_count; i++) {
        const struct rt_frame_record *r = &records[i];
        const uint64_t lost = i > 0 ? lost_after(i - 1) : 0;
        const bool held = lost > 0 && held_run < max_catch_up;
        held_run = held ? held_run + 1 : 0;
        TEST_ASSERT_EQUAL_UINT64(i, r->frame);
        TEST_ASSERT_EQUAL_UINT8(held, r->held);
        TEST_ASSERT_EQUAL_UINT32(held ? 0 : lost, r->missed);
        if (i > 0)
            TEST_ASSERT_EQUAL_UINT64(records[i - 1].release_ns + (1 + r->missed) * (uint64_t)H,
                                     r->release_ns);
        TEST_ASSERT_TRUE(r->release_ns <= r->start_ns && r->start_ns <= r->end_ns);
        const int64_t margin = (int64_t)(r->release_ns + H - r->end_ns);
        TEST_ASSERT_EQUAL_INT(margin < 0, r->cause != RT_CAUSE_NONE);
        if (held && margin < 0)
            TEST_ASSERT_EQUAL_UINT8(records[i - 1].cause, r->cause);
        margin_min = margin < margin_min ? margin : margin_min;
        overruns += margin < 0;
        missed += r->missed;
        caught_up += held;
    }
    TEST_ASSERT_EQUAL_UINT64(overruns, frame.overruns);
    TEST_ASSERT_EQUAL_UINT64(missed, frame.missed);
    TEST_ASSERT_EQUAL_UINT64(caught_up, frame.caught_up);
    TEST_ASSERT_EQUAL_INT64(margin_min, frame.margin_ns_min);
}

static void check_totals(void)
{
    uint64_t causes = 0;
    for (int c = 0; c < RT_CAUSE_COUNT; c++)
        causes += frame.causes[c];
    TEST_ASSERT_EQUAL_UINT64(frame.overruns, causes);
    TEST_ASSERT_EQUAL_UINT64(0, frame.causes[RT_CAUSE_NONE]);
    TEST_ASSERT_EQUAL_UINT64(record_count, frame.frames);
    TEST_ASSERT_EQUAL_UINT64(frame.frames, frame.start_error_ns.count);
    TEST_ASSERT_EQUAL_UINT64(frame.frames, frame.busy_ns.count);
    TEST_ASSERT_EQUAL_UINT64(frame.frames, frame.response_ns.count);
    check_identity();
}

/* Grid: a sample leaves at the first fresh release after its frame, unless a held frame has made a
 * newer one; never before the release, and as the first act of the frame. */
static void check_grid_commits(void)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < record_count; i++) {
        if (i + 1 < record_count && records[i + 1].held)
            continue;
        TEST_ASSERT_TRUE(n < commit_count);
        TEST_ASSERT_EQUAL_UINT64(i, commits[n]);
        if (i + 1 < record_count && commit_ns[n] >= records[i + 1].release_ns)
            TEST_ASSERT_EQUAL_UINT64(records[i + 1].start_ns, commit_ns[n]);
        n++;
    }
    TEST_ASSERT_EQUAL_UINT64(n, commit_count);
}

static void run_random(enum rt_overrun overrun, enum rt_commit commit_when, uint32_t max_catch_up)
{
    setUp();
    log_calls = false;
    draw_script();
    fake.now_ns = 1000 * H;
    frame.spec.overrun = overrun;
    frame.spec.commit = commit_when;
    frame.spec.max_catch_up = max_catch_up;
    frame.spec.frame_count = 1 + draw(FRAMES_MAX);
    if (draw(3) == 0)
        stop_at = draw(frame.spec.frame_count);
    rt_frame_run(&frame);
}

static void test_skip_keeps_its_identities_over_random_scripts(void)
{
    for (int round = 0; round < 300; round++) {
        run_random(RT_OVERRUN_SKIP, RT_COMMIT_GRID, 7);
        check_records(0);
        check_totals();
        check_grid_commits();
        TEST_ASSERT_EQUAL_UINT64(record_count, commit_count);
    }
}

static void test_catch_up_keeps_its_identities_over_random_scripts(void)
{
    for (int round = 0; round < 300; round++) {
        const uint32_t max_catch_up = (uint32_t)draw(6);
        run_random(RT_OVERRUN_CATCH_UP, RT_COMMIT_GRID, max_catch_up);
        check_records(max_catch_up);
        check_totals();
        check_grid_commits();
    }
}

static void test_an_early_catch_up_sends_fresh_and_last_samples_in_order(void)
{
    for (int round = 0; round < 300; round++) {
        const uint32_t max_catch_up = (uint32_t)draw(6);
        run_random(RT_OVERRUN_CATCH_UP, RT_COMMIT_EARLY, max_catch_up);
        check_records(max_catch_up);
        check_totals();
        uint64_t n = 0;
        for (uint64_t i = 0; i < record_count; i++) {
            const bool sent = n < commit_count && commits[n] == i;
            const bool last = i + 1 == record_count || !records[i + 1].held;
            TEST_ASSERT_TRUE(sent || !(last || !records[i].held));
            n += sent;
        }
        TEST_ASSERT_EQUAL_UINT64(n, commit_count);
    }
}

static void test_stop_ends_at_the_first_overrun_of_random_scripts(void)
{
    int stopped = 0;
    for (int round = 0; round < 300; round++) {
        run_random(RT_OVERRUN_STOP, RT_COMMIT_GRID, 7);
        check_records(0);
        check_totals();
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(1, frame.overruns);
        TEST_ASSERT_EQUAL_INT(frame.overruns == 1, frame.end == RT_END_POLICY);
        TEST_ASSERT_EQUAL_UINT64(record_count - frame.overruns, commit_count);
        stopped += frame.end == RT_END_POLICY;
    }
    TEST_ASSERT_TRUE(stopped > 100 && stopped < 300);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_punctual_grid_run_commits_at_the_next_release);
    RUN_TEST(test_an_early_commit_leaves_right_after_the_jobs);
    RUN_TEST(test_fast_pace_never_waits_and_is_never_late);
    RUN_TEST(test_lockstep_awaits_the_reply_to_what_it_sent);
    RUN_TEST(test_frames_without_an_await_do_not_wait);
    RUN_TEST(test_a_run_of_no_frames_does_nothing);
    RUN_TEST(test_a_pause_holds_a_frame_back_while_the_grid_goes_on);
    RUN_TEST(test_a_pause_before_the_first_frame_and_at_the_end_counts);
    RUN_TEST(test_a_run_that_ends_in_a_pause_ends_with_its_last_release);
    RUN_TEST(test_what_is_missed_before_and_in_a_pause_is_distinguished);
    RUN_TEST(test_a_pause_is_no_drift);
    RUN_TEST(test_nothing_is_caught_up_while_a_boundary_is_wanted);
    RUN_TEST(test_a_paused_run_is_not_hung);
    RUN_TEST(test_a_lockstep_pause_comes_after_the_reply_which_is_awaited_once);
    RUN_TEST(test_the_stop_flag_ends_a_pause_without_a_wall_clock_too);
    RUN_TEST(test_an_overrun_drops_releases_and_keeps_the_grid);
    RUN_TEST(test_a_frame_that_ends_on_the_next_release_is_in_time);
    RUN_TEST(test_a_late_wake_that_nothing_explains_is_unknown);
    RUN_TEST(test_misses_after_the_last_frame_do_not_count);
    RUN_TEST(test_waiting_for_io_is_the_cause_when_a_task_says_so);
    RUN_TEST(test_catch_up_runs_lost_frames_held_and_sends_only_the_last);
    RUN_TEST(test_catch_up_beyond_its_limit_is_missed);
    RUN_TEST(test_an_early_catch_up_sends_the_late_frame_and_the_last);
    RUN_TEST(test_an_early_catch_up_sends_the_last_it_is_allowed);
    RUN_TEST(test_a_run_that_ends_in_a_catch_up_sends_its_last_sample);
    RUN_TEST(test_the_stop_policy_records_invalidates_the_outputs_and_ends);
    RUN_TEST(test_the_stop_policy_holds_for_the_last_frame_too);
    RUN_TEST(test_the_stop_flag_ends_a_run_at_a_frame_boundary);
    RUN_TEST(test_the_stop_flag_ends_a_fast_run_too);
    RUN_TEST(test_a_clock_that_jumps_forward_costs_releases);
    RUN_TEST(test_a_clock_that_jumps_back_shows_no_error);
    RUN_TEST(test_a_clock_that_jumps_before_the_grid_still_ends_the_run);
    RUN_TEST(test_drift_is_the_rate_of_sim_against_the_raw_clock);
    RUN_TEST(test_neither_misses_nor_late_wakes_are_drift);
    RUN_TEST(test_the_live_figures_have_what_has_been_counted_so_far);
    RUN_TEST(test_every_frame_kicks_the_watchdog_and_the_end_disarms_it);
    RUN_TEST(test_busy_has_the_taking_of_the_record);
    RUN_TEST(test_skip_keeps_its_identities_over_random_scripts);
    RUN_TEST(test_catch_up_keeps_its_identities_over_random_scripts);
    RUN_TEST(test_an_early_catch_up_sends_fresh_and_last_samples_in_order);
    RUN_TEST(test_stop_ends_at_the_first_overrun_of_random_scripts);
    return UNITY_END();
}
