#include "dynamics/arm/resolved_rate.h"

#include <math.h>
#include <string.h>

#include "dynamics/check.h"
#include "dynamics/math/jacobi.h"

enum { SWEEPS = 10 }; /* of Jacobi's rotations: 6 x 6 is settled after seven or so */

/* J J' for J with its turns in m: its eigenvalues, and its axes by rows. */
struct singular_directions {
    double square[6], axis[6][6];
};

static void find_singular_directions(const struct dyn_resolved_rate_spec *arm, const double *J,
                                     struct singular_directions *singular_directions)
{
    double A[6][6];
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            A[i][k] = 0.0;
            for (int n = 0; n < arm->joints; n++)
                A[i][k] += J[i * arm->joints + n] * J[k * arm->joints + n];
        }
    }
    dyn_jacobi(6, SWEEPS, A[0], singular_directions->axis[0]);
    for (int i = 0; i < 6; i++)
        singular_directions->square[i] = fmax(A[i][i], 0.0);
}

static double damped_reciprocal(double square, double damped_below, double damping)
{
    if (square >= damped_below * damped_below)
        return 1.0 / square;
    const double fade = damping * (1.0 - square / (damped_below * damped_below));
    return 1.0 / (square + fade * fade);
}

static void damped_inverse(const struct singular_directions *singular_directions,
                           double damped_below, double damping, double F[6][6])
{
    double f[6];
    for (int i = 0; i < 6; i++)
        f[i] = damped_reciprocal(singular_directions->square[i], damped_below, damping);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            F[i][k] = 0.0;
            for (int n = 0; n < 6; n++)
                F[i][k] += singular_directions->axis[n][i] * f[n] * singular_directions->axis[n][k];
        }
    }
}

static unsigned is_singular(const struct dyn_resolved_rate_spec *arm,
                            const struct singular_directions *singular_directions)
{
    double least = HUGE_VAL;
    for (int i = 0; i < 6; i++)
        least = fmin(least, singular_directions->square[i]);
    return least < arm->damped_below * arm->damped_below ? DYN_RESOLVED_RATE_SINGULAR : 0;
}

/* rates = J' F twist */
static void rates_of_twist(const struct dyn_resolved_rate_spec *arm, const double *J,
                           double F[6][6], const double twist[6], double *rates)
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

/* z less the part that would move the hand; z moves the joints to the middle of their range. */
static void null_space_rates(const struct dyn_resolved_rate_spec *arm, const double *J,
                             const struct singular_directions *singular_directions, const double *q,
                             double *z)
{
    static const double late = 0.01;
    double hand_twist[6], back[DYN_ARM_JOINT_MAX], F[6][6];
    for (int n = 0; n < arm->joints; n++) {
        const int free = arm->lower[n] == arm->upper[n];
        z[n] = free ? 0.0 : arm->center_gain * (0.5 * (arm->lower[n] + arm->upper[n]) - q[n]);
    }
    for (int i = 0; i < 6; i++) {
        hand_twist[i] = 0.0;
        for (int n = 0; n < arm->joints; n++)
            hand_twist[i] += J[i * arm->joints + n] * z[n];
    }
    damped_inverse(singular_directions, late * arm->damped_below, late * arm->damping, F);
    rates_of_twist(arm, J, F, hand_twist, back);
    for (int n = 0; n < arm->joints; n++)
        z[n] -= back[n];
}

static double rate_ratio_max(const struct dyn_resolved_rate_spec *arm, const double *rates)
{
    double most = 0.0;
    for (int n = 0; n < arm->joints; n++)
        most = fmax(most, fabs(rates[n]));
    return most;
}

/* So fast a joint may go that way and still brake before its limit. */
static double braking_rate_max(const struct dyn_resolved_rate_spec *arm, const double *q, int n,
                               double sign)
{
    const double left = fmax(0.0, sign > 0.0 ? arm->upper[n] - q[n] : q[n] - arm->lower[n]);
    return arm->lower[n] == arm->upper[n] ? HUGE_VAL : sqrt(2.0 * arm->braking[n] * left);
}

/* A joint slower than this share of the fastest one counts as at rest. */
static const double rounding = 1e-12;

/* The motion that does not move the hand is scaled to the rates and limits that are left. */
static void add_null_space_rates(const struct dyn_resolved_rate_spec *arm, const double *J,
                                 const struct singular_directions *singular_directions,
                                 const double *q, double *rates)
{
    double spare[DYN_ARM_JOINT_MAX], share = 1.0;
    if (arm->joints <= 6 || arm->center_gain == 0.0)
        return;
    null_space_rates(arm, J, singular_directions, q, spare);
    const double most = rate_ratio_max(arm, spare);
    for (int n = 0; n < arm->joints; n++) {
        const double speed = fabs(spare[n]), sign = spare[n] > 0.0 ? 1.0 : -1.0;
        const double top = arm->rate_max[n] > 0.0 ? arm->rate_max[n] : HUGE_VAL;
        const double room =
            fmax(0.0, fmin(top, braking_rate_max(arm, q, n, sign)) - sign * rates[n]);
        if (speed > rounding * most && share * speed > room)
            share = room / speed;
    }
    for (int n = 0; n < arm->joints; n++)
        rates[n] += share * spare[n];
}

static void scale_rates(const struct dyn_resolved_rate_spec *arm, double share, double *rates)
{
    for (int n = 0; n < arm->joints; n++)
        rates[n] *= share;
}

/* All as slow as the one that is too fast by most. */
static unsigned limit_rates(const struct dyn_resolved_rate_spec *arm, double *rates)
{
    double share = 1.0;
    for (int n = 0; n < arm->joints; n++)
        if (arm->rate_max[n] > 0.0 && fabs(rates[n]) > arm->rate_max[n])
            share = fmin(share, arm->rate_max[n] / fabs(rates[n]));
    scale_rates(arm, share, rates);
    return share < 1.0 ? DYN_RESOLVED_RATE_SLOWED : 0;
}

/* The same before limits.  A joint that counts as at rest does not stop the others. */
static unsigned limit_before_stops(const struct dyn_resolved_rate_spec *arm, const double *q,
                                   double *rates)
{
    const double most = rate_ratio_max(arm, rates);
    double share = 1.0;
    for (int n = 0; n < arm->joints; n++) {
        const double speed = fabs(rates[n]), limit = braking_rate_max(arm, q, n, rates[n]);
        if (speed > limit && speed > rounding * most)
            share = fmin(share, limit / speed);
    }
    scale_rates(arm, share, rates);
    return share < 1.0 ? DYN_RESOLVED_RATE_LIMIT : 0;
}

unsigned dyn_resolved_rate_limit(const struct dyn_resolved_rate_spec *arm, const double *q,
                                 double *rates)
{
    const unsigned slowed = limit_rates(arm, rates);
    return slowed | limit_before_stops(arm, q, rates);
}

unsigned dyn_resolved_rate(const struct dyn_resolved_rate_spec *arm, const double *J,
                           const double twist[6], const double *q, double *rates)
{
    double scaled[6 * DYN_ARM_JOINT_MAX], wanted[6], F[6][6];
    struct singular_directions singular_directions;
    DYN_CHECK(arm->joints > 0 && arm->joints <= DYN_ARM_JOINT_MAX);
    for (int i = 0; i < 6; i++) {
        const double length = i < 3 ? arm->length : 1.0;
        wanted[i] = length * twist[i];
        for (int n = 0; n < arm->joints; n++)
            scaled[i * arm->joints + n] = length * J[i * arm->joints + n];
    }
    find_singular_directions(arm, scaled, &singular_directions);
    damped_inverse(&singular_directions, arm->damped_below, arm->damping, F);
    rates_of_twist(arm, scaled, F, wanted, rates);
    const unsigned flags =
        is_singular(arm, &singular_directions) | dyn_resolved_rate_limit(arm, q, rates);
    add_null_space_rates(arm, scaled, &singular_directions, q, rates);
    return flags;
}
