/*
 * The figures for people, on a terminal.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "tools/airbearing/time_text.h"
#include "tools/airbearing/timing/frame_steps.h"
#include "tools/airbearing/timing/show.h"

static void print_at(const struct percentiles *percentiles, double fraction, double offset,
                     double sign, FILE *out)
{
    uint64_t value;
    char text[24];
    if (percentiles_at(percentiles, fraction, &value))
        fprintf(out, " %10s", time_text(offset + sign * (double)value, text));
    else
        fprintf(out, " %10s", "-");
}

/* offset and sign make a margin of a response. */
static void print_spread(const char *name, const struct percentiles *percentiles, double offset,
                         double sign, FILE *out)
{
    char worst[24];
    if (percentiles->count == 0)
        return;
    fprintf(out, "  %-14s", name);
    for (int i = 0; i < PERCENTILE_COUNT; i++)
        print_at(percentiles, percentile_fraction[i], offset, sign, out);
    fprintf(out, " %10s  frame %" PRIu64 "\n",
            time_text(offset + sign * (double)percentiles->max, worst), percentiles->max_frame);
}

static void print_parts(const struct figures *figures, FILE *out)
{
    int links = 0;
    for (int link = 0; link < IO_LINK_MAX; link++)
        links += figures->part[link][IO_LATENCY_SUM].count > 0;
    for (int link = 0; link < IO_LINK_MAX; link++) {
        const struct percentiles *part = figures->part[link];
        if (part[IO_LATENCY_SUM].count == 0)
            continue;
        if (links > 1)
            fprintf(out, "  link %d\n", link);
        print_spread("loop latency", &part[IO_LATENCY_SUM], 0.0, 1.0, out);
        for (int p = 0; p < IO_LATENCY_SUM; p++) {
            char name[32];
            snprintf(name, sizeof name, "  %s", io_latency_part_name[p]);
            print_spread(name, &part[p], 0.0, 1.0, out);
        }
    }
}

static void print_times(const struct figures *figures, FILE *out)
{
    fprintf(out, "\n  %-14s", "");
    for (int i = 0; i < PERCENTILE_COUNT; i++)
        fprintf(out, " %10s", percentile_header[i]);
    fprintf(out, " %10s\n", "worst");
    print_spread("start error", &figures->start_error, 0.0, 1.0, out);
    print_spread("busy", &figures->busy, 0.0, 1.0, out);
    print_spread("margin", &figures->response, (double)figures->evidence->period_ns, -1.0, out);
    print_parts(figures, out);
}

static void print_jobs(const struct figures *figures, FILE *out)
{
    const struct evidence *evidence = figures->evidence;
    if (evidence->job_count == 0) {
        fprintf(out, "\n  jobs: this log does not have their times\n");
        return;
    }
    fprintf(out, "\n  %-14s %10s %10s %10s %10s %10s\n", "job", "predicted", "50 %", "99 %",
            "worst", "runs");
    for (int j = 0; j < evidence->job_count; j++) {
        const struct percentiles *percentiles = &figures->job[j];
        char text[24];
        fprintf(out, "  %-14s %10s", evidence->job_name[j],
                figures->predicted_ns[j] ? time_text((double)figures->predicted_ns[j], text) : "-");
        print_at(percentiles, 0.5, 0.0, 1.0, out);
        print_at(percentiles, 0.99, 0.0, 1.0, out);
        fprintf(out, " %10s %10zu\n", time_text((double)percentiles->max, text),
                percentiles->count);
    }
}

static void print_late(const struct figures *figures, FILE *out)
{
    enum { SHOWN = 20 };
    for (size_t i = 0; i < figures->late_count && i < SHOWN; i++) {
        const struct late_frame *late = &figures->late[i];
        char over[24], grew[24];
        fprintf(out, "  late: frame %-8" PRIu64 " %-7s by %10s", late->frame,
                rt_cause_name[late->cause], time_text((double)late->over_ns, over));
        if (late->running == PHASE_UNKNOWN)
            fprintf(out, "; the times of its jobs were not recorded");
        else
            fprintf(out, ", in %s", figures_phase_name(figures, late->running));
        if (late->slowest_job != PHASE_UNKNOWN)
            fprintf(out, "; %s took %s more than usual",
                    figures_phase_name(figures, late->slowest_job),
                    time_text((double)late->slowest_job_ns, grew));
        if (late->cost > 0)
            fprintf(out, "; cost %" PRIu64 " release%s", late->cost, late->cost == 1 ? "" : "s");
        fprintf(out, "%s\n", late->held ? " (catching up)" : "");
    }
    if (figures->late_count > SHOWN)
        fprintf(out, "  late: %zu more; --json has them all\n", figures->late_count - SHOWN);
}

static void print_steps(const struct figures *figures, FILE *out)
{
    const struct rt_flight_recorder_row *row = frame_steps_worst(figures);
    struct frame_step steps[FRAME_STEPS_MAX];
    if (!row)
        return;
    const int count = frame_steps_of(figures->evidence, row, steps);
    fprintf(out, "  the latest of them, frame %" PRIu64 ", from its release on:\n", row->frame);
    for (int i = 0; i < count; i++) {
        char at[24], spent[24];
        fprintf(out, "    %-14s at %10s for %10s\n", steps[i].name,
                time_text((double)(int64_t)(steps[i].from_ns - row->release_ns), at),
                time_text((double)(steps[i].to_ns - steps[i].from_ns), spent));
    }
}

static void print_drift(const struct figures *figures, const char *clock,
                        const struct drift_figure *drift, FILE *out)
{
    if (drift->known)
        fprintf(out, "  drift against %s %+.4f ppm, 95 %% within +-%.4f ppm\n", clock, drift->ppm,
                drift->half_width_ppm);
    else
        fprintf(out, "  drift against %s: the run is too short for it\n", clock);
    (void)figures;
}

/* The phase lock by the run's own report and by the releases. */
static void print_lock(const struct figures *figures, FILE *out)
{
    const json_t *lock = json_object_get(figures->evidence->report, "phase_lock");
    char moved[24], median[24];
    if (!figures->corrected_ns)
        return;
    fprintf(out, "  phase lock to the board's clock: releases were moved by %s in all",
            time_text((double)figures->corrected_ns[figures->evidence->frame_count - 1], moved));
    if (lock)
        fprintf(
            out, "; %slocked, error %s median",
            json_is_true(json_object_get(lock, "locked")) ? "" : "NOT ",
            time_text(json_number_value(json_object_get(json_object_get(lock, "error_ns"), "p50")),
                      median));
    fprintf(out, "\n");
}

static void print_counts(const struct figures *figures, FILE *out)
{
    char lag[24];
    fprintf(out, "\n  frames %zu, late %zu, releases missed %" PRIu64 ", sim lags wall by %s",
            figures->evidence->frame_count, figures->late_count, figures->missed,
            time_text((double)figures->lag_ns, lag));
    if (figures->paused > 0)
        fprintf(out, ", paused for %" PRIu64 " releases", figures->paused);
    for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++) {
        if (figures->causes[i] > 0)
            fprintf(out, ", %s %" PRIu64, rt_cause_name[i], figures->causes[i]);
    }
    fprintf(out, "\n");
    print_late(figures, out);
    print_steps(figures, out);
    const bool clocks = figures->evidence->clock_count >= 2;
    print_drift(figures, clocks ? "the raw clock" : "CLOCK_MONOTONIC (no other was recorded)",
                &figures->raw, out);
    if (clocks)
        print_drift(figures, "the wall clock", &figures->wall, out);
    print_lock(figures, out);
}

static void print_effective(const struct figures *figures, FILE *out)
{
    if (figures->effective_why) {
        fprintf(out, "  effective latency: not known, %s\n", figures->effective_why);
        return;
    }
    fprintf(out, "  effective latency, command in to the actuator's output at the commit:\n");
    for (int i = 0; i < figures->effective_count; i++) {
        const struct effective *effective = &figures->effective[i];
        char text[24];
        if (effective->known)
            fprintf(out, "    %-14s %10s, which explains %.1f %% of its motion\n", effective->name,
                    time_text(effective->delay.seconds * 1e9, text),
                    effective->delay.explained * 100.0);
        else
            fprintf(out, "    %-14s %10s, the actuator moved too little, or not as commanded\n",
                    effective->name, "-");
    }
}

void show_text(const struct figures *figures, FILE *out)
{
    const struct evidence *evidence = figures->evidence;
    fprintf(out, "%s: %g Hz, %s pace\n", evidence->scenario[0] ? evidence->scenario : "run",
            1e9 / (double)evidence->period_ns, evidence->pace_name);
    print_times(figures, out);
    print_jobs(figures, out);
    if (evidence->pace == RT_PACE_REAL)
        print_counts(figures, out);
    else
        fprintf(out, "\n");
    show_external_clock_text(figures, out);
    print_effective(figures, out);
    fprintf(out, "\nverdict: %s: %s\n", figures->kept ? "kept" : "NOT KEPT", figures->verdict);
    for (int i = 0; i < figures->reason_count; i++)
        fprintf(out, "  - %s\n", figures->reason[i]);
}
