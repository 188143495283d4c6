/*
 * What a device can need of the world.  Each answers with what is missing and what to write
 * instead, or with NULL where nothing is.  Context: setup.
 */
#pragma once

#include <stddef.h>

#include "rt/executive/spec.h"

static inline const char *sim_lacks_air(const struct sim_spec *spec)
{
    return spec->environment.air
               ? NULL
               : "the device needs air; give environment.air: true, or world: local";
}

static inline const char *sim_lacks_field(const struct sim_spec *spec)
{
    return spec->world.fixed_field || spec->world.has_field
               ? NULL
               : "there is no magnetic model for environment.date in this program; take a date "
                 "that the World Magnetic Model covers (tools/build fetches it), or give "
                 "environment.magnetic_field";
}

static inline const char *sim_lacks_sun(const struct sim_spec *spec)
{
    return spec->environment.kind != DYN_WORLD_UNIFORM
               ? NULL
               : "there is no Sun in a uniform world; give environment.world: orbit or local";
}
