/*
 * The report of a finished run as the JSON object of the command-line contract.
 *
 * Tested by tests/tools/report/test_report.c.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* The caller owns the object (json_t).  Context: after the run. */
struct json_t;
struct json_t *report_json(const struct run *run);
