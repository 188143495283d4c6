/*
 * The assignment of a run's threads to the cores of this machine.
 */
#pragma once

#include "config/scenario.h"
#include "rt/machine/machine.h"

/* Read the machine and make the plan.  0, or the exit code with a line on stderr that names the
 * missing core.  Context: setup. */
int place_threads_plan(const struct cfg_scenario *scenario, struct rt_machine *machine,
                       struct rt_core_plan *plan);
