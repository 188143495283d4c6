/*
 * Instruments at work: from the true motion to what each says, faults included, into the samples of
 * all links and into the log.
 */
#pragma once

#include <stdint.h>

#include "config/scenario.h"

struct rig;

/* Numbers that an instrument's log record has.  Context: setup. */
int instrument_width(enum cfg_instrument kind);

/* Nothing has been said yet, and no board is told otherwise.  Context: setup. */
void instrument_begin(struct rig *rig);

/* One sample of sensor index at the end of this frame; after a solve.  Context: frame. */
void instrument_sample(struct rig *rig, int index, uint64_t frame);
