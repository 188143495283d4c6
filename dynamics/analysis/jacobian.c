/*
 * Every sum runs from the point to the root: what a joint does at its body's origin, shifted to the
 * point.
 */
#include "dynamics/analysis/jacobian.h"

#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/tree_pose.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/kernel/mimic.h"

/* A motion of link i's origin, given in its axes, as the motion of the end of arm in world
 * axes. */
static struct dyn_vec6 motion_at(const struct dyn_tree_pose *tree_pose, int i,
                                 const struct dyn_vec6 *m, struct dyn_vec3 arm)
{
    const struct dyn_mat3 *E = &tree_pose->E[i];
    const struct dyn_vec6 turned = {dyn_mul_t(E, m->ang), dyn_mul_t(E, m->lin)};
    return dyn_motion_shift(&turned, arm);
}

static void store_column(const struct dyn_vec6 *m, size_t nv, double *J)
{
    double e[6];
    dyn_vec3_store(m->ang, e);
    dyn_vec3_store(m->lin, e + 3);
    for (size_t r = 0; r < 6; r++)
        J[r * nv] = e[r];
}

/* The column of a mimicking joint is added to that of its leader. */
static void add_column(const struct dyn_vec6 *m, double ratio, size_t nv, double *J)
{
    double e[6];
    dyn_vec3_store(m->ang, e);
    dyn_vec3_store(m->lin, e + 3);
    for (size_t r = 0; r < 6; r++)
        J[r * nv] += ratio * e[r];
}

/* Modes do not mimic, and no joint mimics them. */
static void node_columns(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                         int i, struct dyn_vec3 arm, double *J)
{
    const struct dyn_modal_link *modal = dyn_modal_shape_of_node(model, &model->link[i]);
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_vec6 column = dyn_motion_shift(&tree_pose->X[model->link[i].node][p], arm);
        store_column(&column, (size_t)model->nv, J + modal->v_at + p);
    }
}

static inline void fill_jacobian(const struct dyn_model *model,
                                 const struct dyn_tree_pose *tree_pose,
                                 const struct dyn_point *point, int has_mimic, double *J)
{
    const size_t nv = (size_t)model->nv;
    struct dyn_vec3 arm = dyn_tree_pose_arm(model, tree_pose, point);

    memset(J, 0, 6 * nv * sizeof *J);
    for (int i = model->body_link[point->body]; i >= 0; i = model->link[i].parent) {
        const int first = model->link[i].v_at, end = first + dyn_tree_link_nv(&model->link[i]);
        for (int k = first; k < end; k++) {
            const struct dyn_vec6 column = dyn_motion_shift(&tree_pose->S[k], arm);
            const struct dyn_mimic_row share = dyn_mimic_row(model, k);
            if (has_mimic)
                add_column(&column, share.ratio, nv, J + share.of);
            else
                store_column(&column, nv, J + k);
        }
        if (model->link[i].node >= 0)
            node_columns(model, tree_pose, i, arm, J);
        arm = dyn_add(arm, tree_pose->arm[i]);
    }
}

/* The function is compiled twice: without mimicking joints the loop does not test for them. */
void dyn_jacobian(const struct dyn_model *model, const struct dyn_tree_pose *tree_pose,
                  const struct dyn_point *point, double *J)
{
    if (dyn_mimic_any(model))
        fill_jacobian(model, tree_pose, point, 1, J);
    else
        fill_jacobian(model, tree_pose, point, 0, J);
}

struct dyn_vec6 dyn_point_velocity(const struct dyn_model *model,
                                   const struct dyn_tree_pose *tree_pose,
                                   const struct dyn_point *point)
{
    const int l = model->body_link[point->body];
    if (l < 0)
        return (struct dyn_vec6){0};
    return motion_at(tree_pose, l, &tree_pose->kernel->v[l],
                     dyn_tree_pose_arm(model, tree_pose, point));
}

static struct dyn_vec6 node_motion(const struct dyn_vec6 *X, const struct dyn_modal_link *modal,
                                   const double *a)
{
    struct dyn_vec6 sum = {0};
    for (int p = 0; p < modal->modes; p++)
        sum = dyn_axpy6(&sum, a[modal->v_at + p], &X[p]);
    return sum;
}

/* S a of link i's joint, or X a of a node, at its origin. */
static struct dyn_vec6 joint_motion(const struct dyn_model *model,
                                    const struct dyn_tree_pose *tree_pose, int i, const double *a)
{
    const struct dyn_tree_link *link = &model->link[i];
    if (link->node >= 0)
        return node_motion(tree_pose->X[link->node], dyn_modal_shape_of_node(model, link), a);
    double followed;
    const struct dyn_vec6 own = dyn_joint_motion(link, dyn_mimic_v(model, link, a, &followed));
    return motion_at(tree_pose, i, &own, (struct dyn_vec3){0.0, 0.0, 0.0});
}

/* c of the work is what velocities add at each joint, the parent's centripetal term included; only
 * the point's own is left. */
struct dyn_vec6 dyn_point_acceleration(const struct dyn_model *model,
                                       const struct dyn_tree_pose *tree_pose,
                                       const struct dyn_point *point, const double *a)
{
    const struct dyn_work *kernel = tree_pose->kernel;
    const int l = model->body_link[point->body];
    if (l < 0)
        return (struct dyn_vec6){0};
    struct dyn_vec3 arm = dyn_tree_pose_arm(model, tree_pose, point);
    const struct dyn_vec3 w = dyn_mul_t(&tree_pose->E[l], kernel->v[l].ang);
    struct dyn_vec6 sum = {.lin = dyn_cross(w, dyn_cross(w, arm))};

    for (int i = l; i >= 0; i = model->link[i].parent) {
        const struct dyn_vec6 c = motion_at(tree_pose, i, &kernel->c[i], arm);
        sum = dyn_add6(&sum, &c);
        if (a != NULL) {
            const struct dyn_vec6 own = joint_motion(model, tree_pose, i, a);
            const struct dyn_vec6 shifted = dyn_motion_shift(&own, arm);
            sum = dyn_add6(&sum, &shifted);
        }
        arm = dyn_add(arm, tree_pose->arm[i]);
    }
    return sum;
}
