/*
 * The run status: whether the run is paused, and which faults are on.
 *
 * A message is published whenever the status changes, also in a pause, and a line of the log for
 * each fault.  The faults are those of the run state, not of the scenario: an operator switches
 * faults, and a restored state brings its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/log/byte_writer.h"

extern const char run_status_schema[]; /* airbearing_msgs/msg/Desk, its ros2msg */

/* Receives the messages and the lines. */
struct run_status_sink {
    void *self;
    void (*image)(void *self, const struct io_byte_writer *image);
    void (*event)(void *self, const char *text);
};

struct run_status {
    const struct cfg_scenario *scenario;
    struct run_status_sink sink;
    struct io_byte_writer image;
    bool met; /* a status has been published */
    bool paused;
    uint32_t on; /* bit i: fault i, as last published */
};

/* The first update is always published.  Context: setup. */
void run_status_open(struct run_status *run_status, const struct cfg_scenario *scenario,
                     struct run_status_sink sink);
/* Publish changes.  on: the faults that are on; struck: those that were on since the previous
 * update, which may be over.  Context: one thread that is not real-time. */
void run_status_update(struct run_status *run_status, bool paused, uint32_t on, uint32_t struck);
/* Context: after the run. */
void run_status_close(struct run_status *run_status);
