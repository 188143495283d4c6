/*
 * Slopes of the equations of motion against closed forms, which share no code with them, and
 * against differences of sixth order, which share only the equations themselves.
 */
#include "dynamics/analysis/linearize.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/kinematics.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/joint_force.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "tests/dynamics/flex/flexible.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { NV_MAX = 160, ENTRY_MAX = NV_MAX * NV_MAX };

static const double STEP = 5e-4; /* of the differences: their error grows with its sixth power */

static struct tree tree;
static struct dyn_linear_work *work;
static double tau_q[ENTRY_MAX], tau_v[ENTRY_MAX], tau_a[ENTRY_MAX];
static double a[NV_MAX], a_q[ENTRY_MAX], a_v[ENTRY_MAX], a_tau[ENTRY_MAX];
static double near_q[ENTRY_MAX], near_v[ENTRY_MAX]; /* what the differences say */
static struct dyn_rnea_derivative slope = {tau_q, tau_v, tau_a};
static struct dyn_linear linear = {a, a_q, a_v, a_tau};
static _Alignas(64) unsigned char work_mem[1 << 22];

void setUp(void)
{
}

void tearDown(void)
{
}

/* Work and answers full of NaN, but for the pointers in the work. */
static void place_work(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof work_mem, dyn_linear_work_size(tree.model));
    TEST_ASSERT_LESS_OR_EQUAL_INT(NV_MAX, dyn_model_nv(tree.model));
    memset(work_mem, 0xff, sizeof work_mem);
    work = dyn_linear_work_place(tree.model, work_mem);
    for (double *each[] = {tau_q, tau_v, tau_a, a_q, a_v, a_tau, NULL}, **e = each; *e != NULL; e++)
        memset(*e, 0xff, sizeof tau_q);
}

static void linearize(const struct dyn_input *input)
{
    const struct dyn_state state = tree_state(&tree);
    place_work();
    dyn_linearize(tree.model, &state, input, work, &linear);
}

static double entry(const double *matrix, int row, int column)
{
    return matrix[row * dyn_model_nv(tree.model) + column];
}

/* ---- differences -------------------------------------------------------------------------- */

/* What is differentiated: nv numbers at a state. */
typedef void answer_fn(const struct dyn_state *state, const void *self, double *answer);

static void add_answer(answer_fn *answer, const void *self, int k, int along_q, double weight,
                       double step, double *column)
{
    const int nv = dyn_model_nv(tree.model);
    double q[TREE_NV_MAX], v[TREE_NV_MAX], unit[TREE_NV_MAX] = {0.0}, out[TREE_NV_MAX];
    const struct dyn_state state = {q, v};

    memcpy(q, tree.q, sizeof q);
    memcpy(v, tree.v, sizeof v);
    unit[k] = 1.0;
    if (along_q)
        dyn_position_advance(tree.model, unit, step, q);
    else
        v[k] += step;
    answer(&state, self, out);
    for (int r = 0; r < nv; r++)
        column[r * nv] += weight * out[r];
}

static void difference(answer_fn *answer, const void *self, int along_q, double *matrix)
{
    static const double weight[3] = {45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};
    const int nv = dyn_model_nv(tree.model);

    memset(matrix, 0, (size_t)(nv * nv) * sizeof *matrix);
    for (int k = 0; k < nv; k++)
        for (int p = 1; p <= 3; p++) {
            const double w = weight[p - 1] / STEP;
            add_answer(answer, self, k, along_q, w, p * STEP, matrix + k);
            add_answer(answer, self, k, along_q, -w, -p * STEP, matrix + k);
        }
}

struct inverse {
    const double *a;
    const struct dyn_input *input;
};

static void inverse_answer(const struct dyn_state *state, const void *self, double *answer)
{
    const struct inverse *inverse = self;
    dyn_rnea(tree.model, state, inverse->a, inverse->input, tree.work, answer);
}

static void forward_answer(const struct dyn_state *state, const void *self, double *answer)
{
    struct dyn_output output = {.a = answer};
    dyn_aba(tree.model, state, self, tree.work, &output);
}

/* Of the matrix, relative to its largest number. */
static double error_of(const double *got, const double *wanted)
{
    const int count = dyn_model_nv(tree.model) * dyn_model_nv(tree.model);
    double error = 0.0, largest = 1.0;
    for (int k = 0; k < count; k++) {
        error = fmax(error, isfinite(got[k]) ? fabs(got[k] - wanted[k]) : HUGE_VAL);
        largest = fmax(largest, fabs(wanted[k]));
    }
    return error / largest;
}

static void assert_near(double bound, const double *got, const double *wanted, uint64_t seed)
{
    char message[80];
    const double error = error_of(got, wanted);
    snprintf(message, sizeof message, "tree %d: error %.3g", (int)seed, error);
    TEST_ASSERT_TRUE_MESSAGE(error < bound, message);
}

/* A limit that begins to push within reach of the differences has no slope; stand clear of it. */
static void clear_limits(void)
{
    for (int k = 0; k < tree.model->force_entry_count; k++) {
        const struct dyn_joint_force_entry *at = &tree.model->force_entry[k];
        if (at->q_at < 0)
            continue;
        const double q = tree.q[at->q_at], v = tree.v[at->v_at], far = 6.0 * STEP;
        const double here = dyn_joint_force_derivative(&at->force_spec, q, v).dq;
        for (int s = 0; s < 8; s++) {
            const double there =
                dyn_joint_force_derivative(&at->force_spec, q + far * cos(0.785 * s),
                                           v + far * sin(0.785 * s))
                    .dq;
            if (there != here)
                tree.q[at->q_at] = 0.0;
        }
    }
}

/* Loads, a lift that turns and accelerations, for any tree. */
static struct dyn_input random_input(void)
{
    struct dyn_input input = tree_input(&tree);
    for (int i = 0; i < tree.body_count; i++)
        for (int k = 0; k < 3; k++)
            tree.load[i].at[k] = 0.5 * tree_noise();
    for (int k = 0; k < 6; k++)
        input.base_acceleration[k] = tree_noise();
    for (int k = 0; k < dyn_model_nv(tree.model); k++)
        tree.a[k] = 3.0 * tree_noise();
    return input;
}

/* A vehicle of every joint, law and rotor, with loads at points, in a lift that turns. */
static struct dyn_input random_vehicle(uint64_t seed)
{
    tree_random(&tree, 2 + (int)(seed % 15), seed % 3 == 0, seed);
    clear_limits();
    return random_input();
}

static void test_inverse_dynamics_change_as_differences_say(void)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        const struct dyn_input input = random_vehicle(seed);
        const struct dyn_state state = tree_state(&tree);
        const struct inverse inverse = {tree.a, &input};
        place_work();
        dyn_rnea_differentiate(tree.model, &state, tree.a, &input, work, &slope);
        difference(inverse_answer, &inverse, 1, near_q);
        difference(inverse_answer, &inverse, 0, near_v);
        assert_near(1e-10, tau_q, near_q, seed);
        assert_near(1e-10, tau_v, near_v, seed);
    }
}

static void test_forward_dynamics_change_as_differences_say(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct dyn_input input = random_vehicle(seed);
        const struct dyn_state state = tree_state(&tree);
        linearize(&input);
        difference(forward_answer, &input, 1, near_q);
        difference(forward_answer, &input, 0, near_v);
        assert_near(1e-9, a_q, near_q, seed);
        assert_near(1e-9, a_v, near_v, seed);
        forward_answer(&state, &input, tree.a);
        for (int k = 0; k < dyn_model_nv(tree.model); k++)
            TEST_ASSERT_EQUAL_DOUBLE(tree.a[k], a[k]);
    }
}

/* M M^-1 = 1 with M by composite bodies. */
static void test_forces_act_through_the_inverse_of_the_mass_matrix(void)
{
    static _Alignas(64) unsigned char crba_mem[1 << 22];
    static double M[ENTRY_MAX];
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const struct dyn_input input = random_vehicle(seed);
        const struct dyn_state state = tree_state(&tree);
        const int nv = dyn_model_nv(tree.model);
        linearize(&input);
        dyn_crba(tree.model, &state, dyn_crba_work_place(tree.model, crba_mem), M);
        for (int r = 0; r < nv; r++)
            for (int c = 0; c < nv; c++) {
                double sum = 0.0;
                for (int k = 0; k < nv; k++)
                    sum += entry(M, r, k) * entry(a_tau, k, c);
                TEST_ASSERT_DOUBLE_WITHIN(1e-9, r == c, sum);
            }
    }
}

static void test_held_velocities_leave_the_equations(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        unsigned char held[NV_MAX];
        double held_a[NV_MAX], unit[NV_MAX] = {0.0};
        struct dyn_input input = random_vehicle(seed);
        const int nv = dyn_model_nv(tree.model);
        for (int k = 0; k < nv; k++) {
            held[k] = tree_noise() > 0.3;
            held_a[k] = tree_noise();
        }
        input.held = held;
        input.held_a = held_a;
        linearize(&input);
        difference(forward_answer, &input, 1, near_q);
        difference(forward_answer, &input, 0, near_v);
        for (int r = 0; r < nv; r++)
            for (int c = 0; c < nv; c++)
                if (held[c])
                    near_q[r * nv + c] = near_v[r * nv + c] = 0.0;
        assert_near(1e-9, a_q, near_q, seed);
        assert_near(1e-9, a_v, near_v, seed);
        for (int c = 0; c < nv; c++) { /* the answer is linear in tau, so any step will do */
            const struct dyn_state state = tree_state(&tree);
            double more[NV_MAX];
            memcpy(unit, tree.tau, sizeof unit);
            unit[c] += 1.0;
            input.tau = unit;
            forward_answer(&state, &input, more);
            for (int r = 0; r < nv; r++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-8, held[c] ? 0.0 : more[r] - a[r], entry(a_tau, r, c));
        }
    }
}

static void test_held_velocities_have_rows_and_columns_of_zeros(void)
{
    unsigned char held[NV_MAX] = {0};
    struct dyn_input input = random_vehicle(21);
    const int nv = dyn_model_nv(tree.model);
    TEST_ASSERT_GREATER_THAN_INT(8, nv);
    held[3] = held[7] = 1;
    input.held = held;
    linearize(&input);
    for (const double *each[] = {a_q, a_v, a_tau, NULL}, **e = each; *e != NULL; e++)
        for (int k = 0; k < nv; k++)
            for (int h = 3; h <= 7; h += 4) {
                TEST_ASSERT_EQUAL_DOUBLE(0.0, entry(*e, h, k));
                TEST_ASSERT_EQUAL_DOUBLE(0.0, entry(*e, k, h));
            }
}

static void test_work_carries_nothing_between_calls(void)
{
    static double again[ENTRY_MAX];
    const struct dyn_input input = random_vehicle(24);
    const struct dyn_state state = tree_state(&tree);
    const size_t size = (size_t)(dyn_model_nv(tree.model) * dyn_model_nv(tree.model)) * sizeof *a_q;
    linearize(&input);
    memcpy(again, a_v, size);
    dyn_linearize(tree.model, &state, &input, work, &linear);
    TEST_ASSERT_EQUAL_MEMORY(again, a_v, size);
}

static void test_a_tree_that_cannot_move_has_nothing_to_say(void)
{
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_FIXED, 0.0, 0.0, 1.0);
    tree_build(&tree);
    const struct dyn_input input = {.gravity = {0.0, 0.0, -9.81}};
    linearize(&input);
    TEST_ASSERT_TRUE(isnan(a_q[0]));
}

/* ---- bodies that bend --------------------------------------------------------------------- */

/* The same vehicle with modes of any fidelity, joints and bolts on nodes, psi2 and theta2. */
static struct dyn_input random_flexible(uint64_t seed)
{
    flexible_random(&tree, 1 + (int)(seed % 9), seed % 3 == 0, seed);
    clear_limits();
    return random_input();
}

static void test_inverse_dynamics_of_what_bends_change_as_differences_say(void)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        const struct dyn_input input = random_flexible(seed);
        const struct dyn_state state = tree_state(&tree);
        const struct inverse inverse = {tree.a, &input};
        place_work();
        dyn_rnea_differentiate(tree.model, &state, tree.a, &input, work, &slope);
        difference(inverse_answer, &inverse, 1, near_q);
        difference(inverse_answer, &inverse, 0, near_v);
        assert_near(1e-10, tau_q, near_q, seed);
        assert_near(1e-10, tau_v, near_v, seed);
    }
}

static void test_forward_dynamics_of_what_bends_change_as_differences_say(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const struct dyn_input input = random_flexible(seed);
        const struct dyn_state state = tree_state(&tree);
        linearize(&input);
        difference(forward_answer, &input, 1, near_q);
        difference(forward_answer, &input, 0, near_v);
        assert_near(1e-8, a_q, near_q, seed);
        assert_near(1e-8, a_v, near_v, seed);
        forward_answer(&state, &input, tree.a);
        for (int k = 0; k < dyn_model_nv(tree.model); k++)
            TEST_ASSERT_EQUAL_DOUBLE(tree.a[k], a[k]);
    }
}

/* M a_tau = 1, but for what is held: joints, for modes never are. */
static void test_held_joints_of_what_bends_leave_the_equations(void)
{
    static _Alignas(64) unsigned char crba_mem[1 << 22];
    static double M[ENTRY_MAX];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        unsigned char held[NV_MAX] = {0};
        struct dyn_input input = random_flexible(seed);
        const struct dyn_state state = tree_state(&tree);
        const int nv = dyn_model_nv(tree.model);
        for (int i = 0; i < tree.model->link_count; i++)
            for (int k = 0; k < dyn_tree_link_nv(&tree.model->link[i]); k++)
                held[tree.model->link[i].v_at + k] = tree_noise() > 0.3;
        input.held = held;
        linearize(&input);
        difference(forward_answer, &input, 1, near_q);
        difference(forward_answer, &input, 0, near_v);
        dyn_crba(tree.model, &state, dyn_crba_work_place(tree.model, crba_mem), M);
        for (int r = 0; r < nv; r++)
            for (int c = 0; c < nv; c++) {
                double sum = 0.0;
                if (held[c])
                    near_q[r * nv + c] = near_v[r * nv + c] = 0.0;
                for (int k = 0; k < nv; k++)
                    sum += entry(M, r, k) * entry(a_tau, k, c);
                if (!held[r])
                    TEST_ASSERT_DOUBLE_WITHIN(1e-9, r == c, sum);
            }
        assert_near(1e-8, a_q, near_q, seed);
        assert_near(1e-8, a_v, near_v, seed);
    }
}

static void test_a_lead_of_the_modes_does_not_matter(void)
{
    static double plain[ENTRY_MAX];
    struct dyn_input input = random_flexible(6);
    const size_t size = (size_t)(dyn_model_nv(tree.model) * dyn_model_nv(tree.model)) * sizeof *a_q;
    TEST_ASSERT_GREATER_THAN_INT(0, tree.model->modal_count);
    linearize(&input);
    memcpy(plain, a_q, size);
    input.modal_implicit_step = 0.01;
    linearize(&input);
    TEST_ASSERT_EQUAL_MEMORY(plain, a_q, size);
}

/* ---- joints that mimic -------------------------------------------------------------------- */

static struct tree twin;    /* the same vehicle, its joints on their own */
static double G[ENTRY_MAX]; /* twin's velocities by those of the tree */

static int has_one_screw(const struct dyn_body_spec *spec)
{
    return spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC;
}

/* Some joints follow others, before or behind them. */
static int add_mimics(void)
{
    int count = 0;
    for (int i = 0; i < tree.body_count; i++) {
        const int leader = (int)(0.5 * (tree_noise() + 1.0) * tree.body_count);
        int led = 0;
        for (int k = 0; k < tree.body_count; k++)
            led |= tree.spec[k].mimic.on && tree.spec[k].mimic.leader == i;
        if (led || leader == i || tree.spec[leader].mimic.on || !has_one_screw(&tree.spec[i]) ||
            !has_one_screw(&tree.spec[leader]))
            continue;
        tree.spec[i].mimic = (struct dyn_mimic){1, leader, 2.0 * tree_noise(), tree_noise()};
        count++;
    }
    return count;
}

/* Twin and its G, in the state of the tree. */
static void take_twin(void)
{
    const int nv = dyn_model_nv(tree.model);
    memset(G, 0, sizeof G);
    for (int i = 0; i < tree.body_count; i++) {
        const struct dyn_mimic *mimic = &tree.spec[i].mimic;
        const int from = mimic->on ? mimic->leader : i;
        const int q = dyn_model_q_index(tree.model, from), v = dyn_model_v_index(tree.model, from);
        const int to_q = dyn_model_q_index(twin.model, i), to_v = dyn_model_v_index(twin.model, i);
        const double ratio = mimic->on ? mimic->ratio : 1.0;
        for (int k = 0; k < dyn_joint_nq(&twin.spec[i]); k++)
            twin.q[to_q + k] = ratio * tree.q[q + k] + (mimic->on ? mimic->offset : 0.0);
        for (int k = 0; k < dyn_joint_nv(&twin.spec[i]); k++) {
            G[(to_v + k) * nv + v + k] = ratio;
            twin.v[to_v + k] = ratio * tree.v[v + k];
        }
    }
}

/* G' X G */
static void fold_twin(const double *X, double *folded)
{
    const int nv = dyn_model_nv(tree.model), full = dyn_model_nv(twin.model);
    memset(folded, 0, (size_t)(nv * nv) * sizeof *folded);
    for (int i = 0; i < full; i++)
        for (int j = 0; j < full; j++)
            for (int r = 0; r < nv; r++)
                for (int c = 0; c < nv && G[i * nv + r] != 0.0; c++)
                    folded[r * nv + c] += G[i * nv + r] * X[i * full + j] * G[j * nv + c];
}

/* What the twin says of the tree's slopes, with accelerations of the tree. */
static void twin_slopes(const struct dyn_input *input, const double *accelerations, double *q,
                        double *v, double *M)
{
    static _Alignas(64) unsigned char twin_mem[1 << 22];
    static double each[3][ENTRY_MAX];
    struct dyn_rnea_derivative full = {each[0], each[1], each[2]};
    const struct dyn_state state = tree_state(&twin);
    for (int i = 0; i < dyn_model_nv(twin.model); i++) {
        twin.a[i] = 0.0;
        for (int k = 0; k < dyn_model_nv(tree.model); k++)
            twin.a[i] += G[i * dyn_model_nv(tree.model) + k] * accelerations[k];
    }
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof twin_mem, dyn_linear_work_size(twin.model));
    dyn_rnea_differentiate(twin.model, &state, twin.a, input,
                           dyn_linear_work_place(twin.model, twin_mem), &full);
    fold_twin(each[0], q);
    fold_twin(each[1], v);
    fold_twin(each[2], M);
}

/* A random vehicle some of whose joints follow; 0 where none does. */
static int random_mimics(uint64_t seed)
{
    random_vehicle(seed);
    for (int i = 0; i < tree.body_count; i++) /* no limits, which have no slope where they begin */
        for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
            tree.spec[i].force_spec[k].limit_stiffness = tree.spec[i].force_spec[k].limit_damping =
                0.0;
    memcpy(&twin, &tree, sizeof twin);
    const int count = add_mimics();
    tree_build(&twin);
    tree_build(&tree);
    for (int i = 0; i < tree.body_count; i++) /* places but for the quaternions' */
        for (int k = 0; k < dyn_joint_nq(&tree.spec[i]); k++)
            if (tree.spec[i].joint != DYN_JOINT_SPHERICAL &&
                (tree.spec[i].joint != DYN_JOINT_FREE || k < 3))
                tree.q[dyn_model_q_index(tree.model, i) + k] = tree_noise();
    if (count > 0)
        take_twin();
    return count;
}

static void test_joints_that_mimic_fold_into_their_leaders(void)
{
    static double M[ENTRY_MAX];
    int count = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        if (random_mimics(seed) == 0)
            continue;
        const struct dyn_state state = tree_state(&tree);
        const struct dyn_input input = tree_input(&tree);
        count++;
        place_work();
        dyn_rnea_differentiate(tree.model, &state, tree.a, &input, work, &slope);
        twin_slopes(&input, tree.a, near_q, near_v, M);
        assert_near(1e-13, tau_q, near_q, seed);
        assert_near(1e-13, tau_v, near_v, seed);
        assert_near(1e-13, tau_a, M, seed);
    }
    TEST_ASSERT_GREATER_THAN_INT(30, count);
}

static void test_joints_that_mimic_change_as_differences_say(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        if (random_mimics(seed) == 0)
            continue;
        const struct dyn_input input = tree_input(&tree);
        linearize(&input);
        difference(forward_answer, &input, 1, near_q);
        difference(forward_answer, &input, 0, near_v);
        assert_near(1e-8, a_q, near_q, seed);
        assert_near(1e-8, a_v, near_v, seed);
    }
}

static void test_joints_that_mimic_beside_what_bends_change_as_differences_say(void)
{
    int count = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        flexible_random(&tree, 4 + (int)(seed % 6), seed % 3 == 0, seed);
        if (add_mimics() == 0)
            continue;
        count++;
        flexible_build(&tree);
        tree_unlimit(&tree);
        const struct dyn_input input = random_input();
        linearize(&input);
        difference(forward_answer, &input, 1, near_q);
        difference(forward_answer, &input, 0, near_v);
        assert_near(1e-8, a_q, near_q, seed);
        assert_near(1e-8, a_v, near_v, seed);
    }
    TEST_ASSERT_GREATER_THAN_INT(20, count);
}

/* M a_q + tau_q = 0, M a_v + tau_v = 0 and M a_tau = 1, but for what is held */
static void test_joints_that_mimic_accelerate_with_their_leaders(void)
{
    static double M[ENTRY_MAX], rest[3][ENTRY_MAX], none[ENTRY_MAX];
    for (uint64_t seed = 1; seed <= 100; seed++) {
        if (random_mimics(seed) == 0)
            continue;
        unsigned char held[NV_MAX] = {0};
        struct dyn_input input = tree_input(&tree);
        const int nv = dyn_model_nv(tree.model);
        for (int k = 0; k < nv && seed % 2 == 1; k++)
            held[k] = tree_noise() > 0.5;
        input.held = held;
        linearize(&input);
        twin_slopes(&input, a, near_q, near_v, M);
        for (int r = 0; r < nv; r++)
            for (int c = 0; c < nv; c++) {
                const int at = r * nv + c;
                rest[0][at] = near_q[at];
                rest[1][at] = near_v[at];
                rest[2][at] = r == c ? -1.0 : 0.0;
                if (held[r] || held[c])
                    rest[0][at] = rest[1][at] = rest[2][at] = 0.0;
                for (int k = 0; k < nv && !held[r]; k++) {
                    rest[0][at] += entry(M, r, k) * entry(a_q, k, c);
                    rest[1][at] += entry(M, r, k) * entry(a_v, k, c);
                    rest[2][at] += entry(M, r, k) * entry(a_tau, k, c);
                }
            }
        for (int m = 0; m < 3; m++)
            assert_near(1e-7, rest[m], none, seed);
    }
}

/* ---- closed forms ------------------------------------------------------------------------- */

static const double g = 9.81;

/* A rod on a hinge about y, its centre at r along -z: (J + m r^2) a = -m g r sin q - k q - d v */
static void test_a_pendulum_has_its_textbook_slopes(void)
{
    tree_begin(&tree);
    const int rod = tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 1.0, 0.0);
    tree.spec[rod].mass = 3.0;
    tree.spec[rod].center[2] = -0.7;
    tree.spec[rod].force_spec[0] = (struct dyn_joint_force_spec){
        .stiffness = 4.0, .damping = 0.5, .coulomb = 2.0, .coulomb_speed = 0.1};
    tree_build(&tree);
    const double J = 1.0 + 3.0 * 0.49;
    for (int k = 0; k < 20; k++) {
        const double q = 0.3 * k, v = 0.02 * k - 0.2, t = tanh(10.0 * v);
        const struct dyn_input input = {.gravity = {0.0, 0.0, -g}};
        tree.q[0] = q;
        tree.v[0] = v;
        linearize(&input);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, -(3.0 * g * 0.7 * cos(q) + 4.0) / J, a_q[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, -(0.5 + 20.0 * (1.0 - t * t)) / J, a_v[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1.0 / J, a_tau[0]);
    }
}

/*
 * Lin and Yae's example: two links in a vertical plane, about y, centres at c along x.  With
 * B = m2 l c2 cos q2 the mass matrix is [A + 2 B, D + B; D + B, D], and gravity asks for
 *      g2 = -m2 g c2 cos(q1 + q2),   g1 = -(m1 c1 + m2 l) g cos q1 + g2.
 * Held at rest by tau = g, a_q = -M^-1 dg/dq and a_v = 0.
 */
static void test_a_planar_arm_at_rest_has_its_textbook_slopes(void)
{
    const double m1 = 2.0, m2 = 1.5, c1 = 0.4, c2 = 0.3, l = 0.9;
    tree_begin(&tree);
    const int upper = tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 1.0, 0.0);
    const int lower = tree_add(&tree, upper, DYN_JOINT_REVOLUTE, 0.0, 1.0, 0.0);
    tree.spec[upper].mass = m1;
    tree.spec[upper].center[0] = c1;
    tree.spec[lower].mass = m2;
    tree.spec[lower].center[0] = c2;
    tree.spec[lower].place_xyz[0] = l;
    tree_build(&tree);
    for (int k = 0; k < 20; k++) {
        const double q1 = 0.4 * k, q2 = 1.0 - 0.7 * k;
        const double B = m2 * l * c2 * cos(q2), D = 1.0 + m2 * c2 * c2;
        const double M11 = 1.0 + m1 * c1 * c1 + m2 * l * l + D + 2.0 * B, M12 = D + B;
        const double k2 = m2 * g * c2 * sin(q1 + q2), k1 = (m1 * c1 + m2 * l) * g * sin(q1) + k2;
        const double det = M11 * D - M12 * M12;
        tree.tau[1] = -m2 * g * c2 * cos(q1 + q2);
        tree.tau[0] = -(m1 * c1 + m2 * l) * g * cos(q1) + tree.tau[1];
        tree.q[0] = q1;
        tree.q[1] = q2;
        const struct dyn_input input = {.gravity = {0.0, 0.0, -g}, .tau = tree.tau};
        linearize(&input);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, a[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, -(D * k1 - M12 * k2) / det, a_q[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, -(D * k2 - M12 * k2) / det, a_q[1]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, -(M11 * k2 - M12 * k1) / det, a_q[2]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, -(M11 - M12) * k2 / det, a_q[3]);
        for (int e = 0; e < 4; e++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, a_v[e]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, D / det, a_tau[0]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, -M12 / det, a_tau[1]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, M11 / det, a_tau[3]);
    }
}

/* r'' = r w^2 and (J + m r^2) w' = -2 m r r' w + tau */
static void test_a_bead_on_a_rod_has_its_textbook_slopes(void)
{
    const double J = 1.0, m = 0.8;
    tree_begin(&tree);
    const int rod = tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 0.0, 1.0);
    const int bead = tree_add(&tree, rod, DYN_JOINT_PRISMATIC, 1.0, 0.0, 0.0);
    tree.spec[bead].mass = m;
    memset(tree.spec[bead].inertia, 0, sizeof tree.spec[bead].inertia);
    tree_build(&tree);
    for (int k = 1; k < 20; k++) {
        const double r = 0.1 * k, w = sin(k), rd = cos(3 * k), tau = 0.3 * k;
        const double I = J + m * r * r, wd = (tau - 2.0 * m * r * rd * w) / I;
        tree.q[1] = r;
        tree.v[0] = w;
        tree.v[1] = rd;
        tree.tau[0] = tau;
        const struct dyn_input input = {.tau = tree.tau};
        linearize(&input);
        const double q[4] = {0.0, (-2.0 * m * rd * w - 2.0 * m * r * wd) / I, 0.0, w * w};
        const double v[4] = {-2.0 * m * r * rd / I, -2.0 * m * r * w / I, 2.0 * r * w, 0.0};
        for (int e = 0; e < 4; e++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, q[e], a_q[e]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, v[e], a_v[e]);
        }
    }
}

/*
 * A body that flies and spins: Euler's equations I dw/dt = -w x I w and dv/dt = g - w x v, whose
 * gravity turns against the body: d(R'g) = R'g x dq.
 */
static void test_a_spinning_body_has_the_slopes_of_eulers_equations(void)
{
    const double I[3] = {1.0, 1.7, 2.2}, w[3] = {0.3, -1.1, 0.7}, u[3] = {2.0, 0.5, -3.0};
    tree_begin(&tree);
    const int body = tree_add(&tree, -1, DYN_JOINT_FREE, 0.0, 0.0, 0.0);
    memcpy(tree.spec[body].inertia, I, sizeof I);
    tree_build(&tree);
    memcpy(tree.v, w, sizeof w);
    memcpy(tree.v + 3, u, sizeof u);
    const struct dyn_input input = {.gravity = {1.0, 2.0, -g}};
    linearize(&input);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        /* I_i dw_i/dt = (I_j - I_k) w_j w_k */
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, entry(a_v, i, i));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, (I[j] - I[k]) * w[k] / I[i], entry(a_v, i, j));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, (I[j] - I[k]) * w[j] / I[i], entry(a_v, i, k));
        /* dv_i/dt = g_i - w_j u_k + w_k u_j */
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, entry(a_v, 3 + i, i));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, -u[k], entry(a_v, 3 + i, j));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, u[j], entry(a_v, 3 + i, k));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, w[k], entry(a_v, 3 + i, 3 + j));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, -w[j], entry(a_v, 3 + i, 3 + k));
        /* dv_i/dt = (g x dq)_i = g_j dq_k - g_k dq_j */
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, input.gravity[j], entry(a_q, 3 + i, k));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, -input.gravity[k], entry(a_q, 3 + i, j));
        for (int c = 0; c < 6; c++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, entry(a_q, i, c));
    }
}

/* Galileo: no acceleration asks how fast the vehicle goes, and none may lose digits to it. */
static void assert_speed_does_not_matter(void)
{
    static double slow_q[ENTRY_MAX], slow_v[ENTRY_MAX];
    const struct dyn_input input = tree_input(&tree);
    const int nv = dyn_model_nv(tree.model);
    tree.v[3] = tree.v[4] = tree.v[5] = 0.0;
    linearize(&input);
    memcpy(slow_q, a_q, sizeof a_q);
    memcpy(slow_v, a_v, sizeof a_v);
    tree.v[3] = 7500.0;
    linearize(&input);
    for (int r = 0; r < nv; r++)
        for (int c = 0; c < nv; c++) {
            const int swung = r >= 3 && r < 6 && c < 3; /* -dw x v */
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, entry(slow_q, r, c), entry(a_q, r, c));
            if (!swung)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10, entry(slow_v, r, c), entry(a_v, r, c));
        }
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, entry(slow_v, 4, 2) - 7500.0, entry(a_v, 4, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, entry(slow_v, 5, 1) + 7500.0, entry(a_v, 5, 1));
}

static void test_orbital_speed_costs_no_digits(void)
{
    tree_random(&tree, 12, 1, 99);
    assert_speed_does_not_matter();
    flexible_random(&tree, 8, 1, 99);
    TEST_ASSERT_GREATER_THAN_INT(2, tree.model->node_count);
    assert_speed_does_not_matter();
}

/* ---- first order -------------------------------------------------------------------------- */

/* The small step from one place of a quaternion or free link to another, in its own axes. */
static void step_between(const struct dyn_tree_link *link, const double *from, const double *to,
                         double *step)
{
    const int free = link->kind == DYN_TREE_LINK_FREE;
    const struct dyn_quat at = dyn_quat_load(from + (free ? 3 : 0));
    const struct dyn_quat turn =
        dyn_quat_mul(dyn_quat_conjugate(at), dyn_quat_load(to + (free ? 3 : 0)));
    dyn_vec3_store(dyn_scale(2.0, (struct dyn_vec3){turn.x, turn.y, turn.z}), step);
    if (free)
        dyn_vec3_store(dyn_quat_rotate(dyn_quat_conjugate(at),
                                       dyn_sub(dyn_vec3_load(to), dyn_vec3_load(from))),
                       step + 3);
}

/* Two motions side by side, one step apart: how the step itself moves. */
static void test_steps_drift_as_their_axes_turn(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        static double drift[ENTRY_MAX];
        random_vehicle(seed);
        const int nv = dyn_model_nv(tree.model);
        double dq[NV_MAX], dv[NV_MAX], fast[TREE_NV_MAX], q0[TREE_NV_MAX], q1[TREE_NV_MAX];
        dyn_linear_drift(tree.model, tree.v, drift);
        for (int k = 0; k < nv; k++) {
            dq[k] = 1e-6 * tree_noise();
            dv[k] = 1e-6 * tree_noise();
            fast[k] = tree.v[k] + dv[k];
        }
        for (int i = 0; i < tree.model->link_count; i++) {
            const struct dyn_tree_link *link = &tree.model->link[i];
            double step[2][6];
            for (int s = 0; s < 2 && dyn_tree_link_nv(link) > 1; s++) {
                const double h = s == 0 ? -1e-4 : 1e-4;
                memcpy(q0, tree.q, sizeof q0);
                memcpy(q1, tree.q, sizeof q1);
                dyn_position_advance(tree.model, dq, 1.0, q1);
                dyn_position_advance(tree.model, tree.v, h, q0);
                dyn_position_advance(tree.model, fast, h, q1);
                step_between(link, q0 + link->q_at, q1 + link->q_at, step[s]);
            }
            for (int r = 0; r < dyn_tree_link_nv(link); r++) {
                const int at = link->v_at + r;
                double rate = dv[at];
                for (int c = 0; c < nv; c++)
                    rate += entry(drift, at, c) * dq[c];
                if (dyn_tree_link_nv(link) > 1)
                    TEST_ASSERT_DOUBLE_WITHIN(1e-10, rate, (step[1][r] - step[0][r]) / 2e-4);
                else
                    TEST_ASSERT_EQUAL_DOUBLE(dv[at], rate);
            }
        }
    }
}

/* Lin and Yae: a state off by 1e-6 is answered to a relative error of about 1e-6. */
static void test_a_small_deviation_is_answered_to_first_order(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const struct dyn_input input = random_vehicle(seed);
        const int nv = dyn_model_nv(tree.model);
        double dq[NV_MAX], dv[NV_MAX], q[TREE_NV_MAX], v[TREE_NV_MAX], moved[TREE_NV_MAX];
        const struct dyn_state state = {q, v};
        linearize(&input);
        memcpy(q, tree.q, sizeof q);
        for (int k = 0; k < nv; k++) {
            dq[k] = 1e-6 * tree_noise();
            dv[k] = 1e-6 * tree_noise();
            v[k] = tree.v[k] + dv[k];
        }
        dyn_position_advance(tree.model, dq, 1.0, q);
        forward_answer(&state, &input, moved);
        double error = 0.0, largest = 0.0;
        for (int r = 0; r < nv; r++) {
            double change = 0.0;
            for (int c = 0; c < nv; c++)
                change += entry(a_q, r, c) * dq[c] + entry(a_v, r, c) * dv[c];
            error = fmax(error, fabs(moved[r] - a[r] - change));
            largest = fmax(largest, fabs(change));
        }
        TEST_ASSERT_TRUE(error <= 2e-5 * largest);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_inverse_dynamics_change_as_differences_say);
    RUN_TEST(test_forward_dynamics_change_as_differences_say);
    RUN_TEST(test_forces_act_through_the_inverse_of_the_mass_matrix);
    RUN_TEST(test_held_velocities_leave_the_equations);
    RUN_TEST(test_held_velocities_have_rows_and_columns_of_zeros);
    RUN_TEST(test_work_carries_nothing_between_calls);
    RUN_TEST(test_a_tree_that_cannot_move_has_nothing_to_say);
    RUN_TEST(test_inverse_dynamics_of_what_bends_change_as_differences_say);
    RUN_TEST(test_forward_dynamics_of_what_bends_change_as_differences_say);
    RUN_TEST(test_held_joints_of_what_bends_leave_the_equations);
    RUN_TEST(test_a_lead_of_the_modes_does_not_matter);
    RUN_TEST(test_joints_that_mimic_fold_into_their_leaders);
    RUN_TEST(test_joints_that_mimic_change_as_differences_say);
    RUN_TEST(test_joints_that_mimic_beside_what_bends_change_as_differences_say);
    RUN_TEST(test_joints_that_mimic_accelerate_with_their_leaders);
    RUN_TEST(test_a_pendulum_has_its_textbook_slopes);
    RUN_TEST(test_a_planar_arm_at_rest_has_its_textbook_slopes);
    RUN_TEST(test_a_bead_on_a_rod_has_its_textbook_slopes);
    RUN_TEST(test_a_spinning_body_has_the_slopes_of_eulers_equations);
    RUN_TEST(test_orbital_speed_costs_no_digits);
    RUN_TEST(test_steps_drift_as_their_axes_turn);
    RUN_TEST(test_a_small_deviation_is_answered_to_first_order);
    return UNITY_END();
}
