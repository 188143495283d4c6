/*
 * Acts of the operator as the command line has them: `1.5s:tune devices.gyro.bias.x=0.1 deg/s`.
 *
 * Tested by tests/scenario/test_refused.py and test_operator.py.
 */
#pragma once

#include <stdbool.h>

#include "config/scenario.h"
#include "rt/executive/operator/operator.h"

/* 0, or -1 with what is wrong in error.  Context: setup. */
int act_script_read(const char *text, const struct cfg_scenario *scenario,
                    struct sim_scripted_act *act, char error[CFG_ERROR_MAX]);

/* By time; those of one time stay in their order.  Context: setup. */
void act_script_sort(struct sim_scripted_act *acts, int count);

/* Would the run wait for ever?  Context: setup. */
bool act_script_ends_paused(const struct sim_scripted_act *acts, int count);
