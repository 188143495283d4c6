#include "tools/airbearing/ground.h"

#include <stdio.h>
#include <string.h>

static const char *const state_name[] = {[IO_GROUND_WAITING] = "not reached",
                                         [IO_GROUND_ASKED] = "not accepted",
                                         [IO_GROUND_DONE] = "accepted",
                                         [IO_GROUND_FAILED] = "not accepted"};

static double seconds(const struct run *run, uint64_t frames)
{
    return (double)frames * (double)run->scenario->period_ns * 1e-9;
}

/* "takeoff 2.5 m", "mode guided", "set MIS_TAKEOFF_ALT 2.5" */
static const char *describe(const struct io_ground_step *step, char text[64])
{
    const char *act = io_ground_act_name(step->act);
    if (step->act == IO_GROUND_TAKEOFF)
        snprintf(text, 64, "%s %.4g m", act, (double)step->value);
    else if (step->act == IO_GROUND_SET)
        snprintf(text, 64, "%s %s %.6g", act, step->name, (double)step->value);
    else
        snprintf(text, 64, "%s%s%s", act, step->name[0] ? " " : "", step->name);
    return text;
}

static json_t *time_or_null(const struct run *run, bool known, uint64_t frame)
{
    return known ? json_real(seconds(run, frame)) : json_null();
}

json_t *report_ground(const struct run *run, int link)
{
    const struct io_ground_script *script = &run->scenario->links[link].spec.script;
    json_t *array = json_array();
    for (int i = 0; run->links && i < script->step_count; i++) {
        const struct io_ground_result result = io_link_ground(run->links, link, i);
        char text[64];
        json_t *step = json_pack("{s:s, s:s, s:s, s:i}", "step", describe(&script->step[i], text),
                                 "state", state_name[result.state], "answer",
                                 io_ground_answer_name(result.answer), "tries", (int)result.tries);
        json_object_set_new(step, "at_s", json_real(seconds(run, script->step[i].frame)));
        json_object_set_new(step, "asked_s",
                            time_or_null(run, result.state != IO_GROUND_WAITING, result.asked));
        json_object_set_new(step, "ended_s",
                            time_or_null(run, result.state >= IO_GROUND_DONE, result.ended));
        json_array_append_new(array, step);
    }
    return array;
}

static void print_step(const struct run *run, int link, int index)
{
    const struct io_ground_step *step = &run->scenario->links[link].spec.script.step[index];
    const struct io_ground_result result = io_link_ground(run->links, link, index);
    char text[64];
    printf("  ground %s at %.4g s: %s", describe(step, text), seconds(run, step->frame),
           state_name[result.state]);
    if (result.state == IO_GROUND_DONE)
        printf(" at %.4g s after %u tries\n", seconds(run, result.ended), result.tries);
    else if (result.state == IO_GROUND_WAITING)
        putchar('\n');
    else
        printf(", %s, after %u tries\n", io_ground_answer_name(result.answer), result.tries);
}

void print_ground(const struct run *run)
{
    for (int i = 0; run->links && i < run->scenario->link_count; i++)
        for (int k = 0; k < run->scenario->links[i].spec.script.step_count; k++)
            print_step(run, i, k);
}

void warn_of_ground_lines(const struct run *run)
{
    for (int i = 0; run->links && i < run->scenario->link_count; i++) {
        const struct cfg_link *link = &run->scenario->links[i];
        const int status = io_link_ground_line(run->links, i);
        if (status < 0)
            fprintf(stderr,
                    "%s:%d:%d: links.%s.ground_line: %s cannot be had (%s); another ground station "
                    "may have it, and the script is not said\n",
                    run->scenario->path, link->mark.line, link->mark.column, link->name,
                    link->spec.ground_line, strerror(-status));
    }
}
