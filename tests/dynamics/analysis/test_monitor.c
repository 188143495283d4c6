/*
 * The monitors by hand-made cases, and the kernel by the monitors: what physics conserves, stays.
 */
#include "dynamics/analysis/monitor.h"

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

static void assert_3(double within, const double want[3], const double got[3])
{
    for (int k = 0; k < 3; k++)
        TEST_ASSERT_DOUBLE_WITHIN(within, want[k], got[k]);
}

static double distance(const double a[3], const double b[3])
{
    return dyn_norm(dyn_sub(dyn_vec3_load(a), dyn_vec3_load(b)));
}

/* Quarter turn about z; the body spins about its own x (world y) and moves along its own y (world
 * -x). */
static void test_a_turned_body_is_summed_in_world_axes(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = 2.0;
    memcpy(craft.tree.spec[0].inertia, (double[]){3, 2, 2, 0, 0, 0}, 6 * sizeof(double));
    craft.tree.gravity[2] = -10.0;
    tree_build(&craft.tree);
    memcpy(craft.tree.q, (double[]){0, 0, 5, sqrt(0.5), 0, 0, sqrt(0.5)}, 7 * sizeof(double));
    craft.tree.v[0] = 4.0, craft.tree.v[4] = 3.0;
    craft_build(&craft);
    const struct dyn_monitor m = craft_monitor(&craft);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.5 * 2 * 9 + 0.5 * 3 * 16, m.kinetic);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 2 * 10 * 5, m.potential);
    assert_3(1e-14, (double[]){0, 0, 5}, m.center);
    assert_3(1e-14, (double[]){-6, 0, 0}, m.linear_momentum);
    /* spin 12 along world y, and r x p = (0 0 5) x (-6 0 0) = (0 -30 0) */
    assert_3(1e-13, (double[]){0, -18, 0}, m.angular_momentum);
}

/* A slide on a turning hinge, summed by hand: the bead at radius r moves with r' and r w. */
static void test_a_bead_on_a_rod_is_summed_by_hand(void)
{
    const double J = 0.3, M = 0.8, r = 0.9, rd = 0.4, w = 2.0, q = 0.6;
    tree_add(&craft.tree, -1, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree_add(&craft.tree, 0, DYN_JOINT_PRISMATIC, 1, 0, 0);
    memcpy(craft.tree.spec[0].inertia, (double[]){J, J, J, 0, 0, 0}, 6 * sizeof(double));
    memset(craft.tree.spec[1].inertia, 0, 6 * sizeof(double));
    craft.tree.spec[1].mass = M;
    craft.tree.spec[1].force_spec[0].stiffness = 7.0, craft.tree.spec[1].force_spec[0].rest = 0.1;
    tree_build(&craft.tree);
    craft.tree.q[0] = q, craft.tree.q[1] = r, craft.tree.v[0] = w, craft.tree.v[1] = rd;
    craft_build(&craft);
    const struct dyn_monitor m = craft_monitor(&craft);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.5 * J * w * w + 0.5 * M * (rd * rd + r * r * w * w),
                              m.kinetic);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.5 * 7.0 * 0.64, m.potential);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.8, m.mass);
    assert_3(1e-14, (double[]){M * r * cos(q) / 1.8, M * r * sin(q) / 1.8, 0}, m.center);
    assert_3(1e-14,
             (double[]){M * (rd * cos(q) - r * w * sin(q)), M * (rd * sin(q) + r * w * cos(q)), 0},
             m.linear_momentum);
    assert_3(1e-14, (double[]){0, 0, (J + M * r * r) * w}, m.angular_momentum);
}

/* Rotor with J and h: h^2 / 2J of energy, h along its axis of momentum. */
static void test_a_rotor_counts(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_build(&craft.tree);
    memcpy(craft.tree.q + 3, (double[]){sqrt(0.5), 0, 0, sqrt(0.5)}, 4 * sizeof(double));
    craft_add_wheel(&craft, 0, 1, 0, 0, 0.02);
    craft_build(&craft);
    craft.x[13] = 3.0;
    const struct dyn_monitor m = craft_monitor(&craft);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.5 / 0.02, m.kinetic);
    assert_3(1e-14, (double[]){0, 3, 0}, m.angular_momentum);
}

/* A free-floating tree without dampers: energy and both momenta stay. */
static void random_floating(int body_count, uint64_t seed)
{
    setUp();
    tree_random(&craft.tree, body_count, 1, seed);
    for (int i = 0; i < body_count; i++) {
        struct dyn_joint_force_spec *force_spec = craft.tree.spec[i].force_spec;
        for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
            force_spec[k].damping = force_spec[k].coulomb = force_spec[k].limit_stiffness = 0.0;
        if (i > 0 && craft.tree.spec[i].parent < 0)
            craft.tree.spec[i].parent = 0;
        if (craft.tree.spec[i].joint == DYN_JOINT_PRISMATIC)
            craft.tree.spec[i].force_spec[0].stiffness = 20.0;
    }
    tree_build(&craft.tree);
    dyn_quat_store(dyn_quat_unit(dyn_quat_load(craft.tree.q + 3)), craft.tree.q + 3);
    memset(craft.tree.gravity, 0, sizeof craft.tree.gravity);
    craft_build(&craft);
}

static void test_a_floating_tree_keeps_energy_and_momentum(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_floating(8, seed);
        const struct dyn_monitor from = craft_monitor(&craft);
        craft_run(&craft, 5000, 0.001);
        const struct dyn_monitor to = craft_monitor(&craft);
        const double energy = from.kinetic + from.potential;
        TEST_ASSERT_DOUBLE_WITHIN(1e-7 * energy, energy, to.kinetic + to.potential);
        assert_3(1e-7, from.linear_momentum, to.linear_momentum);
        assert_3(1e-7, from.angular_momentum, to.angular_momentum);
    }
}

/* Of the satellite with its wheels at work for 2 s. */
static double momentum_error(int steps)
{
    craft_satellite(&craft);
    const struct dyn_monitor from = craft_monitor(&craft);
    craft_run(&craft, steps, 2.0 / steps);
    const struct dyn_monitor to = craft_monitor(&craft);
    return distance(from.angular_momentum, to.angular_momentum) /
           dyn_norm(dyn_vec3_load(from.angular_momentum));
}

static void test_wheels_leave_the_total_angular_momentum_alone(void)
{
    const double coarse = momentum_error(40), fine = momentum_error(80);
    TEST_ASSERT_TRUE(coarse > 1e-9); /* else the next line proves nothing */
    TEST_ASSERT_TRUE(coarse / fine > 14.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, momentum_error(4000));
}

/* The motors do work: the power of what they give at the rotor's relative speed. */
static void test_motors_give_the_energy_that_appears(void)
{
    double work = 0.0, power_before = 0.0;
    const double h = 0.001;
    craft_satellite(&craft);
    for (int i = 0; i < craft.tree.body_count; i++)
        craft.tree.spec[i].force_spec[0].damping = 0.0;
    tree_build(&craft.tree);
    for (int k = 0; k < 3; k++)
        craft.effectors[k].wheel.viscous = craft.effectors[k].wheel.coulomb = 0.0;
    const struct dyn_monitor from = craft_monitor(&craft);
    for (int step = 0; step <= 2000; step++) {
        double power = 0.0;
        for (int k = 0; k < 3; k++)
            power += craft.commands[k] *
                     dyn_wheel_speed(&craft.effectors[k].wheel, craft.x + 9, craft.x[17 + k]);
        if (step > 0)
            work += 0.5 * h * (power + power_before);
        power_before = power;
        if (step < 2000)
            craft_run(&craft, 1, h);
    }
    const struct dyn_monitor to = craft_monitor(&craft);
    TEST_ASSERT_TRUE(fabs(work) > 1.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, from.kinetic + from.potential + work,
                              to.kinetic + to.potential);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_turned_body_is_summed_in_world_axes);
    RUN_TEST(test_a_bead_on_a_rod_is_summed_by_hand);
    RUN_TEST(test_a_rotor_counts);
    RUN_TEST(test_a_floating_tree_keeps_energy_and_momentum);
    RUN_TEST(test_wheels_leave_the_total_angular_momentum_alone);
    RUN_TEST(test_motors_give_the_energy_that_appears);
    return UNITY_END();
}
