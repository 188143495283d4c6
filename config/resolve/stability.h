/*
 * Checks that the integration step is short enough for the vehicle's own motion.
 *
 * The whole vehicle is linearised where it starts: springs and dampers of joints, contacts, drag,
 * viscous wheels, modes and their couplings.  Three times: as it starts, with every joint
 * pressed against its stops, and standing on the ground.  Each eigenvalue is compared with its
 * growth in one step of the integrator (step_growth.h); under ROS2 a vehicle with modes is judged
 * by the step itself (step_derivative.h).  Lags of effectors are stepped exactly and dry friction
 * is passive by itself (dynamics/README.md), so both are left out.
 */
#pragma once

#include <stdio.h>

#include "config/resolve/resolve.h"

/* Refuses a step that is too long, at the joint or the device that needs a shorter one; a vehicle
 * of more than CFG_STABILITY_MAX states is not checked.  After everything else.  false with the
 * complaint in report.  Context: setup. */
bool cfg_check_stability(const struct cfg_resolve *resolve);

enum { CFG_STABILITY_MAX = 240 };

/* The stiffest motions, and the longest step that each integrator could take.  Context: setup. */
void cfg_stability_print(const struct cfg_scenario *scenario, FILE *out);
