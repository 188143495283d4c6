/*
 * Housekeeping of a run: the work that may wait for a disk, a terminal or a lock.
 *
 *      files     writes and reads checkpoints
 *      display   draws the table on the terminal, publishes the run status, logs the clocks
 *
 * Each has a thread of its own on the housekeeping core.  The threads that watch the frame
 * (run_frames_watch() and the I/O thread) do none of this work, so a disk or a terminal that does
 * not answer delays neither the invalid outputs nor the end of the run.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Start the threads, before the wait for the boards; 0, or the exit code with a line on stderr.
 * Context: setup. */
int housekeeping_open(struct run *run);
/* The first frame is about to start.  Context: setup. */
void housekeeping_begin(struct run *run);
/* End the threads.  Checkpoints that are under way have half a minute to be finished; the result of
 * the operator's acts is known then.  Context: after the run, with the links closed. */
void housekeeping_close(struct run *run);
/* End the threads of a run without frames.  Context: setup. */
void housekeeping_abandon(struct run *run);
