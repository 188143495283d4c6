#include "dynamics/scene.h"

#include <string.h>

#include "dynamics/cut.h"
#include "dynamics/kinematics.h"
#include "dynamics/tree.h"

static size_t lay_out(struct dyn_scene *scene, void *mem, const struct dyn_model *model)
{
    const size_t n = (size_t)model->body_count, nv = (size_t)model->nv;
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *scene);
    scene->kernel = dyn_cut(mem, &at, dyn_work_size(model));
    scene->E = dyn_cut(mem, &at, n * sizeof *scene->E);
    scene->arm = dyn_cut(mem, &at, n * sizeof *scene->arm);
    scene->S = dyn_cut(mem, &at, nv * sizeof *scene->S);
    scene->hop = dyn_cut(mem, &at, nv * sizeof *scene->hop);
    return at;
}

size_t dyn_scene_size(const struct dyn_model *model)
{
    struct dyn_scene probe;
    return lay_out(&probe, NULL, model);
}

struct dyn_scene *dyn_scene_place(const struct dyn_model *model, void *mem)
{
    struct dyn_scene *scene = mem;
    memset(mem, 0, dyn_scene_size(model));
    lay_out(scene, mem, model);
    (void)dyn_work_place(model, scene->kernel);
    return scene;
}

int dyn_scene_first(const struct dyn_model *model, int body)
{
    return model->v_index[body];
}

int dyn_scene_end(const struct dyn_model *model, int body)
{
    return model->v_index[body] + dyn_joint_nv(model->joint[body]);
}

/* The columns of S of body i; all of them stand at its origin. */
static void joint_columns(const struct dyn_model *model, int i, const struct dyn_mat3 *E,
                          struct dyn_vec6 *S)
{
    switch (model->joint[i]) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        S[0] = (struct dyn_vec6){.ang = dyn_mul_t(E, model->axis[i])};
        break;
    case DYN_JOINT_PRISMATIC:
        S[0] = (struct dyn_vec6){.lin = dyn_mul_t(E, model->axis[i])};
        break;
    case DYN_JOINT_FREE: /* velocities in body axes */
        for (int k = 0; k < 3; k++) {
            S[k] = (struct dyn_vec6){.ang = E->row[k]};
            S[k + 3] = (struct dyn_vec6){.lin = E->row[k]};
        }
        break;
    }
}

/* One hop over all bodies that are bolted in between; none between the velocities of one joint. */
static void joint_hops(const struct dyn_model *model, int i, struct dyn_scene *scene)
{
    const int first = dyn_scene_first(model, i), end = dyn_scene_end(model, i);
    struct dyn_vec3 hop = scene->arm[i];
    int onto = model->parent[i];

    for (; onto >= 0 && dyn_joint_nv(model->joint[onto]) == 0; onto = model->parent[onto])
        hop = dyn_add(hop, scene->arm[onto]);
    for (int k = first; k < end; k++)
        scene->hop[k] = k == first ? hop : (struct dyn_vec3){0.0, 0.0, 0.0};
}

void dyn_scene_turn(const struct dyn_model *model, struct dyn_scene *scene)
{
    for (int i = 0; i < model->body_count; i++) {
        const struct dyn_transform *X = &scene->kernel->X[i];
        const int parent = model->parent[i];
        if (parent >= 0) {
            scene->E[i] = dyn_mat3_mul(&X->E, &scene->E[parent]);
            scene->arm[i] = dyn_mul_t(&scene->E[parent], X->r);
        } else {
            scene->E[i] = X->E;
            scene->arm[i] = X->r;
        }
        joint_columns(model, i, &scene->E[i], scene->S + dyn_scene_first(model, i));
        joint_hops(model, i, scene);
    }
}

void dyn_scene_take(const struct dyn_model *model, const struct dyn_state *state,
                    struct dyn_scene *scene)
{
    dyn_kinematics(model, state, scene->kernel);
    dyn_scene_turn(model, scene);
}

struct dyn_vec3 dyn_scene_arm(const struct dyn_scene *scene, const struct dyn_point *point)
{
    return dyn_mul_t(&scene->E[point->body], dyn_vec3_load(point->at));
}
