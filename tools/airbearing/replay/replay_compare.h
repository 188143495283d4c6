/*
 * The frames of a replay, each compared with its record.
 *
 * Tested by tests/scenario/replay/test_replay_synthetic.py and test_replay.py.
 */
#pragma once

#include "tools/airbearing/replay/replay.h"

/* Run and compare all frames before `until` that the log has.  0, or the exit code. */
int replay_run_until(struct replay *replay, struct io_mcap_reader *reader, uint64_t until);
/* Print how many frames were identical.  0, or the exit code when none was compared. */
int replay_print_identical(const struct replay *replay, struct io_mcap_reader *reader);
