/*
 * The reasons that end a run before its last frame, and their names.
 */
#pragma once

#include <stdbool.h>

#include "tools/airbearing/run/run.h"

/* Poll the controller that the run has started: when it has ended and the run may not continue
 * without it, stop the frames.  Context: the main thread, about fifty times a second. */
void ending_watch_controller(struct run *run);

/* Find the reason for the end of the run, and invalidate the outputs where the reason asks for it.
 * Context: after the last frame. */
void ending_classify(struct run *run);

/* The end in a few words: "controller ended, status 1"; "" for a run that was completed.
 * Context: after ending_classify(). */
enum { ENDING_TEXT_MAX = 160 };
void ending_text(const struct run *run, char text[ENDING_TEXT_MAX]);
