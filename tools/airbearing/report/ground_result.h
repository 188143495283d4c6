/*
 * The results of a ground station's script, for the report and the console.
 */
#pragma once

#include <jansson.h>

#include "tools/airbearing/run/run.h"

/* The steps of one link; an empty list without a script. */
json_t *ground_result_json(const struct run *run, int link);
/* Warn at the start of a script that cannot be sent. */
void ground_result_warn_unheard(const struct run *run);
/* True when the step was sent, but not accepted before its time limit or the end of the run. */
bool ground_result_failed(const struct run *run, int link, int step);
/* The link that did not accept the step, the step with its line, and the answer. */
enum { GROUND_RESULT_TEXT_MAX = 192 };
void ground_result_failure_text(const struct run *run, int link, int step,
                                char text[GROUND_RESULT_TEXT_MAX]);
/* Print one line for each step. */
void ground_result_print(const struct run *run);
