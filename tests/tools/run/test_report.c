/*
 * What is said of a run when it is over: report, table, verdict and the words of its end, of a run
 * whose figures are all made up and all different.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/scenario.h"
#include "dynamics/flex/validity.h"
#include "rt/panic.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/ending.h"
#include "tools/airbearing/run/ground_result.h"
#include "tools/airbearing/run/verdict.h"
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
    sim->hash = 0x123456789abcdef0;
    sim->recorder->lost = 8;
    memcpy(sim->signal, signal, sizeof signal);
    sim->epoch_us[0] = 61;
    sim->epoch_us[1] = 62;
    sim->vehicle->fault[0].hits = 91;
    sim->vehicle->fault[0].first_frame = 1000;
    sim->delay_out[0].hits = 70;
    sim->delay_in[0].hits = 5;
    sim_expectation_update(&sim->expect[0], 1.5, 0.01);
    sim_expectation_update(&sim->expect[1], 0.5, 0.5);
    sim_expectation_update(&sim->expect[1], 1.5, 0.0);
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
    run.link[i].pulse =
        (struct io_cadence){.gap_ns_max = 2500000 + at, .late = at + 14, .silent = at + 15};
    run.link[i].board_wake_up = at + 16;
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

/* ---- what is said ----------------------------------------------------------------------- */

/* All that this prints. */
static const char *heard(void (*print)(const struct run *))
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

static void assert_said(const char *line)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(heard(report_print), line), said);
}

static void assert_not_said(const char *line)
{
    TEST_ASSERT_NULL_MESSAGE(strstr(heard(report_print), line), said);
}

/* This part of the report, keys in their order, with single quotes. */
static void assert_part(const char *key, const char *expected)
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

static void test_the_table_says_all_of_a_run_with_boards(void)
{
    TEST_ASSERT_EQUAL_STRING(
        "made: 1000 Hz, real pace: NO, expectations not met, time not kept, link broken\n\n"
        "                      median        99 %      99.9 %       worst\n"
        "  start error           1 ns        2 ns        3 ns        4 ns\n"
        "  busy                  5 ns        6 ns        7 ns        8 ns\n"
        "  loop latency          5 ns       25 ns       35 ns       45 ns\n"
        "    wire_in             0 ns       20 ns       30 ns       40 ns\n"
        "    grid_wait           1 ns       21 ns       31 ns       41 ns\n"
        "    step                2 ns       22 ns       32 ns       42 ns\n"
        "    hold                3 ns       23 ns       33 ns       43 ns\n"
        "    wire_out            4 ns       24 ns       34 ns       44 ns\n\n"
        "  job                   rate   predicted      median       worst\n"
        "  step               1000 Hz      999 ns       10 ns       40 ns\n"
        "  gyro                250 Hz      1.0 us       11 ns       41 ns\n"
        "  look                125 Hz     1.00 ms       12 ns       42 ns\n"
        "  wait                  1 Hz     1.000 s       13 ns       43 ns\n\n"
        "  frames 2000, late 21, releases missed 3, sim lags wall by 3.00 ms, least margin -12.5 "
        "us\n"
        "  paused for 7 releases\n"
        "  late because of: fault 1 switch 2 io 3 stolen 4 own 5 unknown 6\n"
        "  messages in 1 (bad 3, lost 5), out 2 (dropped 4), commands 6\n"
        "  after the seal: 0 allocations, 31 page faults; drift 1.250 ppm\n"
        "  attitude error at the end 28.6479 deg\n"
        "  state hash 123456789abcdef0\n"
        "  board: the controller was late 114 times and fell silent 115 times, longest gap "
        "between commands 2.50 ms\n"
        "  hand: the controller was late 214 times and fell silent 215 times, longest gap "
        "between commands 2.50 ms\n"
        "  lockstep: 4 replies did not come within the wait limit\n"
        "  fault bias of gyro struck 91 times\n"
        "  fault delay of board struck 75 times\n"
        "  fault crc of board struck 1000 times\n"
        "  fault gap struck 1001 times\n\n"
        "guarantees not had on this machine:\n\n"
        "verdict: NO, expectations not met, time not kept, link broken; simulated 2.000 s in "
        "2.005 s of wall time\n"
        "  expectations  1 of 3 failed; the run ended before 1 of 3: NO\n"
        "  time          5 frames late by own work; 3 frames late while waiting for a reply; 1 "
        "frame late by a page fault; 6 frames late, and nothing explains it\n"
        "  link          4 replies did not come in time\n"
        "  expect rate < 1 deg/s after 1 s: yes, worst 0.573 deg/s\n"
        "  expect attitude_error < 2 deg within 1 s: NO, worst 28.65 deg\n"
        "  expect speed < 3 m/s after 9 s: the run ended before that\n",
        heard(report_print));
}

static void test_a_fast_run_has_no_start_error_and_a_run_without_boards_no_latency(void)
{
    scenario->spec.pace = RT_PACE_FAST;
    run.links = NULL;
    frame.overruns = 0;
    frame.missed_replies = 0;
    frame.paused = 0;
    scenario->spec.link_count = 0;
    scenario->spec.fault_count = 0;
    TEST_ASSERT_EQUAL_STRING(
        "made: 1000 Hz, fast pace: NO, expectations not met\n\n"
        "                      median        99 %      99.9 %       worst\n"
        "  busy                  5 ns        6 ns        7 ns        8 ns\n\n"
        "  job                   rate   predicted      median       worst\n"
        "  step               1000 Hz      999 ns       10 ns       40 ns\n"
        "  gyro                250 Hz      1.0 us       11 ns       41 ns\n"
        "  look                125 Hz     1.00 ms       12 ns       42 ns\n"
        "  wait                  1 Hz     1.000 s       13 ns       43 ns\n\n"
        "  frames 2000, late 0, releases missed 3, sim lags wall by 3.00 ms, least margin -12.5 "
        "us\n"
        "  after the seal: 0 allocations, 31 page faults; drift 1.250 ppm\n"
        "  state hash 123456789abcdef0\n\n"
        "verdict: NO, expectations not met; simulated 2.000 s in 2.005 s of wall time\n"
        "  expectations  1 of 3 failed; the run ended before 1 of 3: NO\n"
        "  expect rate < 1 deg/s after 1 s: yes, worst 0.573 deg/s\n"
        "  expect attitude_error < 2 deg within 1 s: NO, worst 28.65 deg\n"
        "  expect speed < 3 m/s after 9 s: the run ended before that\n",
        heard(report_print));
}

static void test_rows_of_what_never_happened_are_left_out(void)
{
    frame.busy_ns.count = 0;
    assert_not_said("  busy ");
    frame.busy_ns.count = 1;
    assert_said("  busy ");
}

/* ---- boards ----------------------------------------------------------------------------- */

static void test_outages_are_told_with_the_first_and_their_number(void)
{
    struct sim_link_outages *seen = &run.source.outages[0];
    assert_not_said("lost at");
    *seen = (struct sim_link_outages){.count = 1, .kept = {{300, UINT64_MAX}}};
    assert_said("  board: lost at frame 300, not heard again\n");
    *seen = (struct sim_link_outages){.count = 1, .returns = 1, .kept = {{300, 400}}};
    assert_said("  board: lost at frame 300, heard again at frame 400\n");
    *seen = (struct sim_link_outages){
        .count = 2, .returns = 1, .kept = {{300, 400}, {500, UINT64_MAX}}};
    assert_said(
        "  board: lost at frame 300, heard again at frame 400; 2 losses, 1 returns in all\n");
}

static int outages_told(void)
{
    json_t *report = report_json(&run);
    const json_t *list =
        json_object_get(json_array_get(json_object_get(report, "links"), 1), "outages");
    const int count = (int)json_array_size(list);
    json_decref(report);
    return count;
}

static void test_no_more_outages_are_told_than_are_kept(void)
{
    run.source.outages[1].count = SIM_LINK_OUTAGE_MAX - 1;
    TEST_ASSERT_EQUAL_INT(SIM_LINK_OUTAGE_MAX - 1, outages_told());
    run.source.outages[1].count = SIM_LINK_OUTAGE_MAX + 1;
    TEST_ASSERT_EQUAL_INT(SIM_LINK_OUTAGE_MAX, outages_told());
}

static void test_a_board_that_is_in_time_is_not_mentioned(void)
{
    run.link[0].pulse = (struct io_cadence){.gap_ns_max = 3};
    assert_not_said("  board: ");
    run.link[0].pulse.late = 1;
    assert_said(
        "  board: the controller was late 1 times and fell silent 0 times, longest gap between "
        "commands 3 ns\n");
    run.link[0].pulse = (struct io_cadence){.gap_ns_max = 3, .silent = 1};
    assert_said(
        "  board: the controller was late 0 times and fell silent 1 times, longest gap between "
        "commands 3 ns\n");
    run.link[0].counters.commands = 0;
    assert_said("  board: the controller was silent, no command ever came\n");
}

static void test_the_report_says_all_of_each_link(void)
{
    run.source.outages[1] = (struct sim_link_outages){
        .count = 2, .returns = 1, .kept = {{300, 400}, {500, UINT64_MAX}}};
    run.link[0].board = IO_BOARD_NOT_HIL;
    run.link[1].board = IO_BOARD_HEARD;
    assert_part(
        "links",
        "[{'name':'board','protocol':'mavlink','bus':'udp','board':'not in HIL mode',"
        "'rx':101,'tx':102,'rx_bytes':103,'tx_bytes':104,'rx_bad':105,'rx_lost':106,"
        "'tx_dropped':107,'commands':108,'duplicates':110,'losses':109,'forwarded':111,"
        "'forward_dropped':112,'gap_ns_max':2500100,'late':114,'silent':115,'resets':117,"
        "'freewheel_messages':116,'epoch_us':61,'delay_ns':0,'loop_latency_ns':{'p50':5,"
        "'p99':25,'p999':35,'max':45,'max_frame':77,'count':1000,'wire_in':{'p50':0,'p99':20,"
        "'p999':30,'max':40,'max_frame':77,'count':1000},'grid_wait':{'p50':1,'p99':21,"
        "'p999':31,'max':41,'max_frame':77,'count':1000},'step':{'p50':2,'p99':22,'p999':32,"
        "'max':42,'max_frame':77,'count':1000},'hold':{'p50':3,'p99':23,'p999':33,'max':43,"
        "'max_frame':77,'count':1000},'wire_out':{'p50':4,'p99':24,'p999':34,'max':44,"
        "'max_frame':77,'count':1000}},'outages':[],'ground':[]},{'name':'hand',"
        "'protocol':'hand','bus':'cockpit','board':'heard','rx':201,'tx':202,'rx_bytes':203,"
        "'tx_bytes':204,'rx_bad':205,'rx_lost':206,'tx_dropped':207,'commands':208,"
        "'duplicates':210,'losses':209,'forwarded':211,'forward_dropped':212,"
        "'gap_ns_max':2500200,'late':214,'silent':215,'resets':217,'freewheel_messages':216,"
        "'epoch_us':62,'delay_ns':3000000,'loop_latency_ns':{'p50':12,'p99':32,'p999':42,"
        "'max':52,'max_frame':77,'count':1000,'wire_in':{'p50':7,'p99':27,'p999':37,'max':47,"
        "'max_frame':77,'count':1000},'grid_wait':{'p50':8,'p99':28,'p999':38,'max':48,"
        "'max_frame':77,'count':1000},'step':{'p50':9,'p99':29,'p999':39,'max':49,"
        "'max_frame':77,'count':1000},'hold':{'p50':10,'p99':30,'p999':40,'max':50,"
        "'max_frame':77,'count':1000},'wire_out':{'p50':11,'p99':31,'p999':41,'max':51,"
        "'max_frame':77,'count':1000}},'outages':[{'lost_frame':300,'heard_frame':400},"
        "{'lost_frame':500,'heard_frame':null}],'ground':[]}]");
}

static void test_faults_are_counted_where_they_strike(void)
{
    assert_part(
        "faults",
        "[{'fault':'bias of gyro','first_frame':1000,'hits':91},{'fault':'delay of "
        "board','first_frame':1000,'hits':75},{'fault':'crc of "
        "board','first_frame':1000,'hits':1000},{'fault':'gap','first_frame':null,'hits':1001}]");
    run.links = NULL;
    run.sim->vehicle->fault[2].hits = 17;
    assert_said("  fault crc of board struck 17 times\n");
}

/* ---- the ground station ----------------------------------------------------------------- */

static void make_script(void)
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

static void test_each_step_of_a_ground_station_is_told(void)
{
    make_script();
    TEST_ASSERT_EQUAL_STRING(
        "  ground arm at 0.1 s: accepted at 0.13 s after 1 tries\n  ground takeoff 2.5 m at 1.5 s: "
        "not accepted, temporarily rejected, after 5 tries\n  ground mode guided at 1.6 s: not "
        "accepted, no answer, after 2 tries\n  ground land at 9 s: not reached\n",
        heard(ground_result_print));
    json_t *told = ground_result_json(&run, 0);
    char *text = json_dumps(told, JSON_COMPACT | JSON_REAL_PRECISION(7));
    TEST_ASSERT_EQUAL_STRING(
        "[{\"step\":\"arm\",\"state\":\"accepted\",\"answer\":\"accepted\",\"tries\":1,"
        "\"at_s\":0.1,\"asked_s\":0.101,\"ended_s\":0.13,\"line\":null},"
        "{\"step\":\"takeoff 2.5 m\",\"state\":\"not accepted\","
        "\"answer\":\"temporarily rejected\",\"tries\":5,\"at_s\":1.5,\"asked_s\":1.501,"
        "\"ended_s\":1.8,\"line\":47},{\"step\":\"mode guided\",\"state\":\"not accepted\","
        "\"answer\":\"no answer\",\"tries\":2,\"at_s\":1.6,\"asked_s\":1.801,"
        "\"ended_s\":null,\"line\":null},{\"step\":\"land\",\"state\":\"not reached\","
        "\"answer\":\"no answer\",\"tries\":0,\"at_s\":9.0,\"asked_s\":null,\"ended_s\":null,"
        "\"line\":1}]",
        text);
    free(text);
    json_decref(told);
    told = ground_result_json(&run, 1);
    TEST_ASSERT_EQUAL_size_t(0, json_array_size(told));
    json_decref(told);
    run.links = NULL;
    TEST_ASSERT_EQUAL_STRING("", heard(ground_result_print));
    told = ground_result_json(&run, 0);
    TEST_ASSERT_EQUAL_size_t(0, json_array_size(told));
    json_decref(told);
}

static void test_a_step_that_was_asked_for_and_not_accepted_is_a_no_with_its_place(void)
{
    struct verdict verdict;
    make_script();
    frame.missed_replies = 0;
    verdict_judge(&run, &verdict);
    TEST_ASSERT_EQUAL_STRING(
        "board did not accept \"takeoff 2.5 m\" (made.yaml:47): temporarily rejected; "
        "board did not accept \"mode guided\": no answer",
        verdict.line[VERDICT_LINK].text);
    TEST_ASSERT_TRUE(verdict.line[VERDICT_LINK].asked);
    TEST_ASSERT_FALSE(verdict.line[VERDICT_LINK].kept);
    TEST_ASSERT_FALSE(ground_result_failed(&run, 0, 0));
    TEST_ASSERT_TRUE(ground_result_failed(&run, 0, 1));
    TEST_ASSERT_TRUE(ground_result_failed(&run, 0, 2));
    TEST_ASSERT_FALSE(ground_result_failed(&run, 0, 3));
    char text[GROUND_RESULT_TEXT_MAX];
    ground_result_failure_text(&run, 0, 3, text);
    TEST_ASSERT_EQUAL_STRING("board did not accept \"land\" (made.yaml:1): no answer", text);
    strcpy(scenario->path, "made.yaml"); /* which is shorter */
    ground_result_failure_text(&run, 0, 3, text);
    TEST_ASSERT_EQUAL_STRING("board did not accept \"land\" (made.yaml:1): no answer", text);
}

static void test_a_ground_line_that_cannot_be_had_is_a_warning(void)
{
    strcpy(scenario->spec.links[0].spec.ground_line, "127.0.0.1:14550");
    TEST_ASSERT_EQUAL_STRING("", heard(ground_result_warn_unheard));
    wire_line = -EADDRINUSE;
    TEST_ASSERT_EQUAL_STRING(
        "some/where/made.yaml:11:5: links.board.ground_line: 127.0.0.1:14550 cannot be had "
        "(Address already "
        "in use); another ground station may have it, and the script is not said\n",
        heard(ground_result_warn_unheard));
    run.links = NULL;
    TEST_ASSERT_EQUAL_STRING("", heard(ground_result_warn_unheard));
}

/* ---- the rest of the report ------------------------------------------------------------- */

static void test_the_report_says_all_of_the_time(void)
{
    static const char *const part[][2] = {
        {"frames", "2000"},
        {"rate_hz", "1000.0"},
        {"pace", "'real'"},
        {"seconds_simulated", "2.0"},
        {"seconds_wall", "2.005"},
        {"period_ns", "1000000"},
        {"wall_ns", "2005000000"},
        {"start_error_ns", "{'p50':1,'p99':2,'p999':3,'max':4,'max_frame':77,'count':1000}"},
        {"busy_ns", "{'p50':5,'p99':6,'p999':7,'max':8,'max_frame':77,'count':1000}"},
        {"margin_ns", "{'min':-12500,'min_frame':1234,'p50':999989,'p99':999988,'p999':999987,"
                      "'count':1000}"},
        {"overruns", "21"},
        {"missed", "3"},
        {"paused", "7"},
        {"caught_up", "2"},
        {"missed_replies", "4"},
        {"lag_ns", "3000000"},
        {"overrun_causes", "{'fault':1,'switch':2,'io':3,'stolen':4,'own':5,'unknown':6}"},
        {"stolen_ns_total", "33"},
        {"drift_ppm", "1.25"},
        {"page_faults_after_seal", "31"},
        {"involuntary_switches", "32"},
        {"recorder_lost", "8"},
        {"io", "{'rx':1,'tx':2,'rx_bad':3,'tx_dropped':4,'rx_lost':5,'commands':6,'losses':7}"},
        {"log", "{'records':51,'dropped':0,'thinned':54,'bytes':53,'error':0}"},
        {"state_hash", "'123456789abcdef0'"},
        {"scenario", "'made'"},
        {"seed", "5"},
        {"ended", "'complete'"},
        {"attitude_error_rad", "0.5"},
        {"signals",
         "{'attitude_error':0.5,'rate':0.25,'wheel_speed':7.0,'altitude':9.5,'speed':1.5,"
         "'position_error':2.5,'tilt':0.125}"},
        {"phase_lock", "null"},
        {"pulse", "null"},
        {"predictor", "null"},
        {"arm", "null"},
        {"unsound", "null"},
        {"not_finite", "0"},
        {"out_of_range", "{'rate':0,'deflection':0,'stiffness':0,'inertia':0}"},
        {"loop_latency_ns",
         "{'p50':5,'p99':25,'p999':35,'max':45,'max_frame':77,'count':1000,'wire_in':{'p50':0,"
         "'p99':20,'p999':30,'max':40,'max_frame':77,'count':1000},'grid_wait':{'p50':1,"
         "'p99':21,'p999':31,'max':41,'max_frame':77,'count':1000},'step':{'p50':2,'p99':22,"
         "'p999':32,'max':42,'max_frame':77,'count':1000},'hold':{'p50':3,'p99':23,'p999':33,"
         "'max':43,'max_frame':77,'count':1000},'wire_out':{'p50':4,'p99':24,'p999':34,"
         "'max':44,'max_frame':77,'count':1000}}"},
        {"jobs",
         "[{'p50':10,'p99':20,'p999':30,'max':40,'max_frame':77,'count':1000,'name':'step',"
         "'rate_hz':1000.0,'predicted_ns':999},{'p50':11,'p99':21,'p999':31,'max':41,"
         "'max_frame':77,'count':1000,'name':'gyro','rate_hz':250.0,'predicted_ns':1000},"
         "{'p50':12,'p99':22,'p999':32,'max':42,'max_frame':77,'count':1000,'name':'look',"
         "'rate_hz':125.0,'predicted_ns':1000000},{'p50':13,'p99':23,'p999':33,'max':43,"
         "'max_frame':77,'count':1000,'name':'wait','rate_hz':1.0,'predicted_ns':1000000000}]"},
        {"expect", "[{'expect':'rate < 1 deg/s after 1 s','verdict':'met','worst':0.01},"
                   "{'expect':'attitude_error < 2 deg within 1 s','verdict':'failed','worst':0.5},"
                   "{'expect':'speed < 3 m/s after 9 s','verdict':'not reached','worst':null}]"},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        assert_part(part[i][0], part[i][1]);
    json_t *report = report_json(&run);
    TEST_ASSERT_NULL(json_object_get(report, "controller"));
    TEST_ASSERT_NULL(json_object_get(report, "live"));
    json_decref(report);
}

static void test_nothing_was_measured_where_nothing_ran(void)
{
    frame.frames = 0;
    frame.response_ns = (struct rt_histogram){0};
    assert_part("wall_ns", "0");
    assert_part("margin_ns", "{'min':-12500,'min_frame':1234,'p50':0,'p99':0,'p999':0,'count':0}");
    frame.frames = 1;
    frame.last_release_ns = frame.first_release_ns;
    assert_part("wall_ns", "1000000");
}

static void test_of_a_stuck_thread_its_own_figures_are_not_known(void)
{
    run.stuck = true;
    assert_part("drift_ppm", "null");
    assert_part("page_faults_after_seal", "null");
    assert_part("involuntary_switches", "null");
    assert_part(
        "realtime",
        "{'kernel_rt':true,'policy':'rr','priority':71,'cpus':{'frame':1,'io':2,'housekeeping':0},'"
        "isolated':true,'memory_locked':true,'required':false,'met':true,'missing':null}");
}

static void test_what_is_no_number_is_null(void)
{
    run.sim->signal[SIM_SIGNAL_ATTITUDE_ERROR] = (double)INFINITY;
    frame.drift_ppm = (double)NAN;
    assert_part("attitude_error_rad", "null");
    assert_part("drift_ppm", "null");
}

static void test_what_the_machine_gave_is_told(void)
{
    assert_part(
        "realtime",
        "{'kernel_rt':true,'policy':'fifo','priority':80,'cpus':{'frame':1,'io':2,'housekeeping':0}"
        ",'isolated':true,'memory_locked':true,'required':false,'met':true,'missing':null}");
    run.machine.kernel_rt = false;
    run.end_policy = SCHED_RR;
    run.plan.frame_cpu = run.frame_thread.cpu = 0;
    run.links = NULL;
    run.memory_locked = false;
    scenario->require_realtime = true;
    assert_part("realtime", "{'kernel_rt':false,'policy':'rr','priority':80,'cpus':{'frame':0,'io':"
                            "-1,'housekeeping':0},'isolated':false,'memory_locked':false,'required'"
                            ":true,'met':false,'missing':'the kernel is not PREEMPT_RT'}");
    run.end_policy = SCHED_OTHER;
    run.plan.frame_cpu = -1;
    assert_part("realtime", "{'kernel_rt':false,'policy':'other','priority':80,'cpus':{'frame':0,'"
                            "io':-1,'housekeeping':0},'isolated':false,'memory_locked':false,'"
                            "required':true,'met':false,'missing':'the kernel is not PREEMPT_RT'}");
    run.plan.frame_cpu = RT_CPU_MAX;
    assert_part("realtime", "{'kernel_rt':false,'policy':'other','priority':80,'cpus':{'frame':0,'"
                            "io':-1,'housekeeping':0},'isolated':false,'memory_locked':false,'"
                            "required':true,'met':false,'missing':'the kernel is not PREEMPT_RT'}");
}

static void assert_missing(const char *expected)
{
    const char *why = "?";
    const bool met = report_realtime(&run, &why);
    TEST_ASSERT_EQUAL(expected == NULL, met);
    TEST_ASSERT_EQUAL_STRING(expected, why);
}

static void test_the_first_thing_that_real_time_lacks_is_named(void)
{
    assert_missing(NULL);
    run.end_policy = SCHED_RR;
    assert_missing(NULL);
    run.machine.isolated[1] = false;
    assert_missing("the frame thread's core is not isolated");
    run.plan.frame_cpu = run.frame_thread.cpu = RT_CPU_MAX;
    assert_missing("the frame thread's core is not isolated");
    run.plan.frame_cpu = 2;
    assert_missing("the frame thread is not pinned to its core");
    run.plan.frame_cpu = run.frame_thread.cpu = -1;
    assert_missing("the frame thread is not pinned to its core");
    run.memory_locked = false;
    assert_missing("memory is not locked");
    run.io_thread.policy = SCHED_OTHER;
    assert_missing("the I/O thread has no real-time priority");
    run.io_thread.tid = 0; /* there is none */
    assert_missing("memory is not locked");
    run.end_policy = SCHED_OTHER;
    assert_missing("the frame thread has no real-time priority");
    run.stuck = true; /* as it was at its start */
    assert_missing("memory is not locked");
    run.machine.kernel_rt = false;
    assert_missing("the kernel is not PREEMPT_RT");
}

static void test_core_0_can_be_the_frames(void)
{
    run.plan.frame_cpu = run.frame_thread.cpu = 0;
    run.machine.isolated[0] = true;
    assert_missing(NULL);
    assert_part(
        "realtime",
        "{'kernel_rt':true,'policy':'fifo','priority':80,'cpus':{'frame':0,'io':2,'housekeeping':0}"
        ",'isolated':true,'memory_locked':true,'required':false,'met':true,'missing':null}");
}

static void test_guarantees_that_were_refused_are_told_in_real_time_alone(void)
{
    TEST_ASSERT_NOT_NULL(
        strstr(heard(report_print), "\nguarantees not had on this machine:\n\nverdict"));
    run.memory_locked = false;
    strcpy(run.lock_refused, "memory: no");
    strcpy(run.frame_thread.refused, "priority: no");
    strcpy(run.io_thread.refused, "core: no");
    run.machine.smt = true;
    wire_note = "no ring";
    assert_said(
        "\n"
        "guarantees not had on this machine:\n"
        "  - memory: no\n"
        "  - frame thread: priority: no\n"
        "  - I/O thread: core: no\n"
        "  - no ring\n"
        "  - Hyper-threading is on: whatever runs on the frame core's twin slows the frame; boot "
        "with nosmt, or take the twin offline.\n\n");
    run.links = NULL;
    assert_not_said("I/O thread:");
    scenario->spec.pace = RT_PACE_FAST;
    assert_not_said("guarantees");
}

static void test_the_phase_lock_is_told(void)
{
    static struct rt_phase_lock phase_lock;
    phase_lock = (struct rt_phase_lock){.spec.limit_ppm = 200.0,
                                        .rate = -1.5e-6,
                                        .observations = 3,
                                        .losses = 4,
                                        .slips = 5,
                                        .locked_steps = 6,
                                        .locked = true};
    fill(&phase_lock.error_ns, 21, 22, 23, 24);
    frame.phase_lock = &phase_lock;
    scenario->spec.lock.link = 0;
    scenario->spec.lock.source = SIM_LOCK_ARRIVAL;
    assert_part(
        "phase_lock",
        "{'link':'board','source':'arrival','locked':true,'saturated':false,'rate_ppm':1.5,'limit_"
        "ppm':200.0,'corrected_ns':-1500,'error_ns':{'p50':21,'p99':22,'p999':23,'max':24,'max_"
        "frame':77,'count':1000},'observations':3,'locked_frames':6,'losses':4,'slips':5}");
    assert_said("  phase lock to board: locked, error 21 ns median, 24 ns worst; grid +1.500 ppm, "
                "corrected -1.5 us\n");
    phase_lock.locked = false;
    phase_lock.saturated = true;
    assert_said(
        "  phase lock to board: NOT locked, error 21 ns median, 24 ns worst; grid +1.500 ppm (its "
        "limit), corrected -1.5 us\n");
    assert_part(
        "phase_lock",
        "{'link':'board','source':'arrival','locked':false,'saturated':true,'rate_ppm':1.5,'limit_"
        "ppm':200.0,'corrected_ns':-1500,'error_ns':{'p50':21,'p99':22,'p999':23,'max':24,'max_"
        "frame':77,'count':1000},'observations':3,'locked_frames':6,'losses':4,'slips':5}");
    phase_lock.observations = 0;
    assert_said("  phase lock to board: NOT locked, the board never told its time, error ");
}

static void test_pulses_are_counted(void)
{
    scenario->spec.pulse.every = 2;
    run.pulser = (struct io_sync_pulse){.every = 10, .sent = 11, .dropped = 12};
    assert_part("pulse", "{'every':10,'sent':11,'dropped':12}");
}

static void test_the_predictor_is_told_by_its_speed(void)
{
    run.predicted =
        (struct sim_predictor_result){.predictions = 2, .late = 3, .cut = 4, .seconds_ahead = 5.0};
    rt_histogram_add(&run.predicted.spent_ns, 40, 9);
    assert_part("predictor",
                "{'predictions':2,'seconds_ahead':5.0,'speed':1.25e8,'late':3,'cut':4,"
                "'spent_ns':{'p50':40,'p99':40,'p999':40,'max':40,'max_frame':9,'count':1}}");
    assert_said(
        "  2 predictions of 5 s, 1.25e+08 times faster than the clock; 3 took longer than there is "
        "between two\n");
    run.predicted.predictions = 0;
    assert_part("predictor",
                "{'predictions':0,'seconds_ahead':5.0,'speed':null,'late':3,'cut':4,"
                "'spent_ns':{'p50':40,'p99':40,'p999':40,'max':40,'max_frame':9,'count':1}}");
    assert_not_said("predictions of");
}

static void test_acts_of_the_operator_are_told(void)
{
    run.acts = (struct sim_operator_result){.acts = 41,
                                            .checkpoints = 42,
                                            .copy_ns_max = 2500,
                                            .state_size = 43,
                                            .unreached = 44,
                                            .failed = 45,
                                            .failure = "1s:reset: no"};
    run.housekeeping.files_hung = true;
    assert_part("operator",
                "{'acts':41,'checkpoints':42,'checkpoint_bytes':43,'checkpoint_copy_ns_max':2500,"
                "'failed':45,'not_reached':44,'files_hung':true}");
    assert_said(
        "  paused for 7 releases\n"
        "  42 checkpoints of 43 bytes, the longest copy took the frame 2.5 us\n"
        "  --act 1s:reset: no\n"
        "  a checkpoint was still under way half a minute after the last frame: its file is not "
        "known to be written\n"
        "  44 acts lie behind the end of the run and were not carried out\n");
    assert_said("expectations  1 of 3 failed; the run ended before 1 of 3; an act of the operator "
                "failed: NO");
    run.acts = (struct sim_operator_result){0};
    run.housekeeping.files_hung = false;
    frame.paused = 0;
    assert_said("least margin -12.5 us\n  late because of: fault 1 switch 2 io 3 stolen 4 own 5 "
                "unknown 6\n");
}

static void test_an_arm_is_told_as_it_was_left(void)
{
    static struct sim_arm_state arm;
    arm = (struct sim_arm_state){
        .grapples = 3, .releases = 2, .refused = 1, .latched = 2, .blow = 0.25};
    arm.panel.mode = IO_ARM_PANEL_BASE;
    scenario->spec.arm.payload_count = 2;
    scenario->spec.arm.payload[0].body = 1;
    scenario->spec.arm.payload[1].body = 0;
    run.sim->vehicle->arm = &arm;
    assert_part(
        "arm",
        "{'mode':'base','payload':null,'latched':['bus'],'grapples':3,'releases':2,'refused':1,"
        "'safed':false,'last_blow_joules':0.25}");
    arm.panel.safed = 1;
    arm.latched = 1;
    arm.configuration = 2;
    arm.blow = (double)NAN;
    assert_part(
        "arm",
        "{'mode':'base','payload':'bus','latched':['claw'],'grapples':3,'releases':2,'refused':1,"
        "'safed':true,'last_blow_joules':null}");
    arm.configuration = 1;
    arm.latched = 3;
    arm.blow = 0.0;
    assert_part(
        "arm", "{'mode':'base','payload':'claw','latched':['claw','bus'],'grapples':3,'releases':2,"
               "'refused':1,'safed':true,'last_blow_joules':0.0}");
}

static void test_viewers_are_counted(void)
{
    run.serve = the_server;
    run.served = (struct io_server_counts){
        .viewers = 1, .refused = 2, .floods = 3, .dismissed = 4, .sent = 5, .lost = 6};
    assert_part("live", "{'viewers':1,'refused':2,'floods':3,'dismissed':4,'sent':5,'lost':6}");
}

static void test_a_log_is_told_with_what_the_disk_refused(void)
{
    assert_not_said("  log ");
    assert_not_said("  report ");
    run.options.log = "a.mcap";
    run.options.report = "a.json";
    assert_said("  log     a.mcap (51 records, 0 dropped)\n  report  a.json\n");
    assert_not_said("  log: ");
    run.log.dropped = 52;
    assert_part("log", "{'records':51,'dropped':52,'thinned':54,'bytes':53,'error':0}");
    assert_said(
        "  log: 52 records were dropped, they came faster than the disk took them; airbearing log "
        "info "
        "tells of which channels\n  log     a.mcap (51 records, 52 dropped)\n  report  a.json\n");
    assert_said("  log           52 records were dropped\n");
    run.log.error = -ENOSPC;
    assert_part("log", "{'records':51,'dropped':52,'thinned':54,'bytes':53,'error':28}");
    assert_said(
        "  log: the disk refused (No space left on device); readable up to the last whole chunk\n"
        "  log     a.mcap");
    assert_said(
        "  log           the disk refused: No space left on device; 52 records were dropped: NO\n");
    run.options.log = NULL;
    assert_not_said("they came faster");
}

static void test_where_a_flexible_body_left_its_model_is_told(void)
{
    static struct dyn_flex flex;
    uint64_t *out = run.sim->vehicle->schedule->out_of_range;
    flex = (struct dyn_flex){.fidelity = DYN_FLEX_CONSISTENT};
    scenario->spec.bodies[1].spec.flex = &flex;
    run.sim->first_out_of_range = 1;
    assert_not_said("left the range");
    out[DYN_VALIDITY_DEFLECTION] = 2;
    out[DYN_VALIDITY_STIFFNESS] = 3;
    assert_said(
        "  flexible bodies left the range of their models, \"claw\" first: by rate in 0 frames, by "
        "deflection in 2, by stiffness in 3, by inertia in 0\n");
    out[DYN_VALIDITY_RATE] = 1;
    assert_said(" by inertia in 0; its modes have no psi2 and know no geometric stiffness\n");
    flex.stiffens = 1;
    assert_said(" by inertia in 0\n");
    flex.fidelity = DYN_FLEX_RUTHLESS;
    assert_said(" by inertia in 0; fidelity: consistent knows no limit of rate\n");
    assert_part("out_of_range", "{'rate':1,'deflection':2,'stiffness':3,'inertia':0}");
    run.sim->vehicle->schedule->not_finite = 5;
    assert_said("  5 steps were refused; make the step smaller (integrator.substeps) or the forces "
                "softer\n");
    out[DYN_VALIDITY_INERTIA] = 4;
    assert_said("  5 steps were refused; make the step smaller (integrator.substeps), the bent "
                "body's fidelity "
                "ruthless, its modes fewer or the forces softer\n");
    scenario->spec.bodies[1].spec.flex = NULL;
}

static void test_over_ground_the_end_is_told_by_place(void)
{
    assert_said("  attitude error at the end 28.6479 deg\n");
    scenario->spec.environment.has_ground = true;
    assert_said("  altitude at the end 9.500 m, 2.500 m off, tilt 7.16 deg\n");
}

/* ---- the verdict ------------------------------------------------------------------------ */

static struct verdict verdict;

static const char *line_of(enum verdict_aspect aspect)
{
    verdict_judge(&run, &verdict);
    return verdict.line[aspect].text;
}

/* A run that keeps everything. */
static void keep_all(void)
{
    scenario->spec.expect_count = 1;
    memset(frame.causes, 0, sizeof frame.causes);
    frame.missed = frame.missed_replies = 0;
}

static void test_a_run_that_keeps_all_is_ok(void)
{
    keep_all();
    TEST_ASSERT_EQUAL_STRING("sound", line_of(VERDICT_PHYSICS));
    TEST_ASSERT_EQUAL_STRING("all 1 met", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("kept", line_of(VERDICT_TIME));
    TEST_ASSERT_EQUAL_STRING("unbroken", line_of(VERDICT_LINK));
    TEST_ASSERT_EQUAL_STRING("none was asked for with --log", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_STRING("ok", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
    scenario->spec.pace = RT_PACE_LOCKSTEP;
    run.links = NULL;
    scenario->spec.expect_count = 0;
    run.options.log = "a.mcap";
    TEST_ASSERT_EQUAL_STRING("none", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("no wall clock paced this run (lockstep)", line_of(VERDICT_TIME));
    TEST_ASSERT_EQUAL_STRING("nobody on the wire", line_of(VERDICT_LINK));
    TEST_ASSERT_EQUAL_STRING("complete", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
}

static void test_unsound_motion_is_a_no(void)
{
    struct sim_plausibility *motion = &run.sim->plausibility;
    keep_all();
    scenario->spec.physics.max_speed = 11.0;
    *motion = (struct sim_plausibility){
        .flaw = SIM_PLAUSIBILITY_TOO_FAST, .frame = 12, .body = 1, .value = 13.5};
    TEST_ASSERT_EQUAL_STRING(
        "body \"claw\" moves at 13.5 m/s from frame 12 on, above max_speed of 11 m/s",
        line_of(VERDICT_PHYSICS));
    TEST_ASSERT_EQUAL_STRING("NO, physics not sound", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    assert_part("unsound", "{'what':'speed','frame':12,'body':'claw','value':13.5}");
    motion->flaw = SIM_PLAUSIBILITY_TOO_ENERGETIC;
    TEST_ASSERT_EQUAL_STRING(
        "energy grew 13.5-fold without work done by frame 12, body \"claw\" is the fastest",
        line_of(VERDICT_PHYSICS));
    assert_part("unsound", "{'what':'energy','frame':12,'body':'claw','value':13.5}");
    motion->value = (double)INFINITY;
    run.sim->vehicle->schedule->not_finite = 1;
    run.sim->first_not_finite = 14;
    TEST_ASSERT_EQUAL_STRING("the motion is not finite from frame 14 on", line_of(VERDICT_PHYSICS));
    motion->flaw = SIM_PLAUSIBILITY_TOO_FAST;
    TEST_ASSERT_EQUAL_STRING("the motion is not finite from frame 14 on", line_of(VERDICT_PHYSICS));
    assert_part("unsound", "{'what':'speed','frame':12,'body':'claw','value':null}");
}

static void test_expectations_that_were_not_reached_are_a_no_where_all_are_required(void)
{
    keep_all();
    scenario->spec.expect_count = 3;
    run.sim->expect[1].held = 1;
    TEST_ASSERT_EQUAL_STRING("the run ended before 1 of 3", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("ok so far", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
    scenario->require.expectations = true;
    TEST_ASSERT_EQUAL_STRING("the run ended before 1 of 3, and require asks for all",
                             line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("NO, expectations not met", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    scenario->spec.expect_count = 2;
    TEST_ASSERT_EQUAL_STRING("all 2 met", line_of(VERDICT_EXPECTATIONS));
    run.housekeeping.files_hung = true;
    TEST_ASSERT_EQUAL_STRING("an act of the operator failed", line_of(VERDICT_EXPECTATIONS));
    run.housekeeping.files_hung = false;
    run.acts.failed = 1;
    TEST_ASSERT_EQUAL_STRING("an act of the operator failed", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
}

static void test_time_is_a_no_where_it_is_required(void)
{
    keep_all();
    frame.causes[RT_CAUSE_OWN] = 2;
    frame.causes[RT_CAUSE_FAULT] = 1;
    frame.missed = 51;
    TEST_ASSERT_EQUAL_STRING(
        "2 frames late by own work; 1 frame late by a page fault; simulated time fell "
        "0.051 s behind wall time in 2.000 s",
        line_of(VERDICT_TIME));
    TEST_ASSERT_FALSE(verdict.line[VERDICT_TIME].asked);
    TEST_ASSERT_EQUAL_STRING("ok, time not kept", verdict.text);
    scenario->require.time = true;
    (void)line_of(VERDICT_TIME);
    TEST_ASSERT_TRUE(verdict.line[VERDICT_TIME].asked);
    TEST_ASSERT_EQUAL_STRING("NO, time not kept", verdict.text);
    scenario->require.time = false;
    scenario->require_realtime = true;
    run.memory_locked = false;
    frame.causes[RT_CAUSE_OWN] = 0;
    frame.missed = 0;
    TEST_ASSERT_EQUAL_STRING(
        "1 frame late by a page fault: memory was not locked; require: realtime was not "
        "met: memory is not locked",
        line_of(VERDICT_TIME));
    TEST_ASSERT_TRUE(verdict.line[VERDICT_TIME].asked);
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    scenario->require_realtime = false;
    run.end = RUN_HUNG;
    TEST_ASSERT_EQUAL_STRING("1 frame late by a page fault: memory was not locked; the run hung",
                             line_of(VERDICT_TIME));
}

static void test_a_broken_link_is_a_no_where_it_is_required(void)
{
    keep_all();
    run.link[0].counters.commands = run.link[1].counters.commands = 0;
    TEST_ASSERT_EQUAL_STRING("board never commanded",
                             line_of(VERDICT_LINK)); /* a person need not */
    TEST_ASSERT_EQUAL_STRING("ok, link broken", verdict.text);
    run.source.outages[1].count = 1;
    frame.missed_replies = 3;
    run.controller.died_early = true;
    run.controller.status = 7 << 8;
    TEST_ASSERT_EQUAL_STRING(
        "board never commanded; hand was lost 1 time; 3 replies did not come in time; "
        "controller ended, status 7",
        line_of(VERDICT_LINK));
    run.source.outages[1].count = 2;
    scenario->require.link = true;
    run.controller.status = SIGKILL;
    TEST_ASSERT_EQUAL_STRING(
        "board never commanded; hand was lost 2 times; 3 replies did not come in time; "
        "controller ended, SIGKILL",
        line_of(VERDICT_LINK));
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
}

static void test_a_controller_that_ends_after_its_last_reply_breaks_nothing(void)
{
    keep_all();
    run.controller.died_early = true;
    run.controller.status = 2 << 8;
    strcpy(run.controller.program, "some/board");
    TEST_ASSERT_EQUAL_STRING("unbroken", line_of(VERDICT_LINK));
    assert_said("  controller ended, status 2, before the run did\n");
    assert_part("controller",
                "{'program':'some/board','died_early':true,'killed':false,'status':512,'ended':"
                "'controller ended, status 2'}");
    run.end = RUN_CONTROLLER_ENDED;
    TEST_ASSERT_EQUAL_STRING("controller ended, status 2", line_of(VERDICT_LINK));
    run.controller.died_early = false;
    run.controller.killed = true;
    TEST_ASSERT_EQUAL_STRING("unbroken", line_of(VERDICT_LINK));
    assert_not_said("before the run did");
    assert_part(
        "controller",
        "{'program':'some/board','died_early':false,'killed':true,'status':512,'ended':null}");
}

static void test_a_log_that_is_required_must_be_asked_for_and_complete(void)
{
    keep_all();
    scenario->require.log = true;
    TEST_ASSERT_EQUAL_STRING("none was asked for with --log", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_STRING("NO, log not complete", verdict.text);
    run.options.log = "a.mcap";
    TEST_ASSERT_EQUAL_STRING("complete", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
    run.log.dropped = 1;
    TEST_ASSERT_EQUAL_STRING("1 records were dropped", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    scenario->require.log = false;
    (void)line_of(VERDICT_LOG);
    TEST_ASSERT_EQUAL_STRING("ok, log not complete", verdict.text);
    run.log.error = -EIO;
    (void)line_of(VERDICT_LOG);
    TEST_ASSERT_EQUAL_STRING("NO, log not complete", verdict.text);
}

static void test_a_line_that_is_too_long_is_cut(void)
{
    keep_all();
    make_script();
    struct io_ground_script *script = &scenario->spec.links[0].spec.script;
    script->step_count = IO_GROUND_STEP_MAX;
    for (int i = 0; i < IO_GROUND_STEP_MAX; i++) {
        script->step[i] = (struct io_ground_step){.act = IO_GROUND_ARM};
        wire_ground[0][i] = (struct io_ground_result){IO_GROUND_FAILED, 1, 2, 3, 4};
    }
    const char *text = line_of(VERDICT_LINK);
    TEST_ASSERT_EQUAL_size_t(VERDICT_LINE_MAX - 1, strlen(text));
    TEST_ASSERT_EQUAL_STRING_LEN("board did not accept \"arm\": denied; board did not accept", text,
                                 56);
}

static void test_the_verdict_says_all_that_was_not_kept_after_how_it_ended(void)
{
    char *text;
    keep_all();
    run.end = RUN_SIGNAL;
    run.signal = SIGTERM;
    run.options.log = "a.mcap";
    run.log.dropped = 1;
    frame.causes[RT_CAUSE_OWN] = 1;
    run.sim->vehicle->schedule->not_finite = 1;
    run.acts.failed = 1;
    frame.missed_replies = 1;
    verdict_judge(&run, &verdict);
    TEST_ASSERT_EQUAL_STRING(
        "interrupted by SIGTERM after frame 2000, physics not sound, expectations not met, "
        "time not kept, link broken, log not complete",
        verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_INTERRUPTED, verdict.exit_code);
    json_t *told = verdict_json(&verdict);
    text = json_dumps(told, JSON_COMPACT);
    TEST_ASSERT_EQUAL_STRING(
        "{\"ok\":false,\"text\":\"interrupted by SIGTERM after frame 2000, physics not sound,"
        " expectations not met, time not kept, link broken, log not complete\","
        "\"exit_code\":130,\"physics\":{\"kept\":false,\"required\":true,"
        "\"text\":\"the motion is not finite from frame 0 on\"},"
        "\"expectations\":{\"kept\":false,\"required\":true,"
        "\"text\":\"an act of the operator failed\"},\"time\":{\"kept\":false,"
        "\"required\":false,\"text\":\"1 frame late by own work\"},\"link\":{\"kept\":false,"
        "\"required\":false,\"text\":\"1 replies did not come in time\"},"
        "\"log\":{\"kept\":false,\"required\":false,\"text\":\"1 records were dropped\"}}",
        text);
    free(text);
    json_decref(told);
    run.end = RUN_LINK_LOST;
    verdict_judge(&run, &verdict);
    TEST_ASSERT_EQUAL_INT(EXIT_BY_POLICY, verdict.exit_code);
}

/* ---- how it ends ------------------------------------------------------------------------ */

static void assert_ended(enum run_end end, const char *expected)
{
    char text[ENDING_TEXT_MAX] = "?";
    run.end = end;
    ending_text(&run, text);
    TEST_ASSERT_EQUAL_STRING(expected, text);
}

static void test_each_end_has_its_words(void)
{
    run.controller.status = 7 << 8;
    assert_ended(RUN_COMPLETE, "");
    assert_ended(RUN_SIGNAL, "interrupted by SIGTERM after frame 2000");
    run.signal = SIGINT;
    assert_ended(RUN_SIGNAL, "interrupted by SIGINT after frame 2000");
    assert_ended(RUN_OVERRUN, "stopped by the overrun policy at frame 2000; outputs went safe");
    assert_ended(RUN_LINK_LOST, "stopped because the link was lost at frame 2000");
    assert_ended(RUN_CONTROLLER_ENDED, "controller ended, status 7; the run stopped at frame 2000");
    run.controller.status = SIGSEGV;
    assert_ended(RUN_CONTROLLER_ENDED, "controller ended, SIGSEGV; the run stopped at frame 2000");
    assert_ended(
        RUN_HUNG,
        "the frame thread hung, or was kept off its core, after frame 2000; outputs went safe");
    static const char *const name[] = {"'complete'",  "'signal'", "'overrun'",
                                       "'link_lost'", "'hung'",   "'controller_ended'"};
    for (int end = RUN_COMPLETE; end <= RUN_CONTROLLER_ENDED; end++) {
        run.end = (enum run_end)end;
        assert_part("ended", name[end]);
    }
}

/* How a run ended whose frames did this; how often its outputs went safe. */
static int name_end(enum rt_frame_end of_frames, enum run_end expected)
{
    run.end = RUN_COMPLETE;
    frame.end = of_frames;
    wire_safe = 0;
    ending_classify(&run);
    TEST_ASSERT_EQUAL_INT(expected, run.end);
    return wire_safe;
}

static void test_an_end_is_named_by_what_came_first(void)
{
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_FRAME_COUNT, RUN_COMPLETE));
    stop_signal = SIGHUP;
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_STOPPED, RUN_SIGNAL));
    TEST_ASSERT_EQUAL_INT(SIGHUP, run.signal);
    atomic_store(&run.source.link_lost, true);
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_STOPPED, RUN_LINK_LOST));
    run.stopped_by_controller = true;
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_STOPPED, RUN_CONTROLLER_ENDED));
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_POLICY, RUN_OVERRUN));
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_FRAME_COUNT, RUN_LINK_LOST));
    run.links = NULL;
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_STOPPED, RUN_CONTROLLER_ENDED));
    atomic_store(&run.watchdog.expired, true);
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_POLICY, RUN_HUNG));
}

static void test_a_controller_that_died_before_its_last_reply_ended_the_run(void)
{
    run.controller.died_early = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    run.sim->vehicle->link[1].lost = 1; /* a person's */
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    run.sim->vehicle->link[0].lost = 1;
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_FRAME_COUNT, RUN_CONTROLLER_ENDED));
    run.stuck = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    run.stuck = false;
    scenario->spec.links[0].on_loss_given = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    scenario->spec.links[0].on_loss_given = false;
    run.sim->vehicle->link[0].lost = 0;
    run.sim->unanswered[0] = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE); /* no reply is owed in real time */
    scenario->spec.pace = RT_PACE_LOCKSTEP;
    (void)name_end(RT_END_FRAME_COUNT, RUN_CONTROLLER_ENDED);
    (void)name_end(RT_END_STOPPED, RUN_SIGNAL);
    run.controller.died_early = false;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
}

static bool is_told_to_stop(void)
{
    return atomic_load(&frame.stop);
}

static void look(int times)
{
    for (int i = 0; i < times; i++)
        ending_watch_controller(&run);
}

static void test_frames_go_on_for_ten_looks_without_a_controller(void)
{
    run.serve = the_server;
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop()); /* there is none */
    strcpy(run.controller.program, "board");
    run.controller.status = 3 << 8;
    look(10);
    TEST_ASSERT_FALSE(is_told_to_stop());
    TEST_ASSERT_EQUAL_INT(0, alarms);
    look(1);
    TEST_ASSERT_TRUE(is_told_to_stop());
    TEST_ASSERT_TRUE(run.stopped_by_controller);
    TEST_ASSERT_EQUAL_INT(1, wire_interrupts);
    TEST_ASSERT_EQUAL_STRING("controller ended, status 3", alarm_text);
    look(2);
    TEST_ASSERT_EQUAL_INT(1, alarms);
    TEST_ASSERT_EQUAL_INT(3, wire_interrupts);
}

static void test_a_controller_is_not_missed_where_its_loss_is_provided_for_or_the_run_ends(void)
{
    run.serve = the_server;
    strcpy(run.controller.program, "board");
    scenario->spec.links[0].on_loss_given = true;
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop());
    scenario->spec.links[0].on_loss_given = false;
    stop_signal = SIGINT;
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop());
    stop_signal = 0;
    run.links = NULL;
    look(11);
    TEST_ASSERT_TRUE(is_told_to_stop());
}

static void test_where_no_board_is_on_the_wire_the_controller_is_a_hand_that_is_no_person(void)
{
    run.serve = the_server;
    strcpy(run.controller.program, "hand");
    scenario->spec.links[0].spec.protocol = IO_PROTOCOL_HAND;
    scenario->spec.links[0].on_loss_given = true; /* and not of the cockpit */
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop());
    scenario->spec.links[0].on_loss_given = false;
    scenario->spec.links[1].on_loss_given = true;
    look(11);
    TEST_ASSERT_TRUE(is_told_to_stop());
}

static void test_a_controller_that_runs_is_not_missed(void)
{
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    TEST_ASSERT_TRUE(child > 0);
    strcpy(run.controller.program, "board");
    run.controller.pid = child;
    look(20);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    TEST_ASSERT_FALSE(is_told_to_stop());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_table_says_all_of_a_run_with_boards);
    RUN_TEST(test_a_fast_run_has_no_start_error_and_a_run_without_boards_no_latency);
    RUN_TEST(test_rows_of_what_never_happened_are_left_out);
    RUN_TEST(test_outages_are_told_with_the_first_and_their_number);
    RUN_TEST(test_no_more_outages_are_told_than_are_kept);
    RUN_TEST(test_a_board_that_is_in_time_is_not_mentioned);
    RUN_TEST(test_the_report_says_all_of_each_link);
    RUN_TEST(test_faults_are_counted_where_they_strike);
    RUN_TEST(test_each_step_of_a_ground_station_is_told);
    RUN_TEST(test_a_step_that_was_asked_for_and_not_accepted_is_a_no_with_its_place);
    RUN_TEST(test_a_ground_line_that_cannot_be_had_is_a_warning);
    RUN_TEST(test_the_report_says_all_of_the_time);
    RUN_TEST(test_nothing_was_measured_where_nothing_ran);
    RUN_TEST(test_of_a_stuck_thread_its_own_figures_are_not_known);
    RUN_TEST(test_what_is_no_number_is_null);
    RUN_TEST(test_what_the_machine_gave_is_told);
    RUN_TEST(test_the_first_thing_that_real_time_lacks_is_named);
    RUN_TEST(test_core_0_can_be_the_frames);
    RUN_TEST(test_guarantees_that_were_refused_are_told_in_real_time_alone);
    RUN_TEST(test_the_phase_lock_is_told);
    RUN_TEST(test_pulses_are_counted);
    RUN_TEST(test_the_predictor_is_told_by_its_speed);
    RUN_TEST(test_acts_of_the_operator_are_told);
    RUN_TEST(test_an_arm_is_told_as_it_was_left);
    RUN_TEST(test_viewers_are_counted);
    RUN_TEST(test_a_log_is_told_with_what_the_disk_refused);
    RUN_TEST(test_where_a_flexible_body_left_its_model_is_told);
    RUN_TEST(test_over_ground_the_end_is_told_by_place);
    RUN_TEST(test_a_run_that_keeps_all_is_ok);
    RUN_TEST(test_unsound_motion_is_a_no);
    RUN_TEST(test_expectations_that_were_not_reached_are_a_no_where_all_are_required);
    RUN_TEST(test_time_is_a_no_where_it_is_required);
    RUN_TEST(test_a_broken_link_is_a_no_where_it_is_required);
    RUN_TEST(test_a_controller_that_ends_after_its_last_reply_breaks_nothing);
    RUN_TEST(test_a_log_that_is_required_must_be_asked_for_and_complete);
    RUN_TEST(test_a_line_that_is_too_long_is_cut);
    RUN_TEST(test_the_verdict_says_all_that_was_not_kept_after_how_it_ended);
    RUN_TEST(test_each_end_has_its_words);
    RUN_TEST(test_an_end_is_named_by_what_came_first);
    RUN_TEST(test_a_controller_that_died_before_its_last_reply_ended_the_run);
    RUN_TEST(test_frames_go_on_for_ten_looks_without_a_controller);
    RUN_TEST(test_a_controller_is_not_missed_where_its_loss_is_provided_for_or_the_run_ends);
    RUN_TEST(test_where_no_board_is_on_the_wire_the_controller_is_a_hand_that_is_no_person);
    RUN_TEST(test_a_controller_that_runs_is_not_missed);
    return UNITY_END();
}
