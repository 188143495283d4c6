/*
 * A recorded run on its way through the frame again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/log/mcap.h"
#include "rt/executive/sim.h"
#include "tools/airbearing/run/run_command.h"

enum { REPLAY_CDR_HEADER = 4 };

struct replay {
    const char *path;
    struct cfg_scenario *scenario;
    char override_text[RUN_OVERRIDE_MAX][256]; /* as they were recorded */
    const char *overrides[RUN_OVERRIDE_MAX];
    int override_count;
    struct sim *sim;
    struct sim_record_input *inputs; /* by frame, as recorded */
    size_t input_count, input_room, input_next;
    struct sim_record_act *acts; /* the same of the operator */
    size_t act_count, act_room, act_next;
    unsigned char *states; /* those that he restored: struct sim_record_state and its bytes each */
    size_t state_count, state_room, state_next;
    uint64_t next_frame; /* first frame not yet run */
    uint64_t compared;
    struct sim_record_frame pending; /* read, and not compared yet */
    bool has_pending, ended;
};

/* One line about the log on stderr, and the exit code.  Context: any. */
int replay_refuse(const struct replay *replay, const char *what);

/* What differs in this frame, by job and variable, as far as the log holds it: the first in the
 * order of the data flow.  Context: after the frame was run. */
void replay_print_divergence(const struct replay *replay, uint64_t frame);

/* Where the replay stands, for people. */
void replay_print_state(const struct replay *replay);
