/*
 * The rigid tree: what is true of the vehicle before it moves.  Written once at load, const after.
 *
 * Spatial vectors are angular first.  Bodies are sorted parent before child.  A free base has
 * q = [x y z  qw qx qy qz] (world) and v = [wx wy wz  vx vy vz] (body axes).  SI units.
 */
#pragma once

#include <stddef.h>

#include "dynamics/spatial.h"

enum dyn_joint_type { DYN_JOINT_FIXED, DYN_JOINT_REVOLUTE, DYN_JOINT_PRISMATIC, DYN_JOINT_FREE };

/* One body and the joint that carries it, as the author of a model sees it. */
struct dyn_body_spec {
    int parent; /* index, -1: the world */
    enum dyn_joint_type joint;
    double axis[3];       /* unit, in joint axes; revolute and prismatic */
    double place_xyz[3];  /* joint frame at q = 0, seen from the parent's frame */
    double place_quat[4]; /* its axes, w x y z */
    double mass;
    double center[3];  /* mass centre in body axes */
    double inertia[6]; /* about the mass centre, body axes: xx yy zz xy xz yz */
    double stiffness;  /* joint spring about q = rest, 1-dof joints */
    double damping;
    double rest;
};

struct dyn_model; /* opaque outside dynamics/; its fields are in dynamics/tree.h */

/* What is wrong with the specs, or NULL; *body tells where (index).  Refuses all that the kernel
 * cannot survive: unsorted parents, a joint that carries no inertia, non-physical inertia (triangle
 * inequality), a free joint below another body or away from the world origin (its place is in q), a
 * non-unit axis, a spring where there is no single coordinate, not finite numbers.  A moving joint
 * must carry inertia in its own body or in bodies fixed to it, not only further out: then no
 * pose of the tree can be singular.
 * Context: setup. */
const char *dyn_model_flaw(const struct dyn_body_spec *specs, int body_count, int *body);

/* Bytes for the model, and the model laid out in mem, 64-byte aligned and owned by the caller.  The
 * specs must have no flaw; they are copied.  Context: setup. */
size_t dyn_model_size(const struct dyn_body_spec *specs, int body_count);
struct dyn_model *dyn_model_place(const struct dyn_body_spec *specs, int body_count, void *mem);

/* Context: any. */
int dyn_model_body_count(const struct dyn_model *model);
int dyn_model_nq(const struct dyn_model *model);
int dyn_model_nv(const struct dyn_model *model);
int dyn_model_q_index(const struct dyn_model *model, int body); /* first q of the body's joint */
int dyn_model_v_index(const struct dyn_model *model, int body);
