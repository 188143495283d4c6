/*
 * Vectors over modes: a part of the kernel (aba_kernel.h).  Modes lie in lanes, so that an
 * operation is done for four of them at once.
 */
#pragma once

#include "dynamics/kernel/lane.h"

/* Inlined with a constant number of lanes: for four, where no loop is left, often for eight, where
 * strides are constant, and for any number. */
#define DYN_FOR_LANES static inline __attribute__((always_inline))

/* Not inlined, so that the loop over rigid links keeps its registers. */
#define DYN_APART static __attribute__((noinline))

/* The first four lanes of a row of modes. */
static inline dyn_lane modes_at(const double *row)
{
    return *(const dyn_lane *)row;
}

static inline void modes_put(double *row, dyn_lane a)
{
    *(dyn_lane *)row = a;
}

/* Rows over modes, named by component. */
struct dyn_mode_rows {
    dyn_lane x, y, z;
};

static inline struct dyn_mode_rows rows_none(void)
{
    const dyn_lane none = lane_splat(0.0);
    return (struct dyn_mode_rows){none, none, none};
}

static inline struct dyn_mode_rows rows_at(const double *row, int lanes)
{
    return (struct dyn_mode_rows){modes_at(row), modes_at(row + lanes), modes_at(row + 2 * lanes)};
}

static inline void rows_put(double *row, int lanes, struct dyn_mode_rows a)
{
    modes_put(row, a.x);
    modes_put(row + lanes, a.y);
    modes_put(row + 2 * lanes, a.z);
}

static inline void rows_add(double *row, int lanes, struct dyn_mode_rows a)
{
    modes_put(row, modes_at(row) + a.x);
    modes_put(row + lanes, modes_at(row + lanes) + a.y);
    modes_put(row + 2 * lanes, modes_at(row + 2 * lanes) + a.z);
}

static inline struct dyn_mode_rows rows_sum_of(struct dyn_mode_rows a, struct dyn_mode_rows b)
{
    return (struct dyn_mode_rows){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline struct dyn_mode_rows rows_axpy(struct dyn_mode_rows a, dyn_lane s,
                                             struct dyn_mode_rows b)
{
    return (struct dyn_mode_rows){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline struct dyn_mode_rows rows_scale(dyn_lane s, struct dyn_mode_rows a)
{
    return (struct dyn_mode_rows){s * a.x, s * a.y, s * a.z};
}

/* a + sum_q s_q d_q: the sum over the second mode of a table. */
DYN_FOR_LANES struct dyn_mode_rows rows_gather(struct dyn_mode_rows a, const double *d,
                                               const double *s, int modes, int lanes)
{
#pragma GCC unroll 4
    for (int q = 0; q < modes; q++)
        a = rows_axpy(a, lane_splat(s[q]), rows_at(d + q * 3 * lanes, lanes));
    return a;
}

static inline struct dyn_mode_rows rows_cross(struct dyn_vec3 r, struct dyn_mode_rows a)
{
    const dyn_lane x = lane_splat(r.x), y = lane_splat(r.y), z = lane_splat(r.z);
    return (struct dyn_mode_rows){y * a.z - z * a.y, z * a.x - x * a.z, x * a.y - y * a.x};
}

static inline dyn_lane rows_dot(struct dyn_vec3 r, struct dyn_mode_rows a)
{
    return lane_splat(r.x) * a.x + lane_splat(r.y) * a.y + lane_splat(r.z) * a.z;
}

/* Link axes to world axes. */
static inline struct dyn_mode_rows rows_turn(const struct dyn_row R[3], struct dyn_mode_rows a)
{
    return (struct dyn_mode_rows){rows_dot((struct dyn_vec3){R[0].e[0], R[1].e[0], R[2].e[0]}, a),
                                  rows_dot((struct dyn_vec3){R[0].e[1], R[1].e[1], R[2].e[1]}, a),
                                  rows_dot((struct dyn_vec3){R[0].e[2], R[1].e[2], R[2].e[2]}, a)};
}

/* Over all modes, as a vector. */
static inline dyn_lane rows_sum(struct dyn_mode_rows a)
{
    return lane_sums(a.x, a.y, a.z, lane_splat(0.0));
}

static inline struct dyn_vec3 lane_vec3(dyn_lane a)
{
    return (struct dyn_vec3){a[0], a[1], a[2]};
}

/* Load up to four adjacent modes; the empty lanes are zero. */
static inline dyn_lane modes_from(const double *from, int modes)
{
    dyn_lane row = lane_splat(0.0);
    if (__builtin_expect(modes >= 4, 1))
        return lane_at(from);
    for (int p = 0; p < modes; p++)
        row[p] = from[p];
    return row;
}

static inline void load_row(const double *from, int modes, int lanes, double *row)
{
    if (__builtin_expect(modes == 4, 1)) {
        modes_put(row, lane_at(from));
        return;
    }
    for (int g = 0; g < lanes; g += 4)
        modes_put(row + g, modes_from(from + g, modes - g));
}
