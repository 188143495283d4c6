/*
 * The tasks that a simulation does for the frame loop (rt/frame.h): outputs leave, replies are
 * awaited, inputs are latched, jobs run, the record is written.  The jobs are in jobs.c.
 *
 * Tested by tests/rt/executive/test_sim.c.
 */
#include <string.h>
#include <time.h>

#include "rt/check.h"
#include "rt/clock.h"
#include "rt/executive/sim_private.h"

static bool boundary(void *self, uint64_t frame)
{
    const struct sim *sim = self;
    return sim->boundary.boundary(sim->boundary.self, frame);
}

static void latch(void *self, uint64_t frame, bool held)
{
    struct sim *sim = self;
    if (!held)
        sim->source.read_inputs(sim->source.self, sim, frame);
    sim_publish_faults(sim, frame + sim->schedule->frame_offset);
}

static void commit(void *self, uint64_t frame)
{
    struct sim *sim = self;
    const uint64_t counted = frame + sim->schedule->frame_offset;
    for (int i = 0; i < sim->spec->link_count; i++) {
        struct io_sample *sample = &sim->scratch.sample[i];
        const struct io_sample *leaves = sim_delay_line_pass(&sim->scratch.delay_out[i], frame,
                                                             counted, sample->due ? sample : NULL);
        if (sim->links && leaves)
            io_link_commit(sim->links, i, leaves);
        if (sample->due == 0)
            continue;
        if (sample->due & IO_SEND_SENSOR) {
            sample->fields = 0;
            sample->trace = (struct io_trace){0};
        }
        sample->due = 0;
    }
}

static bool stop_requested(const struct sim *sim)
{
    return sim->stop && atomic_load_explicit(sim->stop, memory_order_relaxed);
}

/* A frame thread that waits checks for a stop meanwhile. */
static void heed(void *self)
{
    struct sim *sim = self;
    if (sim->boundary.heed)
        sim->boundary.heed(sim->boundary.self, sim->scratch.next_frame);
}

/* Lockstep: every link that was sent a sensor message owes a reply.  A wait that the end of the run
 * cut short has missed none. */
static bool await(void *self, uint64_t frame)
{
    struct sim *sim = self;
    bool all = true;
    sim->scratch.next_frame = frame;
    if (sim->links)
        io_links_set_await_hook(sim->links, (struct io_await_hook){sim, heed});
    for (int i = 0; sim->links && i < sim->spec->link_count; i++) {
        const struct sim_link *link = &sim->spec->links[i];
        const uint32_t every = link->every[IO_MESSAGE_SENSOR];
        const bool replies = !io_protocol_traits(link->spec.protocol)->hands;
        const bool owed = replies && every && frame > 0 && frame % every == 0;
        if (!owed || sim->scratch.sensor_withheld[i])
            continue;
        /* One that is lost paces nothing any more: the frames go on at about the pace of the clock
         * until it speaks again. */
        const bool lost = sim->vehicle->link[i].lost;
        const uint64_t step_ns = every * sim->spec->period_ns;
        const uint64_t limit_ns =
            lost && step_ns < link->wait_limit_ns ? step_ns : link->wait_limit_ns;
        sim->scratch.unanswered[i] =
            !io_link_await(sim->links, i, sim->scratch.sample[i].sim_us, limit_ns);
        all = all && (lost || !sim->scratch.unanswered[i] || stop_requested(sim));
    }
    return all;
}

/* A run that no wall clock paces would outrun any log: it waits instead of dropping.  But
 * a run that is to stop does so, even if the disk takes nothing any more. */
static void wait_for_room(struct sim *sim)
{
    const struct timespec pause = {.tv_nsec = 200000};
    for (int i = 0; i <= sim->layout.job; i++) { /* acts see to their room themselves */
        while (!io_telemetry_has_room(sim->telemetry, i) && !stop_requested(sim)) {
            if (sim->watchdog)
                rt_watchdog_kick(sim->watchdog, rt_now_ns()); /* slow is not hung */
            heed(sim);
            nanosleep(&pause, NULL);
        }
    }
}

static void record(void *self, const struct rt_frame_record *frame)
{
    struct sim *sim = self;
    if (!sim->telemetry)
        return;
    sim_log_jobs(sim, frame->frame);
    struct sim_record_frame *out =
        io_telemetry_claim(sim->telemetry, sim->layout.frame, frame->frame * sim->spec->period_ns);
    if (!out)
        return;
    out->frame = frame->frame;
    out->release_ns = frame->release_ns;
    out->start_ns = frame->start_ns;
    out->end_ns = frame->end_ns;
    out->state_hash = sim->scratch.hash;
    out->missed = frame->missed;
    out->cause = frame->cause;
    out->held = frame->held;
    out->paused = frame->paused;
    io_telemetry_push(sim->telemetry, sim->layout.frame);
    sim->scratch.next_frame = frame->frame + 1;
    if (sim->spec->pace != RT_PACE_REAL)
        wait_for_room(sim);
}

/* A row waits where there is no room for it: the recorder knows what it loses then. */
static bool drain(void *self)
{
    const struct sim *sim = self;
    if (sim->telemetry && !io_telemetry_has_room(sim->telemetry, sim->layout.event))
        return false;
    const struct rt_flight_recorder_row *row = rt_flight_recorder_take(sim->recorder);
    if (!row || !sim->telemetry)
        return row != NULL;
    void *out =
        io_telemetry_claim(sim->telemetry, sim->layout.event, row->frame * sim->spec->period_ns);
    RT_CHECK(out);
    memcpy(out, row, sim->layout.event_size);
    io_telemetry_push(sim->telemetry, sim->layout.event);
    return true;
}

void sim_flush_flight_recorder(struct sim *sim)
{
    while (drain(sim))
        continue;
}

static void invalidate_outputs(void *self)
{
    const struct sim *sim = self;
    if (sim->links)
        io_links_invalidate_outputs(sim->links);
}

struct rt_frame_tasks sim_tasks(struct sim *sim)
{
    return (struct rt_frame_tasks){.self = sim,
                                   .commit = commit,
                                   .await = await,
                                   .boundary = boundary,
                                   .latch = latch,
                                   .record = record,
                                   .drain = drain,
                                   .invalidate_outputs = invalidate_outputs};
}
