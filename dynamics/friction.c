#include "dynamics/friction.h"

#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"
#include "dynamics/plant_work.h"

/* The most rows of an effector: a parameter that may be changed between two steps counts as if it
 * were not zero. */
static int rows_of(const struct dyn_effector *effector)
{
    return effector->type == DYN_EFFECTOR_CONTACT ? 2 : effector->type == DYN_EFFECTOR_WHEEL;
}

static int count_rows(const struct dyn_plant *plant)
{
    int count = 0;
    for (int k = 0; k < plant->model->force_entry_count; k++)
        count += plant->model->force_entry[k].force_spec.coulomb_speed > 0.0;
    for (int k = 0; k < plant->effector_count; k++)
        count += rows_of(&plant->effectors[k]);
    return count;
}

static size_t lay_out_friction(struct dyn_friction *friction, void *mem,
                               const struct dyn_plant *plant)
{
    const struct dyn_model *model = plant->model;
    const size_t n = (size_t)count_rows(plant), nv = (size_t)model->nv, size = sizeof(double);
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *friction);
    friction->row_max = (int)n;
    if (n == 0)
        return at;
    friction->source = dyn_layout_cut(mem, &at, n * sizeof *friction->source);
    friction->pair = dyn_layout_cut(mem, &at, n * sizeof *friction->pair);
    friction->dry = dyn_layout_cut(mem, &at, (size_t)model->force_entry_count * size);
    friction->force = dyn_layout_cut(mem, &at, n * size);
    friction->slip = dyn_layout_cut(mem, &at, n * size);
    friction->W = dyn_layout_cut(mem, &at, n * nv * size);
    friction->w = dyn_layout_cut(mem, &at, nv * size);
    friction->A = dyn_layout_cut(mem, &at, n * n * size);
    friction->b = dyn_layout_cut(mem, &at, n * size);
    friction->scratch = dyn_layout_cut(mem, &at, 4 * n * size);
    friction->jacobian = dyn_layout_cut(mem, &at, 6 * nv * size);
    friction->mass = dyn_layout_cut(mem, &at, dyn_crba_work_size(model));
    friction->response = dyn_layout_cut(mem, &at, dyn_response_size(model));
    friction->cached_source = dyn_layout_cut(mem, &at, n * sizeof *friction->cached_source);
    friction->cached_q = dyn_layout_cut(mem, &at, (size_t)model->nq * size);
    friction->cached_held = dyn_layout_cut(mem, &at, nv * sizeof *friction->cached_held);
    return at;
}

size_t dyn_friction_size(const struct dyn_plant *plant)
{
    struct dyn_friction probe;
    return lay_out_friction(&probe, NULL, plant);
}

struct dyn_friction *dyn_friction_place(const struct dyn_plant *plant, void *mem)
{
    struct dyn_friction *friction = mem;
    memset(mem, 0, dyn_friction_size(plant));
    lay_out_friction(friction, mem, plant);
    if (friction->row_max > 0) {
        (void)dyn_crba_work_place(plant->model, friction->mass);
        (void)dyn_response_place(plant->model, friction->response);
    }
    return friction;
}

static int is_velocity_held(const struct dyn_plant *plant, int v)
{
    return plant->held != NULL && plant->held[v];
}

void dyn_friction_clear(const struct dyn_plant *plant, const double *x,
                        struct dyn_friction *friction)
{
    const struct dyn_model *model = plant->model;
    const double *v = x + model->nq;
    friction->pair_count = friction->row_count = 0;
    for (int k = 0; k < model->force_entry_count; k++) {
        const struct dyn_joint_force_spec *force_spec = &model->force_entry[k].force_spec;
        const struct dyn_mimic_row along = dyn_mimic_row(model, model->force_entry[k].v_at);
        friction->dry[k] = 0.0;
        if (force_spec->coulomb > 0.0 && is_velocity_held(plant, along.of))
            friction->dry[k] =
                -force_spec->coulomb * tanh(along.ratio * v[along.of] / force_spec->coulomb_speed);
    }
}

/* ---- sources of dry friction ---- */

static void add_pair(struct dyn_friction *friction, const struct dyn_friction_source *source,
                     int width, double bound)
{
    if (!(bound > 0.0))
        return;
    const int k = friction->pair_count++;
    friction->source[k] = *source;
    friction->pair[k] = (struct dyn_coulomb_pair){friction->row_count, width, bound};
    friction->row_count += width;
}

static void gather_pairs(const struct dyn_plant *plant, const double *x,
                         const struct dyn_plant_work *work, struct dyn_friction *friction)
{
    const struct dyn_model *model = plant->model;
    for (int k = 0; k < model->force_entry_count; k++) {
        const struct dyn_mimic_row along = dyn_mimic_row(model, model->force_entry[k].v_at);
        const struct dyn_friction_source source = {DYN_FRICTION_JOINT, k, along};
        if (model->force_entry[k].force_spec.coulomb_speed > 0.0 &&
            !is_velocity_held(plant, along.of))
            add_pair(friction, &source, 1, model->force_entry[k].force_spec.coulomb);
    }
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        const struct dyn_effector_input *effector_input =
            &work->effector_input[work->effector_slot[k].effector_body];
        const struct dyn_friction_source foot = {.kind = DYN_FRICTION_CONTACT, .of = k};
        const struct dyn_friction_source wheel = {.kind = DYN_FRICTION_WHEEL, .of = k};
        if (effector->type == DYN_EFFECTOR_CONTACT)
            add_pair(friction, &foot, 2,
                     dyn_contact_friction_bound(&effector->contact, effector_input));
        else if (effector->type == DYN_EFFECTOR_WHEEL)
            add_pair(friction, &wheel, 1,
                     dyn_wheel_friction_bound(&effector->wheel, effector_input,
                                              x[work->effector_slot[k].state_at]));
    }
}

/* ---- slip velocities caused by forces ---- */

/* Rows and columns of held velocities become those of the identity. */
static void hold_dense_mass(const struct dyn_plant *plant, double *M)
{
    const int nv = plant->model->nv;
    for (int i = 0; plant->held != NULL && i < nv; i++)
        for (int j = 0; j <= i; j++)
            if (plant->held[i] || plant->held[j])
                M[i * nv + j] = i == j ? 1.0 : 0.0;
}

static void factor_mass(const struct dyn_plant *plant, double modal_implicit_step,
                        struct dyn_crba_work *mass)
{
    dyn_composite_rows(plant->model, mass);
    if (modal_implicit_step > 0.0)
        dyn_composite_add_modal_implicit(plant->model, modal_implicit_step, mass->ldl);
    dyn_mimic_mass(plant->model, mass->ldl, mass->dense);
    hold_dense_mass(plant, mass->dense);
    dyn_cholesky_factor(plant->model->nv, mass->dense);
}

/* Where a foot or a wheel is. */
static struct dyn_point source_point(const struct dyn_plant *plant,
                                     const struct dyn_friction_source *source)
{
    const struct dyn_effector *effector = &plant->effectors[source->of];
    struct dyn_point point = {.body = effector->body};
    if (source->kind == DYN_FRICTION_CONTACT)
        memcpy(point.at, effector->contact.at, sizeof point.at);
    return point;
}

static struct dyn_vec3 wheel_axis(const struct dyn_plant *plant,
                                  const struct dyn_friction *friction,
                                  const struct dyn_friction_source *source)
{
    const struct dyn_effector *effector = &plant->effectors[source->of];
    return dyn_body_to_world(plant->model, friction->mass->tree_pose, effector->body,
                             dyn_vec3_load(effector->wheel.axis));
}

/* Where joints mimic others: the rows of J of a pair, without the held velocities, and L^-1 J' of
 * them. */
static void fill_rows_dense(const struct dyn_plant *plant, const struct dyn_friction *friction,
                            int k)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_friction_source *source = &friction->source[k];
    const struct dyn_tree_pose *tree_pose = friction->mass->tree_pose;
    const size_t nv = (size_t)model->nv;
    double *J = friction->W + (size_t)friction->pair[k].row * nv;

    memset(J, 0, (size_t)friction->pair[k].width * nv * sizeof *J);
    if (source->kind == DYN_FRICTION_JOINT) {
        J[source->along.of] = source->along.ratio;
    } else {
        const struct dyn_point point = source_point(plant, source);
        dyn_jacobian(model, tree_pose, &point, friction->jacobian);
    }
    if (source->kind == DYN_FRICTION_CONTACT) {
        memcpy(J, friction->jacobian + 3 * nv, 2 * nv * sizeof *J);
    } else if (source->kind == DYN_FRICTION_WHEEL) {
        const struct dyn_vec3 a = wheel_axis(plant, friction, source);
        for (size_t i = 0; i < nv; i++)
            J[i] = -(a.x * friction->jacobian[i] + a.y * friction->jacobian[nv + i] +
                     a.z * friction->jacobian[2 * nv + i]);
    }
    for (int r = 0; r < friction->pair[k].width; r++) {
        for (size_t i = 0; plant->held != NULL && i < nv; i++)
            J[(size_t)r * nv + i] *= !plant->held[i];
        dyn_cholesky_solve_lower(model->nv, friction->mass->dense, J + (size_t)r * nv);
    }
}

/* The same without mimicking joints, by the factors of the kernel: T J' of a unit force. */
static void fill_rows_tree(const struct dyn_plant *plant, const struct dyn_friction *friction,
                           int k)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_friction_source *source = &friction->source[k];
    double *W = friction->W + (size_t)friction->pair[k].row * (size_t)model->nv;

    if (source->kind == DYN_FRICTION_JOINT) {
        dyn_response_of_joint_force(friction->response, source->along.of, W);
        return;
    }
    const struct dyn_point point = source_point(plant, source);
    const int link = model->body_link[point.body];
    const struct dyn_vec3 arm = dyn_tree_pose_arm(model, friction->mass->tree_pose, &point);
    const struct dyn_vec6 x = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    const struct dyn_vec6 y = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const struct dyn_vec6 along_x = dyn_force_shift(&x, arm), along_y = dyn_force_shift(&y, arm);
    if (source->kind == DYN_FRICTION_CONTACT) {
        dyn_response_of_link_force(friction->response, link, &along_x, W);
        dyn_response_of_link_force(friction->response, link, &along_y, W + model->nv);
    } else {
        const struct dyn_vec3 against = dyn_scale(-1.0, wheel_axis(plant, friction, source));
        dyn_response_of_link_force(friction->response, link, &(struct dyn_vec6){.ang = against}, W);
    }
}

/* The slip velocities at the end of the step without friction. */
static void frictionless_slips(const struct dyn_plant *plant, const struct dyn_friction *friction,
                               int k, double h, const double *rate, const double *x,
                               const struct dyn_plant_work *work)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_friction_source *source = &friction->source[k];
    const double *v = x + model->nq, *a = rate + model->nq;
    double *b = friction->b + friction->pair[k].row;

    if (source->kind == DYN_FRICTION_JOINT) {
        b[0] = source->along.ratio * (v[source->along.of] + h * a[source->along.of]);
        return;
    }
    const struct dyn_tree_pose *tree_pose = friction->mass->tree_pose;
    const struct dyn_point point = source_point(plant, source);
    const struct dyn_vec6 moves = dyn_point_velocity(model, tree_pose, &point);
    const struct dyn_vec6 gains = dyn_point_acceleration(model, tree_pose, &point, a);
    const struct dyn_vec6 end = dyn_axpy6(&moves, h, &gains);
    if (source->kind == DYN_FRICTION_CONTACT) {
        b[0] = end.lin.x;
        b[1] = end.lin.y;
    } else {
        const int at = work->effector_slot[source->of].state_at;
        const struct dyn_vec3 axis = wheel_axis(plant, friction, source);
        b[0] = (x[at] + h * rate[at]) / plant->effectors[source->of].wheel.inertia -
               dyn_dot(axis, end.ang);
    }
}

/* A = h W W' and, of a wheel, what its own rotor adds. */
static void form_A(const struct dyn_plant *plant, double h, const struct dyn_friction *friction)
{
    const int n = friction->row_count, nv = plant->model->nv;
    const int has_mimic = dyn_mimic_any(plant->model);
    const int first = has_mimic ? 0 : friction->response->first;
    const int last = has_mimic ? nv : friction->response->last;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double *Wi = friction->W + (size_t)i * (size_t)nv;
            const double *Wj = friction->W + (size_t)j * (size_t)nv;
            double sum = 0.0;
            for (int c = first; c < last; c++)
                sum += Wi[c] * Wj[c];
            friction->A[i * n + j] = friction->A[j * n + i] = h * sum;
        }
    for (int k = 0; k < friction->pair_count; k++)
        if (friction->source[k].kind == DYN_FRICTION_WHEEL)
            friction->A[friction->pair[k].row * (n + 1)] +=
                h / plant->effectors[friction->source[k].of].wheel.inertia;
}

/* Where joints mimic others, or feet and wheels slip: W from the tree pose at x. */
static void find_response_dense(const struct dyn_plant *plant, double modal_implicit_step,
                                const double *x, const struct dyn_work *kernel,
                                const struct dyn_friction *friction)
{
    const struct dyn_model *model = plant->model;
    dyn_tree_pose_update(model, &(struct dyn_state){x, x + model->nq}, friction->mass->tree_pose);
    if (dyn_mimic_any(model))
        factor_mass(plant, modal_implicit_step, friction->mass);
    else
        dyn_response_begin(plant->held, kernel, friction->response);
    for (int k = 0; k < friction->pair_count; k++)
        (dyn_mimic_any(model) ? fill_rows_dense : fill_rows_tree)(plant, friction, k);
}

/* True when W is still valid: it depends on the coordinates and on the held velocities. */
static int is_cached(const struct dyn_plant *plant, double modal_implicit_step, const double *x,
                     const struct dyn_friction *friction)
{
    int same = friction->cached == friction->pair_count &&
               friction->cached_implicit_step == modal_implicit_step;
    for (int k = 0; same && k < friction->pair_count; k++)
        same = friction->cached_source[k] == friction->source[k].of;
    for (int k = 0; same && k < plant->model->nq; k++)
        same = friction->cached_q[k] == x[k];
    for (int k = 0; same && plant->held != NULL && k < plant->model->nv; k++)
        same = friction->cached_held[k] == plant->held[k];
    return same;
}

static void cache_response(const struct dyn_plant *plant, double modal_implicit_step,
                           const double *x, struct dyn_friction *friction)
{
    friction->cached = friction->pair_count;
    friction->cached_implicit_step = modal_implicit_step;
    for (int k = 0; k < friction->pair_count; k++)
        friction->cached_source[k] = friction->source[k].of;
    memcpy(friction->cached_q, x, (size_t)plant->model->nq * sizeof *x);
    if (plant->held != NULL)
        memcpy(friction->cached_held, plant->held, (size_t)plant->model->nv);
}

/* W, from the factors that the kernel has left at x, or from those of M. */
static void find_response(const struct dyn_plant *plant, double modal_implicit_step,
                          const double *x, const struct dyn_work *kernel,
                          struct dyn_friction *friction)
{
    const int joints_only = friction->source[friction->pair_count - 1].kind == DYN_FRICTION_JOINT;
    if (dyn_mimic_any(plant->model) || !joints_only) {
        friction->cached = 0;
        find_response_dense(plant, modal_implicit_step, x, kernel, friction);
        return;
    }
    if (is_cached(plant, modal_implicit_step, x, friction))
        return;
    dyn_response_begin(plant->held, kernel, friction->response);
    for (int k = 0; k < friction->pair_count; k++)
        fill_rows_tree(plant, friction, k);
    cache_response(plant, modal_implicit_step, x, friction);
}

void dyn_friction_solve(const struct dyn_plant *plant, double h, double modal_implicit_step,
                        const double *rate, const double *x, struct dyn_plant_work *work)
{
    struct dyn_friction *friction = work->friction;

    gather_pairs(plant, x, work, friction);
    if (friction->pair_count == 0)
        return;
    find_response(plant, modal_implicit_step, x, work->kernel, friction);
    form_A(plant, h, friction);
    for (int k = 0; k < friction->pair_count; k++)
        frictionless_slips(plant, friction, k, h, rate, x, work);

    const int n = friction->row_max;
    dyn_coulomb_step_solve(&(struct dyn_coulomb_step){
        friction->pair_count, friction->row_count, friction->pair, friction->A, friction->b,
        friction->force, friction->slip, friction->scratch, friction->scratch + n,
        friction->scratch + 2 * n, friction->scratch + 3 * n});
    for (int k = 0; k < friction->pair_count; k++)
        if (friction->source[k].kind == DYN_FRICTION_JOINT)
            friction->dry[friction->source[k].of] = friction->force[friction->pair[k].row];
}

/* ---- the effect of friction ---- */

void dyn_friction_add_rate(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                           double *rate)
{
    const struct dyn_friction *friction = work->friction;
    const int nv = plant->model->nv;
    double *a = rate + plant->model->nq, *w = friction->w;
    if (friction->pair_count == 0)
        return;
    memset(w, 0, (size_t)nv * sizeof *w);
    for (int r = 0; r < friction->row_count; r++)
        for (int i = 0; i < nv; i++)
            w[i] += friction->W[r * nv + i] * friction->force[r];
    if (dyn_mimic_any(plant->model)) {
        dyn_cholesky_solve_upper(nv, friction->mass->dense, w);
        for (int i = 0; i < nv; i++)
            a[i] += w[i];
    } else {
        dyn_response_add_acceleration(friction->response, w, a);
    }
    for (int k = 0; k < friction->pair_count; k++)
        if (friction->source[k].kind == DYN_FRICTION_WHEEL)
            rate[work->effector_slot[friction->source[k].of].state_at] +=
                friction->force[friction->pair[k].row];
}

static void add_to_array3(struct dyn_vec3 a, double sum[3])
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

void dyn_friction_add_loads(const struct dyn_plant *plant, struct dyn_plant_work *work)
{
    const struct dyn_friction *friction = work->friction;
    for (int k = 0; k < friction->pair_count; k++) {
        const struct dyn_friction_source *source = &friction->source[k];
        if (source->kind == DYN_FRICTION_JOINT)
            continue;
        const struct dyn_effector *effector = &plant->effectors[source->of];
        const struct dyn_effector_slot *effector_slot = &work->effector_slot[source->of];
        const double *f = friction->force + friction->pair[k].row;
        struct dyn_load *load = &work->load[effector_slot->effector_body];
        if (source->kind == DYN_FRICTION_WHEEL) {
            work->x_rate[effector_slot->state_at] += f[0];
            add_to_array3(dyn_scale(-f[0], dyn_vec3_load(effector->wheel.axis)), load->moment);
        } else {
            const struct dyn_vec3 along = {f[0], f[1], 0.0};
            const struct dyn_vec3 force =
                dyn_mul(&work->effector_input[effector_slot->effector_body].E, along);
            add_to_array3(force, load->force);
            add_to_array3(dyn_cross(dyn_vec3_load(effector->contact.at), force), load->moment);
        }
    }
}
