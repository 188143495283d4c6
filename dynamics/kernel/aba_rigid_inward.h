/*
 * The inward pass of rigid links: a part of the kernel (aba_kernel.h, which has the equations).  It
 * adds the articulated inertia and bias force of each link to its parent and eliminates the joint.
 * Tested by tests/dynamics/kernel/test_aba.c.
 */
#pragma once

#include "dynamics/kernel/aba_rigid_velocity.h"
#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "dynamics/state.h"

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

/* An eliminated velocity: the part of the link's inertia and bias that does not reach the
 * parent. */
struct elimination {
    dyn_lane Ua, Ul; /* at the parent's origin */
    dyn_lane ga, gl; /* D^-1 U */
    dyn_lane u;
};

/*
 * on += X' A X - U g' and X' (p + A c) + g u, about the parent's origin.  With half of the shift
 * in H, B = (H + (r x) M / 2)',   I_p = I + (r x) B + ((r x) B)',   H_p = H + (r x) M and the same
 * B serves the bias: H cl + r x (M cl) / 2 = B' cl. The order keeps few values alive.
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

/* The same where nothing is eliminated and the bias already includes c. */
static inline void pass_whole_to_parent(const struct articulated *A, const struct dyn_row *arm,
                                        struct dyn_tree_link_work *on)
{
    const struct dyn_vec3 r = dyn_vec3_load(arm->e);
    const dyn_lane x = lane_splat(r.x), y = lane_splat(r.y), z = lane_splat(r.z);
    const struct dyn_lane3 H = {A->H.x + y * A->M.z - z * A->M.y, A->H.y + z * A->M.x - x * A->M.z,
                                A->H.z + x * A->M.y - y * A->M.x};
    const struct dyn_lane3 B =
        lane3_transpose(lane3_add(A->H, H)); /* twice that of pass_to_parent */
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

/* D is positive for every pose of a model that dyn_model_problem() accepts, while flexible bodies
 * are within their bounds.  When the state has diverged, D may have any value; a NaN in its place
 * makes the result visibly wrong instead of plausibly wrong. */
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

/* The given acceleration of a held velocity; it becomes part of c. */
static inline double held_acceleration(const struct dyn_input *input, int v_at)
{
    return input->held_a != NULL ? input->held_a[v_at] : 0.0;
}

static inline int is_velocity_held(const struct dyn_input *input, int v_at)
{
    return input->held != NULL && input->held[v_at];
}

/* U moved to the parent's origin, with the coupling of the rotor there. */
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

/* A held joint is a fixed joint whose given acceleration is already in c. */
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

/* ---- free links: their motion does not depend on the parent ---- */

/* m^-1 by cofactors, m symmetric and positive. */
static inline struct dyn_lane3 inverse3(struct dyn_lane3 m)
{
    const dyn_lane c = lane_cross(m.y, m.z);
    const dyn_lane d_inv = inverse(lane_sum(m.x * c));
    return (struct dyn_lane3){c * d_inv, lane_cross(m.z, m.x) * d_inv,
                              lane_cross(m.x, m.y) * d_inv};
}

/* m a, with a in lanes. */
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

/* Only the force of the joint acts on the parent. */
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

/* dv/dt is the link's acceleration less that of the parent and less the velocity terms. */
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
