/*
 * House-keeping of a run: what may wait for a disk, a terminal or a lock.
 *
 *      files     checkpoints are written and read
 *      display   the table on the terminal, how the desk stands, the clocks side by side
 *
 * Each has a thread of its own on the housekeeping core.  Whoever watches the frame (watch_frames()
 * in run.c, the I/O thread) does none of this, so a disk or a terminal that stands still delays
 * neither the safe outputs nor the end of the run.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/airbearing/run/periodic_thread.h"

struct run;

struct housekeeping {
    struct periodic_thread files, display;
    atomic_bool begun;             /* there is work for them */
    uint64_t begin_ns;             /* since when */
    bool files_hung, display_hung; /* known when it is over: hung in a call, and left behind */
};

/* Start the threads, before anybody waits for the first frame; 0, or the exit code with a line on
 * stderr.  Context: setup. */
int housekeeping_open(struct run *run);
/* The frames begin.  Context: setup. */
void housekeeping_begin(struct run *run);
/* What was begun is finished, for as long as a disk may take, which is half a minute; then what
 * came of the operator's acts is known.  Context: after the run, with the links closed. */
void housekeeping_close(struct run *run);
/* The same where no frame ran.  Context: setup. */
void housekeeping_abandon(struct run *run);
