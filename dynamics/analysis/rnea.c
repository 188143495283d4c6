/* Tested by tests/dynamics/analysis/test_crba.c and tests/dynamics/kernel/test_virtual_power.c. */
#include "dynamics/analysis/rnea.h"

#include "dynamics/analysis/kinematics.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/joint_force.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/kernel/work.h"

/* The force that the velocities alone need, about the link's origin: w x (I w), w x (w x mc). */
static struct dyn_vec6 gyroscopic_force(const struct dyn_inertia *J, struct dyn_vec3 w)
{
    return (struct dyn_vec6){dyn_cross(w, dyn_sym3_mul(&J->I, w)),
                             dyn_cross(w, dyn_cross(w, J->mc))};
}

/* ---- flexible links: the Lagrangian of flex.h, mode by mode ---- */

/* Force and torque of mode p: by its own acceleration and, where the link deforms, its rate. */
static struct dyn_vec6 mode_force(const struct dyn_modal_link *modal,
                                  const struct dyn_modal_work *now, int p, double accel,
                                  struct dyn_vec3 w)
{
    const int n = modal->lanes;
    const struct dyn_vec3 P = dyn_modal_shape_P(modal, now->eta, p);
    const struct dyn_vec3 H = dyn_modal_shape_H(modal, now->eta, p);
    const struct dyn_mat3 W = dyn_modal_shape_W(modal, now->eta, p),
                          trace_W = dyn_modal_shape_inertia_of_W(&W);
    const struct dyn_vec3 S = dyn_modal_shape_pair(modal->S, n, p, 0);
    struct dyn_vec6 f = {dyn_scale(accel, H), dyn_scale(accel, P)};
    struct dyn_vec6 rate = {dyn_add(dyn_scale(2.0, dyn_mul(&trace_W, w)), dyn_cross(w, S)),
                            dyn_scale(2.0, dyn_cross(w, P))};

    if (!modal->deforms)
        return f;
    for (int q = 0; q < modal->modes; q++) {
        const struct dyn_vec6 pair = {dyn_modal_shape_pair(modal->G1, n, p, q),
                                      dyn_modal_shape_pair(modal->P1, n, p, q)};
        rate = dyn_axpy6(&rate, now->xi[q], &pair);
    }
    return dyn_axpy6(&f, now->xi[p], &rate);
}

/* The generalized force of mode p itself, without that of the bodies on its link's nodes.  Springs
 * and dampers act on what eta and xi will be after `lead`. */
static double modal_tau(const struct dyn_modal_link *modal, const struct dyn_modal_work *now, int p,
                        const double *accel, double lead, const struct dyn_vec6 *a,
                        struct dyn_vec3 w)
{
    const int n = modal->lanes;
    const struct dyn_mat3 W = dyn_modal_shape_W(modal, now->eta, p),
                          trace_W = dyn_modal_shape_inertia_of_W(&W);
    double need = dyn_dot(dyn_modal_shape_P(modal, now->eta, p), a->lin) +
                  dyn_dot(dyn_modal_shape_H(modal, now->eta, p), a->ang) -
                  dyn_dot(w, dyn_mul(&trace_W, w));

    for (int q = 0; q < modal->modes; q++) {
        const double xi = now->xi[q] + lead * accel[q], eta = now->eta[q] + lead * xi;
        need +=
            modal->M[q * n + p] * accel[q] + modal->K[q * n + p] * eta + modal->C[q * n + p] * xi;
        if (modal->deforms)
            need += 2.0 * now->xi[q] * dyn_dot(w, dyn_modal_shape_pair(modal->Y1, n, p, q));
    }
    return need;
}

/* The force that the modes add to their link, and the generalized forces of the modes. */
static void add_modal_forces(const struct dyn_modal_link *modal, const struct dyn_modal_work *now,
                             const double *a, double lead, struct dyn_work *work, double *tau)
{
    const int i = modal->link;
    const struct dyn_vec3 w = work->v[i].ang;
    const double *accel = a + modal->v_at;
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec6 f = mode_force(modal, now, p, accel[p], w);
        work->f[i] = dyn_add6(&work->f[i], &f);
        tau[modal->v_at + p] = modal_tau(modal, now, p, accel, lead, &work->a[i], w);
    }
}

/* The acceleration of a node by those of the modes, in its axes. */
static struct dyn_vec6 node_motion(const struct dyn_model *model, int i, const double *a,
                                   const struct dyn_work *work)
{
    const int node = model->link[i].node, m = model->node[node].modal;
    const struct dyn_modal_link *modal = &model->modal[m];
    const double *eta = work->modal[m].eta;
    const struct dyn_modal_shape_node at = dyn_modal_shape_node(model, node, eta, NULL);
    const struct dyn_mat3 *E = &work->X[i].E;
    struct dyn_vec6 sum = {0};
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec6 column = dyn_modal_shape_column(model, node, eta, &at, p);
        sum = dyn_axpy6(&sum, a[modal->v_at + p], &column);
    }
    return (struct dyn_vec6){dyn_mul(E, sum.ang), dyn_mul(E, sum.lin)};
}

/* The part of the force through a node that the modes must bear. */
static void node_project(const struct dyn_model *model, int i, const struct dyn_work *work,
                         double *tau)
{
    const int node = model->link[i].node, m = model->node[node].modal;
    const struct dyn_modal_link *modal = &model->modal[m];
    const double *eta = work->modal[m].eta;
    const struct dyn_modal_shape_node at = dyn_modal_shape_node(model, node, eta, NULL);
    const struct dyn_mat3 *E = &work->X[i].E;
    const struct dyn_vec6 f = {dyn_mul_t(E, work->f[i].ang), dyn_mul_t(E, work->f[i].lin)};
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec6 column = dyn_modal_shape_column(model, node, eta, &at, p);
        tau[modal->v_at + p] += dyn_dot6(&f, &column);
    }
}

/* ---- the tree ---- */

/* f = I a + w x (I w), per link, and what of it is the modes' own. */
static void outward_pass(const struct dyn_model *model, const double *a,
                         const struct dyn_input *input, struct dyn_work *work, double *tau)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);

    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const struct dyn_vec6 own = link->node >= 0 ? node_motion(model, i, a, work)
                                                    : dyn_joint_motion(link, a + link->v_at);
        const struct dyn_vec6 carried = dyn_carried_acceleration(model, work, i, &world);
        const struct dyn_inertia J = dyn_modal_shape_link_inertia(model, work, i);
        work->a[i] = dyn_add6(&carried, &own);

        const struct dyn_vec6 f = dyn_inertia_mul(&J, &work->a[i]);
        const struct dyn_vec6 p = gyroscopic_force(&J, work->v[i].ang);
        work->f[i] = dyn_add6(&f, &p);
        if (link->modal >= 0)
            add_modal_forces(&model->modal[link->modal], &work->modal[link->modal], a,
                             input->modal_implicit_step, work, tau);
    }
}

static void subtract_loads(const struct dyn_model *model, const struct dyn_input *input,
                           struct dyn_work *work)
{
    for (int k = 0; k < input->load_count; k++) {
        const struct dyn_load *load = &input->loads[k];
        const int l = model->body_link[load->body];
        const struct dyn_vec6 at_point = {dyn_vec3_load(load->moment), dyn_vec3_load(load->force)};
        const struct dyn_vec6 at_body = dyn_force_shift(&at_point, dyn_vec3_load(load->at));
        const struct dyn_vec6 f = dyn_force_to_parent(&model->link_from_body[load->body], &at_body);
        if (l >= 0)
            work->f[l] = dyn_axpy6(&work->f[l], -1.0, &f);
    }
}

/* The torque that the rotor's acceleration needs at the joint, and that its change of momentum
 * needs at the parent. */
static void add_rotor_force(const struct dyn_model *model, const struct dyn_vec6 *world, int i,
                            double qd, double qdd, struct dyn_work *work, double *tau)
{
    const struct dyn_tree_link *link = &model->link[i];
    const int parent = link->parent;
    const struct dyn_vec3 e = link->rotor_spin;
    const struct dyn_vec3 alpha = parent >= 0 ? work->a[parent].ang : world->ang;

    *tau += link->rotor * qdd + dyn_dot(e, alpha);
    if (parent < 0)
        return;
    const struct dyn_vec3 n = dyn_scale(qd, dyn_cross(work->v[parent].ang, e));
    work->f[parent].ang = dyn_add(work->f[parent].ang, dyn_add(n, dyn_scale(qdd, e)));
}

/* Of all links, in full coordinates. */
static void solve_links(const struct dyn_model *model, const struct dyn_state *state,
                        const double *a, const struct dyn_input *input, struct dyn_work *work,
                        double *tau)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);

    dyn_kinematics(model, state, work);
    outward_pass(model, a, input, work, tau);
    subtract_loads(model, input, work);
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        double *out = tau + link->v_at;
        dyn_joint_project(link, &work->f[i], out);
        if (link->node >= 0)
            node_project(model, i, work, tau);
        if (link->has_rotor)
            add_rotor_force(model, &world, i, state->v[link->v_at], a[link->v_at], work, out);
        if (link->parent < 0)
            continue;
        const struct dyn_vec6 f = dyn_force_to_parent(&work->X[i], &work->f[i]);
        work->f[link->parent] = dyn_add6(&work->f[link->parent], &f);
    }
}

/* with_joint_forces: includes the joints' own springs, dampers, friction and stops. */
static void solve_full(const struct dyn_model *model, const struct dyn_state *state,
                       const double *a, const struct dyn_input *input, int with_joint_forces,
                       struct dyn_work *work, double *tau)
{
    const struct dyn_mimic_work *mimic = &work->mimic;
    const struct dyn_state links = dyn_mimic_state(model, state, mimic);
    const int has_mimic = dyn_mimic_any(model);
    double *full = has_mimic ? mimic->tau : tau;

    if (has_mimic)
        dyn_mimic_to_full(model, a, mimic->a);
    solve_links(model, &links, has_mimic ? mimic->a : a, input, work, full);
    if (with_joint_forces)
        dyn_joint_force_add(model, links.q, links.v, input->dry, -1.0, full);
    if (has_mimic)
        dyn_mimic_from_full(model, full, tau);
}

void dyn_rnea(const struct dyn_model *model, const struct dyn_state *state, const double *a,
              const struct dyn_input *input, struct dyn_work *work, double *tau)
{
    solve_full(model, state, a, input, 1, work, tau);
}

void dyn_rnea_without_joint_forces(const struct dyn_model *model, const struct dyn_state *state,
                                   const double *a, const struct dyn_input *input,
                                   struct dyn_work *work, double *tau)
{
    solve_full(model, state, a, input, 0, work, tau);
}
