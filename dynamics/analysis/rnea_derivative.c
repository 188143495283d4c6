/*
 * Inverse dynamics differentiated by hand (Lin and Yae 1989; the closed form is that of Singh,
 * Russell and Wensing 2022), with spatial velocities and accelerations in world axes.
 *
 * A step along velocity k turns and shifts all that its link l carries as one rigid body.  In axes
 * that move along, nothing changes further out but the motion of the parent:
 *
 *      dv_i = v_q              v_q = V x S_k
 *      da_i = a_q + v_q x v_i  a_q = A x S_k + V x v_q
 *
 * for every link i from l outward, where V and A are the parent's motion at the origin of l.  A
 * step of the velocity itself has the same form with v_q = S_k and a_v = (V + v_l) x S_k.  With
 *
 *      f_i = I a_i + v_i x* I v_i
 *      df_i = I a_q + B v_q,   B v_q = I (v_q x v_i) + v_q x* I v_i + v_i x* I v_q
 *
 * all forces further out change by Ic a_q + Bc v_q, composites of I and B.  B depends on the
 * angular part w of v_q alone; with the link's turning w_i, velocity u, momentum p and first
 * moment mc
 *
 *      moment  N w = 2 w_i x I w - tr(I) w_i x w + 2 mc x (w x u)
 *      force   2 w x p
 *
 * Towards the root the changed force arrives turned and shifted by the step: S_k x* f_l.
 *
 * A mode of a flexible link changes the link's own forces (modal_shape_derivative.h), and steps
 * each of its nodes by a column X_p of that node, which changes itself as the link bends.  With
 * time derivatives of X_p in world axes
 *
 *      v_q = X_p'     a_q = X_p''     a_v = 2 X_p'
 *
 * of which the above are the special case of a column that is constant in its parent.  A motion of
 * the link adds the force F_p . a_q + n_p . w to its mode p.
 *
 * A link without deformation, `ruthless`, gives its nodes velocities but keeps them in place, and
 * leaves out the products of the rates of both.  The bodies on such a node lag behind a step of
 * anything further in: a_q less w x s and, for the travel, less 2 w x s, of its own velocity s.
 *
 * Forces do not depend on the speed of a free base, only on the change of its velocity.  So the
 * observer moves with its origin, and a vehicle at orbital speed loses no digits to w x v.
 *
 * Tested by tests/dynamics/analysis/test_linearize.c.
 */
#include "dynamics/analysis/rnea_derivative.h"

#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/analysis/rnea_derivative_branch.h"
#include "dynamics/analysis/rnea_derivative_parts.h"
#include "dynamics/flex/modal_shape_derivative.h"
#include "dynamics/joint_force.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/layout.h"

static size_t lay_out_derivative_work(struct dyn_rnea_derivative_work *work, void *mem,
                                      const struct dyn_model *model)
{
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->crba = dyn_layout_cut(mem, &at, dyn_crba_work_size(model));
    work->part = dyn_layout_cut(mem, &at, (size_t)model->link_count * sizeof *work->part);
    work->step = dyn_layout_cut(mem, &at, (size_t)model->full_nv * sizeof *work->step);
    work->mode = dyn_layout_cut(mem, &at, (size_t)model->full_nv * sizeof *work->mode);
    work->node_step = dyn_layout_cut(mem, &at, (size_t)model->node_count * sizeof *work->node_step);
    for (int k = 0; k < model->node_count; k++) {
        const size_t modes = (size_t)model->modal[model->node[k].modal].modes;
        struct dyn_rnea_derivative_velocity *step = dyn_layout_cut(mem, &at, modes * sizeof *step);
        if (mem != NULL)
            work->node_step[k] = step;
    }
    return at;
}

size_t dyn_rnea_derivative_work_size(const struct dyn_model *model)
{
    struct dyn_rnea_derivative_work probe;
    return lay_out_derivative_work(&probe, NULL, model);
}

struct dyn_rnea_derivative_work *dyn_rnea_derivative_work_place(const struct dyn_model *model,
                                                                void *mem)
{
    struct dyn_rnea_derivative_work *work = mem;
    memset(mem, 0, dyn_rnea_derivative_work_size(model));
    lay_out_derivative_work(work, mem, model);
    (void)dyn_crba_work_place(model, work->crba);
    return work;
}

static struct dyn_vec6 rotated(const struct dyn_mat3 *E, const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){dyn_mul_t(E, m->ang), dyn_mul_t(E, m->lin)};
}

/* ---- outward: motion ---------------------------------------------------------------------- */

static int is_base(const struct dyn_tree_link *link)
{
    return link->parent < 0 && link->kind == DYN_TREE_LINK_FREE;
}

/* The velocity of the link against its parent, from its joint or from the modes under a node; a
 * free base does not travel. */
static struct dyn_vec6 own_motion(const struct dyn_model *model,
                                  const struct dyn_tree_pose *tree_pose, const double *v, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    if (link->node >= 0) {
        const struct dyn_modal_link *under = dyn_modal_shape_of_node(model, link);
        struct dyn_vec6 sum = {0};
        for (int p = 0; p < under->modes; p++)
            sum = dyn_axpy6(&sum, v[under->v_at + p], &tree_pose->X[link->node][p]);
        return sum;
    }
    struct dyn_vec6 own = dyn_joint_motion(link, v + link->v_at);
    if (is_base(link))
        own.lin = (struct dyn_vec3){0.0, 0.0, 0.0};
    return rotated(&tree_pose->E[i], &own);
}

static void find_motion(const struct dyn_model *model, const struct dyn_state *state,
                        const struct dyn_vec6 *world, struct dyn_rnea_derivative_work *work, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_tree_pose *tree_pose = work->crba->tree_pose;
    const struct dyn_mat3 *E = &tree_pose->E[i];
    const struct dyn_rnea_derivative_link *on =
        link->parent >= 0 ? &work->part[link->parent] : NULL;
    const struct dyn_vec6 still = {0};
    struct dyn_rnea_derivative_link *part = &work->part[i];

    part->own = own_motion(model, tree_pose, state->v, i);
    part->lags = link->node >= 0 && !dyn_modal_shape_of_node(model, link)->deforms;
    part->v_on = dyn_motion_shift(on != NULL ? &on->v : &still, tree_pose->arm[i]);
    part->a_on = dyn_motion_shift(on != NULL ? &on->a : world, tree_pose->arm[i]);
    part->v = dyn_add6(&part->v_on, &part->own);
    part->a = rotated(E, &tree_pose->kernel->a[i]);
    part->a.lin = dyn_sub(part->a.lin, dyn_cross(part->v.ang, part->v.lin));
    part->f = rotated(E, &tree_pose->kernel->f[i]);
}

static struct dyn_vec3 unit_axis(int k)
{
    return (struct dyn_vec3){k == 0, k == 1, k == 2};
}

/* What a turning of the base about axis k adds to dv/dt + w x v, on which forces depend: axis x v,
 * in link axes. */
static struct dyn_vec3 base_turn_term(const struct dyn_tree_link *link, const double *v, int k)
{
    return dyn_cross(unit_axis(k), dyn_vec3_load(v + link->v_at + 3));
}

/* The same where dv/dt is given.  Where it is found, dv/dt makes up for it. */
static struct dyn_vec3 given_turn_term(const struct dyn_tree_link *link, const double *v,
                                       const struct dyn_input *finds, int k)
{
    const int at = link->v_at + 3;
    const struct dyn_vec3 swing = base_turn_term(link, v, k);
    return (struct dyn_vec3){dyn_acceleration_is_given(finds, at) ? swing.x : 0.0,
                             dyn_acceleration_is_given(finds, at + 1) ? swing.y : 0.0,
                             dyn_acceleration_is_given(finds, at + 2) ? swing.z : 0.0};
}

static void find_velocity_columns(const struct dyn_model *model, const struct dyn_state *state,
                                  const struct dyn_input *finds,
                                  struct dyn_rnea_derivative_work *work, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_tree_pose *tree_pose = work->crba->tree_pose;
    const struct dyn_rnea_derivative_link *part = &work->part[i];
    const struct dyn_vec6 both = dyn_add6(&part->v_on, &part->v);

    for (int k = 0; k < dyn_tree_link_nv(link); k++) {
        const struct dyn_vec6 *S = &tree_pose->S[link->v_at + k];
        struct dyn_rnea_derivative_velocity *step = &work->step[link->v_at + k];
        step->v_q = dyn_cross_motion(&part->v_on, S);
        step->a_q = dyn_cross_motion(&part->a_on, S);
        const struct dyn_vec6 twice = dyn_cross_motion(&part->v_on, &step->v_q);
        step->a_q = dyn_add6(&step->a_q, &twice);
        step->a_v = dyn_cross_motion(&both, S);
        if (is_base(link) && k < 3) {
            const struct dyn_vec3 swing = given_turn_term(link, state->v, finds, k);
            step->a_v.lin = dyn_add(step->a_v.lin, dyn_mul_t(&tree_pose->E[i], swing));
        }
    }
}

/* The derivatives of the columns of a node, whose place and axes change as the link bends. */
static void find_node_columns(const struct dyn_model *model,
                              const struct dyn_modal_shape_motion *at,
                              struct dyn_rnea_derivative_work *work, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_mat3 *E = &work->crba->tree_pose->E[link->parent];
    const struct dyn_rnea_derivative_link *part = &work->part[i];
    const struct dyn_modal_shape_path path = dyn_modal_shape_path(model, link->node, at);

    for (int p = 0; p < dyn_modal_shape_of_node(model, link)->modes; p++) {
        const struct dyn_vec6 *X = &work->crba->tree_pose->X[link->node][p];
        const struct dyn_modal_column_rate own =
            dyn_modal_shape_column_rate(model, link->node, at, &path, p);
        const struct dyn_vec6 rate = rotated(E, &own.rate), accel = rotated(E, &own.accel);
        const struct dyn_vec6 swept = dyn_cross_motion(&part->v_on, X);
        struct dyn_rnea_derivative_velocity *step = &work->node_step[link->node][p];
        step->v_q = dyn_add6(&swept, &rate);
        step->a_v = dyn_axpy6(&step->v_q, 1.0, &step->v_q);
        const struct dyn_vec6 both = dyn_add6(&step->v_q, &rate);
        const struct dyn_vec6 again = dyn_cross_motion(&part->v_on, &both);
        step->a_q = dyn_cross_motion(&part->a_on, X);
        step->a_q = dyn_add6(&step->a_q, &again);
        step->a_q = dyn_add6(&step->a_q, &accel);
    }
}

/* Such a step causes no acceleration; a_v cancels the terms that the general form has. */
static void find_lagging_columns(const struct dyn_model *model,
                                 struct dyn_rnea_derivative_work *work, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_vec6 *v = &work->part[i].v;

    for (int p = 0; p < dyn_modal_shape_of_node(model, link)->modes; p++) {
        const struct dyn_vec3 w = work->crba->tree_pose->X[link->node][p].ang;
        work->node_step[link->node][p] = (struct dyn_rnea_derivative_velocity){
            .a_v = {dyn_cross(v->ang, w), dyn_scale(2.0, dyn_cross(v->lin, w))}};
    }
}

/* ---- inward: composites ------------------------------------------------------------------- */

/* The terms missing in a_q, by a turning w, of the bodies on a node of a `ruthless` link. */
static struct dyn_vec6 lag(const struct dyn_rnea_derivative_link *part, struct dyn_vec3 w)
{
    return (struct dyn_vec6){dyn_cross(part->own.ang, w),
                             dyn_scale(2.0, dyn_cross(part->own.lin, w))};
}

/* How a flexible link moves, in its own axes. */
static struct dyn_modal_shape_motion shape_motion(const struct dyn_modal_link *modal,
                                                  const struct dyn_rnea_derivative_work *work,
                                                  const struct dyn_modal_work *now, const double *a)
{
    const int i = modal->link;
    const struct dyn_tree_pose *tree_pose = work->crba->tree_pose;
    return (struct dyn_modal_shape_motion){
        .eta = now->eta,
        .xi = now->xi,
        .accel = a + modal->v_at,
        .w = tree_pose->kernel->v[i].ang,
        .u = dyn_mul(&tree_pose->E[i], work->part[i].v.lin),
        .a = tree_pose->kernel->a[i],
    };
}

static void find_link_force(const struct dyn_model *model, struct dyn_rnea_derivative_work *work,
                            int i)
{
    const struct dyn_tree_pose *tree_pose = work->crba->tree_pose;
    const struct dyn_inertia own = dyn_modal_shape_link_inertia(model, tree_pose->kernel, i);
    const struct dyn_inertia J = dyn_inertia_turn(&own, &tree_pose->E[i]);
    struct dyn_rnea_derivative_link *part = &work->part[i];
    const struct dyn_vec3 w = part->v.ang, u = part->v.lin;
    const struct dyn_vec3 p = dyn_add(dyn_scale(J.mass, u), dyn_cross(w, J.mc));

    for (int k = 0; k < 3; k++) {
        const struct dyn_vec3 twice = dyn_add(dyn_cross(w, dyn_sym3_mul(&J.I, unit_axis(k))),
                                              dyn_cross(J.mc, dyn_cross(unit_axis(k), u)));
        part->turn[k] = (struct dyn_vec6){
            dyn_sub(dyn_scale(2.0, twice),
                    dyn_scale(dyn_sym3_trace(&J.I), dyn_cross(w, unit_axis(k)))),
            dyn_scale(2.0, dyn_cross(unit_axis(k), p)),
        };
    }
}

/* Of the link itself: what its modes add to it, and to each other. */
static void find_modal_force(const struct dyn_modal_link *modal,
                             const struct dyn_modal_shape_motion *at,
                             struct dyn_rnea_derivative_work *work, size_t nv,
                             const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_mat3 *E = &work->crba->tree_pose->E[modal->link];
    struct dyn_rnea_derivative_link *part = &work->part[modal->link];

    for (int k = 0; k < 3; k++) {
        const struct dyn_vec6 f = dyn_modal_shape_force_dw(modal, at, dyn_mul(E, unit_axis(k)));
        const struct dyn_vec6 more = rotated(E, &f);
        part->turn[k] = dyn_add6(&part->turn[k], &more);
    }
    for (int j = 0; j < modal->modes; j++) {
        const struct dyn_vec6 by_q = dyn_modal_shape_force_dq(modal, at, j);
        const struct dyn_vec6 by_v = dyn_modal_shape_force_dv(modal, at, j);
        work->mode[modal->v_at + j] =
            (struct dyn_rnea_derivative_mode){dyn_mul_t(E, dyn_modal_shape_tau_dw(modal, at, j)),
                                              rotated(E, &by_q), rotated(E, &by_v)};
        for (int p = 0; p < modal->modes; p++) {
            const size_t to = (size_t)(modal->v_at + p) * nv + (size_t)(modal->v_at + j);
            derivative->tau_q[to] = dyn_modal_shape_tau_dq(modal, at, p, j);
            derivative->tau_v[to] = dyn_modal_shape_tau_dv(modal, at, p, j);
        }
    }
}

/* Its response to a turning, and a rotor's w x e qd. */
static void add_to_parent(const struct dyn_model *model, const struct dyn_state *state,
                          struct dyn_rnea_derivative_work *work, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_rnea_derivative_link *part = &work->part[i];
    struct dyn_rnea_derivative_link *on = &work->part[link->parent];
    struct dyn_vec3 h = {0.0, 0.0, 0.0};

    if (link->has_rotor)
        h = dyn_scale(state->v[link->v_at],
                      dyn_rnea_derivative_rotor_spin(model, work->crba->tree_pose, i));
    for (int k = 0; k < 3; k++) {
        struct dyn_vec6 f = part->turn[k];
        if (part->lags) {
            const struct dyn_vec6 behind = lag(part, unit_axis(k));
            const struct dyn_vec6 less = dyn_inertia_mul(&work->crba->Ic[i], &behind);
            f = dyn_add6(&f, &less);
        }
        f = dyn_force_shift(&f, work->crba->tree_pose->arm[i]);
        f.ang = dyn_add(f.ang, dyn_cross(unit_axis(k), h));
        on->turn[k] = dyn_add6(&on->turn[k], &f);
    }
}

/* The effect of mode j on the bodies of node i, and of their forces on the other modes and further
 * in. */
static void fill_mode(const struct dyn_model *model, const struct dyn_modal_shape_motion *at,
                      const struct dyn_modal_shape_path *path,
                      struct dyn_rnea_derivative_work *work, int i, int j,
                      const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_modal_link *under = dyn_modal_shape_of_node(model, link);
    const struct dyn_rnea_derivative_link *part = &work->part[i];
    const struct dyn_vec6 *X = work->crba->tree_pose->X[link->node];
    const struct dyn_vec3 arm = work->crba->tree_pose->arm[i];
    const struct dyn_rnea_derivative_velocity *step = &work->node_step[link->node][j];
    const struct dyn_inertia *Ic = &work->crba->Ic[i];
    const struct dyn_vec6 F = dyn_inertia_mul(Ic, &X[j]);
    const struct dyn_vec6 by_q =
        dyn_rnea_derivative_changed_force(Ic, part, &step->a_q, step->v_q.ang);
    const struct dyn_vec6 by_v = dyn_rnea_derivative_changed_force(Ic, part, &step->a_v, X[j].ang);
    struct dyn_rnea_derivative_mode *mode = &work->mode[under->v_at + j];

    mode->n = dyn_add(mode->n, dyn_rnea_derivative_turn_response(part, &X[j]));
    if (part->lags)
        mode->n = dyn_add(mode->n, dyn_rnea_derivative_lag_response(part, &F));
    const struct dyn_vec6 swept = dyn_cross_force(&X[j], &part->f);
    struct dyn_vec6 handed = part->lags ? by_q : dyn_add6(&by_q, &swept);
    handed = dyn_force_shift(&handed, arm);
    mode->by_q = dyn_add6(&mode->by_q, &handed);
    handed = dyn_force_shift(&by_v, arm);
    mode->by_v = dyn_add6(&mode->by_v, &handed);

    const struct dyn_mat3 *E = &work->crba->tree_pose->E[link->parent];
    for (int p = 0; p < under->modes; p++) {
        const size_t to =
            (size_t)(under->v_at + p) * (size_t)model->full_nv + (size_t)(under->v_at + j);
        derivative->tau_q[to] += dyn_dot6(&by_q, &X[p]);
        derivative->tau_v[to] += dyn_dot6(&by_v, &X[p]);
        if (!part->lags) { /* X_p changes as well: as much as X_j does along p, seen from there */
            const struct dyn_vec6 own =
                dyn_modal_shape_column_dq(model, link->node, at, path, j, p);
            const struct dyn_vec6 changed = rotated(E, &own);
            derivative->tau_q[to] += dyn_dot6(&changed, &part->f);
        }
    }
}

static void fill_modes(const struct dyn_model *model, const double *a,
                       struct dyn_rnea_derivative_work *work, int i,
                       const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_modal_link *under = dyn_modal_shape_of_node(model, link);
    const struct dyn_modal_work *now =
        &work->crba->tree_pose->kernel->modal[model->node[link->node].modal];
    const struct dyn_modal_shape_motion at = shape_motion(under, work, now, a);
    const struct dyn_modal_shape_path path = dyn_modal_shape_path(model, link->node, &at);

    for (int j = 0; j < under->modes; j++)
        fill_mode(model, &at, &path, work, i, j, derivative);
}

static void add_joint_forces(const struct dyn_model *model, const struct dyn_state *state,
                             const struct dyn_rnea_derivative_full *derivative)
{
    for (int k = 0; k < model->force_entry_count; k++) {
        const struct dyn_joint_force_entry *at = &model->force_entry[k];
        const double q = at->q_at < 0 ? 0.0 : state->q[at->q_at];
        const struct dyn_joint_force_derivative force_spec =
            dyn_joint_force_derivative(&at->force_spec, q, state->v[at->v_at]);
        const size_t diagonal = (size_t)at->v_at * ((size_t)model->full_nv + 1);
        derivative->tau_q[diagonal] -= at->q_at < 0 ? 0.0 : force_spec.dq;
        derivative->tau_v[diagonal] -= force_spec.dv;
    }
}

/* Of all links, from the root. */
static void move_outward(const struct dyn_model *model, const struct dyn_state *links,
                         const double *a, const struct dyn_input *input,
                         const struct dyn_input *finds, struct dyn_rnea_derivative_work *work,
                         const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);
    const struct dyn_modal_work *now = work->crba->tree_pose->kernel->modal;

    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        find_motion(model, links, &world, work, i);
        find_velocity_columns(model, links, finds, work, i);
        find_link_force(model, work, i);
        if (link->modal >= 0) {
            const struct dyn_modal_link *modal = &model->modal[link->modal];
            const struct dyn_modal_shape_motion at =
                shape_motion(modal, work, &now[link->modal], a);
            find_modal_force(modal, &at, work, (size_t)model->full_nv, derivative);
        }
        if (work->part[i].lags) {
            find_lagging_columns(model, work, i);
        } else if (link->node >= 0) {
            const struct dyn_modal_link *under = dyn_modal_shape_of_node(model, link);
            const struct dyn_modal_shape_motion at =
                shape_motion(under, work, &now[model->node[link->node].modal], a);
            find_node_columns(model, &at, work, i);
        }
    }
}

void dyn_rnea_derivative_compute(const struct dyn_model *model, const struct dyn_state *state,
                                 const double *a, const struct dyn_input *input,
                                 const struct dyn_input *finds,
                                 struct dyn_rnea_derivative_work *work,
                                 const struct dyn_rnea_derivative_full *derivative)
{
    struct dyn_work *kernel = work->crba->tree_pose->kernel;
    const size_t size = (size_t)model->full_nv * (size_t)model->full_nv * sizeof(double);

    /* the forces themselves are not needed; a row of tau_q serves as their buffer */
    dyn_rnea(model, state, a, input, kernel, derivative->tau_q);
    const struct dyn_state links = dyn_mimic_state(model, state, &kernel->mimic);
    dyn_tree_pose_from_kernel(model, work->crba->tree_pose);
    dyn_composite_rows(model, work->crba);
    memset(derivative->tau_q, 0, size);
    memset(derivative->tau_v, 0, size);
    move_outward(model, &links, a, input, finds, work, derivative);
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        for (int k = 0; k < dyn_tree_link_nv(link); k++)
            dyn_rnea_derivative_fill_joint(model, work, i, link->v_at + k, derivative);
        if (link->modal >= 0)
            dyn_rnea_derivative_fill_modes(model, work, &model->modal[link->modal], derivative);
        if (link->node >= 0)
            fill_modes(model, a, work, i, derivative);
        if (link->parent >= 0)
            add_to_parent(model, &links, work, i);
    }
    add_joint_forces(model, &links, derivative);
}

void dyn_rnea_derivative_base_turn(const struct dyn_model *model, const double *v,
                                   const struct dyn_input *finds, int nv, double *a_v)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        for (int k = 0; is_base(link) && k < 3; k++) {
            double swing[3];
            dyn_vec3_store(base_turn_term(link, v, k), swing);
            for (int r = 0; r < 3; r++)
                if (!dyn_acceleration_is_given(finds, link->v_at + 3 + r) &&
                    !dyn_acceleration_is_given(finds, link->v_at + k))
                    a_v[(link->v_at + 3 + r) * nv + link->v_at + k] -= swing[r];
        }
    }
}
