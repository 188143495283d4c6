/*
 * The frame thread of a run, and the watch over it.
 *
 * Tested by tests/scenario/run/test_run_start.py and test_run_end.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Start the frame thread; 0, or the exit code with a line on stderr.  Context: setup, last. */
int run_frames_start(struct run *run);

/* Wait for the end of the frames.  The wait uses no file, terminal or lock (housekeeping.h does),
 * so a hung frame thread is found and a signal is handled whatever a disk or a terminal does.
 * Context: the main thread. */
void run_frames_watch(struct run *run);
