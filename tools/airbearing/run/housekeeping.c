#include "tools/airbearing/run/housekeeping.h"

#include <stdio.h>
#include <string.h>

#include "rt/clock.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/terminal.h"

/* Longest wait at the end of a run for a thread that hangs in a call. */
static const uint64_t DISPLAY_LIMIT_NS = 1000000000, FILES_LIMIT_NS = 30000000000;

/* Acquire: begin_ns is visible once `begun` is. */
static bool has_begun(const struct run *run)
{
    return atomic_load_explicit(&run->housekeeping.begun, memory_order_acquire);
}

static void run_file_jobs(void *self)
{
    const struct run *run = self;
    if (has_begun(run))
        sim_operator_run_file_jobs(run->sim_operator);
}

/* Log a reading of all clocks at one instant; here, so that it costs the frames no time. */
static void log_clocks(const struct run *run)
{
    if (run->scenario->spec.pace != RT_PACE_REAL)
        return;
    struct rt_clock_sample sample;
    rt_clock_sample_read(&sample);
    const int channel = run->layout.clock;
    struct sim_record_clock *out = io_telemetry_claim(
        run->telemetry, channel, sample.monotonic_ns - run->housekeeping.begin_ns);
    if (!out)
        return;
    out->monotonic_ns = sample.monotonic_ns;
    out->raw_ns = sample.raw_ns;
    out->realtime_ns = sample.realtime_ns;
    out->window_ns = sample.window_ns;
    io_telemetry_push(run->telemetry, channel);
}

/* The run status is published here and not from the frames' records, because a pause has none. */
static void publish_run_status(const struct run *run)
{
    uint32_t struck;
    const uint32_t on = sim_take_fault_flags(run->sim_fault_flags, &struck);
    serve_run_status(run->serve, sim_operator_is_paused(run->sim_operator), on, struck);
}

/* The terminal comes last: it may block, and the rest does not. */
static void update_display(void *self)
{
    const struct run *run = self;
    if (!has_begun(run))
        return;
    log_clocks(run);
    publish_run_status(run);
    terminal_draw(run);
}

int housekeeping_open(struct run *run)
{
    struct run_housekeeping *housekeeping = &run->housekeeping;
    const int cpu = run->plan.housekeeping_cpu;
    int failure = periodic_thread_start(&housekeeping->files, "files", cpu, run_file_jobs, run);
    if (failure == 0)
        failure =
            periodic_thread_start(&housekeeping->display, "display", cpu, update_display, run);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: cannot start the housekeeping thread: %s\n",
            strerror(-failure));
    return EXIT_BAD_INPUT;
}

void housekeeping_begin(struct run *run)
{
    run->housekeeping.begin_ns = rt_now_ns();
    atomic_store_explicit(&run->housekeeping.begun, true, memory_order_release);
}

void housekeeping_close(struct run *run)
{
    struct run_housekeeping *housekeeping = &run->housekeeping;
    housekeeping->display_hung = !periodic_thread_stop(&housekeeping->display, DISPLAY_LIMIT_NS);
    housekeeping->files_hung = !periodic_thread_stop(&housekeeping->files, FILES_LIMIT_NS);
    sim_operator_end(run->sim_operator);
    if (!housekeeping->display_hung) {
        publish_run_status(run);
        terminal_end();
    }
    sim_operator_result(run->sim_operator, &run->acts);
}

void housekeeping_abandon(struct run *run)
{
    (void)periodic_thread_stop(&run->housekeeping.display, DISPLAY_LIMIT_NS);
    (void)periodic_thread_stop(&run->housekeeping.files, FILES_LIMIT_NS);
}
