#include "dynamics/math/cholesky.h"

#include <math.h>
#include <stddef.h>

static double dot_product(int count, const double *x, const double *y)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += x[k] * y[k];
    return sum;
}

void dyn_cholesky_factor(int n, double *A)
{
    for (int i = 0; i < n; i++) {
        double *row = A + (ptrdiff_t)i * n;
        for (int j = 0; j < i; j++) {
            const double *above = A + (ptrdiff_t)j * n;
            row[j] = (row[j] - dot_product(j, row, above)) / above[j];
        }
        const double square = row[i] - dot_product(i, row, row);
        row[i] = square > 0.0 ? sqrt(square) : (double)NAN;
    }
}

void dyn_cholesky_solve_lower(int n, const double *L, double *b)
{
    for (int i = 0; i < n; i++) {
        const double *row = L + (ptrdiff_t)i * n;
        b[i] = (b[i] - dot_product(i, row, b)) / row[i];
    }
}

void dyn_cholesky_solve_upper(int n, const double *L, double *b)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = L + (ptrdiff_t)i * n;
        b[i] /= row[i];
        for (int j = 0; j < i; j++)
            b[j] -= row[j] * b[i];
    }
}

void dyn_cholesky_solve(int n, const double *L, double *b)
{
    dyn_cholesky_solve_lower(n, L, b);
    dyn_cholesky_solve_upper(n, L, b);
}
