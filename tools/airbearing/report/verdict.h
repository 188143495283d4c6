/*
 * The verdict on a run: a line for each aspect, and the exit code that follows from them.
 *
 *      physics       the motion is finite, and its speed and energy are plausible
 *      expectations  none of `expect` failed
 *      time          simulated time followed wall time (timing/time_kept.h)
 *      link          every board commanded, none was lost, every reply came, no controller ended,
 *                    every step of a ground station's script that was reached was accepted
 *      log           every record was written
 *
 * Unsound physics, a failed expectation, a step that was not accepted and a log that the disk
 * refused fail the verdict.  Other aspects that are not kept are reported, and fail the verdict
 * where the scenario requires them (`require:`).
 */
#pragma once

#include <stdbool.h>

#include "tools/airbearing/run/run.h"

enum verdict_aspect {
    VERDICT_PHYSICS,
    VERDICT_EXPECTATIONS,
    VERDICT_TIME,
    VERDICT_LINK,
    VERDICT_LOG,
    VERDICT_COUNT
};
extern const char *const verdict_aspect_name[VERDICT_COUNT];

enum { VERDICT_LINE_MAX = 256, VERDICT_TEXT_MAX = 384 };

struct verdict_line {
    bool kept;
    bool asked; /* the verdict is a no when it is not kept */
    char text[VERDICT_LINE_MAX];
};

struct verdict {
    struct verdict_line line[VERDICT_COUNT];
    int exit_code;               /* enum exit_code */
    char text[VERDICT_TEXT_MAX]; /* "ok, time not kept" */
};

/* Context: after the run. */
void verdict_judge(const struct run *run, struct verdict *verdict);

/* The verdict as an object of the report; the caller owns it (json_t). */
struct json_t;
struct json_t *verdict_json(const struct verdict *verdict);
/* Print the lines that are not kept. */
void verdict_print(const struct verdict *verdict);
