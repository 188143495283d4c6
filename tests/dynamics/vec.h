/*
 * Three-vectors as plain arrays, for truths that must not share dynamics/math/spatial.h.
 */
#pragma once

#include <math.h>
#include <string.h>

struct vec_mat {
    double row[3][3];
};

static inline double vec_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out may be a or b. */
static inline void vec_cross(const double a[3], const double b[3], double out[3])
{
    const double e[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    memcpy(out, e, sizeof e);
}

/* out += k a */
static inline void vec_add(double k, const double a[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] += k * a[i];
}

/* m a; out may be a. */
static inline void vec_multiply(const struct vec_mat *m, const double a[3], double out[3])
{
    const double e[3] = {vec_dot(m->row[0], a), vec_dot(m->row[1], a), vec_dot(m->row[2], a)};
    memcpy(out, e, sizeof e);
}

/* m' a; out may be a. */
static inline void vec_multiply_t(const struct vec_mat *m, const double a[3], double out[3])
{
    double e[3] = {0};
    for (int i = 0; i < 3; i++)
        vec_add(a[i], m->row[i], e);
    memcpy(out, e, sizeof e);
}

/* Rotation by a quaternion w x y z of any length, as a matrix. */
static inline void vec_quat_matrix(const double q[4], struct vec_mat *R)
{
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double *u = q + 1;
        R->row[i][i] = 1.0 - 2.0 * (u[j] * u[j] + u[k] * u[k]) / n;
        R->row[i][j] = 2.0 * (u[i] * u[j] - q[0] * u[k]) / n;
        R->row[j][i] = 2.0 * (u[i] * u[j] + q[0] * u[k]) / n;
    }
}

/* a turned about a unit axis (Rodrigues); out may be a. */
static inline void vec_turn(const double axis[3], double angle, const double a[3], double out[3])
{
    double e[3], across[3];
    vec_cross(axis, a, across);
    for (int i = 0; i < 3; i++)
        e[i] = cos(angle) * a[i] + sin(angle) * across[i] +
               (1.0 - cos(angle)) * vec_dot(axis, a) * axis[i];
    memcpy(out, e, sizeof e);
}

/* xx yy zz xy xz yz as a matrix. */
static inline void vec_symmetric(const double s[6], struct vec_mat *I)
{
    const double e[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
    memcpy(I->row, e, sizeof e);
}

/* I + m (c.c 1 - c c'): about a point from which the mass centre stands at c. */
static inline void vec_steiner(double mass, const double c[3], struct vec_mat *I)
{
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            I->row[r][k] += mass * (vec_dot(c, c) * (r == k) - c[r] * c[k]);
}
