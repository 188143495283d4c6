/*
 * The equations of one floating flexible body as derivatives of the energy that
 * dynamics/flex/flex.h writes down.  With V = [w; v; xi] in body axes and T = 1/2 V' M(eta) V, [h;
 * p; y] = M V,
 *
 *      h_rate = -w x h - v x p        p_rate = -w x p        y_rate = dT/deta - K eta - C xi
 *
 * M is of second degree in eta, so a central difference of any width is its derivative.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/flex/lumps.h"
#include "tests/dynamics/form.h"
#include "tests/dynamics/tree.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

enum { MODES = 5, N = 6 + MODES, BODIES = 200 };

static struct tree tree;
static struct lumps lumps;
static double S[3 * MODES];

void setUp(void)
{
}

void tearDown(void)
{
}

static void some(double size, int count, double *e)
{
    for (int i = 0; i < count; i++)
        e[i] = size * tree_noise();
}

/* A cloud that draws in anyhow, as a plate does: psi2 not along r, and rotary inertia besides. */
static void some_body(enum dyn_fidelity fidelity)
{
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    memset(&lumps, 0, sizeof lumps);
    lumps.modes = MODES;
    lumps.count = 9;
    for (int k = 0; k < lumps.count; k++) {
        struct lump *lump = &lumps.lump[k];
        lump->mass = form_some(0.2, 1.0);
        some(0.6, 3, lump->r);
        some(0.6, 3 * MODES, lump->psi);
        some(0.3, 3 * MODES * MODES, lump->psi2);
        for (int pq = 0; pq < MODES * MODES; pq++)
            memcpy(lump->psi2 + 3 * pq, lump->psi2 + 3 * (pq % MODES * MODES + pq / MODES),
                   3 * sizeof(double));
    }
    lumps_spring(&lumps, 10.0);
    lumps_sum(&lumps, fidelity, &tree.spec[0]);
    some(0.02, 3 * MODES, S);
    lumps.flex.S = S;
    tree_build(&tree);
    some(1.0, 3, tree.q);
    form_unit(tree.q + 3, 4);
    some(0.1, MODES, tree.q + 7);
    some(1.0, N, tree.v);
    some(1.0, N, tree.tau);
}

/* w -> a x w as a block of M */
static void put_cross(const double a[3], double sign, int row, int column, double M[N][N])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        M[row + k][column + j] = sign * a[i];
        M[row + j][column + k] = -sign * a[i];
    }
}

static void put_mode(int p, const double P[3], const double H[3], double M[N][N])
{
    for (int i = 0; i < 3; i++) {
        M[i][6 + p] = M[6 + p][i] = H[i];
        M[3 + i][6 + p] = M[6 + p][3 + i] = P[i];
    }
    for (int q = 0; q < MODES; q++)
        M[6 + p][6 + q] = lumps.M[p * MODES + q];
}

/* The symbols of flex.h; `second` has psi2. */
static void write_mass(const double *eta, int second, double M[N][N])
{
    const struct dyn_body_spec *spec = &tree.spec[0];
    double mc[3] = {0}, Z[9] = {0};
    struct vec_mat J;

    memset(M, 0, N * sizeof *M);
    vec_add(spec->mass, spec->center, mc);
    vec_symmetric(spec->inertia, &J);
    vec_steiner(spec->mass, spec->center, &J);
    for (int p = 0; p < MODES; p++) {
        double P[3], W[9];
        memcpy(P, lumps.P + 3 * p, sizeof P);
        memcpy(W, lumps.L + 9 * p, sizeof W);
        vec_add(eta[p], P, mc);
        for (int q = 0; q < MODES; q++) {
            const int pq = p * MODES + q;
            vec_add(second * eta[q], lumps.P2 + 3 * pq, P);
            vec_add(0.5 * second * eta[p] * eta[q], lumps.P2 + 3 * pq, mc);
            for (int i = 0; i < 9; i++)
                W[i] += (lumps.N[9 * pq + i] + second * lumps.L2[9 * pq + i]) * eta[q];
        }
        for (int i = 0; i < 9; i++)
            Z[i] += eta[p] * (W[i] + lumps.L[9 * p + i % 3 * 3 + i / 3]);
        const double H[3] = {W[7] - W[5] + S[3 * p], W[2] - W[6] + S[3 * p + 1],
                             W[3] - W[1] + S[3 * p + 2]};
        put_mode(p, P, H, M);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] = J.row[i][j] + (i == j ? Z[0] + Z[4] + Z[8] : 0.0) -
                      0.5 * (Z[3 * i + j] + Z[3 * j + i]);
    put_cross(mc, 1.0, 0, 3, M);
    put_cross(mc, -1.0, 3, 0, M);
    for (int i = 0; i < 3; i++)
        M[3 + i][3 + i] = spec->mass;
}

static void multiply(double M[N][N], const double *V, double *out)
{
    for (int i = 0; i < N; i++) {
        out[i] = 0.0;
        for (int j = 0; j < N; j++)
            out[i] += M[i][j] * V[j];
    }
}

/* out = (dM/deta along `way`) V */
static void slope(const double *way, int second, const double *V, double *out)
{
    double M[N][N], eta[MODES], ahead[N], behind[N];
    for (int p = 0; p < MODES; p++)
        eta[p] = tree.q[7 + p] + way[p];
    write_mass(eta, second, M);
    multiply(M, V, ahead);
    for (int p = 0; p < MODES; p++)
        eta[p] = tree.q[7 + p] - way[p];
    write_mass(eta, second, M);
    multiply(M, V, behind);
    for (int i = 0; i < N; i++)
        out[i] = 0.5 * (ahead[i] - behind[i]);
}

/* What is left of M V_rate + M_rate V = forces with the kernel's V_rate. */
static double residual(int second)
{
    const double *V = tree.v, *eta = tree.q + 7;
    double M[N][N], momentum[N], inertial[N], swept[N], force[N], cross[3], left = 0.0, size = 0.0;
    write_mass(eta, second, M);
    multiply(M, V, momentum);
    multiply(M, tree.a, inertial);
    slope(V + 6, second, V, swept);
    memcpy(force, tree.tau, sizeof force);
    vec_cross(momentum, V, cross);
    vec_add(1.0, cross, force);
    vec_cross(momentum + 3, V + 3, cross);
    vec_add(1.0, cross, force);
    vec_cross(momentum + 3, V, cross);
    vec_add(1.0, cross, force + 3);
    for (int p = 0; p < MODES; p++) {
        double way[MODES] = {0}, dM_V[N];
        way[p] = 1.0;
        slope(way, second, V, dM_V);
        force[6 + p] -= lumps.K[p * MODES + p] * eta[p];
        for (int i = 0; i < N; i++)
            force[6 + p] += 0.5 * V[i] * dM_V[i];
    }
    for (int i = 0; i < N; i++) {
        left = fmax(left, fabs(inertial[i] + swept[i] - force[i]));
        size = fmax(size, fabs(inertial[i]) + fabs(swept[i]) + fabs(force[i]));
    }
    return left / size;
}

static void expect_derivatives(enum dyn_fidelity fidelity, const char *name)
{
    double worst = 0.0;
    tree_noise_seed(4);
    for (int k = 0; k < BODIES; k++) {
        some_body(fidelity);
        const struct dyn_state state = tree_state(&tree);
        const struct dyn_input input = {.tau = tree.tau};
        struct dyn_output output = {.a = tree.a};
        dyn_aba(tree.model, &state, &input, tree.work, &output);
        worst = fmax(worst, residual(fidelity == DYN_FLEX_CONSISTENT));
    }
    printf("%s: %d bodies, residual %.2g\n", name, BODIES, worst);
    TEST_ASSERT_TRUE(worst < 1e-13);
}

static void test_the_equations_of_consistent_are_those_of_its_energy(void)
{
    expect_derivatives(DYN_FLEX_CONSISTENT, "consistent");
}

static void test_the_equations_of_inconsistent_are_those_of_its_energy(void)
{
    expect_derivatives(DYN_FLEX_INCONSISTENT, "inconsistent");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_equations_of_consistent_are_those_of_its_energy);
    RUN_TEST(test_the_equations_of_inconsistent_are_those_of_its_energy);
    return UNITY_END();
}
