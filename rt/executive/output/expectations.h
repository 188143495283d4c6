/*
 * The scenario's expectations, looked at after every frame and judged at the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/scenario.h"

struct expect_watch {
    const struct cfg_expect *expect;
    uint64_t seen;       /* frames in its window */
    uint64_t broken;     /* of those, frames in which it did not hold */
    uint64_t held;       /* of those, frames in which it held */
    double last_seconds; /* newest frame in the window */
    bool window_closed;  /* `within`: the run went past it */
    double worst;        /* farthest value on the wrong side, or nearest to it */
};

enum expect_verdict { EXPECT_MET, EXPECT_FAILED, EXPECT_NOT_REACHED };

/* Context: setup. */
void expect_begin(struct expect_watch *watch, const struct cfg_expect *expect);
/* value of the signal after the frame that ends at seconds.  Context: frame. */
void expect_see(struct expect_watch *watch, double seconds, double value);
/* Context: after the run. */
enum expect_verdict expect_judge(const struct expect_watch *watch);
