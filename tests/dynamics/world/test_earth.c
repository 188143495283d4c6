/*
 * The ellipsoid, its frames and its gravity against published figures, and against potentials and
 * normals that the test works out itself in extended precision.
 */
#include "dynamics/world/earth.h"

#include <math.h>
#include <stdio.h>

#include "tests/dynamics/tree.h"
#include "unity.h"

static const double PI = 3.141592653589793;
static const double DEGREE = 3.141592653589793 / 180.0;

void setUp(void)
{
}

void tearDown(void)
{
}

/* ---- geodetic ---- */

struct wide {
    long double x, y, z;
};

/* From the definition: a point of the ellipsoid, and the height along its normal. */
static struct wide wide_ecef(const struct dyn_geodetic *at)
{
    const long double a = 6378137.0L, f = 1.0L / 298.257223563L, b = a * (1.0L - f);
    const long double phi = (long double)at->latitude, lambda = (long double)at->longitude;
    const long double s = sinl(phi), c = cosl(phi), h = (long double)at->height;
    const long double w = sqrtl(a * a * c * c + b * b * s * s);
    const long double p = a * a * c / w + h * c;
    return (struct wide){p * cosl(lambda), p * sinl(lambda), b * b * s / w + h * s};
}

static struct wide widen(struct dyn_vec3 a)
{
    return (struct wide){(long double)a.x, (long double)a.y, (long double)a.z};
}

static double gap(const struct wide *a, struct dyn_vec3 narrow)
{
    const struct wide b = widen(narrow);
    const long double x = a->x - b.x, y = a->y - b.y, z = a->z - b.z;
    return (double)sqrtl(x * x + y * y + z * z);
}

static void test_a_place_on_the_ellipsoid_has_the_published_axes(void)
{
    const struct dyn_geodetic east = {0.0, 0.5 * PI, 0.0}, pole = {0.5 * PI, 0.0, 0.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 6378137.0, dyn_earth_to_ecef(&east).y);
    /* TR8350.2, table 3.3: b = 6356752.3142 */
    TEST_ASSERT_DOUBLE_WITHIN(5e-5, 6356752.3142, dyn_earth_to_ecef(&pole).z);
}

static void test_vallados_example_3_3_is_met(void)
{
    /* Fundamentals of Astrodynamics: 34.352496 deg, 46.4464 deg, 5085.22 km; his Earth is 1 m
     * smaller. */
    const struct dyn_geodetic at =
        dyn_earth_to_geodetic((struct dyn_vec3){6524834.0, 6862875.0, 6448296.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 34.352496, at.latitude / DEGREE);
    TEST_ASSERT_DOUBLE_WITHIN(5e-5, 46.4464, at.longitude / DEGREE);
    TEST_ASSERT_DOUBLE_WITHIN(5.0, 5085220.0, at.height);
}

/* What is left is the rounding of the numbers themselves: of r here, and of the angles at r. */
static double check_place(const struct dyn_geodetic *at)
{
    const struct wide there = wide_ecef(at);
    const struct dyn_vec3 r = dyn_earth_to_ecef(at);
    const struct dyn_geodetic back = dyn_earth_to_geodetic(r);
    const struct wide again = wide_ecef(&back);
    const double rounding = 2.3e-16 * dyn_norm(r);
    TEST_ASSERT_DOUBLE_WITHIN(3.0 * rounding, 0.0, gap(&there, r));
    TEST_ASSERT_DOUBLE_WITHIN(6.0 * rounding, 0.0, gap(&again, r));
    TEST_ASSERT_DOUBLE_WITHIN(6.0 * rounding, at->height, back.height);
    return gap(&again, r);
}

static void test_places_come_back_to_rounding_from_under_the_ground_to_geostationary(void)
{
    static const double heights[] = {-10e3, -430.0, 0.0, 488.0, 9e3, 400e3, 2e7, 35786e3};
    double worst = 0.0, ground = 0.0;
    for (int lat = -900; lat <= 900; lat += 7)
        for (int lon = -180; lon <= 180; lon += 36)
            for (int k = 0; k < 8; k++) {
                const struct dyn_geodetic at = {0.1 * lat * DEGREE, lon * DEGREE, heights[k]};
                const double error = check_place(&at);
                worst = fmax(worst, error);
                ground = fmax(ground, k < 5 ? error : 0.0);
            }
    printf("places back: %.2g m near the ground, %.2g m up to 35786 km\n", ground, worst);
}

static void test_poles_and_the_date_line_are_places_too(void)
{
    const struct dyn_geodetic south = dyn_earth_to_geodetic((struct dyn_vec3){0.0, 0.0, -6.4e6});
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -0.5 * PI, south.latitude);
    TEST_ASSERT_DOUBLE_WITHIN(5e-5, 6.4e6 - 6356752.3142, south.height);
    const struct dyn_geodetic line = dyn_earth_to_geodetic((struct dyn_vec3){-6.4e6, 0.0, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, PI, line.longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 6.4e6 - 6378137.0, line.height);
}

/* ---- home ---- */

static const struct dyn_geodetic zurich = {47.397742 * DEGREE, 8.545594 * DEGREE, 488.0};

static struct dyn_vec3 to_ned(const struct dyn_home *home, struct dyn_vec3 ecef)
{
    return dyn_mul(&home->E, dyn_sub(ecef, home->origin));
}

static void test_steps_from_home_go_north_east_and_down(void)
{
    const struct dyn_home home = dyn_home_at(&zurich);
    const double a = 6378137.0, e2 = DYN_EARTH_FLATTENING * (2.0 - DYN_EARTH_FLATTENING);
    const double s = sin(zurich.latitude), w2 = 1.0 - e2 * s * s, step = 1e-6;
    const double M = a * (1.0 - e2) / (w2 * sqrt(w2)), N = a / sqrt(w2); /* of curvature */
    struct dyn_geodetic at = zurich;
    at.latitude += step;
    struct dyn_vec3 ned = to_ned(&home, dyn_earth_to_ecef(&at));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, (M + 488.0) * step, ned.x);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.0, ned.y);
    at = zurich;
    at.longitude += step;
    ned = to_ned(&home, dyn_earth_to_ecef(&at));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, (N + 488.0) * cos(zurich.latitude) * step, ned.y);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.0, ned.x);
    at = zurich;
    at.height += 100.0;
    ned = to_ned(&home, dyn_earth_to_ecef(&at));
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, -100.0, ned.z);
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.0, hypot(ned.x, ned.y));
}

static void test_home_coordinates_come_back(void)
{
    const struct dyn_home home = dyn_home_at(&zurich);
    const struct dyn_vec3 ned = {1234.5, -987.25, -120.125};
    const struct dyn_vec3 back = to_ned(&home, dyn_home_to_ecef(&home, ned));
    TEST_ASSERT_DOUBLE_WITHIN(3e-9, 0.0, dyn_norm(dyn_sub(back, ned)));
    const struct dyn_vec3 origin = dyn_home_to_ecef(&home, (struct dyn_vec3){0.0, 0.0, 0.0});
    const struct wide there = wide_ecef(&zurich);
    TEST_ASSERT_DOUBLE_WITHIN(3e-9, 0.0, gap(&there, origin));
}

/* ---- rotation ---- */

static void test_the_rotation_angle_is_that_of_sofa(void)
{
    /* IAU SOFA, test of era00 at JD 2454388.5, and the definition at J2000.0 */
    const struct dyn_epoch sofa = {2843.0, 43200.0}, j2000 = {0.0, 0.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.4022837240028158102, dyn_earth_rotation_angle(&sofa));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.7790572732640 * 2.0 * PI, dyn_earth_rotation_angle(&j2000));
}

static void test_the_angle_does_not_care_how_an_instant_is_split(void)
{
    const struct dyn_epoch a = {9451.0, 100.0}, b = {9450.0, 86500.0}, c = {9461.0, -863900.0};
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, dyn_earth_rotation_angle(&a), dyn_earth_rotation_angle(&b));
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, dyn_earth_rotation_angle(&a), dyn_earth_rotation_angle(&c));
}

static void test_a_star_comes_back_after_a_sidereal_day(void)
{
    /* Explanatory Supplement: 86164.098903691 s of UT1 */
    const struct dyn_epoch now = {9451.0, 0.0}, later = {9451.0, 86164.098903691};
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, dyn_earth_rotation_angle(&now),
                              dyn_earth_rotation_angle(&later));
    TEST_ASSERT_DOUBLE_WITHIN(1e-16, 2.0 * PI / 86164.098903691, DYN_EARTH_RATE);
}

static void test_greenwich_stands_at_the_rotation_angle(void)
{
    const struct dyn_epoch now = {9451.0, 12345.0};
    const double angle = dyn_earth_rotation_angle(&now);
    const struct dyn_mat3 turn = dyn_earth_eci_to_ecef(&now);
    const struct dyn_vec3 greenwich = dyn_mul_t(&turn, (struct dyn_vec3){1.0, 0.0, 0.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, cos(angle), greenwich.x);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, sin(angle), greenwich.y);
}

static void test_velocities_are_the_rates_of_positions(void)
{
    const struct dyn_vec3 r = {7e6, -1e6, 2e6}, v = {1000.0, 7000.0, -500.0};
    const double dt = 0.05;
    const struct dyn_epoch past = {9451.0, 5000.0 - dt}, now = {9451.0, 5000.0},
                           next = {9451.0, 5000.0 + dt};
    const struct dyn_mat3 at = dyn_earth_eci_to_ecef(&now), before = dyn_earth_eci_to_ecef(&past),
                          after = dyn_earth_eci_to_ecef(&next);
    const struct dyn_vec3 was = dyn_mul(&before, dyn_sub(r, dyn_scale(dt, v)));
    const struct dyn_vec3 will = dyn_mul(&after, dyn_add(r, dyn_scale(dt, v)));
    const struct dyn_vec3 rate = dyn_scale(0.5 / dt, dyn_sub(will, was));
    const struct dyn_vec3 turned = dyn_earth_velocity_to_ecef(&at, r, v);
    TEST_ASSERT_DOUBLE_WITHIN(3e-7, 0.0, dyn_norm(dyn_sub(turned, rate)));
}

/* ---- gravity ---- */

/* -V: GM/r (1 - sum J (a/r)^n P_n), with even terms up to `degree`. */
static long double zonal(const struct wide *r, const long double *J, int degree)
{
    const long double a = 6378137.0L, mu = 3.986004418e14L;
    const long double d = sqrtl(r->x * r->x + r->y * r->y + r->z * r->z), s = r->z / d;
    long double P[12] = {1.0L, s}, sum = 1.0L, ratio = 1.0L;
    for (int n = 2; n <= degree; n++) {
        P[n] = ((2 * n - 1) * s * P[n - 1] - (n - 1) * P[n - 2]) / n;
        ratio = powl(a / d, n);
        sum -= n % 2 == 0 ? J[n / 2] * ratio * P[n] : 0.0L;
    }
    return mu / d * sum;
}

/* Of the potential, with a centrifugal part for a rate, by fourth-order differences. */
static struct wide slope(const struct wide *r, const long double *J, int degree, long double rate)
{
    static const long double weight[4] = {1.0L / 12.0L, -2.0L / 3.0L, 2.0L / 3.0L, -1.0L / 12.0L};
    static const long double step[4] = {-200.0L, -100.0L, 100.0L, 200.0L};
    long double g[3] = {0.0L, 0.0L, 0.0L};
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 4; k++) {
            const struct wide at = {r->x + (axis == 0) * step[k], r->y + (axis == 1) * step[k],
                                    r->z + (axis == 2) * step[k]};
            const long double turn = 0.5L * rate * rate * (at.x * at.x + at.y * at.y);
            g[axis] += weight[k] / 100.0L * (zonal(&at, J, degree) + turn);
        }
    return (struct wide){g[0], g[1], g[2]};
}

static void test_gravity_is_the_gradient_of_its_potential(void)
{
    static const long double none[6] = {0.0L}, J[6] = {0.0L, 1.082629821313e-3L};
    for (int k = 0; k < 200; k++) {
        const double size = 6.4e6 + 4e5 * k / 10.0;
        const struct dyn_vec3 r = {size * tree_noise(), size * tree_noise(),
                                   size * (1.0 + tree_noise())};
        if (dyn_norm(r) < 6.3e6)
            continue;
        const struct wide at = widen(r);
        const struct wide sphere = slope(&at, none, 2, 0.0L), whole = slope(&at, J, 2, 0.0L);
        const struct dyn_vec3 g = dyn_earth_central_gravity(r);
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, gap(&sphere, g));
        TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, gap(&whole, dyn_add(g, dyn_earth_j2_gravity(r))));
    }
}

/* The level ellipsoid's own zonals: Heiskanen and Moritz, Physical Geodesy, eq. 2-92. */
static void level_zonals(long double J[6])
{
    const long double f = 1.0L / 298.257223563L, e2 = f * (2.0L - f);
    long double power = 1.0L;
    for (int n = 0; n < 6; n++) {
        const long double sign = n % 2 == 0 ? -1.0L : 1.0L;
        J[n] = sign * 3.0L * power / ((2 * n + 1) * (2 * n + 3)) *
               (1.0L - n + 5.0L * n * 1.082629821313e-3L / e2);
        power *= e2;
    }
}

static void test_normal_gravity_is_that_of_the_level_ellipsoid(void)
{
    long double J[6];
    double ground = 0.0, above = 0.0;
    level_zonals(J);
    for (int lat = -90; lat <= 90; lat += 5)
        for (int km = 0; km <= 30; km += 10) {
            const struct dyn_geodetic at = {lat * DEGREE, 0.7, 1000.0 * km};
            const struct wide r = wide_ecef(&at), g = slope(&r, J, 10, 7.292115e-5L);
            const double want = (double)sqrtl(g.x * g.x + g.y * g.y + g.z * g.z);
            const double error = fabs(dyn_earth_normal_gravity(at.latitude, at.height) / want - 1);
            ground = fmax(ground, km == 0 ? error : 0.0);
            above = fmax(above, error);
        }
    printf("normal gravity: %.2g on the ellipsoid, %.2g up to 30 km\n", ground, above);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, ground);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, above);
}

static void test_normal_gravity_has_the_published_values(void)
{
    /* TR8350.2, table 3.4 and, for 45 deg, eq. 4-1 worked out by hand */
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, 9.7803253359, dyn_earth_normal_gravity(0.0, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 9.8321849378, dyn_earth_normal_gravity(0.5 * PI, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 9.80620, dyn_earth_normal_gravity(0.25 * PI, 0.0));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_place_on_the_ellipsoid_has_the_published_axes);
    RUN_TEST(test_vallados_example_3_3_is_met);
    RUN_TEST(test_places_come_back_to_rounding_from_under_the_ground_to_geostationary);
    RUN_TEST(test_poles_and_the_date_line_are_places_too);
    RUN_TEST(test_steps_from_home_go_north_east_and_down);
    RUN_TEST(test_home_coordinates_come_back);
    RUN_TEST(test_the_rotation_angle_is_that_of_sofa);
    RUN_TEST(test_the_angle_does_not_care_how_an_instant_is_split);
    RUN_TEST(test_a_star_comes_back_after_a_sidereal_day);
    RUN_TEST(test_greenwich_stands_at_the_rotation_angle);
    RUN_TEST(test_velocities_are_the_rates_of_positions);
    RUN_TEST(test_gravity_is_the_gradient_of_its_potential);
    RUN_TEST(test_normal_gravity_is_that_of_the_level_ellipsoid);
    RUN_TEST(test_normal_gravity_has_the_published_values);
    return UNITY_END();
}
