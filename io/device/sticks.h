/*
 * Radio control by script: what the pilot's sticks and switches would have sent.
 *
 * Steps are sorted by time.  Between two steps the channels stay, or go in a straight line to the
 * later one where that one says so; before the first and after the last they stay.  A function of
 * time alone: there is no state.
 */
#pragma once

#include <stdint.h>

enum { IO_STICKS_CHANNEL_COUNT = 16, IO_STICKS_STEP_MAX = 32 };

struct io_sticks_step {
    double time;                             /* s, not before the step before */
    double channel[IO_STICKS_CHANNEL_COUNT]; /* us, 1000 to 2000 as a rule */
    uint32_t ramp; /* 1: reached in a straight line from the step before */
};

struct io_sticks_script {
    uint32_t step_count; /* 1 to IO_STICKS_STEP_MAX */
    struct io_sticks_step step[IO_STICKS_STEP_MAX];
};

/* The channels at this time, us.  Context: frame. */
void io_sticks_at(const struct io_sticks_script *script, double time,
                  double channel[IO_STICKS_CHANNEL_COUNT]);
