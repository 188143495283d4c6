#include "tools/airbearing/run/housekeeping.h"

#include <stdio.h>
#include <string.h>

#include "rt/clock.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/run.h"

/* How long the end of a run waits for who may hang in a call. */
static const uint64_t DISPLAY_LIMIT_NS = 1000000000, FILES_LIMIT_NS = 30000000000;

/* Acquire: with the word comes begin_ns. */
static bool has_begun(const struct run *run)
{
    return atomic_load_explicit(&run->house.begun, memory_order_acquire);
}

static void keep_files(void *self)
{
    const struct run *run = self;
    if (has_begun(run))
        operator_keep_house(run->desk);
}

/* The clocks side by side, into the log; what the frames need no time for. */
static void log_clocks(const struct run *run)
{
    if (run->scenario->pace != RT_PACE_REAL)
        return;
    struct rt_clock_sample sight;
    rt_clock_sample_read(&sight);
    const int channel = run->layout.clock;
    struct record_clock *out =
        io_telemetry_claim(run->telemetry, channel, sight.monotonic_ns - run->house.begin_ns);
    if (!out)
        return;
    out->monotonic_ns = sight.monotonic_ns;
    out->raw_ns = sight.raw_ns;
    out->realtime_ns = sight.realtime_ns;
    out->window_ns = sight.window_ns;
    io_telemetry_push(run->telemetry, channel);
}

/* How the desk stands is no record of the frames: in a pause there are none. */
static void show_desk(const struct run *run)
{
    uint32_t struck;
    const uint32_t on = rig_faults(run->rig_shown, &struck);
    serve_desk(run->serve, operator_paused(run->desk), on, struck);
}

/* The terminal last: what is before it never waits long. */
static void show_way(void *self)
{
    const struct run *run = self;
    if (!has_begun(run))
        return;
    log_clocks(run);
    show_desk(run);
    status_draw(run);
}

int house_open(struct run *run)
{
    struct house *house = &run->house;
    const int cpu = run->plan.housekeeping_cpu;
    int failure = worker_start(&house->files, "files", cpu, keep_files, run);
    if (failure == 0)
        failure = worker_start(&house->display, "display", cpu, show_way, run);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: no thread to keep house: %s\n", strerror(-failure));
    return EXIT_BAD_INPUT;
}

void house_begin(struct run *run)
{
    run->house.begin_ns = rt_now_ns();
    atomic_store_explicit(&run->house.begun, true, memory_order_release);
}

void house_close(struct run *run)
{
    struct house *house = &run->house;
    house->display_hung = !worker_stop(&house->display, DISPLAY_LIMIT_NS);
    house->files_hung = !worker_stop(&house->files, FILES_LIMIT_NS);
    operator_end(run->desk);
    if (!house->display_hung) {
        show_desk(run);
        status_end();
    }
    operator_result(run->desk, &run->acts);
}

void house_abandon(struct run *run)
{
    (void)worker_stop(&run->house.display, DISPLAY_LIMIT_NS);
    (void)worker_stop(&run->house.files, FILES_LIMIT_NS);
}
