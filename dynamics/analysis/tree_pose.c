#include "dynamics/analysis/tree_pose.h"

#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/layout.h"

static size_t lay_out(struct dyn_scene *scene, void *mem, const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count, nv = (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *scene);
    scene->kernel = dyn_cut(mem, &at, dyn_work_size(model));
    scene->E = dyn_cut(mem, &at, n * sizeof *scene->E);
    scene->arm = dyn_cut(mem, &at, n * sizeof *scene->arm);
    scene->S = dyn_cut(mem, &at, nv * sizeof *scene->S);
    scene->X = dyn_cut(mem, &at, (size_t)model->node_count * sizeof *scene->X);
    for (int k = 0; k < model->node_count; k++) {
        const size_t modes = (size_t)model->modal[model->node[k].modal].modes;
        struct dyn_vec6 *X = dyn_cut(mem, &at, modes * sizeof *X);
        if (mem != NULL)
            scene->X[k] = X;
    }
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

/* The columns of S of a link; all of them stand at its origin. */
static void joint_columns(const struct dyn_link *link, const struct dyn_mat3 *E, struct dyn_vec6 *S)
{
    for (int k = 0; k < dyn_link_nv(link); k++) {
        double unit[6] = {0.0};
        unit[k] = 1.0;
        const struct dyn_vec6 own = dyn_joint_motion(link, unit);
        S[k] = (struct dyn_vec6){dyn_mul_t(E, own.ang), dyn_mul_t(E, own.lin)};
    }
}

/* What the modes under a node give it, turned to world axes by E of their link. */
static void node_columns(const struct dyn_model *model, const struct dyn_scene *scene, int node,
                         const struct dyn_mat3 *E)
{
    const int m = model->node[node].modal;
    const double *eta = scene->kernel->modal[m].eta;
    const struct dyn_shape_node at = dyn_shape_node(model, node, eta, NULL);
    for (int p = 0; p < model->modal[m].modes; p++) {
        const struct dyn_vec6 own = dyn_shape_column(model, node, eta, &at, p);
        scene->X[node][p] = (struct dyn_vec6){dyn_mul_t(E, own.ang), dyn_mul_t(E, own.lin)};
    }
}

void dyn_scene_turn(const struct dyn_model *model, struct dyn_scene *scene)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        const struct dyn_transform *X = &scene->kernel->X[i];
        if (link->parent >= 0) {
            scene->E[i] = dyn_mat3_mul(&X->E, &scene->E[link->parent]);
            scene->arm[i] = dyn_mul_t(&scene->E[link->parent], X->r);
        } else {
            scene->E[i] = X->E;
            scene->arm[i] = X->r;
        }
        joint_columns(link, &scene->E[i], scene->S + link->v_at);
        if (link->node >= 0)
            node_columns(model, scene, link->node, &scene->E[link->parent]);
    }
}

void dyn_scene_take(const struct dyn_model *model, const struct dyn_state *state,
                    struct dyn_scene *scene)
{
    const struct dyn_state links = dyn_follow_state(model, state, &scene->kernel->follow);
    dyn_kinematics(model, &links, scene->kernel);
    dyn_scene_turn(model, scene);
}

struct dyn_vec3 dyn_body_to_world(const struct dyn_model *model, const struct dyn_scene *scene,
                                  int body, struct dyn_vec3 a)
{
    const int l = model->body_link[body];
    const struct dyn_vec3 in_link = dyn_quat_rotate(model->seat[body].turn, a);
    return l < 0 ? in_link : dyn_mul_t(&scene->E[l], in_link);
}

struct dyn_vec3 dyn_scene_arm(const struct dyn_model *model, const struct dyn_scene *scene,
                              const struct dyn_point *point)
{
    const int l = model->body_link[point->body];
    const struct dyn_vec3 at = dyn_pose_point(&model->seat[point->body], dyn_vec3_load(point->at));
    return l < 0 ? at : dyn_mul_t(&scene->E[l], at);
}
