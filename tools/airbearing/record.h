/*
 * What goes into the log: one C struct per message, laid out as CDR lays it out, and its ros2msg
 * text.  The payload ends with the last field, so sizes are given by offsetof, not sizeof.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/command.h"
#include "io/telemetry/telemetry.h"

struct record_frame {
    uint64_t frame;
    uint64_t release_ns, start_ns, end_ns;
    uint64_t state_hash;
    uint32_t missed;
    uint8_t cause;
    uint8_t held;
};
enum { RECORD_FRAME_SIZE = offsetof(struct record_frame, held) + 1 };

enum record_input_kind { RECORD_COMMAND, RECORD_LOSS, RECORD_RESET };

/* An input as the frame latched it: all that replay needs. */
struct record_input {
    uint64_t frame;
    uint64_t ordinal; /* 0, 1, 2 ...: a gap means that the log lost one */
    uint64_t rx_ns, ready_ns, board_us, flags;
    uint32_t sequence;
    uint32_t mode;
    float controls[IO_CONTROL_MAX];
    uint8_t kind; /* enum record_input_kind */
    uint8_t link;
};
enum { RECORD_INPUT_SIZE = offsetof(struct record_input, link) + 1 };

/* Channel numbers of a scenario's log, in the order of record_channels(). */
struct record_layout {
    int frame, input, plant;
    int sensor; /* first of the sensors */
    int drive;  /* first of the commanded effectors */
    int count;
    uint32_t plant_size;
};

struct record_layout record_layout(const struct cfg_scenario *scenario, int nq, int nv);

/* Fill the specs; the definitions are allocated once and live as long as the program.  seconds of
 * the run size the rings so that a telemetry thread delayed by that long loses nothing.  Context:
 * setup. */
void record_channels(const struct cfg_scenario *scenario, int nq, int nv,
                     struct io_channel_spec channels[IO_CHANNEL_MAX]);
