#include "tests/dynamics/flex/beam_truth.h"

#include <math.h>
#include <string.h>

#include "unity.h"

enum { POINTS = 40 };
static const double pi = 3.14159265358979323846;

/* P_n(t) and its derivative */
static double legendre(int n, double t, double *slope)
{
    double before = 1.0, now = t;
    for (int k = 2; k <= n; k++) {
        const double next = ((2 * k - 1) * t * now - (k - 1) * before) / k;
        before = now, now = next;
    }
    *slope = n * (t * now - before) / (t * t - 1.0);
    return now;
}

void beam_points(int n, double length, double *at, double *weight)
{
    for (int k = 0; k < n; k++) {
        double t = -cos(pi * (k + 0.75) / (n + 0.5)), slope;
        for (int turn = 0; turn < 8; turn++)
            t -= legendre(n, t, &slope) / slope;
        (void)legendre(n, t, &slope);
        at[k] = 0.5 * length * (1.0 + t);
        weight[k] = length / ((1.0 - t * t) * slope * slope);
    }
}

/* cos z cosh z = -1, that is cos z = -1 / cosh z */
static double bending_root(int order)
{
    double z = pi * (order - 0.5), step = 1.0;
    while (fabs(step) > 1e-14) {
        step = (cos(z) + 1.0 / cosh(z)) / (-sin(z) - tanh(z) / cosh(z));
        z -= step;
    }
    return z;
}

static double wave(const struct beam *beam, struct beam_mode mode)
{
    return (mode.way == BEAM_STRETCH ? pi * (mode.order - 0.5) : bending_root(mode.order)) /
           beam->length;
}

double beam_frequency(const struct beam *beam, struct beam_mode mode)
{
    const double k = wave(beam, mode), c = sqrt(beam->stiffness / beam->density);
    return mode.way == BEAM_STRETCH ? c * k : c * k * k;
}

/* The shape or its derivative, of the length of a unit mass. */
static double bent(const struct beam *beam, struct beam_mode mode, double x, int slope)
{
    const double b = wave(beam, mode), z = b * beam->length;
    const double sigma = (cosh(z) + cos(z)) / (sinh(z) + sin(z));
    const double norm = 1.0 / sqrt(beam->density * beam->length);
    if (slope)
        return norm * b * (sinh(b * x) + sin(b * x) - sigma * (cosh(b * x) - cos(b * x)));
    return norm * (cosh(b * x) - cos(b * x) - sigma * (sinh(b * x) - sin(b * x)));
}

double beam_shape(const struct beam *beam, struct beam_mode mode, double x)
{
    if (mode.way == BEAM_STRETCH)
        return sqrt(2.0 / (beam->density * beam->length)) * sin(wave(beam, mode) * x);
    return bent(beam, mode, x, 0);
}

double beam_slope(const struct beam *beam, struct beam_mode mode, double x)
{
    return mode.way == BEAM_STRETCH ? 0.0 : bent(beam, mode, x, 1);
}

double beam_drawn(const struct beam *beam, struct beam_mode a, struct beam_mode b, double x)
{
    double at[POINTS], weight[POINTS], sum = 0.0;
    if (a.way != b.way || a.way == BEAM_STRETCH)
        return 0.0;
    beam_points(POINTS, x, at, weight);
    for (int k = 0; k < POINTS; k++)
        sum += weight[k] * beam_slope(beam, a, at[k]) * beam_slope(beam, b, at[k]);
    return sum;
}

static void put_lump(const struct beam *beam, int modes, const struct beam_mode *mode, double x,
                     struct lump *lump)
{
    lump->r[0] = x;
    for (int p = 0; p < modes; p++) {
        lump->psi[3 * p + (int)mode[p].way] = beam_shape(beam, mode[p], x);
        if (mode[p].way == BEAM_Y)
            lump->theta[3 * p + 2] = beam_slope(beam, mode[p], x);
        if (mode[p].way == BEAM_Z)
            lump->theta[3 * p + 1] = -beam_slope(beam, mode[p], x);
        for (int q = 0; q <= p; q++)
            lump->psi2[3 * (p * modes + q)] = lump->psi2[3 * (q * modes + p)] =
                -beam_drawn(beam, mode[p], mode[q], x);
    }
}

void beam_lumps(const struct beam *beam, int modes, const struct beam_mode *mode,
                struct lumps *lumps)
{
    double at[POINTS], weight[POINTS];
    TEST_ASSERT_LESS_OR_EQUAL_INT(LUMPS_MODES_MAX, modes);
    memset(lumps, 0, sizeof *lumps);
    lumps->modes = modes;
    lumps->count = POINTS;
    lumps->nodes = 1;
    beam_points(POINTS, beam->length, at, weight);
    for (int k = 0; k < POINTS; k++) {
        lumps->lump[k].mass = beam->density * weight[k];
        put_lump(beam, modes, mode, at[k], &lumps->lump[k]);
    }
    put_lump(beam, modes, mode, beam->length, &lumps->node[0]);
    for (int p = 0; p < modes; p++) {
        const double w = beam_frequency(beam, mode[p]);
        lumps->K[p * modes + p] = w * w;
    }
}
