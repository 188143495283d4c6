/*
 * Plain linear algebra, as dull as can be, to check sparse and recursive answers by.
 */
#pragma once

#include "tests/dynamics/tree.h"

/* B becomes m^-1 B, n x columns by rows, by Gauss with row exchange; m is spent. */
void dense_solve(int n, double m[TREE_NV_MAX][TREE_NV_MAX], double *B, int columns);
