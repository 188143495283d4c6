/*
 * The cost of flexibility: chains of flexible beams beside the same chain of rigid ones.
 *
 * Tested by tests/scenario/commands/test_bench_figures.py.
 */
#pragma once

#include <jansson.h>

#include "config/scenario.h"
#include "tools/airbearing/bench/count.h"
#include "tools/airbearing/bench/median.h"

enum { BEAMS_KINDS = 3 };

struct beams_row {
    const char *fidelity; /* rigid, ruthless, consistent */
    struct median forward_ns;
    struct median step_ns; /* of RK4, with nothing on the chain but gravity */
    double ratio;          /* of forward_ns to that of the rigid chain, turn by turn: median */
    struct operation_count count;
};

struct beams {
    int bodies, modes;
    enum dyn_isa isa;
    struct beams_row row[BEAMS_KINDS];
};

/* All in turns, as in speed.h.  isa -1: that of a run.  0, or -EINVAL with one line in error.
 * Context: setup. */
int beams_measure(int bodies, int modes, int isa, struct beams *beams, char error[CFG_ERROR_MAX]);

/* As a table, and as one object.  Context: setup. */
void beams_print(const struct beams *beams);
json_t *beams_json(const struct beams *beams);
