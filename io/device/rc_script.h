/*
 * Radio control by script: the channels that the pilot's sticks and switches would send.
 *
 * Steps are sorted by time.  Between two steps the channels stay, or change linearly to the later
 * step if its `ramp` is set; before the first and after the last step they stay.  The result is a
 * function of the time and of what the pilot observes: there is no state.
 */
#pragma once

#include <stdint.h>

enum { IO_RC_SCRIPT_CHANNEL_COUNT = 16, IO_RC_SCRIPT_STEP_MAX = 32 };

struct io_rc_script_step {
    double time;                                /* s, not earlier than the previous step */
    double channel[IO_RC_SCRIPT_CHANNEL_COUNT]; /* us, usually 1000 to 2000 */
    uint32_t ramp;                              /* 1: reached linearly from the previous step */
    uint32_t holds_height; /* 1: the pilot holds the height with the throttle */
    double height;         /* m above the ground, the height to hold */
};

struct io_rc_script {
    uint32_t step_count; /* 1 to IO_RC_SCRIPT_STEP_MAX */
    struct io_rc_script_step step[IO_RC_SCRIPT_STEP_MAX];
};

/* What the pilot observes. */
struct io_rc_script_view {
    double height, climb; /* m above the ground, m/s upwards */
};

/* The channels at this time, us.  Where a step holds a height, the throttle is that of the step,
 * corrected by the height error and the climb rate.  Context: frame. */
void io_rc_script_channels(const struct io_rc_script *script, double time,
                           const struct io_rc_script_view *view,
                           double channel[IO_RC_SCRIPT_CHANNEL_COUNT]);
