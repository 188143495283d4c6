/*
 * What the user asked for on the command line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/board/law.h"

struct board_options {
    const char *address;
    struct board_law law; /* target, vehicle and gains; its running part is zero */
    double timeout_s;     /* longest silence once the simulator has spoken */
    double wait_s;        /* longest wait for its first word, 0: for ever */
    bool quiet;
    /* Faults on purpose, 0: none. */
    uint64_t drop;      /* ignore every n-th sensor message */
    double die_after_s; /* of simulated time */
    double mute_after_s;
};

enum board_options_result { BOARD_OPTIONS_GO, BOARD_OPTIONS_HELP, BOARD_OPTIONS_WRONG };

/* Complaints go to stderr, help to stdout. */
enum board_options_result board_options_read(int argc, char **argv, struct board_options *options);
