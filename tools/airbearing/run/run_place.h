/*
 * The memory of a run: one arena for the simulation, the links and the log.
 *
 * Tested by tests/scenario/run/test_run_start.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Map and fill the arena, seal it and open the operator interface; 0, or the exit code with a line
 * on stderr.  Context: setup, after run_load(). */
int run_place(struct run *run);
