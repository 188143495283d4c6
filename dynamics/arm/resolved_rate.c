#include "dynamics/arm/resolved_rate.h"

#include <math.h>
#include <string.h>

#include "dynamics/check.h"
#include "dynamics/math/jacobi.h"

enum { SWEEPS = 10 }; /* of Jacobi's rotations: 6 x 6 is settled after seven or so */

/* J J' for J with its turns in m: its eigenvalues, and its axes by rows. */
struct spread {
    double square[6], axis[6][6];
};

static void spread_of(const struct dyn_resolve *arm, const double *J, struct spread *spread)
{
    double A[6][6];
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            A[i][k] = 0.0;
            for (int n = 0; n < arm->joints; n++)
                A[i][k] += J[i * arm->joints + n] * J[k * arm->joints + n];
        }
    }
    dyn_jacobi(6, SWEEPS, A[0], spread->axis[0]);
    for (int i = 0; i < 6; i++)
        spread->square[i] = fmax(A[i][i], 0.0);
}

static double inverse_of(double square, double weak, double damping)
{
    if (square >= weak * weak)
        return 1.0 / square;
    const double fade = damping * (1.0 - square / (weak * weak));
    return 1.0 / (square + fade * fade);
}

static void weigh(const struct spread *spread, double weak, double damping, double F[6][6])
{
    double f[6];
    for (int i = 0; i < 6; i++)
        f[i] = inverse_of(spread->square[i], weak, damping);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            F[i][k] = 0.0;
            for (int n = 0; n < 6; n++)
                F[i][k] += spread->axis[n][i] * f[n] * spread->axis[n][k];
        }
    }
}

static unsigned is_singular(const struct dyn_resolve *arm, const struct spread *spread)
{
    double least = HUGE_VAL;
    for (int i = 0; i < 6; i++)
        least = fmin(least, spread->square[i]);
    return least < arm->weak * arm->weak ? DYN_RESOLVE_SINGULAR : 0;
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

/* z less what the hand would feel of it; z leads the joints to the middle of their range. */
static void spare_of(const struct dyn_resolve *arm, const double *J, const struct spread *spread,
                     const double *q, double *z)
{
    static const double late = 0.01;
    double felt[6], back[DYN_RESOLVE_MAX], F[6][6];
    for (int n = 0; n < arm->joints; n++) {
        const int free = arm->lower[n] == arm->upper[n];
        z[n] = free ? 0.0 : arm->center_gain * (0.5 * (arm->lower[n] + arm->upper[n]) - q[n]);
    }
    for (int i = 0; i < 6; i++) {
        felt[i] = 0.0;
        for (int n = 0; n < arm->joints; n++)
            felt[i] += J[i * arm->joints + n] * z[n];
    }
    weigh(spread, late * arm->weak, late * arm->damping, F);
    pull(arm, J, F, felt, back);
    for (int n = 0; n < arm->joints; n++)
        z[n] -= back[n];
}

static double fastest(const struct dyn_resolve *arm, const double *rates)
{
    double most = 0.0;
    for (int n = 0; n < arm->joints; n++)
        most = fmax(most, fabs(rates[n]));
    return most;
}

/* So fast a joint may go that way and still brake before its limit. */
static double allowed(const struct dyn_resolve *arm, const double *q, int n, double way)
{
    const double left = fmax(0.0, way > 0.0 ? arm->upper[n] - q[n] : q[n] - arm->lower[n]);
    return arm->lower[n] == arm->upper[n] ? HUGE_VAL : sqrt(2.0 * arm->braking[n] * left);
}

/* What is slower than this share of the fastest stands but for rounding. */
static const double rounding = 1e-12;

/* The motion that the hand does not feel takes the room that is left. */
static void add_spare(const struct dyn_resolve *arm, const double *J, const struct spread *spread,
                      const double *q, double *rates)
{
    double spare[DYN_RESOLVE_MAX], share = 1.0;
    if (arm->joints <= 6 || arm->center_gain == 0.0)
        return;
    spare_of(arm, J, spread, q, spare);
    const double most = fastest(arm, spare);
    for (int n = 0; n < arm->joints; n++) {
        const double speed = fabs(spare[n]), way = spare[n] > 0.0 ? 1.0 : -1.0;
        const double top = arm->rate_max[n] > 0.0 ? arm->rate_max[n] : HUGE_VAL;
        const double room = fmax(0.0, fmin(top, allowed(arm, q, n, way)) - way * rates[n]);
        if (speed > rounding * most && share * speed > room)
            share = room / speed;
    }
    for (int n = 0; n < arm->joints; n++)
        rates[n] += share * spare[n];
}

static void scale(const struct dyn_resolve *arm, double share, double *rates)
{
    for (int n = 0; n < arm->joints; n++)
        rates[n] *= share;
}

/* All as slow as the one that is too fast by most. */
static unsigned slow_down(const struct dyn_resolve *arm, double *rates)
{
    double share = 1.0;
    for (int n = 0; n < arm->joints; n++)
        if (arm->rate_max[n] > 0.0 && fabs(rates[n]) > arm->rate_max[n])
            share = fmin(share, arm->rate_max[n] / fabs(rates[n]));
    scale(arm, share, rates);
    return share < 1.0 ? DYN_RESOLVE_SLOWED : 0;
}

/* The same before limits.  A joint that stands but for rounding does not stop the others. */
static unsigned hold_back(const struct dyn_resolve *arm, const double *q, double *rates)
{
    const double most = fastest(arm, rates);
    double share = 1.0;
    for (int n = 0; n < arm->joints; n++) {
        const double speed = fabs(rates[n]), limit = allowed(arm, q, n, rates[n]);
        if (speed > limit && speed > rounding * most)
            share = fmin(share, limit / speed);
    }
    scale(arm, share, rates);
    return share < 1.0 ? DYN_RESOLVE_LIMIT : 0;
}

unsigned dyn_resolve_bound(const struct dyn_resolve *arm, const double *q, double *rates)
{
    const unsigned slowed = slow_down(arm, rates);
    return slowed | hold_back(arm, q, rates);
}

unsigned dyn_resolve(const struct dyn_resolve *arm, const double *J, const double twist[6],
                     const double *q, double *rates)
{
    double scaled[6 * DYN_RESOLVE_MAX], wanted[6], F[6][6];
    struct spread spread;
    DYN_CHECK(arm->joints > 0 && arm->joints <= DYN_RESOLVE_MAX);
    for (int i = 0; i < 6; i++) {
        const double length = i < 3 ? arm->length : 1.0;
        wanted[i] = length * twist[i];
        for (int n = 0; n < arm->joints; n++)
            scaled[i * arm->joints + n] = length * J[i * arm->joints + n];
    }
    spread_of(arm, scaled, &spread);
    weigh(&spread, arm->weak, arm->damping, F);
    pull(arm, scaled, F, wanted, rates);
    const unsigned flags = is_singular(arm, &spread) | dyn_resolve_bound(arm, q, rates);
    add_spare(arm, scaled, &spread, q, rates);
    return flags;
}
