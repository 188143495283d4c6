/*
 * The executive's own cost per frame.
 */
#pragma once

#include "tools/airbearing/bench/median.h"

/* CPU time of one frame on the grid of real pace: commit, latch, every job of a simulation whose
 * plant does not move, stamps, margin, drift.  The wait for the release is skipped, nothing is
 * logged and there is no link.  Context: setup. */
struct median overhead_measure(void);
