/*
 * Acts of the operator in the form of the command line: `1.5s:tune devices.gyro.bias.x=0.1
 * deg/s`.
 *
 * Tested by tests/scenario/run/test_run_refusals.py and test_operator.py.
 */
#pragma once

#include <stdbool.h>

#include "config/scenario.h"
#include "rt/executive/operator/operator.h"

/* Parse one act; 0, or -1 with the reason in error.  Context: setup. */
int act_script_read(const char *text, const struct cfg_scenario *scenario,
                    struct sim_scripted_act *act, char error[CFG_ERROR_MAX]);

/* Sort by time; acts of the same time keep their order.  Context: setup. */
void act_script_sort(struct sim_scripted_act *acts, int count);

/* True when the script leaves the run paused for ever.  Context: setup. */
bool act_script_ends_paused(const struct sim_scripted_act *acts, int count);
