/*
 * Flexible trees and physics: what momenta, energy and points do, computed by code that is not the
 * kernel's.
 */
#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/monitor.h"
#include "dynamics/analysis/operational.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/analysis/tree_pose.h"
#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flex/flexible.h"
#include "unity.h"

static struct tree tree;

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

/* One of many trees: bases that fly and that stand, one to twelve bodies. */
static void take_tree(uint64_t seed)
{
    flexible_random(&tree, 1 + (int)(seed % 12), (int)(seed / 12 % 2), seed);
}

/* ---- motion -------------------------------------------------------------------------------- */

/* A vehicle that touches nothing, and whose joints have no law. */
static void take_loose_tree(uint64_t seed, enum dyn_fidelity fidelity)
{
    flexible_random(&tree, 1 + (int)(seed % 8), 1, seed);
    for (int i = 0; i < tree.body_count; i++) {
        memset(tree.spec[i].force_spec, 0, sizeof tree.spec[i].force_spec);
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
    dyn_monitor_compute(&plant, x, dyn_monitor_work_place(&plant, mem), &out);
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
    tree_forward(&tree);
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

/* The force that a `ruthless` body's mass takes, as it says its points accelerate: world axes. */
static struct dyn_vec3 taken_force(int body)
{
    const struct dyn_body_spec *spec = &tree.spec[body];
    const struct flexible *flexible = flexible_of(&tree, body);
    const struct dyn_vec6 a = dyn_body_acceleration(tree.model, tree.work, body);
    const struct dyn_vec3 w = dyn_body_velocity(tree.model, tree.work, body).ang;
    const struct dyn_vec3 mc = dyn_scale(spec->mass, dyn_vec3_load(spec->center));
    const struct dyn_pose pose = dyn_body_pose(tree.model, tree.q, body);
    struct dyn_vec3 f = dyn_scale(spec->mass, a.lin);

    f = dyn_add(f, dyn_add(dyn_cross(a.ang, mc), dyn_cross(w, dyn_cross(w, mc))));
    for (int p = 0; flexible != NULL && p < flexible->flex.modes; p++)
        f = dyn_add(f, dyn_scale(tree.a[dyn_model_xi_index(tree.model, body) + p],
                                 dyn_vec3_load(flexible->P + 3 * p)));
    return dyn_quat_rotate(pose.turn, f);
}

/* Its equations are no derivatives of a momentum; but no force is lost on the way. */
static void test_ruthless_vehicles_keep_their_linear_momentum(void)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct dyn_vec3 sum = {0.0, 0.0, 0.0};
        double size = 0.0;
        take_loose_tree(seed, DYN_FLEX_RUTHLESS);
        tree_forward(&tree);
        for (int i = 0; i < tree.body_count; i++) {
            const struct dyn_vec3 f = taken_force(i);
            sum = dyn_add(sum, f);
            const struct dyn_vec6 a = dyn_body_acceleration(tree.model, tree.work, i);
            size += dyn_norm(f) + tree.spec[i].mass * dyn_norm(a.lin);
        }
        worst = fmax(worst, dyn_norm(sum) / size);
    }
    TEST_ASSERT_TRUE(worst < 1e-12);
}

static _Alignas(64) unsigned char scene_mem[1 << 21];
static struct dyn_tree_pose *tree_pose;
static struct dyn_point point;

static void take_scene(const double *q, const double *v)
{
    const struct dyn_state state = {q, v};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof scene_mem, dyn_tree_pose_size(tree.model));
    tree_pose = dyn_tree_pose_place(tree.model, scene_mem);
    dyn_tree_pose_update(tree.model, &state, tree_pose);
}

/* Where the point and two of its axes are, and its velocity. */
static void take_point(const double *q, const double *v, double *out)
{
    const struct dyn_pose pose = dyn_body_pose(tree.model, q, point.body);
    take_scene(q, v);
    const struct dyn_vec6 speed = dyn_point_velocity(tree.model, tree_pose, &point);
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
        const struct dyn_vec6 a = dyn_point_acceleration(tree.model, tree_pose, &point, tree.a);
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
            const struct dyn_vec6 want =
                dyn_point_acceleration(tree.model, tree_pose, &origin, tree.a);
            const double size = 10.0 + dyn_norm(want.lin) + dyn_norm(want.ang);
            dyn_jacobian(tree.model, tree_pose, &origin, J);
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
    static _Alignas(64) unsigned char mem[1 << 23], crba_mem[1 << 23];
    static double M[TREE_NV_MAX * TREE_NV_MAX];
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
            dyn_jacobian(tree.model, tree_pose, &points[k], J + 6 * k * nv());
        TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof crba_mem, dyn_crba_work_size(tree.model));
        dyn_crba(tree.model, &state, dyn_crba_work_place(tree.model, crba_mem), M);
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
        tree_forward(&tree);
        memcpy(whole, tree.a, sizeof whole);
        make_split(DYN_FLEX_INCONSISTENT, FLEXIBLE_NODES_MAX, seed);
        tree_forward(&tree);
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_momenta_and_energy_change_by_outer_forces_alone);
    RUN_TEST(test_ruthless_vehicles_keep_their_linear_momentum);
    RUN_TEST(test_points_move_as_their_poses_say);
    RUN_TEST(test_the_kernel_moves_bodies_as_the_scene_does);
    RUN_TEST(test_points_show_the_inertia_of_the_dense_matrices);
    RUN_TEST(test_points_bolted_to_nodes_weigh_as_stations_do);
    RUN_TEST(test_points_bolted_to_nodes_draw_in_as_stations_do);
    return UNITY_END();
}
