/*
 * The work of a call, counted instead of timed: the same on every machine.
 */
#pragma once

#include "tools/airbearing/bench/subject.h"

struct operation_count {
    bool has_instructions, has_flops;
    double instructions;                    /* of one call of dyn_aba() */
    enum dyn_isa isa;                       /* with which they were counted */
    double mul, add, div;                   /* of one state, by the counting build */
    double functions;                       /* sines with their cosines, and tanhs: not flops */
    char no_instructions[80], no_flops[80]; /* why not */
};

/* Callgrind counts this same program (`airbearing bench ... --calls`), of which isa is an
 * instruction set that it knows or the next smaller; bench_flops beside it counts flops.
 * Context: setup. */
void count_measure(const struct subject_source *source, enum dyn_isa isa,
                   struct operation_count *count);

/* mul + add + div.  Context: any. */
double count_sum(const struct operation_count *count);
