/*
 * The world around the vehicle as it is now, in world axes.  dynamics/world/world.h keeps up what
 * changes slowly; a vehicle in a laboratory fills it in once.
 *
 *      uniform     anywhere: gravity and field as given
 *      local       north, east, down at a home on the Earth, which does not turn; gravity as given
 *      orbit       ECI from the Earth's centre; gravity is found where the vehicle is, at every
 *                  stage of a step, and what it differs by from body to body
 */
#pragma once

#include <stdbool.h>

enum dyn_world_kind { DYN_WORLD_UNIFORM, DYN_WORLD_LOCAL, DYN_WORLD_ORBIT };

struct dyn_environment {
    enum dyn_world_kind kind;    /* a work is placed for one kind */
    bool has_ground;             /* level, at z = ground; not in orbit */
    bool air;                    /* of the standard atmosphere, else none; none in orbit */
    bool has_j2;                 /* orbit: J2 counts */
    double gravity[3];           /* m/s^2; not read in orbit */
    double magnetic_field[3];    /* tesla */
    double wind[3];              /* m/s, the velocity of the air */
    double ground;               /* m, z points down */
    double height;               /* m, of the world's origin above the sea, for the air */
    double sun[3];               /* unit, where the Sun is seen */
    double sun_visible_fraction; /* 0 to 1, how much of it */
};
