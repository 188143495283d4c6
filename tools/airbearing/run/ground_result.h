/*
 * What became of the ground station's script, for the report and for the person at the console.
 */
#pragma once

#include <jansson.h>

#include "tools/airbearing/run/run.h"

/* Of one link; an empty list where it has no script. */
json_t *report_ground(const struct run *run, int link);
/* At the start: a script that nobody will hear. */
void warn_of_ground_lines(const struct run *run);
/* It was asked for, and not accepted until its time or the run was over. */
bool ground_step_failed(const struct run *run, int link, int step);
/* Who did not accept what, where that stands, and the answer. */
enum { GROUND_BLAME_MAX = 192 };
void ground_step_blame(const struct run *run, int link, int step, char text[GROUND_BLAME_MAX]);
/* One line for each step. */
void print_ground(const struct run *run);
