#include "tools/airbearing/bench/loop_floor.h"
#include "config/scenario.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bus/udp.h"
#include "io/protocol/mavlink.h"
#include "rt/check.h"
#include "rt/executive/input/live_input.h"
#include "rt/machine/machine.h"
#include "tools/airbearing/run/place_threads.h"

enum { FRAMES = 2000, LIMIT_NS = 1000000000, LOOK_MS = 20 };

static const char loop_text[] =
    "name: loop\n"
    "rate: 1 kHz\n"
    "seconds: 1 s\n"
    "pace: lockstep\n"
    "integrator: semi-implicit-euler\n"
    "bodies:\n"
    "  - {name: stand, joint: fixed, mass: 1 kg, inertia: 1 1 1 kg m^2}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: stand}\n"
    "links:\n"
    "  - {name: board, listen: 127.0.0.1:14560, body: stand}\n";

static void *receive_sample(size_t size)
{
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    return mem;
}

/* ---- the board --------------------------------------------------------------------------- */

struct board {
    struct io_udp udp;
    struct io_address simulator;
    struct io_mavlink_sender sender;
    struct io_mavlink_parser *parser;
    struct rt_thread thread;
    bool is_open; /* its thread runs */
    atomic_bool stop;
};

static void send_command(struct board *board, const struct io_mavlink_message *message)
{
    unsigned char bytes[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&board->sender, message, bytes);
    (void)io_udp_send(&board->udp, board->simulator, bytes, size, false); /* lost: asked again */
}

static void answer_samples(struct board *board, const struct io_packet *packet)
{
    const struct io_mavlink_message command = {.kind = IO_MAVLINK_CONTROLS};
    for (size_t at = 0; at < packet->size;) {
        struct io_mavlink_message message;
        at += io_mavlink_feed(board->parser, packet->bytes + at, packet->size - at, &message);
        if (message.kind == IO_MAVLINK_SENSOR)
            send_command(board, &command);
    }
    io_mavlink_end(board->parser);
}

static void board_thread(void *self)
{
    struct board *board = self;
    struct io_mavlink_message hello;
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &hello);
    send_command(board, &hello);
    while (!atomic_load_explicit(&board->stop, memory_order_relaxed)) {
        struct pollfd wait = {.fd = board->udp.fd, .events = POLLIN};
        struct io_packet packet;
        (void)poll(&wait, 1, LOOK_MS);
        while (io_udp_receive(&board->udp, &packet) > 0)
            answer_samples(board, &packet);
    }
}

static int board_open(struct board *board, uint16_t port, int cpu)
{
    const struct io_address anywhere = {.ip = 0x7f000001};
    const struct rt_thread_spec spec = {.name = "board", .policy = SCHED_OTHER, .cpu = cpu};
    board->simulator = (struct io_address){.ip = anywhere.ip, .port = port};
    board->sender = (struct io_mavlink_sender){.system_id = 1, .component_id = 1};
    board->parser = io_mavlink_parser_place(receive_sample(io_mavlink_parser_size()));
    int failure = io_udp_open(&board->udp, anywhere);
    if (failure == 0)
        failure = rt_thread_start(&board->thread, &spec, board_thread, board);
    board->is_open = failure == 0;
    return failure;
}

static void board_close(struct board *board)
{
    atomic_store_explicit(&board->stop, true, memory_order_relaxed);
    if (board->is_open)
        rt_thread_join(&board->thread);
    io_udp_close(&board->udp);
    free(board->parser);
}

/* ---- the run ----------------------------------------------------------------------------- */

/* One lockstep run with the simulation's own tasks; the clock is read on both sides of the wait. */
struct run {
    struct cfg_scenario *scenario;
    struct rt_core_plan plan;
    struct sim *sim;
    struct rt_frame_tasks sim_tasks;
    struct io_links *links;
    struct sim_live_input source;
    struct rt_frame frame;
    struct rt_clock_real clock;
    struct rt_thread io_thread;
    struct board board;
    uint64_t begin_ns, handed_ns;
    int trip_count;
    double trip_ns[FRAMES];
};

static void commit(void *self, uint64_t frame)
{
    struct run *run = self;
    run->handed_ns = rt_now_ns();
    if (run->handed_ns - run->begin_ns > LIMIT_NS)
        atomic_store_explicit(&run->frame.stop, true, memory_order_relaxed);
    run->sim_tasks.commit(run->sim_tasks.self, frame);
}

static bool await(void *self, uint64_t frame)
{
    struct run *run = self;
    return run->sim_tasks.await(run->sim_tasks.self, frame);
}

static void latch(void *self, uint64_t frame, bool held)
{
    struct run *run = self;
    const uint64_t sequence = run->sim->vehicle->link[0].sequence;
    run->sim_tasks.latch(run->sim_tasks.self, frame, held);
    if (frame > 0 && run->sim->vehicle->link[0].sequence != sequence)
        run->trip_ns[run->trip_count++] = (double)(rt_now_ns() - run->handed_ns);
}

static void record(void *self, const struct rt_frame_record *record)
{
    (void)self, (void)record;
}

static void invalidate_outputs(void *self)
{
    (void)self;
}

static void fill_frame(struct run *run)
{
    run->source.links = run->links;
    run->source.stop = &run->frame.stop;
    run->sim->source = sim_live_input_interface(&run->source);
    run->sim->links = run->links;
    run->sim_tasks = sim_tasks(run->sim);
    rt_clock_real_open(&run->clock, RT_WAIT_PLAIN, 0, 0);
    run->frame.spec = (struct rt_frame_spec){.period_ns = run->scenario->spec.period_ns,
                                             .frame_count = FRAMES,
                                             .pace = RT_PACE_LOCKSTEP,
                                             .commit = RT_COMMIT_EARLY};
    run->frame.tasks = (struct rt_frame_tasks){.self = run,
                                               .commit = commit,
                                               .await = await,
                                               .latch = latch,
                                               .record = record,
                                               .invalidate_outputs = invalidate_outputs};
    run->frame.schedule = run->sim->schedule;
    run->frame.clock = rt_clock_real_interface(&run->clock);
}

static void run_frames(void *self)
{
    struct run *run = self;
    run->begin_ns = rt_now_ns();
    while (!io_link_has_peer(run->links, 0) && rt_now_ns() - run->begin_ns < LIMIT_NS)
        (void)poll(NULL, 0, 1);
    run->begin_ns = rt_now_ns();
    rt_frame_run(&run->frame);
}

static int open_links(struct run *run, char why_not[IO_ERROR_MAX])
{
    struct io_link_spec spec = run->scenario->spec.links[0].spec;
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen,
                   "127.0.0.1:0"); /* a port that is free */
    run->links = io_links_place(&spec, 1, IO_LINK_THREADED, receive_sample(io_links_size(1)));
    return io_links_open(run->links, why_not);
}

/* The same set-up as airbearing run, with a board. */
static int run_threads(struct run *run, char why_not[IO_ERROR_MAX])
{
    const struct rt_thread_spec io = {.name = "io",
                                      .policy = SCHED_FIFO,
                                      .priority = run->scenario->spec.io_priority,
                                      .cpu = run->plan.io_cpu};
    const struct rt_thread_spec frame = {.name = "frame",
                                         .policy = SCHED_FIFO,
                                         .priority = run->scenario->spec.frame_priority,
                                         .cpu = run->plan.frame_cpu};
    struct rt_thread frame_thread;
    int failure = io_links_start(run->links, &io, run->plan.io_polls, NULL, &run->io_thread);
    if (failure == 0)
        failure = board_open(&run->board, io_link_port(run->links, 0), run->plan.housekeeping_cpu);
    if (failure == 0)
        failure = rt_thread_start(&frame_thread, &frame, run_frames, run);
    if (failure == 0)
        rt_thread_join(&frame_thread);
    else
        (void)snprintf(why_not, IO_ERROR_MAX, "%s", strerror(-failure));
    board_close(&run->board);
    io_links_stop(run->links);
    return failure;
}

static void take_results(struct run *run, struct loop_floor *loop)
{
    const struct rt_histogram *sum = &io_link_latency(run->links, 0)->part[IO_LATENCY_SUM];
    if (run->trip_count == 0 || sum->count == 0) {
        (void)snprintf(loop->why_not, sizeof loop->why_not, "the board was not heard");
        return;
    }
    loop->is_measured = true;
    loop->io_polls = run->plan.io_polls;
    loop->latency_ns = (struct median){.median = (double)rt_histogram_quantile(sum, 0.5),
                                       .lowest = (double)sum->min};
    loop->round_trip_ns = median_of(run->trip_ns, run->trip_count);
}

void loop_measure(struct loop_floor *loop)
{
    static struct rt_machine machine;
    struct run *run = calloc(1, sizeof *run);
    char error[CFG_ERROR_MAX];
    RT_CHECK(run);
    run->board.udp.fd = -1;
    memset(loop, 0, sizeof *loop);
    RT_CHECK(cfg_scenario_load_text("loop", loop_text, sizeof loop_text - 1, NULL, 0,
                                    &run->scenario, error) == 0);
    RT_CHECK(place_threads_plan(run->scenario, &machine, &run->plan) == 0);
    run->sim = sim_create(&run->scenario->spec);
    if (open_links(run, loop->why_not) == 0) {
        fill_frame(run);
        if (run_threads(run, loop->why_not) == 0)
            take_results(run, loop);
    }
    free(run->links);
    free(run->sim);
    cfg_scenario_free(run->scenario);
    free(run);
}
