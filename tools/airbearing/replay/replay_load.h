/*
 * What a replay reads from the log before its first frame.
 *
 * Tested by tests/scenario/replay/test_replay_synthetic.py and test_replay.py.
 */
#pragma once

#include "tools/airbearing/replay/replay.h"

/* Print one line about the log on stderr, and return the exit code.  Context: any. */
int replay_refuse(const struct replay *replay, const char *what);

/* Load the scenario, its files and the recorded --set values; 0, or the exit code with a line on
 * stderr.  Context: setup. */
int replay_load_scenario(struct replay *replay, struct io_mcap_reader *reader);
/* Load the recorded inputs, acts and states; 0, or the exit code with a line on stderr.
 * Context: setup, after replay_create_sim(). */
int replay_load_inputs(struct replay *replay, struct io_mcap_reader *reader);
