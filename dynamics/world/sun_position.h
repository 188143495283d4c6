/*
 * Where the Sun is, and how much of it a satellite sees past the Earth.
 */
#pragma once

#include "dynamics/math/spatial.h"
#include "dynamics/world/epoch.h"

/* From the Earth's centre, m in ECI axes (earth.h: mean equator of date, x at the celestial
 * intermediate origin), where it is seen, that is with aberration: Meeus, Astronomical Algorithms,
 * ch. 25.  To 0.01 deg and 1e-4 of the distance from 1950 to 2050, by ERFA (tests/peers).  UT1 does
 * for its time; the minute between them is 0.001 deg.  Context: frame. */
struct dyn_vec3 dyn_sun_position(const struct dyn_epoch *epoch);

/* The part of the Sun's disc that is not behind the Earth's, seen from r: 1 in light, 0 in the
 * umbra, between them in the penumbra.  The Earth is a ball of the equator's radius without air.
 * Both positions from the Earth's centre, r outside of it.  Context: frame. */
double dyn_sun_visible_fraction(struct dyn_vec3 sun, struct dyn_vec3 r);
