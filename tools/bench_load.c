/*
 * The log under load: so many signals, in a few channels, recorded in every frame.
 *
 *      bench_load LOG SIGNALS CHANNELS RATE_HZ FRAMES written|drained|none|alternate
 *
 * A frame advances every signal by one step of its own oscillator, copies them into the rings and
 * sleeps to the next release.  written: with a log.  drained: the rings are emptied and nothing
 * is kept.  none: not even copied.  alternate: every 50 ms the records change between the first
 * two, so that both see the same machine.  RATE_HZ 0: no waiting, except for room in the rings.
 *
 * prints JSON: records, dropped and bytes of the log, missed releases, and the median busy time of
 * the frames that were written, and of the others.
 *
 * Tested by tests/scenario/commands/test_bench_figures.py.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/log/telemetry.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/machine/machine.h"
#include "tools/airbearing/command.h"

enum { DRAINED, WRITTEN, KINDS };
static const double WINDOW_S = 0.05, RING_S = 2.0;

struct bench {
    int signals, channels, per_channel;
    uint64_t period_ns, frames, window; /* frames */
    const char *mode;
    double *position, *velocity, *stiffness;
    struct io_telemetry *telemetry[KINDS];
    uint64_t *busy_ns; /* by frame */
    uint64_t missed;
};

/* The telemetry for the frame's records; NULL: none. */
static struct io_telemetry *telemetry_of(const struct bench *bench, uint64_t frame)
{
    if (strcmp(bench->mode, "alternate") == 0)
        return bench->telemetry[frame / bench->window % 2];
    return strcmp(bench->mode, "none") == 0      ? NULL
           : strcmp(bench->mode, "written") == 0 ? bench->telemetry[WRITTEN]
                                                 : bench->telemetry[DRAINED];
}

static void step_once(struct bench *bench)
{
    for (int i = 0; i < bench->signals; i++) {
        bench->velocity[i] -= bench->stiffness[i] * bench->position[i];
        bench->position[i] += bench->velocity[i];
    }
}

static void copy_signals(const struct bench *bench, struct io_telemetry *telemetry,
                         uint64_t log_time_ns)
{
    const size_t size = (size_t)bench->per_channel * sizeof(double);
    for (int c = 0; c < bench->channels; c++) {
        void *record = io_telemetry_claim(telemetry, c, log_time_ns);
        if (!record)
            continue;
        memcpy(record, bench->position + (size_t)c * (size_t)bench->per_channel, size);
        io_telemetry_push(telemetry, c);
    }
}

/* One frame, found by its name when instructions are counted. */
__attribute__((noinline)) void bench_frame(struct bench *bench, uint64_t frame);
void bench_frame(struct bench *bench, uint64_t frame)
{
    struct io_telemetry *telemetry = telemetry_of(bench, frame);
    step_once(bench);
    if (telemetry)
        copy_signals(bench, telemetry, frame * bench->period_ns);
}

static void wait_for_room(const struct bench *bench, uint64_t frame)
{
    const struct io_telemetry *telemetry = telemetry_of(bench, frame);
    const struct timespec pause = {.tv_nsec = 200000};
    for (int c = 0; telemetry && c < bench->channels; c++)
        while (!io_telemetry_has_room(telemetry, c))
            nanosleep(&pause, NULL);
}

static void sleep_until(uint64_t ns)
{
    const struct timespec at = {.tv_sec = (time_t)(ns / 1000000000u),
                                .tv_nsec = (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
    }
}

static void run_bench(void *self)
{
    struct bench *bench = self;
    uint64_t release_ns = rt_now_ns();
    for (uint64_t frame = 0; frame < bench->frames; frame++) {
        if (bench->window == 0)
            wait_for_room(bench, frame);
        const uint64_t begin_ns = rt_now_ns();
        bench_frame(bench, frame);
        const uint64_t end_ns = rt_now_ns();
        bench->busy_ns[frame] = end_ns - begin_ns;
        if (bench->window == 0)
            continue;
        release_ns += bench->period_ns;
        while (release_ns <= end_ns) { /* a missed release is lost, as in a run */
            release_ns += bench->period_ns;
            bench->missed++;
        }
        sleep_until(release_ns);
    }
}

static struct io_telemetry *start_telemetry(const struct bench *bench, const char *path, int cpu,
                                            double rate_hz)
{
    static struct io_channel_spec channels[IO_CHANNEL_MAX];
    static char definition[64];
    snprintf(definition, sizeof definition, "float64[%d] signal\n", bench->per_channel);
    for (int c = 0; c < bench->channels; c++) {
        channels[c] = (struct io_channel_spec){
            .schema = "airbearing_msgs/msg/Load",
            .definition = definition,
            .payload_size = (uint32_t)bench->per_channel * (uint32_t)sizeof(double),
            .depth = (uint32_t)(RING_S * (rate_hz > 0.0 ? rate_hz : 250.0)),
        };
        snprintf(channels[c].topic, sizeof channels[c].topic, "/load/%d", c);
    }
    const size_t size = io_telemetry_size(channels, bench->channels);
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, size);
    struct io_telemetry *telemetry = io_telemetry_place(channels, bench->channels, mem);
    const struct rt_thread_spec spec = {.name = "telemetry", .policy = SCHED_OTHER, .cpu = cpu};
    const int failure = io_telemetry_start(telemetry, path, &spec, NULL, NULL, 0);
    if (failure) {
        fprintf(stderr, "bench_load: %s: %s\n", path, strerror(-failure));
        exit(EXIT_BAD_INPUT);
    }
    return telemetry;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Median busy time of the frames with this telemetry. */
static uint64_t median_ns(const struct bench *bench, const struct io_telemetry *telemetry)
{
    uint64_t *values = calloc(bench->frames + 1, sizeof *values);
    size_t count = 0;
    RT_CHECK(values);
    for (uint64_t frame = 0; frame < bench->frames; frame++)
        if (telemetry_of(bench, frame) == telemetry)
            values[count++] = bench->busy_ns[frame];
    qsort(values, count, sizeof *values, by_size);
    const uint64_t median = count ? values[count / 2] : 0;
    free(values);
    return median;
}

static void place_bench(struct bench *bench)
{
    const size_t count = (size_t)bench->signals;
    bench->position = calloc(3 * count, sizeof(double));
    bench->busy_ns = calloc(bench->frames + 1, sizeof *bench->busy_ns);
    RT_CHECK(bench->position && bench->busy_ns);
    bench->velocity = bench->position + count;
    bench->stiffness = bench->velocity + count;
    for (int i = 0; i < bench->signals; i++) {
        bench->position[i] = 1.0 + 0.001 * i;
        bench->stiffness[i] = 1e-4 * (1.0 + 0.37 * (i % 97));
    }
}

int main(int argc, char **argv)
{
    static struct bench bench;
    static struct rt_machine machine;
    struct rt_core_plan plan;
    char refused[RT_REASON_MAX];
    if (argc != 7) {
        fputs("usage: bench_load LOG SIGNALS CHANNELS RATE_HZ FRAMES "
              "written|drained|none|alternate\n",
              stderr);
        return EXIT_USAGE;
    }
    bench.channels = atoi(argv[3]);
    bench.per_channel = bench.channels > 0 ? atoi(argv[2]) / bench.channels : 0;
    bench.signals = bench.per_channel * bench.channels;
    const double rate_hz = atof(argv[4]);
    bench.frames = strtoull(argv[5], NULL, 10);
    bench.mode = argv[6];
    if (bench.signals < 1 || bench.channels > IO_CHANNEL_MAX || bench.frames < 1 || rate_hz < 0.0)
        return EXIT_USAGE;
    bench.period_ns = rate_hz > 0.0 ? (uint64_t)llround(1e9 / rate_hz) : 1000000;
    bench.window = (uint64_t)(WINDOW_S * rate_hz);
    rt_machine_read(&machine);
    if (rt_core_plan(&machine, -1, -1, true, &plan) != 0)
        return EXIT_BAD_INPUT;
    (void)rt_lock_memory(refused);
    place_bench(&bench);
    bench.telemetry[DRAINED] = start_telemetry(&bench, NULL, plan.housekeeping_cpu, rate_hz);
    bench.telemetry[WRITTEN] = start_telemetry(&bench, argv[1], plan.housekeeping_cpu, rate_hz);

    struct rt_thread thread;
    const struct rt_thread_spec spec = {.name = "frame",
                                        .policy = rate_hz > 0.0 ? SCHED_FIFO : SCHED_OTHER,
                                        .priority = rate_hz > 0.0 ? 90 : 0,
                                        .cpu = plan.frame_cpu};
    RT_CHECK(rt_thread_start(&thread, &spec, run_bench, &bench) == 0);
    rt_thread_join(&thread);
    struct io_log_result result[KINDS];
    for (int i = 0; i < KINDS; i++)
        io_telemetry_stop(bench.telemetry[i], NULL, 0, &result[i]);
    printf("{\"records\": %llu, \"dropped\": %llu, \"bytes\": %llu, \"error\": %d, "
           "\"missed\": %llu, \"busy_written_ns\": %llu, \"busy_drained_ns\": %llu}\n",
           (unsigned long long)result[WRITTEN].records,
           (unsigned long long)(result[WRITTEN].dropped + result[DRAINED].dropped),
           (unsigned long long)result[WRITTEN].bytes, -result[WRITTEN].error,
           (unsigned long long)bench.missed,
           (unsigned long long)median_ns(&bench, bench.telemetry[WRITTEN]),
           (unsigned long long)median_ns(&bench, bench.telemetry[DRAINED]));
    return result[WRITTEN].error ? EXIT_VERDICT_NO : EXIT_OK;
}
