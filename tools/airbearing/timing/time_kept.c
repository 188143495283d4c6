#include "tools/airbearing/timing/time_kept.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 320 };
static const uint64_t least_lag_ns = 50000000;

__attribute__((format(printf, 2, 3))) static void report_problem(struct time_kept_listener listener,
                                                                 const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    listener.hear(listener.self, text);
}

static bool frames_kept(const struct time_kept *facts, struct time_kept_listener listener)
{
    static const struct {
        enum rt_cause cause;
        const char *what;
    } table[] = {{RT_CAUSE_OWN, "late by own work"},
                 {RT_CAUSE_IO, "late while waiting for a reply"},
                 {RT_CAUSE_FAULT, "late by a page fault"},
                 {RT_CAUSE_UNKNOWN, "late for no known reason"}};
    bool kept = true;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const enum rt_cause cause = table[i].cause;
        const uint64_t count = facts->causes[cause];
        const bool is_machines = cause == RT_CAUSE_FAULT && !facts->memory_locked;
        if (count <= facts->allowed[cause])
            continue;
        report_problem(listener, "%" PRIu64 " frame%s %s%s", count, count == 1 ? "" : "s",
                       table[i].what, is_machines ? ": memory was not locked" : "");
        kept = kept && is_machines;
    }
    return kept;
}

/* Time that the machine took counts as lost, too, unless its late frames are allowed. */
static bool pace_kept(const struct time_kept *facts, struct time_kept_listener listener)
{
    const uint64_t share_ns = facts->simulated_ns / 100;
    const uint64_t limit_ns = share_ns > least_lag_ns ? share_ns : least_lag_ns;
    const bool is_allowed_for =
        facts->allowed[RT_CAUSE_SWITCH] + facts->allowed[RT_CAUSE_STOLEN] > 0 &&
        facts->causes[RT_CAUSE_SWITCH] <= facts->allowed[RT_CAUSE_SWITCH] &&
        facts->causes[RT_CAUSE_STOLEN] <= facts->allowed[RT_CAUSE_STOLEN];
    if (facts->lag_ns <= limit_ns || is_allowed_for)
        return true;
    report_problem(listener, "simulated time fell %.3f s behind wall time in %.3f s",
                   (double)facts->lag_ns * 1e-9, (double)facts->simulated_ns * 1e-9);
    return false;
}

bool time_kept_judge(const struct time_kept *facts, struct time_kept_listener listener)
{
    bool kept = true;
    if (facts->pace == RT_PACE_REAL) {
        kept = frames_kept(facts, listener);
        kept = pace_kept(facts, listener) && kept;
    }
    if (facts->realtime_asked && !facts->realtime_met) {
        report_problem(listener, "require: realtime was not met: %.200s",
                       facts->missing ? facts->missing
                                      : "the log does not name what the machine gave");
        kept = false;
    }
    if (facts->hung) {
        report_problem(listener, "the run hung");
        kept = false;
    }
    return kept;
}
