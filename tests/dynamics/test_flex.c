/*
 * Flexible trees: the kernel against the book, and both against physics.
 */
#include <math.h>
#include <string.h>

#include "dynamics/aba.h"
#include "dynamics/composite.h"
#include "dynamics/isa.h"
#include "dynamics/kinematics.h"
#include "dynamics/monitor.h"
#include "dynamics/operational.h"
#include "dynamics/rnea.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flexible.h"
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

static void test_inverse_dynamics_returns_the_forces_of_both(void)
{
    double by_mass[TREE_NV_MAX], worst = 0.0, worst_by_mass = 0.0;
    for (uint64_t seed = 1; seed <= 10000; seed++) {
        take_tree(seed);
        const struct dyn_input input = tree_input(&tree);
        forward(&input, tree.a);
        forward_by_mass(&input, by_mass);
        worst = fmax(worst, residual(&input, tree.a));
        worst_by_mass = fmax(worst_by_mass, residual(&input, by_mass));
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst_by_mass);
}

static void test_every_instruction_set_answers_alike(void)
{
    static const enum dyn_isa isas[] = {DYN_ISA_SSE2, DYN_ISA_AVX2, DYN_ISA_AVX512};
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        take_tree(seed);
        const struct dyn_input input = tree_input(&tree);
        for (int k = 0; k < 3; k++) {
            if (!dyn_isa_runs(isas[k]))
                continue;
            dyn_model_use_isa((struct dyn_model *)tree.model_mem, isas[k]);
            forward(&input, tree.a);
            TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, tree.a));
        }
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

/* Springs and dampers that act on what will be. */
static void test_a_lead_of_the_modes_is_the_same_in_all_three(void)
{
    double by_mass[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        take_tree(seed);
        struct dyn_input input = tree_input(&tree);
        input.modal_lead = 0.05 * (1.0 + tree_noise());
        forward(&input, tree.a);
        forward_by_mass(&input, by_mass);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, tree.a));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, residual(&input, by_mass));
    }
}

/* ---- motion -------------------------------------------------------------------------------- */

/* A vehicle that touches nothing, and whose joints have no law. */
static void take_loose_tree(uint64_t seed, enum dyn_fidelity fidelity)
{
    flexible_random(&tree, 1 + (int)(seed % 8), 1, seed);
    for (int i = 0; i < tree.body_count; i++) {
        memset(tree.spec[i].law, 0, sizeof tree.spec[i].law);
        if (i > 0 && tree.spec[i].parent < 0)
            tree.spec[i].parent = 0;
    }
    flexible_set(&tree, fidelity);
    memset(tree.tau, 0, 6 * sizeof tree.tau[0]);
    memset(tree.force, 0, sizeof tree.force);
}

/* x a time t later, as far as its first derivative knows. */
static void drift(double t, double *q, double *v)
{
    const struct dyn_state state = tree_state(&tree);
    dyn_position_rate(tree.model, &state, q);
    for (int k = 0; k < dyn_model_nq(tree.model); k++)
        q[k] = tree.q[k] + t * q[k];
    for (int k = 0; k < nv(); k++)
        v[k] = tree.v[k] + t * tree.a[k];
}

/* d/dt of `count` numbers that a state has, by differences of the eighth order. */
static void rate_of(void (*take)(const double *q, const double *v, double *out), int count,
                    double *rate)
{
    static const double weight[] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
    const double h = 0.004;
    double q[TREE_NV_MAX], v[TREE_NV_MAX], out[16];

    memset(rate, 0, (size_t)count * sizeof *rate);
    for (int k = -4; k <= 4; k++) {
        if (k == 0)
            continue;
        drift(k * h, q, v);
        take(q, v, out);
        for (int i = 0; i < count; i++)
            rate[i] += (k > 0 ? weight[k - 1] : -weight[-k - 1]) * out[i] / h;
    }
}

static struct dyn_monitor monitor(const double *q, const double *v)
{
    static _Alignas(64) unsigned char mem[1 << 16];
    static double x[2 * TREE_NV_MAX];
    struct dyn_plant plant = {.model = tree.model, .integrator = DYN_RK4, .substeps = 1};
    struct dyn_monitor out;

    memcpy(plant.environment.gravity, tree.gravity, sizeof tree.gravity);
    memcpy(x, q, (size_t)dyn_model_nq(tree.model) * sizeof *x);
    memcpy(x + dyn_model_nq(tree.model), v, (size_t)nv() * sizeof *x);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_monitor_work_size(&plant));
    dyn_monitor_take(&plant, x, dyn_monitor_work_place(&plant, mem), &out);
    return out;
}

static void take_momenta(const double *q, const double *v, double *out)
{
    const struct dyn_monitor m = monitor(q, v);
    memcpy(out, m.linear_momentum, sizeof m.linear_momentum);
    memcpy(out + 3, m.angular_momentum, sizeof m.angular_momentum);
    memcpy(out + 6, m.center, sizeof m.center);
    out[9] = m.kinetic + m.potential;
}

/* tau in the velocities, less what the modes' dampers take. */
static double power(void)
{
    double sum = 0.0;
    for (int k = 0; k < nv(); k++)
        sum += tree.tau[k] * tree.v[k];
    for (int m = 0; m < tree.model->modal_count; m++) {
        const struct dyn_modal_link *modal = &tree.model->modal[m];
        const double *xi = tree.v + modal->v_at;
        for (int p = 0; p < modal->modes; p++)
            for (int q = 0; q < modal->modes; q++)
                sum -= modal->C[q * modal->lanes + p] * xi[p] * xi[q];
    }
    return sum;
}

/* Largest error of the momenta, the speed of the mass centre and the energy, as parts of what
 * flows. */
static double drift_of_conserved(void)
{
    double rate[10], worst = 0.0, center[3], size;
    const struct dyn_input input = tree_input(&tree);
    forward(&input, tree.a);
    const struct dyn_monitor m = monitor(tree.q, tree.v);
    rate_of(take_momenta, 10, rate);
    const struct dyn_vec3 weight = dyn_scale(m.mass, dyn_vec3_load(tree.gravity));
    double torque[3], force[3];
    dyn_vec3_store(weight, force);
    dyn_vec3_store(dyn_cross(dyn_vec3_load(m.center), weight), torque);
    dyn_vec3_store(dyn_scale(1.0 / m.mass, dyn_vec3_load(m.linear_momentum)), center);

    size = 10.0 + fabs(m.kinetic) + fabs(m.potential) + dyn_norm(weight);
    for (int k = 0; k < nv(); k++)
        size += fabs(tree.a[k]);
    for (int k = 0; k < 3; k++) {
        worst = fmax(worst, fabs(rate[k] - force[k]));
        worst = fmax(worst, fabs(rate[k + 3] - torque[k]));
        worst = fmax(worst, fabs(rate[k + 6] - center[k]));
    }
    return fmax(worst, fabs(rate[9] - power())) / size;
}

static void test_momenta_and_energy_change_by_outer_forces_alone(void)
{
    static const enum dyn_fidelity exact[] = {DYN_FLEX_RIGID, DYN_FLEX_INCONSISTENT,
                                              DYN_FLEX_CONSISTENT};
    double worst = 0.0;
    for (int k = 0; k < 3; k++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            take_loose_tree(seed, exact[k]);
            worst = fmax(worst, drift_of_conserved());
        }
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst);
}

static _Alignas(64) unsigned char scene_mem[1 << 21];
static struct dyn_scene *scene;
static struct dyn_point point;

static void take_scene(const double *q, const double *v)
{
    const struct dyn_state state = {q, v};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof scene_mem, dyn_scene_size(tree.model));
    scene = dyn_scene_place(tree.model, scene_mem);
    dyn_scene_take(tree.model, &state, scene);
}

/* Where the point and two of its axes are, and its velocity. */
static void take_point(const double *q, const double *v, double *out)
{
    const struct dyn_pose pose = dyn_body_pose(tree.model, q, point.body);
    take_scene(q, v);
    const struct dyn_vec6 speed = dyn_point_velocity(tree.model, scene, &point);
    dyn_vec3_store(dyn_pose_point(&pose, dyn_vec3_load(point.at)), out);
    dyn_vec3_store(dyn_quat_rotate(pose.turn, (struct dyn_vec3){1.0, 0.0, 0.0}), out + 3);
    dyn_vec3_store(dyn_quat_rotate(pose.turn, (struct dyn_vec3){0.0, 1.0, 0.0}), out + 6);
    dyn_vec3_store(speed.ang, out + 9);
    dyn_vec3_store(speed.lin, out + 12);
}

static void assert_vec3(double within, const double *want, struct dyn_vec3 got)
{
    TEST_ASSERT_DOUBLE_WITHIN(within, want[0], got.x);
    TEST_ASSERT_DOUBLE_WITHIN(within, want[1], got.y);
    TEST_ASSERT_DOUBLE_WITHIN(within, want[2], got.z);
}

/* Poses, velocities and accelerations of any point, each the rate of the one before.  Fidelities
 * that know the deformation. */
static void test_points_move_as_their_poses_say(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        double rate[15], now[15], size = 10.0;
        flexible_random(&tree, 1 + (int)(seed % 8), (int)(seed % 2), seed);
        flexible_set(&tree, seed % 3 == 0   ? DYN_FLEX_RIGID
                            : seed % 3 == 1 ? DYN_FLEX_INCONSISTENT
                                            : DYN_FLEX_CONSISTENT);
        point = (struct dyn_point){(int)(seed / 8) % tree.body_count,
                                   {tree_noise(), tree_noise(), tree_noise()}};
        for (int k = 0; k < nv(); k++)
            tree.a[k] = tree_noise();
        rate_of(take_point, 15, rate);
        take_point(tree.q, tree.v, now);
        const struct dyn_vec6 a = dyn_point_acceleration(tree.model, scene, &point, tree.a);
        const struct dyn_vec3 w = dyn_vec3_load(now + 9);
        size += dyn_norm(a.lin) + dyn_norm(a.ang);
        for (int k = 0; k < 3; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-11 * size, rate[k], now[12 + k]);
        assert_vec3(1e-11 * size, rate + 3, dyn_cross(w, dyn_vec3_load(now + 3)));
        assert_vec3(1e-11 * size, rate + 6, dyn_cross(w, dyn_vec3_load(now + 6)));
        assert_vec3(1e-10 * size, rate + 9, a.ang);
        assert_vec3(1e-10 * size, rate + 12, a.lin);
    }
}

/* The kernel's own idea of how bodies move, in body axes. */
static void test_the_kernel_moves_bodies_as_the_scene_does(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        double e[6], J[6 * TREE_NV_MAX];
        take_tree(seed);
        take_scene(tree.q, tree.v);
        tree_forward(&tree);
        for (int i = 0; i < tree.body_count; i++) {
            if (tree.model->body_link[i] < 0)
                continue;
            const struct dyn_pose pose = dyn_body_pose(tree.model, tree.q, i);
            const struct dyn_point origin = {.body = i};
            const struct dyn_vec6 v = dyn_body_velocity(tree.model, tree.work, i);
            const struct dyn_vec6 a = dyn_body_acceleration(tree.model, tree.work, i);
            const struct dyn_vec6 want = dyn_point_acceleration(tree.model, scene, &origin, tree.a);
            const double size = 10.0 + dyn_norm(want.lin) + dyn_norm(want.ang);
            dyn_jacobian(tree.model, scene, &origin, J);
            memset(e, 0, sizeof e);
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < nv(); k++)
                    e[r] += J[r * nv() + k] * tree.v[k];
            assert_vec3(1e-11, e, dyn_quat_rotate(pose.turn, v.ang));
            assert_vec3(1e-11, e + 3, dyn_quat_rotate(pose.turn, v.lin));
            dyn_vec3_store(want.ang, e);
            dyn_vec3_store(dyn_sub(want.lin, dyn_vec3_load(tree.gravity)), e + 3);
            assert_vec3(1e-11 * size, e, dyn_quat_rotate(pose.turn, a.ang));
            assert_vec3(1e-11 * size, e + 3, dyn_quat_rotate(pose.turn, a.lin));
        }
    }
}

/* J M^-1 J' of two points, the plain way. */
static void test_points_show_the_inertia_of_the_dense_matrices(void)
{
    static _Alignas(64) unsigned char mem[1 << 23];
    static double J[12 * TREE_NV_MAX], solved[12 * TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        double inverse[12 * 12], size = 0.0;
        take_tree(seed);
        const struct dyn_state state = tree_state(&tree);
        const struct dyn_point points[2] = {
            {(int)(seed % (unsigned)tree.body_count), {0.1, -0.2, 0.3}},
            {(int)(seed / 5 % (unsigned)tree.body_count), {0.3, 0.1, -0.2}}};
        TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_operational_work_size(tree.model, 2));
        dyn_operational_inverse(tree.model, &state, points, 2,
                                dyn_operational_work_place(tree.model, 2, mem), inverse);
        take_scene(tree.q, tree.v);
        for (int k = 0; k < 2; k++)
            dyn_jacobian(tree.model, scene, &points[k], J + 6 * k * nv());
        dyn_crba(tree.model, &state, crba_work(), M);
        for (int r = 0; r < nv(); r++)
            for (int c = 0; c < 12; c++)
                solved[12 * r + c] = J[c * nv() + r];
        dense_solve_rows(nv(), M, solved, 12);
        for (int k = 0; k < 144; k++)
            size = fmax(size, fabs(inverse[k]));
        for (int r = 0; r < 12; r++)
            for (int c = 0; c < 12; c++) {
                double sum = 0.0;
                for (int k = 0; k < nv(); k++)
                    sum += J[r * nv() + k] * solved[12 * k + c];
                TEST_ASSERT_DOUBLE_WITHIN(1e-9 * size, sum, inverse[12 * r + c]);
            }
    }
}

/* ---- forces -------------------------------------------------------------------------------- */

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

/* ---- equivalents --------------------------------------------------------------------------- */

/* A flexible body on a joint, of whose stations the last few are bodies bolted to nodes. */
static void make_split(enum dyn_fidelity fidelity, int on_nodes, uint64_t seed)
{
    static struct flexible body;
    tree_begin(&tree);
    tree_noise_seed(seed);
    tree_add(&tree, -1, seed % 2 ? DYN_JOINT_FREE : DYN_JOINT_REVOLUTE, 0.6, 0.0, 0.8);
    flexible_make(&body, 1 + (int)(seed % 6), fidelity, &tree.spec[0]);
    for (int k = 0; k < FLEXIBLE_STATIONS; k++) /* points: the rotary part has no second order */
        memset(body.station[k].inertia, 0, sizeof body.station[k].inertia);
    flexible_sum(&body, FLEXIBLE_STATIONS - on_nodes, &tree.spec[0]);
    body.flex.nodes = on_nodes;
    for (int k = 0; k < on_nodes; k++) {
        const struct dyn_station *station = &body.station[FLEXIBLE_STATIONS - 1 - k];
        const int i = tree_add(&tree, 0, DYN_JOINT_FIXED, 0.0, 0.0, 0.0);
        body.node[k] =
            (struct dyn_node){.psi = station->psi, .theta = station->theta, .psi2 = station->psi2};
        memcpy(body.node[k].r, station->r, sizeof station->r);
        tree.spec[i].mass = station->mass;
        memset(tree.spec[i].inertia, 0, sizeof tree.spec[i].inertia);
        tree.spec[i].node = k + 1;
    }
    tree_build(&tree);
    tree_noise_seed(seed + 1000);
    tree_random_state(&tree);
    memset(tree.force, 0, sizeof tree.force);
    memcpy(tree.gravity, (double[]){1.0, -2.0, 9.0}, sizeof tree.gravity);
}

/* Newton, point by point: the integrals owe nothing to the way nodes are done. */
static void test_points_bolted_to_nodes_weigh_as_stations_do(void)
{
    double whole[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make_split(DYN_FLEX_INCONSISTENT, 0, seed);
        const struct dyn_input input = tree_input(&tree);
        forward(&input, whole);
        make_split(DYN_FLEX_INCONSISTENT, FLEXIBLE_NODES_MAX, seed);
        const struct dyn_input parts = tree_input(&tree);
        forward(&parts, tree.a);
        for (int k = 0; k < nv(); k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-9 * (1.0 + fabs(whole[k])), whole[k], tree.a[k]);
    }
}

/* With psi2, while nothing is bent: what the joint bears of rates of the modes is of second order
 * in them, and the truncated energy has all of it. */
static void test_points_bolted_to_nodes_draw_in_as_stations_do(void)
{
    double whole[TREE_NV_MAX], parts[TREE_NV_MAX], a[TREE_NV_MAX] = {0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        int joint = 0;
        for (int k = 0; k < 2; k++) {
            make_split(DYN_FLEX_CONSISTENT, k * FLEXIBLE_NODES_MAX, seed);
            const struct dyn_state state = tree_state(&tree);
            const struct dyn_input input = tree_input(&tree);
            memset(tree.q + dyn_model_eta_index(tree.model, 0), 0,
                   (size_t)dyn_model_modes(tree.model, 0) * sizeof *tree.q);
            joint = dyn_joint_nv(&tree.spec[0]);
            for (int j = 0; j < nv(); j++)
                a[j] = sin(1.0 + j);
            dyn_rnea(tree.model, &state, a, &input, tree.work, k == 0 ? whole : parts);
        }
        for (int k = 0; k < joint; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-10, whole[k], parts[k]);
    }
}

/* Ever stiffer springs that nothing has bent leave a rigid body, with an error as their inverse. */
static void test_stiff_bodies_move_as_rigid_ones(void)
{
    double rigid[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        double error[2] = {0.0, 0.0}, size = 1.0;
        for (int pass = 0; pass < 3; pass++) {
            flexible_random(&tree, 1 + (int)(seed % 6), (int)(seed % 2), seed);
            static const enum dyn_fidelity bends[] = {DYN_FLEX_RUTHLESS, DYN_FLEX_CONSISTENT,
                                                      DYN_FLEX_INCONSISTENT};
            flexible_set(&tree, pass == 0 ? DYN_FLEX_RIGID : bends[seed % 3]);
            tree_noise_seed(seed);
            for (int i = 0; i < tree.body_count; i++) { /* the same by joint, whatever bends */
                const int q = dyn_model_q_index(tree.model, i),
                          v = dyn_model_v_index(tree.model, i);
                dyn_joint_zero(&tree.spec[i], tree.q + q);
                for (int k = 0; k < dyn_joint_nv(&tree.spec[i]); k++)
                    tree.v[v + k] = tree_noise(), tree.tau[v + k] = tree_noise();
                for (int p = 0; p < dyn_model_modes(tree.model, i); p++) {
                    const struct dyn_modal_link *modal =
                        &tree.model->modal[tree.model->link[tree.model->body_link[i]].modal];
                    for (int c = 0; c < modal->modes; c++)
                        modal->K[c * modal->lanes + p] = c == p ? 1.0 : 0.0;
                    tree.q[modal->q_at + p] = tree.v[modal->v_at + p] = 0.0;
                    tree.tau[modal->v_at + p] = 0.0;
                }
            }
            memset(tree.force, 0, sizeof tree.force);
            memset(tree.gravity, 0, sizeof tree.gravity);
            /* at rest on springs of a lead so long that no mass of a mode counts */
            struct dyn_input input = tree_input(&tree);
            input.modal_lead = pass == 0 ? 0.0 : pass == 1 ? 1e3 : 1e4;
            forward(&input, tree.a);
            for (int i = 0; i < tree.body_count; i++) {
                const int n = dyn_joint_nv(&tree.spec[i]), v = dyn_model_v_index(tree.model, i);
                for (int k = 0; k < n; k++) {
                    double *truth = &rigid[6 * i + k];
                    if (pass == 0)
                        *truth = tree.a[v + k], size = fmax(size, fabs(*truth));
                    else
                        error[pass - 1] = fmax(error[pass - 1], fabs(tree.a[v + k] - *truth));
                }
            }
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-2 * size, 0.0, error[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-4 * size, 0.0, error[1]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_inverse_dynamics_returns_the_forces_of_both);
    RUN_TEST(test_every_instruction_set_answers_alike);
    RUN_TEST(test_the_mass_matrix_is_what_accelerations_cost);
    RUN_TEST(test_a_lead_of_the_modes_is_the_same_in_all_three);
    RUN_TEST(test_momenta_and_energy_change_by_outer_forces_alone);
    RUN_TEST(test_points_move_as_their_poses_say);
    RUN_TEST(test_the_kernel_moves_bodies_as_the_scene_does);
    RUN_TEST(test_points_show_the_inertia_of_the_dense_matrices);
    RUN_TEST(test_held_joints_stand_beside_modes);
    RUN_TEST(test_points_bolted_to_nodes_weigh_as_stations_do);
    RUN_TEST(test_points_bolted_to_nodes_draw_in_as_stations_do);
    RUN_TEST(test_stiff_bodies_move_as_rigid_ones);
    return UNITY_END();
}
