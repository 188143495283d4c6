/*
 * Gauss-Legendre quadrature.
 */
#pragma once

/* Points, ascending, and weights on 0 to 1: exact for polynomials of degree 2 count - 1.
 * Context: setup. */
void cfg_quadrature(int count, double *points, double *weights);
