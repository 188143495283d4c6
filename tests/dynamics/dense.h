/*
 * Plain linear algebra, as dull as can be, to check sparse and recursive answers by.
 */
#pragma once

#include "tests/dynamics/tree.h"

/* B becomes m^-1 B, n x columns by rows, by Gauss with row exchange; m is spent. */
void dense_solve(int n, double m[TREE_NV_MAX][TREE_NV_MAX], double *B, int columns);

/* The same for m by rows. */
void dense_solve_rows(int n, double *m, double *B, int columns);

enum { DENSE_SIDE_MAX = 96 };

/* For operators written as in the book; the output is none of the inputs. */
struct dense {
    int rows, columns;
    double at[DENSE_SIDE_MAX][DENSE_SIDE_MAX];
};

void dense_zero(struct dense *out, int rows, int columns);
void dense_identity(struct dense *out, int n);
void dense_product(struct dense *out, const struct dense *a, const struct dense *b);
void dense_transpose(struct dense *out, const struct dense *a);
void dense_inverse(struct dense *out, const struct dense *a);
void dense_sum(struct dense *out, const struct dense *a, double k, const struct dense *b);

/* A part of a, and a part of out replaced. */
void dense_part(struct dense *out, const struct dense *a, int row, int column, int rows,
                int columns);
void dense_put(struct dense *out, int row, int column, const struct dense *part);

/* Largest entry of a, and of a - b. */
double dense_size(const struct dense *a);
double dense_distance(const struct dense *a, const struct dense *b);
