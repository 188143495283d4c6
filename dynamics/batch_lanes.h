/*
 * The body of a batch kernel: included once by each of batch_sse2.c, batch_avx2.c and
 * batch_avx512.c, which name it in DYN_BATCH_KERNEL, say what `wide` is and are compiled for that
 * instruction set.
 *
 * Letters as in aba_lanes.h, but in the axes of batch_kernel.h.  A lane holds a number of one
 * state, so nothing is shuffled, and the joint's own axis is always z: of a hinge U is a column of
 * IA and D its diagonal element, and the elimination leaves a row and a column of zeros, with which
 * nobody computes.
 *
 *      move      w, c
 *      inward    IA = I + sum X' Ia X,  pA = p + sum X' pa
 *                U = IA S,  D = S' U,  u = tau - S' pA
 *                Ia = IA - U D^-1 U',  pa = pA + Ia c + U D^-1 u
 *      outward   a' = X a_parent + c,  qdd = D^-1 u - D^-1 U' a',  a = a' + S qdd
 *
 * This file is C and C++ at once.  Of `wide` it uses + - *, the unary minus and the functions
 * wide_..., so that it can be compiled with a number that counts.
 */
#include "dynamics/batch_kernel.h"

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

/* Articulated inertia [ I H ; H' M ], its symmetric blocks as xx yy zz xy xz yz, and bias force. */
struct articulated {
    wide I[6], H[3][3], M[6];
    wide pa[3], pl[3];
};

/* What the scratch amounts to is said where memory is laid out. */
typedef char moving_fits[sizeof(struct moving) == DYN_BATCH_LINK_WIDES * sizeof(wide) ? 1 : -1];
typedef char
    round_fits[sizeof(struct round_moving) == DYN_BATCH_ROUND_WIDES * sizeof(wide) ? 1 : -1];
typedef char sums_fit[sizeof(struct articulated) == DYN_BATCH_SUM_WIDES * sizeof(wide) ? 1 : -1];

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

/* ---- three-vectors ------------------------------------------------------------------------- */

/* sum += a x b */
WIDE_INLINE void add_cross(const wide a[3], const wide b[3], wide sum[3])
{
    sum[0] = sum[0] + a[1] * b[2] - a[2] * b[1];
    sum[1] = sum[1] + a[2] * b[0] - a[0] * b[2];
    sum[2] = sum[2] + a[0] * b[1] - a[1] * b[0];
}

WIDE_INLINE void cross(const wide a[3], const wide b[3], wide out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

WIDE_INLINE wide dot(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* m a, with m symmetric. */
WIDE_INLINE void sym_mul(const wide m[6], const wide a[3], wide out[3])
{
    out[0] = m[0] * a[0] + m[3] * a[1] + m[4] * a[2];
    out[1] = m[3] * a[0] + m[1] * a[1] + m[5] * a[2];
    out[2] = m[4] * a[0] + m[5] * a[1] + m[2] * a[2];
}

WIDE_INLINE void splat3(const double a[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = wide_splat(a[k]);
}

/* E a and E' a. */
WIDE_INLINE void rotate(wide E[3][3], const wide a[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = dot(E[k], a);
}

WIDE_INLINE void rotate_back(wide E[3][3], const wide a[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = E[0][k] * a[0] + E[1][k] * a[1] + E[2][k] * a[2];
}

/* ---- turns --------------------------------------------------------------------------------- */

/* Components on axes that are turned back by the angle: a on x and b on y of a turn about z. */
WIDE_INLINE void turn_back(wide s, wide c, wide *a, wide *b)
{
    const wide x = *a, y = *b;
    *a = c * x - s * y;
    *b = s * x + c * y;
}

WIDE_INLINE void turn(wide s, wide c, wide *a, wide *b)
{
    const wide x = *a, y = *b;
    *a = c * x + s * y;
    *b = c * y - s * x;
}

/*
 * The block [ aa ab ; ba bb ] between two such pairs, turned back on both sides.  With
 * t = s (aa - bb) + c (ab + ba) it is [ aa - s t, c t - ba ; c t - ab, bb + s t ].
 */
WIDE_INLINE void turn_block_back(wide s, wide c, wide *aa, wide *ab, wide *ba, wide *bb)
{
    const wide p = *ab, q = *ba;
    const wide t = s * (*aa - *bb) + c * (p + q);
    *aa = *aa - s * t;
    *bb = *bb + s * t;
    *ab = c * t - q;
    *ba = c * t - p;
}

/* The same where ab = ba. */
WIDE_INLINE void turn_sym_back(wide s, wide c, wide *aa, wide *bb, wide *ab)
{
    const wide p = *ab;
    const wide t = s * (*aa - *bb) + c * (p + p);
    *aa = *aa - s * t;
    *bb = *bb + s * t;
    *ab = c * t - p;
}

/* About z. */
WIDE_INLINE void turn_articulated_back(wide s, wide c, struct articulated *A)
{
    turn_sym_back(s, c, &A->I[0], &A->I[1], &A->I[3]);
    turn_back(s, c, &A->I[4], &A->I[5]);
    turn_block_back(s, c, &A->H[0][0], &A->H[0][1], &A->H[1][0], &A->H[1][1]);
    turn_back(s, c, &A->H[0][2], &A->H[1][2]);
    turn_back(s, c, &A->H[2][0], &A->H[2][1]);
    turn_sym_back(s, c, &A->M[0], &A->M[1], &A->M[3]);
    turn_back(s, c, &A->M[4], &A->M[5]);
    turn_back(s, c, &A->pa[0], &A->pa[1]);
    turn_back(s, c, &A->pl[0], &A->pl[1]);
}

/* About x. */
WIDE_INLINE void tilt_articulated_back(wide s, wide c, struct articulated *A)
{
    turn_sym_back(s, c, &A->I[1], &A->I[2], &A->I[5]);
    turn_back(s, c, &A->I[3], &A->I[4]);
    turn_block_back(s, c, &A->H[1][1], &A->H[1][2], &A->H[2][1], &A->H[2][2]);
    turn_back(s, c, &A->H[1][0], &A->H[2][0]);
    turn_back(s, c, &A->H[0][1], &A->H[0][2]);
    turn_sym_back(s, c, &A->M[1], &A->M[2], &A->M[5]);
    turn_back(s, c, &A->M[3], &A->M[4]);
    turn_back(s, c, &A->pa[1], &A->pa[2]);
    turn_back(s, c, &A->pl[1], &A->pl[2]);
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

/* As push() of law.c. */
static inline wide push(const struct dyn_joint_law *law, wide depth, wide out)
{
    const wide f = wide_splat(law->limit_stiffness) * depth + wide_splat(law->limit_damping) * out;
    return wide_where_positive(depth, wide_where_positive(f, f));
}

/* As dyn_law_force(). */
static wide law_force(const struct dyn_joint_law *law, wide q, wide v)
{
    wide f =
        -(wide_splat(law->stiffness) * (q - wide_splat(law->rest))) - wide_splat(law->damping) * v;
    if (law->coulomb > 0.0)
        f = f - wide_splat(law->coulomb) * wide_tanh(v * wide_splat(1.0 / law->coulomb_speed));
    if (law->limit_stiffness > 0.0)
        f = f + push(law, wide_splat(law->lower) - q, -v) -
            push(law, q - wide_splat(law->upper), v);
    return f;
}

static wide lawful_force(const struct dyn_lawful *at, const struct dyn_batch_group *group)
{
    const wide q = at->q_at < 0 ? wide_splat(0.0) : q_of(group, at->q_at);
    return law_force(&at->law, q, v_of(group, at->v_at));
}

/* All that acts along a velocity. */
WIDE_INLINE wide tau_of(const struct dyn_model *model, const struct dyn_batch_group *group,
                        const struct dyn_batch_work *work, int at)
{
    const int law = work->law[at];
    wide tau = wide_splat(0.0);
    if (group->tau != NULL)
        tau = wide_load(group->tau + (size_t)at * group->stride);
    if (__builtin_expect(law >= 0, 0))
        tau = tau + lawful_force(&model->lawful[law], group);
    return tau;
}

/* ---- move ---------------------------------------------------------------------------------- */

/* Origin of a one-dof link from its parent's, joint axes. */
WIDE_INLINE void arm_of(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                        wide r[3])
{
    splat3(link->r, r);
    if (link->kind != DYN_LINK_TURN)
        r[2] = r[2] + wide_splat(link->pitch) * q_of(group, link->q_at);
}

/* Sine and cosine of the whole turn about z. */
WIDE_INLINE void angle_of(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                          struct moving *L)
{
    wide s = wide_splat(link->turn_sine), c = wide_splat(link->turn_cosine);
    if (link->kind != DYN_LINK_SLIDE) {
        wide sine, cosine;
        wide_sine_cosine(q_of(group, link->q_at), &sine, &cosine);
        turn_back(sine, cosine, &c, &s);
    }
    L->s = s;
    L->c = c;
}

/* w x (w x r) */
WIDE_INLINE void centripetal(const wide w[3], const wide r[3], wide out[3])
{
    wide wr[3];
    cross(w, r, wr);
    cross(w, wr, out);
}

WIDE_INLINE void move_axial(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                            const struct moving *on, struct moving *L)
{
    wide w[3] = {on->w[0], on->w[1], on->w[2]}, r[3], cl[3];
    const wide v = v_of(group, link->v_at);

    angle_of(link, group, L);
    to_joint(link, w);
    arm_of(link, group, r);
    centripetal(w, r, cl);
    if (link->kind != DYN_LINK_TURN) {
        const wide coriolis = wide_splat(2.0 * link->pitch) * v;
        cl[0] = cl[0] + w[1] * coriolis;
        cl[1] = cl[1] - w[0] * coriolis;
    }
    for (int k = 0; k < 3; k++)
        L->cl[k] = cl[k];
    const wide spin = link->kind == DYN_LINK_SLIDE ? wide_splat(0.0) : v;
    L->ca[0] = w[1] * spin;
    L->ca[1] = -(w[0] * spin);
    turn(L->s, L->c, &w[0], &w[1]);
    L->w[0] = w[0];
    L->w[1] = w[1];
    L->w[2] = w[2] + spin;
}

/* Axes of the parent's seat to those of a quaternion, of any length but zero. */
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
    if (link->kind == DYN_LINK_FREE) {
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
    const int quat_at = link->q_at + (link->kind == DYN_LINK_FREE ? 3 : 0);
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
    if (link->kind == DYN_LINK_FREE) {
        /* twice for Coriolis, once more because dv/dt counts components in axes that turn */
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

static void move(const struct dyn_model *model, const struct dyn_batch_group *group,
                 const struct dyn_batch_work *work, const struct scratch *at)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_batch_link *link = &work->link[i];
        struct moving *L = &at->moving[i];
        const struct moving *on = &at->moving[link->parent];
        if (__builtin_expect(link->round >= 0, 0))
            move_round(link, group, on, L, &at->round[link->round]);
        else
            move_axial(link, group, on, L);
    }
}

/* ---- inward: links and their parents ------------------------------------------------------- */

/* What a leaf carries. */
static const struct articulated NOTHING;

WIDE_INLINE const struct articulated *carried_by(const struct dyn_batch_link *link,
                                                 const struct scratch *at)
{
    return link->is_leaf ? &NOTHING : &at->sum[link->sum];
}

/* The link's own inertia, and what its velocity asks for: w x (I w), w x (w x mc). */
static void add_link(const struct dyn_batch_link *link, const wide w[3], struct articulated *A)
{
    const wide m = wide_splat(link->mass);
    wide I[6], Iw[3], h[3], wh[3];
    for (int k = 0; k < 6; k++) {
        I[k] = wide_splat(link->I[k]);
        A->I[k] = A->I[k] + I[k];
    }
    splat3(link->mc, h);
    A->H[0][1] = A->H[0][1] - h[2], A->H[0][2] = A->H[0][2] + h[1];
    A->H[1][0] = A->H[1][0] + h[2], A->H[1][2] = A->H[1][2] - h[0];
    A->H[2][0] = A->H[2][0] - h[1], A->H[2][1] = A->H[2][1] + h[0];
    for (int k = 0; k < 3; k++)
        A->M[k] = A->M[k] + m;
    sym_mul(I, w, Iw);
    add_cross(w, Iw, A->pa);
    cross(w, h, wh);
    add_cross(w, wh, A->pl);
}

/* The first of the siblings to come finds nothing of use there. */
WIDE_INLINE void put_in_sum(int is_first, const struct articulated *A, struct articulated *sum)
{
    if (is_first) {
        *sum = *A;
        return;
    }
    for (int k = 0; k < 6; k++) {
        sum->I[k] = sum->I[k] + A->I[k];
        sum->M[k] = sum->M[k] + A->M[k];
    }
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++)
            sum->H[k][j] = sum->H[k][j] + A->H[k][j];
        sum->pa[k] = sum->pa[k] + A->pa[k];
        sum->pl[k] = sum->pl[k] + A->pl[k];
    }
}

/* From joint axes, about the parent's origin, into the parent's sum. */
static void give_to_parent(const struct dyn_batch_link *link, struct articulated *A,
                           struct articulated *sum)
{
    if (link->tilt != DYN_BATCH_TILT_NONE)
        tilt_articulated_back(wide_splat(link->tilt_sine), wide_splat(link->tilt_cosine), A);
    if (link->is_skewed)
        turn_articulated_back(wide_splat(link->skew_sine), wide_splat(link->skew_cosine), A);
    put_in_sum(link->is_first, A, sum);
}

/* ---- inward: hinges ------------------------------------------------------------------------ */

/*
 * A hinge's D^-1 leaves an inertia of which the z rows of I and H are zero.  What follows goes
 * block by block, so that few numbers are alive at a time.
 */
struct planar {
    wide xx, yy, xy, x[3], y[3], M[6]; /* x and y are rows of H */
    wide pa[3], pl[3];
};

/* U is the z column of IA and g is D^-1 U; g.z is one. */
struct hinge {
    wide Ux, Uy, U[3];
    wide gx, gy, g[3], ud;
};

/* pA, with what the link's own velocity asks for: w x (I w), w x (w x mc). */
WIDE_INLINE void take_force(const struct dyn_batch_link *link, const struct articulated *A,
                            const wide w[3], struct planar *P)
{
    const wide I[6] = {wide_splat(link->I[0]), wide_splat(link->I[1]), wide_splat(link->I[2]),
                       wide_splat(link->I[3]), wide_splat(link->I[4]), wide_splat(link->I[5])};
    const wide h[3] = {wide_splat(link->mc[0]), wide_splat(link->mc[1]), wide_splat(link->mc[2])};
    wide Iw[3], wh[3];

    P->pa[0] = A->pa[0], P->pa[1] = A->pa[1], P->pa[2] = A->pa[2];
    sym_mul(I, w, Iw);
    add_cross(w, Iw, P->pa);
    P->pl[0] = A->pl[0], P->pl[1] = A->pl[1], P->pl[2] = A->pl[2];
    cross(w, h, wh);
    add_cross(w, wh, P->pl);
}

/* D^-1 U, D^-1 u and pA + U D^-1 u. */
WIDE_INLINE struct hinge solve_hinge(const struct dyn_batch_link *link, wide tau,
                                     const struct articulated *A, struct planar *P)
{
    const wide D_inv = wide_inverse(A->I[2] + wide_splat(link->I[2]));
    struct hinge J;

    J.ud = (tau - P->pa[2]) * D_inv;
    J.Ux = A->I[4] + wide_splat(link->I[4]);
    J.Uy = A->I[5] + wide_splat(link->I[5]);
    J.U[0] = A->H[2][0] - wide_splat(link->mc[1]);
    J.U[1] = A->H[2][1] + wide_splat(link->mc[0]);
    J.U[2] = A->H[2][2];
    J.gx = J.Ux * D_inv;
    J.gy = J.Uy * D_inv;
    J.g[0] = J.U[0] * D_inv;
    J.g[1] = J.U[1] * D_inv;
    J.g[2] = J.U[2] * D_inv;
    P->pa[0] = P->pa[0] + J.Ux * J.ud;
    P->pa[1] = P->pa[1] + J.Uy * J.ud;
    P->pa[2] = tau;
    P->pl[0] = P->pl[0] + J.U[0] * J.ud;
    P->pl[1] = P->pl[1] + J.U[1] * J.ud;
    P->pl[2] = P->pl[2] + J.U[2] * J.ud;
    return J;
}

WIDE_INLINE void keep_hinge(const struct hinge *J, struct moving *L)
{
    L->ga[0] = J->gx;
    L->ga[1] = J->gy;
    L->gl[0] = J->g[0];
    L->gl[1] = J->g[1];
    L->gl[2] = J->g[2];
    L->ud = J->ud;
}

/* Ia = IA - U D^-1 U' in joint axes, a block of it, with its part of pa += Ia c. */
WIDE_INLINE void take_M(const struct dyn_batch_link *link, const struct articulated *A,
                        const struct hinge *J, const struct moving *L, struct planar *P)
{
    const wide m = wide_splat(link->mass), *cl = L->cl;
    wide *M = P->M, *pl = P->pl;
    M[0] = A->M[0] + m - J->U[0] * J->g[0];
    M[1] = A->M[1] + m - J->U[1] * J->g[1];
    M[3] = A->M[3] - J->U[0] * J->g[1];
    turn_sym_back(L->s, L->c, &M[0], &M[1], &M[3]);
    M[4] = A->M[4] - J->U[0] * J->g[2];
    M[5] = A->M[5] - J->U[1] * J->g[2];
    turn_back(L->s, L->c, &M[4], &M[5]);
    M[2] = A->M[2] + m - J->U[2] * J->g[2];
    pl[0] = pl[0] + M[0] * cl[0] + M[3] * cl[1] + M[4] * cl[2];
    pl[1] = pl[1] + M[3] * cl[0] + M[1] * cl[1] + M[5] * cl[2];
    pl[2] = pl[2] + M[4] * cl[0] + M[5] * cl[1] + M[2] * cl[2];
}

WIDE_INLINE void take_H(const struct dyn_batch_link *link, const struct articulated *A,
                        const struct hinge *J, const struct moving *L, struct planar *P)
{
    const wide h[3] = {wide_splat(link->mc[0]), wide_splat(link->mc[1]), wide_splat(link->mc[2])};
    const wide *ca = L->ca, *cl = L->cl;
    wide *x = P->x, *y = P->y, *pl = P->pl;
    x[0] = A->H[0][0] - J->Ux * J->g[0];
    x[1] = A->H[0][1] - h[2] - J->Ux * J->g[1];
    y[0] = A->H[1][0] + h[2] - J->Uy * J->g[0];
    y[1] = A->H[1][1] - J->Uy * J->g[1];
    turn_block_back(L->s, L->c, &x[0], &x[1], &y[0], &y[1]);
    x[2] = A->H[0][2] + h[1] - J->Ux * J->g[2];
    y[2] = A->H[1][2] - h[0] - J->Uy * J->g[2];
    turn_back(L->s, L->c, &x[2], &y[2]);
    pl[0] = pl[0] + x[0] * ca[0] + y[0] * ca[1];
    pl[1] = pl[1] + x[1] * ca[0] + y[1] * ca[1];
    pl[2] = pl[2] + x[2] * ca[0] + y[2] * ca[1];
    P->pa[0] = P->pa[0] + x[0] * cl[0] + x[1] * cl[1] + x[2] * cl[2];
    P->pa[1] = P->pa[1] + y[0] * cl[0] + y[1] * cl[1] + y[2] * cl[2];
}

WIDE_INLINE void take_I(const struct dyn_batch_link *link, const struct articulated *A,
                        const struct hinge *J, const struct moving *L, struct planar *P)
{
    P->xx = A->I[0] + wide_splat(link->I[0]) - J->Ux * J->gx;
    P->yy = A->I[1] + wide_splat(link->I[1]) - J->Uy * J->gy;
    P->xy = A->I[3] + wide_splat(link->I[3]) - J->Ux * J->gy;
    turn_sym_back(L->s, L->c, &P->xx, &P->yy, &P->xy);
    P->pa[0] = P->pa[0] + P->xx * L->ca[0] + P->xy * L->ca[1];
    P->pa[1] = P->pa[1] + P->xy * L->ca[0] + P->yy * L->ca[1];
}

/* The way from joint axes to those of the seat. */
struct way {
    enum dyn_batch_tilt tilt;
    wide s, c, r[3];
};

WIDE_INLINE void tilt_back(const struct way *way, wide *a, wide *b)
{
    const wide x = *a;
    if (way->tilt == DYN_BATCH_TILT_ANY) {
        turn_back(way->s, way->c, a, b);
    } else if (way->tilt == DYN_BATCH_TILT_QUARTER) {
        *a = -*b;
        *b = x;
    }
}

WIDE_INLINE void tilt_sym_back(const struct way *way, wide *aa, wide *bb, wide *ab)
{
    const wide x = *aa;
    if (way->tilt == DYN_BATCH_TILT_ANY) {
        turn_sym_back(way->s, way->c, aa, bb, ab);
    } else if (way->tilt == DYN_BATCH_TILT_QUARTER) {
        *aa = *bb;
        *bb = x;
        *ab = -*ab;
    }
}

WIDE_INLINE void tilt_block_back(const struct way *way, wide *aa, wide *ab, wide *ba, wide *bb)
{
    const wide x = *aa, y = *ab;
    if (way->tilt == DYN_BATCH_TILT_ANY) {
        turn_block_back(way->s, way->c, aa, ab, ba, bb);
    } else if (way->tilt == DYN_BATCH_TILT_QUARTER) {
        *aa = *bb;
        *ab = -*ba;
        *ba = -y;
        *bb = x;
    }
}

WIDE_INLINE void give_force(const struct way *way, const struct planar *P, struct articulated *sum)
{
    const wide *r = way->r;
    wide pl[3] = {P->pl[0], P->pl[1], P->pl[2]}, pa[3] = {P->pa[0], P->pa[1], P->pa[2]};
    add_cross(r, pl, pa);
    tilt_back(way, &pa[1], &pa[2]);
    tilt_back(way, &pl[1], &pl[2]);
    sum->pa[0] = pa[0], sum->pa[1] = pa[1], sum->pa[2] = pa[2];
    sum->pl[0] = pl[0], sum->pl[1] = pl[1], sum->pl[2] = pl[2];
}

/*
 * About an origin from which this one stands at r, with H the rows here and h the rows there:
 *      h = H + r x M,   I_ij + (r x H_j)_i + (r x h_i)_j
 * First what has an x for the row, then the rest.
 */
WIDE_INLINE void give_x(const struct way *way, const struct planar *P, struct articulated *sum)
{
    const wide *r = way->r, *x = P->x, *y = P->y, *M = P->M;
    wide h0 = x[0] + r[1] * M[4] - r[2] * M[3];
    wide h1 = x[1] + r[1] * M[5] - r[2] * M[1];
    wide h2 = x[2] + r[1] * M[2] - r[2] * M[5];
    wide xx = P->xx + r[1] * (x[2] + h2) - r[2] * (x[1] + h1);
    wide xy = P->xy + r[1] * y[2] - r[2] * y[1] + r[2] * h0 - r[0] * h2;
    wide xz = r[0] * h1 - r[1] * h0;
    tilt_back(way, &xy, &xz);
    tilt_back(way, &h1, &h2);
    sum->I[0] = xx, sum->I[3] = xy, sum->I[4] = xz;
    sum->H[0][0] = h0, sum->H[0][1] = h1, sum->H[0][2] = h2;
}

WIDE_INLINE void give_yz(const struct way *way, const struct planar *P, struct articulated *sum)
{
    const wide *r = way->r, *y = P->y, *M = P->M;
    wide h0 = y[0] + r[2] * M[0] - r[0] * M[4];
    wide h1 = y[1] + r[2] * M[3] - r[0] * M[5];
    wide h2 = y[2] + r[2] * M[4] - r[0] * M[2];
    wide k0 = r[0] * M[3] - r[1] * M[0];
    wide k1 = r[0] * M[1] - r[1] * M[3];
    wide k2 = r[0] * M[5] - r[1] * M[4];
    wide yy = P->yy + r[2] * (y[0] + h0) - r[0] * (y[2] + h2);
    wide yz = r[0] * h1 - r[1] * h0;
    wide zz = r[0] * k1 - r[1] * k0;
    tilt_sym_back(way, &yy, &zz, &yz);
    tilt_back(way, &h0, &k0);
    tilt_block_back(way, &h1, &h2, &k1, &k2);
    sum->I[1] = yy, sum->I[2] = zz, sum->I[5] = yz;
    sum->H[1][0] = h0, sum->H[1][1] = h1, sum->H[1][2] = h2;
    sum->H[2][0] = k0, sum->H[2][1] = k1, sum->H[2][2] = k2;
}

WIDE_INLINE void give_M(const struct way *way, const struct planar *P, struct articulated *sum)
{
    wide xx = P->M[0], yy = P->M[1], zz = P->M[2], xy = P->M[3], xz = P->M[4], yz = P->M[5];
    tilt_sym_back(way, &yy, &zz, &yz);
    tilt_back(way, &xy, &xz);
    sum->M[0] = xx, sum->M[1] = yy, sum->M[2] = zz;
    sum->M[3] = xy, sum->M[4] = xz, sum->M[5] = yz;
}

/* The tilt is a constant where this is expanded. */
WIDE_INLINE void give_planar(const struct dyn_batch_link *link, enum dyn_batch_tilt tilt,
                             const struct planar *P, struct articulated *sum)
{
    struct way way;
    way.tilt = tilt;
    way.s = wide_splat(link->tilt_sine);
    way.c = wide_splat(link->tilt_cosine);
    way.r[0] = wide_splat(link->r[0]);
    way.r[1] = wide_splat(link->r[1]);
    way.r[2] = wide_splat(link->r[2]);
    give_force(&way, P, sum);
    give_x(&way, P, sum);
    give_yz(&way, P, sum);
    give_M(&way, P, sum);
}

/* What does not come straight from an heir is turned once more, or added. */
WIDE_INLINE void give_aside(const struct dyn_batch_link *link, struct articulated A,
                            struct articulated *sum)
{
    if (link->is_skewed)
        turn_articulated_back(wide_splat(link->skew_sine), wide_splat(link->skew_cosine), &A);
    put_in_sum(link->is_first, &A, sum);
}

/* The hot path. */
WIDE_INLINE void inward_turn(const struct dyn_batch_link *link, wide tau, const struct scratch *at,
                             const struct dyn_batch_link *links, struct moving *L)
{
    const struct articulated *A = carried_by(link, at);
    struct articulated *sum, aside;
    struct planar P;

    take_force(link, A, L->w, &P);
    const struct hinge J = solve_hinge(link, tau, A, &P);
    keep_hinge(&J, L);
    if (link->parent < 0)
        return;
    turn_back(L->s, L->c, &P.pa[0], &P.pa[1]);
    turn_back(L->s, L->c, &P.pl[0], &P.pl[1]);
    take_M(link, A, &J, L, &P);
    take_H(link, A, &J, L, &P);
    take_I(link, A, &J, L, &P);

    sum = &at->sum[links[link->parent].sum];
    if (__builtin_expect(link->is_skewed || !link->is_first, 0)) {
        give_planar(link, DYN_BATCH_TILT_ANY, &P, &aside);
        give_aside(link, aside, sum);
    } else if (link->tilt == DYN_BATCH_TILT_ANY) {
        give_planar(link, DYN_BATCH_TILT_ANY, &P, sum);
    } else if (link->tilt == DYN_BATCH_TILT_QUARTER) {
        give_planar(link, DYN_BATCH_TILT_QUARTER, &P, sum);
    } else {
        give_planar(link, DYN_BATCH_TILT_NONE, &P, sum);
    }
}

/* ---- inward: all other links --------------------------------------------------------------- */

static void shift(const wide r[3], struct articulated *A)
{
    const wide *M = A->M;
    const wide row[3][3] = {{M[0], M[3], M[4]}, {M[3], M[1], M[5]}, {M[4], M[5], M[2]}};
    wide h[3][3], here[3][3], there[3][3];

    for (int k = 0; k < 3; k++) {
        h[0][k] = A->H[0][k] + r[1] * row[2][k] - r[2] * row[1][k];
        h[1][k] = A->H[1][k] + r[2] * row[0][k] - r[0] * row[2][k];
        h[2][k] = A->H[2][k] + r[0] * row[1][k] - r[1] * row[0][k];
    }
    for (int k = 0; k < 3; k++) {
        cross(r, A->H[k], here[k]);
        cross(r, h[k], there[k]);
    }
    for (int k = 0; k < 3; k++)
        A->I[k] = A->I[k] + here[k][k] + there[k][k];
    A->I[3] = A->I[3] + here[1][0] + there[0][1];
    A->I[4] = A->I[4] + here[2][0] + there[0][2];
    A->I[5] = A->I[5] + here[2][1] + there[1][2];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            A->H[k][j] = h[k][j];
    add_cross(r, A->pl, A->pa);
}

/* A - U D^-1 U', with g = D^-1 U. */
static void take_square(const wide Ua[3], const wide Ul[3], const wide ga[3], const wide gl[3],
                        struct articulated *A)
{
    for (int k = 0; k < 3; k++) {
        A->I[k] = A->I[k] - Ua[k] * ga[k];
        A->M[k] = A->M[k] - Ul[k] * gl[k];
        for (int j = 0; j < 3; j++)
            A->H[k][j] = A->H[k][j] - Ua[k] * gl[j];
    }
    A->I[3] = A->I[3] - Ua[0] * ga[1];
    A->I[4] = A->I[4] - Ua[0] * ga[2];
    A->I[5] = A->I[5] - Ua[1] * ga[2];
    A->M[3] = A->M[3] - Ul[0] * gl[1];
    A->M[4] = A->M[4] - Ul[0] * gl[2];
    A->M[5] = A->M[5] - Ul[1] * gl[2];
}

/* p += A c */
static void add_bias(const wide ca[3], const wide cl[3], struct articulated *A)
{
    wide Ic[3], Mc[3];
    sym_mul(A->I, ca, Ic);
    sym_mul(A->M, cl, Mc);
    for (int k = 0; k < 3; k++) {
        A->pa[k] = A->pa[k] + Ic[k] + dot(A->H[k], cl);
        A->pl[k] = A->pl[k] + Mc[k] + A->H[0][k] * ca[0] + A->H[1][k] * ca[1] + A->H[2][k] * ca[2];
    }
}

/*
 * A rotor on the parent that turns with the joint adds its spin s to what the parent feels of U:
 * U_p = X' U + s.  What the other path has given to the parent already is X' U D^-1 U' X.
 */
static void couple_rotor(const struct dyn_batch_link *link, wide v, const struct moving *on,
                         const wide r[3], const struct moving *L, struct articulated *sum)
{
    wide s[3], ga[3], gl[3], torque[3];
    const wide c[3] = {L->ca[0], L->ca[1], wide_splat(0.0)};

    splat3(link->rotor_spin, s);
    for (int k = 0; k < 3; k++) {
        ga[k] = L->ga[k];
        gl[k] = L->gl[k];
    }
    turn_back(L->s, L->c, &ga[0], &ga[1]);
    turn_back(L->s, L->c, &gl[0], &gl[1]);
    const wide ud = L->ud - dot(ga, c) - dot(gl, L->cl);
    add_cross(r, gl, ga);
    to_parent(link, ga);
    to_parent(link, gl);
    cross(on->w, s, torque);
    for (int k = 0; k < 3; k++) {
        const wide more = ga[k] + s[k] * L->D_inv;
        sum->pa[k] = sum->pa[k] + s[k] * ud + torque[k] * v;
        sum->I[k] = sum->I[k] - s[k] * (ga[k] + more);
        for (int j = 0; j < 3; j++)
            sum->H[k][j] = sum->H[k][j] - s[k] * gl[j];
    }
    sum->I[3] = sum->I[3] - s[0] * ga[1] - s[1] * (ga[0] + s[0] * L->D_inv);
    sum->I[4] = sum->I[4] - s[0] * ga[2] - s[2] * (ga[0] + s[0] * L->D_inv);
    sum->I[5] = sum->I[5] - s[1] * ga[2] - s[2] * (ga[1] + s[1] * L->D_inv);
}

/* S = [turns z; pitch z] */
static void eliminate_axial(const struct dyn_batch_link *link, wide tau, struct articulated *A,
                            struct moving *L)
{
    const wide turns = wide_splat(link->kind == DYN_LINK_SLIDE ? 0.0 : 1.0);
    const wide pitch = wide_splat(link->pitch);
    const wide Ua[3] = {turns * A->I[4] + pitch * A->H[0][2], turns * A->I[5] + pitch * A->H[1][2],
                        turns * A->I[2] + pitch * A->H[2][2]};
    const wide Ul[3] = {turns * A->H[2][0] + pitch * A->M[4], turns * A->H[2][1] + pitch * A->M[5],
                        turns * A->H[2][2] + pitch * A->M[2]};
    const wide D_inv = wide_inverse(turns * Ua[2] + pitch * Ul[2] + wide_splat(link->rotor));
    const wide ud = (tau - turns * A->pa[2] - pitch * A->pl[2]) * D_inv;

    for (int k = 0; k < 3; k++) {
        L->ga[k] = Ua[k] * D_inv;
        L->gl[k] = Ul[k] * D_inv;
        A->pa[k] = A->pa[k] + Ua[k] * ud;
        A->pl[k] = A->pl[k] + Ul[k] * ud;
    }
    L->ud = ud;
    L->D_inv = D_inv;
    take_square(Ua, Ul, L->ga, L->gl, A);
}

/* Slides, screws, and hinges with a rotor. */
static void inward_axial(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                         wide tau, const struct scratch *at, const struct dyn_batch_link *links,
                         struct moving *L)
{
    struct articulated A = *carried_by(link, at);
    const wide ca[3] = {L->ca[0], L->ca[1], wide_splat(0.0)};
    wide r[3];

    add_link(link, L->w, &A);
    eliminate_axial(link, tau, &A, L);
    if (link->parent < 0)
        return;
    struct articulated *sum = &at->sum[links[link->parent].sum];
    turn_articulated_back(L->s, L->c, &A);
    add_bias(ca, L->cl, &A);
    arm_of(link, group, r);
    shift(r, &A);
    give_to_parent(link, &A, sum);
    if (link->is_coupled)
        couple_rotor(link, v_of(group, link->v_at), &at->moving[link->parent], r, L, sum);
}

/* A = L D L': below the diagonal L D is left, and D^-1 beside it. */
static void factor(int n, wide A[6][6], wide D_inv[6])
{
    for (int j = 0; j < n; j++) {
        D_inv[j] = wide_inverse(A[j][j]);
        for (int i = j + 1; i < n; i++) {
            const wide l = A[i][j] * D_inv[j];
            for (int k = j + 1; k <= i; k++)
                A[i][k] = A[i][k] - l * A[k][j];
        }
    }
}

/* x becomes A^-1 x. */
static void substitute(int n, wide A[6][6], const wide D_inv[6], wide *x)
{
    for (int j = 0; j < n; j++) {
        const wide y = x[j] * D_inv[j];
        for (int i = j + 1; i < n; i++)
            x[i] = x[i] - A[i][j] * y;
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int i = j + 1; i < n; i++)
            x[j] = x[j] - A[i][j] * x[i];
        x[j] = x[j] * D_inv[j];
    }
}

/* The lower half. */
static void unpack(const struct articulated *A, wide full[6][6])
{
    for (int k = 0; k < 2; k++) {
        const wide *m = k == 0 ? A->I : A->M;
        const int o = 3 * k;
        full[o][o] = m[0], full[o + 1][o] = m[3], full[o + 1][o + 1] = m[1];
        full[o + 2][o] = m[4], full[o + 2][o + 1] = m[5], full[o + 2][o + 2] = m[2];
    }
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            full[j + 3][k] = A->H[k][j];
}

/* The acceleration of a free link is its own affair. */
static void solve_free(const wide tau[6], const struct articulated *A, struct round_moving *round)
{
    wide full[6][6], D_inv[6];

    unpack(A, full);
    for (int k = 0; k < 3; k++) {
        round->x[k] = tau[k] - A->pa[k];
        round->x[k + 3] = tau[k + 3] - A->pl[k];
    }
    factor(6, full, D_inv);
    substitute(6, full, D_inv, round->x);
}

/* Nothing is carried through a free joint but the force along it. */
static void eliminate_free(const wide tau[6], struct articulated *A)
{
    *A = NOTHING;
    for (int k = 0; k < 3; k++) {
        A->pa[k] = tau[k];
        A->pl[k] = tau[k + 3];
    }
}

/* S = [1; 0]: D = I, U = [I; H'], and of Ia only M - H' I^-1 H is left. */
static void eliminate_ball(const wide tau[3], struct articulated *A, struct round_moving *round)
{
    const wide zero = wide_splat(0.0);
    wide full[6][6], D_inv[6];

    unpack(A, full);
    factor(3, full, D_inv);
    for (int j = 0; j < 3; j++) {
        wide g[3] = {A->H[0][j], A->H[1][j], A->H[2][j]};
        substitute(3, full, D_inv, g);
        for (int k = 0; k < 3; k++)
            round->G[k][j] = g[k];
        round->x[j] = tau[j] - A->pa[j];
    }
    substitute(3, full, D_inv, round->x);
    for (int k = 0; k < 3; k++) {
        const wide H[3] = {A->H[0][k], A->H[1][k], A->H[2][k]};
        for (int j = k; j < 3; j++) {
            const wide G[3] = {round->G[0][j], round->G[1][j], round->G[2][j]};
            wide *M = &A->M[j == k ? k : k + j + 2];
            *M = *M - dot(H, G);
        }
        A->pl[k] = A->pl[k] + dot(H, round->x);
    }
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++)
            A->H[k][j] = zero;
        A->I[k] = zero;
        A->I[k + 3] = zero;
        A->pa[k] = tau[k];
    }
}

/* E' m E */
static void rotate_sym_back(wide E[3][3], wide m[6])
{
    wide mE[3][3], out[3][3];
    for (int k = 0; k < 3; k++) {
        const wide column[3] = {E[0][k], E[1][k], E[2][k]};
        sym_mul(m, column, mE[k]);
    }
    for (int k = 0; k < 3; k++)
        rotate_back(E, mE[k], out[k]);
    for (int k = 0; k < 3; k++)
        m[k] = out[k][k];
    m[3] = out[0][1], m[4] = out[0][2], m[5] = out[1][2];
}

static void inward_round(const struct dyn_model *model, const struct dyn_batch_link *link,
                         const struct dyn_batch_group *group, const struct dyn_batch_work *work,
                         const struct scratch *at, struct moving *L)
{
    struct articulated A = *carried_by(link, at);
    struct round_moving *round = &at->round[link->round];
    wide tau[6], p[3], r[3];

    add_link(link, L->w, &A);
    for (int k = 0; k < (link->kind == DYN_LINK_FREE ? 6 : 3); k++)
        tau[k] = tau_of(model, group, work, link->v_at + k);
    if (link->kind == DYN_LINK_FREE)
        solve_free(tau, &A, round);
    else
        eliminate_ball(tau, &A, round);
    if (link->parent < 0)
        return;
    if (link->kind == DYN_LINK_FREE)
        eliminate_free(tau, &A);
    sym_mul(A.M, L->cl, p);
    for (int k = 0; k < 3; k++)
        p[k] = p[k] + A.pl[k];
    rotate_back(round->E, p, A.pl);
    rotate_back(round->E, tau, A.pa);
    rotate_sym_back(round->E, A.M);
    round_arm_of(link, group, r);
    shift(r, &A);
    give_to_parent(link, &A, &at->sum[work->link[link->parent].sum]);
}

/* Backward in depth-first order: every child comes before its parent, and the sums of few are
 * needed at a time. */
static void inward(const struct dyn_model *model, const struct dyn_batch_group *group,
                   const struct dyn_batch_work *work, const struct scratch *at)
{
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_batch_link *link = &work->link[i];
        struct moving *L = &at->moving[i];

        if (__builtin_expect(link->round >= 0, 0)) {
            inward_round(model, link, group, work, at, L);
            continue;
        }
        const wide tau = tau_of(model, group, work, link->v_at);
        if (__builtin_expect(link->kind == DYN_LINK_TURN && !link->has_rotor, 1))
            inward_turn(link, tau, at, work->link, L);
        else
            inward_axial(link, group, tau, at, work->link, L);
    }
}

/* ---- outward ------------------------------------------------------------------------------- */

WIDE_INLINE void put(const struct dyn_batch_group *group, int at, wide a)
{
    wide_store(group->a + (size_t)at * group->stride, a);
}

/* alpha and a are the parent's and become the link's. */
WIDE_INLINE void outward_axial(const struct dyn_batch_link *link,
                               const struct dyn_batch_group *group, wide alpha[3], wide a[3],
                               struct moving *L)
{
    wide r[3], qdd = L->ud;

    if (__builtin_expect(link->is_coupled, 0)) {
        wide s[3];
        splat3(link->rotor_spin, s);
        qdd = qdd - L->D_inv * dot(s, alpha);
    }
    to_joint(link, alpha);
    to_joint(link, a);
    arm_of(link, group, r);
    add_cross(alpha, r, a);
    alpha[0] = alpha[0] + L->ca[0];
    alpha[1] = alpha[1] + L->ca[1];
    for (int k = 0; k < 3; k++)
        a[k] = a[k] + L->cl[k];
    turn(L->s, L->c, &alpha[0], &alpha[1]);
    turn(L->s, L->c, &a[0], &a[1]);

    qdd = qdd - L->ga[0] * alpha[0] - L->ga[1] * alpha[1] - dot(L->gl, a);
    if (__builtin_expect(link->kind == DYN_LINK_TURN && !link->has_rotor, 1)) {
        const wide spin = qdd; /* alpha.z + (qdd - alpha.z) */
        qdd = qdd - alpha[2];
        alpha[2] = spin;
    } else {
        qdd = qdd - L->ga[2] * alpha[2];
        if (link->kind != DYN_LINK_SLIDE)
            alpha[2] = alpha[2] + qdd;
        if (link->kind != DYN_LINK_TURN)
            a[2] = a[2] + wide_splat(link->pitch) * qdd;
    }
    put(group, link->v_at, qdd);
    for (int k = 0; k < 3; k++) {
        L->w[k] = alpha[k];
        L->cl[k] = a[k];
    }
}

static void outward_round(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                          wide alpha_on[3], wide a_on[3], struct moving *L,
                          struct round_moving *round)
{
    wide alpha[3], a[3], r[3];

    to_joint(link, alpha_on);
    to_joint(link, a_on);
    round_arm_of(link, group, r);
    add_cross(alpha_on, r, a_on);
    rotate(round->E, alpha_on, alpha);
    rotate(round->E, a_on, a);
    for (int k = 0; k < 3; k++) {
        alpha[k] = alpha[k] + L->ca[k];
        a[k] = a[k] + L->cl[k];
    }
    for (int k = 0; k < 3; k++) {
        if (link->kind == DYN_LINK_FREE) {
            L->w[k] = round->x[k];
            L->cl[k] = round->x[k + 3];
            put(group, link->v_at + 3 + k, round->x[k + 3] - a[k]);
        } else {
            L->w[k] = round->x[k] - dot(round->G[k], a);
            L->cl[k] = a[k];
        }
        put(group, link->v_at + k, L->w[k] - alpha[k]);
    }
}

static void outward(const struct dyn_model *model, const struct dyn_batch_group *group,
                    const struct dyn_batch_work *work, const struct scratch *at)
{
    const struct moving *world = &at->moving[-1];
    /* of the link before, which most often is the parent */
    wide alpha[3] = {world->w[0], world->w[1], world->w[2]};
    wide a[3] = {world->cl[0], world->cl[1], world->cl[2]};

    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_batch_link *link = &work->link[i];
        struct moving *L = &at->moving[i];
        const struct moving *on = &at->moving[link->parent];
        if (link->parent != i - 1)
            for (int k = 0; k < 3; k++) {
                alpha[k] = on->w[k];
                a[k] = on->cl[k];
            }
        if (__builtin_expect(link->round >= 0, 0)) {
            outward_round(link, group, alpha, a, L, &at->round[link->round]);
            for (int k = 0; k < 3; k++) {
                alpha[k] = L->w[k];
                a[k] = L->cl[k];
            }
        } else {
            outward_axial(link, group, alpha, a, L);
        }
    }
}

/* It stands, and falls upward instead of everything else downward. */
static void begin_world(const double gravity[3], struct moving *world)
{
    for (int k = 0; k < 3; k++) {
        world->w[k] = wide_splat(0.0);
        world->cl[k] = wide_splat(-gravity[k]);
    }
}

static void run(const struct dyn_model *model, const struct dyn_batch_group *group,
                struct dyn_batch_work *work)
{
    const struct scratch at = scratch_of(work);
    begin_world(group->gravity, &at.moving[-1]);
    move(model, group, work, &at);
    inward(model, group, work, &at);
    outward(model, group, work, &at);
}

#ifdef __cplusplus
extern "C"
#endif
    const struct dyn_batch_kernel DYN_BATCH_KERNEL = {DYN_WIDE, run};
