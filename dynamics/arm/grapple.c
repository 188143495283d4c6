#include "dynamics/arm/grapple.h"

#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"
#include "dynamics/math/finite.h"

struct dyn_handover_work {
    struct dyn_scene *from, *to;
    struct dyn_crba_work *mass; /* of to */
    double *M, *free;           /* nv x nv by rows: all, and that of the velocities not held */
    double *b;                  /* nv */
    double *change, *impulse;   /* nv: v+ - v, and what holds took for it */
    int *at;                    /* nv: which velocities are free */
    double *q, *v;              /* nq, nv: the vehicle with its base at rest in the origin */
};

static size_t lay_out(struct dyn_handover_work *work, void *mem, const struct dyn_model *from,
                      const struct dyn_model *to)
{
    const size_t nq = (size_t)to->nq, nv = (size_t)to->nv;
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *work);
    work->from = dyn_cut(mem, &at, dyn_scene_size(from));
    work->to = dyn_cut(mem, &at, dyn_scene_size(to));
    work->mass = dyn_cut(mem, &at, dyn_crba_work_size(to));
    work->M = dyn_cut(mem, &at, nv * nv * sizeof *work->M);
    work->free = dyn_cut(mem, &at, nv * nv * sizeof *work->free);
    work->b = dyn_cut(mem, &at, nv * sizeof *work->b);
    work->change = dyn_cut(mem, &at, nv * sizeof *work->change);
    work->impulse = dyn_cut(mem, &at, nv * sizeof *work->impulse);
    work->at = dyn_cut(mem, &at, nv * sizeof *work->at);
    work->q = dyn_cut(mem, &at, nq * sizeof *work->q);
    work->v = dyn_cut(mem, &at, nv * sizeof *work->v);
    return at;
}

size_t dyn_handover_work_size(const struct dyn_model *from, const struct dyn_model *to)
{
    struct dyn_handover_work probe;
    return lay_out(&probe, NULL, from, to);
}

struct dyn_handover_work *dyn_handover_work_place(const struct dyn_model *from,
                                                  const struct dyn_model *to, void *mem)
{
    struct dyn_handover_work *work = mem;
    DYN_CHECK(from->nq == to->nq && from->nv == to->nv);
    memset(mem, 0, dyn_handover_work_size(from, to));
    lay_out(work, mem, from, to);
    (void)dyn_scene_place(from, work->from);
    (void)dyn_scene_place(to, work->to);
    (void)dyn_crba_work_place(to, work->mass);
    return work;
}

/* --- the same motion from another parent ---------------------------------------------------- */

/* Of a free joint: x y z qw qx qy qz. */
static void put_pose(const struct dyn_pose *pose, double q[7])
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
    return i >= 0 && model->link[i].kind == DYN_LINK_FREE;
}

/* How far bodies on one base are apart does not depend on where that is, but the digits do. */
static void rest_base(const struct dyn_model *from, const struct dyn_model *to, int body,
                      struct dyn_handover_work *work)
{
    if (!floats_on_base(from, body) || !floats_on_base(to, body))
        return;
    put_pose(&here, work->q + dyn_model_q_index(to, 0));
    memset(work->v + dyn_model_v_index(to, 0), 0, 6 * sizeof *work->v);
}

static struct dyn_vec6 velocity_of(const struct dyn_model *model, struct dyn_scene *scene, int body,
                                   const struct dyn_handover_work *work)
{
    const struct dyn_point origin = {.body = body};
    dyn_scene_take(model, &(struct dyn_state){work->q, work->v}, scene);
    return dyn_point_velocity(model, scene, &origin);
}

void dyn_handover_carry(const struct dyn_model *from, const struct dyn_model *to, int body,
                        struct dyn_handover_work *work, double *q, double *v)
{
    double *q_body = work->q + dyn_model_q_index(to, body);
    double *v_body = work->v + dyn_model_v_index(to, body);
    memcpy(work->q, q, (size_t)to->nq * sizeof *q);
    memcpy(work->v, v, (size_t)to->nv * sizeof *v);
    rest_base(from, to, body, work);
    const struct dyn_pose pose = dyn_body_pose(from, work->q, body);
    const struct dyn_vec6 moves = velocity_of(from, work->from, body, work);

    put_pose(&here, q_body);
    const struct dyn_pose seat = dyn_body_pose(to, work->q, body);
    const struct dyn_pose apart = dyn_pose_between(&seat, &pose);
    put_pose(&apart, q_body);
    memset(v_body, 0, 6 * sizeof *v_body);
    const struct dyn_vec6 carried = velocity_of(to, work->to, body, work);
    const struct dyn_vec6 own = dyn_axpy6(&moves, -1.0, &carried);
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(pose.turn));
    dyn_vec3_store(dyn_quat_rotate(back, own.ang), v_body);
    dyn_vec3_store(dyn_quat_rotate(back, own.lin), v_body + 3);

    memcpy(q + dyn_model_q_index(to, body), q_body, 7 * sizeof *q);
    memcpy(v + dyn_model_v_index(to, body), v_body, 6 * sizeof *v);
}

/* --- the blow --------------------------------------------------------------------------------- */

/* What the free velocities lose to the held ones: free v+ = free v + M(free, held) v(held). */
static int gather(const double *M, const unsigned char *held, const double *v, int nv,
                  struct dyn_handover_work *work)
{
    int n = 0;
    for (int i = 0; i < nv; i++)
        if (held[i] == DYN_BLOW_FREE)
            work->at[n++] = i;
    for (int r = 0; r < n; r++) {
        const double *row = M + work->at[r] * nv;
        work->b[r] = 0.0;
        for (int k = 0; k < nv; k++)
            work->b[r] += held[k] == DYN_BLOW_STOPS ? row[k] * v[k] : 0.0;
        for (int c = 0; c < n; c++)
            work->free[r * n + c] = row[work->at[c]];
    }
    return n;
}

/* v+ - v of n free velocities and of those that stop; none at all, rather than no motion ever
 * after, where that is not finite. */
static void tell_change(const unsigned char *held, const double *v, int nv, int n,
                        struct dyn_handover_work *work)
{
    memset(work->change, 0, (size_t)nv * sizeof *work->change);
    if (!dyn_all_finite(work->b, n))
        return;
    for (int r = 0; r < n; r++)
        work->change[work->at[r]] = work->b[r];
    for (int i = 0; i < nv; i++)
        if (held[i] == DYN_BLOW_STOPS)
            work->change[i] = -v[i];
}

/* impulse = M (v+ - v) where held; what goes on does so by work from outside, which is no loss. */
static double tell_impulse(const unsigned char *held, int nv, struct dyn_handover_work *work)
{
    double lost = 0.0;
    for (int i = 0; i < nv; i++) {
        double sum = 0.0;
        for (int k = 0; k < nv; k++)
            sum += work->M[i * nv + k] * work->change[k];
        lost += 0.5 * work->change[i] * sum;
        work->impulse[i] = held[i] == DYN_BLOW_FREE ? 0.0 : sum;
    }
    return lost;
}

void dyn_handover_arrest(const struct dyn_model *to, const unsigned char *held, const double *q,
                         struct dyn_handover_work *work, double *v, double *lost)
{
    const int nv = to->nv;
    dyn_crba(to, &(struct dyn_state){q, v}, work->mass, work->M);
    const int n = gather(work->M, held, v, nv, work);
    dyn_cholesky_factor(n, work->free);
    dyn_cholesky_solve(n, work->free, work->b);
    tell_change(held, v, nv, n, work);
    const double went = tell_impulse(held, nv, work);
    for (int i = 0; i < nv; i++)
        v[i] += work->change[i]; /* what stops is exactly zero then */
    if (lost != NULL)
        *lost = went;
}

const double *dyn_handover_impulse(const struct dyn_handover_work *work)
{
    return work->impulse;
}
