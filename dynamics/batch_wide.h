/*
 * A number of several states at once, DYN_WIDE of them, whatever the instruction set.  Private to
 * the batch kernels: every file that includes this one is compiled for one instruction set, and
 * passes none of these to another.
 */
#pragma once

#include <math.h>

typedef double wide __attribute__((vector_size(8 * DYN_WIDE), may_alias));
typedef double wide_anywhere __attribute__((vector_size(8 * DYN_WIDE), may_alias, aligned(8)));
typedef long long wide_mask __attribute__((vector_size(8 * DYN_WIDE)));

#define WIDE_INLINE static inline __attribute__((always_inline))

WIDE_INLINE wide wide_splat(double a)
{
#if DYN_WIDE == 8
    return (wide){a, a, a, a, a, a, a, a};
#elif DYN_WIDE == 4
    return (wide){a, a, a, a};
#else
    return (wide){a, a};
#endif
}

WIDE_INLINE wide wide_load(const double *row)
{
    return *(const wide_anywhere *)row;
}

WIDE_INLINE void wide_store(double *row, wide a)
{
    *(wide_anywhere *)row = a;
}

/* 1/D.  D is positive for every pose of a model without a flaw.  When the state has run away it may
 * be anything; a NaN in its place makes the result visibly wrong instead of plausibly wrong. */
WIDE_INLINE wide wide_inverse(wide D)
{
    const wide_mask good = D > wide_splat(0.0);
    const wide_mask bits = (wide_mask)(wide_splat(1.0) / D);
    return (wide)(bits | ~good); /* all ones is a NaN */
}

/* a where x is positive, else zero. */
WIDE_INLINE wide wide_where_positive(wide x, wide a)
{
    return (wide)((wide_mask)a & (x > wide_splat(0.0)));
}

static inline wide wide_tanh(wide x)
{
    for (int j = 0; j < DYN_WIDE; j++)
        x[j] = tanh(x[j]);
    return x;
}

enum { WIDE_LARGEST_ANGLE = 1 << 20 };

/* Where an angle is too large for the series, or not finite. */
static __attribute__((noinline, cold)) void wide_far_angles(const double *x, double *s, double *c)
{
    for (int j = 0; j < DYN_WIDE; j++)
        if (!(fabs(x[j]) < WIDE_LARGEST_ANGLE)) {
            s[j] = sin(x[j]);
            c[j] = cos(x[j]);
        }
}

/*
 * The nearest multiple of pi/2 taken off in three parts, then the series, which at pi/4 has
 * converged to rounding.  The parts of pi/2 have 33, 33 and 53 bits, so the products with the
 * multiple are exact while it stays below 2^20; larger angles go to the library.
 */
WIDE_INLINE void wide_sine_cosine(wide x, wide *sine, wide *cosine)
{
    const wide round = wide_splat(0x1.8p52); /* leaves a whole number in the low bits */
    const wide whole = x * wide_splat(0x1.45f306dc9c883p-1) + round;
    const wide k = whole - round;
    const wide r = ((x - k * wide_splat(0x1.921fb544p+0)) - k * wide_splat(0x1.0b4611a6p-34)) -
                   k * wide_splat(0x1.3198a2e037073p-69);
    const wide z = r * r;
    wide s = wide_splat(1.0 / 355687428096000.0);
    s = s * z - wide_splat(1.0 / 1307674368000.0);
    s = s * z + wide_splat(1.0 / 6227020800.0);
    s = s * z - wide_splat(1.0 / 39916800.0);
    s = s * z + wide_splat(1.0 / 362880.0);
    s = s * z - wide_splat(1.0 / 5040.0);
    s = s * z + wide_splat(1.0 / 120.0);
    s = s * z - wide_splat(1.0 / 6.0);
    s = s * z * r + r;
    wide c = wide_splat(1.0 / 20922789888000.0);
    c = c * z - wide_splat(1.0 / 87178291200.0);
    c = c * z + wide_splat(1.0 / 479001600.0);
    c = c * z - wide_splat(1.0 / 3628800.0);
    c = c * z + wide_splat(1.0 / 40320.0);
    c = c * z - wide_splat(1.0 / 720.0);
    c = c * z + wide_splat(1.0 / 24.0);
    c = (c * z - wide_splat(0.5)) * z + wide_splat(1.0);

    /* an odd quadrant swaps them; signs by the quadrant's second bit, of it and of the next */
    const wide_mask quadrant = (wide_mask)whole;
    const wide_mask odd = -(quadrant & 1);
    const wide_mask sb = (wide_mask)s, cb = (wide_mask)c;
    *sine = (wide)(((sb & ~odd) | (cb & odd)) ^ ((quadrant & 2) << 62));
    *cosine = (wide)(((cb & ~odd) | (sb & odd)) ^ (((quadrant + 1) & 2) << 62));

    const wide largest = wide_splat(WIDE_LARGEST_ANGLE);
    const wide_mask near = (x < largest) & (x > -largest);
    long long all = -1;
    for (int j = 0; j < DYN_WIDE; j++)
        all &= near[j];
    if (__builtin_expect(all == 0, 0)) {
        double angle[DYN_WIDE], its_sine[DYN_WIDE], its_cosine[DYN_WIDE];
        wide_store(angle, x);
        wide_store(its_sine, *sine);
        wide_store(its_cosine, *cosine);
        wide_far_angles(angle, its_sine, its_cosine);
        *sine = wide_load(its_sine);
        *cosine = wide_load(its_cosine);
    }
}
