/*
 * Kepler orbits: a position and a velocity from six elements, in a frame that does not turn (the
 * plant's is ECI of earth.h: nodes count from the celestial intermediate origin, not from an
 * equinox); and how J2 of the Earth moves the elements on average.  Ellipses only, 0 <= e < 1.
 */
#pragma once

#include "dynamics/math/spatial.h"

struct dyn_orbit {
    double a;       /* semi-major axis, m */
    double e;       /* eccentricity */
    double i;       /* inclination, rad */
    double node;    /* right ascension of the ascending node, rad from x */
    double perigee; /* argument: angle from the node, rad */
    double mean;    /* anomaly, rad */
};

struct dyn_orbit_state {
    struct dyn_vec3 r, v;
};

/* E - e sin E = mean, for any mean; E is on the same turn.  Context: frame. */
double dyn_orbit_eccentric_anomaly(double mean, double e);

/* mu in m^3/s^2.  Context: frame. */
struct dyn_orbit_state dyn_orbit_to_state(const struct dyn_orbit *orbit, double mu);

/* Mean motion, rad/s.  Context: any. */
double dyn_orbit_mean_motion(const struct dyn_orbit *orbit, double mu);

/* rad/s; mean is beside the mean motion. */
struct dyn_orbit_drift {
    double node, perigee, mean;
};

/* Secular rates to first order in J2, radius being the one that belongs to it.  Context: any. */
struct dyn_orbit_drift dyn_orbit_drift(const struct dyn_orbit *orbit, double mu, double J2,
                                       double radius);
