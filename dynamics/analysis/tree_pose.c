#include "dynamics/analysis/tree_pose.h"

#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/layout.h"

static size_t lay_out_tree_pose(struct dyn_tree_pose *tree_pose, void *mem,
                                const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count, nv = (size_t)model->full_nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *tree_pose);
    tree_pose->kernel = dyn_layout_cut(mem, &at, dyn_work_size(model));
    tree_pose->E = dyn_layout_cut(mem, &at, n * sizeof *tree_pose->E);
    tree_pose->arm = dyn_layout_cut(mem, &at, n * sizeof *tree_pose->arm);
    tree_pose->S = dyn_layout_cut(mem, &at, nv * sizeof *tree_pose->S);
    tree_pose->X = dyn_layout_cut(mem, &at, (size_t)model->node_count * sizeof *tree_pose->X);
    for (int k = 0; k < model->node_count; k++) {
        const size_t modes = (size_t)model->modal[model->node[k].modal].modes;
        struct dyn_vec6 *X = dyn_layout_cut(mem, &at, modes * sizeof *X);
        if (mem != NULL)
            tree_pose->X[k] = X;
    }
    return at;
}

size_t dyn_tree_pose_size(const struct dyn_model *model)
{
    struct dyn_tree_pose probe;
    return lay_out_tree_pose(&probe, NULL, model);
}

struct dyn_tree_pose *dyn_tree_pose_place(const struct dyn_model *model, void *mem)
{
    struct dyn_tree_pose *tree_pose = mem;
    memset(mem, 0, dyn_tree_pose_size(model));
    lay_out_tree_pose(tree_pose, mem, model);
    (void)dyn_work_place(model, tree_pose->kernel);
    return tree_pose;
}

/* The columns of S of a link; all of them are at its origin. */
static void joint_columns(const struct dyn_tree_link *link, const struct dyn_mat3 *E,
                          struct dyn_vec6 *S)
{
    for (int k = 0; k < dyn_tree_link_nv(link); k++) {
        double unit[6] = {0.0};
        unit[k] = 1.0;
        const struct dyn_vec6 own = dyn_joint_motion(link, unit);
        S[k] = (struct dyn_vec6){dyn_mul_t(E, own.ang), dyn_mul_t(E, own.lin)};
    }
}

/* The motion of a node by each mode under it, turned to world axes by E of their link. */
static void node_columns(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                         int node, const struct dyn_mat3 *E)
{
    const int m = model->node[node].modal;
    const double *eta = tree_pose->kernel->modal[m].eta;
    const struct dyn_modal_shape_node at = dyn_modal_shape_node(model, node, eta, NULL);
    for (int p = 0; p < model->modal[m].modes; p++) {
        const struct dyn_vec6 own = dyn_modal_shape_column(model, node, eta, &at, p);
        tree_pose->X[node][p] = (struct dyn_vec6){dyn_mul_t(E, own.ang), dyn_mul_t(E, own.lin)};
    }
}

void dyn_tree_pose_from_kernel(const struct dyn_model *model, struct dyn_tree_pose *tree_pose)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const struct dyn_transform *X = &tree_pose->kernel->X[i];
        if (link->parent >= 0) {
            tree_pose->E[i] = dyn_mat3_mul(&X->E, &tree_pose->E[link->parent]);
            tree_pose->arm[i] = dyn_mul_t(&tree_pose->E[link->parent], X->r);
        } else {
            tree_pose->E[i] = X->E;
            tree_pose->arm[i] = X->r;
        }
        joint_columns(link, &tree_pose->E[i], tree_pose->S + link->v_at);
        if (link->node >= 0)
            node_columns(model, tree_pose, link->node, &tree_pose->E[link->parent]);
    }
}

void dyn_tree_pose_update(const struct dyn_model *model, const struct dyn_state *state,
                          struct dyn_tree_pose *tree_pose)
{
    const struct dyn_state links = dyn_mimic_state(model, state, &tree_pose->kernel->mimic);
    dyn_kinematics(model, &links, tree_pose->kernel);
    dyn_tree_pose_from_kernel(model, tree_pose);
}

struct dyn_vec3 dyn_body_to_world(const struct dyn_model *model,
                                  const struct dyn_tree_pose *tree_pose, int body,
                                  struct dyn_vec3 a)
{
    const int l = model->body_link[body];
    const struct dyn_vec3 in_link = dyn_quat_rotate(model->body_in_link[body].turn, a);
    return l < 0 ? in_link : dyn_mul_t(&tree_pose->E[l], in_link);
}

struct dyn_vec3 dyn_tree_pose_arm(const struct dyn_model *model,
                                  const struct dyn_tree_pose *tree_pose,
                                  const struct dyn_point *point)
{
    const int l = model->body_link[point->body];
    const struct dyn_vec3 at =
        dyn_pose_point(&model->body_in_link[point->body], dyn_vec3_load(point->at));
    return l < 0 ? at : dyn_mul_t(&tree_pose->E[l], at);
}
