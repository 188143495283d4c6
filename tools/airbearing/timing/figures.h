/*
 * The figures of a run and the verdict on it.
 *
 * The verdict is good when time was kept (time_kept.h), apart from the late frames that the
 * caller allows, and when the log proves it: it has every frame, its releases lie on the grid,
 * and it agrees with its own report.
 */
#pragma once

#include "io/link/link.h"
#include "tools/airbearing/timing/drift_fit.h"
#include "tools/airbearing/timing/effective_latency.h"
#include "tools/airbearing/timing/external_clock.h"
#include "tools/airbearing/timing/log_evidence.h"
#include "tools/airbearing/timing/percentiles.h"

/* The phases of a frame besides its jobs 0, 1, 2 ... */
enum {
    PHASE_WAKE = -2,
    PHASE_LATCH = -1,
    PHASE_AFTER = RT_JOB_MAX,
    PHASE_UNKNOWN = RT_JOB_MAX + 1
};

struct late_frame {
    uint64_t frame;
    enum rt_cause cause;
    uint64_t over_ns; /* past the next release */
    uint64_t start_error_ns, busy_ns;
    uint64_t cost;           /* releases lost right after it */
    int running;             /* what ran at the next release: a job or a PHASE_ */
    int slowest_job;         /* the job that exceeded its median most */
    uint64_t slowest_job_ns; /* by so much */
    bool held;
};

struct drift_figure {
    bool known;
    struct drift_fit fit; /* x: seconds since the first release, y: sim ahead of the clock, ns */
    double ppm, half_width_ppm;
};

struct effective {
    const char *name;
    struct effective_latency delay;
    bool known;
};

enum { FIGURES_REASON_MAX = 12, FIGURES_TEXT_MAX = 320 };

struct figures {
    const struct evidence *evidence;
    struct percentiles start_error, busy, response;
    int64_t margin_min_ns;
    uint64_t margin_min_frame;
    struct percentiles part[IO_LINK_MAX][IO_LATENCY_COUNT];

    struct percentiles latch; /* start to first job: commit and latch */
    struct percentiles after; /* last job to end: an early commit */
    struct percentiles job[RT_JOB_MAX];
    uint64_t predicted_ns[RT_JOB_MAX]; /* 0: not known */

    struct late_frame *late;
    size_t late_count, late_room;
    uint64_t causes[RT_CAUSE_COUNT];
    uint64_t machine, ours, unexplained; /* late frames by origin; their sum is all of them */
    uint64_t missed, lag_ns, caught_up;
    uint64_t paused; /* releases, between the first frame and the last */
    /* With a phase lock: slots of the grid after the first release, and by how much it had been
     * moved at each frame; NULL: there was none. */
    uint64_t slots;
    int64_t *corrected_ns;
    uint64_t off_grid; /* releases that are not on the grid */

    uint64_t follow_ns; /* the furthest that sim time was behind wall time */
    uint64_t follow_frame;
    double seconds_simulated, seconds_wall;

    struct fit_point *raw_point, *wall_point; /* what the drift was fitted to */
    size_t point_count;
    struct drift_figure raw, wall; /* against CLOCK_MONOTONIC_RAW, and CLOCK_REALTIME */
    bool wall_was_set;

    struct effective effective[EVIDENCE_DRIVE_MAX];
    int effective_count;
    const char *effective_why; /* why there is none; NULL: there is one */

    const struct external_clock *external; /* NULL: no stopwatch */

    bool kept;
    char verdict[FIGURES_TEXT_MAX];
    char reason[FIGURES_REASON_MAX][FIGURES_TEXT_MAX]; /* the reasons, and further notes */
    int reason_count;
};

struct figures_limits {
    uint64_t allowed[RT_CAUSE_COUNT]; /* late frames that the caller allows */
};

/* False when memory ran out.  The evidence must outlive the figures. */
bool figures_compute(struct figures *figures, const struct evidence *evidence,
                     const struct figures_limits *limits);
/* The releases of a run with a phase lock; false when memory ran out. */
bool figures_walk_grid(struct figures *figures);
/* The last step of figures_compute(): the verdict and its reasons. */
void figures_judge(struct figures *figures, const struct figures_limits *limits);
/* The name, "step", "wake-up" ..., of a job or PHASE_. */
const char *figures_phase_name(const struct figures *figures, int phase);
/* The end of the last job of the record. */
uint64_t figures_jobs_end_ns(const struct sim_record_job *job, int job_count);
void figures_free(struct figures *figures);
