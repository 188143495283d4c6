#include "config/import/small_eigen.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

enum { SWEEPS_MAX = 60 };

/* Factor B to L, its lower triangle; a pivot that is only the rounding of its first value is not
 * positive. */
static bool factor(int n, double *B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = B[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= B[i * n + k] * B[j * n + k];
            if (i == j && !(sum > 4 * n * DBL_EPSILON * B[i * n + i]))
                return false;
            B[i * n + j] = i == j ? sqrt(sum) : sum / B[j * n + j];
        }
    return true;
}

/* Multiply each row of A by L^-1. */
static void halve_rows(int n, const double *L, double *A)
{
    for (int r = 0; r < n; r++)
        for (int i = 0; i < n; i++) {
            double sum = A[r * n + i];
            for (int k = 0; k < i; k++)
                sum -= L[i * n + k] * A[r * n + k];
            A[r * n + i] = sum / L[i * n + i];
        }
}

static void transpose(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double a = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = a;
        }
}

/* One rotation of Jacobi's method: A[p][q] becomes zero. */
static void rotate(int n, int p, int q, double *A)
{
    const double half = (A[q * n + q] - A[p * n + p]) / (2.0 * A[p * n + q]);
    const double t = copysign(1.0, half) / (fabs(half) + hypot(1.0, half));
    const double c = 1.0 / hypot(1.0, t), s = t * c;
    for (int k = 0; k < n; k++) {
        const double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
    }
}

/* Rotate all entries that are larger than the rounding of the largest one; false: there was none.
 */
static bool sweep(int n, double *A)
{
    double largest = 0.0;
    bool some = false;
    for (int i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(A[i]));
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++)
            if (fabs(A[p * n + q]) > 0.25 * DBL_EPSILON * largest) {
                rotate(n, p, q, A);
                some = true;
            }
    return some;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool cfg_small_eigenvalues(int n, const double *A, const double *B, double *values)
{
    const size_t count = (size_t)n * (size_t)n;
    double *work = malloc(2 * count * sizeof *work), *L = work + count;
    RT_CHECK(work != NULL);
    memcpy(work, A, count * sizeof *work);
    memcpy(L, B, count * sizeof *L);
    const bool positive = factor(n, L);
    if (positive) { /* L^-1 A L^-T, which is symmetric */
        halve_rows(n, L, work);
        transpose(n, work);
        halve_rows(n, L, work);
        for (int i = 0; i < SWEEPS_MAX && sweep(n, work); i++)
            continue;
        for (int i = 0; i < n; i++)
            values[i] = work[i * n + i];
        qsort(values, (size_t)n, sizeof *values, ascending);
    }
    free(work);
    return positive;
}
