/*
 * The body of a batch kernel: included once by each of batch_sse2.c, batch_avx2.c and
 * batch_avx512.c, which name it in DYN_BATCH_KERNEL, define `wide` and are compiled for that
 * instruction set.  Tested by tests/dynamics/kernel/batch/test_batch.c.
 *
 * Letters as in aba_kernel.h, but in the axes of batch_isa.h.  A lane holds a number of one state,
 * so nothing is shuffled, and the joint's own axis is always z: of a hinge U is a column of IA and
 * D its diagonal element, and the elimination leaves a row and a column of zeros, which are not
 * computed with.
 *
 *      move      w, c
 *      inward    IA = I + sum X' Ia X,  pA = p + sum X' pa
 *                U = IA S,  D = S' U,  u = tau - S' pA
 *                Ia = IA - U D^-1 U',  pa = pA + Ia c + U D^-1 u
 *      outward   a' = X a_parent + c,  qdd = D^-1 u - D^-1 U' a',  a = a' + S qdd
 *
 * This file compiles as C and as C++.  Of `wide` it uses + - *, the unary minus and the functions
 * wide_..., so that it can be compiled with a number that counts.
 */
#include "dynamics/kernel/batch/batch_leaf.h"

/* ---- inward: all other links --------------------------------------------------------------- */

/* From joint axes, about the parent's origin. */
static void add_link_to_parent(const struct dyn_batch_link *link, struct articulated *A,
                               struct articulated *sum)
{
    const struct parent_axes parent_axes = parent_axes_of(link, DYN_BATCH_TILT_ANY, 1, 1);
    make_room(link, sum);
    add_sym_to_parent(&parent_axes, A->I, sum->I);
    add_block_to_parent(&parent_axes, A->H[0], A->H[1], A->H[2], sum->H);
    add_sym_to_parent(&parent_axes, A->M, sum->M);
    add_vector_to_parent(&parent_axes, A->pa, sum->pa);
    add_vector_to_parent(&parent_axes, A->pl, sum->pl);
}

/*
 * A rotor on the parent that turns with the joint adds its spin s to U at the parent: U_p = X' U +
 * s.  The other path has already added X' U D^-1 U' X to the parent.
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
    const wide turns = wide_splat(link->kind == DYN_TREE_LINK_PRISMATIC ? 0.0 : 1.0);
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
    subtract_outer_product(Ua, Ul, L->ga, L->gl, A);
}

/* Slides, screws, hinges with a rotor, and those that are not level. */
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
    add_link_to_parent(link, &A, sum);
    if (link->is_coupled)
        couple_rotor(link, v_of(group, link->v_at), &at->moving[link->parent], r, L, sum);
}

/* The acceleration of a free link does not depend on its parent. */
static void solve_free(const wide tau[6], const struct articulated *A, struct round_moving *round)
{
    wide full[7][6];

    unpack(A, full);
    for (int k = 0; k < 3; k++) {
        full[6][k] = tau[k] - A->pa[k];
        full[6][k + 3] = tau[k + 3] - A->pl[k];
    }
    solve_six(full);
    for (int k = 0; k < 6; k++)
        round->x[k] = full[6][k];
}

/* A free joint passes only its own force to the parent. */
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
    wide full[7][6], D_inv[3];

    unpack(A, full); /* rows 3 to 5 are H', and become H' I^-1 */
    for (int k = 0; k < 3; k++)
        full[6][k] = tau[k] - A->pa[k];
    factor_three(full, D_inv);
    for (int j = 0; j < 4; j++)
        substitute_three(full, D_inv, full[j + 3]);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++)
            round->G[k][j] = full[j + 3][k];
        round->x[k] = full[6][k];
    }
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

static void inward_round(const struct dyn_model *model, const struct dyn_batch_link *link,
                         const struct dyn_batch_group *group, const struct dyn_batch_work *work,
                         const struct scratch *at, struct moving *L)
{
    struct articulated A = *carried_by(link, at);
    struct round_moving *round = &at->round[link->nth];
    wide tau[6], p[3], r[3];

    add_link(link, L->w, &A);
    for (int k = 0; k < (link->kind == DYN_TREE_LINK_FREE ? 6 : 3); k++)
        tau[k] = tau_of(model, group, work, link->v_at + k);
    if (link->kind == DYN_TREE_LINK_FREE)
        solve_free(tau, &A, round);
    else
        eliminate_ball(tau, &A, round);
    if (link->parent < 0)
        return;
    if (link->kind == DYN_TREE_LINK_FREE)
        eliminate_free(tau, &A);
    sym_mul(A.M, L->cl, p);
    for (int k = 0; k < 3; k++)
        p[k] = p[k] + A.pl[k];
    rotate_back(round->E, p, A.pl);
    rotate_back(round->E, tau, A.pa);
    rotate_sym_back(round->E, A.M);
    round_arm_of(link, group, r);
    shift(r, &A);
    add_link_to_parent(link, &A, &at->sum[work->link[link->parent].sum]);
}

/* Backward in depth-first order: every child comes before its parent, and the sums of few are
 * needed at a time. */
static void inward_pass(const struct dyn_model *model, const struct dyn_batch_group *group,
                        const struct dyn_batch_work *work, const struct scratch *at)
{
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_batch_link *link = &work->link[i];
        struct moving *L = &at->moving[i];

        if (__builtin_expect(link->method == DYN_BATCH_ROUND, 0)) {
            inward_round(model, link, group, work, at, L);
            continue;
        }
        const wide tau = tau_of(model, group, work, link->v_at);
        if (__builtin_expect(link->method == DYN_BATCH_HINGE, 1))
            inward_hinge(link, tau, at, work->link, L);
        else if (link->method == DYN_BATCH_LEAF)
            inward_leaf(link, &work->leaf[link->nth], tau, at, work->link, L);
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
WIDE_INLINE void outward_hinge(const struct dyn_batch_link *link,
                               const struct dyn_batch_group *group, wide alpha[3], wide a[3],
                               const struct moving *L)
{
    const wide x = wide_splat(link->r[0]), y = wide_splat(link->r[1]);

    to_joint(link, alpha);
    to_joint(link, a);
    a[0] = a[0] - alpha[2] * y + L->cl[0];
    a[1] = a[1] + alpha[2] * x + L->cl[1];
    a[2] = a[2] + alpha[0] * y - alpha[1] * x + L->cl[2];
    alpha[0] = alpha[0] + L->ca[0];
    alpha[1] = alpha[1] + L->ca[1];
    turn(L->s, L->c, &alpha[0], &alpha[1]);
    turn(L->s, L->c, &a[0], &a[1]);
    const wide spin = L->ud - L->ga[0] * alpha[0] - L->ga[1] * alpha[1] - dot(L->gl, a);
    put(group, link->v_at, spin - alpha[2]);
    alpha[2] = spin;
}

static void outward_axial(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                          wide alpha[3], wide a[3], const struct moving *L)
{
    wide r[3], qdd = L->ud;

    if (link->is_coupled) {
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
    qdd = qdd - dot(L->ga, alpha) - dot(L->gl, a);
    if (link->kind != DYN_TREE_LINK_PRISMATIC)
        alpha[2] = alpha[2] + qdd;
    if (link->kind != DYN_TREE_LINK_REVOLUTE)
        a[2] = a[2] + wide_splat(link->pitch) * qdd;
    put(group, link->v_at, qdd);
}

static void outward_round(const struct dyn_batch_link *link, const struct dyn_batch_group *group,
                          wide alpha[3], wide a[3], const struct moving *L,
                          struct round_moving *round)
{
    wide alpha_on[3], a_on[3], r[3];

    to_joint(link, alpha);
    to_joint(link, a);
    round_arm_of(link, group, r);
    add_cross(alpha, r, a);
    rotate(round->E, alpha, alpha_on);
    rotate(round->E, a, a_on);
    for (int k = 0; k < 3; k++) {
        alpha_on[k] = alpha_on[k] + L->ca[k];
        a_on[k] = a_on[k] + L->cl[k];
    }
    for (int k = 0; k < 3; k++) {
        if (link->kind == DYN_TREE_LINK_FREE) {
            alpha[k] = round->x[k];
            a[k] = round->x[k + 3];
            put(group, link->v_at + 3 + k, a[k] - a_on[k]);
        } else {
            alpha[k] = round->x[k] - dot(round->G[k], a_on);
            a[k] = a_on[k];
        }
        put(group, link->v_at + k, alpha[k] - alpha_on[k]);
    }
}

static void outward_pass(const struct dyn_model *model, const struct dyn_batch_group *group,
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
        if (__builtin_expect(link->method == DYN_BATCH_HINGE, 1))
            outward_hinge(link, group, alpha, a, L);
        else if (link->method == DYN_BATCH_LEAF)
            put(group, link->v_at, leaf_acceleration(link, &work->leaf[link->nth], alpha, a, L));
        else if (link->method == DYN_BATCH_AXIAL)
            outward_axial(link, group, alpha, a, L);
        else
            outward_round(link, group, alpha, a, L, &at->round[link->nth]);
        if (link->is_fork)
            for (int k = 0; k < 3; k++) {
                L->w[k] = alpha[k];
                L->cl[k] = a[k];
            }
    }
}

/* The world is at rest; gravity enters as its upward acceleration. */
static void reset_world(const double gravity[3], struct moving *world)
{
    for (int k = 0; k < 3; k++) {
        world->w[k] = wide_splat(0.0);
        world->cl[k] = wide_splat(-gravity[k]);
    }
}

static void run_group(const struct dyn_model *model, const struct dyn_batch_group *group,
                      struct dyn_batch_work *work)
{
    const struct scratch at = scratch_of(work);
    reset_world(group->gravity, &at.moving[-1]);
    velocity_pass(model, group, work, &at);
    inward_pass(model, group, work, &at);
    outward_pass(model, group, work, &at);
}

const struct dyn_batch_kernel DYN_BATCH_KERNEL = {DYN_WIDE, run_group};
