#include "tools/airbearing/report/ground_result.h"
#include "config/scenario.h"

#include <stdio.h>
#include <string.h>

static const char *const state_name[] = {[IO_GROUND_WAITING] = "not reached",
                                         [IO_GROUND_PENDING] = "not accepted",
                                         [IO_GROUND_DONE] = "accepted",
                                         [IO_GROUND_FAILED] = "not accepted"};

static double seconds(const struct run *run, uint64_t frames)
{
    return (double)frames * (double)run->scenario->spec.period_ns * 1e-9;
}

static json_t *time_or_null(const struct run *run, bool known, uint64_t frame)
{
    return known ? json_real(seconds(run, frame)) : json_null();
}

/* The line of a step in the scenario; 0: it comes from an override. */
static int line_of(const struct run *run, int link, int step)
{
    const struct cfg_step_name name = cfg_ground_step_name(&run->scenario->spec.links[link], step);
    return cfg_scenario_mark(run->scenario, "ground", name.text).line;
}

static json_t *line_or_null(const struct run *run, int link, int step)
{
    const int line = line_of(run, link, step);
    return line > 0 ? json_integer(line) : json_null();
}

json_t *ground_result_json(const struct run *run, int link)
{
    const struct io_ground_script *script = &run->scenario->spec.links[link].spec.script;
    json_t *array = json_array();
    for (int i = 0; run->links && i < script->step_count; i++) {
        const struct io_ground_result result = io_link_ground_result(run->links, link, i);
        char text[IO_GROUND_TEXT_MAX];
        json_t *step =
            json_pack("{s:s, s:s, s:s, s:i}", "step", io_ground_step_text(&script->step[i], text),
                      "state", state_name[result.state], "answer",
                      io_ground_answer_name(result.answer), "tries", (int)result.tries);
        json_object_set_new(step, "at_s", json_real(seconds(run, script->step[i].frame)));
        json_object_set_new(step, "asked_s",
                            time_or_null(run, result.state != IO_GROUND_WAITING, result.asked));
        json_object_set_new(step, "ended_s",
                            time_or_null(run, result.state >= IO_GROUND_DONE, result.ended));
        json_object_set_new(step, "line", line_or_null(run, link, i));
        json_array_append_new(array, step);
    }
    return array;
}

static void print_step(const struct run *run, int link, int index)
{
    const struct io_ground_step *step = &run->scenario->spec.links[link].spec.script.step[index];
    const struct io_ground_result result = io_link_ground_result(run->links, link, index);
    char text[IO_GROUND_TEXT_MAX];
    printf("  ground %s at %.4g s: %s", io_ground_step_text(step, text), seconds(run, step->frame),
           state_name[result.state]);
    if (result.state == IO_GROUND_DONE)
        printf(" at %.4g s after %u tries\n", seconds(run, result.ended), result.tries);
    else if (result.state == IO_GROUND_WAITING)
        putchar('\n');
    else
        printf(", %s, after %u tries\n", io_ground_answer_name(result.answer), result.tries);
}

void ground_result_print(const struct run *run)
{
    for (int i = 0; run->links && i < run->scenario->spec.link_count; i++)
        for (int k = 0; k < run->scenario->spec.links[i].spec.script.step_count; k++)
            print_step(run, i, k);
}

bool ground_result_failed(const struct run *run, int link, int step)
{
    const enum io_ground_state state = io_link_ground_result(run->links, link, step).state;
    return state == IO_GROUND_PENDING || state == IO_GROUND_FAILED;
}

void ground_result_failure_text(const struct run *run, int link, int step,
                                char text[GROUND_RESULT_TEXT_MAX])
{
    const struct sim_link *of = &run->scenario->spec.links[link];
    const struct io_ground_result result = io_link_ground_result(run->links, link, step);
    const int line = line_of(run, link, step);
    char what[IO_GROUND_TEXT_MAX], where[64] = "";
    const char *path = strrchr(run->scenario->path, '/');
    if (line > 0)
        snprintf(where, sizeof where, " (%.48s:%d)", path ? path + 1 : run->scenario->path, line);
    snprintf(text, GROUND_RESULT_TEXT_MAX, "%.32s did not accept \"%s\"%s: %s", of->name,
             io_ground_step_text(&of->spec.script.step[step], what), where,
             io_ground_answer_name(result.answer));
}

void ground_result_warn_unheard(const struct run *run)
{
    for (int i = 0; run->links && i < run->scenario->spec.link_count; i++) {
        const struct sim_link *link = &run->scenario->spec.links[i];
        const struct cfg_mark mark = cfg_scenario_mark(run->scenario, "links", link->name);
        const int status = io_link_ground_line_status(run->links, i);
        if (status < 0)
            fprintf(
                stderr,
                "%s:%d:%d: links.%s.ground_line: %s cannot be opened (%s); another ground station "
                "may use it, and the script is not sent\n",
                run->scenario->path, mark.line, mark.column, link->name, link->spec.ground_line,
                strerror(-status));
    }
}
