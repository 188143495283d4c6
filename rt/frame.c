#include "rt/frame.h"

#include <string.h>

#include "rt/check.h"
#include "rt/probe.h"

/*
 * Drift is the rate of sim time against the raw clock at the starts, by least squares.  A late
 * wake does not show drift, so of every DRIFT_BLOCK frames only the most punctual one is a point;
 * this also keeps the raw clock to about four readings in 64 frames.  Running means and co-moments
 * of the small difference sim - clock lose no digits however long the run.  Scatter over runs of 5
 * s on a noisy machine: 0.01 ppm with the hybrid wait, 2 ppm with the plain one.
 *
 * Lost releases are added to sim, so that it runs on with the clock over an outage.  A block whose
 * best frame is a period late had an outage and is left out.  A block that the end of the run cut
 * short has fewer frames to choose from and the longest lever, so it counts only when it is half
 * full or the run has little else.
 */
enum { DRIFT_BLOCK = 64, DRIFT_POINTS_FEW = 3 };

struct drift {
    uint64_t first_ns;                                /* raw clock at the first point */
    double count, mean_x, mean_z, xx, xz;             /* x: clock since first_ns; z: sim - clock */
    uint64_t best_error_ns, best_raw_ns, best_sim_ns; /* of this block */
    uint64_t block;                                   /* frames seen in it */
    bool any;
};

/* Two rows of the recorder are copied in well under this, on any machine. */
static const uint64_t DRAIN_SLACK_NS = 10000;

/* Where the loop stands on the grid. */
struct grid {
    uint64_t first_ns;            /* release of slot 0; a phase lock moves it */
    int64_t moved_ns;             /* by so much so far */
    uint64_t slot;                /* of the frame to run next; ahead of its number by the misses */
    uint64_t missed;              /* releases dropped right before it */
    uint64_t missed_before_pause; /* the same, before the pause that it is held back by */
    uint64_t paused;              /* releases of that pause so far */
    uint32_t held;                /* which frame of a catch-up it is; 0: fresh */
    enum rt_cause cause;          /* of the frame that made the catch-up necessary */
};

struct loop {
    struct rt_frame *frame;
    struct grid grid;
    struct drift drift;
    bool pending; /* the newest sample has not left yet */
    uint64_t pending_frame;
    uint64_t sent_ns, await_ns; /* of this frame, for the recorder; 0: none */
    bool unanswered;
};

static uint64_t now_ns(const struct rt_frame *frame)
{
    return frame->clock.now_ns(frame->clock.self);
}

static uint64_t max_ns(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* --- drift ------------------------------------------------------------------------------------ */

static void drift_close_block(struct drift *drift, uint64_t period_ns)
{
    drift->block = 0;
    if (drift->best_error_ns >= period_ns)
        return;
    if (drift->count == 0.0)
        drift->first_ns = drift->best_raw_ns;
    const double x = (double)(int64_t)(drift->best_raw_ns - drift->first_ns);
    const double z = (double)(int64_t)(drift->best_sim_ns - drift->best_raw_ns + drift->first_ns);
    drift->count += 1.0;
    const double dx = x - drift->mean_x;
    drift->mean_x += dx / drift->count;
    drift->mean_z += (z - drift->mean_z) / drift->count;
    drift->xx += dx * (x - drift->mean_x);
    drift->xz += dx * (z - drift->mean_z);
}

/* Right after the start stamp of a fresh frame.  Missed and paused releases count as if they had
 * run, so that sim and clock go on together. */
static void drift_add(struct drift *drift, const struct rt_frame *frame,
                      const struct rt_frame_record *record)
{
    const uint64_t error_ns = record->start_ns - record->release_ns;
    if (drift->block == 0 || error_ns < drift->best_error_ns) {
        const uint64_t raw_ns =
            frame->clock.raw_ns == NULL ? record->start_ns : frame->clock.raw_ns(frame->clock.self);
        drift->best_error_ns = error_ns;
        drift->best_raw_ns = raw_ns;
        drift->best_sim_ns =
            (record->frame + frame->missed + frame->paused) * frame->spec.period_ns;
    }
    if (++drift->block == DRIFT_BLOCK)
        drift_close_block(drift, frame->spec.period_ns);
}

static double drift_ppm(struct drift *drift, uint64_t period_ns)
{
    if (drift->block >= DRIFT_BLOCK / 2 ||
        (drift->block > 0 && drift->count < (double)DRIFT_POINTS_FEW))
        drift_close_block(drift, period_ns);
    return drift->xx > 0.0 ? drift->xz / drift->xx * 1e6 : 0.0;
}

/* --- one frame -------------------------------------------------------------------------------- */

static void commit_pending(struct loop *loop)
{
    if (!loop->pending)
        return;
    loop->pending = false;
    loop->frame->tasks.commit(loop->frame->tasks.self, loop->pending_frame);
    loop->sent_ns = loop->frame->recorder == NULL ? 0 : now_ns(loop->frame);
    RT_PROBE(commit, loop->pending_frame, loop->sent_ns);
}

static void latch_and_run_jobs(struct loop *loop, const struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    RT_PROBE(latch, record->frame, record->start_ns);
    frame->tasks.latch(frame->tasks.self, record->frame, record->held);
    rt_schedule_run(frame->schedule, record->frame);
    RT_PROBE(step, record->frame, frame->schedule->begin_ns);
    loop->pending = true;
    loop->pending_frame = record->frame;
}

/* Relaxed: the request itself is passed by the boundary task's own means. */
static bool is_held_at_boundary(struct rt_frame *frame, uint64_t k)
{
    return atomic_load_explicit(&frame->boundary_wanted, memory_order_relaxed) &&
           frame->tasks.boundary(frame->tasks.self, k);
}

static void kick_watchdog(struct rt_frame *frame, uint64_t start_ns)
{
    if (frame->watchdog != NULL)
        rt_watchdog_kick(frame->watchdog, start_ns);
}

static void publish_live(struct rt_frame *frame, uint64_t k)
{
    if (frame->live == NULL || k % frame->live_every != 0)
        return;
    struct rt_frame_live *live = rt_mailbox_back(frame->live);
    *live = (struct rt_frame_live){
        .frame = k,
        .overruns = frame->overruns,
        .missed = frame->missed,
        .start_error_ns = rt_histogram_quantile(&frame->start_error_ns, 0.5),
        .busy_ns = rt_histogram_quantile(&frame->busy_ns, 0.5),
        .margin_ns_min = frame->margin_ns_min,
    };
    (void)rt_mailbox_publish(frame->live);
}

/* Fill the recorder's row of this frame; the row of a late frame, or of one without a reply, is
 * requested. */
static void fill_recorder_row(struct loop *loop, const struct rt_frame_record *record,
                              uint64_t recorded_ns)
{
    struct rt_flight_recorder *recorder = loop->frame->recorder;
    const struct rt_schedule *schedule = loop->frame->schedule;
    if (recorder == NULL)
        return;
    struct rt_flight_recorder_row *row = rt_flight_recorder_current(recorder);
    row->frame = record->frame;
    row->release_ns = record->release_ns;
    row->start_ns = record->start_ns;
    row->await_ns = loop->await_ns;
    row->sent_ns = loop->sent_ns;
    row->jobs_ns = schedule->begin_ns;
    row->end_ns = record->end_ns;
    row->recorded_ns = recorded_ns;
    row->due = schedule->due;
    row->missed = record->missed;
    row->cause = record->cause;
    row->held = record->held;
    row->unanswered = loop->unanswered;
    memcpy(row->spent_ns, schedule->spent_ns, recorder->row_size - RT_FLIGHT_RECORDER_HEAD);
    if (record->cause != RT_CAUSE_NONE || loop->unanswered)
        rt_flight_recorder_request(recorder);
    rt_flight_recorder_finish(recorder);
    loop->sent_ns = loop->await_ns = 0;
}

static bool has_recorder_rows(const struct rt_frame *frame)
{
    return frame->recorder != NULL && rt_flight_recorder_has_requested(frame->recorder);
}

static void drain_recorder_rows(struct rt_frame *frame)
{
    for (int i = 0; i < RT_FLIGHT_RECORDER_DRAIN && frame->tasks.drain(frame->tasks.self); i++)
        continue;
}

/* Hand the record over and count the frame.  Busy has the frame up to end_ns and the taking of the
 * record, but not the search for a cause in between. */
static void record_frame(struct loop *loop, const struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    const uint64_t begin_ns = record->cause == RT_CAUSE_NONE ? record->end_ns : now_ns(frame);
    frame->tasks.record(frame->tasks.self, record);
    const uint64_t recorded_ns = max_ns(now_ns(frame), begin_ns);
    const uint64_t taking_ns = recorded_ns - begin_ns;
    fill_recorder_row(loop, record, recorded_ns);

    const uint64_t k = record->frame;
    if (frame->frames == 0 && frame->paused == 0)
        frame->first_release_ns = record->release_ns;
    frame->last_release_ns = record->release_ns;
    frame->frames++;
    rt_histogram_add(&frame->start_error_ns, record->start_ns - record->release_ns, k);
    rt_histogram_add(&frame->busy_ns, record->end_ns - record->start_ns + taking_ns, k);
}

/* --- real pace: the grid ---------------------------------------------------------------------- */

static uint64_t grid_release(const struct loop *loop, uint64_t slot)
{
    return loop->grid.first_ns + slot * loop->frame->spec.period_ns;
}

/* First slot, from `slot` on, whose release is not before at_ns. */
static uint64_t grid_slot_at(const struct loop *loop, uint64_t slot, uint64_t at_ns)
{
    const uint64_t period_ns = loop->frame->spec.period_ns;
    const int64_t after_ns = (int64_t)(at_ns - loop->grid.first_ns); /* slot 0 may lie before 0 */
    const uint64_t since_ns = after_ns > 0 ? (uint64_t)after_ns : 0;
    return max_ns(slot, since_ns / period_ns + (since_ns % period_ns != 0));
}

/* All releases from here on move by the correction of the phase lock. */
static void grid_move(struct loop *loop, const struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    frame->corrected_ns = loop->grid.moved_ns;
    if (frame->phase_lock == NULL)
        return;
    const int64_t move_ns = rt_phase_lock_step(frame->phase_lock, record->release_ns,
                                               UINT64_C(1) + record->missed + record->paused);
    loop->grid.first_ns += (uint64_t)move_ns;
    loop->grid.moved_ns += move_ns;
}

/* A late frame costs releases: run them back to back while the policy allows, else drop them. */
static void grid_advance(struct loop *loop, uint64_t end_ns)
{
    struct grid *grid = &loop->grid;
    grid->missed_before_pause = grid->paused = 0;
    const struct rt_frame_spec *spec = &loop->frame->spec;
    const uint64_t next = grid_slot_at(loop, grid->slot + 1, end_ns);
    const uint64_t lost = next - (grid->slot + 1);
    /* While boundary_wanted is set, the boundary task runs at every release, so no frame is caught
     * up. */
    const bool is_boundary_wanted =
        atomic_load_explicit(&loop->frame->boundary_wanted, memory_order_relaxed);
    if (lost > 0 && spec->overrun == RT_OVERRUN_CATCH_UP && grid->held < spec->max_catch_up &&
        !is_boundary_wanted) {
        grid->slot++;
        grid->held++;
        grid->missed = 0;
        return;
    }
    grid->slot = next;
    grid->held = 0;
    grid->missed = lost;
}

/* This release, and those that are past by now, belong to a pause. */
static void grid_pause(struct loop *loop, const struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    struct grid *grid = &loop->grid;
    const uint64_t next = grid_slot_at(loop, grid->slot + 1, now_ns(frame));
    if (frame->frames == 0 && frame->paused == 0)
        frame->first_release_ns = record->release_ns;
    frame->last_release_ns = grid_release(loop, next - 1);
    frame->paused += next - grid->slot;
    grid->paused += next - grid->slot;
    grid->missed_before_pause += grid->missed;
    grid->missed = 0;
    grid->slot = next;
}

static void count_margin(struct rt_frame *frame, const struct rt_frame_record *record)
{
    const uint64_t response_ns = record->end_ns - record->release_ns;
    const int64_t margin_ns = (int64_t)(frame->spec.period_ns - response_ns);
    if (frame->response_ns.count == 0 || margin_ns < frame->margin_ns_min) {
        frame->margin_ns_min = margin_ns;
        frame->margin_frame_min = record->frame;
    }
    rt_histogram_add(&frame->response_ns, response_ns, record->frame);
}

static enum rt_cause find_cause(struct rt_frame *frame, const struct rt_frame_record *record)
{
    const struct rt_evidence nothing = {0};
    const struct rt_lateness late = {
        .period_ns = frame->spec.period_ns,
        .start_error_ns = record->start_ns - record->release_ns,
        .busy_ns = record->end_ns - record->start_ns,
        .waited_ns = frame->waited_ns,
        .end_ns = record->end_ns,
    };
    return frame->cause_finder == NULL ? rt_cause_of(&late, &nothing, 0)
                                       : rt_cause_finder_find(frame->cause_finder, &late);
}

/* Was it late, and why?  Held frames are late for the reason that made them necessary. */
static void count_overrun(struct loop *loop, struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    count_margin(frame, record);
    if (frame->cause_finder != NULL)
        frame->cause_finder->waited_ns_total += frame->waited_ns;
    if (record->end_ns <= record->release_ns + frame->spec.period_ns)
        return;
    if (!record->held)
        loop->grid.cause = find_cause(frame, record);
    record->cause = (uint8_t)loop->grid.cause;
    RT_PROBE(overrun, record->frame, record->end_ns);
    frame->overruns++;
    frame->causes[loop->grid.cause]++;
}

/* In a catch-up only the last sample leaves: the one after which the grid is reached again, or the
 * last that the policy allows. */
static void commit_early(struct loop *loop, const struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    if (record->held && loop->grid.held < frame->spec.max_catch_up &&
        now_ns(frame) > record->release_ns + frame->spec.period_ns)
        return;
    commit_pending(loop);
}

/*
 * Wait for the release, start.  A clock that steps back shows a start before the release or an end
 * before the start: stamps never go back within a frame, so neither turns into a huge error.
 */
static void grid_start(struct loop *loop, struct rt_frame_record *record)
{
    struct rt_frame *frame = loop->frame;
    if (!record->held)
        frame->clock.wait_until_ns(frame->clock.self, record->release_ns);
    record->start_ns = max_ns(now_ns(frame), record->release_ns);
    frame->missed += loop->grid.missed;
    frame->caught_up += record->held;
    frame->waited_ns = 0;
    RT_PROBE(release, record->frame, record->release_ns);
    if (!record->held)
        drift_add(&loop->drift, frame, record);
    kick_watchdog(frame, record->start_ns);
}

/* False: it was held back. */
static bool grid_frame(struct loop *loop, uint64_t k)
{
    struct rt_frame *frame = loop->frame;
    const uint64_t missed = loop->grid.missed + loop->grid.missed_before_pause;
    struct rt_frame_record record = {
        .frame = k,
        .release_ns = grid_release(loop, loop->grid.slot),
        .missed = missed > UINT32_MAX ? UINT32_MAX : (uint32_t)missed,
        .paused = loop->grid.paused > UINT32_MAX ? UINT32_MAX : (uint32_t)loop->grid.paused,
        .held = loop->grid.held > 0,
    };
    grid_start(loop, &record);
    if (!record.held)
        commit_pending(loop);
    if (!record.held && is_held_at_boundary(frame, k)) {
        grid_pause(loop, &record);
        return false;
    }
    latch_and_run_jobs(loop, &record);
    if (frame->spec.commit == RT_COMMIT_EARLY)
        commit_early(loop, &record);
    record.end_ns = max_ns(now_ns(frame), record.start_ns);

    count_overrun(loop, &record);
    record_frame(loop, &record);
    grid_move(loop, &record);
    grid_advance(loop, record.end_ns);
    if (record.cause != RT_CAUSE_NONE && frame->spec.overrun == RT_OVERRUN_STOP)
        frame->end = RT_END_POLICY;
    return true;
}

static uint64_t slack_ns(const struct loop *loop)
{
    const uint64_t release_ns = grid_release(loop, loop->grid.slot);
    const uint64_t at_ns = now_ns(loop->frame);
    return max_ns(release_ns, at_ns) - at_ns;
}

/* In the slack, where there is time for it: a baseline for the cause finder, rows of the
 * recorder. */
static void grid_slack(struct loop *loop)
{
    struct rt_frame *frame = loop->frame;
    if (loop->grid.held > 0)
        return;
    if (frame->cause_finder != NULL)
        rt_cause_finder_refresh(frame->cause_finder, grid_release(loop, loop->grid.slot));
    if (has_recorder_rows(frame) && slack_ns(loop) >= DRAIN_SLACK_NS)
        drain_recorder_rows(frame);
}

/* The last sample leaves at its usual time, unless the outputs were invalidated. */
static void grid_close(struct loop *loop)
{
    struct rt_frame *frame = loop->frame;
    if (frame->end == RT_END_POLICY) {
        frame->tasks.invalidate_outputs(frame->tasks.self);
        return;
    }
    if (loop->pending && frame->spec.commit == RT_COMMIT_GRID) {
        const uint64_t slot = grid_slot_at(loop, loop->grid.slot, now_ns(frame));
        frame->clock.wait_until_ns(frame->clock.self, grid_release(loop, slot));
    }
    commit_pending(loop);
}

/* --- fast and lockstep: no grid --------------------------------------------------------------- */

static void await_reply(struct loop *loop, uint64_t k)
{
    struct rt_frame *frame = loop->frame;
    if (frame->tasks.await == NULL || k == 0)
        return;
    if (frame->watchdog != NULL)
        rt_watchdog_disarm(frame->watchdog); /* the far end may take long to reply */
    if (frame->recorder != NULL)
        loop->await_ns = loop->sent_ns != 0 ? loop->sent_ns : now_ns(frame);
    loop->unanswered = !frame->tasks.await(frame->tasks.self, k);
    frame->missed_replies += loop->unanswered;
}

/* The frame is held back for a period; the watchdog is armed again when it starts. */
static void free_pause(struct rt_frame *frame)
{
    if (frame->watchdog != NULL)
        rt_watchdog_disarm(frame->watchdog);
    frame->clock.wait_until_ns(frame->clock.self, now_ns(frame) + frame->spec.period_ns);
    frame->paused++;
}

/* False: it was held back to the end of the run. */
static bool free_frame(struct loop *loop, uint64_t k)
{
    struct rt_frame *frame = loop->frame;
    const uint64_t paused = frame->paused;
    commit_pending(loop);
    await_reply(loop, k);
    while (is_held_at_boundary(frame, k)) {
        if (atomic_load_explicit(&frame->stop, memory_order_relaxed))
            return false;
        free_pause(frame);
    }
    struct rt_frame_record record = {
        .frame = k, .start_ns = now_ns(frame), .paused = (uint32_t)(frame->paused - paused)};
    record.release_ns = record.start_ns;
    RT_PROBE(release, k, record.start_ns);
    kick_watchdog(frame, record.start_ns);
    latch_and_run_jobs(loop, &record);
    if (frame->spec.commit == RT_COMMIT_EARLY)
        commit_pending(loop);
    record.end_ns = max_ns(now_ns(frame), record.start_ns);
    record_frame(loop, &record);
    if (has_recorder_rows(frame))
        drain_recorder_rows(frame);
    return true;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void check_frame(const struct rt_frame *frame)
{
    RT_CHECK(frame->spec.period_ns > 0);
    RT_CHECK(frame->schedule != NULL);
    RT_CHECK(frame->tasks.commit != NULL && frame->tasks.latch != NULL);
    RT_CHECK(frame->tasks.record != NULL && frame->tasks.invalidate_outputs != NULL);
    RT_CHECK(frame->spec.pace != RT_PACE_LOCKSTEP || frame->tasks.await != NULL);
    RT_CHECK(frame->live == NULL || frame->live_every > 0);
    RT_CHECK(frame->recorder == NULL || frame->tasks.drain != NULL);
}

static void clear_results(struct rt_frame *frame)
{
    frame->frames = frame->overruns = frame->missed = 0;
    frame->caught_up = frame->missed_replies = frame->paused = 0;
    frame->first_release_ns = frame->last_release_ns = 0;
    frame->margin_ns_min = 0;
    frame->margin_frame_min = 0;
    frame->corrected_ns = 0;
    frame->drift_ppm = 0.0;
    frame->end = RT_END_FRAME_COUNT;
    memset(frame->causes, 0, sizeof frame->causes);
    memset(&frame->start_error_ns, 0, sizeof frame->start_error_ns);
    memset(&frame->busy_ns, 0, sizeof frame->busy_ns);
    memset(&frame->response_ns, 0, sizeof frame->response_ns);
}

/* Relaxed: the flag orders nothing, and need only be seen soon. */
static bool stop_asked(struct rt_frame *frame)
{
    if (!atomic_load_explicit(&frame->stop, memory_order_relaxed))
        return false;
    frame->end = RT_END_STOPPED;
    return true;
}

static void run_grid(struct loop *loop)
{
    struct rt_frame *frame = loop->frame;
    loop->grid.first_ns = now_ns(frame) + frame->spec.period_ns;
    for (uint64_t k = 0; k < frame->spec.frame_count && !stop_asked(frame);) {
        if (grid_frame(loop, k))
            publish_live(frame, k++);
        if (frame->end == RT_END_POLICY)
            break;
        grid_slack(loop);
    }
    frame->drift_ppm = drift_ppm(&loop->drift, frame->spec.period_ns);
    grid_close(loop);
}

static void run_free(struct loop *loop)
{
    struct rt_frame *frame = loop->frame;
    for (uint64_t k = 0; k < frame->spec.frame_count && !stop_asked(frame);) {
        if (free_frame(loop, k))
            publish_live(frame, k++);
    }
    commit_pending(loop);
}

void rt_frame_run(struct rt_frame *frame)
{
    struct loop loop = {.frame = frame};
    check_frame(frame);
    clear_results(frame);
    if (frame->spec.pace == RT_PACE_REAL)
        run_grid(&loop);
    else
        run_free(&loop);
    if (frame->watchdog != NULL)
        rt_watchdog_disarm(frame->watchdog);
}
