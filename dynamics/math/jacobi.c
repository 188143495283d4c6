#include "dynamics/math/jacobi.h"

#include <math.h>

/* Rotate rows p and r of A, and the axes with them, so that A[p][r] vanishes. */
static void rotate(int n, double *A, double *axis, int p, int r)
{
    double *Ap = A + p * n, *Ar = A + r * n, *up = axis + p * n, *ur = axis + r * n;
    if (Ap[r] == 0.0)
        return;
    const double theta = (Ar[r] - Ap[p]) / (2.0 * Ap[r]);
    const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < n; k++) {
        const double x = A[k * n + p], y = A[k * n + r];
        A[k * n + p] = c * x - s * y;
        A[k * n + r] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        const double x = Ap[k], y = Ar[k], u = up[k], w = ur[k];
        Ap[k] = c * x - s * y;
        Ar[k] = s * x + c * y;
        up[k] = c * u - s * w;
        ur[k] = s * u + c * w;
    }
    Ap[r] = Ar[p] = 0.0;
}

void dyn_jacobi(int n, int sweeps, double *A, double *axis)
{
    for (int i = 0; i < n * n; i++)
        axis[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int p = 0; p < n - 1; p++)
            for (int r = p + 1; r < n; r++)
                rotate(n, A, axis, p, r);
}
