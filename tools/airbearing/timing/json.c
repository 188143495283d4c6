/*
 * The figures as JSON.  A percentile that the run is too short for is null.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#include <jansson.h>
#include <math.h>

#include "tools/airbearing/timing/show.h"

static json_t *whole(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *percentiles(const struct percentiles *spread)
{
    json_t *object = json_object();
    for (int i = 0; i < PERCENTILE_COUNT; i++) {
        uint64_t value;
        const bool known = percentiles_at(spread, percentile_fraction[i], &value);
        json_object_set_new(object, percentile_name[i], known ? whole(value) : json_null());
    }
    json_object_set_new(object, "max", spread->count ? whole(spread->max) : json_null());
    json_object_set_new(object, "max_frame",
                        spread->count ? whole(spread->max_frame) : json_null());
    json_object_set_new(object, "count", whole(spread->count));
    return object;
}

/* The least margin of this share of the frames. */
static json_t *margin(const struct figures *figures)
{
    json_t *object = json_object();
    const bool any = figures->response.count > 0;
    for (int i = 0; i < PERCENTILE_COUNT; i++) {
        uint64_t response;
        const bool known = percentiles_at(&figures->response, percentile_fraction[i], &response);
        json_object_set_new(
            object, percentile_name[i],
            known ? json_integer((json_int_t)figures->evidence->period_ns - (json_int_t)response)
                  : json_null());
    }
    json_object_set_new(object, "min", any ? json_integer(figures->margin_min_ns) : json_null());
    json_object_set_new(object, "min_frame", any ? whole(figures->margin_min_frame) : json_null());
    json_object_set_new(object, "count", whole(figures->response.count));
    return object;
}

static json_t *latency(const struct figures *figures)
{
    json_t *array = json_array();
    for (int link = 0; link < IO_LINK_MAX; link++) {
        const struct percentiles *part = figures->part[link];
        if (part[IO_LATENCY_SUM].count == 0)
            continue;
        json_t *object = percentiles(&part[IO_LATENCY_SUM]);
        json_object_set_new(object, "link", json_integer(link));
        for (int p = 0; p < IO_LATENCY_SUM; p++)
            json_object_set_new(object, io_latency_part_name[p], percentiles(&part[p]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *jobs(const struct figures *figures)
{
    json_t *array = json_array();
    for (int j = 0; j < figures->evidence->job_count; j++) {
        json_t *object = percentiles(&figures->job[j]);
        json_object_set_new(object, "name", json_string(figures->evidence->job_name[j]));
        json_object_set_new(object, "predicted_ns",
                            figures->predicted_ns[j] ? whole(figures->predicted_ns[j])
                                                     : json_null());
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *late(const struct figures *figures)
{
    json_t *array = json_array();
    for (size_t i = 0; i < figures->late_count; i++) {
        const struct late_frame *frame = &figures->late[i];
        json_t *object = json_object();
        json_object_set_new(object, "frame", whole(frame->frame));
        json_object_set_new(object, "cause", json_string(rt_cause_name[frame->cause]));
        json_object_set_new(object, "over_ns", whole(frame->over_ns));
        json_object_set_new(object, "start_error_ns", whole(frame->start_error_ns));
        json_object_set_new(object, "busy_ns", whole(frame->busy_ns));
        json_object_set_new(object, "job",
                            json_string(figures_phase_name(figures, frame->running)));
        json_object_set_new(object, "grew",
                            json_string(figures_phase_name(figures, frame->slowest_job)));
        json_object_set_new(object, "grew_ns", whole(frame->slowest_job_ns));
        json_object_set_new(object, "missed", whole(frame->cost));
        json_object_set_new(object, "held", json_boolean(frame->held));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *causes(const struct figures *figures)
{
    json_t *object = json_object();
    for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++)
        json_object_set_new(object, rt_cause_name[i], whole(figures->causes[i]));
    return object;
}

static json_t *drift(const struct drift_figure *drift)
{
    if (!drift->known)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "ppm", real(drift->ppm));
    json_object_set_new(object, "ppm_low", real(drift->ppm - drift->half_width_ppm));
    json_object_set_new(object, "ppm_high", real(drift->ppm + drift->half_width_ppm));
    json_object_set_new(object, "residual_ns", real(drift->fit.residual));
    json_object_set_new(object, "points", whole(drift->fit.count));
    return object;
}

static json_t *effective(const struct figures *figures)
{
    json_t *array = json_array();
    for (int i = 0; i < figures->effective_count; i++) {
        const struct effective *fit = &figures->effective[i];
        json_t *object = json_object();
        json_object_set_new(object, "device", json_string(fit->name));
        json_object_set_new(object, "latency_ns",
                            fit->known ? real(round(fit->delay.seconds * 1e9)) : json_null());
        json_object_set_new(object, "explained", real(fit->delay.explained));
        json_array_append_new(array, object);
    }
    return array;
}

static void add_log(json_t *object, const struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    json_object_set_new(object, "scenario", json_string(evidence->scenario));
    json_object_set_new(object, "version", json_string(evidence->version));
    json_object_set_new(object, "pace", json_string(evidence->pace_name));
    json_object_set_new(object, "period_ns", whole(evidence->period_ns));
    json_object_set_new(object, "frames", whole(evidence->frame_count));
    json_object_set_new(object, "frames_lost", whole(evidence->lost));
    json_object_set_new(object, "complete", json_boolean(evidence->complete));
    json_object_set_new(object, "seconds_simulated", real(figures->seconds_simulated));
    json_object_set_new(object, "seconds_wall", real(figures->seconds_wall));
}

static void add_verdict(json_t *object, const struct figures *figures)
{
    json_t *reasons = json_array();
    for (int i = 0; i < figures->reason_count; i++)
        json_array_append_new(reasons, json_string(figures->reason[i]));
    json_object_set_new(object, "kept", json_boolean(figures->kept));
    json_object_set_new(object, "verdict", json_string(figures->verdict));
    json_object_set_new(object, "reasons", reasons);
}

/* Figures that need a phase lock or a stopwatch. */
static void add_clocks(json_t *object, const struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    json_t *lock = json_object_get(evidence->report, "phase_lock");
    if (figures->corrected_ns) {
        json_object_set_new(
            object, "corrected_ns",
            json_integer((json_int_t)figures->corrected_ns[evidence->frame_count - 1]));
        json_object_set(object, "phase_lock", lock ? lock : json_null());
    }
    if (figures->external)
        json_object_set_new(object, "truth", show_external_clock_json(figures->external));
}

struct json_t *show_json(const struct figures *figures)
{
    const bool real_pace = figures->evidence->pace == RT_PACE_REAL;
    const bool clocks = figures->evidence->clock_count >= 2;
    json_t *object = json_object();
    add_verdict(object, figures);
    add_log(object, figures);
    json_object_set_new(object, "follow_ns", real_pace ? whole(figures->follow_ns) : json_null());
    json_object_set_new(object, "follow_frame", whole(figures->follow_frame));
    json_object_set_new(object, "start_error_ns", percentiles(&figures->start_error));
    json_object_set_new(object, "busy_ns", percentiles(&figures->busy));
    json_object_set_new(object, "margin_ns", margin(figures));
    json_object_set_new(object, "overruns", whole(figures->late_count));
    json_object_set_new(object, "overrun_causes", causes(figures));
    json_object_set_new(object, "machine", whole(figures->machine));
    json_object_set_new(object, "own", whole(figures->ours));
    json_object_set_new(object, "unexplained", whole(figures->unexplained));
    json_object_set_new(object, "late", late(figures));
    json_object_set_new(object, "missed", whole(figures->missed));
    json_object_set_new(object, "paused", whole(figures->paused));
    json_object_set_new(object, "lag_ns", whole(figures->lag_ns));
    json_object_set_new(object, "caught_up", whole(figures->caught_up));
    json_object_set_new(object, "off_grid", whole(figures->off_grid));
    json_object_set_new(object, "drift", drift(&figures->raw));
    json_object_set_new(object, "drift_against",
                        json_string(clocks ? "CLOCK_MONOTONIC_RAW" : "CLOCK_MONOTONIC"));
    json_object_set_new(object, "drift_wall", drift(&figures->wall));
    json_object_set_new(object, "loop_latency_ns", latency(figures));
    json_object_set_new(object, "jobs", jobs(figures));
    json_object_set_new(object, "effective_latency", effective(figures));
    json_object_set_new(object, "effective_latency_why",
                        figures->effective_why ? json_string(figures->effective_why) : json_null());
    add_clocks(object, figures);
    return object;
}
