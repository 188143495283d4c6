#include "tests/dynamics/flex/flex_tree.h"

#include <math.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/form.h"
#include "tests/dynamics/vec.h"

enum { MODES_MAX = 6 };

static void some(double size, int count, double *e)
{
    for (int i = 0; i < count; i++)
        e[i] = size * tree_noise();
}

/* Any size and direction across `axis`. */
static void some_across(const double axis[3], double size, double e[3])
{
    some(size, 3, e);
    vec_add(-vec_dot(axis, e), axis, e);
}

/* psi2 and theta2 are symmetric in their modes. */
static void mirror(int modes, double *rows)
{
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < p; q++)
            memcpy(rows + 3 * (p * modes + q), rows + 3 * (q * modes + p), 3 * sizeof *rows);
}

static void some_lump(int modes, struct lump *lump)
{
    double along[3];
    form_unit(along, 3);
    lump->mass = form_some(0.2, 1.0);
    some(0.6, 3, lump->r);
    for (int p = 0; p < modes; p++) {
        some_across(along, 0.6, lump->psi + 3 * p);
        for (int q = 0; q < modes; q++) {
            memset(lump->psi2 + 3 * (p * modes + q), 0, sizeof along);
            vec_add(tree_noise(), along, lump->psi2 + 3 * (p * modes + q));
        }
    }
    mirror(modes, lump->psi2);
}

/* A node carries what is a mass by itself: no direction is special. */
static void some_node(int modes, struct lump *node)
{
    some(0.6, 3, node->r);
    some(0.6, 3 * modes, node->psi);
    some(0.6, 3 * modes, node->theta);
    some(0.6, 3 * modes * modes, node->psi2);
    some(0.6, 3 * modes * modes, node->theta2);
    mirror(modes, node->psi2);
    mirror(modes, node->theta2);
}

/* Symmetric and positive. */
static void some_positive(int n, double size, double *out)
{
    double root[LUMPS_MODES_MAX * LUMPS_MODES_MAX];
    some(1.0, n * n, root);
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
            out[p * n + q] = p == q ? size : 0.0;
            for (int k = 0; k < n; k++)
                out[p * n + q] += size * root[p * n + k] * root[q * n + k];
        }
}

static void some_lumps(struct lumps *lumps)
{
    lumps->modes = tree_noise() > -0.33 ? 1 + (int)(0.5 * MODES_MAX * (tree_noise() + 1.0)) : 0;
    lumps->count = 5 + lumps->modes;
    lumps->nodes = lumps->modes > 0 ? LUMPS_NODES_MAX : 0;
    for (int k = 0; k < lumps->count; k++)
        some_lump(lumps->modes, &lumps->lump[k]);
    for (int k = 0; k < lumps->nodes; k++)
        some_node(lumps->modes, &lumps->node[k]);
    some_positive(lumps->modes, 20.0, lumps->K);
    some_positive(lumps->modes, 0.5, lumps->C);
}

static enum dyn_joint_type some_joint(int is_first)
{
    static const enum dyn_joint_type type[] = {
        DYN_JOINT_FIXED,     DYN_JOINT_FIXED,       DYN_JOINT_REVOLUTE,  DYN_JOINT_REVOLUTE,
        DYN_JOINT_PRISMATIC, DYN_JOINT_CYLINDRICAL, DYN_JOINT_UNIVERSAL, DYN_JOINT_PLANAR,
        DYN_JOINT_SPHERICAL, DYN_JOINT_GENERAL};
    if (is_first && tree_noise() > 0.0)
        return DYN_JOINT_FREE;
    return type[(int)(5.0 * (tree_noise() + 1.0))];
}

/* A helix off the origin, a slide and a hinge off the origin. */
static void some_screws(struct dyn_body_spec *spec)
{
    spec->screw_count = 3;
    for (int k = 0; k < 3; k++) {
        form_unit(spec->screw[k] + (k == 1 ? 3 : 0), 3);
        if (k != 1)
            some(0.3, 3, spec->screw[k] + 3);
    }
}

static void some_body(struct flex_tree *flex, int i)
{
    const int parent = i == 0 ? -1 : (int)(0.5 * i * (tree_noise() + 1.0));
    tree_add(&flex->tree, parent, some_joint(i == 0), 0.0, 0.0, 0.0);
    struct dyn_body_spec *spec = &flex->tree.spec[i];
    form_unit(spec->axis, 3);
    form_across(spec->axis, spec->axis2);
    if (spec->joint == DYN_JOINT_GENERAL)
        some_screws(spec);
    form_unit(spec->place_quat, 4);
    some(0.5, 3, spec->place_xyz);
    some_lumps(&flex->lumps[i]);
    if (parent >= 0 && flex->lumps[parent].nodes > 0)
        spec->node = (int)(1.5 * (tree_noise() + 1.0));
}

static void some_load(int body, struct dyn_load *load)
{
    load->body = body;
    some(0.5, 3, load->at);
    some(1.0, 3, load->moment);
    some(1.0, 3, load->force);
}

static void some_state(struct flex_tree *flex, double deflection)
{
    struct tree *tree = &flex->tree;
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        double *q = tree->q + dyn_model_q_index(tree->model, i);
        some(1.0, dyn_joint_nq(spec), q);
        some(1.0, dyn_joint_nv(spec), tree->v + dyn_model_v_index(tree->model, i));
        if (spec->joint == DYN_JOINT_FREE)
            form_unit(q + 3, 4);
        if (spec->joint == DYN_JOINT_SPHERICAL)
            form_unit(q, 4);
        some(deflection, flex->lumps[i].modes, tree->q + dyn_model_eta_index(tree->model, i));
        some(deflection, flex->lumps[i].modes, tree->v + dyn_model_xi_index(tree->model, i));
        some_load(i, &tree->load[i]);
    }
    some(1.0, dyn_model_nv(tree->model), tree->tau);
    some(9.81, 3, tree->gravity);
}

void flex_tree_rebuild(struct flex_tree *flex, enum dyn_fidelity fidelity)
{
    static double q[TREE_NV_MAX]; /* building puts the joints to zero */
    memcpy(q, flex->tree.q, sizeof q);
    for (int i = 0; i < flex->tree.body_count; i++)
        lumps_sum(&flex->lumps[i], fidelity, &flex->tree.spec[i]);
    tree_build(&flex->tree);
    memcpy(flex->tree.q, q, sizeof q);
}

void flex_tree_random(struct flex_tree *flex, int body_count, enum dyn_fidelity fidelity,
                      double deflection, uint64_t seed)
{
    tree_noise_seed(seed);
    memset(flex, 0, sizeof *flex);
    for (int i = 0; i < body_count; i++)
        some_body(flex, i);
    flex_tree_rebuild(flex, fidelity);
    some_state(flex, deflection);
}

void flex_tree_forward(struct flex_tree *flex)
{
    struct tree *tree = &flex->tree;
    const struct dyn_state state = tree_state(tree);
    const struct dyn_input input = {
        .tau = tree->tau,
        .loads = tree->load,
        .load_count = tree->body_count,
        .gravity = {tree->gravity[0], tree->gravity[1], tree->gravity[2]},
    };
    struct dyn_output output = {.a = tree->a};
    dyn_aba(tree->model, &state, &input, tree->work, &output);
}
