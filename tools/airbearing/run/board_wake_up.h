/*
 * Messages before frame 0, for a board that sends only in reply.
 */
#pragma once

#include "tools/airbearing/run/run.h"
#include <stdbool.h>

/* Send one more sample of the vehicle at its start.  Returns true once the board has answered it;
 * frame 0 then begins at the time of the board's clock.  Context: setup, links are started. */
bool board_wake_up(struct run *run, int link);
