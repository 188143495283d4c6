/*
 * ROS2 with flexible bodies: against the 2x2 matrices of its definition, its order, and modes far
 * faster than the step.
 */
#include <math.h>
#include <string.h>

#include "tests/dynamics/craft.h"
#include "unity.h"

static struct craft craft;

/* One or two modes of a rod along x: points at 1 m and 2 m that swing across. */
struct rod {
    struct dyn_flex flex;
    struct dyn_node tip;
    double P[6], L[18], N[36], M[4], K[4], C[4], psi[6], theta[6];
};

static struct rod rod;

void setUp(void)
{
    memset(&craft, 0, sizeof craft);
    memset(&rod, 0, sizeof rod);
}

void tearDown(void)
{
}

static void rod_make(double stiffness, double damping)
{
    static const double at[2] = {1.0, 2.0}, mass[2] = {0.5, 0.4};
    static const double swing[2][2] = {{0.3, 1.0}, {-0.6, 0.7}}; /* by mode, by point; along z, y */
    for (int p = 0; p < 2; p++)
        for (int s = 0; s < 2; s++) {
            const int axis = p == 0 ? 2 : 1;
            rod.P[3 * p + axis] += mass[s] * swing[p][s];
            rod.L[9 * p + 3 * axis] += mass[s] * swing[p][s] * at[s];
            rod.M[3 * p] += mass[s] * swing[p][s] * swing[p][s];
            rod.N[(3 * p) * 9 + 4 * axis] += mass[s] * swing[p][s] * swing[p][s];
            rod.N[9 + 3 * 2 + 1] += p == 0 ? mass[s] * swing[0][s] * swing[1][s] : 0.0;
            rod.N[18 + 3 * 1 + 2] += p == 0 ? mass[s] * swing[0][s] * swing[1][s] : 0.0;
        }
    rod.K[0] = stiffness, rod.K[3] = 2.5 * stiffness;
    rod.C[0] = damping, rod.C[3] = 0.5 * damping, rod.C[1] = rod.C[2] = 0.1 * damping;
    memcpy(rod.psi, (double[]){0, 0, 1.0, 0, 0.7, 0}, sizeof rod.psi);
    memcpy(rod.theta, (double[]){0, -0.8, 0, 0, 0, 0.5}, sizeof rod.theta);
    rod.tip = (struct dyn_node){.r = {2.0, 0.0, 0.0}, .psi = rod.psi, .theta = rod.theta};
    rod.flex = (struct dyn_flex){.fidelity = DYN_FLEX_CONSISTENT,
                                 .modes = 2,
                                 .P = rod.P,
                                 .L = rod.L,
                                 .N = rod.N,
                                 .M = rod.M,
                                 .K = rod.K,
                                 .C = rod.C,
                                 .nodes = 1,
                                 .node = &rod.tip};
}

static void rod_add(int parent, enum dyn_joint_type joint)
{
    tree_add(&craft.tree, parent, joint, 0, 1, 0);
    struct dyn_body_spec *spec = &craft.tree.spec[craft.tree.body_count - 1];
    spec->mass = 0.9;
    spec->center[0] = 1.3 / 0.9;
    spec->inertia[0] = 0.02;
    spec->inertia[1] = spec->inertia[2] = 2.1 - 1.3 * 1.3 / 0.9 + 0.01;
    spec->flex = &rod.flex;
}

/* ---- one mode alone: every stage is a 2x2 matrix ---- */

struct mat2 {
    double e[4];
};

static struct mat2 mul(struct mat2 a, struct mat2 b)
{
    return (struct mat2){{a.e[0] * b.e[0] + a.e[1] * b.e[2], a.e[0] * b.e[1] + a.e[1] * b.e[3],
                          a.e[2] * b.e[0] + a.e[3] * b.e[2], a.e[2] * b.e[1] + a.e[3] * b.e[3]}};
}

static struct mat2 axpy(double s, struct mat2 a, struct mat2 b)
{
    struct mat2 out;
    for (int k = 0; k < 4; k++)
        out.e[k] = s * a.e[k] + b.e[k];
    return out;
}

static struct mat2 inverse(struct mat2 a)
{
    const double d = a.e[0] * a.e[3] - a.e[1] * a.e[2];
    return (struct mat2){{a.e[3] / d, -a.e[1] / d, -a.e[2] / d, a.e[0] / d}};
}

/* x(t + h) of x' = A x, by the three lines of the definition. */
static struct mat2 step_of(struct mat2 A, double h)
{
    const struct mat2 one = {{1.0, 0.0, 0.0, 1.0}};
    const double s = (1.0 - 1.0 / sqrt(2.0)) * h;
    const struct mat2 solve = inverse(axpy(-s, A, one));
    const struct mat2 k1 = mul(solve, A);
    const struct mat2 f2 = mul(A, axpy(h, k1, one));
    const struct mat2 k2 = mul(solve, axpy(-2.0, k1, f2));
    return axpy(0.5 * h, k2, axpy(1.5 * h, k1, one));
}

/* A rod bolted to the world, of whose modes only one moves. */
static void build_oscillator(double stiffness, double damping)
{
    rod_make(stiffness, damping);
    rod.C[1] = rod.C[2] = 0.0;
    rod_add(-1, DYN_JOINT_FIXED);
    tree_build(&craft.tree);
    craft.tree.q[0] = 0.01, craft.tree.v[0] = 0.2;
    craft_build(&craft);
    craft_use(&craft, DYN_ROS2);
}

static void compare_oscillator(double wh, double zeta)
{
    const double h = 1e-3, w = wh / h;
    setUp();
    build_oscillator(1.0, 0.0);
    const double m = rod.M[0];
    setUp();
    build_oscillator(m * w * w, 2.0 * zeta * w * m);
    const struct mat2 R = step_of((struct mat2){{0.0, 1.0, -w * w, -2.0 * zeta * w}}, h);
    double eta = craft.x[0], xi = craft.x[2];

    for (int k = 0; k < 5; k++) {
        const double next = R.e[0] * eta + R.e[1] * xi;
        xi = R.e[2] * eta + R.e[3] * xi;
        eta = next;
        craft_run(&craft, 1, h);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (0.01 + 0.2 / w), eta, craft.x[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (0.01 * w + 0.2), xi, craft.x[2]);
    }
}

static void test_a_mode_alone_takes_the_steps_of_the_definition(void)
{
    static const double speeds[] = {0.01, 0.3, 1.0, 3.0, 100.0, 1e4};
    for (int k = 0; k < 6; k++) {
        compare_oscillator(speeds[k], 0.0);
        compare_oscillator(speeds[k], 0.02);
    }
}

/* The figures of rosenbrock.h. */
static double kept(double wh)
{
    const struct mat2 R = step_of((struct mat2){{0.0, 1.0, -wh * wh, 0.0}}, 1.0);
    return sqrt(R.e[0] * R.e[3] - R.e[1] * R.e[2]); /* its eigenvalues are a pair */
}

static void test_a_mode_loses_as_much_as_is_documented(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(0.01 * 0.0037, 0.0037, (1.0 - kept(0.1)) / 1e-4);
    TEST_ASSERT_DOUBLE_WITHIN(0.001, 0.997, kept(1.0));
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.90, kept(3.0));
    TEST_ASSERT_DOUBLE_WITHIN(0.03, 0.5, kept(9.0));
}

/* ---- a tree ---- */

/* A hinged rod with a hinged body at its tip, falling. */
static void build_arm(double stiffness, enum dyn_fidelity fidelity, enum dyn_integrator integrator)
{
    memset(&craft, 0, sizeof craft);
    memset(&rod, 0, sizeof rod);
    rod_make(stiffness, fidelity == DYN_FLEX_RIGID ? 0.0 : 0.3);
    rod.flex.fidelity = fidelity;
    rod_add(-1, DYN_JOINT_REVOLUTE);
    tree_add(&craft.tree, 0, DYN_JOINT_REVOLUTE, 0.6, 0.8, 0);
    craft.tree.spec[1].node = 1;
    craft.tree.spec[1].mass = 0.3;
    craft.tree.spec[1].center[0] = 0.4;
    craft.tree.gravity[2] = -9.81;
    tree_build(&craft.tree);
    craft_build(&craft);
    craft_use(&craft, integrator);
}

static void run_arm(double stiffness, enum dyn_integrator integrator, int steps, double x[8])
{
    build_arm(stiffness, DYN_FLEX_CONSISTENT, integrator);
    craft_run(&craft, steps, 0.4 / steps);
    memcpy(x, craft.x, 8 * sizeof *x);
}

static double distance(const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < 8; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

static void test_a_flexible_arm_is_followed_to_second_order(void)
{
    double truth[8], coarse[8], fine[8];
    run_arm(40.0, DYN_RK4, 8000, truth);
    run_arm(40.0, DYN_ROS2, 2000, coarse);
    run_arm(40.0, DYN_ROS2, 4000, fine);
    const double order = log2(distance(coarse, truth) / distance(fine, truth));
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 2.0, order);
}

/* RK4 cannot take this step, and nothing of it is left to see but the rigid arm. */
static void test_modes_far_faster_than_the_step_leave_the_rigid_arm(void)
{
    double flexible[2];
    build_arm(1e9, DYN_FLEX_CONSISTENT, DYN_ROS2);
    craft_run(&craft, 400, 1e-3);
    flexible[0] = craft.x[0], flexible[1] = craft.x[3]; /* the hinges */
    for (int k = 1; k < 3; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, craft.x[k]);
    build_arm(1.0, DYN_FLEX_RIGID, DYN_ROS2);
    craft_run(&craft, 400, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, craft.x[0], flexible[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, craft.x[1], flexible[1]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_mode_alone_takes_the_steps_of_the_definition);
    RUN_TEST(test_a_mode_loses_as_much_as_is_documented);
    RUN_TEST(test_a_flexible_arm_is_followed_to_second_order);
    RUN_TEST(test_modes_far_faster_than_the_step_leave_the_rigid_arm);
    return UNITY_END();
}
