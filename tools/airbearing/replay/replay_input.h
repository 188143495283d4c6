/*
 * The recorded inputs of a run: collected from its log, and applied again frame by frame.
 *
 * Tested by tests/scenario/replay/test_replay_synthetic.py and test_replay.py.
 */
#pragma once

#include "tools/airbearing/replay/replay.h"
#include <stdbool.h>

enum { REPLAY_PROBLEM_MAX = 160 };

/* Keep a message that the replay needs; others are ignored.  False with the problem: it is
 * malformed, or one before it is missing.  Context: setup. */
bool replay_append_message(struct replay *replay, const struct io_mcap_message *message,
                           char problem[REPLAY_PROBLEM_MAX]);
/* True when every restore of the operator has its state.  Context: setup, after the last message.
 */
bool replay_has_all_states(const struct replay *replay);

/* Make the simulation of the loaded scenario; its inputs are the recorded ones.  Context: setup. */
void replay_create_sim(struct replay *replay);
/* Apply the operator's acts that were recorded before the next frame. */
void replay_apply_acts(struct replay *replay);
/* Apply these acts and run the next frame. */
void replay_run_frame(struct replay *replay);
