/*
 * Figures of a finished run that both forms of its report need.
 *
 * Tested by tests/tools/report/test_report.c.
 */
#pragma once

#include "dynamics/flex/validity.h"
#include "tools/airbearing/run/run.h"
#include <stdbool.h>
#include <stdint.h>

/* The names of the limits of a flexible body's model, by enum dyn_validity_limit. */
extern const char *const report_limit_name[DYN_VALIDITY_COUNT];

/* From the first release to the end of the last frame. */
uint64_t report_wall_ns(const struct rt_frame *frame);
/* Simulated time that was lost by missed releases. */
uint64_t report_lag_ns(const struct rt_frame *frame);
/* The scheduling policy of the frame thread at its end; of a stuck one, at its start. */
int report_frame_policy(const struct run *run);
/* How often fault i acted. */
uint64_t report_fault_hits(const struct run *run, int i);
/* Simulated seconds of a prediction per second of the wall clock, by the median. */
double report_predictor_speed(const struct sim_predictor_result *predicted);
/* True when the run was what `require: realtime` asks for; else *why names what was missing. */
bool report_realtime(const struct run *run, const char **why);
