/*
 * Beams against closed forms, a finite-element count and plain integration along the beam.
 */
#include "config/import/beam.h"

#include <math.h>
#include <string.h>

#include "config/import/quadrature.h"
#include "unity.h"

static const double pi = 3.14159265358979323846;
static const struct dyn_pose in_place = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
static struct cfg_load_arena pool;

void setUp(void)
{
}

void tearDown(void)
{
    cfg_load_arena_free(&pool);
}

/* Of unit length, mass and stiffness. */
static struct cfg_beam unit_beam(enum cfg_beam_root root)
{
    return (struct cfg_beam){.pose = in_place,
                             .length = 1.0,
                             .mass = 1.0,
                             .polar = 0.01,
                             .stiffness = {1.0, 1.0, 1.0, 1.0},
                             .root = root};
}

static void set_tip(struct cfg_beam *beam, double mass, double ix, double iy, double iz)
{
    beam->tip_mass = mass;
    beam->tip_inertia[0] = ix;
    beam->tip_inertia[1] = iy;
    beam->tip_inertia[2] = iz;
}

static void set_modes(struct cfg_beam *beam, int y, int z, int twist, int stretch)
{
    const int modes[] = {y, z, twist, stretch};
    memcpy(beam->modes, modes, sizeof modes);
}

static void integrate(const struct cfg_beam *beam, struct cfg_beam_form *form,
                      struct dyn_modal *modal)
{
    TEST_ASSERT_NULL(cfg_beam_problem(beam));
    cfg_beam_shape(&pool, beam, form);
    double *room = cfg_load_arena_take(&pool, dyn_modal_storage_count(form->modes) * sizeof *room);
    dyn_modal_integrate(form->station, form->stations, form->modes, room, modal);
}

/* --- frequencies --------------------------------------------------------------------------- */

static double beta_of(enum cfg_beam_root root, double mass, double inertia, int k)
{
    const struct cfg_beam_span span = {root, mass, inertia};
    return cfg_beam_wave_bending(&span, k).beta;
}

static void test_clamped_frequencies_are_those_of_the_books(void)
{
    static const double beta[] = {1.8751040687119611664, 4.6940911329741745764,
                                  7.8547574382376125649, 10.995540734875466991,
                                  14.137168391046470581};
    for (int k = 0; k < 5; k++)
        TEST_ASSERT_DOUBLE_WITHIN(4e-15 * beta[k], beta[k], beta_of(CFG_ROOT_CLAMPED, 0, 0, k));
}

static void test_free_frequencies_are_those_of_the_books(void)
{
    static const double beta[] = {4.7300407448627040260, 7.8532046240958375565,
                                  10.995607838001670907, 14.137165491257464177};
    for (int k = 0; k < 4; k++)
        TEST_ASSERT_DOUBLE_WITHIN(4e-15 * beta[k], beta[k], beta_of(CFG_ROOT_FREE, 0, 0, k));
}

static void test_pinned_frequencies_are_those_of_the_books(void)
{
    static const double beta[] = {3.9266023120479187782, 7.0685827456287320748,
                                  10.210176122813030545, 13.351768777754093402};
    for (int k = 0; k < 4; k++)
        TEST_ASSERT_DOUBLE_WITHIN(4e-15 * beta[k], beta[k], beta_of(CFG_ROOT_PINNED, 0, 0, k));
}

/* From the tenth on the hyperbolic part is below rounding. */
static void test_high_frequencies_keep_all_digits(void)
{
    static const double phase[] = {
        [CFG_ROOT_CLAMPED] = 0.5, [CFG_ROOT_FREE] = 1.5, [CFG_ROOT_PINNED] = 1.25};
    for (int root = 0; root < 3; root++)
        for (int k = 11; k < DYN_MODES_MAX; k++) {
            const double want = (k + phase[root]) * pi;
            TEST_ASSERT_DOUBLE_WITHIN(1e-15 * want, want,
                                      beta_of((enum cfg_beam_root)root, 0.0, 0.0, k));
        }
}

/* 1 + c C + m b (c S - s C) - j b^3 (c S + s C) + m j b^4 (1 - c C), per C. */
static long double loaded_cantilever(long double m, long double j, long double b)
{
    const long double c = cosl(b), s = sinl(b), C = coshl(b), S = sinhl(b);
    const long double light = 1.0L + c * C, heavy = m * j * b * b * b * b * (1.0L - c * C);
    return (light + m * b * (c * S - s * C) - j * b * b * b * (c * S + s * C) + heavy) / C;
}

static long double bisect_cantilever(long double m, long double j, long double low,
                                     long double high)
{
    const int sign = loaded_cantilever(m, j, low) > 0.0L;
    for (int k = 0; k < 80; k++) {
        const long double middle = 0.5L * (low + high);
        if ((loaded_cantilever(m, j, middle) > 0.0L) == sign)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void test_a_loaded_cantilever_has_all_roots_of_its_equation(void)
{
    static const double load[][2] = {{0.1, 0.0}, {1.0, 0.0},   {100.0, 0.0}, {0.0, 0.3},
                                     {1.0, 0.1}, {0.05, 10.0}, {50.0, 5.0},  {1e-3, 1e-5}};
    const long double step = 0.003L;
    for (int k = 0; k < 8; k++) {
        const long double m = (long double)load[k][0], j = (long double)load[k][1];
        int found = 0;
        for (long double b = step; b < 40.0L; b += step) {
            if (loaded_cantilever(m, j, b) * loaded_cantilever(m, j, b + step) >= 0.0L)
                continue;
            const double want = (double)bisect_cantilever(m, j, b, b + step);
            TEST_ASSERT_DOUBLE_WITHIN(1e-14 * want, want,
                                      beta_of(CFG_ROOT_CLAMPED, load[k][0], load[k][1], found));
            found++;
        }
        TEST_ASSERT_TRUE(found >= 12);
    }
}

/* The cantilever becomes a spring of 3 EI / L^3 that carries 33/140 of itself. */
static void test_a_heavy_tip_hangs_on_a_spring(void)
{
    for (double m = 1e3; m < 1e11; m *= 1e2) {
        const double beta = beta_of(CFG_ROOT_CLAMPED, m, 0.0, 0);
        const double want = 3.0 / (m + 33.0 / 140.0);
        TEST_ASSERT_DOUBLE_WITHIN((1e-14 + 0.01 / m / m) * want, want, pow(beta, 4.0));
    }
}

enum { ELEMENTS = 40, FREEDOMS = 2 * ELEMENTS + 2 };

/* Negative pivots of K - square M of Hermite elements: how many frequencies lie below. */
static int count_by_elements(const struct cfg_beam_span *span, double square)
{
    static const double K[4][4] = {
        {12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
    static const double M[4][4] = {
        {156, 22, 54, -13}, {22, 4, 13, -3}, {54, 13, 156, -22}, {-13, -3, -22, 4}};
    static double A[FREEDOMS][FREEDOMS];
    const double h = 1.0 / ELEMENTS;
    int below = 0;
    memset(A, 0, sizeof A);
    for (int e = 0; e < ELEMENTS; e++)
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++)
                A[2 * e + r][2 * e + c] +=
                    pow(h, r % 2 + c % 2) * (K[r][c] / (h * h * h) - square * M[r][c] * h / 420.0);
    A[FREEDOMS - 2][FREEDOMS - 2] -= square * span->tip_mass;
    A[FREEDOMS - 1][FREEDOMS - 1] -= square * span->tip_inertia;
    if (span->root != CFG_ROOT_FREE)
        A[0][0] += 1e12;
    if (span->root == CFG_ROOT_CLAMPED)
        A[1][1] += 1e12;
    for (int k = 0; k < FREEDOMS; k++) {
        below += A[k][k] < 0.0;
        for (int r = k + 1; r < FREEDOMS && r < k + 4; r++)
            for (int c = FREEDOMS - 1; c > k; c--)
                A[r][c] -= A[r][k] / A[k][k] * A[k][c];
    }
    return below;
}

static void test_finite_elements_count_as_many_frequencies(void)
{
    static const double load[][2] = {{0, 0}, {1, 0}, {0, 0.2}, {0.3, 0.05}, {30, 0.1}, {0.1, 20}};
    static const int rigid[] = {[CFG_ROOT_CLAMPED] = 0, [CFG_ROOT_FREE] = 2, [CFG_ROOT_PINNED] = 1};
    for (int root = 0; root < 3; root++)
        for (int l = 0; l < 6; l++)
            for (int k = 0; k < 6; k++) {
                const struct cfg_beam_span span = {(enum cfg_beam_root)root, load[l][0],
                                                   load[l][1]};
                const double rate = cfg_beam_wave_bending(&span, k).rate, square = rate * rate;
                TEST_ASSERT_EQUAL_INT(rigid[root] + k, count_by_elements(&span, 0.9998 * square));
                TEST_ASSERT_EQUAL_INT(rigid[root] + k + 1,
                                      count_by_elements(&span, 1.0002 * square));
            }
}

static void test_rods_have_the_frequencies_of_a_string_of_sines(void)
{
    for (int k = 0; k < 20; k++) {
        const struct cfg_beam_span clamped = {CFG_ROOT_CLAMPED, 0.0, 0.0};
        const struct cfg_beam_span pinned = {CFG_ROOT_PINNED, 0.0, 0.0};
        const struct cfg_beam_span free = {CFG_ROOT_FREE, 0.0, 0.0};
        TEST_ASSERT_DOUBLE_WITHIN(1e-14 * (k + 1), (k + 0.5) * pi,
                                  cfg_beam_wave_rod(&clamped, k).rate);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14 * (k + 1), (k + 0.5) * pi,
                                  cfg_beam_wave_rod(&pinned, k).rate);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14 * (k + 1), (k + 1.0) * pi,
                                  cfg_beam_wave_rod(&free, k).rate);
    }
}

/* b tan b = 1 / m, and tan b = -m b of a rod that is free. */
static void test_loaded_rods_solve_their_equations(void)
{
    static const double load[] = {0.01, 1.0, 40.0};
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < 10; k++) {
            const double m = load[l];
            const struct cfg_beam_span clamped = {CFG_ROOT_CLAMPED, m, 0.0};
            const struct cfg_beam_span free = {CFG_ROOT_FREE, m, 0.0};
            const double held = cfg_beam_wave_rod(&clamped, k).rate,
                         loose = cfg_beam_wave_rod(&free, k).rate;
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, held, k * pi + atan(1.0 / (m * held)));
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, loose, (k + 1) * pi - atan(m * loose));
        }
}

static void test_frequencies_come_in_units(void)
{
    struct cfg_beam beam = {.pose = in_place,
                            .length = 3.0,
                            .mass = 2.0,
                            .polar = 0.05,
                            .stiffness = {70.0, 40.0, 11.0, 5e5},
                            .modes = {1, 1, 1, 1}};
    const double b = 1.8751040687119611664 * 1.8751040687119611664;
    const double want[4] = {b * sqrt(70.0 / (2.0 * 27.0)), b * sqrt(40.0 / (2.0 * 27.0)),
                            0.5 * pi * sqrt(11.0 / (0.05 * 3.0)), 0.5 * pi * sqrt(5e5 / 6.0)};
    struct cfg_beam_form form;
    cfg_beam_shape(&pool, &beam, &form);
    TEST_ASSERT_EQUAL_INT(4, form.modes);
    for (int p = 0; p < 4; p++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13 * want[p], want[p], form.mode[p].rate);
}

/* --- integrals ----------------------------------------------------------------------------- */

static double P2_x(const struct dyn_flex *flex, int p, int q)
{
    return flex->P2[3 * (p * flex->modes + q)];
}

static double L2_xx(const struct dyn_flex *flex, int p, int q)
{
    return flex->L2[9 * (p * flex->modes + q)];
}

/* mu, eta, E and F of Padilla and von Flotow's beam, for both planes. */
static void test_a_spinning_beam_has_the_integrals_of_its_table(void)
{
    struct cfg_beam beam = unit_beam(CFG_ROOT_CLAMPED);
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    set_modes(&beam, 2, 2, 0, 0);
    integrate(&beam, &form, &modal);
    const struct dyn_flex *flex = &modal.flex;
    for (int p = 0; p < 4; p += 2) {
        const int axis = p == 0 ? 1 : 2;
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, -1.57088, P2_x(flex, p, p));
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, 0.42232, P2_x(flex, p, p + 1));
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, -8.64714, P2_x(flex, p + 1, p + 1));
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, -1.19334, L2_xx(flex, p, p));
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, 0.68586, L2_xx(flex, p, p + 1));
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, -6.47822, L2_xx(flex, p + 1, p + 1));
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, 0.78299, flex->P[3 * p + axis]);
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, 0.43394, flex->P[3 * (p + 1) + axis]);
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, 0.56883, flex->L[9 * p + 3 * axis]);
        TEST_ASSERT_DOUBLE_WITHIN(5e-6, 0.09077, flex->L[9 * (p + 1) + 3 * axis]);
    }
    TEST_ASSERT_EQUAL_DOUBLE(0.0, P2_x(flex, 0, 2));
}

/* The hinged beam of the flexible reference: 10 m, 20 kg, 0.5 Hz in z and 0.8 Hz in y. */
static void test_the_reference_beam_has_its_integrals(void)
{
    const double base = 20.0 * 1000.0 / pow(1.8751040687119611664, 4.0);
    struct cfg_beam beam = {.pose = in_place, .length = 10.0, .mass = 20.0};
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    struct dyn_node tip;
    beam.stiffness[CFG_BEAM_BEND_Y] = base * pow(2.0 * pi * 0.8, 2.0);
    beam.stiffness[CFG_BEAM_BEND_Z] = base * pow(2.0 * pi * 0.5, 2.0);
    set_modes(&beam, 1, 2, 0, 0);
    integrate(&beam, &form, &modal);
    cfg_beam_node(&pool, &form, 10.0, &tip);
    const double P[9] = {0, 3.5016455846530703, 0, 0, 0, 3.5016455846530703, 0,
                         0, 1.940620318689552};
    const double tips[9] = {0, 0.44721359549995794, 0, 0, 0, 0.44721359549995794, 0,
                            0, -0.44721359549995794};
    for (int k = 0; k < 9; k++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, P[k], modal.flex.P[k]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, tips[k], tip.psi[k]);
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 25.43866060574468, modal.flex.L[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 25.43866060574468, modal.flex.L[9 + 6]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 4.05921411154379, modal.flex.L[18 + 6]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.8, form.mode[0].rate / (2.0 * pi));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, form.mode[1].rate / (2.0 * pi));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3.133446512885333, form.mode[2].rate / (2.0 * pi));
}

static void assert_identity(const double *M, int n, double within)
{
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++)
            TEST_ASSERT_DOUBLE_WITHIN(within, p == q ? 1.0 : 0.0, M[p * n + q]);
}

static void test_modes_have_unit_mass_and_are_orthogonal(void)
{
    for (int root = 0; root < 3; root++)
        for (int loaded = 0; loaded < 2; loaded++) {
            struct cfg_beam beam = unit_beam((enum cfg_beam_root)root);
            struct cfg_beam_form form;
            struct dyn_modal modal = {0};
            set_modes(&beam, 16, 16, 16, 16);
            beam.floats = true;
            if (loaded)
                set_tip(&beam, 0.7, 0.02, 0.03, 0.2);
            integrate(&beam, &form, &modal);
            assert_identity(modal.flex.M, 64, 1e-12);
        }
}

static void test_sixty_four_modes_of_one_family_are_still_modes(void)
{
    struct cfg_beam beam = unit_beam(CFG_ROOT_CLAMPED);
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    set_tip(&beam, 1.0, 0.0, 0.0, 0.1);
    set_modes(&beam, 64, 0, 0, 0);
    integrate(&beam, &form, &modal);
    assert_identity(modal.flex.M, 64, 1e-11);
}

/* Strain energy by a rule of its own is half the square of each frequency. */
static void test_strain_energy_is_that_of_the_frequency(void)
{
    enum { POINTS = 80, MODES = 12 };
    double x[POINTS], weight[POINTS];
    cfg_quadrature(POINTS, x, weight);
    for (int root = 0; root < 3; root++)
        for (int k = 0; k < MODES; k++) {
            const struct cfg_beam_span span = {(enum cfg_beam_root)root, 0.4, 0.1};
            const struct cfg_beam_wave bend = cfg_beam_wave_bending(&span, k),
                                       rod = cfg_beam_wave_rod(&span, k);
            double bent = 0.0, drawn = 0.0, d[3];
            for (int i = 0; i < POINTS; i++) {
                cfg_beam_wave_at(&bend, x[i], d);
                bent += weight[i] * d[2] * d[2];
                cfg_beam_wave_at(&rod, x[i], d);
                drawn += weight[i] * d[1] * d[1];
            }
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0, bent / (bend.rate * bend.rate));
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0, drawn / (rod.rate * rod.rate));
        }
}

static void test_stations_have_mass_centre_and_inertia_of_beam_and_tip(void)
{
    struct cfg_beam beam = unit_beam(CFG_ROOT_CLAMPED);
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    beam.length = 2.0;
    beam.mass = 3.0;
    beam.polar = 0.06;
    set_tip(&beam, 1.0, 0.1, 0.2, 0.3);
    set_modes(&beam, 1, 0, 1, 0);
    integrate(&beam, &form, &modal);
    const double across = 3.0 * 4.0 / 12.0 + 3.0 * 0.25 * 0.25 + 0.75 * 0.75;
    const double center[3] = {1.25, 0.0, 0.0};
    const double inertia[6] = {0.16, across + 0.2, across + 0.3, 0.0, 0.0, 0.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 4.0, modal.mass);
    for (int k = 0; k < 3; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, center[k], modal.center[k]);
    for (int k = 0; k < 6; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, inertia[k], modal.inertia[k]);
}

/* The same integrals by Simpson's rule along nodes, and the tip. */
static void test_stations_are_as_many_as_the_integrals_need(void)
{
    enum { STEPS = 400, MODES = 6 };
    struct cfg_beam beam = unit_beam(CFG_ROOT_PINNED);
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    double P[MODES * 3] = {0}, P2[MODES * MODES] = {0}, L2[MODES * MODES] = {0};
    set_tip(&beam, 0.5, 0.0, 0.1, 0.1);
    set_modes(&beam, 3, 2, 0, 1);
    integrate(&beam, &form, &modal);
    for (int k = 0; k <= STEPS + 1; k++) {
        const int tip = k > STEPS;
        const double x = tip ? 1.0 : (double)k / STEPS;
        const double simpson = (k == 0 || k == STEPS ? 1.0 : k % 2 ? 4.0 : 2.0) / (3.0 * STEPS);
        const double weight = tip ? beam.tip_mass : simpson;
        struct dyn_node node;
        cfg_beam_node(&pool, &form, x, &node);
        for (int i = 0; i < MODES * 3; i++)
            P[i] += weight * node.psi[i];
        for (int pq = 0; pq < MODES * MODES; pq++) {
            P2[pq] += weight * node.psi2[3 * pq];
            L2[pq] += weight * x * node.psi2[3 * pq];
        }
    }
    for (int i = 0; i < MODES * 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-8, P[i], modal.flex.P[i]);
    for (int pq = 0; pq < MODES * MODES; pq++) {
        const double size = 1e-7 * (1.0 + fabs(P2[pq]));
        TEST_ASSERT_DOUBLE_WITHIN(size, P2[pq], modal.flex.P2[3 * pq]);
        TEST_ASSERT_DOUBLE_WITHIN(size, L2[pq], modal.flex.L2[9 * pq]);
    }
}

/* --- where nodes go ------------------------------------------------------------------------ */

enum { BENT_MODES = 7, BENT_STEPS = 600 };

static const double bent_eta[BENT_MODES] = {0.8, -0.3, 0.6, 0.2, 0.05, 0.04, 0.5};

static struct dyn_vec3 order_sum(const double *first, const double *second, double scale)
{
    struct dyn_vec3 sum = {0.0, 0.0, 0.0};
    for (int p = 0; p < BENT_MODES; p++) {
        sum = dyn_add(sum, dyn_scale(scale * bent_eta[p], dyn_vec3_load(first + 3 * p)));
        for (int q = 0; q < BENT_MODES; q++) {
            const double product = scale * scale * bent_eta[p] * bent_eta[q];
            const double *row = second + 3 * (p * BENT_MODES + q);
            sum = dyn_add(sum, dyn_scale(0.5 * product, dyn_vec3_load(row)));
        }
    }
    return sum;
}

static struct dyn_quat node_turn(const struct dyn_node *node, double scale)
{
    const struct dyn_vec3 theta = order_sum(node->theta, node->theta2, scale);
    return dyn_quat_unit((struct dyn_quat){1.0, 0.5 * theta.x, 0.5 * theta.y, 0.5 * theta.z});
}

static struct dyn_vec3 node_place(const struct dyn_node *node, double scale)
{
    return dyn_add(dyn_vec3_load(node->r), order_sum(node->psi, node->psi2, scale));
}

static double twist_at(const struct dyn_node *node, double scale)
{
    double phi = 0.0;
    for (int p = 0; p < BENT_MODES; p++)
        phi += scale * bent_eta[p] * node->theta[3 * p];
    return phi;
}

static double node_stretch(const struct dyn_node *node, double scale)
{
    double u = 0.0;
    for (int p = 0; p < BENT_MODES; p++)
        u += scale * bent_eta[p] * node->psi[3 * p];
    return u;
}

/* The shortest turn that takes the unit vector a to b. */
static struct dyn_quat turn_between(struct dyn_vec3 a, struct dyn_vec3 b)
{
    const struct dyn_vec3 axis = dyn_cross(a, b);
    return dyn_quat_unit((struct dyn_quat){1.0 + dyn_dot(a, b), axis.x, axis.y, axis.z});
}

static double turn_distance(struct dyn_quat a, struct dyn_quat b)
{
    const struct dyn_quat d = dyn_quat_mul(dyn_quat_conjugate(a), b);
    return 2.0 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
}

static struct dyn_node bent_node[BENT_STEPS + 1];

static void bend(enum cfg_beam_root root)
{
    struct cfg_beam beam = unit_beam(root);
    struct cfg_beam_form form;
    set_modes(&beam, 2, 2, 2, 1);
    beam.floats = true;
    cfg_beam_shape(&pool, &beam, &form);
    for (int k = 0; k <= BENT_STEPS; k++)
        cfg_beam_node(&pool, &form, (double)k / BENT_STEPS, &bent_node[k]);
}

/*
 * Carry a frame along the bent line: from chord to chord by the shortest turn, along each chord by
 * the twist about it.  A node stands across the mean of the two chords that it joins.  Returned is
 * how far the nodes in the later half are from it at worst.
 */
static double carried_error(double scale)
{
    struct dyn_quat frame = {1.0, 0.0, 0.0, 0.0};
    struct dyn_vec3 last = {0.0, 0.0, 0.0};
    double error = 0.0;
    for (int k = 0; k < BENT_STEPS; k++) {
        const struct dyn_node *here = &bent_node[k], *next = &bent_node[k + 1];
        const struct dyn_vec3 way = dyn_sub(node_place(next, scale), node_place(here, scale));
        const struct dyn_vec3 chord = dyn_scale(1.0 / dyn_norm(way), way);
        const double twist = twist_at(next, scale) - twist_at(here, scale);
        if (k == 0) {
            const struct dyn_quat start = node_turn(here, scale);
            const struct dyn_vec3 x = dyn_quat_rotate(start, (struct dyn_vec3){1.0, 0.0, 0.0});
            frame = dyn_quat_mul(turn_between(x, chord), start);
        } else {
            const struct dyn_vec3 sum = dyn_add(last, chord);
            const struct dyn_vec3 middle = dyn_scale(1.0 / dyn_norm(sum), sum);
            const struct dyn_quat at_node = dyn_quat_mul(turn_between(last, middle), frame);
            if (k > BENT_STEPS / 2)
                error = fmax(error, turn_distance(at_node, node_turn(here, scale)));
            frame = dyn_quat_mul(turn_between(last, chord), frame);
        }
        frame = dyn_quat_mul(dyn_quat_exp(dyn_scale(twist, chord)), frame);
        last = chord;
    }
    return error;
}

static void test_a_node_turns_with_its_section_to_second_order(void)
{
    for (int root = 0; root < 3; root++) {
        bend((enum cfg_beam_root)root);
        const double coarse = carried_error(0.08), fine = carried_error(0.04);
        TEST_ASSERT_TRUE(coarse > 1e-5); /* there is something to see */
        TEST_ASSERT_DOUBLE_WITHIN(1.0, 8.0, coarse / fine);
    }
}

/* Length of the line, against that of the stretch alone: -1/2 u' v'^2 is left. */
static double length_error(double scale)
{
    double length = 0.0;
    for (int k = 0; k < BENT_STEPS; k++)
        length += dyn_norm(
            dyn_sub(node_place(&bent_node[k + 1], scale), node_place(&bent_node[k], scale)));
    const double stretch =
        node_stretch(&bent_node[BENT_STEPS], scale) - node_stretch(&bent_node[0], scale);
    return fabs(length - 1.0 - stretch);
}

static void test_bending_does_not_stretch_the_beam_to_second_order(void)
{
    bend(CFG_ROOT_CLAMPED);
    const double coarse = length_error(0.006), fine = length_error(0.003);
    TEST_ASSERT_TRUE(coarse > 1e-7);
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 8.0, coarse / fine);
}

/* A station is reached in many steps, a node in one. */
static void test_a_node_at_the_tip_has_what_the_station_there_has(void)
{
    enum { MODES = 30 };
    struct cfg_beam beam = unit_beam(CFG_ROOT_CLAMPED);
    struct cfg_beam_form form;
    struct dyn_node node;
    set_tip(&beam, 0.5, 0.0, 0.0, 0.0);
    set_modes(&beam, MODES, 0, 0, 0);
    cfg_beam_shape(&pool, &beam, &form);
    cfg_beam_node(&pool, &form, 1.0, &node);
    const struct dyn_station *tip = &form.station[form.stations - 1];
    for (int k = 0; k < 3 * MODES; k++)
        TEST_ASSERT_EQUAL_DOUBLE(tip->psi[k], node.psi[k]);
    for (int k = 0; k < 3 * MODES * MODES; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, tip->psi2[k], node.psi2[k]); /* they reach 1e4 */
}

static void test_a_beam_may_lie_anywhere_in_its_body(void)
{
    struct cfg_beam beam = unit_beam(CFG_ROOT_FREE);
    struct cfg_beam_form here, there;
    struct dyn_modal modal_here = {0}, modal_there = {0};
    struct dyn_node node_here, node_there;
    set_tip(&beam, 0.5, 0.01, 0.02, 0.03);
    set_modes(&beam, 2, 2, 1, 1);
    integrate(&beam, &here, &modal_here);
    cfg_beam_node(&pool, &here, 0.7, &node_here);
    beam.pose.turn = (struct dyn_quat){0.8, 1.2, -0.4, 2.0};
    beam.pose.origin = (struct dyn_vec3){3.0, -2.0, 5.0};
    integrate(&beam, &there, &modal_there);
    cfg_beam_node(&pool, &there, 0.7, &node_there);

    const struct dyn_quat turn = dyn_quat_unit(beam.pose.turn);
    const double *from[] = {node_here.psi,     node_here.theta,   node_here.psi2,
                            node_here.theta2,  modal_here.flex.P, modal_here.flex.S,
                            modal_here.flex.P2};
    const double *to[] = {node_there.psi,     node_there.theta,   node_there.psi2,
                          node_there.theta2,  modal_there.flex.P, modal_there.flex.S,
                          modal_there.flex.P2};
    const int rows[] = {6, 6, 36, 36, 6, 6, 36};
    for (int table = 0; table < 7; table++)
        for (int row = 0; row < rows[table]; row++) {
            double want[3];
            dyn_vec3_store(dyn_quat_rotate(turn, dyn_vec3_load(from[table] + 3 * row)), want);
            for (int i = 0; i < 3; i++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-11, want[i], to[table][3 * row + i]);
        }
    const struct dyn_vec3 r = dyn_pose_point(&(struct dyn_pose){turn, beam.pose.origin},
                                             (struct dyn_vec3){0.7, 0.0, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, dyn_norm(dyn_sub(r, dyn_vec3_load(node_there.r))));
    for (int k = 0; k < 36; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, modal_here.flex.M[k], modal_there.flex.M[k]);
}

/* --- frames -------------------------------------------------------------------------------- */

static void test_a_root_that_would_move_stands_still_in_the_body_frame(void)
{
    for (int root = 0; root < 3; root++) {
        struct cfg_beam beam = unit_beam((enum cfg_beam_root)root);
        struct cfg_beam_form form;
        struct dyn_node node;
        beam.pose.origin = (struct dyn_vec3){0.3, 0.0, 0.1};
        set_modes(&beam, 2, 2, 1, 1);
        cfg_beam_shape(&pool, &beam, &form);
        cfg_beam_node(&pool, &form, 0.0, &node);
        for (int k = 0; k < 6 * 3; k++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, node.psi[k]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, node.theta[k]);
        }
        for (int k = 0; k < 36 * 3; k++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, node.psi2[k]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, node.theta2[k]);
        }
    }
}

/* Free modes carry no momentum: their natural frame floats. */
static void test_free_modes_have_no_momentum(void)
{
    struct cfg_beam beam = unit_beam(CFG_ROOT_FREE);
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    set_tip(&beam, 0.5, 0.01, 0.02, 0.03);
    set_modes(&beam, 4, 4, 4, 4);
    beam.floats = true;
    integrate(&beam, &form, &modal);
    for (int p = 0; p < 16; p++) {
        const double *L = modal.flex.L + 9 * p, *S = modal.flex.S + 3 * p;
        const double H[3] = {L[7] - L[5] + S[0], L[2] - L[6] + S[1], L[3] - L[1] + S[2]};
        for (int i = 0; i < 3; i++) {
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, modal.flex.P[3 * p + i]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, H[i]);
        }
    }
}

/* With the frame in the root M is full; what is left of it when the frame may follow, in the ways
 * that the root leaves open, is the unit mass of the modes that float. */
static void test_a_frame_in_the_root_hides_no_mass(void)
{
    struct cfg_beam beam = unit_beam(CFG_ROOT_PINNED);
    struct cfg_beam_form form;
    struct dyn_modal modal = {0};
    double left[64];
    set_tip(&beam, 0.5, 0.01, 0.02, 0.03);
    set_modes(&beam, 4, 4, 0, 0);
    integrate(&beam, &form, &modal);
    TEST_ASSERT_TRUE(modal.flex.M[0] > 1.5);
    for (int p = 0; p < 8; p++)
        for (int q = 0; q < 8; q++) {
            const double *Lp = modal.flex.L + 9 * p, *Lq = modal.flex.L + 9 * q;
            const double *Sp = modal.flex.S + 3 * p, *Sq = modal.flex.S + 3 * q;
            const double y = (Lp[2] - Lp[6] + Sp[1]) * (Lq[2] - Lq[6] + Sq[1]);
            const double z = (Lp[3] - Lp[1] + Sp[2]) * (Lq[3] - Lq[1] + Sq[2]);
            const double steiner = modal.mass * modal.center[0] * modal.center[0];
            left[8 * p + q] = modal.flex.M[8 * p + q] - y / (modal.inertia[1] + steiner) -
                              z / (modal.inertia[2] + steiner);
        }
    assert_identity(left, 8, 1e-11);
}

static void test_modes_of_a_cantilever_take_nearly_all_of_its_mass(void)
{
    double scratch[24 * 24], last = 0.0, moved = 0.0;
    for (int n = 1; n <= 24; n++) {
        struct cfg_beam beam = unit_beam(CFG_ROOT_CLAMPED);
        struct cfg_beam_form form;
        struct dyn_modal modal = {0};
        beam.polar = 0.0;
        set_modes(&beam, n, 0, 0, 0);
        integrate(&beam, &form, &modal);
        const double share =
            dyn_modal_effective_mass(&modal.flex, modal.mass, modal.center, modal.inertia, scratch);
        TEST_ASSERT_TRUE(share > last && share < 1.0);
        last = share;
        moved = 0.0;
        for (int p = 0; p < n; p++)
            moved += modal.flex.P[3 * p + 1] * modal.flex.P[3 * p + 1];
    }
    TEST_ASSERT_TRUE(moved > 0.98 && moved < 1.0);
}

/* --- flaws --------------------------------------------------------------------------------- */

static void test_numbers_that_make_no_beam_are_named(void)
{
    const double nan = (double)NAN;
    struct cfg_beam good = unit_beam(CFG_ROOT_CLAMPED), bad;
    set_modes(&good, 1, 1, 1, 1);
    TEST_ASSERT_NULL(cfg_beam_problem(&good));
#define FLAW(text, change)                                                                         \
    bad = good, change, TEST_ASSERT_EQUAL_STRING(text, cfg_beam_problem(&bad))
    FLAW("length must be positive", bad.length = 0.0);
    FLAW("length must be positive", bad.length = nan);
    FLAW("mass must be positive", bad.mass = -1.0);
    FLAW("polar inertia must not be negative", bad.polar = -1.0);
    FLAW("modes that twist need a polar inertia", bad.polar = 0.0);
    FLAW("the beam's frame has no orientation", bad.pose.turn.w = 0.0);
    FLAW("tip mass must not be negative", bad.tip_mass = nan);
    FLAW("tip inertia must not be negative", bad.tip_inertia[2] = -1.0);
    FLAW("bending stiffness along y must be positive", bad.stiffness[0] = 0.0);
    FLAW("bending stiffness along z must be positive", bad.stiffness[1] = (double)INFINITY);
    FLAW("torsional stiffness must be positive", bad.stiffness[2] = -1.0);
    FLAW("axial stiffness must be positive", bad.stiffness[3] = 0.0);
    FLAW("number of modes must not be negative", bad.modes[3] = -1);
    FLAW("more modes than a body may have", bad.modes[3] = 62);
    FLAW("more modes than a body may have", bad.modes[3] = 2147483647);
    FLAW("a beam needs at least one mode", memset(bad.modes, 0, sizeof bad.modes));
#undef FLAW
    bad = good;
    bad.modes[CFG_BEAM_TWIST] = 0;
    bad.polar = bad.stiffness[CFG_BEAM_TWIST] = 0.0;
    TEST_ASSERT_NULL(cfg_beam_problem(&bad));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_clamped_frequencies_are_those_of_the_books);
    RUN_TEST(test_free_frequencies_are_those_of_the_books);
    RUN_TEST(test_pinned_frequencies_are_those_of_the_books);
    RUN_TEST(test_high_frequencies_keep_all_digits);
    RUN_TEST(test_a_loaded_cantilever_has_all_roots_of_its_equation);
    RUN_TEST(test_a_heavy_tip_hangs_on_a_spring);
    RUN_TEST(test_finite_elements_count_as_many_frequencies);
    RUN_TEST(test_rods_have_the_frequencies_of_a_string_of_sines);
    RUN_TEST(test_loaded_rods_solve_their_equations);
    RUN_TEST(test_frequencies_come_in_units);
    RUN_TEST(test_a_spinning_beam_has_the_integrals_of_its_table);
    RUN_TEST(test_the_reference_beam_has_its_integrals);
    RUN_TEST(test_modes_have_unit_mass_and_are_orthogonal);
    RUN_TEST(test_sixty_four_modes_of_one_family_are_still_modes);
    RUN_TEST(test_strain_energy_is_that_of_the_frequency);
    RUN_TEST(test_stations_have_mass_centre_and_inertia_of_beam_and_tip);
    RUN_TEST(test_stations_are_as_many_as_the_integrals_need);
    RUN_TEST(test_a_node_turns_with_its_section_to_second_order);
    RUN_TEST(test_bending_does_not_stretch_the_beam_to_second_order);
    RUN_TEST(test_a_node_at_the_tip_has_what_the_station_there_has);
    RUN_TEST(test_a_beam_may_lie_anywhere_in_its_body);
    RUN_TEST(test_a_root_that_would_move_stands_still_in_the_body_frame);
    RUN_TEST(test_free_modes_have_no_momentum);
    RUN_TEST(test_a_frame_in_the_root_hides_no_mass);
    RUN_TEST(test_modes_of_a_cantilever_take_nearly_all_of_its_mass);
    RUN_TEST(test_numbers_that_make_no_beam_are_named);
    return UNITY_END();
}
