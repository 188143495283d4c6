/*
 * The controller process that a scenario names.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "config/scenario.h"

enum { CONTROLLER_TEXT_MAX = 64 };

struct controller {
    pid_t pid;   /* 0: none, or already reaped */
    pid_t group; /* process group of it and its children; 0: none */
    int output;  /* memory file with what it printed, -1: none */
    int status;  /* wait status once reaped */
    char program[256];
    bool died_early; /* it ended before it was stopped */
    bool stopping;   /* it is being stopped: its end is expected */
    bool killed;     /* it did not end on SIGTERM */
};

/* Start it from this program's folder, else from PATH; the first megabyte of its output is kept,
 * not shown.  0 or -errno with one line in error.  Context: setup. */
int controller_start(struct controller *controller, const struct cfg_scenario *scenario,
                     char error[CFG_ERROR_MAX]);
/* True while it runs.  When it has ended, its children are ended, too, in any group or session.
 * Context: any but frame. */
bool controller_running(struct controller *controller);
/* Give it a moment to end by itself, then SIGTERM, then SIGKILL; its children are ended, too.
 * Context: after the run. */
void controller_stop(struct controller *controller);
/* "controller ended, status 3", or the signal.  Context: after its end. */
void controller_end_text(const struct controller *controller, char text[CONTROLLER_TEXT_MAX]);
/* Copy its output to stdout, each line after `prefix`.  Context: after the run. */
void controller_print_output(const struct controller *controller, const char *prefix);
