/*
 * A free hub with two hinged, bending beams, left alone for 100,000 steps: what becomes of its
 * energy and momenta, by step size.  Whatever drifts is the integrator's: the equations themselves
 * keep all three (test_flex_energy, test_flex_motion).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/dynamics/craft.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "unity.h"

enum { STEPS = 100000, MODES = 3 };

static const struct beam beam = {5.0, 1.0, 40.0};
static struct craft craft;
static struct lumps lumps[2];

void setUp(void)
{
}

void tearDown(void)
{
}

static void add_beam(struct lumps *own, double side)
{
    static const struct beam_mode modes[MODES] = {{BEAM_Z, 1}, {BEAM_Z, 2}, {BEAM_Y, 1}};
    const int i = tree_add(&craft.tree, 0, DYN_JOINT_REVOLUTE, 0, 1, 0);
    struct dyn_body_spec *spec = &craft.tree.spec[i];
    beam_lumps(&beam, MODES, modes, own);
    lumps_sum(own, DYN_FLEX_CONSISTENT, spec);
    spec->place_xyz[0] = side;
    memcpy(spec->place_quat, side > 0.0 ? (double[]){1, 0, 0, 0} : (double[]){0, 0, 0, 1},
           sizeof spec->place_quat);
    spec->force_spec[0].stiffness = 60.0;
    spec->inertia[0] += 0.5;
}

static void build(void)
{
    memset(&craft, 0, sizeof craft);
    tree_begin(&craft.tree);
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = 100.0;
    memcpy(craft.tree.spec[0].inertia, (double[]){20, 30, 25, 0, 0, 0}, 6 * sizeof(double));
    add_beam(&lumps[0], 1.0);
    add_beam(&lumps[1], -1.0);
    tree_build(&craft.tree);
    memcpy(craft.tree.v, (double[]){0.02, -0.03, 0.05, 0.1, 0.0, -0.2}, 6 * sizeof(double));
    craft.tree.q[7] = 0.05;  /* hinge */
    craft.tree.q[8] = 0.02;  /* eta */
    craft.tree.q[14] = 0.01; /* of the other */
    craft_build(&craft);
}

static double change(const double *a, const double *b)
{
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
        size += a[k] * a[k];
    }
    return sqrt(sum / size);
}

struct drift {
    double energy, linear, angular;
};

static struct drift drift_with(double h)
{
    build();
    const struct dyn_monitor from = craft_monitor(&craft);
    craft_run(&craft, STEPS, h);
    const struct dyn_monitor to = craft_monitor(&craft);
    const double e0 = from.kinetic + from.potential;
    const double e1 = to.kinetic + to.potential;
    const struct drift drift = {fabs(e1 - e0) / e0,
                                change(from.linear_momentum, to.linear_momentum),
                                change(from.angular_momentum, to.angular_momentum)};
    printf("%d steps of %g ms: energy %.1e, linear momentum %.1e, angular momentum %.1e\n", STEPS,
           1e3 * h, drift.energy, drift.linear, drift.angular);
    return drift;
}

/* A step loses (w h)^6 / 144 of an oscillator's energy: as many steps, 64 times less at half. */
static void test_energy_and_momenta_drift_by_the_integrators_order_alone(void)
{
    const struct drift coarse = drift_with(4e-3), middle = drift_with(2e-3),
                       fine = drift_with(1e-3);
    TEST_ASSERT_TRUE(middle.energy < coarse.energy / 40.0);
    TEST_ASSERT_TRUE(fine.energy < middle.energy / 40.0);
    TEST_ASSERT_TRUE(middle.linear < coarse.linear / 16.0 && fine.linear < middle.linear / 16.0);
    TEST_ASSERT_TRUE(middle.angular < coarse.angular / 16.0 &&
                     fine.angular < middle.angular / 16.0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_energy_and_momenta_drift_by_the_integrators_order_alone);
    return UNITY_END();
}
