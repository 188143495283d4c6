/*
 * Deflections are sums of four functions. The usual set with cosh and sinh loses all digits in a
 * high mode, and the set without growing functions loses them in the slow mode of a heavy tip:
 *
 *      fast    cos, sin (beta s), exp(-beta s), exp(-beta (1 - s))
 *      slow    Krylov's s^i (1/i! + (beta s)^4 / (i+4)! + ...), i = 0 to 3, each the slope of the
 * next
 *
 * Tested by tests/config/import/test_beam.c.
 */
#include "config/import/beam_modes.h"

#include <math.h>
#include <string.h>

#include "config/import/quadrature.h"
#include "rt/check.h"

static const double slow_below = 2.0; /* beta at which both sets are accurate */

enum { POINTS_MAX = 256 };

int cfg_beam_wave_points(double beta)
{
    /* 2 n - 1 must pass the phase of the product, beta from -1 to 1, by some margin. */
    const int count = 16 + (int)ceil(0.6 * beta);
    RT_CHECK(count <= POINTS_MAX);
    return count;
}

/* z^i (1/i! + z^4 / (i+4)! + ...) */
static double krylov(int i, double z)
{
    double term = 1.0;
    for (int k = 1; k <= i; k++)
        term *= z / k;
    double sum = term;
    for (int n = i; fabs(term) > 1e-18 * fabs(sum); n += 4) {
        term *= z * z * z * z / ((n + 1.0) * (n + 2.0) * (n + 3.0) * (n + 4.0));
        sum += term;
    }
    return sum;
}

/* --- frequencies --------------------------------------------------------------------------- */

/*
 * The tip's dynamic stiffness, against deflection and slope, is { guided, - ; -, pinned } /
 * clamped and has the determinant free / clamped, of these functions of beta: each vanishes at the
 * frequencies of a tip with that support.  All are scaled by a positive factor.
 */
struct tip {
    double free, pinned, guided, clamped;
};

static struct tip tip_stiffness(enum cfg_beam_root root, double beta)
{
    double plus, minus, sum, difference, ss, cc; /* 1 +- c C, s C +- c S, s S, c C */
    if (beta < slow_below) {
        double k[4];
        for (int i = 0; i < 4; i++)
            k[i] = krylov(i, beta);
        minus = 2.0 * (k[2] * k[2] - k[1] * k[3]);
        plus = 2.0 - minus;
        sum = 2.0 * (k[0] * k[1] - k[2] * k[3]);
        difference = 2.0 * (k[1] * k[2] - k[0] * k[3]);
        ss = k[1] * k[1] - k[3] * k[3];
        cc = k[0] * k[0] - k[2] * k[2];
    } else { /* divided by cosh, which would overflow */
        const double c = cos(beta), s = sin(beta), one = 1.0 / cosh(beta), S = tanh(beta);
        plus = one + c;
        minus = one - c;
        sum = s + c * S;
        difference = s - c * S;
        ss = s * S;
        cc = c;
    }
    switch (root) {
    case CFG_ROOT_CLAMPED:
        return (struct tip){plus, difference, sum, minus};
    case CFG_ROOT_PINNED:
        return (struct tip){-difference, 2.0 * ss, 2.0 * cc, difference};
    default:
        return (struct tip){minus, -difference, -sum, plus};
    }
}

/* Frequencies below beta when the tip is clamped.  There is one for each pi of beta, from pi, or
 * from zero when the root is free; the sign tells whether beta is beyond that of this pi. */
static int count_clamped(enum cfg_beam_root root, double beta, double clamped)
{
    const int least = (int)floor(beta / M_PI) - (root == CFG_ROOT_FREE ? 0 : 1);
    if (least < 0)
        return 0;
    return least + ((least % 2 == 0) != (clamped > 0.0));
}

/* Frequencies below beta, rigid modes included (Wittrick and Williams): those of the clamped tip,
 * and one for each negative direction of the tip's stiffness.  Both signs come from the same
 * functions, so that a frequency next to one of the clamped tip is not lost between them. */
static int count_below(const struct cfg_beam_span *span, double beta)
{
    const double m = span->tip_mass * beta, j = span->tip_inertia * beta * beta * beta;
    const struct tip tip = tip_stiffness(span->root, beta);
    const double all = tip.free - m * tip.pinned - j * tip.guided + m * j * tip.clamped;
    const bool mixed = (all < 0.0) != (tip.clamped < 0.0);
    const bool soft = (tip.guided - m * tip.clamped < 0.0) != (tip.clamped < 0.0);
    return count_clamped(span->root, beta, tip.clamped) + (mixed ? 1 : soft ? 2 : 0);
}

static int rigid_modes(enum cfg_beam_root root)
{
    return root == CFG_ROOT_FREE ? 2 : root == CFG_ROOT_PINNED ? 1 : 0;
}

static double bending_beta(const struct cfg_beam_span *span, int k)
{
    const int below = k + rigid_modes(span->root);
    double low = 0.0, high = (k + 2) * M_PI;
    for (;;) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            return middle;
        if (count_below(span, middle) > below)
            high = middle;
        else
            low = middle;
    }
}

/* Clamped: cos b = m b sin b; free: the same a quarter turn on.  One root in each half turn. */
static double rod_beta(double tip_mass, double phase, int k)
{
    const double sign = k % 2 == 0 ? 1.0 : -1.0;
    double low = phase + k * M_PI, high = low + M_PI_2;
    for (;;) {
        const double middle = 0.5 * (low + high), angle = middle - phase;
        if (middle <= low || middle >= high)
            return middle;
        if (sign * (cos(angle) - tip_mass * middle * sin(angle)) > 0.0)
            low = middle;
        else
            high = middle;
    }
}

/* --- shapes -------------------------------------------------------------------------------- */

/* Each of the four functions, and its derivatives, in powers of unit(). */
static double unit(const struct cfg_beam_wave *wave)
{
    return wave->slow ? 1.0 : wave->beta;
}

static void functions_at(const struct cfg_beam_wave *wave, double s, double f[4][4])
{
    const double b = wave->beta, b4 = b * b * b * b;
    if (wave->slow) {
        for (int i = 0; i < 4; i++)
            f[i][0] = krylov(i, b * s) / pow(b, i);
        for (int i = 0; i < 4; i++)
            for (int d = 1; d < 4; d++)
                f[i][d] = d <= i ? f[i - d][0] : b4 * f[4 + i - d][0];
        return;
    }
    const double c = cos(b * s), e = sin(b * s), in = exp(-b * s), out = exp(-b * (1.0 - s));
    const double value[4][4] = {
        {c, -e, -c, e}, {e, c, -e, -c}, {in, -in, in, -in}, {out, out, out, out}};
    memcpy(f, value, sizeof value);
}

void cfg_beam_wave_at(const struct cfg_beam_wave *wave, double s, double derivative[3])
{
    double f[4][4], scale = 1.0;
    functions_at(wave, s, f);
    for (int d = 0; d < 3; d++) {
        derivative[d] = 0.0;
        for (int i = 0; i < 4; i++)
            derivative[d] += scale * wave->amount[i] * f[i][d];
        scale *= unit(wave);
    }
}

/* One equation of the amounts: first + share x second derivative vanish, of size one. */
static void condition(double f[4][4], int first, double share, int second, double row[4])
{
    double size = 0.0;
    for (int i = 0; i < 4; i++) {
        row[i] = f[i][first] + share * f[i][second];
        size = fmax(size, fabs(row[i]));
    }
    for (int i = 0; i < 4; i++)
        row[i] /= size;
}

static void conditions(const struct cfg_beam_span *span, const struct cfg_beam_wave *wave,
                       double A[4][4])
{
    static const int held[][2] = {
        [CFG_ROOT_CLAMPED] = {0, 1}, [CFG_ROOT_FREE] = {2, 3}, [CFG_ROOT_PINNED] = {0, 2}};
    const double u = unit(wave), b4 = pow(wave->beta, 4.0);
    double f[4][4];
    functions_at(wave, 0.0, f);
    condition(f, held[span->root][0], 0.0, 0, A[0]);
    condition(f, held[span->root][1], 0.0, 0, A[1]);
    functions_at(wave, 1.0, f);
    condition(f, 2, -b4 * span->tip_inertia / u, 1, A[2]);       /* v'' = beta^4 j v' */
    condition(f, 3, b4 * span->tip_mass / (u * u * u), 0, A[3]); /* v''' = -beta^4 m v */
}

/* Bring the largest entry of the remaining matrix to A[step][step]; at[] has the original column of
 * each column. */
static void pivot(double A[4][4], int at[4], int step)
{
    int row = step, column = step;
    for (int r = step; r < 4; r++)
        for (int c = step; c < 4; c++)
            if (fabs(A[r][c]) > fabs(A[row][column]))
                row = r, column = c;
    for (int c = 0; c < 4; c++) {
        const double swap = A[step][c];
        A[step][c] = A[row][c];
        A[row][c] = swap;
    }
    for (int r = 0; r < 4; r++) {
        const double swap = A[r][step];
        A[r][step] = A[r][column];
        A[r][column] = swap;
    }
    const int swap = at[step];
    at[step] = at[column];
    at[column] = swap;
}

/* The one solution of A x = 0. */
static void null_vector(double A[4][4], double x[4])
{
    int at[4] = {0, 1, 2, 3};
    for (int step = 0; step < 3; step++) {
        pivot(A, at, step);
        for (int r = step + 1; r < 4; r++)
            for (int c = 3; c >= step; c--)
                A[r][c] -= A[r][step] / A[step][step] * A[step][c];
    }
    x[at[3]] = 1.0;
    for (int r = 2; r >= 0; r--) {
        double sum = 0.0;
        for (int c = r + 1; c < 4; c++)
            sum += A[r][c] * x[at[c]];
        x[at[r]] = -sum / A[r][r];
    }
}

/* Unit modal mass, positive in the derivative `lead` at the root. */
static void normalise(struct cfg_beam_wave *wave, double tip_mass, double tip_inertia, int lead)
{
    double points[POINTS_MAX], weights[POINTS_MAX], d[3];
    const int count = cfg_beam_wave_points(wave->beta);
    cfg_quadrature(count, points, weights);
    cfg_beam_wave_at(wave, 1.0, d);
    double mass = tip_mass * d[0] * d[0] + tip_inertia * d[1] * d[1];
    for (int k = 0; k < count; k++) {
        cfg_beam_wave_at(wave, points[k], d);
        mass += weights[k] * d[0] * d[0];
    }
    cfg_beam_wave_at(wave, 0.0, d);
    for (int i = 0; i < 4; i++)
        wave->amount[i] *= (d[lead] < 0.0 ? -1.0 : 1.0) / sqrt(mass);
}

struct cfg_beam_wave cfg_beam_wave_bending(const struct cfg_beam_span *span, int k)
{
    static const int lead[] = {[CFG_ROOT_CLAMPED] = 2, [CFG_ROOT_FREE] = 0, [CFG_ROOT_PINNED] = 1};
    struct cfg_beam_wave wave = {.beta = bending_beta(span, k)};
    double A[4][4];
    wave.rate = wave.beta * wave.beta;
    wave.slow = wave.beta < slow_below;
    conditions(span, &wave, A);
    null_vector(A, wave.amount);
    normalise(&wave, span->tip_mass, span->tip_inertia, lead[span->root]);
    return wave;
}

struct cfg_beam_wave cfg_beam_wave_rod(const struct cfg_beam_span *span, int k)
{
    const bool free = span->root == CFG_ROOT_FREE;
    struct cfg_beam_wave wave = {.beta = rod_beta(span->tip_mass, free ? M_PI_2 : 0.0, k)};
    wave.rate = wave.beta;
    wave.amount[free ? 0 : 1] = 1.0;
    normalise(&wave, span->tip_mass, 0.0, free ? 0 : 1);
    return wave;
}
