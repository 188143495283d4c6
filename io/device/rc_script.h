/*
 * Radio control by script: what the pilot's sticks and switches would have sent.
 *
 * Steps are sorted by time.  Between two steps the channels stay, or go in a straight line to the
 * later one where that one says so; before the first and after the last they stay.  A function of
 * the time and of what the pilot sees: there is no state.
 */
#pragma once

#include <stdint.h>

enum { IO_RC_SCRIPT_CHANNEL_COUNT = 16, IO_RC_SCRIPT_STEP_MAX = 32 };

struct io_rc_script_step {
    double time;                                /* s, not before the step before */
    double channel[IO_RC_SCRIPT_CHANNEL_COUNT]; /* us, 1000 to 2000 as a rule */
    uint32_t ramp;         /* 1: reached in a straight line from the step before */
    uint32_t holds_height; /* 1: the pilot looks at the height, and works the throttle */
    double height;         /* m above the ground, that he holds */
};

struct io_rc_script {
    uint32_t step_count; /* 1 to IO_RC_SCRIPT_STEP_MAX */
    struct io_rc_script_step step[IO_RC_SCRIPT_STEP_MAX];
};

/* What the pilot sees. */
struct io_rc_script_view {
    double height, climb; /* m above the ground, m/s upwards */
};

/* The channels at this time, us.  Where a step holds a height, the throttle is that of the step,
 * corrected by how much the vehicle is too low and how fast it climbs.  Context: frame. */
void io_rc_script_channels(const struct io_rc_script *script, double time,
                           const struct io_rc_script_view *view,
                           double channel[IO_RC_SCRIPT_CHANNEL_COUNT]);
