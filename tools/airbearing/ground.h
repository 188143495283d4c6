/*
 * What became of the ground station's script, for the report and for the person at the console.
 */
#pragma once

#include <jansson.h>

#include "tools/airbearing/run.h"

/* Of one link; an empty list where it has no script. */
json_t *report_ground(const struct run *run, int link);
/* At the start: a script that nobody will hear. */
void warn_of_ground_lines(const struct run *run);
/* One line for each step. */
void print_ground(const struct run *run);
