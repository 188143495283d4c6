/*
 * Is the step short enough for what the vehicle does by itself?
 *
 * The whole vehicle is linearised where it starts: springs and dampers of joints, contacts, drag,
 * viscous wheels, modes and all that couples them.  Three times: as it starts, with every joint
 * pressed against its stops, and standing on the ground.  Each eigenvalue is held against what the
 * integrator makes of it in a step (growth.h); under ROS2 a vehicle with modes is judged by its
 * step itself (step_slopes.h).  Lags of effectors are stepped exactly and dry friction is passive
 * by itself (dynamics/README.md), so both are left out.
 */
#pragma once

#include <stdio.h>

#include "config/resolve/resolve.h"

/* Refuses a step that is too long, at the joint or the device that asks for a shorter one; a
 * vehicle of more than CFG_STABILITY_MAX states is not tried.  After everything else.  false with
 * the complaint in report.  Context: setup. */
bool cfg_check_stability(const struct cfg_resolve *resolve);

enum { CFG_STABILITY_MAX = 240 };

/* The stiffest motions, and the longest step that each integrator could take.  Context: setup. */
void cfg_stability_print(const struct cfg_scenario *scenario, FILE *out);
