/*
 * Attitudes as unit quaternions w, x, y, z that turn body coordinates into world coordinates, and
 * rotation vectors (axis times angle, rad) in body axes.
 */
#pragma once

#include <math.h>

/* out = a b; out may be neither of them. */
static inline void board_quaternion_multiply(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* Scale to unit length; false when the length is zero or not a number. */
static inline int board_quaternion_normalise(double q[4])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-6 && length < 1e6))
        return 0;
    for (int i = 0; i < 4; i++)
        q[i] /= length;
    return 1;
}

/* q turned further by the rotation vector r, given in its own body axes. */
static inline void board_quaternion_turn(double q[4], const double r[3])
{
    const double half = 0.5 * sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    const double s = half > 1e-9 ? 0.5 * sin(half) / half : 0.5;
    const double step[4] = {cos(half), s * r[0], s * r[1], s * r[2]};
    const double old[4] = {q[0], q[1], q[2], q[3]};
    board_quaternion_multiply(old, step, q);
    board_quaternion_normalise(q);
}

/* The shortest rotation vector that turns `from` into `to`. */
static inline void board_quaternion_difference(const double from[4], const double to[4],
                                               double r[3])
{
    const double inverse[4] = {from[0], -from[1], -from[2], -from[3]};
    double d[4];
    board_quaternion_multiply(inverse, to, d);
    const double sine = sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
    const double sign = d[0] < 0.0 ? -1.0 : 1.0;
    const double scale = sine > 1e-12 ? 2.0 * atan2(sine, fabs(d[0])) / sine : 2.0;
    for (int i = 0; i < 3; i++)
        r[i] = sign * scale * d[i + 1];
}
