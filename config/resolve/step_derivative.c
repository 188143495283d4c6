#include "config/resolve/step_derivative.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

static bool step_from(const struct sim_vehicle *vehicle, double h, const double *x, size_t size,
                      double *to)
{
    memcpy(to, x, size);
    dyn_plant_restart(&vehicle->plant, to);
    return dyn_plant_step(&vehicle->plant, vehicle->command, NULL, h, vehicle->work, to);
}

bool cfg_step_derivative(const struct sim_vehicle *vehicle, double h, int count, double *x,
                         double *slope)
{
    static const double STEP = 1e-6;
    const size_t size = (size_t)dyn_plant_state_count(&vehicle->plant) * sizeof *x;
    double *above = malloc(size + 1), *below = malloc(size + 1);
    bool good = true;
    RT_CHECK(above != NULL && below != NULL);
    for (int k = 0; k < count && good; k++) {
        const double keep = x[k], step = STEP * (1.0 + fabs(keep));
        x[k] = keep + step;
        good = step_from(vehicle, h, x, size, above);
        x[k] = keep - step;
        good = step_from(vehicle, h, x, size, below) && good;
        x[k] = keep;
        for (int i = 0; i < count; i++)
            slope[i * count + k] = (above[i] - below[i]) / (2.0 * step);
    }
    free(above);
    free(below);
    return good;
}

/* The rate of the vehicle, per step, that is nearest to a rate of the step. */
static struct cfg_growth_rate nearest(struct cfg_growth_rate z, double h,
                                      const struct cfg_growth_rates *rates)
{
    struct cfg_growth_rate found = {0.0, 0.0};
    double least = HUGE_VAL;
    for (int k = 0; k < rates->count; k++) {
        const struct cfg_growth_rate own = {h * rates->re[k], h * rates->im[k]};
        const double off = hypot(own.re - z.re, own.im - z.im);
        if (off < least) {
            least = off;
            found = own;
        }
    }
    return found;
}

double cfg_step_excess(struct cfg_growth_rate eigenvalue, double h,
                       const struct cfg_growth_rates *rates)
{
    static const double SLIGHT = 1e-3, SEEN = 1.0;
    const double growth = hypot(eigenvalue.re, eigenvalue.im);
    if (growth <= 1.0 + SLIGHT)
        return 0.0;
    const struct cfg_growth_rate z = {log(growth), fabs(atan2(eigenvalue.im, eigenvalue.re))};
    const struct cfg_growth_rate own = nearest(z, h, rates), swing = {0.0, z.im};
    const double size = hypot(z.re, z.im), off = hypot(own.re - z.re, own.im - z.im);
    if (size < SEEN && ((own.re > 0.0 && off < 0.5 * size) || cfg_growth_is_faint(swing, growth)))
        return 0.0;
    return growth;
}
