/*
 * What ends a run before its last frame, and how that is named.
 */
#pragma once

#include <stdbool.h>

#include "tools/airbearing/run/run.h"

/* Look after the controller that the run has started: when it is gone and the run may not go on
 * without it, the frames are told to stop.  Context: the thread that keeps house, about fifty times
 * a second. */
void ending_watch_controller(struct run *run);

/* Why the run is over; what stopped it has made its outputs safe.  Context: after the last frame.
 */
void ending_classify(struct run *run);

/* How it ended in a few words: "controller ended, status 1"; "" when it ran to its end.
 * Context: after ending_classify(). */
enum { ENDING_TEXT_MAX = 128 };
void ending_text(const struct run *run, char text[ENDING_TEXT_MAX]);
