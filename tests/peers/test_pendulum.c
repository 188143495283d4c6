/*
 * The pendulum of n bodies on spherical joints (Chou 1989), n = 1..10, one second, against CVODE of
 * SUNDIALS at 1e-13.
 *
 * The truth counts attitudes and rates of all bodies in the world and finds the forces in the
 * joints, all at once and densely, from the demand that the bodies do not come apart there; the
 * kernel counts attitudes of a body on the one before and knows no such forces.
 */
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "tests/dynamics/craft.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

enum { BODIES_MAX = 10, OUTPUTS = 100, STEPS_PER_OUTPUT = 200 };

static const double gravity[3] = {0.0, 0.0, -9.81};

/* Between two joints: where the mass centre is, and the next joint. */
struct body {
    double mass, center[3], next[3];
    struct vec_mat I, I_inv;
};

/* As it hangs in the world: arms from the mass centre to the joints, world axes. */
struct hung {
    struct vec_mat R, I_inv;
    double inner[3], outer[3], w[3], own_turn[3]; /* turning up by itself: I^-1 (-w x I w) */
};

static struct body bodies[BODIES_MAX];
static int count;

void setUp(void)
{
}

void tearDown(void)
{
}

static void make_bodies(int n)
{
    count = n;
    for (int i = 0; i < n; i++) {
        struct body *body = &bodies[i];
        const double x = 0.02 * i, inertia[6] = {0.04 + x, 0.05, 0.02 + x, 0.004, -0.003, 0.002};
        const double center[3] = {0.03, -0.02 - 0.01 * i, -0.2};
        const double next[3] = {0.05 - 0.02 * i, 0.04, -0.4};
        double rows[9];
        body->mass = 1.0 + 0.2 * (i % 3);
        memcpy(body->center, center, sizeof center);
        memcpy(body->next, next, sizeof next);
        vec_symmetric(inertia, &body->I);
        memcpy(rows, body->I.row, sizeof rows);
        memset(&body->I_inv, 0, sizeof body->I_inv);
        for (int k = 0; k < 3; k++)
            body->I_inv.row[k][k] = 1.0;
        dense_solve_rows(3, rows, &body->I_inv.row[0][0], 3);
    }
}

/* --- the truth: y = attitude w x y z and rate in body axes, of each body ------------------- */

/* R m R' */
static void turn_matrix(const struct vec_mat *R, const struct vec_mat *m, struct vec_mat *out)
{
    for (int c = 0; c < 3; c++) {
        double h[3];
        vec_multiply(m, R->row[c], h);
        vec_multiply(R, h, out->row[c]);
    }
}

static void hang(const double *y, struct hung *hung)
{
    for (int i = 0; i < count; i++, y += 7) {
        const struct body *body = &bodies[i];
        double spin[3];
        vec_quat_matrix(y, &hung[i].R);
        turn_matrix(&hung[i].R, &body->I_inv, &hung[i].I_inv);
        vec_multiply(&body->I, y + 4, spin);
        vec_cross(spin, y + 4, spin);
        vec_multiply(&body->I_inv, spin, spin);
        vec_multiply(&hung[i].R, spin, hung[i].own_turn);
        vec_multiply(&hung[i].R, y + 4, hung[i].w);
        for (int k = 0; k < 3; k++) {
            hung[i].inner[k] = -body->center[k];
            hung[i].outer[k] = body->next[k] - body->center[k];
        }
        vec_multiply(&hung[i].R, hung[i].inner, hung[i].inner);
        vec_multiply(&hung[i].R, hung[i].outer, hung[i].outer);
    }
}

/* What a force f at the arm `at` accelerates at the arm `felt`: f / m + I^-1 (at x f) x felt. */
static void add_response(int i, const struct hung *hung, const double at[3], const double felt[3],
                         double k, double *block)
{
    for (int c = 0; c < 3; c++) {
        const double f[3] = {c == 0, c == 1, c == 2};
        double turn[3];
        vec_cross(at, f, turn);
        vec_multiply(&hung[i].I_inv, turn, turn);
        vec_cross(turn, felt, turn);
        vec_add(1.0 / bodies[i].mass, f, turn);
        for (int r = 0; r < 3; r++)
            block[r * 3 * count + c] += k * turn[r];
    }
}

/* What the arm feels without any force in the joints. */
static void add_unforced(const struct hung *hung, const double arm[3], double k, double out[3])
{
    double turn[3], inward[3];
    vec_cross(hung->own_turn, arm, turn);
    vec_cross(hung->w, arm, inward);
    vec_cross(hung->w, inward, inward);
    vec_add(k, gravity, out);
    vec_add(k, turn, out);
    vec_add(k, inward, out);
}

/* Joint i: the inner end of body i accelerates as the outer end of the one before it.  Force i acts
 * on body i, and back on the one before. */
static void joint_forces(const struct hung *hung, double *force)
{
    static double rows[9 * BODIES_MAX * BODIES_MAX];
    const int side = 3 * count;
    memset(rows, 0, sizeof rows);
    memset(force, 0, (size_t)side * sizeof *force);
    for (int i = 0; i < count; i++) {
        double *row = rows + 3 * i * side;
        add_response(i, hung, hung[i].inner, hung[i].inner, 1.0, row + 3 * i);
        if (i + 1 < count)
            add_response(i, hung, hung[i].outer, hung[i].inner, -1.0, row + 3 * (i + 1));
        add_unforced(&hung[i], hung[i].inner, -1.0, force + 3 * i);
        if (i == 0)
            continue;
        const struct hung *before = &hung[i - 1];
        add_response(i - 1, hung, before->inner, before->outer, -1.0, row + 3 * (i - 1));
        add_response(i - 1, hung, before->outer, before->outer, 1.0, row + 3 * i);
        add_unforced(before, before->outer, 1.0, force + 3 * i);
    }
    dense_solve_rows(side, rows, force, 1);
}

static int truth_rate(realtype t, N_Vector state, N_Vector rate, void *user)
{
    const double *y = N_VGetArrayPointer(state);
    double *dy = N_VGetArrayPointer(rate);
    struct hung hung[BODIES_MAX];
    double force[3 * BODIES_MAX + 3] = {0};
    (void)t, (void)user;
    hang(y, hung);
    joint_forces(hung, force);
    for (int i = 0; i < count; i++, y += 7, dy += 7) {
        const double *p = y, *w = y + 4;
        double inner[3], outer[3];
        vec_cross(hung[i].inner, force + 3 * i, inner);
        vec_cross(hung[i].outer, force + 3 * i + 3, outer);
        if (i + 1 < count)
            vec_add(-1.0, outer, inner);
        vec_multiply(&hung[i].I_inv, inner, inner);
        vec_add(1.0, hung[i].own_turn, inner);
        vec_multiply_t(&hung[i].R, inner, dy + 4);
        dy[0] = -0.5 * vec_dot(p + 1, w);
        vec_cross(p + 1, w, dy + 1);
        vec_add(p[0], w, dy + 1);
        for (int k = 1; k < 4; k++)
            dy[k] *= 0.5;
    }
    return 0;
}

/* --- what both are compared by ------------------------------------------------------------- */

/* Mass centres in the world, and the energy. */
static double look(const double *y, double centers[3 * BODIES_MAX])
{
    double joint[3] = {0}, joint_rate[3] = {0}, energy = 0.0;
    for (int i = 0; i < count; i++, y += 7) {
        const struct body *body = &bodies[i];
        struct vec_mat R;
        double arm[3], h[3], rate[3];
        vec_quat_matrix(y, &R);
        vec_multiply(&R, body->center, arm);
        memcpy(centers + 3 * i, joint, sizeof joint);
        vec_add(1.0, arm, centers + 3 * i);
        vec_cross(y + 4, body->center, rate);
        vec_multiply(&R, rate, rate);
        vec_add(1.0, joint_rate, rate);
        vec_multiply(&body->I, y + 4, h);
        energy += 0.5 * body->mass * vec_dot(rate, rate) + 0.5 * vec_dot(y + 4, h) -
                  body->mass * vec_dot(gravity, centers + 3 * i);
        vec_multiply(&R, body->next, arm);
        vec_add(1.0, arm, joint);
        vec_cross(y + 4, body->next, rate);
        vec_multiply(&R, rate, rate);
        vec_add(1.0, rate, joint_rate);
    }
    return energy;
}

static void quat_product(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - vec_dot(a + 1, b + 1);
    vec_cross(a + 1, b + 1, out + 1);
    vec_add(a[0], b + 1, out + 1);
    vec_add(b[0], a + 1, out + 1);
}

/* Attitudes and rates on the body before, to those in the world. */
static void to_world(const double *q, const double *v, double *y)
{
    for (int i = 0; i < count; i++) {
        struct vec_mat R;
        double *own = y + 7 * i, *before = own - 7;
        memcpy(own, q + 4 * i, 4 * sizeof *own);
        memcpy(own + 4, v + 3 * i, 3 * sizeof *own);
        if (i == 0)
            continue;
        double carried[3];
        quat_product(before, q + 4 * i, own);
        vec_quat_matrix(q + 4 * i, &R);
        vec_multiply_t(&R, before + 4, carried);
        vec_add(1.0, carried, own + 4);
    }
}

/* --- the kernel ---------------------------------------------------------------------------- */

static struct craft craft;

static void make_craft(void)
{
    struct tree *tree = &craft.tree;
    memset(&craft, 0, sizeof craft);
    for (int i = 0; i < count; i++) {
        const struct vec_mat *I = &bodies[i].I;
        struct dyn_body_spec *spec =
            &tree->spec[tree_add(tree, i - 1, DYN_JOINT_SPHERICAL, 0, 0, 0)];
        spec->mass = bodies[i].mass;
        memcpy(spec->center, bodies[i].center, sizeof spec->center);
        if (i > 0)
            memcpy(spec->place_xyz, bodies[i - 1].next, sizeof spec->place_xyz);
        for (int k = 0; k < 3; k++)
            spec->inertia[k] = I->row[k][k];
        spec->inertia[3] = I->row[0][1], spec->inertia[4] = I->row[0][2];
        spec->inertia[5] = I->row[1][2];
    }
    memcpy(tree->gravity, gravity, sizeof gravity);
    tree_build(tree);
    tree_noise_seed((uint64_t)count);
    for (int i = 0; i < count; i++) {
        double *q = tree->q + 4 * i, size = 1.0;
        q[0] = 1.0;
        for (int k = 1; k < 4; k++) {
            q[k] = 0.7 * tree_noise();
            size += q[k] * q[k];
        }
        for (int k = 0; k < 4; k++)
            q[k] /= sqrt(size);
        for (int k = 0; k < 3; k++)
            tree->v[3 * i + k] = 2.0 * tree_noise();
    }
    craft_build(&craft);
    craft.plant.substeps = STEPS_PER_OUTPUT;
}

/* --- both, side by side -------------------------------------------------------------------- */

static void *make_solver(N_Vector y, SUNNonlinearSolver *iteration, SUNContext context)
{
    void *solver = CVodeCreate(CV_ADAMS, context);
    *iteration = SUNNonlinSol_FixedPoint(y, 0, context);
    TEST_ASSERT_EQUAL_INT(0, CVodeInit(solver, truth_rate, 0.0, y));
    TEST_ASSERT_EQUAL_INT(0, CVodeSStolerances(solver, 1e-13, 1e-14));
    TEST_ASSERT_EQUAL_INT(0, CVodeSetMaxNumSteps(solver, 1000000));
    TEST_ASSERT_EQUAL_INT(0, CVodeSetNonlinearSolver(solver, *iteration));
    return solver;
}

static double largest_distance(const double *a, const double *b)
{
    double distance = 0.0;
    for (int k = 0; k < 3 * count; k++)
        distance = fmax(distance, fabs(a[k] - b[k]));
    return distance;
}

/* Positions differ by no more than 1e-10 of the length; the energy by 1e-10 of what it would take
 * to lift the pendulum by its length. */
static void swing(int n)
{
    double y[7 * BODIES_MAX], ours[7 * BODIES_MAX], there[3 * BODIES_MAX], here[3 * BODIES_MAX];
    double worst = 0.0, drift = 0.0, their_drift = 0.0, moved = 0.0, start[3 * BODIES_MAX];
    SUNContext context;
    SUNNonlinearSolver iteration;
    make_bodies(n);
    make_craft();
    to_world(craft.x, craft.x + 4 * n, y);
    const double energy = look(y, start);
    TEST_ASSERT_EQUAL_INT(0, SUNContext_Create(NULL, &context));
    N_Vector state = N_VMake_Serial(7 * n, y, context);
    void *solver = make_solver(state, &iteration, context);

    for (int k = 1; k <= OUTPUTS; k++) {
        realtype t;
        TEST_ASSERT_EQUAL_INT(0, CVode(solver, 0.01 * k, state, &t, CV_NORMAL));
        craft_run(&craft, 1, 0.01);
        to_world(craft.x, craft.x + 4 * n, ours);
        their_drift = fmax(their_drift, fabs(look(y, there) - energy));
        drift = fmax(drift, fabs(look(ours, here) - energy));
        worst = fmax(worst, largest_distance(there, here));
        moved = fmax(moved, largest_distance(start, here));
    }
    printf("n = %d: moved %.1f m, positions differ by %.1e m; energy %.0e J off, theirs %.0e J\n",
           n, moved, worst, drift, their_drift);
    TEST_ASSERT_TRUE(moved > 0.1);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10 * 0.4 * n, 0.0, worst);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10 * 9.81 * 0.4 * n * n, 0.0, drift);

    CVodeFree(&solver);
    SUNNonlinSolFree(iteration);
    N_VDestroy(state);
    SUNContext_Free(&context);
}

static void test_a_pendulum_of_one_to_ten_bodies_swings_as_sundials_says(void)
{
    for (int n = 1; n <= BODIES_MAX; n++)
        swing(n);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_pendulum_of_one_to_ten_bodies_swings_as_sundials_says);
    return UNITY_END();
}
