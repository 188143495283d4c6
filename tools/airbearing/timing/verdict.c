/*
 * From figures to one sentence, and the reasons behind it.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tools/airbearing/timing/figures.h"

const char *figures_time(double ns, char text[24])
{
    const double size = fabs(ns);
    if (size < 1e3)
        snprintf(text, 24, "%.0f ns", ns);
    else if (size < 1e6)
        snprintf(text, 24, "%.1f us", ns * 1e-3);
    else if (size < 1e9)
        snprintf(text, 24, "%.2f ms", ns * 1e-6);
    else
        snprintf(text, 24, "%.3f s", ns * 1e-9);
    return text;
}

/* One more thing to know; beyond the room for them they are not. */
__attribute__((format(printf, 2, 3))) static void note(struct figures *figures, const char *format,
                                                       ...)
{
    va_list arguments;
    if (figures->reason_count == FIGURES_REASON_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(figures->reason[figures->reason_count++], FIGURES_TEXT_MAX, format, arguments);
    va_end(arguments);
}

static uint64_t broken_by(const struct figures *figures, const struct figures_limits *limits,
                          enum rt_cause cause)
{
    const uint64_t count = figures->causes[cause];
    return count > limits->allowed[cause] ? count : 0;
}

static void judge_lateness(struct figures *figures, const struct figures_limits *limits)
{
    static const struct {
        enum rt_cause cause;
        const char *what;
    } table[] = {{RT_CAUSE_OWN, "late by own work"},
                 {RT_CAUSE_IO, "late while waiting for a reply"},
                 {RT_CAUSE_FAULT, "late by a page fault"},
                 {RT_CAUSE_UNKNOWN, "late, and nothing explains it"}};
    const bool faults_are_ours =
        figures->ours > figures->causes[RT_CAUSE_OWN] + figures->causes[RT_CAUSE_IO];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const uint64_t count = broken_by(figures, limits, table[i].cause);
        if (count == 0)
            continue;
        note(figures, "%" PRIu64 " frame%s %s%s", count, count == 1 ? "" : "s", table[i].what,
             table[i].cause == RT_CAUSE_FAULT && !faults_are_ours ? ": memory was not locked" : "");
        figures->kept = figures->kept && table[i].cause == RT_CAUSE_FAULT && !faults_are_ours;
    }
}

static void judge_realtime(struct figures *figures)
{
    const json_t *realtime = json_object_get(figures->evidence->report, "realtime");
    const char *missing = json_string_value(json_object_get(realtime, "missing"));
    if (!figures->evidence->require_realtime)
        return;
    if (json_is_true(json_object_get(realtime, "met")))
        return;
    note(figures, "require: realtime was not met: %.200s",
         missing ? missing : "the log does not say what the machine gave");
    figures->kept = false;
}

static bool differs(const struct figures *figures, const char *key, uint64_t found)
{
    const json_t *value = json_object_get(figures->evidence->report, key);
    return json_is_integer(value) && json_integer_value(value) != (json_int_t)found;
}

/* Does the log prove what it says? */
static void judge_log(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    const char *ended = json_string_value(json_object_get(evidence->report, "ended"));
    if (evidence->lost > 0) {
        note(figures, "%" PRIu64 " frames have no record: the recorder lost them", evidence->lost);
        figures->kept = false;
    }
    if (figures->off_grid > 0) {
        note(figures, "%" PRIu64 " releases lie off the grid", figures->off_grid);
        figures->kept = false;
    }
    if (evidence->lost == 0 && evidence->complete &&
        (differs(figures, "frames", evidence->frame_count) ||
         (evidence->pace == RT_PACE_REAL && (differs(figures, "overruns", figures->late_count) ||
                                             differs(figures, "missed", figures->missed))))) {
        note(figures, "the frames in the log are not those that its report counts");
        figures->kept = false;
    }
    if (ended && strcmp(ended, "hung") == 0) {
        note(figures, "the run hung");
        figures->kept = false;
    }
    if (!evidence->complete)
        note(figures, "the log was cut off after frame %" PRIu64 "; this is of what is there",
             evidence->frame[evidence->frame_count - 1].frame);
    if (!evidence->report)
        note(figures, "the log has no report: what the machine gave and what was predicted are "
                      "not known");
}

static void write_verdict(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    char follow[24], ours[48] = "";
    if (evidence->pace != RT_PACE_REAL) {
        snprintf(figures->verdict, sizeof figures->verdict,
                 "no wall clock paced this run (%s): %.3f s were simulated in %.3f s of wall time",
                 evidence->pace_name, figures->seconds_simulated,
                 (double)(evidence->frame[evidence->frame_count - 1].end_ns -
                          evidence->frame[0].release_ns) *
                     1e-9);
        return;
    }
    if (figures->ours > 0)
        snprintf(ours, sizeof ours, ", %" PRIu64 " its own", figures->ours);
    snprintf(figures->verdict, sizeof figures->verdict,
             "simulated time followed wall time within %s over %.3f s; %" PRIu64
             " of %zu late frames were the machine's%s, %" PRIu64 " unexplained",
             figures_time((double)figures->follow_ns, follow), figures->seconds_wall,
             figures->machine, figures->late_count, ours, figures->unexplained);
}

void figures_judge(struct figures *figures, const struct figures_limits *limits)
{
    figures->kept = true;
    figures->reason_count = 0;
    judge_lateness(figures, limits);
    judge_realtime(figures);
    judge_log(figures);
    if (figures->wall_was_set)
        note(figures, "the wall clock was set during the run");
    write_verdict(figures);
}
