/*
 * Checks that the kernel and the integrator can compute with the modes.
 *
 * Tested by tests/config/resolve/test_flex.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/small_eigen.h"
#include "config/resolve/flex.h"
#include "rt/check.h"

/* A number this small relative to the largest is rounding. */
static const double ROUNDING = 1e-9;

enum { RIGID = 6, ROW = RIGID + DYN_MODES_MAX };

struct check {
    const struct cfg_resolve *resolve;
    const struct cfg_keys_body *keys;
    struct sim_body *body;
    const struct dyn_flex *modal;
};

static bool fail_at_flex(const struct check *check, const char *key, const char *what)
{
    return cfg_fail_at(check->resolve->report, check->keys->flex.node, key, "%s", what);
}

/* ---- mass, stiffness, damping ---- */

static bool check_matrices(const struct check *check)
{
    const struct dyn_flex *modal = check->modal;
    const int last = modal->modes - 1;
    double square[DYN_MODES_MAX], rate[DYN_MODES_MAX];
    if (!cfg_small_eigenvalues(modal->modes, modal->K, modal->M, square) ||
        !cfg_small_eigenvalues(modal->modes, modal->C, modal->M, rate))
        return fail_at_flex(
            check, "mass",
            "the modal mass matrix is not positive definite: a mode moves no mass, or "
            "several move the body alike; check the shapes");
    if (!(isfinite(square[0]) && isfinite(square[last]) && isfinite(rate[last])))
        return fail_at_flex(check, NULL, "the modes have no finite frequency; check the numbers");
    if (square[0] < -ROUNDING * fabs(square[last]))
        return fail_at_flex(
            check, "stiffness",
            "the stiffness matrix pushes outwards, it has a negative eigenvalue; check it");
    if (rate[0] < -ROUNDING * fabs(rate[last]))
        return fail_at_flex(
            check, "damping",
            "the damping matrix drives the motion, it has a negative eigenvalue; check it");
    check->body->flex->first_hz = sqrt(fmax(square[0], 0.0)) / cfg_omega(1.0);
    check->body->flex->last_hz = sqrt(square[last]) / cfg_omega(1.0);
    return true;
}

static bool check_share(const struct check *check)
{
    const struct dyn_body_spec *spec = &check->body->spec;
    double *scratch =
        calloc((size_t)check->modal->modes * (size_t)check->modal->modes, sizeof *scratch);
    RT_CHECK(scratch != NULL);
    const double share =
        dyn_modal_effective_mass(check->modal, spec->mass, spec->center, spec->inertia, scratch);
    free(scratch);
    check->body->flex->share = share;
    if (share < 1.0 - ROUNDING)
        return true;
    return cfg_fail_at(check->resolve->report, check->keys->flex.node, NULL,
                       "the modes carry more mass than the body: %.4g times what it has in some "
                       "direction, where less than 1 is possible; check mass, inertia and shapes",
                       share);
}

/* ---- speed ---- */

/*
 * The fastest mode that is allowed, as mu h with mu = c/2 + sqrt(c^2/4 + omega^2), c the damping
 * rate and omega the frequency; h is one step.  That is the exact limit of semi-implicit Euler, on
 * the imaginary axis omega, and on the real axis c. rk4, ab3, ab4   end of the stable part of the
 * real axis, which is the shorter one rk2, ab2        have no stable part of the imaginary axis: an
 * undamped mode grows as if its damping ratio were -(omega h)^3/8 and -(omega h)^3/4; here 0.1 %
 *      ros2            L-stable: none
 */
static const double limit_of[] = {
    [DYN_SEMI_IMPLICIT_EULER] = 2.0,
    [DYN_RK2] = 0.2,
    [DYN_RK4] = 2.78,
    [DYN_AB2] = 0.16,
    [DYN_AB3] = 0.54,
    [DYN_AB4] = 0.30,
    [DYN_ROS2] = HUGE_VAL,
};
/* The body's mass matrix about its origin: three rotations, three translations, then the modes. */
static void fill_mass_matrix(const struct check *check, double A[ROW][ROW])
{
    const struct dyn_body_spec *spec = &check->body->spec;
    const double m = spec->mass, *c = spec->center, *I = spec->inertia;
    const double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    const double own[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
    const double arm[3][3] = {{0.0, -m * c[2], m * c[1]}, /* m c x */
                              {m * c[2], 0.0, -m * c[0]},
                              {-m * c[1], m * c[0], 0.0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[i][j] = own[i][j] + m * ((i == j ? square : 0.0) - c[i] * c[j]);
            A[i][3 + j] = arm[i][j];
            A[3 + j][i] = arm[i][j];
            A[3 + i][3 + j] = i == j ? m : 0.0;
        }
    const struct dyn_flex *modal = check->modal;
    for (int p = 0; p < modal->modes; p++) {
        const double *L = modal->L + 9 * p;
        const double turn[3] = {L[7] - L[5], L[2] - L[6], L[3] - L[1]}; /* int r x psi dm */
        for (int i = 0; i < 3; i++) {
            A[i][RIGID + p] = turn[i] + (modal->S != NULL ? modal->S[3 * p + i] : 0.0);
            A[3 + i][RIGID + p] = modal->P[3 * p + i];
            A[RIGID + p][i] = A[i][RIGID + p];
            A[RIGID + p][3 + i] = A[3 + i][RIGID + p];
        }
        for (int q = 0; q < modal->modes; q++)
            A[RIGID + p][RIGID + q] = modal->M[p * modal->modes + q];
    }
}

/* Rigid motion eliminated, M_ff - M_fr M_rr^-1 M_rf.  A thin beam has no inertia about its axis;
 * such a direction is left out. */
static void float_free(int modes, double A[ROW][ROW])
{
    double began[RIGID];
    for (int k = 0; k < RIGID; k++)
        began[k] = A[k][k];
    for (int k = 0; k < RIGID; k++) {
        if (!(A[k][k] > 1e-12 * began[k]))
            continue;
        for (int i = k + 1; i < RIGID + modes; i++) {
            const double factor = A[i][k] / A[k][k];
            for (int j = k + 1; j < RIGID + modes; j++)
                A[i][j] -= factor * A[k][j];
        }
    }
}

/* True for a body that is fixed to the world, and not to a flexible body, so that its frame does
 * not move. */
static bool is_held(const struct check *check)
{
    const struct dyn_body_spec *spec = &check->body->spec;
    while (spec->joint == DYN_JOINT_FIXED && spec->node == 0 && spec->parent >= 0)
        spec = &check->resolve->scenario->spec.bodies[spec->parent].spec;
    return spec->joint == DYN_JOINT_FIXED && spec->node == 0;
}

/*
 * The highest frequency that the stiffness of the modes can cause in any vehicle.  Were the body
 * alone and free, its frequencies would be those of K against M_ff - M_fr M_rr^-1 M_rf.  In the
 * tree the body's kinetic energy is never less than with that matrix and all else only adds to it,
 * so by Rayleigh's quotient no frequency of the whole, its joints without springs, lies above the
 * highest of the bodies alone.  Forces in joints are not checked here: a stiff spring or stop may
 * be faster.
 */
static double fastest(const struct check *check)
{
    const int n = check->modal->modes;
    double square[DYN_MODES_MAX], rate[DYN_MODES_MAX];
    double(*A)[ROW] = calloc(ROW, sizeof *A);
    double *M = calloc((size_t)n * (size_t)n, sizeof *M);
    RT_CHECK(A != NULL && M != NULL);
    fill_mass_matrix(check, A);
    if (!is_held(check))
        float_free(n, A);
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++)
            M[p * n + q] = 0.5 * (A[RIGID + p][RIGID + q] + A[RIGID + q][RIGID + p]);
    const bool good = cfg_small_eigenvalues(n, check->modal->K, M, square) &&
                      cfg_small_eigenvalues(n, check->modal->C, M, rate);
    free(M);
    free(A);
    if (!good)
        return HUGE_VAL;
    const double half = 0.5 * fmax(rate[n - 1], 0.0);
    return half + sqrt(half * half + fmax(square[n - 1], 0.0));
}

static bool check_speed(const struct check *check)
{
    const struct cfg_scenario *scenario = check->resolve->scenario;
    const double period = (double)scenario->spec.period_ns * 1e-9,
                 limit = limit_of[scenario->spec.integrator];
    const double mu = fastest(check), substeps = ceil(mu * period / limit * (1.0 - ROUNDING));
    struct cfg_phrase more = {0};
    if (substeps <= scenario->spec.substeps)
        return true;
    if (substeps <= 1000.0)
        cfg_phrase_add(&more, "%d substeps, ", (int)substeps);
    return cfg_fail_at(check->resolve->report, check->keys->flex.node, NULL,
                       "the modes of \"%s\" reach %.4g Hz in free flight, and %s with steps of "
                       "%.4g ms is stable up to %.4g Hz; use %sfewer modes or integrator: ros2",
                       check->body->name, mu / cfg_omega(1.0),
                       cfg_integrator_name(scenario->spec.integrator),
                       period / scenario->spec.substeps * 1e3,
                       limit * scenario->spec.substeps / period / cfg_omega(1.0), more.text);
}

bool cfg_check_flex(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                    struct sim_body *body)
{
    const struct check check = {resolve, keys, body, &body->flex->modal};
    return check_matrices(&check) && check_share(&check) &&
           (body->flex->modal.fidelity == DYN_FLEX_RIGID || check_speed(&check));
}
