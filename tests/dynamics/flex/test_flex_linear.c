/*
 * Slopes of beams against closed forms, which share no code with them.
 *
 * A beam of unit length, density and EI has the clamped-free frequencies w_p.  Where it sits on
 * something that moves, its modes are mass-normalised and h_p is the momentum of mode p along that
 * motion; m is the inertia of all that moves.  What is free then swings where
 *
 *      m + sum_p h_p^2 w^2 / (w_p^2 - w^2) = 0
 *
 * with the shape  x = 1,  eta_p = h_p w^2 / (w_p^2 - w^2).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/analysis/linearize.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { NV_MAX = 48, ENTRY_MAX = NV_MAX * NV_MAX, POINTS = 40 };

static const struct beam unit = {1.0, 1.0, 1.0};
static struct tree tree;
static struct lumps lumps[2];
static double a[NV_MAX], a_q[ENTRY_MAX], a_v[ENTRY_MAX], a_tau[ENTRY_MAX];
static struct dyn_linear linear = {a, a_q, a_v, a_tau};

void setUp(void)
{
}

void tearDown(void)
{
}

static void linearize(const struct dyn_input *input)
{
    static _Alignas(64) unsigned char mem[1 << 22];
    const struct dyn_state state = tree_state(&tree);
    TEST_ASSERT_LESS_OR_EQUAL_INT(NV_MAX, dyn_model_nv(tree.model));
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_linear_work_size(tree.model));
    dyn_linearize(tree.model, &state, input, dyn_linear_work_place(tree.model, mem), &linear);
}

static double entry(const double *matrix, int row, int column)
{
    return matrix[row * dyn_model_nv(tree.model) + column];
}

static struct beam_mode bending(int p)
{
    return (struct beam_mode){BEAM_Y, p + 1};
}

/* A beam with so many modes on its parent; the body. */
static int add_beam(int parent, enum dyn_joint_type joint, enum dyn_fidelity fidelity, int modes,
                    const struct beam_mode *mode, struct lumps *of)
{
    const int body = tree_add(&tree, parent, joint, 0.0, 0.0, 1.0);
    beam_lumps(&unit, modes, mode, of);
    lumps_sum(of, fidelity, &tree.spec[body]);
    return body;
}

static int add_bending(int parent, enum dyn_joint_type joint, int modes, struct lumps *of)
{
    struct beam_mode mode[LUMPS_MODES_MAX];
    for (int p = 0; p < modes; p++)
        mode[p] = bending(p);
    return add_beam(parent, joint, DYN_FLEX_CONSISTENT, modes, mode, of);
}

/* int f(x) phi_p dm with f = r x^power, and the same of two functions of x. */
static double moment_of(struct beam_mode mode, double r, int power)
{
    double at[POINTS], weight[POINTS], sum = 0.0;
    beam_points(POINTS, unit.length, at, weight);
    for (int k = 0; k < POINTS; k++)
        sum += weight[k] * unit.density * r * pow(at[k], power) * beam_shape(&unit, mode, at[k]);
    return sum;
}

/* ---- what swings freely ------------------------------------------------------------------- */

struct swing {
    int modes;
    double m, h[LUMPS_MODES_MAX], square[LUMPS_MODES_MAX]; /* of w_p */
};

static double characteristic(const struct swing *swing, double square)
{
    double sum = swing->m;
    for (int p = 0; p < swing->modes; p++)
        sum += swing->h[p] * swing->h[p] * square / (swing->square[p] - square);
    return sum;
}

/* w^2 between w_k^2 and the next, or beyond the last: there the sum climbs through zero once. */
static double root_of(const struct swing *swing, int k)
{
    double low = swing->square[k],
           high = k + 1 < swing->modes ? swing->square[k + 1] : 1e3 * swing->square[k];
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        if (characteristic(swing, middle) < 0.0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* x has eigenvalue -w^2 in a_q. */
static void assert_mode(double square, const double *x)
{
    const int nv = dyn_model_nv(tree.model);
    for (int r = 0; r < nv; r++) {
        double sum = 0.0, size = 1e-3;
        for (int c = 0; c < nv; c++) {
            sum += entry(a_q, r, c) * x[c];
            size += fabs(entry(a_q, r, c) * x[c]);
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-9 * size, -square * x[r], sum);
    }
}

/* The shape of a root: 1 along velocity `at`, and the modes of a body, times `sign`. */
static void put_shape(const struct swing *swing, double square, int body, double sign, double *x)
{
    const int first = dyn_model_xi_index(tree.model, body);
    for (int p = 0; p < swing->modes; p++)
        x[first + p] = sign * swing->h[p] * square / (swing->square[p] - square);
}

/* A hub that flies, with a beam to either side, 0.3 m from its centre. */
static struct swing make_hub(int modes)
{
    const double arm = 0.3;
    struct swing turn = {.modes = modes};
    tree_begin(&tree);
    const int hub = tree_add(&tree, -1, DYN_JOINT_FREE, 0.0, 0.0, 0.0);
    tree.spec[hub].mass = 2.0;
    for (int side = 0; side < 2; side++) {
        const int beam = add_bending(hub, DYN_JOINT_FIXED, modes, &lumps[side]);
        tree.spec[beam].place_xyz[0] = side == 0 ? arm : -arm;
        if (side == 1)
            memcpy(tree.spec[beam].place_quat, (double[4]){0.0, 0.0, 0.0, 1.0},
                   sizeof tree.spec[beam].place_quat);
    }
    tree_build(&tree);
    turn.m = 1.0 + 2.0 * (arm * arm + arm + 1.0 / 3.0);
    for (int p = 0; p < modes; p++) {
        const double w = beam_frequency(&unit, bending(p));
        /* two beams that swing alike are one with sqrt(2) of the momentum */
        turn.h[p] = moment_of(bending(p), arm, 0) + moment_of(bending(p), 1.0, 1);
        turn.square[p] = w * w;
    }
    return turn;
}

static struct swing doubled(const struct swing *swing)
{
    struct swing both = *swing;
    for (int p = 0; p < both.modes; p++)
        both.h[p] *= sqrt(2.0);
    return both;
}

static void test_a_hub_with_two_beams_turns_against_them(void)
{
    const struct dyn_input none = {0};
    for (int modes = 1; modes <= 5; modes += 2) {
        const struct swing swing = make_hub(modes), both = doubled(&swing);
        linearize(&none);
        for (int k = 0; k < modes; k++) {
            double x[NV_MAX] = {0.0};
            const double square = root_of(&both, k);
            x[2] = 1.0;
            put_shape(&swing, square, 1, 1.0, x);
            put_shape(&swing, square, 2, 1.0, x);
            assert_mode(square, x);
        }
    }
}

static void test_a_hub_with_two_beams_travels_against_them(void)
{
    const struct dyn_input none = {0};
    for (int modes = 1; modes <= 5; modes += 2) {
        struct swing swing = make_hub(modes);
        linearize(&none);
        swing.m = 2.0 + 2.0;
        for (int p = 0; p < modes; p++)
            swing.h[p] = moment_of(bending(p), 1.0, 0);
        const struct swing both = doubled(&swing);
        for (int k = 0; k < modes; k++) {
            double x[NV_MAX] = {0.0};
            const double square = root_of(&both, k);
            x[4] = 1.0; /* along y, to which the second beam's own y is contrary */
            put_shape(&swing, square, 1, 1.0, x);
            put_shape(&swing, square, 2, -1.0, x);
            assert_mode(square, x);
        }
    }
}

/* The hinge of a beam along x turns about z. */
static void test_a_locked_hinge_leaves_the_frequencies_of_the_clamped_beam(void)
{
    const int modes = 5;
    const unsigned char held[NV_MAX] = {1};
    const struct dyn_input input = {.held = held};
    tree_begin(&tree);
    add_bending(-1, DYN_JOINT_REVOLUTE, modes, &lumps[0]);
    tree_build(&tree);
    tree.q[0] = 0.7;
    linearize(&input);
    for (int r = 0; r <= modes; r++)
        for (int c = 0; c <= modes; c++) {
            const double w_r = r > 0 ? beam_frequency(&unit, bending(r - 1)) : 0.0;
            const double w_c = c > 0 ? beam_frequency(&unit, bending(c - 1)) : 0.0;
            TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1.0 + w_r * w_r + w_c * w_c),
                                      r == c ? -w_r * w_r : 0.0, entry(a_q, r, c));
        }
}

/* From above, as of any set of shapes that grows: 3.9266^2 of the beam that is pinned and free. */
static void test_clamped_modes_on_a_loose_hinge_tend_to_the_pinned_beam(void)
{
    const double pinned = 3.92660231204792 * 3.92660231204792;
    const struct dyn_input none = {0};
    double before = HUGE_VAL;
    for (int modes = 1; modes <= 6; modes++) {
        struct swing swing = {.modes = modes, .m = 1.0 / 3.0};
        double x[NV_MAX] = {1.0};
        for (int p = 0; p < modes; p++) {
            const double w = beam_frequency(&unit, bending(p));
            swing.h[p] = moment_of(bending(p), 1.0, 1);
            swing.square[p] = w * w;
        }
        tree_begin(&tree);
        add_bending(-1, DYN_JOINT_REVOLUTE, modes, &lumps[0]);
        tree_build(&tree);
        linearize(&none);
        const double square = root_of(&swing, 0), w = sqrt(square);
        put_shape(&swing, square, 0, 1.0, x);
        assert_mode(square, x);
        TEST_ASSERT_TRUE(w > pinned && w < before);
        before = w;
        printf("%2d modes: pinned-free %.6f, off by %.2g\n", modes, w, w / pinned - 1.0);
    }
    TEST_ASSERT_TRUE(before < 1.00001 * pinned);
}

/* ---- what spins --------------------------------------------------------------------------- */

enum { SPUN = 6 };
static const struct beam_mode spun[SPUN] = {{BEAM_Y, 1}, {BEAM_Y, 2},       {BEAM_Z, 1},
                                            {BEAM_Z, 2}, {BEAM_STRETCH, 1}, {BEAM_STRETCH, 2}};
static const double RADIUS = 0.4; /* of the hub */

/* int (radius + x) int_0^x phi_p' phi_q' dm */
static double stiffened(struct beam_mode p, struct beam_mode q)
{
    double at[POINTS], weight[POINTS], sum = 0.0;
    if (p.way != q.way || p.way == BEAM_STRETCH)
        return 0.0;
    beam_points(POINTS, unit.length, at, weight);
    for (int k = 0; k < POINTS; k++)
        sum += weight[k] * (RADIUS + at[k]) * beam_drawn(&unit, p, q, at[k]);
    return sum;
}

/* int phi_p phi_q dm */
static double overlap(struct beam_mode p, struct beam_mode q)
{
    double at[POINTS], weight[POINTS], sum = 0.0;
    beam_points(POINTS, unit.length, at, weight);
    for (int k = 0; k < POINTS; k++)
        sum += weight[k] * beam_shape(&unit, p, at[k]) * beam_shape(&unit, q, at[k]);
    return sum;
}

/* A hub that turns as prescribed, with a beam of all kinds of modes. */
static void spin(enum dyn_fidelity fidelity, double speed)
{
    const unsigned char held[NV_MAX] = {1};
    const struct dyn_input input = {.held = held};
    tree_begin(&tree);
    const int hub = tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 0.0, 1.0);
    const int beam = add_beam(hub, DYN_JOINT_FIXED, fidelity, SPUN, spun, &lumps[0]);
    tree.spec[beam].place_xyz[0] = RADIUS;
    tree_build(&tree);
    tree.v[0] = speed;
    linearize(&input);
}

/* Spin about z: what lies in its plane, y and x, is drawn outward. */
static void test_a_spinning_hub_stiffens_its_beam_as_each_fidelity_has_it(void)
{
    static const enum dyn_fidelity fidelity[] = {DYN_FLEX_CONSISTENT, DYN_FLEX_INCONSISTENT,
                                                 DYN_FLEX_RUTHLESS};
    const double speed = 3.0;
    for (int f = 0; f < 3; f++) {
        spin(fidelity[f], speed);
        for (int p = 0; p < SPUN; p++)
            for (int q = 0; q < SPUN; q++) {
                const double w = beam_frequency(&unit, spun[p]);
                double k = p == q ? w * w : 0.0;
                if (fidelity[f] == DYN_FLEX_CONSISTENT)
                    k += speed * speed * stiffened(spun[p], spun[q]);
                if (fidelity[f] != DYN_FLEX_RUTHLESS && spun[p].way != BEAM_Z && p == q)
                    k -= speed * speed;
                TEST_ASSERT_DOUBLE_WITHIN(1e-9 * (1.0 + w * w), -k, entry(a_q, 1 + p, 1 + q));
            }
    }
}

/* Coriolis: y'' = -2 W x', x'' = 2 W y'. */
static void test_a_spinning_hub_couples_stretch_and_bending(void)
{
    const double speed = 3.0;
    spin(DYN_FLEX_CONSISTENT, speed);
    for (int p = 0; p < SPUN; p++)
        for (int q = 0; q < SPUN; q++) {
            double c = 0.0;
            if (spun[p].way == BEAM_Y && spun[q].way == BEAM_STRETCH)
                c = -2.0 * speed * overlap(spun[p], spun[q]);
            if (spun[p].way == BEAM_STRETCH && spun[q].way == BEAM_Y)
                c = 2.0 * speed * overlap(spun[p], spun[q]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-10, c, entry(a_v, 1 + p, 1 + q));
        }
    spin(DYN_FLEX_RUTHLESS, speed);
    for (int p = 0; p < SPUN; p++)
        for (int q = 0; q < SPUN; q++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-10, 0.0, entry(a_v, 1 + p, 1 + q));
}

/*
 * A body of mass m and inertia J on the tip, its centre c further out, at the spin W:
 *      (1 + m s s' + J r r') eta'' + (w^2 + W^2 (stiffened - 1 + m (R d - s s'))) eta = 0
 * with s = phi + c phi', r = phi' and d = int phi' phi' + c phi' phi' at the tip, R its radius.
 */
static void test_what_a_spinning_tip_carries_weighs_and_stiffens(void)
{
    enum { MODES = 4 };
    const double m = 0.7, c = 0.2, J = 0.05, speed = 2.5;
    const unsigned char held[NV_MAX] = {1};
    const struct dyn_input input = {.held = held};
    double M[MODES * MODES], K[MODES * MODES];

    tree_begin(&tree);
    const int hub = tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 0.0, 1.0);
    const int beam = add_bending(hub, DYN_JOINT_FIXED, MODES, &lumps[0]);
    struct dyn_body_spec *tip = &tree.spec[tree_add(&tree, beam, DYN_JOINT_FIXED, 0, 0, 0)];
    tree.spec[beam].place_xyz[0] = RADIUS;
    tip->node = 1;
    tip->mass = m;
    tip->center[0] = c;
    memcpy(tip->inertia, (double[6]){J, J, J}, sizeof tip->inertia);
    tree_build(&tree);
    tree.v[0] = speed;
    linearize(&input);
    for (int p = 0; p < MODES; p++)
        for (int q = 0; q < MODES; q++) {
            const double turn_p = beam_slope(&unit, bending(p), 1.0);
            const double turn_q = beam_slope(&unit, bending(q), 1.0);
            const double s_p = beam_shape(&unit, bending(p), 1.0) + c * turn_p;
            const double s_q = beam_shape(&unit, bending(q), 1.0) + c * turn_q;
            const double d = beam_drawn(&unit, bending(p), bending(q), 1.0) + c * turn_p * turn_q;
            const double w = p == q ? beam_frequency(&unit, bending(p)) : 0.0;
            M[p * MODES + q] = (p == q) + m * s_p * s_q + J * turn_p * turn_q;
            K[p * MODES + q] = -w * w - speed * speed *
                                            (stiffened(bending(p), bending(q)) - (p == q) +
                                             m * ((RADIUS + 1.0 + c) * d - s_p * s_q));
        }
    dense_solve_rows(MODES, M, K, MODES);
    for (int p = 0; p < MODES; p++)
        for (int q = 0; q < MODES; q++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-8 * (1.0 + fabs(K[p * MODES + q])), K[p * MODES + q],
                                      entry(a_q, 1 + p, 1 + q));
}

/* A column under a load: thrust g along the beam takes g int int phi' phi' from its stiffness. */
static void test_thrust_along_a_beam_softens_it(void)
{
    enum { MODES = 3 };
    const double g = 4.0;
    const struct dyn_input input = {.gravity = {-g, 0.0, 0.0}};
    double at[POINTS], weight[POINTS];
    beam_points(POINTS, unit.length, at, weight);
    tree_begin(&tree);
    add_bending(-1, DYN_JOINT_FIXED, MODES, &lumps[0]);
    tree_build(&tree);
    linearize(&input);
    for (int p = 0; p < MODES; p++)
        for (int q = 0; q < MODES; q++) {
            const double w = p == q ? beam_frequency(&unit, bending(p)) : 0.0;
            double k = w * w;
            for (int i = 0; i < POINTS; i++)
                k -= g * weight[i] * beam_drawn(&unit, bending(p), bending(q), at[i]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-9 * (1.0 + fabs(k)), -k, entry(a_q, p, q));
        }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_hub_with_two_beams_turns_against_them);
    RUN_TEST(test_a_hub_with_two_beams_travels_against_them);
    RUN_TEST(test_a_locked_hinge_leaves_the_frequencies_of_the_clamped_beam);
    RUN_TEST(test_clamped_modes_on_a_loose_hinge_tend_to_the_pinned_beam);
    RUN_TEST(test_a_spinning_hub_stiffens_its_beam_as_each_fidelity_has_it);
    RUN_TEST(test_a_spinning_hub_couples_stretch_and_bending);
    RUN_TEST(test_what_a_spinning_tip_carries_weighs_and_stiffens);
    RUN_TEST(test_thrust_along_a_beam_softens_it);
    return UNITY_END();
}
