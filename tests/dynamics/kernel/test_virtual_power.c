/*
 * The kernel against virtual power (tests/dynamics/oracle.h) on random trees of every joint, with
 * rotors and mimics anywhere, loads at points and held velocities.
 */
#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "tests/dynamics/craft.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/form.h"
#include "tests/dynamics/oracle.h"
#include "unity.h"

enum { TREES = 120, BODIES_MAX = 12, LOADS = 4, NV_MAX = 6 * BODIES_MAX };

static struct craft craft;
static struct tree *const tree = &craft.tree;
static _Alignas(64) unsigned char mass_mem[1 << 20], scene_mem[1 << 20];

void setUp(void)
{
}

void tearDown(void)
{
}

static int nv(void)
{
    return dyn_model_nv(tree->model);
}

static int has_one_screw(const struct dyn_body_spec *spec)
{
    return spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC ||
           (spec->joint == DYN_JOINT_GENERAL && spec->screw_count == 1);
}

static void add_rotors(void)
{
    for (int i = 0; i < tree->body_count; i++) {
        struct dyn_geared_rotor *rotor = &tree->spec[i].rotor;
        if (!has_one_screw(&tree->spec[i]))
            continue;
        *rotor = (struct dyn_geared_rotor){.terms = (enum dyn_rotor_terms)form_some(0, 3),
                                           .ratio = form_some(-100, 100),
                                           .inertia = 1e-3};
        form_unit(rotor->axis, 3);
    }
}

/* A joint follows some other, before or behind it. */
static void add_mimics(void)
{
    for (int i = 0; i < tree->body_count; i++) {
        const int leader = (int)form_some(0, tree->body_count);
        int led = 0;
        for (int k = 0; k < i; k++)
            led |= tree->spec[k].mimic.on && tree->spec[k].mimic.leader == i;
        if (led || leader == i || !has_one_screw(&tree->spec[i]) ||
            !has_one_screw(&tree->spec[leader]) || tree->spec[leader].mimic.on)
            continue;
        tree->spec[i].mimic = (struct dyn_mimic){
            .on = 1, .leader = leader, .ratio = form_some(-2, 2), .offset = form_some(-1, 1)};
    }
}

static void make_tree(uint64_t seed, int mimics)
{
    form_tree(tree, 1 + (int)(seed % BODIES_MAX), seed / BODIES_MAX % 2, seed);
    add_rotors();
    if (mimics)
        add_mimics();
    tree_build(tree);
    form_stir(tree);
    TEST_ASSERT_EQUAL_INT(oracle_nv(tree), nv());
}

static double size_of(int n, const double *e)
{
    double size = 0.0;
    for (int k = 0; k < n; k++)
        size = fmax(size, fabs(e[k]));
    return size;
}

static void assert_near(double within, int n, const double *truth, const double *is)
{
    const double size = size_of(n, truth);
    for (int k = 0; k < n; k++)
        TEST_ASSERT_DOUBLE_WITHIN(within * size, truth[k], is[k]);
}

static void expect_mass(int mimics)
{
    static double truth[NV_MAX * NV_MAX], M[NV_MAX * NV_MAX];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        make_tree(seed, mimics);
        const struct dyn_state state = tree_state(tree);
        TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mass_mem, dyn_crba_work_size(tree->model));
        dyn_crba(tree->model, &state, dyn_crba_work_place(tree->model, mass_mem), M);
        oracle_mass(tree, truth);
        assert_near(1e-13, nv() * nv(), truth, M);
    }
}

static void expect_inverse(int mimics)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        double a[NV_MAX], truth[NV_MAX], tau[NV_MAX];
        make_tree(seed, mimics);
        for (int k = 0; k < nv(); k++)
            a[k] = form_some(-9, 9);
        const struct dyn_state state = tree_state(tree);
        const struct dyn_input input = tree_input(tree);
        dyn_rnea(tree->model, &state, a, &input, tree->work, tau);
        oracle_inverse(tree, a, truth);
        assert_near(1e-12, nv(), truth, tau);
    }
}

/* --- points -------------------------------------------------------------------------------- */

static struct oracle_body bodies[TREE_BODY_MAX];

static struct dyn_point random_point(void)
{
    const int body = (int)form_some(0, tree->body_count);
    return (struct dyn_point){body, {tree_noise(), tree_noise(), tree_noise()}};
}

static const struct dyn_tree_pose *take_scene(void)
{
    const struct dyn_state state = tree_state(tree);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof scene_mem, dyn_tree_pose_size(tree->model));
    struct dyn_tree_pose *tree_pose = dyn_tree_pose_place(tree->model, scene_mem);
    dyn_tree_pose_update(tree->model, &state, tree_pose);
    return tree_pose;
}

static void expect_jacobian(int mimics)
{
    static double J[6 * NV_MAX];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        double unit[NV_MAX] = {0};
        make_tree(seed, mimics);
        const struct dyn_point point = random_point();
        dyn_jacobian(tree->model, take_scene(), &point, J);
        for (int k = 0; k < nv(); k++) {
            double arm[3], truth[6];
            unit[k] = 1.0;
            oracle_move(tree, unit, NULL, bodies);
            unit[k] = 0.0;
            const struct oracle_body *body = &bodies[point.body];
            oracle_to_world(body, point.at, arm);
            memcpy(truth, body->w, sizeof body->w);
            vec_cross(body->w, arm, truth + 3);
            vec_add(1.0, body->p_rate, truth + 3);
            for (int r = 0; r < 6; r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-13 * (1.0 + size_of(6, truth)), truth[r],
                                          J[r * nv() + k]);
        }
    }
}

/* p_acc + w_rate x arm + w x (w x arm) */
static void expect_acceleration(int mimics)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        double a[NV_MAX], arm[3], turned[3], truth[6];
        make_tree(seed, mimics);
        const struct dyn_point point = random_point();
        for (int k = 0; k < nv(); k++)
            a[k] = form_some(-9, 9);
        const struct dyn_vec6 is = dyn_point_acceleration(tree->model, take_scene(), &point, a);
        oracle_move(tree, tree->v, a, bodies);
        const struct oracle_body *body = &bodies[point.body];
        oracle_to_world(body, point.at, arm);
        memcpy(truth, body->w_rate, sizeof body->w_rate);
        memcpy(truth + 3, body->p_acc, sizeof body->p_acc);
        vec_cross(body->w_rate, arm, turned);
        vec_add(1.0, turned, truth + 3);
        vec_cross(body->w, arm, turned);
        vec_cross(body->w, turned, turned);
        vec_add(1.0, turned, truth + 3);
        assert_near(1e-12, 3, truth, (double[]){is.ang.x, is.ang.y, is.ang.z});
        assert_near(1e-12, 3, truth + 3, (double[]){is.lin.x, is.lin.y, is.lin.z});
    }
}

static void expect_energy(int mimics)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        make_tree(seed, mimics);
        craft_build(&craft);
        const struct dyn_monitor monitor = craft_monitor(&craft);
        const double kinetic = oracle_kinetic(tree), potential = oracle_potential(tree);
        const double size = kinetic + fabs(potential);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * size, kinetic, monitor.kinetic);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * size, potential, monitor.potential);
    }
}

/* --- forward ------------------------------------------------------------------------------- */

static struct dyn_load loads[LOADS];

/* forces += what the loads do along every velocity. */
static void add_loads(double *forces)
{
    double unit[NV_MAX] = {0};
    for (int k = 0; k < nv(); k++) {
        unit[k] = 1.0;
        oracle_move(tree, unit, NULL, bodies);
        unit[k] = 0.0;
        for (int i = 0; i < LOADS; i++) {
            const struct oracle_body *body = &bodies[loads[i].body];
            double arm[3], force[3], moment[3], turned[3];
            oracle_to_world(body, loads[i].at, arm);
            oracle_to_world(body, loads[i].force, force);
            oracle_to_world(body, loads[i].moment, moment);
            vec_cross(body->w, arm, turned);
            vec_add(1.0, body->p_rate, turned);
            forces[k] += vec_dot(body->w, moment) + vec_dot(turned, force);
        }
    }
}

/* M a + bias = forces + held_tau, with a known where held and held_tau zero elsewhere: the columns
 * of M that belong to held velocities change places with those of their forces. */
static void solve_held(const unsigned char *held, const double *held_a, double *a, double *held_tau)
{
    static double M[NV_MAX * NV_MAX];
    double zero[NV_MAX] = {0}, bias[NV_MAX], forces[NV_MAX];
    const int n = nv();
    oracle_mass(tree, M);
    oracle_inverse(tree, zero, bias);
    memcpy(forces, tree->tau, sizeof forces);
    add_loads(forces);
    for (int r = 0; r < n; r++) {
        forces[r] -= bias[r];
        for (int c = 0; c < n; c++)
            if (held[c]) {
                forces[r] -= M[r * n + c] * held_a[c];
                M[r * n + c] = -(r == c);
            }
    }
    dense_solve_rows(n, M, forces, 1);
    for (int k = 0; k < n; k++) {
        a[k] = held[k] ? held_a[k] : forces[k];
        held_tau[k] = held[k] ? forces[k] : 0.0;
    }
}

static void random_input(unsigned char *held, double *held_a, double holding)
{
    for (int i = 0; i < LOADS; i++) {
        loads[i].body = (int)form_some(0, tree->body_count);
        for (int k = 0; k < 3; k++) {
            loads[i].at[k] = tree_noise();
            loads[i].moment[k] = 5.0 * tree_noise(), loads[i].force[k] = 5.0 * tree_noise();
        }
    }
    for (int k = 0; k < nv(); k++) {
        held[k] = form_some(0, 1) < holding;
        held_a[k] = form_some(-9, 9);
    }
}

/* On every instruction set that this processor runs. */
static void assert_forward(const struct dyn_input *input, const double *truth,
                           const double *truth_tau)
{
    const struct dyn_state state = tree_state(tree);
    for (int isa = DYN_ISA_SSE2; isa <= DYN_ISA_AVX512; isa++) {
        double held_tau[NV_MAX];
        struct dyn_output output = {.a = tree->a, .held_tau = held_tau};
        if (!dyn_isa_runs((enum dyn_isa)isa))
            continue;
        dyn_model_use_isa((struct dyn_model *)tree->model, (enum dyn_isa)isa);
        tree_poison(tree);
        dyn_aba(tree->model, &state, input, tree->work, &output);
        assert_near(1e-11, nv(), truth, tree->a);
        assert_near(1e-11, nv(), truth_tau, held_tau);
    }
}

static void expect_forward(double holding, int mimics)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        unsigned char held[NV_MAX];
        double held_a[NV_MAX], truth[NV_MAX], truth_tau[NV_MAX];
        make_tree(seed, mimics);
        random_input(held, held_a, holding);
        solve_held(held, held_a, truth, truth_tau);
        struct dyn_input input = tree_input(tree);
        input.loads = loads, input.load_count = LOADS;
        input.held = held, input.held_a = held_a;
        assert_forward(&input, truth, truth_tau);
    }
}

/* --- tests --------------------------------------------------------------------------------- */

static void test_the_mass_matrix_is_that_of_virtual_power(void)
{
    expect_mass(0);
}

static void test_inverse_dynamics_is_virtual_power(void)
{
    expect_inverse(0);
}

static void test_jacobians_follow_from_the_poses(void)
{
    expect_jacobian(0);
}

static void test_points_accelerate_as_the_poses_say(void)
{
    expect_acceleration(0);
}

static void test_the_monitor_counts_the_energy_of_rotors(void)
{
    expect_energy(0);
}

static void test_forward_dynamics_is_that_of_virtual_power(void)
{
    expect_forward(0.0, 0);
}

static void test_held_velocities_need_the_forces_of_virtual_power(void)
{
    expect_forward(0.3, 0);
}

/* Six hinges whose axes differ from z by about `slant`. */
static void make_hinges(double slant)
{
    tree_begin(tree);
    for (int i = 0; i < 6; i++) {
        const double x = slant * tree_noise(), y = slant * tree_noise();
        const double n = sqrt(1.0 + x * x + y * y);
        const int body = tree_add(tree, i - 1, DYN_JOINT_REVOLUTE, x / n, y / n, 1.0 / n);
        struct dyn_body_spec *spec = &tree->spec[body];
        form_lump(spec);
        for (int k = 0; k < 3; k++)
            spec->place_xyz[k] = tree_noise();
        tree->gravity[i % 3] = 9.81 * tree_noise();
    }
    tree_build(tree);
    form_stir(tree);
}

/* The common normal of two such axes may be anywhere. */
static void test_axes_that_are_nearly_parallel_cost_no_digits(void)
{
    tree_noise_seed(40);
    for (double slant = 0.1; slant > 1e-17; slant *= 0.1)
        for (int k = 0; k < 10; k++) {
            double truth[6];
            make_hinges(slant);
            oracle_forward(tree, truth);
            tree_forward(tree);
            assert_near(1e-12, 6, truth, tree->a);
        }
}

static void test_the_mass_matrix_knows_mimics(void)
{
    expect_mass(1);
}

static void test_inverse_dynamics_knows_mimics(void)
{
    expect_inverse(1);
}

static void test_jacobians_know_mimics(void)
{
    expect_jacobian(1);
}

static void test_points_accelerate_with_mimics(void)
{
    expect_acceleration(1);
}

static void test_the_monitor_counts_the_energy_of_mimics(void)
{
    expect_energy(1);
}

static void test_forward_dynamics_knows_mimics(void)
{
    expect_forward(0.0, 1);
}

static void test_held_velocities_know_mimics(void)
{
    expect_forward(0.3, 1);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_mass_matrix_is_that_of_virtual_power);
    RUN_TEST(test_inverse_dynamics_is_virtual_power);
    RUN_TEST(test_jacobians_follow_from_the_poses);
    RUN_TEST(test_points_accelerate_as_the_poses_say);
    RUN_TEST(test_the_monitor_counts_the_energy_of_rotors);
    RUN_TEST(test_forward_dynamics_is_that_of_virtual_power);
    RUN_TEST(test_held_velocities_need_the_forces_of_virtual_power);
    RUN_TEST(test_axes_that_are_nearly_parallel_cost_no_digits);
    RUN_TEST(test_the_mass_matrix_knows_mimics);
    RUN_TEST(test_inverse_dynamics_knows_mimics);
    RUN_TEST(test_jacobians_know_mimics);
    RUN_TEST(test_points_accelerate_with_mimics);
    RUN_TEST(test_the_monitor_counts_the_energy_of_mimics);
    RUN_TEST(test_forward_dynamics_knows_mimics);
    RUN_TEST(test_held_velocities_know_mimics);
    return UNITY_END();
}
