#include "dynamics/flex/validity.h"

#include <math.h>

#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "dynamics/math/cholesky.h"
#include "dynamics/plant_rate.h"

static const double FAST = 0.1;           /* part of the lowest frequency */
static const double DEFLECTION_MAX = 0.1; /* part of the length */
static const double WEAK = -0.5;          /* part of a mode's stiffness that is added */
static const double STIFF = 1.0;          /* the same, where the model does not include it */
static const double BOUND_PART_MAX = 0.1; /* part of the bound of modal_bound.h: 1 % of a mass */

static struct dyn_vec3 vec3_of_row(const struct dyn_row *r)
{
    return dyn_vec3_load(r->e);
}

static struct dyn_vec3 to_link(const struct dyn_tree_link_work *L, struct dyn_vec3 a)
{
    return (struct dyn_vec3){dyn_dot(vec3_of_row(&L->R[0]), a), dyn_dot(vec3_of_row(&L->R[1]), a),
                             dyn_dot(vec3_of_row(&L->R[2]), a)};
}

/* The force through a node on the body, in the axes of its link. */
static struct dyn_vec3 node_force(const struct dyn_tree_link_work *N,
                                  const struct dyn_tree_link_work *L)
{
    struct dyn_vec3 f = vec3_of_row(&N->pl);
    for (int k = 0; k < 3; k++) {
        f = dyn_add(f, dyn_scale(N->a.e[k], vec3_of_row(&N->M[k])));
        f = dyn_add(f, dyn_scale(N->alpha.e[k], vec3_of_row(&N->H[k])));
    }
    return to_link(L, dyn_scale(-1.0, f));
}

/* Of the body's own mass, to `added` by mode. */
static void add_motion(const struct dyn_modal_link *modal, const struct dyn_tree_link_work *L,
                       double *added)
{
    const struct dyn_vec3 w = to_link(L, vec3_of_row(&L->w));
    const struct dyn_vec3 a = to_link(L, vec3_of_row(&L->a)),
                          alpha = to_link(L, vec3_of_row(&L->alpha));
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec3 P = dyn_modal_shape_pair(modal->P1, modal->lanes, p, p);
        const struct dyn_mat3 W = dyn_modal_shape_pair_matrix(modal->W1, modal->lanes, p, p);
        const struct dyn_mat3 T = dyn_modal_shape_inertia_of_W(&W);
        added[p] += dyn_dot(P, a) + dyn_dot(dyn_axial(&W), alpha) - dyn_dot(w, dyn_mul(&T, w));
    }
}

static void add_force(const struct dyn_modal_node *node, const struct dyn_modal_link *modal,
                      struct dyn_vec3 force, double *added)
{
    for (int p = 0; p < modal->modes; p++)
        added[p] -= dyn_dot(dyn_modal_shape_pair(node->psi1, modal->lanes, p, p), force);
}

/* By mode: d f_p / d eta_p of all forces on the modes but their springs. */
static void added_stiffness(const struct dyn_model *model, const struct dyn_work *work,
                            const struct dyn_modal_link *modal, double *added)
{
    const struct dyn_tree_link_work *L = &work->link[modal->link];
    add_motion(modal, L, added);
    for (int n = modal->first_node; n < modal->first_node + modal->nodes; n++)
        add_force(&model->node[n], modal, node_force(&work->link[model->node_link[n]], L), added);
}

static unsigned check_stiffness(const struct dyn_model *model, const struct dyn_work *work,
                                const struct dyn_modal_link *modal)
{
    double added[DYN_MODES_MAX] = {0.0};
    added_stiffness(model, work, modal, added);
    for (int p = 0; p < modal->modes; p++) {
        const double K = modal->K[p * modal->lanes + p];
        if (added[p] < WEAK * K || (!modal->stiffens && added[p] > STIFF * K))
            return DYN_INVALID_STIFFNESS;
    }
    return 0;
}

static unsigned check_deflection(const struct dyn_modal_link *modal, const double *eta)
{
    double reach = 0.0;
    for (int p = 0; p < modal->modes; p++)
        reach += modal->reach[p] * fabs(eta[p]);
    return reach > DEFLECTION_MAX * modal->length && modal->length > 0.0 ? DYN_INVALID_DEFLECTION
                                                                         : 0;
}

static unsigned check_inertia(const struct dyn_modal_link *modal, const double *eta)
{
    double share = 0.0;
    for (int p = 0; p < modal->modes; p++)
        share += modal->inverse_bound[p] * fabs(eta[p]);
    return share > BOUND_PART_MAX ? DYN_INVALID_INERTIA : 0;
}

/* How the body turns as a whole, in the axes of its link: as its frame does and, on average over
 * its mass, as its modes do.  On a soft hinge the frame of a bending body oscillates while the
 * body as a whole hardly turns. */
static struct dyn_vec3 mean_rate(const struct dyn_model *model, const struct dyn_modal_link *modal,
                                 const struct dyn_work *work, const double *xi)
{
    const struct dyn_sym3 *I = &model->inertia[modal->link].I;
    const struct dyn_tree_link_work *L = &work->link[modal->link];
    const double some = 1e-9 * (I->xx + I->yy + I->zz); /* a line has no inertia about itself */
    double J[9] = {I->xx + some, 0.0, 0.0, I->xy, I->yy + some, 0.0, I->xz, I->yz, I->zz + some};
    struct dyn_vec3 h = {0.0, 0.0, 0.0};
    double turn[3];

    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_mat3 W = dyn_modal_shape_pair_matrix(modal->L, modal->lanes, p, 0);
        h = dyn_add(h, dyn_scale(xi[p], dyn_axial(&W)));
    }
    dyn_vec3_store(h, turn);
    dyn_cholesky_factor(3, J);
    dyn_cholesky_solve(3, J, turn);
    return dyn_add(to_link(L, vec3_of_row(&L->w)), dyn_vec3_load(turn));
}

static unsigned check_rate(const struct dyn_model *model, const struct dyn_modal_link *modal,
                           const struct dyn_work *work, const double *xi)
{
    if (modal->stiffens && !modal->rotary)
        return 0;
    const double w = dyn_norm(mean_rate(model, modal, work, xi));
    return w > FAST * modal->slowest ? DYN_INVALID_RATE : 0;
}

static unsigned check_modal(const struct dyn_model *model, const double *q, const double *v,
                            const struct dyn_work *work, int m)
{
    const struct dyn_modal_link *modal = &model->modal[m];
    return check_rate(model, modal, work, v + modal->v_at) |
           check_deflection(modal, q + modal->q_at) | check_stiffness(model, work, modal) |
           check_inertia(modal, q + modal->q_at);
}

unsigned dyn_body_validity(const struct dyn_model *model, const struct dyn_state *state,
                           const struct dyn_work *work, int body)
{
    const int link = model->body_link[body], m = link >= 0 ? model->link[link].modal : -1;
    return m >= 0 && model->link[link].body == body
               ? check_modal(model, state->q, state->v, work, m)
               : 0;
}

unsigned dyn_plant_validity(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                            const double *x, int *first)
{
    const struct dyn_model *model = plant->model;
    unsigned sum = 0;
    for (int m = 0; m < model->modal_count; m++) {
        const unsigned out = check_modal(model, x, x + model->nq, work->kernel, m);
        if (out != 0 && sum == 0)
            *first = model->link[model->modal[m].link].body;
        sum |= out;
    }
    return sum;
}
