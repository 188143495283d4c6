/*
 * A three-vector in four lanes, whatever the instruction set.  Private to the kernel: every file
 * that includes this one is compiled for one instruction set, and passes no lanes to another.
 */
#pragma once

#include "dynamics/work.h"

typedef double dyn_lane __attribute__((vector_size(32), may_alias));
typedef long long dyn_lane_mask __attribute__((vector_size(32)));

static inline dyn_lane lane_load(const struct dyn_row *row)
{
    return *(const dyn_lane *)row->e;
}

static inline void lane_store(struct dyn_row *row, dyn_lane a)
{
    *(dyn_lane *)row->e = a;
}

static inline dyn_lane lane_splat(double a)
{
    return (dyn_lane){a, a, a, a};
}

static inline dyn_lane lane_yzx(dyn_lane a)
{
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}

static inline dyn_lane lane_zxy(dyn_lane a)
{
    return __builtin_shufflevector(a, a, 2, 0, 1, 3);
}

static inline dyn_lane lane_cross(dyn_lane a, dyn_lane b)
{
    return lane_yzx(a * lane_yzx(b) - lane_yzx(a) * b);
}

/* The sum of the lanes, in all of them. */
static inline dyn_lane lane_sum(dyn_lane t)
{
    const dyn_lane s = t + __builtin_shufflevector(t, t, 1, 0, 3, 2);
    return s + __builtin_shufflevector(s, s, 2, 3, 0, 1);
}

/* x a.x + y a.y + z a.z, for the columns x, y, z. */
static inline dyn_lane lane_mul(const dyn_lane m[3], struct dyn_vec3 a)
{
    return m[0] * lane_splat(a.x) + m[1] * lane_splat(a.y) + m[2] * lane_splat(a.z);
}

/* r x, applied to the rows m: each row of the result is a sum of two rows. */
static inline void lane_cross_rows(struct dyn_vec3 r, const dyn_lane m[3], dyn_lane out[3])
{
    const dyn_lane x = lane_splat(r.x), y = lane_splat(r.y), z = lane_splat(r.z);
    out[0] = y * m[2] - z * m[1];
    out[1] = z * m[0] - x * m[2];
    out[2] = x * m[1] - y * m[0];
}

static inline void lane_transpose(const dyn_lane m[3], dyn_lane out[3])
{
    const dyn_lane zero = {0.0, 0.0, 0.0, 0.0};
    const dyn_lane even = __builtin_shufflevector(m[0], m[1], 0, 4, 2, 6);
    const dyn_lane odd = __builtin_shufflevector(m[0], m[1], 1, 5, 3, 7);
    const dyn_lane last_even = __builtin_shufflevector(m[2], zero, 0, 4, 2, 6);
    const dyn_lane last_odd = __builtin_shufflevector(m[2], zero, 1, 5, 3, 7);
    out[0] = __builtin_shufflevector(even, last_even, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(odd, last_odd, 0, 1, 4, 5);
    out[2] = __builtin_shufflevector(even, last_even, 2, 3, 6, 7);
}
