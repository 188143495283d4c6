#include "dynamics/kernel/response.h"

#include <math.h>
#include <string.h>

#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"

static size_t pivot_count(const struct dyn_tree_link *link)
{
    return link->kind == DYN_TREE_LINK_FREE ? 36 : (size_t)dyn_tree_link_nv(link);
}

static size_t most_lanes(const struct dyn_model *model)
{
    int most = 0;
    for (int m = 0; m < model->modal_count; m++)
        most = model->modal[m].lanes > most ? model->modal[m].lanes : most;
    return (size_t)most;
}

static void lay_out_pivots(struct dyn_response *response, void *mem, size_t *at,
                           const struct dyn_model *model)
{
    for (int i = 0; i < model->link_count; i++) {
        double *pivot = dyn_layout_cut(mem, at, pivot_count(&model->link[i]) * sizeof *pivot);
        if (mem != NULL)
            response->pivot[i] = pivot;
    }
    for (int m = 0; m < model->modal_count; m++) {
        double *four = dyn_layout_cut(mem, at, 5 * (size_t)model->modal[m].lanes * sizeof *four);
        if (mem != NULL)
            response->four[m] = four;
    }
}

static size_t lay_out_response(struct dyn_response *response, void *mem,
                               const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count, nv = (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *response);
    response->link_of = dyn_layout_cut(mem, &at, nv * sizeof *response->link_of);
    response->known = dyn_layout_cut(mem, &at, n * sizeof *response->known);
    response->moves = dyn_layout_cut(mem, &at, (n + 1) * sizeof *response->moves);
    response->pivot = dyn_layout_cut(mem, &at, n * sizeof *response->pivot);
    response->four = dyn_layout_cut(mem, &at, (size_t)model->modal_count * sizeof *response->four);
    response->f = dyn_layout_cut(mem, &at, most_lanes(model) * sizeof *response->f);
    response->a = dyn_layout_cut(mem, &at, (n + 1) * sizeof *response->a);
    lay_out_pivots(response, mem, &at, model);
    return at;
}

size_t dyn_response_size(const struct dyn_model *model)
{
    struct dyn_response probe;
    return lay_out_response(&probe, NULL, model);
}

struct dyn_response *dyn_response_place(const struct dyn_model *model, void *mem)
{
    struct dyn_response *response = mem;
    memset(mem, 0, dyn_response_size(model));
    lay_out_response(response, mem, model);
    response->model = model;
    response->a++;
    response->moves++;
    for (int i = 0; i < model->link_count; i++)
        for (int k = 0; k < dyn_tree_link_nv(&model->link[i]); k++)
            response->link_of[model->link[i].v_at + k] = i;
    return response;
}

/* ---- pivots ---- */

static struct dyn_vec3 vec3_of_row(const struct dyn_row *r)
{
    return dyn_vec3_load(r->e);
}

static int is_velocity_held(const struct dyn_response *response, int v)
{
    return response->held != NULL && response->held[v];
}

/* A free link none of whose velocities is held: the kernel eliminates all six at once. */
static int is_unheld_free(const struct dyn_response *response, const struct dyn_tree_link *link)
{
    int held = 0;
    for (int k = 0; response->held != NULL && k < dyn_tree_link_nv(link); k++)
        held += response->held[link->v_at + k];
    return link->kind == DYN_TREE_LINK_FREE && held == 0;
}

/* Where joints are held, no hinge is treated together with its node. */
static int uses_pass(const struct dyn_response *response, const struct dyn_tree_link *link,
                     enum dyn_tree_link_pass pass)
{
    return response->held == NULL && link->pass == pass;
}

/* L of the articulated inertia [ I H ; H' M ], world axes. */
static void factor_free(const struct dyn_tree_link_work *L, double *A)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            A[r * 6 + c] = L->I[c].e[r];
            A[(r + 3) * 6 + c] = L->H[c].e[r];
            A[(r + 3) * 6 + c + 3] = L->M[c].e[r];
        }
    dyn_cholesky_factor(6, A);
}

/* S' A S and the rotor's, with S = [turn z; pitch z]. */
static double one_pivot(const struct dyn_tree_link *link, const struct dyn_tree_link_work *L)
{
    const struct dyn_vec3 z = vec3_of_row(&L->R[2]);
    const double turn = dyn_tree_link_turns(link) ? 1.0 : 0.0, pitch = link->pitch;
    double II = 0.0, HH = 0.0, MM = 0.0;
    for (int k = 0; k < 3; k++) {
        II += L->R[2].e[k] * dyn_dot(vec3_of_row(&L->I[k]), z);
        HH += L->R[2].e[k] * dyn_dot(vec3_of_row(&L->H[k]), z);
        MM += L->R[2].e[k] * dyn_dot(vec3_of_row(&L->M[k]), z);
    }
    return turn * II + pitch * (2.0 * turn * HH + pitch * MM) + link->rotor;
}

/* The kernel has only what is above the diagonal. */
static void factor_fours(const struct dyn_modal_link *modal, const double *F, double *four)
{
    for (int b = 0; b < modal->lanes; b += 4) {
        for (int r = 0; r < 4; r++)
            for (int c = 0; c <= r; c++)
                four[4 * b + 4 * r + c] = F[4 * b + 4 * c + r];
        dyn_cholesky_factor(4, four + 4 * b);
    }
}

/* Extend the range of velocities in which w is not zero. */
static void extend_support(struct dyn_response *response, int v_at, int count)
{
    if (count > 0 && v_at < response->first)
        response->first = v_at;
    if (v_at + count > response->last)
        response->last = v_at + count;
}

static void find_modal_pivots(struct dyn_response *response, int m)
{
    const struct dyn_modal_link *modal = &response->model->modal[m];
    extend_support(response, modal->v_at, modal->modes);
    factor_fours(modal, response->kernel->modal[m].F, response->four[m]);
}

static void find_pivots(struct dyn_response *response, int i)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    const int nv = dyn_tree_link_nv(link);
    double *pivot = response->pivot[i];

    if (response->known[i])
        return;
    response->known[i] = 1;
    extend_support(response, link->v_at, nv);
    if (link->modal >= 0)
        find_modal_pivots(response, link->modal);
    if (is_unheld_free(response, link))
        factor_free(L, pivot);
    else if (nv == 1)
        pivot[0] = sqrt(1.0 / one_pivot(link, L));
    else
        for (int k = 0; k < nv; k++)
            pivot[k] = sqrt(response->kernel->column[link->v_at + k].D_inv);
}

void dyn_response_begin(const unsigned char *held, const struct dyn_work *kernel,
                        struct dyn_response *response)
{
    response->held = held;
    response->kernel = kernel;
    response->first = response->model->nv;
    response->last = 0;
    memset(response->known, 0, (size_t)response->model->link_count);
}

/* ---- inward: p is the bias force that is left at the link's origin ---- */

/* p += s g */
static struct dyn_vec6 add_scaled_gain(struct dyn_vec6 p, double s, const struct dyn_row *ga,
                                       const struct dyn_row *gl)
{
    return (struct dyn_vec6){dyn_add(p.ang, dyn_scale(s, vec3_of_row(ga))),
                             dyn_add(p.lin, dyn_scale(s, vec3_of_row(gl)))};
}

/* Eliminate the modes of a link, on which f acts. */
static struct dyn_vec6 pass_modes(const struct dyn_response *response, int m, struct dyn_vec6 p,
                                  double *w)
{
    const struct dyn_modal_link *modal = &response->model->modal[m];
    const struct dyn_modal_work *work = &response->kernel->modal[m];
    const int lanes = modal->lanes;
    double *f = response->f;
    for (int b = 0; b < lanes; b += 4) {
        for (int k = 0; k < 4; k++) {
            const double *D = work->D + (b + k) * lanes, *Y = D + b, *Z = work->Z + 4 * (b + k);
            const double s = f[b + k];
            p.ang = dyn_sub(p.ang, dyn_scale(s, dyn_vec3_load(Y)));
            p.lin = dyn_sub(p.lin, dyn_scale(s, dyn_vec3_load(Z)));
            for (int h = b + 4; h < lanes; h++)
                f[h] -= D[h] * s;
        }
        dyn_cholesky_solve_lower(4, response->four[m] + 4 * b, f + b);
    }
    for (int k = 0; k < modal->modes; k++)
        w[modal->v_at + k] = -f[k];
    return p;
}

/* The force of p on the modes under a node. */
static void add_modal_force(const struct dyn_response *response, int node, const struct dyn_vec6 *p)
{
    const int lanes = response->model->modal[response->model->node[node].modal].lanes;
    const double *X = response->kernel->node[node];
    const double c[6] = {p->ang.x, p->ang.y, p->ang.z, p->lin.x, p->lin.y, p->lin.z};
    double *f = response->f;
    for (int k = 0; k < lanes; k++)
        f[k] = c[0] * X[k] + c[1] * X[lanes + k] + c[2] * X[2 * lanes + k] +
               c[3] * X[3 * lanes + k] + c[4] * X[4 * lanes + k] + c[5] * X[5 * lanes + k];
}

/* From the link's own origin to the parent's.  A hinge that is treated with its node stays at its
 * origin, and the node has the arm of both. */
static struct dyn_vec6 pass_one(const struct dyn_response *response, int i, double tau,
                                struct dyn_vec6 p, double *w)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    const struct dyn_vec3 z = vec3_of_row(&L->R[2]);
    const double turn = dyn_tree_link_turns(link) ? 1.0 : 0.0;
    const double u = tau - turn * dyn_dot(z, p.ang) - link->pitch * dyn_dot(z, p.lin);
    w[link->v_at] = response->pivot[i][0] * u;
    if (!uses_pass(response, link, DYN_PASS_LONE_REVOLUTE))
        p = dyn_force_shift(&p, vec3_of_row(&L->r));
    return add_scaled_gain(p, u, &L->ga, &L->gl);
}

static struct dyn_vec6 pass_columns(const struct dyn_response *response, int i, const double *tau,
                                    struct dyn_vec6 p, double *w)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    for (int k = 0; k < dyn_tree_link_nv(link); k++) {
        const struct dyn_column_work *column = &response->kernel->column[link->v_at + k];
        const double u = tau[k] - dyn_dot(vec3_of_row(&L->R[k % 3]), k < 3 ? p.ang : p.lin);
        w[link->v_at + k] = response->pivot[i][k] * u;
        p = add_scaled_gain(p, u, &column->ga, &column->gl);
    }
    return dyn_force_shift(&p, vec3_of_row(&L->r));
}

/* Only the force of the joint acts on the parent. */
static struct dyn_vec6 pass_free(const struct dyn_response *response, int i, const double *tau,
                                 struct dyn_vec6 p, double *w)
{
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    double *u = w + response->model->link[i].v_at;
    struct dyn_vec6 own = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int k = 0; k < 3; k++) {
        own.ang = dyn_add(own.ang, dyn_scale(tau[k], vec3_of_row(&L->R[k])));
        own.lin = dyn_add(own.lin, dyn_scale(tau[k + 3], vec3_of_row(&L->R[k])));
    }
    dyn_vec3_store(dyn_sub(own.ang, p.ang), u);
    dyn_vec3_store(dyn_sub(own.lin, p.lin), u + 3);
    dyn_cholesky_solve_lower(6, response->pivot[i], u);
    return dyn_force_shift(&own, vec3_of_row(&L->r));
}

static struct dyn_vec6 pass_joint(const struct dyn_response *response, int i, const double *tau,
                                  struct dyn_vec6 p, double *w)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    const int nv = dyn_tree_link_nv(link);
    if (is_unheld_free(response, link))
        return pass_free(response, i, tau, p, w);
    if (nv > 1)
        return pass_columns(response, i, tau, p, w);
    if (nv == 1 && !is_velocity_held(response, link->v_at))
        return pass_one(response, i, tau[0], p, w);
    if (link->node >= 0)
        add_modal_force(response, link->node, &p);
    return dyn_force_shift(
        &p, vec3_of_row(uses_pass(response, link, DYN_PASS_LONE_NODE) ? &L->ga : &L->r));
}

/* From link i to the root, with forces tau on the joint of that link. */
static void pass_to_root(struct dyn_response *response, int i, const double *tau, struct dyn_vec6 p,
                         double *w)
{
    static const double none[6];
    const struct dyn_model *model = response->model;
    int bends = 0;
    memset(w, 0, (size_t)model->nv * sizeof *w);
    for (; i >= 0; i = model->link[i].parent, tau = none) {
        find_pivots(response, i);
        if (bends)
            p = pass_modes(response, model->link[i].modal, p, w);
        p = pass_joint(response, i, tau, p, w);
        bends = model->link[i].node >= 0;
    }
}

void dyn_response_of_joint_force(struct dyn_response *response, int v, double *w)
{
    const int i = response->link_of[v];
    double tau[6] = {0.0};
    tau[v - response->model->link[i].v_at] = 1.0;
    pass_to_root(response, i, tau, (struct dyn_vec6){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, w);
}

void dyn_response_of_link_force(struct dyn_response *response, int link,
                                const struct dyn_vec6 *force, double *w)
{
    static const double none[6];
    pass_to_root(response, link, none,
                 (struct dyn_vec6){dyn_scale(-1.0, force->ang), dyn_scale(-1.0, force->lin)}, w);
}

/* ---- outward ---- */

static double project_gain(const struct dyn_row *ga, const struct dyn_row *gl,
                           const struct dyn_vec6 *a)
{
    return dyn_dot(vec3_of_row(ga), a->ang) + dyn_dot(vec3_of_row(gl), a->lin);
}

static double known_w(const struct dyn_response *response, int i, int k, const double *w)
{
    return response->known[i] ? response->pivot[i][k] * w[response->model->link[i].v_at + k] : 0.0;
}

static struct dyn_vec6 accelerate_axial(const struct dyn_response *response, int i,
                                        struct dyn_vec6 on, const double *w, double *qdd)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    const struct dyn_vec3 z = vec3_of_row(&L->R[2]);
    const double x = known_w(response, i, 0, w) - project_gain(&L->ga, &L->gl, &on);
    struct dyn_vec6 a = on;
    if (!uses_pass(response, link, DYN_PASS_LONE_REVOLUTE))
        a = dyn_motion_shift(&on, vec3_of_row(&L->r));
    if (dyn_tree_link_turns(link))
        a.ang = dyn_add(a.ang, dyn_scale(x, z));
    a.lin = dyn_add(a.lin, dyn_scale(link->pitch * x, z));
    qdd[0] += x;
    return a;
}

static struct dyn_vec6 accelerate_columns(const struct dyn_response *response, int i,
                                          struct dyn_vec6 a, const double *w, double *qdd)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    a = dyn_motion_shift(&a, vec3_of_row(&L->r));
    for (int k = dyn_tree_link_nv(link) - 1; k >= 0; k--) {
        const struct dyn_column_work *column = &response->kernel->column[link->v_at + k];
        struct dyn_vec3 *part = k < 3 ? &a.ang : &a.lin;
        if (is_velocity_held(response, link->v_at + k))
            continue;
        const double x = known_w(response, i, k, w) - project_gain(&column->ga, &column->gl, &a);
        *part = dyn_add(*part, dyn_scale(x, vec3_of_row(&L->R[k % 3])));
        qdd[k] += x;
    }
    return a;
}

static struct dyn_vec6 accelerate_free(const struct dyn_response *response, int i,
                                       struct dyn_vec6 on, const double *w, double *qdd)
{
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    double u[6] = {0.0};
    if (response->known[i]) {
        memcpy(u, w + response->model->link[i].v_at, sizeof u);
        dyn_cholesky_solve_upper(6, response->pivot[i], u);
    }
    const struct dyn_vec6 a = {dyn_vec3_load(u), dyn_vec3_load(u + 3)};
    const struct dyn_vec6 carried = dyn_motion_shift(&on, vec3_of_row(&L->r));
    for (int k = 0; k < 3; k++) {
        qdd[k] += dyn_dot(vec3_of_row(&L->R[k]), dyn_sub(a.ang, carried.ang));
        qdd[k + 3] += dyn_dot(vec3_of_row(&L->R[k]), dyn_sub(a.lin, carried.lin));
    }
    return a;
}

static double *modal_response(const struct dyn_response *response, int m)
{
    return response->four[m] + 4 * response->model->modal[m].lanes;
}

/* The accelerations of the modes of a link whose origin accelerates by a. */
static void accelerate_modes(const struct dyn_response *response, int m, const struct dyn_vec6 *a,
                             const double *w, double *out)
{
    const struct dyn_modal_link *modal = &response->model->modal[m];
    const struct dyn_modal_work *work = &response->kernel->modal[m];
    const int lanes = modal->lanes;
    double *x = modal_response(response, m);
    for (int k = 0; k < lanes; k++)
        x[k] = response->known[modal->link] && k < modal->modes ? w[modal->v_at + k] : 0.0;
    for (int b = lanes - 4; b >= 0; b -= 4) {
        if (response->known[modal->link])
            dyn_cholesky_solve_upper(4, response->four[m] + 4 * b, x + b);
        for (int k = 0; k < 4; k++) {
            const double *D = work->D + (b + k) * lanes;
            x[b + k] -= dyn_dot(dyn_vec3_load(D + b), a->ang) +
                        dyn_dot(dyn_vec3_load(work->Z + 4 * (b + k)), a->lin);
            for (int h = b + 4; h < lanes; h++)
                x[b + k] -= D[h] * x[h];
        }
    }
    for (int k = 0; k < modal->modes; k++)
        out[modal->v_at + k] += x[k];
}

static struct dyn_vec6 accelerate_node(const struct dyn_response *response, int i,
                                       struct dyn_vec6 on)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const struct dyn_tree_link_work *L = &response->kernel->link[i];
    const int m = response->model->node[link->node].modal;
    const int lanes = response->model->modal[m].lanes;
    const double *X = response->kernel->node[link->node], *x = modal_response(response, m);
    double sum[6] = {0.0};
    for (int c = 0; c < 6; c++)
        for (int k = 0; k < lanes; k++)
            sum[c] += X[c * lanes + k] * x[k];
    const struct dyn_vec6 swing = {dyn_vec3_load(sum), dyn_vec3_load(sum + 3)};
    on = dyn_motion_shift(
        &on, vec3_of_row(uses_pass(response, link, DYN_PASS_LONE_NODE) ? &L->ga : &L->r));
    return dyn_add6(&on, &swing);
}

static struct dyn_vec6 accelerate_joint(const struct dyn_response *response, int i,
                                        struct dyn_vec6 on, const double *w, double *qdd)
{
    const struct dyn_tree_link *link = &response->model->link[i];
    const int nv = dyn_tree_link_nv(link);
    if (is_unheld_free(response, link))
        return accelerate_free(response, i, on, w, qdd);
    if (nv > 1)
        return accelerate_columns(response, i, on, w, qdd);
    if (nv == 1 && !is_velocity_held(response, link->v_at))
        return accelerate_axial(response, i, on, w, qdd);
    if (link->node >= 0)
        return accelerate_node(response, i, on);
    return dyn_motion_shift(&on, vec3_of_row(&response->kernel->link[i].r));
}

void dyn_response_add_acceleration(struct dyn_response *response, const double *w, double *a)
{
    const struct dyn_model *model = response->model;
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        response->moves[i] = response->known[i] || response->moves[link->parent];
        if (!response->moves[i])
            continue;
        response->a[i] =
            accelerate_joint(response, i, response->a[link->parent], w, a + link->v_at);
        if (link->modal >= 0)
            accelerate_modes(response, link->modal, &response->a[i], w, a);
    }
}
