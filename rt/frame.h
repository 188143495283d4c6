/*
 * The frame loop: release, commit, latch, jobs, record.  It owns time and nothing else.
 *
 *   release k                                                     release k+1
 *      |--start error--|--commit k-1--latch--jobs--|---- margin ----|
 *                      |----------- busy ----------|
 *
 * Releases lie on a fixed grid, start + slot * period, and are never computed from the time a
 * frame happened to end.  Sim time of frame k is k * period, always.
 *
 * commit `grid`: the sample of frame k leaves as the first act at the next release that runs.
 * commit `early`: it leaves as soon as frame k has computed it.
 *
 * overrun `skip`: releases already past are dropped and counted (missed).
 *
 * overrun `catch-up`: at most max_catch_up lost frames run back to back with held inputs; only the
 * last one's sample is committed; frames beyond that are missed.  While boundary_wanted is set
 * (below), no frame is caught up.
 *
 * overrun `stop`: the outputs are invalidated and the run ends.
 *
 * pace `real`: as drawn; wall = last release + period - first release
 *                                                    = (frames + missed + paused) * period.
 * With a phase lock the grid tracks the board's clock: each release also moves by the correction
 * of the lock, bounded in ppm; the sum is `corrected`, by which wall is longer.
 *
 * A pause holds the next frame back, release by release: a thread that wants one sets
 * boundary_wanted, and the loop calls tasks.boundary before every frame until the task clears the
 * flag.  The grid goes on, the watchdog is kicked, the sample of the last frame leaves when it
 * would have left; no frame is run, recorded or judged, and drift leaves the paused releases out
 * as it does those that were missed.  tasks.boundary decides what is sent to a far end in a pause.
 *
 * pace `fast` and `lockstep`: there is no grid.  The sample before leaves, its reply is awaited,
 * and the release is the moment at which the frame then starts: no start error, no overrun,
 * nothing missed, no margin, no drift.  Lockstep must have an await.  A pause lasts whole periods
 * there, too, and comes after the reply, so that nothing is awaited twice.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rt/clock.h"
#include "rt/flight_recorder.h"
#include "rt/histogram.h"
#include "rt/mailbox.h"
#include "rt/overrun_cause.h"
#include "rt/phase_lock.h"
#include "rt/schedule.h"
#include "rt/watchdog.h"

enum rt_pace { RT_PACE_REAL, RT_PACE_FAST, RT_PACE_LOCKSTEP };
enum rt_overrun { RT_OVERRUN_SKIP, RT_OVERRUN_CATCH_UP, RT_OVERRUN_STOP };
enum rt_commit { RT_COMMIT_GRID, RT_COMMIT_EARLY };

struct rt_frame_record {
    uint64_t frame;
    uint64_t release_ns;
    uint64_t start_ns;
    uint64_t end_ns; /* before this record is taken */
    uint32_t missed; /* releases dropped right before this frame */
    uint8_t cause;   /* enum rt_cause; none unless end > next release */
    uint8_t held;    /* ran in catch-up with held inputs */
    uint32_t paused; /* releases that passed in a pause right before this frame */
};

/* The functions that the loop calls, all on the frame thread.  None may allocate, lock, log or
 * block; await alone may wait, for at most its limit. */
struct rt_frame_tasks {
    void *self;
    /* The sample of this frame leaves. */
    void (*commit)(void *self, uint64_t frame);
    /* Lockstep and fast: wait for the reply to the frame before; true when it came.  Not called
     * before frame 0.  NULL: frames do not wait. */
    bool (*await)(void *self, uint64_t frame);
    /* While boundary_wanted is set: between two frames, before this one and never in a catch-up.
     * True holds the frame back for a release.  NULL: boundary_wanted is never set. */
    bool (*boundary)(void *self, uint64_t frame);
    /* Take the newest inputs unless held. */
    void (*latch)(void *self, uint64_t frame, bool held);
    void (*record)(void *self, const struct rt_frame_record *record);
    /* In the slack: put one row of the recorder where records go; false when there is no row or no
     * room.  Needed with a recorder only. */
    bool (*drain)(void *self);
    /* Send the values of invalid outputs. */
    void (*invalidate_outputs)(void *self);
};

struct rt_frame_spec {
    uint64_t period_ns;
    uint64_t frame_count; /* UINT64_MAX: until stopped */
    enum rt_pace pace;
    enum rt_overrun overrun;
    enum rt_commit commit;
    uint32_t max_catch_up;
};

/* Figures for a display during the run; published every live_every frames. */
struct rt_frame_live {
    uint64_t frame;
    uint64_t overruns, missed;
    uint64_t start_error_ns, busy_ns; /* medians so far */
    int64_t margin_ns_min;
};

enum rt_frame_end { RT_END_FRAME_COUNT, RT_END_STOPPED, RT_END_POLICY };

struct rt_frame {
    struct rt_frame_spec spec;
    struct rt_frame_tasks tasks;
    struct rt_schedule *schedule;
    struct rt_clock clock;
    struct rt_cause_finder
        *cause_finder; /* NULL: every overrun is unknown unless its own work explains it */
    struct rt_watchdog *watchdog;        /* may be NULL */
    struct rt_flight_recorder *recorder; /* may be NULL */
    struct rt_phase_lock *phase_lock;    /* real pace: moves the grid; NULL: nothing does */
    struct rt_mailbox *live;             /* of struct rt_frame_live; may be NULL */
    uint32_t live_every;
    atomic_bool stop;            /* set by any thread, read once per frame */
    atomic_bool boundary_wanted; /* the same, for tasks.boundary, which clears it */
    uint64_t waited_ns; /* real pace: tasks and jobs add what they waited for I/O in this frame */

    /* results; valid after the run, except through live */
    uint64_t frames;
    uint64_t first_release_ns, last_release_ns;
    uint64_t overruns, missed, caught_up, missed_replies, paused;
    uint64_t causes[RT_CAUSE_COUNT]; /* those of overruns; they add up to them */
    int64_t margin_ns_min;           /* 0 while no margin was measured */
    uint64_t margin_frame_min;
    /* Response is end - release, so margin is the period less that, and the slow tail of one is the
     * thin tail of the other.  Busy also has what taking the record cost. */
    struct rt_histogram start_error_ns, busy_ns, response_ns;
    int64_t corrected_ns; /* by the phase lock, from the first release to the last */
    double drift_ppm;     /* rate of sim against the raw clock between misses */
    enum rt_frame_end end;
};

/* Run to the end of the spec, the stop flag, or the overrun policy.  Context: the frame thread,
 * after the seal. */
void rt_frame_run(struct rt_frame *frame);
