#include "dynamics/flex/modal_bound.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/kinematics.h"
#include "dynamics/flex/modal_shape.h"
#include "dynamics/math/cholesky.h"

enum { BLOCK_MAX = DYN_JOINT_DOF_MAX + DYN_MODES_MAX, HALVINGS = 20 };

/* Joint velocities, then modes, with mode p at eta: 1 where their mass matrix is positive. */
static int is_mass_positive(const struct dyn_modal_link *modal, const struct dyn_tree_link *link,
                            const struct dyn_inertia *straight, int p, double eta)
{
    const int own = dyn_tree_link_nv(link), n = own + modal->modes;
    double M[BLOCK_MAX * BLOCK_MAX], bent[DYN_MODES_MAX] = {0.0};
    struct dyn_vec6 S[DYN_JOINT_DOF_MAX];

    bent[p] = eta;
    const struct dyn_inertia J = dyn_modal_shape_inertia(modal, bent, straight);
    for (int i = 0; i < own; i++) {
        double unit[DYN_JOINT_DOF_MAX] = {0.0};
        unit[i] = 1.0;
        S[i] = dyn_joint_motion(link, unit);
        const struct dyn_vec6 F = dyn_inertia_mul(&J, &S[i]);
        for (int j = 0; j <= i; j++)
            M[i * n + j] = dyn_dot6(&F, &S[j]) + (i == j ? link->rotor : 0.0);
    }
    for (int q = 0; q < modal->modes; q++) {
        const struct dyn_vec6 B = {dyn_modal_shape_H(modal, bent, q),
                                   dyn_modal_shape_P(modal, bent, q)};
        double *row = M + (own + q) * n;
        for (int j = 0; j < own; j++)
            row[j] = dyn_dot6(&B, &S[j]);
        for (int r = 0; r <= q; r++)
            row[own + r] = modal->M[q * modal->lanes + r];
    }
    dyn_cholesky_factor(n, M);
    return M[n * n - 1] > 0.0; /* a pivot that is not positive makes all later ones NaN */
}

static int holds_both_sides(const struct dyn_modal_link *modal, const struct dyn_tree_link *link,
                            const struct dyn_inertia *straight, int p, double eta)
{
    return is_mass_positive(modal, link, straight, p, eta) &&
           is_mass_positive(modal, link, straight, p, -eta);
}

double dyn_modal_bound(const struct dyn_modal_link *modal, const struct dyn_tree_link *link,
                       const struct dyn_inertia *straight, int p, double most)
{
    double low = 0.0, high = most;
    if (!modal->deforms || !holds_both_sides(modal, link, straight, p, 0.0) ||
        holds_both_sides(modal, link, straight, p, most))
        return most;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        if (holds_both_sides(modal, link, straight, p, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}
