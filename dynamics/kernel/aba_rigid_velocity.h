/*
 * The outward velocity pass of rigid links: a part of the kernel (aba_kernel.h, which has the
 * equations).  It sets R, r, w, c of each link, and I, p of the link alone.
 * Tested by tests/dynamics/kernel/test_aba.c.
 */
#pragma once

#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"

/* P turned by the rotation whose transpose is E. */
static inline struct dyn_lane3 rotated(struct dyn_lane3 P, const struct dyn_mat3 *E)
{
    return (struct dyn_lane3){lane3_mul(P, E->row[0]), lane3_mul(P, E->row[1]),
                              lane3_mul(P, E->row[2])};
}

static inline struct dyn_lane3 rotated_by_quat(struct dyn_lane3 P, const double quat[4])
{
    const struct dyn_mat3 E = dyn_quat_to_child(dyn_quat_load(quat));
    return rotated(P, &E);
}

/* y is the second row of such an E: 0, cosine, sine. */
static inline struct dyn_lane3 rotated_about_x(struct dyn_lane3 P, struct dyn_vec3 y)
{
    const dyn_lane sine = lane_splat(y.z), cosine = lane_splat(y.y);
    return (struct dyn_lane3){P.x, cosine * P.y + sine * P.z, cosine * P.z - sine * P.y};
}

static inline struct dyn_lane3 rotated_about_z(struct dyn_lane3 P, double s, double c)
{
    const dyn_lane sine = lane_splat(s), cosine = lane_splat(c);
    return (struct dyn_lane3){cosine * P.x + sine * P.y, cosine * P.y - sine * P.x, P.z};
}

/* Store the results of every joint: axes, arm, angular velocity and the angular velocity term. */
static inline void put_joint(struct dyn_lane3 R, dyn_lane r, dyn_lane w_on, dyn_lane spin,
                             struct dyn_tree_link_work *L)
{
    lane3_store(L->R, R);
    lane_store(&L->r, r);
    lane_keep(&L->w, w_on + spin);
    lane_store(&L->ca, lane_cross(w_on, spin));
}

/* The hot path: the link's origin does not move in the parent. */
static inline void move_revolute(const struct dyn_tree_link *link, double v, double s, double c,
                                 const struct dyn_tree_link_work *on, struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 P = lane3_load(on->R);
    const struct dyn_lane3 placed =
        link->axial ? rotated_about_x(P, link->E.row[1]) : rotated(P, &link->E);
    const struct dyn_lane3 R = rotated_about_z(placed, s, c);
    const dyn_lane w_on = lane_load(&on->w), r = lane3_mul(P, link->origin);
    const dyn_lane carried = lane_cross(w_on, r);

    put_joint(R, r, w_on, R.z * lane_splat(v), L);
    lane_store(&L->cl, lane_cross(w_on, carried));
}

/* The same for a link on the world, whose axes are the unit vectors and which does not turn. */
static inline void move_root_revolute(const struct dyn_tree_link *link, double v, double s,
                                      double c, struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 R = rotated_about_z(lane3_load(link->E_rows), s, c);
    const dyn_lane zero = lane_splat(0.0);

    lane3_store(L->R, R);
    lane_store(&L->r, lane_load(&link->origin_row));
    lane_keep(&L->w, R.z * lane_splat(v));
    lane_store(&L->ca, zero);
    lane_store(&L->cl, zero);
}

/* Any other joint. */
static void move_joint(const struct dyn_tree_link *link, const double *q, const double *v, double s,
                       double c, const struct dyn_tree_link_work *on, struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 P = lane3_load(on->R);
    const dyn_lane w_on = lane_load(&on->w), zero = lane_splat(0.0);
    struct dyn_lane3 R = rotated(P, &link->E);
    dyn_lane r = lane3_mul(P, link->origin);
    dyn_lane spin = zero, travel = zero, extra = zero;

    switch (link->kind) {
    case DYN_TREE_LINK_REVOLUTE:
    case DYN_TREE_LINK_HELICAL:
        R = rotated_about_z(R, s, c);
        spin = R.z * lane_splat(v[0]);
        r += R.z * lane_splat(link->pitch * q[0]);
        travel = R.z * lane_splat(link->pitch * v[0]);
        break;
    case DYN_TREE_LINK_PRISMATIC:
        r += R.z * lane_splat(q[0]);
        travel = R.z * lane_splat(v[0]);
        break;
    case DYN_TREE_LINK_SPHERICAL:
        R = rotated_by_quat(R, q);
        spin = lane3_mul(R, dyn_vec3_load(v));
        break;
    case DYN_TREE_LINK_FREE:
        r += lane3_mul(R, dyn_vec3_load(q));
        R = rotated_by_quat(R, q + 3);
        spin = lane3_mul(R, dyn_vec3_load(v));
        travel = lane3_mul(R, dyn_vec3_load(v + 3));
        extra = lane_cross(spin, travel); /* dv/dt is of components in axes that turn */
        break;
    case DYN_TREE_LINK_FIXED:
        break;
    }
    const dyn_lane carried = lane_cross(w_on, r) + travel;
    put_joint(R, r, w_on, spin, L);
    lane_store(&L->travel, travel);
    lane_store(&L->cl, lane_cross(w_on, carried + travel) + extra);
}

/* h x, by rows. */
static inline struct dyn_lane3 skew(dyn_lane h)
{
    const dyn_lane minus = -h; /* and the last lane of h is zero */
    return (struct dyn_lane3){__builtin_shufflevector(h, minus, 3, 6, 1, 3),
                              __builtin_shufflevector(h, minus, 2, 3, 4, 3),
                              __builtin_shufflevector(h, minus, 5, 0, 3, 3)};
}

/* Own inertia in world axes, and the force that its velocity needs: w x (I w), w x (w x mc). */
static inline void move_inertia(const struct dyn_tree_link *link, struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 R = lane3_load(L->R);
    const dyn_lane w = lane_load(&L->w);
    const dyn_lane a = lane3_mul(R, link->root[0]), b = lane3_mul(R, link->root[1]);
    const dyn_lane h = lane3_mul(R, link->mc);

    lane_keep(&L->ga, a); /* free until the inward pass */
    lane_keep(&L->gl, b);
    const struct dyn_lane3 aa = lane3_outer(a, &L->ga), bb = lane3_outer(b, &L->gl);
    const struct dyn_lane3 I = lane3_add(lane3_add(lane3_load(link->sphere_rows), aa), bb);
    lane3_store(L->I, I);
    lane3_store(L->H, skew(h));
    lane3_store(L->M, lane3_load(link->mass_rows));
    lane_store(&L->pa, lane_cross(w, lane3_mul(I, dyn_vec3_load(L->w.e))));
    lane_store(&L->pl, lane_cross(w, lane_cross(w, h)));
}

/* A link without inertia of its own. */
static void zero_inertia(struct dyn_tree_link_work *L)
{
    const dyn_lane none = lane_splat(0.0);
    const struct dyn_lane3 nothing = {none, none, none};
    lane3_store(L->I, nothing);
    lane3_store(L->H, nothing);
    lane3_store(L->M, nothing);
    lane_store(&L->pa, none);
    lane_store(&L->pl, none);
}

/* A node that is treated with its hinge does not read its inertia, so zeros are not stored. */
static inline void zero_massless(const struct dyn_tree_link *link, struct dyn_tree_link_work *L)
{
    if (link->pass != DYN_PASS_LONE_NODE)
        zero_inertia(L);
}

/* Rotors on the parent, turned into world axes. */
static inline dyn_lane rotor_spin(const struct dyn_tree_link *link,
                                  const struct dyn_tree_link_work *on)
{
    return lane3_mul(lane3_load(on->R), link->rotor_spin);
}

/* The torque that turns the momentum of the rotor with the parent. */
static void turn_rotor(const struct dyn_tree_link *link, double v, struct dyn_tree_link_work *on)
{
    const dyn_lane torque = lane_cross(lane_load(&on->w), rotor_spin(link, on) * lane_splat(v));
    lane_store(&on->pa, lane_load(&on->pa) + torque);
}
