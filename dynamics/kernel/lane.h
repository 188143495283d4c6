/*
 * A three-vector in four lanes, for any instruction set.  Tested by
 * tests/dynamics/kernel/test_aba.c.  Private to the kernel: every file that includes this one is
 * compiled for one instruction set, and passes no lanes to another.
 */
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "dynamics/kernel/work.h"

#ifndef DYN_LANE_GIVEN /* tools/count/ has lanes that count */
typedef double dyn_lane __attribute__((vector_size(32), may_alias));
typedef double dyn_loose_lane __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long dyn_lane_mask __attribute__((vector_size(32)));
#endif

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

/* Four doubles that need not be aligned, by one instruction: after a copy in halves, the next load
 * of all four would stall. */
static inline dyn_lane lane_at(const double *from)
{
    return *(const dyn_loose_lane *)from;
}

static inline void lane_put(double *to, dyn_lane a)
{
    *(dyn_loose_lane *)to = a;
}

/* The three of a, and the last of b. */
static inline dyn_lane lane_last(dyn_lane a, dyn_lane b)
{
#ifdef __AVX__ /* compilers use three instructions */
    return (dyn_lane)_mm256_blend_pd((__m256d)a, (__m256d)b, 8);
#else
    return __builtin_shufflevector(a, b, 0, 1, 2, 7);
#endif
}

static inline dyn_lane lane_yzx(dyn_lane a)
{
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}

static inline dyn_lane lane_cross(dyn_lane a, dyn_lane b)
{
    return lane_yzx(a * lane_yzx(b) - lane_yzx(a) * b);
}

/* The sum of the lanes, in all of them. */
static inline dyn_lane lane_sum(dyn_lane t)
{
    const dyn_lane s = t + __builtin_shufflevector(t, t, 1, 0, 3, 2);
#ifdef __AVX__ /* half the latency of the shuffle that compilers choose */
    return s + (dyn_lane)_mm256_permute2f128_pd((__m256d)s, (__m256d)s, 1);
#else
    return s + __builtin_shufflevector(s, s, 2, 3, 0, 1);
#endif
}

/* The sums of four, each in its lane. */
static inline dyn_lane lane_sums(dyn_lane a, dyn_lane b, dyn_lane c, dyn_lane d)
{
    const dyn_lane ab =
        __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const dyn_lane cd =
        __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/* Three of them: the columns of a matrix, or its rows.  Members and not an array, so that they
 * stay in registers. */
struct dyn_lane3 {
    dyn_lane x, y, z;
};

static inline struct dyn_lane3 lane3_load(const struct dyn_row row[3])
{
    return (struct dyn_lane3){lane_load(&row[0]), lane_load(&row[1]), lane_load(&row[2])};
}

static inline void lane3_store(struct dyn_row row[3], struct dyn_lane3 m)
{
    lane_store(&row[0], m.x);
    lane_store(&row[1], m.y);
    lane_store(&row[2], m.z);
}

static inline struct dyn_lane3 lane3_add(struct dyn_lane3 a, struct dyn_lane3 b)
{
    return (struct dyn_lane3){a.x + b.x, a.y + b.y, a.z + b.z};
}

/* a + s b */
static inline struct dyn_lane3 lane3_axpy(struct dyn_lane3 a, dyn_lane s, struct dyn_lane3 b)
{
    return (struct dyn_lane3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

/* Columns times a vector: x a.x + y a.y + z a.z. */
static inline dyn_lane lane3_mul(struct dyn_lane3 m, struct dyn_vec3 a)
{
    return m.x * lane_splat(a.x) + m.y * lane_splat(a.y) + m.z * lane_splat(a.z);
}

/* r x, applied to the rows m: each row of the result is a sum of two rows. */
static inline struct dyn_lane3 lane3_cross(struct dyn_vec3 r, struct dyn_lane3 m)
{
    const dyn_lane x = lane_splat(r.x), y = lane_splat(r.y), z = lane_splat(r.z);
    return (struct dyn_lane3){y * m.z - z * m.y, z * m.x - x * m.z, x * m.y - y * m.x};
}

static inline struct dyn_lane3 lane3_transpose(struct dyn_lane3 m)
{
    const dyn_lane zero = {0.0, 0.0, 0.0, 0.0};
    const dyn_lane even = __builtin_shufflevector(m.x, m.y, 0, 4, 2, 6);
    const dyn_lane odd = __builtin_shufflevector(m.x, m.y, 1, 5, 3, 7);
    const dyn_lane last_even = __builtin_shufflevector(m.z, zero, 0, 4, 2, 6);
    const dyn_lane last_odd = __builtin_shufflevector(m.z, zero, 1, 5, 3, 7);
    return (struct dyn_lane3){__builtin_shufflevector(even, last_even, 0, 1, 4, 5),
                              __builtin_shufflevector(odd, last_odd, 0, 1, 4, 5),
                              __builtin_shufflevector(even, last_even, 2, 3, 6, 7)};
}

/* a b', by columns: each is a, times an element of b in memory. */
static inline struct dyn_lane3 lane3_outer(dyn_lane a, const struct dyn_row *b)
{
    return (struct dyn_lane3){a * lane_splat(b->e[0]), a * lane_splat(b->e[1]),
                              a * lane_splat(b->e[2])};
}

/* Stored and read back: three loads that broadcast one element to all lanes are cheaper than three
 * shuffles across the lanes. */
static inline void lane_keep(struct dyn_row *row, dyn_lane a)
{
    lane_store(row, a);
    __asm__("" : "+m"(*row));
}

static inline void lane3_keep(struct dyn_row row[3], struct dyn_lane3 m)
{
    lane_keep(&row[0], m.x);
    lane_keep(&row[1], m.y);
    lane_keep(&row[2], m.z);
}

/* sum += m - a b', b in memory. */
static inline void lane3_accumulate(struct dyn_row sum[3], struct dyn_lane3 m, dyn_lane a,
                                    const struct dyn_row *b)
{
    lane_store(&sum[0], lane_load(&sum[0]) + m.x - a * lane_splat(b->e[0]));
    lane_store(&sum[1], lane_load(&sum[1]) + m.y - a * lane_splat(b->e[1]));
    lane_store(&sum[2], lane_load(&sum[2]) + m.z - a * lane_splat(b->e[2]));
}
