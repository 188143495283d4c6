/*
 * What a frame did one after the other, from its row of the flight recorder.
 */
#pragma once

#include "tools/airbearing/timing/figures.h"

enum { STEPS_MAX = RT_JOB_MAX + 5 }; /* wait, wake-up, commit, latch, jobs, record */

struct step {
    const char *name; /* belongs to the evidence */
    uint64_t from_ns, to_ns;
};

/* How many; in the order of time.  Context: any. */
int steps_of(const struct evidence *evidence, const struct rt_flight_recorder_row *row,
             struct step steps[STEPS_MAX]);
/* The row of the latest of the late frames that the recorder has told of, or NULL. */
const struct rt_flight_recorder_row *steps_worst(const struct figures *figures);
