/*
 * Forward dynamics against closed forms that share no code with it, against the inverse dynamics,
 * and against a dense mass matrix.
 */
#include "dynamics/kernel/aba.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

static struct tree tree;

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static void set_inertia(int body, double mass, double cx, double cy, double cz, double I)
{
    struct dyn_body_spec *spec = &tree.spec[body];
    spec->mass = mass;
    memcpy(spec->center, (double[]){cx, cy, cz}, sizeof spec->center);
    memcpy(spec->inertia, (double[]){I, I, I, 0.0, 0.0, 0.0}, sizeof spec->inertia);
}

/* The place of body 0 turned at will, and gravity turned with it. */
static void turn_world(const double quat[4], const double gravity[3])
{
    const struct dyn_quat turn = dyn_quat_unit(dyn_quat_load(quat));
    dyn_quat_store(turn, tree.spec[0].place_quat);
    dyn_vec3_store(dyn_quat_rotate(turn, dyn_vec3_load(gravity)), tree.gravity);
}

/*
 * Lagrange, with absolute angles s, t from the vertical, mass centres at c1, c2:
 *   (I1 + m1 c1^2 + m2 l^2) s'' + m2 l c2 cos(s-t) t'' = -m2 l c2 sin(s-t) t'^2 - (m1 c1 + m2 l) g
 * sin s m2 l c2 cos(s-t) s'' + (I2 + m2 c2^2) t''         =  m2 l c2 sin(s-t) s'^2 - m2 c2 g sin t
 */
static void test_a_double_pendulum_matches_lagrange(void)
{
    const double m1 = 1.3, m2 = 0.7, c1 = 0.4, c2 = 0.6, l = 1.1, I1 = 0.05, I2 = 0.08, g = 9.81;
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    set_inertia(0, m1, c1, 0, 0, I1);
    set_inertia(1, m2, c2, 0, 0, I2);
    tree.spec[1].place_xyz[0] = l;
    turn_world((double[]){0.3, -0.5, 0.7, 0.1}, (double[]){g, 0.0, 0.0});
    tree_build(&tree);

    for (int k = 0; k < 200; k++) {
        const double s = 0.31 * k, t = 2.0 * sin(0.17 * k), sd = 3.0 * cos(0.7 * k),
                     td = 1.0 - s / 30;
        const double a = I1 + m1 * c1 * c1 + m2 * l * l, d = I2 + m2 * c2 * c2;
        const double b = m2 * l * c2 * cos(s - t), e = m2 * l * c2 * sin(s - t);
        const double f1 = -e * td * td - (m1 * c1 + m2 * l) * g * sin(s);
        const double f2 = e * sd * sd - m2 * c2 * g * sin(t);
        const double sdd = (d * f1 - b * f2) / (a * d - b * b);
        const double tdd = (a * f2 - b * f1) / (a * d - b * b);

        tree.q[0] = s, tree.q[1] = t - s, tree.v[0] = sd, tree.v[1] = td - sd;
        tree_forward(&tree);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, sdd, tree.a[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, tdd - sdd, tree.a[1]);
    }
}

/* r'' = r w^2 and (J + m r^2) w' = -2 m r r' w */
static void test_a_bead_on_a_rod_feels_centrifugal_and_coriolis(void)
{
    const double J = 0.3, m = 0.8;
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&tree, 0, DYN_JOINT_PRISMATIC, 1, 0, 0);
    set_inertia(0, 2.0, 0, 0, 0, J);
    set_inertia(1, m, 0, 0, 0, 0.0);
    tree_build(&tree);
    for (int k = 1; k < 100; k++) {
        const double r = 0.02 * k, rd = sin(0.7 * k), w = 3.0 * cos(0.2 * k);
        tree.q[0] = 0.5 * k, tree.q[1] = r, tree.v[0] = w, tree.v[1] = rd;
        tree_forward(&tree);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, -2 * m * r * rd * w / (J + m * r * r), tree.a[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, r * w * w, tree.a[1]);
    }
}

/* A slide in a tilted place: x'' = g . direction - k/m (x - rest) - d/m x' + tau/m */
static void test_a_tilted_slide_obeys_its_spring_and_gravity(void)
{
    const double half = 0.3; /* turn about z, half angle */
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 0, 1, 0);
    set_inertia(0, 4.0, 0.1, 0.2, 0.3, 0.5);
    tree.spec[0].force_spec[0].stiffness = 50.0, tree.spec[0].force_spec[0].damping = 3.0,
    tree.spec[0].force_spec[0].rest = 0.2;
    memcpy(tree.spec[0].place_quat, (double[]){cos(half), 0, 0, sin(half)}, 4 * sizeof(double));
    tree_build(&tree);
    tree.gravity[0] = 2.0, tree.gravity[1] = -9.0;
    tree.q[0] = 0.7, tree.v[0] = -0.4, tree.tau[0] = 1.5;
    tree_forward(&tree);
    const double fall = -2.0 * sin(2 * half) - 9.0 * cos(2 * half);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, fall + (-50.0 * 0.5 + 3.0 * 0.4 + 1.5) / 4.0, tree.a[0]);
}

/* I q'' = tau - k (q - rest) - d q', the axis anywhere, the mass centre off the axis */
static void test_a_spring_hinge_turns_its_axial_inertia(void)
{
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.6, 0.0, 0.8);
    set_inertia(0, 2.0, 0.0, 0.5, 0.0, 0.0);
    memcpy(tree.spec[0].inertia, (double[]){0.3, 0.4, 0.5, 0.01, 0.02, -0.03}, 6 * sizeof(double));
    tree.spec[0].force_spec[0].stiffness = 7.0, tree.spec[0].force_spec[0].damping = 0.9,
    tree.spec[0].force_spec[0].rest = -0.4;
    tree_build(&tree);
    tree.q[0] = 1.1, tree.v[0] = 0.7, tree.tau[0] = -2.0;
    tree_forward(&tree);
    const double I = 0.36 * 0.3 + 0.64 * 0.5 + 2 * 0.48 * 0.02 + 2.0 * 0.25;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, (-2.0 - 7.0 * 1.5 - 0.9 * 0.7) / I, tree.a[0]);
}

/*
 * Newton and Euler about the mass centre.  With c the centre and everything in body axes
 *      m a_c = f + m g,   Ic w' = n - c x f - w x Ic w,   a_c = dv/dt + w x v + w' x c + w x (w x
 * c)
 */
static void test_a_free_body_under_a_force_at_a_point_obeys_newton_and_euler(void)
{
    const double m = 3.0, Ix = 0.5, Iy = 0.7, Iz = 0.9;
    const struct dyn_vec3 c = {0.2, -0.1, 0.4};
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    set_inertia(0, m, c.x, c.y, c.z, 0.0);
    memcpy(tree.spec[0].inertia, (double[]){Ix, Iy, Iz, 0, 0, 0}, 6 * sizeof(double));
    tree_build(&tree);
    tree_noise_seed(5);

    for (int k = 0; k < 100; k++) {
        struct dyn_quat turn = {tree_noise(), tree_noise(), tree_noise(), 1.0};
        turn = dyn_quat_unit(turn);
        const struct dyn_vec3 w = {tree_noise(), tree_noise(), tree_noise()};
        const struct dyn_vec3 v = {tree_noise(), tree_noise(), tree_noise()};
        const struct dyn_vec3 n = {tree_noise(), tree_noise(), tree_noise()};
        const struct dyn_vec3 f = {tree_noise(), tree_noise(), tree_noise()};
        const struct dyn_vec3 g_world = {1.0, -2.0, -9.0};
        const struct dyn_vec3 g = dyn_quat_rotate(dyn_quat_conjugate(turn), g_world);
        const struct dyn_vec3 Iw = {Ix * w.x, Iy * w.y, Iz * w.z};
        const struct dyn_vec3 N = dyn_sub(dyn_sub(n, dyn_cross(c, f)), dyn_cross(w, Iw));
        const struct dyn_vec3 wd = {N.x / Ix, N.y / Iy, N.z / Iz};
        const struct dyn_vec3 ac = dyn_add(dyn_scale(1.0 / m, f), g);
        const struct dyn_vec3 bend = dyn_add(dyn_cross(wd, c), dyn_cross(w, dyn_cross(w, c)));
        const struct dyn_vec3 vd = dyn_sub(dyn_sub(ac, bend), dyn_cross(w, v));

        dyn_vec3_store(g_world, tree.gravity);
        dyn_quat_store(turn, tree.q + 3);
        dyn_vec3_store(w, tree.v);
        dyn_vec3_store(v, tree.v + 3);
        tree.force[0] = (struct dyn_vec6){n, f};
        tree_forward(&tree);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, wd.x, tree.a[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, wd.y, tree.a[1]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, wd.z, tree.a[2]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, vd.x, tree.a[3]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, vd.y, tree.a[4]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, vd.z, tree.a[5]);
    }
}

/* Numbers typed with seven digits must not make a hinge stretch what it turns. */
static void test_a_nearly_unit_axis_and_attitude_are_normalized(void)
{
    double exact = 0.0;
    for (int k = 0; k < 2; k++) {
        const double typed = k == 0 ? 1.0 : 1.0 + 3e-7;
        tree_begin(&tree);
        tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.6 * typed, 0.8 * typed, 0.0);
        set_inertia(0, 2.0, 0.3, 0.1, 0.5, 0.2);
        memcpy(tree.spec[0].place_quat, (double[]){0.6 * typed, 0, 0, 0.8 * typed}, 32);
        tree_build(&tree);
        tree.gravity[1] = 9.0, tree.tau[0] = 1.0, tree.q[0] = 0.4;
        tree_forward(&tree);
        exact = k == 0 ? tree.a[0] : exact;
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, exact, tree.a[0]);
}

/* Two bodies bolted together are one body with the mass of both. */
static void test_bodies_bolted_together_move_as_one(void)
{
    double apart[6];
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_add(&tree, 0, DYN_JOINT_FIXED, 0, 0, 0);
    set_inertia(0, 2.0, 0, 0, 0, 0.5);
    set_inertia(1, 2.0, 0, 0, 0, 0.5);
    tree.spec[1].place_xyz[0] = 1.0;
    memcpy(tree.spec[1].place_quat, (double[]){0.6, 0.0, 0.8, 0.0}, 4 * sizeof(double));
    tree_build(&tree);
    memcpy(tree.v, (double[]){0.1, -0.7, 0.4, 1, 2, 3}, sizeof apart);
    memcpy(tree.tau, (double[]){1, 2, 3, -4, 5, -6}, sizeof apart);
    tree_forward(&tree);
    memcpy(apart, tree.a, sizeof apart);

    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    set_inertia(0, 4.0, 0.5, 0, 0, 0.0);
    memcpy(tree.spec[0].inertia, (double[]){1, 2, 2, 0, 0, 0}, 6 * sizeof(double));
    tree_build(&tree);
    memcpy(tree.v, (double[]){0.1, -0.7, 0.4, 1, 2, 3}, sizeof apart);
    memcpy(tree.tau, (double[]){1, 2, 3, -4, 5, -6}, sizeof apart);
    tree_forward(&tree);
    for (int k = 0; k < 6; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, tree.a[k], apart[k]);
}

/* Size of the forces inside the tree: what a residual must be measured against. */
static double force_scale(void)
{
    double scale = 0.0;
    for (int i = 0; i < tree.model->link_count; i++) {
        scale = fmax(scale, dyn_norm(tree.work->f[i].ang));
        scale = fmax(scale, dyn_norm(tree.work->f[i].lin));
    }
    for (int k = 0; k < dyn_model_nv(tree.model); k++)
        scale = fmax(scale, fabs(tree.tau[k]));
    return scale;
}

static void test_inverse_dynamics_returns_the_forces(void)
{
    double tau[TREE_NV_MAX], worst = 0.0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        tree_random(&tree, 1 + (int)(seed % 40), (int)(seed / 40 % 2), seed);
        const struct dyn_state state = tree_state(&tree);
        const struct dyn_input input = tree_input(&tree);
        tree_forward(&tree);
        tree_poison(&tree);
        dyn_rnea(tree.model, &state, tree.a, &input, tree.work, tau);
        const double scale = force_scale();
        for (int k = 0; k < dyn_model_nv(tree.model); k++) {
            TEST_ASSERT_TRUE(isfinite(tau[k]));
            worst = fmax(worst, fabs(tau[k] - tree.tau[k]) / scale);
        }
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
}

/* Columns of the mass matrix and the bias, all by inverse dynamics: tau = M a + b. */
static void dense_forward(double *a)
{
    static double M[TREE_NV_MAX][TREE_NV_MAX];
    const struct dyn_state state = tree_state(&tree);
    const struct dyn_input input = tree_input(&tree);
    const int nv = dyn_model_nv(tree.model);
    double unit[TREE_NV_MAX] = {0}, b[TREE_NV_MAX], column[TREE_NV_MAX];

    dyn_rnea(tree.model, &state, unit, &input, tree.work, b);
    for (int c = 0; c < nv; c++) {
        unit[c] = 1.0;
        dyn_rnea(tree.model, &state, unit, &input, tree.work, column);
        unit[c] = 0.0;
        for (int r = 0; r < nv; r++)
            M[r][c] = column[r] - b[r];
    }
    for (int r = 0; r < nv; r++) {
        a[r] = tree.tau[r] - b[r];
        for (int c = 0; c < r; c++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, M[c][r], M[r][c]);
    }
    dense_solve(nv, M, a, 1);
}

static void test_the_dense_mass_matrix_gives_the_same_accelerations(void)
{
    double dense[TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        double scale = 1.0;
        tree_random(&tree, 1 + (int)(seed % 12), (int)(seed % 2), 77 * seed);
        tree_forward(&tree);
        dense_forward(dense);
        for (int k = 0; k < dyn_model_nv(tree.model); k++)
            scale = fmax(scale, fabs(tree.a[k]));
        for (int k = 0; k < dyn_model_nv(tree.model); k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-9 * scale, dense[k], tree.a[k]);
    }
}

/* Several free bodies fly each for itself. */
static void test_two_free_bodies_do_not_feel_each_other(void)
{
    double alone[6];
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_build(&tree);
    memcpy(tree.v, (double[]){0.1, -0.7, 0.4, 1, 2, 3}, sizeof alone);
    tree.force[0].ang.x = 0.3;
    tree_forward(&tree);
    memcpy(alone, tree.a, sizeof alone);

    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_build(&tree);
    memcpy(tree.v + 6, (double[]){0.1, -0.7, 0.4, 1, 2, 3}, sizeof alone);
    tree.force[1].ang.x = 0.3;
    tree_forward(&tree);
    TEST_ASSERT_EQUAL_MEMORY(alone, tree.a + 6, sizeof alone);
}

/* No force depends on linear velocity, so not even rounding may. */
static void test_joints_do_not_feel_the_orbital_speed(void)
{
    double slow[TREE_NV_MAX];
    tree_random(&tree, 20, 1, 3);
    tree_unlaw_base(&tree);
    memset(tree.v + 3, 0, 3 * sizeof tree.v[0]);
    tree_forward(&tree);
    memcpy(slow, tree.a, sizeof slow);
    tree.v[3] = 7600.0, tree.v[4] = -300.0, tree.v[5] = 11.0;
    tree_forward(&tree);
    TEST_ASSERT_EQUAL_MEMORY(slow, tree.a, 3 * sizeof slow[0]);
    TEST_ASSERT_EQUAL_MEMORY(slow + 6, tree.a + 6,
                             (size_t)(dyn_model_nv(tree.model) - 6) * sizeof slow[0]);
}

static void test_absent_forces_are_zero_forces(void)
{
    double with[TREE_NV_MAX];
    tree_random(&tree, 20, 1, 11);
    memset(tree.tau, 0, sizeof tree.tau);
    memset(tree.force, 0, sizeof tree.force);
    tree_forward(&tree);
    memcpy(with, tree.a, sizeof with);

    const struct dyn_state state = tree_state(&tree);
    struct dyn_input input = tree_input(&tree);
    struct dyn_output output = {.a = tree.a};
    input.tau = NULL, input.load_count = 0;
    dyn_aba(tree.model, &state, &input, tree.work, &output);
    for (int k = 0; k < dyn_model_nv(tree.model); k++)
        TEST_ASSERT_TRUE(with[k] == tree.a[k]);
}

static void test_work_carries_nothing_between_calls(void)
{
    double first[TREE_NV_MAX];
    tree_random(&tree, 40, 1, 7);
    tree_forward(&tree);
    memcpy(first, tree.a, sizeof first);
    tree_forward(&tree);
    TEST_ASSERT_EQUAL_MEMORY(first, tree.a, (size_t)dyn_model_nv(tree.model) * sizeof first[0]);
}

static void test_a_runaway_state_gives_no_plausible_answer(void)
{
    tree_random(&tree, 5, 1, 9);
    tree.q[3] = (double)NAN;
    tree_forward(&tree);
    TEST_ASSERT_FALSE(isfinite(tree.a[0]));
}

/* No valid model has such a pivot; a negative mass that passes no check makes one. */
static void test_a_pivot_that_is_not_positive_gives_no_plausible_answer(void)
{
    static const enum dyn_joint_type joints[] = {DYN_JOINT_PRISMATIC, DYN_JOINT_FREE};
    for (int k = 0; k < 2; k++) {
        tree_begin(&tree);
        tree_add(&tree, -1, joints[k], 1, 0, 0);
        tree_build(&tree);
        tree.spec[0].mass = -1.0;
        tree.model = dyn_model_place(tree.spec, 1, tree.model_mem);
        tree.tau[0] = 1.0;
        tree_forward(&tree);
        TEST_ASSERT_FALSE(isfinite(tree.a[dyn_model_nv(tree.model) - 1]));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_double_pendulum_matches_lagrange);
    RUN_TEST(test_a_bead_on_a_rod_feels_centrifugal_and_coriolis);
    RUN_TEST(test_a_tilted_slide_obeys_its_spring_and_gravity);
    RUN_TEST(test_a_spring_hinge_turns_its_axial_inertia);
    RUN_TEST(test_a_free_body_under_a_force_at_a_point_obeys_newton_and_euler);
    RUN_TEST(test_a_nearly_unit_axis_and_attitude_are_normalized);
    RUN_TEST(test_bodies_bolted_together_move_as_one);
    RUN_TEST(test_inverse_dynamics_returns_the_forces);
    RUN_TEST(test_the_dense_mass_matrix_gives_the_same_accelerations);
    RUN_TEST(test_two_free_bodies_do_not_feel_each_other);
    RUN_TEST(test_joints_do_not_feel_the_orbital_speed);
    RUN_TEST(test_absent_forces_are_zero_forces);
    RUN_TEST(test_work_carries_nothing_between_calls);
    RUN_TEST(test_a_runaway_state_gives_no_plausible_answer);
    RUN_TEST(test_a_pivot_that_is_not_positive_gives_no_plausible_answer);
    return UNITY_END();
}
