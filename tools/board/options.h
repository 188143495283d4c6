/*
 * The options of the command line.
 *
 * Tested by tests/scenario/board/test_board_replies.py.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/board/vehicles/vehicle.h"
#include "tools/board/wires/wire.h"

struct board_options {
    const struct board_wire_kind *wire;
    struct board_wire_setup wire_setup;
    enum board_vehicle_kind vehicle;
    /* Targets, vehicles and gains; the running parts of the structs are zero. */
    struct board_law law;
    struct board_momentum momentum;
    struct board_detumble detumble;
    bool detumbles;
    struct board_airframe airframe;
    double height;      /* m above the start */
    double declination; /* rad */
    double timeout_s;   /* longest silence after the simulator's first message */
    double wait_s;      /* longest wait for its first message, 0: for ever */
    bool quiet;
    const char *ground; /* a ground station's address, or "wire"; NULL: it flies by itself */
    /* Injected faults, 0: none. */
    double clock_ppm;   /* its clock runs fast by this */
    uint64_t drop;      /* ignore every n-th sensor message */
    double die_after_s; /* of simulated time */
    double mute_after_s;
};

enum board_options_result { BOARD_OPTIONS_GO, BOARD_OPTIONS_HELP, BOARD_OPTIONS_WRONG };

extern const char *const board_help[]; /* NULL at the end */

/* Complaints go to stderr, help to stdout. */
enum board_options_result board_options_read(int argc, char **argv, struct board_options *options);
