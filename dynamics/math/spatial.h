/*
 * Spatial algebra: three-vectors, rotations, six-vectors (angular first) and inertias.
 *
 * A rotation E takes parent axes to child axes; a unit quaternion q (w x y z) takes the other way,
 * child components to parent components, so E = R(q)'.  A six-vector holds either a motion
 * (angular, linear at the origin) or a force (moment about the origin, force).  Stands alone: no
 * other dynamics header, nothing but math.h.  All functions are pure.  Context: any.
 */
#pragma once

#include <math.h>

struct dyn_vec3 {
    double x, y, z;
};

struct dyn_quat {
    double w, x, y, z;
};

struct dyn_mat3 {
    struct dyn_vec3 row[3];
};

struct dyn_sym3 {
    double xx, yy, zz, xy, xz, yz;
};

/* Each half fills a 32-byte lane group and the whole a cache line. */
struct dyn_vec6 {
    _Alignas(32) struct dyn_vec3 ang;
    _Alignas(32) struct dyn_vec3 lin;
};

/* Pluecker transform from parent to child coordinates. */
struct dyn_transform {
    struct dyn_mat3 E; /* parent axes to child axes */
    struct dyn_vec3 r; /* child origin in parent axes */
};

/* Place of a frame in another: rotation of its components, then its origin. */
struct dyn_pose {
    struct dyn_quat turn;
    struct dyn_vec3 origin;
};

/* Rigid inertia about the body origin: [ I  mc x ; -mc x  m ]. */
struct dyn_inertia {
    double mass;
    struct dyn_vec3 mc; /* mass times mass centre, kg m */
    struct dyn_sym3 I;  /* about the origin, kg m^2 */
};

/* Articulated inertia: [ I  H ; H'  M ]. */
struct dyn_articulated {
    struct dyn_sym3 I;
    struct dyn_mat3 H;
    struct dyn_sym3 M;
};

/* --- three-vectors ------------------------------------------------------------------------- */

static inline struct dyn_vec3 dyn_vec3_load(const double e[3])
{
    return (struct dyn_vec3){e[0], e[1], e[2]};
}

static inline void dyn_vec3_store(struct dyn_vec3 a, double e[3])
{
    e[0] = a.x;
    e[1] = a.y;
    e[2] = a.z;
}

static inline struct dyn_vec3 dyn_add(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return (struct dyn_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline struct dyn_vec3 dyn_sub(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return (struct dyn_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline struct dyn_vec3 dyn_scale(double s, struct dyn_vec3 a)
{
    return (struct dyn_vec3){s * a.x, s * a.y, s * a.z};
}

static inline double dyn_dot(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct dyn_vec3 dyn_cross(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return (struct dyn_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double dyn_norm(struct dyn_vec3 a)
{
    return sqrt(dyn_dot(a, a));
}

/* --- matrices ------------------------------------------------------------------------------ */

/* By rows. */
static inline struct dyn_mat3 dyn_mat3_load(const double e[9])
{
    return (struct dyn_mat3){{dyn_vec3_load(e), dyn_vec3_load(e + 3), dyn_vec3_load(e + 6)}};
}

/* m a */
static inline struct dyn_vec3 dyn_mul(const struct dyn_mat3 *m, struct dyn_vec3 a)
{
    return (struct dyn_vec3){dyn_dot(m->row[0], a), dyn_dot(m->row[1], a), dyn_dot(m->row[2], a)};
}

/* m' a */
static inline struct dyn_vec3 dyn_mul_t(const struct dyn_mat3 *m, struct dyn_vec3 a)
{
    return dyn_add(dyn_add(dyn_scale(a.x, m->row[0]), dyn_scale(a.y, m->row[1])),
                   dyn_scale(a.z, m->row[2]));
}

/* a b */
static inline struct dyn_mat3 dyn_mat3_mul(const struct dyn_mat3 *a, const struct dyn_mat3 *b)
{
    return (struct dyn_mat3){
        {dyn_mul_t(b, a->row[0]), dyn_mul_t(b, a->row[1]), dyn_mul_t(b, a->row[2])}};
}

static inline struct dyn_mat3 dyn_mat3_transpose(const struct dyn_mat3 *m)
{
    return (struct dyn_mat3){{{m->row[0].x, m->row[1].x, m->row[2].x},
                              {m->row[0].y, m->row[1].y, m->row[2].y},
                              {m->row[0].z, m->row[1].z, m->row[2].z}}};
}

/* b x a, where m = a b', and sums of such. */
static inline struct dyn_vec3 dyn_axial(const struct dyn_mat3 *m)
{
    return (struct dyn_vec3){m->row[2].y - m->row[1].z, m->row[0].z - m->row[2].x,
                             m->row[1].x - m->row[0].y};
}

/* E' m E: components in child axes to components in parent axes. */
static inline struct dyn_mat3 dyn_mat3_to_parent(const struct dyn_mat3 *m, const struct dyn_mat3 *E)
{
    const struct dyn_mat3 Et = dyn_mat3_transpose(E);
    const struct dyn_mat3 mE = dyn_mat3_mul(m, E);
    return dyn_mat3_mul(&Et, &mE);
}

static inline struct dyn_sym3 dyn_sym3_load(const double e[6])
{
    return (struct dyn_sym3){e[0], e[1], e[2], e[3], e[4], e[5]};
}

static inline struct dyn_vec3 dyn_sym3_mul(const struct dyn_sym3 *s, struct dyn_vec3 a)
{
    return (struct dyn_vec3){s->xx * a.x + s->xy * a.y + s->xz * a.z,
                             s->xy * a.x + s->yy * a.y + s->yz * a.z,
                             s->xz * a.x + s->yz * a.y + s->zz * a.z};
}

/* s + b */
static inline struct dyn_sym3 dyn_sym3_add(const struct dyn_sym3 *s, const struct dyn_sym3 *b)
{
    return (struct dyn_sym3){s->xx + b->xx, s->yy + b->yy, s->zz + b->zz,
                             s->xy + b->xy, s->xz + b->xz, s->yz + b->yz};
}

/* s + k a a' */
static inline struct dyn_sym3 dyn_sym3_add_square(const struct dyn_sym3 *s, double k,
                                                  struct dyn_vec3 a)
{
    const struct dyn_vec3 ka = dyn_scale(k, a);
    return (struct dyn_sym3){s->xx + ka.x * a.x, s->yy + ka.y * a.y, s->zz + ka.z * a.z,
                             s->xy + ka.x * a.y, s->xz + ka.x * a.z, s->yz + ka.y * a.z};
}

static inline double dyn_sym3_trace(const struct dyn_sym3 *s)
{
    return s->xx + s->yy + s->zz;
}

/* E' s E */
static inline struct dyn_sym3 dyn_sym3_to_parent(const struct dyn_sym3 *s, const struct dyn_mat3 *E)
{
    const struct dyn_mat3 full = {
        {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}}};
    const struct dyn_mat3 sE = dyn_mat3_mul(&full, E);
    const struct dyn_vec3 *e = E->row, *f = sE.row;
    return (struct dyn_sym3){
        .xx = e[0].x * f[0].x + e[1].x * f[1].x + e[2].x * f[2].x,
        .yy = e[0].y * f[0].y + e[1].y * f[1].y + e[2].y * f[2].y,
        .zz = e[0].z * f[0].z + e[1].z * f[1].z + e[2].z * f[2].z,
        .xy = e[0].x * f[0].y + e[1].x * f[1].y + e[2].x * f[2].y,
        .xz = e[0].x * f[0].z + e[1].x * f[1].z + e[2].x * f[2].z,
        .yz = e[0].y * f[0].z + e[1].y * f[1].z + e[2].y * f[2].z,
    };
}

/* --- quaternions --------------------------------------------------------------------------- */

static inline struct dyn_quat dyn_quat_load(const double e[4])
{
    return (struct dyn_quat){e[0], e[1], e[2], e[3]};
}

static inline void dyn_quat_store(struct dyn_quat q, double e[4])
{
    e[0] = q.w;
    e[1] = q.x;
    e[2] = q.y;
    e[3] = q.z;
}

static inline double dyn_quat_square(struct dyn_quat q)
{
    return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
}

static inline struct dyn_quat dyn_quat_unit(struct dyn_quat q)
{
    const double s = 1.0 / sqrt(dyn_quat_square(q));
    return (struct dyn_quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

/* First b, then a. */
static inline struct dyn_quat dyn_quat_mul(struct dyn_quat a, struct dyn_quat b)
{
    return (struct dyn_quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    };
}

static inline struct dyn_quat dyn_quat_conjugate(struct dyn_quat q)
{
    return (struct dyn_quat){q.w, -q.x, -q.y, -q.z};
}

/* The angle of a rotation, for a quaternion of any sign and length; rad, 0 to pi. */
static inline double dyn_turn_angle(struct dyn_quat turn)
{
    return 2.0 * atan2(dyn_norm((struct dyn_vec3){turn.x, turn.y, turn.z}), fabs(turn.w));
}

/* Unit quaternion: child components to parent components. */
static inline struct dyn_vec3 dyn_quat_rotate(struct dyn_quat q, struct dyn_vec3 a)
{
    const struct dyn_vec3 u = {q.x, q.y, q.z};
    const struct dyn_vec3 t = dyn_scale(2.0, dyn_cross(u, a));
    return dyn_add(a, dyn_add(dyn_scale(q.w, t), dyn_cross(u, t)));
}

/* E = R(q)'.  A q whose length has drifted still gives a rotation. */
static inline struct dyn_mat3 dyn_quat_to_child(struct dyn_quat q)
{
    const double s = 2.0 / dyn_quat_square(q);
    const double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z;
    const double xy = s * q.x * q.y, xz = s * q.x * q.z, yz = s * q.y * q.z;
    const double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
    return (struct dyn_mat3){{{1.0 - (yy + zz), xy + wz, xz - wy},
                              {xy - wz, 1.0 - (xx + zz), yz + wx},
                              {xz + wy, yz - wx, 1.0 - (xx + yy)}}};
}

/* sin(x)/x, smooth through zero.  The series is exact to rounding below 1e-2. */
static inline double dyn_sinc(double x)
{
    const double xx = x * x;
    return fabs(x) < 1e-2 ? 1.0 - xx / 6.0 * (1.0 - xx / 20.0 * (1.0 - xx / 42.0)) : sin(x) / x;
}

/* The turn by the rotation vector a, rad. */
static inline struct dyn_quat dyn_quat_exp(struct dyn_vec3 a)
{
    const double half = 0.5 * dyn_norm(a);
    const struct dyn_vec3 u = dyn_scale(0.5 * dyn_sinc(half), a);
    return (struct dyn_quat){cos(half), u.x, u.y, u.z};
}

/* dq/dt for body rate w: q (0, w) / 2. */
static inline struct dyn_quat dyn_quat_rate(struct dyn_quat q, struct dyn_vec3 w)
{
    return dyn_quat_mul(q, (struct dyn_quat){0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
}

/* --- poses --------------------------------------------------------------------------------- */

static inline struct dyn_vec3 dyn_pose_point(const struct dyn_pose *pose, struct dyn_vec3 a)
{
    return dyn_add(pose->origin, dyn_quat_rotate(pose->turn, a));
}

/* The pose of a frame placed at `inner` in a frame placed at `outer`. */
static inline struct dyn_pose dyn_pose_mul(const struct dyn_pose *outer,
                                           const struct dyn_pose *inner)
{
    return (struct dyn_pose){dyn_quat_mul(outer->turn, inner->turn),
                             dyn_pose_point(outer, inner->origin)};
}

/* The pose of a frame in another. */
static inline struct dyn_pose dyn_pose_between(const struct dyn_pose *from,
                                               const struct dyn_pose *to)
{
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(from->turn));
    return (struct dyn_pose){dyn_quat_mul(back, to->turn),
                             dyn_quat_rotate(back, dyn_sub(to->origin, from->origin))};
}

/* --- six-vectors --------------------------------------------------------------------------- */

static inline struct dyn_vec6 dyn_add6(const struct dyn_vec6 *a, const struct dyn_vec6 *b)
{
    return (struct dyn_vec6){dyn_add(a->ang, b->ang), dyn_add(a->lin, b->lin)};
}

/* a + s b */
static inline struct dyn_vec6 dyn_axpy6(const struct dyn_vec6 *a, double s,
                                        const struct dyn_vec6 *b)
{
    return (struct dyn_vec6){dyn_add(a->ang, dyn_scale(s, b->ang)),
                             dyn_add(a->lin, dyn_scale(s, b->lin))};
}

/* Power of a force in a motion. */
static inline double dyn_dot6(const struct dyn_vec6 *f, const struct dyn_vec6 *m)
{
    return dyn_dot(f->ang, m->ang) + dyn_dot(f->lin, m->lin);
}

/* The motion of a body, given at its origin, at r. */
static inline struct dyn_vec6 dyn_motion_shift(const struct dyn_vec6 *m, struct dyn_vec3 r)
{
    return (struct dyn_vec6){m->ang, dyn_add(m->lin, dyn_cross(m->ang, r))};
}

/* A force at r, moved to the origin. */
static inline struct dyn_vec6 dyn_force_shift(const struct dyn_vec6 *f, struct dyn_vec3 r)
{
    return (struct dyn_vec6){dyn_add(f->ang, dyn_cross(r, f->lin)), f->lin};
}

/* Motion of the parent at the child's origin, in child axes. */
static inline struct dyn_vec6 dyn_motion_to_child(const struct dyn_transform *X,
                                                  const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){dyn_mul(&X->E, m->ang),
                             dyn_mul(&X->E, dyn_add(m->lin, dyn_cross(m->ang, X->r)))};
}

/* Force at the child's origin, moved to the parent's origin and axes. */
static inline struct dyn_vec6 dyn_force_to_parent(const struct dyn_transform *X,
                                                  const struct dyn_vec6 *f)
{
    const struct dyn_vec3 lin = dyn_mul_t(&X->E, f->lin);
    return (struct dyn_vec6){dyn_add(dyn_mul_t(&X->E, f->ang), dyn_cross(X->r, lin)), lin};
}

/* --- inertias ------------------------------------------------------------------------------ */

/* Ic is about the mass centre c; the answer is about the origin. */
static inline struct dyn_inertia dyn_inertia_make(double mass, struct dyn_vec3 c,
                                                  const struct dyn_sym3 *Ic)
{
    struct dyn_inertia inertia = {mass, dyn_scale(mass, c), dyn_sym3_add_square(Ic, -mass, c)};
    const double mcc = mass * dyn_dot(c, c);
    inertia.I.xx += mcc;
    inertia.I.yy += mcc;
    inertia.I.zz += mcc;
    return inertia;
}

/* Momentum for a velocity, or force for an acceleration. */
static inline struct dyn_vec6 dyn_inertia_mul(const struct dyn_inertia *J, const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){
        dyn_add(dyn_sym3_mul(&J->I, m->ang), dyn_cross(J->mc, m->lin)),
        dyn_add(dyn_scale(J->mass, m->lin), dyn_cross(m->ang, J->mc)),
    };
}

/* The same body in parent axes, about the same origin; E takes parent axes to its own. */
static inline struct dyn_inertia dyn_inertia_turn(const struct dyn_inertia *J,
                                                  const struct dyn_mat3 *E)
{
    return (struct dyn_inertia){J->mass, dyn_mul_t(E, J->mc), dyn_sym3_to_parent(&J->I, E)};
}

/*
 * The same body about an origin from which its own is at r:
 *      mc + m r,   I + (2 r.mc + m r.r) 1 - mc r' - r mc' - m r r'
 */
static inline struct dyn_inertia dyn_inertia_shift(const struct dyn_inertia *J, struct dyn_vec3 r)
{
    const struct dyn_vec3 h = dyn_add(J->mc, dyn_scale(0.5 * J->mass, r));
    const double hr = 2.0 * dyn_dot(h, r);
    const struct dyn_sym3 *I = &J->I;
    return (struct dyn_inertia){
        .mass = J->mass,
        .mc = dyn_add(J->mc, dyn_scale(J->mass, r)),
        .I = {I->xx + (hr - 2.0 * h.x * r.x), I->yy + (hr - 2.0 * h.y * r.y),
              I->zz + (hr - 2.0 * h.z * r.z), I->xy - (h.x * r.y + h.y * r.x),
              I->xz - (h.x * r.z + h.z * r.x), I->yz - (h.y * r.z + h.z * r.y)},
    };
}

static inline struct dyn_inertia dyn_inertia_add(const struct dyn_inertia *J,
                                                 const struct dyn_inertia *K)
{
    return (struct dyn_inertia){J->mass + K->mass, dyn_add(J->mc, K->mc),
                                dyn_sym3_add(&J->I, &K->I)};
}

static inline struct dyn_articulated dyn_articulated_make(const struct dyn_inertia *J)
{
    const struct dyn_vec3 h = J->mc;
    return (struct dyn_articulated){
        .I = J->I,
        .H = {{{0.0, -h.z, h.y}, {h.z, 0.0, -h.x}, {-h.y, h.x, 0.0}}},
        .M = {J->mass, J->mass, J->mass, 0.0, 0.0, 0.0},
    };
}

static inline struct dyn_vec6 dyn_articulated_mul(const struct dyn_articulated *A,
                                                  const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){
        dyn_add(dyn_sym3_mul(&A->I, m->ang), dyn_mul(&A->H, m->lin)),
        dyn_add(dyn_mul_t(&A->H, m->ang), dyn_sym3_mul(&A->M, m->lin)),
    };
}

/* A + k U U' */
static inline struct dyn_articulated dyn_articulated_add_square(const struct dyn_articulated *A,
                                                                double k, const struct dyn_vec6 *U)
{
    const struct dyn_vec3 n = dyn_scale(k, U->ang), f = U->lin;
    return (struct dyn_articulated){
        .I = dyn_sym3_add_square(&A->I, k, U->ang),
        .H = {{dyn_add(A->H.row[0], dyn_scale(n.x, f)), dyn_add(A->H.row[1], dyn_scale(n.y, f)),
               dyn_add(A->H.row[2], dyn_scale(n.z, f))}},
        .M = dyn_sym3_add_square(&A->M, k, U->lin),
    };
}

/* r x m: each column crossed. */
static inline struct dyn_mat3 dyn_cross_mat3(struct dyn_vec3 r, const struct dyn_mat3 *m)
{
    return (struct dyn_mat3){{
        dyn_sub(dyn_scale(r.y, m->row[2]), dyn_scale(r.z, m->row[1])),
        dyn_sub(dyn_scale(r.z, m->row[0]), dyn_scale(r.x, m->row[2])),
        dyn_sub(dyn_scale(r.x, m->row[1]), dyn_scale(r.y, m->row[0])),
    }};
}

/*
 * X' A X: the child's articulated inertia, moved to the parent's origin and axes.  With all blocks
 * turned into parent axes:
 *      M_p = M,  H_p = H + r x M,  I_p = I + r x H' - H_p (r x)
 */
static inline struct dyn_articulated dyn_articulated_to_parent(const struct dyn_transform *X,
                                                               const struct dyn_articulated *A)
{
    const struct dyn_vec3 r = X->r;
    const struct dyn_sym3 M = dyn_sym3_to_parent(&A->M, &X->E);
    const struct dyn_mat3 H = dyn_mat3_to_parent(&A->H, &X->E);
    const struct dyn_mat3 M_full = {{{M.xx, M.xy, M.xz}, {M.xy, M.yy, M.yz}, {M.xz, M.yz, M.zz}}};
    const struct dyn_mat3 rM = dyn_cross_mat3(r, &M_full);

    struct dyn_articulated P = {.I = dyn_sym3_to_parent(&A->I, &X->E), .M = M};
    for (int k = 0; k < 3; k++)
        P.H.row[k] = dyn_add(H.row[k], rM.row[k]);

    /* With h the row k: row k of H_p (r x) is h_p x r, column k of r x H' is r x h. */
    const struct dyn_vec3 a[3] = {dyn_cross(P.H.row[0], r), dyn_cross(P.H.row[1], r),
                                  dyn_cross(P.H.row[2], r)};
    const struct dyn_vec3 b[3] = {dyn_cross(r, H.row[0]), dyn_cross(r, H.row[1]),
                                  dyn_cross(r, H.row[2])};
    P.I.xx += b[0].x - a[0].x;
    P.I.yy += b[1].y - a[1].y;
    P.I.zz += b[2].z - a[2].z;
    P.I.xy += b[1].x - a[0].y;
    P.I.xz += b[2].x - a[0].z;
    P.I.yz += b[2].y - a[1].z;
    return P;
}

static inline struct dyn_articulated dyn_articulated_add(const struct dyn_articulated *A,
                                                         const struct dyn_articulated *B)
{
    return (struct dyn_articulated){
        .I = dyn_sym3_add(&A->I, &B->I),
        .H = {{dyn_add(A->H.row[0], B->H.row[0]), dyn_add(A->H.row[1], B->H.row[1]),
               dyn_add(A->H.row[2], B->H.row[2])}},
        .M = dyn_sym3_add(&A->M, &B->M),
    };
}
