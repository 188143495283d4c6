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

/* 1/D.  D is positive for every pose of a model that dyn_model_problem() accepts.  When the state
 * has diverged, D may have any value; a NaN in its place makes the result visibly wrong instead of
 * plausibly wrong. */
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

/* ---- sine and cosine ----------------------------------------------------------------------- */

/* As many angles at a time: they share the constants, and none depends on another. */
enum { WIDE_ANGLES = 2, WIDE_LARGEST_ANGLE = 1 << 20 };

/* p = p z + a, of each. */
WIDE_INLINE void wide_horner(int count, wide p[], const wide z[], double a)
{
    for (int k = 0; k < count; k++)
        p[k] = p[k] * z[k] + wide_splat(a);
}

/* Of angles r within pi/4, by polynomials in z = r^2 that have the least error there: 0.03 of the
 * last digit. */
WIDE_INLINE void wide_near_sine(int count, const wide r[], const wide z[], wide s[])
{
    for (int k = 0; k < count; k++)
        s[k] = wide_splat(0x1.5d9300ec2ec11p-33);
    wide_horner(count, s, z, -0x1.ae5e663a5a9d6p-26);
    wide_horner(count, s, z, 0x1.71de3577b65b2p-19);
    wide_horner(count, s, z, -0x1.a01a019c11991p-13);
    wide_horner(count, s, z, 0x1.111111110f87ap-7);
    wide_horner(count, s, z, -0x1.5555555555549p-3);
    for (int k = 0; k < count; k++)
        s[k] = s[k] * (z[k] * r[k]) + r[k];
}

WIDE_INLINE void wide_near_cosine(int count, const wide z[], wide c[])
{
    for (int k = 0; k < count; k++)
        c[k] = wide_splat(-0x1.8fae9c7ef8f93p-37);
    wide_horner(count, c, z, 0x1.1ee9ebe93ab0ep-29);
    wide_horner(count, c, z, -0x1.27e4f809f0ae5p-22);
    wide_horner(count, c, z, 0x1.a01a019cb1bdbp-16);
    wide_horner(count, c, z, -0x1.6c16c16c1517ep-10);
    wide_horner(count, c, z, 0x1.555555555554cp-5);
    wide_horner(count, c, z, -0.5);
    wide_horner(count, c, z, 1.0);
}

/*
 * The nearest multiple of pi/2 is taken off in three parts.  They have 33, 33 and 53 bits, so the
 * products with the multiple are exact while it stays below 2^20.  Where an angle is beyond that,
 * or not finite, far becomes other than zero and the result is not valid.
 */
WIDE_INLINE void wide_sine_cosine(int count, const wide x[], wide sine[], wide cosine[], wide *far)
{
    const wide round = wide_splat(0x1.8p52); /* leaves a whole number in the low bits */
    const wide largest = wide_splat(WIDE_LARGEST_ANGLE);
    wide whole[WIDE_ANGLES], r[WIDE_ANGLES], z[WIDE_ANGLES], s[WIDE_ANGLES], c[WIDE_ANGLES];

    for (int k = 0; k < count; k++) {
        whole[k] = x[k] * wide_splat(0x1.45f306dc9c883p-1) + round;
        const wide n = whole[k] - round;
        r[k] = ((x[k] - n * wide_splat(0x1.921fb544p+0)) - n * wide_splat(0x1.0b4611a6p-34)) -
               n * wide_splat(0x1.3198a2e037073p-69);
        z[k] = r[k] * r[k];
        const wide_mask near = (x[k] < largest) & (x[k] > -largest);
        *far = (wide)((wide_mask)*far | ~near);
    }
    wide_near_sine(count, r, z, s);
    wide_near_cosine(count, z, c);
    for (int k = 0; k < count; k++) {
        /* an odd quadrant swaps them; signs by the quadrant's second bit, of it and of the next */
        const wide_mask quadrant = (wide_mask)whole[k];
        const wide_mask swap = ((wide_mask)s[k] ^ (wide_mask)c[k]) & -(quadrant & 1);
        const wide_mask minus = (quadrant & 2) << 62, next_minus = ((quadrant + 1) & 2) << 62;
        sine[k] = (wide)((wide_mask)s[k] ^ swap ^ minus);
        cosine[k] = (wide)((wide_mask)c[k] ^ swap ^ next_minus);
    }
}

static inline int wide_is_zero(wide a)
{
    const wide_mask bits = (wide_mask)a;
    long long any = 0;
    for (int j = 0; j < DYN_WIDE; j++)
        any |= bits[j];
    return any == 0;
}

/* By the library, in the lanes where the result of wide_sine_cosine() is not valid. */
static __attribute__((cold)) void wide_far_sine_cosine(wide x, wide *sine, wide *cosine)
{
    for (int j = 0; j < DYN_WIDE; j++)
        if (!(fabs(x[j]) < WIDE_LARGEST_ANGLE)) {
            (*sine)[j] = sin(x[j]);
            (*cosine)[j] = cos(x[j]);
        }
}
