#include "tests/peers/translate.h"

#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

struct place {
    double xyz[3], quat[4];
};

static void turn(const double quat[4], const double x[3], double y[3])
{
    const double *u = quat + 1;
    const double t[3] = {2.0 * (u[1] * x[2] - u[2] * x[1]), 2.0 * (u[2] * x[0] - u[0] * x[2]),
                         2.0 * (u[0] * x[1] - u[1] * x[0])};
    y[0] = x[0] + quat[0] * t[0] + u[1] * t[2] - u[2] * t[1];
    y[1] = x[1] + quat[0] * t[1] + u[2] * t[0] - u[0] * t[2];
    y[2] = x[2] + quat[0] * t[2] + u[0] * t[1] - u[1] * t[0];
}

static struct place place_of(const struct dyn_body_spec *spec, const struct place *on)
{
    struct place place;
    const double *a = on->quat, *b = spec->place_quat;
    turn(a, spec->place_xyz, place.xyz);
    for (int k = 0; k < 3; k++)
        place.xyz[k] += on->xyz[k];
    place.quat[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    place.quat[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    place.quat[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
    place.quat[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
    return place;
}

static void add_motion(struct engine_body *body, enum engine_motion_type type, const double *axis,
                       int q, int v)
{
    struct engine_motion *motion = &body->motions[body->motion_count++];
    *motion = (struct engine_motion){.type = type, .q = q, .v = v};
    if (axis)
        memcpy(motion->axis, axis, sizeof motion->axis);
}

static void add_motions(struct engine_body *body, const struct dyn_body_spec *spec, int q, int v)
{
    switch (spec->joint) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        add_motion(body, ENGINE_TURN, spec->axis, q, v);
        break;
    case DYN_JOINT_PRISMATIC:
        add_motion(body, ENGINE_SLIDE, spec->axis, q, v);
        break;
    case DYN_JOINT_FREE:
        add_motion(body, ENGINE_FREE, NULL, q, v);
        break;
    case DYN_JOINT_CYLINDRICAL:
        add_motion(body, ENGINE_TURN, spec->axis, q, v);
        add_motion(body, ENGINE_SLIDE, spec->axis, q + 1, v + 1);
        break;
    case DYN_JOINT_UNIVERSAL:
        add_motion(body, ENGINE_TURN, spec->axis, q, v);
        add_motion(body, ENGINE_TURN, spec->axis2, q + 1, v + 1);
        break;
    case DYN_JOINT_SPHERICAL:
        add_motion(body, ENGINE_BALL, NULL, q, v);
        break;
    case DYN_JOINT_PLANAR: {
        const double *n = spec->axis, *e = spec->axis2;
        const double across[3] = {n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2],
                                  n[0] * e[1] - n[1] * e[0]};
        add_motion(body, ENGINE_SLIDE, e, q, v);
        add_motion(body, ENGINE_SLIDE, across, q + 1, v + 1);
        add_motion(body, ENGINE_TURN, n, q + 2, v + 2);
        break;
    }
    case DYN_JOINT_GENERAL:
        RT_CHECK(spec->joint != DYN_JOINT_GENERAL); /* a row of motions has no screws */
    }
}

/* Bodies fixed to the world are left out: they have no say, and an engine would spend time on
 * them. */
void translate_specs(const struct dyn_body_spec *specs, int body_count,
                     const struct dyn_model *tree, struct engine_model *model)
{
    static const struct place origin = {.quat = {1.0}};
    struct engine_body *bodies = calloc((size_t)body_count, sizeof *bodies);
    struct place *places = calloc((size_t)body_count, sizeof *places);
    int *at = calloc((size_t)body_count, sizeof *at); /* where each spec went, -1: left out */
    RT_CHECK(bodies && places && at);
    *model = (struct engine_model){.bodies = bodies,
                                   .nq = dyn_model_nq(tree),
                                   .nv = dyn_model_nv(tree),
                                   .gravity = {0.0, 0.0, -9.81}};
    for (int i = 0; i < body_count; i++) {
        const struct dyn_body_spec *spec = &specs[i];
        const int parent = spec->parent < 0 ? -1 : at[spec->parent];
        places[i] =
            place_of(spec, parent < 0 && spec->parent >= 0 ? &places[spec->parent] : &origin);
        at[i] = -1;
        if (parent < 0 && spec->joint == DYN_JOINT_FIXED)
            continue;
        at[i] = model->body_count++;
        struct engine_body *body = &bodies[at[i]];
        body->parent = parent;
        body->mass = spec->mass;
        memcpy(body->place_xyz, places[i].xyz, sizeof body->place_xyz);
        memcpy(body->place_quat, places[i].quat, sizeof body->place_quat);
        memcpy(body->center, spec->center, sizeof body->center);
        memcpy(body->inertia, spec->inertia, sizeof body->inertia);
        add_motions(body, spec, dyn_model_q_index(tree, i), dyn_model_v_index(tree, i));
    }
    free(places);
    free(at);
}
