/*
 * Eigenvalues and vectors of a small dense symmetric matrix, by Jacobi's rotations.  Private to
 * dynamics/ and tests/.
 */
#pragma once

/* A, n x n by rows, to its eigenvalues on the diagonal, in no order; the rows of axis, n x n, are
 * their unit vectors.  It converges quadratically: for n up to six, eight sweeps are plenty.
 * Context: frame. */
void dyn_jacobi(int n, int sweeps, double *A, double *axis);
