/*
 * From a link to the frame by way of its wire: commands, and their end, come by the delay later.
 */
#include "rt/executive/input/live_input.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/bus/tape.h"
#include "rt/clock.h"
#include "rt/executive/operator/operator.h"
#include "tests/rt/executive/frames.h"

enum { DELAY = 20, FRAMES = 200 };

static char path[] = "/tmp/test_source_XXXXXX";
static uint64_t time_ns; /* of the tape; a millisecond a frame */
static struct sim_live_input source;
static struct io_links *links;
static atomic_bool stop;
static uint64_t put[FRAMES], applied[FRAMES], lost[FRAMES]; /* so far, after each frame */

static uint64_t tell(void *self)
{
    return *(const uint64_t *)self;
}

static const struct rt_clock tape_clock = {.now_ns = tell, .self = &time_ns};

static void record(const uint32_t *at_ms, int count)
{
    struct io_tape_writer writer;
    struct io_hand_report picture;
    time_ns = 0;
    TEST_ASSERT_EQUAL_INT(0, io_tape_writer_open(&writer, path, 1 << 16, &tape_clock));
    for (int i = 0; i < count; i++) {
        time_ns = (uint64_t)at_ms[i] * 1000000;
        io_hand_report_neutral(&picture);
        picture.axis[0] = 0.125f * (float)(i + 1);
        TEST_ASSERT_TRUE(io_tape_writer_append(&writer, &picture, IO_HAND_SIZE));
    }
    io_tape_writer_close(&writer);
}

static void begin_with(const char *more, const char *rest)
{
    static char text[1024];
    char error[IO_ERROR_MAX];
    snprintf(text, sizeof text,
             "name: t\n"
             "bodies:\n"
             "- {name: bus, joint: free, mass: 1 kg, inertia: 1 1 1}\n"
             "- {name: claw, parent: bus, joint: {type: revolute, axis: 1 0 0}, mass: 1 kg,\n"
             "   inertia: 1 1 1}\n"
             "links: [{name: hand, protocol: hand, bus: tape, device: %s, body: bus, %s,\n"
             "         axes: [{axis: x, control: 0, dead_band: 0}]}]\n%s",
             path, more, rest);
    bring_up(text);
    time_ns = 0;
    scenario->spec.links[0].spec.bus.clock = &tape_clock;
    const size_t size = io_links_size(1);
    void *mem = aligned_alloc(64, (size / 64 + 1) * 64);
    TEST_ASSERT_NOT_NULL(mem);
    links = io_links_place(&scenario->spec.links[0].spec, 1, IO_LINK_INLINE, mem);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL_INT(0, io_links_start(links, NULL, false, NULL, NULL));
    stop = false;
    source = (struct sim_live_input){.links = links, .stop = &stop};
    sim->source = sim_live_input_interface(&source);
}

static void begin(const char *more)
{
    begin_with(more, "");
}

static void end(void)
{
    io_links_stop(links);
    free(links);
    (void)unlink(path);
}

static void fly(void)
{
    for (int frame = 0; frame < FRAMES; frame++) {
        run_frames(1);
        put[frame] = sim->scratch.delay_in[0].put;
        applied[frame] = sim->scratch.inputs;
        lost[frame] = sim->vehicle->link[0].lost;
        time_ns += 1000000;
    }
}

static int first_with(const uint64_t *counts, uint64_t count)
{
    int frame = 0;
    while (frame < FRAMES && counts[frame] < count)
        frame++;
    return frame;
}

static const uint32_t moves[] = {2, 5, 6, 30};

/* Three reports and one that ends the tape, and with it the hand. */
static void test_commands_and_loss_come_as_many_frames_later(void)
{
    record(moves, 4);
    begin("delay: 20 ms");
    fly();
    TEST_ASSERT_EQUAL_UINT64(5, sim->scratch.inputs);
    TEST_ASSERT_EQUAL_UINT64(4, sim->vehicle->link[0].commands);
    for (uint64_t n = 1; n <= 5; n++)
        TEST_ASSERT_EQUAL_INT(first_with(put, n) + DELAY, first_with(applied, n));
    /* The near end has known for long when the vehicle still follows what is under way. */
    TEST_ASSERT_LESS_THAN_INT(first_with(applied, 4), first_with(put, 5));
    TEST_ASSERT_EQUAL_INT(first_with(applied, 5), first_with(lost, 1));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, sim->vehicle->link[0].control[0]);
    TEST_ASSERT_FALSE(stop);
    end();
}

static void test_without_a_delay_they_come_at_once(void)
{
    record(moves, 4);
    begin("delay: 0 s");
    fly();
    TEST_ASSERT_EQUAL_UINT64(5, sim->scratch.inputs);
    for (int n = 0; n < 4; n++)
        TEST_ASSERT_EQUAL_INT(moves[n], first_with(applied, (uint64_t)n + 1));
    end();
}

/* A run that ends with its link ends when the vehicle knows. */
static void test_a_loss_that_stops_the_run_does_so_as_much_later(void)
{
    record(moves, 1);
    begin("delay: 20 ms, on_loss: stop, lost_after: 1 ms");
    while (sim->scratch.delay_in[0].put < 2) {
        run_frames(1);
        time_ns += 1000000;
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
    }
    for (int i = 0; i < DELAY - 1; i++) {
        run_frames(1);
        TEST_ASSERT_FALSE(stop);
    }
    run_frames(1);
    TEST_ASSERT_TRUE(stop);
    TEST_ASSERT_TRUE(source.link_lost);
    end();
}

/* What was under way belongs to another time, and a loss that went with it comes again. */
/* Two reports that come at once are one command. */
static bool is_loss_under_way(void)
{
    const uint64_t count = sim_delay_line_count(&sim->scratch.delay_in[0]);
    const struct io_command *newest =
        count ? sim_delay_line_peek(&sim->scratch.delay_in[0], count - 1, NULL) : NULL;
    return newest && newest->kind == IO_COMMAND_LOSS;
}

static void put_back(void)
{
    struct sim_record_act reset = {.frame = frames, .act = SIM_ACT_RESET};
    sim_apply_act(sim, &reset, NULL);
}

/* It is held where it was moved to, and no further report comes. */
static void test_a_restored_state_keeps_the_last_command_of_a_hand_in_transit(void)
{
    static const uint32_t some[] = {2, 5, 6, 5000};
    record(some, 4);
    begin("delay: 20 ms");
    while (sim->scratch.delay_in[0].put < 3) {
        run_frames(1);
        time_ns += 1000000;
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
    }
    const uint64_t comes = frames - 1 + DELAY;
    run_frames(3);
    put_back();
    TEST_ASSERT_EQUAL_UINT64(1, sim_delay_line_count(&sim->scratch.delay_in[0]));
    while (frames < comes)
        run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.inputs);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.inputs);
    TEST_ASSERT_EQUAL_DOUBLE(0.375, sim->vehicle->link[0].control[0]);
    end();
}

/* The same on a wire that is late by a fault, which counts in frames of the run state. */
static void test_a_fault_that_ends_or_is_restored_gives_the_last_command_of_a_hand(void)
{
    static const uint32_t some[] = {2, 5, 6, 5000};
    static const char late[] =
        "faults: [{link: hand, type: delay, way: in, when: operator, value: 20 ms}]\n";
    for (int put_back_too = 0; put_back_too < 2; put_back_too++) {
        record(some, 4);
        begin_with("modes: [0, 1]", late);
        struct sim_record_act fault = {.act = SIM_ACT_FAULT, .value = 1.0};
        run_frames(1);
        fault.frame = frames;
        sim_apply_act(sim, &fault, NULL);
        while (sim->scratch.delay_in[0].put < 3) {
            run_frames(1);
            time_ns += 1000000;
            TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
        }
        TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.inputs);
        fault.frame = frames;
        fault.value = 0.0;
        if (put_back_too)
            put_back(); /* it is not on at the start */
        else
            sim_apply_act(sim, &fault, NULL);
        run_frames(2);
        TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.inputs);
        TEST_ASSERT_EQUAL_DOUBLE(0.375, sim->vehicle->link[0].control[0]);
        end();
    }
}

static void test_a_state_that_is_put_back_finds_the_loss_still_under_way(void)
{
    record(moves, 4);
    begin("delay: 20 ms");
    while (!is_loss_under_way()) {
        run_frames(1);
        time_ns += 1000000;
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
    }
    put_back();
    TEST_ASSERT_EQUAL_UINT64(1, sim_delay_line_count(&sim->scratch.delay_in[0]));
    TEST_ASSERT_EQUAL_UINT64(0, sim->vehicle->link[0].lost);
    run_frames(DELAY - 1);
    TEST_ASSERT_EQUAL_UINT64(0, sim->vehicle->link[0].lost);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->link[0].lost);
    end();
}

/* From the byte to the frame, the delay counts as waiting for the grid. */
static void test_the_trace_of_a_command_has_the_delay_in_it(void)
{
    static const uint32_t move[] = {2, 5000};
    record(move, 2);
    begin("delay: 20 ms");
    while (sim->scratch.delay_in[0].put < 1) {
        run_frames(1);
        time_ns += 1000000;
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
    }
    const struct io_command *command = sim_delay_line_peek(&sim->scratch.delay_in[0], 0, NULL);
    const uint64_t ready_ns = command->ready_ns, heard_ns = rt_now_ns();
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(heard_ns, ready_ns);
    run_frames(DELAY - 1);
    TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.inputs);
    const uint64_t before_ns = rt_now_ns();
    sim_tasks(sim).latch(sim, frames, false);
    TEST_ASSERT_EQUAL_UINT64(ready_ns, sim->scratch.trace[0].ready_ns);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, sim->scratch.trace[0].latch_ns);
    end();
}

/* A person may take a pause; that is no delay. */
static void test_a_command_that_waited_in_a_pause_has_no_loop_latency(void)
{
    static const uint32_t move[] = {2, 5000};
    record(move, 2);
    begin("delay: 20 ms");
    while (sim->scratch.delay_in[0].put < 1) {
        run_frames(1);
        time_ns += 1000000;
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
    }
    sim->scratch.idle_ns = rt_now_ns() + 1;
    run_frames(DELAY - 1);
    sim_tasks(sim).latch(sim, frames, false);
    TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.inputs);
    TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.trace[0].latch_ns);
    end();
}

/* Servos look every ten frames: what is latched between two looks moves nothing before the second,
 * and is on its way until then. */
static void test_the_loop_latency_of_an_arm_ends_at_its_servo_job(void)
{
    static const uint32_t move[] = {3, 17, 5000};
    record(move, 3);
    begin_with("modes: [0, 1]",
               "arm:\n"
               "  joints: [{body: claw, stiffness: 1e4, damping: 1e3, max_torque: 100,\n"
               "            max_rate: 1}]\n"
               "  servo: 100 Hz\n"
               "  hand: claw\n"
               "  translation: {link: hand, controls: [0, 0, 0], speed: 1}\n"
               "  rotation: {link: hand, controls: [0, 0, 0], speed: 1}\n");
    sim->links = links;
    const struct rt_histogram *sums = &io_link_latency(links, 0)->part[IO_LATENCY_SUM];
    for (uint64_t seen = 0; seen < 2; time_ns += 1000000) {
        const bool looks = frames % 10 == 0;
        run_frames(1);
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
        seen = looks ? sim->scratch.inputs : seen;
        TEST_ASSERT_EQUAL_UINT64(seen, sums->count);
    }
    end();
}

/* ---- clocks ---- */

static struct rt_phase_lock phase_lock;
static struct io_sync_pulse pulser;
static struct rt_phase_sample sight;
static struct io_clock_sample answer;
static bool answered;
static int sights, questions, pulses;
static uint64_t pulse_frame, pulse_ns;

bool __wrap_io_link_clock(struct io_links *of, int link, struct io_clock_sample *told);
void __wrap_rt_phase_lock_observe(struct rt_phase_lock *of, const struct rt_phase_sample *seen);
void __wrap_io_sync_pulse_emit(struct io_sync_pulse *of, uint64_t frame, uint64_t sim_ns);

bool __wrap_io_link_clock(struct io_links *of, int link, struct io_clock_sample *told)
{
    TEST_ASSERT_EQUAL_PTR(links, of);
    TEST_ASSERT_EQUAL_INT(0, link);
    questions++;
    *told = answer;
    return answered;
}

void __wrap_rt_phase_lock_observe(struct rt_phase_lock *of, const struct rt_phase_sample *seen)
{
    TEST_ASSERT_EQUAL_PTR(&phase_lock, of);
    sight = *seen;
    sights++;
}

void __wrap_io_sync_pulse_emit(struct io_sync_pulse *of, uint64_t frame, uint64_t sim_ns)
{
    TEST_ASSERT_EQUAL_PTR(&pulser, of);
    pulse_frame = frame;
    pulse_ns = sim_ns;
    pulses++;
}

/* Where the board's clock cannot be asked, its commands tell of it by when they come. */
static void test_a_grid_that_follows_arrivals_sees_each_command_once(void)
{
    static const uint32_t some[] = {2, 5, 9, 5000};
    record(some, 4);
    begin("delay: 20 ms"); /* of the wire to the vehicle, which the clock does not feel */
    scenario->spec.lock.link = 0;
    scenario->spec.lock.source = SIM_LOCK_ARRIVAL;
    source.phase_lock = &phase_lock;
    sights = questions = 0;
    while (sim->scratch.delay_in[0].put < 3) {
        const uint64_t before = sim->scratch.delay_in[0].put;
        const int seen = sights;
        run_frames(1);
        time_ns += 1000000;
        TEST_ASSERT_LESS_THAN_UINT64(FRAMES, frames);
        TEST_ASSERT_EQUAL_UINT64(sim->scratch.delay_in[0].put - before, sights - seen);
        if (sights == seen)
            continue;
        const struct io_command *newest = sim_delay_line_peek(
            &sim->scratch.delay_in[0], sim_delay_line_count(&sim->scratch.delay_in[0]) - 1, NULL);
        TEST_ASSERT_EQUAL_UINT64(newest->rx_ns, sight.local_ns);
        TEST_ASSERT_GREATER_THAN_UINT64(0, sight.local_ns);
        TEST_ASSERT_EQUAL_UINT64(0, sight.board_ns);
        TEST_ASSERT_EQUAL_UINT64(0, sight.delay_ns);
    }
    TEST_ASSERT_EQUAL_INT(3, sights);
    TEST_ASSERT_EQUAL_INT(0, questions);
    end();
}

/* Whether commands come or not. */
static void test_a_grid_that_follows_the_clock_of_the_board_sees_what_it_answers(void)
{
    static const uint32_t some[] = {2, 5000};
    record(some, 2);
    begin("delay: 20 ms");
    scenario->spec.lock.link = 0;
    scenario->spec.lock.source = SIM_LOCK_TIMESYNC;
    source.phase_lock = &phase_lock;
    sights = questions = 0;
    answer = (struct io_clock_sample){.local_ns = 11, .board_ns = 12, .delay_ns = 13};
    answered = false;
    run_frames(2);
    TEST_ASSERT_EQUAL_INT(2, questions);
    TEST_ASSERT_EQUAL_INT(0, sights);
    answered = true;
    run_frames(1);
    TEST_ASSERT_EQUAL_INT(3, questions);
    TEST_ASSERT_EQUAL_INT(1, sights);
    TEST_ASSERT_EQUAL_UINT64(11, sight.local_ns);
    TEST_ASSERT_EQUAL_UINT64(12, sight.board_ns);
    TEST_ASSERT_EQUAL_UINT64(13, sight.delay_ns);
    scenario->spec.lock.link = 1; /* another link's clock is none of this one's */
    run_frames(1);
    scenario->spec.lock.link = 0;
    source.phase_lock = NULL; /* and without a lock nothing is sampled */
    run_frames(1);
    TEST_ASSERT_EQUAL_INT(3, questions);
    TEST_ASSERT_EQUAL_INT(1, sights);
    end();
}

static void test_every_frame_is_given_to_the_sync_pulse_at_its_simulated_time(void)
{
    static const uint32_t some[] = {2, 5000};
    record(some, 2);
    begin("delay: 20 ms");
    run_frames(1);
    TEST_ASSERT_EQUAL_INT(0, pulses);
    source.pulser = &pulser;
    run_frames(4);
    TEST_ASSERT_EQUAL_INT(4, pulses);
    TEST_ASSERT_EQUAL_UINT64(4, pulse_frame);
    TEST_ASSERT_EQUAL_UINT64(4000000, pulse_ns);
    source.links = NULL; /* pulses need no link */
    run_frames(1);
    TEST_ASSERT_EQUAL_INT(5, pulses);
    end();
}

/* All outages are counted, and the first sixteen kept with the frames that they lasted. */
static void test_outages_are_kept_from_the_loss_to_the_next_command(void)
{
    static const uint32_t some[] = {2, 5000};
    record(some, 2);
    begin("modes: [0, 1], delay: 1 ms");
    const struct sim_link_outages *outages = &source.outages[0];
    for (uint64_t n = 0; n < SIM_LINK_OUTAGE_MAX + 2; n++) {
        struct io_command command = {.kind = IO_COMMAND_CONTROLS, .rx_ns = 5, .ready_ns = 6};
        const uint64_t from = frames;
        command.kind = IO_COMMAND_LOSS;
        sim_delay_line_push_due(&sim->scratch.delay_in[0], frames, &command);
        run_frames(1);
        TEST_ASSERT_EQUAL_UINT32(n + 1, outages->count);
        TEST_ASSERT_EQUAL_UINT32(n, outages->returns);
        if (n < SIM_LINK_OUTAGE_MAX) {
            TEST_ASSERT_EQUAL_UINT64(from, outages->kept[n].first_frame);
            TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, outages->kept[n].last_frame);
        }
        run_frames(2);
        command.kind = IO_COMMAND_CONTROLS;
        sim_delay_line_push_due(&sim->scratch.delay_in[0], frames, &command);
        run_frames(1);
        TEST_ASSERT_EQUAL_UINT32(n + 1, outages->returns);
        if (n < SIM_LINK_OUTAGE_MAX)
            TEST_ASSERT_EQUAL_UINT64(from + 3, outages->kept[n].last_frame);
        command.kind = IO_COMMAND_CONTROLS; /* one more is no return */
        sim_delay_line_push_due(&sim->scratch.delay_in[0], frames, &command);
        run_frames(1);
        TEST_ASSERT_EQUAL_UINT32(n + 1, outages->returns);
    }
    TEST_ASSERT_EQUAL_UINT64((SIM_LINK_OUTAGE_MAX - 1) * 5,
                             outages->kept[SIM_LINK_OUTAGE_MAX - 1].first_frame);
    TEST_ASSERT_EQUAL_UINT32(0, source.outages[1].count); /* another link's lie right behind */
    end();
}

/* The board began anew while a fault held its commands back, and they are lost with the end of the
 * fault: the next command resets the vehicle. */
static void test_a_restart_that_is_lost_with_a_fault_comes_with_the_next_command(void)
{
    static const uint32_t some[] = {2, 40, 5000};
    record(some, 3);
    begin_with("modes: [0, 1]",
               "faults: [{link: hand, type: delay, way: in, when: operator, value: 20 ms}]\n");
    struct sim_delay_line *line = &sim->scratch.delay_in[0];
    struct sim_record_act fault = {.act = SIM_ACT_FAULT, .value = 1.0};
    const struct io_command restart = {.kind = IO_COMMAND_CONTROLS, .resets = 1};
    line->spec.delivers_last = false; /* as that of a board */
    for (; frames < 5; time_ns += 1000000)
        run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.inputs);
    fault.frame = frames;
    sim_apply_act(sim, &fault, NULL);
    sim_delay_line_push(line, frames, frames + sim->schedule->frame_offset, &restart);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(1, sim_delay_line_count(line));
    fault.frame = frames;
    fault.value = 0.0;
    sim_apply_act(sim, &fault, NULL);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(0, sim_delay_line_count(line));
    TEST_ASSERT_EQUAL_UINT64(1, sim->scratch.inputs);
    for (; frames < 60; time_ns += 1000000)
        run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(3, sim->scratch.inputs); /* the reset and the command */
    end();
}

int main(void)
{
    close(mkstemp(path));
    UNITY_BEGIN();
    RUN_TEST(test_commands_and_loss_come_as_many_frames_later);
    RUN_TEST(test_without_a_delay_they_come_at_once);
    RUN_TEST(test_a_loss_that_stops_the_run_does_so_as_much_later);
    RUN_TEST(test_a_restored_state_keeps_the_last_command_of_a_hand_in_transit);
    RUN_TEST(test_a_fault_that_ends_or_is_restored_gives_the_last_command_of_a_hand);
    RUN_TEST(test_a_state_that_is_put_back_finds_the_loss_still_under_way);
    RUN_TEST(test_the_trace_of_a_command_has_the_delay_in_it);
    RUN_TEST(test_a_command_that_waited_in_a_pause_has_no_loop_latency);
    RUN_TEST(test_the_loop_latency_of_an_arm_ends_at_its_servo_job);
    RUN_TEST(test_a_grid_that_follows_arrivals_sees_each_command_once);
    RUN_TEST(test_a_grid_that_follows_the_clock_of_the_board_sees_what_it_answers);
    RUN_TEST(test_every_frame_is_given_to_the_sync_pulse_at_its_simulated_time);
    RUN_TEST(test_outages_are_kept_from_the_loss_to_the_next_command);
    RUN_TEST(test_a_restart_that_is_lost_with_a_fault_comes_with_the_next_command);
    return UNITY_END();
}
