#include "tests/dynamics/dense.h"

#include <math.h>

static void exchange(int count, double *a, double *b)
{
    for (int c = 0; c < count; c++) {
        const double swap = a[c];
        a[c] = b[c], b[c] = swap;
    }
}

/* to -= l from */
static void subtract(int count, double l, const double *from, double *to)
{
    for (int c = 0; c < count; c++)
        to[c] -= l * from[c];
}

void dense_solve(int n, double m[TREE_NV_MAX][TREE_NV_MAX], double *B, int columns)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int r = k + 1; r < n; r++)
            best = fabs(m[r][k]) > fabs(m[best][k]) ? r : best;
        if (best != k) {
            exchange(n, m[k], m[best]);
            exchange(columns, B + k * columns, B + best * columns);
        }
        for (int r = k + 1; r < n; r++) {
            const double l = m[r][k] / m[k][k];
            subtract(n, l, m[k], m[r]);
            subtract(columns, l, B + k * columns, B + r * columns);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int r = k + 1; r < n; r++)
            subtract(columns, m[k][r], B + r * columns, B + k * columns);
        for (int c = 0; c < columns; c++)
            B[k * columns + c] /= m[k][k];
    }
}
