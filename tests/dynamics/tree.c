#include "tests/dynamics/tree.h"

#include <math.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "unity.h"

static uint64_t noise_state;

void tree_noise_seed(uint64_t seed)
{
    noise_state = seed;
}

/* splitmix64 */
double tree_noise(void)
{
    uint64_t z = (noise_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

void tree_begin(struct tree *tree)
{
    memset(tree, 0, offsetof(struct tree, model_mem)); /* the rest is laid out anew by each build */
}

int tree_add(struct tree *tree, int parent, enum dyn_joint_type joint, double ax, double ay,
             double az)
{
    tree->spec[tree->body_count] = (struct dyn_body_spec){
        .parent = parent,
        .joint = joint,
        .axis = {ax, ay, az},
        .place_quat = {1.0, 0.0, 0.0, 0.0},
        .mass = 1.0,
        .inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0},
    };
    return tree->body_count++;
}

void tree_build(struct tree *tree)
{
    int body = -1;
    TEST_ASSERT_NULL(dyn_model_problem(tree->spec, tree->body_count, &body));
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof tree->model_mem,
                                     dyn_model_size(tree->spec, tree->body_count));
    tree->model = dyn_model_place(tree->spec, tree->body_count, tree->model_mem);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof tree->work_mem, dyn_work_size(tree->model));
    tree->work = dyn_work_place(tree->model, tree->work_mem);
    for (int i = 0; i < tree->body_count; i++)
        dyn_joint_zero(&tree->spec[i], tree->q + dyn_model_q_index(tree->model, i));
}

static void random_unit(double *e, int count)
{
    double square = 0.0;
    for (int k = 0; k < count; k++) {
        e[k] = tree_noise();
        square += e[k] * e[k];
    }
    if (square < 0.01)
        random_unit(e, count);
    else
        for (int k = 0; k < count; k++)
            e[k] /= sqrt(square);
}

/* Of a few point masses and a small ball, so that it is physical by construction. */
static void random_inertia(double inertia[6])
{
    double *I = inertia;
    I[0] = I[1] = I[2] = 0.02;
    I[3] = I[4] = I[5] = 0.0;
    for (int k = 0; k < 4; k++) {
        const double m = 1.1 + tree_noise();
        const double x = 0.3 * tree_noise(), y = 0.3 * tree_noise(), z = 0.3 * tree_noise();
        I[0] += m * (y * y + z * z);
        I[1] += m * (x * x + z * z);
        I[2] += m * (x * x + y * y);
        I[3] -= m * x * y;
        I[4] -= m * x * z;
        I[5] -= m * y * z;
    }
}

static enum dyn_joint_type random_joint(void)
{
    static const enum dyn_joint_type often[] = {DYN_JOINT_REVOLUTE, DYN_JOINT_REVOLUTE,
                                                DYN_JOINT_PRISMATIC, DYN_JOINT_FIXED};
    const int any = (int)(4.5 * (tree_noise() + 1.0)), usual = (int)(2.0 * (tree_noise() + 1.0));
    return tree_noise() > 0.2 ? (enum dyn_joint_type)any : often[usual];
}

static void random_across(const double a[3], double b[3])
{
    double c[3];
    random_unit(c, 3);
    const struct dyn_vec3 across = dyn_cross(dyn_vec3_load(a), dyn_vec3_load(c));
    dyn_vec3_store(dyn_scale(1.0 / dyn_norm(across), across), b);
}

/* Hinges off the origin, slides and helices, independent of each other: at most three turns and at
 * most three slides, on axes across each other where there are two of a kind. */
static void random_screws(struct dyn_body_spec *spec)
{
    double axis[3][3];
    const int turns = 1 + (int)(1.5 * (tree_noise() + 1.0)),
              slides = (int)(1.5 * (tree_noise() + 1.0));

    random_unit(axis[0], 3);
    random_across(axis[0], axis[1]);
    dyn_vec3_store(dyn_cross(dyn_vec3_load(axis[0]), dyn_vec3_load(axis[1])), axis[2]);
    spec->screw_count = turns + slides;
    for (int k = 0; k < slides; k++)
        memcpy(spec->screw[k] + 3, axis[k], sizeof axis[k]);
    for (int k = 0; k < turns; k++) {
        double *screw = spec->screw[slides + k];
        memcpy(screw, axis[k], sizeof axis[k]);
        for (int j = 0; j < 3; j++)
            screw[3 + j] = tree_noise() > 0.0 ? 0.3 * tree_noise() : 0.0;
    }
}

static void random_laws(struct dyn_body_spec *spec)
{
    const int quat = spec->joint == DYN_JOINT_SPHERICAL || spec->joint == DYN_JOINT_FREE;
    for (int k = 0; k < dyn_joint_nv(spec); k++) {
        struct dyn_joint_force_spec *force_spec = &spec->force_spec[k];
        if (tree_noise() > 0.0) {
            force_spec->damping = 0.5 * (1.0 + tree_noise());
            force_spec->stiffness = quat ? 0.0 : 5.0 * (1.0 + tree_noise());
            force_spec->rest = tree_noise();
        }
        if (tree_noise() > 0.6)
            force_spec->coulomb = 1.0, force_spec->coulomb_speed = 0.2;
        if (!quat && tree_noise() > 0.6) {
            force_spec->limit_stiffness = 10.0, force_spec->limit_damping = 1.0;
            force_spec->lower = -0.5, force_spec->upper = 0.5;
        }
    }
}

static void random_rotor(struct dyn_body_spec *spec)
{
    const int one_dof = spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC;
    if (!one_dof || tree_noise() < 0.3)
        return;
    spec->rotor.terms = (enum dyn_rotor_terms)(int)(1.5 * (tree_noise() + 1.0));
    spec->rotor.ratio = 20.0 * tree_noise();
    spec->rotor.inertia = 0.01 * (1.0 + tree_noise());
    random_unit(spec->rotor.axis, 3);
}

static void random_body(struct tree *tree, enum dyn_joint_type joint, int parent)
{
    struct dyn_body_spec *spec = &tree->spec[tree_add(tree, parent, joint, 0.0, 0.0, 0.0)];

    random_unit(spec->axis, 3);
    random_across(spec->axis, spec->axis2);
    random_unit(spec->place_quat, 4);
    for (int k = 0; k < 3; k++)
        spec->place_xyz[k] = tree_noise();
    if (joint == DYN_JOINT_GENERAL)
        random_screws(spec);
    spec->mass = 1.1 + tree_noise();
    for (int k = 0; k < 3; k++)
        spec->center[k] = 0.3 * tree_noise();
    random_inertia(spec->inertia);
    random_laws(spec);
    random_rotor(spec);
}

void tree_random_state(struct tree *tree)
{
    for (int k = 0; k < dyn_model_nq(tree->model); k++)
        tree->q[k] = 2.0 * tree_noise();
    for (int i = 0; i < tree->body_count; i++)
        if (tree->spec[i].joint == DYN_JOINT_FREE)
            random_unit(tree->q + dyn_model_q_index(tree->model, i) + 3, 4);
        else if (tree->spec[i].joint == DYN_JOINT_SPHERICAL)
            random_unit(tree->q + dyn_model_q_index(tree->model, i), 4);
    for (int k = 0; k < dyn_model_nv(tree->model); k++) {
        tree->v[k] = tree_noise();
        tree->tau[k] = 5.0 * tree_noise();
    }
    for (int i = 0; i < tree->body_count; i++)
        tree->force[i] = (struct dyn_vec6){{tree_noise(), tree_noise(), tree_noise()},
                                           {tree_noise(), tree_noise(), tree_noise()}};
    for (int k = 0; k < 3; k++)
        tree->gravity[k] = 9.81 * tree_noise();
}

void tree_random(struct tree *tree, int body_count, int free_base, uint64_t seed)
{
    tree_noise_seed(seed);
    tree_begin(tree);
    random_body(tree, free_base ? DYN_JOINT_FREE : random_joint(), -1);
    for (int i = 1; i < body_count; i++) {
        /* half of them long chains, and now and then another root */
        const int any = (int)(0.5 * (tree_noise() + 1.0) * (i + 1)) - 1;
        random_body(tree, random_joint(), tree_noise() > 0.0 ? i - 1 : any);
    }
    tree_build(tree);
    tree_random_state(tree);
}

/* The state stays. */
static void rebuild(struct tree *tree)
{
    double q[TREE_NV_MAX];
    memcpy(q, tree->q, sizeof q);
    tree_build(tree);
    memcpy(tree->q, q, sizeof q);
}

void tree_unlimit(struct tree *tree)
{
    for (int i = 0; i < tree->body_count; i++)
        for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
            tree->spec[i].force_spec[k].limit_stiffness =
                tree->spec[i].force_spec[k].limit_damping = 0.0;
    rebuild(tree);
}

void tree_unrub(struct tree *tree)
{
    for (int i = 0; i < tree->body_count; i++)
        for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
            tree->spec[i].force_spec[k].coulomb = 0.0;
    rebuild(tree);
}

void tree_unlaw_base(struct tree *tree)
{
    memset(tree->spec[0].force_spec, 0, sizeof tree->spec[0].force_spec);
    rebuild(tree);
}

struct dyn_state tree_state(const struct tree *tree)
{
    return (struct dyn_state){tree->q, tree->v};
}

struct dyn_input tree_input(struct tree *tree)
{
    for (int i = 0; i < tree->body_count; i++) {
        tree->load[i] = (struct dyn_load){.body = i};
        dyn_vec3_store(tree->force[i].ang, tree->load[i].moment);
        dyn_vec3_store(tree->force[i].lin, tree->load[i].force);
    }
    return (struct dyn_input){
        .tau = tree->tau,
        .loads = tree->load,
        .load_count = tree->body_count,
        .gravity = {tree->gravity[0], tree->gravity[1], tree->gravity[2]},
    };
}

/* All but where things are, and the empty lanes of the modes. */
void tree_poison(struct tree *tree)
{
    struct dyn_modal_work modal[TREE_BODY_MAX];
    double *node[TREE_BODY_MAX];
    const struct dyn_model *model = tree->model;
    const struct dyn_work *work = tree->work;
    const size_t head = sizeof(struct dyn_work);

    TEST_ASSERT_LESS_OR_EQUAL_INT(TREE_BODY_MAX, model->node_count);
    memcpy(modal, work->modal, (size_t)model->modal_count * sizeof *modal);
    memcpy(node, work->node, (size_t)model->node_count * sizeof *node);
    memset(tree->work_mem + head, 0xff, dyn_work_size(tree->model) - head);
    memcpy(work->modal, modal, (size_t)model->modal_count * sizeof *modal);
    memcpy(work->node, node, (size_t)model->node_count * sizeof *node);
    for (int m = 0; m < model->modal_count; m++)
        for (int p = model->modal[m].modes; p < model->modal[m].lanes; p++)
            work->modal[m].eta[p] = work->modal[m].xi[p] = 0.0;
}

void tree_forward(struct tree *tree)
{
    const struct dyn_state state = tree_state(tree);
    const struct dyn_input input = tree_input(tree);
    struct dyn_output output = {.a = tree->a};
    tree_poison(tree);
    dyn_aba(tree->model, &state, &input, tree->work, &output);
}
