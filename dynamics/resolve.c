#include "dynamics/resolve.h"

#include <math.h>
#include <string.h>

#include "dynamics/check.h"
#include "dynamics/jacobi.h"

enum { SWEEPS = 10 }; /* of Jacobi's rotations: 6 x 6 is settled after seven or so */

static double inverse_of(const struct dyn_resolve *arm, double square, unsigned *flags)
{
    const double weak = arm->weak * arm->weak;
    if (square >= weak)
        return 1.0 / square;
    *flags |= DYN_RESOLVE_SINGULAR;
    const double fade = arm->damping * (1.0 - fmax(square, 0.0) / weak);
    return 1.0 / (fmax(square, 0.0) + fade * fade);
}

/* F(J J') for J with its turns in m. */
static void weigh(const struct dyn_resolve *arm, const double *J, double F[6][6], unsigned *flags)
{
    double A[6][6], axis[6][6], f[6];
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            A[i][k] = 0.0;
            for (int n = 0; n < arm->joints; n++)
                A[i][k] += J[i * arm->joints + n] * J[k * arm->joints + n];
        }
    }
    dyn_jacobi(6, SWEEPS, A[0], axis[0]);
    for (int i = 0; i < 6; i++)
        f[i] = inverse_of(arm, A[i][i], flags);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            F[i][k] = 0.0;
            for (int n = 0; n < 6; n++)
                F[i][k] += axis[n][i] * f[n] * axis[n][k];
        }
    }
}

/* rates = J' F twist */
static void pull(const struct dyn_resolve *arm, const double *J, double F[6][6],
                 const double twist[6], double *rates)
{
    double y[6];
    for (int i = 0; i < 6; i++) {
        y[i] = 0.0;
        for (int k = 0; k < 6; k++)
            y[i] += F[i][k] * twist[k];
    }
    for (int n = 0; n < arm->joints; n++) {
        rates[n] = 0.0;
        for (int i = 0; i < 6; i++)
            rates[n] += J[i * arm->joints + n] * y[i];
    }
}

/* The motion that the hand does not feel leads the joints to the middle of their range. */
static void add_spare(const struct dyn_resolve *arm, const double *J, double F[6][6],
                      const double *q, double *rates)
{
    double z[DYN_RESOLVE_MAX], felt[6], back[DYN_RESOLVE_MAX];
    if (arm->joints <= 6 || arm->center_gain == 0.0)
        return;
    for (int n = 0; n < arm->joints; n++) {
        const int free = arm->lower[n] == arm->upper[n];
        z[n] = free ? 0.0 : arm->center_gain * (0.5 * (arm->lower[n] + arm->upper[n]) - q[n]);
    }
    for (int i = 0; i < 6; i++) {
        felt[i] = 0.0;
        for (int n = 0; n < arm->joints; n++)
            felt[i] += J[i * arm->joints + n] * z[n];
    }
    pull(arm, J, F, felt, back);
    for (int n = 0; n < arm->joints; n++)
        rates[n] += z[n] - back[n];
}

/* The part of all rates at which this joint is slow enough. */
static double share_of(const struct dyn_resolve *arm, int n, double q, double rate, unsigned *flags)
{
    double share = 1.0;
    if (arm->lower[n] != arm->upper[n]) {
        const double left = fmax(0.0, rate > 0.0 ? arm->upper[n] - q : q - arm->lower[n]);
        const double allowed = sqrt(2.0 * arm->braking[n] * left);
        if (fabs(rate) > allowed) {
            *flags |= DYN_RESOLVE_LIMIT;
            share = allowed / fabs(rate);
        }
    }
    if (arm->rate_max[n] > 0.0 && fabs(rate) > arm->rate_max[n]) {
        *flags |= DYN_RESOLVE_SLOWED;
        share = fmin(share, arm->rate_max[n] / fabs(rate));
    }
    return share;
}

unsigned dyn_resolve(const struct dyn_resolve *arm, const double *J, const double twist[6],
                     const double *q, double *rates)
{
    double scaled[6 * DYN_RESOLVE_MAX], wanted[6], F[6][6];
    unsigned flags = 0;
    DYN_CHECK(arm->joints > 0 && arm->joints <= DYN_RESOLVE_MAX);
    for (int i = 0; i < 6; i++) {
        const double length = i < 3 ? arm->length : 1.0;
        wanted[i] = length * twist[i];
        for (int n = 0; n < arm->joints; n++)
            scaled[i * arm->joints + n] = length * J[i * arm->joints + n];
    }
    weigh(arm, scaled, F, &flags);
    pull(arm, scaled, F, wanted, rates);
    add_spare(arm, scaled, F, q, rates);

    double share = 1.0;
    for (int n = 0; n < arm->joints; n++)
        share = fmin(share, share_of(arm, n, q[n], rates[n], &flags));
    for (int n = 0; n < arm->joints; n++)
        rates[n] *= share;
    return flags;
}
