#include "dynamics/flex/flex_problem.h"

#include <float.h>
#include <stdbool.h>

#include "dynamics/math/cholesky.h"
#include "dynamics/math/finite.h"
#include "dynamics/math/spatial.h"

/* Relative slack for numbers that were typed or printed with six digits. */
static const double TYPED = 1e-6;
/* Inertia below this part of the body's own is rounding, not inertia. */
static const double ROUNDING = 1e-12;

enum { SIDE_MAX = 6 + DYN_MODES_MAX };

static bool is_complete(const struct dyn_flex *flex)
{
    bool good = flex->P != NULL && flex->L != NULL && flex->N != NULL && flex->M != NULL &&
                flex->K != NULL && flex->C != NULL && (flex->nodes == 0 || flex->node != NULL);
    for (int k = 0; good && k < flex->nodes; k++)
        good = flex->node[k].psi != NULL && flex->node[k].theta != NULL;
    return good;
}

static bool is_flex_finite(const struct dyn_flex *flex)
{
    const int n = flex->modes, pairs = n * n;
    bool good = dyn_all_finite(flex->P, 3 * n) && dyn_all_finite(flex->L, 9 * n) &&
                dyn_all_finite(flex->S, 3 * n) && dyn_all_finite(flex->N, 9 * pairs) &&
                dyn_all_finite(flex->P2, 3 * pairs) && dyn_all_finite(flex->L2, 9 * pairs) &&
                dyn_all_finite(flex->M, pairs) && dyn_all_finite(flex->K, pairs) &&
                dyn_all_finite(flex->C, pairs);
    for (int k = 0; good && k < flex->nodes; k++) {
        const struct dyn_node *node = &flex->node[k];
        good = dyn_all_finite(node->r, 3) && dyn_all_finite(node->psi, 3 * n) &&
               dyn_all_finite(node->theta, 3 * n) && dyn_all_finite(node->psi2, 3 * pairs) &&
               dyn_all_finite(node->theta2, 3 * pairs);
    }
    return good;
}

/* ---- symmetry ---- */

static double largest(const double *e, int count)
{
    double size = 0.0;
    for (int k = 0; k < count; k++)
        size = fmax(size, fabs(e[k]));
    return size;
}

/* In the modes, each of its components. */
static bool is_symmetric(const double *e, int modes, int components)
{
    if (e == NULL)
        return true;
    const double slack = TYPED * largest(e, modes * modes * components);
    bool good = true;
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < p; q++)
            for (int c = 0; c < components; c++)
                good = good && fabs(e[(p * modes + q) * components + c] -
                                    e[(q * modes + p) * components + c]) <= slack;
    return good;
}

/* N_qp is N_pq transposed. */
static bool is_transpose_symmetric(const double *N, int modes)
{
    const double slack = TYPED * largest(N, 9 * modes * modes);
    bool good = true;
    for (int p = 0; p < modes; p++)
        for (int q = 0; q <= p; q++)
            for (int c = 0; c < 9; c++)
                good = good && fabs(N[(p * modes + q) * 9 + c] -
                                    N[(q * modes + p) * 9 + c % 3 * 3 + c / 3]) <= slack;
    return good;
}

static const char *symmetry_problem(const struct dyn_flex *flex)
{
    const int n = flex->modes;
    if (!is_symmetric(flex->M, n, 1) || !is_symmetric(flex->K, n, 1) ||
        !is_symmetric(flex->C, n, 1))
        return "modal mass, stiffness and damping must be symmetric";
    if (!is_transpose_symmetric(flex->N, n))
        return "N of modes (p, q) must be the transpose of N of modes (q, p)";
    bool good = is_symmetric(flex->P2, n, 3) && is_symmetric(flex->L2, n, 9);
    for (int k = 0; k < flex->nodes; k++)
        good = good && is_symmetric(flex->node[k].psi2, n, 3) &&
               is_symmetric(flex->node[k].theta2, n, 3);
    return good ? NULL : "P2, L2, psi2 and theta2 must be symmetric in their two modes";
}

/* ---- inertia ---- */

/* Whether the pivots of A, n x n by rows, are positive; A is spent. */
static bool is_matrix_positive(int n, double *A)
{
    bool good = true;
    dyn_cholesky_factor(n, A);
    for (int k = 0; k < n; k++)
        good = good && A[k * n + k] > 0.0;
    return good;
}

/* True when the matrix is positive semidefinite. */
static bool is_not_negative(const double *square, int n)
{
    double A[DYN_MODES_MAX * DYN_MODES_MAX];
    for (int k = 0; k < n * n; k++)
        A[k] = square[k];
    const double slack = fmax(TYPED * largest(square, n * n), DBL_MIN);
    for (int k = 0; k < n; k++)
        A[k * n + k] += slack;
    return is_matrix_positive(n, A);
}

/* A pivot of a scaled matrix below rounding counts as zero. */
static bool is_independent(const double *M, int n)
{
    double A[DYN_MODES_MAX * DYN_MODES_MAX];
    for (int p = 0; p < n; p++)
        if (!(M[p * n + p] > 0.0))
            return false;
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++)
            A[p * n + q] =
                M[p * n + q] / sqrt(M[p * n + p] * M[q * n + q]) - (p == q ? ROUNDING : 0.0);
    return is_matrix_positive(n, A);
}

/* Momenta of mode p, angular first. */
static void modal_momenta(const struct dyn_flex *flex, int p, double e[6])
{
    const struct dyn_mat3 L = dyn_mat3_load(flex->L + 9 * p);
    dyn_vec3_store(dyn_axial(&L), e);
    for (int k = 0; k < 3; k++) {
        e[k] += flex->S != NULL ? flex->S[3 * p + k] : 0.0;
        e[k + 3] = flex->P[3 * p + k];
    }
}

/* The rigid body, as a 6 x 6 in the corner of A. */
static void put_rigid(const struct dyn_body_spec *spec, int n, double *A)
{
    const struct dyn_sym3 Ic = dyn_sym3_load(spec->inertia);
    const struct dyn_inertia J = dyn_inertia_make(spec->mass, dyn_vec3_load(spec->center), &Ic);
    const double turn = fmax(ROUNDING * dyn_sym3_trace(&J.I), DBL_MIN);
    const double travel = fmax(ROUNDING * J.mass, DBL_MIN);

    for (int c = 0; c < 6; c++) {
        double unit[6] = {0.0}, f[6];
        unit[c] = 1.0;
        const struct dyn_vec6 m = {dyn_vec3_load(unit), dyn_vec3_load(unit + 3)};
        const struct dyn_vec6 column = dyn_inertia_mul(&J, &m);
        dyn_vec3_store(column.ang, f);
        dyn_vec3_store(column.lin, f + 3);
        for (int r = 0; r < 6; r++)
            A[r * n + c] = f[r] + (r != c ? 0.0 : c < 3 ? turn : travel);
    }
}

/* The modes are eliminated first: the inertia that is left of the body must not be negative.  It
 * may be zero along some axis, as of a thin rod; model_singular.c finds whether a joint needs
 * it. */
static bool body_outweighs_modes(const struct dyn_body_spec *spec)
{
    const struct dyn_flex *flex = spec->flex;
    const int modes = flex->modes, n = modes + 6;
    double A[SIDE_MAX * SIDE_MAX];

    put_rigid(spec, n, A + modes * n + modes);
    for (int p = 0; p < modes; p++) {
        double e[6];
        modal_momenta(flex, p, e);
        for (int q = 0; q < modes; q++)
            A[p * n + q] = flex->M[p * modes + q];
        for (int k = 0; k < 6; k++)
            A[(modes + k) * n + p] = e[k];
    }
    return is_matrix_positive(n, A);
}

const char *dyn_flex_problem(const struct dyn_body_spec *spec)
{
    const struct dyn_flex *flex = spec->flex;
    if (flex == NULL)
        return NULL;
    if ((unsigned)flex->fidelity > DYN_FLEX_INCONSISTENT)
        return "unknown fidelity";
    if (flex->modes < 1 || flex->modes > DYN_MODES_MAX)
        return "a flexible body has 1 to 64 modes";
    if (flex->nodes < 0 || !is_complete(flex))
        return "a modal table is missing";
    if (!is_flex_finite(flex))
        return "a modal number is not finite";
    const char *problem = symmetry_problem(flex);
    if (problem != NULL)
        return problem;
    if (!is_independent(flex->M, flex->modes))
        return "the modal mass matrix is not positive definite";
    if (!is_not_negative(flex->K, flex->modes))
        return "the modal stiffness matrix is not positive semidefinite";
    if (!is_not_negative(flex->C, flex->modes))
        return "the modal damping matrix is not positive semidefinite";
    if (!body_outweighs_modes(spec))
        return "the effective mass of the modes exceeds the mass or inertia of the body";
    return NULL;
}

const char *dyn_node_problem(const struct dyn_body_spec *spec, const struct dyn_body_spec *on)
{
    if (spec->node == 0)
        return NULL;
    if (on == NULL || on->flex == NULL)
        return "the joint names a node, but its parent is not flexible";
    if (spec->node < 0 || spec->node > on->flex->nodes)
        return "the parent has no such node";
    return NULL;
}
