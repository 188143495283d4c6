/*
 * The seven-joint arm of Robotics Research Corporation with motors and gears, as Chen and Ou (1989)
 * give it: what it must conserve, and what its rotors do to it.
 *
 * The conserved quantities are theirs (section "validation"), summed over the bodies with
 * kinematics that the kernel has no part in:
 *      K = K' + sum (mu^2 J v^2 / 2 + mu J v w.e),   V = -sum m g.c
 *      H = sum (c x m c' + I w) + sum mu J v e
 * with w of the link that carries the motor, e the rotor's axis there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/dynamics/craft.h"
#include "tests/dynamics/oracle.h"
#include "unity.h"

enum { JOINTS = 7 };

static const double pi = 3.14159265358979323846;

static struct craft craft;
static struct tree *const tree = &craft.tree;
static int as_printed;

void setUp(void)
{
    as_printed = 0;
}

void tearDown(void)
{
}

/* Link by link: mass, Ixx = Iyy, Izz, where the next joint is; then the motor of the joint, which
 * is on the link before: ratio, rotor inertia.  Mass centres lie on the joints.  The paper prints
 * the second rotor axis as (1, 0, 1); all others are coaxial with the joint, and so is this one
 * here. */
static const struct {
    double mass, across, along, next[3], ratio, rotor, axis[3];
} links[JOINTS] = {
    {104.2, 2.05, 0.70, {0.00, 0.00, 0.5}, 160, 0.0030, {0, 0, 1}},
    {55.40, 0.40, 0.30, {0.30, 0.10, 0.0}, 160, 0.0030, {1, 0, 0}},
    {28.80, 0.60, 0.20, {0.10, 0.00, 0.3}, 200, 0.0003, {0, 1, 0}},
    {20.40, 0.20, 0.20, {0.30, -0.1, 0.0}, 200, 0.0003, {1, 0, 0}},
    {11.10, 0.10, 0.04, {0.08, 0.00, 0.4}, 200, 0.0002, {0, 1, 0}},
    {4.700, 0.03, 0.03, {0.19, -.08, 0.0}, 200, 0.0002, {1, 0, 0}},
    {4.700, 0.03, 0.03, {0.00, 0.00, 0.0}, 160, 0.0002, {0, 1, 0}},
};

/* The paper prints the axis of the second rotor as (1, 0, 1).  Whether that is a misprint or a
 * motor aslant, the arm must conserve the same. */
static const double aslant[3] = {0.7071067811865476, 0.0, 0.7071067811865476};

/* Gravity along -z, the axis of the first joint; moving, unless `still`. */
static void make_arm(enum dyn_rotor_terms terms, double first_ratio, double gravity, int still)
{
    memset(&craft, 0, sizeof craft);
    for (int i = 0; i < JOINTS; i++) {
        const double *axis = links[i].axis;
        const int body = tree_add(tree, i - 1, DYN_JOINT_REVOLUTE, axis[0], axis[1], axis[2]);
        struct dyn_body_spec *spec = &tree->spec[body];
        const double across = links[i].across;
        const double inertia[6] = {across, across, links[i].along, 0, 0, 0};
        spec->mass = links[i].mass;
        memcpy(spec->inertia, inertia, sizeof inertia);
        if (i > 0)
            memcpy(spec->place_xyz, links[i - 1].next, sizeof spec->place_xyz);
        spec->rotor = (struct dyn_geared_rotor){.terms = terms,
                                                .ratio = i == 0 ? first_ratio : links[i].ratio,
                                                .inertia = links[i].rotor};
        memcpy(spec->rotor.axis, i == 1 && as_printed ? aslant : axis, sizeof spec->rotor.axis);
    }
    tree->gravity[2] = -gravity;
    tree_build(tree);
    for (int k = 0; k < JOINTS && !still; k++)
        tree->q[k] = 0.3 * k - 0.8, tree->v[k] = 1.2 - 0.35 * k;
    craft_build(&craft);
}

static void run(const double *tau, double seconds, double h)
{
    const int steps = (int)lround(seconds / h);
    for (int k = 0; k < steps; k++)
        TEST_ASSERT_EQUAL_INT(
            1, dyn_plant_step(&craft.plant, craft.commands, tau, h, craft.work, craft.x));
    memcpy(tree->q, craft.x, JOINTS * sizeof(double));
    memcpy(tree->v, craft.x + JOINTS, JOINTS * sizeof(double));
}

static double energy(void)
{
    return oracle_kinetic(tree) + oracle_potential(tree);
}

/* H.z about the axis of the first joint. */
static double momentum(void)
{
    static struct oracle_body bodies[TREE_BODY_MAX];
    double sum = 0.0;
    oracle_move(tree, tree->v, NULL, bodies);
    for (int i = 0; i < JOINTS; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        const struct oracle_body *body = &bodies[i];
        const double muJv = spec->rotor.ratio * spec->rotor.inertia * tree->v[i];
        struct vec_mat I;
        double h[3], swept[3], e[3];
        oracle_inertia(spec, body, &I);
        vec_multiply(&I, body->w, h);
        vec_cross(body->p, body->p_rate, swept);
        memcpy(e, spec->rotor.axis, sizeof e);
        if (i > 0)
            oracle_to_world(&bodies[i - 1], spec->rotor.axis, e);
        sum += h[2] + spec->mass * swept[2] + muJv * e[2];
    }
    return sum;
}

/* Change from start to end of two seconds, in steps of h. */
static double drift_of(double (*quantity)(void), double h, const double *tau)
{
    const double start = quantity();
    run(tau, 2.0, h);
    return quantity() - start;
}

/* It drifts by the integrator's error, and by a sixteenth of that in half the step. */
static void assert_conserved(double (*quantity)(void), enum dyn_rotor_terms terms,
                             double first_ratio, double gravity, const double *tau)
{
    for (as_printed = 0; as_printed < 2; as_printed++) {
        make_arm(terms, first_ratio, gravity, 0);
        const double size = fabs(quantity()), coarse = drift_of(quantity, 2e-3, tau);
        make_arm(terms, first_ratio, gravity, 0);
        const double fine = drift_of(quantity, 1e-3, tau), order = log2(coarse / fine);
        printf("drift %.1e of %.3f, at half the step %.1e: order %.2f\n", coarse, size, fine,
               order);
        TEST_ASSERT_DOUBLE_WITHIN(1e-8 * size, 0.0, fine);
        TEST_ASSERT_DOUBLE_WITHIN(0.3, 4.0, order);
    }
}

/* Case I: no torque. */
static void test_energy_is_conserved_without_torque(void)
{
    for (int terms = DYN_ROTOR_NONE; terms <= DYN_ROTOR_FULL; terms++)
        assert_conserved(energy, (enum dyn_rotor_terms)terms, 160.0, 9.81, NULL);
}

/* Case II: no torque about the first axis, whose motor has no gear; all others drive. */
static const double inner[JOINTS] = {0.0, 40.0, -25.0, 20.0, 10.0, -5.0, 3.0};

static void test_momentum_about_the_first_axis_is_conserved_without_gravity(void)
{
    assert_conserved(momentum, DYN_ROTOR_FULL, 1.0, 0.0, inner);
}

static void test_momentum_about_a_vertical_first_axis_is_conserved_with_gravity(void)
{
    assert_conserved(momentum, DYN_ROTOR_FULL, 1.0, 9.81, inner);
}

/* Without the rotors' part of it the momentum is not conserved: the test above can fail. */
static void test_diagonal_rotor_terms_do_not_conserve_momentum(void)
{
    make_arm(DYN_ROTOR_DIAGONAL, 1.0, 0.0, 0);
    const double start = momentum();
    run(inner, 2.0, 4e-3);
    TEST_ASSERT_TRUE(fabs(momentum() - start) > 1e-3 * fabs(start));
}

/* --- what the rotors do -------------------------------------------------------------------- */

enum { SAMPLES = 50 };

static double angles[3][SAMPLES][JOINTS]; /* by rotor terms */

/* Torque on the first joint for five seconds, from rest, weightless. */
static void drive(enum dyn_rotor_terms terms, double amplitude, double frequency)
{
    const double h = 2e-3;
    double tau[JOINTS] = {0};
    make_arm(terms, 160.0, 0.0, 1);
    for (int k = 0; k < SAMPLES; k++) {
        for (int i = 0; i < 50; i++) {
            tau[0] = amplitude * cos(2.0 * pi * frequency * (0.1 * k + h * (i + 0.5)));
            run(tau, h, h);
        }
        memcpy(angles[terms][k], tree->q, sizeof angles[terms][k]);
    }
}

/* The largest difference of any angle, against the largest angle. */
static double difference(enum dyn_rotor_terms a, enum dyn_rotor_terms b)
{
    double size = 0.0, most = 0.0;
    for (int k = 0; k < SAMPLES; k++)
        for (int i = 0; i < JOINTS; i++) {
            size = fmax(size, fabs(angles[b][k][i]));
            most = fmax(most, fabs(angles[a][k][i] - angles[b][k][i]));
        }
    return most / size;
}

/* Run (a): 0.625 N m at the motor. */
static void test_an_arm_without_rotors_is_not_the_arm(void)
{
    drive(DYN_ROTOR_NONE, 100.0, 0.0);
    drive(DYN_ROTOR_FULL, 100.0, 0.0);
    printf("none against full: %.2f\n", difference(DYN_ROTOR_NONE, DYN_ROTOR_FULL));
    TEST_ASSERT_TRUE(difference(DYN_ROTOR_NONE, DYN_ROTOR_FULL) > 0.5);
}

/* Run (b): 3.125 cos(0.8 pi t) N m at the motor. */
static void test_an_arm_with_diagonal_rotor_terms_is_nearly_the_arm(void)
{
    for (int terms = DYN_ROTOR_NONE; terms <= DYN_ROTOR_FULL; terms++)
        drive((enum dyn_rotor_terms)terms, 500.0, 0.4);
    const double diagonal = difference(DYN_ROTOR_DIAGONAL, DYN_ROTOR_FULL);
    const double none = difference(DYN_ROTOR_NONE, DYN_ROTOR_FULL);
    printf("none against full: %.2f, diagonal against full: %.3f\n", none, diagonal);
    TEST_ASSERT_TRUE(diagonal > 1e-4);
    TEST_ASSERT_TRUE(diagonal < 0.1);
    TEST_ASSERT_TRUE(diagonal < 0.1 * none);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_energy_is_conserved_without_torque);
    RUN_TEST(test_momentum_about_the_first_axis_is_conserved_without_gravity);
    RUN_TEST(test_momentum_about_a_vertical_first_axis_is_conserved_with_gravity);
    RUN_TEST(test_diagonal_rotor_terms_do_not_conserve_momentum);
    RUN_TEST(test_an_arm_without_rotors_is_not_the_arm);
    RUN_TEST(test_an_arm_with_diagonal_rotor_terms_is_nearly_the_arm);
    return UNITY_END();
}
