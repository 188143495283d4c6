/*
 * The magnetic field against the closed form of a dipole, and against the gradient of the potential
 * that defines it, in angles and extended precision, with coefficients of no model.
 */
#include "dynamics/world/magnetic_field.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/tree.h"
#include "unity.h"

static struct dyn_magnetic_model model;
static struct dyn_magnetic_field field;

void setUp(void)
{
    memset(&model, 0, sizeof model);
    model.epoch = 2025.0;
    tree_noise_seed(5);
}

void tearDown(void)
{
}

static void make_random(int degree)
{
    model.degree = degree;
    for (int n = 1; n <= degree; n++)
        for (int m = 0; m <= n; m++) {
            const int k = dyn_magnetic_field_term(n, m);
            model.g[k] = 1000.0 * tree_noise();
            model.h[k] = m > 0 ? 1000.0 * tree_noise() : 0.0;
            model.g_rate[k] = 10.0 * tree_noise();
            model.h_rate[k] = m > 0 ? 10.0 * tree_noise() : 0.0;
        }
}

static struct dyn_vec3 random_place(void)
{
    struct dyn_vec3 r;
    do
        r = (struct dyn_vec3){9e6 * tree_noise(), 9e6 * tree_noise(), 9e6 * tree_noise()};
    while (dyn_norm(r) < 6.3e6);
    return r;
}

static void test_a_dipole_has_its_closed_form(void)
{
    const struct dyn_vec3 moment = {-1410.8e-9, 4545.4e-9, -29351.8e-9};
    model.degree = 1;
    model.g[dyn_magnetic_field_term(1, 0)] = -29351.8;
    model.g[dyn_magnetic_field_term(1, 1)] = -1410.8;
    model.h[dyn_magnetic_field_term(1, 1)] = 4545.4;
    dyn_magnetic_field_at_date(&model, 2025.0, &field);
    for (int k = 0; k < 200; k++) {
        const struct dyn_vec3 r = random_place(), u = dyn_scale(1.0 / dyn_norm(r), r);
        /* (a/r)^3 (3 (m.u) u - m) */
        const double ratio = pow(6371200.0 / dyn_norm(r), 3.0);
        const struct dyn_vec3 want =
            dyn_scale(ratio, dyn_sub(dyn_scale(3.0 * dyn_dot(moment, u), u), moment));
        const struct dyn_vec3 got = dyn_magnetic_field_at(&field, r);
        TEST_ASSERT_DOUBLE_WITHIN(1e-15 * 6e-5 * 20, 0.0, dyn_norm(dyn_sub(got, want)));
    }
}

/* Schmidt's P_n^m(s) from Rodrigues' formula: derivatives of (s^2 - 1)^n, term by term. */
static long double schmidt(int n, int m, long double s)
{
    long double sum = 0.0L, binomial = 1.0L; /* n over j */
    for (int j = 0; j <= n; j++) {
        const int power = 2 * (n - j);
        if (power >= n + m) {
            long double term = j % 2 == 0 ? binomial : -binomial;
            for (int d = 0; d < n + m; d++)
                term *= power - d;
            sum += term * powl(s, power - n - m);
        }
        binomial *= (long double)(n - j) / (j + 1);
    }
    long double norm = m > 0 ? 2.0L : 1.0L;
    for (int k = n - m + 1; k <= n + m; k++)
        norm /= k;
    for (int k = 1; k <= n; k++)
        sum /= 2.0L * k;
    return sqrtl(norm) * powl(1.0L - s * s, 0.5L * m) * sum;
}

/* V in tesla metres, at the model's epoch and some years more. */
static long double potential(const long double r[3], long double years)
{
    const long double d = sqrtl(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    const long double lambda = atan2l(r[1], r[0]);
    long double sum = 0.0L;
    for (int n = 1; n <= model.degree; n++)
        for (int m = 0; m <= n; m++) {
            const int k = dyn_magnetic_field_term(n, m);
            const long double g = (long double)model.g[k] + years * (long double)model.g_rate[k];
            const long double h = (long double)model.h[k] + years * (long double)model.h_rate[k];
            sum += powl(6371200.0L / d, n + 1) * (g * cosl(m * lambda) + h * sinl(m * lambda)) *
                   schmidt(n, m, r[2] / d);
        }
    return 6371200.0L * 1e-9L * sum;
}

/* Minus its derivative along one axis, by differences of the fourth order. */
static double slope(struct dyn_vec3 at, int axis, double years)
{
    static const long double weight[4] = {1.0L, -8.0L, 8.0L, -1.0L};
    static const long double step[4] = {-1000.0L, -500.0L, 500.0L, 1000.0L};
    long double sum = 0.0L;
    for (int k = 0; k < 4; k++) {
        long double r[3] = {(long double)at.x, (long double)at.y, (long double)at.z};
        r[axis] += step[k];
        sum += weight[k] * potential(r, (long double)years);
    }
    return (double)(-sum / 6000.0L);
}

static void check_slope(struct dyn_vec3 r, double years)
{
    dyn_magnetic_field_at_date(&model, 2025.0 + years, &field);
    const struct dyn_vec3 B = dyn_magnetic_field_at(&field, r);
    const struct dyn_vec3 want = {slope(r, 0, years), slope(r, 1, years), slope(r, 2, years)};
    TEST_ASSERT_DOUBLE_WITHIN(1e-9 * dyn_norm(B), 0.0, dyn_norm(dyn_sub(B, want)));
}

static void test_any_field_is_the_gradient_of_its_potential(void)
{
    for (int degree = 1; degree <= DYN_MAGNETIC_FIELD_DEGREE_MAX; degree++) {
        make_random(degree);
        for (int k = 0; k < 5; k++)
            check_slope(random_place(), 0.0);
    }
}

static void test_coefficients_change_with_the_years(void)
{
    make_random(DYN_MAGNETIC_FIELD_DEGREE_MAX);
    check_slope(random_place(), 2.5);
    check_slope(random_place(), -1.25);
}

static void test_poles_are_nothing_special(void)
{
    make_random(DYN_MAGNETIC_FIELD_DEGREE_MAX);
    dyn_magnetic_field_at_date(&model, 2026.0, &field);
    for (int side = -1; side <= 1; side += 2) {
        const struct dyn_vec3 pole = {0.0, 0.0, side * 6.4e6}, near = {0.01, 0.0, side * 6.4e6};
        const struct dyn_vec3 at = dyn_magnetic_field_at(&field, pole),
                              by = dyn_magnetic_field_at(&field, near);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6 * dyn_norm(at), 0.0, dyn_norm(dyn_sub(at, by)));
        TEST_ASSERT_TRUE(dyn_norm(at) > 1e-7);
    }
}

static void test_terms_above_the_degree_do_not_count(void)
{
    make_random(4);
    dyn_magnetic_field_at_date(&model, 2026.0, &field);
    const struct dyn_vec3 r = random_place(), four = dyn_magnetic_field_at(&field, r);
    model.g[dyn_magnetic_field_term(5, 2)] = 1000.0;
    dyn_magnetic_field_at_date(&model, 2026.0, &field);
    const struct dyn_vec3 still = dyn_magnetic_field_at(&field, r);
    TEST_ASSERT_EQUAL_MEMORY(&four, &still, sizeof four);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_dipole_has_its_closed_form);
    RUN_TEST(test_any_field_is_the_gradient_of_its_potential);
    RUN_TEST(test_coefficients_change_with_the_years);
    RUN_TEST(test_poles_are_nothing_special);
    RUN_TEST(test_terms_above_the_degree_do_not_count);
    return UNITY_END();
}
