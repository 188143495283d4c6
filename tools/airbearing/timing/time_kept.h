/*
 * The rule for "time was kept", for `airbearing run` by its own counts and for `airbearing
 * timing` by the frames of a log.
 *
 * Time was kept when no frame was late by its own work, by waiting for a reply, by a page fault
 * in locked memory or for no known reason; when simulated time did not fall behind wall time by
 * more than a hundredth of the run, or 50 ms where that is more, for whatever reason; when the
 * frame thread did not hang; and when the machine met `require: realtime`, if given.
 *
 * A run without real pace has nothing to keep.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/frame.h"

struct time_kept {
    enum rt_pace pace;
    uint64_t causes[RT_CAUSE_COUNT];  /* late frames */
    uint64_t allowed[RT_CAUSE_COUNT]; /* of those, so many are allowed */
    bool memory_locked;               /* else a page fault is the machine's */
    uint64_t lag_ns;                  /* of simulated time behind wall time, pauses left out */
    uint64_t simulated_ns;
    bool hung;
    bool realtime_asked, realtime_met;
    const char *missing; /* what realtime is missing; NULL: not known */
};

/* Receives each problem, and notes on late frames. */
struct time_kept_listener {
    void *self;
    void (*hear)(void *self, const char *text);
};

/* Context: any but frame. */
bool time_kept_judge(const struct time_kept *facts, struct time_kept_listener listener);
