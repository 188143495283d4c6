/*
 * Flexible trees: the kernel, inverse dynamics and the mass matrix must be of one mind.
 */
#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/crba_work.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/isa.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "tests/dynamics/flex/flexible.h"
#include "unity.h"

static struct tree tree;
static double M[TREE_NV_MAX * TREE_NV_MAX];
static _Alignas(64) unsigned char crba_mem[1 << 23];

void setUp(void)
{
}

void tearDown(void)
{
}

static int nv(void)
{
    return dyn_model_nv(tree.model);
}

static struct dyn_crba_work *crba_work(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof crba_mem, dyn_crba_work_size(tree.model));
    return dyn_crba_work_place(tree.model, crba_mem);
}

/* Size of the forces inside the tree: what a residual must be measured against. */
static double force_scale(void)
{
    double scale = 1.0;
    for (int i = 0; i < tree.model->link_count; i++) {
        scale = fmax(scale, dyn_norm(tree.work->f[i].ang));
        scale = fmax(scale, dyn_norm(tree.work->f[i].lin));
    }
    for (int k = 0; k < nv(); k++)
        scale = fmax(scale, fabs(tree.tau[k]));
    return scale;
}

/* What is left of tau when inverse dynamics have had an answer of forward dynamics. */
static double residual(const struct dyn_input *input, const double *a)
{
    double tau[TREE_NV_MAX], worst = 0.0;
    const struct dyn_state state = tree_state(&tree);
    tree_poison(&tree);
    dyn_rnea(tree.model, &state, a, input, tree.work, tau);
    const double scale = force_scale();
    for (int k = 0; k < nv(); k++) {
        if (!isfinite(tau[k]))
            return (double)INFINITY;
        worst = fmax(worst, fabs(tau[k] - tree.tau[k]) / scale);
    }
    return worst;
}

static void forward(const struct dyn_input *input, double *a)
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_output output = {.a = a};
    tree_poison(&tree);
    dyn_aba(tree.model, &state, input, tree.work, &output);
}

static void forward_by_mass(const struct dyn_input *input, double *a)
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_output output = {.a = a};
    dyn_crba_forward(tree.model, &state, input, crba_work(), &output);
}

/* One of many trees: bases that fly and that stand, one to twelve bodies. */
static void take_tree(uint64_t seed)
{
    flexible_random(&tree, 1 + (int)(seed % 12), (int)(seed / 12 % 2), seed);
}

static const enum dyn_isa isas[] = {DYN_ISA_SSE2, DYN_ISA_AVX2, DYN_ISA_AVX512};
static int isa_runs[3]; /* asked once: the answer takes long on a virtual processor */

/* The kernel's largest residual on all instruction sets that run here. */
static double worst_kernel(const struct dyn_input *input)
{
    double worst = 0.0;
    for (int k = 0; k < 3; k++) {
        if (!isa_runs[k])
            continue;
        ((struct dyn_model *)tree.model_mem)->isa = isas[k];
        forward(input, tree.a);
        worst = fmax(worst, residual(input, tree.a));
    }
    return worst;
}

/* Links that deform, of those that are slender or of the others. */
static int count_bent(int is_slender)
{
    int count = 0;
    for (int m = 0; m < tree.model->modal_count; m++)
        count += tree.model->modal[m].deforms && tree.model->modal[m].is_slender == is_slender;
    return count;
}

static void test_inverse_dynamics_returns_the_forces(void)
{
    double by_mass[TREE_NV_MAX], worst = 0.0, worst_by_mass = 0.0;
    int slender = 0, other = 0;
    for (int k = 0; k < 3; k++)
        isa_runs[k] = dyn_isa_runs(isas[k]);
    for (uint64_t seed = 1; seed <= TREES_MANY; seed++) {
        take_tree(seed);
        slender += count_bent(1);
        other += count_bent(0);
        const struct dyn_input input = tree_input(&tree);
        forward_by_mass(&input, by_mass);
        worst = fmax(worst, worst_kernel(&input));
        worst_by_mass = fmax(worst_by_mass, residual(&input, by_mass));
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst_by_mass);
    TEST_ASSERT_GREATER_THAN_INT(TREES_MANY / 2, slender); /* both kinds have been there */
    TEST_ASSERT_GREATER_THAN_INT(TREES_MANY / 2, other);
}

enum { TABLES = 12 };

/* The first numbers of a table become a little others; the last two keep to the line of the beam in
 * all but one way. */
static void put_off(struct flexible *f, int table, double by)
{
    double *const off[] = {f->P,
                           f->L,
                           f->S,
                           f->N,
                           f->P2,
                           f->L2,
                           f->of_node[0],
                           f->of_node[0] + 9,
                           f->of_node[0] + 18,
                           f->of_node[0] + 45};
    const double *r = f->station[0].r;
    const double across[9] = {0.0, -r[2], r[1], r[2], 0.0, -r[0], -r[1], r[0], 0.0};
    for (int k = 0; table < 10 && k < (table == 3 ? 1 : 3); k++) /* N of one mode is symmetric */
        off[table][k] += by * (1.0 + k);
    for (int k = 0; table == 10 && k < 9; k++) /* a shape of first order along the line */
        f->L[k] += by * r[k / 3] * r[k % 3];
    for (int k = 0; table == 11 && k < 9; k++) /* one of second order that swirls about it */
        f->L2[k] += by * across[k];
}

/* A beam on a hinge with a node, of which one table is a little off. */
static const struct dyn_modal_link *make_off(int table, double by)
{
    static struct flexible f;
    tree_begin(&tree);
    tree_noise_seed(3);
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.6, 0.0, 0.8);
    flexible_make(&f, 3, DYN_FLEX_CONSISTENT, &tree.spec[0]);
    f.node[0] = (struct dyn_node){.psi = f.of_node[0],
                                  .theta = f.of_node[0] + 9,
                                  .psi2 = f.of_node[0] + 18,
                                  .theta2 = f.of_node[0] + 45};
    f.flex.nodes = 1;
    for (int k = 0; k < 72; k++) /* of second order mode 0 alone */
        f.of_node[0][k] = k < 18 || (k - 18) % 27 < 3 ? tree_noise() : 0.0;
    flexible_make_slender(&f, &tree.spec[0]);
    put_off(&f, table, by);
    flexible_build(&tree);
    return &tree.model->modal[0];
}

static void test_nearly_slender_is_not_slender(void)
{
    for (int table = 0; table < TABLES; table++) {
        TEST_ASSERT_EQUAL_INT(1, make_off(table, 0.0)->is_slender);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, make_off(table, 1e-9)->is_slender, "by so little");
        const struct dyn_input input = tree_input(&tree);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst_kernel(&input));
    }
}

/* Columns of the mass matrix by inverse dynamics. */
static void test_the_mass_matrix_is_what_accelerations_cost(void)
{
    double zero[TREE_NV_MAX] = {0}, bias[TREE_NV_MAX], column[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        take_tree(seed);
        const struct dyn_state state = tree_state(&tree);
        const struct dyn_input none = {0};
        memset(tree.v, 0, sizeof tree.v);
        dyn_crba(tree.model, &state, crba_work(), M);
        dyn_rnea(tree.model, &state, zero, &none, tree.work, bias);
        for (int c = 0; c < nv(); c++) {
            zero[c] = 1.0;
            dyn_rnea(tree.model, &state, zero, &none, tree.work, column);
            zero[c] = 0.0;
            for (int r = 0; r < nv(); r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-11 * (1.0 + fabs(bias[r])) * (1.0 + M[c * nv() + c]),
                                          column[r] - bias[r], M[r * nv() + c]);
        }
    }
}

/* A table that is not there is zero, whatever the others have. */
static void test_a_table_left_out_is_zero(void)
{
    double with[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 100; seed++) {
        flexible_random(&tree, 1 + (int)(seed % 6), (int)(seed % 2), seed);
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < tree.body_count; i++) {
                struct flexible *body = flexible_of(&tree, i);
                if (body == NULL)
                    continue;
                double *table = seed % 3 == 0 ? body->L2 : seed % 3 == 1 ? body->P2 : body->S;
                const double **where = seed % 3 == 0   ? &body->flex.L2
                                       : seed % 3 == 1 ? &body->flex.P2
                                                       : &body->flex.S;
                memset(table, 0,
                       seed % 3 == 0   ? sizeof body->L2
                       : seed % 3 == 1 ? sizeof body->P2
                                       : sizeof body->S);
                *where = pass == 0 ? table : NULL;
            }
            tree_noise_seed(seed);
            flexible_set(&tree, DYN_FLEX_CONSISTENT);
            tree_forward(&tree);
            if (pass == 0)
                memcpy(with, tree.a, sizeof with);
        }
        for (int k = 0; k < nv(); k++)
            TEST_ASSERT_TRUE(with[k] == tree.a[k]);
    }
}

/* Springs and dampers that act on what will be. */
static void test_a_lead_of_the_modes_is_the_same_in_all_three(void)
{
    double by_mass[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        take_tree(seed);
        struct dyn_input input = tree_input(&tree);
        input.modal_implicit_step = 0.05 * (1.0 + tree_noise());
        forward(&input, tree.a);
        forward_by_mass(&input, by_mass);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, tree.a));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, by_mass));
    }
}

static void test_held_joints_stand_beside_modes(void)
{
    double tau[TREE_NV_MAX], held_a[TREE_NV_MAX], held_tau[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        unsigned char held[TREE_NV_MAX] = {0};
        take_tree(seed);
        const struct dyn_state state = tree_state(&tree);
        struct dyn_input input = tree_input(&tree);
        struct dyn_output output = {tree.a, held_tau};
        for (int i = 0; i < tree.body_count; i++)
            for (int k = 0; k < dyn_joint_nv(&tree.spec[i]); k++)
                held[dyn_model_v_index(tree.model, i) + k] = tree_noise() > 0.3;
        for (int k = 0; k < nv(); k++)
            held_a[k] = tree_noise();
        input.held = held, input.held_a = held_a;
        tree_poison(&tree);
        dyn_aba(tree.model, &state, &input, tree.work, &output);
        tree_poison(&tree);
        dyn_rnea(tree.model, &state, tree.a, &input, tree.work, tau);
        const double scale = force_scale();
        for (int k = 0; k < nv(); k++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-11 * scale, tau[k], tree.tau[k] + held_tau[k]);
            if (held[k])
                TEST_ASSERT_TRUE(tree.a[k] == held_a[k]);
        }
    }
}

/* Springs that hold the modes by implicit force leave a rigid body the stiffer they are. */
static double distance_from_rigid(uint64_t seed, enum dyn_fidelity fidelity, double stiffness)
{
    double rigid[6 * TREE_BODY_MAX], worst = 0.0, size = 1.0;
    flexible_random(&tree, 1 + (int)(seed % 6), (int)(seed % 2), seed);
    for (int i = 0; i < tree.body_count; i++)
        for (int k = 0; flexible_of(&tree, i) != NULL && k < FLEXIBLE_PAIRS; k++)
            flexible_of(&tree, i)->K[k] *= stiffness;
    for (int pass = 0; pass < 2; pass++) {
        flexible_set(&tree, pass == 0 ? DYN_FLEX_RIGID : fidelity);
        memset(tree.q, 0, sizeof tree.q);
        memset(tree.v, 0, sizeof tree.v);
        memset(tree.tau, 0, sizeof tree.tau);
        tree_noise_seed(seed);
        for (int i = 0; i < tree.body_count; i++) {
            const int v = dyn_model_v_index(tree.model, i);
            dyn_joint_zero(&tree.spec[i], tree.q + dyn_model_q_index(tree.model, i));
            for (int k = 0; k < dyn_joint_nv(&tree.spec[i]); k++)
                tree.v[v + k] = tree_noise(), tree.tau[v + k] = tree_noise();
            tree.force[i] = (struct dyn_vec6){{1.0, -0.5, 0.25}, {-1.0, 2.0, 0.5}};
        }
        memcpy(tree.gravity, (double[]){1.0, -2.0, 9.0}, sizeof tree.gravity);
        struct dyn_input input = tree_input(&tree);
        input.modal_implicit_step = 1.0;
        forward(&input, tree.a);
        for (int i = 0; i < tree.body_count; i++)
            for (int k = 0; k < dyn_joint_nv(&tree.spec[i]); k++) {
                const double a = tree.a[dyn_model_v_index(tree.model, i) + k];
                if (pass == 0)
                    rigid[6 * i + k] = a, size = fmax(size, fabs(a));
                else
                    worst = fmax(worst, fabs(a - rigid[6 * i + k]));
            }
    }
    return worst / size;
}

static void test_stiff_bodies_move_as_rigid_ones(void)
{
    static const enum dyn_fidelity bends[] = {DYN_FLEX_RUTHLESS, DYN_FLEX_CONSISTENT,
                                              DYN_FLEX_INCONSISTENT};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.0, distance_from_rigid(seed, bends[seed % 3], 1e5));
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, distance_from_rigid(seed, bends[seed % 3], 1e8));
    }
}

/* Some joint with one coordinate follows another one. */
static int make_mimic(void)
{
    int leader = -1, count = 0;
    for (int i = 0; i < tree.body_count; i++) {
        struct dyn_body_spec *spec = &tree.spec[i];
        if (spec->joint != DYN_JOINT_REVOLUTE && spec->joint != DYN_JOINT_PRISMATIC)
            continue;
        if (leader >= 0) {
            spec->mimic = (struct dyn_mimic){1, leader, tree_noise(), tree_noise()};
            count++;
        }
        leader = leader < 0 ? i : leader;
    }
    return count;
}

static void test_joints_may_mimic_others_across_bodies_that_bend(void)
{
    double by_mass[TREE_NV_MAX];
    int followers = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        take_tree(seed);
        followers += make_mimic();
        flexible_build(&tree);
        struct dyn_input input = tree_input(&tree);
        input.modal_implicit_step = seed % 2 == 0 ? 0.0 : 0.05;
        forward(&input, tree.a);
        forward_by_mass(&input, by_mass);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, residual(&input, tree.a));
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, residual(&input, by_mass));
    }
    TEST_ASSERT_GREATER_THAN_INT(100, followers);
}

/* What the random trees are meant to have, they have. */
static void test_the_random_trees_have_it_all(void)
{
    int on_node = 0, bolted_on_node = 0, bolted = 0, base = 0, frame = 0, nested = 0;
    int odd[FLEXIBLE_MODES_MAX + 1] = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        take_tree(seed);
        for (int i = 0; i < tree.body_count; i++) {
            const struct dyn_body_spec *spec = &tree.spec[i];
            const int modes = dyn_model_modes(tree.model, i);
            const int on = spec->parent >= 0 ? dyn_model_modes(tree.model, spec->parent) : 0;
            odd[modes]++;
            on_node += on > 0 && spec->node > 0 && spec->joint != DYN_JOINT_FIXED;
            bolted_on_node += on > 0 && spec->node > 0 && spec->joint == DYN_JOINT_FIXED;
            frame += on > 0 && spec->node == 0;
            bolted += modes > 0 && spec->joint == DYN_JOINT_FIXED;
            base += modes > 0 && i == 0 && spec->joint == DYN_JOINT_FREE;
            nested += modes > 0 && on > 0 && spec->node > 0;
        }
    }
    for (int k = 1; k <= FLEXIBLE_MODES_MAX; k++)
        TEST_ASSERT_GREATER_THAN_INT(10, odd[k]);
    TEST_ASSERT_GREATER_THAN_INT(20, on_node);
    TEST_ASSERT_GREATER_THAN_INT(20, bolted_on_node);
    TEST_ASSERT_GREATER_THAN_INT(20, frame);
    TEST_ASSERT_GREATER_THAN_INT(20, bolted);
    TEST_ASSERT_GREATER_THAN_INT(20, base);
    TEST_ASSERT_GREATER_THAN_INT(20, nested);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_inverse_dynamics_returns_the_forces);
    RUN_TEST(test_nearly_slender_is_not_slender);
    RUN_TEST(test_the_mass_matrix_is_what_accelerations_cost);
    RUN_TEST(test_a_table_left_out_is_zero);
    RUN_TEST(test_a_lead_of_the_modes_is_the_same_in_all_three);
    RUN_TEST(test_held_joints_stand_beside_modes);
    RUN_TEST(test_stiff_bodies_move_as_rigid_ones);
    RUN_TEST(test_joints_may_mimic_others_across_bodies_that_bend);
    RUN_TEST(test_the_random_trees_have_it_all);
    return UNITY_END();
}
