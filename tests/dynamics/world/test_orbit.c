/*
 * Orbits: elements and states there and back, what Kepler's laws keep constant, and the same orbit
 * integrated step by step under the gravity of earth.h.
 */
#include "dynamics/world/orbit.h"

#include <math.h>
#include <stdio.h>

#include "dynamics/world/earth.h"
#include "tests/dynamics/tree.h"
#include "tests/dynamics/world/orbit_truth.h"
#include "unity.h"

static const double PI = 3.141592653589793;
static const double DEGREE = 3.141592653589793 / 180.0;
static const double MU = DYN_EARTH_MU;

void setUp(void)
{
    tree_noise_seed(7);
}

void tearDown(void)
{
}

static double angle_gap(double a, double b)
{
    return fabs(remainder(a - b, 2.0 * PI));
}

static double gap(const struct dyn_orbit_state *a, const struct dyn_orbit_state *b)
{
    const double r = dyn_norm(dyn_sub(a->r, b->r)) / dyn_norm(b->r);
    const double v = dyn_norm(dyn_sub(a->v, b->v)) / dyn_norm(b->v);
    return fmax(r, v);
}

static struct dyn_orbit random_orbit(void)
{
    return (struct dyn_orbit){
        .a = 2.5e7 + 1.8e7 * tree_noise(),
        .e = 0.47 + 0.46 * tree_noise(),
        .i = (0.5 + 0.49 * tree_noise()) * PI,
        .node = PI * tree_noise(),
        .perigee = PI * tree_noise(),
        .mean = PI * tree_noise(),
    };
}

/* ---- Kepler's equation ---- */

static void test_keplers_equation_is_solved_for_every_ellipse(void)
{
    static const double es[] = {0.0, 1e-9, 0.01, 0.3, 0.7, 0.95, 0.999, 0.999999};
    for (int k = 0; k < 8; k++)
        for (int j = -2000; j <= 2000; j++) {
            const double M = PI * j / 1000.0, E = dyn_orbit_eccentric_anomaly(M, es[k]);
            TEST_ASSERT_DOUBLE_WITHIN(4e-15, M, E - es[k] * sin(E));
        }
    for (double M = 1e-300; M < 1.0; M *= 7.0)
        for (int k = 0; k < 8; k++) {
            const double E = dyn_orbit_eccentric_anomaly(M, es[k]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-9 * M, M, E - es[k] * sin(E));
        }
}

static void test_vallados_example_2_1_is_met(void)
{
    /* Fundamentals of Astrodynamics: M = 235.4 deg, e = 0.4 gives E = 220.512074767522 deg */
    const double E = dyn_orbit_eccentric_anomaly(235.4 * DEGREE, 0.4) / DEGREE;
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 220.512074767522, E);
}

/* ---- elements and states ---- */

static void test_vallados_example_2_5_is_met(void)
{
    /* ibid.: a = 36127.343 km, e = 0.832853, i = 87.870, node 227.898, perigee 53.38, true anomaly
     * 92.335 deg.  The last digit of v alone is worth 25 m of a. */
    const struct dyn_orbit_state state = {{6524834.0, 6862875.0, 6448296.0},
                                          {4901.327, 5533.756, -1976.341}};
    const struct dyn_orbit orbit = orbit_of_state(&state, MU);
    const double E = dyn_orbit_eccentric_anomaly(orbit.mean, orbit.e);
    const double nu = 2.0 * atan(sqrt((1.0 + orbit.e) / (1.0 - orbit.e)) * tan(0.5 * E));
    TEST_ASSERT_DOUBLE_WITHIN(25.0, 36127343.0, orbit.a);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.832853, orbit.e);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 87.870, orbit.i / DEGREE);
    TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0.0, angle_gap(orbit.node, 227.898 * DEGREE) / DEGREE);
    TEST_ASSERT_DOUBLE_WITHIN(6e-3, 53.38, orbit.perigee / DEGREE);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 92.335, nu / DEGREE);
}

static void test_elements_come_back(void)
{
    for (int k = 0; k < 2000; k++) {
        const struct dyn_orbit orbit = random_orbit();
        const struct dyn_orbit_state state = dyn_orbit_to_state(&orbit, MU);
        const struct dyn_orbit back = orbit_of_state(&state, MU);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0, back.a / orbit.a);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, orbit.e, back.e);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, orbit.i, back.i);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, angle_gap(back.node, orbit.node));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, angle_gap(back.perigee, orbit.perigee));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, angle_gap(back.mean, orbit.mean));
    }
}

static void test_states_come_back_from_circles_and_the_equator(void)
{
    static const double es[] = {0.0, 1e-15, 1e-8, 0.1},
                        is[] = {0.0, 1e-15, 1e-8, 0.5, 3.14159265358};
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 5; j++)
            for (int m = -3; m <= 3; m++) {
                const struct dyn_orbit orbit = {7e6, es[k], is[j], 1.0, 2.0, 0.9 * m};
                const struct dyn_orbit_state state = dyn_orbit_to_state(&orbit, MU);
                const struct dyn_orbit back = orbit_of_state(&state, MU);
                const struct dyn_orbit_state again = dyn_orbit_to_state(&back, MU);
                TEST_ASSERT_DOUBLE_WITHIN(3e-15, 0.0, gap(&again, &state));
            }
}

static void test_the_node_of_an_equatorial_orbit_is_on_x(void)
{
    for (int k = -3; k <= 3; k++) {
        const struct dyn_orbit orbit = {7e6, 0.1, 0.0, 0.0, 2.0, k};
        const struct dyn_orbit_state state = dyn_orbit_to_state(&orbit, MU);
        const struct dyn_orbit back = orbit_of_state(&state, MU);
        TEST_ASSERT_EQUAL_DOUBLE(0.0, back.node);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, 2.0, back.perigee);
    }
}

static void test_a_state_on_no_ellipse_has_no_elements(void)
{
    const struct dyn_orbit_state escape = {{7e6, 0.0, 0.0}, {0.0, 12e3, 0.0}};
    TEST_ASSERT_TRUE(isnan(orbit_of_state(&escape, MU).mean));
}

/* ---- Kepler's laws ---- */

static void test_energy_and_momentum_are_those_of_the_elements(void)
{
    for (int k = 0; k < 500; k++) {
        const struct dyn_orbit orbit = random_orbit();
        const struct dyn_orbit later = orbit_later(&orbit, MU, 1e5 * tree_noise());
        const struct dyn_orbit_state state = dyn_orbit_to_state(&later, MU);
        const double energy = 0.5 * dyn_dot(state.v, state.v) - MU / dyn_norm(state.r);
        const struct dyn_vec3 h = dyn_cross(state.r, state.v);
        const double p = orbit.a * (1.0 - orbit.e * orbit.e), si = sin(orbit.i);
        const struct dyn_vec3 normal = {si * sin(orbit.node), -si * cos(orbit.node), cos(orbit.i)};
        const struct dyn_vec3 want = dyn_scale(sqrt(MU * p), normal);
        TEST_ASSERT_DOUBLE_WITHIN(2e-13, 1.0, energy * -2.0 * orbit.a / MU);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, dyn_norm(dyn_sub(h, want)) / dyn_norm(want));
    }
}

static void test_perigee_and_apogee_are_where_they_belong(void)
{
    struct dyn_orbit orbit = {1e7, 0.3, 0.4, 0.5, 0.6, 0.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.7e7, dyn_norm(dyn_orbit_to_state(&orbit, MU).r));
    orbit.mean = PI;
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, 1.3e7, dyn_norm(dyn_orbit_to_state(&orbit, MU).r));
}

static void test_a_geostationary_orbit_takes_a_sidereal_day(void)
{
    const struct dyn_orbit orbit = {.a = 42164172.0};
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 86164.09, 2.0 * PI / dyn_orbit_mean_motion(&orbit, MU));
}

static void test_after_a_period_all_is_as_before(void)
{
    for (int k = 0; k < 100; k++) {
        const struct dyn_orbit orbit = random_orbit();
        const double period = 2.0 * PI * sqrt(orbit.a * orbit.a * orbit.a / MU);
        const struct dyn_orbit later = orbit_later(&orbit, MU, period);
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, angle_gap(later.mean, orbit.mean));
    }
}

/* ---- integrated ---- */

static struct dyn_vec3 sphere(struct dyn_vec3 r)
{
    return dyn_earth_central_gravity(r);
}

static struct dyn_vec3 bulging(struct dyn_vec3 r)
{
    return dyn_add(dyn_earth_central_gravity(r), dyn_earth_j2_gravity(r));
}

/* x + k d, the state and its rate alike. */
static struct dyn_orbit_state moved(const struct dyn_orbit_state *x, double k,
                                    const struct dyn_orbit_state *d)
{
    return (struct dyn_orbit_state){dyn_add(x->r, dyn_scale(k, d->r)),
                                    dyn_add(x->v, dyn_scale(k, d->v))};
}

static struct dyn_orbit_state step_rk4(const struct dyn_orbit_state *x, double h,
                                       struct dyn_vec3 (*gravity)(struct dyn_vec3))
{
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    struct dyn_orbit_state rate = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, next = *x;
    for (int k = 0; k < 4; k++) {
        const struct dyn_orbit_state stage = moved(x, at[k] * h, &rate);
        rate = (struct dyn_orbit_state){stage.v, gravity(stage.r)};
        next = moved(&next, weight[k] * h / 6.0, &rate);
    }
    return next;
}

static void test_an_integrated_orbit_is_keplers(void)
{
    const struct dyn_orbit orbit = {7e6, 0.02, 0.9, 1.0, 2.0, 0.3};
    const double period = 2.0 * PI / dyn_orbit_mean_motion(&orbit, MU);
    const int steps = 6000;
    struct dyn_orbit_state state = dyn_orbit_to_state(&orbit, MU);
    double worst = 0.0;
    for (int k = 1; k <= steps; k++) {
        state = step_rk4(&state, period / steps, sphere);
        const struct dyn_orbit later = orbit_later(&orbit, MU, k * period / steps);
        const struct dyn_orbit_state want = dyn_orbit_to_state(&later, MU);
        worst = fmax(worst, gap(&state, &want));
    }
    printf("integrated against Kepler over a period: %.2g\n", worst);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, worst);
}

/* Over a day, from node to node so that what comes and goes within a turn drops out. */
static double node_drift(const struct dyn_orbit *orbit)
{
    const double h = 2.0;
    struct dyn_orbit_state state = dyn_orbit_to_state(orbit, MU);
    double first = 0.0, first_time = 0.0, last = 0.0, last_time = 0.0;
    for (int k = 0; k * h < 86400.0; k++) {
        const struct dyn_orbit_state next = step_rk4(&state, h, bulging);
        if (state.r.z < 0.0 && next.r.z >= 0.0) {
            const double part = state.r.z / (state.r.z - next.r.z);
            const struct dyn_orbit_state at = step_rk4(&state, part * h, bulging);
            last = atan2(at.r.y, at.r.x);
            last_time = (k + part) * h;
            first = first_time > 0.0 ? first : last;
            first_time = first_time > 0.0 ? first_time : last_time;
        }
        state = next;
    }
    return remainder(last - first, 2.0 * PI) / (last_time - first_time);
}

static void test_the_bulge_turns_the_node_as_first_order_theory_says(void)
{
    static const struct dyn_orbit orbits[] = {
        {6778137.0, 0.001, 51.6 * DEGREE, 1.0, 2.0, 0.0},  /* as the space station */
        {7078137.0, 0.001, 98.19 * DEGREE, 1.0, 2.0, 0.0}, /* with the Sun */
        {7378137.0, 0.05, 30.0 * DEGREE, 1.0, 2.0, 0.0},
    };
    for (int k = 0; k < 3; k++) {
        const double p = orbits[k].a * (1.0 - orbits[k].e * orbits[k].e);
        const double ratio = 6378137.0 / p, n = sqrt(MU / pow(orbits[k].a, 3.0));
        const double want = -1.5 * n * DYN_EARTH_J2 * ratio * ratio * cos(orbits[k].i);
        const double got = node_drift(&orbits[k]);
        const struct dyn_orbit_drift drift =
            dyn_orbit_drift(&orbits[k], MU, DYN_EARTH_J2, DYN_EARTH_RADIUS);
        printf("node: %.4f deg a day, theory %.4f\n", got / DEGREE * 86400.0,
               want / DEGREE * 86400.0);
        TEST_ASSERT_DOUBLE_WITHIN(0.01 * fabs(want), want, got);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * fabs(want), want, drift.node);
    }
}

static void test_at_the_critical_inclination_the_perigee_stays(void)
{
    struct dyn_orbit orbit = {2.66e7, 0.74, acos(sqrt(0.2)), 0.0, 0.0, 0.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-22, 0.0,
                              dyn_orbit_drift(&orbit, MU, DYN_EARTH_J2, DYN_EARTH_RADIUS).perigee);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 63.435, orbit.i / DEGREE);
    /* and over the equator it goes forward twice as fast as the node goes back, the anomaly by
     * sqrt(1 - e^2) of the node's rate */
    orbit.i = 0.0;
    const struct dyn_orbit_drift flat = dyn_orbit_drift(&orbit, MU, DYN_EARTH_J2, DYN_EARTH_RADIUS);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -2.0, flat.perigee / flat.node);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -sqrt(1.0 - 0.74 * 0.74), flat.mean / flat.node);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_keplers_equation_is_solved_for_every_ellipse);
    RUN_TEST(test_vallados_example_2_1_is_met);
    RUN_TEST(test_vallados_example_2_5_is_met);
    RUN_TEST(test_elements_come_back);
    RUN_TEST(test_states_come_back_from_circles_and_the_equator);
    RUN_TEST(test_the_node_of_an_equatorial_orbit_is_on_x);
    RUN_TEST(test_a_state_on_no_ellipse_has_no_elements);
    RUN_TEST(test_energy_and_momentum_are_those_of_the_elements);
    RUN_TEST(test_perigee_and_apogee_are_where_they_belong);
    RUN_TEST(test_a_geostationary_orbit_takes_a_sidereal_day);
    RUN_TEST(test_after_a_period_all_is_as_before);
    RUN_TEST(test_an_integrated_orbit_is_keplers);
    RUN_TEST(test_the_bulge_turns_the_node_as_first_order_theory_says);
    RUN_TEST(test_at_the_critical_inclination_the_perigee_stays);
    return UNITY_END();
}
