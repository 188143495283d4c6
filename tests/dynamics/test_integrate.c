/*
 * Integrators against closed solutions, and their order by measurement.
 */
#include <math.h>
#include <stdbool.h>
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
static void spin_top(enum dyn_integrator integrator, int steps, double want[7])
{
    const double A = 2.0, C = 3.0, wt = 0.7, w3 = 1.3, t = 5.0, l = (C - A) / A * w3;
    memset(&craft, 0, sizeof craft);
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    memcpy(craft.tree.spec[0].inertia, (double[]){A, A, C, 0, 0, 0}, 6 * sizeof(double));
    tree_build(&craft.tree);
    craft.tree.v[0] = wt, craft.tree.v[2] = w3;
    craft_build(&craft);
    craft_use(&craft, integrator);
    craft_run(&craft, steps, t / steps);

    const struct dyn_vec3 H = {A * wt, 0.0, C * w3};
    dyn_quat_store(dyn_quat_mul(dyn_quat_exp(dyn_scale(t / A, H)),
                                dyn_quat_exp((struct dyn_vec3){0.0, 0.0, -l * t})),
                   want);
    want[4] = wt * cos(l * t), want[5] = wt * sin(l * t), want[6] = w3;
}

static void test_a_symmetric_top_precesses_as_euler_says(void)
{
    double want[7];
    spin_top(DYN_RK4, 5000, want);
    for (int k = 0; k < 7; k++) /* attitude and rate */
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, want[k], craft.x[3 + k]);
}

/* x = e^(-d t) (cos s t + d/s sin s t), s^2 = k/m - d^2: slide and hinge alike */
static void damped_oscillator(enum dyn_joint_type joint)
{
    const double k = 80.0, m = 2.0, d = 0.5, s = sqrt(k / m - d * d), t = 2.0;
    tree_add(&craft.tree, -1, joint, 0, 0, 1);
    craft.tree.spec[0].mass = joint == DYN_JOINT_PRISMATIC ? m : 1.0;
    craft.tree.spec[0].inertia[2] = m;
    craft.tree.spec[0].inertia[0] = craft.tree.spec[0].inertia[1] = m;
    craft.tree.spec[0].force_spec[0].stiffness = k;
    craft.tree.spec[0].force_spec[0].damping = 2.0 * m * d;
    craft.tree.spec[0].force_spec[0].rest = 0.3;
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

/* --- order: what halving the step does to the error ------------------------------------------- */

static const struct method {
    const char *name;
    enum dyn_integrator integrator;
    double order;
} methods[] = {
    {"semi-implicit Euler", DYN_SEMI_IMPLICIT_EULER, 1.0},
    {"RK2", DYN_RK2, 2.0},
    {"RK4", DYN_RK4, 4.0},
    {"AB2", DYN_AB2, 2.0},
    {"AB3", DYN_AB3, 3.0},
    {"AB4", DYN_AB4, 4.0},
};
enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

static double distance(int count, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

static void assert_order(const struct method *method, double coarse, double fine)
{
    TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.05, method->order, log2(coarse / fine), method->name);
}

static void satellite_by(enum dyn_integrator integrator)
{
    craft_satellite(&craft);
    craft_use(&craft, integrator);
}

/* The satellite after one second; without dry friction, for which Adams-Bashforth is of first
 * order. */
static void fly(enum dyn_integrator integrator, int steps)
{
    satellite_by(integrator);
    for (int k = 0; k < 3; k++)
        craft.effectors[k].wheel.coulomb = 0.0;
    craft_run(&craft, steps, 1.0 / steps);
}

static void test_every_method_flies_a_satellite_with_its_order(void)
{
    double want[CRAFT_X_MAX];
    fly(DYN_RK4, 4000);
    const int count = craft.x_count;
    memcpy(want, craft.x, sizeof want);
    for (int k = 0; k < METHOD_COUNT; k++) {
        fly(methods[k].integrator, 200);
        const double coarse = distance(count, want, craft.x);
        fly(methods[k].integrator, 400);
        assert_order(&methods[k], coarse, distance(count, want, craft.x));
    }
}

/* The attitude alone. */
static double top_error(enum dyn_integrator integrator, int steps)
{
    double want[7];
    spin_top(integrator, steps, want);
    return distance(4, want, craft.x + 3);
}

static void test_every_method_turns_a_top_with_its_order(void)
{
    for (int k = 0; k < METHOD_COUNT; k++)
        assert_order(&methods[k], top_error(methods[k].integrator, 500),
                     top_error(methods[k].integrator, 1000));
}

/* Error of a damped swing, in q and v, against its closed form. */
static double swing_error(enum dyn_integrator integrator, int steps)
{
    const double k = 80.0, m = 2.0, d = 0.5, s = sqrt(k / m - d * d), t = 2.0;
    const double want[2] = {exp(-d * t) * (cos(s * t) + d / s * sin(s * t)),
                            -exp(-d * t) * (s + d * d / s) * sin(s * t)};
    memset(&craft, 0, sizeof craft);
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    craft.tree.spec[0].mass = m;
    craft.tree.spec[0].force_spec[0].stiffness = k;
    craft.tree.spec[0].force_spec[0].damping = 2.0 * m * d;
    tree_build(&craft.tree);
    craft.tree.q[0] = 1.0;
    craft_build(&craft);
    craft_use(&craft, integrator);
    craft_run(&craft, steps, t / steps);
    return distance(2, want, craft.x);
}

static void test_every_method_swings_with_its_order(void)
{
    for (int k = 0; k < METHOD_COUNT; k++)
        assert_order(&methods[k], swing_error(methods[k].integrator, 800),
                     swing_error(methods[k].integrator, 1600));
}

/* --- semi-implicit Euler ---------------------------------------------------------------------- */

/* What distinguishes it from explicit Euler, whose swing would grow by h k/m / 2 per radian. */
static void test_semi_implicit_euler_keeps_the_energy_of_a_swing(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    craft.tree.spec[0].force_spec[0].stiffness = 1.0;
    tree_build(&craft.tree);
    craft.tree.q[0] = 1.0;
    craft_build(&craft);
    craft_use(&craft, DYN_SEMI_IMPLICIT_EULER);
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
    craft_use(&craft, DYN_SEMI_IMPLICIT_EULER);
    craft_run(&craft, 3, 0.5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, cos(1.5), craft.x[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, sin(1.5), craft.x[5]);
}

/* --- the history of Adams-Bashforth ----------------------------------------------------------- */

static void assert_x(int count, const double *want)
{
    TEST_ASSERT_EQUAL_MEMORY(want, craft.x, (size_t)count * sizeof *want);
}

static void test_x_ends_with_the_rates_a_method_looks_back_to(void)
{
    static const int looks_back[METHOD_COUNT] = {0, 0, 0, 1, 2, 3};
    craft_satellite(&craft);
    const int count = craft.x_count;
    for (int k = 0; k < METHOD_COUNT; k++) {
        const int rates = looks_back[k] * count, kept = looks_back[k] > 0;
        satellite_by(methods[k].integrator);
        TEST_ASSERT_EQUAL_INT_MESSAGE(count + kept + rates, craft.x_count, methods[k].name);
        craft.x[craft.x_count] = 77.0;
        craft_run(&craft, 5, 0.01);
        TEST_ASSERT_EQUAL_DOUBLE(77.0, craft.x[craft.x_count]);
        if (kept)
            TEST_ASSERT_EQUAL_DOUBLE(looks_back[k], craft.x[count]);
    }
}

/* Where f does not depend on x: what is kept is dx/dt, the newest first. */
static void test_history_holds_dx_dt_newest_first(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
    tree_build(&craft.tree);
    craft_build(&craft);
    craft_use(&craft, DYN_AB4);
    for (int k = 1; k <= 5; k++) {
        const double tau[1] = {k};
        TEST_ASSERT_EQUAL_INT(1, dyn_plant_step(&craft.plant, NULL, tau, 0.5, craft.work, craft.x));
    }
    const double *v_rate = craft.x + 4;
    TEST_ASSERT_EQUAL_DOUBLE(5.0, v_rate[0]);
    TEST_ASSERT_EQUAL_DOUBLE(4.0, v_rate[2]);
    TEST_ASSERT_EQUAL_DOUBLE(3.0, v_rate[4]);
}

static void test_adams_bashforth_starts_with_steps_of_rk4(void)
{
    for (int depth = 1; depth <= 3; depth++) {
        double want[CRAFT_X_MAX];
        satellite_by(DYN_RK4);
        const int count = craft.x_count;
        craft_run(&craft, depth, 0.01);
        memcpy(want, craft.x, sizeof want);
        satellite_by((enum dyn_integrator)(DYN_AB2 + depth - 1));
        craft_run(&craft, depth, 0.01);
        assert_x(count, want);
    }
}

static void test_a_copy_of_x_carries_the_history(void)
{
    for (int integrator = DYN_AB2; integrator <= DYN_AB4; integrator++)
        for (int before = 1; before < 6; before++) {
            double snapshot[CRAFT_X_MAX], after[CRAFT_X_MAX];
            satellite_by((enum dyn_integrator)integrator);
            craft_run(&craft, before, 0.01);
            memcpy(snapshot, craft.x, sizeof snapshot);
            craft_run(&craft, 5, 0.01);
            memcpy(after, craft.x, sizeof after);
            memcpy(craft.x, snapshot, sizeof snapshot);
            craft_poison(&craft);
            craft_run(&craft, 5, 0.01);
            assert_x(craft.x_count, after);
        }
}

static void jump(double *x)
{
    x[9] += 2.0;
    x[3] = 0.6, x[4] = 0.0, x[5] = 0.8, x[6] = 0.0;
}

static void test_a_restart_is_a_new_beginning(void)
{
    for (int integrator = DYN_AB2; integrator <= DYN_AB4; integrator++) {
        double fresh[CRAFT_X_MAX];
        satellite_by((enum dyn_integrator)integrator);
        craft_run(&craft, 10, 0.01);
        jump(craft.x);
        memcpy(fresh, craft.x, sizeof fresh);
        dyn_plant_restart(&craft.plant, craft.x);
        craft_run(&craft, 10, 0.01);
        double went_on[CRAFT_X_MAX];
        memcpy(went_on, craft.x, sizeof went_on);

        satellite_by((enum dyn_integrator)integrator);
        const int count = dyn_plant_effector_index(&craft.plant, craft.plant.effector_count);
        memcpy(craft.x, fresh, (size_t)count * sizeof *fresh);
        craft_run(&craft, 10, 0.01);
        assert_x(craft.x_count, went_on);
    }
}

/* The jump above, with and without a restart, against a fine run from there on. */
static double error_after_a_jump(bool restart)
{
    double fine[CRAFT_X_MAX], from[CRAFT_X_MAX];
    satellite_by(DYN_AB4);
    craft_run(&craft, 10, 0.005);
    jump(craft.x);
    memcpy(from, craft.x, sizeof from);
    craft_use(&craft, DYN_RK4);
    craft_run(&craft, 1000, 0.0005);
    memcpy(fine, craft.x, sizeof fine);
    const int count = craft.x_count;

    craft_use(&craft, DYN_AB4);
    memcpy(craft.x, from, sizeof from);
    if (restart)
        dyn_plant_restart(&craft.plant, craft.x);
    craft_run(&craft, 100, 0.005);
    return distance(count, fine, craft.x);
}

static void test_a_jump_of_x_costs_no_accuracy_after_a_restart(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, error_after_a_jump(true));
    TEST_ASSERT_TRUE(error_after_a_jump(false) > 1e-3);
}

/* Said in plant.h: of a force that jumps by 1 N on 1 kg, half a step too much remains. */
static void test_a_command_that_jumps_acts_half_a_step_early(void)
{
    const double h = 0.25, off[1] = {0.0}, on[1] = {1.0};
    for (int integrator = DYN_AB2; integrator <= DYN_AB4; integrator++) {
        memset(&craft, 0, sizeof craft);
        tree_add(&craft.tree, -1, DYN_JOINT_PRISMATIC, 1, 0, 0);
        tree_build(&craft.tree);
        craft_build(&craft);
        craft_use(&craft, (enum dyn_integrator)integrator);
        for (int k = 0; k < 8; k++)
            (void)dyn_plant_step(&craft.plant, NULL, k < 4 ? off : on, h, craft.work, craft.x);
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, 4.5 * h, craft.x[1]);
    }
}

static void test_a_refused_step_leaves_the_history_alone(void)
{
    for (int integrator = DYN_AB2; integrator <= DYN_AB4; integrator++)
        for (int before = 0; before < 6; before++) {
            double want[CRAFT_X_MAX];
            satellite_by((enum dyn_integrator)integrator);
            craft.plant.substeps = 3;
            craft_run(&craft, before, 0.01);
            memcpy(want, craft.x, sizeof want);
            const double good = craft.commands[1];
            craft.commands[1] = (double)NAN;
            TEST_ASSERT_EQUAL_INT(
                0, dyn_plant_step(&craft.plant, craft.commands, NULL, 0.01, craft.work, craft.x));
            assert_x(CRAFT_X_MAX, want);
            craft.commands[1] = good;
            craft_run(&craft, 1, 0.01);
        }
}

/* --- all of them ------------------------------------------------------------------------------ */

static void test_substeps_are_shorter_steps(void)
{
    for (int k = 0; k < METHOD_COUNT; k++) {
        double once[CRAFT_X_MAX];
        satellite_by(methods[k].integrator);
        craft_run(&craft, 8, 0.0078125);
        memcpy(once, craft.x, sizeof once);
        satellite_by(methods[k].integrator);
        craft.plant.substeps = 4;
        craft_run(&craft, 2, 0.03125);
        assert_x(craft.x_count, once);
    }
}

static void test_quaternions_stay_unit(void)
{
    for (int k = 0; k < METHOD_COUNT; k++) {
        satellite_by(methods[k].integrator);
        craft_run(&craft, 200, 0.05); /* far too long on purpose */
        TEST_ASSERT_DOUBLE_WITHIN(7e-16, 1.0, dyn_quat_square(dyn_quat_load(craft.x + 3)));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_symmetric_top_precesses_as_euler_says);
    RUN_TEST(test_a_sprung_slide_swings_at_its_frequency);
    RUN_TEST(test_a_sprung_hinge_swings_at_its_frequency);
    RUN_TEST(test_a_thrown_body_flies_a_parabola);
    RUN_TEST(test_every_method_flies_a_satellite_with_its_order);
    RUN_TEST(test_every_method_turns_a_top_with_its_order);
    RUN_TEST(test_every_method_swings_with_its_order);
    RUN_TEST(test_semi_implicit_euler_keeps_the_energy_of_a_swing);
    RUN_TEST(test_semi_implicit_euler_turns_by_the_exponential);
    RUN_TEST(test_x_ends_with_the_rates_a_method_looks_back_to);
    RUN_TEST(test_history_holds_dx_dt_newest_first);
    RUN_TEST(test_adams_bashforth_starts_with_steps_of_rk4);
    RUN_TEST(test_a_copy_of_x_carries_the_history);
    RUN_TEST(test_a_restart_is_a_new_beginning);
    RUN_TEST(test_a_jump_of_x_costs_no_accuracy_after_a_restart);
    RUN_TEST(test_a_command_that_jumps_acts_half_a_step_early);
    RUN_TEST(test_a_refused_step_leaves_the_history_alone);
    RUN_TEST(test_substeps_are_shorter_steps);
    RUN_TEST(test_quaternions_stay_unit);
    return UNITY_END();
}
