/*
 * Spatial algebra against point masses, power and plain six-by-six matrices.
 */
#include "dynamics/math/spatial.h"

#include <string.h>

#include "tests/dynamics/tree.h"
#include "unity.h"

static const struct dyn_vec3 X_AXIS = {1, 0, 0}, Y_AXIS = {0, 1, 0}, Z_AXIS = {0, 0, 1};

void setUp(void)
{
    tree_noise_seed(1);
}

void tearDown(void)
{
}

static struct dyn_vec3 noise3(void)
{
    return (struct dyn_vec3){tree_noise(), tree_noise(), tree_noise()};
}

static struct dyn_vec6 noise6(void)
{
    return (struct dyn_vec6){noise3(), noise3()};
}

static struct dyn_quat noise_quat(void)
{
    return dyn_quat_unit((struct dyn_quat){tree_noise(), tree_noise(), tree_noise(), 1.0});
}

static struct dyn_transform noise_transform(void)
{
    return (struct dyn_transform){dyn_quat_to_child(noise_quat()), noise3()};
}

static void assert_vec3(double within, struct dyn_vec3 want, struct dyn_vec3 got)
{
    TEST_ASSERT_DOUBLE_WITHIN(within, want.x, got.x);
    TEST_ASSERT_DOUBLE_WITHIN(within, want.y, got.y);
    TEST_ASSERT_DOUBLE_WITHIN(within, want.z, got.z);
}

static void test_a_quarter_turn_about_z_takes_x_to_y(void)
{
    const struct dyn_quat q = dyn_quat_exp(dyn_scale(0.5 * 3.14159265358979323846, Z_AXIS));
    assert_vec3(1e-15, Y_AXIS, dyn_quat_rotate(q, X_AXIS));
    const struct dyn_mat3 E = dyn_quat_to_child(q);
    assert_vec3(1e-15, Y_AXIS, dyn_mul_t(&E, X_AXIS));
    assert_vec3(1e-15, X_AXIS, dyn_mul(&E, Y_AXIS));
}

static void test_quaternion_and_matrix_are_the_same_rotation(void)
{
    for (int k = 0; k < 100; k++) {
        const struct dyn_quat q = noise_quat();
        const struct dyn_vec3 a = noise3();
        const struct dyn_quat longer = {3 * q.w, 3 * q.x, 3 * q.y, 3 * q.z};
        const struct dyn_mat3 E = dyn_quat_to_child(longer);
        assert_vec3(4e-15, dyn_mul_t(&E, a), dyn_quat_rotate(q, a));
        assert_vec3(4e-15, a, dyn_quat_rotate(dyn_quat_conjugate(q), dyn_quat_rotate(q, a)));
    }
}

static void test_a_product_of_quaternions_turns_by_the_right_one_first(void)
{
    for (int k = 0; k < 100; k++) {
        const struct dyn_quat p = noise_quat(), q = noise_quat();
        const struct dyn_vec3 a = noise3();
        const struct dyn_vec3 want = dyn_quat_rotate(p, dyn_quat_rotate(q, a));
        assert_vec3(2e-15, want, dyn_quat_rotate(dyn_quat_mul(p, q), a));
    }
}

/* Half angles, in the series' range and out of it. */
static void test_the_exponential_has_half_the_angle(void)
{
    for (double angle = 1e-9; angle < 6.0; angle *= 1.7) {
        const struct dyn_quat q = dyn_quat_exp(dyn_scale(angle, X_AXIS));
        TEST_ASSERT_DOUBLE_WITHIN(1e-16, cos(0.5 * angle), q.w);
        TEST_ASSERT_DOUBLE_WITHIN(3e-16 * angle, sin(0.5 * angle), q.x);
    }
    TEST_ASSERT_EQUAL_DOUBLE(1.0, dyn_quat_exp((struct dyn_vec3){0}).w);
}

/* d/dt of a body vector seen from the world is w x it. */
static void test_the_rate_of_a_quaternion_turns_with_the_body_rate(void)
{
    const double h = 1e-6;
    for (int k = 0; k < 20; k++) {
        const struct dyn_quat q = noise_quat();
        const struct dyn_vec3 w = noise3(), a = noise3();
        const struct dyn_quat d = dyn_quat_rate(q, w);
        const struct dyn_quat p = {q.w + h * d.w, q.x + h * d.x, q.y + h * d.y, q.z + h * d.z};
        const struct dyn_quat m = {q.w - h * d.w, q.x - h * d.x, q.y - h * d.y, q.z - h * d.z};
        const struct dyn_vec3 there = dyn_quat_rotate(dyn_quat_unit(p), a);
        const struct dyn_vec3 back = dyn_quat_rotate(dyn_quat_unit(m), a);
        const struct dyn_vec3 want = dyn_quat_rotate(q, dyn_cross(w, a));
        assert_vec3(1e-9, want, dyn_scale(0.5 / h, dyn_sub(there, back)));
    }
}

static void test_poses_compose(void)
{
    const struct dyn_pose outer = {noise_quat(), noise3()}, inner = {noise_quat(), noise3()};
    const struct dyn_vec3 a = noise3();
    const struct dyn_pose both = dyn_pose_mul(&outer, &inner);
    assert_vec3(4e-15, dyn_pose_point(&outer, dyn_pose_point(&inner, a)), dyn_pose_point(&both, a));
}

static double power(const struct dyn_vec6 *m, const struct dyn_vec6 *f)
{
    return dyn_dot(m->ang, f->ang) + dyn_dot(m->lin, f->lin);
}

static void test_power_is_the_same_in_parent_and_child(void)
{
    for (int k = 0; k < 100; k++) {
        const struct dyn_transform X = noise_transform();
        const struct dyn_vec6 m = noise6(), f = noise6();
        const struct dyn_vec6 m_child = dyn_motion_to_child(&X, &m);
        const struct dyn_vec6 f_parent = dyn_force_to_parent(&X, &f);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, power(&m, &f_parent), power(&m_child, &f));
    }
}

/* A point of a turning body moves with v + w x r. */
static void test_a_child_origin_moves_with_its_parent(void)
{
    const struct dyn_transform X = {dyn_quat_to_child((struct dyn_quat){1, 0, 0, 0}), {2, 0, 0}};
    const struct dyn_vec6 m = {{0, 0, 3}, {1, 0, 0}};
    const struct dyn_vec6 child = dyn_motion_to_child(&X, &m);
    assert_vec3(0.0, (struct dyn_vec3){1, 6, 0}, child.lin);
    assert_vec3(0.0, (struct dyn_vec3){0, 0, 3}, child.ang);
}

/* Momentum of point masses: sums of r x m v and m v. */
static void test_inertia_is_that_of_its_point_masses(void)
{
    enum { POINTS = 5 };
    double m[POINTS], mass = 0.0;
    struct dyn_vec3 p[POINTS], mc = {0};
    for (int k = 0; k < POINTS; k++) {
        m[k] = 1.5 + tree_noise();
        p[k] = noise3();
        mass += m[k];
        mc = dyn_add(mc, dyn_scale(m[k], p[k]));
    }
    const struct dyn_vec3 c = dyn_scale(1.0 / mass, mc);
    struct dyn_sym3 Ic = {0};
    for (int k = 0; k < POINTS; k++) {
        const struct dyn_vec3 r = dyn_sub(p[k], c);
        Ic = dyn_sym3_add_square(&Ic, -m[k], r);
        Ic.xx += m[k] * dyn_dot(r, r), Ic.yy += m[k] * dyn_dot(r, r), Ic.zz += m[k] * dyn_dot(r, r);
    }
    const struct dyn_inertia J = dyn_inertia_make(mass, c, &Ic);
    const struct dyn_vec6 v = noise6();
    struct dyn_vec6 want = {0};
    for (int k = 0; k < POINTS; k++) {
        const struct dyn_vec3 mv = dyn_scale(m[k], dyn_add(v.lin, dyn_cross(v.ang, p[k])));
        want.lin = dyn_add(want.lin, mv);
        want.ang = dyn_add(want.ang, dyn_cross(p[k], mv));
    }
    const struct dyn_vec6 got = dyn_inertia_mul(&J, &v);
    const struct dyn_articulated A = dyn_articulated_make(&J);
    const struct dyn_vec6 same = dyn_articulated_mul(&A, &v);
    assert_vec3(1e-13, want.ang, got.ang);
    assert_vec3(1e-13, want.lin, got.lin);
    assert_vec3(1e-13, want.ang, same.ang);
    assert_vec3(1e-13, want.lin, same.lin);
}

static struct dyn_articulated noise_articulated(void)
{
    struct dyn_articulated A = {0};
    for (int k = 0; k < 8; k++) {
        const struct dyn_vec6 U = noise6();
        A = dyn_articulated_add_square(&A, 1.0, &U);
    }
    return A;
}

/* X' A X m, one factor after the other. */
static void test_an_articulated_inertia_moves_to_the_parent(void)
{
    for (int k = 0; k < 100; k++) {
        const struct dyn_transform X = noise_transform();
        const struct dyn_articulated A = noise_articulated();
        const struct dyn_vec6 m = noise6();
        const struct dyn_vec6 m_child = dyn_motion_to_child(&X, &m);
        const struct dyn_vec6 f_child = dyn_articulated_mul(&A, &m_child);
        const struct dyn_vec6 want = dyn_force_to_parent(&X, &f_child);
        const struct dyn_articulated P = dyn_articulated_to_parent(&X, &A);
        const struct dyn_vec6 got = dyn_articulated_mul(&P, &m);
        assert_vec3(1e-13, want.ang, got.ang);
        assert_vec3(1e-13, want.lin, got.lin);
    }
}

/* Turned and then shifted it is what the articulated form of the same body becomes. */
static void test_a_rigid_inertia_moves_to_the_parent(void)
{
    for (int k = 0; k < 50; k++) {
        const struct dyn_transform X = noise_transform();
        const struct dyn_sym3 Ic = {2.0, 2.5, 3.0, tree_noise(), tree_noise(), tree_noise()};
        const struct dyn_inertia J = dyn_inertia_make(1.5 + tree_noise(), noise3(), &Ic);
        const struct dyn_inertia K = dyn_inertia_make(1.5 + tree_noise(), noise3(), &Ic);
        const struct dyn_articulated A = dyn_articulated_make(&J), B = dyn_articulated_make(&K);
        const struct dyn_articulated Ap = dyn_articulated_to_parent(&X, &A);
        const struct dyn_articulated want = dyn_articulated_add(&Ap, &B);
        const struct dyn_inertia turned = dyn_inertia_turn(&J, &X.E);
        const struct dyn_inertia shifted = dyn_inertia_shift(&turned, X.r);
        const struct dyn_inertia got = dyn_inertia_add(&shifted, &K);
        const struct dyn_vec6 m = noise6();
        const struct dyn_vec6 f = dyn_articulated_mul(&want, &m), g = dyn_inertia_mul(&got, &m);
        assert_vec3(1e-13, f.ang, g.ang);
        assert_vec3(1e-13, f.lin, g.lin);
    }
}

static void test_shifts_keep_the_power(void)
{
    const struct dyn_transform X = {{{X_AXIS, Y_AXIS, Z_AXIS}}, noise3()};
    const struct dyn_vec6 m = noise6(), f = noise6();
    const struct dyn_vec6 there = dyn_motion_shift(&m, X.r), here = dyn_force_shift(&f, X.r);
    const struct dyn_vec6 child = dyn_motion_to_child(&X, &m);
    assert_vec3(0.0, child.ang, there.ang);
    assert_vec3(0.0, child.lin, there.lin);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, power(&f, &there), power(&here, &m));
    TEST_ASSERT_TRUE(power(&f, &m) == dyn_dot6(&f, &m));
}

static void test_a_square_takes_out_one_direction(void)
{
    const struct dyn_articulated A = noise_articulated();
    const struct dyn_vec6 S = {.ang = Z_AXIS}, m = noise6();
    const struct dyn_vec6 U = dyn_articulated_mul(&A, &S);
    const struct dyn_articulated left = dyn_articulated_add_square(&A, -1.0 / U.ang.z, &U);
    const struct dyn_vec6 f = dyn_articulated_mul(&left, &m);
    const struct dyn_vec6 none = dyn_articulated_mul(&left, &S);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, f.ang.z);
    assert_vec3(1e-14, (struct dyn_vec3){0}, none.ang);
    assert_vec3(1e-14, (struct dyn_vec3){0}, none.lin);
}

static void test_arrays_go_in_and_out_unchanged(void)
{
    double e3[3], e4[4];
    dyn_vec3_store(dyn_vec3_load((double[]){1, 2, 3}), e3);
    dyn_quat_store(dyn_quat_load((double[]){4, 5, 6, 7}), e4);
    TEST_ASSERT_EQUAL_MEMORY(((double[]){1, 2, 3}), e3, sizeof e3);
    TEST_ASSERT_EQUAL_MEMORY(((double[]){4, 5, 6, 7}), e4, sizeof e4);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_quarter_turn_about_z_takes_x_to_y);
    RUN_TEST(test_quaternion_and_matrix_are_the_same_rotation);
    RUN_TEST(test_a_product_of_quaternions_turns_by_the_right_one_first);
    RUN_TEST(test_the_exponential_has_half_the_angle);
    RUN_TEST(test_the_rate_of_a_quaternion_turns_with_the_body_rate);
    RUN_TEST(test_poses_compose);
    RUN_TEST(test_power_is_the_same_in_parent_and_child);
    RUN_TEST(test_a_child_origin_moves_with_its_parent);
    RUN_TEST(test_inertia_is_that_of_its_point_masses);
    RUN_TEST(test_an_articulated_inertia_moves_to_the_parent);
    RUN_TEST(test_a_rigid_inertia_moves_to_the_parent);
    RUN_TEST(test_shifts_keep_the_power);
    RUN_TEST(test_a_square_takes_out_one_direction);
    RUN_TEST(test_arrays_go_in_and_out_unchanged);
    return UNITY_END();
}
