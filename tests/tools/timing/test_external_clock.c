/*
 * A stopwatch against a run: clocks whose rate, offset and misses are known beforehand.
 */
#include "tools/airbearing/timing/external_clock.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/airbearing/timing/figures.h"
#include "unity.h"

enum { FRAMES = 20000, PERIOD = 1000000, EVERY = 20 };
static const uint64_t FIRST = 5000000000, WALL = 1700000000000000000;

static struct evidence evidence;
static struct figures figures;
static struct external_clock external;
static char error[EVIDENCE_ERROR_MAX];
static uint32_t dice;

static uint32_t roll(uint32_t below)
{
    dice = dice * 1664525u + 1013904223u;
    return (dice >> 8) % below;
}

/* Frames on a grid of which a few releases were missed now and then; the log's wall clock is WALL
 * ahead of its own. */
void setUp(void)
{
    dice = 1;
    evidence = (struct evidence){.period_ns = PERIOD, .pace = RT_PACE_REAL, .complete = true};
    evidence.frame = calloc(FRAMES, sizeof *evidence.frame);
    evidence.clock = calloc(1, sizeof *evidence.clock);
    evidence.frame_count = FRAMES;
    evidence.clock_count = 1;
    evidence.clock[0] =
        (struct sim_record_clock){.monotonic_ns = FIRST, .realtime_ns = FIRST + WALL};
    uint64_t slot = 0;
    for (uint64_t k = 0; k < FRAMES; k++) {
        evidence.frame[k] =
            (struct sim_record_frame){.frame = k, .release_ns = FIRST + slot * PERIOD};
        evidence.frame[k].start_ns = evidence.frame[k].release_ns + 500;
        evidence.frame[k].end_ns = evidence.frame[k].start_ns + 100000;
        slot += k % 1000 == 999 ? 7 : 1;
    }
}

void tearDown(void)
{
    figures_free(&figures);
    external_clock_free(&external);
    evidence_free(&evidence);
}

/* Pulse i by a clock that runs fast by ppm, shows offset_ns more, and got it late_ns too late. */
static void stamp(size_t i, double ppm, int64_t offset_ns, uint64_t late_ns)
{
    const struct sim_record_frame *frame = &evidence.frame[i * EVERY];
    const double since_ns = (double)(frame->release_ns - FIRST);
    external.stamp[i] = (struct external_clock_stamp){
        .sequence = i,
        .frame = frame->frame,
        .sim_ns = frame->frame * PERIOD,
        .sent_ns = frame->start_ns + 1000,
        .stamp_ns = FIRST + WALL + (uint64_t)offset_ns +
                    (uint64_t)llround(since_ns * (1.0 + ppm * 1e-6)) + late_ns,
        .kernel = 1,
    };
}

static void stamp_all(double ppm, int64_t offset_ns, uint32_t jitter_ns, uint32_t spike_every)
{
    external.count = external.room = FRAMES / EVERY;
    external.stamp = calloc(external.count, sizeof *external.stamp);
    for (size_t i = 0; i < external.count; i++)
        stamp(i, ppm, offset_ns,
              (jitter_ns ? roll(jitter_ns) : 0) +
                  (spike_every && i % spike_every == 1 ? 40000000 : 0));
}

static void compare(void)
{
    TEST_ASSERT_TRUE_MESSAGE(external_clock_compare(&external, &evidence, error), error);
}

static void test_a_clock_of_known_slope_and_offset_is_recovered(void)
{
    stamp_all(80.0, 123456, 0, 0);
    compare();
    TEST_ASSERT_EQUAL_size_t(FRAMES / EVERY, external.matched);
    TEST_ASSERT_TRUE(external.known);
    /* The grid is slow by it: 1/(1 + p) - 1. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, (1.0 / (1.0 + 80e-6) - 1.0) * 1e6, external.ppm);
    TEST_ASSERT_TRUE(external.half_width_ppm < 0.001);
    TEST_ASSERT_TRUE(external.has_offset);
    TEST_ASSERT_INT64_WITHIN(2, 123456, external.offset_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(2, external.jitter.max);
    TEST_ASSERT_EQUAL_UINT64(0, external.lost);
    TEST_ASSERT_EQUAL_size_t(external.matched, external.by_kernel);
}

/* 19 times 6 releases were missed between the first sync pulse and the last. */
static void test_misses_make_simulated_time_lag_and_not_the_grid(void)
{
    stamp_all(0.0, -5000, 0, 0);
    compare();
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, external.ppm);
    TEST_ASSERT_EQUAL_INT64(19 * 6 * PERIOD, external.behind_ns);
    TEST_ASSERT_EQUAL_INT64(19 * 6 * PERIOD, external.log_behind_ns);
    TEST_ASSERT_INT64_WITHIN(1, -5000, external.offset_ns);
}

static void test_what_the_stopwatch_alone_sees_is_not_in_the_log(void)
{
    stamp_all(100.0, 0, 0, 0);
    compare();
    const double span_ns = (double)external.log_behind_ns + (double)(FRAMES - EVERY) * PERIOD;
    TEST_ASSERT_EQUAL_INT64(19 * 6 * PERIOD, external.log_behind_ns);
    TEST_ASSERT_INT64_WITHIN(2, external.log_behind_ns + llround(span_ns * 100e-6),
                             external.behind_ns);
}

/* One sync pulse in ten is 40 ms late: found as that, and no part of the drift. */
static void test_late_sync_pulses_do_not_bend_the_fit(void)
{
    stamp_all(-30.0, 0, 20000, 10);
    stamp(0, -30.0, 0, 40000000);
    compare();
    TEST_ASSERT_INT64_WITHIN(20000, 0, external.offset_ns); /* nor are they the offset */
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 30.0, external.ppm);
    TEST_ASSERT_DOUBLE_WITHIN(external.half_width_ppm, 30.0009, external.ppm);
    uint64_t median, most;
    TEST_ASSERT_TRUE(percentiles_at(&external.jitter, 0.5, &median) &&
                     percentiles_at(&external.jitter, 0.99, &most));
    TEST_ASSERT_UINT64_WITHIN(3000, 11000, median); /* of 0 to 20 us, a tenth far above */
    TEST_ASSERT_UINT64_WITHIN(50000, 40000000, most);
    TEST_ASSERT_EQUAL_UINT64(1, external.jitter.max_frame / EVERY % 10);
}

static void test_a_missing_sync_pulse_is_counted(void)
{
    stamp_all(0.0, 0, 0, 0);
    external.count -= 3; /* the last ones: only the run knows that they were sent */
    external.stamp[100] = external.stamp[101];
    memmove(&external.stamp[100], &external.stamp[101],
            (external.count - 101) * sizeof *external.stamp);
    external.count--;
    evidence.report = json_pack("{s:{s:i}}", "pulse", "sent", FRAMES / EVERY);
    compare();
    TEST_ASSERT_EQUAL_UINT64(4, external.lost);
}

static void test_without_a_report_the_gaps_are_counted(void)
{
    stamp_all(0.0, 0, 0, 0);
    memmove(&external.stamp[100], &external.stamp[105],
            (external.count - 105) * sizeof *external.stamp);
    external.count -= 5;
    compare();
    TEST_ASSERT_EQUAL_UINT64(5, external.lost);
}

static void test_a_sync_pulse_of_another_run_is_known_by_its_time(void)
{
    stamp_all(0.0, 0, 0, 0);
    external.stamp[7].sent_ns -= 2000;                /* before its frame began */
    external.stamp[8].sent_ns += 200000;              /* after it had ended */
    external.stamp[external.count - 1].frame = 99999; /* no such frame */
    compare();
    TEST_ASSERT_EQUAL_size_t(3, external.foreign);
    TEST_ASSERT_EQUAL_size_t(FRAMES / EVERY - 3, external.matched);
}

static void test_a_file_of_another_run_is_refused(void)
{
    stamp_all(0.0, 0, 0, 0);
    for (size_t i = 0; i < external.count; i++)
        external.stamp[i].sent_ns += 3600000000000;
    TEST_ASSERT_FALSE(external_clock_compare(&external, &evidence, error));
    TEST_ASSERT_EQUAL_STRING("none of the 1000 pulses belongs to this run", error);
}

static void test_two_sync_pulses_are_too_few_for_a_drift(void)
{
    stamp_all(0.0, 0, 0, 0);
    external.count = 2;
    compare();
    TEST_ASSERT_FALSE(external.known);
}

/* ---- the file ---- */

#define HEAD "# airbearing stopwatch 1\nsequence,frame,sim_ns,sent_ns,stamp_ns,kernel\n"

static void test_a_file_is_read(void)
{
    const char text[] = HEAD "0,0,0,11,12,1\n2,200,200000000,21,22,0\n2,200,200000000,21,23,0\n"
                             "1,100,100000000,15,16,1\n3,300,300000000,31,1700000000000000000,1\n";
    TEST_ASSERT_EQUAL(0, external_clock_parse(&external, text, strlen(text), error));
    TEST_ASSERT_EQUAL_size_t(3, external.count);
    TEST_ASSERT_EQUAL_UINT64(2, external.duplicates);
    TEST_ASSERT_EQUAL_UINT64(200, external.stamp[1].frame);
    TEST_ASSERT_EQUAL_UINT64(200000000, external.stamp[1].sim_ns);
    TEST_ASSERT_EQUAL_UINT64(21, external.stamp[1].sent_ns);
    TEST_ASSERT_EQUAL_UINT64(22, external.stamp[1].stamp_ns);
    TEST_ASSERT_EQUAL_UINT64(0, external.stamp[1].kernel);
    TEST_ASSERT_EQUAL_UINT64(1700000000000000000, external.stamp[2].stamp_ns);
}

static void test_a_file_with_a_mistake_is_refused_at_its_place(void)
{
    const struct {
        const char *text, *complaint;
    } mistake[] = {
        {"", "1:1: the file was not written by airbearing stopwatch"},
        {"# airbearing stopwatch 2\n", "1:1: the file was not written by airbearing stopwatch"},
        {"# airbearing stopwatch 1\nframe\n",
         "2:1: these are not the columns of a stopwatch's file"},
        {HEAD "0,0,0,11,12\n", "3:12: a comma is expected here"},
        {HEAD "0,0,0,11,12,1,5\n", "3:14: the line should end here"},
        {HEAD "0,0,0,11,12,1", "3:14: the line should end here"},
        {HEAD "0,0,0,11,12,1\n1,-1,0,11,12,1\n", "4:3: a whole number is expected here"},
        {HEAD "\n", "3:1: a whole number is expected here"},
        {HEAD "0,0,0,99999999999999999999,12,1\n", "3:7: this number is too large"},
    };
    for (size_t i = 0; i < sizeof mistake / sizeof mistake[0]; i++) {
        external_clock_free(&external);
        TEST_ASSERT_EQUAL(
            -1, external_clock_parse(&external, mistake[i].text, strlen(mistake[i].text), error));
        TEST_ASSERT_EQUAL_STRING(mistake[i].complaint, error);
    }
}

/* ---- a grid that followed the board's clock ---- */

/* The whole grid runs fast by ppm, rounded as the frame loop rounds. */
static void speed_up(double ppm)
{
    for (size_t k = 0; k < FRAMES; k++) {
        struct sim_record_frame *frame = &evidence.frame[k];
        const double since_ns = (double)(frame->release_ns - FIRST);
        const uint64_t sooner_ns = (uint64_t)llround(since_ns * ppm * 1e-6);
        frame->release_ns -= sooner_ns;
        frame->start_ns -= sooner_ns;
        frame->end_ns -= sooner_ns;
    }
}

static void compute(double lock_ppm)
{
    const struct figures_limits limits = {0};
    evidence.lock_ppm = lock_ppm;
    TEST_ASSERT_TRUE(figures_compute(&figures, &evidence, &limits));
}

static void test_a_grid_that_was_moved_within_its_limit_is_a_grid(void)
{
    speed_up(150.0);
    compute(200.0);
    const uint64_t slots = FRAMES - 1 + 19 * 6;
    TEST_ASSERT_EQUAL_UINT64(0, figures.off_grid);
    TEST_ASSERT_EQUAL_UINT64(19 * 6, figures.missed);
    TEST_ASSERT_INT64_WITHIN(1, -(int64_t)(slots * 150), figures.corrected_ns[FRAMES - 1]);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 150.0, figures.raw.ppm); /* sim is ahead of this machine */
}

/* The lock moves a grid for all slots that went by, one frame after they were missed. */
static void test_a_grid_may_move_further_after_a_miss(void)
{
    for (size_t k = 1001; k < FRAMES; k++) {
        evidence.frame[k].release_ns += 7 * 150;
        evidence.frame[k].start_ns += 7 * 150;
        evidence.frame[k].end_ns += 7 * 150;
    }
    compute(150.0);
    TEST_ASSERT_EQUAL_UINT64(0, figures.off_grid);
    figures_free(&figures);
    compute(100.0);
    TEST_ASSERT_EQUAL_UINT64(1, figures.off_grid);
}

static void test_a_grid_that_was_moved_beyond_its_limit_is_none(void)
{
    speed_up(150.0);
    compute(50.0);
    TEST_ASSERT_GREATER_THAN_UINT64(FRAMES / 2, figures.off_grid);
    figures_free(&figures);
    compute(0.0);
    TEST_ASSERT_GREATER_THAN_UINT64(FRAMES / 2, figures.off_grid);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_clock_of_known_slope_and_offset_is_recovered);
    RUN_TEST(test_misses_make_simulated_time_lag_and_not_the_grid);
    RUN_TEST(test_what_the_stopwatch_alone_sees_is_not_in_the_log);
    RUN_TEST(test_late_sync_pulses_do_not_bend_the_fit);
    RUN_TEST(test_a_missing_sync_pulse_is_counted);
    RUN_TEST(test_without_a_report_the_gaps_are_counted);
    RUN_TEST(test_a_sync_pulse_of_another_run_is_known_by_its_time);
    RUN_TEST(test_a_file_of_another_run_is_refused);
    RUN_TEST(test_two_sync_pulses_are_too_few_for_a_drift);
    RUN_TEST(test_a_file_is_read);
    RUN_TEST(test_a_file_with_a_mistake_is_refused_at_its_place);
    RUN_TEST(test_a_grid_that_was_moved_within_its_limit_is_a_grid);
    RUN_TEST(test_a_grid_may_move_further_after_a_miss);
    RUN_TEST(test_a_grid_that_was_moved_beyond_its_limit_is_none);
    return UNITY_END();
}
