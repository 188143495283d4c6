/*
 * What is said of a run when it is over: the table and the report.
 */
#include <errno.h>
#include <math.h>

#include "dynamics/flex/validity.h"
#include "tests/tools/run/synthetic_run.h"
#include "tools/airbearing/report/ground_result.h"
#include "tools/airbearing/report/report_figures.h"
#include "tools/airbearing/report/verdict.h"

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
        "  after set-up: 0 allocations, 31 page faults; drift 1.250 ppm\n"
        "  attitude error at the end 28.6479 deg\n"
        "  state hash 123456789abcdef0\n"
        "  board: the controller was late 114 times and stopped sending 115 times, longest gap "
        "between commands 2.50 ms\n"
        "  hand: the controller was late 214 times and stopped sending 215 times, longest gap "
        "between commands 2.50 ms\n"
        "  lockstep: 4 replies did not come within the wait limit\n"
        "  fault bias of gyro struck 91 times\n"
        "  fault delay of board struck 75 times\n"
        "  fault crc of board struck 1000 times\n"
        "  fault gap struck 1001 times\n\n"
        "guarantees that this machine does not give:\n\n"
        "verdict: NO, expectations not met, time not kept, link broken; simulated 2.000 s in "
        "2.005 s of wall time\n"
        "  expectations  1 of 3 failed; the run ended before 1 of 3: NO\n"
        "  time          5 frames late by own work; 3 frames late while waiting for a reply; 1 "
        "frame late by a page fault; 6 frames late for no known reason\n"
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
        "  after set-up: 0 allocations, 31 page faults; drift 1.250 ppm\n"
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

static void test_outages_are_reported_with_the_first_and_their_number(void)
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

static void test_no_more_outages_are_reported_than_are_kept(void)
{
    run.source.outages[1].count = SIM_LINK_OUTAGE_MAX - 1;
    TEST_ASSERT_EQUAL_INT(SIM_LINK_OUTAGE_MAX - 1, outages_told());
    run.source.outages[1].count = SIM_LINK_OUTAGE_MAX + 1;
    TEST_ASSERT_EQUAL_INT(SIM_LINK_OUTAGE_MAX, outages_told());
}

static void test_a_board_that_is_in_time_is_not_mentioned(void)
{
    run.link[0].cadence = (struct io_cadence){.gap_ns_max = 3};
    assert_not_said("  board: ");
    run.link[0].cadence.late = 1;
    assert_said(
        "  board: the controller was late 1 times and stopped sending 0 times, longest gap between "
        "commands 3 ns\n");
    run.link[0].cadence = (struct io_cadence){.gap_ns_max = 3, .silent = 1};
    assert_said(
        "  board: the controller was late 0 times and stopped sending 1 times, longest gap between "
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

static void test_each_step_of_a_ground_station_is_reported(void)
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
        "some/where/made.yaml:11:5: links.board.ground_line: 127.0.0.1:14550 cannot be opened "
        "(Address already "
        "in use); another ground station may use it, and the script is not sent\n",
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
    run.sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR] = (double)INFINITY;
    frame.drift_ppm = (double)NAN;
    assert_part("attitude_error_rad", "null");
    assert_part("drift_ppm", "null");
}

static void test_what_the_machine_gave_is_reported(void)
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

static void test_guarantees_that_were_refused_are_reported_in_real_time_alone(void)
{
    TEST_ASSERT_NOT_NULL(
        strstr(heard(report_print), "\nguarantees that this machine does not give:\n\nverdict"));
    run.memory_locked = false;
    strcpy(run.lock_refused, "memory: no");
    strcpy(run.frame_thread.refused, "priority: no");
    strcpy(run.io_thread.refused, "core: no");
    run.machine.smt = true;
    wire_note = "no ring";
    assert_said(
        "\n"
        "guarantees that this machine does not give:\n"
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

static void test_the_phase_lock_is_reported(void)
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
    assert_said(
        "  phase lock to board: NOT locked, the board never answered a time request, error ");
}

static void test_sync_pulses_are_counted(void)
{
    scenario->spec.pulse.every = 2;
    run.sync_pulse = (struct io_sync_pulse){.every = 10, .sent = 11, .dropped = 12};
    assert_part("pulse", "{'every':10,'sent':11,'dropped':12}");
}

static void test_the_predictor_is_reported_with_its_speed(void)
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

static void test_acts_of_the_operator_are_reported(void)
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
        "  44 --act entries are later than the end of the run and were not carried out\n");
    assert_said("expectations  1 of 3 failed; the run ended before 1 of 3; an act of the operator "
                "failed: NO");
    run.acts = (struct sim_operator_result){0};
    run.housekeeping.files_hung = false;
    frame.paused = 0;
    assert_said("least margin -12.5 us\n  late because of: fault 1 switch 2 io 3 stolen 4 own 5 "
                "unknown 6\n");
}

static void test_an_arm_is_reported_as_it_was_left(void)
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

static void test_a_log_is_reported_with_what_the_disk_refused(void)
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
        "lists the channels\n  log     a.mcap (51 records, 52 dropped)\n  report  a.json\n");
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

static void test_where_a_flexible_body_left_its_model_is_reported(void)
{
    static struct dyn_flex flex;
    uint64_t *out = run.sim->vehicle->schedule->out_of_range;
    flex = (struct dyn_flex){.fidelity = DYN_FLEX_CONSISTENT};
    scenario->spec.bodies[1].spec.flex = &flex;
    run.sim->scratch.first_out_of_range = 1;
    assert_not_said("left the range");
    out[DYN_VALIDITY_DEFLECTION] = 2;
    out[DYN_VALIDITY_STIFFNESS] = 3;
    assert_said(
        "  flexible bodies left the range of their models, \"claw\" first: by rate in 0 frames, by "
        "deflection in 2, by stiffness in 3, by inertia in 0\n");
    out[DYN_VALIDITY_RATE] = 1;
    assert_said(" by inertia in 0; its modes have no psi2 and therefore no geometric stiffness\n");
    flex.stiffens = 1;
    assert_said(" by inertia in 0\n");
    flex.fidelity = DYN_FLEX_RUTHLESS;
    assert_said(" by inertia in 0; fidelity: consistent has no rate limit\n");
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

static void test_over_ground_the_end_is_reported_as_a_place(void)
{
    assert_said("  attitude error at the end 28.6479 deg\n");
    scenario->spec.environment.has_ground = true;
    assert_said("  altitude at the end 9.500 m, 2.500 m off, tilt 7.16 deg\n");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_table_says_all_of_a_run_with_boards);
    RUN_TEST(test_a_fast_run_has_no_start_error_and_a_run_without_boards_no_latency);
    RUN_TEST(test_rows_of_what_never_happened_are_left_out);
    RUN_TEST(test_outages_are_reported_with_the_first_and_their_number);
    RUN_TEST(test_no_more_outages_are_reported_than_are_kept);
    RUN_TEST(test_a_board_that_is_in_time_is_not_mentioned);
    RUN_TEST(test_the_report_says_all_of_each_link);
    RUN_TEST(test_faults_are_counted_where_they_strike);
    RUN_TEST(test_each_step_of_a_ground_station_is_reported);
    RUN_TEST(test_a_step_that_was_asked_for_and_not_accepted_is_a_no_with_its_place);
    RUN_TEST(test_a_ground_line_that_cannot_be_had_is_a_warning);
    RUN_TEST(test_the_report_says_all_of_the_time);
    RUN_TEST(test_nothing_was_measured_where_nothing_ran);
    RUN_TEST(test_of_a_stuck_thread_its_own_figures_are_not_known);
    RUN_TEST(test_what_is_no_number_is_null);
    RUN_TEST(test_what_the_machine_gave_is_reported);
    RUN_TEST(test_the_first_thing_that_real_time_lacks_is_named);
    RUN_TEST(test_core_0_can_be_the_frames);
    RUN_TEST(test_guarantees_that_were_refused_are_reported_in_real_time_alone);
    RUN_TEST(test_the_phase_lock_is_reported);
    RUN_TEST(test_sync_pulses_are_counted);
    RUN_TEST(test_the_predictor_is_reported_with_its_speed);
    RUN_TEST(test_acts_of_the_operator_are_reported);
    RUN_TEST(test_an_arm_is_reported_as_it_was_left);
    RUN_TEST(test_viewers_are_counted);
    RUN_TEST(test_a_log_is_reported_with_what_the_disk_refused);
    RUN_TEST(test_where_a_flexible_body_left_its_model_is_reported);
    RUN_TEST(test_over_ground_the_end_is_reported_as_a_place);
    return UNITY_END();
}
