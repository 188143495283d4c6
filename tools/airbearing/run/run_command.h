/*
 * A whole run, for the commands that start one.
 */
#pragma once

#include "rt/executive/sim.h"
#include "tools/airbearing/run/run.h"

/* Run this scenario from a state on and without its boards.  The run takes the scenario over; the
 * options hold, except for their scenario.  Returns the exit code.  Context: setup. */
int run_from_snapshot(struct cfg_scenario *scenario, const struct run_options *options,
                      const struct sim_snapshot *start_state);
