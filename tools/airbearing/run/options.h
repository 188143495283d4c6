/*
 * The options of airbearing run.
 *
 * Tested by tests/scenario/run/test_run_refusals.py.
 */
#pragma once

#include <stdbool.h>

#include "config/scenario.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"
#include "tools/airbearing/live/serve.h"

enum { RUN_OVERRIDE_MAX = 64 };

struct run_options {
    const char *scenario;
    const char *overrides[RUN_OVERRIDE_MAX];
    int override_count;
    double seconds; /* 0: the scenario's */
    int pace;       /* enum rt_pace, -1: the scenario's */
    const char *log, *report;
    bool overwrite;           /* an existing log may be overwritten */
    bool external_controller; /* the board is started by hand */
    const char *inject;
    struct serve_options serve;
    const char *restore; /* checkpoint to begin with */
    const char *acts[SIM_OPERATOR_SCRIPT_MAX];
    int act_count;
};

extern const char *const options_pace_name[]; /* by enum rt_pace */

/* 0 to continue, else the exit code; *done is set by --help.  Context: setup. */
int options_read(int argc, char **argv, struct run_options *options, bool *done);

/* Parse --inject: hang@2s, late=5ms@2s, touch=100@2s.  0, or the exit code.  Context: setup. */
int options_inject(const struct run_options *options, const struct cfg_scenario *scenario,
                   struct sim_inject *inject);
