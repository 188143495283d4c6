#include "tools/airbearing/report/verdict.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/airbearing/command.h"
#include "tools/airbearing/report/ground_result.h"
#include "tools/airbearing/report/report_figures.h"
#include "tools/airbearing/run/ending.h"
#include "tools/airbearing/timing/time_kept.h"

const char *const verdict_aspect_name[VERDICT_COUNT] = {[VERDICT_PHYSICS] = "physics",
                                                        [VERDICT_EXPECTATIONS] = "expectations",
                                                        [VERDICT_TIME] = "time",
                                                        [VERDICT_LINK] = "link",
                                                        [VERDICT_LOG] = "log"};

static const char *const not_kept[VERDICT_COUNT] = {[VERDICT_PHYSICS] = "physics not sound",
                                                    [VERDICT_EXPECTATIONS] = "expectations not met",
                                                    [VERDICT_TIME] = "time not kept",
                                                    [VERDICT_LINK] = "link broken",
                                                    [VERDICT_LOG] = "log not complete"};

/* Add a sentence to a line, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void set_line(char text[VERDICT_LINE_MAX],
                                                           const char *format, ...)
{
    size_t at = strlen(text);
    va_list arguments;
    if (at > 0)
        at += (size_t)snprintf(text + at, VERDICT_LINE_MAX - at, "; ");
    if (at >= VERDICT_LINE_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(text + at, VERDICT_LINE_MAX - at, format, arguments);
    va_end(arguments);
}

/* Mark an aspect as not kept, with the reason. */
#define BREAK(line, ...)                                                                           \
    do {                                                                                           \
        (line)->kept = false;                                                                      \
        set_line((line)->text, __VA_ARGS__);                                                       \
    } while (0)

/* ---- the lines ------------------------------------------------------------------------- */

static void judge_physics(const struct run *run, struct verdict_line *line)
{
    const struct sim *sim = run->sim;
    const struct sim_plausibility *motion = &sim->scratch.plausibility;
    const uint64_t refused = sim->vehicle->schedule->not_finite;
    line->asked = true;
    if (refused > 0)
        BREAK(line, "the motion is not finite from frame %llu on",
              (unsigned long long)sim->scratch.first_not_finite);
    if (motion->flaw == SIM_PLAUSIBILITY_TOO_FAST && isfinite(motion->value))
        BREAK(line,
              "body \"%.64s\" moves at %.3g m/s from frame %llu on, above max_speed of %.3g m/s",
              run->scenario->spec.bodies[motion->body].name, motion->value,
              (unsigned long long)motion->frame, run->scenario->spec.physics.max_speed);
    if (motion->flaw == SIM_PLAUSIBILITY_TOO_ENERGETIC && isfinite(motion->value))
        BREAK(
            line,
            "energy grew %.3g-fold without work done by frame %llu, body \"%.64s\" is the fastest",
            motion->value, (unsigned long long)motion->frame,
            run->scenario->spec.bodies[motion->body].name);
    if (line->kept)
        set_line(line->text, "sound");
}

static int count_expectations(const struct run *run, enum sim_expectation_verdict verdict)
{
    int count = 0;
    for (int i = 0; i < run->scenario->spec.expect_count; i++)
        count += sim_expectation_judge(&run->sim->scratch.expect[i]) == verdict;
    return count;
}

static void judge_expectations(const struct run *run, struct verdict_line *line)
{
    const int count = run->scenario->spec.expect_count;
    const int failed = count_expectations(run, SIM_EXPECTATION_FAILED);
    const int open = count_expectations(run, SIM_EXPECTATION_NOT_REACHED);
    line->asked = true;
    if (failed > 0)
        BREAK(line, "%d of %d failed", failed, count);
    if (open > 0 && run->scenario->require.expectations)
        BREAK(line, "the run ended before %d of %d, and require asks for all", open, count);
    else if (open > 0)
        set_line(line->text, "the run ended before %d of %d", open, count);
    if (run->acts.failed > 0 || run->housekeeping.files_hung)
        BREAK(line, "an act of the operator failed");
    if (line->text[0] == '\0')
        set_line(line->text, count > 0 ? "all %d met" : "none", count);
}

static void note_time_problem(void *self, const char *text)
{
    struct verdict_line *line = self;
    set_line(line->text, "%s", text);
}

static void judge_time(const struct run *run, struct verdict_line *line)
{
    const struct rt_frame *frame = run->frame;
    struct time_kept facts = {.pace = run->scenario->spec.pace,
                              .memory_locked = run->memory_locked,
                              .lag_ns = frame->missed * frame->spec.period_ns,
                              .simulated_ns = frame->frames * frame->spec.period_ns,
                              .hung = run->end == RUN_HUNG,
                              .realtime_asked = run->scenario->require_realtime};
    memcpy(facts.causes, frame->causes, sizeof facts.causes);
    facts.realtime_met = report_realtime(run, &facts.missing);
    line->asked = run->scenario->require.time || run->scenario->require_realtime;
    line->kept = time_kept_judge(&facts, (struct time_kept_listener){line, note_time_problem});
    if (line->text[0] == '\0')
        set_line(line->text,
                 facts.pace == RT_PACE_REAL ? "kept" : "no wall clock paced this run (%s)",
                 options_pace_name[facts.pace]);
}

/* The scenario requires the steps of its script: one that was not accepted fails the verdict. */
static void judge_ground(const struct run *run, int link, struct verdict_line *line)
{
    for (int i = 0; i < run->scenario->spec.links[link].spec.script.step_count; i++) {
        char text[GROUND_RESULT_TEXT_MAX];
        if (!ground_result_failed(run, link, i))
            continue;
        ground_result_failure_text(run, link, i, text);
        line->asked = true;
        BREAK(line, "%s", text);
    }
}

static void judge_link(const struct run *run, struct verdict_line *line)
{
    line->asked = run->scenario->require.link;
    for (int i = 0; run->links && i < run->scenario->spec.link_count; i++) {
        const struct sim_link *link = &run->scenario->spec.links[i];
        const uint32_t outages = run->source.outages[i].count;
        if (run->link[i].counters.commands == 0 && link->spec.bus.kind != IO_BUS_COCKPIT)
            BREAK(line, "%.32s never commanded", link->name);
        if (outages > 0)
            BREAK(line, "%.32s was lost %u time%s", link->name, outages, outages == 1 ? "" : "s");
        judge_ground(run, i, line);
    }
    if (run->frame->missed_replies > 0)
        BREAK(line, "%llu replies did not come in time",
              (unsigned long long)run->frame->missed_replies);
    /* A controller that exits after its last reply is no fault. */
    if (run->controller.died_early && (!line->kept || run->end == RUN_CONTROLLER_ENDED)) {
        char text[CONTROLLER_TEXT_MAX];
        controller_end_text(&run->controller, text);
        BREAK(line, "%s", text);
    }
    if (line->kept)
        set_line(line->text, run->links ? "unbroken" : "the run has no link");
}

static void judge_log(const struct run *run, struct verdict_line *line)
{
    line->asked = run->scenario->require.log || run->log.error != 0;
    if (!run->options.log) {
        line->kept = !run->scenario->require.log;
        set_line(line->text, "no log was requested (--log)");
        return;
    }
    if (run->log.error)
        BREAK(line, "the disk refused: %s", strerror(-run->log.error));
    if (run->log.dropped > 0)
        BREAK(line, "%llu records were dropped", (unsigned long long)run->log.dropped);
    if (line->kept)
        set_line(line->text, "complete");
}

/* ---- what they come to ----------------------------------------------------------------- */

static int code_of(const struct run *run, const struct verdict *verdict)
{
    if (run->end == RUN_SIGNAL)
        return EXIT_INTERRUPTED;
    if (run->end != RUN_COMPLETE)
        return EXIT_BY_POLICY;
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (verdict->line[i].asked && !verdict->line[i].kept)
            return EXIT_VERDICT_NO;
    return EXIT_OK;
}

static void write_text(const struct run *run, struct verdict *verdict)
{
    char *text = verdict->text;
    size_t at;
    if (run->end != RUN_COMPLETE) {
        ending_text(run, text);
    } else {
        const bool open = count_expectations(run, SIM_EXPECTATION_NOT_REACHED) > 0;
        snprintf(text, VERDICT_TEXT_MAX, "%s",
                 verdict->exit_code != EXIT_OK ? "NO"
                 : open                        ? "ok so far"
                                               : "ok");
    }
    for (int i = 0; i < VERDICT_COUNT; i++) {
        at = strlen(text);
        if (!verdict->line[i].kept)
            snprintf(text + at, VERDICT_TEXT_MAX - at, ", %s", not_kept[i]);
    }
}

void verdict_judge(const struct run *run, struct verdict *verdict)
{
    static void (*const judge[VERDICT_COUNT])(const struct run *, struct verdict_line *) = {
        [VERDICT_PHYSICS] = judge_physics, [VERDICT_EXPECTATIONS] = judge_expectations,
        [VERDICT_TIME] = judge_time,       [VERDICT_LINK] = judge_link,
        [VERDICT_LOG] = judge_log,
    };
    *verdict = (struct verdict){0};
    for (int i = 0; i < VERDICT_COUNT; i++) {
        verdict->line[i].kept = true;
        judge[i](run, &verdict->line[i]);
    }
    verdict->exit_code = code_of(run, verdict);
    write_text(run, verdict);
}

struct json_t *verdict_json(const struct verdict *verdict)
{
    json_t *object = json_pack("{s:b, s:s, s:i}", "ok", verdict->exit_code == EXIT_OK, "text",
                               verdict->text, "exit_code", verdict->exit_code);
    for (int i = 0; i < VERDICT_COUNT; i++) {
        const struct verdict_line *line = &verdict->line[i];
        json_object_set_new(object, verdict_aspect_name[i],
                            json_pack("{s:b, s:b, s:s}", "kept", line->kept, "required",
                                      line->asked, "text", line->text));
    }
    return object;
}

void verdict_print(const struct verdict *verdict)
{
    for (int i = 0; i < VERDICT_COUNT; i++) {
        const struct verdict_line *line = &verdict->line[i];
        if (!line->kept)
            printf("  %-13s %s%s\n", verdict_aspect_name[i], line->text, line->asked ? ": NO" : "");
    }
}
