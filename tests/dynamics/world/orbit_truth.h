/*
 * Elements from a state, the other way round than dynamics/world/orbit.h, and an orbit at a later
 * time.  A circle has no perigee and an equatorial orbit no node; the elements of such a state are
 * what rounding makes of them, but together they always give back the state.
 */
#pragma once

#include "dynamics/world/orbit.h"

/* Angles from -pi to pi.  NaN for a state that is not on an ellipse. */
struct dyn_orbit orbit_of_state(const struct dyn_orbit_state *state, double mu);

/* The orbit some seconds later, under central gravity alone. */
struct dyn_orbit orbit_later(const struct dyn_orbit *orbit, double mu, double seconds);
