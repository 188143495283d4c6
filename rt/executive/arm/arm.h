/*
 * The arm in the frame: panel, resolved rates, servos, motors, brakes, grapple and release.
 *
 *      servo (its own rate)   panel -> grapple, release -> joint rates -> torques
 *      motors (every frame)   torques of servos and slipping brakes, for the step
 *      brakes (after it)      who has come to rest is held, who is pulled too hard slips
 *
 * All that it remembers is struct cfg_arm_state, a part of the run state.
 */
#pragma once

#include "rt/executive/state/run_state.h"

/* Context: frame, as jobs. */
void arm_servo(struct cfg_rig *rig);
void arm_motors(struct cfg_rig *rig);
void arm_brakes(struct cfg_rig *rig);
