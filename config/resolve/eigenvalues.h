/*
 * Eigenvalues of a real matrix implemented here, because no library that starts threads may be
 * loaded into a program that will run in real time.
 *
 * Tested by tests/config/resolve/test_stability.c.
 */
#pragma once

#include <stdbool.h>

/* All n eigenvalues of A, n x n by rows and overwritten, in no order: balanced, brought to
 * Hessenberg form by eliminations, then Francis' double QR steps (Wilkinson and Reinsch, Handbook
 * for Automatic Computation II, 11, 13, 14).  Good to rounding of the norm of the balanced matrix.
 * false: a number is not finite, or the steps did not converge.  Context: setup. */
bool cfg_eigenvalues(int n, double *A, double *re, double *im);
