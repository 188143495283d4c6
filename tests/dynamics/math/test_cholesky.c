/*
 * The dense factorisation against a plain solver.
 */
#include "dynamics/math/cholesky.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/dense.h"
#include "unity.h"

enum { N_MAX = 30 };

static double A[N_MAX * N_MAX], dense[TREE_NV_MAX][TREE_NV_MAX];

void setUp(void)
{
}

void tearDown(void)
{
}

/* B B' + 1, its upper triangle full of NaN: it must not be read. */
static void random_positive(int n)
{
    double B[N_MAX][N_MAX];
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++)
            B[r][c] = tree_noise();
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            dense[r][c] = r == c ? 1.0 : 0.0;
            for (int k = 0; k < n; k++)
                dense[r][c] += B[r][k] * B[c][k];
            A[r * n + c] = c <= r ? dense[r][c] : (double)NAN;
        }
}

static void test_a_solution_is_that_of_the_plain_solver(void)
{
    tree_noise_seed(1);
    for (int n = 1; n <= N_MAX; n++) {
        double x[N_MAX], want[N_MAX];
        random_positive(n);
        for (int k = 0; k < n; k++)
            x[k] = want[k] = tree_noise();
        dyn_cholesky_factor(n, A);
        dyn_cholesky_solve(n, A, x);
        dense_solve(n, dense, want, 1);
        for (int k = 0; k < n; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, want[k], x[k]);
    }
}

/* b' A^-1 b is the square of what one half leaves of b. */
static void test_one_half_is_a_root_of_the_inverse(void)
{
    tree_noise_seed(2);
    for (int n = 1; n <= N_MAX; n++) {
        double half[N_MAX], whole[N_MAX], b[N_MAX], square = 0.0, product = 0.0;
        random_positive(n);
        for (int k = 0; k < n; k++)
            half[k] = whole[k] = b[k] = tree_noise();
        dyn_cholesky_factor(n, A);
        dyn_cholesky_solve_lower(n, A, half);
        dyn_cholesky_solve(n, A, whole);
        for (int k = 0; k < n; k++) {
            square += half[k] * half[k];
            product += whole[k] * b[k];
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, product, square);
    }
}

static void test_a_matrix_that_is_not_positive_gives_no_number(void)
{
    double indefinite[4] = {1.0, 2.0, 2.0, 1.0}, b[2] = {1.0, 1.0};
    dyn_cholesky_factor(2, indefinite);
    dyn_cholesky_solve(2, indefinite, b);
    TEST_ASSERT_TRUE(isnan(b[0]) && isnan(b[1]));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_solution_is_that_of_the_plain_solver);
    RUN_TEST(test_one_half_is_a_root_of_the_inverse);
    RUN_TEST(test_a_matrix_that_is_not_positive_gives_no_number);
    return UNITY_END();
}
