/*
 * The plant in orbit, against Kepler, the drift of the node, and the swing of a long body.
 */
#include <math.h>
#include <string.h>

#include "dynamics/world/earth.h"
#include "dynamics/world/orbit.h"
#include "dynamics/world/orbital_gravity.h"
#include "tests/dynamics/craft.h"
#include "tests/dynamics/vec.h"
#include "tests/dynamics/world/orbit_truth.h"
#include "unity.h"

static const double PI = 3.141592653589793;
static const double MU = 3.986004418e14;
static const double ORIGIN[3];

static struct craft craft;

static void begin(void)
{
    memset(&craft, 0, sizeof craft);
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = 20.0;
    memcpy(craft.tree.spec[0].inertia, (double[]){4.0, 4.0, 4.0, 0, 0, 0}, 48);
    craft.plant.environment.kind = DYN_WORLD_ORBIT;
    craft.tree.gravity[0] = 1e3; /* must not be read */
}

static void build(void)
{
    tree_build(&craft.tree);
    craft_build(&craft);
}

void setUp(void)
{
    begin();
}

void tearDown(void)
{
}

/* The mass centre of the base at r, v, the body turned by quat and turning by w (body axes). */
static void put(const double r[3], const double v[3], const double quat[4], const double w[3])
{
    const double *center = craft.tree.spec[0].center;
    double arm[3], spin[3];
    struct vec_mat R;
    vec_quat_matrix(quat, &R);
    vec_multiply(&R, center, arm);
    vec_cross(w, center, spin);
    vec_multiply_t(&R, v, craft.x + 10);
    for (int k = 0; k < 3; k++) {
        craft.x[k] = r[k] - arm[k];
        craft.x[7 + k] = w[k];
        craft.x[10 + k] -= spin[k];
    }
    memcpy(craft.x + 3, quat, 32);
}

static struct dyn_motion motion_at(const double point[3])
{
    struct dyn_motion motion;
    dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
    dyn_plant_motion(&craft.plant, craft.work, craft.x, 0, point, &motion);
    return motion;
}

static void put_on_orbit(const struct dyn_orbit *orbit, const double quat[4], const double w[3])
{
    const struct dyn_orbit_state state = dyn_orbit_to_state(orbit, MU);
    double r[3], v[3];
    dyn_vec3_store(state.r, r);
    dyn_vec3_store(state.v, v);
    put(r, v, quat, w);
}

static const struct dyn_orbit ORBIT = {7e6, 0.01, 0.9, 0.4, -1.1, 2.0};
static const double UPRIGHT[4] = {1.0, 0.0, 0.0, 0.0}, STILL[3];

static double miss(double seconds)
{
    const struct dyn_orbit later = orbit_later(&ORBIT, MU, seconds);
    const struct dyn_orbit_state there = dyn_orbit_to_state(&later, MU);
    const struct dyn_motion motion = motion_at(craft.tree.spec[0].center);
    return dyn_norm(dyn_sub(there.r, dyn_vec3_load(motion.position)));
}

static void test_a_satellite_follows_kepler_for_an_orbit(void)
{
    const double period = 2.0 * PI * sqrt(7e6 * 7e6 * 7e6 / MU);
    build();
    put_on_orbit(&ORBIT, UPRIGHT, STILL);
    craft_run(&craft, 4000, period / 4000);
    TEST_ASSERT_TRUE(miss(period) < 1e-3);
}

/* The frame is metres off the mass centre, and turns: the gravity gradient must move the centre. */
static void test_the_mass_centre_is_what_follows_kepler(void)
{
    const double period = 2.0 * PI * sqrt(7e6 * 7e6 * 7e6 / MU);
    memcpy(craft.tree.spec[0].center, (double[]){3.0, -2.0, 1.0}, 24);
    build();
    put_on_orbit(&ORBIT, (double[]){0.5, 0.5, -0.5, 0.5}, (double[]){2e-3, -3e-3, 2e-3});
    craft_run(&craft, 20000, period / 20000);
    TEST_ASSERT_TRUE(miss(period) < 1e-3);
}

/* A second free satellite 30 km ahead has its own Kepler, though gravity is taken at the first. */
static void test_a_second_satellite_has_gravity_of_its_own(void)
{
    struct dyn_orbit ahead = ORBIT;
    const double period = 2.0 * PI * sqrt(7e6 * 7e6 * 7e6 / MU);
    ahead.mean += 30e3 / 7e6;
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    build();
    /* x: q of both, v of both */
    const struct dyn_orbit_state first = dyn_orbit_to_state(&ORBIT, MU);
    const struct dyn_orbit_state second = dyn_orbit_to_state(&ahead, MU);
    dyn_vec3_store(first.r, craft.x);
    dyn_vec3_store(second.r, craft.x + 7);
    dyn_vec3_store(first.v, craft.x + 17);
    dyn_vec3_store(second.v, craft.x + 23);
    craft_run(&craft, 4000, period / 4000);
    TEST_ASSERT_TRUE(miss(period) < 1e-3);
    const struct dyn_orbit later = orbit_later(&ahead, MU, period);
    const struct dyn_orbit_state there = dyn_orbit_to_state(&later, MU);
    TEST_ASSERT_TRUE(dyn_norm(dyn_sub(there.r, dyn_vec3_load(craft.x + 7))) < 1e-3);
}

/* Mean node over an orbit from here, in so many steps. */
static double mean_node(double period)
{
    double sum = 0.0;
    for (int k = 0; k < 500; k++) {
        craft_run(&craft, 2, period / 1000);
        const struct dyn_orbit_state now = {dyn_vec3_load(craft.x), dyn_vec3_load(craft.x + 10)};
        sum += orbit_of_state(&now, MU).node;
    }
    return sum / 500.0;
}

static void test_the_bulge_turns_the_node(void)
{
    const struct dyn_orbit orbit = {7e6, 0.005, 1.0, 0.4, -1.1, 2.0};
    const struct dyn_orbit_drift drift = dyn_orbit_drift(&orbit, MU, 1.082629821e-3, 6378137.0);
    const double period = 2.0 * PI * sqrt(7e6 * 7e6 * 7e6 / MU);
    craft.plant.environment.has_j2 = true;
    build();
    put_on_orbit(&orbit, UPRIGHT, STILL);
    const double first = mean_node(period);
    craft_run(&craft, 9000, period / 1000);
    const double rate = (mean_node(period) - first) / (10.0 * period);
    TEST_ASSERT_DOUBLE_WITHIN(0.01 * fabs(drift.node), drift.node, rate);
    TEST_ASSERT_TRUE(drift.node < -1e-7);
}

/* ---- over the vehicle ---- */

static void test_the_gravity_gradient_loses_no_digits(void)
{
    tree_noise_seed(3);
    for (int k = 0; k < 200; k++) {
        const double size = pow(10.0, 2.5 * (1.0 + tree_noise()));
        const double r[3] = {5e6 * tree_noise(), 7e6, 5e6 * tree_noise()};
        const double d[3] = {size * tree_noise(), size * tree_noise(), size * tree_noise()};
        const struct dyn_environment sphere = {.kind = DYN_WORLD_ORBIT};
        long double r2 = 0, s2 = 0;
        double got[3];
        for (int i = 0; i < 3; i++) {
            const long double at = r[i], beside = at + (long double)d[i];
            r2 += at * at;
            s2 += beside * beside;
        }
        dyn_vec3_store(dyn_orbital_gravity_difference(&sphere, dyn_vec3_load(r), dyn_vec3_load(d)),
                       got);
        for (int i = 0; i < 3; i++) {
            const long double there =
                -(long double)MU * ((long double)r[i] + (long double)d[i]) / (s2 * sqrtl(s2));
            const long double here = -(long double)MU * (long double)r[i] / (r2 * sqrtl(r2));
            TEST_ASSERT_DOUBLE_WITHIN(1e-11 * 3e-6 * size, (double)(there - here), got[i]);
        }
    }
}

static void test_the_bulge_has_a_gravity_gradient_too(void)
{
    const struct dyn_environment environment = {.kind = DYN_WORLD_ORBIT, .has_j2 = true};
    const struct dyn_vec3 r = {4e6, 3e6, 5e6}, d = {3e4, -2e4, 1e4};
    const struct dyn_vec3 there = dyn_orbital_gravity_at(&environment, dyn_add(r, d));
    const struct dyn_vec3 more = dyn_sub(there, dyn_orbital_gravity_at(&environment, r));
    const struct dyn_vec3 got = dyn_orbital_gravity_difference(&environment, r, d);
    TEST_ASSERT_TRUE(dyn_norm(dyn_sub(more, got)) < 1e-14);
    TEST_ASSERT_TRUE(dyn_norm(more) > 1e-2);
}

/* mu / r^3 (p - 3 u (u.p)), and nothing at the mass centre however far the frame is from it */
static void test_an_accelerometer_in_free_fall_reads_the_gravity_gradient_alone(void)
{
    const double *center = craft.tree.spec[0].center, k = MU / (7e6 * 7e6 * 7e6);
    memcpy(craft.tree.spec[0].center, (double[]){3.0, -2.0, 1.0}, 24);
    build();
    put((double[]){7e6, 0, 0}, (double[]){0, 7546.0, 0}, UPRIGHT, STILL);
    const struct dyn_motion here = motion_at(center);
    const struct dyn_motion there = motion_at((double[]){3.0 + 2.0, -2.0 + 5.0, 1.0});
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, here.specific_force[i]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, k * (2.0 - 3.0 * 2.0), there.specific_force[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, k * 5.0, there.specific_force[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, there.specific_force[2]);
}

/* How far the body's x axis is ahead of the way up, in the plane of the equator. */
static double pitch(void)
{
    struct vec_mat R;
    const struct dyn_motion motion = motion_at(craft.tree.spec[0].center);
    vec_quat_matrix(craft.x + 3, &R);
    const double up = atan2(motion.position[1], motion.position[0]);
    return remainder(atan2(R.row[1][0], R.row[0][0]) - up, 2.0 * PI);
}

/* Frequency of the swing from its first to its last crossing of zero. */
static double swing_rate(double h)
{
    double first = 0.0, last = 0.0, before = pitch();
    int crossings = 0;
    for (int k = 1; k < 100000 && crossings < 7; k++) {
        craft_run(&craft, 1, h);
        const double now = pitch();
        if (before * now < 0.0) {
            last = (k - 1 + before / (before - now)) * h;
            first = crossings++ == 0 ? last : first;
        }
        before = now;
    }
    TEST_ASSERT_EQUAL_INT(7, crossings);
    return PI * 6.0 / (last - first);
}

static void swing_out(void)
{
    const double n = sqrt(MU / (7e6 * 7e6 * 7e6));
    put((double[]){7e6, 0, 0}, (double[]){0, n * 7e6, 0}, (double[]){cos(0.005), 0, 0, sin(0.005)},
        (double[]){0, 0, n});
}

/* 3 n^2 (I_along - I_up) / I_across */
static void test_a_long_body_swings_about_the_vertical(void)
{
    const double n = sqrt(MU / (7e6 * 7e6 * 7e6)), expected = n * sqrt(3.0 * (10.0 - 2.0) / 11.0);
    memcpy(craft.tree.spec[0].inertia, (double[]){2.0, 10.0, 11.0, 0, 0, 0}, 48);
    memcpy(craft.tree.spec[0].center, (double[]){0.5, 0.2, -0.1}, 24);
    build();
    swing_out();
    TEST_ASSERT_DOUBLE_WITHIN(1e-3 * expected, expected, swing_rate(10.0));
}

/* Two balls on a rod: sqrt(3) n, by their own weights and not by a torque. */
static void test_a_dumbbell_swings_about_the_vertical(void)
{
    const double expected = sqrt(3.0) * sqrt(MU / (7e6 * 7e6 * 7e6));
    craft.tree.spec[0].mass = 10.0;
    memcpy(craft.tree.spec[0].inertia, (double[]){1e-3, 1e-3, 1e-3, 0, 0, 0}, 48);
    tree_add(&craft.tree, 0, DYN_JOINT_FIXED, 0, 0, 0);
    tree_add(&craft.tree, 0, DYN_JOINT_FIXED, 0, 0, 0);
    for (int k = 1; k <= 2; k++) {
        craft.tree.spec[k].mass = 10.0;
        craft.tree.spec[k].place_xyz[0] = k == 1 ? 8.0 : -8.0;
        memcpy(craft.tree.spec[k].inertia, (double[]){1e-3, 1e-3, 1e-3, 0, 0, 0}, 48);
    }
    build();
    swing_out();
    TEST_ASSERT_DOUBLE_WITHIN(1e-3 * expected, expected, swing_rate(10.0));
}

/* I w' = 3 mu / r^3 u x ((I + J a a') u): gravity does not mind that the rotor may turn. */
static void test_the_gravity_gradient_turns_a_wheel_with_its_body(void)
{
    const double r[3] = {3e6, 4e6, 5e6}, J = 0.7, d = sqrt(50.0) * 1e6, k = 3.0 * MU / (d * d * d);
    const double u[3] = {3e6 / d, 4e6 / d, 5e6 / d};
    double Iu[3] = {2.0 * u[0], 10.0 * u[1], (11.0 + J) * u[2]}, expected[3];
    memcpy(craft.tree.spec[0].inertia, (double[]){2.0, 10.0, 11.0, 0, 0, 0}, 48);
    craft_add_wheel(&craft, 0, 0, 0, 1, J);
    build();
    put(r, STILL, UPRIGHT, STILL);
    (void)motion_at(ORIGIN);
    vec_cross(u, Iu, expected);
    const double *a = dyn_plant_acceleration(craft.work);
    TEST_ASSERT_DOUBLE_WITHIN(1e-16, k * expected[0], 2.0 * a[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-16, k * expected[1], 10.0 * a[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-16, k * expected[2], 11.0 * a[2]);
}

/* The same as m g(r) on every body by itself, and its torque, in a world without gravity. */
static void pull_by_hand(int body)
{
    const struct dyn_body_spec *spec = &craft.tree.spec[body];
    const struct dyn_vec3 center = dyn_vec3_load(spec->center);
    double r[3], Ir[3], twist[3], g[3];
    struct dyn_motion motion;
    struct vec_mat R, I;
    dyn_plant_motion(&craft.plant, craft.work, craft.x, body, spec->center, &motion);
    vec_quat_matrix(motion.attitude, &R);
    vec_multiply_t(&R, motion.position, r);
    const double d = sqrt(vec_dot(r, r)), k = MU / (d * d * d);
    vec_symmetric(spec->inertia, &I);
    vec_multiply(&I, r, Ir);
    vec_cross(r, Ir, twist);
    for (int i = 0; i < 3; i++)
        g[i] = -k * r[i];
    const struct dyn_vec3 f = dyn_scale(spec->mass, dyn_vec3_load(g));
    const struct dyn_vec3 n = dyn_scale(3.0 * k / (d * d), dyn_vec3_load(twist));
    craft.tree.force[body] = (struct dyn_vec6){dyn_add(n, dyn_cross(center, f)), f};
}

static void test_every_body_of_a_tree_has_its_own_weight(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        memset(&craft, 0, sizeof craft);
        tree_random(&craft.tree, 2 + (int)(seed % 8), 1, seed);
        memset(craft.tree.tau, 0, sizeof craft.tree.tau);
        for (int i = 0; i < craft.tree.body_count; i++) /* roots that are no base, too */
            if (craft.tree.spec[i].parent < 0)
                memcpy(craft.tree.spec[i].place_xyz, (double[]){3e6, 4e6, 5e6}, 24);
        tree_unlimit(&craft.tree);
        tree_unrub(&craft.tree);
        craft.plant.environment.kind = DYN_WORLD_ORBIT;
        craft_build(&craft);
        (void)motion_at(ORIGIN);
        for (int i = 0; i < craft.tree.body_count; i++)
            pull_by_hand(i);
        memset(craft.tree.gravity, 0, sizeof craft.tree.gravity);
        tree_forward(&craft.tree);
        const double *a = dyn_plant_acceleration(craft.work);
        for (int k = 0; k < dyn_model_nv(craft.tree.model); k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-9 * (1.0 + fabs(a[k])), craft.tree.a[k], a[k]);
    }
}

/* What the monitor says of energy, and of momentum about the Earth's axis, in the whole field. */
static void test_energy_and_momentum_stay_in_orbit(void)
{
    craft.plant.environment.has_j2 = true;
    memcpy(craft.tree.spec[0].inertia, (double[]){200.0, 1000.0, 1100.0, 0, 0, 0}, 48);
    build();
    put_on_orbit(&ORBIT, (double[]){0.5, 0.5, -0.5, 0.5}, (double[]){1e-3, -2e-3, 1e-3});
    const struct dyn_monitor before = craft_monitor(&craft);
    craft_run(&craft, 5000, 1.0);
    const struct dyn_monitor after = craft_monitor(&craft);
    const double energy = before.kinetic + before.potential;
    TEST_ASSERT_DOUBLE_WITHIN(1e-10 * fabs(energy), energy, after.kinetic + after.potential);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10 * fabs(before.angular_momentum[2]), before.angular_momentum[2],
                              after.angular_momentum[2]);
    TEST_ASSERT_TRUE(fabs(before.angular_momentum[0] - after.angular_momentum[0]) >
                     1e-6 * fabs(before.angular_momentum[0]));
}

/* Two particles of 10 kg, 10 km from their centre, as one body: -mu m / |r +- d|. */
static void test_the_monitor_knows_the_energy_of_a_long_body(void)
{
    memcpy(craft.tree.spec[0].inertia, (double[]){1.0, 2e9, 2e9, 0, 0, 0}, 48);
    build();
    put((double[]){0, 7e6, 0}, STILL, (double[]){0.8, 0, 0, 0.6}, STILL);
    const double d[2] = {1e4 * 0.28, 1e4 * 0.96}; /* of the body's x axis */
    const double near = -MU * 10.0 / hypot(d[0], 7e6 - d[1]);
    const double far = -MU * 10.0 / hypot(d[0], 7e6 + d[1]);
    const double whole = -MU * 20.0 / 7e6;
    TEST_ASSERT_DOUBLE_WITHIN(1e-5 * fabs(near + far - whole), near + far,
                              craft_monitor(&craft).potential);
}

static void test_there_is_neither_ground_nor_air_in_orbit(void)
{
    craft_add(&craft,
              &(struct dyn_effector){.type = DYN_EFFECTOR_CONTACT, .contact = {.stiffness = 1.0}});
    craft_add(&craft, &(struct dyn_effector){.type = DYN_EFFECTOR_DRAG,
                                             .drag = {.linear = {1.0, 1.0, 1.0}}});
    craft.plant.environment.has_ground = craft.plant.environment.air = true;
    build();
    put((double[]){0, 0, 7e6}, (double[]){7546.0, 0, 0}, UPRIGHT, STILL);
    const struct dyn_motion motion = motion_at(ORIGIN);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, motion.specific_force[i]);
}

static void test_what_cannot_orbit_is_refused(void)
{
    build();
    TEST_ASSERT_NULL(dyn_plant_problem(&craft.plant));
    craft.plant.integrator = DYN_SEMI_IMPLICIT_EULER;
    TEST_ASSERT_EQUAL_STRING("semi-implicit Euler is not accurate enough for an orbit",
                             dyn_plant_problem(&craft.plant));
    craft.tree.spec[0].joint = DYN_JOINT_SPHERICAL;
    tree_build(&craft.tree);
    craft.plant.model = craft.tree.model;
    TEST_ASSERT_EQUAL_STRING("in orbit the first body must be free",
                             dyn_plant_problem(&craft.plant));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_satellite_follows_kepler_for_an_orbit);
    RUN_TEST(test_the_mass_centre_is_what_follows_kepler);
    RUN_TEST(test_a_second_satellite_has_gravity_of_its_own);
    RUN_TEST(test_the_bulge_turns_the_node);
    RUN_TEST(test_the_gravity_gradient_loses_no_digits);
    RUN_TEST(test_the_bulge_has_a_gravity_gradient_too);
    RUN_TEST(test_an_accelerometer_in_free_fall_reads_the_gravity_gradient_alone);
    RUN_TEST(test_a_long_body_swings_about_the_vertical);
    RUN_TEST(test_a_dumbbell_swings_about_the_vertical);
    RUN_TEST(test_the_gravity_gradient_turns_a_wheel_with_its_body);
    RUN_TEST(test_every_body_of_a_tree_has_its_own_weight);
    RUN_TEST(test_energy_and_momentum_stay_in_orbit);
    RUN_TEST(test_the_monitor_knows_the_energy_of_a_long_body);
    RUN_TEST(test_there_is_neither_ground_nor_air_in_orbit);
    RUN_TEST(test_what_cannot_orbit_is_refused);
    return UNITY_END();
}
