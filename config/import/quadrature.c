#include "config/import/quadrature.h"

#include <math.h>

/* Legendre's polynomial of degree n at x, and its derivative. */
static double legendre(int n, double x, double *slope)
{
    double last = 1.0, now = x;
    for (int k = 2; k <= n; k++) {
        const double next = ((2 * k - 1) * x * now - (k - 1) * last) / k;
        last = now;
        now = next;
    }
    *slope = n * (x * now - last) / (x * x - 1.0);
    return now;
}

void cfg_quadrature(int count, double *points, double *weights)
{
    enum { STEPS = 8 }; /* Newton's method, from a start that is right to three digits */
    for (int k = 0; k < count; k++) {
        double x = -cos(M_PI * (k + 0.75) / (count + 0.5)), slope;
        for (int step = 0; step < STEPS; step++) {
            const double value = legendre(count, x, &slope);
            x -= value / slope;
        }
        legendre(count, x, &slope);
        points[k] = 0.5 * (1.0 + x);
        weights[k] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
}
