#include "dynamics/plant_rate.h"

#include <stdbool.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/effector/lag.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"

/* The mount of a body, made where there is none yet. */
static int mount_of(struct dyn_plant_work *work, int body)
{
    int k = 0;
    while (k < work->mount_count && work->mount[k].body != body)
        k++;
    if (k == work->mount_count)
        work->mount[work->mount_count++] = (struct dyn_mount){body, 0};
    return k;
}

void dyn_plant_mount(const struct dyn_plant *plant, struct dyn_plant_work *work)
{
    const bool in_orbit = plant->environment.kind == DYN_WORLD_ORBIT;
    int at = plant->model->nq + plant->model->nv;

    work->battery = -1;
    work->mount_count = 0;
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        const int mount = mount_of(work, effector->body);
        work->mount[mount].needs |= dyn_effector_needs(effector);
        struct dyn_lags lags;
        work->post[k] = (struct dyn_post){.mount = mount, .state_at = at};
        work->post[k].is_lag = dyn_effector_lags(effector, &lags);
        if (effector->type == DYN_EFFECTOR_BATTERY)
            work->battery = k;
        at += dyn_effector_state_count(effector);
    }
    work->load_count = work->mount_count + (in_orbit ? plant->model->body_count : 0);
    if (in_orbit)
        dyn_tide_place(plant, work->tide);
}

/* Found anew when the step or a lag has changed, which an operator may do. */
void dyn_plant_time_lags(const struct dyn_plant *plant, enum dyn_integrator method, double h,
                         struct dyn_plant_work *work)
{
    if (plant->effector_count == 0)
        return;
    const bool same = h == work->lag_step && method == work->lag_method;
    for (int k = 0; k < plant->effector_count; k++) {
        struct dyn_post *post = &work->post[k];
        struct dyn_lags own;
        if (!post->is_lag)
            continue;
        (void)dyn_effector_lags(&plant->effectors[k], &own);
        if (same && own.up == post->own.up && own.down == post->own.down)
            continue;
        post->own = own;
        post->in_step.up = dyn_lag_in_step(method, own.up, h);
        post->in_step.down = dyn_lag_in_step(method, own.down, h);
    }
    work->lag_step = h;
    work->lag_method = method;
}

/* What bodies feel, but for the supply; and nothing acts on them yet. */
static void look(const struct dyn_plant *plant, struct dyn_plant_work *work)
{
    for (int k = 0; k < work->mount_count; k++) {
        const struct dyn_mount *mount = &work->mount[k];
        dyn_felt_take(plant->model, work->kernel, &plant->environment, mount->body, mount->needs,
                      &work->felt[k]);
        work->load[k] = (struct dyn_load){.body = mount->body};
    }
}

/* The battery at the speeds that its rotors have. */
static void feed(const struct dyn_plant *plant, const double *x, struct dyn_plant_work *work)
{
    const struct dyn_battery *battery = &plant->effectors[work->battery].battery;
    const double used = x[work->post[work->battery].state_at];
    double power = 0.0;

    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_post *post = &work->post[k];
        if (plant->effectors[k].type == DYN_EFFECTOR_ROTOR)
            power += dyn_rotor_power(&plant->effectors[k].rotor, work->felt[post->mount].density,
                                     x[post->state_at]);
    }
    const double voltage = dyn_battery_voltage(battery, used, power);
    work->supply = (struct dyn_supply){.power = power,
                                       .voltage = voltage,
                                       .current = dyn_battery_current(battery, used, power),
                                       .ratio = voltage / battery->voltage_full};
    for (int k = 0; k < work->mount_count; k++) {
        work->felt[k].supply = work->supply.ratio;
        work->felt[k].power = power;
    }
}

static void add3(struct dyn_vec3 a, double sum[3])
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

/* Effector laws at this state: forces on their bodies, rates of their own states. */
static void eval_effectors(const struct dyn_plant *plant, const struct dyn_drive *drive,
                           const double *x, struct dyn_plant_work *work)
{
    look(plant, work);
    if (work->battery >= 0)
        feed(plant, x, work);
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_post *post = &work->post[k];
        struct dyn_load *load = &work->load[post->mount];
        struct dyn_vec6 force;

        work->felt[post->mount].lags = drive->in_step && post->is_lag ? &post->in_step : NULL;
        dyn_effector_eval(&plant->effectors[k], &work->felt[post->mount], drive->commands[k],
                          x + post->state_at, work->x_rate + post->state_at, &force);
        add3(force.ang, load->moment);
        add3(force.lin, load->force);
    }
    if (work->friction->pair_count > 0)
        dyn_friction_load(plant, work);
}

/* The kernel's own, uniform over the vehicle. */
static struct dyn_vec3 gravity(const struct dyn_plant *plant, const struct dyn_plant_work *work)
{
    const struct dyn_environment *environment = &plant->environment;
    if (environment->kind != DYN_WORLD_ORBIT)
        return dyn_vec3_load(environment->gravity);
    return dyn_tide_gravity(environment, dyn_tide_base(work->kernel));
}

void dyn_plant_rate(const struct dyn_plant *plant, const struct dyn_drive *drive, const double *x,
                    struct dyn_plant_work *work)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_state state = {.q = x, .v = x + model->nq};
    struct dyn_output output = {.a = work->v_rate, .held_tau = work->held_tau};
    struct dyn_input input = {.tau = drive->joint_tau,
                              .dry = work->friction->dry,
                              .loads = work->load,
                              .load_count = work->load_count,
                              .held = plant->held,
                              .held_a = plant->held_a,
                              .modal_lead = drive->modal_lead};

    dyn_aba_move(model, &state, work->kernel);
    eval_effectors(plant, drive, x, work);
    if (plant->environment.kind == DYN_WORLD_ORBIT)
        dyn_tide_loads(plant, work->tide, work->kernel, work->load + work->mount_count);
    dyn_vec3_store(gravity(plant, work), input.gravity);
    dyn_aba_solve(model, &state, &input, work->kernel, &output);
    dyn_position_rate(model, &state, work->x_rate);
}
