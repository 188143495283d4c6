/*
 * A = L L' of a small dense matrix, symmetric and positive.  Private to dynamics/ and tests/.
 */
#pragma once

/* A, n x n by rows, to L, in place; only the lower triangle is read and written.  A pivot that is
 * not positive gives NaN, which every solution shows.  Context: frame. */
void dyn_cholesky_factor(int n, double *A);

/* b = L^-1 b, b = L^-T b, and both, which is b = A^-1 b, after the factorisation.  Context: frame.
 */
void dyn_cholesky_solve_lower(int n, const double *L, double *b);
void dyn_cholesky_solve_upper(int n, const double *L, double *b);
void dyn_cholesky_solve(int n, const double *L, double *b);
