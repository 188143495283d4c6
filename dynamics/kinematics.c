#include "dynamics/kinematics.h"

#include "dynamics/tree.h"
#include "dynamics/work.h"

static struct dyn_transform turn_transform(const struct dyn_model *model, int i, double q)
{
    const struct dyn_mat3 *E0 = &model->E0[i], *Es = &model->Es[i], *Ec = &model->Ec[i];
    const double s = sin(q), c = cos(q);
    struct dyn_transform X = {.r = model->origin[i]};
    for (int k = 0; k < 3; k++)
        X.E.row[k] =
            dyn_add(E0->row[k], dyn_add(dyn_scale(s, Es->row[k]), dyn_scale(c, Ec->row[k])));
    return X;
}

static struct dyn_transform joint_transform(const struct dyn_model *model, int i, const double *q)
{
    switch (model->joint[i]) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        return turn_transform(model, i, q[0]);
    case DYN_JOINT_PRISMATIC:
        return (struct dyn_transform){model->E0[i],
                                      dyn_add(model->origin[i], dyn_scale(q[0], model->slide[i]))};
    case DYN_JOINT_FREE:
        return (struct dyn_transform){dyn_quat_to_child(dyn_quat_load(q + 3)), dyn_vec3_load(q)};
    }
    return (struct dyn_transform){model->E0[i], model->origin[i]};
}

/* The joint's own velocity added to v, and to c what it causes together with the parent's turning:
 * w x S qd for a hinge, twice that for a slide (Coriolis). */
static void add_joint_motion(const struct dyn_model *model, int i, const double *qd,
                             struct dyn_vec6 *v, struct dyn_vec6 *c)
{
    switch (model->joint[i]) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE: {
        const struct dyn_vec3 s = dyn_scale(qd[0], model->axis[i]);
        c->ang = dyn_cross(v->ang, s);
        v->ang = dyn_add(v->ang, s);
        break;
    }
    case DYN_JOINT_PRISMATIC: {
        const struct dyn_vec3 s = dyn_scale(qd[0], model->axis[i]);
        c->lin = dyn_add(c->lin, dyn_scale(2.0, dyn_cross(v->ang, s)));
        v->lin = dyn_add(v->lin, s);
        break;
    }
    case DYN_JOINT_FREE: /* dv/dt counts components, the acceleration turns with the axes too */
        *v = (struct dyn_vec6){dyn_vec3_load(qd), dyn_vec3_load(qd + 3)};
        c->lin = dyn_cross(v->ang, v->lin);
        break;
    }
}

void dyn_kinematics(const struct dyn_model *model, const struct dyn_state *state,
                    struct dyn_work *work)
{
    for (int i = 0; i < model->body_count; i++) {
        const int parent = model->parent[i];
        struct dyn_transform *X = &work->X[i];
        struct dyn_vec6 v = {0}, c = {0};

        *X = joint_transform(model, i, state->q + model->q_index[i]);
        if (parent >= 0) {
            const struct dyn_vec3 w = work->v[parent].ang;
            v = dyn_motion_to_child(X, &work->v[parent]);
            c.lin = dyn_mul(&X->E, dyn_cross(w, dyn_cross(w, X->r)));
        }
        add_joint_motion(model, i, state->v + model->v_index[i], &v, &c);
        work->v[i] = v;
        work->c[i] = c;
    }
}

struct dyn_vec6 dyn_carried_acceleration(const struct dyn_model *model, const struct dyn_work *work,
                                         int i, const struct dyn_vec6 *world)
{
    const int parent = model->parent[i];
    const struct dyn_vec6 *from = parent >= 0 ? &work->a[parent] : world;
    const struct dyn_vec6 a = dyn_motion_to_child(&work->X[i], from);
    return dyn_add6(&a, &work->c[i]);
}

struct dyn_vec6 dyn_gyroscopic_force(const struct dyn_model *model, const struct dyn_work *work,
                                     int i)
{
    const struct dyn_inertia *J = &model->inertia[i];
    const struct dyn_vec3 w = work->v[i].ang;
    return (struct dyn_vec6){dyn_cross(w, dyn_sym3_mul(&J->I, w)),
                             dyn_cross(w, dyn_cross(w, J->mc))};
}

double dyn_passive_force(const struct dyn_model *model, const struct dyn_state *state, int i)
{
    const double q = state->q[model->q_index[i]], v = state->v[model->v_index[i]];
    return -model->stiffness[i] * (q - model->rest[i]) - model->damping[i] * v;
}

struct dyn_vec6 dyn_world_acceleration(const struct dyn_input *input)
{
    return (struct dyn_vec6){.lin = dyn_scale(-1.0, dyn_vec3_load(input->gravity))};
}

/* dx/dt = R v, dq/dt = q (0, w) / 2 */
static void free_rate(const double *q, const double *v, double *q_rate)
{
    const struct dyn_quat turn = dyn_quat_load(q + 3);
    const struct dyn_mat3 E = dyn_quat_to_child(turn);
    dyn_vec3_store(dyn_mul_t(&E, dyn_vec3_load(v + 3)), q_rate);
    dyn_quat_store(dyn_quat_rate(turn, dyn_vec3_load(v)), q_rate + 3);
}

void dyn_position_rate(const struct dyn_model *model, const struct dyn_state *state, double *q_rate)
{
    for (int i = 0; i < model->body_count; i++) {
        const double *q = state->q + model->q_index[i], *v = state->v + model->v_index[i];
        double *rate = q_rate + model->q_index[i];
        if (model->joint[i] == DYN_JOINT_FREE)
            free_rate(q, v, rate);
        else if (model->joint[i] != DYN_JOINT_FIXED)
            rate[0] = v[0];
    }
}

/* The origin moves along the axes it has at the start of the step. */
static void free_advance(const double *v, double h, double *q)
{
    const struct dyn_quat turn = dyn_quat_load(q + 3);
    const struct dyn_vec3 step = dyn_quat_rotate(turn, dyn_scale(h, dyn_vec3_load(v + 3)));
    dyn_vec3_store(dyn_add(dyn_vec3_load(q), step), q);
    dyn_quat_store(dyn_quat_mul(turn, dyn_quat_exp(dyn_scale(h, dyn_vec3_load(v)))), q + 3);
}

void dyn_position_advance(const struct dyn_model *model, const double *v, double h, double *q)
{
    for (int i = 0; i < model->body_count; i++) {
        double *at = q + model->q_index[i];
        const double *rate = v + model->v_index[i];
        if (model->joint[i] == DYN_JOINT_FREE)
            free_advance(rate, h, at);
        else if (model->joint[i] != DYN_JOINT_FIXED)
            at[0] += h * rate[0];
    }
}

void dyn_position_normalise(const struct dyn_model *model, double *q)
{
    for (int i = 0; i < model->body_count; i++) {
        double *turn = q + model->q_index[i] + 3;
        if (model->joint[i] == DYN_JOINT_FREE)
            dyn_quat_store(dyn_quat_unit(dyn_quat_load(turn)), turn);
    }
}

/* A quaternion keeps its sign from one frame to the next; one taken from a matrix would not. */
static struct dyn_pose joint_pose(const struct dyn_model *model, int i, const double *q)
{
    const struct dyn_vec3 a = model->axis[i];
    const struct dyn_body_spec *spec = &model->spec[i];
    struct dyn_pose pose = {dyn_quat_load(spec->place_quat), model->origin[i]};

    switch (model->joint[i]) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        pose.turn = dyn_quat_mul(pose.turn, dyn_quat_exp(dyn_scale(q[0], a)));
        break;
    case DYN_JOINT_PRISMATIC:
        pose.origin = dyn_add(pose.origin, dyn_scale(q[0], model->slide[i]));
        break;
    case DYN_JOINT_FREE:
        pose = (struct dyn_pose){dyn_quat_unit(dyn_quat_load(q + 3)), dyn_vec3_load(q)};
        break;
    }
    return pose;
}

struct dyn_pose dyn_body_pose(const struct dyn_model *model, const double *q, int body)
{
    struct dyn_pose pose = joint_pose(model, body, q + model->q_index[body]);
    for (int i = model->parent[body]; i >= 0; i = model->parent[i]) {
        const struct dyn_pose outer = joint_pose(model, i, q + model->q_index[i]);
        pose = dyn_pose_mul(&outer, &pose);
    }
    return pose;
}
