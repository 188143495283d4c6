#include "dynamics/rnea.h"

#include "dynamics/kinematics.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"

static void add_joint_acceleration(const struct dyn_model *model, int i, const double *qdd,
                                   struct dyn_vec6 *a)
{
    switch (model->joint[i]) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        a->ang = dyn_add(a->ang, dyn_scale(qdd[0], model->axis[i]));
        break;
    case DYN_JOINT_PRISMATIC:
        a->lin = dyn_add(a->lin, dyn_scale(qdd[0], model->axis[i]));
        break;
    case DYN_JOINT_FREE:
        a->ang = dyn_add(a->ang, dyn_vec3_load(qdd));
        a->lin = dyn_add(a->lin, dyn_vec3_load(qdd + 3));
        break;
    }
}

/* f = I a + w x (I w) - force from outside, per body */
static void outward(const struct dyn_model *model, const double *a, const struct dyn_input *input,
                    struct dyn_work *work)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);

    for (int i = 0; i < model->body_count; i++) {
        work->a[i] = dyn_carried_acceleration(model, work, i, &world);
        add_joint_acceleration(model, i, a + model->v_index[i], &work->a[i]);

        const struct dyn_vec6 f = dyn_inertia_mul(&model->inertia[i], &work->a[i]);
        const struct dyn_vec6 p = dyn_gyroscopic_force(model, work, i);
        work->pA[i] = dyn_add6(&f, &p);
        if (input->force != NULL)
            work->pA[i] = dyn_axpy6(&work->pA[i], -1.0, &input->force[i]);
    }
}

/* S' f, less what spring and damper give by themselves. */
static void project(const struct dyn_model *model, const struct dyn_state *state, int i,
                    const struct dyn_vec6 *f, double *tau)
{
    switch (model->joint[i]) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        tau[0] = dyn_dot(model->axis[i], f->ang) - dyn_passive_force(model, state, i);
        break;
    case DYN_JOINT_PRISMATIC:
        tau[0] = dyn_dot(model->axis[i], f->lin) - dyn_passive_force(model, state, i);
        break;
    case DYN_JOINT_FREE:
        dyn_vec3_store(f->ang, tau);
        dyn_vec3_store(f->lin, tau + 3);
        break;
    }
}

void dyn_rnea(const struct dyn_model *model, const struct dyn_state *state, const double *a,
              const struct dyn_input *input, struct dyn_work *work, double *tau)
{
    dyn_kinematics(model, state, work);
    outward(model, a, input, work);

    for (int i = model->body_count - 1; i >= 0; i--) {
        const int parent = model->parent[i];
        project(model, state, i, &work->pA[i], tau + model->v_index[i]);
        if (parent < 0)
            continue;
        const struct dyn_vec6 f = dyn_force_to_parent(&work->X[i], &work->pA[i]);
        work->pA[parent] = dyn_add6(&work->pA[parent], &f);
    }
}
