/*
 * The body of a kernel: included once by each of aba_sse2.c, aba_avx2.c and aba_avx512.c, which
 * name it in DYN_ABA_KERNEL and are compiled for that instruction set.
 *
 * Letters as in Featherstone, Rigid Body Dynamics Algorithms (2008), table 7.1, with classical
 * instead of spatial accelerations (work.h).  Everything is in world axes about the link's origin,
 * so a step from link to link is a shift by the arm r, X = [ 1 0 ; -r x 1 ], and never a turn:
 *
 *      move      R, r, w, c, and I, p of the link alone
 *      inward    IA = I + sum X' Ia X,  pA = p + sum X' pa
 *                U = IA S,  D = S' U,  u = tau - S' (pA + IA c)
 *                X' Ia X = X' IA X - (X' U) D^-1 (X' U)'
 *                X' pa = X' (pA + IA c) + (X' U) D^-1 u
 *      outward   qdd = D^-1 u - D^-1 (X' U)' a_parent,  a = X a_parent + c + S qdd
 *
 * The shift comes before the elimination: it does not wait for the division, and what the outward
 * pass multiplies is the parent's acceleration as it stands.
 */
#include <math.h>
#include <string.h>

#include "dynamics/aba_kernel.h"
#include "dynamics/lane.h"

/* ---- sine and cosine ----------------------------------------------------------------------- */

/*
 * Four at a time: the nearest multiple of pi/2 taken off in three parts, then the series, which at
 * pi/4 has converged to rounding.  The parts of pi/2 have 33, 33 and 53 bits, so the products with
 * the multiple are exact while it stays below 2^20; larger angles go to the library.
 */
static void sine_cosine(int count, double *restrict sine, double *restrict cosine)
{
    static const double PART[3] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
    static const double LARGEST = 0x1p20;
    static const double ROUND = 0x1.8p52; /* adding it rounds to a whole number in the low bits */

    for (int i = 0; i < count; i += 4) {
        const dyn_lane x = *(const dyn_lane *)(sine + i);
        const dyn_lane whole = x * lane_splat(0x1.45f306dc9c883p-1) + lane_splat(ROUND);
        const dyn_lane_mask quadrant = (dyn_lane_mask)whole;
        const dyn_lane k = whole - lane_splat(ROUND);
        const dyn_lane r =
            ((x - k * lane_splat(PART[0])) - k * lane_splat(PART[1])) - k * lane_splat(PART[2]);
        const dyn_lane z = r * r;
        dyn_lane s = lane_splat(1.0 / 355687428096000.0);
        s = s * z - lane_splat(1.0 / 1307674368000.0);
        s = s * z + lane_splat(1.0 / 6227020800.0);
        s = s * z - lane_splat(1.0 / 39916800.0);
        s = s * z + lane_splat(1.0 / 362880.0);
        s = s * z - lane_splat(1.0 / 5040.0);
        s = s * z + lane_splat(1.0 / 120.0);
        s = s * z - lane_splat(1.0 / 6.0);
        s = s * z * r + r;
        dyn_lane c = lane_splat(1.0 / 20922789888000.0);
        c = c * z - lane_splat(1.0 / 87178291200.0);
        c = c * z + lane_splat(1.0 / 479001600.0);
        c = c * z - lane_splat(1.0 / 3628800.0);
        c = c * z + lane_splat(1.0 / 40320.0);
        c = c * z - lane_splat(1.0 / 720.0);
        c = c * z + lane_splat(1.0 / 24.0);
        c = (c * z - lane_splat(0.5)) * z + lane_splat(1.0);

        /* an odd quadrant swaps them; signs by the quadrant's second bit, of it and of the next */
        const dyn_lane_mask one = {1, 1, 1, 1};
        const dyn_lane_mask odd = -(quadrant & one);
        const dyn_lane_mask sin_sign = (quadrant & (one + one)) << 62;
        const dyn_lane_mask cos_sign = ((quadrant + one) & (one + one)) << 62;
        const dyn_lane_mask sb = (dyn_lane_mask)s, cb = (dyn_lane_mask)c;
        *(dyn_lane *)(sine + i) = (dyn_lane)(((sb & ~odd) | (cb & odd)) ^ sin_sign);
        *(dyn_lane *)(cosine + i) = (dyn_lane)(((cb & ~odd) | (sb & odd)) ^ cos_sign);

        const dyn_lane_mask near = (x < lane_splat(LARGEST)) & (x > lane_splat(-LARGEST));
        if (__builtin_expect((near[0] & near[1] & near[2] & near[3]) == 0, 0))
            for (int j = 0; j < 4; j++) {
                sine[i + j] = sin(x[j]);
                cosine[i + j] = cos(x[j]);
            }
    }
}

static void take_angles(const struct dyn_model *model, const double *q, struct dyn_work *work)
{
    const int count = model->link_count;
    for (int i = 0; i < count; i++)
        work->sine[i] = dyn_link_turns(&model->link[i]) ? q[model->link[i].q_at] : 0.0;
    for (int i = count; i % 4 != 0; i++)
        work->sine[i] = 0.0;
    sine_cosine(model->link_count, work->sine, work->cosine);
}

/* ---- move ---------------------------------------------------------------------------------- */

/* Axes of the link before its joint turns it. */
static inline void placed_axes(const struct dyn_link *link, const struct dyn_link_work *on,
                               dyn_lane R[3], dyn_lane *r)
{
    const dyn_lane P[3] = {lane_load(&on->R[0]), lane_load(&on->R[1]), lane_load(&on->R[2])};
    for (int k = 0; k < 3; k++)
        R[k] = lane_mul(P, link->E.row[k]);
    *r = lane_mul(P, link->origin);
}

/* R becomes R turned by the quaternion. */
static inline void turn_axes(const double quat[4], dyn_lane R[3])
{
    const struct dyn_mat3 E = dyn_quat_to_child(dyn_quat_load(quat));
    const dyn_lane P[3] = {R[0], R[1], R[2]};
    for (int k = 0; k < 3; k++)
        R[k] = lane_mul(P, E.row[k]);
}

static inline void turn_about_z(double s, double c, dyn_lane R[3])
{
    const dyn_lane x = R[0], y = R[1], sine = lane_splat(s), cosine = lane_splat(c);
    R[0] = cosine * x + sine * y;
    R[1] = cosine * y - sine * x;
}

static inline void move_joint(const struct dyn_link *link, const double *q, const double *v,
                              double s, double c, const struct dyn_link_work *on,
                              struct dyn_link_work *L)
{
    const dyn_lane w_on = lane_load(&on->w), zero = lane_splat(0.0);
    dyn_lane R[3], r, w = w_on, spin, travel = zero, ca = zero, extra = zero;

    placed_axes(link, on, R, &r);
    switch (link->kind) {
    case DYN_LINK_TURN:
        turn_about_z(s, c, R);
        spin = R[2] * lane_splat(v[0]);
        w = w_on + spin;
        ca = lane_cross(w_on, spin);
        break;
    case DYN_LINK_SCREW:
        turn_about_z(s, c, R);
        spin = R[2] * lane_splat(v[0]);
        w = w_on + spin;
        ca = lane_cross(w_on, spin);
        r += R[2] * lane_splat(link->pitch * q[0]);
        travel = R[2] * lane_splat(link->pitch * v[0]);
        break;
    case DYN_LINK_SLIDE:
        r += R[2] * lane_splat(q[0]);
        travel = R[2] * lane_splat(v[0]);
        break;
    case DYN_LINK_FREE:
        r += lane_mul(R, dyn_vec3_load(q));
        turn_axes(q + 3, R);
        spin = lane_mul(R, dyn_vec3_load(v));
        w = w_on + spin;
        ca = lane_cross(w_on, spin);
        travel = lane_mul(R, dyn_vec3_load(v + 3));
        extra = lane_cross(spin, travel); /* dv/dt counts components in axes that turn */
        break;
    case DYN_LINK_BALL:
        turn_axes(q, R);
        spin = lane_mul(R, dyn_vec3_load(v));
        w = w_on + spin;
        ca = lane_cross(w_on, spin);
        break;
    }
    const dyn_lane carried = lane_cross(w_on, r) + travel;
    for (int k = 0; k < 3; k++)
        lane_store(&L->R[k], R[k]);
    lane_store(&L->r, r);
    lane_store(&L->w, w);
    lane_store(&L->v, lane_load(&on->v) + carried);
    lane_store(&L->ca, ca);
    lane_store(&L->cl, lane_cross(w_on, carried + travel) + extra);
}

/* Own inertia in world axes, and the force its velocity asks for: w x (I w), w x (w x mc). */
static inline void move_inertia(const struct dyn_link *link, struct dyn_link_work *L)
{
    const dyn_lane R[3] = {lane_load(&L->R[0]), lane_load(&L->R[1]), lane_load(&L->R[2])};
    const dyn_lane w = lane_load(&L->w), zero = lane_splat(0.0);
    const dyn_lane a = lane_mul(R, link->root[0]), b = lane_mul(R, link->root[1]);
    const dyn_lane h = lane_mul(R, link->mc);
    const double j = link->sphere, m = link->mass;
    const dyn_lane I[3] = {
        (dyn_lane){j, 0.0, 0.0, 0.0} + a * lane_splat(a[0]) + b * lane_splat(b[0]),
        (dyn_lane){0.0, j, 0.0, 0.0} + a * lane_splat(a[1]) + b * lane_splat(b[1]),
        (dyn_lane){0.0, 0.0, j, 0.0} + a * lane_splat(a[2]) + b * lane_splat(b[2]),
    };
    const dyn_lane minus = -h;

    for (int k = 0; k < 3; k++)
        lane_store(&L->I[k], I[k]);
    lane_store(&L->H[0], __builtin_shufflevector(__builtin_shufflevector(h, minus, 3, 6, 1, 3),
                                                 zero, 0, 1, 2, 4));
    lane_store(&L->H[1], __builtin_shufflevector(h, minus, 2, 3, 4, 3));
    lane_store(&L->H[2], __builtin_shufflevector(h, minus, 5, 0, 3, 3));
    lane_store(&L->M[0], (dyn_lane){m, 0.0, 0.0, 0.0});
    lane_store(&L->M[1], (dyn_lane){0.0, m, 0.0, 0.0});
    lane_store(&L->M[2], (dyn_lane){0.0, 0.0, m, 0.0});
    lane_store(&L->pa, lane_cross(w, lane_mul(I, dyn_vec3_load(L->w.e))));
    lane_store(&L->pl, lane_cross(w, lane_cross(w, h)));
}

/* Rotors on the parent, turned into world axes. */
static inline dyn_lane rotor_spin(const struct dyn_link *link, const struct dyn_link_work *on)
{
    const dyn_lane P[3] = {lane_load(&on->R[0]), lane_load(&on->R[1]), lane_load(&on->R[2])};
    return lane_mul(P, link->rotor_spin);
}

/* The parent must turn the rotor's momentum along. */
static void turn_rotor(const struct dyn_link *link, double v, struct dyn_link_work *on)
{
    const dyn_lane torque = lane_cross(lane_load(&on->w), rotor_spin(link, on) * lane_splat(v));
    lane_store(&on->pa, lane_load(&on->pa) + torque);
}

static void begin_world(struct dyn_link_work *world)
{
    memset(world, 0, sizeof *world);
    for (int k = 0; k < 3; k++)
        world->R[k].e[k] = 1.0;
}

static void move(const struct dyn_model *model, const double *q, const double *v,
                 struct dyn_work *work)
{
    begin_world(&work->link[-1]);
    take_angles(model, q, work);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        struct dyn_link_work *L = &work->link[i];
        move_joint(link, q + link->q_at, v + link->v_at, work->sine[i], work->cosine[i],
                   &work->link[link->parent], L);
        move_inertia(link, L);
        if (__builtin_expect(link->has_rotor, 0))
            turn_rotor(link, v[link->v_at], &work->link[link->parent]);
    }
}

/* ---- inward -------------------------------------------------------------------------------- */

/* An articulated inertia with its bias force, at one origin. */
struct articulated {
    dyn_lane I[3], H[3], M[3], pa, pl;
};

static inline struct articulated load_articulated(const struct dyn_link_work *L)
{
    struct articulated A;
    for (int k = 0; k < 3; k++) {
        A.I[k] = lane_load(&L->I[k]);
        A.H[k] = lane_load(&L->H[k]);
        A.M[k] = lane_load(&L->M[k]);
    }
    A.pa = lane_load(&L->pa);
    A.pl = lane_load(&L->pl);
    return A;
}

static inline void add_to_parent(const struct articulated *A, struct dyn_link_work *on)
{
    for (int k = 0; k < 3; k++) {
        lane_store(&on->I[k], lane_load(&on->I[k]) + A->I[k]);
        lane_store(&on->H[k], lane_load(&on->H[k]) + A->H[k]);
        lane_store(&on->M[k], lane_load(&on->M[k]) + A->M[k]);
    }
    lane_store(&on->pa, lane_load(&on->pa) + A->pa);
    lane_store(&on->pl, lane_load(&on->pl) + A->pl);
}

/*
 * X' A X.  With N = M (r x), whose columns are differences of those of M:
 *      H_p = H - N',   I_p = I + Q + Q',   Q = (r x) (H - N'/2)'
 */
static inline void shift_inertia(struct dyn_vec3 r, struct articulated *A)
{
    dyn_lane rM[3], half[3], turned[3], Q[3], Qt[3];

    lane_cross_rows(r, A->M, rM); /* -N', by rows, because M is symmetric */
    for (int k = 0; k < 3; k++)
        half[k] = A->H[k] + lane_splat(0.5) * rM[k];
    lane_transpose(half, turned);
    lane_cross_rows(r, turned, Q);
    lane_transpose(Q, Qt);
    for (int k = 0; k < 3; k++) {
        A->H[k] += rM[k];
        A->I[k] += Q[k] + Qt[k];
    }
}

/* A - U D^-1 U', with g = D^-1 U. */
static inline void take_square(dyn_lane Ua, dyn_lane Ul, dyn_lane ga, dyn_lane gl,
                               struct articulated *A)
{
    for (int k = 0; k < 3; k++) {
        A->I[k] -= lane_splat(Ua[k]) * ga;
        A->H[k] -= lane_splat(Ua[k]) * gl;
        A->M[k] -= lane_splat(Ul[k]) * gl;
    }
}

/* p += A c */
static inline void add_bias(const struct dyn_row *ca, const struct dyn_row *cl,
                            struct articulated *A)
{
    dyn_lane columns[3];
    lane_transpose(A->H, columns);
    A->pa += lane_mul(A->I, dyn_vec3_load(ca->e)) + lane_mul(columns, dyn_vec3_load(cl->e));
    A->pl += lane_mul(A->H, dyn_vec3_load(ca->e)) + lane_mul(A->M, dyn_vec3_load(cl->e));
}

/* D is positive for every pose of a model without a flaw.  When the state has run away it may be
 * anything; a NaN in its place makes the result visibly wrong instead of plausibly wrong. */
static inline dyn_lane inverse(dyn_lane D)
{
    const dyn_lane_mask good = D > lane_splat(0.0);
    const dyn_lane_mask bits = (dyn_lane_mask)(lane_splat(1.0) / D);
    return (dyn_lane)(bits | ~good); /* all ones is a NaN */
}

/* Joint's own acceleration, where it is given, becomes part of c. */
static inline double held_acceleration(const struct dyn_input *input, int v_at)
{
    return input->held_a != NULL ? input->held_a[v_at] : 0.0;
}

static inline int is_held(const struct dyn_input *input, int v_at)
{
    return input->held != NULL && input->held[v_at];
}

/* U and D of the joint's one velocity at the link's origin, taken off there and at the parent's. */
static inline void eliminate(const struct dyn_link *link, dyn_lane Ua, dyn_lane Ul, dyn_lane D_inv,
                             dyn_lane ud, struct articulated *A, struct dyn_link_work *L,
                             struct dyn_link_work *on)
{
    const dyn_lane r = lane_load(&L->r);

    shift_inertia(dyn_vec3_load(L->r.e), A);
    A->pa += lane_cross(r, A->pl);
    Ua += lane_cross(r, Ul);
    if (link->has_rotor)
        Ua += rotor_spin(link, on);
    const dyn_lane ga = Ua * D_inv, gl = Ul * D_inv;
    take_square(Ua, Ul, ga, gl, A);
    A->pa += Ua * ud;
    A->pl += Ul * ud;
    add_to_parent(A, on);
    lane_store(&L->ga, ga);
    lane_store(&L->gl, gl);
    L->ud = ud[0];
}

/* The hot path. */
static inline void inward_turn(const struct dyn_link *link, double tau, struct dyn_link_work *L,
                               struct dyn_link_work *on)
{
    struct articulated A = load_articulated(L);
    const dyn_lane z = lane_load(&L->R[2]);
    const dyn_lane Ua = lane_mul(A.I, dyn_vec3_load(L->R[2].e)),
                   Ul = lane_mul(A.H, dyn_vec3_load(L->R[2].e));
    const dyn_lane D_inv = inverse(lane_sum(z * Ua) + lane_splat(link->rotor));

    add_bias(&L->ca, &L->cl, &A);
    const dyn_lane ud = (lane_splat(tau) - lane_sum(z * A.pa)) * D_inv;
    eliminate(link, Ua, Ul, D_inv, ud, &A, L, on);
}

/* S = [turn z; pitch z] */
static void inward_screw(const struct dyn_link *link, double tau, struct dyn_link_work *L,
                         struct dyn_link_work *on)
{
    struct articulated A = load_articulated(L);
    const dyn_lane z = lane_load(&L->R[2]), pitch = lane_splat(link->pitch);
    const dyn_lane turn = lane_splat(dyn_link_turns(link) ? 1.0 : 0.0);
    dyn_lane columns[3];

    lane_transpose(A.H, columns);
    const dyn_lane Ua = turn * lane_mul(A.I, dyn_vec3_load(L->R[2].e)) +
                        pitch * lane_mul(columns, dyn_vec3_load(L->R[2].e));
    const dyn_lane Ul = turn * lane_mul(A.H, dyn_vec3_load(L->R[2].e)) +
                        pitch * lane_mul(A.M, dyn_vec3_load(L->R[2].e));
    const dyn_lane D = lane_sum(z * (turn * Ua + pitch * Ul)) + lane_splat(link->rotor);
    const dyn_lane D_inv = inverse(D);

    add_bias(&L->ca, &L->cl, &A);
    const dyn_lane p = lane_sum(z * (turn * A.pa + pitch * A.pl));
    eliminate(link, Ua, Ul, D_inv, (lane_splat(tau) - p) * D_inv, &A, L, on);
}

/* A joint whose acceleration is given is a bolt that moves: c has it already. */
static void inward_held(const struct dyn_link *link, double qdd, struct dyn_link_work *L,
                        struct dyn_link_work *on)
{
    struct articulated A = load_articulated(L);

    add_bias(&L->ca, &L->cl, &A);
    shift_inertia(dyn_vec3_load(L->r.e), &A);
    A.pa += lane_cross(lane_load(&L->r), A.pl);
    if (link->has_rotor)
        A.pa += rotor_spin(link, on) * lane_splat(qdd);
    add_to_parent(&A, on);
    memset(&L->ga, 0, sizeof L->ga);
    memset(&L->gl, 0, sizeof L->gl);
    L->ud = 0.0;
}

/* c += S a, where a is given. */
static void hold(const struct dyn_link *link, int k, double qdd, struct dyn_link_work *L)
{
    const dyn_lane s = lane_splat(qdd);
    const int angular =
        link->kind == DYN_LINK_BALL || link->kind == DYN_LINK_FREE ? k < 3 : dyn_link_turns(link);
    const dyn_lane axis =
        lane_load(&L->R[link->kind == DYN_LINK_BALL || link->kind == DYN_LINK_FREE ? k % 3 : 2]);

    if (angular)
        lane_store(&L->ca, lane_load(&L->ca) + axis * s);
    if (link->kind == DYN_LINK_FREE ? k >= 3 : link->pitch != 0.0)
        lane_store(&L->cl,
                   lane_load(&L->cl) +
                       axis * s * lane_splat(link->kind == DYN_LINK_FREE ? 1.0 : link->pitch));
}

/* The velocities of a ball or free link, one after the other, at the link's own origin. */
static void eliminate_columns(const struct dyn_link *link, const struct dyn_input *input,
                              struct dyn_work *work, const struct dyn_link_work *L,
                              struct articulated *A)
{
    for (int k = 0; k < dyn_link_nv(link); k++) {
        struct dyn_column_work *column = &work->column[link->v_at + k];
        const struct dyn_row *axis = &L->R[k % 3];
        dyn_lane Ua, Ul, s = lane_load(axis);

        if (is_held(input, link->v_at + k)) {
            memset(column, 0, sizeof *column);
            continue;
        }
        if (k < 3) {
            Ua = lane_mul(A->I, dyn_vec3_load(axis->e));
            Ul = lane_mul(A->H, dyn_vec3_load(axis->e));
        } else {
            dyn_lane columns[3];
            lane_transpose(A->H, columns);
            Ua = lane_mul(columns, dyn_vec3_load(axis->e));
            Ul = lane_mul(A->M, dyn_vec3_load(axis->e));
        }
        const dyn_lane D_inv = inverse(lane_sum(s * (k < 3 ? Ua : Ul)));
        const dyn_lane p = lane_sum(s * (k < 3 ? A->pa : A->pl));
        const dyn_lane ud = (lane_splat(work->tau[link->v_at + k]) - p) * D_inv;
        const dyn_lane ga = Ua * D_inv, gl = Ul * D_inv;
        take_square(Ua, Ul, ga, gl, A);
        A->pa += Ua * ud;
        A->pl += Ul * ud;
        lane_store(&column->ga, ga);
        lane_store(&column->gl, gl);
        column->ud = ud[0];
    }
}

/* ---- free links: what they carry moves as it must, whatever the parent does ---- */

/* m^-1 by cofactors, m symmetric and positive. */
static inline void invert(const dyn_lane m[3], dyn_lane out[3])
{
    const dyn_lane c = lane_cross(m[1], m[2]);
    const dyn_lane d_inv = inverse(lane_sum(m[0] * c));
    out[0] = c * d_inv;
    out[1] = lane_cross(m[2], m[0]) * d_inv;
    out[2] = lane_cross(m[0], m[1]) * d_inv;
}

static inline struct dyn_vec3 lane_vec3(dyn_lane a)
{
    return (struct dyn_vec3){a[0], a[1], a[2]};
}

/* A [alpha; a] = [n; f], the linear part eliminated first. */
static void solve_free(const struct articulated *A, dyn_lane n, dyn_lane f, struct dyn_link_work *L)
{
    dyn_lane M_inv[3], columns[3], S[3], S_inv[3];

    invert(A->M, M_inv);
    lane_transpose(A->H, columns);
    for (int k = 0; k < 3; k++)
        S[k] = A->I[k] - lane_mul(columns, lane_vec3(lane_mul(M_inv, lane_vec3(A->H[k]))));
    invert(S, S_inv);
    n -= lane_mul(columns, lane_vec3(lane_mul(M_inv, lane_vec3(f))));
    const dyn_lane alpha = lane_mul(S_inv, lane_vec3(n));
    lane_store(&L->alpha, alpha);
    lane_store(&L->a, lane_mul(M_inv, lane_vec3(f - lane_mul(A->H, lane_vec3(alpha)))));
}

/* The parent feels the joint's force and nothing else. */
static void inward_free(const struct dyn_link *link, const double *tau, struct dyn_link_work *L,
                        struct dyn_link_work *on)
{
    const struct articulated A = load_articulated(L);
    const dyn_lane R[3] = {lane_load(&L->R[0]), lane_load(&L->R[1]), lane_load(&L->R[2])};
    const dyn_lane n = lane_mul(R, dyn_vec3_load(tau)), f = lane_mul(R, dyn_vec3_load(tau + 3));

    solve_free(&A, n - A.pa, f - A.pl, L);
    if (link->parent < 0)
        return;
    lane_store(&on->pa, lane_load(&on->pa) + n + lane_cross(lane_load(&L->r), f));
    lane_store(&on->pl, lane_load(&on->pl) + f);
}

/* dv/dt is what the joint adds to the parent's acceleration and to what velocities cause. */
static void outward_free(const struct dyn_link_work *L, const struct dyn_link_work *on, double *qdd)
{
    const dyn_lane alpha_on = lane_load(&on->alpha);
    const dyn_lane carried = lane_load(&on->a) + lane_cross(alpha_on, lane_load(&L->r));
    const dyn_lane alpha = lane_load(&L->alpha) - alpha_on - lane_load(&L->ca);
    const dyn_lane a = lane_load(&L->a) - carried - lane_load(&L->cl);
    for (int k = 0; k < 3; k++) {
        qdd[k] = lane_sum(lane_load(&L->R[k]) * alpha)[0];
        qdd[k + 3] = lane_sum(lane_load(&L->R[k]) * a)[0];
    }
}

static int any_held(const struct dyn_input *input, const struct dyn_link *link)
{
    int count = 0;
    for (int k = 0; k < dyn_link_nv(link); k++)
        count += is_held(input, link->v_at + k);
    return count;
}

static int is_loose(const struct dyn_input *input, const struct dyn_link *link)
{
    return link->kind == DYN_LINK_FREE && (input->held == NULL || !any_held(input, link));
}

static void inward_columns(const struct dyn_link *link, const struct dyn_input *input,
                           struct dyn_work *work, struct dyn_link_work *L, struct dyn_link_work *on)
{
    struct articulated A = load_articulated(L);

    add_bias(&L->ca, &L->cl, &A);
    eliminate_columns(link, input, work, L, &A);
    if (link->parent < 0)
        return;
    shift_inertia(dyn_vec3_load(L->r.e), &A);
    A.pa += lane_cross(lane_load(&L->r), A.pl);
    add_to_parent(&A, on);
}

/* Leaves to root: parents come before their children, so one descending loop meets every child
 * before its parent. */
static void inward(const struct dyn_model *model, const struct dyn_input *input,
                   struct dyn_work *work)
{
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_link *link = &model->link[i];
        struct dyn_link_work *L = &work->link[i], *on = &work->link[link->parent];
        const double tau = work->tau[link->v_at];

        if (is_loose(input, link))
            inward_free(link, work->tau + link->v_at, L, on);
        else if (link->kind == DYN_LINK_BALL || link->kind == DYN_LINK_FREE)
            inward_columns(link, input, work, L, on);
        else if (__builtin_expect(is_held(input, link->v_at), 0))
            inward_held(link, held_acceleration(input, link->v_at), L, on);
        else if (link->kind == DYN_LINK_TURN)
            inward_turn(link, tau, L, on);
        else
            inward_screw(link, tau, L, on);
    }
}

/* ---- outward ------------------------------------------------------------------------------- */

static void release_columns(const struct dyn_link *link, const struct dyn_input *input,
                            const struct dyn_work *work, const struct dyn_link_work *L,
                            dyn_lane *alpha, dyn_lane *a, double *qdd)
{
    for (int k = dyn_link_nv(link) - 1; k >= 0; k--) {
        const struct dyn_column_work *column = &work->column[link->v_at + k];
        const dyn_lane s = lane_load(&L->R[k % 3]);

        if (is_held(input, link->v_at + k)) {
            qdd[k] = held_acceleration(input, link->v_at + k);
            continue; /* in c already */
        }
        const dyn_lane t = lane_load(&column->ga) * *alpha + lane_load(&column->gl) * *a;
        const dyn_lane x = lane_splat(column->ud) - lane_sum(t);
        *(k < 3 ? alpha : a) += s * x;
        qdd[k] = x[0];
    }
}

static void outward(const struct dyn_model *model, const struct dyn_input *input,
                    struct dyn_work *work, double *out)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        struct dyn_link_work *L = &work->link[i];
        const struct dyn_link_work *on = &work->link[link->parent];
        const dyn_lane alpha_on = lane_load(&on->alpha), a_on = lane_load(&on->a);
        const dyn_lane z = lane_load(&L->R[2]);
        dyn_lane alpha = alpha_on, a = a_on + lane_cross(alpha_on, lane_load(&L->r));
        double *qdd = out + link->v_at;

        if (is_loose(input, link)) {
            outward_free(L, on, qdd);
            continue;
        }
        if (link->kind == DYN_LINK_BALL || link->kind == DYN_LINK_FREE) {
            release_columns(link, input, work, L, &alpha, &a, qdd);
        } else if (__builtin_expect(is_held(input, link->v_at), 0)) {
            qdd[0] = held_acceleration(input, link->v_at);
        } else {
            const dyn_lane t = lane_load(&L->ga) * alpha_on + lane_load(&L->gl) * a_on;
            const dyn_lane x = lane_splat(L->ud) - lane_sum(t);
            qdd[0] = x[0];
            if (link->kind != DYN_LINK_SLIDE)
                alpha += z * x;
            if (link->kind != DYN_LINK_TURN)
                a += z * x * lane_splat(link->pitch);
        }
        /* c comes last: u has been charged with it already */
        lane_store(&L->alpha, alpha + lane_load(&L->ca));
        lane_store(&L->a, a + lane_load(&L->cl));
    }
}

static void take_held(const struct dyn_model *model, const struct dyn_input *input,
                      struct dyn_work *work)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        for (int k = 0; k < dyn_link_nv(link); k++)
            if (is_held(input, link->v_at + k))
                hold(link, k, held_acceleration(input, link->v_at + k), &work->link[i]);
    }
}

static void solve(const struct dyn_model *model, const struct dyn_input *input,
                  struct dyn_work *work, double *a)
{
    if (input->held != NULL)
        take_held(model, input, work);
    inward(model, input, work);
    outward(model, input, work, a);
}

const struct dyn_aba_kernel DYN_ABA_KERNEL = {move, solve};
