/*
 * The cost of logging for the frame, measured in one process: every 50 frames the records change
 * between a log that is written and one that is only drained, so that both see the same machine.
 * The busy time on a shared machine varies by a factor of two within seconds; two medians over
 * windows of 50 ms do not.
 *
 *      bench_log SCENARIO LOG [FRAMES]
 *
 * prints the median busy time, in nanoseconds, with and without the log.
 *
 * Tested by tests/scenario/commands/test_bench_figures.py.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/scenario.h"
#include "rt/check.h"
#include "rt/executive/sim.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/place_threads.h"

enum { WINDOW = 50 };

struct bench {
    struct sim *sim;
    struct rt_frame_tasks tasks;       /* of the simulation */
    struct io_telemetry *telemetry[2]; /* drained, written */
    struct rt_frame frame;
    uint64_t *busy_ns; /* by frame */
    uint64_t begin_ns;
};

static void latch(void *self, uint64_t frame, bool held)
{
    struct bench *bench = self;
    (void)held;
    bench->begin_ns = rt_now_ns();
    bench->sim->telemetry = bench->telemetry[frame / WINDOW % 2];
}

static void record(void *self, const struct rt_frame_record *frame)
{
    struct bench *bench = self;
    bench->tasks.record(bench->tasks.self, frame);
    bench->busy_ns[frame->frame] = rt_now_ns() - bench->begin_ns;
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
    static struct rt_clock_real clock;
    rt_clock_real_open(&clock, RT_WAIT_HYBRID, 0, bench->frame.spec.period_ns / 2);
    bench->frame.clock = rt_clock_real_interface(&clock);
    rt_frame_run(&bench->frame);
}

static struct io_telemetry *start_telemetry(const struct bench *bench, const char *path, int cpu)
{
    static struct io_channel_spec channels[IO_CHANNEL_MAX];
    const struct dyn_model *model = bench->sim->vehicle->plant.model;
    struct sim_record_jobs jobs;
    sim_job_names(bench->sim->spec, &bench->sim->inject, &jobs);
    sim_record_channels(bench->sim->spec, dyn_model_nq(model), dyn_model_nv(model), &jobs,
                        channels);
    const size_t size = io_telemetry_size(channels, bench->sim->layout.count);
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, size);
    struct io_telemetry *telemetry = io_telemetry_place(channels, bench->sim->layout.count, mem);
    const struct rt_thread_spec spec = {.name = "telemetry", .policy = SCHED_OTHER, .cpu = cpu};
    RT_CHECK(io_telemetry_start(telemetry, path, &spec, NULL, NULL, 0) == 0);
    return telemetry;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Median over the windows of one kind. */
static uint64_t median_ns(const struct bench *bench, uint64_t kind)
{
    uint64_t *values = calloc(bench->frame.frames + 1, sizeof *values);
    size_t count = 0;
    RT_CHECK(values);
    for (uint64_t frame = 0; frame < bench->frame.frames; frame++) {
        if (frame / WINDOW % 2 == kind)
            values[count++] = bench->busy_ns[frame];
    }
    qsort(values, count, sizeof *values, by_size);
    const uint64_t median = count ? values[count / 2] : 0;
    free(values);
    return median;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    static struct rt_machine machine;
    struct rt_core_plan plan;
    struct cfg_scenario *scenario;
    char error[CFG_ERROR_MAX], refused[RT_REASON_MAX];
    if (argc < 3 || argc > 4) {
        fputs("usage: bench_log SCENARIO LOG [FRAMES]\n", stderr);
        return EXIT_USAGE;
    }
    if (cfg_scenario_load(argv[1], NULL, 0, &scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (place_threads_plan(scenario, &machine, &plan))
        return EXIT_BAD_INPUT;
    (void)rt_lock_memory(refused);
    const uint64_t frames = argc == 4 ? strtoull(argv[3], NULL, 10) : 20000;
    bench.sim = sim_create(&scenario->spec);
    bench.tasks = sim_tasks(bench.sim);
    bench.busy_ns = calloc(frames + 1, sizeof *bench.busy_ns);
    RT_CHECK(bench.busy_ns);
    bench.telemetry[0] = start_telemetry(&bench, NULL, plan.housekeeping_cpu);
    bench.telemetry[1] = start_telemetry(&bench, argv[2], plan.housekeeping_cpu);
    bench.frame.spec = (struct rt_frame_spec){
        .period_ns = scenario->spec.period_ns, .frame_count = frames, .commit = RT_COMMIT_GRID};
    bench.frame.schedule = bench.sim->schedule;
    bench.frame.tasks = (struct rt_frame_tasks){.self = &bench,
                                                .commit = commit,
                                                .latch = latch,
                                                .record = record,
                                                .invalidate_outputs = invalidate_outputs};

    struct rt_thread thread;
    const struct rt_thread_spec spec = {.name = "frame",
                                        .policy = SCHED_FIFO,
                                        .priority = scenario->spec.frame_priority,
                                        .cpu = plan.frame_cpu};
    RT_CHECK(rt_thread_start(&thread, &spec, run_bench, &bench) == 0);
    rt_thread_join(&thread);
    struct io_log_result result;
    for (int i = 0; i < 2; i++)
        io_telemetry_stop(bench.telemetry[i], NULL, 0, &result);
    printf("%llu %llu\n", (unsigned long long)median_ns(&bench, 1),
           (unsigned long long)median_ns(&bench, 0));
    return result.error ? EXIT_VERDICT_NO : EXIT_OK;
}
