#include "tests/scenario/board/satellite.h"

#include <math.h>
#include <string.h>

enum { RATE = 4, WHEEL = 7, MODE = 10, MODE_RATE = MODE + SATELLITE_MODES };

void satellite_place(struct satellite *satellite, const double axis[3], double angle, double rate)
{
    double *x = satellite->state;
    memset(x, 0, sizeof satellite->state);
    x[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) {
        x[1 + i] = sin(0.5 * angle) * axis[i];
        x[RATE + i] = rate * axis[i];
        x[WHEEL + i] = satellite->wheel_inertia * x[RATE + i]; /* at rest in the body */
    }
}

/* Solve the symmetric 3 x 3 system by elimination. */
static void solve(double A[3][3], double b[3], double *x)
{
    for (int c = 0; c < 3; c++) {
        for (int r = c + 1; r < 3; r++) {
            const double f = A[r][c] / A[c][c];
            for (int k = c; k < 3; k++)
                A[r][k] -= f * A[c][k];
            b[r] -= f * b[c];
        }
    }
    for (int c = 2; c >= 0; c--) {
        x[c] = b[c];
        for (int k = c + 1; k < 3; k++)
            x[c] -= A[c][k] * x[k];
        x[c] /= A[c][c];
    }
}

static void attitude_rate(const double *q, const double *w, double *dq)
{
    dq[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
    dq[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    dq[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    dq[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
}

/* Motor less friction turns the wheel; the body feels the opposite, and -w x (I w + h). */
static void wheel_rate(const struct satellite *s, const double *x, const double controls[3],
                       double *dh, double torque[3])
{
    const double *w = x + RATE, *h = x + WHEEL;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double speed = h[i] / s->wheel_inertia - w[i];
        dh[i] = s->torque_max * controls[i] - s->viscous * speed - s->coulomb * tanh(speed);
        torque[i] =
            -dh[i] - w[j] * (s->inertia[k] * w[k] + h[k]) + w[k] * (s->inertia[j] * w[j] + h[j]);
    }
}

/* I w' + D n'' = torque and n'' + D' w' = f: the modes are eliminated, then found back. */
static void flexible_rate(const struct satellite *s, const double *x, double torque[3], double *dx)
{
    double A[3][3] = {{0.0}}, f[SATELLITE_MODES];
    for (int i = 0; i < 3; i++)
        A[i][i] = s->inertia[i];
    for (int m = 0; m < SATELLITE_MODES; m++) {
        const double *D = s->coupling[m], p = s->frequency[m];
        f[m] = -2.0 * s->damping * p * x[MODE_RATE + m] - p * p * x[MODE + m];
        for (int i = 0; i < 3; i++) {
            torque[i] -= D[i] * f[m];
            for (int j = 0; j < 3; j++)
                A[i][j] -= D[i] * D[j];
        }
    }
    solve(A, torque, dx + RATE);
    for (int m = 0; m < SATELLITE_MODES; m++) {
        const double *D = s->coupling[m], *dw = dx + RATE;
        dx[MODE + m] = x[MODE_RATE + m];
        dx[MODE_RATE + m] = f[m] - D[0] * dw[0] - D[1] * dw[1] - D[2] * dw[2];
    }
}

static void derivative(const struct satellite *s, const double *x, const double controls[3],
                       double *dx)
{
    double torque[3];
    attitude_rate(x, x + RATE, dx);
    wheel_rate(s, x, controls, dx + WHEEL, torque);
    flexible_rate(s, x, torque, dx);
}

void satellite_step(struct satellite *satellite, const double controls[3], double dt)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double *x = satellite->state, sum[SATELLITE_STATES] = {0.0}, slope[SATELLITE_STATES] = {0.0};

    for (int stage = 0; stage < 4; stage++) {
        double at[SATELLITE_STATES];
        for (int i = 0; i < SATELLITE_STATES; i++)
            at[i] = x[i] + node[stage] * dt * slope[i];
        derivative(satellite, at, controls, slope);
        for (int i = 0; i < SATELLITE_STATES; i++)
            sum[i] += weight[stage] / 6.0 * slope[i];
    }
    for (int i = 0; i < SATELLITE_STATES; i++)
        x[i] += dt * sum[i];

    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    for (int i = 0; i < 4; i++)
        x[i] /= length;
}

const double *satellite_attitude(const struct satellite *satellite)
{
    return satellite->state;
}

const double *satellite_rate(const struct satellite *satellite)
{
    return satellite->state + RATE;
}

double satellite_error(const struct satellite *satellite)
{
    const double *q = satellite->state;
    return 2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0]));
}
