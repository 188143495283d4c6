/*
 * Rates and times on the frame grid.
 */
#include "config/resolve.h"

#include <math.h>

/* Slack for a rate that was typed with seven digits; the grid itself is exact. */
static const double TYPED = 1e-6;

bool cfg_frames_per(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *key,
                    double rate_hz, uint32_t *every)
{
    const double frame_hz = resolve->scenario->rate_hz;
    const double ratio = frame_hz / rate_hz;
    if (ratio < 1.0 - TYPED)
        return cfg_fail_at(resolve->report, node, key,
                           "%s of %.10g Hz is above the frame rate of %.10g Hz; lower it, or raise "
                           "the scenario's rate",
                           key, rate_hz, frame_hz);
    if (ratio > 1e9)
        return cfg_fail_at(
            resolve->report, node, key,
            "%s of %.10g Hz comes less than once in a thousand million frames; use 0 "
            "for never",
            key, rate_hz);
    const double whole = nearbyint(ratio);
    if (fabs(ratio - whole) > TYPED * whole)
        return cfg_fail_at(resolve->report, node, key,
                           "%s of %.10g Hz does not divide the frame rate of %.10g Hz; the nearest "
                           "that do are %.7g Hz and %.7g Hz",
                           key, rate_hz, frame_hz, frame_hz / floor(ratio), frame_hz / ceil(ratio));
    *every = (uint32_t)whole;
    return true;
}

bool cfg_whole_steps(const struct cfg_resolve *resolve, const struct cfg_node *node,
                     const char *key, double seconds, uint32_t step_frames, uint32_t limit,
                     uint32_t *count)
{
    const double step = (double)step_frames * (double)resolve->scenario->period_ns * 1e-9;
    const double ratio = seconds / step;
    if (ratio > limit - 1 + TYPED)
        return cfg_fail_at(resolve->report, node, key, "%s of %.10g s is too long; at most %.10g s",
                           key, seconds, step * (limit - 1));
    const double whole = nearbyint(ratio);
    if (fabs(ratio - whole) > TYPED)
        return cfg_fail_at(
            resolve->report, node, key,
            "%s of %.10g s is not a multiple of %.10g s; the nearest are %.10g s and "
            "%.10g s",
            key, seconds, step, step * floor(ratio), step * ceil(ratio));
    *count = (uint32_t)whole;
    return true;
}
