/*
 * Sensors at work: from the true motion to what each says, faults included, into the samples of all
 * links and into the log.  What the kinds are is in rt/executive/output/sensor_types.h.
 */
#pragma once

#include <stdint.h>

#include "rt/executive/output/sensor_types.h"

struct sim;

/* Nothing has been said yet, and no board is told otherwise.  Context: setup. */
void sim_sensors_begin(struct sim *sim);

/* One sample of sensor index at the end of this frame; after a solve.  Context: frame. */
void sim_sensor_sample(struct sim *sim, int index, uint64_t frame);
