/*
 * The scenario of a run with what the command line changes in it, and the script of --act.
 *
 * Tested by tests/scenario/run/test_run_refusals.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Fill the scenario, the script and the injected disturbance of a run; 0, or the exit code with a
 * line on stderr.  Context: setup. */
int run_load(struct run *run);
