#include "dynamics/integrate.h"

#include <stdbool.h>
#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/friction.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/rosenbrock.h"

/* x += h (now f(t) + past[0] f(t - h) + past[1] f(t - 2 h) + ...); depth 0: needs no history */
struct adams_bashforth {
    int depth;
    double now, past[3];
};

static const struct adams_bashforth rule_of[] = {
    [DYN_AB2] = {1, 3.0 / 2.0, {-1.0 / 2.0}},
    [DYN_AB3] = {2, 23.0 / 12.0, {-16.0 / 12.0, 5.0 / 12.0}},
    [DYN_AB4] = {3, 55.0 / 24.0, {-59.0 / 24.0, 37.0 / 24.0, -9.0 / 24.0}},
    [DYN_ROS2] = {0, 0.0, {0.0}},
};

int dyn_rate_count(const struct dyn_plant *plant)
{
    return dyn_plant_effector_index(plant, plant->effector_count);
}

int dyn_history_count(const struct dyn_plant *plant)
{
    const int depth = rule_of[plant->integrator].depth;
    return depth > 0 ? 1 + depth * dyn_rate_count(plant) : 0;
}

/* y += s x */
static void accumulate(int count, double s, const double *x, double *y)
{
    for (int k = 0; k < count; k++)
        y[k] += s * x[k];
}

/* Find the dry friction of the step, where all other forces give x this rate, and add it to the
 * rate. */
static void apply_dry_friction(const struct dyn_plant *plant, double h, double *rate,
                               const double *x, struct dyn_plant_work *work)
{
    if (work->friction->row_max == 0)
        return;
    dyn_friction_solve(plant, h, 0.0, rate, x, work);
    dyn_friction_add_rate(plant, work, rate);
}

/* ---- all but ROS2 begin with work->x_rate = f(x) ---- */

static void euler(const struct dyn_plant *plant, double h, const struct dyn_plant_work *work,
                  double *x)
{
    const int nq = plant->model->nq;
    accumulate(work->rate_count - nq, h, work->x_rate + nq, x + nq);
    dyn_position_advance(plant->model, x + nq, h, x);
}

/* work->x_rate = f(x + h x_rate) */
static void eval_ahead(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                       double h, struct dyn_plant_work *work, const double *x)
{
    const int count = work->rate_count;
    memcpy(work->stage, x, (size_t)count * sizeof *x);
    accumulate(count, h, work->x_rate, work->stage);
    dyn_plant_rate(plant, plant_input, work->stage, work);
}

/* The midpoint rule: x += h f(x + h/2 f(x)) */
static void runge_kutta_2(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                          double h, struct dyn_plant_work *work, double *x)
{
    eval_ahead(plant, plant_input, 0.5 * h, work, x);
    accumulate(work->rate_count, h, work->x_rate, x);
}

/* x += h/6 (k1 + 2 k2 + 2 k3 + k4), each k evaluated at x advanced by the one before */
static void runge_kutta_4(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                          double h, struct dyn_plant_work *work, double *x)
{
    static const double reach[3] = {0.5, 0.5, 1.0}, weight[3] = {2.0, 2.0, 1.0};
    const int count = work->rate_count;

    memcpy(work->sum, work->x_rate, (size_t)count * sizeof *x);
    for (int k = 0; k < 3; k++) {
        eval_ahead(plant, plant_input, reach[k] * h, work, x);
        accumulate(count, weight[k], work->x_rate, work->sum);
    }
    accumulate(count, h / 6.0, work->sum, x);
}

/* The sum comes first, so that x is rounded once a step. */
static void extrapolate(const struct dyn_plant *plant, double h, struct dyn_plant_work *work,
                        const double *past, double *x)
{
    const struct adams_bashforth *rule = &rule_of[plant->integrator];
    const int count = work->rate_count;
    for (int k = 0; k < count; k++)
        work->sum[k] = rule->now * work->x_rate[k];
    for (int k = 0; k < rule->depth; k++)
        accumulate(count, rule->past[k], past + k * count, work->sum);
    apply_dry_friction(plant, h, work->sum, x, work);
    accumulate(count, h, work->sum, x);
}

/* The newest rate goes in front, the oldest is dropped. */
static void push_history(int depth, int count, const double *rate, double *kept, double *past)
{
    const size_t size = (size_t)count * sizeof *past;
    for (int k = depth - 1; k > 0; k--)
        memcpy(past + k * count, past + (k - 1) * count, size);
    memcpy(past, rate, size);
    *kept = *kept < depth ? *kept + 1.0 : depth;
}

/* The exact values of the lagged states at the end of the step, from x at its beginning. */
static void find_lag_ends(const struct dyn_plant *plant, double h, struct dyn_plant_work *work,
                          const double *x)
{
    for (int k = 0; k < plant->effector_count; k++) {
        const int at = work->effector_slot[k].state_at;
        if (work->effector_slot[k].is_lag)
            work->effector_slot[k].next = x[at] + h * work->x_rate[at];
    }
}

static void store_lag_ends(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                           double *x)
{
    for (int k = 0; k < plant->effector_count; k++)
        if (work->effector_slot[k].is_lag)
            x[work->effector_slot[k].state_at] = work->effector_slot[k].next;
}

/* RK4 takes the step while the history is not full. */
static bool has_history(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                        const double *x)
{
    return x[work->rate_count] >= rule_of[plant->integrator].depth;
}

static void adams_bashforth(const struct dyn_plant *plant,
                            const struct dyn_plant_input *plant_input, double h,
                            struct dyn_plant_work *work, double *x)
{
    const struct adams_bashforth *rule = &rule_of[plant->integrator];
    const int count = work->rate_count;
    double *kept = x + count, *past = kept + 1;
    const bool full = has_history(plant, work, x);

    if (full) {
        find_lag_ends(plant, h, work, x);
        extrapolate(plant, h, work, past, x);
        store_lag_ends(plant, work, x);
    }
    push_history(rule->depth, count, work->x_rate, kept, past);
    if (!full) {
        apply_dry_friction(plant, h, work->x_rate, x, work);
        runge_kutta_4(plant, plant_input, h, work, x);
    }
}

/* The method that takes this step. */
static enum dyn_integrator step_method(const struct dyn_plant *plant,
                                       const struct dyn_plant_work *work, const double *x)
{
    return rule_of[plant->integrator].depth > 0 && !has_history(plant, work, x) ? DYN_RK4
                                                                                : plant->integrator;
}

void dyn_integrate(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                   double h, struct dyn_plant_work *work, double *x)
{
    dyn_plant_set_lags(plant, step_method(plant, work, x), h, work);
    dyn_friction_begin(plant, x, work->friction);
    if (plant->integrator != DYN_ROS2)
        dyn_plant_rate(plant, plant_input, x, work);
    if (plant->integrator < DYN_AB2)
        apply_dry_friction(plant, h, work->x_rate, x, work);
    switch (plant->integrator) {
    case DYN_SEMI_IMPLICIT_EULER:
        euler(plant, h, work, x);
        break;
    case DYN_RK2:
        runge_kutta_2(plant, plant_input, h, work, x);
        break;
    case DYN_RK4:
        runge_kutta_4(plant, plant_input, h, work, x);
        break;
    case DYN_AB2:
    case DYN_AB3:
    case DYN_AB4:
        adams_bashforth(plant, plant_input, h, work, x);
        break;
    case DYN_ROS2:
        dyn_rosenbrock(plant, plant_input, h, work, x);
        break;
    }
    dyn_position_normalise(plant->model, x);
}
