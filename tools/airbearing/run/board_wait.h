/*
 * The boards of a run before its first frame: the controller is started, and every board is
 * awaited.
 *
 * Tested by tests/scenario/live/test_terminal_tables.py and test_boards.py.
 */
#pragma once

#include "tools/airbearing/run/run.h"

/* Start the I/O thread and the controller, and wait until every board has sent a message; 0, or the
 * exit code with a line on stderr.  Context: setup, links are open. */
int board_wait_connect(struct run *run);
