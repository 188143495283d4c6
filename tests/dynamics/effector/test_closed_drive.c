/*
 * What drives, brakes, holds and loads a joint, each against an equation written out by hand: laws,
 * rotors, mimics, held joints, loads at points, a world that accelerates.
 */
#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/form.h"
#include "unity.h"

enum { STATES = 60 };

static struct tree tree;
static double g[3];

void setUp(void)
{
    tree_noise_seed(30);
}

void tearDown(void)
{
}

static void begin(void)
{
    tree_begin(&tree);
    for (int k = 0; k < 3; k++)
        g[k] = 9.81 * tree_noise();
}

static struct dyn_body_spec *add(int parent, enum dyn_joint_type joint, double ax, double ay,
                                 double az)
{
    return &tree.spec[tree_add(&tree, parent, joint, ax, ay, az)];
}

static const double nowhere[3];
static const double round_box[3] = {0.4, 0.4, 0.4};

static int nv(void)
{
    return dyn_model_nv(tree.model);
}

/* The same by the mass matrix, where nothing is held, and back by inverse dynamics. */
static void assert_other_ways(const struct dyn_input *input, const double *held_tau)
{
    static _Alignas(64) unsigned char mem[1 << 16];
    const struct dyn_state state = tree_state(&tree);
    double a[FORM_NV_MAX], back[FORM_NV_MAX];
    struct dyn_output output = {.a = a};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_crba_work_size(tree.model));
    if (input->held == NULL) {
        dyn_crba_forward(tree.model, &state, input, dyn_crba_work_place(tree.model, mem), &output);
        form_assert_same(nv(), tree.a, a);
    }
    dyn_rnea(tree.model, &state, tree.a, input, tree.work, back);
    for (int k = 0; k < nv(); k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, tree.tau[k] + held_tau[k], back[k]);
}

/* The accelerations for an input that the tree does not know of. */
static void forward(const struct dyn_input *input, double *held_tau)
{
    const struct dyn_state state = tree_state(&tree);
    struct dyn_output output = {.a = tree.a, .held_tau = held_tau};
    tree_poison(&tree);
    dyn_aba(tree.model, &state, input, tree.work, &output);
    assert_other_ways(input, held_tau);
}

/* --- laws ---------------------------------------------------------------------------------- */

/* A slider in weightlessness, of mass 2, with this law: what its law does. */
static double law_force(const struct dyn_joint_force_spec *force_spec, double q, double v)
{
    begin();
    struct dyn_body_spec *spec = add(-1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    form_box(spec, 2.0, nowhere, round_box);
    spec->force_spec[0] = *force_spec;
    form_mount(&tree, nowhere);
    tree.q[0] = q, tree.v[0] = v;
    tree_forward(&tree);
    return 2.0 * tree.a[0];
}

static void test_a_spring_pulls_to_its_rest_and_a_damper_against_the_speed(void)
{
    const struct dyn_joint_force_spec force_spec = {.stiffness = 30.0, .rest = 0.4, .damping = 1.5};
    for (int k = 0; k < STATES; k++) {
        const double q = tree_noise(), v = tree_noise();
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, -30.0 * (q - 0.4) - 1.5 * v, law_force(&force_spec, q, v));
    }
}

static void test_dry_friction_is_full_beyond_its_speed_and_linear_below(void)
{
    const struct dyn_joint_force_spec force_spec = {.coulomb = 3.0, .coulomb_speed = 0.01};
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, -3.0, law_force(&force_spec, 0.7, 1.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 3.0, law_force(&force_spec, 0.7, -1.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, law_force(&force_spec, 0.7, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -3.0e-3, law_force(&force_spec, 0.7, 1e-5));
    const double e = exp(-2.0 * 0.006 / 0.01);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, -3.0 * (1.0 - e) / (1.0 + e),
                              law_force(&force_spec, 0.7, 0.006));
}

static void test_a_limit_pushes_back_and_never_pulls(void)
{
    const struct dyn_joint_force_spec force_spec = {
        .lower = -0.5, .upper = 0.8, .limit_stiffness = 100.0, .limit_damping = 4.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, law_force(&force_spec, 0.79, 3.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, law_force(&force_spec, -0.49, -3.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -20.0, law_force(&force_spec, 1.0, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -26.0, law_force(&force_spec, 1.0, 1.5));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -16.0, law_force(&force_spec, 1.0, -1.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, law_force(&force_spec, 1.0, -6.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 20.0, law_force(&force_spec, -0.7, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 26.0, law_force(&force_spec, -0.7, -1.5));
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, law_force(&force_spec, -0.7, 6.0));
}

/* Each velocity of a joint has its law:  J a = -d0 v0,  m s'' = -k1 (s - rest) - d1 v1 */
static void test_each_velocity_of_a_joint_has_its_own_law(void)
{
    for (int k = 0; k < STATES; k++) {
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_CYLINDRICAL, 0, 0, 1);
        form_box(spec, 2.0, nowhere, round_box);
        spec->force_spec[0].damping = 0.7;
        spec->force_spec[1] =
            (struct dyn_joint_force_spec){.stiffness = 11.0, .rest = 0.1, .damping = 0.3};
        form_mount(&tree, nowhere);
        form_stir(&tree);
        double M[] = {round_box[2], 0, 0, 2.0};
        double forces[] = {tree.tau[0] - 0.7 * tree.v[0],
                           tree.tau[1] - 11.0 * (tree.q[1] - 0.1) - 0.3 * tree.v[1]};
        form_assert(&tree, 2, M, forces);
    }
}

/* A quaternion has no coordinate to pull at, but rates to damp, each about its body axis. */
static void test_a_spherical_joint_is_damped_about_each_axis(void)
{
    for (int k = 0; k < STATES; k++) {
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_SPHERICAL, 0, 0, 0);
        form_box(spec, 2.0, nowhere, round_box);
        for (int i = 0; i < 3; i++)
            spec->force_spec[i].damping = 0.2 * (i + 1);
        form_mount(&tree, g);
        form_stir(&tree);
        double M[9] = {0.4, 0, 0, 0, 0.4, 0, 0, 0, 0.4}, forces[3];
        for (int i = 0; i < 3; i++)
            forces[i] = tree.tau[i] - 0.2 * (i + 1) * tree.v[i];
        form_assert(&tree, 3, M, forces);
    }
}

/* --- rotors -------------------------------------------------------------------------------- */

/* (J + mu^2 J_r) a = tau for a motor on the ground, (m + mu^2 J_r) a = f for a rack. */
static void test_a_motor_on_the_ground_adds_its_geared_inertia(void)
{
    static const enum dyn_joint_type joints[] = {DYN_JOINT_REVOLUTE, DYN_JOINT_PRISMATIC};
    for (int k = 0; k < STATES; k++) {
        const enum dyn_rotor_terms terms = (enum dyn_rotor_terms)(k % 3);
        const double mu = form_some(-200, 200), J = form_some(1e-4, 1e-3);
        begin();
        struct dyn_body_spec *spec = add(-1, joints[k / 3 % 2], 0, 0, 1);
        form_box(spec, 3.0, nowhere, round_box);
        spec->rotor = (struct dyn_geared_rotor){.terms = terms, .ratio = mu, .inertia = J};
        form_unit(spec->rotor.axis, 3);
        form_mount(&tree, nowhere);
        form_stir(&tree);
        double M = k / 3 % 2 ? 3.0 : round_box[2];
        M += terms == DYN_ROTOR_NONE ? 0.0 : mu * mu * J;
        form_assert(&tree, 1, &M, &tree.tau[0]);
    }
}

/*
 * A free body drives a disc C about z; its motor's rotor lies along any e.  All about the common
 * mass centre, body axes, I with disc and locked rotor, h the rotor's mu J q' e:
 *      H = I w + C q' z + h,   H' + w x H = n
 *      C (w_z' + q'') + mu J (mu q'' + e.w') = tau
 *      m (v' + w x v) = f
 * With `diagonal` there is no h, and no e.w'.
 */
static void expect_disc(const struct dyn_geared_rotor *rotor, const double base[3], double C,
                        double m)
{
    const double muJ = rotor->terms == DYN_ROTOR_NONE ? 0.0 : rotor->ratio * rotor->inertia;
    const double cross = rotor->terms == DYN_ROTOR_FULL ? muJ : 0.0;
    const double *w = tree.v, *e = rotor->axis, rate = tree.v[6];
    const double I[3] = {base[0] + 0.5 * C, base[1] + 0.5 * C, base[2] + C};
    double M[49] = {0}, forces[7], H[3], spin[3], carried[3];
    for (int k = 0; k < 3; k++)
        H[k] = I[k] * w[k] + C * rate * (k == 2) + cross * rate * e[k];
    vec_cross(w, H, spin);
    vec_cross(w, tree.v + 3, carried);
    for (int k = 0; k < 3; k++) {
        M[7 * k + k] = I[k];
        M[7 * k + 6] = M[7 * 6 + k] = C * (k == 2) + cross * e[k];
        M[7 * (3 + k) + 3 + k] = m;
        forces[k] = tree.tau[k] - spin[k];
        forces[3 + k] = tree.tau[3 + k] - m * carried[k];
    }
    M[48] = C + muJ * rotor->ratio;
    forces[6] = tree.tau[6];
    form_assert(&tree, 7, M, forces);
}

static void test_a_motor_on_a_free_body_turns_it_back_and_is_a_gyroscope(void)
{
    for (int k = 0; k < STATES; k++) {
        const double base[3] = {form_some(2, 3), form_some(2, 3), form_some(2, 3)};
        const double C = form_some(0.1, 0.5);
        begin();
        form_box(add(-1, DYN_JOINT_FREE, 0, 0, 0), 5.0, nowhere, base);
        struct dyn_body_spec *disc = add(0, DYN_JOINT_REVOLUTE, 0, 0, 1);
        form_box(disc, 1.0, nowhere, (double[]){0.5 * C, 0.5 * C, C});
        disc->rotor = (struct dyn_geared_rotor){
            .terms = (enum dyn_rotor_terms)(k % 3), .ratio = form_some(20, 200), .inertia = 1e-3};
        form_unit(disc->rotor.axis, 3);
        tree_build(&tree);
        form_stir(&tree);
        expect_disc(&disc->rotor, base, C, 6.0);
    }
}

/* Turntable, arm on its axis, both about z, rotor along z: K = J1 w^2/2 + J2 (w + v)^2/2 + the
 * rotor's (mu^2 v^2 / 2 + mu v w) J. */
static void test_a_coaxial_motor_couples_both_turns(void)
{
    for (int k = 0; k < STATES; k++) {
        const double mu = form_some(-100, 100), J = form_some(1e-3, 2e-3);
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), 1.0, nowhere, (double[]){2, 2, 3});
        struct dyn_body_spec *arm = add(0, DYN_JOINT_REVOLUTE, 0, 0, 1);
        form_box(arm, 1.0, nowhere, round_box);
        arm->rotor = (struct dyn_geared_rotor){DYN_ROTOR_FULL, mu, J, {0, 0, 1}};
        form_mount(&tree, g);
        form_stir(&tree);
        const double J2 = round_box[2];
        double M[] = {3 + J2, J2 + mu * J, J2 + mu * J, J2 + mu * mu * J};
        form_assert(&tree, 2, M, tree.tau);
    }
}

/* --- mimics -------------------------------------------------------------------------------- */

/* (J1 + r^2 J2) a = tau */
static void test_two_meshing_discs_are_one(void)
{
    for (int k = 0; k < STATES; k++) {
        const double J1 = form_some(0.5, 1), J2 = form_some(0.5, 1), r = form_some(-3, 3);
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), 1.0, nowhere, (double[]){J1, J1, J1});
        struct dyn_body_spec *disc = add(-1, DYN_JOINT_REVOLUTE, 0, 0.6, 0.8);
        form_box(disc, 1.0, nowhere, (double[]){J2, J2, J2});
        disc->mimic = (struct dyn_mimic){.on = 1, .leader = 0, .ratio = r, .offset = 0.3};
        form_mount(&tree, g);
        form_stir(&tree);
        double M = J1 + r * r * J2;
        form_assert(&tree, 1, &M, tree.tau);
    }
}

/* Spring and damper of the follower, at r q + o, reach the leader by the ratio:
 *      (J1 + r^2 J2) a = tau - r (k (r q + o - rest) + d r v) */
static void test_the_law_of_a_follower_acts_through_its_ratio(void)
{
    for (int k = 0; k < STATES; k++) {
        const double r = form_some(-3, 3), J = round_box[2];
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), 1.0, nowhere, round_box);
        struct dyn_body_spec *disc = add(-1, DYN_JOINT_REVOLUTE, 0, 0.6, 0.8);
        form_box(disc, 1.0, nowhere, round_box);
        disc->mimic = (struct dyn_mimic){.on = 1, .leader = 0, .ratio = r, .offset = 0.3};
        disc->force_spec[0] =
            (struct dyn_joint_force_spec){.stiffness = 7.0, .rest = 0.1, .damping = 0.4};
        form_mount(&tree, g);
        form_stir(&tree);
        const double M = J + r * r * J;
        const double force =
            tree.tau[0] - r * (7.0 * (r * tree.q[0] + 0.3 - 0.1) + 0.4 * r * tree.v[0]);
        form_assert(&tree, 1, &M, &force);
    }
}

/*
 * A double pendulum with q2 = r q1 + o has one coordinate; in the symbols of its mass matrix
 * M(q1) = M11 + 2 r M12 + r^2 M22, and its motion is
 *      M a + M' v^2 / 2 = tau + m1 g.dr1/dq1 + m2 g.dr2/dq1
 */
static void test_a_geared_double_pendulum_has_one_coordinate(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m1 = 1.3, m2 = 0.7, c1 = 0.4, c2 = 0.6, l = 1.1, C = 0.4;
        const double r = form_some(-2, 2), o = form_some(-1, 1);
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), m1, (double[]){c1, 0, 0}, round_box);
        struct dyn_body_spec *outer = add(0, DYN_JOINT_REVOLUTE, 0, 0, 1);
        form_box(outer, m2, (double[]){c2, 0, 0}, round_box);
        outer->place_xyz[0] = l;
        outer->mimic = (struct dyn_mimic){.on = 1, .leader = 0, .ratio = r, .offset = o};
        form_mount(&tree, g);
        form_stir(&tree);

        const double q = tree.q[0], v = tree.v[0], q2 = r * q + o, both = q + q2;
        const double J2 = C + m2 * c2 * c2, lc = m2 * l * c2;
        const double slope = -2 * (1 + r) * lc * sin(q2) * r;
        const double pull1 = cos(q) * g[1] - sin(q) * g[0];
        const double pull2 = cos(both) * g[1] - sin(both) * g[0];
        double M =
            C + m1 * c1 * c1 + m2 * l * l + (1 + r) * (1 + r) * J2 + 2 * (1 + r) * lc * cos(q2);
        double force = tree.tau[0] - 0.5 * slope * v * v + (m1 * c1 + m2 * l) * pull1 +
                       m2 * c2 * (1 + r) * pull2;
        form_assert(&tree, 1, &M, &force);
    }
}

/* --- held joints --------------------------------------------------------------------------- */

/*
 * A cart along x with a pendulum below it, about z, J about the pivot:
 *      (M + m) x'' + m l (c f'' - s f'^2) = F + (M + m) g_x
 *      J f'' + m l c x'' = tau + m l (s g_y + c g_x)
 * One acceleration is given; the other, and the force that gives it, come out.
 */
struct cart {
    double M, m, l, J, s, c;
};

static struct cart make_cart(void)
{
    struct cart cart = {.M = form_some(1, 3), .m = form_some(0.5, 2), .l = form_some(0.3, 1)};
    begin();
    form_box(add(-1, DYN_JOINT_PRISMATIC, 1, 0, 0), cart.M, nowhere, round_box);
    struct dyn_body_spec *swing = add(0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    form_box(swing, cart.m, (double[]){0, -cart.l, 0}, round_box);
    form_mount(&tree, g);
    form_stir(&tree);
    cart.J = round_box[2] + cart.m * cart.l * cart.l;
    cart.s = sin(tree.q[1]), cart.c = cos(tree.q[1]);
    return cart;
}

/* What the motors must give for these two accelerations. */
static void cart_forces(const struct cart *cart, const double a[2], double forces[2])
{
    const double ml = cart->m * cart->l, both = cart->M + cart->m, v = tree.v[1];
    forces[0] = both * (a[0] - g[0]) + ml * (cart->c * a[1] - cart->s * v * v);
    forces[1] = cart->J * a[1] + ml * cart->c * a[0] - ml * (cart->s * g[1] + cart->c * g[0]);
}

static void expect_held_cart(int held_joint, const double *held_a)
{
    const struct cart cart = make_cart();
    const int other = !held_joint;
    unsigned char held[2] = {0};
    double held_tau[2], forces[2], truth[2] = {0}, truth_tau[2] = {0};
    held[held_joint] = 1;
    struct dyn_input input = tree_input(&tree);
    input.held = held, input.held_a = held_a;
    forward(&input, held_tau);

    truth[held_joint] = held_a ? held_a[held_joint] : 0.0;
    cart_forces(&cart, truth, forces);
    truth[other] = (tree.tau[other] - forces[other]) / (other ? cart.J : cart.M + cart.m);
    cart_forces(&cart, truth, forces);
    truth_tau[held_joint] = forces[held_joint] - tree.tau[held_joint];
    form_assert_same(2, truth, tree.a);
    form_assert_same(2, truth_tau, held_tau);
    TEST_ASSERT_TRUE(tree.a[held_joint] == truth[held_joint]);
    TEST_ASSERT_TRUE(held_tau[other] == 0.0);
}

static void test_a_joint_of_given_acceleration_reports_the_force_it_needs(void)
{
    for (int k = 0; k < STATES; k++)
        expect_held_cart(k % 2, (double[]){form_some(-9, 9), form_some(-9, 9)});
}

static void test_a_locked_joint_reports_the_force_that_locks_it(void)
{
    for (int k = 0; k < STATES; k++)
        expect_held_cart(k % 2, NULL);
}

static void test_all_joints_held_is_inverse_dynamics(void)
{
    for (int k = 0; k < STATES; k++) {
        const struct cart cart = make_cart();
        const unsigned char held[2] = {1, 1};
        const double a[2] = {form_some(-9, 9), form_some(-9, 9)};
        double held_tau[2], forces[2];
        struct dyn_input input = tree_input(&tree);
        input.held = held, input.held_a = a;
        forward(&input, held_tau);
        cart_forces(&cart, a, forces);
        for (int i = 0; i < 2; i++)
            forces[i] -= tree.tau[i];
        form_assert_same(2, forces, held_tau);
        form_assert_same(2, a, tree.a);
    }
}

/* Holding a part of a joint: a puck that must not turn (C on its mass centre r from the origin),
 *      m (p'' - W^2 r) = F + m g,   held: W' = b,   C b = tau + held_tau - r x (F - ...)
 * with the origin free to move. */
static void test_one_velocity_of_a_joint_can_be_held(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = 2.0, cx = 0.3, C = round_box[2], b = form_some(-9, 9);
        begin();
        struct dyn_body_spec *puck = add(-1, DYN_JOINT_PLANAR, 0, 0, 1);
        puck->axis2[0] = 1;
        form_box(puck, m, (double[]){cx, 0, 0}, round_box);
        form_mount(&tree, g);
        form_stir(&tree);
        const unsigned char held[3] = {0, 0, 1};
        const double held_a[3] = {99, 99, b};
        double held_tau[3];
        struct dyn_input input = tree_input(&tree);
        input.held = held, input.held_a = held_a;
        forward(&input, held_tau);

        const double W = tree.v[2], Fx = tree.tau[0], Fy = tree.tau[1];
        const double rx = cx * cos(tree.q[2]), ry = cx * sin(tree.q[2]);
        const double truth[3] = {Fx / m + g[0] + b * ry + W * W * rx,
                                 Fy / m + g[1] - b * rx + W * W * ry, b};
        const double moment[3] = {0, 0, C * b + (rx * Fy - ry * Fx) - tree.tau[2]};
        form_assert_same(3, truth, tree.a);
        form_assert_same(3, moment, held_tau);
    }
}

/* The arm of a free body is locked: both turn as one, and the lock carries the arm's share. */
static void test_a_locked_arm_makes_a_free_body_stiff(void)
{
    for (int k = 0; k < STATES; k++) {
        const double J1 = 2.0, J2 = round_box[2];
        begin();
        form_box(add(-1, DYN_JOINT_FREE, 0, 0, 0), 1.0, nowhere, (double[]){J1, J1, J1});
        form_box(add(0, DYN_JOINT_REVOLUTE, 0, 0, 1), 1.0, nowhere, round_box);
        tree_build(&tree);
        form_stir(&tree);
        memset(tree.v, 0, sizeof tree.v);
        const unsigned char held[7] = {[6] = 1};
        double held_tau[7];
        struct dyn_input input = tree_input(&tree);
        input.held = held;
        forward(&input, held_tau);
        double truth[7] = {0}, lock[7] = {0};
        for (int i = 0; i < 3; i++) {
            truth[i] = tree.tau[i] / (J1 + J2);
            truth[3 + i] = tree.tau[3 + i] / 2.0;
        }
        lock[6] = J2 * truth[2] - tree.tau[6];
        form_assert_same(7, truth, tree.a);
        form_assert_same(7, lock, held_tau);
    }
}

/* Spring and friction act on a held joint too: it takes their force to hold it. */
static void test_holding_a_joint_works_against_its_law(void)
{
    begin();
    struct dyn_body_spec *spec = add(-1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    form_box(spec, 2.0, nowhere, round_box);
    spec->force_spec[0] = (struct dyn_joint_force_spec){.stiffness = 30.0, .damping = 1.5};
    form_mount(&tree, nowhere);
    tree.q[0] = 0.5, tree.v[0] = 2.0, tree.tau[0] = 7.0;
    const unsigned char held = 1;
    const double a = 3.0;
    double held_tau;
    struct dyn_input input = tree_input(&tree);
    input.held = &held, input.held_a = &a;
    forward(&input, &held_tau);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 2.0 * 3.0 + 30.0 * 0.5 + 1.5 * 2.0 - 7.0, held_tau);
}

/* --- loads --------------------------------------------------------------------------------- */

/* Forces at points of a free body at rest: m v' + m w' x c = sum f,
 * Ic w' = sum (moment + (at - c) x f). */
static void test_forces_at_points_of_a_free_body_turn_it_about_its_mass_centre(void)
{
    for (int k = 0; k < STATES; k++) {
        struct vec_mat Ic;
        struct dyn_load loads[3];
        double moment[3] = {0}, truth[6] = {0}, m_flat[9], held_tau[6];
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_FREE, 0, 0, 0);
        form_lump(spec);
        tree_build(&tree);
        form_stir(&tree);
        memset(tree.v, 0, sizeof tree.v);
        memset(tree.tau, 0, sizeof tree.tau);
        for (int i = 0; i < 3; i++) {
            double arm[3], turned[3];
            loads[i].body = 0;
            for (int j = 0; j < 3; j++) {
                loads[i].at[j] = form_some(-2, 2), loads[i].force[j] = form_some(-9, 9);
                loads[i].moment[j] = form_some(-9, 9);
                arm[j] = loads[i].at[j] - spec->center[j];
            }
            vec_cross(arm, loads[i].force, turned);
            vec_add(1.0, turned, moment);
            vec_add(1.0, loads[i].moment, moment);
            vec_add(1.0 / spec->mass, loads[i].force, truth + 3);
        }
        vec_symmetric(spec->inertia, &Ic);
        memcpy(m_flat, Ic.row, sizeof m_flat);
        memcpy(truth, moment, sizeof moment);
        dense_solve_rows(3, m_flat, truth, 1);
        vec_cross(truth, spec->center, moment);
        vec_add(-1.0, moment, truth + 3);

        struct dyn_input input = tree_input(&tree);
        input.loads = loads, input.load_count = 3;
        forward(&input, held_tau);
        form_assert_same(6, truth, tree.a);
    }
}

/* J1 a1 = z.(p x f) on the inner disc only when the outer one, about the same z, is pushed through
 * its axle; a push off its axle turns the outer one as well. */
static void test_a_load_reaches_the_joints_below_it_and_no_other(void)
{
    for (int k = 0; k < STATES; k++) {
        const double l = form_some(0.5, 1), m = 2.0, J1 = 3.0, J2 = round_box[2];
        const double f[2] = {form_some(-9, 9), form_some(-9, 9)};
        double held_tau[3];
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), 1.0, nowhere, (double[]){2, 2, J1});
        struct dyn_body_spec *outer = add(0, DYN_JOINT_REVOLUTE, 0, 0, 1);
        form_box(outer, m, nowhere, round_box);
        outer->place_xyz[0] = l;
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), 1.0, nowhere, round_box);
        form_mount(&tree, nowhere);
        form_stir(&tree);
        memset(tree.v, 0, sizeof tree.v);
        struct dyn_load load = {.body = 1};
        const double at[3] = {form_some(-1, 1), form_some(-1, 1), 0}, push[3] = {f[0], f[1], 0};
        form_to_body(at, load.at);
        form_to_body(push, load.force);
        struct dyn_input input = tree_input(&tree);
        input.loads = &load, input.load_count = 1;
        forward(&input, held_tau);

        const double s = sin(tree.q[1]), c = cos(tree.q[1]);
        const double across = s * f[0] + c * f[1], turning = at[0] * f[1] - at[1] * f[0];
        double M[9] = {J1 + m * l * l + J2, J2, 0, J2, J2, 0, 0, 0, J2};
        double forces[3] = {tree.tau[0] + l * across + turning, tree.tau[1] + turning, tree.tau[2]};
        dense_solve_rows(3, M, forces, 1);
        form_assert_same(3, forces, tree.a);
    }
}

/* --- a world that accelerates -------------------------------------------------------------- */

/*
 * Pendulum about z, pivot at p, mass centre at r from it, in a world whose origin accelerates at A
 * and which turns up at b about z:
 *      J (a + b) + m z.(r x (A + b z x p)) = tau + z.(r x m g)
 */
static void test_a_world_that_accelerates_acts_like_gravity_and_more(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = form_some(0.5, 2), l = form_some(0.3, 1), b = form_some(-5, 5);
        const double A[3] = {form_some(-9, 9), form_some(-9, 9), form_some(-9, 9)};
        const double p[2] = {form_some(-2, 2), form_some(-2, 2)};
        double held_tau[1];
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1);
        form_box(spec, m, (double[]){l, 0, 0}, round_box);
        memcpy(spec->place_xyz, p, sizeof p);
        form_mount(&tree, g);
        form_stir(&tree);
        struct dyn_input input = tree_input(&tree);
        form_to_world((double[]){0, 0, b}, input.base_acceleration);
        form_to_world(A, input.base_acceleration + 3);
        forward(&input, held_tau);

        const double rx = l * cos(tree.q[0]), ry = l * sin(tree.q[0]);
        const double ax = g[0] - A[0] + b * p[1], ay = g[1] - A[1] - b * p[0];
        const double truth =
            (tree.tau[0] + m * (rx * ay - ry * ax)) / (round_box[2] + m * l * l) - b;
        form_assert_same(1, &truth, tree.a);
    }
}

/* A free body at x stays behind:  R v' = g - A - b x x - R (w x v),  R w' = -b */
static void test_a_free_body_stays_behind_a_world_that_accelerates(void)
{
    for (int k = 0; k < STATES; k++) {
        struct vec_mat R;
        double carried[3], turned[3], truth[6], held_tau[6];
        begin();
        form_box(add(-1, DYN_JOINT_FREE, 0, 0, 0), 2.0, nowhere, round_box);
        memcpy(tree.gravity, g, sizeof g);
        tree_build(&tree);
        form_stir(&tree);
        memset(tree.tau, 0, sizeof tree.tau);
        struct dyn_input input = tree_input(&tree);
        double *b = input.base_acceleration, *A = b + 3;
        for (int i = 0; i < 6; i++)
            b[i] = form_some(-5, 5);
        forward(&input, held_tau);

        vec_quat_matrix(tree.q + 3, &R);
        vec_cross(b, tree.q, turned);
        memcpy(truth + 3, g, sizeof g);
        vec_add(-1.0, A, truth + 3);
        vec_add(-1.0, turned, truth + 3);
        vec_multiply_t(&R, truth + 3, truth + 3);
        vec_cross(tree.v, tree.v + 3, carried);
        vec_add(-1.0, carried, truth + 3);
        vec_multiply_t(&R, b, truth);
        for (int i = 0; i < 3; i++)
            truth[i] = -truth[i];
        form_assert_same(6, truth, tree.a);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_spring_pulls_to_its_rest_and_a_damper_against_the_speed);
    RUN_TEST(test_dry_friction_is_full_beyond_its_speed_and_linear_below);
    RUN_TEST(test_a_limit_pushes_back_and_never_pulls);
    RUN_TEST(test_each_velocity_of_a_joint_has_its_own_law);
    RUN_TEST(test_a_spherical_joint_is_damped_about_each_axis);
    RUN_TEST(test_a_motor_on_the_ground_adds_its_geared_inertia);
    RUN_TEST(test_a_motor_on_a_free_body_turns_it_back_and_is_a_gyroscope);
    RUN_TEST(test_a_coaxial_motor_couples_both_turns);
    RUN_TEST(test_two_meshing_discs_are_one);
    RUN_TEST(test_the_law_of_a_follower_acts_through_its_ratio);
    RUN_TEST(test_a_geared_double_pendulum_has_one_coordinate);
    RUN_TEST(test_a_joint_of_given_acceleration_reports_the_force_it_needs);
    RUN_TEST(test_a_locked_joint_reports_the_force_that_locks_it);
    RUN_TEST(test_all_joints_held_is_inverse_dynamics);
    RUN_TEST(test_one_velocity_of_a_joint_can_be_held);
    RUN_TEST(test_a_locked_arm_makes_a_free_body_stiff);
    RUN_TEST(test_holding_a_joint_works_against_its_law);
    RUN_TEST(test_forces_at_points_of_a_free_body_turn_it_about_its_mass_centre);
    RUN_TEST(test_a_load_reaches_the_joints_below_it_and_no_other);
    RUN_TEST(test_a_world_that_accelerates_acts_like_gravity_and_more);
    RUN_TEST(test_a_free_body_stays_behind_a_world_that_accelerates);
    return UNITY_END();
}
