#include "tools/airbearing/timing/drift_fit.h"

#include <math.h>

/* Student's t for 95 %, two sides: Cornish-Fisher in 1/freedom; right to 1 % from three degrees of
 * freedom on, below that a table. */
double drift_fit_student(double freedom)
{
    const double z = 1.959963984540054;
    if (freedom < 1.5)
        return 12.706;
    if (freedom < 2.5)
        return 4.303;
    const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    const double g1 = (z3 + z) / 4.0;
    const double g2 = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0;
    const double g3 = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0;
    return z + g1 / freedom + g2 / (freedom * freedom) + g3 / (freedom * freedom * freedom);
}

static double residual_of(const struct drift_fit *fit, const struct fit_point *point)
{
    return point->y - fit->intercept - fit->slope * point->x;
}

/* The correlation of each residual with the one before it: 0 to just below 1. */
static double likeness(const struct drift_fit *fit, const struct fit_point *points, double square)
{
    double product = 0.0;
    for (size_t i = 1; i < fit->count; i++)
        product += residual_of(fit, &points[i]) * residual_of(fit, &points[i - 1]);
    return square > 0.0 ? fmin(fmax(product / square, 0.0), 0.99) : 0.0;
}

bool drift_fit_line(const struct fit_point *points, size_t count, struct drift_fit *fit)
{
    double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0, square = 0.0;
    *fit = (struct drift_fit){.count = count};
    for (size_t i = 0; i < count; i++) {
        mean_x += (points[i].x - mean_x) / (double)(i + 1);
        mean_y += (points[i].y - mean_y) / (double)(i + 1);
    }
    for (size_t i = 0; i < count; i++) {
        xx += (points[i].x - mean_x) * (points[i].x - mean_x);
        xy += (points[i].x - mean_x) * (points[i].y - mean_y);
    }
    if (count < 3 || !(xx > 0.0))
        return false;
    fit->slope = xy / xx;
    fit->intercept = mean_y - fit->slope * mean_x;
    for (size_t i = 0; i < count; i++) {
        const double residual = residual_of(fit, &points[i]);
        square += residual * residual;
        fit->residual_max = fmax(fit->residual_max, fabs(residual));
    }
    const double alike = likeness(fit, points, square);
    const double widening = (1.0 + alike) / (1.0 - alike);
    const double freedom = (double)count - 2.0;
    const double effective = fmax(1.0, (double)count / widening - 2.0);
    fit->residual = sqrt(square / (double)count);
    fit->half_width = drift_fit_student(effective) * sqrt(square / freedom / xx * widening);
    return true;
}
