#include "tests/dynamics/flex/flexible.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/vec.h"
#include "unity.h"

static struct flexible flexibles[TREE_BODY_MAX / 4];
static int flexible_count;

static int random_count(int from, int to)
{
    return from + (int)(0.5 * (tree_noise() + 1.0) * (to - from + 1));
}

static void random_numbers(double size, int count, double *e)
{
    for (int k = 0; k < count; k++)
        e[k] = size * tree_noise();
}

/* modes x modes x 3, symmetric in the modes */
static void random_pairs(double size, int modes, double *e)
{
    random_numbers(size, 3 * modes * modes, e);
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < p; q++)
            memcpy(e + 3 * (p * modes + q), e + 3 * (q * modes + p), 3 * sizeof *e);
}

/* How the modes move a place, in the room of a station or node. */
static void random_motion(int modes, double *room, double **psi, double **theta, double **psi2,
                          double **theta2)
{
    *psi = room;
    *theta = *psi + 3 * modes;
    *psi2 = *theta + 3 * modes;
    *theta2 = *psi2 + 3 * modes * modes;
    random_numbers(0.5, 3 * modes, *psi);
    random_numbers(0.5, 3 * modes, *theta);
    random_pairs(0.2, modes, *psi2);
    random_pairs(0.2, modes, *theta2);
}

static void random_station(struct dyn_station *station, int modes, double *room)
{
    double *psi, *theta, *psi2, *theta2;
    random_motion(modes, room, &psi, &theta, &psi2, &theta2);
    random_numbers(0.5, 3, station->r);
    station->mass = 0.1 + 0.05 * tree_noise();
    const double bar[3] = {0.1 * tree_noise(), 0.1 * tree_noise(), 0.1 * tree_noise()};
    struct vec_mat I = {{{0.0}}};
    vec_steiner(0.1, bar, &I);
    const double inertia[6] = {I.row[0][0], I.row[1][1], I.row[2][2],
                               I.row[0][1], I.row[0][2], I.row[1][2]};
    memcpy(station->inertia, inertia, sizeof inertia);
    station->psi = psi, station->theta = theta, station->psi2 = psi2;
}

static void random_node(struct dyn_node *node, int modes, double *room)
{
    double *psi, *theta, *psi2, *theta2;
    random_motion(modes, room, &psi, &theta, &psi2, &theta2);
    random_numbers(0.5, 3, node->r);
    node->psi = psi, node->theta = theta;
    node->psi2 = tree_noise() > -0.5 ? psi2 : NULL;
    node->theta2 = tree_noise() > -0.5 ? theta2 : NULL;
}

/* size B B' + least 1 */
static void random_square(int n, double size, double least, double *A)
{
    double B[FLEXIBLE_PAIRS];
    random_numbers(1.0, n * n, B);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            A[r * n + c] = r == c ? least : 0.0;
            for (int k = 0; k < n; k++)
                A[r * n + c] += size * B[r * n + k] * B[c * n + k];
        }
}

/* out += k a b' */
static void add_outer(double k, const double a[3], const double b[3], double *out)
{
    for (int r = 0; r < 3; r++)
        vec_add(k * a[r], b, out + 3 * r);
}

static void add_station(struct flexible *f, const struct dyn_station *s)
{
    const int n = f->flex.modes;
    struct vec_mat I;
    vec_symmetric(s->inertia, &I);
    for (int p = 0; p < n; p++) {
        const double *psi = s->psi + 3 * p;
        double spun[3];
        vec_multiply(&I, s->theta + 3 * p, spun);
        vec_add(s->mass, psi, f->P + 3 * p);
        vec_add(1.0, spun, f->S + 3 * p);
        add_outer(s->mass, psi, s->r, f->L + 9 * p);
        for (int q = 0; q < n; q++) {
            const int at = p * n + q;
            add_outer(s->mass, psi, s->psi + 3 * q, f->N + 9 * at);
            vec_add(s->mass, s->psi2 + 3 * at, f->P2 + 3 * at);
            add_outer(s->mass, s->psi2 + 3 * at, s->r, f->L2 + 9 * at);
            f->M[at] += s->mass * vec_dot(psi, s->psi + 3 * q) + vec_dot(spun, s->theta + 3 * q);
        }
    }
}

static void sum_rigid(const struct flexible *f, int stations, struct dyn_body_spec *spec)
{
    double mass = 0.0, center[3] = {0.0};
    struct vec_mat I = {{{0.0}}};
    for (int k = 0; k < stations; k++) {
        mass += f->station[k].mass;
        vec_add(f->station[k].mass, f->station[k].r, center);
    }
    for (int i = 0; i < 3; i++)
        center[i] /= mass;
    for (int k = 0; k < stations; k++) {
        const struct dyn_station *s = &f->station[k];
        double arm[3];
        struct vec_mat own;
        memcpy(arm, s->r, sizeof arm);
        vec_add(-1.0, center, arm);
        vec_symmetric(s->inertia, &own);
        vec_steiner(s->mass, arm, &own);
        for (int r = 0; r < 3; r++)
            vec_add(1.0, own.row[r], I.row[r]);
    }
    const double inertia[6] = {I.row[0][0], I.row[1][1], I.row[2][2],
                               I.row[0][1], I.row[0][2], I.row[1][2]};
    spec->mass = mass;
    memcpy(spec->center, center, sizeof center);
    memcpy(spec->inertia, inertia, sizeof inertia);
}

void flexible_sum(struct flexible *f, int stations, struct dyn_body_spec *spec)
{
    memset(f->P, 0, sizeof f->P), memset(f->L, 0, sizeof f->L), memset(f->S, 0, sizeof f->S);
    memset(f->N, 0, sizeof f->N), memset(f->M, 0, sizeof f->M);
    memset(f->P2, 0, sizeof f->P2), memset(f->L2, 0, sizeof f->L2);
    for (int k = 0; k < stations; k++)
        add_station(f, &f->station[k]);
    sum_rigid(f, stations, spec);
}

void flexible_make(struct flexible *f, int modes, enum dyn_fidelity fidelity,
                   struct dyn_body_spec *spec)
{
    f->flex = (struct dyn_flex){.fidelity = fidelity,
                                .modes = modes,
                                .P = f->P,
                                .L = f->L,
                                .S = f->S,
                                .N = f->N,
                                .P2 = f->P2,
                                .L2 = f->L2,
                                .M = f->M,
                                .K = f->K,
                                .C = f->C,
                                .nodes = random_count(0, FLEXIBLE_NODES_MAX),
                                .node = f->node};
    for (int k = 0; k < FLEXIBLE_STATIONS; k++)
        random_station(&f->station[k], modes, f->of_station[k]);
    for (int k = 0; k < f->flex.nodes; k++)
        random_node(&f->node[k], modes, f->of_node[k]);
    random_square(modes, 20.0, 5.0, f->K);
    random_square(modes, 0.2, 0.0, f->C);
    flexible_sum(f, FLEXIBLE_STATIONS, spec);
    spec->flex = &f->flex;
}

/* ---- bodies that bend and do nothing else ---- */

/* Each of so many vectors, without what is along the unit vector e. */
static void keep_across(const double e[3], int count, double *a)
{
    for (int k = 0; k < count; k++, a += 3)
        vec_add(-vec_dot(e, a), e, a);
}

static void keep_along(const double e[3], int count, double *a)
{
    for (int k = 0; k < count; k++, a += 3) {
        const double size = vec_dot(e, a);
        for (int i = 0; i < 3; i++)
            a[i] = size * e[i];
    }
}

/* Of the first order across e, of the second along it. */
static void bend_only(const double e[3], int modes, double *room)
{
    keep_across(e, 2 * modes, room);
    keep_along(e, 2 * modes * modes, room + 6 * modes);
}

void flexible_make_slender(struct flexible *f, struct dyn_body_spec *spec)
{
    const int modes = f->flex.modes;
    double e[3];
    random_numbers(1.0, 3, e);
    const double scale = 1.0 / sqrt(vec_dot(e, e));
    for (int i = 0; i < 3; i++)
        e[i] *= scale;
    for (int k = 0; k < FLEXIBLE_STATIONS; k++) {
        struct dyn_station *station = &f->station[k];
        bend_only(e, modes, f->of_station[k]);
        keep_along(e, 1, station->r);
        const double bar[3] = {0.1 * e[0], 0.1 * e[1], 0.1 * e[2]};
        struct vec_mat I = {{{0.001, 0.0, 0.0}, {0.0, 0.001, 0.0}, {0.0, 0.0, 0.001}}};
        vec_steiner(0.1, bar, &I);
        const double inertia[6] = {I.row[0][0], I.row[1][1], I.row[2][2],
                                   I.row[0][1], I.row[0][2], I.row[1][2]};
        memcpy(station->inertia, inertia, sizeof inertia);
    }
    for (int k = 0; k < f->flex.nodes; k++)
        bend_only(e, modes, f->of_node[k]);
    flexible_sum(f, FLEXIBLE_STATIONS, spec);
}

/* Deformations are small, as their author would have it. */
void flexible_build(struct tree *tree)
{
    tree_build(tree);
    tree_random_state(tree);
    for (int i = 0; i < tree->body_count; i++)
        for (int p = 0; p < dyn_model_modes(tree->model, i); p++)
            tree->q[dyn_model_eta_index(tree->model, i) + p] *= 0.1;
}

void flexible_random(struct tree *tree, int body_count, int free_base, uint64_t seed)
{
    tree_random(tree, body_count, free_base, seed);
    flexible_count = 0;
    for (int i = 0; i < body_count; i++) {
        struct dyn_body_spec *spec = &tree->spec[i];
        const struct dyn_flex *on = spec->parent >= 0 ? tree->spec[spec->parent].flex : NULL;
        if (on != NULL)
            spec->node = random_count(0, on->nodes);
        if (tree_noise() < 0.0)
            continue;
        TEST_ASSERT_LESS_THAN_INT(TREE_BODY_MAX / 4, flexible_count);
        static const enum dyn_fidelity often[] = {
            DYN_FLEX_RIGID,      DYN_FLEX_RUTHLESS,     DYN_FLEX_RUTHLESS,    DYN_FLEX_CONSISTENT,
            DYN_FLEX_CONSISTENT, DYN_FLEX_INCONSISTENT, DYN_FLEX_INCONSISTENT};
        struct flexible *f = &flexibles[flexible_count++];
        flexible_make(f, random_count(1, FLEXIBLE_MODES_MAX), often[random_count(0, 6)], spec);
        if (tree_noise() > 0.2)
            flexible_make_slender(f, spec);
    }
    flexible_build(tree);
}

struct flexible *flexible_of(const struct tree *tree, int body)
{
    for (int k = 0; k < flexible_count; k++)
        if (tree->spec[body].flex == &flexibles[k].flex)
            return &flexibles[k];
    return NULL;
}

void flexible_set(struct tree *tree, enum dyn_fidelity fidelity)
{
    for (int k = 0; k < flexible_count; k++)
        flexibles[k].flex.fidelity = fidelity;
    flexible_build(tree);
}
