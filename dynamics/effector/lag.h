/*
 * Lags of first order, dy/dt = (target - y) / lag, that every integrator steps exactly.
 *
 * An explicit method makes R(-h / lag) of the distance to the target in a step, which is not the
 * exp(-h / lag) of the law and grows without bound when the step is long.  So a step is given
 * another lag, the one with which the method comes out at exp(-h / lag) as long as the target
 * stands still, as it does while a command is held.  It differs from the true one by as little as
 * the method's own error: the order stays, and so does every sum that the method conserves.
 *
 * Where R does not come down that far (RK2 and ROS2 to 1/2, at a lag of 1.44 steps; RK4 to 0.30, at
 * 0.83 steps) its least value has to do.  Adams-Bashforth would need more of the past than there is
 * of the lag; its lags are stepped as Euler's (integrate.c), which is exact, too.
 *
 * Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/plant_spec.h"

/* What a step of h takes for this lag, both positive.  Context: frame. */
double dyn_lag_for_step(enum dyn_integrator integrator, double lag, double h);
