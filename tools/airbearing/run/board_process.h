/*
 * The board as a process of its own, where the scenario names one.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "config/scenario.h"

enum { CONTROLLER_TEXT_MAX = 64 };

struct controller {
    pid_t pid;   /* 0: none, or already reaped */
    pid_t group; /* it and what it has started; 0: none */
    int output;  /* memory file with what it printed, -1: none */
    int status;  /* wait status once reaped */
    char program[256];
    bool died_early; /* it ended while it was still wanted */
    bool stopping;   /* from here on its end is no news */
    bool killed;     /* it did not end when asked to */
};

/* Start it beside this program's own file, else from PATH; the first megabyte of its output is
 * kept, not shown.  0 or -errno with one line in error.  Context: setup. */
int controller_start(struct controller *controller, const struct cfg_scenario *scenario,
                     char error[CFG_ERROR_MAX]);
/* True while it runs.  When it has ended, what it has started ends with it, in whatever group or
 * session.  Context: any but frame. */
bool controller_running(struct controller *controller);
/* Let it end by itself for a moment, then SIGTERM, then SIGKILL; what it has started and left
 * behind ends, too.  Context: after the run. */
void controller_stop(struct controller *controller);
/* "controller ended, status 3", or the signal.  Context: after its end. */
void controller_end_text(const struct controller *controller, char text[CONTROLLER_TEXT_MAX]);
/* Copy its output to stdout, each line after `prefix`.  Context: after the run. */
void controller_print_output(const struct controller *controller, const char *prefix);
