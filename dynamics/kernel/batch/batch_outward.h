/*
 * The velocity pass of a batch kernel: the given joint forces, and the motion of the links.
 * Compiles as C and as C++, as batch_rigid.h does.  Tested by
 * tests/dynamics/kernel/batch/test_batch.c.
 */
#pragma once

#include "dynamics/kernel/batch/batch_algebra.h"
#include "dynamics/kernel/batch/batch_isa.h"

/* ---- scratch ------------------------------------------------------------------------------- */

struct moving {
    wide s, c;         /* of the turn about z */
    wide w[3];         /* angular velocity, link axes; in the end angular acceleration */
    wide ca[3], cl[3]; /* acceleration that the velocities alone cause across the joint: joint axes,
                          of ball and free links link axes; in the end cl is the origin's */
    wide ga[3], gl[3]; /* one-dof links: D^-1 U, link axes; of a hinge without rotor ga.z is one */
    wide ud;           /* D^-1 u */
    wide D_inv;        /* with a rotor only */
};

/* Ball and free links. */
struct round_moving {
    wide E[3][3]; /* joint axes to link axes */
    wide G[3][3]; /* ball: I^-1 H */
    wide x[6];    /* ball: I^-1 u; free: the acceleration itself */
};

_Static_assert(sizeof(struct moving) == DYN_BATCH_LINK_WIDES * sizeof(wide), "as laid out");
_Static_assert(sizeof(struct round_moving) == DYN_BATCH_ROUND_WIDES * sizeof(wide), "as laid out");
_Static_assert(sizeof(struct articulated) == DYN_BATCH_SUM_WIDES * sizeof(wide), "as laid out");

struct scratch {
    struct moving *moving; /* moving[-1] is the world */
    struct round_moving *round;
    struct articulated *sum;
};

WIDE_INLINE struct scratch scratch_of(const struct dyn_batch_work *work)
{
    struct scratch at;
    at.moving = (struct moving *)(void *)work->moving + 1;
    at.round = (struct round_moving *)(void *)work->round;
    at.sum = (struct articulated *)(void *)work->sums;
    return at;
}

/* Parent axes to joint axes. */
WIDE_INLINE void to_joint(const struct dyn_batch_link *link, wide a[3])
{
    if (link->is_skewed)
        turn(wide_splat(link->skew_sine), wide_splat(link->skew_cosine), &a[0], &a[1]);
    if (link->tilt == DYN_BATCH_TILT_QUARTER) {
        const wide y = a[1];
        a[1] = a[2];
        a[2] = -y;
    } else if (link->tilt == DYN_BATCH_TILT_ANY) {
        turn(wide_splat(link->tilt_sine), wide_splat(link->tilt_cosine), &a[1], &a[2]);
    }
}

static void to_parent(const struct dyn_batch_link *link, wide a[3])
{
    turn_back(wide_splat(link->tilt_sine), wide_splat(link->tilt_cosine), &a[1], &a[2]);
    if (link->is_skewed)
        turn_back(wide_splat(link->skew_sine), wide_splat(link->skew_cosine), &a[0], &a[1]);
}

/* ---- what is given ------------------------------------------------------------------------- */

WIDE_INLINE wide q_of(const struct dyn_batch_group *group, int at)
{
    return wide_load(group->q + (size_t)at * group->stride);
}

WIDE_INLINE wide v_of(const struct dyn_batch_group *group, int at)
{
    return wide_load(group->v + (size_t)at * group->stride);
}

/* The force of a limit, as in joint_force.c. */
static inline wide limit_force(const struct dyn_joint_force_spec *force_spec, wide depth, wide out)
{
    const wide f = wide_splat(force_spec->limit_stiffness) * depth +
                   wide_splat(force_spec->limit_damping) * out;
    return wide_where_positive(depth, wide_where_positive(f, f));
}

/* As dyn_joint_force(). */
static wide joint_force(const struct dyn_joint_force_spec *force_spec, wide q, wide v)
{
    wide f = -(wide_splat(force_spec->stiffness) * (q - wide_splat(force_spec->rest))) -
             wide_splat(force_spec->damping) * v;
    if (force_spec->coulomb > 0.0)
        f = f - wide_splat(force_spec->coulomb) *
                    wide_tanh(v * wide_splat(1.0 / force_spec->coulomb_speed));
    if (force_spec->limit_stiffness > 0.0)
        f = f + limit_force(force_spec, wide_splat(force_spec->lower) - q, -v) -
            limit_force(force_spec, q - wide_splat(force_spec->upper), v);
    return f;
}

static wide entry_force(const struct dyn_joint_force_entry *at, const struct dyn_batch_group *group)
{
    const wide q = at->q_at < 0 ? wide_splat(0.0) : q_of(group, at->q_at);
    return joint_force(&at->force_spec, q, v_of(group, at->v_at));
}

/* All forces along a velocity. */
WIDE_INLINE wide tau_of(const struct dyn_model *model, const struct dyn_batch_group *group,
                        const struct dyn_batch_work *work, int at)
{
    const int force_spec = work->force_spec[at];
    wide tau = wide_splat(0.0);
    if (group->tau != NULL)
        tau = wide_load(group->tau + (size_t)at * group->stride);
    if (__builtin_expect(force_spec >= 0, 0))
        tau = tau + entry_force(&model->force_entry[force_spec], group);
    return tau;
}

/* ---- move ---------------------------------------------------------------------------------- */

/* Origin of a one-dof link from its parent's, joint axes. */
WIDE_INLINE void arm_of(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                        wide r[3])
{
    splat3(link->r, r);
    if (link->kind != DYN_TREE_LINK_REVOLUTE)
        r[2] = r[2] + wide_splat(link->pitch) * q_of(group, link->q_at);
}

/* w x (w x r) */
WIDE_INLINE void centripetal(const wide w[3], const wide r[3], wide out[3])
{
    wide wr[3];
    cross(w, r, wr);
    cross(w, wr, out);
}

/* Of leaves too. */
WIDE_INLINE void move_hinge(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                            const struct moving *on, struct moving *L)
{
    const wide x = wide_splat(link->r[0]), y = wide_splat(link->r[1]);
    const wide v = v_of(group, link->v_at);
    wide w[3] = {on->w[0], on->w[1], on->w[2]};

    to_joint(link, w);
    const wide wr[3] = {-(w[2] * y), w[2] * x, w[0] * y - w[1] * x};
    cross(w, wr, L->cl);
    L->ca[0] = w[1] * v;
    L->ca[1] = -(w[0] * v);
    turn(L->s, L->c, &w[0], &w[1]);
    L->w[0] = w[0];
    L->w[1] = w[1];
    L->w[2] = w[2] + v;
}

static void move_axial(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                       const struct moving *on, struct moving *L)
{
    wide w[3] = {on->w[0], on->w[1], on->w[2]}, r[3], cl[3];
    const wide v = v_of(group, link->v_at);

    if (link->kind == DYN_TREE_LINK_PRISMATIC) {
        L->s = wide_splat(link->turn_sine);
        L->c = wide_splat(link->turn_cosine);
    }
    to_joint(link, w);
    arm_of(link, group, r);
    centripetal(w, r, cl);
    if (link->kind != DYN_TREE_LINK_REVOLUTE) {
        const wide coriolis = wide_splat(2.0 * link->pitch) * v;
        cl[0] = cl[0] + w[1] * coriolis;
        cl[1] = cl[1] - w[0] * coriolis;
    }
    for (int k = 0; k < 3; k++)
        L->cl[k] = cl[k];
    const wide spin = link->kind == DYN_TREE_LINK_PRISMATIC ? wide_splat(0.0) : v;
    L->ca[0] = w[1] * spin;
    L->ca[1] = -(w[0] * spin);
    turn(L->s, L->c, &w[0], &w[1]);
    L->w[0] = w[0];
    L->w[1] = w[1];
    L->w[2] = w[2] + spin;
}

/* Joint axes to those of a quaternion of any length but zero. */
static void quaternion_axes(const wide q[4], wide E[3][3])
{
    const wide s = wide_splat(2.0) * wide_inverse(q[0] * q[0] + dot(q + 1, q + 1));
    const wide x = s * q[1], y = s * q[2], z = s * q[3];
    const wide xx = x * q[1], yy = y * q[2], zz = z * q[3];
    const wide xy = x * q[2], xz = x * q[3], yz = y * q[3];
    const wide wx = x * q[0], wy = y * q[0], wz = z * q[0];
    const wide one = wide_splat(1.0);
    E[0][0] = one - (yy + zz), E[0][1] = xy + wz, E[0][2] = xz - wy;
    E[1][0] = xy - wz, E[1][1] = one - (xx + zz), E[1][2] = yz + wx;
    E[2][0] = xz + wy, E[2][1] = yz - wx, E[2][2] = one - (xx + yy);
}

/* Origin of a ball or free link from its parent's, joint axes. */
static void round_arm_of(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                         wide r[3])
{
    splat3(link->r, r);
    if (link->kind == DYN_TREE_LINK_FREE) {
        wide x[3];
        for (int k = 0; k < 3; k++)
            x[k] = q_of(group, link->q_at + k);
        turn_back(wide_splat(link->turn_sine), wide_splat(link->turn_cosine), &x[0], &x[1]);
        for (int k = 0; k < 3; k++)
            r[k] = r[k] + x[k];
    }
}

static void move_round(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                       const struct moving *on, struct moving *L, struct round_moving *round)
{
    const int quat_at = link->q_at + (link->kind == DYN_TREE_LINK_FREE ? 3 : 0);
    wide w[3] = {on->w[0], on->w[1], on->w[2]}, spin[3], quat[4], r[3], carried[3];

    for (int k = 0; k < 4; k++)
        quat[k] = q_of(group, quat_at + k);
    for (int k = 0; k < 3; k++)
        spin[k] = v_of(group, link->v_at + k);
    quaternion_axes(quat, round->E);
    for (int k = 0; k < 3; k++)
        turn_back(wide_splat(link->turn_sine), wide_splat(link->turn_cosine), &round->E[k][0],
                  &round->E[k][1]);

    to_joint(link, w);
    round_arm_of(link, group, r);
    centripetal(w, r, carried);
    rotate(round->E, carried, L->cl);
    rotate(round->E, w, L->w);
    cross(L->w, spin, L->ca);
    if (link->kind == DYN_TREE_LINK_FREE) {
        /* twice for Coriolis, once more because dv/dt is of components in axes that turn */
        wide travel[3], rate[3];
        for (int k = 0; k < 3; k++) {
            travel[k] = v_of(group, link->v_at + 3 + k);
            rate[k] = L->w[k] + L->w[k] + spin[k];
        }
        add_cross(rate, travel, L->cl);
    }
    for (int k = 0; k < 3; k++)
        L->w[k] = L->w[k] + spin[k];
}

/* ---- angles -------------------------------------------------------------------------------- */

/* The whole turn about z: by q and the constant. */
WIDE_INLINE void put_angle(const struct dyn_batch_link *link, wide sine, wide cosine,
                           struct moving *L)
{
    wide s = wide_splat(link->turn_sine), c = wide_splat(link->turn_cosine);
    turn_back(sine, cosine, &c, &s);
    L->s = s;
    L->c = c;
}

WIDE_INLINE void find_some_angles(const int *turning, int count,
                                  const struct dyn_batch_group *group,
                                  const struct dyn_batch_work *work, const struct scratch *at,
                                  wide *far)
{
    wide x[WIDE_ANGLES], s[WIDE_ANGLES], c[WIDE_ANGLES];
    for (int k = 0; k < count; k++)
        x[k] = q_of(group, work->link[turning[k]].q_at);
    wide_sine_cosine(count, x, s, c, far);
    for (int k = 0; k < count; k++)
        put_angle(&work->link[turning[k]], s[k], c[k], &at->moving[turning[k]]);
}

/* Where an angle of the group is too large for the series, or not finite. */
static void find_angles_by_library(const struct dyn_batch_group *group,
                                   const struct dyn_batch_work *work, const struct scratch *at)
{
    for (int k = 0; k < work->turning_count; k++) {
        const int i = work->turning[k];
        const wide x[1] = {q_of(group, work->link[i].q_at)};
        wide s[1], c[1], far = wide_splat(0.0);
        wide_sine_cosine(1, x, s, c, &far);
        wide_far_sine_cosine(x[0], &s[0], &c[0]);
        put_angle(&work->link[i], s[0], c[0], &at->moving[i]);
    }
}

/* Apart from the rest of the movement, because here no link depends on another. */
static void find_angles(const struct dyn_batch_group *group, const struct dyn_batch_work *work,
                        const struct scratch *at)
{
    const int *turning = work->turning;
    wide far = wide_splat(0.0);
    int k = 0;
    for (; k + WIDE_ANGLES <= work->turning_count; k += WIDE_ANGLES)
        find_some_angles(turning + k, WIDE_ANGLES, group, work, at, &far);
    for (; k < work->turning_count; k++)
        find_some_angles(turning + k, 1, group, work, at, &far);
    if (__builtin_expect(!wide_is_zero(far), 0))
        find_angles_by_library(group, work, at);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void velocity_pass(const struct dyn_model *model, const struct dyn_batch_group *group,
                          const struct dyn_batch_work *work, const struct scratch *at)
{
    find_angles(group, work, at);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_batch_link *link = &work->link[i];
        struct moving *L = &at->moving[i];
        const struct moving *on = &at->moving[link->parent];
        if (__builtin_expect(link->method <= DYN_BATCH_LEAF, 1))
            move_hinge(link, group, on, L);
        else if (link->method == DYN_BATCH_AXIAL)
            move_axial(link, group, on, L);
        else
            move_round(link, group, on, L, &at->round[link->nth]);
    }
}
