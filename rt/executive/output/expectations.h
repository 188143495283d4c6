/*
 * The scenario's expectations, looked at after every frame and judged at the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/executive/spec.h"

struct sim_expectation_watch {
    const struct sim_expectation *expect;
    uint64_t seen;       /* frames in its window */
    uint64_t broken;     /* of those, frames in which it did not hold */
    uint64_t held;       /* of those, frames in which it held */
    double last_seconds; /* newest frame in the window */
    bool window_closed;  /* `within`: the run went past it */
    double worst;        /* farthest value on the wrong side, or nearest to it */
};

enum sim_expectation_verdict {
    SIM_EXPECTATION_MET,
    SIM_EXPECTATION_FAILED,
    SIM_EXPECTATION_NOT_REACHED
};

/* Context: setup. */
void sim_expectation_begin(struct sim_expectation_watch *watch,
                           const struct sim_expectation *expect);
/* value of the signal after the frame that ends at seconds.  Context: frame. */
void sim_expectation_update(struct sim_expectation_watch *watch, double seconds, double value);
/* Context: after the run. */
enum sim_expectation_verdict sim_expectation_judge(const struct sim_expectation_watch *watch);
