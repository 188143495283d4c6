/*
 * The end of a run: links, log, verdict and report.
 *
 * Tested by tests/scenario/run/test_run_end.py and test_run_start.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Close everything, write and print the report, and return the exit code.  A stuck frame thread is
 * left as it is, and the process ends here.  Context: the main thread, after the last frame. */
int run_finish(struct run *run);

/* Undo a start that failed before the first frame: no file stays behind that did not exist before.
 * Context: the main thread. */
void run_abandon(struct run *run);
