/*
 * Sweeps over the pairs find out which of them stick (Gauss and Seidel, projected), and between two
 * sweeps conjugate gradients let all that stick have their forces at once (More and Toraldo 1991).
 */
#include "dynamics/coulomb_step.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/finite.h"

enum { ROUNDS = 60 };
static const double TOLERANCE = 1e-14; /* of what friction has to do, by the root of energy */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double entry(const struct dyn_stick *s, int i, int j)
{
    return s->A[i * s->row_count + j];
}

static double norm_of(const struct dyn_stick_pair *pair, const double *f)
{
    const double *at = f + pair->row;
    return pair->width == 1 ? fabs(at[0]) : sqrt(at[0] * at[0] + at[1] * at[1]);
}

/* The largest number by which a pair's own block of A multiplies a force. */
static double block_norm(const struct dyn_stick *s, const struct dyn_stick_pair *pair)
{
    const int r = pair->row;
    if (pair->width == 1)
        return entry(s, r, r);
    const double mean = 0.5 * (entry(s, r, r) + entry(s, r + 1, r + 1));
    const double half = 0.5 * (entry(s, r, r) - entry(s, r + 1, r + 1)), side = entry(s, r, r + 1);
    return mean + sqrt(half * half + side * side);
}

static void find_slips(const struct dyn_stick *s)
{
    for (int i = 0; i < s->row_count; i++) {
        s->u[i] = s->b[i];
        for (int j = 0; j < s->row_count; j++)
            s->u[i] += entry(s, i, j) * s->f[j];
    }
}

/* One pair by itself, the others as they are.  How far its force went, by the root of energy. */
static double update(const struct dyn_stick *s, const struct dyn_stick_pair *pair)
{
    const double stiff = block_norm(s, pair);
    double next[2] = {0.0, 0.0}, went = 0.0;
    if (!(stiff > 0.0))
        return 0.0;
    for (int k = 0; k < pair->width; k++)
        next[k] = s->f[pair->row + k] - s->u[pair->row + k] / stiff;
    const double square = next[0] * next[0] + next[1] * next[1], size = sqrt(square);
    const double scale = size > pair->most ? pair->most / size : 1.0;
    for (int k = 0; k < pair->width; k++) {
        const int r = pair->row + k;
        const double change = scale * next[k] - s->f[r];
        for (int i = 0; i < s->row_count; i++)
            s->u[i] += entry(s, i, r) * change;
        s->f[r] += change;
        went = larger(went, fabs(change));
    }
    return went * sqrt(stiff);
}

static double sweep(const struct dyn_stick *s)
{
    double went = 0.0;
    for (int k = 0; k < s->pair_count; k++)
        went = larger(went, update(s, &s->pair[k]));
    return went;
}

/* ---- those that stick, all at once ---- */

/* The part of the way, at most `whole`, that keeps the pair within its bound. */
static double part_within(const struct dyn_stick_pair *pair, const double *f, const double *way,
                          double whole)
{
    double aa = 0.0, ab = 0.0, bb = -pair->most * pair->most;
    for (int k = 0; k < pair->width; k++) {
        aa += way[pair->row + k] * way[pair->row + k];
        ab += way[pair->row + k] * f[pair->row + k];
        bb += f[pair->row + k] * f[pair->row + k];
    }
    if (!(aa > 0.0) || aa * whole * whole + 2.0 * ab * whole + bb <= 0.0)
        return whole;
    const double root = sqrt(larger(ab * ab - aa * bb, 0.0));
    const double t = ab > 0.0 ? -bb / (ab + root) : (root - ab) / aa;
    return t < whole ? larger(t, 0.0) : whole;
}

static double longest(const struct dyn_stick *s, double whole)
{
    for (int k = 0; k < s->pair_count; k++)
        whole = part_within(&s->pair[k], s->f, s->way, whole);
    return whole;
}

/* residual = -u of what sticks; open: the diagonal's inverse, and zero for what does not stick. */
static void take_free(const struct dyn_stick *s)
{
    for (int k = 0; k < s->pair_count; k++) {
        const struct dyn_stick_pair *pair = &s->pair[k];
        const int sticks = norm_of(pair, s->f) < pair->most * (1.0 - 1e-12);
        for (int r = pair->row; r < pair->row + pair->width; r++) {
            s->open[r] = sticks && entry(s, r, r) > 0.0 ? 1.0 / entry(s, r, r) : 0.0;
            s->residual[r] = -s->u[r];
            s->way[r] = 0.0;
        }
    }
}

static double weigh(const struct dyn_stick *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->row_count; i++)
        sum += s->residual[i] * s->residual[i] * s->open[i];
    return sum;
}

static void turn_way(const struct dyn_stick *s, double again)
{
    for (int i = 0; i < s->row_count; i++)
        s->way[i] = s->open[i] * s->residual[i] + again * s->way[i];
}

/* moved = A way; way' A way. */
static double curve(const struct dyn_stick *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->row_count; i++) {
        s->moved[i] = 0.0;
        for (int j = 0; j < s->row_count; j++)
            s->moved[i] += entry(s, i, j) * s->way[j];
        sum += s->way[i] * s->moved[i];
    }
    return sum;
}

static void hold_together(const struct dyn_stick *s)
{
    take_free(s);
    const double first = weigh(s);
    double now = first, before = 0.0;
    for (int k = 0; k < s->row_count && now > TOLERANCE * TOLERANCE * first; k++) {
        turn_way(s, k > 0 ? now / before : 0.0);
        const double bend = curve(s);
        if (!(bend > 1e-14 * now))
            break; /* surfaces that fight each other, by rounding alone */
        const double whole = now / bend, t = longest(s, whole);
        for (int i = 0; i < s->row_count; i++) {
            s->f[i] += t * s->way[i];
            s->residual[i] -= t * s->moved[i];
        }
        if (t < whole)
            break;
        before = now;
        now = weigh(s);
    }
    find_slips(s);
}

void dyn_stick_solve(const struct dyn_stick *s)
{
    double task = 0.0;
    memset(s->f, 0, (size_t)s->row_count * sizeof *s->f);
    if (!dyn_all_finite(s->b, s->row_count) || !dyn_all_finite(s->A, s->row_count * s->row_count))
        return;
    find_slips(s);
    for (int i = 0; i < s->row_count; i++)
        if (entry(s, i, i) > 0.0)
            task = larger(task, fabs(s->b[i]) / sqrt(entry(s, i, i)));
    for (int k = 0; k < ROUNDS; k++) {
        if (sweep(s) <= TOLERANCE * task)
            return;
        hold_together(s);
    }
}
