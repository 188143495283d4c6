#include "tools/airbearing/run/run_frames.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/alloc.h"
#include "rt/panic.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/ending.h"
#include "tools/airbearing/run/sleep_ms.h"

/* The policy and priority of this thread; another process may have changed them since the start. */
static void record_end_policy(struct run *run)
{
    struct sched_param param = {0};
    run->end_policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    run->end_priority = sched_getparam(0, &param) == 0 ? param.sched_priority : 0;
}

static void frame_thread(void *self)
{
    struct run *run = self;
    rt_clock_real_open(&run->clock, run->scenario->spec.wait, run->scenario->spec.lead_ns,
                       run->scenario->spec.period_ns / 2);
    run->frame->clock = rt_clock_real_interface(&run->clock);
    sim_warm_up(run->sim);
    if (run->links)
        io_links_allow_spin(run->links, run->plan.frame_cpu >= 0 && !run->plan.shared);
    rt_cause_finder_open(&run->cause_finder, &run->clock, run->plan.frame_cpu);
    rt_alloc_watch();
    sim_operator_ignore_earlier_stops(run->sim_operator);
    rt_frame_run(run->frame);
    sim_flush_flight_recorder(run->sim);
    rt_alloc_unwatch();
    run->page_faults = rt_cause_finder_faults(&run->cause_finder);
    run->switches = rt_cause_finder_switches(&run->cause_finder);
    rt_cause_finder_close(&run->cause_finder);
    record_end_policy(run);
    atomic_store_explicit(&run->finished, true, memory_order_release);
}

static void fill_frame(struct run *run)
{
    const struct cfg_scenario *scenario = run->scenario;
    struct rt_frame *frame = run->frame;
    run->source.links = run->links;
    run->source.stop = &frame->stop;
    run->source.pulser = scenario->spec.pulse.every > 0 ? &run->sync_pulse : NULL;
    run->sim->source = sim_live_input_interface(&run->source);
    frame->spec = (struct rt_frame_spec){
        .period_ns = scenario->spec.period_ns,
        .frame_count = (uint64_t)llround(scenario->spec.seconds * scenario->spec.rate_hz),
        .pace = scenario->spec.pace,
        .overrun = scenario->spec.overrun,
        .commit = scenario->spec.commit,
        .max_catch_up = scenario->spec.max_catch_up,
    };
    if (scenario->spec.lock.link >= 0 && scenario->spec.pace == RT_PACE_REAL) {
        rt_phase_lock_begin(&run->phase_lock, &scenario->spec.lock.spec);
        frame->phase_lock = run->source.phase_lock = &run->phase_lock;
    }
    frame->tasks = sim_tasks(run->sim);
    frame->schedule = run->sim->schedule;
    frame->recorder = run->sim->recorder;
    frame->cause_finder = &run->cause_finder;
    frame->watchdog = &run->watchdog;
    frame->live = run->frame_live;
    frame->live_every = run->sim->live_every;
    run->sim->watchdog = &run->watchdog;
    run->sim->stop = &frame->stop;
}

int run_frames_start(struct run *run)
{
    const bool fast = run->scenario->spec.pace == RT_PACE_FAST;
    const struct rt_thread_spec spec = {.name = "frame",
                                        .policy = fast ? SCHED_OTHER : SCHED_FIFO,
                                        .priority = fast ? 0 : run->scenario->spec.frame_priority,
                                        .cpu = run->plan.frame_cpu};
    fill_frame(run);
    const int failure = rt_thread_start(&run->frame_thread, &spec, frame_thread, run);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: cannot start the frame thread: %s\n", strerror(-failure));
    return EXIT_BAD_INPUT;
}

static bool frames_finished(const struct run *run)
{
    return atomic_load_explicit(&run->finished, memory_order_acquire);
}

/* The outputs were invalidated, so the run is over.  A frame thread that was only kept off its core
 * returns, reads the stop flag and ends in order; one that does not within a second is stuck. */
static void end_hung(struct run *run)
{
    run->end = RUN_HUNG;
    atomic_store_explicit(&run->frame->stop, true, memory_order_relaxed);
    for (int i = 0; i < 100 && !frames_finished(run); i++)
        sleep_ms(10);
    run->stuck = !frames_finished(run);
}

void run_frames_watch(struct run *run)
{
    while (!frames_finished(run)) {
        sleep_ms(20);
        if (rt_stop_signal()) {
            atomic_store_explicit(&run->frame->stop, true, memory_order_relaxed);
            if (run->links)
                io_links_interrupt(run->links);
        }
        if (rt_watchdog_expired(&run->watchdog, rt_now_ns()) && run->links)
            io_links_invalidate_outputs(run->links);
        if (atomic_load_explicit(&run->watchdog.expired, memory_order_relaxed)) {
            end_hung(run);
            break;
        }
        ending_watch_controller(run);
    }
}
