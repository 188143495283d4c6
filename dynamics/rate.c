#include "dynamics/rate.h"

#include <string.h>

#include "dynamics/aba.h"
#include "dynamics/kinematics.h"
#include "dynamics/tree.h"

/* Effector laws at this state: forces on their bodies, rates of their own states. */
static void eval_effectors(const struct dyn_plant *plant, const struct dyn_drive *drive,
                           const double *x, struct dyn_plant_work *work)
{
    int at = plant->model->nq + plant->model->nv;

    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        struct dyn_load *load = &work->load[k];
        const struct dyn_vec6 v = dyn_body_velocity(plant->model, work->kernel, effector->body);
        double rate[3], force[6];

        dyn_vec3_store(v.ang, rate);
        dyn_effector_eval(effector, rate, drive->commands[k], x + at, work->x_rate + at, force);
        *load = (struct dyn_load){.body = effector->body};
        memcpy(load->moment, force, sizeof load->moment);
        memcpy(load->force, force + 3, sizeof load->force);
        at += dyn_effector_state_count(effector);
    }
}

void dyn_plant_rate(const struct dyn_plant *plant, const struct dyn_drive *drive, const double *x,
                    struct dyn_plant_work *work)
{
    const struct dyn_model *model = plant->model;
    const double *g = plant->environment.gravity;
    const struct dyn_state state = {.q = x, .v = x + model->nq};
    const struct dyn_input input = {.tau = drive->joint_tau,
                                    .loads = work->load,
                                    .load_count = plant->effector_count,
                                    .gravity = {g[0], g[1], g[2]},
                                    .held = plant->held,
                                    .held_a = plant->held_a,
                                    .modal_lead = drive->modal_lead};
    struct dyn_output output = {.a = work->v_rate};

    dyn_aba_move(model, &state, work->kernel);
    eval_effectors(plant, drive, x, work);
    dyn_aba_solve(model, &state, &input, work->kernel, &output);
    dyn_position_rate(model, &state, work->x_rate);
}
