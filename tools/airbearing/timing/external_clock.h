/*
 * A run against an external clock: pulses that left at the start of frames, stamped by a
 * stopwatch in another process or on another machine.
 *
 *      log         frame k: release on the executive's clock
 *      stopwatch   pulse of frame k: stamp on its own clock
 *
 * Frames are matched by number, so missed releases do not matter: frame k was released at the
 * time in the log, and the stopwatch must see the same lag of simulated time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/airbearing/timing/drift_fit.h"
#include "tools/airbearing/timing/log_evidence.h"
#include "tools/airbearing/timing/percentiles.h"

/* The first two lines of a stopwatch's file: its title, then its columns. */
extern const char external_clock_title[], external_clock_columns[];

struct external_clock_stamp {
    uint64_t sequence, frame, sim_ns;
    uint64_t sent_ns;  /* on the executive's clock */
    uint64_t stamp_ns; /* on the stopwatch's */
    uint64_t kernel;   /* 1: stamped by the kernel at arrival; 0: by the program that read it */
};

struct external_clock {
    struct external_clock_stamp *stamp; /* in the order of their sequence, each once */
    size_t count, room;
    uint64_t duplicates; /* came twice, or was overtaken */

    /* compared */
    size_t matched;       /* have a frame in the log */
    size_t foreign;       /* were sent while the log has another frame running */
    uint64_t lost;        /* were sent, but never stamped */
    size_t by_kernel;     /* of those that matched */
    double span_s;        /* by the stopwatch */
    bool known;           /* there were enough for a slope */
    struct drift_fit fit; /* x: s by the stopwatch, y: ns that the grid is ahead of it */
    double ppm, half_width_ppm;
    bool has_offset;           /* the log has its clock's offset from the wall clock */
    int64_t offset_ns;         /* stopwatch less the run's wall clock, by the fastest pulses */
    struct percentiles jitter; /* ns by which each came later than the fastest, without the slope */
    struct fit_point *point;   /* of all that matched, same axes as the fit */
    int64_t behind_ns;         /* simulated time fell behind the stopwatch, first to last */
    int64_t log_behind_ns;     /* and behind the executive's own clock */
};

/* Read a stopwatch's file.  0, or -1 with `line:column: what` in error.  Context: any. */
int external_clock_parse(struct external_clock *external, const char *text, size_t size,
                         char error[EVIDENCE_ERROR_MAX]);
/* Compare; false with one line in error when no pulse belongs to this run, or memory ran out.
 * Context: any. */
bool external_clock_compare(struct external_clock *external, const struct evidence *evidence,
                            char error[EVIDENCE_ERROR_MAX]);
void external_clock_free(struct external_clock *external);
