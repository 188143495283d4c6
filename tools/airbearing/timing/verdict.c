/*
 * The verdict of the figures in one sentence, and its reasons.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tools/airbearing/time_text.h"
#include "tools/airbearing/timing/figures.h"
#include "tools/airbearing/timing/time_kept.h"

/* Add a reason, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void add_reason(struct figures *figures,
                                                             const char *format, ...)
{
    va_list arguments;
    if (figures->reason_count == FIGURES_REASON_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(figures->reason[figures->reason_count++], FIGURES_TEXT_MAX, format, arguments);
    va_end(arguments);
}

static void add_time_problem(void *self, const char *text)
{
    add_reason(self, "%s", text);
}

/* By the same rule as the run's own verdict. */
static void judge_time(struct figures *figures, const struct figures_limits *limits)
{
    const json_t *report = figures->evidence->report;
    const json_t *realtime = json_object_get(report, "realtime");
    const char *ended = json_string_value(json_object_get(report, "ended"));
    struct time_kept facts = {
        .pace = figures->evidence->pace,
        .memory_locked =
            figures->ours > figures->causes[RT_CAUSE_OWN] + figures->causes[RT_CAUSE_IO],
        .lag_ns = figures->lag_ns,
        .simulated_ns = figures->evidence->frame_count * figures->evidence->period_ns,
        .hung = ended && strcmp(ended, "hung") == 0,
        .realtime_asked = figures->evidence->require_realtime,
        .realtime_met = json_is_true(json_object_get(realtime, "met")),
        .missing = json_string_value(json_object_get(realtime, "missing")),
    };
    memcpy(facts.causes, figures->causes, sizeof facts.causes);
    memcpy(facts.allowed, limits->allowed, sizeof facts.allowed);
    figures->kept = time_kept_judge(&facts, (struct time_kept_listener){figures, add_time_problem});
}

static bool values_differ(const struct figures *figures, const char *key, uint64_t found)
{
    const json_t *value = json_object_get(figures->evidence->report, key);
    return json_is_integer(value) && json_integer_value(value) != (json_int_t)found;
}

/* Check that the log is complete and consistent. */
static void judge_log(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    if (evidence->lost > 0) {
        add_reason(figures, "%" PRIu64 " frames have no record: the recorder lost them",
                   evidence->lost);
        figures->kept = false;
    }
    if (figures->off_grid > 0) {
        add_reason(figures, "%" PRIu64 " releases lie off the grid", figures->off_grid);
        figures->kept = false;
    }
    if (evidence->lost == 0 && evidence->complete &&
        (values_differ(figures, "frames", evidence->frame_count) ||
         (evidence->pace == RT_PACE_REAL &&
          (values_differ(figures, "overruns", figures->late_count) ||
           values_differ(figures, "missed", figures->missed))))) {
        add_reason(figures, "the frames in the log are not those that its report counts");
        figures->kept = false;
    }
    if (!evidence->complete)
        add_reason(figures, "the log was cut off after frame %" PRIu64 "; this is of what is there",
                   evidence->frame[evidence->frame_count - 1].frame);
    if (!evidence->report)
        add_reason(figures,
                   "the log has no report: what the machine gave and what was predicted are "
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
             time_text((double)figures->follow_ns, follow), figures->seconds_wall, figures->machine,
             figures->late_count, ours, figures->unexplained);
}

void figures_judge(struct figures *figures, const struct figures_limits *limits)
{
    figures->reason_count = 0;
    judge_time(figures, limits);
    judge_log(figures);
    if (figures->wall_was_set)
        add_reason(figures, "the wall clock was set during the run");
    write_verdict(figures);
}
