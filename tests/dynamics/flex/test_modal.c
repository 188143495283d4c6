/*
 * Modal integrals against sums over the particles they stand for.
 */
#include "dynamics/flex/modal.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/cholesky.h"
#include "tests/dynamics/tree.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

enum { MODES = 3, STATIONS = 7, ROOM = 15 * MODES + 22 * MODES * MODES };

/* Stations with tables of their own; psi2 is a table only when asked for. */
static struct body {
    struct dyn_station station[STATIONS];
    double psi[STATIONS][MODES][3], theta[STATIONS][MODES][3], psi2[STATIONS][MODES][MODES][3];
} body;

static struct motion {
    double v[3], w[3], eta[MODES], xi[MODES];
} motion;

static double room[ROOM];

void setUp(void)
{
}

void tearDown(void)
{
}

static void noise(double *out, int count)
{
    for (int k = 0; k < count; k++)
        out[k] = tree_noise();
}

static void random_table2(double table[MODES][MODES][3])
{
    for (int p = 0; p < MODES; p++)
        for (int q = 0; q <= p; q++) {
            noise(table[p][q], 3);
            memcpy(table[q][p], table[p][q], sizeof table[p][q]);
        }
}

/* Inertias are those of three rods, so positive and of no symmetry. */
static void random_inertia(double inertia[6])
{
    memset(inertia, 0, 6 * sizeof *inertia);
    for (int k = 0; k < 3; k++) {
        double a[3];
        noise(a, 3);
        const double square[6] = {a[1] * a[1] + a[2] * a[2],
                                  a[0] * a[0] + a[2] * a[2],
                                  a[0] * a[0] + a[1] * a[1],
                                  -a[0] * a[1],
                                  -a[0] * a[2],
                                  -a[1] * a[2]};
        for (int i = 0; i < 6; i++)
            inertia[i] += 0.1 * square[i];
    }
}

static void random_body(uint64_t seed, int second_order)
{
    tree_noise_seed(seed);
    for (int k = 0; k < STATIONS; k++) {
        struct dyn_station *s = &body.station[k];
        noise(s->r, 3);
        s->mass = 1.5 + tree_noise();
        random_inertia(s->inertia);
        noise(&body.psi[k][0][0], MODES * 3);
        noise(&body.theta[k][0][0], MODES * 3);
        random_table2(body.psi2[k]);
        s->psi = &body.psi[k][0][0];
        s->theta = &body.theta[k][0][0];
        s->psi2 = second_order ? &body.psi2[k][0][0][0] : NULL;
    }
    noise(motion.v, 3);
    noise(motion.w, 3);
    noise(motion.eta, MODES);
    noise(motion.xi, MODES);
}

/* --- kinetic energy, twice ----------------------------------------------------------------- */

/* Place and velocity in body axes of one station, from its shapes. */
static void particle(const struct dyn_station *s, double x[3], double velocity[3])
{
    double rate[3] = {0};
    memcpy(x, s->r, 3 * sizeof *x);
    for (int p = 0; p < MODES; p++) {
        vec_add(motion.eta[p], s->psi + 3 * p, x);
        vec_add(motion.xi[p], s->psi + 3 * p, rate);
        for (int q = 0; s->psi2 != NULL && q < MODES; q++) {
            const double *psi2 = s->psi2 + 3 * (p * MODES + q);
            vec_add(0.5 * motion.eta[p] * motion.eta[q], psi2, x);
            vec_add(motion.eta[p] * motion.xi[q], psi2, rate);
        }
    }
    vec_cross(motion.w, x, velocity);
    vec_add(1.0, motion.v, velocity);
    vec_add(1.0, rate, velocity);
}

static double energy_of_particles(void)
{
    double energy = 0.0;
    for (int k = 0; k < STATIONS; k++) {
        const struct dyn_station *s = &body.station[k];
        double x[3], velocity[3], spin[3], moment[3];
        struct vec_mat I;
        particle(s, x, velocity);
        memcpy(spin, motion.w, sizeof spin);
        for (int p = 0; p < MODES; p++)
            vec_add(motion.xi[p], s->theta + 3 * p, spin);
        vec_symmetric(s->inertia, &I);
        vec_multiply(&I, spin, moment);
        energy += 0.5 * s->mass * vec_dot(velocity, velocity) + 0.5 * vec_dot(spin, moment);
    }
    return energy;
}

/* W_p = L_p + sum (N_pq + L2_pq) eta_q, by rows. */
static void weights(const struct dyn_flex *f, int p, double W[9])
{
    memcpy(W, f->L + 9 * p, 9 * sizeof *W);
    for (int q = 0; q < MODES; q++)
        for (int i = 0; i < 9; i++) {
            W[i] += motion.eta[q] * f->N[9 * (p * MODES + q) + i];
            if (f->L2 != NULL)
                W[i] += motion.eta[q] * f->L2[9 * (p * MODES + q) + i];
        }
}

/* m c and J of the deformed body, and each mode's momenta, as dynamics/flex/flex.h writes them. */
struct momenta {
    double mc[3], J[3][3], P[MODES][3], H[MODES][3];
};

static void momenta_of(const struct dyn_modal *modal, struct momenta *m)
{
    const struct dyn_flex *f = &modal->flex;
    struct vec_mat J;
    double Z[9] = {0};
    memset(m, 0, sizeof *m);
    vec_add(modal->mass, modal->center, m->mc);
    for (int p = 0; p < MODES; p++) {
        double W[9];
        weights(f, p, W);
        for (int i = 0; i < 9; i++)
            Z[i] += motion.eta[p] * (W[i] + f->L[9 * p + i / 3 + 3 * (i % 3)]);
        m->H[p][0] = W[7] - W[5] + f->S[3 * p];
        m->H[p][1] = W[2] - W[6] + f->S[3 * p + 1];
        m->H[p][2] = W[3] - W[1] + f->S[3 * p + 2];
        vec_add(1.0, f->P + 3 * p, m->P[p]);
        vec_add(motion.eta[p], f->P + 3 * p, m->mc);
        for (int q = 0; f->P2 != NULL && q < MODES; q++) {
            const double *P2 = f->P2 + 3 * (p * MODES + q);
            vec_add(motion.eta[q], P2, m->P[p]);
            vec_add(0.5 * motion.eta[p] * motion.eta[q], P2, m->mc);
        }
    }
    vec_symmetric(modal->inertia, &J);
    vec_steiner(modal->mass, modal->center, &J);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            m->J[r][c] =
                J.row[r][c] + (r == c) * (Z[0] + Z[4] + Z[8]) - 0.5 * (Z[3 * r + c] + Z[3 * c + r]);
}

static double energy_of_integrals(const struct dyn_modal *modal)
{
    struct momenta m;
    double turning[3];
    momenta_of(modal, &m);
    vec_cross(motion.w, m.mc, turning);
    double energy = 0.5 * modal->mass * vec_dot(motion.v, motion.v) + vec_dot(motion.v, turning);
    for (int r = 0; r < 3; r++)
        energy += 0.5 * motion.w[r] * vec_dot(m.J[r], motion.w);
    for (int p = 0; p < MODES; p++) {
        energy += motion.xi[p] * (vec_dot(motion.v, m.P[p]) + vec_dot(motion.w, m.H[p]));
        for (int q = 0; q < MODES; q++)
            energy += 0.5 * motion.xi[p] * modal->flex.M[p * MODES + q] * motion.xi[q];
    }
    return energy;
}

static void shrink(double scale)
{
    for (int p = 0; p < MODES; p++) {
        motion.eta[p] *= scale;
        motion.xi[p] *= scale;
    }
}

static void test_energy_without_second_order_is_that_of_the_particles(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct dyn_modal modal = {0};
        random_body(seed, 0);
        dyn_modal_integrate(body.station, STATIONS, MODES, room, &modal);
        const double want = energy_of_particles();
        TEST_ASSERT_DOUBLE_WITHIN(1e-13 * want, want, energy_of_integrals(&modal));
    }
}

/* What is missing falls by eight with half the deflection: nothing of first or second order. */
static void test_energy_with_second_order_lacks_the_third(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct dyn_modal modal = {0};
        random_body(seed, 1);
        dyn_modal_integrate(body.station, STATIONS, MODES, room, &modal);
        shrink(1e-4);
        const double coarse = energy_of_integrals(&modal) - energy_of_particles();
        shrink(0.5);
        const double fine = energy_of_integrals(&modal) - energy_of_particles();
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, coarse, 8.0 * fine);
    }
}

/* --- by hand ------------------------------------------------------------------------------- */

static void test_integrals_of_one_point_are_what_a_pencil_says(void)
{
    const double psi[6] = {0.0, 0.5, 0.0, 0.0, 0.0, 4.0}, theta[6] = {1.0, 0.0, 0.0, 0.0, 2.0, 0.0};
    const double psi2[12] = {-1.0, 0, 0, -2.0, 0, 0, -2.0, 0, 0, -3.0, 0, 0};
    const struct dyn_station point = {.r = {3.0, 0.0, 1.0},
                                      .mass = 2.0,
                                      .inertia = {5.0, 6.0, 7.0, 0.0, 0.0, 0.0},
                                      .psi = psi,
                                      .theta = theta,
                                      .psi2 = psi2};
    struct dyn_modal m = {0};
    dyn_modal_integrate(&point, 1, 2, room, &m);

    TEST_ASSERT_EQUAL_DOUBLE(2.0, m.mass);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(point.r, m.center, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(point.inertia, m.inertia, 6);
    TEST_ASSERT_EQUAL_INT(2, m.flex.modes);
    const double P[6] = {0, 1, 0, 0, 0, 8}, S[6] = {5, 0, 0, 0, 12, 0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(P, m.flex.P, 6);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(S, m.flex.S, 6);
    const double L[18] = {0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 0, 8};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(L, m.flex.L, 18);
    const double N12[9] = {0, 0, 0, 0, 0, 4, 0, 0, 0}, N21[9] = {0, 0, 0, 0, 0, 0, 0, 4, 0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(N12, m.flex.N + 9, 9);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(N21, m.flex.N + 18, 9);
    const double M[4] = {0.5 + 5.0, 0.0, 0.0, 32.0 + 24.0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(M, m.flex.M, 4);
    const double P2[12] = {-2, 0, 0, -4, 0, 0, -4, 0, 0, -6, 0, 0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(P2, m.flex.P2, 12);
    const double L2_12[9] = {-12, 0, -4, 0, 0, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(L2_12, m.flex.L2 + 9, 9);
}

static void test_two_points_have_their_centre_and_inertia(void)
{
    const double psi[3] = {0};
    const struct dyn_station pair[2] = {{.r = {100.0, 1.0, 0.0}, .mass = 1.0, .psi = psi},
                                        {.r = {100.0, -1.0, 0.0}, .mass = 3.0, .psi = psi}};
    const double center[3] = {100.0, -0.5, 0.0}, inertia[6] = {3.0, 0.0, 3.0, 0.0, 0.0, 0.0};
    struct dyn_modal m = {0};
    dyn_modal_integrate(pair, 2, 1, room, &m);
    TEST_ASSERT_EQUAL_DOUBLE(4.0, m.mass);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(center, m.center, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(inertia, m.inertia, 6);
    TEST_ASSERT_NULL(m.flex.P2);
    TEST_ASSERT_NULL(m.flex.L2);
}

static void test_the_room_is_used_to_its_end_and_not_beyond(void)
{
    double wide[ROOM + 1];
    struct dyn_modal modal = {0};
    random_body(3, 1);
    for (int k = 0; k <= ROOM; k++)
        wide[k] = (double)NAN;
    TEST_ASSERT_EQUAL_size_t(ROOM, dyn_modal_storage_count(MODES));
    dyn_modal_integrate(body.station, STATIONS, MODES, wide, &modal);
    for (int k = 0; k < ROOM; k++)
        TEST_ASSERT_FALSE(isnan(wide[k]));
    TEST_ASSERT_TRUE(isnan(wide[ROOM]));
}

/* --- clamping ------------------------------------------------------------------------------ */

/* A node with tables of its own. */
struct place {
    double r[3], psi[MODES][3], theta[MODES][3], psi2[MODES][MODES][3], theta2[MODES][MODES][3];
};

static void random_place(struct place *place)
{
    noise(place->r, 3);
    noise(&place->psi[0][0], MODES * 3);
    noise(&place->theta[0][0], MODES * 3);
    random_table2(place->psi2);
    random_table2(place->theta2);
}

static struct dyn_node node_of(const struct place *place)
{
    struct dyn_node node = {.psi = &place->psi[0][0],
                            .theta = &place->theta[0][0],
                            .psi2 = &place->psi2[0][0][0],
                            .theta2 = &place->theta2[0][0][0]};
    memcpy(node.r, place->r, sizeof node.r);
    return node;
}

static void clamp(const struct place *root, struct place *place)
{
    const struct dyn_node node = node_of(root);
    dyn_modal_clamp(&node, MODES, place->r, &place->psi[0][0], &place->theta[0][0],
                    &place->psi2[0][0][0], &place->theta2[0][0][0]);
}

static void sum_orders(const double first[MODES][3], const double second[MODES][MODES][3],
                       double out[3])
{
    for (int p = 0; p < MODES; p++) {
        vec_add(motion.eta[p], first[p], out);
        for (int q = 0; q < MODES; q++)
            vec_add(0.5 * motion.eta[p] * motion.eta[q], second[p][q], out);
    }
}

/* Where the place is and how it is turned: Gibbs' vector theta/2 is a quaternion 1, theta/2. */
static void pose_of(const struct place *place, double x[3], struct vec_mat *R)
{
    double theta[3] = {0};
    memcpy(x, place->r, 3 * sizeof *x);
    sum_orders(place->psi, place->psi2, x);
    sum_orders(place->theta, place->theta2, theta);
    const double q[4] = {1.0, 0.5 * theta[0], 0.5 * theta[1], 0.5 * theta[2]};
    vec_quat_matrix(q, R);
}

/* How far the clamped shapes are from the old ones as seen from the old root's frame. */
static double clamped_error(const struct place *root, const struct place *old,
                            const struct place *clamped)
{
    double origin[3], x[3], seen[3], error = 0.0;
    struct vec_mat R_root, R, turned;
    pose_of(root, origin, &R_root);
    pose_of(old, x, &R);
    vec_add(-1.0, origin, x);
    vec_multiply_t(&R_root, x, x);
    vec_add(1.0, root->r, x);
    pose_of(clamped, seen, &turned);
    for (int i = 0; i < 3; i++) {
        error = fmax(error, fabs(x[i] - seen[i]));
        for (int j = 0; j < 3; j++) {
            double want = 0.0;
            for (int k = 0; k < 3; k++)
                want += R_root.row[k][i] * R.row[k][j];
            error = fmax(error, fabs(want - turned.row[i][j]));
        }
    }
    return error;
}

static void test_clamped_shapes_are_the_old_ones_relative_to_the_root(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct place root, old, clamped;
        random_body(seed, 0);
        random_place(&root);
        random_place(&old);
        clamped = old;
        clamp(&root, &clamped);
        shrink(1e-3);
        const double coarse = clamped_error(&root, &old, &clamped);
        shrink(0.5);
        const double fine = clamped_error(&root, &old, &clamped);
        TEST_ASSERT_TRUE(coarse < 1e-7);
        TEST_ASSERT_DOUBLE_WITHIN(0.2, 8.0, coarse / fine);
    }
}

static void test_a_clamped_root_stands_still(void)
{
    struct place root, same;
    random_body(1, 0);
    random_place(&root);
    same = root;
    clamp(&root, &same);
    const double *numbers = &same.psi[0][0];
    for (size_t k = 0; k < (sizeof same - sizeof same.r) / sizeof(double); k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0, numbers[k]);
}

static void test_a_root_may_be_clamped_by_itself_when_it_is_last(void)
{
    struct place root, same;
    random_body(2, 0);
    random_place(&root);
    same = root;
    clamp(&same, &same);
    const double *numbers = &same.psi[0][0];
    for (size_t k = 0; k < (sizeof same - sizeof same.r) / sizeof(double); k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.0, numbers[k]);
}

static void test_tables_that_are_not_there_stay_zero(void)
{
    struct place root, full, less;
    random_body(4, 0);
    random_place(&root);
    random_place(&full);
    less = full;
    clamp(&root, &full);
    const struct dyn_node node = node_of(&root);
    dyn_modal_clamp(&node, MODES, less.r, &less.psi[0][0], NULL, NULL, NULL);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(&full.psi[0][0], &less.psi[0][0], MODES * 3);
}

/* Any rigid motion of the old frame with any modal rates is one of the new frame with the same
 * rates: at rest in the undeformed shape, energies are equal to rounding. */
static void test_clamping_keeps_the_energy_of_any_motion(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct dyn_modal modal = {0};
        struct place root;
        random_body(seed, 0);
        random_place(&root);
        memset(motion.eta, 0, sizeof motion.eta);
        const double want = energy_of_particles();

        const struct dyn_node node = node_of(&root);
        for (int k = 0; k < STATIONS; k++)
            dyn_modal_clamp(&node, MODES, body.station[k].r, &body.psi[k][0][0],
                            &body.theta[k][0][0], NULL, NULL);
        for (int p = 0; p < MODES; p++) {
            double swing[3];
            vec_cross(root.theta[p], root.r, swing);
            vec_add(motion.xi[p], root.psi[p], motion.v);
            vec_add(-motion.xi[p], swing, motion.v);
            vec_add(motion.xi[p], root.theta[p], motion.w);
        }
        dyn_modal_integrate(body.station, STATIONS, MODES, room, &modal);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13 * want, want, energy_of_integrals(&modal));
    }
}

/* --- effective mass ------------------------------------------------------------------------ */

static double share_of(const struct dyn_modal *modal)
{
    double scratch[MODES * MODES];
    return dyn_modal_effective_mass(&modal->flex, modal->mass, modal->center, modal->inertia,
                                    scratch);
}

/* Is { M_rr, a M_rf ; a M_fr, M_ff } positive?  About the origin, in plain loops. */
static int positive_with(const struct dyn_modal *modal, double a)
{
    enum { N = 6 + MODES };
    struct momenta m;
    double A[N][N] = {{0}};
    memset(motion.eta, 0, sizeof motion.eta);
    momenta_of(modal, &m);
    const double *c = m.mc;
    const double cross[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[i][j] = i == j ? modal->mass : 0.0;
            A[3 + i][j] = cross[i][j];
            A[3 + i][3 + j] = m.J[i][j];
        }
    for (int p = 0; p < MODES; p++)
        for (int i = 0; i < 3; i++) {
            A[6 + p][i] = a * m.P[p][i];
            A[6 + p][3 + i] = a * m.H[p][i];
        }
    for (int p = 0; p < MODES; p++)
        for (int q = 0; q < MODES; q++)
            A[6 + p][6 + q] = modal->flex.M[p * MODES + q];
    dyn_cholesky_factor(N, &A[0][0]);
    return !isnan(A[N - 1][N - 1]);
}

static void test_the_share_says_when_the_mass_matrix_ends_to_be_positive(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct dyn_modal modal = {0};
        random_body(seed, 0);
        dyn_modal_integrate(body.station, STATIONS, MODES, room, &modal);
        const double share = share_of(&modal);
        TEST_ASSERT_TRUE(share > 0.0 && share < 1.0);
        TEST_ASSERT_TRUE(positive_with(&modal, sqrt((1.0 - 1e-9) / share)));
        TEST_ASSERT_FALSE(positive_with(&modal, sqrt((1.0 + 1e-9) / share)));
    }
}

static void test_a_mode_that_moves_one_of_two_masses_has_its_share(void)
{
    const double still[3] = {0}, moves[3] = {0.3, 0.4, 1.2};
    const struct dyn_station pair[2] = {{.mass = 1.0, .psi = still}, {.mass = 3.0, .psi = moves}};
    struct dyn_modal modal = {0};
    dyn_modal_integrate(pair, 2, 1, room, &modal);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.75, share_of(&modal));
}

static void test_an_axis_without_inertia_has_no_share(void)
{
    const double still[3] = {0};
    tree_noise_seed(7);
    for (int k = 0; k < 100; k++) {
        double axis[3], aside[3], up[3];
        struct dyn_station line[3] = {
            {.mass = 1.0, .psi = still}, {.mass = 1.0, .psi = up}, {.mass = 2.0, .psi = still}};
        struct dyn_modal modal = {0};
        noise(axis, 3);
        noise(aside, 3);
        vec_cross(axis, aside, up);
        const double length = sqrt(vec_dot(axis, axis));
        for (int i = 0; i < 3; i++)
            vec_add((10.0 + i) / length, axis, line[i].r);
        dyn_modal_integrate(line, 3, 1, room, &modal);

        /* Of 1 at -5/4, 1 at -1/4, 2 at 3/4 about the centre, I = 11/4; the middle one moves. */
        const double want = 1.0 / 4.0 + (1.0 / 16.0) / (11.0 / 4.0);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, want, share_of(&modal));
    }
}

static void test_modes_heavier_than_the_body_are_found(void)
{
    const double P[3] = {1.0, 0.0, 0.0}, L[9] = {0}, turns[3] = {1.0, 0.0, 0.0}, M = 1.0;
    const double center[3] = {0}, inertia[6] = {0.0, 1.0, 1.0};
    double scratch[1];
    const struct dyn_flex moves = {.modes = 1, .P = P, .L = L, .M = &M};
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 2.0,
                              dyn_modal_effective_mass(&moves, 0.5, center, inertia, scratch));
    const struct dyn_flex twists = {.modes = 1, .P = center, .L = L, .S = turns, .M = &M};
    TEST_ASSERT_TRUE(isinf(dyn_modal_effective_mass(&twists, 0.5, center, inertia, scratch)));
    const struct dyn_flex idle = {.modes = 1, .P = center, .L = L, .M = &M};
    TEST_ASSERT_EQUAL_DOUBLE(0.0, dyn_modal_effective_mass(&idle, 0.5, center, inertia, scratch));
}

static void test_a_modal_mass_that_is_not_positive_gives_no_number(void)
{
    const double P[6] = {0}, L[18] = {0}, M[4] = {1.0, 2.0, 2.0, 1.0};
    const double center[3] = {0}, inertia[6] = {1.0, 1.0, 1.0};
    double scratch[4];
    const struct dyn_flex flex = {.modes = 2, .P = P, .L = L, .M = M};
    TEST_ASSERT_TRUE(isnan(dyn_modal_effective_mass(&flex, 1.0, center, inertia, scratch)));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_energy_without_second_order_is_that_of_the_particles);
    RUN_TEST(test_energy_with_second_order_lacks_the_third);
    RUN_TEST(test_integrals_of_one_point_are_what_a_pencil_says);
    RUN_TEST(test_two_points_have_their_centre_and_inertia);
    RUN_TEST(test_the_room_is_used_to_its_end_and_not_beyond);
    RUN_TEST(test_clamped_shapes_are_the_old_ones_relative_to_the_root);
    RUN_TEST(test_a_clamped_root_stands_still);
    RUN_TEST(test_a_root_may_be_clamped_by_itself_when_it_is_last);
    RUN_TEST(test_tables_that_are_not_there_stay_zero);
    RUN_TEST(test_clamping_keeps_the_energy_of_any_motion);
    RUN_TEST(test_the_share_says_when_the_mass_matrix_ends_to_be_positive);
    RUN_TEST(test_a_mode_that_moves_one_of_two_masses_has_its_share);
    RUN_TEST(test_an_axis_without_inertia_has_no_share);
    RUN_TEST(test_modes_heavier_than_the_body_are_found);
    RUN_TEST(test_a_modal_mass_that_is_not_positive_gives_no_number);
    return UNITY_END();
}
