/*
 * Projected Gauss-Seidel sweeps over the pairs find which of them stick; between two sweeps
 * conjugate gradients solve for the forces of all sticking pairs at once (More and Toraldo 1991).
 *
 * Tested by tests/dynamics/test_friction.c.
 */
#include "dynamics/coulomb_step.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/finite.h"

enum { ROUNDS = 60 };
static const double TOLERANCE =
    1e-14; /* relative, of the root of the energy that friction removes */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double A_entry(const struct dyn_coulomb_step *s, int i, int j)
{
    return s->A[i * s->row_count + j];
}

static double force_norm(const struct dyn_coulomb_pair *pair, const double *f)
{
    const double *at = f + pair->row;
    return pair->width == 1 ? fabs(at[0]) : sqrt(at[0] * at[0] + at[1] * at[1]);
}

/* The largest number by which a pair's own block of A multiplies a force. */
static double block_norm(const struct dyn_coulomb_step *s, const struct dyn_coulomb_pair *pair)
{
    const int r = pair->row;
    if (pair->width == 1)
        return A_entry(s, r, r);
    const double mean = 0.5 * (A_entry(s, r, r) + A_entry(s, r + 1, r + 1));
    const double half = 0.5 * (A_entry(s, r, r) - A_entry(s, r + 1, r + 1)),
                 side = A_entry(s, r, r + 1);
    return mean + sqrt(half * half + side * side);
}

static void find_slips(const struct dyn_coulomb_step *s)
{
    for (int i = 0; i < s->row_count; i++) {
        s->u[i] = s->b[i];
        for (int j = 0; j < s->row_count; j++)
            s->u[i] += A_entry(s, i, j) * s->f[j];
    }
}

/* Solve one pair with the others fixed.  Returns the change of its force, as a root of energy. */
static double update_pair(const struct dyn_coulomb_step *s, const struct dyn_coulomb_pair *pair)
{
    const double stiff = block_norm(s, pair);
    double next[2] = {0.0, 0.0}, went = 0.0;
    if (!(stiff > 0.0))
        return 0.0;
    for (int k = 0; k < pair->width; k++)
        next[k] = s->f[pair->row + k] - s->u[pair->row + k] / stiff;
    const double square = next[0] * next[0] + next[1] * next[1], size = sqrt(square);
    const double scale = size > pair->bound ? pair->bound / size : 1.0;
    for (int k = 0; k < pair->width; k++) {
        const int r = pair->row + k;
        const double change = scale * next[k] - s->f[r];
        for (int i = 0; i < s->row_count; i++)
            s->u[i] += A_entry(s, i, r) * change;
        s->f[r] += change;
        went = larger(went, fabs(change));
    }
    return went * sqrt(stiff);
}

static double gauss_seidel_sweep(const struct dyn_coulomb_step *s)
{
    double went = 0.0;
    for (int k = 0; k < s->pair_count; k++)
        went = larger(went, update_pair(s, &s->pair[k]));
    return went;
}

/* ---- all sticking pairs at once ---- */

/* The largest step along direction, at most `whole`, that keeps the pair within its bound. */
static double feasible_part(const struct dyn_coulomb_pair *pair, const double *f,
                            const double *direction, double whole)
{
    double aa = 0.0, ab = 0.0, bb = -pair->bound * pair->bound;
    for (int k = 0; k < pair->width; k++) {
        aa += direction[pair->row + k] * direction[pair->row + k];
        ab += direction[pair->row + k] * f[pair->row + k];
        bb += f[pair->row + k] * f[pair->row + k];
    }
    if (!(aa > 0.0) || aa * whole * whole + 2.0 * ab * whole + bb <= 0.0)
        return whole;
    const double root = sqrt(larger(ab * ab - aa * bb, 0.0));
    const double t = ab > 0.0 ? -bb / (ab + root) : (root - ab) / aa;
    return t < whole ? larger(t, 0.0) : whole;
}

static double feasible_step(const struct dyn_coulomb_step *s, double whole)
{
    for (int k = 0; k < s->pair_count; k++)
        whole = feasible_part(&s->pair[k], s->f, s->direction, whole);
    return whole;
}

/* residual = -u of the sticking rows; inverse_diagonal is zero for rows that do not stick. */
static void begin_conjugate_gradient(const struct dyn_coulomb_step *s)
{
    for (int k = 0; k < s->pair_count; k++) {
        const struct dyn_coulomb_pair *pair = &s->pair[k];
        const int sticks = force_norm(pair, s->f) < pair->bound * (1.0 - 1e-12);
        for (int r = pair->row; r < pair->row + pair->width; r++) {
            s->inverse_diagonal[r] =
                sticks && A_entry(s, r, r) > 0.0 ? 1.0 / A_entry(s, r, r) : 0.0;
            s->residual[r] = -s->u[r];
            s->direction[r] = 0.0;
        }
    }
}

static double residual_norm(const struct dyn_coulomb_step *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->row_count; i++)
        sum += s->residual[i] * s->residual[i] * s->inverse_diagonal[i];
    return sum;
}

static void update_direction(const struct dyn_coulomb_step *s, double again)
{
    for (int i = 0; i < s->row_count; i++)
        s->direction[i] = s->inverse_diagonal[i] * s->residual[i] + again * s->direction[i];
}

/* A_direction = A direction; returns direction' A direction. */
static double apply_A(const struct dyn_coulomb_step *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->row_count; i++) {
        s->A_direction[i] = 0.0;
        for (int j = 0; j < s->row_count; j++)
            s->A_direction[i] += A_entry(s, i, j) * s->direction[j];
        sum += s->direction[i] * s->A_direction[i];
    }
    return sum;
}

static void conjugate_gradient(const struct dyn_coulomb_step *s)
{
    begin_conjugate_gradient(s);
    const double first = residual_norm(s);
    double now = first, before = 0.0;
    for (int k = 0; k < s->row_count && now > TOLERANCE * TOLERANCE * first; k++) {
        update_direction(s, k > 0 ? now / before : 0.0);
        const double bend = apply_A(s);
        if (!(bend > 1e-14 * now))
            break; /* A is singular along this direction to rounding: the contacts are redundant */
        const double whole = now / bend, t = feasible_step(s, whole);
        for (int i = 0; i < s->row_count; i++) {
            s->f[i] += t * s->direction[i];
            s->residual[i] -= t * s->A_direction[i];
        }
        if (t < whole)
            break;
        before = now;
        now = residual_norm(s);
    }
    find_slips(s);
}

void dyn_coulomb_step_solve(const struct dyn_coulomb_step *s)
{
    double task = 0.0;
    memset(s->f, 0, (size_t)s->row_count * sizeof *s->f);
    if (!dyn_all_finite(s->b, s->row_count) || !dyn_all_finite(s->A, s->row_count * s->row_count))
        return;
    find_slips(s);
    for (int i = 0; i < s->row_count; i++)
        if (A_entry(s, i, i) > 0.0)
            task = larger(task, fabs(s->b[i]) / sqrt(A_entry(s, i, i)));
    for (int k = 0; k < ROUNDS; k++) {
        if (gauss_seidel_sweep(s) <= TOLERANCE * task)
            return;
        conjugate_gradient(s);
    }
}
