/*
 * Two flexible bars with masses at elbow and tip, joints driven by
 *
 *      phi_1 from -pi/4 to pi/4 in half a second, in three cubic pieces,   phi_2 = -phi_1
 *
 * (Mukherjee and Anderson, eq. 92-93; own data), under gravity, from static equilibrium; against
 * finite elements of any deflection.
 *
 * The truth is inextensible, its unknown the angle th_n of the tangent at every node: with hat
 * functions p_n the tangent is sum p_n (cos th_n, sin th_n) and a place sum q_n (cos th_n, sin
 * th_n), q_n = int p_n.  M_mn = int q_m q_n dm and K_mn = int EI p_m' p_n' never change, and
 *
 *      sum_n [ cos(th_m - th_n) M_mn th''_n + sin(th_n - th_m) (K_mn - M_mn th'_n^2) ] = weight_m
 *
 * The first angle of a bar is given by its joint.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "tests/dynamics/tree.h"
#include "unity.h"

enum { ELEMENTS_MAX = 10, N_MAX = 2 * ELEMENTS_MAX, SAMPLES = 100 };

static const double pi = 3.14159265358979323846, gravity = 9.81, duration = 1.0;
static const struct beam bar[2] = {{0.5, 1.0, 150.0}, {0.5, 0.5, 30.0}};
static const double end_mass[2] = {0.2, 0.1};

void setUp(void)
{
}

void tearDown(void)
{
}

/* phi_1 and its two derivatives */
static void drive(double t, double phi[3])
{
    static const struct {
        double until, c[4];
    } piece[] = {{0.0, {-1.0}},
                 {1.0 / 6.0, {-1.0, 0.0, 0.0, 72.0}},
                 {1.0 / 3.0, {0.0, -18.0, 108.0, -144.0}},
                 {1.0 / 2.0, {-8.0, 54.0, -108.0, 72.0}},
                 {1e9, {1.0}}};
    int k = 0;
    while (t > piece[k].until)
        k++;
    const double *c = piece[k].c;
    phi[0] = 0.25 * pi * (c[0] + t * (c[1] + t * (c[2] + t * c[3])));
    phi[1] = 0.25 * pi * (c[1] + t * (2.0 * c[2] + t * 3.0 * c[3]));
    phi[2] = 0.25 * pi * (2.0 * c[2] + t * 6.0 * c[3]);
}

/* --- what moves, whatever it is --------------------------------------------------------------- */

struct mover {
    int n;
    void (*accelerate)(double t, const double *y, const double *v, double *a);
    void (*tip)(double t, const double *y, double at[2]);
    double y[N_MAX], v[N_MAX];
};

/* Newton's method, with differences for slopes: no acceleration, no speed. */
static void settle(struct mover *m)
{
    const double zero[N_MAX] = {0}, width = 1e-6;
    for (int turn = 0; turn < 8; turn++) {
        double J[N_MAX * N_MAX], a[N_MAX], moved[N_MAX], y[N_MAX];
        m->accelerate(0.0, m->y, zero, a);
        for (int j = 0; j < m->n; j++) {
            memcpy(y, m->y, sizeof y);
            y[j] += width;
            m->accelerate(0.0, y, zero, moved);
            for (int i = 0; i < m->n; i++)
                J[i * m->n + j] = (moved[i] - a[i]) / width;
        }
        dense_solve_rows(m->n, J, a, 1);
        for (int i = 0; i < m->n; i++)
            m->y[i] -= a[i];
    }
    memset(m->v, 0, sizeof m->v);
}

static void rk4(struct mover *m, double t, double h)
{
    static const double ahead[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double v[N_MAX] = {0}, a[N_MAX] = {0}, y_sum[N_MAX] = {0}, v_sum[N_MAX] = {0};
    for (int s = 0; s < 4; s++) {
        double y_now[N_MAX], v_now[N_MAX];
        for (int i = 0; i < m->n; i++) {
            y_now[i] = m->y[i] + ahead[s] * h * v[i];
            v_now[i] = m->v[i] + ahead[s] * h * a[i];
        }
        memcpy(v, v_now, sizeof v);
        m->accelerate(t + ahead[s] * h, y_now, v_now, a);
        for (int i = 0; i < m->n; i++) {
            y_sum[i] += weight[s] * v[i];
            v_sum[i] += weight[s] * a[i];
        }
    }
    for (int i = 0; i < m->n; i++) {
        m->y[i] += h / 6.0 * y_sum[i];
        m->v[i] += h / 6.0 * v_sum[i];
    }
}

/* Where the tip is at every sample. */
struct path {
    double at[SAMPLES + 1][2];
};

static void run(struct mover *m, int steps_per_sample, struct path *path)
{
    const double h = duration / SAMPLES / steps_per_sample;
    settle(m);
    for (int k = 0; k <= SAMPLES; k++) {
        const double t = duration * k / SAMPLES;
        m->tip(t, m->y, path->at[k]);
        for (int s = 0; k < SAMPLES && s < steps_per_sample; s++)
            rk4(m, t + s * h, h);
    }
}

/* --- finite elements -------------------------------------------------------------------------- */

enum { ANGLES_MAX = 2 * (ELEMENTS_MAX + 1) };

static struct {
    int elements, angles; /* of a bar; of both */
    double M[ANGLES_MAX][ANGLES_MAX], K[ANGLES_MAX][ANGLES_MAX];
    double weight[ANGLES_MAX], end[ANGLES_MAX]; /* int q dm; q at the tip */
} fem;

/* int_0^x of the hat over node n, in lengths of an element */
static double hat_integral(int n, int last, double x)
{
    const double left = fmin(fmax(x - (n - 1), 0.0), 1.0), right = fmin(fmax(x - n, 0.0), 1.0);
    return (n > 0 ? 0.5 * left * left : 0.0) + (n < last ? right - 0.5 * right * right : 0.0);
}

/* q of all angles at a place of a bar, in elements from its root */
static void place_row(int on, double x, double q[ANGLES_MAX])
{
    const int E = fem.elements;
    for (int b = 0; b < 2; b++)
        for (int n = 0; n <= E; n++)
            q[b * (E + 1) + n] =
                b > on ? 0.0 : bar[b].length / E * hat_integral(n, E, b < on ? E : x);
}

static void add_mass(int on, double x, double mass)
{
    double q[ANGLES_MAX];
    place_row(on, x, q);
    for (int m = 0; m < fem.angles; m++) {
        fem.weight[m] += mass * q[m];
        for (int n = 0; n < fem.angles; n++)
            fem.M[m][n] += mass * q[m] * q[n];
    }
}

static void add_bending(int on, int element)
{
    const double k = bar[on].stiffness * fem.elements / bar[on].length;
    const int n = on * (fem.elements + 1) + element;
    fem.K[n][n] += k, fem.K[n + 1][n + 1] += k;
    fem.K[n][n + 1] -= k, fem.K[n + 1][n] -= k;
}

static void make_fem(int elements)
{
    double at[3], weight[3]; /* exact: q_m q_n is of fourth degree in an element */
    memset(&fem, 0, sizeof fem);
    fem.elements = elements;
    fem.angles = 2 * (elements + 1);
    beam_points(3, 1.0, at, weight);
    for (int b = 0; b < 2; b++) {
        const double mass = bar[b].density * bar[b].length / elements;
        for (int e = 0; e < elements; e++) {
            add_bending(b, e);
            for (int k = 0; k < 3; k++)
                add_mass(b, e + at[k], mass * weight[k]);
        }
        add_mass(b, elements, end_mass[b]);
    }
    place_row(1, elements, fem.end);
}

/* Angles from unknowns, which are all but the first of each bar; `joint` and its sign: phi_1 on the
 * first bar, and -phi_1 from the end of the first to the second. */
static void all_angles(const double *y, double joint, double th[ANGLES_MAX])
{
    const int E = fem.elements;
    th[0] = joint;
    memcpy(th + 1, y, (size_t)E * sizeof *y);
    th[E + 1] = th[E] - joint;
    memcpy(th + E + 2, y + E, (size_t)E * sizeof *y);
}

/* The angle belongs to this unknown, or to none. */
static int unknown_of(int angle)
{
    const int E = fem.elements;
    if (angle == 0)
        return -1;
    return angle <= E ? angle - 1 : angle == E + 1 ? E - 1 : angle - 2;
}

static void fem_accelerate(double t, const double *y, const double *v, double *a)
{
    const int n_all = fem.angles, n = 2 * fem.elements;
    double phi[3], th[ANGLES_MAX], rate[ANGLES_MAX], given[ANGLES_MAX], c[ANGLES_MAX],
        s[ANGLES_MAX];
    const double zero[N_MAX] = {0};
    static double A[N_MAX * N_MAX];

    drive(t, phi);
    all_angles(y, phi[0], th);
    all_angles(v, phi[1], rate);
    all_angles(zero, phi[2], given); /* accelerations that no unknown causes */
    memset(A, 0, sizeof A);
    memset(a, 0, (size_t)n * sizeof *a);
    for (int m = 0; m < n_all; m++)
        c[m] = cos(th[m]), s[m] = sin(th[m]);
    for (int m = 1; m < n_all; m++) {
        const int row = unknown_of(m);
        a[row] -= gravity * c[m] * fem.weight[m];
        for (int k = 0; k < n_all; k++) {
            const double together = (c[m] * c[k] + s[m] * s[k]) * fem.M[m][k];
            const double across = c[m] * s[k] - s[m] * c[k];
            a[row] -=
                together * given[k] + across * (fem.K[m][k] - fem.M[m][k] * rate[k] * rate[k]);
            if (k > 0)
                A[row * n + unknown_of(k)] += together;
        }
    }
    dense_solve_rows(n, A, a, 1);
}

static void fem_tip(double t, const double *y, double at[2])
{
    double phi[3], th[ANGLES_MAX];
    drive(t, phi);
    all_angles(y, phi[0], th);
    at[0] = at[1] = 0.0;
    for (int m = 0; m < fem.angles; m++) {
        at[0] += fem.end[m] * cos(th[m]);
        at[1] += fem.end[m] * sin(th[m]);
    }
}

static void run_fem(int elements, int steps_per_sample, struct path *path)
{
    struct mover m = {.n = 2 * elements, .accelerate = fem_accelerate, .tip = fem_tip};
    make_fem(elements);
    for (int i = 0; i < elements; i++)
        m.y[i] = -0.25 * pi;
    run(&m, steps_per_sample, path);
}

/* --- modes ------------------------------------------------------------------------------------ */

static struct tree tree;
static struct lumps lumps[2];

/* Clamped-free modes, or (x / L)^2, (x / L)^3 ..., among which is what a force and a moment at the
 * end do at rest. */
enum shapes { CLAMPED_FREE, POWERS };

static void power_lump(const struct beam *beam, int modes, struct lump *lump)
{
    const double x = lump->r[0] / beam->length;
    for (int p = 0; p < modes; p++) {
        lump->psi[3 * p + 1] = pow(x, p + 2);
        lump->theta[3 * p + 2] = (p + 2) * pow(x, p + 1) / beam->length;
        for (int q = 0; q < modes; q++)
            lump->psi2[3 * (p * modes + q)] =
                -(p + 2) * (q + 2) * pow(x, p + q + 3) / (p + q + 3) / beam->length;
    }
}

/* Over clamped-free modes as many. */
static void power_lumps(const struct beam *beam, struct lumps *to)
{
    const int modes = to->modes;
    for (int k = 0; k < to->count; k++)
        power_lump(beam, modes, &to->lump[k]);
    power_lump(beam, modes, &to->node[0]);
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < modes; q++)
            to->K[p * modes + q] = beam->stiffness * (p + 2) * (p + 1) * (q + 2) * (q + 1) /
                                   (p + q + 1) / pow(beam->length, 3.0);
}

static void add_bar(int i, enum shapes shapes, int modes, enum dyn_fidelity fidelity)
{
    static const struct beam_mode mode[] = {{BEAM_Y, 1}, {BEAM_Y, 2}, {BEAM_Y, 3}, {BEAM_Y, 4}};
    const int body = tree_add(&tree, i == 0 ? -1 : 0, DYN_JOINT_REVOLUTE, 0, 0, 1);
    tree.spec[body].node = i > 0;
    beam_lumps(&bar[i], modes, mode, &lumps[i]);
    if (shapes == POWERS)
        power_lumps(&bar[i], &lumps[i]);
    lumps_sum(&lumps[i], fidelity, &tree.spec[body]);
    struct dyn_body_spec *end = &tree.spec[tree_add(&tree, body, DYN_JOINT_FIXED, 0, 0, 0)];
    end->node = 1;
    end->mass = end_mass[i];
    memset(end->inertia, 0, sizeof end->inertia);
}

/* Bar, elbow, bar, tip: phi_1, its modes, phi_2, its modes. */
static void fill(const double *y, double joint, double *out)
{
    const int n = lumps[0].modes;
    out[0] = joint;
    memcpy(out + 1, y, (size_t)n * sizeof *y);
    out[n + 1] = -joint;
    memcpy(out + n + 2, y + n, (size_t)n * sizeof *y);
}

static void modal_accelerate(double t, const double *y, const double *v, double *a)
{
    const int n = lumps[0].modes;
    unsigned char held[N_MAX] = {0};
    double held_a[N_MAX] = {0}, phi[3];
    const struct dyn_state state = tree_state(&tree);
    const struct dyn_input input = {
        .held = held, .held_a = held_a, .gravity = {0.0, -gravity, 0.0}};
    struct dyn_output output = {.a = tree.a};
    drive(t, phi);
    fill(y, phi[0], tree.q);
    fill(v, phi[1], tree.v);
    held[0] = held[n + 1] = 1;
    held_a[0] = phi[2], held_a[n + 1] = -phi[2];
    dyn_aba(tree.model, &state, &input, tree.work, &output);
    memcpy(a, tree.a + 1, (size_t)n * sizeof *a);
    memcpy(a + n, tree.a + n + 2, (size_t)n * sizeof *a);
}

static void modal_tip(double t, const double *y, double at[2])
{
    const int n = lumps[0].modes;
    double phi[3], angle = 0.0;
    drive(t, phi);
    at[0] = at[1] = 0.0;
    for (int b = 0; b < 2; b++) {
        double end[3], turn = 0.0;
        const struct lump *node = &lumps[b].node[0];
        angle += b == 0 ? phi[0] : -phi[0];
        lumps_place(&lumps[b], node, y + b * n, end);
        for (int p = 0; p < n; p++)
            turn += node->theta[3 * p + 2] * y[b * n + p];
        at[0] += cos(angle) * end[0] - sin(angle) * end[1];
        at[1] += sin(angle) * end[0] + cos(angle) * end[1];
        angle += 2.0 * atan(0.5 * turn);
    }
}

static void run_modes(enum shapes shapes, int modes, enum dyn_fidelity fidelity, struct path *path)
{
    struct mover m = {.n = 2 * modes, .accelerate = modal_accelerate, .tip = modal_tip};
    tree_begin(&tree);
    add_bar(0, shapes, modes, fidelity);
    add_bar(1, shapes, modes, fidelity);
    tree_build(&tree);
    TEST_ASSERT_EQUAL_INT(2 * modes + 2, dyn_model_nv(tree.model));
    run(&m, 50, path);
}

/* --- both ------------------------------------------------------------------------------------- */

static double farthest(const struct path *a, const struct path *b)
{
    double most = 0.0;
    for (int k = 0; k <= SAMPLES; k++)
        most = fmax(most, hypot(a->at[k][0] - b->at[k][0], a->at[k][1] - b->at[k][1]));
    return most;
}

/* Of bars that do not bend. */
static void run_rigid(struct path *path)
{
    for (int k = 0; k <= SAMPLES; k++) {
        double phi[3];
        drive(duration * k / SAMPLES, phi);
        path->at[k][0] = bar[0].length * cos(phi[0]) + bar[1].length;
        path->at[k][1] = bar[0].length * sin(phi[0]);
    }
}

/* The elements' error falls with the square of their length: two runs give the limit. */
static void run_truth(struct path *truth)
{
    static struct path coarse, fine;
    run_fem(5, 75, &coarse);
    run_fem(10, 300, &fine);
    for (int k = 0; k <= SAMPLES; k++)
        for (int i = 0; i < 2; i++)
            truth->at[k][i] = (4.0 * fine.at[k][i] - coarse.at[k][i]) / 3.0;
    printf("elements: 5 and 10 differ by %.2g m\n", farthest(&coarse, &fine));
}

static struct path truth;
static double deflection;

/* Of the deflection. */
static double error_of(enum shapes shapes, int modes, enum dyn_fidelity fidelity)
{
    static struct path path;
    run_modes(shapes, modes, fidelity, &path);
    return farthest(&truth, &path) / deflection;
}

static void find_truth(void)
{
    static struct path rigid;
    run_truth(&truth);
    run_rigid(&rigid);
    deflection = farthest(&truth, &rigid);
    printf("tip: deflection up to %.4f m of %.1f m\n", deflection, bar[0].length + bar[1].length);
}

static void test_the_arm_follows_finite_elements_of_any_deflection(void)
{
    for (int modes = 2; modes <= 4; modes++) {
        const double error = error_of(POWERS, modes, DYN_FLEX_CONSISTENT);
        printf("arm, %d powers a bar: off by %.2f %%\n", modes, 100.0 * error);
        TEST_ASSERT_TRUE(error < (modes == 2 ? 0.01 : 0.002));
    }
}

/* A driven elbow bends the end of the first bar, where clamped-free modes do not: of a moment there
 * n of them lack a part that falls as 1 / n. */
static void test_clamped_free_modes_tend_to_the_elements_slowly(void)
{
    const double two = error_of(CLAMPED_FREE, 2, DYN_FLEX_CONSISTENT);
    for (int modes = 1; modes <= 4; modes++) {
        const double error = error_of(CLAMPED_FREE, modes, DYN_FLEX_CONSISTENT);
        printf("arm, %d clamped-free modes a bar: off by %.2f %%\n", modes, 100.0 * error);
        TEST_ASSERT_DOUBLE_WITHIN(0.1 * two, two, 0.5 * modes * error);
    }
}

static void test_the_arm_needs_the_second_order(void)
{
    const double consistent = error_of(POWERS, 3, DYN_FLEX_CONSISTENT);
    const double inconsistent = error_of(POWERS, 3, DYN_FLEX_INCONSISTENT);
    const double ruthless = error_of(POWERS, 3, DYN_FLEX_RUTHLESS);
    printf("arm, 3 powers: inconsistent %.2f %%, ruthless %.2f %%\n", 100.0 * inconsistent,
           100.0 * ruthless);
    TEST_ASSERT_TRUE(inconsistent > 5.0 * consistent);
    TEST_ASSERT_TRUE(ruthless > 5.0 * consistent);
}

int main(void)
{
    UNITY_BEGIN();
    find_truth();
    RUN_TEST(test_the_arm_follows_finite_elements_of_any_deflection);
    RUN_TEST(test_clamped_free_modes_tend_to_the_elements_slowly);
    RUN_TEST(test_the_arm_needs_the_second_order);
    return UNITY_END();
}
