/*
 * Beams that spin or are pushed along: what inertia loads do to their stiffness.
 *
 * In units of density, length and EI.  Of clamped-free modes phi, all in the plane of the spin,
 *
 *      H = int phi'' phi''   G = int phi phi   mu = int int_0^x phi' phi'   eta = int x int_0^x
 * phi' phi'
 *
 *      spin W        G a + (H + W^2 (eta - G)) q = 0         (Padilla and von Flotow, hub radius 0)
 *      thrust g      G a + (H - g mu) q = 0
 *      and a body of mass m and inertia J at the tip, its centre c further out; s = phi + c phi',
 *      d = int phi' phi' + c phi' phi', all at the tip:
 *                    (G + m s s + J phi' phi') a + (H + W^2 (eta - G + m ((1 + c) d - s s))) q = 0
 *
 * The stiffness of the kernel is read from the accelerations that a small q causes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { MODES_MAX = 6, POINTS = 40 };

static const struct beam unit = {1.0, 1.0, 1.0};
static struct tree tree;
static struct lumps lumps;

void setUp(void)
{
}

void tearDown(void)
{
}

static struct beam_mode bending(int p)
{
    return (struct beam_mode){BEAM_Y, p + 1};
}

/* A beam on a joint, not yet built. */
static void make_beam(enum dyn_fidelity fidelity, int modes, enum dyn_joint_type joint, double ax,
                      double az)
{
    struct beam_mode mode[MODES_MAX];
    for (int p = 0; p < modes; p++)
        mode[p] = bending(p);
    tree_begin(&tree);
    tree_add(&tree, -1, joint, ax, 0.0, az);
    beam_lumps(&unit, modes, mode, &lumps);
    lumps_sum(&lumps, fidelity, &tree.spec[0]);
}

static void bolt_on_tip(double mass, double center, double inertia)
{
    struct dyn_body_spec *tip = &tree.spec[tree_add(&tree, 0, DYN_JOINT_FIXED, 0, 0, 0)];
    tip->node = 1;
    tip->mass = mass;
    tip->center[0] = center;
    memcpy(tip->inertia, (double[6]){inertia, inertia, inertia}, sizeof tip->inertia);
}

/* Accelerations of the modes with q of the size `deflection` in mode p; the joint is held. */
static void push(int p, double deflection, double speed, double joint_a, double gravity, double *a)
{
    const int joint_nv = dyn_joint_nv(&tree.spec[0]);
    const unsigned char held[1 + MODES_MAX] = {(unsigned char)(joint_nv > 0)};
    const double held_a[1 + MODES_MAX] = {joint_nv > 0 ? joint_a : 0.0};
    const struct dyn_input input = {.held = held, .held_a = held_a, .gravity = {gravity}};
    struct dyn_output output = {.a = tree.a};
    const struct dyn_state state = tree_state(&tree);
    memset(tree.q, 0, sizeof tree.q);
    memset(tree.v, 0, sizeof tree.v);
    tree.q[dyn_model_eta_index(tree.model, 0) + p] = deflection;
    if (joint_nv > 0)
        tree.v[0] = speed;
    dyn_aba(tree.model, &state, &input, tree.work, &output);
    memcpy(a, tree.a + joint_nv, (size_t)lumps.modes * sizeof *a);
}

/* -da/dq, by rows: M^-1 K */
static void read_stiffness(double speed, double joint_a, double gravity, double *K)
{
    const int n = lumps.modes;
    const double size = 1e-6;
    for (int p = 0; p < n; p++) {
        double up[MODES_MAX], down[MODES_MAX];
        push(p, size, speed, joint_a, gravity, up);
        push(p, -size, speed, joint_a, gravity, down);
        for (int i = 0; i < n; i++)
            K[i * n + p] = (down[i] - up[i]) / (2.0 * size);
    }
}

/* Least eigenvalue of a 2x2 matrix with real ones. */
static double least_of_two(const double K[4])
{
    const double mean = 0.5 * (K[0] + K[3]), half = 0.5 * (K[0] - K[3]);
    return mean - sqrt(half * half + K[1] * K[2]);
}

static double spun_square(enum dyn_fidelity fidelity, double speed)
{
    double K[4];
    lumps_sum(&lumps, fidelity, &tree.spec[0]);
    tree_build(&tree);
    read_stiffness(speed, 0.0, 0.0, K);
    return least_of_two(K);
}

static void test_the_frequency_of_a_spinning_beam_is_that_of_the_table(void)
{
    static const struct {
        double speed, consistent, inconsistent, resolution;
    } row[] = {
        {0.0, 3.5160, 3.5160, 5e-5}, {0.35, 3.5194, 3.4986, 5e-5}, {1.0, 3.5433, 3.3708, 5e-5},
        {2.0, 3.6222, 2.8918, 5e-5}, {3.0, 3.7456, 1.8337, 5e-5},  {3.516, 3.8235, 0.010, 5e-4},
        {4.0, 3.9038, -1.0, 5e-5},   {6.0, 4.2901, -1.0, 5e-5},    {12.0, 5.6877, -1.0, 5e-5},
    };
    make_beam(DYN_FLEX_CONSISTENT, 2, DYN_JOINT_REVOLUTE, 0.0, 1.0);
    printf("spin    consistent inconsistent ruthless\n");
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        const double speed = row[k].speed;
        const double consistent = sqrt(spun_square(DYN_FLEX_CONSISTENT, speed));
        const double square = spun_square(DYN_FLEX_INCONSISTENT, speed);
        const double ruthless = sqrt(spun_square(DYN_FLEX_RUTHLESS, speed));
        printf("%-7g %-10.4f %-12.4f %.4f\n", speed, consistent,
               square > 0.0 ? sqrt(square) : -sqrt(-square), ruthless);
        TEST_ASSERT_DOUBLE_WITHIN(5e-5, row[k].consistent, consistent);
        TEST_ASSERT_DOUBLE_WITHIN(5e-5, 3.5160, ruthless);
        if (row[k].inconsistent < 0.0)
            TEST_ASSERT_TRUE(square < 0.0);
        else
            TEST_ASSERT_DOUBLE_WITHIN(row[k].resolution, row[k].inconsistent, sqrt(square));
    }
}

/* int x^power int_0^x phi_p' phi_q' */
static double drawn_moment(int p, int q, int power)
{
    double at[POINTS], weight[POINTS], sum = 0.0;
    beam_points(POINTS, 1.0, at, weight);
    for (int k = 0; k < POINTS; k++)
        sum += weight[k] * (power > 0 ? at[k] : 1.0) *
               beam_drawn(&unit, bending(p), bending(q), at[k]);
    return sum;
}

static double own_stiffness(int p, int q)
{
    const double w = beam_frequency(&unit, bending(p));
    return p == q ? w * w : 0.0;
}

/* Of the largest entry. */
static double matrix_error(int n, const double *truth, const double *is)
{
    double error = 0.0, size = 0.0;
    for (int i = 0; i < n * n; i++) {
        error = fmax(error, fabs(is[i] - truth[i]));
        size = fmax(size, fabs(truth[i]));
    }
    return error / size;
}

/* H - g mu of a beam on a slide; weight does the same. */
static void test_thrust_softens_a_beam_by_what_its_mass_ahead_weighs(void)
{
    enum { N = 4 };
    const double g = 5.0;
    double truth[N * N], pushed[N * N], weighed[N * N];
    for (int i = 0; i < N * N; i++)
        truth[i] = own_stiffness(i / N, i % N) - g * drawn_moment(i / N, i % N, 0);
    make_beam(DYN_FLEX_CONSISTENT, N, DYN_JOINT_PRISMATIC, 1.0, 0.0);
    tree_build(&tree);
    read_stiffness(3.0, g, 0.0, pushed);
    make_beam(DYN_FLEX_CONSISTENT, N, DYN_JOINT_FIXED, 0.0, 0.0);
    tree_build(&tree);
    read_stiffness(0.0, 0.0, -g, weighed);
    const double by_thrust = matrix_error(N, truth, pushed);
    const double by_weight = matrix_error(N, truth, weighed);
    printf("thrust: stiffness off by %.2g, weight: by %.2g\n", by_thrust, by_weight);
    TEST_ASSERT_TRUE(by_thrust < 1e-9 && by_weight < 1e-9);
}

/* Determinant, by Gauss without row exchange: its sign is that of the least stiffness as long as no
 * more than one is negative. */
static double determinant(int n, double *K)
{
    double product = 1.0;
    for (int k = 0; k < n; k++) {
        product *= K[k * n + k];
        for (int r = k + 1; r < n; r++)
            for (int c = n - 1; c >= k; c--)
                K[r * n + c] -= K[r * n + k] / K[k * n + k] * K[k * n + c];
    }
    return product;
}

static double buckling_thrust(int modes)
{
    double low = 5.0, high = 10.0, K[MODES_MAX * MODES_MAX];
    make_beam(DYN_FLEX_CONSISTENT, modes, DYN_JOINT_PRISMATIC, 1.0, 0.0);
    tree_build(&tree);
    while (high - low > 1e-9) {
        const double g = 0.5 * (low + high);
        read_stiffness(0.0, g, 0.0, K);
        *(determinant(modes, K) > 0.0 ? &low : &high) = g;
    }
    return low;
}

/* One mode: H / mu.  All of them: Greenhill's column, 9/4 of the square of the first zero of
 * J_-1/3. */
static void test_a_beam_buckles_under_its_own_thrust(void)
{
    const double one = beam_frequency(&unit, bending(0)), greenhill = 7.8373474389;
    double before = buckling_thrust(1);
    printf("buckling thrust: 1 mode %.6f", before);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, one * one / drawn_moment(0, 0, 0), before);
    for (int modes = 2; modes <= MODES_MAX; modes++) {
        const double now = buckling_thrust(modes);
        printf(", %d %.6f", modes, now);
        TEST_ASSERT_TRUE(now < before && now > greenhill - 1e-6);
        before = now;
    }
    printf(", column %.6f\n", greenhill);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4 * greenhill, greenhill, before);
    make_beam(DYN_FLEX_INCONSISTENT, 1, DYN_JOINT_PRISMATIC, 1.0, 0.0);
    tree_build(&tree);
    double blind;
    read_stiffness(0.0, 20.0, 0.0, &blind);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, one * one, blind);
}

/* What the modes feel of a body at the tip goes through its node alone. */
static void test_a_payload_stiffens_the_spinning_beam_that_carries_it(void)
{
    enum { N = 3 };
    const double m = 2.0, c = 0.3, J = 0.1, W = 4.0;
    double M[N * N], K[N * N], is[N * N];
    for (int i = 0; i < N * N; i++) {
        const int p = i / N, q = i % N;
        const double tp = beam_slope(&unit, bending(p), 1.0),
                     tq = beam_slope(&unit, bending(q), 1.0);
        const double sp = beam_shape(&unit, bending(p), 1.0) + c * tp;
        const double sq = beam_shape(&unit, bending(q), 1.0) + c * tq;
        const double d = beam_drawn(&unit, bending(p), bending(q), 1.0) + c * tp * tq;
        M[i] = (p == q) + m * sp * sq + J * tp * tq;
        K[i] = own_stiffness(p, q) +
               W * W * (drawn_moment(p, q, 1) - (p == q) + m * ((1.0 + c) * d - sp * sq));
    }
    dense_solve_rows(N, M, K, N);
    make_beam(DYN_FLEX_CONSISTENT, N, DYN_JOINT_REVOLUTE, 0.0, 1.0);
    bolt_on_tip(m, c, J);
    tree_build(&tree);
    read_stiffness(W, 0.0, 0.0, is);
    const double error = matrix_error(N, K, is);
    printf("payload: stiffness off by %.2g\n", error);
    TEST_ASSERT_TRUE(error < 1e-8);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_frequency_of_a_spinning_beam_is_that_of_the_table);
    RUN_TEST(test_thrust_softens_a_beam_by_what_its_mass_ahead_weighs);
    RUN_TEST(test_a_beam_buckles_under_its_own_thrust);
    RUN_TEST(test_a_payload_stiffens_the_spinning_beam_that_carries_it);
    return UNITY_END();
}
