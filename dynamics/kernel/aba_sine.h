/*
 * Sine and cosine of the joint angles, four at a time: a part of the kernel (aba_kernel.h).
 * Tested by tests/dynamics/kernel/test_sine.c.
 */
#pragma once

#include <math.h>

#include "dynamics/kernel/lane.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"

/* The series are summed in pairs, and the pairs in pairs: half the latency of term by term. */

/* r - r^3/3! + r^5/5! ..., with z = r^2. */
static inline dyn_lane sine_series(dyn_lane r, dyn_lane z)
{
    const dyn_lane zz = z * z, z4 = zz * zz;
    const dyn_lane a = lane_splat(1.0 / 120.0) * z - lane_splat(1.0 / 6.0);
    const dyn_lane b = lane_splat(1.0 / 362880.0) * z - lane_splat(1.0 / 5040.0);
    const dyn_lane c = lane_splat(1.0 / 6227020800.0) * z - lane_splat(1.0 / 39916800.0);
    const dyn_lane d = lane_splat(1.0 / 355687428096000.0) * z - lane_splat(1.0 / 1307674368000.0);
    return ((d * zz + c) * z4 + (b * zz + a)) * (z * r) + r;
}

/* 1 - z/2! + z^2/4! ... */
static inline dyn_lane cosine_series(dyn_lane z)
{
    const dyn_lane zz = z * z, z4 = zz * zz;
    const dyn_lane a = lane_splat(1.0 / 24.0) * z - lane_splat(0.5);
    const dyn_lane b = lane_splat(1.0 / 40320.0) * z - lane_splat(1.0 / 720.0);
    const dyn_lane c = lane_splat(1.0 / 479001600.0) * z - lane_splat(1.0 / 3628800.0);
    const dyn_lane d = lane_splat(1.0 / 20922789888000.0) * z - lane_splat(1.0 / 87178291200.0);
    return ((d * zz + c) * z4 + (b * zz + a)) * z + lane_splat(1.0);
}

/* Angles too large for the reduction, one lane at a time by the C library. */
static __attribute__((noinline)) void library_sine_cosine(dyn_lane x, dyn_lane *sine,
                                                          dyn_lane *cosine)
{
    for (int k = 0; k < 4; k++) {
        (*sine)[k] = sin(x[k]);
        (*cosine)[k] = cos(x[k]);
    }
}

/*
 * Four at a time: the nearest multiple of pi/2 taken off in three parts, then the series, which at
 * pi/4 has converged to rounding.  The parts of pi/2 have 33, 33 and 53 bits, so the products with
 * the multiple are exact while it stays below 2^20; larger angles go to the library.
 */
static inline void sine_cosine(dyn_lane x, dyn_lane *sine, dyn_lane *cosine)
{
    static const double PART[3] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
    static const double LARGEST = 0x1p20;
    static const double ROUND = 0x1.8p52; /* adding it rounds to a whole number in the low bits */

    const dyn_lane whole = x * lane_splat(0x1.45f306dc9c883p-1) + lane_splat(ROUND);
    const dyn_lane_mask quadrant = (dyn_lane_mask)whole;
    const dyn_lane k = whole - lane_splat(ROUND);
    const dyn_lane r =
        ((x - k * lane_splat(PART[0])) - k * lane_splat(PART[1])) - k * lane_splat(PART[2]);
    const dyn_lane z = r * r;
    const dyn_lane_mask s = (dyn_lane_mask)sine_series(r, z);
    const dyn_lane_mask c = (dyn_lane_mask)cosine_series(z);

    /* an odd quadrant swaps them; signs by the quadrant's second bit, of it and of the next */
    const dyn_lane_mask one = {1, 1, 1, 1};
    const dyn_lane_mask odd = -(quadrant & one);
    const dyn_lane_mask sine_sign = (quadrant & (one + one)) << 62;
    const dyn_lane_mask cosine_sign = ((quadrant + one) & (one + one)) << 62;
    *sine = (dyn_lane)(((s & ~odd) | (c & odd)) ^ sine_sign);
    *cosine = (dyn_lane)(((c & ~odd) | (s & odd)) ^ cosine_sign);

    const dyn_lane_mask near = (x < lane_splat(LARGEST)) & (x > lane_splat(-LARGEST));
    if (__builtin_expect((near[0] & near[1] & near[2] & near[3]) == 0, 0))
        library_sine_cosine(x, sine, cosine);
}

static inline double angle(const double *q, int at)
{
    return at < 0 ? 0.0 : q[at];
}

/* By q and by the link's offset, one after the other: their sum would cost digits of a q that has
 * turned for long. */
static void find_sines_cosines(const struct dyn_model *model, const double *q,
                               struct dyn_work *work)
{
    for (int i = 0; i < model->link_count; i += 4) {
        const int *at = model->angle_at + i;
        const dyn_lane x = {angle(q, at[0]), angle(q, at[1]), angle(q, at[2]), angle(q, at[3])};
        const dyn_lane so = *(const dyn_lane *)(model->offset_sine + i);
        const dyn_lane co = *(const dyn_lane *)(model->offset_cosine + i);
        dyn_lane s, c;
        sine_cosine(x, &s, &c);
        *(dyn_lane *)(work->sine + i) = s * co + c * so;
        *(dyn_lane *)(work->cosine + i) = c * co - s * so;
    }
}
