#include "config/scenario.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cfg_scenario_free(struct cfg_scenario *scenario)
{
    if (scenario == NULL)
        return;
    for (int i = 0; i < scenario->controller.argument_count; i++)
        free(scenario->controller.argument[i]);
    cfg_load_arena_free(&scenario->kept);
    free(scenario->spec.bodies);
    free(scenario->spec.effectors);
    free(scenario->spec.sensors);
    free(scenario->spec.links);
    free(scenario->text);
    free(scenario->path);
    free(scenario);
}

/* ---- later complaints ---- */

void cfg_scenario_note(struct cfg_scenario *scenario, const char *section, const char *name,
                       struct cfg_mark mark)
{
    struct cfg_marked *marked = cfg_load_arena_take(&scenario->kept, sizeof *marked);
    *marked = (struct cfg_marked){.section = section,
                                  .name = cfg_load_arena_copy(&scenario->kept, name, strlen(name)),
                                  .mark = mark,
                                  .next = scenario->marked};
    scenario->marked = marked;
}

struct cfg_step_name cfg_ground_step_name(const struct sim_link *link, int step)
{
    struct cfg_step_name name;
    snprintf(name.text, sizeof name.text, "%s %d", link->name, step);
    return name;
}

struct cfg_mark cfg_scenario_mark(const struct cfg_scenario *scenario, const char *section,
                                  const char *name)
{
    for (const struct cfg_marked *marked = scenario->marked; marked != NULL; marked = marked->next)
        if (strcmp(marked->section, section) == 0 && strcmp(marked->name, name) == 0)
            return marked->mark;
    return (struct cfg_mark){0, 0};
}

void cfg_scenario_complain(const struct cfg_scenario *scenario, struct cfg_mark mark,
                           char error[CFG_ERROR_MAX], const char *format, ...)
{
    struct cfg_complaint report = {.path = scenario->path, .line = error};
    char what[CFG_ERROR_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    error[0] = '\0';
    cfg_fail(&report, NULL, mark, "%s", what);
}

/* The first link whose board runs on the wall clock and not on replies. */
static const struct sim_link *first_live(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->spec.link_count; i++)
        if (!io_protocol_traits(scenario->spec.links[i].spec.protocol)->lockstep)
            return &scenario->spec.links[i];
    return NULL;
}

static void complain_of_late_wire(const struct cfg_scenario *scenario, int fault,
                                  char error[CFG_ERROR_MAX])
{
    char number[16];
    snprintf(number, sizeof number, "%d", fault);
    cfg_scenario_complain(scenario, cfg_scenario_mark(scenario, "faults", number), error,
                          "a board in lockstep waits, so its wire cannot be late; use --pace "
                          "real, or remove the fault");
}

int cfg_check_pace(const struct cfg_scenario *scenario, enum rt_pace pace,
                   char error[CFG_ERROR_MAX])
{
    error[0] = '\0';
    const struct sim_link *live = first_live(scenario);
    if (pace == RT_PACE_FAST && live != NULL)
        cfg_scenario_complain(scenario, cfg_scenario_mark(scenario, "links", live->name), error,
                              "a board on link \"%s\" cannot follow pace fast; use --pace real or "
                              "--pace lockstep",
                              live->name);
    for (int i = 0; i < scenario->spec.fault_count && pace != RT_PACE_REAL; i++)
        if (scenario->spec.faults[i].link >= 0 &&
            scenario->spec.faults[i].spec.kind == IO_FAULT_DELAY)
            complain_of_late_wire(scenario, i, error);
    for (int i = 0; i < scenario->spec.link_count && pace != RT_PACE_REAL; i++)
        if (scenario->spec.links[i].delay > 0)
            cfg_scenario_complain(
                scenario, cfg_scenario_mark(scenario, "links", scenario->spec.links[i].name), error,
                "link \"%s\" has a delay, which a board in lockstep would wait "
                "for; use --pace real, or remove the delay",
                scenario->spec.links[i].name);
    if (pace == RT_PACE_LOCKSTEP && scenario->spec.link_count == 0)
        cfg_scenario_complain(
            scenario, (struct cfg_mark){0, 0}, error,
            "pace lockstep needs a link whose board sets the pace; add one or use "
            "--pace fast");
    return error[0] == '\0' ? 0 : -EINVAL;
}
