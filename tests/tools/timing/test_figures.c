/*
 * The figures of a run, from logs whose answers are known before they are written.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/log/mcap_writer.h"
#include "tools/airbearing/timing/figures.h"
#include "tools/airbearing/timing/frame_steps.h"
#include "unity.h"

enum { FRAMES = 10000, PERIOD = 1000000, BUSY = 200000 };
static const uint64_t FIRST = UINT64_C(5000000000);

static struct evidence evidence;
static struct figures figures;
static struct figures_limits limits;
static uint32_t dice;

/* Even in [0, 1), the same in every run. */
static double roll(void)
{
    dice = dice * 1664525u + 1013904223u;
    return (double)(dice >> 8) / 16777216.0;
}

/* Nearly normal, of unit deviation. */
static double bell(void)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += roll();
    return sum;
}

void setUp(void)
{
    dice = 1;
    limits = (struct figures_limits){0};
    evidence = (struct evidence){.period_ns = PERIOD, .pace = RT_PACE_REAL, .complete = true};
    snprintf(evidence.pace_name, sizeof evidence.pace_name, "real");
}

void tearDown(void)
{
    figures_free(&figures);
    evidence_free(&evidence);
}

/* Frames on the grid; the start error of frame k is k + 1 ns. */
static void make_frames(size_t count)
{
    evidence.frame = calloc(count, sizeof *evidence.frame);
    evidence.frame_count = count;
    for (size_t k = 0; k < count; k++) {
        struct sim_record_frame *frame = &evidence.frame[k];
        frame->frame = k;
        frame->release_ns = FIRST + k * PERIOD;
        frame->start_ns = frame->release_ns + k + 1;
        frame->end_ns = frame->start_ns + BUSY;
    }
}

/* From this frame on everything is so many releases later. */
static void miss(size_t from, uint32_t releases)
{
    evidence.frame[from].missed = releases;
    for (size_t k = from; k < evidence.frame_count; k++) {
        evidence.frame[k].release_ns += (uint64_t)releases * PERIOD;
        evidence.frame[k].start_ns += (uint64_t)releases * PERIOD;
        evidence.frame[k].end_ns += (uint64_t)releases * PERIOD;
    }
}

static void make_late(size_t k, uint64_t busy_ns, enum rt_cause cause)
{
    evidence.frame[k].end_ns = evidence.frame[k].start_ns + busy_ns;
    evidence.frame[k].cause = (uint8_t)cause;
    miss(k + 1, (uint32_t)(busy_ns / PERIOD));
}

static void compute(void)
{
    TEST_ASSERT_TRUE(figures_compute(&figures, &evidence, &limits));
}

static uint64_t at(const struct percentiles *percentiles, double fraction)
{
    uint64_t value = 0;
    TEST_ASSERT_TRUE(percentiles_at(percentiles, fraction, &value));
    return value;
}

/* ---- percentiles ----------------------------------------------------------------------- */

static void test_a_percentile_is_the_value_of_the_nearest_rank(void)
{
    make_frames(FRAMES + 1);
    compute();
    TEST_ASSERT_EQUAL_UINT64(5001, at(&figures.start_error, 0.5));
    TEST_ASSERT_EQUAL_UINT64(9001, at(&figures.start_error, 0.9));
    TEST_ASSERT_EQUAL_UINT64(9901, at(&figures.start_error, 0.99));
    TEST_ASSERT_EQUAL_UINT64(9991, at(&figures.start_error, 0.999));
    TEST_ASSERT_EQUAL_UINT64(10000, at(&figures.start_error, 0.9999));
    TEST_ASSERT_EQUAL_UINT64(10001, figures.start_error.max);
    TEST_ASSERT_EQUAL_UINT64(10000, figures.start_error.max_frame);
    TEST_ASSERT_EQUAL_UINT64(BUSY, at(&figures.busy, 0.99));
    TEST_ASSERT_EQUAL_UINT64(0, figures.busy.max_frame); /* all alike: the first of them */
    TEST_ASSERT_EQUAL_INT64(PERIOD - BUSY - 10001, figures.margin_min_ns);
    TEST_ASSERT_EQUAL_UINT64(10000, figures.margin_min_frame);
}

static void test_a_percentile_beyond_the_run_is_not_given(void)
{
    struct percentiles percentiles = {0};
    uint64_t value;
    for (uint64_t i = 1; i <= 1000; i++)
        percentiles_add(&percentiles, 1001 - i, i);
    percentiles_sort(&percentiles);
    TEST_ASSERT_EQUAL_UINT64(999, at(&percentiles, 0.999));
    TEST_ASSERT_FALSE(percentiles_at(&percentiles, 0.9999, &value));
    TEST_ASSERT_EQUAL_UINT64(1, percentiles.max_frame);
    TEST_ASSERT_EQUAL_size_t(1, percentiles_above(&percentiles, 999));
    TEST_ASSERT_EQUAL_size_t(1000, percentiles_above(&percentiles, 0));
    TEST_ASSERT_EQUAL_size_t(0, percentiles_above(&percentiles, 1000));
    percentiles_free(&percentiles);
}

static void test_the_hgrm_text_ends_with_the_maximum_and_the_count(void)
{
    struct percentiles percentiles = {0};
    char *text = NULL;
    size_t size;
    for (uint64_t i = 1; i <= 1000; i++)
        percentiles_add(&percentiles, i * 1000, i);
    percentiles_sort(&percentiles);
    FILE *out = open_memstream(&text, &size);
    percentiles_print_hgrm(&percentiles, out);
    fclose(out);
    TEST_ASSERT_NOT_NULL(strstr(text, "     500.000 0.500000000000        500           2.00\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "    1000.000 1.000000000000       1000\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "#[Mean    =      500.500, StdDeviation   =      288.675]"));
    TEST_ASSERT_NOT_NULL(strstr(text, "#[Max     =     1000.000, Total count    =         1000]"));
    free(text);
    percentiles_free(&percentiles);
}

/* ---- late frames ----------------------------------------------------------------------- */

static void give_jobs(void)
{
    evidence.job_count = 2;
    snprintf(evidence.job_name[0], EVIDENCE_NAME_MAX, "step");
    snprintf(evidence.job_name[1], EVIDENCE_NAME_MAX, "hash");
    evidence.job = calloc(evidence.frame_count, sizeof *evidence.job);
    evidence.job_records = evidence.frame_count;
    for (size_t k = 0; k < evidence.frame_count; k++)
        evidence.job[k] = (struct sim_record_job){.frame = k,
                                                  .begin_ns = evidence.frame[k].start_ns + 1000,
                                                  .due = k % 2 ? 3 : 1,
                                                  .spent_ns = {100000, 50000}};
}

static void test_a_late_frame_names_the_job_that_ran_and_the_one_that_grew(void)
{
    make_frames(1000);
    give_jobs();
    evidence.job[501].spent_ns[0] = 990000;
    evidence.job[501].spent_ns[1] = 60000;
    make_late(501, 1200000, RT_CAUSE_OWN);
    compute();
    TEST_ASSERT_EQUAL_size_t(1, figures.late_count);
    TEST_ASSERT_EQUAL_UINT64(501, figures.late[0].frame);
    TEST_ASSERT_EQUAL_UINT64(200000 + 502, figures.late[0].over_ns);
    TEST_ASSERT_EQUAL_STRING("hash", figures_phase_name(&figures, figures.late[0].running));
    TEST_ASSERT_EQUAL_STRING("step", figures_phase_name(&figures, figures.late[0].slowest_job));
    TEST_ASSERT_EQUAL_UINT64(890000, figures.late[0].slowest_job_ns);
    TEST_ASSERT_EQUAL_UINT64(1, figures.late[0].cost);
    TEST_ASSERT_EQUAL_size_t(1000, figures.job[0].count);
    TEST_ASSERT_EQUAL_size_t(500, figures.job[1].count);
}

static void test_a_late_wake_is_no_job(void)
{
    make_frames(1000);
    give_jobs();
    evidence.frame[10].start_ns += 2 * PERIOD;
    make_late(10, BUSY, RT_CAUSE_STOLEN);
    miss(11, 3);
    compute();
    TEST_ASSERT_EQUAL_INT(PHASE_WAKE, figures.late[0].running);
    TEST_ASSERT_EQUAL_INT(PHASE_WAKE, figures.late[0].slowest_job);
}

static void test_a_frame_can_be_late_behind_its_jobs(void)
{
    make_frames(1000);
    give_jobs();
    make_late(10, PERIOD + 5000, RT_CAUSE_IO);
    compute();
    TEST_ASSERT_EQUAL_INT(PHASE_AFTER, figures.late[0].running);
    TEST_ASSERT_EQUAL_INT(PHASE_AFTER, figures.late[0].slowest_job);
}

static void test_missed_releases_are_lag_and_sim_time_follows_no_closer(void)
{
    make_frames(1000);
    make_late(300, 5 * PERIOD + 1, RT_CAUSE_STOLEN);
    make_late(700, 2 * PERIOD + 1, RT_CAUSE_SWITCH);
    compute();
    TEST_ASSERT_EQUAL_UINT64(7, figures.missed);
    TEST_ASSERT_EQUAL_UINT64(7 * PERIOD, figures.lag_ns);
    TEST_ASSERT_EQUAL_UINT64(7 * PERIOD + 1000, figures.follow_ns);
    TEST_ASSERT_EQUAL_UINT64(999, figures.follow_frame);
    TEST_ASSERT_EQUAL_UINT64(0, figures.off_grid);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.007, figures.seconds_wall);
    TEST_ASSERT_EQUAL_STRING("simulated time followed wall time within 7.00 ms over 1.007 s; 2 of "
                             "2 late frames were the machine's, 0 unexplained",
                             figures.verdict);
    TEST_ASSERT_TRUE(figures.kept);
}

/* Whoever took it: two seconds that lasted four were not in time. */
static void test_much_time_that_the_machine_took_breaks_the_promise(void)
{
    make_frames(1000);
    make_late(300, 49 * PERIOD + 1, RT_CAUSE_STOLEN);
    compute();
    TEST_ASSERT_TRUE(figures.kept);
    figures_free(&figures);
    make_late(700, 20 * PERIOD + 1, RT_CAUSE_SWITCH);
    compute();
    TEST_ASSERT_FALSE(figures.kept);
    TEST_ASSERT_NOT_NULL(strstr(figures.reason[0], "fell 0.069 s behind wall time in 1.000 s"));
    limits.allowed[RT_CAUSE_STOLEN] = limits.allowed[RT_CAUSE_SWITCH] = 1;
    figures_judge(&figures, &limits);
    TEST_ASSERT_TRUE(figures.kept);
}

static void test_own_work_and_what_nothing_explains_break_the_promise(void)
{
    static const enum rt_cause causes[] = {RT_CAUSE_OWN, RT_CAUSE_IO, RT_CAUSE_UNKNOWN};
    for (int i = 0; i < 3; i++) {
        make_frames(1000);
        make_late(300, PERIOD + 1, causes[i]);
        compute();
        TEST_ASSERT_FALSE(figures.kept);
        TEST_ASSERT_EQUAL_INT(2, figures.reason_count); /* that, and no report */
        limits.allowed[causes[i]] = 1;
        figures_judge(&figures, &limits);
        TEST_ASSERT_TRUE(figures.kept);
        figures_free(&figures);
        free(evidence.frame);
        evidence.frame = NULL;
    }
}

static void test_a_page_fault_is_the_machines_unless_memory_was_locked(void)
{
    make_frames(1000);
    make_late(300, PERIOD + 1, RT_CAUSE_FAULT);
    compute();
    TEST_ASSERT_TRUE(figures.kept);
    TEST_ASSERT_EQUAL_UINT64(1, figures.machine);
    figures_free(&figures);
    evidence.report = json_pack("{s:{s:b}}", "realtime", "memory_locked", 1);
    compute();
    TEST_ASSERT_FALSE(figures.kept);
    TEST_ASSERT_EQUAL_UINT64(1, figures.ours);
}

static void test_realtime_that_was_required_must_have_been_met(void)
{
    make_frames(100);
    evidence.require_realtime = true;
    evidence.report = json_pack("{s:{s:b, s:s}}", "realtime", "met", 0, "missing", "the kernel");
    compute();
    TEST_ASSERT_FALSE(figures.kept);
    TEST_ASSERT_NOT_NULL(strstr(figures.reason[0], "the kernel"));
    figures_free(&figures);
    json_object_set_new(json_object_get(evidence.report, "realtime"), "met", json_true());
    compute();
    TEST_ASSERT_TRUE(figures.kept);
}

static void test_a_log_that_does_not_prove_it_does_not_count(void)
{
    make_frames(100);
    evidence.lost = 1;
    compute();
    TEST_ASSERT_FALSE(figures.kept);
    figures_free(&figures);
    evidence.lost = 0;
    evidence.report = json_pack("{s:i, s:i, s:i}", "frames", 100, "overruns", 1, "missed", 0);
    compute();
    TEST_ASSERT_FALSE(figures.kept);
    figures_free(&figures);
    json_object_set_new(evidence.report, "overruns", json_integer(0));
    compute();
    TEST_ASSERT_TRUE(figures.kept);
    figures_free(&figures);
    evidence.frame[50].release_ns -= 1;
    evidence.frame[70].release_ns += 1;
    compute();
    TEST_ASSERT_FALSE(figures.kept);
    TEST_ASSERT_EQUAL_UINT64(2, figures.off_grid);
}

static void test_a_run_without_a_wall_clock_promised_nothing(void)
{
    make_frames(100);
    make_late(30, 5 * PERIOD, RT_CAUSE_NONE);
    evidence.pace = RT_PACE_FAST;
    compute();
    TEST_ASSERT_TRUE(figures.kept);
    TEST_ASSERT_EQUAL_size_t(0, figures.late_count);
    TEST_ASSERT_EQUAL_size_t(0, figures.start_error.count);
    TEST_ASSERT_FALSE(figures.raw.known);
}

/* ---- drift ----------------------------------------------------------------------------- */

static void give_clocks(double raw_ppm, double wall_ppm)
{
    evidence.clock_count = evidence.frame_count / 20 + 4;
    evidence.clock = calloc(evidence.clock_count, sizeof *evidence.clock);
    for (size_t i = 0; i < evidence.clock_count; i++) {
        const double since = (double)i * 20e6;
        evidence.clock[i] = (struct sim_record_clock){
            .monotonic_ns = FIRST - 7000000 + i * 20000000,
            .raw_ns = 123456789 + (uint64_t)(since * (1.0 + raw_ppm * 1e-6) + 40.0 * roll()),
            .realtime_ns = UINT64_C(1700000000000000000) +
                           (uint64_t)(since * (1.0 + wall_ppm * 1e-6) + 40.0 * roll()),
        };
    }
}

static void test_drift_is_the_slope_whatever_was_missed(void)
{
    make_frames(FRAMES);
    for (size_t k = 0; k < FRAMES; k++) {
        evidence.frame[k].start_ns = evidence.frame[k].release_ns + (uint64_t)(3000.0 * roll());
        evidence.frame[k].end_ns = evidence.frame[k].start_ns + BUSY;
    }
    make_late(4000, 300 * PERIOD, RT_CAUSE_STOLEN);
    give_clocks(-12.5, 3.0);
    compute();
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 12.5, figures.raw.ppm);
    TEST_ASSERT_DOUBLE_WITHIN(0.05, -3.0, figures.wall.ppm);
    TEST_ASSERT_TRUE(figures.raw.half_width_ppm > 0.0 && figures.raw.half_width_ppm < 0.05);
    TEST_ASSERT_FALSE(figures.wall_was_set);
}

static void test_a_wall_clock_that_was_set_is_noticed(void)
{
    make_frames(FRAMES);
    give_clocks(0.0, 0.0);
    for (size_t i = evidence.clock_count / 2; i < evidence.clock_count; i++)
        evidence.clock[i].realtime_ns += 50000000;
    compute();
    TEST_ASSERT_TRUE(figures.wall_was_set);
    TEST_ASSERT_DOUBLE_WITHIN(0.05, -1.0, figures.raw.ppm); /* 1 ns later in every frame */
}

/* 95 % is a claim about many runs: count them.  Errors that come in crowds make it harder. */
static int hits_of_interval(double memory)
{
    enum { RUNS = 400, POINTS = 150 };
    int hits = 0;
    for (int run = 0; run < RUNS; run++) {
        struct fit_point points[POINTS];
        struct drift_fit fit;
        double error = 0.0;
        for (int i = 0; i < POINTS; i++) {
            error = memory * error + bell();
            points[i] = (struct fit_point){0.1 * i, 5.0 + 0.25 * (0.1 * i) + error};
        }
        TEST_ASSERT_TRUE(drift_fit_line(points, POINTS, &fit));
        hits += fabs(fit.slope - 0.25) <= fit.half_width;
    }
    return hits * 100 / RUNS;
}

static void test_the_interval_holds_the_true_drift_as_often_as_it_says(void)
{
    TEST_ASSERT_INT_WITHIN(4, 95, hits_of_interval(0.0));
    TEST_ASSERT_INT_WITHIN(5, 94, hits_of_interval(0.6));
}

static void test_two_points_have_no_interval(void)
{
    const struct fit_point points[3] = {{0, 0}, {1, 1}, {1, 1}};
    struct drift_fit fit;
    TEST_ASSERT_FALSE(drift_fit_line(points, 2, &fit));
    TEST_ASSERT_FALSE(drift_fit_line(points + 1, 2, &fit));
    TEST_ASSERT_TRUE(drift_fit_line(points, 3, &fit));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0, fit.slope);
}

static void test_students_factor_is_that_of_the_tables(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(0.04, 3.182, drift_fit_student(3));
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 2.228, drift_fit_student(10));
    TEST_ASSERT_DOUBLE_WITHIN(0.001, 1.984, drift_fit_student(100));
}

/* ---- best-fit delay -------------------------------------------------------------------- */

enum { COMMANDS = 1000, SAMPLES = 4000 };
static struct delay_sample asked[COMMANDS], done[SAMPLES];

static double command_at(double seconds)
{
    return sin(9.0 * seconds) + 0.4 * sin(23.0 * seconds + 1.0);
}

/* Commands every 4 ms, held; what is done is sampled every 1 ms, so late, scaled and noisy. */
static void make_series(double delay, double gain, double noise)
{
    for (int i = 0; i < COMMANDS; i++)
        asked[i] = (struct delay_sample){0.004 * i, command_at(0.004 * i)};
    for (int i = 0; i < SAMPLES; i++) {
        const double seconds = 0.001 * i;
        const double held = 0.004 * fmin(COMMANDS - 1, fmax(0.0, floor((seconds - delay) / 0.004)));
        done[i] = (struct delay_sample){seconds, 0.7 + gain * command_at(held) + noise * bell()};
    }
}

static void test_the_best_fit_delay_is_the_delay(void)
{
    static const double delays[] = {0.0015, 0.0125, 0.0905};
    struct effective_latency delay;
    for (int i = 0; i < 3; i++) {
        make_series(delays[i], -3.0, 0.05);
        TEST_ASSERT_TRUE(delay_fit(asked, COMMANDS, done, SAMPLES, 0.25, 0.0005, &delay));
        TEST_ASSERT_DOUBLE_WITHIN(5e-5, delays[i] + 0.0005, delay.seconds); /* the next sample */
        TEST_ASSERT_DOUBLE_WITHIN(0.02, -3.0, delay.gain);
        TEST_ASSERT_TRUE(delay.explained > 0.98);
    }
}

static void test_what_was_done_before_the_first_command_does_not_count(void)
{
    struct effective_latency delay;
    make_series(0.0125, 1.0, 0.0);
    for (int i = 0; i < 500; i++)
        done[i].value = 100.0 * bell();
    TEST_ASSERT_TRUE(delay_fit(asked + 125, COMMANDS - 125, done, SAMPLES, 0.25, 0.0005, &delay));
    TEST_ASSERT_DOUBLE_WITHIN(5e-5, 0.013, delay.seconds);
}

static void test_a_lag_counts_as_about_its_time_constant(void)
{
    struct effective_latency delay;
    double state = 0.0;
    make_series(0.0, 1.0, 0.0);
    for (int i = 0; i < SAMPLES; i++) {
        state += (done[i].value - state) * 0.001 / 0.010;
        done[i].value = state;
    }
    TEST_ASSERT_TRUE(delay_fit(asked, COMMANDS, done, SAMPLES, 0.25, 0.0005, &delay));
    TEST_ASSERT_DOUBLE_WITHIN(0.0025, 0.010, delay.seconds);
}

static void test_what_does_not_move_has_no_delay(void)
{
    struct effective_latency delay;
    make_series(0.01, 0.0, 0.0);
    TEST_ASSERT_FALSE(delay_fit(asked, COMMANDS, done, SAMPLES, 0.25, 0.0005, &delay));
    make_series(0.01, 0.0, 1.0);
    TEST_ASSERT_FALSE(delay_fit(asked, COMMANDS, done, SAMPLES, 0.25, 0.0005, &delay));
    TEST_ASSERT_FALSE(delay_fit(asked, 1, done, SAMPLES, 0.25, 0.0005, &delay));
}

/* ---- reading a log --------------------------------------------------------------------- */

/* Records of one topic; stride bytes from one to the next. */
static int write_and_read_topic(const char *topic, const void *records, size_t count, size_t stride,
                                size_t size, char error[EVIDENCE_ERROR_MAX])
{
    const unsigned char *bytes = records;
    static const char *const metadata[] = {"pace", "real", "period_ns", "1000000", NULL};
    static struct io_mcap_writer writer;
    char path[] = "/tmp/test_timing_XXXXXX";
    close(mkstemp(path));
    struct io_channel_spec channel = {.schema = "airbearing_msgs/msg/Any",
                                      .definition = "uint64 frame\n",
                                      .payload_size = (uint32_t)size,
                                      .depth = 8};
    snprintf(channel.topic, sizeof channel.topic, "%s", topic);
    memset(&writer, 0, sizeof writer);
    TEST_ASSERT_EQUAL_INT(0, io_mcap_writer_open(&writer, path, &channel, 1, metadata, NULL, 0));
    for (size_t i = 0; i < count; i++)
        io_mcap_writer_add(&writer, &(struct io_mcap_chunk_message){
                                        .log_ns = i, .payload = bytes + i * stride, .size = size});
    io_mcap_writer_close(&writer, NULL, 0);
    evidence_free(&evidence);
    struct io_mcap_reader *reader = io_mcap_open(path, error);
    unlink(path);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    const int code = evidence_read(&evidence, reader, error);
    io_mcap_close(reader);
    return code;
}

static int write_and_read(const struct sim_record_frame *frames, size_t count, size_t size,
                          char error[EVIDENCE_ERROR_MAX])
{
    return write_and_read_topic("/frame", frames, count, sizeof *frames, size, error);
}

static void test_a_log_is_read_and_a_frame_that_is_missing_is_counted(void)
{
    char error[EVIDENCE_ERROR_MAX];
    const struct sim_record_frame frames[] = {
        {.frame = 3, .release_ns = 9, .start_ns = 10, .end_ns = 11},
        {.frame = 7, .release_ns = 12, .start_ns = 12, .end_ns = 12}};
    TEST_ASSERT_EQUAL_INT(0, write_and_read(frames, 2, SIM_RECORD_FRAME_SIZE, error));
    TEST_ASSERT_EQUAL_size_t(2, evidence.frame_count);
    TEST_ASSERT_EQUAL_UINT64(3, evidence.lost);
    TEST_ASSERT_EQUAL_UINT64(PERIOD, evidence.period_ns);
    TEST_ASSERT_EQUAL_size_t(1, evidence_find(&evidence, 4));
    TEST_ASSERT_EQUAL_size_t(2, evidence_find(&evidence, 8));
}

static void test_a_record_that_cannot_be_true_is_refused(void)
{
    char error[EVIDENCE_ERROR_MAX];
    const struct sim_record_frame good = {
        .frame = 3, .release_ns = 9, .start_ns = 10, .end_ns = 11};
    struct sim_record_frame bad[2] = {good,
                                      {.frame = 4, .release_ns = 20, .start_ns = 19, .end_ns = 21}};
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(bad, 2, SIM_RECORD_FRAME_SIZE, error));
    bad[1] = (struct sim_record_frame){.frame = 4, .release_ns = 20, .start_ns = 21, .end_ns = 20};
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(bad, 2, SIM_RECORD_FRAME_SIZE, error));
    bad[1] = good;
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(bad, 2, SIM_RECORD_FRAME_SIZE, error));
    bad[1] = (struct sim_record_frame){.frame = 4, .release_ns = 8, .start_ns = 21, .end_ns = 22};
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(bad, 2, SIM_RECORD_FRAME_SIZE, error));
    bad[1] = (struct sim_record_frame){
        .frame = 4, .release_ns = 20, .start_ns = 21, .end_ns = 22, .cause = RT_CAUSE_COUNT};
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(bad, 2, SIM_RECORD_FRAME_SIZE, error));
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(&good, 1, SIM_RECORD_FRAME_SIZE - 1, error));
    TEST_ASSERT_EQUAL_INT(-1, write_and_read(&good, 0, SIM_RECORD_FRAME_SIZE, error));
}

/* The reading ends at the first bad event, and at the latest for want of a frame: the text says
 * which.
 */
static const char *read_events(const struct rt_flight_recorder_row *rows, size_t count, size_t size)
{
    static char error[EVIDENCE_ERROR_MAX];
    TEST_ASSERT_EQUAL_INT(-1,
                          write_and_read_topic("/event", rows, count, sizeof *rows, size, error));
    return error;
}

static const char all_good[] = "no /frame record inside";

static const struct rt_flight_recorder_row good_row = {.frame = 3,
                                                       .release_ns = 1000,
                                                       .start_ns = 1100,
                                                       .await_ns = 900,
                                                       .sent_ns = 1150,
                                                       .jobs_ns = 1200,
                                                       .end_ns = 1300,
                                                       .recorded_ns = 1400};

static void test_an_event_that_cannot_be_true_is_refused(void)
{
    const char refused[] = "the /event record of frame 3 cannot be true";
    struct rt_flight_recorder_row rows[2] = {good_row, good_row};
    rows[1].frame = 4;
    TEST_ASSERT_EQUAL_STRING(all_good, read_events(rows, 2, SIM_RECORD_EVENT_HEAD));
    TEST_ASSERT_EQUAL_STRING("an /event record is too short",
                             read_events(rows, 2, SIM_RECORD_EVENT_HEAD - 1));
    rows[1].frame = 3;
    TEST_ASSERT_EQUAL_STRING(refused, read_events(rows, 2, SIM_RECORD_EVENT_HEAD));
    uint64_t *const stamps[] = {&rows[0].release_ns, &rows[0].start_ns, &rows[0].await_ns,
                                &rows[0].sent_ns,    &rows[0].jobs_ns,  &rows[0].end_ns};
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        rows[0] = good_row;
        *stamps[i] = 1401; /* after all the others */
        TEST_ASSERT_EQUAL_STRING(refused, read_events(rows, 1, SIM_RECORD_EVENT_HEAD));
    }
    rows[0] = good_row;
    rows[0].recorded_ns = UINT64_MAX;
    TEST_ASSERT_EQUAL_STRING(refused, read_events(rows, 1, SIM_RECORD_EVENT_HEAD));
    rows[0] = good_row;
    rows[0].cause = RT_CAUSE_COUNT;
    TEST_ASSERT_EQUAL_STRING(refused, read_events(rows, 1, SIM_RECORD_EVENT_HEAD));
}

/* ---- what ran when --------------------------------------------------------------------- */

static char *steps_text(const struct rt_flight_recorder_row *row)
{
    static char text[512];
    struct frame_step steps[FRAME_STEPS_MAX];
    evidence.job_count = 3;
    for (int j = 0; j < 3; j++)
        snprintf(evidence.job_name[j], EVIDENCE_NAME_MAX, "job%d", j);
    const int count = frame_steps_of(&evidence, row, steps);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %d-%d", used ? ", " : "", steps[i].name,
                 (int)steps[i].from_ns, (int)steps[i].to_ns);
    }
    return text;
}

static void test_the_steps_of_a_frame_follow_each_other(void)
{
    struct rt_flight_recorder_row row = good_row;
    row.await_ns = 0;
    row.due = 5;
    row.spent_ns[0] = 30;
    row.spent_ns[1] = 999; /* did not run */
    row.spent_ns[2] = 60;
    TEST_ASSERT_EQUAL_STRING(
        "wake-up 1000-1100, commit 1100-1150, latch 1150-1200, job0 1200-1230, "
        "job2 1230-1290, record 1300-1400",
        steps_text(&row));
    row.sent_ns = 1295;
    row.cause = RT_CAUSE_OWN;
    TEST_ASSERT_EQUAL_STRING("wake-up 1000-1100, latch 1100-1200, job0 1200-1230, job2 1230-1290, "
                             "commit 1290-1295, cause, record 1300-1400",
                             steps_text(&row));
}

static void test_a_frame_in_lockstep_begins_with_the_wait_for_its_reply(void)
{
    struct rt_flight_recorder_row row = good_row;
    row.release_ns = row.start_ns;
    row.sent_ns = row.await_ns;
    TEST_ASSERT_EQUAL_STRING("reply 900-1100, latch 1100-1200, record 1300-1400", steps_text(&row));
    row.unanswered = 1;
    TEST_ASSERT_EQUAL_STRING("no reply 900-1100, latch 1100-1200, record 1300-1400",
                             steps_text(&row));
}

/* With a sanitizer it would be reported if there were no room. */
static void test_there_is_room_for_the_steps_of_every_job(void)
{
    struct rt_flight_recorder_row row = good_row;
    struct frame_step steps[FRAME_STEPS_MAX];
    evidence.job_count = RT_JOB_MAX;
    row.await_ns = row.release_ns - 10;
    row.start_ns = row.release_ns;
    row.sent_ns = row.release_ns + 10;
    row.jobs_ns = row.release_ns + 20;
    row.due = UINT64_MAX;
    for (int j = 0; j < RT_JOB_MAX; j++) {
        snprintf(evidence.job_name[j], EVIDENCE_NAME_MAX, "job%d", j);
        row.spent_ns[j] = 1;
    }
    TEST_ASSERT_EQUAL_INT(3 + RT_JOB_MAX + 1, frame_steps_of(&evidence, &row, steps));
    TEST_ASSERT_EQUAL_STRING("reply", steps[0].name);
    TEST_ASSERT_EQUAL_STRING("job0", steps[3].name);
    TEST_ASSERT_EQUAL_UINT64(row.jobs_ns + RT_JOB_MAX, steps[2 + RT_JOB_MAX].to_ns);
    TEST_ASSERT_EQUAL_STRING("record", steps[3 + RT_JOB_MAX].name);
}

static void test_the_latest_frame_is_the_one_with_the_most_over(void)
{
    struct late_frame late[] = {{.frame = 3, .over_ns = 5},
                                {.frame = 4, .over_ns = 50},
                                {.frame = 5, .over_ns = 500},
                                {.frame = 6, .over_ns = 7}};
    struct rt_flight_recorder_row rows[] = {{.frame = 3}, {.frame = 4}, {.frame = 6}};
    const struct evidence told = {.row = rows, .row_count = 3};
    struct figures some = {.evidence = &told, .late = late, .late_count = 4};
    TEST_ASSERT_EQUAL_PTR(&rows[1], frame_steps_worst(&some)); /* of frame 5 nothing was written */
    some.late_count = 0;
    TEST_ASSERT_NULL(frame_steps_worst(&some));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_percentile_is_the_value_of_the_nearest_rank);
    RUN_TEST(test_a_percentile_beyond_the_run_is_not_given);
    RUN_TEST(test_the_hgrm_text_ends_with_the_maximum_and_the_count);
    RUN_TEST(test_a_late_frame_names_the_job_that_ran_and_the_one_that_grew);
    RUN_TEST(test_a_late_wake_is_no_job);
    RUN_TEST(test_a_frame_can_be_late_behind_its_jobs);
    RUN_TEST(test_missed_releases_are_lag_and_sim_time_follows_no_closer);
    RUN_TEST(test_much_time_that_the_machine_took_breaks_the_promise);
    RUN_TEST(test_own_work_and_what_nothing_explains_break_the_promise);
    RUN_TEST(test_a_page_fault_is_the_machines_unless_memory_was_locked);
    RUN_TEST(test_realtime_that_was_required_must_have_been_met);
    RUN_TEST(test_a_log_that_does_not_prove_it_does_not_count);
    RUN_TEST(test_a_run_without_a_wall_clock_promised_nothing);
    RUN_TEST(test_drift_is_the_slope_whatever_was_missed);
    RUN_TEST(test_a_wall_clock_that_was_set_is_noticed);
    RUN_TEST(test_the_interval_holds_the_true_drift_as_often_as_it_says);
    RUN_TEST(test_two_points_have_no_interval);
    RUN_TEST(test_students_factor_is_that_of_the_tables);
    RUN_TEST(test_the_best_fit_delay_is_the_delay);
    RUN_TEST(test_what_was_done_before_the_first_command_does_not_count);
    RUN_TEST(test_a_lag_counts_as_about_its_time_constant);
    RUN_TEST(test_what_does_not_move_has_no_delay);
    RUN_TEST(test_a_log_is_read_and_a_frame_that_is_missing_is_counted);
    RUN_TEST(test_a_record_that_cannot_be_true_is_refused);
    RUN_TEST(test_an_event_that_cannot_be_true_is_refused);
    RUN_TEST(test_the_steps_of_a_frame_follow_each_other);
    RUN_TEST(test_a_frame_in_lockstep_begins_with_the_wait_for_its_reply);
    RUN_TEST(test_there_is_room_for_the_steps_of_every_job);
    RUN_TEST(test_the_latest_frame_is_the_one_with_the_most_over);
    return UNITY_END();
}
