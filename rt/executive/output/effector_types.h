/*
 * The types of effectors, one row each: all that the executive asks of a type.  What is physics is
 * in the type's row of dynamics/effector/.
 *
 * Tested by tests/rt/executive/output/test_records.c and tests/rt/executive/state/test_run_state.c.
 */
#pragma once

#include "rt/executive/state/run_state.h"

struct sim_effector_type {
    const char *schema; /* of its log records; NULL: no link commands it, and it has none */
    const char *text;   /* the same in ros2msg: the command after the drive, and one number more */
    const char *state;  /* "momentum of a wheel, N m s", for the text of /plant; NULL: none */
    /* Its states at the start, where they are not zero; the plant is solved.  NULL: they are.
     * Context: frame. */
    void (*start)(const struct sim_vehicle *vehicle, const struct sim_effector *effector,
                  double *state);
    /* The speed of what turns in it, relative to its body, rad/s.  NULL: nothing does.
     * Context: frame. */
    double (*speed)(const struct sim_vehicle *vehicle, const struct dyn_effector *effector,
                    const double *state);
};

extern const struct sim_effector_type sim_effector_types[DYN_EFFECTOR_TYPE_COUNT];
