/*
 * The tables of the timing page: percentiles, effective latency, late frames.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#pragma once

#include <stdio.h>

#include "tools/airbearing/timing/figures.h"

/* Write text from a log so that the page shows it as text. */
void html_escape(const char *text, FILE *out);

void html_table(const struct figures *figures, FILE *out);
void html_effective_table(const struct figures *figures, FILE *out);
void html_late_table(const struct figures *figures, FILE *out);
