/*
 * A bar released from a uniform strain, E = density = 1, length 4, strain -0.01: its tip follows a
 * triangle of amplitude 0.04 and period 16.  Of n modes of the whole bar the tip lacks
 *
 *      sum_{k > n} 0.04 8 / (pi (2 k - 1))^2 cos((2 k - 1) pi t / 8)
 *
 * which is 0.08 / (pi^2 n) at most, where the triangle has its corners, and in the mean square of
 * the order n^-3.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/plant.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { PARTS_MAX = 4, MODES_MAX = 16, X_MAX = 2 * PARTS_MAX * MODES_MAX };

static const double pi = 3.14159265358979323846, strain = -0.01, length = 4.0;
static struct tree tree;
static struct lumps lumps[PARTS_MAX];

void setUp(void)
{
}

void tearDown(void)
{
}

static double triangle(double t)
{
    return length * strain * (1.0 - 4.0 * fabs(t / 16.0 - round(t / 16.0)));
}

/* Bars bolted to the tip of the one before. */
static void make_bar(int parts, int modes)
{
    const struct beam beam = {length / parts, 1.0, 1.0};
    struct beam_mode mode[MODES_MAX];
    for (int p = 0; p < modes; p++)
        mode[p] = (struct beam_mode){BEAM_STRETCH, p + 1};
    tree_begin(&tree);
    for (int i = 0; i < parts; i++) {
        tree_add(&tree, i - 1, DYN_JOINT_FIXED, 0, 0, 0);
        tree.spec[i].node = i > 0;
        beam_lumps(&beam, modes, mode, &lumps[i]);
        lumps_sum(&lumps[i], DYN_FLEX_CONSISTENT, &tree.spec[i]);
    }
    tree_build(&tree);
}

/* u = strain x on the modes of a part: int psi u dm */
static void strain_part(const struct lumps *part, double *eta)
{
    for (int k = 0; k < part->count; k++)
        for (int p = 0; p < part->modes; p++)
            eta[p] += part->lump[k].mass * strain * part->lump[k].r[0] * part->lump[k].psi[3 * p];
}

struct errors {
    double most, square; /* largest, mean square */
};

/* Of the tip, over two periods. */
static struct errors release(int parts, int modes)
{
    static _Alignas(64) unsigned char mem[1 << 18];
    enum { STEPS = 3200 };
    const double h = 0.01;
    double x[X_MAX] = {0};
    struct errors errors = {0};
    make_bar(parts, modes);
    const struct dyn_plant plant = {.model = tree.model, .integrator = DYN_RK4, .substeps = 1};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_plant_work_size(&plant));
    struct dyn_plant_work *work = dyn_plant_work_place(&plant, mem);
    for (int i = 0; i < parts; i++)
        strain_part(&lumps[i], x + dyn_model_eta_index(tree.model, i));
    for (int k = 0; k < STEPS; k++) {
        double tip = 0.0;
        for (int i = 0; i < parts; i++)
            for (int p = 0; p < modes; p++)
                tip += lumps[i].node[0].psi[3 * p] * x[dyn_model_eta_index(tree.model, i) + p];
        const double error = tip - triangle(k * h);
        errors.most = fmax(errors.most, fabs(error));
        errors.square += error * error / STEPS;
        TEST_ASSERT_EQUAL_INT(1, dyn_plant_step(&plant, NULL, NULL, h, work, x));
    }
    return errors;
}

/* What n modes leave out of the tip's series. */
static struct errors left_out(int n)
{
    struct errors sum = {0};
    for (int k = 200000; k > n; k--) {
        const double c = 8.0 * length * strain / (pi * pi * (2.0 * k - 1.0) * (2.0 * k - 1.0));
        sum.most += fabs(c);
        sum.square += 0.5 * c * c;
    }
    return sum;
}

static void test_the_tip_of_a_bar_lacks_what_the_modes_leave_out(void)
{
    for (int n = 1; n <= MODES_MAX; n *= 2) {
        const struct errors is = release(1, n), truth = left_out(n);
        printf("bar, %2d modes: error %.5f (series %.5f), rms %.6f (%.6f)\n", n, is.most,
               truth.most, sqrt(is.square), sqrt(truth.square));
        TEST_ASSERT_DOUBLE_WITHIN(0.01 * truth.most, truth.most, is.most);
        TEST_ASSERT_DOUBLE_WITHIN(0.02 * truth.square, truth.square, is.square);
    }
}

/* As the paper has it: bolted parts, each with clamped-free modes, whose strain vanishes at every
 * bolt where the bar's does not.  So the error falls with the first power of the modes. */
static void test_a_bar_of_four_parts_tends_to_the_triangle_too(void)
{
    double before = 1.0;
    for (int n = 1; n <= MODES_MAX / 2; n *= 2) {
        const struct errors is = release(4, n);
        printf("bar of four, %d modes each: error %.5f, rms %.6f\n", n, is.most, sqrt(is.square));
        TEST_ASSERT_TRUE(is.most < 0.7 * before);
        before = is.most;
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_tip_of_a_bar_lacks_what_the_modes_leave_out);
    RUN_TEST(test_a_bar_of_four_parts_tends_to_the_triangle_too);
    return UNITY_END();
}
