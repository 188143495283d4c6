#include "tests/scenario/board/cubesat.h"

#include <math.h>
#include <string.h>

enum { ATTITUDE = 0, RATE = 4, WHEEL = 7, STATES = 10 };

static const double equator_field = 26e-6; /* T, at the height of the orbit */

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* B = B0 (3 (m.r) r - m) with the dipole tilted by 11 degrees from the pole; the Earth's turning
 * is left out. */
static void world_field(const struct cubesat *cubesat, double time, double field[3])
{
    const double u = cubesat->orbit_rate * time;
    const double r[3] = {cos(u), 0.0, sin(u)}, m[3] = {0.0, -sin(0.19), -cos(0.19)};
    const double along = r[0] * m[0] + r[1] * m[1] + r[2] * m[2];
    for (int i = 0; i < 3; i++)
        field[i] = equator_field * (3.0 * along * r[i] - m[i]);
}

static void to_body(const double *q, const double v[3], double out[3])
{
    double a[3], b[3];
    cross(v, q + 1, a); /* turning back: the vector part changes its sign */
    cross(a, q + 1, b);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + 2.0 * (q[0] * a[i] + b[i]);
}

void cubesat_field(const struct cubesat *cubesat, double field[3])
{
    double world[3];
    world_field(cubesat, cubesat->time, world);
    to_body(cubesat->q, world, field);
}

static void derivative(const struct cubesat *s, double time, const double *x,
                       const double dipole[3], const double motor[3], double *dx)
{
    const double *q = x, *w = x + RATE, *h = x + WHEEL;
    double world[3], field[3], torque[3], momentum[3], gyroscopic[3];
    world_field(s, time, world);
    to_body(q, world, field);
    cross(dipole, field, torque);
    for (int i = 0; i < 3; i++)
        momentum[i] = s->inertia[i] * w[i] + h[i];
    cross(w, momentum, gyroscopic);
    dx[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
    dx[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    dx[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    dx[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    for (int i = 0; i < 3; i++) {
        dx[RATE + i] = (torque[i] - gyroscopic[i] - motor[i]) / s->inertia[i];
        dx[WHEEL + i] = motor[i];
    }
}

void cubesat_step(struct cubesat *cubesat, const double dipole[3], const double motor[3], double dt)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double x[STATES], at[STATES], sum[STATES] = {0.0}, slope[STATES] = {0.0};
    memcpy(x, cubesat->q, sizeof cubesat->q);
    memcpy(x + RATE, cubesat->w, sizeof cubesat->w);
    memcpy(x + WHEEL, cubesat->wheels, sizeof cubesat->wheels);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < STATES; i++)
            at[i] = x[i] + node[stage] * dt * slope[i];
        derivative(cubesat, cubesat->time + node[stage] * dt, at, dipole, motor, slope);
        for (int i = 0; i < STATES; i++)
            sum[i] += weight[stage] / 6.0 * slope[i];
    }
    for (int i = 0; i < STATES; i++)
        x[i] += dt * sum[i];
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    for (int i = 0; i < 4; i++)
        cubesat->q[i] = x[i] / length;
    memcpy(cubesat->w, x + RATE, sizeof cubesat->w);
    memcpy(cubesat->wheels, x + WHEEL, sizeof cubesat->wheels);
    cubesat->time += dt;
}
