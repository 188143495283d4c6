#include "dynamics/integrate.h"

#include <string.h>

#include "dynamics/check.h"
#include "dynamics/kinematics.h"
#include "dynamics/tree.h"

/* y += s x */
static void accumulate(int count, double s, const double *x, double *y)
{
    for (int k = 0; k < count; k++)
        y[k] += s * x[k];
}

static void euler(const struct dyn_plant *plant, const struct dyn_drive *drive, double h,
                  struct dyn_plant_work *work, double *x)
{
    const int nq = plant->model->nq, count = dyn_plant_state_count(plant);

    dyn_plant_rate(plant, drive, x, work);
    accumulate(count - nq, h, work->x_rate + nq, x + nq);
    dyn_position_advance(plant->model, x + nq, h, x);
}

/* x += h/6 (k1 + 2 k2 + 2 k3 + k4), each k taken where the one before points */
static void runge_kutta_4(const struct dyn_plant *plant, const struct dyn_drive *drive, double h,
                          struct dyn_plant_work *work, double *x)
{
    static const double reach[3] = {0.5, 0.5, 1.0}, weight[3] = {2.0, 2.0, 1.0};
    const int count = dyn_plant_state_count(plant);
    const size_t size = (size_t)count * sizeof *x;

    dyn_plant_rate(plant, drive, x, work);
    memcpy(work->sum, work->x_rate, size);
    for (int k = 0; k < 3; k++) {
        memcpy(work->stage, x, size);
        accumulate(count, reach[k] * h, work->x_rate, work->stage);
        dyn_plant_rate(plant, drive, work->stage, work);
        accumulate(count, weight[k], work->x_rate, work->sum);
    }
    accumulate(count, h / 6.0, work->sum, x);
}

void dyn_integrate(const struct dyn_plant *plant, const struct dyn_drive *drive, double h,
                   struct dyn_plant_work *work, double *x)
{
    switch (plant->integrator) {
    case DYN_SEMI_IMPLICIT_EULER:
        euler(plant, drive, h, work, x);
        break;
    case DYN_RK4:
        runge_kutta_4(plant, drive, h, work, x);
        break;
    }
    dyn_position_normalise(plant->model, x);
}
