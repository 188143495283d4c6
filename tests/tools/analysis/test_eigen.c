/*
 * Modes of chains of masses and springs, which have closed forms: n masses m between springs k, the
 * ends free, have w_i = 2 sqrt(k / m) sin(i pi / 2 n), i = 0 to n - 1, and damping C = alpha M +
 * beta K makes each of them s^2 + (alpha + beta w^2) s + w^2 = 0.
 */
#include "tools/airbearing/analysis/eigen.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

enum { COUNT_MAX = 24 };

static double M[COUNT_MAX * COUNT_MAX], W[COUNT_MAX * COUNT_MAX], C[COUNT_MAX * COUNT_MAX],
    K[COUNT_MAX * COUNT_MAX], force[COUNT_MAX];
static struct eigen_problem problem;
static struct eigen eigen;

void setUp(void)
{
    memset(M, 0, sizeof M);
    memset(force, 0, sizeof force);
    memset(W, 0, sizeof W);
    memset(C, 0, sizeof C);
    memset(K, 0, sizeof K);
}

void tearDown(void)
{
    eigen_free(&eigen);
    eigen = (struct eigen){0};
}

static void add_spring(double *X, int n, int i, int j, double k)
{
    X[i * n + i] += k;
    X[j * n + j] += k;
    X[i * n + j] -= k;
    X[j * n + i] -= k;
}

static void free_chain(int n, double m, double k, double alpha, double beta)
{
    for (int i = 0; i < n; i++)
        M[i * n + i] = m;
    for (int i = 0; i + 1 < n; i++)
        add_spring(K, n, i, i + 1, k);
    for (int i = 0; i < n * n; i++)
        C[i] = alpha * M[i] + beta * K[i];
    problem = (struct eigen_problem){.count = n, .M = M, .W = W, .C = C, .K = K, .force = force};
}

static double chain_rate(int n, double m, double k, int i)
{
    return 2.0 * sqrt(k / m) * sin(i * M_PI / (2.0 * n));
}

/* Runs first: LAPACK stays once it is loaded. */
static void test_what_cannot_move_needs_no_lapack(void)
{
    free_chain(0, 1.0, 1.0, 0.0, 0.0);
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(0, eigen.mode_count + eigen.motions + eigen.zeros);
    TEST_ASSERT_NULL(dlopen("liblapacke.so.3", RTLD_NOW | RTLD_NOLOAD));
}

static void test_a_chain_without_damping_is_exact(void)
{
    const int n = COUNT_MAX;
    free_chain(n, 2.0, 3e4, 0.0, 0.0);
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(1, eigen.motions);
    TEST_ASSERT_EQUAL_INT(2, eigen.zeros);
    TEST_ASSERT_EQUAL_INT(n - 1, eigen.mode_count);
    for (int i = 1; i < n; i++) {
        const struct eigen_mode *mode = &eigen.modes[i - 1];
        TEST_ASSERT_DOUBLE_WITHIN(1e-13 * 250.0, chain_rate(n, 2.0, 3e4, i), mode->im);
        TEST_ASSERT_EQUAL_DOUBLE(0.0, mode->re);
    }
}

/* The mass at x of mode i moves by cos((x + 1/2) i pi / n). */
static void test_shapes_are_those_of_the_chain(void)
{
    const int n = 5;
    for (int damped = 0; damped <= 1; damped++) {
        setUp();
        free_chain(n, 2.0, 3e4, 0.0, damped ? 1e-4 : 0.0);
        TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
        for (int i = 1; i < n; i++) {
            const double *shape = eigen.modes[i - 1].shape;
            double largest = 0.0;
            for (int x = 0; x < n; x++) {
                const double wanted = cos((x + 0.5) * i * M_PI / n);
                const double first = cos(0.5 * i * M_PI / n);
                largest = fmax(largest, hypot(shape[2 * x], shape[2 * x + 1]));
                TEST_ASSERT_DOUBLE_WITHIN(1e-12, wanted / first, shape[2 * x] / shape[0]);
                TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, shape[2 * x + 1]);
            }
            TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0, largest);
        }
        tearDown();
    }
}

/* Springs with dampers along them leave the motion of the whole its double zero. */
static void test_a_double_zero_is_no_slow_mode(void)
{
    const int n = COUNT_MAX;
    const double beta = 1e-4;
    free_chain(n, 2.0, 3e4, 0.0, beta);
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(1, eigen.motions);
    TEST_ASSERT_EQUAL_INT(2, eigen.zeros);
    TEST_ASSERT_EQUAL_INT(n - 1, eigen.mode_count);
    for (int i = 1; i < n; i++) {
        const double w = chain_rate(n, 2.0, 3e4, i), zeta = 0.5 * beta * w;
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, -zeta * w, eigen.modes[i - 1].re);
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, w * sqrt(1.0 - zeta * zeta), eigen.modes[i - 1].im);
    }
}

/* Dampers to the ground leave it one zero and one decay. */
static void test_a_motion_that_is_braked_keeps_one_zero(void)
{
    const int n = 6;
    const double alpha = 0.25;
    free_chain(n, 2.0, 3e4, alpha, 0.0);
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(1, eigen.motions);
    TEST_ASSERT_EQUAL_INT(1, eigen.zeros);
    TEST_ASSERT_EQUAL_INT(n, eigen.mode_count);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -alpha, eigen.modes[0].re);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, eigen.modes[0].im);
    for (int x = 0; x < n; x++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, 1.0, eigen.modes[0].shape[2 * x]);
}

/* A motion without spring whose speed drives another: zeros in a chain of three. */
static void test_a_triple_zero_is_counted(void)
{
    free_chain(2, 1.0, 0.0, 0.0, 0.0);
    C[0 * 2 + 1] = -1.0; /* d0'' = d1', d1'' = 0 */
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(2, eigen.motions);
    TEST_ASSERT_EQUAL_INT(4, eigen.zeros);
    TEST_ASSERT_EQUAL_INT(0, eigen.mode_count);
}

/* A top, M = 1 and C = w [0 -1; 1 0]: precession at (w +- sqrt(w^2 + 4 k)) / 2. */
static void test_gyroscopic_forces_split_a_pair(void)
{
    const double w = 5.0, k = 36.0, root = sqrt(w * w + 4.0 * k);
    free_chain(2, 1.0, 0.0, 0.0, 0.0);
    K[0] = K[3] = k;
    C[1] = -w;
    C[2] = w;
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(2, eigen.mode_count);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * (root - w), eigen.modes[0].im);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * (root + w), eigen.modes[1].im);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, eigen.modes[0].re);
    for (int m = 0; m < 2; m++) { /* round and round, the slow one this way, the fast one that */
        const double *z = eigen.modes[m].shape;
        const double square = z[0] * z[0] + z[1] * z[1];
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, (z[2] * z[0] + z[3] * z[1]) / square);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, m == 0 ? -1.0 : 1.0, (z[3] * z[0] - z[2] * z[1]) / square);
    }
}

/* d' = W d + v, M v' + K d = 0, both coordinates alone: s (s - w) + k / m = 0. */
static void test_axes_that_turn_change_the_modes(void)
{
    const double w = 3.0, k = 2.0, m = 2.0;
    free_chain(2, m, 0.0, 0.0, 0.0);
    M[1] = M[2] = 1.0; /* W d and v meet in coordinates that share their masses */
    W[0] = W[3] = w;
    K[0] = K[3] = k;
    K[1] = K[2] = k / 2.0;
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(4, eigen.mode_count);
    for (int i = 0; i < 4; i++) {
        const double root = sqrt(w * w - 4.0 * k / m);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.5 * (i < 2 ? w - root : w + root), eigen.modes[i].re);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, eigen.modes[i].im);
    }
}

/* W couples coordinates of different masses: d0' = v0, d1' = w d0 + v1 and d0'' = -k1 d1 / m0. */
static void test_axes_that_turn_couple_unequal_masses(void)
{
    const double w = 2.0, k = 8.0;
    free_chain(2, 1.0, 0.0, 0.0, 0.0);
    M[0] = 4.0;
    W[1 * 2 + 0] = w;
    K[0 * 2 + 1] = k; /* s^3 = -w k / m0, and a zero: v1 is constant */
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(1, eigen.zeros);
    TEST_ASSERT_EQUAL_INT(2, eigen.mode_count);
    const double rate = cbrt(w * k / 4.0);
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, rate, hypot(eigen.modes[i].re, eigen.modes[i].im));
}

/* A mass on a wagon: the second coordinate is relative, and one of five moves back a fifth. */
static void test_coordinates_may_share_their_masses(void)
{
    for (int damped = 0; damped <= 1; damped++) {
        setUp();
        free_chain(2, 1.0, 0.0, 0.0, 0.0);
        M[0] = 5.0;
        M[1] = M[2] = M[3] = 1.0;
        K[3] = 20.0;
        C[3] = damped ? 0.1 : 0.0;
        TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
        TEST_ASSERT_EQUAL_INT(1, eigen.mode_count);
        TEST_ASSERT_EQUAL_INT(2, eigen.zeros);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, 5.0, hypot(eigen.modes[0].re, eigen.modes[0].im));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, -0.2, eigen.modes[0].shape[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, eigen.modes[0].shape[1]);
        tearDown();
    }
}

/* Without symmetry, as a force that follows its body: flutter, s^2 = -k +- i f. */
static void test_forces_that_follow_make_flutter(void)
{
    const double k = 4.0, f = 1.0;
    const double complex s = csqrt(-k + f * (double complex)_Complex_I);
    free_chain(2, 1.0, 0.0, 0.0, 0.0);
    K[0] = K[3] = k;
    K[1] = f;
    K[2] = -f;
    TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
    TEST_ASSERT_EQUAL_INT(2, eigen.mode_count);
    for (int m = 0; m < 2; m++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, fabs(cimag(s)), eigen.modes[m].im);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, fabs(creal(s)), fabs(eigen.modes[m].re));
    }
    TEST_ASSERT_TRUE(eigen.modes[0].re * eigen.modes[1].re < 0.0);
}

/* A slow mode beside one a hundred thousand times as fast is still distinguished from none. */
static void test_slow_modes_stand_beside_fast_ones(void)
{
    for (int damped = 0; damped <= 1; damped++) {
        setUp();
        free_chain(3, 1.0, 0.0, 0.0, 0.0);
        K[0] = 1e10;
        K[4] = 1.0;
        C[0] = damped ? 1.0 : 0.0;
        TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
        TEST_ASSERT_EQUAL_INT(2, eigen.zeros);
        TEST_ASSERT_EQUAL_INT(2, eigen.mode_count);
        TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1.0, eigen.modes[0].im);
        TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1e5, hypot(eigen.modes[1].re, eigen.modes[1].im));
        tearDown();
    }
}

/* Rounding of the numbers that made it is no stiffness, the less so the lighter what it moves. */
static void test_stiffness_of_the_size_of_rounding_is_none(void)
{
    for (int damped = 0; damped <= 1; damped++) {
        setUp();
        free_chain(2, 1e-3, 1e-14, 0.0, 0.0);
        force[0] = 9.81;
        C[0] = damped ? 1e-6 : 0.0;
        TEST_ASSERT_NULL(eigen_solve(&problem, &eigen));
        TEST_ASSERT_EQUAL_INT(2, eigen.motions);
        TEST_ASSERT_EQUAL_INT(damped ? 3 : 4, eigen.zeros);
        TEST_ASSERT_EQUAL_INT(damped, eigen.mode_count);
        tearDown();
    }
}

static void test_a_mass_matrix_that_is_not_positive_is_refused(void)
{
    free_chain(2, -1.0, 1.0, 0.0, 0.0);
    TEST_ASSERT_NOT_NULL(eigen_solve(&problem, &eigen));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_cannot_move_needs_no_lapack);
    RUN_TEST(test_a_chain_without_damping_is_exact);
    RUN_TEST(test_shapes_are_those_of_the_chain);
    RUN_TEST(test_a_double_zero_is_no_slow_mode);
    RUN_TEST(test_a_motion_that_is_braked_keeps_one_zero);
    RUN_TEST(test_a_triple_zero_is_counted);
    RUN_TEST(test_gyroscopic_forces_split_a_pair);
    RUN_TEST(test_axes_that_turn_change_the_modes);
    RUN_TEST(test_axes_that_turn_couple_unequal_masses);
    RUN_TEST(test_coordinates_may_share_their_masses);
    RUN_TEST(test_forces_that_follow_make_flutter);
    RUN_TEST(test_slow_modes_stand_beside_fast_ones);
    RUN_TEST(test_stiffness_of_the_size_of_rounding_is_none);
    RUN_TEST(test_a_mass_matrix_that_is_not_positive_is_refused);
    return UNITY_END();
}
