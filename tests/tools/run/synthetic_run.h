/*
 * A run whose figures are all synthetic and all different, for the tests of what is said of it. The
 * test stands for its wire.
 */
#pragma once

#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/scenario.h"
#include "rt/panic.h"
#include "tools/airbearing/report/report_json.h"
#include "tools/airbearing/report/report_text.h"
#include "tools/airbearing/run/run.h"
#include "unity.h"

enum { TEXT_MAX = 1 << 16, LINKS = 2 };

/* The wire, as far as a report asks for it. */
static struct io_latency wire_latency[LINKS];
static struct io_ground_result wire_ground[LINKS][IO_GROUND_STEP_MAX];
static const char *wire_note;
static int wire_line; /* what became of the ground station's */
static int wire_safe, wire_interrupts;
static int stop_signal;
static int alarms;
static char alarm_text[128];

const struct io_latency *__wrap_io_link_latency(const struct io_links *links, int link);
struct io_ground_result __wrap_io_link_ground_result(const struct io_links *links, int link,
                                                     int step);
int __wrap_io_link_ground_line_status(const struct io_links *links, int link);
uint64_t __wrap_io_link_fault_hits(const struct io_links *links, int link, int fault);
const char *__wrap_io_links_note(const struct io_links *links);
void __wrap_io_links_invalidate_outputs(struct io_links *links);
void __wrap_io_links_interrupt(struct io_links *links);
int __wrap_rt_stop_signal(void);

static struct io_links *const the_links = (struct io_links *)&wire_latency;
static struct serve *const the_server = (struct serve *)&wire_ground;

const struct io_latency *__wrap_io_link_latency(const struct io_links *links, int link)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    return &wire_latency[link];
}

struct io_ground_result __wrap_io_link_ground_result(const struct io_links *links, int link,
                                                     int step)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    return wire_ground[link][step];
}

int __wrap_io_link_ground_line_status(const struct io_links *links, int link)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    return link == 0 ? wire_line : 0;
}

uint64_t __wrap_io_link_fault_hits(const struct io_links *links, int link, int fault)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    return (uint64_t)(1000 + 100 * link + fault);
}

const char *__wrap_io_links_note(const struct io_links *links)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    return wire_note;
}

void __wrap_io_links_invalidate_outputs(struct io_links *links)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    wire_safe++;
}

void __wrap_io_links_interrupt(struct io_links *links)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    wire_interrupts++;
}

int __wrap_rt_stop_signal(void)
{
    return stop_signal;
}

void serve_log_error(struct serve *serve, const char *text)
{
    TEST_ASSERT_EQUAL_PTR(the_server, serve);
    snprintf(alarm_text, sizeof alarm_text, "%s", text);
    alarms++;
}

/* ---- the run ---------------------------------------------------------------------------- */

static const char scenario_text[] =
    "name: made\n"
    "rate: 1 kHz\n"
    "seed: 5\n"
    "bodies:\n"
    "  - {name: bus, joint: free, mass: 100 kg, inertia: 8 13 6 kg m^2}\n"
    "  - {name: claw, parent: bus, joint: {type: revolute, axis: 1 0 0}, mass: 1 kg,\n"
    "     inertia: 1 1 1 kg m^2}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: bus, rate: 250 Hz}\n"
    "links:\n"
    "  - {name: board, listen: 127.0.0.1:14560, body: bus, send: {sensor: 250 Hz}}\n"
    "  - {name: hand, protocol: hand, bus: cockpit, body: bus, delay: 3 ms,\n"
    "     axes: [{axis: x, control: 0}]}\n"
    "faults:\n"
    "  - {device: gyro, type: bias, at: 1 s, for: 1 s, value: 1 deg/s}\n"
    "  - {link: board, type: delay, way: both, at: 1 s, for: 1 s, value: 3 ms}\n"
    "  - {link: board, type: crc, way: out, at: 1 s, for: 1 s, value: 2 %}\n"
    "  - {name: gap, link: board, type: dropout, way: in, when: operator, value: 2 %}\n"
    "expect:\n"
    "  - rate < 1 deg/s after 1 s\n"
    "  - attitude_error < 2 deg within 1 s\n"
    "  - speed < 3 m/s after 9 s\n";

static struct cfg_scenario *scenario;
static struct rt_frame frame;
static struct rt_schedule *schedule;
static struct run run;
static char said[TEXT_MAX];

/* Half of all values, all but ten, all but one, and the largest; they are exact below 64. */
static void fill(struct rt_histogram *histogram, uint64_t p50, uint64_t p99, uint64_t p999,
                 uint64_t most)
{
    *histogram = (struct rt_histogram){0};
    for (int i = 0; i < 500; i++)
        rt_histogram_add(histogram, p50, 1);
    for (int i = 0; i < 490; i++)
        rt_histogram_add(histogram, p99, 2);
    for (int i = 0; i < 9; i++)
        rt_histogram_add(histogram, p999, 3);
    rt_histogram_add(histogram, most, 77);
}

static void make_schedule(void)
{
    static const struct rt_job jobs[] = {
        {.name = "step", .every = 1, .predicted_ns = 999},
        {.name = "gyro", .every = 4, .predicted_ns = 1000},
        {.name = "look", .every = 8, .predicted_ns = 1000000},
        {.name = "wait", .every = 1000, .predicted_ns = 1000000000},
    };
    const int count = sizeof jobs / sizeof *jobs;
    const size_t size = rt_schedule_size(jobs, count);
    void *mem = aligned_alloc(64, (size / 64 + 1) * 64);
    TEST_ASSERT_NOT_NULL(mem);
    schedule = rt_schedule_place(jobs, count, mem);
    for (int i = 0; i < count; i++) {
        const uint64_t at = (uint64_t)i;
        fill(&schedule->time[i], 10 + at, 20 + at, 30 + at, 40 + at);
    }
}

static void make_frame(void)
{
    static const uint64_t causes[RT_CAUSE_COUNT] = {0, 1, 2, 3, 4, 5, 6};
    frame.spec.period_ns = 1000000;
    frame.frames = 2000;
    frame.first_release_ns = 5000000000;
    frame.last_release_ns = 7004000000;
    frame.overruns = 21;
    frame.missed = 3;
    frame.caught_up = 2;
    frame.missed_replies = 4;
    frame.paused = 7;
    memcpy(frame.causes, causes, sizeof causes);
    frame.margin_ns_min = -12500;
    frame.margin_frame_min = 1234;
    fill(&frame.start_error_ns, 1, 2, 3, 4);
    fill(&frame.busy_ns, 5, 6, 7, 8);
    fill(&frame.response_ns, 11, 12, 13, 14);
    frame.corrected_ns = -1500;
    frame.drift_ppm = 1.25;
}

static void make_rig(void)
{
    static const double signal[SIM_SIGNAL_COUNT] = {0.5, 0.25, 7.0, 9.5, 1.5, 2.5, 0.125};
    struct sim *sim = run.sim;
    sim->schedule = schedule;
    sim->scratch.hash = 0x123456789abcdef0;
    sim->recorder->lost = 8;
    memcpy(sim->scratch.signal, signal, sizeof signal);
    sim->epoch_us[0] = 61;
    sim->epoch_us[1] = 62;
    sim->vehicle->fault[0].hits = 91;
    sim->vehicle->fault[0].first_frame = 1000;
    sim->scratch.delay_out[0].hits = 70;
    sim->scratch.delay_in[0].hits = 5;
    sim_expectation_update(&sim->scratch.expect[0], 1.5, 0.01);
    sim_expectation_update(&sim->scratch.expect[1], 0.5, 0.5);
    sim_expectation_update(&sim->scratch.expect[1], 1.5, 0.0);
}

static void make_link(int i)
{
    const uint64_t at = 100 * (uint64_t)(i + 1);
    run.link[i].counters = (struct io_link_counts){.rx = at + 1,
                                                   .tx = at + 2,
                                                   .rx_bytes = at + 3,
                                                   .tx_bytes = at + 4,
                                                   .rx_bad = at + 5,
                                                   .rx_lost = at + 6,
                                                   .tx_dropped = at + 7,
                                                   .commands = at + 8,
                                                   .losses = at + 9,
                                                   .duplicates = at + 10,
                                                   .forwarded = at + 11,
                                                   .forward_dropped = at + 12};
    run.link[i].cadence =
        (struct io_cadence){.gap_ns_max = 2500000 + at, .late = at + 14, .silent = at + 15};
    run.link[i].wake_up_messages = at + 16;
    run.source.resets[i] = (uint32_t)at + 17;
    for (int part = 0; part < IO_LATENCY_COUNT; part++) {
        const uint64_t from = (uint64_t)(part + 7 * i);
        fill(&wire_latency[i].part[part], from, 20 + from, 30 + from, 40 + from);
    }
}

static void make_rest(void)
{
    run.machine.kernel_rt = true;
    run.machine.isolated[1] = true;
    run.machine.cpu_count = 3;
    run.machine.cap_sys_nice = run.machine.cap_ipc_lock = run.machine.tsc_clocksource = true;
    run.plan = (struct rt_core_plan){.frame_cpu = 1, .io_cpu = 2, .housekeeping_cpu = 0};
    run.frame_thread = (struct rt_thread){.tid = 10, .policy = SCHED_RR, .priority = 71, .cpu = 1};
    run.io_thread = (struct rt_thread){.tid = 11, .policy = SCHED_FIFO, .priority = 70, .cpu = 2};
    run.memory_locked = true;
    run.end_policy = SCHED_FIFO;
    run.end_priority = 80;
    run.page_faults = 31;
    run.switches = 32;
    run.cause_finder.stolen_ns_total = 33;
    run.io = (struct io_link_counts){
        .rx = 1, .tx = 2, .rx_bad = 3, .tx_dropped = 4, .rx_lost = 5, .commands = 6, .losses = 7};
    run.log = (struct io_log_result){.records = 51, .bytes = 53, .decimated = 54};
    run.acts = (struct sim_operator_result){.acts = 41, .state_size = 43};
}

void setUp(void)
{
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(0,
                                  cfg_scenario_load_text("some/where/made.yaml", scenario_text,
                                                         sizeof scenario_text - 1, NULL, 0,
                                                         &scenario, error),
                                  error);
    memset(&run, 0, sizeof run);
    memset(&frame, 0, sizeof frame);
    memset(wire_latency, 0, sizeof wire_latency);
    memset(wire_ground, 0, sizeof wire_ground);
    wire_note = "";
    wire_line = wire_safe = wire_interrupts = stop_signal = alarms = 0;
    alarm_text[0] = '\0';
    run.scenario = scenario;
    run.frame = &frame;
    run.sim = sim_create(&scenario->spec);
    run.links = the_links;
    run.controller.output = -1;
    make_schedule();
    make_frame();
    make_rig();
    make_rest();
    for (int i = 0; i < LINKS; i++)
        make_link(i);
}

void tearDown(void)
{
    free(schedule);
    free(run.sim);
    cfg_scenario_free(scenario);
}

/* What a ground station does, and what became of it. */
static inline void make_script(void)
{
    struct sim_link *link = &scenario->spec.links[0];
    struct io_ground_script *script = &link->spec.script;
    script->step_count = 4;
    script->step[0] = (struct io_ground_step){.act = IO_GROUND_ARM, .frame = 100};
    script->step[1] =
        (struct io_ground_step){.act = IO_GROUND_TAKEOFF, .frame = 1500, .value = 2.5f};
    script->step[2] =
        (struct io_ground_step){.act = IO_GROUND_MODE, .frame = 1600, .name = "guided"};
    script->step[3] = (struct io_ground_step){.act = IO_GROUND_LAND, .frame = 9000};
    cfg_scenario_note(scenario, "ground", cfg_ground_step_name(link, 1).text,
                      (struct cfg_mark){47, 1});
    cfg_scenario_note(scenario, "ground", cfg_ground_step_name(link, 3).text,
                      (struct cfg_mark){1, 1});
    wire_ground[0][0] = (struct io_ground_result){IO_GROUND_DONE, 1, 0, 101, 130};
    wire_ground[0][1] = (struct io_ground_result){IO_GROUND_FAILED, 5, 1, 1501, 1800};
    wire_ground[0][2] = (struct io_ground_result){IO_GROUND_PENDING, 2, -1, 1801, 0};
    wire_ground[0][3] = (struct io_ground_result){IO_GROUND_WAITING, 0, -1, 7, 8};
}

/* ---- what is said ----------------------------------------------------------------------- */

/* All that this prints. */
static inline const char *heard(void (*print)(const struct run *))
{
    fflush(stdout);
    const int before = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    const int fd = memfd_create("said", MFD_CLOEXEC);
    TEST_ASSERT_TRUE(before >= 0 && errors >= 0 && fd >= 0);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    print(&run);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(before);
    close(errors);
    const ssize_t size = pread(fd, said, TEXT_MAX - 1, 0);
    close(fd);
    TEST_ASSERT_TRUE(size >= 0);
    said[size] = '\0';
    return said;
}

static inline void assert_said(const char *line)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(heard(report_print), line), said);
}

static inline void assert_not_said(const char *line)
{
    TEST_ASSERT_NULL_MESSAGE(strstr(heard(report_print), line), said);
}

/* This part of the report, keys in their order, with single quotes. */
static inline void assert_part(const char *key, const char *expected)
{
    json_t *report = report_json(&run);
    const json_t *part = json_object_get(report, key);
    TEST_ASSERT_NOT_NULL_MESSAGE(part, key);
    char *text = json_dumps(part, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(7));
    for (char *at = text; *at; at++)
        if (*at == '"')
            *at = '\'';
    TEST_ASSERT_EQUAL_STRING(expected, text);
    free(text);
    json_decref(report);
}
