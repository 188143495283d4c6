/*
 * The live table of a run, on a terminal only.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Redraw the table.  Context: housekeeping thread. */
void terminal_draw(const struct run *run);
/* Leave the cursor below the table.  Context: after the run. */
void terminal_end(void);
