#include "dynamics/weakness.h"

#include <stdint.h>
#include <string.h>

#include "dynamics/cut.h"
#include "dynamics/kinematics.h"
#include "dynamics/work.h"

enum { POSES = 3 };

/* A pivot below this part of what stood there before the elimination is rounding. */
static const double ROUNDING = 1e-13;

struct sweep {
    double *q, *v; /* full coordinates; v is zero */
    struct dyn_work *kernel;
    struct dyn_articulated *A; /* by link: with those further out giving way */
    struct dyn_articulated *B; /* by link: with its children's joints locked */
};

static size_t lay_out(struct sweep *sweep, void *mem, const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count;
    size_t at = 0;
    sweep->q = dyn_cut(mem, &at, (size_t)model->full_nq * sizeof *sweep->q);
    sweep->v = dyn_cut(mem, &at, (size_t)model->full_nv * sizeof *sweep->v);
    sweep->A = dyn_cut(mem, &at, n * sizeof *sweep->A);
    sweep->B = dyn_cut(mem, &at, n * sizeof *sweep->B);
    sweep->kernel = dyn_cut(mem, &at, dyn_work_size(model));
    return at;
}

size_t dyn_weakness_size(const struct dyn_model *model)
{
    struct sweep probe;
    return lay_out(&probe, NULL, model);
}

/* Uniform in [-pi, pi), always the same sequence. */
static double next_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return 3.14159265358979323846 * ((double)(*seed >> 11) * 0x1p-52 - 1.0);
}

/* A pose that no author has in mind, so that what vanishes there vanishes everywhere. */
static void take_pose(const struct dyn_model *model, uint64_t *seed, struct sweep *sweep)
{
    const struct dyn_state state = {sweep->q, sweep->v};
    for (int k = 0; k < model->full_nq; k++)
        sweep->q[k] = next_number(seed);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        double *quat = sweep->q + link->q_at + (link->kind == DYN_LINK_FREE ? 3 : 0);
        if (link->kind == DYN_LINK_FREE || link->kind == DYN_LINK_BALL)
            dyn_quat_store(dyn_quat_unit(dyn_quat_load(quat)), quat);
    }
    dyn_kinematics(model, &state, sweep->kernel);
}

/* Let the joint of link i give way, its velocities one after the other, and hand what is left to
 * the parent.  0 where a velocity meets nothing. */
static int give_way(const struct dyn_model *model, int i, struct sweep *sweep)
{
    const struct dyn_link *link = &model->link[i];
    const struct dyn_transform *X = &sweep->kernel->X[i];
    const int follows = link->v_at >= model->nv;
    struct dyn_articulated A = sweep->A[i];
    const struct dyn_articulated locked = dyn_articulated_to_parent(X, &A);
    struct dyn_articulated left = locked;

    for (int k = 0; k < dyn_link_nv(link) && !follows; k++) {
        double unit[6] = {0.0};
        unit[k] = 1.0;
        const struct dyn_vec6 S = dyn_joint_motion(link, unit);
        const struct dyn_vec6 U = dyn_articulated_mul(&A, &S);
        const struct dyn_vec6 W = dyn_articulated_mul(&sweep->B[i], &S);
        const double D = dyn_dot6(&U, &S) + link->rotor;
        if (!(D > ROUNDING * (dyn_dot6(&W, &S) + link->rotor)))
            return 0;
        struct dyn_vec6 G = dyn_force_to_parent(X, &U);
        G.ang = dyn_add(G.ang, link->rotor_spin);
        A = dyn_articulated_add_square(&A, -1.0 / D, &U);
        left = dyn_articulated_add_square(&left, -1.0 / D, &G);
    }
    if (link->parent >= 0) {
        sweep->A[link->parent] = dyn_articulated_add(&sweep->A[link->parent], &left);
        sweep->B[link->parent] = dyn_articulated_add(&sweep->B[link->parent], &locked);
    }
    return 1;
}

/* From the tips to the root; -1: every joint meets inertia. */
static int weak_body(const struct dyn_model *model, struct sweep *sweep)
{
    for (int i = 0; i < model->link_count; i++)
        sweep->A[i] = sweep->B[i] = dyn_articulated_make(&model->inertia[i]);
    for (int i = model->link_count - 1; i >= 0; i--)
        if (!give_way(model, i, sweep))
            return model->link[i].body;
    return -1;
}

int dyn_model_weakness(const struct dyn_model *model, void *mem)
{
    struct sweep sweep;
    uint64_t seed = 1;
    int body = 0;
    memset(mem, 0, dyn_weakness_size(model));
    lay_out(&sweep, mem, model);
    sweep.kernel = dyn_work_place(model, sweep.kernel);
    for (int k = 0; k < POSES && body >= 0; k++) {
        take_pose(model, &seed, &sweep);
        body = weak_body(model, &sweep);
    }
    return body;
}
