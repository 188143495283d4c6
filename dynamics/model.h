/*
 * The model: the tree of bodies and joints, without its state.  Written once at load, const after.
 *
 * Spatial vectors are angular first.  Bodies are sorted parent before child.  SI units.
 *
 *      joint        q                      v                            moves by
 *      fixed        -                      -
 *      revolute     angle                  rate                         a turn about the axis
 *      prismatic    travel                 speed                        a slide along the axis
 *      cylindrical  angle, travel          rate, speed                  both, one axis
 *      universal    angle, angle           rate, rate                   axis, then axis2
 *      planar       travel, travel, angle  speed, speed, rate           axis2, axis x axis2, axis
 *      spherical    qw qx qy qz            wx wy wz (body axes)         a turn
 *      free         x y z  qw qx qy qz     wx wy wz  vx vy vz (body)    anything
 *      general      one per screw          one per screw                its screws in order
 *
 * Quaternions are w, x, y, z.  Coordinates are relative to the joint's place on the parent.  A
 * flexible body's modal coordinates and their rates follow those of its joint.
 */
#pragma once

#include <stddef.h>

#include "dynamics/flex/flex.h"
#include "dynamics/kernel/isa.h"
#include "dynamics/math/spatial.h"

enum dyn_joint_type {
    DYN_JOINT_FIXED,
    DYN_JOINT_REVOLUTE,
    DYN_JOINT_PRISMATIC,
    DYN_JOINT_CYLINDRICAL,
    DYN_JOINT_UNIVERSAL,
    DYN_JOINT_SPHERICAL,
    DYN_JOINT_PLANAR,
    DYN_JOINT_FREE,
    DYN_JOINT_GENERAL,
};

enum { DYN_JOINT_DOF_MAX = 6 };

/*
 * The passive force of a joint along one velocity:
 *      -stiffness (q - rest) - damping v - coulomb tanh(v / coulomb_speed)
 * at one instant, for forward dynamics and linearisation; a plant in motion has the limit of
 * coulomb_speed going to zero, which is dry friction with sticking (friction.h).  And beyond a
 * limit, outward, a spring of limit_stiffness with a damper of limit_damping that pushes back and
 * never pulls.  Spring and limits need a coordinate; along the velocities of a quaternion there is
 * none.
 */
struct dyn_joint_force_spec {
    double stiffness, rest, damping;
    double coulomb, coulomb_speed;
    double lower, upper; /* meaningful where limit_stiffness is positive */
    double limit_stiffness, limit_damping;
};

/* How much of a geared rotor the dynamics keep (Chen and Ou 1989, eq. 42-46). */
enum dyn_rotor_terms {
    DYN_ROTOR_NONE,     /* none: a massless drive */
    DYN_ROTOR_DIAGONAL, /* ratio^2 inertia on the joint, and no more */
    DYN_ROTOR_FULL,     /* with its coupling to the parent, gyroscopic terms included */
};

/* The motor of a one-dof joint: on the parent, turning ratio times as fast as the joint.  The
 * parent's inertia is understood with the rotor locked. */
struct dyn_geared_rotor {
    enum dyn_rotor_terms terms;
    double ratio;   /* 1, or rad/m on a slide */
    double inertia; /* kg m^2, about its own axis */
    double axis[3]; /* unit, parent axes */
};

/* q = ratio q(leader) + offset: the joint has no coordinate of its own.  One-dof joints. */
struct dyn_mimic {
    int on;
    int leader; /* body, that mimics no other */
    double ratio, offset;
};

/* One body and the joint that carries it, as the author of a model describes them. */
struct dyn_body_spec {
    int parent; /* index, -1: the world */
    int node;   /* 1, 2 ...: the joint sits on this node of the flexible parent; 0: on its frame */
    enum dyn_joint_type joint;
    double axis[3];      /* unit, in joint axes; for joint types that have one */
    double axis2[3];     /* unit, across axis; universal and planar */
    int screw_count;     /* general: 1 to 6 */
    double screw[6][6];  /* general: each [turn; travel at the joint origin] in joint axes at q = 0;
                            the turn is unit, or zero and the travel unit */
    double place_xyz[3]; /* joint frame at q = 0, seen from the parent's frame or node */
    double place_quat[4]; /* its axes, w x y z */
    double mass;
    double center[3];  /* mass centre in body axes */
    double inertia[6]; /* about the mass centre, body axes: xx yy zz xy xz yz */
    struct dyn_joint_force_spec force_spec[DYN_JOINT_DOF_MAX]; /* by velocity */
    struct dyn_geared_rotor rotor;
    struct dyn_mimic mimic;
    const struct dyn_flex *flex; /* NULL: rigid.  Mass, centre and inertia above are undeformed */
};

struct dyn_model; /* opaque outside dynamics/; its fields are in dynamics/kernel/link_tree.h */

/* What is wrong with the specs, or NULL; *body is the index of the body.  Refuses all that the
 * kernel cannot survive: unsorted parents, a joint that carries no inertia, non-physical inertia
 * (triangle inequality), axes that are not unit or not across each other, a passive force where it
 * has no meaning, numbers that are not finite.  A joint may carry its inertia anywhere further
 * out.  Context: setup. */
const char *dyn_model_problem(const struct dyn_body_spec *specs, int body_count, int *body);

/* Bytes for the model, and the model laid out in mem, 64-byte aligned and owned by the caller.
 * dyn_model_problem() must accept the specs; they and what they point at are copied.  The kernel
 * is the best this processor runs. Context: setup. */
size_t dyn_model_size(const struct dyn_body_spec *specs, int body_count);
struct dyn_model *dyn_model_place(const struct dyn_body_spec *specs, int body_count, void *mem);

/* Another kernel, which this processor must be able to run.  Context: setup. */
void dyn_model_use_isa(struct dyn_model *model, enum dyn_isa isa);
enum dyn_isa dyn_model_isa(const struct dyn_model *model);

/* The passive force along velocity k of a body's joint, which may be changed between two steps;
 * NULL: the spec has none there.  Context: any. */
struct dyn_joint_force_spec *dyn_model_force_spec(struct dyn_model *model, int body, int k);

/* A mimicking joint has no q and v of its own: its indices lie beyond nq and nv.  Context: any. */
int dyn_model_body_count(const struct dyn_model *model);
int dyn_model_nq(const struct dyn_model *model);
int dyn_model_nv(const struct dyn_model *model);
int dyn_model_q_index(const struct dyn_model *model, int body); /* first q of the body's joint */
int dyn_model_v_index(const struct dyn_model *model, int body);

/* Modes of a body, and where their coordinates and rates begin; none: 0.  Context: any. */
int dyn_model_modes(const struct dyn_model *model, int body);
int dyn_model_eta_index(const struct dyn_model *model, int body);
int dyn_model_xi_index(const struct dyn_model *model, int body);

/* Coordinates and velocities of a joint.  A mimicking joint has none.  Context: any. */
int dyn_joint_nq(const struct dyn_body_spec *spec);
int dyn_joint_nv(const struct dyn_body_spec *spec);

/* q of the joint at rest in its zero pose, nq values.  Context: setup. */
void dyn_joint_zero(const struct dyn_body_spec *spec, double *q);
