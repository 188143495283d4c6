/*
 * The cost of the flight recorder for the frame, measured in one process: every 50 frames it is
 * switched on or off, so that both see the same machine.
 *
 *      bench_recorder SCENARIO FRAMES            both, in real time: median busy time and median
 *                                                start error with it, then without, ns
 *      bench_recorder SCENARIO FRAMES on|off     one of them, as fast as it goes, for callgrind
 *
 * The probes are nops in both.  Busy is from the start of a frame to the wait for the next one,
 * so that it includes the filling of the row.
 *
 * Tested by tests/scenario/commands/test_bench_figures.py.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/check.h"
#include "rt/executive/sim.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/place_threads.h"

enum { WINDOW = 50 };
enum { OFF, ON, KINDS };

struct times {
    uint64_t *ns;
    size_t count;
};

struct bench {
    struct sim *sim;
    struct rt_frame_tasks tasks; /* of the simulation */
    struct rt_frame frame;
    struct rt_clock_real real;
    struct rt_clock clock; /* the real clock; the frame uses one that also measures */
    bool alternate;
    uint64_t begin_ns, frame_now;
    struct times busy[KINDS], start_error[KINDS];
};

static void note_time(struct times *times, uint64_t ns)
{
    times->ns[times->count++] = ns;
}

/* The first frame of a window is a mixture and does not count. */
static void wait_and_note(void *self, uint64_t deadline_ns)
{
    struct bench *bench = self;
    const int kind = bench->frame.recorder ? ON : OFF;
    const bool counts = bench->begin_ns != 0 && bench->frame_now % WINDOW != 0;
    if (counts)
        note_time(&bench->busy[kind], rt_now_ns() - bench->begin_ns);
    bench->clock.wait_until_ns(bench->clock.self, deadline_ns);
    bench->begin_ns = rt_now_ns();
    if (counts)
        note_time(&bench->start_error[kind], bench->begin_ns - deadline_ns);
}

static uint64_t now_ns(void *self)
{
    struct bench *bench = self;
    return bench->clock.now_ns(bench->clock.self);
}

static void latch(void *self, uint64_t frame, bool held)
{
    struct bench *bench = self;
    (void)held;
    bench->frame_now = frame;
    if (bench->alternate)
        bench->frame.recorder = frame / WINDOW % 2 ? bench->sim->recorder : NULL;
}

static void record(void *self, const struct rt_frame_record *frame)
{
    const struct bench *bench = self;
    bench->tasks.record(bench->tasks.self, frame);
}

static bool drain(void *self)
{
    const struct bench *bench = self;
    return bench->tasks.drain(bench->tasks.self);
}

static void commit(void *self, uint64_t frame)
{
    (void)self, (void)frame;
}

static void invalidate_outputs(void *self)
{
    (void)self;
}

static void run_bench(void *self)
{
    struct bench *bench = self;
    rt_clock_real_open(&bench->real, RT_WAIT_HYBRID, 0, bench->frame.spec.period_ns / 2);
    bench->clock = rt_clock_real_interface(&bench->real);
    bench->frame.clock = bench->clock;
    if (bench->alternate)
        bench->frame.clock =
            (struct rt_clock){.now_ns = now_ns, .wait_until_ns = wait_and_note, .self = bench};
    rt_frame_run(&bench->frame);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static unsigned long long median_ns(struct times *times)
{
    qsort(times->ns, times->count, sizeof *times->ns, by_size);
    return times->count ? times->ns[times->count / 2] : 0;
}

static void make_room(struct times times[KINDS], uint64_t frames)
{
    for (int kind = 0; kind < KINDS; kind++) {
        times[kind].ns = calloc(frames + 1, sizeof *times[kind].ns);
        RT_CHECK(times[kind].ns);
    }
}

static void set_up(struct bench *bench, const struct cfg_scenario *scenario, uint64_t frames,
                   const char *kind)
{
    make_room(bench->busy, frames);
    make_room(bench->start_error, frames);
    bench->sim = sim_create(&scenario->spec);
    bench->tasks = sim_tasks(bench->sim);
    bench->alternate = kind == NULL;
    bench->frame.recorder = kind && strcmp(kind, "on") == 0 ? bench->sim->recorder : NULL;
    bench->frame.spec = (struct rt_frame_spec){.period_ns = scenario->spec.period_ns,
                                               .frame_count = frames,
                                               .pace = kind ? RT_PACE_FAST : RT_PACE_REAL,
                                               .commit = RT_COMMIT_GRID};
    bench->frame.schedule = bench->sim->schedule;
    bench->frame.tasks = (struct rt_frame_tasks){.self = bench,
                                                 .commit = commit,
                                                 .latch = latch,
                                                 .record = record,
                                                 .drain = drain,
                                                 .invalidate_outputs = invalidate_outputs};
}

int main(int argc, char **argv)
{
    static struct bench bench;
    static struct rt_machine machine;
    struct rt_core_plan plan;
    struct cfg_scenario *scenario;
    struct rt_thread thread;
    char error[CFG_ERROR_MAX], refused[RT_REASON_MAX];
    if (argc < 3 || argc > 4) {
        fputs("usage: bench_recorder SCENARIO FRAMES [on|off]\n", stderr);
        return EXIT_USAGE;
    }
    if (cfg_scenario_load(argv[1], NULL, 0, &scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (place_threads_plan(scenario, &machine, &plan))
        return EXIT_BAD_INPUT;
    (void)rt_lock_memory(refused);
    set_up(&bench, scenario, strtoull(argv[2], NULL, 10), argv[3]);
    const struct rt_thread_spec spec = {.name = "frame",
                                        .policy = SCHED_FIFO,
                                        .priority = scenario->spec.frame_priority,
                                        .cpu = plan.frame_cpu};
    RT_CHECK(rt_thread_start(&thread, &spec, run_bench, &bench) == 0);
    rt_thread_join(&thread);
    printf("%llu %llu %llu %llu\n", median_ns(&bench.busy[ON]), median_ns(&bench.start_error[ON]),
           median_ns(&bench.busy[OFF]), median_ns(&bench.start_error[OFF]));
    return EXIT_OK;
}
