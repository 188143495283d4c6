/* Tested by tests/dynamics/analysis/test_crba.c and test_jacobian.c. */
#include "dynamics/analysis/kinematics.h"

#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/kernel/work.h"

/* E after a turn about z: rows 0 and 1 mix. */
static struct dyn_mat3 rotated_about_z(const struct dyn_mat3 *E, double s, double c)
{
    const struct dyn_vec3 x = E->row[0], y = E->row[1];
    return (struct dyn_mat3){{dyn_add(dyn_scale(c, x), dyn_scale(s, y)),
                              dyn_sub(dyn_scale(c, y), dyn_scale(s, x)), E->row[2]}};
}

/* By q and by the offset, one after the other: their sum would cost digits of a q that has turned
 * for long. */
static struct dyn_mat3 joint_axes(const struct dyn_model *model, int i, double q)
{
    const struct dyn_mat3 E =
        rotated_about_z(&model->link[i].E, model->offset_sine[i], model->offset_cosine[i]);
    return rotated_about_z(&E, sin(q), cos(q));
}

static struct dyn_transform joint_transform(const struct dyn_model *model, int i, const double *q)
{
    const struct dyn_tree_link *link = &model->link[i];
    struct dyn_transform X = {link->E, link->origin};

    switch (link->kind) {
    case DYN_TREE_LINK_REVOLUTE:
        X.E = joint_axes(model, i, q[0]);
        break;
    case DYN_TREE_LINK_HELICAL:
        X.E = joint_axes(model, i, q[0]);
        X.r = dyn_add(X.r, dyn_scale(link->pitch * q[0], link->E.row[2]));
        break;
    case DYN_TREE_LINK_PRISMATIC:
        X.r = dyn_add(X.r, dyn_scale(q[0], link->E.row[2]));
        break;
    case DYN_TREE_LINK_SPHERICAL: {
        const struct dyn_mat3 turn = dyn_quat_to_child(dyn_quat_load(q));
        X.E = dyn_mat3_mul(&turn, &link->E);
        break;
    }
    case DYN_TREE_LINK_FREE: {
        const struct dyn_mat3 turn = dyn_quat_to_child(dyn_quat_load(q + 3));
        X.r = dyn_add(X.r, dyn_mul_t(&link->E, dyn_vec3_load(q)));
        X.E = dyn_mat3_mul(&turn, &link->E);
        break;
    }
    case DYN_TREE_LINK_FIXED:
        break;
    }
    return X;
}

struct dyn_vec6 dyn_joint_motion(const struct dyn_tree_link *link, const double *a)
{
    switch (link->kind) {
    case DYN_TREE_LINK_REVOLUTE:
        return (struct dyn_vec6){.ang = {0.0, 0.0, a[0]}};
    case DYN_TREE_LINK_PRISMATIC:
        return (struct dyn_vec6){.lin = {0.0, 0.0, a[0]}};
    case DYN_TREE_LINK_HELICAL:
        return (struct dyn_vec6){{0.0, 0.0, a[0]}, {0.0, 0.0, link->pitch * a[0]}};
    case DYN_TREE_LINK_SPHERICAL:
        return (struct dyn_vec6){.ang = dyn_vec3_load(a)};
    case DYN_TREE_LINK_FREE:
        return (struct dyn_vec6){dyn_vec3_load(a), dyn_vec3_load(a + 3)};
    case DYN_TREE_LINK_FIXED:
        return (struct dyn_vec6){0};
    }
    __builtin_unreachable();
}

void dyn_joint_project(const struct dyn_tree_link *link, const struct dyn_vec6 *f, double *tau)
{
    switch (link->kind) {
    case DYN_TREE_LINK_REVOLUTE:
        tau[0] = f->ang.z;
        break;
    case DYN_TREE_LINK_PRISMATIC:
        tau[0] = f->lin.z;
        break;
    case DYN_TREE_LINK_HELICAL:
        tau[0] = f->ang.z + link->pitch * f->lin.z;
        break;
    case DYN_TREE_LINK_SPHERICAL:
        dyn_vec3_store(f->ang, tau);
        break;
    case DYN_TREE_LINK_FREE:
        dyn_vec3_store(f->ang, tau);
        dyn_vec3_store(f->lin, tau + 3);
        break;
    case DYN_TREE_LINK_FIXED:
        break;
    }
}

/*
 * The joint's own velocity s added to v, and to c what it causes together with the parent's turning
 * w: w x s.ang, and twice w x s.lin (Coriolis).  A free joint's components turn with the link,
 * which adds s.ang x s.lin; of the other kinds s keeps its direction.
 */
static void add_joint_motion(const struct dyn_tree_link *link, const double *qd, struct dyn_vec6 *v,
                             struct dyn_vec6 *c)
{
    const struct dyn_vec6 s = dyn_joint_motion(link, qd);
    const struct dyn_vec3 w = v->ang;
    c->ang = dyn_cross(w, s.ang);
    c->lin = dyn_add(c->lin, dyn_scale(2.0, dyn_cross(w, s.lin)));
    if (link->kind == DYN_TREE_LINK_FREE)
        c->lin = dyn_add(c->lin, dyn_cross(s.ang, s.lin));
    *v = dyn_add6(v, &s);
}

/* The turn by the Gibbs vector theta / 2, as a rotation of components. */
static struct dyn_quat gibbs_turn(struct dyn_vec3 theta)
{
    return dyn_quat_unit((struct dyn_quat){1.0, 0.5 * theta.x, 0.5 * theta.y, 0.5 * theta.z});
}

/* The transform and motion of a node, from the modes of its parent. */
static void move_node(const struct dyn_model *model, int i, struct dyn_work *work)
{
    const struct dyn_tree_link *link = &model->link[i];
    const int m = model->node[link->node].modal, deforms = model->modal[m].deforms;
    const struct dyn_modal_shape_node at =
        dyn_modal_shape_node(model, link->node, work->modal[m].eta, work->modal[m].xi);
    const struct dyn_mat3 turn = dyn_quat_to_child(gibbs_turn(at.theta));
    const struct dyn_vec6 *on = &work->v[link->parent];
    const struct dyn_vec3 w = on->ang;
    struct dyn_transform *X = &work->X[i];
    struct dyn_vec6 c = {0};

    X->E = dyn_mat3_mul(&link->E, &turn);
    X->r = dyn_add(link->origin, at.u);
    c.lin = dyn_cross(w, dyn_cross(w, X->r));
    if (deforms) {
        c.ang = dyn_add(at.alpha, dyn_cross(w, at.w));
        c.lin = dyn_add(c.lin, dyn_add(at.accel, dyn_scale(2.0, dyn_cross(w, at.travel))));
    }
    const struct dyn_vec6 carried = dyn_motion_to_child(X, on);
    const struct dyn_vec6 own = {dyn_mul(&X->E, at.w), dyn_mul(&X->E, at.travel)};
    work->v[i] = dyn_add6(&carried, &own);
    work->c[i] = (struct dyn_vec6){dyn_mul(&X->E, c.ang), dyn_mul(&X->E, c.lin)};
}

void dyn_kinematics(const struct dyn_model *model, const struct dyn_state *state,
                    struct dyn_work *work)
{
    dyn_modal_shape_load(model, state->q, state->v, work);
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        struct dyn_transform *X = &work->X[i];
        struct dyn_vec6 v = {0}, c = {0};

        if (link->node >= 0) {
            move_node(model, i, work);
            continue;
        }
        *X = joint_transform(model, i, state->q + link->q_at);
        if (link->parent >= 0) {
            const struct dyn_vec3 w = work->v[link->parent].ang;
            v = dyn_motion_to_child(X, &work->v[link->parent]);
            c.lin = dyn_mul(&X->E, dyn_cross(w, dyn_cross(w, X->r)));
        }
        add_joint_motion(link, state->v + link->v_at, &v, &c);
        work->v[i] = v;
        work->c[i] = c;
    }
}

struct dyn_vec6 dyn_carried_acceleration(const struct dyn_model *model, const struct dyn_work *work,
                                         int i, const struct dyn_vec6 *world)
{
    const int parent = model->link[i].parent;
    const struct dyn_vec6 *from = parent >= 0 ? &work->a[parent] : world;
    const struct dyn_vec6 a = dyn_motion_to_child(&work->X[i], from);
    return dyn_add6(&a, &work->c[i]);
}

struct dyn_vec6 dyn_world_acceleration(const struct dyn_input *input)
{
    const double *a = input->base_acceleration;
    return (struct dyn_vec6){dyn_vec3_load(a),
                             dyn_sub(dyn_vec3_load(a + 3), dyn_vec3_load(input->gravity))};
}

/* dx/dt = R v of the place's axes, dq/dt = q (0, w) / 2 */
static void free_rate(const double *q, const double *v, double *q_rate)
{
    const struct dyn_quat turn = dyn_quat_load(q + 3);
    const struct dyn_mat3 E = dyn_quat_to_child(turn);
    dyn_vec3_store(dyn_mul_t(&E, dyn_vec3_load(v + 3)), q_rate);
    dyn_quat_store(dyn_quat_rate(turn, dyn_vec3_load(v)), q_rate + 3);
}

void dyn_position_rate(const struct dyn_model *model, const struct dyn_state *state, double *q_rate)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++)
            q_rate[modal->q_at + p] = state->v[modal->v_at + p];
    }
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const double *q = state->q + link->q_at, *v = state->v + link->v_at;
        double *rate = q_rate + link->q_at;
        if (link->kind == DYN_TREE_LINK_FREE)
            free_rate(q, v, rate);
        else if (link->kind == DYN_TREE_LINK_SPHERICAL)
            dyn_quat_store(dyn_quat_rate(dyn_quat_load(q), dyn_vec3_load(v)), rate);
        else if (link->kind != DYN_TREE_LINK_FIXED && link->v_at < model->nv)
            rate[0] = v[0];
    }
}

static void turn_advance(const double *w, double h, double *quat)
{
    const struct dyn_quat turn = dyn_quat_load(quat);
    dyn_quat_store(dyn_quat_mul(turn, dyn_quat_exp(dyn_scale(h, dyn_vec3_load(w)))), quat);
}

/* The origin moves along the axes it has at the start of the step. */
static void free_advance(const double *v, double h, double *q)
{
    const struct dyn_quat turn = dyn_quat_load(q + 3);
    const struct dyn_vec3 step = dyn_quat_rotate(turn, dyn_scale(h, dyn_vec3_load(v + 3)));
    dyn_vec3_store(dyn_add(dyn_vec3_load(q), step), q);
    turn_advance(v, h, q + 3);
}

void dyn_position_advance(const struct dyn_model *model, const double *v, double h, double *q)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++)
            q[modal->q_at + p] += h * v[modal->v_at + p];
    }
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        double *at = q + link->q_at;
        const double *rate = v + link->v_at;
        if (link->kind == DYN_TREE_LINK_FREE)
            free_advance(rate, h, at);
        else if (link->kind == DYN_TREE_LINK_SPHERICAL)
            turn_advance(rate, h, at);
        else if (link->kind != DYN_TREE_LINK_FIXED && link->v_at < model->nv)
            at[0] += h * rate[0];
    }
}

void dyn_position_normalise(const struct dyn_model *model, double *q)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        double *turn = q + link->q_at + (link->kind == DYN_TREE_LINK_FREE ? 3 : 0);
        if (link->kind == DYN_TREE_LINK_FREE || link->kind == DYN_TREE_LINK_SPHERICAL)
            dyn_quat_store(dyn_quat_unit(dyn_quat_load(turn)), turn);
    }
}

static struct dyn_pose joint_motion_pose(const struct dyn_tree_link *link, const double *q)
{
    struct dyn_pose pose = {.turn = {1.0, 0.0, 0.0, 0.0}};
    switch (link->kind) {
    case DYN_TREE_LINK_SPHERICAL:
        pose.turn = dyn_quat_unit(dyn_quat_load(q));
        break;
    case DYN_TREE_LINK_FREE:
        pose = (struct dyn_pose){dyn_quat_unit(dyn_quat_load(q + 3)), dyn_vec3_load(q)};
        break;
    case DYN_TREE_LINK_FIXED:
        break;
    default:
        if (dyn_tree_link_turns(link))
            pose.turn = (struct dyn_quat){cos(0.5 * q[0]), 0.0, 0.0, sin(0.5 * q[0])};
        pose.origin.z = link->pitch * q[0];
        break;
    }
    return pose;
}

/* The pose of link i in its parent. */
static struct dyn_pose link_pose(const struct dyn_model *model, const double *q, int i)
{
    const struct dyn_tree_link *link = &model->link[i];
    struct dyn_pose pose = model->place[i];
    double followed;

    if (link->node < 0) {
        const struct dyn_pose moved =
            joint_motion_pose(link, dyn_mimic_q(model, link, q, &followed));
        return dyn_pose_mul(&pose, &moved);
    }
    const double *eta = q + dyn_modal_shape_of_node(model, link)->q_at;
    const struct dyn_modal_shape_node at = dyn_modal_shape_node(model, link->node, eta, NULL);
    pose.origin = dyn_add(pose.origin, at.u);
    pose.turn = dyn_quat_mul(gibbs_turn(at.theta), pose.turn);
    return pose;
}

/* A quaternion keeps its sign from one frame to the next; one taken from a matrix would not. */
struct dyn_pose dyn_body_pose(const struct dyn_model *model, const double *q, int body)
{
    struct dyn_pose pose = model->body_in_link[body];
    for (int i = model->body_link[body]; i >= 0; i = model->link[i].parent) {
        const struct dyn_pose link = link_pose(model, q, i);
        pose = dyn_pose_mul(&link, &pose);
    }
    return pose;
}
