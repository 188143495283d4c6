/*
 * The first difference of a replayed frame from its record, by job and variable.
 */
#pragma once

#include "tools/airbearing/replay/replay.h"

/* Print what differs in this frame, as far as the log holds it: the first difference in the order
 * of the data flow.  Context: after the frame was run. */
void replay_print_divergence(const struct replay *replay, uint64_t frame);

/* Print the state before the next frame, for people. */
void replay_print_state(const struct replay *replay);
