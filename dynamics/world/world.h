/*
 * The place and time of a run's world, and the values that depend on them: the magnetic field and
 * the Sun for the environment, and the place on the Earth for a GPS or a barometer.
 *
 * In orbit positions are ECI (earth.h): from the Earth's centre, z along its mean pole of date, x
 * in the equator at the celestial intermediate origin.  That is CIRS of the IAU 2000/2006 without
 * nutation (0.003 deg), and neither J2000 nor the equinox of date: the axes are 0.0056 deg a year
 * from those of J2000, GCRS and ICRF (0.14 deg in 2026), all of it a tilt of the pole; the mean
 * equinox of date lies 0.0128 deg a year west of x, the other way before 2000.  Else positions are
 * north, east, down of the home, whose axes the world keeps however far the vehicle goes.
 */
#pragma once

#include "dynamics/world/earth.h"
#include "dynamics/world/environment.h"
#include "dynamics/world/magnetic_field.h"

struct dyn_world {
    enum dyn_world_kind kind;
    bool has_field;   /* field is there; else the magnetic field is as given */
    bool fixed_field; /* as given although there is a field */
    struct dyn_geodetic home;
    struct dyn_home frame;           /* made from home */
    struct dyn_epoch epoch;          /* at second 0 of the run */
    struct dyn_magnetic_field field; /* of the epoch */
};

/* Fill in what follows from kind, home and epoch.  Context: setup. */
void dyn_world_begin(struct dyn_world *world);

/* The instant of a second of the run.  Context: frame. */
struct dyn_epoch dyn_world_epoch(const struct dyn_world *world, double seconds);

/* Update the slow values: magnetic field, Sun and its share, at a position in the world.  The
 * share is 1 or 0 by the horizon of the home, and in orbit the visible part of the Sun; the rest
 * of the environment does not change.  Once a frame.  Context: frame. */
void dyn_world_update(const struct dyn_world *world, double seconds, const double position[3],
                      struct dyn_environment *environment);

/* The place on the Earth, and the velocity against the ground, north, east and down there.
 * Context: frame. */
void dyn_world_geodetic(const struct dyn_world *world, double seconds, const double position[3],
                        const double velocity[3], struct dyn_geodetic *at, double velocity_ned[3]);
