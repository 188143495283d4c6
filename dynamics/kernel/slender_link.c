/* Tested by tests/dynamics/flex/test_flex.c. */
#include "dynamics/kernel/slender_link.h"

#include <math.h>

#include "dynamics/flex/modal_shape.h"

/* Relative to the largest number of a table: the rounding error of its rotation into other
 * axes. */
static const double rounding = 1e-14;

/* The largest number of a table, and the largest that must be zero in a slender link. */
struct fit {
    double size, stray;
};

static double largest(const double *a, int count)
{
    double most = 0.0;
    for (int k = 0; k < count; k++)
        most = fmax(most, fabs(a[k]));
    return most;
}

static void add_to_size(struct fit *fit, int count, const double *a)
{
    fit->size = fmax(fit->size, largest(a, count));
}

static void add_to_stray(struct fit *fit, int count, const double *a)
{
    add_to_size(fit, count, a);
    fit->stray = fmax(fit->stray, largest(a, count));
}

static int is_slender_table(const struct fit *fit)
{
    return fit->stray <= rounding * fit->size;
}

/* ---- axes ---- */

/* L_p = int psi_p r' has all its rows along the line on which the mass lies. */
static struct dyn_vec3 mass_line(const struct dyn_modal_link *modal)
{
    struct dyn_vec3 line = {0.0, 0.0, 0.0};
    for (int p = 0; p < modal->modes; p++) {
        const struct dyn_mat3 L = dyn_modal_shape_pair_matrix(modal->L, modal->lanes, p, 0);
        for (int k = 0; k < 3; k++)
            if (dyn_dot(L.row[k], L.row[k]) > dyn_dot(line, line))
                line = L.row[k];
    }
    return line;
}

/* x along a, which is not zero. */
static struct dyn_mat3 axes_along(struct dyn_vec3 a)
{
    const double size[3] = {fabs(a.x), fabs(a.y), fabs(a.z)};
    const int least = size[0] < size[1] ? (size[0] < size[2] ? 0 : 2) : (size[1] < size[2] ? 1 : 2);
    const struct dyn_vec3 other = {least == 0, least == 1, least == 2};
    const struct dyn_vec3 x = dyn_scale(1.0 / sqrt(dyn_dot(a, a)), a), n = dyn_cross(x, other);
    const struct dyn_vec3 y = dyn_scale(1.0 / sqrt(dyn_dot(n, n)), n);
    return (struct dyn_mat3){{x, y, dyn_cross(x, y)}};
}

/* E A E' */
static struct dyn_mat3 rotated_matrix(const struct dyn_mat3 *E, const struct dyn_mat3 *A)
{
    const struct dyn_mat3 back = dyn_mat3_transpose(E);
    return dyn_mat3_to_parent(A, &back);
}

static struct dyn_vec3 vector_of(const struct dyn_mat3 *E, const double *table, int lanes, int p,
                                 int q)
{
    return dyn_mul(E, dyn_modal_shape_pair(table, lanes, p, q));
}

/* ---- the link ---- */

/* Integrals over the mass, with those of two modes apart. */
struct link_fit {
    struct fit L, P, W1, P1;
};

/* The entries that no mode changes. */
static void place_mode(struct dyn_modal_link *modal, int p, struct link_fit *fit)
{
    struct dyn_slender_link *to = &modal->slender;
    const int n = modal->lanes;
    const struct dyn_mat3 in_link = dyn_modal_shape_pair_matrix(modal->L, n, p, 0);
    const struct dyn_mat3 L = rotated_matrix(&to->E, &in_link);
    const struct dyn_vec3 P = vector_of(&to->E, modal->P, n, p, 0);
    const struct dyn_vec3 S = vector_of(&to->E, modal->S, n, p, 0);
    const double y = L.row[1].x, z = L.row[2].x;
    const double across[6] = {-0.5 * y, -0.5 * z, S.y - z, S.z + y, P.y, P.z};

    for (int k = 0; k < 6; k++)
        to->across[k * n + p] = across[k];
    to->drift[p] = (struct dyn_row){{-y, -z, P.y, P.z}};
    add_to_size(&fit->L, 2, (double[]){y, z});
    add_to_stray(&fit->L, 3, &L.row[0].x);
    add_to_stray(&fit->L, 5, (double[]){L.row[1].y, L.row[1].z, L.row[2].y, L.row[2].z, S.x});
    add_to_size(&fit->P, 2, (double[]){P.y, P.z});
    add_to_stray(&fit->P, 1, &P.x);
}

/* The entries of mode p by mode q. */
static void place_pair(struct dyn_modal_link *modal, int p, int q, struct link_fit *fit)
{
    struct dyn_slender_link *to = &modal->slender;
    const int n = modal->lanes;
    const struct dyn_mat3 in_link = dyn_modal_shape_pair_matrix(modal->W1, n, p, q);
    const struct dyn_mat3 W = rotated_matrix(&to->E, &in_link);
    const struct dyn_vec3 P = vector_of(&to->E, modal->P1, n, p, q);
    const struct dyn_vec3 G = vector_of(&to->E, modal->G1, n, p, q);
    const double x = W.row[0].x, y = W.row[1].y, z = W.row[2].z;
    const double yz = W.row[1].z, zy = W.row[2].y;
    const double along[6] = {y + z, x + z, x + y, -0.5 * (yz + zy), zy - yz, P.x};

    for (int k = 0; k < 6; k++)
        to->along[(6 * q + k) * n + p] = along[k];
    add_to_size(&fit->W1, 5, (double[]){x, y, z, yz, zy});
    add_to_stray(&fit->W1, 4, (double[]){W.row[0].y, W.row[0].z, W.row[1].x, W.row[2].x});
    add_to_stray(&fit->W1, 3, &G.x); /* or Hx would not be that of N alone */
    add_to_size(&fit->P1, 1, &P.x);
    add_to_stray(&fit->P1, 2, &P.y);
}

static void place_rigid(const struct dyn_inertia *own, struct dyn_slender_link *to)
{
    const struct dyn_mat3 back = dyn_mat3_transpose(&to->E);
    const struct dyn_sym3 I = dyn_sym3_to_parent(&own->I, &back);
    const struct dyn_vec3 mc = dyn_mul(&to->E, own->mc);
    to->own[0] = (struct dyn_row){{I.xx, I.yy, I.zz, I.yz}};
    to->own[1] = (struct dyn_row){{I.xy, I.xz, mc.y, mc.z}};
    to->own[2] = (struct dyn_row){{mc.x}};
}

static int place_slender_link(const struct dyn_model *model, struct dyn_modal_link *modal)
{
    struct link_fit fit = {0};
    place_rigid(&model->inertia[modal->link], &modal->slender);
    for (int p = 0; p < modal->modes; p++) {
        place_mode(modal, p, &fit);
        for (int q = 0; q < modal->modes; q++)
            place_pair(modal, p, q, &fit);
    }
    return is_slender_table(&fit.L) && is_slender_table(&fit.P) && is_slender_table(&fit.W1) &&
           is_slender_table(&fit.P1);
}

/* ---- nodes ---- */

struct node_fit {
    struct fit theta, psi, theta1, psi1;
};

static void place_node_pair(const struct dyn_mat3 *E, struct dyn_modal_node *node, int n, int p,
                            int q, struct node_fit *fit)
{
    const struct dyn_vec3 theta = vector_of(E, node->theta1, n, p, q);
    const struct dyn_vec3 psi = vector_of(E, node->psi1, n, p, q);
    node->slender.along[2 * q * n + p] = theta.x;
    node->slender.along[(2 * q + 1) * n + p] = psi.x;
    add_to_size(&fit->theta1, 1, &theta.x);
    add_to_stray(&fit->theta1, 2, &theta.y);
    add_to_size(&fit->psi1, 1, &psi.x);
    add_to_stray(&fit->psi1, 2, &psi.y);
}

static int place_slender_node(const struct dyn_mat3 *E, const struct dyn_tree_link *link, int modes,
                              int n, struct dyn_modal_node *node)
{
    struct dyn_slender_node *to = &node->slender;
    struct node_fit fit = {0};
    const struct dyn_mat3 back = dyn_mat3_transpose(E);

    to->E = dyn_mat3_mul(&link->E, &back);
    to->origin = dyn_mul(E, link->origin);
    for (int p = 0; p < modes; p++) {
        const struct dyn_vec3 theta = vector_of(E, node->theta, n, p, 0);
        const struct dyn_vec3 psi = vector_of(E, node->psi, n, p, 0);
        const double across[4] = {theta.y, theta.z, psi.y, psi.z};
        for (int k = 0; k < 4; k++)
            to->across[k * n + p] = to->drift[p].e[k] = across[k];
        add_to_size(&fit.theta, 2, &theta.y);
        add_to_stray(&fit.theta, 1, &theta.x);
        add_to_size(&fit.psi, 2, &psi.y);
        add_to_stray(&fit.psi, 1, &psi.x);
        for (int q = 0; q < modes; q++)
            place_node_pair(E, node, n, p, q, &fit);
    }
    return is_slender_table(&fit.theta) && is_slender_table(&fit.psi) &&
           is_slender_table(&fit.theta1) && is_slender_table(&fit.psi1);
}

void dyn_slender_link_place(const struct dyn_model *model, struct dyn_modal_link *modal)
{
    const struct dyn_vec3 line = mass_line(modal);
    if (!modal->deforms || dyn_dot(line, line) == 0.0)
        return;
    modal->slender.E = axes_along(line);
    modal->is_slender = place_slender_link(model, modal);
    for (int k = modal->first_node; modal->is_slender && k < modal->first_node + modal->nodes; k++)
        modal->is_slender = place_slender_node(&modal->slender.E, &model->link[model->node_link[k]],
                                               modal->modes, modal->lanes, &model->node[k]);
}
