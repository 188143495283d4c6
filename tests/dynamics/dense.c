#include "tests/dynamics/dense.h"

#include <math.h>
#include <string.h>

#include "unity.h"

static void exchange(int count, double *a, double *b)
{
    for (int c = 0; c < count; c++) {
        const double swap = a[c];
        a[c] = b[c], b[c] = swap;
    }
}

/* to -= l from */
static void subtract(int count, double l, const double *from, double *to)
{
    for (int c = 0; c < count; c++)
        to[c] -= l * from[c];
}

/* m by rows, each `stride` after the one before. */
static void solve(int n, double *m, int stride, double *B, int columns)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int r = k + 1; r < n; r++)
            best = fabs(m[r * stride + k]) > fabs(m[best * stride + k]) ? r : best;
        if (best != k) {
            exchange(n, m + k * stride, m + best * stride);
            exchange(columns, B + k * columns, B + best * columns);
        }
        for (int r = k + 1; r < n; r++) {
            const double l = m[r * stride + k] / m[k * stride + k];
            subtract(n, l, m + k * stride, m + r * stride);
            subtract(columns, l, B + k * columns, B + r * columns);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int r = k + 1; r < n; r++)
            subtract(columns, m[k * stride + r], B + r * columns, B + k * columns);
        for (int c = 0; c < columns; c++)
            B[k * columns + c] /= m[k * stride + k];
    }
}

void dense_solve(int n, double m[TREE_NV_MAX][TREE_NV_MAX], double *B, int columns)
{
    solve(n, &m[0][0], TREE_NV_MAX, B, columns);
}

void dense_solve_rows(int n, double *m, double *B, int columns)
{
    solve(n, m, n, B, columns);
}

void dense_zero(struct dense *out, int rows, int columns)
{
    TEST_ASSERT_LESS_OR_EQUAL_INT(DENSE_SIDE_MAX, rows);
    TEST_ASSERT_LESS_OR_EQUAL_INT(DENSE_SIDE_MAX, columns);
    out->rows = rows, out->columns = columns;
    for (int r = 0; r < rows; r++)
        memset(out->at[r], 0, (size_t)columns * sizeof(double));
}

void dense_identity(struct dense *out, int n)
{
    dense_zero(out, n, n);
    for (int k = 0; k < n; k++)
        out->at[k][k] = 1.0;
}

void dense_product(struct dense *out, const struct dense *a, const struct dense *b)
{
    TEST_ASSERT_EQUAL_INT(a->columns, b->rows);
    dense_zero(out, a->rows, b->columns);
    for (int r = 0; r < a->rows; r++)
        for (int i = 0; i < a->columns; i++)
            subtract(b->columns, -a->at[r][i], b->at[i], out->at[r]);
}

void dense_transpose(struct dense *out, const struct dense *a)
{
    dense_zero(out, a->columns, a->rows);
    for (int r = 0; r < a->rows; r++)
        for (int c = 0; c < a->columns; c++)
            out->at[c][r] = a->at[r][c];
}

void dense_inverse(struct dense *out, const struct dense *a)
{
    static double m[DENSE_SIDE_MAX * DENSE_SIDE_MAX], B[DENSE_SIDE_MAX * DENSE_SIDE_MAX];
    const int n = a->rows;
    TEST_ASSERT_EQUAL_INT(n, a->columns);
    dense_zero(out, n, n);
    memset(B, 0, sizeof B);
    for (int r = 0; r < n; r++) {
        memcpy(m + r * n, a->at[r], (size_t)n * sizeof(double));
        B[r * n + r] = 1.0;
    }
    dense_solve_rows(n, m, B, n);
    for (int r = 0; r < n; r++)
        memcpy(out->at[r], B + r * n, (size_t)n * sizeof(double));
}

void dense_sum(struct dense *out, const struct dense *a, double k, const struct dense *b)
{
    TEST_ASSERT_EQUAL_INT(a->rows, b->rows);
    TEST_ASSERT_EQUAL_INT(a->columns, b->columns);
    dense_part(out, a, 0, 0, a->rows, a->columns);
    for (int r = 0; r < a->rows; r++)
        subtract(a->columns, -k, b->at[r], out->at[r]);
}

void dense_part(struct dense *out, const struct dense *a, int row, int column, int rows,
                int columns)
{
    dense_zero(out, rows, columns);
    for (int r = 0; r < rows; r++)
        memcpy(out->at[r], a->at[row + r] + column, (size_t)columns * sizeof(double));
}

void dense_put(struct dense *out, int row, int column, const struct dense *part)
{
    TEST_ASSERT_LESS_OR_EQUAL_INT(out->rows, row + part->rows);
    TEST_ASSERT_LESS_OR_EQUAL_INT(out->columns, column + part->columns);
    for (int r = 0; r < part->rows; r++)
        memcpy(out->at[row + r] + column, part->at[r], (size_t)part->columns * sizeof(double));
}

double dense_size(const struct dense *a)
{
    double size = 0.0;
    for (int r = 0; r < a->rows; r++)
        for (int c = 0; c < a->columns; c++)
            size = fmax(size, fabs(a->at[r][c]));
    return size;
}

double dense_distance(const struct dense *a, const struct dense *b)
{
    static struct dense difference;
    dense_sum(&difference, a, -1.0, b);
    return dense_size(&difference);
}
