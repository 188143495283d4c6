/*
 * Rates and times on the frame grid.
 */
#include "config/resolve/resolve.h"
#include "rt/executive/state/run_state.h"

#include <math.h>

#include "rt/schedule.h"

/* Jobs that a run may have besides devices and messages: step, solve, actuators, three of an arm,
 * signals, log, hash and others. */
enum { OWN_JOBS = 13 };

/* Tolerance for a rate that was written with seven digits; the grid itself is exact. */
static const double TYPED = 1e-6;

bool cfg_frames_per(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *key,
                    double rate_hz, uint32_t *every)
{
    const double frame_hz = resolve->scenario->spec.rate_hz;
    const double ratio = frame_hz / rate_hz;
    if (ratio < 1.0 - TYPED)
        return cfg_fail_at(resolve->report, node, key,
                           "%s of %.10g Hz is above the frame rate of %.10g Hz; lower it, or raise "
                           "the scenario's rate",
                           key, rate_hz, frame_hz);
    if (ratio > 1e9)
        return cfg_fail_at(
            resolve->report, node, key,
            "%s of %.10g Hz comes less than once in a thousand million frames; raise it", key,
            rate_hz);
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
    const double step = (double)step_frames * (double)resolve->scenario->spec.period_ns * 1e-9;
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

/* ---- the frame table ---- */

/* The jobs so far: their number, and the frames after which they repeat. */
struct table {
    const struct cfg_resolve *resolve;
    int jobs;
    uint64_t pattern;
};

static bool extend_pattern(struct table *table, const struct cfg_node *node, const char *key,
                           uint32_t every)
{
    table->pattern *= every / rt_gcd(table->pattern, every);
    if (table->pattern <= RT_PATTERN_MAX)
        return true;
    return cfg_fail_at(table->resolve->report, node, key,
                       "%s makes the rates repeat together only after more than %d frames; take a "
                       "rate that divides, or is divided by, the others",
                       key, RT_PATTERN_MAX);
}

static bool add_job(struct table *table, const struct cfg_node *node, const char *key,
                    uint32_t every)
{
    if (every == 0)
        return true;
    if (++table->jobs > RT_JOB_MAX - OWN_JOBS)
        return cfg_fail_at(
            table->resolve->report, node, key,
            "instruments and messages make more than the %d jobs that a frame has room "
            "for; set a message's rate to 0",
            RT_JOB_MAX - OWN_JOBS);
    return extend_pattern(table, node, key, every);
}

static bool add_link(struct table *table, int i)
{
    const struct cfg_keys_link *keys =
        (const struct cfg_keys_link *)table->resolve->keys->links.items + i;
    const struct sim_link *link = &table->resolve->scenario->spec.links[i];
    const struct cfg_node *node = keys->send.node != NULL ? keys->send.node : keys->node;
    table->jobs++; /* true motion, for its messages */
    for (int m = 0; m < IO_MESSAGE_COUNT; m++)
        if (!add_job(table, node, cfg_message_name(m), link->every[m]))
            return false;
    return true;
}

bool cfg_resolve_frame_table(const struct cfg_resolve *resolve)
{
    struct table table = {.resolve = resolve, .pattern = 1};
    const struct cfg_keys_device *devices = resolve->keys->devices.items;
    const struct sim_sensor *sensor = resolve->scenario->spec.sensors;
    for (int i = 0; i < resolve->keys->devices.count; i++)
        if (devices[i].type < CFG_DEVICE_EFFECTOR &&
            !add_job(&table, devices[i].node, "rate", sensor++->every))
            return false;
    for (int i = 0; i < resolve->scenario->spec.link_count; i++)
        if (!add_link(&table, i))
            return false;
    if (resolve->scenario->spec.arm.joint_count > 0 &&
        !extend_pattern(&table, resolve->keys->arm.node, "servo",
                        resolve->scenario->spec.arm.every))
        return false;
    const uint32_t predicts = resolve->scenario->spec.predictor.every;
    return extend_pattern(&table, resolve->keys->log.node, "every",
                          resolve->scenario->spec.log_every) &&
           extend_pattern(&table, resolve->keys->predictor.node, "rate", predicts ? predicts : 1) &&
           extend_pattern(&table, resolve->keys->environment.node, "world",
                          sim_environment_every(&resolve->scenario->spec));
}
