/*
 * The largest work of the dynamics in one frame, computed from the model alone.
 *
 * Tested by tests/scenario/commands/test_cli.py.
 */
#pragma once

#include <stdbool.h>

#include "dynamics/plant.h"

struct worst_case {
    int by_step;  /* forward dynamics that the step needs */
    int by_solve; /* and that the sensors need, 0 or 1 */
    bool is_bounded;
    double each;      /* instructions of one of them */
    double frame;     /* and of all, with the integrator's own and the checks of
                         dynamics/flex/validity.h */
    enum dyn_isa isa; /* of the table that was used */
};

/*
 * Instructions of a release build, x86-64 at the instruction set of the model or the next smaller
 * one that callgrind supports.  Not bounded are joints that mimic others, and angles above a
 * million radians, whose sine takes longer.  Context: setup.
 */
struct worst_case worst_case_of(const struct dyn_plant *plant, bool solves);
