/*
 * What became of the ground station's script, for the report and for the person at the console.
 */
#pragma once

#include <jansson.h>

#include "tools/airbearing/run/run.h"

/* Of one link; an empty list where it has no script. */
json_t *ground_result_json(const struct run *run, int link);
/* At the start: a script that nobody will hear. */
void ground_result_warn_unheard(const struct run *run);
/* It was asked for, and not accepted until its time or the run was over. */
bool ground_result_failed(const struct run *run, int link, int step);
/* Who did not accept what, where that stands, and the answer. */
enum { GROUND_RESULT_TEXT_MAX = 192 };
void ground_result_failure_text(const struct run *run, int link, int step,
                                char text[GROUND_RESULT_TEXT_MAX]);
/* One line for each step. */
void ground_result_print(const struct run *run);
