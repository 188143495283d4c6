/*
 * The stop under the fake clock, in the shipped frame loop: whatever acts are queued, it is read
 * at most two frames after it was raised.
 */
#include "config/scenario.h"
#include "rt/estop.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/arena.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"
#include "tests/rt/fake_clock.h"
#include "unity.h"

enum { TICKET = 4711, OTHERS = 1, NEVER = -1 };

static struct cfg_scenario *scenario;
static struct sim *sim;
static struct sim_operator *op;
static struct rt_frame frame;
static struct fake_clock fake;
static void *log_memory;

/* When the stop is raised: in a frame, after its boundary, or in a wait for a release. */
static int64_t raise_in_frame, raise_in_wait;
static int64_t late_in_frame; /* a frame that takes five periods */
static uint64_t raised_at;    /* frames that had begun by then */
static _Atomic uint64_t begun;
static uint64_t boundaries_at;
static uint64_t boundaries;
static bool (*real_boundary)(void *self, uint64_t at);
static void (*real_latch)(void *self, uint64_t at, bool held);

static void raise_now(void)
{
    raised_at = begun;
    boundaries_at = boundaries;
    TEST_ASSERT_TRUE(sim_operator_stop_arm(op, TICKET));
}

static void read_inputs(void *self, struct sim *to, uint64_t at)
{
    (void)self, (void)to, (void)at;
}

static void latch(void *self, uint64_t at, bool held)
{
    real_latch(self, at, held);
    begun = at + 1;
    if ((int64_t)at == late_in_frame)
        fake_clock_spend(&fake, 5 * (int64_t)scenario->spec.period_ns);
    if ((int64_t)at == raise_in_frame)
        raise_now();
}

static bool count_boundary(void *self, uint64_t at)
{
    boundaries++;
    return real_boundary(self, at);
}

static void wait_until(void *self, uint64_t deadline_ns)
{
    struct fake_clock *clock = self;
    if ((int64_t)clock->waits == raise_in_wait)
        raise_now();
    if (clock->waits == 5000)
        atomic_store(&frame.stop, true); /* a pause without an end */
    fake_clock_wait(self, deadline_ns);
}

static void open_all(enum rt_pace pace)
{
    static const char *const overrides[] = {"links.hand.bus=udp",
                                            "links.hand.listen=127.0.0.1:14590"};
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load(AIRBEARING_SCENARIOS "/rms.yaml", overrides, 2, &scenario, error),
        error);
    scenario->spec.pace = pace;
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = read_inputs;
    memset(&frame, 0, sizeof frame);
    op = sim_operator_open(sim, &frame.boundary_wanted);
    TEST_ASSERT_NOT_NULL(op);
    real_boundary = sim->boundary.boundary;
    sim->boundary.boundary = count_boundary;
    fake = (struct fake_clock){.now_ns = 1000000};
    raise_in_frame = raise_in_wait = late_in_frame = NEVER;
    raised_at = boundaries = 0;
    begun = 0;
    sim->vehicle->arm->panel.mode = IO_ARM_PANEL_TOOL; /* it moves */
    sim->vehicle->arm->panel.brakes = 0;
    frame.spec = (struct rt_frame_spec){
        .period_ns = scenario->spec.period_ns, .frame_count = 200, .pace = pace, .max_catch_up = 4};
    frame.tasks = sim_tasks(sim);
    real_latch = frame.tasks.latch;
    frame.tasks.latch = latch;
    frame.schedule = sim->schedule;
    frame.clock = fake_clock_seam(&fake);
    frame.clock.wait_until_ns = wait_until;
}

static void close_all(void)
{
    sim_operator_close(op);
    free(sim);
    cfg_scenario_free(scenario);
    free(log_memory);
    log_memory = NULL;
}

void setUp(void)
{
    open_all(RT_PACE_REAL);
}

void tearDown(void)
{
    close_all();
}

static void ask(enum sim_act act, int count)
{
    struct sim_operator_request request = {.ticket = OTHERS, .act = act, .value = 1.0};
    snprintf(request.path, sizeof request.path, "/nowhere/%d", (int)getpid());
    for (int i = 0; i < count; i++)
        TEST_ASSERT_TRUE(sim_operator_request_act(op, &request));
}

/* It was answered, by a frame of which at most two had begun since. */
static void expect_stopped(void)
{
    struct sim_operator_answer answer = {0};
    while (answer.ticket != TICKET)
        TEST_ASSERT_TRUE(sim_operator_next_answer(op, &answer));
    TEST_ASSERT_TRUE_MESSAGE(answer.done, answer.text);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(raised_at + RT_ESTOP_LATENCY_FRAMES_MAX - 1, answer.frame);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(raised_at, answer.frame);
    TEST_ASSERT_TRUE(sim->vehicle->arm->panel.safed);
    TEST_ASSERT_TRUE(sim->vehicle->arm->panel.brakes);
    TEST_ASSERT_EQUAL_UINT64(IO_ARM_PANEL_HOLD, sim->vehicle->arm->panel.mode);
}

/* ---- what may stand before it ---- */

static void test_the_next_boundary_reads_it(void)
{
    for (int64_t in_wait = 0; in_wait < 2; in_wait++) {
        close_all();
        open_all(RT_PACE_REAL);
        *(in_wait ? &raise_in_wait : &raise_in_frame) = 50;
        rt_frame_run(&frame);
        expect_stopped();
        TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.acts);
        TEST_ASSERT_EQUAL_UINT64(200, frame.frames);
    }
}

/* Nobody keeps house: the disk stands still.  64 checkpoints wait, and no more are taken. */
static void test_a_stopped_disk_and_a_full_queue_do_not_delay_it(void)
{
    struct sim_operator_request more = {.act = SIM_ACT_CHECKPOINT};
    ask(SIM_ACT_CHECKPOINT, 64);
    TEST_ASSERT_FALSE(sim_operator_request_act(op, &more));
    raise_in_frame = 20;
    rt_frame_run(&frame);
    expect_stopped();
}

static void test_a_pause_does_not_delay_it(void)
{
    ask(SIM_ACT_PAUSE, 1);
    raise_in_wait = 30;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, frame.frames);
    expect_stopped();
    TEST_ASSERT_GREATER_THAN_UINT64(boundaries_at, boundaries);
}

static void test_an_act_that_waits_for_its_file_does_not_delay_it(void)
{
    close_all();
    open_all(RT_PACE_FAST);
    ask(SIM_ACT_RESTORE, 1);
    raise_in_wait = 30;
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, frame.frames); /* it waits for the file to this day, */
    expect_stopped();                          /* but the arm stands */
}

static void test_a_catch_up_does_not_delay_it(void)
{
    for (int64_t at = 48; at < 60; at++) {
        close_all();
        open_all(RT_PACE_REAL);
        frame.spec.overrun = RT_OVERRUN_CATCH_UP;
        late_in_frame = 50;
        raise_in_frame = at;
        rt_frame_run(&frame);
        expect_stopped();
    }
}

/* A log that is not written to the disk. */
static void give_log(void)
{
    struct io_channel_spec channels[IO_CHANNEL_MAX];
    const struct sim_inject none = {0};
    struct sim_record_jobs jobs;
    sim_job_names(&scenario->spec, &none, &jobs);
    sim_record_channels(&scenario->spec, dyn_model_nq(sim->vehicle->plant.model),
                        dyn_model_nv(sim->vehicle->plant.model), &jobs, channels);
    const size_t size = io_telemetry_size(channels, sim->layout.count);
    log_memory = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    sim->telemetry = io_telemetry_place(channels, sim->layout.count, log_memory);
}

static void test_a_full_log_does_not_delay_it_and_has_it(void)
{
    give_log();
    ask(SIM_ACT_RESUME, 64);
    raise_in_frame = 100;
    struct sim_operator_request more = {.act = SIM_ACT_RESUME};
    rt_frame_run(&frame);
    while (sim_operator_request_act(op, &more))
        continue;
    const uint64_t room = io_telemetry_room(sim->telemetry, sim->layout.act);
    TEST_ASSERT_FALSE(sim_has_room_for_act(sim));
    TEST_ASSERT_GREATER_THAN_UINT64(0, room);
    expect_stopped();
    TEST_ASSERT_EQUAL_UINT64(io_telemetry_depth(sim->telemetry, sim->layout.act) - room,
                             sim->scratch.acts);
}

/* What no wall clock paces waits for room in the log: there, too, the stop is read. */
static bool is_safed_while_waiting;
static void *stop_and_look(void *self)
{
    uint64_t before;
    (void)self;
    do { /* until no frame has begun for a while: the log is not emptied */
        before = atomic_load(&begun);
        usleep(100000);
    } while (before == 0 || before != atomic_load(&begun));
    TEST_ASSERT_TRUE(sim_operator_stop_arm(op, TICKET));
    struct sim_operator_answer answer;
    while (!sim_operator_next_answer(op, &answer))
        usleep(1000);
    is_safed_while_waiting = answer.done;
    atomic_store(&frame.stop, true);
    return NULL;
}

static void test_a_run_that_waits_for_its_log_reads_it(void)
{
    pthread_t other;
    close_all();
    open_all(RT_PACE_FAST);
    give_log();
    sim->stop = &frame.stop;
    frame.spec.frame_count = UINT64_MAX;
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&other, NULL, stop_and_look, NULL));
    rt_frame_run(&frame);
    pthread_join(other, NULL);
    TEST_ASSERT_TRUE(is_safed_while_waiting);
    TEST_ASSERT_TRUE(sim->vehicle->arm->panel.safed);
}

/* ---- of the command line ---- */

static void test_a_scripted_stop_does_not_wait_behind_a_scripted_file(void)
{
    const struct sim_scripted_act acts[] = {
        {.boundary = 5,
         .text = "restore",
         .request = {.ticket = UINT64_MAX, .act = SIM_ACT_RESTORE, .path = "/nowhere"}},
        {.boundary = 40, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_STOP_ARM}},
        {.boundary = 500, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_STOP_ARM}},
    };
    sim_operator_set_script(op, acts, 3);
    raise_in_frame = 39; /* both are read before frame 40, as one */
    rt_frame_run(&frame);
    expect_stopped();
    struct sim_operator_result result;
    sim_operator_result(op, &result);
    TEST_ASSERT_EQUAL_UINT64(1, result.acts);
    TEST_ASSERT_EQUAL_INT(1, result.unreached);
    TEST_ASSERT_EQUAL_INT(1, result.failed); /* the restore was due, and never done */
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(result.failure, "the run ended before"), result.failure);
}

/* ---- causes ---- */

static void test_each_cause_stops_and_is_reported(void)
{
    for (uint32_t cause = 0; cause < RT_ESTOP_CAUSE_COUNT; cause++) {
        close_all();
        open_all(RT_PACE_REAL);
        give_log();
        (void)rt_estop_raise(sim_operator_estop(op), (enum rt_estop_cause)cause, 7);
        TEST_ASSERT_FALSE(sim->boundary.boundary(sim->boundary.self, 0));
        TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.acts);
        TEST_ASSERT_TRUE(sim->vehicle->arm->panel.safed);
        TEST_ASSERT_EQUAL_INT(cause != RT_ESTOP_OPERATOR_LOST, sim->vehicle->arm->panel.brakes);
        (void)rt_estop_raise(sim_operator_estop(op), (enum rt_estop_cause)cause, 8);
        TEST_ASSERT_FALSE(sim->boundary.boundary(sim->boundary.self, 1));
        /* The arm stands already; only the asker gets an answer. */
        TEST_ASSERT_EQUAL_UINT64(cause == RT_ESTOP_OPERATOR ? 2 : 1, sim->scratch.acts);
    }
}

static void test_what_hands_did_before_the_first_frame_is_no_event(void)
{
    (void)rt_estop_raise(sim_operator_estop(op), RT_ESTOP_BUTTON, 7);
    (void)rt_estop_raise(sim_operator_estop(op), RT_ESTOP_OPERATOR_LOST, 7);
    sim_operator_ignore_earlier_stops(op);
    rt_frame_run(&frame);
    TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.acts);
    TEST_ASSERT_FALSE(sim->vehicle->arm->panel.safed);
}

/* ---- many at once ---- */

enum { RAISERS = 4, RAISES = 500 };

static void *raise_many(void *self)
{
    for (int i = 0; i < RAISES; i++)
        (void)rt_estop_raise(self, RT_ESTOP_BUTTON, 1 + (uint64_t)i);
    return NULL;
}

static void test_many_may_raise_it_at_once_and_none_is_left(void)
{
    pthread_t thread[RAISERS];
    for (int i = 0; i < RAISERS; i++)
        TEST_ASSERT_EQUAL_INT(0,
                              pthread_create(&thread[i], NULL, raise_many, sim_operator_estop(op)));
    rt_frame_run(&frame);
    for (int i = 0; i < RAISERS; i++)
        pthread_join(thread[i], NULL);
    (void)sim->boundary.boundary(sim->boundary.self, 200);
    TEST_ASSERT_EQUAL_UINT32(RAISERS * RAISES,
                             rt_estop_count(sim_operator_estop(op), RT_ESTOP_BUTTON));
    TEST_ASSERT_TRUE(sim->vehicle->arm->panel.safed);
    const uint64_t acts = sim->scratch.acts;
    atomic_store(&frame.boundary_wanted, true);
    (void)sim->boundary.boundary(sim->boundary.self, 201);
    TEST_ASSERT_EQUAL_UINT64(acts, sim->scratch.acts);
}

static void test_a_stop_that_no_frame_reads_is_answered_at_the_end(void)
{
    struct sim_operator_answer answer;
    rt_frame_run(&frame);
    raise_now();
    ask(SIM_ACT_PAUSE, 1);
    TEST_ASSERT_FALSE(sim_operator_next_answer(op, &answer));
    sim_operator_end(op);
    TEST_ASSERT_TRUE(sim_operator_next_answer(op, &answer));
    TEST_ASSERT_EQUAL_UINT64(TICKET, answer.ticket);
    TEST_ASSERT_TRUE(answer.done); /* nothing moves any more */
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer.text, "the run has ended"), answer.text);
    TEST_ASSERT_TRUE(sim_operator_next_answer(op, &answer));
    TEST_ASSERT_EQUAL_UINT64(OTHERS, answer.ticket);
    TEST_ASSERT_FALSE(answer.done);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer.text, "the run ended"), answer.text);
    TEST_ASSERT_FALSE(sim_operator_next_answer(op, &answer));
    const uint64_t acts = sim->scratch.acts;
    ask(SIM_ACT_PAUSE, 1); /* and a frame thread that comes back does nothing more */
    TEST_ASSERT_TRUE(sim->boundary.boundary(sim->boundary.self, 200));
    TEST_ASSERT_EQUAL_UINT64(acts, sim->scratch.acts);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_next_boundary_reads_it);
    RUN_TEST(test_a_stopped_disk_and_a_full_queue_do_not_delay_it);
    RUN_TEST(test_a_pause_does_not_delay_it);
    RUN_TEST(test_an_act_that_waits_for_its_file_does_not_delay_it);
    RUN_TEST(test_a_catch_up_does_not_delay_it);
    RUN_TEST(test_a_full_log_does_not_delay_it_and_has_it);
    RUN_TEST(test_a_run_that_waits_for_its_log_reads_it);
    RUN_TEST(test_a_scripted_stop_does_not_wait_behind_a_scripted_file);
    RUN_TEST(test_each_cause_stops_and_is_reported);
    RUN_TEST(test_what_hands_did_before_the_first_frame_is_no_event);
    RUN_TEST(test_many_may_raise_it_at_once_and_none_is_left);
    RUN_TEST(test_a_stop_that_no_frame_reads_is_answered_at_the_end);
    return UNITY_END();
}
