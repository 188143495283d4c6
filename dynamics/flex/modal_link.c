/* Tested by tests/dynamics/flex/test_flex.c. */
#include "dynamics/flex/modal_link.h"

#include <math.h>

#include "dynamics/flex/modal_bound.h"
#include "dynamics/joint.h"
#include "dynamics/kernel/slender_link.h"
#include "dynamics/layout.h"

enum { LANES = 4 };

int dyn_modal_nodes(const struct dyn_body_spec *spec)
{
    return dyn_flex_modes(spec) > 0 ? spec->flex->nodes : 0;
}

static int lanes_of(int modes)
{
    return (modes + LANES - 1) / LANES * LANES;
}

static double *cut_rows(void *mem, size_t *at, int count, int lanes)
{
    return dyn_layout_cut(mem, at, (size_t)count * (size_t)lanes * sizeof(double));
}

/* A row for each lane, so that four modes need not be counted. */
static struct dyn_row *rows_by_mode(void *mem, size_t *at, int lanes)
{
    return dyn_layout_cut(mem, at, (size_t)lanes * sizeof(struct dyn_row));
}

static struct dyn_modal_link cut_modal_link(int modes, void *mem, size_t *at)
{
    const int lanes = lanes_of(modes);
    return (struct dyn_modal_link){
        .lanes = lanes,
        .P = cut_rows(mem, at, 3, lanes),
        .L = cut_rows(mem, at, 9, lanes),
        .S = cut_rows(mem, at, 3, lanes),
        .Z0 = cut_rows(mem, at, 6, lanes),
        .P1 = cut_rows(mem, at, 3 * lanes, lanes),
        .W1 = cut_rows(mem, at, 9 * lanes, lanes),
        .Y1 = cut_rows(mem, at, 3 * lanes, lanes),
        .G1 = cut_rows(mem, at, 3 * lanes, lanes),
        .M = cut_rows(mem, at, lanes, lanes),
        .K = cut_rows(mem, at, lanes, lanes),
        .C = cut_rows(mem, at, lanes, lanes),
        .reach = cut_rows(mem, at, 1, lanes),
        .inverse_bound = cut_rows(mem, at, 1, lanes),
        .k = cut_rows(mem, at, 1, lanes),
        .c = cut_rows(mem, at, 1, lanes),
        .slender = {.across = cut_rows(mem, at, 6, lanes),
                    .along = cut_rows(mem, at, 6 * lanes, lanes),
                    .drift = rows_by_mode(mem, at, lanes)},
    };
}

static struct dyn_modal_node cut_modal_node(int modes, void *mem, size_t *at)
{
    const int lanes = lanes_of(modes);
    return (struct dyn_modal_node){
        .psi = cut_rows(mem, at, 3, lanes),
        .theta = cut_rows(mem, at, 3, lanes),
        .psi1 = cut_rows(mem, at, 3 * lanes, lanes),
        .theta1 = cut_rows(mem, at, 3 * lanes, lanes),
        .slender = {.across = cut_rows(mem, at, 4, lanes),
                    .along = cut_rows(mem, at, 2 * lanes, lanes),
                    .drift = rows_by_mode(mem, at, lanes)},
    };
}

void dyn_modal_lay_out(struct dyn_model *model, const struct dyn_body_spec *specs, void *mem,
                       size_t *at)
{
    const size_t modals = (size_t)model->modal_count, nodes = (size_t)model->node_count;
    model->modal = dyn_layout_cut(mem, at, modals * sizeof *model->modal);
    model->node = dyn_layout_cut(mem, at, nodes * sizeof *model->node);
    model->node_link = dyn_layout_cut(mem, at, nodes * sizeof *model->node_link);
    int modal = 0, node = 0;
    for (int i = 0; i < model->body_count; i++) {
        const int modes = dyn_flex_modes(&specs[i]);
        if (modes == 0)
            continue;
        const struct dyn_modal_link m = cut_modal_link(modes, mem, at);
        if (mem != NULL)
            model->modal[modal++] = m;
        for (int k = 0; k < specs[i].flex->nodes; k++) {
            const struct dyn_modal_node n = cut_modal_node(modes, mem, at);
            if (mem != NULL)
                model->node[node++] = n;
        }
    }
}

/* ---- body axes to link axes ---- */

/* The body's frame in the link's axes. */
struct link_frame {
    struct dyn_mat3 E; /* link axes to body axes */
    struct dyn_vec3 s;
};

static struct dyn_vec3 vector_at(const double *from)
{
    return from != NULL ? dyn_vec3_load(from) : (struct dyn_vec3){0.0, 0.0, 0.0};
}

static void put_vector(struct dyn_vec3 a, int lanes, double *to)
{
    to[0] = a.x;
    to[lanes] = a.y;
    to[2 * lanes] = a.z;
}

/* T a of a vector a that modes p, and q where there is one, have in body axes. */
static void turn_vector(const struct link_frame *link_frame, const double *from, int lanes,
                        double *to)
{
    put_vector(dyn_mul_t(&link_frame->E, vector_at(from)), lanes, to);
}

/* int psi x' with x about the link's origin: T A T' + (T P) s'; what is NULL is zero */
static struct dyn_mat3 turn_matrix(const struct link_frame *link_frame, const double *A,
                                   const double *P)
{
    struct dyn_mat3 out;
    const struct dyn_vec3 moved = dyn_mul_t(&link_frame->E, vector_at(P));
    const double *m = &moved.x;
    double mid[3][3]; /* T A, by rows: columns of A turned */
    for (int j = 0; j < 3; j++) {
        const struct dyn_vec3 column =
            A != NULL ? (struct dyn_vec3){A[j], A[3 + j], A[6 + j]} : vector_at(NULL);
        const struct dyn_vec3 turned = dyn_mul_t(&link_frame->E, column);
        mid[0][j] = turned.x, mid[1][j] = turned.y, mid[2][j] = turned.z;
    }
    for (int i = 0; i < 3; i++)
        out.row[i] = dyn_add(dyn_mul_t(&link_frame->E, dyn_vec3_load(mid[i])),
                             dyn_scale(m[i], link_frame->s));
    return out;
}

static void add_matrix(const struct dyn_mat3 *A, int lanes, double *to)
{
    for (int i = 0; i < 3; i++) {
        to[(3 * i) * lanes] += A->row[i].x;
        to[(3 * i + 1) * lanes] += A->row[i].y;
        to[(3 * i + 2) * lanes] += A->row[i].z;
    }
}

static void put_symmetric(const struct dyn_mat3 *A, int lanes, double *to)
{
    const struct dyn_vec3 *r = A->row;
    put_vector((struct dyn_vec3){r[0].x, r[1].y, r[2].z}, lanes, to);
    put_vector((struct dyn_vec3){r[0].y + r[1].x, r[0].z + r[2].x, r[1].z + r[2].y}, lanes,
               to + 3 * lanes);
}

static const double *mode_pair(const double *from, int modes, int p, int q, int components)
{
    return from != NULL ? from + (p * modes + q) * components : NULL;
}

/* The tables by two modes. */
static void place_pair(struct dyn_modal_link *modal, const struct dyn_flex *flex,
                       const struct link_frame *link_frame, int p, int q)
{
    const int n = modal->lanes, modes = flex->modes;
    const struct link_frame axes = {.E = link_frame->E};
    const struct dyn_mat3 N = turn_matrix(&axes, mode_pair(flex->N, modes, p, q, 9), NULL);
    const double *P2 = mode_pair(flex->P2, modes, p, q, 3),
                 *L2 = mode_pair(flex->L2, modes, p, q, 9);

    put_vector(dyn_axial(&N), n, modal->Y1 + q * 3 * n + p);
    add_matrix(&N, n, modal->W1 + q * 9 * n + p);
    if (flex->fidelity == DYN_FLEX_INCONSISTENT)
        return;
    const struct dyn_mat3 W = turn_matrix(link_frame, L2, P2);
    turn_vector(link_frame, P2, n, modal->P1 + q * 3 * n + p);
    add_matrix(&W, n, modal->W1 + q * 9 * n + p);
    put_vector(dyn_axial(&W), n, modal->G1 + q * 3 * n + p);
}

static int is_zero(const double *a, int count)
{
    for (int k = 0; k < count; k++)
        if (a[k] != 0.0)
            return 0;
    return 1;
}

static int is_diagonal(const double *A, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && A[i * n + j] != 0.0)
                return 0;
    return 1;
}

static void place_modal(struct dyn_modal_link *modal, const struct dyn_flex *flex,
                        const struct link_frame *link_frame)
{
    const int n = modal->lanes, modes = flex->modes;
    modal->rotary = flex->S != NULL && !is_zero(flex->S, 3 * modes);
    modal->has_diagonal_stiffness = is_diagonal(flex->K, modes) && is_diagonal(flex->C, modes);
    for (int p = modes; p < n; p++)
        modal->M[p * n + p] = 1.0;
    for (int p = 0; p < modes; p++) {
        const struct dyn_mat3 L = turn_matrix(link_frame, flex->L + 9 * p, flex->P + 3 * p);
        add_matrix(&L, n, modal->L + p);
        put_symmetric(&L, n, modal->Z0 + p);
        turn_vector(link_frame, flex->P + 3 * p, n, modal->P + p);
        turn_vector(link_frame, mode_pair(flex->S, 1, p, 0, 3), n, modal->S + p);
        modal->k[p] = flex->K[p * modes + p];
        modal->c[p] = flex->C[p * modes + p];
        for (int q = 0; q < modes; q++) {
            modal->M[q * n + p] = flex->M[q * modes + p];
            modal->K[q * n + p] = flex->K[q * modes + p];
            modal->C[q * n + p] = flex->C[q * modes + p];
            place_pair(modal, flex, link_frame, p, q);
        }
        const double rate = sqrt(flex->K[p * modes + p] / flex->M[p * modes + p]);
        modal->slowest = p == 0 || rate < modal->slowest ? rate : modal->slowest;
        modal->reach[p] = flex->reach != NULL ? flex->reach[p] : 0.0;
    }
    modal->length = flex->length;
}

static void place_modal_node(struct dyn_modal_node *to, const struct dyn_flex *flex,
                             const struct dyn_node *from, const struct link_frame *link_frame,
                             int n)
{
    const int modes = flex->modes;
    const int known = flex->fidelity != DYN_FLEX_INCONSISTENT;
    const int is_consistent = flex->fidelity == DYN_FLEX_CONSISTENT;
    to->has_psi1 = is_consistent && from->psi2 != NULL;
    to->has_theta1 = is_consistent && from->theta2 != NULL;
    for (int p = 0; p < modes; p++) {
        turn_vector(link_frame, from->psi + 3 * p, n, to->psi + p);
        turn_vector(link_frame, from->theta + 3 * p, n, to->theta + p);
        for (int q = 0; known && from->psi2 != NULL && q < modes; q++)
            turn_vector(link_frame, mode_pair(from->psi2, modes, p, q, 3), n,
                        to->psi1 + q * 3 * n + p);
        for (int q = 0; known && from->theta2 != NULL && q < modes; q++)
            turn_vector(link_frame, mode_pair(from->theta2, modes, p, q, 3), n,
                        to->theta1 + q * 3 * n + p);
    }
}

/* The bound is not searched beyond deflections of the body's length. */
static void place_bounds(const struct dyn_model *model, struct dyn_modal_link *modal)
{
    for (int p = 0; p < modal->modes; p++) {
        const double most = modal->length / modal->reach[p];
        if (!(most > 0.0) || !isfinite(most))
            continue;
        const double bound = dyn_modal_bound(modal, &model->link[modal->link],
                                             &model->inertia[modal->link], p, most);
        modal->inverse_bound[p] = bound < most ? 1.0 / bound : 0.0;
    }
}

void dyn_modal_place(struct dyn_model *model)
{
    for (int i = 0; i < model->body_count; i++) {
        const struct dyn_body_spec *spec = &model->spec[i];
        if (dyn_flex_modes(spec) == 0)
            continue;
        struct dyn_modal_link *modal = &model->modal[model->link[model->body_link[i]].modal];
        const struct link_frame link_frame = {model->link_from_body[i].E,
                                              model->link_from_body[i].r};
        modal->deforms = spec->flex->fidelity != DYN_FLEX_RUTHLESS;
        modal->has_second_order = spec->flex->fidelity == DYN_FLEX_CONSISTENT &&
                                  (spec->flex->P2 != NULL || spec->flex->L2 != NULL);
        modal->stiffens = spec->flex->fidelity == DYN_FLEX_CONSISTENT && spec->flex->stiffens;
        place_modal(modal, spec->flex, &link_frame);
        place_bounds(model, modal);
        for (int k = 0; k < spec->flex->nodes; k++)
            place_modal_node(&model->node[model->body_node[i] + k], spec->flex,
                             &spec->flex->node[k], &link_frame, modal->lanes);
        dyn_slender_link_place(model, modal);
    }
}
