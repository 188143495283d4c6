/*
 * Lags of first order, dy/dt = (target - y) / lag, that every integrator steps exactly.
 *
 * An explicit method multiplies the distance to the target by R(-h / lag) in a step, which is not
 * the exact exp(-h / lag) and grows without bound when the step is long.  So a step is given
 * another lag, the one with which the method comes out at exp(-h / lag) as long as the target is
 * constant, as it is while a command is held.  It differs from the true one by as little as the
 * method's own error: the order stays, and so does every sum that the method conserves.
 *
 * Where R does not get that small (the least is 1/2 for RK2 and ROS2, at a lag of 1.44 steps, and
 * 0.30 for RK4, at 0.83 steps) its least value is used.  Adams-Bashforth steps its lags as Euler
 * does (integrate.c), which is exact, too.
 *
 * Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/plant_spec.h"

/* The lag that a step of h uses in place of `lag`; both are positive.  Context: frame. */
double dyn_lag_for_step(enum dyn_integrator integrator, double lag, double h);
