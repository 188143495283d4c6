/*
 * The types that the files rnea_derivative*.c share: the values of a link, a velocity and a mode,
 * and how forces change with the motion of the links further in.  The equations are in
 * rnea_derivative.c.
 */
#pragma once

#include "dynamics/analysis/crba_work.h"
#include "dynamics/kernel/link_tree.h"

/* Of a link, in world axes and about its origin, velocities as the observer sees them. */
struct dyn_rnea_derivative_link {
    struct dyn_vec6 v;    /* spatial velocity */
    struct dyn_vec6 a;    /* spatial acceleration less gravity */
    struct dyn_vec6 v_on; /* the parent's at this origin */
    struct dyn_vec6 a_on;
    struct dyn_vec6 f; /* through the joint */
    struct dyn_vec6
        turn[3]; /* Bc: the force that a turning about axis k needs, of all that the link carries */
    struct dyn_vec6 own; /* velocity against the parent */
    int lags;            /* 1: the node of a link without deformation */
};

/* The effect of a step along a velocity, or of the velocity itself, from its link outward. */
struct dyn_rnea_derivative_velocity {
    struct dyn_vec6 v_q, a_q, a_v;
};

/* A mode and all that it moves, about the origin of its link; the force F of it is B of the
 * composite bodies. */
struct dyn_rnea_derivative_mode {
    struct dyn_vec3 n;
    struct dyn_vec6 by_q, by_v; /* the force that a step hands to what is further in */
};

struct dyn_rnea_derivative_work {
    struct dyn_crba_work *crba; /* its ldl has the rows of M afterwards */
    struct dyn_rnea_derivative_link *part;
    struct dyn_rnea_derivative_velocity *step;       /* by velocity of a joint */
    struct dyn_rnea_derivative_mode *mode;           /* by velocity */
    struct dyn_rnea_derivative_velocity **node_step; /* by node, by mode */
};

/* full_nv x full_nv by rows, a row per force. */
struct dyn_rnea_derivative_full {
    double *tau_q, *tau_v;
};

/* v x m and v x* f */
static inline struct dyn_vec6 dyn_cross_motion(const struct dyn_vec6 *v, const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){dyn_cross(v->ang, m->ang),
                             dyn_add(dyn_cross(v->ang, m->lin), dyn_cross(v->lin, m->ang))};
}

static inline struct dyn_vec6 dyn_cross_force(const struct dyn_vec6 *v, const struct dyn_vec6 *f)
{
    return (struct dyn_vec6){dyn_add(dyn_cross(v->ang, f->ang), dyn_cross(v->lin, f->lin)),
                             dyn_cross(v->ang, f->lin)};
}

/* The rotor of link i, which sits on its parent: axis times momentum per joint speed. */
static inline struct dyn_vec3 dyn_rnea_derivative_rotor_spin(const struct dyn_model *model,
                                                             const struct dyn_tree_pose *tree_pose,
                                                             int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    return dyn_mul_t(&tree_pose->E[link->parent], link->rotor_spin);
}

/* Ic a + Bc v */
static inline struct dyn_vec6
dyn_rnea_derivative_changed_force(const struct dyn_inertia *Ic,
                                  const struct dyn_rnea_derivative_link *part,
                                  const struct dyn_vec6 *a, struct dyn_vec3 w)
{
    struct dyn_vec6 f = dyn_inertia_mul(Ic, a);
    f = dyn_axpy6(&f, w.x, &part->turn[0]);
    f = dyn_axpy6(&f, w.y, &part->turn[1]);
    return dyn_axpy6(&f, w.z, &part->turn[2]);
}

/* Bc' S: how the force along S depends on a turning. */
static inline struct dyn_vec3
dyn_rnea_derivative_turn_response(const struct dyn_rnea_derivative_link *part,
                                  const struct dyn_vec6 *S)
{
    return (struct dyn_vec3){dyn_dot6(&part->turn[0], S), dyn_dot6(&part->turn[1], S),
                             dyn_dot6(&part->turn[2], S)};
}

/* The same of a node that lags, from its force F. */
static inline struct dyn_vec3
dyn_rnea_derivative_lag_response(const struct dyn_rnea_derivative_link *part,
                                 const struct dyn_vec6 *F)
{
    return dyn_add(dyn_cross(F->ang, part->own.ang),
                   dyn_scale(2.0, dyn_cross(F->lin, part->own.lin)));
}
