/* Tested by tests/dynamics/flex/test_flex_linear.c. */
#include "dynamics/flex/modal_shape_derivative.h"

/* ---- forces of the link itself ---- */

/* Of W_p, and of dW_p / deta_q. */
static struct dyn_mat3 spin_matrix(const struct dyn_modal_link *modal, const double *eta, int p)
{
    const struct dyn_mat3 W = dyn_modal_shape_W(modal, eta, p);
    return dyn_modal_shape_inertia_of_W(&W);
}

static struct dyn_mat3 pair_matrix(const struct dyn_modal_link *modal, int p, int q)
{
    return dyn_modal_shape_pair_matrix(modal->W1, modal->lanes, p, q);
}

/* m a + m' a */
static struct dyn_vec3 mul_plus_transpose(const struct dyn_mat3 *m, struct dyn_vec3 a)
{
    return dyn_add(dyn_mul(m, a), dyn_mul_t(m, a));
}

/* The change of the inertia forces of the link with eta_j: dmc = P_j, dI = T + T' with T = tr(W_j)
 * 1 - W_j. */
static struct dyn_vec6 inertia_force_q(const struct dyn_modal_link *modal,
                                       const struct dyn_modal_shape_motion *at, int j)
{
    const struct dyn_mat3 T = spin_matrix(modal, at->eta, j);
    const struct dyn_vec3 mc = dyn_modal_shape_P(modal, at->eta, j), w = at->w;
    return (struct dyn_vec6){
        dyn_add(dyn_add(mul_plus_transpose(&T, at->a.ang), dyn_cross(mc, at->a.lin)),
                dyn_cross(w, mul_plus_transpose(&T, w))),
        dyn_add(dyn_cross(at->a.ang, mc), dyn_cross(w, dyn_cross(w, mc))),
    };
}

struct dyn_vec6 dyn_modal_shape_force_dq(const struct dyn_modal_link *modal,
                                         const struct dyn_modal_shape_motion *at, int j)
{
    const struct dyn_vec6 none = {0};
    if (!modal->deforms)
        return none;
    struct dyn_vec6 f = inertia_force_q(modal, at, j);
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_mat3 W = pair_matrix(modal, p, j), T = dyn_modal_shape_inertia_of_W(&W);
        const struct dyn_vec3 P = dyn_modal_shape_pair(modal->P1, modal->lanes, p, j);
        const struct dyn_vec6 by_accel = {dyn_axial(&W), P};
        const struct dyn_vec6 by_rate = {dyn_mul(&T, at->w), dyn_cross(at->w, P)};
        f = dyn_axpy6(&f, at->accel[p], &by_accel);
        f = dyn_axpy6(&f, 2.0 * at->xi[p], &by_rate);
    }
    return f;
}

/* The force of a turning d together with the rate of mode p: that which goes with xi_p, and the
 * same again from the acceleration 2 d x u. */
static struct dyn_vec6 rate_force(const struct dyn_modal_link *modal,
                                  const struct dyn_modal_shape_motion *at, struct dyn_vec3 d, int p)
{
    const struct dyn_mat3 T = spin_matrix(modal, at->eta, p);
    const struct dyn_vec3 S = dyn_modal_shape_pair(modal->S, modal->lanes, p, 0);
    return (struct dyn_vec6){dyn_add(dyn_scale(2.0, dyn_mul(&T, d)), dyn_cross(d, S)),
                             dyn_scale(2.0, dyn_cross(d, dyn_modal_shape_P(modal, at->eta, p)))};
}

struct dyn_vec6 dyn_modal_shape_force_dv(const struct dyn_modal_link *modal,
                                         const struct dyn_modal_shape_motion *at, int j)
{
    const struct dyn_vec6 none = {0};
    if (!modal->deforms)
        return none;
    const struct dyn_vec6 f = rate_force(modal, at, at->w, j);
    const struct dyn_vec6 drawn = {dyn_modal_shape_sum(modal, modal->G1, j, at->xi),
                                   dyn_modal_shape_sum(modal, modal->P1, j, at->xi)};
    return dyn_axpy6(&f, 2.0, &drawn);
}

struct dyn_vec6 dyn_modal_shape_force_dw(const struct dyn_modal_link *modal,
                                         const struct dyn_modal_shape_motion *at, struct dyn_vec3 d)
{
    struct dyn_vec6 f = {0};
    for (int p = 0; modal->deforms && p < modal->modes; p++) {
        const struct dyn_vec6 own = rate_force(modal, at, d, p);
        f = dyn_axpy6(&f, at->xi[p], &own);
    }
    return f;
}

/* ---- what the modes need ---- */

double dyn_modal_shape_tau_dq(const struct dyn_modal_link *modal,
                              const struct dyn_modal_shape_motion *at, int p, int j)
{
    const double spring = modal->K[j * modal->lanes + p];
    if (!modal->deforms)
        return spring;
    const struct dyn_mat3 W = pair_matrix(modal, p, j), T = dyn_modal_shape_inertia_of_W(&W);
    return spring + dyn_dot(dyn_modal_shape_pair(modal->P1, modal->lanes, p, j), at->a.lin) +
           dyn_dot(dyn_axial(&W), at->a.ang) - dyn_dot(at->w, dyn_mul(&T, at->w));
}

double dyn_modal_shape_tau_dv(const struct dyn_modal_link *modal,
                              const struct dyn_modal_shape_motion *at, int p, int j)
{
    const double damper = modal->C[j * modal->lanes + p];
    if (!modal->deforms)
        return damper;
    return damper + 2.0 * dyn_dot(at->w, dyn_modal_shape_pair(modal->Y1, modal->lanes, p, j));
}

struct dyn_vec3 dyn_modal_shape_tau_dw(const struct dyn_modal_link *modal,
                                       const struct dyn_modal_shape_motion *at, int p)
{
    const struct dyn_mat3 T = spin_matrix(modal, at->eta, p);
    struct dyn_vec3 n = dyn_sub(dyn_cross(at->w, dyn_modal_shape_H(modal, at->eta, p)),
                                mul_plus_transpose(&T, at->w));
    n = dyn_add(n, dyn_scale(2.0, dyn_cross(at->u, dyn_modal_shape_P(modal, at->eta, p))));
    if (!modal->deforms)
        return n;
    return dyn_add(n, dyn_scale(2.0, dyn_modal_shape_sum(modal, modal->Y1, p, at->xi)));
}

/* ---- nodes ---- */

/* a_p + sum_q a1_pq by_q of a node's table. */
static struct dyn_vec3 value_at(const struct dyn_modal_link *modal, const double *table,
                                const double *table1, const double *eta, int p)
{
    return dyn_add(dyn_modal_shape_pair(table, modal->lanes, p, 0),
                   dyn_modal_shape_sum(modal, table1, p, eta));
}

/* The first and second time derivative of the sum of a table. */
static void add_path(const struct dyn_modal_link *modal, const double *table, const double *table1,
                     const struct dyn_modal_shape_motion *at, struct dyn_vec3 *rate,
                     struct dyn_vec3 *accel)
{
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec3 a = value_at(modal, table, table1, at->eta, p);
        const struct dyn_vec3 a_rate = dyn_modal_shape_sum(modal, table1, p, at->xi);
        *rate = dyn_add(*rate, dyn_scale(at->xi[p], a));
        *accel = dyn_add(*accel, dyn_scale(at->accel[p], a));
        *accel = dyn_add(*accel, dyn_scale(at->xi[p], a_rate));
    }
}

struct dyn_modal_shape_path dyn_modal_shape_path(const struct dyn_model *model, int node,
                                                 const struct dyn_modal_shape_motion *at)
{
    const struct dyn_modal_node *n = &model->node[node];
    const struct dyn_modal_link *modal = &model->modal[n->modal];
    struct dyn_modal_shape_path path = {.theta =
                                            dyn_modal_shape_node(model, node, at->eta, NULL).theta};

    add_path(modal, n->theta, n->theta1, at, &path.theta_rate, &path.theta_accel);
    add_path(modal, n->psi, n->psi1, at, &path.u_rate, &path.u_accel);
    const double s = 1.0 / (1.0 + 0.25 * dyn_dot(path.theta, path.theta));
    const double grown = dyn_dot(path.theta, path.theta_rate);
    path.s = s;
    path.s_rate = -0.5 * s * s * grown;
    path.s_accel = 0.5 * s * s *
                   (s * grown * grown - dyn_dot(path.theta_rate, path.theta_rate) -
                    dyn_dot(path.theta, path.theta_accel));
    return path;
}

/* a + theta x b / 2 */
static struct dyn_vec3 half_cross(struct dyn_vec3 a, struct dyn_vec3 theta, struct dyn_vec3 b)
{
    return dyn_add(a, dyn_scale(0.5, dyn_cross(theta, b)));
}

/* x a + y b */
static struct dyn_vec3 combine(double x, struct dyn_vec3 a, double y, struct dyn_vec3 b)
{
    return dyn_add(dyn_scale(x, a), dyn_scale(y, b));
}

/* The angular half is s g with g = theta_p + theta x theta_p / 2; the linear one is psi_p at an
 * origin that moves by itself. */
struct dyn_modal_column_rate dyn_modal_shape_column_rate(const struct dyn_model *model, int node,
                                                         const struct dyn_modal_shape_motion *at,
                                                         const struct dyn_modal_shape_path *path,
                                                         int p)
{
    const struct dyn_modal_node *n = &model->node[node];
    const struct dyn_modal_link *modal = &model->modal[n->modal];
    const struct dyn_vec3 t = value_at(modal, n->theta, n->theta1, at->eta, p);
    const struct dyn_vec3 t_rate = dyn_modal_shape_sum(modal, n->theta1, p, at->xi);
    const struct dyn_vec3 t_accel = dyn_modal_shape_sum(modal, n->theta1, p, at->accel);
    const struct dyn_vec3 g = half_cross(t, path->theta, t);
    const struct dyn_vec3 g_rate =
        half_cross(half_cross(t_rate, path->theta, t_rate), path->theta_rate, t);
    const struct dyn_vec3 g_accel =
        dyn_add(half_cross(half_cross(t_accel, path->theta, t_accel), path->theta_accel, t),
                dyn_cross(path->theta_rate, t_rate));
    const struct dyn_vec3 w = dyn_scale(path->s, g);
    const struct dyn_vec3 w_rate = combine(path->s_rate, g, path->s, g_rate);
    const struct dyn_vec3 w_accel =
        dyn_add(combine(path->s_accel, g, path->s, g_accel), dyn_scale(2.0 * path->s_rate, g_rate));
    const struct dyn_vec3 swung =
        dyn_add(dyn_scale(2.0, dyn_cross(w_rate, path->u_rate)), dyn_cross(w, path->u_accel));
    return (struct dyn_modal_column_rate){
        .rate = {w_rate, dyn_sub(dyn_modal_shape_sum(modal, n->psi1, p, at->xi),
                                 dyn_cross(w, path->u_rate))},
        .accel = {w_accel, dyn_sub(dyn_modal_shape_sum(modal, n->psi1, p, at->accel), swung)},
    };
}

struct dyn_vec6 dyn_modal_shape_column_dq(const struct dyn_model *model, int node,
                                          const struct dyn_modal_shape_motion *at,
                                          const struct dyn_modal_shape_path *path, int p, int q)
{
    const struct dyn_modal_node *n = &model->node[node];
    const struct dyn_modal_link *modal = &model->modal[n->modal];
    const struct dyn_vec3 t = value_at(modal, n->theta, n->theta1, at->eta, p);
    const struct dyn_vec3 along = value_at(modal, n->theta, n->theta1, at->eta, q);
    const struct dyn_vec3 t_q = dyn_modal_shape_pair(n->theta1, modal->lanes, p, q);
    const struct dyn_vec3 g = half_cross(t, path->theta, t);
    const struct dyn_vec3 g_q = half_cross(half_cross(t_q, path->theta, t_q), along, t);
    const double s_q = -0.5 * path->s * path->s * dyn_dot(path->theta, along);
    const struct dyn_vec3 travel = value_at(modal, n->psi, n->psi1, at->eta, q);
    return (struct dyn_vec6){
        combine(s_q, g, path->s, g_q),
        dyn_sub(dyn_modal_shape_pair(n->psi1, modal->lanes, p, q),
                dyn_cross(dyn_scale(path->s, g), travel)),
    };
}
