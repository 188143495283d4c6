/*
 * The verdict on a run: a line for each thing that it may keep, and what they come to.
 *
 *      physics       the motion is finite, and neither fast nor energetic beyond all sense
 *      expectations  none of `expect` failed
 *      time          simulated time followed wall time (timing/time_kept.h)
 *      link          every board commanded, none was lost, every reply came, no controller ended,
 *                    every step of a ground station's script that was reached was accepted
 *      log           every record that was to be written is
 *
 * Unsound physics, a failed expectation, a step that was not accepted and a log that the disk
 * refused are a no.  Of the rest what is not kept is told, and is a no where the scenario asks for
 * it (`require:`).
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
    bool asked; /* what is not kept is a no */
    char text[VERDICT_LINE_MAX];
};

struct verdict {
    struct verdict_line line[VERDICT_COUNT];
    int exit_code;               /* enum exit_code */
    char text[VERDICT_TEXT_MAX]; /* "ok, time not kept" */
};

/* Context: after the run. */
void verdict_judge(const struct run *run, struct verdict *verdict);

/* As an object of the report; the caller owns it (json_t). */
struct json_t;
struct json_t *verdict_json(const struct verdict *verdict);
/* The lines that are not kept, on the console. */
void verdict_print(const struct verdict *verdict);
