/*
 * Integrators against closed solutions, and their order by measurement.
 */
#include <math.h>
#include <string.h>

#include "tests/dynamics/craft.h"
#include "unity.h"

static struct craft craft;

void setUp(void)
{
    memset(&craft, 0, sizeof craft);
}

void tearDown(void)
{
}

/*
 * With A = Ixx = Iyy, C = Izz, l = (C - A) / A w3:
 *      w1 + i w2 = wt e^(i l t),   attitude = exp(t H / A) exp(-l t e3)
 */
static void test_a_symmetric_top_precesses_as_euler_says(void)
{
    const double A = 2.0, C = 3.0, wt = 0.7, w3 = 1.3, t = 5.0, l = (C - A) / A * w3;
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    memcpy(craft.tree.spec[0].inertia, (double[]){A, A, C, 0, 0, 0}, 6 * sizeof(double));
    tree_build(&craft.tree);
    craft.tree.v[0] = wt, craft.tree.v[2] = w3;
    craft_build(&craft);
    craft_run(&craft, 5000, t / 5000);

    const struct dyn_vec3 H = {A * wt, 0.0, C * w3};
    const struct dyn_quat want = dyn_quat_mul(dyn_quat_exp(dyn_scale(t / A, H)),
                                              dyn_quat_exp((struct dyn_vec3){0.0, 0.0, -l * t}));
    const double *q = craft.x + 3, *w = craft.x + 7;
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, wt * cos(l * t), w[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, wt * sin(l * t), w[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, w3, w[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, want.w, q[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, want.x, q[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, want.y, q[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, want.z, q[3]);
}

/* x = e^(-d t) (cos s t + d/s sin s t), s^2 = k/m - d^2: slide and hinge alike */
static void damped_oscillator(enum dyn_joint_type joint)
{
    const double k = 80.0, m = 2.0, d = 0.5, s = sqrt(k / m - d * d), t = 2.0;
    tree_add(&craft.tree, -1, joint, 0, 0, 1);
    craft.tree.spec[0].mass = joint == DYN_JOINT_PRISMATIC ? m : 1.0;
    craft.tree.spec[0].inertia[2] = m;
    craft.tree.spec[0].inertia[0] = craft.tree.spec[0].inertia[1] = m;
    craft.tree.spec[0].stiffness = k;
    craft.tree.spec[0].damping = 2.0 * m * d;
    craft.tree.spec[0].rest = 0.3;
    tree_build(&craft.tree);
    craft.tree.q[0] = 1.3;
    craft_build(&craft);
    craft_run(&craft, 4000, t / 4000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, 0.3 + exp(-d * t) * (cos(s * t) + d / s * sin(s * t)),
                              craft.x[0]);
}

static void test_a_sprung_slide_swings_at_its_frequency(void)
{
    damped_oscillator(DYN_JOINT_PRISMATIC);
}

static void test_a_sprung_hinge_swings_at_its_frequency(void)
{
    damped_oscillator(DYN_JOINT_REVOLUTE);
}

/* A thrown body spins and falls: the mass centre flies a parabola. */
static void test_a_thrown_body_flies_a_parabola(void)
{
    const double c[3] = {0.2, 0.1, -0.3}, g[3] = {0, 0, -9.81}, t = 1.5;
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    memcpy(craft.tree.spec[0].center, c, sizeof c);
    memcpy(craft.tree.spec[0].inertia, (double[]){1, 2, 2.5, 0, 0, 0}, 6 * sizeof(double));
    memcpy(craft.tree.gravity, g, sizeof g);
    tree_build(&craft.tree);
    memcpy(craft.tree.v, (double[]){2.0, 0.5, -1.0, 3.0, -1.0, 8.0}, 6 * sizeof(double));
    craft_build(&craft);

    const struct dyn_monitor from = craft_monitor(&craft);
    craft_run(&craft, 1500, t / 1500);
    const struct dyn_monitor to = craft_monitor(&craft);
    for (int k = 0; k < 3; k++) {
        const double v = from.linear_momentum[k] / from.mass;
        TEST_ASSERT_DOUBLE_WITHIN(1e-10, from.center[k] + v * t + 0.5 * g[k] * t * t, to.center[k]);
    }
}

/* Error of the satellite's x after one second in n steps, against a much finer run. */
static double error_of(enum dyn_integrator integrator, int steps, const double *fine)
{
    double error = 0.0;
    craft_satellite(&craft);
    craft.plant.integrator = integrator;
    craft_run(&craft, steps, 1.0 / steps);
    for (int k = 0; k < craft.x_count; k++)
        error = fmax(error, fabs(craft.x[k] - fine[k]));
    return error;
}

static double order_of(enum dyn_integrator integrator, int steps)
{
    double fine[CRAFT_X_MAX];
    craft_satellite(&craft);
    craft_run(&craft, 4000, 1.0 / 4000);
    memcpy(fine, craft.x, sizeof fine);
    return log2(error_of(integrator, steps, fine) / error_of(integrator, 2 * steps, fine));
}

static void test_runge_kutta_is_of_fourth_order(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(0.3, 4.0, order_of(DYN_RK4, 50));
}

static void test_semi_implicit_euler_is_of_first_order(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(0.15, 1.0, order_of(DYN_SEMI_IMPLICIT_EULER, 200));
}

/* What tells it from explicit Euler, whose swing would grow by h k/m / 2 per radian. */
static void test_semi_implicit_euler_keeps_the_energy_of_a_swing(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    craft.tree.spec[0].stiffness = 1.0;
    tree_build(&craft.tree);
    craft.tree.q[0] = 1.0;
    craft_build(&craft);
    craft.plant.integrator = DYN_SEMI_IMPLICIT_EULER;
    for (int k = 0; k < 100000; k++) {
        craft_run(&craft, 1, 0.01);
        const double energy = 0.5 * (craft.x[0] * craft.x[0] + craft.x[1] * craft.x[1]);
        TEST_ASSERT_DOUBLE_WITHIN(0.003, 0.5, energy);
    }
}

/* A constant rate is turned through exactly, however long the step. */
static void test_semi_implicit_euler_turns_by_the_exponential(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_build(&craft.tree);
    craft.tree.v[1] = 2.0;
    craft_build(&craft);
    craft.plant.integrator = DYN_SEMI_IMPLICIT_EULER;
    craft_run(&craft, 3, 0.5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, cos(1.5), craft.x[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, sin(1.5), craft.x[5]);
}

static void test_substeps_are_shorter_steps(void)
{
    double once[CRAFT_X_MAX];
    craft_satellite(&craft);
    craft_run(&craft, 8, 0.0078125);
    memcpy(once, craft.x, sizeof once);
    craft_satellite(&craft);
    craft.plant.substeps = 4;
    craft_run(&craft, 2, 0.03125);
    TEST_ASSERT_EQUAL_MEMORY(once, craft.x, (size_t)craft.x_count * sizeof once[0]);
}

static void test_quaternions_stay_unit(void)
{
    for (int integrator = DYN_SEMI_IMPLICIT_EULER; integrator <= DYN_RK4; integrator++) {
        craft_satellite(&craft);
        craft.plant.integrator = (enum dyn_integrator)integrator;
        craft_run(&craft, 200, 0.05); /* far too long on purpose */
        TEST_ASSERT_DOUBLE_WITHIN(4e-16, 1.0, dyn_quat_square(dyn_quat_load(craft.x + 3)));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_symmetric_top_precesses_as_euler_says);
    RUN_TEST(test_a_sprung_slide_swings_at_its_frequency);
    RUN_TEST(test_a_sprung_hinge_swings_at_its_frequency);
    RUN_TEST(test_a_thrown_body_flies_a_parabola);
    RUN_TEST(test_runge_kutta_is_of_fourth_order);
    RUN_TEST(test_semi_implicit_euler_is_of_first_order);
    RUN_TEST(test_semi_implicit_euler_keeps_the_energy_of_a_swing);
    RUN_TEST(test_semi_implicit_euler_turns_by_the_exponential);
    RUN_TEST(test_substeps_are_shorter_steps);
    RUN_TEST(test_quaternions_stay_unit);
    return UNITY_END();
}
