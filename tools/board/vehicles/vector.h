/*
 * Three-vectors, and their rotation between body and world axes.
 */
#pragma once

#include <math.h>

static inline double board_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double board_length(const double a[3])
{
    return sqrt(board_dot(a, a));
}

/* out may be neither of them. */
static inline void board_cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double board_clamp(double value, double most)
{
    return fmin(fmax(value, -most), most);
}

/* Shrink the first `count` components to the length `most`, keeping their direction. */
static inline void board_shrink(double *v, int count, double most)
{
    double square = 0.0;
    for (int i = 0; i < count; i++)
        square += v[i] * v[i];
    for (int i = 0; i < count && square > most * most; i++)
        v[i] *= most / sqrt(square);
}

/* v in world axes of the attitude q; out may not be v.  v + 2 w (u x v) + 2 u x (u x v) */
static inline void board_to_world(const double q[4], const double v[3], double out[3])
{
    double a[3], b[3];
    board_cross(q + 1, v, a);
    board_cross(q + 1, a, b);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + 2.0 * (q[0] * a[i] + b[i]);
}

static inline void board_to_body(const double q[4], const double v[3], double out[3])
{
    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
    board_to_world(back, v, out);
}
