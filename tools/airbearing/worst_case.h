/*
 * The most that the dynamics can have to do in one frame, from the model alone.
 *
 * Tested by tests/scenario/test_cli.py.
 */
#pragma once

#include <stdbool.h>

#include "dynamics/plant.h"

struct worst_case {
    int by_step;  /* forward dynamics that the step needs */
    int by_solve; /* and that the instruments need, 0 or 1 */
    bool is_bounded;
    double each; /* instructions of one of them */
    double
        frame; /* and of all, with the integrator's own and the look at dynamics/flex/validity.h */
    enum dyn_isa isa; /* of the table that was used */
};

/*
 * Instructions of a release build, x86-64 at the instruction set of the model or the next smaller
 * that callgrind knows.  What is not bounded: joints that mimic others; beyond it lie angles above
 * a million radians, whose sine takes longer.  Context: setup.
 */
struct worst_case worst_case_of(const struct dyn_plant *plant, bool solves);
