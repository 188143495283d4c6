/*
 * The fields of struct dyn_model.  Private to dynamics/ and tests/.
 *
 * Arrays by body, each on its own cache line.  What the kernel reads at every call is laid out for
 * it; the specs are kept beside for those who ask rarely (poses, monitors).
 */
#pragma once

#include "dynamics/model.h"

struct dyn_model {
    int body_count;
    int nq;
    int nv;

    /* hot: read at every call */
    int *parent; /* parent[i] < i; -1 is the world */
    enum dyn_joint_type *joint;
    int *q_index;
    int *v_index;
    struct dyn_vec3 *axis; /* unit, body axes, which the joint leaves where they are */
    struct dyn_mat3 *E0;   /* E(q) = E0 + Es sin q + Ec cos q; only E0 unless revolute */
    struct dyn_mat3 *Es;
    struct dyn_mat3 *Ec;
    struct dyn_vec3 *origin;     /* r(q) = origin + slide q, parent axes */
    struct dyn_vec3 *slide;      /* zero unless prismatic */
    struct dyn_inertia *inertia; /* about the body origin */
    double *stiffness;           /* zero unless the joint has one coordinate */
    double *damping;
    double *rest;

    /* cold: as the author gave them, axes and quaternions made unit to rounding */
    struct dyn_body_spec *spec;
};

/* Coordinates and velocities of a joint type.  Context: any. */
int dyn_joint_nq(enum dyn_joint_type joint);
int dyn_joint_nv(enum dyn_joint_type joint);
