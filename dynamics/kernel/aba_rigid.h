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

#include "dynamics/kernel/aba_isa.h"
#include "dynamics/kernel/lane.h"

/* ---- sine and cosine ----------------------------------------------------------------------- */

/* The series are summed in pairs, and the pairs in pairs: half as long a wait as term by term. */

/* r - r^3/3! + r^5/5! ..., with z = r^2. */
static inline dyn_lane sine_series(dyn_lane r, dyn_lane z)
{
    const dyn_lane zz = z * z, z4 = zz * zz;
    const dyn_lane a = lane_splat(1.0 / 120.0) * z - lane_splat(1.0 / 6.0);
    const dyn_lane b = lane_splat(1.0 / 362880.0) * z - lane_splat(1.0 / 5040.0);
    const dyn_lane c = lane_splat(1.0 / 6227020800.0) * z - lane_splat(1.0 / 39916800.0);
    const dyn_lane d = lane_splat(1.0 / 355687428096000.0) * z - lane_splat(1.0 / 1307674368000.0);
    return ((d * zz + c) * z4 + (b * zz + a)) * (z * r) + r;
}

/* 1 - z/2! + z^2/4! ... */
static inline dyn_lane cosine_series(dyn_lane z)
{
    const dyn_lane zz = z * z, z4 = zz * zz;
    const dyn_lane a = lane_splat(1.0 / 24.0) * z - lane_splat(0.5);
    const dyn_lane b = lane_splat(1.0 / 40320.0) * z - lane_splat(1.0 / 720.0);
    const dyn_lane c = lane_splat(1.0 / 479001600.0) * z - lane_splat(1.0 / 3628800.0);
    const dyn_lane d = lane_splat(1.0 / 20922789888000.0) * z - lane_splat(1.0 / 87178291200.0);
    return ((d * zz + c) * z4 + (b * zz + a)) * z + lane_splat(1.0);
}

/* Angles beyond counting, each for itself. */
static __attribute__((noinline)) void library_sine_cosine(dyn_lane x, dyn_lane *sine,
                                                          dyn_lane *cosine)
{
    for (int k = 0; k < 4; k++) {
        (*sine)[k] = sin(x[k]);
        (*cosine)[k] = cos(x[k]);
    }
}

/*
 * Four at a time: the nearest multiple of pi/2 taken off in three parts, then the series, which at
 * pi/4 has converged to rounding.  The parts of pi/2 have 33, 33 and 53 bits, so the products with
 * the multiple are exact while it stays below 2^20; larger angles go to the library.
 */
static inline void sine_cosine(dyn_lane x, dyn_lane *sine, dyn_lane *cosine)
{
    static const double PART[3] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
    static const double LARGEST = 0x1p20;
    static const double ROUND = 0x1.8p52; /* adding it rounds to a whole number in the low bits */

    const dyn_lane whole = x * lane_splat(0x1.45f306dc9c883p-1) + lane_splat(ROUND);
    const dyn_lane_mask quadrant = (dyn_lane_mask)whole;
    const dyn_lane k = whole - lane_splat(ROUND);
    const dyn_lane r =
        ((x - k * lane_splat(PART[0])) - k * lane_splat(PART[1])) - k * lane_splat(PART[2]);
    const dyn_lane z = r * r;
    const dyn_lane_mask s = (dyn_lane_mask)sine_series(r, z);
    const dyn_lane_mask c = (dyn_lane_mask)cosine_series(z);

    /* an odd quadrant swaps them; signs by the quadrant's second bit, of it and of the next */
    const dyn_lane_mask one = {1, 1, 1, 1};
    const dyn_lane_mask odd = -(quadrant & one);
    const dyn_lane_mask sine_sign = (quadrant & (one + one)) << 62;
    const dyn_lane_mask cosine_sign = ((quadrant + one) & (one + one)) << 62;
    *sine = (dyn_lane)(((s & ~odd) | (c & odd)) ^ sine_sign);
    *cosine = (dyn_lane)(((c & ~odd) | (s & odd)) ^ cosine_sign);

    const dyn_lane_mask near = (x < lane_splat(LARGEST)) & (x > lane_splat(-LARGEST));
    if (__builtin_expect((near[0] & near[1] & near[2] & near[3]) == 0, 0))
        library_sine_cosine(x, sine, cosine);
}

static inline double angle(const double *q, int at)
{
    return at < 0 ? 0.0 : q[at];
}

/* By q and by the link's offset, one after the other: their sum would cost digits of a q that has
 * turned for long. */
static void find_sines_cosines(const struct dyn_model *model, const double *q,
                               struct dyn_work *work)
{
    for (int i = 0; i < model->link_count; i += 4) {
        const int *at = model->angle_at + i;
        const dyn_lane x = {angle(q, at[0]), angle(q, at[1]), angle(q, at[2]), angle(q, at[3])};
        const dyn_lane so = *(const dyn_lane *)(model->offset_sine + i);
        const dyn_lane co = *(const dyn_lane *)(model->offset_cosine + i);
        dyn_lane s, c;
        sine_cosine(x, &s, &c);
        *(dyn_lane *)(work->sine + i) = s * co + c * so;
        *(dyn_lane *)(work->cosine + i) = c * co - s * so;
    }
}

/* ---- move ---------------------------------------------------------------------------------- */

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

/* What every joint leaves behind: axes, arm, and how the velocities bend its path. */
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

/* The same on the world, whose axes are those in which all is told, and which does not turn. */
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
        extra = lane_cross(spin, travel); /* dv/dt counts components in axes that turn */
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

/* Own inertia in world axes, and the force its velocity asks for: w x (I w), w x (w x mc). */
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

/* A link that only carries. */
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

/* Nodes that go with their hinge have none either, not even zeros. */
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

/* The parent must turn the rotor's momentum along. */
static void turn_rotor(const struct dyn_tree_link *link, double v, struct dyn_tree_link_work *on)
{
    const dyn_lane torque = lane_cross(lane_load(&on->w), rotor_spin(link, on) * lane_splat(v));
    lane_store(&on->pa, lane_load(&on->pa) + torque);
}

/* ---- inward -------------------------------------------------------------------------------- */

/* An articulated inertia with its bias force, at one origin: columns of I and M, rows of H. */
struct articulated {
    struct dyn_lane3 I, H, M;
    dyn_lane pa, pl;
};

static inline struct articulated load_articulated(const struct dyn_tree_link_work *L)
{
    return (struct articulated){lane3_load(L->I), lane3_load(L->H), lane3_load(L->M),
                                lane_load(&L->pa), lane_load(&L->pl)};
}

/* What of a link the parent does not feel: the velocities eliminated there, u' g to be given back.
 */
struct elimination {
    dyn_lane Ua, Ul; /* at the parent's origin */
    dyn_lane ga, gl; /* D^-1 U */
    dyn_lane u;
};

/*
 * on += X' A X - U g' and X' (p + A c) + g u, about the parent's origin.  With half of the shift in
 * H, B = (H + (r x) M / 2)',   I_p = I + (r x) B + ((r x) B)',   H_p = H + (r x) M and the same B
 * serves the bias: H cl + r x (M cl) / 2 = B' cl. In an order that keeps few values alive; the
 * processor finds its own.
 */
static inline void pass_to_parent(const struct articulated *A, const struct dyn_row *arm,
                                  const struct dyn_row *bias_a, const struct dyn_row *bias_l,
                                  const struct elimination *f, struct dyn_row keep[2],
                                  struct dyn_tree_link_work *on)
{
    const struct dyn_vec3 r = dyn_vec3_load(arm->e);
    const struct dyn_vec3 ca = dyn_vec3_load(bias_a->e), cl = dyn_vec3_load(bias_l->e);
    const dyn_lane half = lane_splat(0.5);

    lane_keep(&keep[0], f->Ua);
    lane_keep(&keep[1], f->Ul);
    const struct dyn_lane3 rM = lane3_cross(r, A->M);
    const dyn_lane m = lane3_mul(A->M, cl), g = A->pl + lane3_mul(A->H, ca);
    lane3_accumulate(on->M, A->M, f->gl, &keep[1]);
    lane3_accumulate(on->H, lane3_add(A->H, rM), f->gl, &keep[0]);

    const struct dyn_lane3 B = lane3_transpose(lane3_axpy(A->H, half, rM));
    const struct dyn_lane3 Q = lane3_cross(r, B), Qt = lane3_transpose(Q);
    const dyn_lane n = A->pa + lane3_mul(A->I, ca) + lane3_mul(B, cl);
    lane3_accumulate(on->I, lane3_add(lane3_add(A->I, Q), Qt), f->ga, &keep[0]);

    lane_store(&on->pa,
               lane_load(&on->pa) + n + lane_cross(lane_load(arm), g + half * m) + f->ga * f->u);
    lane_store(&on->pl, lane_load(&on->pl) + (g + m) + f->gl * f->u);
}

/* The same where nothing is eliminated and c is charged already. */
static inline void pass_whole_to_parent(const struct articulated *A, const struct dyn_row *arm,
                                        struct dyn_tree_link_work *on)
{
    const struct dyn_vec3 r = dyn_vec3_load(arm->e);
    const dyn_lane x = lane_splat(r.x), y = lane_splat(r.y), z = lane_splat(r.z);
    const struct dyn_lane3 H = {A->H.x + y * A->M.z - z * A->M.y, A->H.y + z * A->M.x - x * A->M.z,
                                A->H.z + x * A->M.y - y * A->M.x};
    const struct dyn_lane3 B = lane3_transpose(lane3_add(A->H, H)); /* twice that of hand_over */
    const struct dyn_lane3 Q = lane3_cross(r, B), Qt = lane3_transpose(Q);
    const struct dyn_lane3 I = lane3_axpy(A->I, lane_splat(0.5), lane3_add(Q, Qt));

    lane3_store(on->M, lane3_add(lane3_load(on->M), A->M));
    lane3_store(on->H, lane3_add(lane3_load(on->H), H));
    lane3_store(on->I, lane3_add(lane3_load(on->I), I));
    lane_store(&on->pa, lane_load(&on->pa) + A->pa + lane_cross(lane_load(arm), A->pl));
    lane_store(&on->pl, lane_load(&on->pl) + A->pl);
}

/* A - U g', with g = D^-1 U. */
static inline void subtract_outer_product(dyn_lane Ua, dyn_lane Ul, dyn_lane ga, dyn_lane gl,
                                          struct dyn_row keep[2], struct articulated *A)
{
    lane_keep(&keep[0], Ua);
    lane_keep(&keep[1], Ul);
    const struct dyn_lane3 I = lane3_outer(ga, &keep[0]), H = lane3_outer(gl, &keep[0]),
                           M = lane3_outer(gl, &keep[1]);
    A->I = (struct dyn_lane3){A->I.x - I.x, A->I.y - I.y, A->I.z - I.z};
    A->H = (struct dyn_lane3){A->H.x - H.x, A->H.y - H.y, A->H.z - H.z};
    A->M = (struct dyn_lane3){A->M.x - M.x, A->M.y - M.y, A->M.z - M.z};
}

/* D is positive for every pose of a model without a flaw, of flexible bodies within their bounds.
 * When the state has run away it may be anything; a NaN in its place makes the result visibly wrong
 * instead of plausibly wrong. */
static inline dyn_lane checked_quotient(dyn_lane a, dyn_lane D)
{
    const dyn_lane_mask good = D > lane_splat(0.0);
    const dyn_lane_mask bits = (dyn_lane_mask)(a / D);
    return (dyn_lane)(bits | ~good); /* all ones is a NaN */
}

static inline dyn_lane inverse(dyn_lane D)
{
    return checked_quotient(lane_splat(1.0), D);
}

/* Joint's own acceleration, where it is given, becomes part of c. */
static inline double held_acceleration(const struct dyn_input *input, int v_at)
{
    return input->held_a != NULL ? input->held_a[v_at] : 0.0;
}

static inline int is_velocity_held(const struct dyn_input *input, int v_at)
{
    return input->held != NULL && input->held[v_at];
}

/* U moved to the parent's origin, what the rotor there feels included. */
static inline dyn_lane parent_moment(const struct dyn_tree_link *link, dyn_lane Ua, dyn_lane Ul,
                                     const struct dyn_tree_link_work *L,
                                     const struct dyn_tree_link_work *on)
{
    Ua += lane_cross(lane_load(&L->r), Ul);
    if (__builtin_expect(link->has_rotor, 0))
        Ua += rotor_spin(link, on);
    return Ua;
}

static inline void put_gain(const struct elimination *f, dyn_lane D_inv,
                            struct dyn_tree_link_work *L)
{
    lane_store(&L->ga, f->ga);
    lane_store(&L->gl, f->gl);
    L->ud = (f->u * D_inv)[0];
}

/* S' IA c = U' c, lane by lane. */
static inline dyn_lane bias_product(dyn_lane Ua, dyn_lane Ul, const struct dyn_tree_link_work *L)
{
    return Ua * lane_load(&L->ca) + Ul * lane_load(&L->cl);
}

/* U and D^-1 u kept for the outward pass; the rest to the parent, where there is one. */
static inline void finish_elimination(const struct dyn_tree_link *link, const struct articulated *A,
                                      dyn_lane Ua, dyn_lane Ul, dyn_lane D_inv, dyn_lane u,
                                      struct dyn_tree_link_work *L, struct dyn_tree_link_work *on)
{
    const dyn_lane Up = parent_moment(link, Ua, Ul, L, on);
    const struct elimination f = {Up, Ul, Up * D_inv, Ul * D_inv, u};

    put_gain(&f, D_inv, L);
    if (__builtin_expect(link->parent >= 0, 1))
        pass_to_parent(A, &L->r, &L->ca, &L->cl, &f, L->keep, on);
}

/* The hot path. */
static inline void inward_revolute(const struct dyn_tree_link *link, double tau,
                                   struct dyn_tree_link_work *L, struct dyn_tree_link_work *on)
{
    const struct articulated A = load_articulated(L);
    const struct dyn_vec3 axis = dyn_vec3_load(L->R[2].e);
    const dyn_lane z = lane_load(&L->R[2]);
    const dyn_lane Ua = lane3_mul(A.I, axis), Ul = lane3_mul(A.H, axis);
    dyn_lane D = lane_sum(z * Ua);
    if (__builtin_expect(link->has_rotor, 0))
        D += lane_splat(link->rotor);
    const dyn_lane u = lane_splat(tau) - lane_sum(z * A.pa + bias_product(Ua, Ul, L));
    finish_elimination(link, &A, Ua, Ul, inverse(D), u, L, on);
}

/* S = [turn z; pitch z] */
static void inward_helical(const struct dyn_tree_link *link, double tau,
                           struct dyn_tree_link_work *L, struct dyn_tree_link_work *on)
{
    const struct articulated A = load_articulated(L);
    const struct dyn_lane3 columns = lane3_transpose(A.H);
    const struct dyn_vec3 axis = dyn_vec3_load(L->R[2].e);
    const dyn_lane z = lane_load(&L->R[2]);
    const dyn_lane turn = lane_splat(dyn_tree_link_turns(link) ? 1.0 : 0.0);
    const dyn_lane pitch = lane_splat(link->pitch);
    const dyn_lane Ua = turn * lane3_mul(A.I, axis) + pitch * lane3_mul(columns, axis);
    const dyn_lane Ul = turn * lane3_mul(A.H, axis) + pitch * lane3_mul(A.M, axis);
    const dyn_lane D = lane_sum(z * (turn * Ua + pitch * Ul)) + lane_splat(link->rotor);
    const dyn_lane D_inv = inverse(D);

    const dyn_lane p = lane_sum(z * (turn * A.pa + pitch * A.pl) + bias_product(Ua, Ul, L));
    finish_elimination(link, &A, Ua, Ul, D_inv, lane_splat(tau) - p, L, on);
}

/* p += A c, at the link's own origin. */
static inline void add_bias(const struct dyn_tree_link_work *L, struct articulated *A)
{
    const struct dyn_vec3 ca = dyn_vec3_load(L->ca.e), cl = dyn_vec3_load(L->cl.e);
    A->pa += lane3_mul(A->I, ca) + lane3_mul(lane3_transpose(A->H), cl);
    A->pl += lane3_mul(A->H, ca) + lane3_mul(A->M, cl);
}

/* A joint whose acceleration is given is a bolt that moves: c has it already. */
static void inward_held(const struct dyn_tree_link *link, double qdd, struct dyn_tree_link_work *L,
                        struct dyn_tree_link_work *on)
{
    struct articulated A = load_articulated(L);

    if (link->parent < 0)
        return;
    if (link->has_rotor)
        A.pa += rotor_spin(link, on) * lane_splat(qdd);
    add_bias(L, &A);
    pass_whole_to_parent(&A, &L->r, on);
}

/* c += S a of velocity k, where a is given. */
static void add_held_acceleration(const struct dyn_tree_link *link, int k, double qdd,
                                  struct dyn_tree_link_work *L)
{
    const int is_many = dyn_tree_link_nv(link) > 1;
    const dyn_lane step = lane_load(&L->R[is_many ? k % 3 : 2]) * lane_splat(qdd);
    const double turn = is_many ? k < 3 : dyn_tree_link_turns(link);
    const double travel = is_many ? k >= 3 : link->pitch;

    lane_store(&L->ca, lane_load(&L->ca) + step * lane_splat(turn));
    lane_store(&L->cl, lane_load(&L->cl) + step * lane_splat(travel));
}

#include "dynamics/kernel/aba_flex.h"

/* Velocity k of a ball or free link, at the link's own origin. */
static void eliminate_column(int k, double tau, struct dyn_tree_link_work *L, struct articulated *A,
                             struct dyn_column_work *column)
{
    const struct dyn_vec3 axis = dyn_vec3_load(L->R[k % 3].e);
    const dyn_lane s = lane_load(&L->R[k % 3]);
    const dyn_lane Ua = k < 3 ? lane3_mul(A->I, axis) : lane3_mul(lane3_transpose(A->H), axis);
    const dyn_lane Ul = k < 3 ? lane3_mul(A->H, axis) : lane3_mul(A->M, axis);
    const dyn_lane D_inv = inverse(lane_sum(s * (k < 3 ? Ua : Ul)));
    const dyn_lane p = lane_sum(s * (k < 3 ? A->pa : A->pl));
    const dyn_lane ud = (lane_splat(tau) - p) * D_inv, ga = Ua * D_inv, gl = Ul * D_inv;

    subtract_outer_product(Ua, Ul, ga, gl, L->keep, A);
    A->pa += Ua * ud;
    A->pl += Ul * ud;
    lane_store(&column->ga, ga);
    lane_store(&column->gl, gl);
    column->ud = ud[0];
    column->D_inv = D_inv[0];
}

/* ---- free links: what they carry moves as it must, whatever the parent does ---- */

/* m^-1 by cofactors, m symmetric and positive. */
static inline struct dyn_lane3 inverse3(struct dyn_lane3 m)
{
    const dyn_lane c = lane_cross(m.y, m.z);
    const dyn_lane d_inv = inverse(lane_sum(m.x * c));
    return (struct dyn_lane3){c * d_inv, lane_cross(m.z, m.x) * d_inv,
                              lane_cross(m.x, m.y) * d_inv};
}

/* m a, where a stands in lanes. */
static inline dyn_lane times(struct dyn_lane3 m, dyn_lane a)
{
    return lane3_mul(m, (struct dyn_vec3){a[0], a[1], a[2]});
}

/* A [alpha; a] = [n; f], the linear part eliminated first. */
static void solve_free(const struct articulated *A, dyn_lane n, dyn_lane f,
                       struct dyn_tree_link_work *L)
{
    const struct dyn_lane3 M_inv = inverse3(A->M), H = lane3_transpose(A->H);
    const struct dyn_lane3 S = {A->I.x - times(H, times(M_inv, A->H.x)),
                                A->I.y - times(H, times(M_inv, A->H.y)),
                                A->I.z - times(H, times(M_inv, A->H.z))};
    const dyn_lane alpha = times(inverse3(S), n - times(H, times(M_inv, f)));
    lane_store(&L->alpha, alpha);
    lane_store(&L->a, times(M_inv, f - times(A->H, alpha)));
}

/* The parent feels the joint's force and nothing else. */
static void inward_free(const struct dyn_tree_link *link, const double *tau,
                        struct dyn_tree_link_work *L, struct dyn_tree_link_work *on)
{
    const struct articulated A = load_articulated(L);
    const struct dyn_lane3 R = lane3_load(L->R);
    const dyn_lane n = lane3_mul(R, dyn_vec3_load(tau)), f = lane3_mul(R, dyn_vec3_load(tau + 3));

    solve_free(&A, n - A.pa, f - A.pl, L);
    if (link->parent < 0)
        return;
    lane_store(&on->pa, lane_load(&on->pa) + n + lane_cross(lane_load(&L->r), f));
    lane_store(&on->pl, lane_load(&on->pl) + f);
}

/* dv/dt is what the joint adds to the parent's acceleration and to what velocities cause. */
static void outward_free(const struct dyn_tree_link_work *L, const struct dyn_tree_link_work *on,
                         double *qdd)
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

static int is_any_held(const struct dyn_input *input, const struct dyn_tree_link *link)
{
    int count = 0;
    for (int k = 0; k < dyn_tree_link_nv(link); k++)
        count += is_velocity_held(input, link->v_at + k);
    return count;
}

static int is_unheld_free(const struct dyn_input *input, const struct dyn_tree_link *link)
{
    return link->kind == DYN_TREE_LINK_FREE && (input->held == NULL || !is_any_held(input, link));
}

static void inward_columns(const struct dyn_tree_link *link, const struct dyn_input *input,
                           const double *tau, struct dyn_work *work, struct dyn_tree_link_work *L,
                           struct dyn_tree_link_work *on)
{
    struct articulated A = load_articulated(L);

    add_bias(L, &A);
    for (int k = 0; k < dyn_tree_link_nv(link); k++) {
        const int v = link->v_at + k;
        if (is_velocity_held(input, v))
            work->column[v] = (struct dyn_column_work){0};
        else
            eliminate_column(k, tau[v], L, &A, &work->column[v]);
    }
    if (link->parent < 0)
        return;
    pass_whole_to_parent(&A, &L->r, on);
}

static void inward_other(const struct dyn_tree_link *link, const struct dyn_input *input,
                         const double *tau, struct dyn_work *work, struct dyn_tree_link_work *L,
                         struct dyn_tree_link_work *on)
{
    if (is_unheld_free(input, link))
        inward_free(link, tau + link->v_at, L, on);
    else if (link->kind == DYN_TREE_LINK_FIXED)
        inward_held(link, 0.0, L, on);
    else if (link->kind == DYN_TREE_LINK_SPHERICAL || link->kind == DYN_TREE_LINK_FREE)
        inward_columns(link, input, tau, work, L, on);
    else if (is_velocity_held(input, link->v_at))
        inward_held(link, held_acceleration(input, link->v_at), L, on);
    else
        inward_helical(link, tau[link->v_at], L, on);
}

/* Where joints are held, each link goes by itself. */
static inline enum dyn_tree_link_pass pass_of(const struct dyn_tree_link *link,
                                              const struct dyn_input *input)
{
    return input->held == NULL ? link->pass : DYN_PASS_OTHER;
}

/* The same with modes, out of which a link goes before its joint. */
DYN_APART void inward_flexible(const struct dyn_model *model, const struct dyn_input *input,
                               const double *tau, struct dyn_work *work)
{
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        const enum dyn_tree_link_pass pass = pass_of(link, input);
        struct dyn_tree_link_work *L = &work->link[i], *on = &work->link[link->parent];

        if (pass == DYN_PASS_LONE_NODE || pass == DYN_PASS_EMPTY_NODE)
            continue; /* with its hinge, or not at all */
        if (link->modal >= 0)
            eliminate_modes(&model->modal[link->modal], input, tau, &work->modal[link->modal], L);
        if (pass == DYN_PASS_LONE_REVOLUTE)
            inward_hinge(model, link, tau[link->v_at], work, L);
        else if (pass == DYN_PASS_REVOLUTE)
            inward_revolute(link, tau[link->v_at], L, on);
        else if (link->node >= 0)
            inward_node(model, link, work, L, on);
        else
            inward_other(link, input, tau, work, L, on);
    }
}

/* Leaves to root: parents come before their children, so one descending loop meets every child
 * before its parent. */
static void inward_pass(const struct dyn_model *model, const struct dyn_input *input,
                        const double *tau, struct dyn_work *work)
{
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        struct dyn_tree_link_work *L = &work->link[i], *on = &work->link[link->parent];

        if (__builtin_expect(link->kind == DYN_TREE_LINK_REVOLUTE && input->held == NULL, 1))
            inward_revolute(link, tau[link->v_at], L, on);
        else
            inward_other(link, input, tau, work, L, on);
    }
}

/* ---- outward ------------------------------------------------------------------------------- */

static void column_accelerations(const struct dyn_tree_link *link, const struct dyn_input *input,
                                 const struct dyn_work *work, const struct dyn_tree_link_work *L,
                                 dyn_lane *alpha, dyn_lane *a, double *qdd)
{
    for (int k = dyn_tree_link_nv(link) - 1; k >= 0; k--) {
        const struct dyn_column_work *column = &work->column[link->v_at + k];
        const dyn_lane s = lane_load(&L->R[k % 3]);

        if (is_velocity_held(input, link->v_at + k)) {
            qdd[k] = held_acceleration(input, link->v_at + k);
            continue; /* in c already */
        }
        const dyn_lane t = lane_load(&column->ga) * *alpha + lane_load(&column->gl) * *a;
        const dyn_lane x = lane_splat(column->ud) - lane_sum(t);
        *(k < 3 ? alpha : a) += s * x;
        qdd[k] = x[0];
    }
}

/* qdd, in all lanes. */
static inline dyn_lane joint_acceleration(const struct dyn_tree_link_work *L,
                                          const struct dyn_tree_link_work *on)
{
    const dyn_lane t =
        lane_load(&L->ga) * lane_load(&on->alpha) + lane_load(&L->gl) * lane_load(&on->a);
    return lane_splat(L->ud) - lane_sum(t);
}

static inline void outward_revolute(struct dyn_tree_link_work *L,
                                    const struct dyn_tree_link_work *on, double *qdd)
{
    const dyn_lane alpha = lane_load(&on->alpha), x = joint_acceleration(L, on);
    const dyn_lane a = lane_load(&on->a) + lane_load(&L->cl);

    lane_store(&L->a, a + lane_cross(alpha, lane_load(&L->r)));
    lane_store(&L->alpha, alpha + lane_load(&L->ca) + lane_load(&L->R[2]) * x);
    *qdd = x[0];
}

static void outward_other(const struct dyn_tree_link *link, const struct dyn_input *input,
                          struct dyn_work *work, struct dyn_tree_link_work *L,
                          const struct dyn_tree_link_work *on, double *qdd)
{
    dyn_lane alpha = lane_load(&on->alpha);
    dyn_lane a = lane_load(&on->a) + lane_cross(alpha, lane_load(&L->r));

    if (is_unheld_free(input, link)) {
        outward_free(L, on, qdd);
        return;
    }
    if (link->kind == DYN_TREE_LINK_FIXED) {
        /* goes along */
    } else if (link->kind == DYN_TREE_LINK_SPHERICAL || link->kind == DYN_TREE_LINK_FREE) {
        column_accelerations(link, input, work, L, &alpha, &a, qdd);
    } else if (is_velocity_held(input, link->v_at)) {
        qdd[0] = held_acceleration(input, link->v_at);
    } else {
        const dyn_lane x = joint_acceleration(L, on), z = lane_load(&L->R[2]);
        qdd[0] = x[0];
        if (dyn_tree_link_turns(link))
            alpha += z * x;
        a += z * x * lane_splat(link->pitch);
    }
    /* c comes last: u has been charged with it already */
    lane_store(&L->alpha, alpha + lane_load(&L->ca));
    lane_store(&L->a, a + lane_load(&L->cl));
}

DYN_APART void outward_flexible(const struct dyn_model *model, const struct dyn_input *input,
                                struct dyn_work *work, double *out)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const enum dyn_tree_link_pass pass = pass_of(link, input);
        struct dyn_tree_link_work *L = &work->link[i];
        const struct dyn_tree_link_work *on = &work->link[link->parent];

        if (pass == DYN_PASS_LONE_NODE)
            continue; /* with its hinge */
        if (pass == DYN_PASS_LONE_REVOLUTE)
            outward_hinge(model, link, work, L, out + link->v_at);
        else if (pass == DYN_PASS_REVOLUTE)
            outward_revolute(L, on, out + link->v_at);
        else if (link->node >= 0)
            outward_node(model, link, work, L, on);
        else
            outward_other(link, input, work, L, on, out + link->v_at);
        if (link->modal >= 0)
            modal_accelerations(&model->modal[link->modal], L, &work->modal[link->modal], out);
    }
}

static void outward_pass(const struct dyn_model *model, const struct dyn_input *input,
                         struct dyn_work *work, double *out)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        struct dyn_tree_link_work *L = &work->link[i];
        const struct dyn_tree_link_work *on = &work->link[link->parent];

        if (__builtin_expect(link->kind == DYN_TREE_LINK_REVOLUTE && input->held == NULL, 1))
            outward_revolute(L, on, out + link->v_at);
        else
            outward_other(link, input, work, L, on, out + link->v_at);
    }
}

/* ---- whole ----------------------------------------------------------------------------------- */

/* It stands, and feels nothing of what stands on it. */
static void reset_world(struct dyn_tree_link_work *world)
{
    const dyn_lane zero = lane_splat(0.0);
    lane_store(&world->R[0], (dyn_lane){1.0, 0.0, 0.0, 0.0});
    lane_store(&world->R[1], (dyn_lane){0.0, 1.0, 0.0, 0.0});
    lane_store(&world->R[2], (dyn_lane){0.0, 0.0, 1.0, 0.0});
    lane_store(&world->w, zero);
}

static void velocity_pass(const struct dyn_model *model, const double *q, const double *v,
                          struct dyn_work *work)
{
    reset_world(&work->link[-1]);
    find_sines_cosines(model, q, work);
    if (model->modal_count > 0)
        take_shapes(model, q, v, work);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        struct dyn_tree_link_work *L = &work->link[i], *on = &work->link[link->parent];
        const double sine = work->sine[i], cosine = work->cosine[i];
        if (link->kind == DYN_TREE_LINK_REVOLUTE && link->parent < 0)
            move_root_revolute(link, v[link->v_at], sine, cosine, L);
        else if (__builtin_expect(link->kind == DYN_TREE_LINK_REVOLUTE, 1))
            move_revolute(link, v[link->v_at], sine, cosine, on, L);
        else if (link->node >= 0)
            move_node(model, link, work, on, L);
        else
            move_joint(link, q + link->q_at, v + link->v_at, sine, cosine, on, L);
        if (__builtin_expect(link->modal >= 0, 0))
            move_flexible(model, link, L, &work->modal[link->modal]);
        else if (__builtin_expect(link->massless, 0))
            zero_massless(link, L);
        else
            move_inertia(link, L);
        if (__builtin_expect(link->has_rotor && link->parent >= 0, 0))
            turn_rotor(link, v[link->v_at], on);
    }
}

/* Nodes that would have gone with their hinge stand for themselves where joints are held. */
static void split_lone_hinges(const struct dyn_model *model, struct dyn_work *work)
{
    for (int n = 0; n < model->node_count; n++)
        if (model->link[model->node_link[n]].pass == DYN_PASS_LONE_NODE)
            zero_inertia(&work->link[model->node_link[n]]);
}

static void add_held_accelerations(const struct dyn_model *model, const struct dyn_input *input,
                                   struct dyn_work *work)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        for (int k = 0; k < dyn_tree_link_nv(link); k++)
            if (is_velocity_held(input, link->v_at + k))
                add_held_acceleration(link, k, held_acceleration(input, link->v_at + k),
                                      &work->link[i]);
    }
}

static void solve_accelerations(const struct dyn_model *model, const struct dyn_input *input,
                                const double *tau, struct dyn_work *work, double *a)
{
    if (input->held != NULL) {
        add_held_accelerations(model, input, work);
        split_lone_hinges(model, work);
    }
    if (model->modal_count > 0) {
        inward_flexible(model, input, tau, work);
        outward_flexible(model, input, work, a);
    } else {
        inward_pass(model, input, tau, work);
        outward_pass(model, input, work, a);
    }
}

const struct dyn_aba_kernel DYN_ABA_KERNEL = {velocity_pass, solve_accelerations};
