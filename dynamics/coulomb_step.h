/*
 * Coulomb's law over one step, with sticking, for any number of surfaces that rub at once.  Private
 * to dynamics/ and tests/.
 *
 * Forces f slow slips: without them the slips at the end of the step are b, with them
 *
 *      u = b + A f,     A = h J M^-1 J',  symmetric and positive, singular where surfaces fight
 *
 * and the law, taken at the end of the step, is: |f| <= most; f is -most u / |u| where u is not
 * zero.  So f is what makes 1/2 f' A f + b' f least within its bounds, and that is h^-1 times the
 * kinetic energy at the end of the step, but for a constant.  Every update below lowers it and the
 * first f is zero: wherever the search ends, friction has taken energy and given none.
 */
#pragma once

/* Surfaces that rub along one direction, or along two: a disc. */
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
    double *f;                                                     /* found */
    double *u;                                                     /* and the slips that are left */
    double *inverse_diagonal, *residual, *direction, *A_direction; /* scratch, by row */
};

/* Never fails; a b that is not finite gives no force.  Context: frame. */
void dyn_coulomb_step_solve(const struct dyn_coulomb_step *stick);
