/*
 * From the keys of a joint to its spec for the kernel: axes, laws, start, and whether it is held.
 */
#include <math.h>
#include <string.h>

#include "config/resolve/resolve.h"

/* ---- one coordinate ---- */

struct motion {
    const struct cfg_keys_motion *keys;
    const struct cfg_node *node; /* the node with its keys */
    const char *rate_key;
};

static bool fill_limits(const struct cfg_resolve *resolve, const struct cfg_keys_limits *limits,
                        struct dyn_joint_force_spec *force_spec)
{
    if (limits->node == NULL)
        return true;
    force_spec->lower = isnan(limits->lower) ? -HUGE_VAL : limits->lower;
    force_spec->upper = isnan(limits->upper) ? HUGE_VAL : limits->upper;
    force_spec->limit_stiffness = limits->stiffness;
    force_spec->limit_damping = limits->damping;
    if (isnan(limits->lower) && isnan(limits->upper))
        return cfg_fail_at(resolve->report, limits->node, NULL,
                           "limits has neither lower nor upper; give one or both");
    return force_spec->lower < force_spec->upper ||
           cfg_fail_at(resolve->report, limits->node, "lower",
                       "lower must be below upper; here it is %.10g, and upper %.10g",
                       force_spec->lower, force_spec->upper);
}

static void fill_friction(const struct cfg_keys_friction *friction,
                          struct dyn_joint_force_spec *force_spec)
{
    if (friction->node == NULL)
        return;
    force_spec->coulomb = friction->coulomb;
    force_spec->coulomb_speed = friction->speed;
}

static bool check_held(const struct cfg_resolve *resolve, const struct motion *motion)
{
    if (!motion->keys->locked)
        return true;
    if (!isnan(motion->keys->prescribed))
        return cfg_fail_at(resolve->report, motion->node, "prescribed",
                           "what is locked has no prescribed motion; remove one of the two");
    return motion->keys->rate == 0.0 ||
           cfg_fail_at(resolve->report, motion->node, motion->rate_key,
                       "what is locked does not move; remove %s or locked", motion->rate_key);
}

static bool fill_motion(const struct cfg_resolve *resolve, const struct motion *motion, int k,
                        struct sim_body *body)
{
    const struct cfg_keys_motion *keys = motion->keys;
    struct dyn_joint_force_spec *force_spec = &body->spec.force_spec[k];
    force_spec->stiffness = keys->stiffness;
    force_spec->damping = keys->damping;
    force_spec->rest = keys->rest;
    fill_friction(&keys->friction, force_spec);
    body->position[k] = keys->position;
    body->velocity[k] = keys->rate;
    body->held[k] = keys->locked || !isnan(keys->prescribed);
    body->held_a[k] = isnan(keys->prescribed) ? 0.0 : keys->prescribed;
    return fill_limits(resolve, &keys->limits, force_spec) && check_held(resolve, motion);
}

/* Coordinate k of a joint, whose keys are in a mapping of their own or in the joint itself. */
static bool fill_coordinate(const struct cfg_resolve *resolve, const struct cfg_keys_joint *joint,
                            int k, struct sim_body *body)
{
    const struct cfg_keys_motion *keys = &joint->motion[k];
    const struct motion motion = {keys, keys->node != NULL ? keys->node : joint->node,
                                  cfg_joint_turns(&body->spec, k) ? "rate" : "velocity"};
    return fill_motion(resolve, &motion, k, body);
}

bool cfg_joint_turns(const struct dyn_body_spec *spec, int k)
{
    switch (spec->joint) {
    case DYN_JOINT_FIXED:
    case DYN_JOINT_PRISMATIC:
        return false;
    case DYN_JOINT_CYLINDRICAL:
        return k == 0;
    case DYN_JOINT_PLANAR:
        return k == 2;
    case DYN_JOINT_FREE:
        return k < 3;
    case DYN_JOINT_GENERAL:
        return spec->screw[k][0] != 0.0 || spec->screw[k][1] != 0.0 || spec->screw[k][2] != 0.0;
    case DYN_JOINT_REVOLUTE:
    case DYN_JOINT_UNIVERSAL:
    case DYN_JOINT_SPHERICAL:
        break;
    }
    return true;
}

/* ---- joints ---- */

/* [rotation; translation at the joint origin] for a rotation about an axis through a point, or for
 * a slide. */
static void fill_screw(const struct cfg_keys_screw *keys, double screw[6])
{
    const struct dyn_vec3 axis = dyn_vec3_load(keys->axis);
    if (keys->type == CFG_SCREW_SLIDE) {
        dyn_vec3_store(axis, screw + 3);
        return;
    }
    const struct dyn_vec3 swing = dyn_cross(dyn_vec3_load(keys->at), axis);
    dyn_vec3_store(axis, screw);
    dyn_vec3_store(dyn_add(swing, dyn_scale(keys->pitch, axis)), screw + 3);
}

static bool fill_screws(const struct cfg_resolve *resolve, const struct cfg_list *list,
                        struct sim_body *body)
{
    const struct cfg_keys_screw *screws = list->items;
    body->spec.screw_count = list->count;
    for (int k = 0; k < list->count; k++) {
        const struct motion motion = {&screws[k].motion, screws[k].node,
                                      screws[k].type == CFG_SCREW_TURN ? "rate" : "velocity"};
        fill_screw(&screws[k], body->spec.screw[k]);
        if (!fill_motion(resolve, &motion, k, body))
            return false;
    }
    return true;
}

/* The start of a free body is its coordinates. */
static void fill_start(const struct cfg_keys_joint *joint, struct sim_body *body)
{
    const bool is_free = body->spec.joint == DYN_JOINT_FREE;
    memcpy(body->velocity, joint->spin, sizeof joint->spin);
    memcpy(body->position + (is_free ? 3 : 0), joint->attitude, sizeof joint->attitude);
    if (!is_free) {
        memcpy(body->spec.place_xyz, joint->at, sizeof joint->at);
        return;
    }
    memcpy(body->position, joint->at, sizeof joint->at);
    memcpy(body->velocity + 3, joint->velocity, sizeof joint->velocity);
}

static bool fill_ball(const struct cfg_resolve *resolve, const struct cfg_keys_joint *joint,
                      struct sim_body *body)
{
    const double *w = joint->spin;
    for (int k = 0; k < 3; k++) {
        body->spec.force_spec[k].damping = joint->drag[k];
        fill_friction(&joint->motion[0].friction, &body->spec.force_spec[k]);
        body->held[k] = joint->motion[0].locked;
    }
    return !joint->motion[0].locked || (w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0) ||
           cfg_fail_at(resolve->report, joint->node, "rate",
                       "what is locked does not move; remove rate or locked");
}

static bool check_axes(const struct cfg_resolve *resolve, const struct cfg_keys_joint *joint)
{
    const double along = dyn_dot(dyn_vec3_load(joint->axis), dyn_vec3_load(joint->axis2));
    return fabs(along) <= 1e-6 ||
           cfg_fail_at(resolve->report, joint->node, "axis2",
                       "axis2 must be at right angles to axis; they make %.6g deg",
                       acos(fmax(-1.0, fmin(1.0, along))) * (180.0 / 3.14159265358979323846));
}

static void fill_motor(const struct cfg_keys_motor *motor, struct dyn_body_spec *spec)
{
    const struct dyn_vec3 own = dyn_vec3_load(motor->axis);
    const struct dyn_vec3 joint =
        dyn_quat_rotate(dyn_quat_load(spec->place_quat), dyn_vec3_load(spec->axis));
    if (motor->node == NULL)
        return;
    spec->rotor.terms = (enum dyn_rotor_terms)motor->terms;
    spec->rotor.ratio = motor->ratio;
    spec->rotor.inertia = motor->inertia;
    dyn_vec3_store(dyn_dot(own, own) > 0.0 ? own : joint, spec->rotor.axis);
}

/* A follower has no start of its own, and cannot be held. */
static bool check_follower(const struct cfg_resolve *resolve, const struct cfg_keys_joint *joint)
{
    static const char *const own[] = {"angle",    "rate",   "position",
                                      "velocity", "locked", "prescribed"};
    for (size_t i = 0; joint->mimic.node != NULL && i < sizeof own / sizeof own[0]; i++)
        if (cfg_node_find(joint->node, own[i]) != NULL)
            return cfg_fail_at(resolve->report, joint->node, own[i],
                               "%s means nothing for a joint that mimics another; remove it",
                               own[i]);
    return true;
}

bool cfg_resolve_joint(const struct cfg_resolve *resolve, const struct cfg_keys_joint *joint,
                       struct sim_body *body)
{
    struct dyn_body_spec *spec = &body->spec;
    spec->joint = (enum dyn_joint_type)joint->type;
    spec->place_quat[0] = 1.0;
    if (spec->joint == DYN_JOINT_FREE || spec->joint == DYN_JOINT_SPHERICAL) {
        fill_start(joint, body);
        return spec->joint == DYN_JOINT_FREE || fill_ball(resolve, joint, body);
    }
    memcpy(spec->axis, joint->axis, sizeof spec->axis);
    memcpy(spec->axis2, joint->axis2, sizeof spec->axis2);
    memcpy(spec->place_xyz, joint->at, sizeof spec->place_xyz);
    memcpy(spec->place_quat, joint->attitude, sizeof spec->place_quat);
    fill_motor(&joint->motor, spec);
    if (spec->joint == DYN_JOINT_GENERAL)
        return fill_screws(resolve, &joint->screws, body);
    if ((spec->joint == DYN_JOINT_UNIVERSAL || spec->joint == DYN_JOINT_PLANAR) &&
        !check_axes(resolve, joint))
        return false;
    for (int k = 0; k < dyn_joint_nv(spec); k++)
        if (!fill_coordinate(resolve, joint, k, body))
            return false;
    return check_follower(resolve, joint);
}
