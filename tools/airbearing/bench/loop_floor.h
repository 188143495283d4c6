/*
 * The shortest possible loop with a board: no wait for the grid, nothing to simulate, an answer
 * at once.
 *
 * Tested by tests/scenario/commands/test_bench.py.
 */
#pragma once

#include <stdbool.h>

#include "io/link/link.h"
#include "tools/airbearing/bench/median.h"

struct loop_floor {
    bool is_measured;
    char why_not[IO_ERROR_MAX];
    struct median latency_ns;    /* as in run --report: command in to sample out */
    struct median round_trip_ns; /* sample handed over to command latched, the board included */
    bool io_polls;               /* the I/O thread spins on a core of its own */
};

/* A lockstep run over loopback UDP, with the threads, cores and priorities of a run on this
 * machine; the board is a thread that answers every HIL_SENSOR with a HIL_ACTUATOR_CONTROLS.  Takes
 * a second at most.  Context: setup. */
void loop_measure(struct loop_floor *loop);
