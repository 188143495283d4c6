/*
 * The motion and surroundings of a body at one instant, as input of its effectors' force laws.
 *
 * Body axes are world axes times E.  Only the members that the body's effectors need (enum
 * dyn_need) are set; the others are undefined.
 */
#pragma once

#include "dynamics/math/spatial.h"
#include "dynamics/world/environment.h"

enum dyn_need {
    DYN_NEED_MAGNETIC_FIELD = 1, /* magnetic_field */
    DYN_NEED_GROUND = 2,         /* position, E, velocity and ground */
    DYN_NEED_AIR = 4,            /* air_velocity and density */
};

/* Lags of one effector, s, as the current step takes them (lag.h). */
struct dyn_lags {
    double up, down;
};

struct dyn_effector_input {
    struct dyn_vec3 rate;           /* rad/s, body axes; always set */
    struct dyn_vec3 velocity;       /* of the body's origin, body axes */
    struct dyn_vec3 position;       /* of the body's origin, world */
    struct dyn_mat3 E;              /* world axes to body axes */
    struct dyn_vec3 magnetic_field; /* tesla, body axes */
    struct dyn_vec3 air_velocity;   /* of the body's origin against the air, body axes */
    double density;                 /* of the air, kg/m^3 */
    double ground;                  /* world z; infinite: none */
    double supply;                  /* voltage, 1: of a full battery */
    double power;                   /* W, of all rotors of the plant */
    const struct dyn_lags *lags;    /* lags of the effector under evaluation; NULL: its own */
};

/* Of the standard atmosphere at the sea, where rotors and drag are measured. */
#define DYN_SEA_DENSITY 1.225

/* Velocity of a point of the body, body axes: against the world and against the air.
 * Context: frame. */
static inline struct dyn_vec3 dyn_effector_point_velocity(const struct dyn_effector_input *input,
                                                          struct dyn_vec3 at)
{
    return dyn_add(input->velocity, dyn_cross(input->rate, at));
}

static inline struct dyn_vec3
dyn_effector_point_air_velocity(const struct dyn_effector_input *input, struct dyn_vec3 at)
{
    return dyn_add(input->air_velocity, dyn_cross(input->rate, at));
}

struct dyn_model;
struct dyn_work;

/* All but the supply, which is full, after dyn_aba_velocity_pass().  needs: of enum dyn_need.
 * Context: frame. */
void dyn_effector_sense(const struct dyn_model *model, const struct dyn_work *work,
                        const struct dyn_environment *environment, int body, unsigned needs,
                        struct dyn_effector_input *input);
