/* Tested by tests/dynamics/flex/test_flex.c and test_flex_reference.c. */
#include "dynamics/flex/modal_shape.h"

void dyn_modal_shape_load(const struct dyn_model *model, const double *q, const double *v,
                          struct dyn_work *work)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++) {
            work->modal[m].eta[p] = q[modal->q_at + p];
            work->modal[m].xi[p] = v[modal->v_at + p];
        }
    }
}

struct dyn_vec3 dyn_modal_shape_sum(const struct dyn_modal_link *modal, const double *table, int p,
                                    const double *by)
{
    struct dyn_vec3 sum = {0.0, 0.0, 0.0};
    for (int q = 0; q < modal->modes; q++)
        sum = dyn_add(sum, dyn_scale(by[q], dyn_modal_shape_pair(table, modal->lanes, p, q)));
    return sum;
}

/* a_p + sum_q a1_pq eta_q */
static struct dyn_vec3 value_at(const double *a, const double *a1,
                                const struct dyn_modal_link *modal, const double *eta, int p)
{
    const struct dyn_vec3 first = dyn_modal_shape_pair(a, modal->lanes, p, 0);
    if (!modal->deforms)
        return first;
    return dyn_add(first, dyn_modal_shape_sum(modal, a1, p, eta));
}

struct dyn_vec3 dyn_modal_shape_P(const struct dyn_modal_link *modal, const double *eta, int p)
{
    return value_at(modal->P, modal->P1, modal, eta, p);
}

/* m += k a */
static void add_matrix(struct dyn_mat3 *m, double k, const struct dyn_mat3 *a)
{
    for (int r = 0; r < 3; r++)
        m->row[r] = dyn_add(m->row[r], dyn_scale(k, a->row[r]));
}

struct dyn_mat3 dyn_modal_shape_W(const struct dyn_modal_link *modal, const double *eta, int p)
{
    struct dyn_mat3 W = dyn_modal_shape_pair_matrix(modal->L, modal->lanes, p, 0);
    for (int q = 0; modal->deforms && q < modal->modes; q++) {
        const struct dyn_mat3 W1 = dyn_modal_shape_pair_matrix(modal->W1, modal->lanes, p, q);
        add_matrix(&W, eta[q], &W1);
    }
    return W;
}

struct dyn_vec3 dyn_modal_shape_H(const struct dyn_modal_link *modal, const double *eta, int p)
{
    const struct dyn_mat3 W = dyn_modal_shape_W(modal, eta, p);
    return dyn_add(dyn_axial(&W), dyn_modal_shape_pair(modal->S, modal->lanes, p, 0));
}

/* Z of flex.h, of which only the symmetric part has a meaning: sum eta_p (W_p + L_p'). */
static struct dyn_mat3 second_moment_of(const struct dyn_modal_link *modal, const double *eta)
{
    struct dyn_mat3 Z = {0};
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_mat3 W = dyn_modal_shape_W(modal, eta, p);
        const struct dyn_mat3 L = dyn_modal_shape_pair_matrix(modal->L, modal->lanes, p, 0);
        const struct dyn_mat3 Wt = dyn_mat3_transpose(&W), Lt = dyn_mat3_transpose(&L);
        const double half = 0.5 * eta[p];
        add_matrix(&Z, half, &W);
        add_matrix(&Z, half, &Wt);
        add_matrix(&Z, half, &L);
        add_matrix(&Z, half, &Lt);
    }
    return Z;
}

struct dyn_inertia dyn_modal_shape_inertia(const struct dyn_modal_link *modal, const double *eta,
                                           const struct dyn_inertia *straight)
{
    struct dyn_inertia J = *straight;
    if (!modal->deforms)
        return J;
    const struct dyn_mat3 Z = second_moment_of(modal, eta);
    const double x = Z.row[0].x, y = Z.row[1].y, z = Z.row[2].z;
    const struct dyn_sym3 more = {y + z, x + z, x + y, -Z.row[0].y, -Z.row[0].z, -Z.row[1].z};
    J.I = dyn_sym3_add(&J.I, &more);
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec3 P = dyn_modal_shape_P(modal, eta, p);
        const struct dyn_vec3 P0 = dyn_modal_shape_pair(modal->P, modal->lanes, p, 0);
        J.mc = dyn_add(J.mc, dyn_scale(0.5 * eta[p], dyn_add(P, P0)));
    }
    return J;
}

struct dyn_inertia dyn_modal_shape_link_inertia(const struct dyn_model *model,
                                                const struct dyn_work *work, int link)
{
    const int m = model->link[link].modal;
    if (m < 0)
        return model->inertia[link];
    return dyn_modal_shape_inertia(&model->modal[m], work->modal[m].eta, &model->inertia[link]);
}

/* ---- nodes ---- */

/* s (a + theta x a / 2): a rate of theta as an angular velocity. */
static struct dyn_vec3 angular_velocity_of(struct dyn_vec3 theta, struct dyn_vec3 a)
{
    const double s = 1.0 / (1.0 + 0.25 * dyn_dot(theta, theta));
    return dyn_scale(s, dyn_add(a, dyn_scale(0.5, dyn_cross(theta, a))));
}

static struct dyn_vec3 psi_of(const struct dyn_modal_link *modal, const struct dyn_modal_node *node,
                              const double *eta, int p)
{
    return value_at(node->psi, node->psi1, modal, eta, p);
}

static struct dyn_vec3 theta_of(const struct dyn_modal_link *modal,
                                const struct dyn_modal_node *node, const double *eta, int p)
{
    return value_at(node->theta, node->theta1, modal, eta, p);
}

/* Half of what is linear in eta twice, and all of what is so once. */
static struct dyn_vec3 mean_shape(struct dyn_vec3 bent_shape, const double *table, int lanes, int p)
{
    return dyn_scale(0.5, dyn_add(bent_shape, dyn_modal_shape_pair(table, lanes, p, 0)));
}

/* Its displacement. */
static void place_node_at(const struct dyn_modal_link *modal, const struct dyn_modal_node *n,
                          const double *eta, struct dyn_modal_shape_node *at)
{
    const int lanes = modal->lanes;
    for (int p = 0; modal->deforms && p < modal->modes; p++) {
        const struct dyn_vec3 psi = psi_of(modal, n, eta, p), theta = theta_of(modal, n, eta, p);
        at->u = dyn_add(at->u, dyn_scale(eta[p], mean_shape(psi, n->psi, lanes, p)));
        at->theta = dyn_add(at->theta, dyn_scale(eta[p], mean_shape(theta, n->theta, lanes, p)));
    }
}

struct dyn_modal_shape_node dyn_modal_shape_node(const struct dyn_model *model, int node,
                                                 const double *eta, const double *xi)
{
    const struct dyn_modal_node *n = &model->node[node];
    const struct dyn_modal_link *modal = &model->modal[n->modal];
    struct dyn_modal_shape_node at = {0};
    struct dyn_vec3 rate = {0.0, 0.0, 0.0}, bend = {0.0, 0.0, 0.0};

    place_node_at(modal, n, eta, &at);
    for (int p = 0; xi != NULL && p < modal->modes; p++) {
        at.travel = dyn_add(at.travel, dyn_scale(xi[p], psi_of(modal, n, eta, p)));
        rate = dyn_add(rate, dyn_scale(xi[p], theta_of(modal, n, eta, p)));
        at.accel = dyn_add(at.accel, dyn_scale(xi[p], dyn_modal_shape_sum(modal, n->psi1, p, xi)));
        bend = dyn_add(bend, dyn_scale(xi[p], dyn_modal_shape_sum(modal, n->theta1, p, xi)));
    }
    at.w = angular_velocity_of(at.theta, rate);
    /* the factor s of w has a rate of its own */
    const double s = 1.0 / (1.0 + 0.25 * dyn_dot(at.theta, at.theta));
    at.alpha = dyn_sub(angular_velocity_of(at.theta, bend),
                       dyn_scale(0.5 * s * dyn_dot(at.theta, rate), at.w));
    return at;
}

struct dyn_vec6 dyn_modal_shape_column(const struct dyn_model *model, int node, const double *eta,
                                       const struct dyn_modal_shape_node *at, int p)
{
    const struct dyn_modal_node *n = &model->node[node];
    const struct dyn_modal_link *modal = &model->modal[n->modal];
    return (struct dyn_vec6){angular_velocity_of(at->theta, theta_of(modal, n, eta, p)),
                             psi_of(modal, n, eta, p)};
}
