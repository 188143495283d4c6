#include "tools/airbearing/run/place_threads.h"
#include "config/scenario.h"

#include <stdio.h>

#include "tools/airbearing/command.h"

int place_threads_plan(const struct cfg_scenario *scenario, struct rt_machine *machine,
                       struct rt_core_plan *plan)
{
    const bool threaded =
        scenario->spec.io_mode == IO_LINK_THREADED && scenario->spec.link_count > 0;
    rt_machine_read(machine);
    if (rt_core_plan(machine, scenario->spec.frame_cpu, scenario->spec.io_cpu, threaded, plan) == 0)
        return 0;
    struct rt_core_plan frame_alone;
    const bool frame_wrong =
        rt_core_plan(machine, scenario->spec.frame_cpu, -1, false, &frame_alone) != 0;
    const struct cfg_mark mark = cfg_scenario_mark(scenario, frame_wrong ? "frame" : "io", "cpu");
    if (mark.line > 0)
        fprintf(stderr, "%s:%d:%d: %s\n", scenario->path, mark.line, mark.column, plan->reason);
    else
        fprintf(stderr, "--set %s.cpu: %s\n", frame_wrong ? "frame" : "io", plan->reason);
    return EXIT_BAD_INPUT;
}
