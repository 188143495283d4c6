/*
 * The log of a run: its metadata and attachments.
 *
 * Tested by tests/scenario/log/test_log.py and test_run_start.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Start the telemetry thread, and the log where --log asks for one; 0, or the exit code with a line
 * on stderr.  Context: setup, after the first message of the boards. */
int run_log_start(struct run *run);

/* Attach the report and the machine's findings, and close the log.  The attached report has the
 * log's own figures as they were before this call.  Context: after the run. */
void run_log_finish(struct run *run);
