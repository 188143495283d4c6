/*
 * The state of a replay.  Its parts declare their functions in headers of their own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/log/mcap.h"
#include "rt/executive/sim.h"
#include "tools/airbearing/run/options.h"

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
    struct sim_record_act *acts; /* the operator's, by frame */
    size_t act_count, act_room, act_next;
    unsigned char *states; /* restored ones: struct sim_record_state and its bytes each */
    size_t state_count, state_room, state_next;
    uint64_t next_frame; /* first frame not yet run */
    uint64_t compared;
    struct sim_record_frame pending; /* read, but not compared yet */
    bool has_pending, ended;
};
