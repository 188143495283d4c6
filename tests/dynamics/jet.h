/*
 * Numbers that know their first and second time derivative.  Whatever is computed from them is
 * differentiated without error: velocities and accelerations from positions alone.
 */
#pragma once

#include <math.h>

struct jet {
    double x, d, dd;
};

static inline struct jet jet_constant(double x)
{
    return (struct jet){x, 0.0, 0.0};
}

static inline struct jet jet_add(struct jet a, struct jet b)
{
    return (struct jet){a.x + b.x, a.d + b.d, a.dd + b.dd};
}

static inline struct jet jet_scale(double k, struct jet a)
{
    return (struct jet){k * a.x, k * a.d, k * a.dd};
}

static inline struct jet jet_sub(struct jet a, struct jet b)
{
    return jet_add(a, jet_scale(-1.0, b));
}

static inline struct jet jet_mul(struct jet a, struct jet b)
{
    return (struct jet){a.x * b.x, a.d * b.x + a.x * b.d,
                        a.dd * b.x + 2.0 * a.d * b.d + a.x * b.dd};
}

/* f of a jet, where f and its derivatives at a.x are given. */
static inline struct jet jet_chain(struct jet a, double f, double f1, double f2)
{
    return (struct jet){f, f1 * a.d, f1 * a.dd + f2 * a.d * a.d};
}

static inline struct jet jet_inverse(struct jet a)
{
    const double f = 1.0 / a.x;
    return jet_chain(a, f, -f * f, 2.0 * f * f * f);
}

static inline struct jet jet_sin(struct jet a)
{
    return jet_chain(a, sin(a.x), cos(a.x), -sin(a.x));
}

static inline struct jet jet_cos(struct jet a)
{
    return jet_chain(a, cos(a.x), -sin(a.x), -cos(a.x));
}
