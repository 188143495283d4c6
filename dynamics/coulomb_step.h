/*
 * Coulomb friction over one step, with sticking, for any number of contacts at once.  Private to
 * dynamics/ and tests/.
 *
 * The forces f change the slip velocities: without them these are b at the end of the step, with
 * them
 *
 *      u = b + A f,     A = h J M^-1 J'
 *
 * A is symmetric and positive, and singular where contacts are redundant.
 *
 * Coulomb's law at the end of the step is |f| <= bound, and f = -bound u / |u| where u is not
 * zero.  So f minimises 1/2 f' A f + b' f within its bounds, which is h^-1 times the kinetic
 * energy at the end of the step, but for a constant.  Every update below lowers it and the first f
 * is zero: wherever the search ends, friction has removed energy and added none.
 */
#pragma once

/* A contact that slips along one direction, or along two with a circular bound. */
struct dyn_coulomb_pair {
    int row;      /* of b, the first */
    int width;    /* rows, 1 or 2 */
    double bound; /* |f| at most */
};

struct dyn_coulomb_step {
    int pair_count, row_count;
    const struct dyn_coulomb_pair *pair;
    const double *A; /* row_count^2, by rows */
    const double *b;
    double *f; /* found */
    double *u; /* the slip velocities that are left */
    double *inverse_diagonal, *residual, *direction, *A_direction; /* scratch, by row */
};

/* Never fails; if b is not finite, the forces are zero.  Context: frame. */
void dyn_coulomb_step_solve(const struct dyn_coulomb_step *stick);
