/*
 * Eigenvalues of small symmetric problems, for checks at load.
 */
#pragma once

#include <stdbool.h>

/* The n values of A x = value B x, ascending; A and B symmetric, n x n by rows.  false: B is not
 * positive definite.  Context: setup. */
bool cfg_small_eigenvalues(int n, const double *A, const double *B, double *values);
