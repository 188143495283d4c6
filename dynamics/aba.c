/*
 * Letters as in Featherstone, Rigid Body Dynamics Algorithms (2008), table 7.1, with classical
 * instead of spatial accelerations (work.h):
 *
 *      outward   v, c                                    dyn_kinematics
 *      inward    IA = I + sum X' Ia X,  pA = p + sum X' pa
 *                U = IA S,  D = S' U,  u = tau - S' pA
 *                Ia = IA - U D^-1 U',  pa = pA + Ia c + U D^-1 u
 *      outward   a' = X a_parent + c,  qdd = D^-1 (u - U' a'),  a = a' + S qdd
 */
#include "dynamics/aba.h"

#include "dynamics/kinematics.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"

/* Own inertia, and own bias less the force from outside. */
static void begin_body(const struct dyn_model *model, const struct dyn_input *input,
                       struct dyn_work *work, int i)
{
    work->IA[i] = dyn_articulated_make(&model->inertia[i]);
    work->pA[i] = dyn_gyroscopic_force(model, work, i);
    if (input->force != NULL)
        work->pA[i] = dyn_axpy6(&work->pA[i], -1.0, &input->force[i]);
}

static double joint_force(const struct dyn_model *model, const struct dyn_state *state,
                          const struct dyn_input *input, int i)
{
    const double passive = dyn_passive_force(model, state, i);
    return input->tau != NULL ? input->tau[model->v_index[i]] + passive : passive;
}

/* S' f: what of a force the joint's one coordinate feels. */
static double along(const struct dyn_model *model, int i, const struct dyn_vec6 *f)
{
    return dyn_dot(model->axis[i], model->joint[i] == DYN_JOINT_REVOLUTE ? f->ang : f->lin);
}

/* IA S */
static struct dyn_vec6 joint_inertia(const struct dyn_model *model, int i,
                                     const struct dyn_articulated *IA)
{
    const struct dyn_vec3 s = model->axis[i];
    if (model->joint[i] == DYN_JOINT_REVOLUTE)
        return (struct dyn_vec6){dyn_sym3_mul(&IA->I, s), dyn_mul_t(&IA->H, s)};
    return (struct dyn_vec6){dyn_mul(&IA->H, s), dyn_sym3_mul(&IA->M, s)};
}

/*
 * D is positive for every pose of a model without a flaw.  When the state has run away it may be
 * anything; a NaN in its place makes the result visibly wrong instead of plausibly wrong.
 */
static double inverse(double D)
{
    return D > 0.0 ? 1.0 / D : (double)NAN;
}

static void eliminate_joint(const struct dyn_model *model, const struct dyn_state *state,
                            const struct dyn_input *input, struct dyn_work *work, int i)
{
    const struct dyn_vec6 U = joint_inertia(model, i, &work->IA[i]);
    work->U[i] = U;
    work->d_inv[i] = inverse(along(model, i, &U));
    work->u[i] = joint_force(model, state, input, i) - along(model, i, &work->pA[i]);
}

static void hand_to_parent(const struct dyn_model *model, struct dyn_work *work, int i)
{
    const int parent = model->parent[i];
    struct dyn_articulated Ia = work->IA[i];
    struct dyn_vec6 pa = work->pA[i];

    if (model->joint[i] != DYN_JOINT_FIXED) {
        Ia = dyn_articulated_add_square(&Ia, -work->d_inv[i], &work->U[i]);
        pa = dyn_axpy6(&pa, work->u[i] * work->d_inv[i], &work->U[i]);
    }
    const struct dyn_vec6 Ia_c = dyn_articulated_mul(&Ia, &work->c[i]);
    pa = dyn_add6(&pa, &Ia_c);

    const struct dyn_articulated Ip = dyn_articulated_to_parent(&work->X[i], &Ia);
    const struct dyn_vec6 pp = dyn_force_to_parent(&work->X[i], &pa);
    work->IA[parent] = dyn_articulated_add(&work->IA[parent], &Ip);
    work->pA[parent] = dyn_add6(&work->pA[parent], &pp);
}

/* Leaves to root: parents come before their children, so one descending loop meets every child
 * before its parent. */
static void inward(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_work *work)
{
    for (int i = 0; i < model->body_count; i++)
        begin_body(model, input, work, i);

    for (int i = model->body_count - 1; i >= 0; i--) {
        const enum dyn_joint_type joint = model->joint[i];
        if (joint == DYN_JOINT_REVOLUTE || joint == DYN_JOINT_PRISMATIC)
            eliminate_joint(model, state, input, work, i);
        if (model->parent[i] >= 0)
            hand_to_parent(model, work, i);
    }
}

static void spread(const struct dyn_articulated *A, double m[6][6])
{
    const struct dyn_sym3 *I = &A->I, *M = &A->M;
    const double I_full[3][3] = {
        {I->xx, I->xy, I->xz}, {I->xy, I->yy, I->yz}, {I->xz, I->yz, I->zz}};
    const double M_full[3][3] = {
        {M->xx, M->xy, M->xz}, {M->xy, M->yy, M->yz}, {M->xz, M->yz, M->zz}};
    for (int r = 0; r < 3; r++) {
        double h[3];
        dyn_vec3_store(A->H.row[r], h);
        for (int c = 0; c < 3; c++) {
            m[r][c] = I_full[r][c];
            m[r][c + 3] = m[c + 3][r] = h[c];
            m[r + 3][c + 3] = M_full[r][c];
        }
    }
}

/* b becomes m^-1 b by L D L', in place, lower triangle of m. */
static void solve6(double m[6][6], double b[6])
{
    for (int k = 0; k < 6; k++) {
        const double d_inv = inverse(m[k][k]);
        for (int r = k + 1; r < 6; r++) {
            const double l = m[r][k] * d_inv;
            for (int c = k + 1; c <= r; c++)
                m[r][c] -= l * m[c][k];
            b[r] -= l * b[k];
        }
        for (int r = k + 1; r < 6; r++)
            m[r][k] *= d_inv;
        b[k] *= d_inv;
    }
    for (int k = 5; k >= 0; k--)
        for (int r = k + 1; r < 6; r++)
            b[k] -= m[r][k] * b[r];
}

/* IA a = tau - pA, and dv/dt = a - a' because S is the identity. */
static void release_free(const struct dyn_model *model, const struct dyn_input *input,
                         struct dyn_work *work, int i, double *qdd)
{
    const struct dyn_vec6 carried = work->a[i];
    double m[6][6], b[6];

    spread(&work->IA[i], m);
    dyn_vec3_store(dyn_scale(-1.0, work->pA[i].ang), b);
    dyn_vec3_store(dyn_scale(-1.0, work->pA[i].lin), b + 3);
    for (int k = 0; k < 6; k++)
        b[k] += input->tau != NULL ? input->tau[model->v_index[i] + k] : 0.0;
    solve6(m, b);

    work->a[i] = (struct dyn_vec6){dyn_vec3_load(b), dyn_vec3_load(b + 3)};
    dyn_vec3_store(dyn_sub(work->a[i].ang, carried.ang), qdd);
    dyn_vec3_store(dyn_sub(work->a[i].lin, carried.lin), qdd + 3);
}

static void release_joint(const struct dyn_model *model, struct dyn_work *work, int i, double *qdd)
{
    struct dyn_vec6 *a = &work->a[i];
    const double U_a = dyn_dot(work->U[i].ang, a->ang) + dyn_dot(work->U[i].lin, a->lin);
    qdd[0] = work->d_inv[i] * (work->u[i] - U_a);
    const struct dyn_vec3 s = dyn_scale(qdd[0], model->axis[i]);
    if (model->joint[i] == DYN_JOINT_REVOLUTE)
        a->ang = dyn_add(a->ang, s);
    else
        a->lin = dyn_add(a->lin, s);
}

static void outward(const struct dyn_model *model, const struct dyn_input *input,
                    struct dyn_work *work, struct dyn_output *output)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);

    for (int i = 0; i < model->body_count; i++) {
        double *qdd = output->a + model->v_index[i];
        work->a[i] = dyn_carried_acceleration(model, work, i, &world);
        if (model->joint[i] == DYN_JOINT_FREE)
            release_free(model, input, work, i, qdd);
        else if (model->joint[i] != DYN_JOINT_FIXED)
            release_joint(model, work, i, qdd);
    }
}

void dyn_aba_solve(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output)
{
    inward(model, state, input, work);
    outward(model, input, work, output);
}

void dyn_aba(const struct dyn_model *model, const struct dyn_state *state,
             const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output)
{
    dyn_kinematics(model, state, work);
    dyn_aba_solve(model, state, input, work, output);
}
