/*
 * How the operator's desk stands: whether the run is paused, and which faults are on.
 *
 * Viewers are told by a message whenever that changes, also in a pause, and of faults by a line
 * each.  What the scenario planned does not count: an operator switches faults, and a state that is
 * put back brings its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/log/byte_writer.h"

extern const char run_status_schema[]; /* airbearing_msgs/msg/Desk, its ros2msg */

/* Who is told. */
struct run_status_sink {
    void *self;
    void (*image)(void *self, const struct io_byte_writer *image);
    void (*event)(void *self, const char *text);
};

struct run_status {
    const struct cfg_scenario *scenario;
    struct run_status_sink sink;
    struct io_byte_writer image;
    bool met; /* something was told */
    bool paused;
    uint32_t on; /* bit i: fault i, as it was told */
};

/* The first look is told whatever it sees.  Context: setup. */
void run_status_open(struct run_status *standing, const struct cfg_scenario *scenario,
                     struct run_status_sink sink);
/* One look.  on: the faults of now; struck: those that were on since the look before, which may be
 * over.  Context: one thread that is not real-time. */
void run_status_update(struct run_status *standing, bool paused, uint32_t on, uint32_t struck);
/* Context: after the run. */
void run_status_close(struct run_status *standing);
