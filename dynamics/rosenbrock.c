#include "dynamics/rosenbrock.h"

#include <math.h>
#include <string.h>

#include "dynamics/friction.h"
#include "dynamics/kernel/link_tree.h"

/* k1 of the modal coordinates: xi + s k1 of xi. */
static void first_modal_rates(const struct dyn_model *model, double s, double *k1)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++)
            k1[modal->q_at + p] += s * k1[model->nq + modal->v_at + p];
    }
}

/* With u = k2 + 2 k1 the second stage is (1 - s A) u = f - 2 s A k1; this is u of the modal
 * coordinates, whose part of A k1 is k1 of xi. */
static void second_modal_rates(const struct dyn_model *model, double s, const double *k1, double *u)
{
    for (int m = 0; m < model->modal_count; m++) {
        const struct dyn_modal_link *modal = &model->modal[m];
        for (int p = 0; p < modal->modes; p++) {
            const int xi = model->nq + modal->v_at + p;
            u[modal->q_at + p] += s * (u[xi] - 2.0 * k1[xi]);
        }
    }
}

/* -2 s A k1 of the modes, as a force: 2 s (K (k1 of eta + s k1 of xi) + C k1 of xi). */
static void second_force(const struct dyn_modal_link *modal, int nq, double s, const double *k1,
                         double *tau)
{
    for (int p = 0; p < modal->modes; p++)
        for (int q = 0; q < modal->modes; q++) {
            const double eta = k1[modal->q_at + q], xi = k1[nq + modal->v_at + q];
            const double K = modal->K[q * modal->lanes + p], C = modal->C[q * modal->lanes + p];
            tau[modal->v_at + p] += 2.0 * s * (K * (eta + s * xi) + C * xi);
        }
}

static void second_forces(const struct dyn_model *model, const struct dyn_plant_input *plant_input,
                          double s, const double *k1, double *tau)
{
    const size_t size = (size_t)model->nv * sizeof *tau;
    if (plant_input->joint_tau != NULL)
        memcpy(tau, plant_input->joint_tau, size);
    else
        memset(tau, 0, size);
    for (int m = 0; m < model->modal_count; m++)
        second_force(&model->modal[m], model->nq, s, k1, tau);
}

void dyn_rosenbrock(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                    double h, struct dyn_plant_work *work, double *x)
{
    const struct dyn_model *model = plant->model;
    const int count = work->rate_count;
    const double s = (1.0 - sqrt(0.5)) * h;
    struct dyn_plant_input led = {plant_input->commands, plant_input->joint_tau, s,
                                  plant_input->in_step};
    double *k1 = work->sum, *u = work->x_rate;

    dyn_plant_rate(plant, &led, x, work);
    if (work->friction->row_max > 0) {
        dyn_friction_solve(plant, h, s, work->x_rate, x, work);
        dyn_friction_add_rate(plant, work, work->x_rate);
    }
    memcpy(k1, work->x_rate, (size_t)count * sizeof *k1);
    first_modal_rates(model, s, k1);

    for (int k = 0; k < count; k++)
        work->stage[k] = x[k] + h * k1[k];
    second_forces(model, plant_input, s, k1, work->tau);
    led.joint_tau = work->tau;
    dyn_plant_rate(plant, &led, work->stage, work);
    second_modal_rates(model, s, k1, u);

    for (int k = 0; k < count; k++)
        x[k] += 0.5 * h * (k1[k] + u[k]);
}
