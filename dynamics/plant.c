#include "dynamics/plant.h"

#include <stdbool.h>
#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/check.h"
#include "dynamics/friction.h"
#include "dynamics/integrate.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/math/finite.h"
#include "dynamics/world/orbital_gravity.h"

int dyn_plant_effector_index(const struct dyn_plant *plant, int effector)
{
    int at = plant->model->nq + plant->model->nv;
    for (int k = 0; k < effector; k++)
        at += dyn_effector_state_count(&plant->effectors[k]);
    return at;
}

int dyn_plant_state_count(const struct dyn_plant *plant)
{
    return dyn_rate_count(plant) + dyn_history_count(plant);
}

void dyn_plant_rest(const struct dyn_plant *plant, double *x)
{
    const struct dyn_model *model = plant->model;
    memset(x, 0, (size_t)dyn_plant_state_count(plant) * sizeof *x);
    for (int i = 0; i < model->body_count; i++)
        dyn_joint_zero(&model->spec[i], x + model->q_index[i]);
}

void dyn_plant_restart(const struct dyn_plant *plant, double *x)
{
    memset(x + dyn_rate_count(plant), 0, (size_t)dyn_history_count(plant) * sizeof *x);
}

/* One layout answers both questions below, so size and placement cannot drift apart. */
static size_t lay_out_plant_work(struct dyn_plant_work *work, void *mem,
                                 const struct dyn_plant *plant)
{
    const size_t x_size = (size_t)dyn_plant_state_count(plant) * sizeof *work->trial;
    const size_t rate_size = (size_t)dyn_rate_count(plant) * sizeof *work->x_rate;
    const int two_taus = plant->integrator == DYN_ROS2;
    const size_t tau_size = two_taus ? (size_t)plant->model->nv * sizeof *work->tau : 0;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    const size_t effectors = (size_t)plant->effector_count;
    const bool in_orbit = plant->environment.kind == DYN_WORLD_ORBIT;
    const size_t bodies = in_orbit ? (size_t)plant->model->body_count : 0;
    work->effector_body = dyn_layout_cut(mem, &at, effectors * sizeof *work->effector_body);
    work->effector_slot = dyn_layout_cut(mem, &at, effectors * sizeof *work->effector_slot);
    work->effector_input = dyn_layout_cut(mem, &at, effectors * sizeof *work->effector_input);
    work->gravity_body = dyn_layout_cut(mem, &at, bodies * sizeof *work->gravity_body);
    work->load = dyn_layout_cut(mem, &at, (effectors + bodies) * sizeof *work->load);
    work->x_rate = dyn_layout_cut(mem, &at, rate_size);
    work->stage = dyn_layout_cut(mem, &at, rate_size);
    work->sum = dyn_layout_cut(mem, &at, rate_size);
    work->tau = dyn_layout_cut(mem, &at, tau_size);
    const size_t held = plant->held != NULL ? (size_t)plant->model->nv : 0;
    work->held_tau = dyn_layout_cut(mem, &at, held * sizeof *work->held_tau);
    work->trial = dyn_layout_cut(mem, &at, x_size);
    work->kernel = dyn_layout_cut(mem, &at, dyn_work_size(plant->model));
    work->friction = dyn_layout_cut(mem, &at, dyn_friction_size(plant));
    return at;
}

size_t dyn_plant_work_size(const struct dyn_plant *plant)
{
    struct dyn_plant_work probe;
    return lay_out_plant_work(&probe, NULL, plant);
}

struct dyn_plant_work *dyn_plant_work_place(const struct dyn_plant *plant, void *mem)
{
    struct dyn_plant_work *work = mem;
    DYN_CHECK(plant->substeps >= 1);
    memset(mem, 0, dyn_plant_work_size(plant));
    lay_out_plant_work(work, mem, plant);
    if (plant->held == NULL)
        work->held_tau = NULL;
    work->v_rate = work->x_rate + plant->model->nq;
    work->rate_count = dyn_rate_count(plant);
    work->x_count = dyn_plant_state_count(plant);
    work->supply.ratio = 1.0;
    dyn_plant_place_effectors(plant, work);
    (void)dyn_work_place(plant->model, work->kernel);
    (void)dyn_friction_place(plant, work->friction);
    return work;
}

const char *dyn_plant_problem(const struct dyn_plant *plant)
{
    int batteries = 0;
    for (int k = 0; k < plant->effector_count; k++)
        batteries += plant->effectors[k].type == DYN_EFFECTOR_BATTERY;
    if (batteries > 1)
        return "a vehicle has at most one battery";
    if (plant->environment.kind != DYN_WORLD_ORBIT)
        return NULL;
    if (plant->model->link[0].kind != DYN_TREE_LINK_FREE)
        return "in orbit the first body must be free";
    if (plant->integrator == DYN_SEMI_IMPLICIT_EULER)
        return "semi-implicit Euler is not accurate enough for an orbit";
    return NULL;
}

int dyn_plant_step(const struct dyn_plant *plant, const double *commands, const double *joint_tau,
                   double h, struct dyn_plant_work *work, double *x)
{
    const struct dyn_plant_input plant_input = {commands, joint_tau, 0.0, true};
    const int count = work->x_count;
    const size_t size = (size_t)count * sizeof *x;

    memcpy(work->trial, x, size);
    for (int k = 0; k < plant->substeps; k++)
        dyn_integrate(plant, &plant_input, h / plant->substeps, work, work->trial);
    if (!dyn_all_finite(work->trial, count))
        return 0;
    memcpy(x, work->trial, size);
    return 1;
}

void dyn_plant_solve(const struct dyn_plant *plant, const double *commands, const double *joint_tau,
                     const double *x, struct dyn_plant_work *work)
{
    const struct dyn_plant_input plant_input = {commands, joint_tau, 0.0, false};
    const double step = plant->step > 0.0 ? plant->step : 1e-3;
    dyn_friction_begin(plant, x, work->friction);
    dyn_plant_rate(plant, &plant_input, x, work);
    if (work->friction->row_max == 0)
        return;
    dyn_friction_solve(plant, step, 0.0, work->x_rate, x, work);
    if (work->friction->pair_count > 0)
        dyn_plant_rate(plant, &plant_input, x, work);
}

void dyn_plant_derivative(const struct dyn_plant *plant, const double *commands,
                          const double *joint_tau, const double *x, struct dyn_plant_work *work,
                          double *rate)
{
    const struct dyn_plant_input plant_input = {commands, joint_tau, 0.0, false};
    dyn_friction_begin(plant, x, work->friction);
    dyn_plant_rate(plant, &plant_input, x, work);
    memcpy(rate, work->x_rate, (size_t)work->rate_count * sizeof *rate);
}

/* a of a point at r on a body: of the origin, plus Euler's and the centripetal term.  The kernel's
 * a has gravity taken off already. */
static struct dyn_vec3 specific_force(const struct dyn_vec6 *a, struct dyn_vec3 w,
                                      struct dyn_vec3 r)
{
    return dyn_add(a->lin, dyn_add(dyn_cross(a->ang, r), dyn_cross(w, dyn_cross(w, r))));
}

/* In orbit gravity is another at every point than where the kernel took it; body axes. */
static struct dyn_vec3 subtract_gravity_difference(const struct dyn_plant *plant,
                                                   const struct dyn_plant_work *work,
                                                   struct dyn_vec3 at, struct dyn_quat back,
                                                   struct dyn_vec3 force)
{
    const struct dyn_vec3 base = dyn_orbital_gravity_base(work->kernel);
    const struct dyn_vec3 more =
        dyn_orbital_gravity_difference(&plant->environment, base, dyn_sub(at, base));
    return dyn_sub(force, dyn_quat_rotate(back, more));
}

/* How a point of a body moves: body axes, but for where it is. */
struct point_state {
    struct dyn_pose pose;
    struct dyn_vec6 v; /* of the body's origin */
    struct dyn_vec3 at, v_point;
};

static inline struct point_state point_state_of(const struct dyn_plant *plant,
                                                const struct dyn_plant_work *work, const double *x,
                                                int body, struct dyn_vec3 r)
{
    struct point_state point = {.pose = dyn_body_pose(plant->model, x, body),
                                .v = dyn_body_velocity(plant->model, work->kernel, body)};
    point.at = dyn_pose_point(&point.pose, r);
    point.v_point = dyn_add(point.v.lin, dyn_cross(point.v.ang, r));
    return point;
}

static inline void store_point_state(const struct point_state *point, struct dyn_motion *motion)
{
    dyn_vec3_store(point->at, motion->position);
    dyn_quat_store(point->pose.turn, motion->attitude);
    dyn_vec3_store(dyn_quat_rotate(point->pose.turn, point->v_point), motion->velocity);
    dyn_vec3_store(point->v.ang, motion->rate);
}

void dyn_plant_kinematics(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                          const double *x, int body, const double point[3],
                          struct dyn_motion *motion)
{
    const struct point_state state = point_state_of(plant, work, x, body, dyn_vec3_load(point));
    store_point_state(&state, motion);
}

void dyn_plant_motion(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                      const double *x, int body, const double point[3], struct dyn_motion *motion)
{
    const struct dyn_environment *environment = &plant->environment;
    const struct dyn_vec3 r = dyn_vec3_load(point);
    const struct point_state state = point_state_of(plant, work, x, body, r);
    const struct dyn_vec6 a = dyn_body_acceleration(plant->model, work->kernel, body);
    const struct dyn_quat back = dyn_quat_conjugate(state.pose.turn);
    const struct dyn_vec3 field = dyn_quat_rotate(back, dyn_vec3_load(environment->magnetic_field));
    const struct dyn_vec3 wind = dyn_quat_rotate(back, dyn_vec3_load(environment->wind));
    struct dyn_vec3 force = specific_force(&a, state.v.ang, r);

    if (environment->kind == DYN_WORLD_ORBIT)
        force = subtract_gravity_difference(plant, work, state.at, back, force);
    store_point_state(&state, motion);
    dyn_vec3_store(force, motion->specific_force);
    dyn_vec3_store(field, motion->magnetic_field);
    dyn_vec3_store(dyn_sub(state.v_point, wind), motion->air_velocity);
}

struct dyn_supply dyn_plant_supply(const struct dyn_plant_work *work)
{
    return work->supply;
}

const double *dyn_plant_acceleration(const struct dyn_plant_work *work)
{
    return work->v_rate;
}

const double *dyn_plant_held_force(const struct dyn_plant_work *work)
{
    return work->held_tau;
}
