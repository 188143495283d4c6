#include "tests/dynamics/flex/lumps.h"

#include <string.h>

#include "tests/dynamics/vec.h"

/* out += k a b' */
static void add_outer(double k, const double a[3], const double b[3], double out[9])
{
    for (int i = 0; i < 9; i++)
        out[i] += k * a[i / 3] * b[i % 3];
}

static void sum_rigid(const struct lumps *lumps, struct dyn_body_spec *spec)
{
    struct vec_mat I;
    vec_symmetric(lumps->rotary, &I);
    spec->mass = 0.0;
    memset(spec->center, 0, sizeof spec->center);
    for (int k = 0; k < lumps->count; k++) {
        spec->mass += lumps->lump[k].mass;
        vec_add(lumps->lump[k].mass, lumps->lump[k].r, spec->center);
    }
    for (int i = 0; i < 3; i++)
        spec->center[i] /= spec->mass;
    for (int k = 0; k < lumps->count; k++) {
        double arm[3];
        memcpy(arm, lumps->lump[k].r, sizeof arm);
        vec_add(-1.0, spec->center, arm);
        vec_steiner(lumps->lump[k].mass, arm, &I);
    }
    for (int i = 0; i < 3; i++)
        spec->inertia[i] = I.row[i][i];
    spec->inertia[3] = I.row[0][1];
    spec->inertia[4] = I.row[0][2];
    spec->inertia[5] = I.row[1][2];
}

static void sum_modes(struct lumps *lumps, const struct lump *lump)
{
    const int modes = lumps->modes;
    for (int p = 0; p < modes; p++) {
        const double *psi = lump->psi + 3 * p;
        vec_add(lump->mass, psi, lumps->P + 3 * p);
        add_outer(lump->mass, psi, lump->r, lumps->L + 9 * p);
        for (int q = 0; q < modes; q++) {
            const int pq = p * modes + q;
            lumps->M[pq] += lump->mass * vec_dot(psi, lump->psi + 3 * q);
            add_outer(lump->mass, psi, lump->psi + 3 * q, lumps->N + 9 * pq);
            vec_add(lump->mass, lump->psi2 + 3 * pq, lumps->P2 + 3 * pq);
            add_outer(lump->mass, lump->psi2 + 3 * pq, lump->r, lumps->L2 + 9 * pq);
        }
    }
}

static struct dyn_node node_of(const struct lump *lump)
{
    struct dyn_node node = {
        .psi = lump->psi, .theta = lump->theta, .psi2 = lump->psi2, .theta2 = lump->theta2};
    memcpy(node.r, lump->r, sizeof node.r);
    return node;
}

void lumps_sum(struct lumps *lumps, enum dyn_fidelity fidelity, struct dyn_body_spec *spec)
{
    sum_rigid(lumps, spec);
    memset(lumps->P, 0, sizeof lumps->P);
    memset(lumps->L, 0, sizeof lumps->L);
    memset(lumps->N, 0, sizeof lumps->N);
    memset(lumps->M, 0, sizeof lumps->M);
    memset(lumps->P2, 0, sizeof lumps->P2);
    memset(lumps->L2, 0, sizeof lumps->L2);
    for (int k = 0; k < lumps->count; k++)
        sum_modes(lumps, &lumps->lump[k]);
    for (int k = 0; k < lumps->nodes; k++)
        lumps->dyn_node[k] = node_of(&lumps->node[k]);
    lumps->flex = (struct dyn_flex){
        .fidelity = fidelity,
        .modes = lumps->modes,
        .P = lumps->P,
        .L = lumps->L,
        .N = lumps->N,
        .P2 = lumps->P2,
        .L2 = lumps->L2,
        .M = lumps->M,
        .K = lumps->K,
        .C = lumps->C,
        .stiffens = 1,
        .nodes = lumps->nodes,
        .node = lumps->dyn_node,
    };
    spec->flex = lumps->modes > 0 ? &lumps->flex : NULL;
}

void lumps_place(const struct lumps *lumps, const struct lump *lump, const double *eta, double x[3])
{
    memcpy(x, lump->r, 3 * sizeof *x);
    for (int p = 0; p < lumps->modes; p++) {
        vec_add(eta[p], lump->psi + 3 * p, x);
        for (int q = 0; q < lumps->modes; q++)
            vec_add(0.5 * eta[p] * eta[q], lump->psi2 + 3 * (p * lumps->modes + q), x);
    }
}

void lumps_spring(struct lumps *lumps, double by)
{
    for (int p = 0; p < lumps->modes; p++)
        for (int q = 0; q < lumps->modes; q++)
            lumps->K[p * lumps->modes + q] = p == q ? by : 0.0;
    memset(lumps->C, 0, sizeof lumps->C);
}
