/*
 * The figures of a run as text, JSON, an HTML page and a trace.
 */
#pragma once

#include <stdio.h>

#include "tools/airbearing/timing/figures.h"

struct json_t;

void show_text(const struct figures *figures, FILE *out);
/* The caller owns it. */
struct json_t *show_json(const struct figures *figures);
/* One HTML file without dependencies. */
void show_page(const struct figures *figures, FILE *out);
/* The figures of the stopwatch; nothing without one. */
void show_external_clock_text(const struct figures *figures, FILE *out);
void show_external_clock_page(const struct figures *figures, FILE *out);
struct json_t *show_external_clock_json(const struct external_clock *external);
/* Chrome's trace format, which Perfetto reads: at most some tens of thousands of frames, those
 * around late ones first. */
void show_trace(const struct figures *figures, FILE *out);
