/*
 * What a frame of the executive costs by itself.
 */
#pragma once

#include "tools/airbearing/bench/median.h"

/* CPU time of one frame on the grid of real pace: commit, latch, every job of a rig whose plant
 * does not move, stamps, margin, drift.  The wait for the release is jumped over, nothing is
 * logged and there is no link.  Context: setup. */
struct median overhead_measure(void);
