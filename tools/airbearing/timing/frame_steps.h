/*
 * The steps of a frame in order, from its row of the flight recorder.
 */
#pragma once

#include "tools/airbearing/timing/figures.h"

enum { FRAME_STEPS_MAX = RT_JOB_MAX + 5 }; /* wait, wake-up, commit, latch, jobs, record */

struct frame_step {
    const char *name; /* belongs to the evidence */
    uint64_t from_ns, to_ns;
};

/* Returns the number of steps, in order of time.  Context: any. */
int frame_steps_of(const struct evidence *evidence, const struct rt_flight_recorder_row *row,
                   struct frame_step steps[FRAME_STEPS_MAX]);
/* The row of the latest late frame in the flight recorder, or NULL. */
const struct rt_flight_recorder_row *frame_steps_worst(const struct figures *figures);
