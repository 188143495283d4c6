/*
 * The arm in the frame: panel, resolved rates, servos, motors, brakes, grapple and release.
 *
 *      servo (its own rate)   panel -> grapple, release -> joint rates -> torques
 *      motors (every frame)   torques of servos and slipping brakes, for the step
 *      brakes (after it)      a joint at rest is held, one that is pulled too hard slips
 *
 * All that it remembers is struct sim_arm_state, a part of the run state.
 */
#pragma once

#include "rt/executive/state/run_state.h"

/* Context: frame, as jobs. */
void sim_arm_servo(struct sim_vehicle *vehicle);
void sim_arm_motors(struct sim_vehicle *vehicle);
void sim_arm_brakes(struct sim_vehicle *vehicle);
