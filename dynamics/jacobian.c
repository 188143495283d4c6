/*
 * Every sum runs from the point to the root: what a joint does at its body's origin, shifted to the
 * point.
 */
#include "dynamics/jacobian.h"

#include <string.h>

#include "dynamics/scene.h"
#include "dynamics/tree.h"

/* A body-axes motion of body i's origin, in world axes and felt at arm. */
static struct dyn_vec6 seen_at(const struct dyn_scene *scene, int i, const struct dyn_vec6 *m,
                               struct dyn_vec3 arm)
{
    const struct dyn_mat3 *E = &scene->E[i];
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

void dyn_jacobian(const struct dyn_model *model, const struct dyn_scene *scene,
                  const struct dyn_point *point, double *J)
{
    const size_t nv = (size_t)model->nv;
    struct dyn_vec3 arm = dyn_scene_arm(scene, point);

    memset(J, 0, 6 * nv * sizeof *J);
    for (int i = point->body; i >= 0; i = model->parent[i]) {
        for (int k = dyn_scene_first(model, i); k < dyn_scene_end(model, i); k++) {
            const struct dyn_vec6 column = dyn_motion_shift(&scene->S[k], arm);
            store_column(&column, nv, J + k);
        }
        arm = dyn_add(arm, scene->arm[i]);
    }
}

struct dyn_vec6 dyn_point_velocity(const struct dyn_scene *scene, const struct dyn_point *point)
{
    return seen_at(scene, point->body, &scene->kernel->v[point->body], dyn_scene_arm(scene, point));
}

/* S a of body i's joint, at its origin. */
static struct dyn_vec6 joint_motion(const struct dyn_model *model, const struct dyn_scene *scene,
                                    int i, const double *a)
{
    struct dyn_vec6 sum = {0};
    for (int k = dyn_scene_first(model, i); k < dyn_scene_end(model, i); k++)
        sum = dyn_axpy6(&sum, a[k], &scene->S[k]);
    return sum;
}

/* c of the work is what velocities add at each joint, the parent's centripetal term included; only
 * the point's own is left. */
struct dyn_vec6 dyn_point_acceleration(const struct dyn_model *model, const struct dyn_scene *scene,
                                       const struct dyn_point *point, const double *a)
{
    const struct dyn_work *kernel = scene->kernel;
    struct dyn_vec3 arm = dyn_scene_arm(scene, point);
    const struct dyn_vec3 w = dyn_mul_t(&scene->E[point->body], kernel->v[point->body].ang);
    struct dyn_vec6 sum = {.lin = dyn_cross(w, dyn_cross(w, arm))};

    for (int i = point->body; i >= 0; i = model->parent[i]) {
        const struct dyn_vec6 c = seen_at(scene, i, &kernel->c[i], arm);
        sum = dyn_add6(&sum, &c);
        if (a != NULL) {
            const struct dyn_vec6 own = joint_motion(model, scene, i, a);
            const struct dyn_vec6 felt = dyn_motion_shift(&own, arm);
            sum = dyn_add6(&sum, &felt);
        }
        arm = dyn_add(arm, scene->arm[i]);
    }
    return sum;
}
