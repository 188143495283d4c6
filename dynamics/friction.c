#include "dynamics/friction.h"

#include <string.h>

#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/math/cholesky.h"
#include "dynamics/plant_rate.h"

/* Of an effector, at most: a law that may be changed between two steps counts as if it did. */
static int rows_of(const struct dyn_effector *effector)
{
    return effector->type == DYN_EFFECTOR_CONTACT ? 2 : effector->type == DYN_EFFECTOR_WHEEL;
}

static int count_rows(const struct dyn_plant *plant)
{
    int count = 0;
    for (int k = 0; k < plant->model->lawful_count; k++)
        count += plant->model->lawful[k].law.coulomb_speed > 0.0;
    for (int k = 0; k < plant->effector_count; k++)
        count += rows_of(&plant->effectors[k]);
    return count;
}

static size_t lay_out(struct dyn_friction *friction, void *mem, const struct dyn_plant *plant)
{
    const struct dyn_model *model = plant->model;
    const size_t n = (size_t)count_rows(plant), nv = (size_t)model->nv, size = sizeof(double);
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *friction);
    friction->row_max = (int)n;
    if (n == 0)
        return at;
    friction->rub = dyn_cut(mem, &at, n * sizeof *friction->rub);
    friction->pair = dyn_cut(mem, &at, n * sizeof *friction->pair);
    friction->dry = dyn_cut(mem, &at, (size_t)model->lawful_count * size);
    friction->force = dyn_cut(mem, &at, n * size);
    friction->slip = dyn_cut(mem, &at, n * size);
    friction->W = dyn_cut(mem, &at, n * nv * size);
    friction->w = dyn_cut(mem, &at, nv * size);
    friction->A = dyn_cut(mem, &at, n * n * size);
    friction->b = dyn_cut(mem, &at, n * size);
    friction->scratch = dyn_cut(mem, &at, 4 * n * size);
    friction->jacobian = dyn_cut(mem, &at, 6 * nv * size);
    friction->mass = dyn_cut(mem, &at, dyn_crba_work_size(model));
    friction->response = dyn_cut(mem, &at, dyn_response_size(model));
    friction->kept_of = dyn_cut(mem, &at, n * sizeof *friction->kept_of);
    friction->kept_q = dyn_cut(mem, &at, (size_t)model->nq * size);
    friction->kept_held = dyn_cut(mem, &at, nv * sizeof *friction->kept_held);
    return at;
}

size_t dyn_friction_size(const struct dyn_plant *plant)
{
    struct dyn_friction probe;
    return lay_out(&probe, NULL, plant);
}

struct dyn_friction *dyn_friction_place(const struct dyn_plant *plant, void *mem)
{
    struct dyn_friction *friction = mem;
    memset(mem, 0, dyn_friction_size(plant));
    lay_out(friction, mem, plant);
    if (friction->row_max > 0) {
        (void)dyn_crba_work_place(plant->model, friction->mass);
        (void)dyn_response_place(plant->model, friction->response);
    }
    return friction;
}

static int is_held(const struct dyn_plant *plant, int v)
{
    return plant->held != NULL && plant->held[v];
}

void dyn_friction_forget(const struct dyn_plant *plant, const double *x,
                         struct dyn_friction *friction)
{
    const struct dyn_model *model = plant->model;
    const double *v = x + model->nq;
    friction->pair_count = friction->row_count = 0;
    for (int k = 0; k < model->lawful_count; k++) {
        const struct dyn_joint_law *law = &model->lawful[k].law;
        const struct dyn_follow_share along = dyn_follow_share(model, model->lawful[k].v_at);
        friction->dry[k] = 0.0;
        if (law->coulomb > 0.0 && is_held(plant, along.of))
            friction->dry[k] = -law->coulomb * tanh(along.ratio * v[along.of] / law->coulomb_speed);
    }
}

/* ---- who rubs ---- */

static void add_pair(struct dyn_friction *friction, const struct dyn_rub *rub, int width,
                     double most)
{
    if (!(most > 0.0))
        return;
    const int k = friction->pair_count++;
    friction->rub[k] = *rub;
    friction->pair[k] = (struct dyn_stick_pair){friction->row_count, width, most};
    friction->row_count += width;
}

static void gather(const struct dyn_plant *plant, const double *x,
                   const struct dyn_plant_work *work, struct dyn_friction *friction)
{
    const struct dyn_model *model = plant->model;
    for (int k = 0; k < model->lawful_count; k++) {
        const struct dyn_follow_share along = dyn_follow_share(model, model->lawful[k].v_at);
        const struct dyn_rub rub = {DYN_RUB_JOINT, k, along};
        if (model->lawful[k].law.coulomb_speed > 0.0 && !is_held(plant, along.of))
            add_pair(friction, &rub, 1, model->lawful[k].law.coulomb);
    }
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        const struct dyn_felt *felt = &work->felt[work->post[k].mount];
        const struct dyn_rub foot = {.kind = DYN_RUB_FOOT, .of = k};
        const struct dyn_rub wheel = {.kind = DYN_RUB_WHEEL, .of = k};
        if (effector->type == DYN_EFFECTOR_CONTACT)
            add_pair(friction, &foot, 2, dyn_contact_grip(&effector->contact, felt));
        else if (effector->type == DYN_EFFECTOR_WHEEL)
            add_pair(friction, &wheel, 1,
                     dyn_wheel_grip(&effector->wheel, felt, x[work->post[k].state_at]));
    }
}

/* ---- how slips answer to forces ---- */

/* Rows and columns of what is held become those of a one: it does not answer. */
static void hold_dense(const struct dyn_plant *plant, double *M)
{
    const int nv = plant->model->nv;
    for (int i = 0; plant->held != NULL && i < nv; i++)
        for (int j = 0; j <= i; j++)
            if (plant->held[i] || plant->held[j])
                M[i * nv + j] = i == j ? 1.0 : 0.0;
}

static void factor(const struct dyn_plant *plant, double modal_lead, struct dyn_crba_work *mass)
{
    dyn_composite_rows(plant->model, mass);
    if (modal_lead > 0.0)
        dyn_composite_lead(plant->model, modal_lead, mass->ldl);
    dyn_follow_mass(plant->model, mass->ldl, mass->dense);
    hold_dense(plant, mass->dense);
    dyn_cholesky_factor(plant->model->nv, mass->dense);
}

/* Where a foot or a wheel is. */
static struct dyn_point point_of(const struct dyn_plant *plant, const struct dyn_rub *rub)
{
    const struct dyn_effector *effector = &plant->effectors[rub->of];
    struct dyn_point point = {.body = effector->body};
    if (rub->kind == DYN_RUB_FOOT)
        memcpy(point.at, effector->contact.at, sizeof point.at);
    return point;
}

static struct dyn_vec3 wheel_axis(const struct dyn_plant *plant,
                                  const struct dyn_friction *friction, const struct dyn_rub *rub)
{
    const struct dyn_effector *effector = &plant->effectors[rub->of];
    return dyn_body_to_world(plant->model, friction->mass->scene, effector->body,
                             dyn_vec3_load(effector->wheel.axis));
}

/* Where joints follow others: the rows of J of a pair, without those who are held, and of those
 * L^-1 J'. */
static void fill_rows(const struct dyn_plant *plant, const struct dyn_friction *friction, int k)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_rub *rub = &friction->rub[k];
    const struct dyn_scene *scene = friction->mass->scene;
    const size_t nv = (size_t)model->nv;
    double *J = friction->W + (size_t)friction->pair[k].row * nv;

    memset(J, 0, (size_t)friction->pair[k].width * nv * sizeof *J);
    if (rub->kind == DYN_RUB_JOINT) {
        J[rub->along.of] = rub->along.ratio;
    } else {
        const struct dyn_point point = point_of(plant, rub);
        dyn_jacobian(model, scene, &point, friction->jacobian);
    }
    if (rub->kind == DYN_RUB_FOOT) {
        memcpy(J, friction->jacobian + 3 * nv, 2 * nv * sizeof *J);
    } else if (rub->kind == DYN_RUB_WHEEL) {
        const struct dyn_vec3 a = wheel_axis(plant, friction, rub);
        for (size_t i = 0; i < nv; i++)
            J[i] = -(a.x * friction->jacobian[i] + a.y * friction->jacobian[nv + i] +
                     a.z * friction->jacobian[2 * nv + i]);
    }
    for (int r = 0; r < friction->pair[k].width; r++) {
        for (size_t i = 0; plant->held != NULL && i < nv; i++)
            J[(size_t)r * nv + i] *= !plant->held[i];
        dyn_cholesky_halve(model->nv, friction->mass->dense, J + (size_t)r * nv);
    }
}

/* The same of a tree: what a unit of the force does on its way to the root. */
static void climb_rows(const struct dyn_plant *plant, const struct dyn_friction *friction, int k)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_rub *rub = &friction->rub[k];
    double *W = friction->W + (size_t)friction->pair[k].row * (size_t)model->nv;

    if (rub->kind == DYN_RUB_JOINT) {
        dyn_response_joint(friction->response, rub->along.of, W);
        return;
    }
    const struct dyn_point point = point_of(plant, rub);
    const int link = model->body_link[point.body];
    const struct dyn_vec3 arm = dyn_scene_arm(model, friction->mass->scene, &point);
    const struct dyn_vec6 x = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    const struct dyn_vec6 y = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const struct dyn_vec6 along_x = dyn_force_shift(&x, arm), along_y = dyn_force_shift(&y, arm);
    if (rub->kind == DYN_RUB_FOOT) {
        dyn_response_load(friction->response, link, &along_x, W);
        dyn_response_load(friction->response, link, &along_y, W + model->nv);
    } else {
        const struct dyn_vec3 against = dyn_scale(-1.0, wheel_axis(plant, friction, rub));
        dyn_response_load(friction->response, link, &(struct dyn_vec6){.ang = against}, W);
    }
}

/* Slips at the end of the step, when all but friction acts. */
static void free_slips(const struct dyn_plant *plant, const struct dyn_friction *friction, int k,
                       double h, const double *rate, const double *x,
                       const struct dyn_plant_work *work)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_rub *rub = &friction->rub[k];
    const double *v = x + model->nq, *a = rate + model->nq;
    double *b = friction->b + friction->pair[k].row;

    if (rub->kind == DYN_RUB_JOINT) {
        b[0] = rub->along.ratio * (v[rub->along.of] + h * a[rub->along.of]);
        return;
    }
    const struct dyn_scene *scene = friction->mass->scene;
    const struct dyn_point point = point_of(plant, rub);
    const struct dyn_vec6 moves = dyn_point_velocity(model, scene, &point);
    const struct dyn_vec6 gains = dyn_point_acceleration(model, scene, &point, a);
    const struct dyn_vec6 end = dyn_axpy6(&moves, h, &gains);
    if (rub->kind == DYN_RUB_FOOT) {
        b[0] = end.lin.x;
        b[1] = end.lin.y;
    } else {
        const int at = work->post[rub->of].state_at;
        const struct dyn_vec3 axis = wheel_axis(plant, friction, rub);
        b[0] = (x[at] + h * rate[at]) / plant->effectors[rub->of].wheel.inertia -
               dyn_dot(axis, end.ang);
    }
}

/* A = h W W' and, of a wheel, what its own rotor adds. */
static void square(const struct dyn_plant *plant, double h, const struct dyn_friction *friction)
{
    const int n = friction->row_count, nv = plant->model->nv;
    const int follows = dyn_follow_any(plant->model);
    const int first = follows ? 0 : friction->response->first;
    const int last = follows ? nv : friction->response->last;
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
        if (friction->rub[k].kind == DYN_RUB_WHEEL)
            friction->A[friction->pair[k].row * (n + 1)] +=
                h / plant->effectors[friction->rub[k].of].wheel.inertia;
}

/* Where joints follow others, or feet and wheels rub: W by what the scene has at x. */
static void respond_in_scene(const struct dyn_plant *plant, double modal_lead, const double *x,
                             const struct dyn_work *kernel, const struct dyn_friction *friction)
{
    const struct dyn_model *model = plant->model;
    dyn_scene_take(model, &(struct dyn_state){x, x + model->nq}, friction->mass->scene);
    if (dyn_follow_any(model))
        factor(plant, modal_lead, friction->mass);
    else
        dyn_response_take(plant->held, kernel, friction->response);
    for (int k = 0; k < friction->pair_count; k++)
        (dyn_follow_any(model) ? fill_rows : climb_rows)(plant, friction, k);
}

/* W is there already: it depends on where the joints are and which of them are held. */
static int is_kept(const struct dyn_plant *plant, double modal_lead, const double *x,
                   const struct dyn_friction *friction)
{
    int same = friction->kept == friction->pair_count && friction->kept_lead == modal_lead;
    for (int k = 0; same && k < friction->pair_count; k++)
        same = friction->kept_of[k] == friction->rub[k].of;
    for (int k = 0; same && k < plant->model->nq; k++)
        same = friction->kept_q[k] == x[k];
    for (int k = 0; same && plant->held != NULL && k < plant->model->nv; k++)
        same = friction->kept_held[k] == plant->held[k];
    return same;
}

static void keep(const struct dyn_plant *plant, double modal_lead, const double *x,
                 struct dyn_friction *friction)
{
    friction->kept = friction->pair_count;
    friction->kept_lead = modal_lead;
    for (int k = 0; k < friction->pair_count; k++)
        friction->kept_of[k] = friction->rub[k].of;
    memcpy(friction->kept_q, x, (size_t)plant->model->nq * sizeof *x);
    if (plant->held != NULL)
        memcpy(friction->kept_held, plant->held, (size_t)plant->model->nv);
}

/* W, from the factors that the kernel has found for the rate at x, or from those of M. */
static void respond(const struct dyn_plant *plant, double modal_lead, const double *x,
                    const struct dyn_work *kernel, struct dyn_friction *friction)
{
    const int joints_only = friction->rub[friction->pair_count - 1].kind == DYN_RUB_JOINT;
    if (dyn_follow_any(plant->model) || !joints_only) {
        friction->kept = 0;
        respond_in_scene(plant, modal_lead, x, kernel, friction);
        return;
    }
    if (is_kept(plant, modal_lead, x, friction))
        return;
    dyn_response_take(plant->held, kernel, friction->response);
    for (int k = 0; k < friction->pair_count; k++)
        climb_rows(plant, friction, k);
    keep(plant, modal_lead, x, friction);
}

void dyn_friction_find(const struct dyn_plant *plant, double h, double modal_lead,
                       const double *rate, const double *x, struct dyn_plant_work *work)
{
    struct dyn_friction *friction = work->friction;

    gather(plant, x, work, friction);
    if (friction->pair_count == 0)
        return;
    respond(plant, modal_lead, x, work->kernel, friction);
    square(plant, h, friction);
    for (int k = 0; k < friction->pair_count; k++)
        free_slips(plant, friction, k, h, rate, x, work);

    const int n = friction->row_max;
    dyn_stick_solve(&(struct dyn_stick){friction->pair_count, friction->row_count, friction->pair,
                                        friction->A, friction->b, friction->force, friction->slip,
                                        friction->scratch, friction->scratch + n,
                                        friction->scratch + 2 * n, friction->scratch + 3 * n});
    for (int k = 0; k < friction->pair_count; k++)
        if (friction->rub[k].kind == DYN_RUB_JOINT)
            friction->dry[friction->rub[k].of] = friction->force[friction->pair[k].row];
}

/* ---- what it does ---- */

void dyn_friction_add(const struct dyn_plant *plant, const struct dyn_plant_work *work,
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
    if (dyn_follow_any(plant->model)) {
        dyn_cholesky_finish(nv, friction->mass->dense, w);
        for (int i = 0; i < nv; i++)
            a[i] += w[i];
    } else {
        dyn_response_add(friction->response, w, a);
    }
    for (int k = 0; k < friction->pair_count; k++)
        if (friction->rub[k].kind == DYN_RUB_WHEEL)
            rate[work->post[friction->rub[k].of].state_at] +=
                friction->force[friction->pair[k].row];
}

static void add3(struct dyn_vec3 a, double sum[3])
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

void dyn_friction_load(const struct dyn_plant *plant, struct dyn_plant_work *work)
{
    const struct dyn_friction *friction = work->friction;
    for (int k = 0; k < friction->pair_count; k++) {
        const struct dyn_rub *rub = &friction->rub[k];
        if (rub->kind == DYN_RUB_JOINT)
            continue;
        const struct dyn_effector *effector = &plant->effectors[rub->of];
        const struct dyn_post *post = &work->post[rub->of];
        const double *f = friction->force + friction->pair[k].row;
        struct dyn_load *load = &work->load[post->mount];
        if (rub->kind == DYN_RUB_WHEEL) {
            work->x_rate[post->state_at] += f[0];
            add3(dyn_scale(-f[0], dyn_vec3_load(effector->wheel.axis)), load->moment);
        } else {
            const struct dyn_vec3 along = {f[0], f[1], 0.0};
            const struct dyn_vec3 force = dyn_mul(&work->felt[post->mount].E, along);
            add3(force, load->force);
            add3(dyn_cross(dyn_vec3_load(effector->contact.at), force), load->moment);
        }
    }
}
