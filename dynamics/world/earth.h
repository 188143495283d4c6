/*
 * The Earth: the WGS-84 ellipsoid, the frames on it and around it, and its gravity.
 *
 *      ECI     not turning; z along the Earth's axis of date, x at the celestial intermediate
 *              origin (CIRS without nutation; not J2000, see world.h)
 *      ECEF    turning with the Earth; z along its axis, x through Greenwich
 *      NED     at a home: north, east, down along the normal of the ellipsoid
 *
 * ECI and ECEF differ by the Earth rotation angle of IAU 2000 alone.  Precession, nutation and
 * polar motion are left out: the axis stays as it was at the start of the run (it moves by 0.06
 * arcsec a day), and x is 0.013 deg a year away from the equinox of date.  Heights are above the
 * ellipsoid, not the sea.  Constants: NIMA TR8350.2, third edition.
 */
#pragma once

#include "dynamics/math/spatial.h"
#include "dynamics/world/epoch.h"

#define DYN_EARTH_RADIUS     6378137.0             /* a, equatorial, m */
#define DYN_EARTH_FLATTENING (1.0 / 298.257223563) /* f */
#define DYN_EARTH_MU         3.986004418e14        /* GM with the atmosphere, m^3/s^2 */
#define DYN_EARTH_J2         1.082629821313e-3     /* of the ellipsoid */
#define DYN_EARTH_RATE       7.292115146706979e-5  /* of the rotation angle, rad/s */

struct dyn_geodetic {
    double latitude, longitude; /* rad */
    double height;              /* m above the ellipsoid */
};

/* Context: any. */
struct dyn_vec3 dyn_earth_to_ecef(const struct dyn_geodetic *at);

/* Bowring's iteration, to the last digits of r from 10 km below the ellipsoid on: 3e-9 m at the
 * ground, 2e-8 m at geostationary height.  Longitude from -pi to pi.  Context: frame. */
struct dyn_geodetic dyn_earth_to_geodetic(struct dyn_vec3 r);

/* A local frame.  Directions go by E alone: dyn_mul(&home.E, v), and dyn_mul_t back. */
struct dyn_home {
    struct dyn_vec3 origin; /* ECEF */
    struct dyn_mat3 E;      /* ECEF axes to north, east, down */
};

/* Context: any. */
struct dyn_home dyn_home_at(const struct dyn_geodetic *at);
struct dyn_vec3 dyn_home_to_ecef(const struct dyn_home *home, struct dyn_vec3 ned);

/* The Earth rotation angle, 0 to 2 pi.  Context: any. */
double dyn_earth_rotation_angle(const struct dyn_epoch *epoch);

/* ECI axes to ECEF axes, for positions and directions; its transpose leads back.  Context: any. */
struct dyn_mat3 dyn_earth_eci_to_ecef(const struct dyn_epoch *epoch);

/* A velocity against the Earth, in ECEF axes, from r and v in ECI; turn is dyn_earth_eci_to_ecef's.
 * Context: frame. */
struct dyn_vec3 dyn_earth_velocity_to_ecef(const struct dyn_mat3 *turn, struct dyn_vec3 r,
                                           struct dyn_vec3 v);

/* Gravitation at r, m/s^2, in ECI or ECEF alike: of a sphere, and the addition of J2.  In ECEF the
 * centrifugal part comes on top.  Context: frame. */
struct dyn_vec3 dyn_earth_central_gravity(struct dyn_vec3 r);
struct dyn_vec3 dyn_earth_j2_gravity(struct dyn_vec3 r);

/* Normal gravity, down along the normal and with the centrifugal part, m/s^2: Somigliana's formula
 * on the ellipsoid, and the second-order series above it (1e-6 to 30 km).  Context: frame. */
double dyn_earth_normal_gravity(double latitude, double height);
