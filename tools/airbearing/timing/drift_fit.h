/*
 * The slope of points by least squares, with the interval in which the true one lies with 95 %.
 *
 * Neighbours of a noisy machine are late together, so their errors are not independent: the
 * interval is widened by the correlation of one residual with the next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fit_point {
    double x, y;
};

struct drift_fit {
    size_t count;
    double slope, intercept; /* y = intercept + slope x */
    double half_width;       /* the true slope lies within slope +- this, 95 % */
    double residual;         /* root mean square */
    double residual_max;
};

/* False with fewer than three points, or all at one x.  Context: any. */
bool drift_fit_line(const struct fit_point *points, size_t count, struct drift_fit *fit);
/* The factor of the standard error that makes 95 %, for so many degrees of freedom. */
double drift_fit_student(double freedom);
