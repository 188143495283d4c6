/*
 * The files that a run writes, --log and --report: checked before the run, written or removed after
 * it.
 *
 * Tested by tests/scenario/run/test_run_refusals.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Check that both files can be written and that neither is the scenario or the other one; 0, or the
 * exit code with a line on stderr.  Context: setup. */
int output_files_check(struct run *run);

/* Print why this file of this option is refused, and return the exit code. */
int output_files_refuse(const char *option, const char *path, const char *why);
/* The reason for -errno of a log that cannot be opened. */
const char *output_files_log_problem(int failure);

/* Remove a log that this run has made and not written, unless another run writes it by now. */
void output_files_remove_log(const char *path);

/* Write --report; 0, or the exit code with a line on stderr.  Context: after the run. */
int output_files_write_report(const struct run *run);
