/*
 * A phase lock: the frame grid tracks the clock of a board, within a limit of its rate.
 *
 *      board clock   |     |     |     |     |     |       observations: local time, board time
 *      grid          |      |      |     |     |     |      release: start + slot period + offset
 *                      <-e->                                e: the board ahead of the grid
 *
 * Pure: no clock is read and nothing is waited for.  Of all observations in a window of an eighth
 * of the time constant one counts: where the delay of the question is known the one with the
 * least, else the median, so that a delayed observation has no effect; a window in which all were
 * delayed has none either.  A second-order loop (critically damped) turns it into a rate, never
 * beyond the limit, and the offset moves by that rate and in no other way: the grid never jumps.
 * Without observations the rate is held for some time constants and then goes back to nominal.
 *
 * Phase is counted modulo `cycle_ns`, the period of the grid or what it has in common with the
 * board's.  Where the limit is too small for the grid to keep up, the phase slips: after half a
 * cycle the lock starts again at the present phase and counts a slip.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/histogram.h"

enum { RT_PHASE_LOCK_SAMPLE_MAX = 64 };

struct rt_phase_lock_spec {
    uint64_t period_ns;        /* of the grid */
    uint64_t cycle_ns;         /* phase is counted modulo this */
    uint64_t time_constant_ns; /* of the loop */
    double limit_ppm;          /* most that the rate may be off nominal */
    bool has_delay;            /* observations have a delay_ns */
};

/* When the far end's clock showed board_ns. */
struct rt_phase_sample {
    uint64_t local_ns, board_ns;
    uint64_t delay_ns; /* of the question and answer: the smaller, the more certain; 0: not known */
};

struct rt_phase_lock {
    struct rt_phase_lock_spec spec;

    double rate;        /* of the offset, per unit of time: negative is a faster grid */
    double integral;    /* the part of it that stays when the error is gone */
    double fraction_ns; /* of the offset, below a nanosecond */
    int64_t offset_ns;

    bool anchored;           /* the phase to hold is known */
    uint64_t anchor_ns;      /* board time that belongs to grid time 0 */
    uint64_t window_ns;      /* end of this window; 0: before the first step */
    uint64_t last_sample_ns; /* local time of the newest observation that was kept */
    int sample_count;
    struct {
        uint64_t delay_ns;
        int64_t phase_ns; /* the board ahead of the grid */
    } samples[RT_PHASE_LOCK_SAMPLE_MAX];
    uint64_t min_delay_ns; /* smallest delay of late; an observation far above it was delayed on its
                              way */
    uint32_t empty_windows;             /* windows without an observation, in a row */
    uint32_t good_windows, bad_windows; /* windows within and beyond a tenth of a cycle, in a row */
    uint64_t frame;                     /* steps so far */

    /* results */
    bool locked;
    bool saturated;                /* the rate is at its limit */
    uint64_t observations, losses; /* offered; times that the lock was lost */
    uint64_t slips;                /* half cycles by which the grid fell behind */
    uint64_t locked_steps;
    struct rt_histogram error_ns; /* size of the error of every window, by frame */
};

/* Context: setup. */
void rt_phase_lock_begin(struct rt_phase_lock *lock, const struct rt_phase_lock_spec *spec);

/* Context: frame. */
void rt_phase_lock_observe(struct rt_phase_lock *lock, const struct rt_phase_sample *sample);

/* So many slots have gone by at this release: nanoseconds by which all later releases move; less
 * than limit_ppm of the time gone by, and rounded.  Context: frame. */
int64_t rt_phase_lock_step(struct rt_phase_lock *lock, uint64_t release_ns, uint64_t slots);

/* The grid's rate against nominal: positive is faster.  Context: frame, or after the run. */
double rt_phase_lock_ppm(const struct rt_phase_lock *lock);
