/*
 * Which thread of a scenario runs on which core of this machine.
 */
#pragma once

#include "config/scenario.h"
#include "rt/machine/machine.h"

/* Read the machine and make the plan.  0, or the exit code after one line at the core that is not
 * there. Context: setup. */
int place_threads_plan(const struct cfg_scenario *scenario, struct rt_machine *machine,
                       struct rt_core_plan *plan);
