/*
 * What the files run_state*.c share.
 */
#pragma once

#include "rt/executive/state/run_state.h"

static inline bool sim_has_arm(const struct sim_spec *spec)
{
    return spec->arm.joint_count > 0;
}

/* The vehicle at its start.  anew: links, windows of faults and the operator's buttons stay as they
 * are.  Context: frame. */
void sim_vehicle_start(struct sim_vehicle *vehicle, bool anew);

/* A parameter goes from the run state to where the frame reads it.  Context: frame. */
void sim_vehicle_apply_parameter(struct sim_vehicle *vehicle, int index);
