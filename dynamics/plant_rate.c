/* Tested by tests/dynamics/test_plant.c and the tests of the effectors. */
#include "dynamics/plant_rate.h"

#include <stdbool.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/effector/lag.h"
#include "dynamics/friction.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/world/orbital_gravity.h"

/* The index of the effector_body of a body; a new one is added if there is none. */
static int effector_body_of(struct dyn_plant_work *work, int body)
{
    int k = 0;
    while (k < work->effector_body_count && work->effector_body[k].body != body)
        k++;
    if (k == work->effector_body_count)
        work->effector_body[work->effector_body_count++] = (struct dyn_effector_body){body, 0};
    return k;
}

void dyn_plant_place_effectors(const struct dyn_plant *plant, struct dyn_plant_work *work)
{
    const bool in_orbit = plant->environment.kind == DYN_WORLD_ORBIT;
    int at = plant->model->nq + plant->model->nv;

    work->battery = -1;
    work->effector_body_count = 0;
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        const int effector_body = effector_body_of(work, effector->body);
        work->effector_body[effector_body].needs |= dyn_effector_needs(effector);
        struct dyn_lags lags;
        work->effector_slot[k] =
            (struct dyn_effector_slot){.effector_body = effector_body, .state_at = at};
        work->effector_slot[k].is_lag = dyn_effector_lags(effector, &lags);
        if (effector->type == DYN_EFFECTOR_BATTERY)
            work->battery = k;
        at += dyn_effector_state_count(effector);
    }
    work->load_count = work->effector_body_count + (in_orbit ? plant->model->body_count : 0);
    if (in_orbit)
        dyn_orbital_gravity_place(plant, work->gravity_body);
}

/* Found anew when the step or a lag has changed, which an operator may do. */
void dyn_plant_set_lags(const struct dyn_plant *plant, enum dyn_integrator method, double h,
                        struct dyn_plant_work *work)
{
    if (plant->effector_count == 0)
        return;
    const bool same = h == work->lag_step && method == work->lag_method;
    for (int k = 0; k < plant->effector_count; k++) {
        struct dyn_effector_slot *effector_slot = &work->effector_slot[k];
        struct dyn_lags own;
        if (!effector_slot->is_lag)
            continue;
        (void)dyn_effector_lags(&plant->effectors[k], &own);
        if (same && own.up == effector_slot->own.up && own.down == effector_slot->own.down)
            continue;
        effector_slot->own = own;
        effector_slot->in_step.up = dyn_lag_for_step(method, own.up, h);
        effector_slot->in_step.down = dyn_lag_for_step(method, own.down, h);
    }
    work->lag_step = h;
    work->lag_method = method;
}

/* Set the inputs of all bodies with effectors, without the supply, and clear the loads. */
static void sense_bodies(const struct dyn_plant *plant, struct dyn_plant_work *work)
{
    for (int k = 0; k < work->effector_body_count; k++) {
        const struct dyn_effector_body *effector_body = &work->effector_body[k];
        dyn_effector_sense(plant->model, work->kernel, &plant->environment, effector_body->body,
                           effector_body->needs, &work->effector_input[k]);
        work->load[k] = (struct dyn_load){.body = effector_body->body};
    }
}

/* The battery at the speeds that its rotors have. */
static void solve_battery(const struct dyn_plant *plant, const double *x,
                          struct dyn_plant_work *work)
{
    const struct dyn_battery *battery = &plant->effectors[work->battery].battery;
    const double used = x[work->effector_slot[work->battery].state_at];
    double power = 0.0;

    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector_slot *effector_slot = &work->effector_slot[k];
        if (plant->effectors[k].type == DYN_EFFECTOR_ROTOR)
            power += dyn_rotor_power(&plant->effectors[k].rotor,
                                     work->effector_input[effector_slot->effector_body].density,
                                     x[effector_slot->state_at]);
    }
    const double voltage = dyn_battery_voltage(battery, used, power);
    work->supply = (struct dyn_supply){.power = power,
                                       .voltage = voltage,
                                       .current = dyn_battery_current(battery, used, power),
                                       .ratio = voltage / battery->voltage_full};
    for (int k = 0; k < work->effector_body_count; k++) {
        work->effector_input[k].supply = work->supply.ratio;
        work->effector_input[k].power = power;
    }
}

static void add_to_array3(struct dyn_vec3 a, double sum[3])
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

/* Effector laws at this state: forces on their bodies, rates of their own states. */
static void eval_effectors(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                           const double *x, struct dyn_plant_work *work)
{
    sense_bodies(plant, work);
    if (work->battery >= 0)
        solve_battery(plant, x, work);
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        const struct dyn_effector_slot *effector_slot = &work->effector_slot[k];
        struct dyn_load *load = &work->load[effector_slot->effector_body];
        struct dyn_vec6 force;

        work->effector_input[effector_slot->effector_body].lags =
            plant_input->in_step && effector_slot->is_lag ? &effector_slot->in_step : NULL;
        dyn_effector_rows[effector->type]->eval(
            dyn_effector_law(effector), &work->effector_input[effector_slot->effector_body],
            plant_input->commands[k], x + effector_slot->state_at,
            work->x_rate + effector_slot->state_at, &force);
        add_to_array3(force.ang, load->moment);
        add_to_array3(force.lin, load->force);
    }
    if (work->friction->pair_count > 0)
        dyn_friction_add_loads(plant, work);
}

/* The kernel's own, uniform over the vehicle. */
static struct dyn_vec3 gravity(const struct dyn_plant *plant, const struct dyn_plant_work *work)
{
    const struct dyn_environment *environment = &plant->environment;
    if (environment->kind != DYN_WORLD_ORBIT)
        return dyn_vec3_load(environment->gravity);
    return dyn_orbital_gravity_at(environment, dyn_orbital_gravity_base(work->kernel));
}

void dyn_plant_rate(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                    const double *x, struct dyn_plant_work *work)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_state state = {.q = x, .v = x + model->nq};
    struct dyn_output output = {.a = work->v_rate, .held_tau = work->held_tau};
    struct dyn_input input = {.tau = plant_input->joint_tau,
                              .dry = work->friction->dry,
                              .loads = work->load,
                              .load_count = work->load_count,
                              .held = plant->held,
                              .held_a = plant->held_a,
                              .modal_implicit_step = plant_input->modal_implicit_step};

    dyn_aba_velocity_pass(model, &state, work->kernel);
    eval_effectors(plant, plant_input, x, work);
    if (plant->environment.kind == DYN_WORLD_ORBIT)
        dyn_orbital_gravity_loads(plant, work->gravity_body, work->kernel,
                                  work->load + work->effector_body_count);
    dyn_vec3_store(gravity(plant, work), input.gravity);
    dyn_aba_solve(model, &state, &input, work->kernel, &output);
    dyn_position_rate(model, &state, work->x_rate);
}
