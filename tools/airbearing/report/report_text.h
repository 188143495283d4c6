/*
 * The report of a finished run as a table and a verdict, for people.
 *
 * Tested by tests/tools/report/test_report.c.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Print it on stdout.  Context: after the run. */
void report_print(const struct run *run);
