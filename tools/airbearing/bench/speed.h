/*
 * Nanoseconds per state of a model's forward dynamics, single and batched, by instruction set.
 */
#pragma once

#include "tools/airbearing/bench/median.h"
#include "tools/airbearing/bench/subject.h"

enum { SPEED_ISA_COUNT = DYN_ISA_AVX512 + 1, SPEED_SEGMENTS = 24 };

struct speed {
    bool is_measured;                   /* this processor runs it, and it was selected */
    struct median forward_ns, batch_ns; /* batch_ns: zero where the subject has no batch */
};

/* All contenders take turns, so that each sees the same machine: SPEED_SEGMENTS turns each,
 * thread CPU time. only: this instruction set and no other; -1: all that run.  Leaves the
 * subject's own in place. Context: setup. */
void speed_measure(const struct subject *subject, int only, struct speed speeds[SPEED_ISA_COUNT]);
