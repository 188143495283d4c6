#include "dynamics/arm/grapple.h"

#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"
#include "dynamics/math/finite.h"

struct dyn_grapple_work {
    struct dyn_tree_pose *from, *to;
    struct dyn_crba_work *mass; /* of to */
    double *M, *free;           /* nv x nv by rows: all, and that of the velocities not held */
    double *b;                  /* nv */
    double *change, *impulse;   /* nv: v+ - v, and what holds took for it */
    int *at;                    /* nv: which velocities are free */
    double *q, *v;              /* nq, nv: the vehicle with its base at rest in the origin */
};

static size_t lay_out_grapple_work(struct dyn_grapple_work *work, void *mem,
                                   const struct dyn_model *from, const struct dyn_model *to)
{
    const size_t nq = (size_t)to->nq, nv = (size_t)to->nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->from = dyn_layout_cut(mem, &at, dyn_tree_pose_size(from));
    work->to = dyn_layout_cut(mem, &at, dyn_tree_pose_size(to));
    work->mass = dyn_layout_cut(mem, &at, dyn_crba_work_size(to));
    work->M = dyn_layout_cut(mem, &at, nv * nv * sizeof *work->M);
    work->free = dyn_layout_cut(mem, &at, nv * nv * sizeof *work->free);
    work->b = dyn_layout_cut(mem, &at, nv * sizeof *work->b);
    work->change = dyn_layout_cut(mem, &at, nv * sizeof *work->change);
    work->impulse = dyn_layout_cut(mem, &at, nv * sizeof *work->impulse);
    work->at = dyn_layout_cut(mem, &at, nv * sizeof *work->at);
    work->q = dyn_layout_cut(mem, &at, nq * sizeof *work->q);
    work->v = dyn_layout_cut(mem, &at, nv * sizeof *work->v);
    return at;
}

size_t dyn_grapple_work_size(const struct dyn_model *from, const struct dyn_model *to)
{
    struct dyn_grapple_work probe;
    return lay_out_grapple_work(&probe, NULL, from, to);
}

struct dyn_grapple_work *dyn_grapple_work_place(const struct dyn_model *from,
                                                const struct dyn_model *to, void *mem)
{
    struct dyn_grapple_work *work = mem;
    DYN_CHECK(from->nq == to->nq && from->nv == to->nv);
    memset(mem, 0, dyn_grapple_work_size(from, to));
    lay_out_grapple_work(work, mem, from, to);
    (void)dyn_tree_pose_place(from, work->from);
    (void)dyn_tree_pose_place(to, work->to);
    (void)dyn_crba_work_place(to, work->mass);
    return work;
}

/* --- the same motion from another parent ---------------------------------------------------- */

/* Of a free joint: x y z qw qx qy qz. */
static void store_pose(const struct dyn_pose *pose, double q[7])
{
    dyn_vec3_store(pose->origin, q);
    dyn_quat_store(dyn_quat_unit(pose->turn), q + 3);
}

static const struct dyn_pose here = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

/* Does the first body float, and carry this one? */
static int floats_on_base(const struct dyn_model *model, int body)
{
    const int base = model->body_link[0];
    int i = model->body_link[body];
    while (i >= 0 && i != base)
        i = model->link[i].parent;
    return i >= 0 && model->link[i].kind == DYN_TREE_LINK_FREE;
}

/* How far bodies on one base are apart does not depend on where that is, but the digits do. */
static void zero_base(const struct dyn_model *from, const struct dyn_model *to, int body,
                      struct dyn_grapple_work *work)
{
    if (!floats_on_base(from, body) || !floats_on_base(to, body))
        return;
    store_pose(&here, work->q + dyn_model_q_index(to, 0));
    memset(work->v + dyn_model_v_index(to, 0), 0, 6 * sizeof *work->v);
}

static struct dyn_vec6 body_velocity_of(const struct dyn_model *model,
                                        struct dyn_tree_pose *tree_pose, int body,
                                        const struct dyn_grapple_work *work)
{
    const struct dyn_point origin = {.body = body};
    dyn_tree_pose_update(model, &(struct dyn_state){work->q, work->v}, tree_pose);
    return dyn_point_velocity(model, tree_pose, &origin);
}

void dyn_grapple_reparent(const struct dyn_model *from, const struct dyn_model *to, int body,
                          struct dyn_grapple_work *work, double *q, double *v)
{
    double *q_body = work->q + dyn_model_q_index(to, body);
    double *v_body = work->v + dyn_model_v_index(to, body);
    memcpy(work->q, q, (size_t)to->nq * sizeof *q);
    memcpy(work->v, v, (size_t)to->nv * sizeof *v);
    zero_base(from, to, body, work);
    const struct dyn_pose pose = dyn_body_pose(from, work->q, body);
    const struct dyn_vec6 moves = body_velocity_of(from, work->from, body, work);

    store_pose(&here, q_body);
    const struct dyn_pose parent_pose = dyn_body_pose(to, work->q, body);
    const struct dyn_pose apart = dyn_pose_between(&parent_pose, &pose);
    store_pose(&apart, q_body);
    memset(v_body, 0, 6 * sizeof *v_body);
    const struct dyn_vec6 carried = body_velocity_of(to, work->to, body, work);
    const struct dyn_vec6 own = dyn_axpy6(&moves, -1.0, &carried);
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(pose.turn));
    dyn_vec3_store(dyn_quat_rotate(back, own.ang), v_body);
    dyn_vec3_store(dyn_quat_rotate(back, own.lin), v_body + 3);

    memcpy(q + dyn_model_q_index(to, body), q_body, 7 * sizeof *q);
    memcpy(v + dyn_model_v_index(to, body), v_body, 6 * sizeof *v);
}

/* --- the impact
 * --------------------------------------------------------------------------------- */

/* The change of the free momenta by the held velocities: free v+ = free v + M(free, held)
 * v(held). */
static int gather_free_velocities(const double *M, const unsigned char *held, const double *v,
                                  int nv, struct dyn_grapple_work *work)
{
    int n = 0;
    for (int i = 0; i < nv; i++)
        if (held[i] == DYN_IMPACT_FREE)
            work->at[n++] = i;
    for (int r = 0; r < n; r++) {
        const double *row = M + work->at[r] * nv;
        work->b[r] = 0.0;
        for (int k = 0; k < nv; k++)
            work->b[r] += held[k] == DYN_IMPACT_STOPPED ? row[k] * v[k] : 0.0;
        for (int c = 0; c < n; c++)
            work->free[r * n + c] = row[work->at[c]];
    }
    return n;
}

/* v+ - v of n free velocities and of those that stop; none at all, rather than no motion ever
 * after, where that is not finite. */
static void find_velocity_change(const unsigned char *held, const double *v, int nv, int n,
                                 struct dyn_grapple_work *work)
{
    memset(work->change, 0, (size_t)nv * sizeof *work->change);
    if (!dyn_all_finite(work->b, n))
        return;
    for (int r = 0; r < n; r++)
        work->change[work->at[r]] = work->b[r];
    for (int i = 0; i < nv; i++)
        if (held[i] == DYN_IMPACT_STOPPED)
            work->change[i] = -v[i];
}

/* impulse = M (v+ - v) where held; a prescribed velocity goes on by work from outside, which is
 * not a loss. */
static double find_impulse(const unsigned char *held, int nv, struct dyn_grapple_work *work)
{
    double lost = 0.0;
    for (int i = 0; i < nv; i++) {
        double sum = 0.0;
        for (int k = 0; k < nv; k++)
            sum += work->M[i * nv + k] * work->change[k];
        lost += 0.5 * work->change[i] * sum;
        work->impulse[i] = held[i] == DYN_IMPACT_FREE ? 0.0 : sum;
    }
    return lost;
}

void dyn_grapple_impact(const struct dyn_model *to, const unsigned char *held, const double *q,
                        struct dyn_grapple_work *work, double *v, double *lost)
{
    const int nv = to->nv;
    dyn_crba(to, &(struct dyn_state){q, v}, work->mass, work->M);
    const int n = gather_free_velocities(work->M, held, v, nv, work);
    dyn_cholesky_factor(n, work->free);
    dyn_cholesky_solve(n, work->free, work->b);
    find_velocity_change(held, v, nv, n, work);
    const double went = find_impulse(held, nv, work);
    for (int i = 0; i < nv; i++)
        v[i] += work->change[i]; /* what stops is exactly zero then */
    if (lost != NULL)
        *lost = went;
}

const double *dyn_grapple_impulse(const struct dyn_grapple_work *work)
{
    return work->impulse;
}
