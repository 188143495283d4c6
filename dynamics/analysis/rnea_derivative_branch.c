/* Tested by tests/dynamics/analysis/test_linearize.c. */
#include "dynamics/analysis/rnea_derivative_branch.h"

#include "dynamics/analysis/rnea_derivative_parts.h"
#include "dynamics/flex/modal_shape.h"

/* One velocity j on its way to the root: what tau_j takes from motion further in, F . a + n . w,
 * and the force that a step along j, or of v_j, hands to what is further in. */
struct accumulator {
    int j;
    size_t nv; /* columns of the answer */
    struct dyn_vec6 F;
    struct dyn_vec3 n;
    struct dyn_vec6 by_q, by_v;
};

static struct accumulator begin_accumulator(const struct dyn_model *model,
                                            const struct dyn_rnea_derivative_work *work, int i,
                                            int j)
{
    const struct dyn_rnea_derivative_link *part = &work->part[i];
    const struct dyn_rnea_derivative_velocity *step = &work->step[j];
    const struct dyn_inertia *Ic = &work->crba->Ic[i];
    const struct dyn_vec6 *S = &work->crba->tree_pose->S[j];
    return (struct accumulator){
        .j = j,
        .nv = (size_t)model->full_nv,
        .F = dyn_inertia_mul(Ic, S),
        .n = dyn_rnea_derivative_turn_response(part, S),
        .by_q = dyn_rnea_derivative_changed_force(Ic, part, &step->a_q, step->v_q.ang),
        .by_v = dyn_rnea_derivative_changed_force(Ic, part, &step->a_v, S->ang),
    };
}

static struct accumulator begin_mode_accumulator(const struct dyn_model *model,
                                                 const struct dyn_rnea_derivative_work *work, int j)
{
    const struct dyn_rnea_derivative_mode *mode = &work->mode[j];
    return (struct accumulator){
        .j = j,
        .nv = (size_t)model->full_nv,
        .F = work->crba->B[j],
        .n = mode->n,
        .by_q = mode->by_q,
        .by_v = mode->by_v,
    };
}

/* tau_j for steps of velocity k, along S, which is further in or of the same link. */
static void fill_outer(const struct accumulator *accumulator,
                       const struct dyn_rnea_derivative_velocity *step, const struct dyn_vec6 *S,
                       int k, const struct dyn_rnea_derivative_full *derivative)
{
    const size_t at = (size_t)accumulator->j * accumulator->nv + (size_t)k;
    derivative->tau_q[at] =
        dyn_dot6(&accumulator->F, &step->a_q) + dyn_dot(accumulator->n, step->v_q.ang);
    derivative->tau_v[at] = dyn_dot6(&accumulator->F, &step->a_v) + dyn_dot(accumulator->n, S->ang);
}

/* tau_k for steps of velocity j. */
static void fill_inner(const struct accumulator *accumulator, const struct dyn_vec6 *S, int k,
                       const struct dyn_rnea_derivative_full *derivative)
{
    const size_t at = (size_t)k * accumulator->nv + (size_t)accumulator->j;
    derivative->tau_q[at] = dyn_dot6(&accumulator->by_q, S);
    derivative->tau_v[at] = dyn_dot6(&accumulator->by_v, S);
}

/* Across the joint: the step turns the force as well, and the rotor couples to the parent. */
static void cross_joint(const struct dyn_model *model, const struct dyn_rnea_derivative_work *work,
                        int i, struct accumulator *accumulator)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_tree_pose *tree_pose = work->crba->tree_pose;
    const struct dyn_vec6 swept = dyn_cross_force(&tree_pose->S[accumulator->j], &work->part[i].f);

    accumulator->by_q = dyn_add6(&accumulator->by_q, &swept);
    accumulator->F = dyn_force_shift(&accumulator->F, tree_pose->arm[i]);
    accumulator->by_q = dyn_force_shift(&accumulator->by_q, tree_pose->arm[i]);
    accumulator->by_v = dyn_force_shift(&accumulator->by_v, tree_pose->arm[i]);
    if (link->has_rotor) {
        const struct dyn_vec3 e = dyn_rnea_derivative_rotor_spin(model, tree_pose, i);
        const struct dyn_vec3 n = dyn_cross(work->part[link->parent].v.ang, e);
        accumulator->F.ang = dyn_add(accumulator->F.ang, e);
        accumulator->n = dyn_add(accumulator->n, n);
        accumulator->by_v.ang = dyn_add(accumulator->by_v.ang, n);
    }
}

/* Both, for the velocities of link l and for the modes under it. */
static void fill_link(const struct dyn_model *model, const struct dyn_rnea_derivative_work *work,
                      int l, const struct accumulator *accumulator,
                      const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_tree_link *link = &model->link[l];
    const struct dyn_tree_pose *tree_pose = work->crba->tree_pose;

    for (int k = link->v_at; k < link->v_at + dyn_tree_link_nv(link); k++) {
        fill_outer(accumulator, &work->step[k], &tree_pose->S[k], k, derivative);
        fill_inner(accumulator, &tree_pose->S[k], k, derivative);
    }
    if (link->node < 0)
        return;
    const struct dyn_modal_link *under = dyn_modal_shape_of_node(model, link);
    for (int p = 0; p < under->modes; p++) {
        const struct dyn_vec6 *X = &tree_pose->X[link->node][p];
        fill_outer(accumulator, &work->node_step[link->node][p], X, under->v_at + p, derivative);
        fill_inner(accumulator, X, under->v_at + p, derivative);
    }
}

/* From link l to the root. */
static void pass_to_root(const struct dyn_model *model, const struct dyn_rnea_derivative_work *work,
                         int l, struct accumulator *accumulator,
                         const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_vec3 *arm = work->crba->tree_pose->arm;

    for (; l >= 0; l = model->link[l].parent) {
        fill_link(model, work, l, accumulator, derivative);
        if (work->part[l].lags)
            accumulator->n = dyn_add(
                accumulator->n, dyn_rnea_derivative_lag_response(&work->part[l], &accumulator->F));
        accumulator->F = dyn_force_shift(&accumulator->F, arm[l]);
        accumulator->by_q = dyn_force_shift(&accumulator->by_q, arm[l]);
        accumulator->by_v = dyn_force_shift(&accumulator->by_v, arm[l]);
    }
}

void dyn_rnea_derivative_fill_joint(const struct dyn_model *model,
                                    const struct dyn_rnea_derivative_work *work, int i, int j,
                                    const struct dyn_rnea_derivative_full *derivative)
{
    const struct dyn_tree_link *link = &model->link[i];
    struct accumulator accumulator = begin_accumulator(model, work, i, j);

    for (int k = link->v_at; k < link->v_at + dyn_tree_link_nv(link); k++)
        fill_outer(&accumulator, &work->step[k], &work->crba->tree_pose->S[k], k, derivative);
    if (link->parent < 0)
        return;
    cross_joint(model, work, i, &accumulator);
    pass_to_root(model, work, link->parent, &accumulator, derivative);
}

void dyn_rnea_derivative_fill_modes(const struct dyn_model *model,
                                    const struct dyn_rnea_derivative_work *work,
                                    const struct dyn_modal_link *modal,
                                    const struct dyn_rnea_derivative_full *derivative)
{
    for (int j = modal->v_at; j < modal->v_at + modal->modes; j++) {
        struct accumulator accumulator = begin_mode_accumulator(model, work, j);
        pass_to_root(model, work, modal->link, &accumulator, derivative);
    }
}
