/*
 * What a multicopter is made of, against closed forms: rotors, drag, ground and battery.
 */
#include <math.h>
#include <string.h>

#include "dynamics/plant_rate.h"
#include "tests/dynamics/craft.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

static const double MASS = 1.5, GRAVITY = 9.81;
static const double INERTIA[6] = {0.02, 0.025, 0.04, 0.001, -0.002, 0.0015};
static const double ORIGIN[3];

static struct craft craft;

void setUp(void)
{
    memset(&craft, 0, sizeof craft);
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    craft.tree.spec[0].mass = MASS;
    memcpy(craft.tree.spec[0].inertia, INERTIA, sizeof INERTIA);
    tree_build(&craft.tree);
    craft.tree.gravity[2] = GRAVITY;
    craft.plant.environment.kind = DYN_WORLD_LOCAL;
    craft.plant.environment.air = true;
}

void tearDown(void)
{
}

static int add_rotor(double x, double y, double spin)
{
    return craft_add(&craft, &(struct dyn_effector){.type = DYN_EFFECTOR_ROTOR,
                                                    .rotor = {.at = {x, y, 0.0},
                                                              .axis = {0.0, 0.0, -1.0},
                                                              .spin = spin,
                                                              .max_speed = 1000.0,
                                                              .thrust = 1e-5,
                                                              .torque = 2e-7,
                                                              .lag_up = 0.05,
                                                              .lag_down = 0.08,
                                                              .inertia = 4e-5}});
}

static void add_four_rotors(void)
{
    add_rotor(0.2, 0.2, 1.0);
    add_rotor(-0.2, -0.2, 1.0);
    add_rotor(0.2, -0.2, -1.0);
    add_rotor(-0.2, 0.2, -1.0);
}

static struct dyn_motion motion_at(const double point[3])
{
    struct dyn_motion motion;
    dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
    dyn_plant_motion(&craft.plant, craft.work, craft.x, 0, point, &motion);
    return motion;
}

static void assert_3(double tolerance, double x, double y, double z, const double a[3])
{
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, x, a[0]);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, y, a[1]);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, z, a[2]);
}

/* ---- rotors ---- */

/* The standard atmosphere is 7e-7 thinner at the sea than 1.225 kg/m^3: tolerances are for that. */

static void test_four_rotors_that_lift_the_weight_hover(void)
{
    const double omega = sqrt(MASS * GRAVITY / 4e-5);
    add_four_rotors();
    craft_build(&craft);
    for (int k = 0; k < 4; k++) {
        craft.commands[k] = omega / 1000.0;
        craft_states(&craft, k)[0] = omega;
    }
    assert_3(1e-5, 0.0, 0.0, -GRAVITY, motion_at(ORIGIN).specific_force);
    craft_run(&craft, 2000, 1e-3);
    const struct dyn_motion motion = motion_at(ORIGIN);
    assert_3(2e-5, 0.0, 0.0, 0.0, motion.position);
    assert_3(2e-5, 0.0, 0.0, 0.0, motion.velocity);
    assert_3(1e-12, 0.0, 0.0, 0.0, motion.rate);
}

static void test_a_rotor_follows_its_command_exponentially(void)
{
    add_rotor(0, 0, 1.0);
    craft_build(&craft);
    double *omega = craft_states(&craft, 0);
    craft.commands[0] = 0.6;
    craft_run(&craft, 70, 1e-3);
    const double up = 600.0 * (1.0 - exp(-0.07 / 0.05));
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, up, *omega);
    craft.commands[0] = 0.1;
    craft_run(&craft, 50, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 100.0 + (up - 100.0) * exp(-0.05 / 0.08), *omega);
}

static double target_at(double command)
{
    craft.commands[0] = command;
    craft_run(&craft, 2000, 1e-3);
    return craft_states(&craft, 0)[0];
}

static void test_a_rotor_idles_and_keeps_its_limits(void)
{
    add_rotor(0, 0, 1.0);
    craft.effectors[0].rotor.idle_speed = 150.0;
    craft_build(&craft);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 150.0, target_at(0.01));
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 160.0, target_at(0.16));
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1000.0, target_at(1.7));
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, target_at(0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, target_at(-0.5));
    target_at(0.5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, target_at((double)NAN));
    TEST_ASSERT_EQUAL_DOUBLE(-7.0, dyn_rotor_speed(&(struct dyn_rotor){.spin = -1.0}, 7.0));
}

/* I w' = moments - w x (I w + H) - H', H = sum s a J Omega, worked out by hand. */
static void test_spinning_rotors_act_as_euler_says(void)
{
    const double w[3] = {1.5, -2.0, 0.7}, omega[2] = {400.0, 700.0}, spin[2] = {1.0, -1.0};
    const double axis[2][3] = {{0.0, 0.6, -0.8}, {0.8, 0.0, -0.6}};
    const double J = 3e-4, rho = 1.225;
    double moment[3] = {0}, H[3], gyro[3], expected[3];
    struct vec_mat I;

    vec_symmetric(INERTIA, &I);
    for (int k = 0; k < 2; k++) {
        struct dyn_rotor *rotor = &craft.effectors[add_rotor(0.3, -0.1 * k, spin[k])].rotor;
        memcpy(rotor->axis, axis[k], sizeof rotor->axis);
        rotor->inertia = J;
        craft.commands[k] = 0.5;
    }
    memcpy(craft.tree.v, w, sizeof w);
    craft_build(&craft);
    vec_multiply(&I, w, H);
    for (int k = 0; k < 2; k++) {
        double lift[3] = {0}, turned[3];
        const double gain = (500.0 - omega[k]) / (500.0 > omega[k] ? 0.05 : 0.08);
        craft_states(&craft, k)[0] = omega[k];
        vec_add(J * spin[k] * omega[k], axis[k], H);
        vec_add(1e-5 * omega[k] * omega[k], axis[k], lift);
        vec_cross(craft.effectors[k].rotor.at, lift, turned);
        vec_add(1.0, turned, moment);
        vec_add(-spin[k] * (2e-7 * omega[k] * omega[k] + J * gain), axis[k], moment);
    }
    vec_cross(w, H, gyro);
    vec_add(-1.0, gyro, moment);

    (void)motion_at(ORIGIN);
    vec_multiply(&I, dyn_plant_acceleration(craft.work), expected);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, rho, craft.work->effector_input[0].density);
    assert_3(1e-6, moment[0], moment[1], moment[2], expected);
}

/* From rest about the axis: I w + J s Omega = 0. */
static void test_a_rotor_that_spins_up_turns_its_body_in_the_opposite_direction(void)
{
    craft.tree.gravity[2] = 0.0;
    memcpy(craft.tree.spec[0].inertia, (double[]){0.02, 0.025, 0.04, 0, 0, 0}, 48);
    tree_build(&craft.tree);
    craft.effectors[add_rotor(0, 0, -1.0)].rotor.inertia = 1e-3;
    craft.effectors[0].rotor.torque = craft.effectors[0].rotor.thrust = 0.0;
    craft_build(&craft);
    craft.commands[0] = 0.3;
    craft_run(&craft, 1000, 1e-3);
    /* turns left-handed about -z, which is right-handed about z: the body goes the other way */
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 300.0, craft_states(&craft, 0)[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, -1e-3 * 300.0 / 0.04, craft.x[9]);
}

/* R (I w + sum s a J Omega) */
static void momentum_by_hand(double H[3])
{
    struct vec_mat I, R;
    vec_symmetric(INERTIA, &I);
    vec_quat_matrix(craft.x + 3, &R);
    vec_multiply(&I, craft.x + 7, H);
    for (int k = 0; k < craft.plant.effector_count; k++) {
        const struct dyn_rotor *rotor = &craft.effectors[k].rotor;
        vec_add(rotor->inertia * rotor->spin * craft_states(&craft, k)[0], rotor->axis, H);
    }
    vec_multiply(&R, H, H);
}

static void test_rotors_without_air_keep_the_angular_momentum(void)
{
    double before[3], after[3];
    craft.tree.gravity[2] = 0.0;
    craft.plant.environment.air = false;
    add_four_rotors();
    memcpy(craft.effectors[1].rotor.axis, (double[]){0.6, 0.0, -0.8}, 24);
    for (int k = 0; k < 4; k++) {
        craft.effectors[k].rotor.inertia = 2e-4;
        craft.commands[k] = 0.1 + 0.2 * k;
    }
    memcpy(craft.tree.v, (double[]){1.0, -2.0, 3.0, 4.0, 5.0, 6.0}, 48);
    craft_build(&craft);
    momentum_by_hand(before);
    craft_run(&craft, 5000, 2e-4);
    momentum_by_hand(after);
    assert_3(1e-9, before[0], before[1], before[2], after);
    const struct dyn_monitor monitor = craft_monitor(&craft);
    double about[3];
    vec_cross(monitor.center, monitor.linear_momentum, about);
    for (int k = 0; k < 3; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, after[k], monitor.angular_momentum[k] - about[k]);
}

/* At a steady speed the rotor gains what its motor gives: P = torque Omega by two ways. */
static void test_the_monitor_knows_the_energy_of_a_rotor(void)
{
    craft.plant.environment.air = false;
    add_rotor(0, 0, 1.0);
    craft_build(&craft);
    craft_states(&craft, 0)[0] = 500.0;
    craft.x[9] = -2.0; /* along the axis */
    const double body = 0.5 * 0.04 * 4.0, both = 500.0 + 2.0;
    const double rotor = 0.5 * 4e-5 * (both * both - 2.0 * 2.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, body + rotor, craft_monitor(&craft).kinetic);
}

static double force_of_rotor(double height, double along, double across, int component)
{
    setUp();
    craft.effectors[add_rotor(0, 0, 1.0)].rotor.inflow = 20.0;
    craft.effectors[0].rotor.lateral_drag = 3e-5;
    craft.plant.environment.height = height;
    memcpy(craft.tree.v + 3, (double[]){across, 0.0, -along}, 24);
    craft_build(&craft);
    craft_states(&craft, 0)[0] = 800.0;
    return MASS * motion_at(ORIGIN).specific_force[component];
}

static void test_thrust_follows_density_and_advance(void)
{
    const double still = 1e-5 * 800.0 * 800.0;
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -still, force_of_rotor(0, 0, 0, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, -still * 0.73643 / 1.225, force_of_rotor(5000, 0, 0, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -still * (1 - 20.0 * 10 / 800), force_of_rotor(0, 10, 0, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -still * (1 + 20.0 * 10 / 800), force_of_rotor(0, -10, 0, 2));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, force_of_rotor(0, 41, 0, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -still, force_of_rotor(0, 0, 7, 2));
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, -3e-5 * 800 * 7, force_of_rotor(0, 0, 7, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -3e-5 * 800 * 7 * 0.73643 / 1.225,
                              force_of_rotor(5000, 0, 7, 0));
}

/* A hub off the centre of a body that turns moves through the air. */
static void test_the_hub_feels_its_own_airspeed(void)
{
    craft.effectors[add_rotor(0.5, 0, 1.0)].rotor.inflow = 20.0;
    memcpy(craft.tree.v, (double[]){0.0, 4.0, 0.0}, 24); /* hub moves along -z by 2 m/s */
    craft_build(&craft);
    craft_states(&craft, 0)[0] = 800.0;
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -1e-5 * 800 * (800 - 40),
                              MASS * motion_at(ORIGIN).specific_force[2]);
}

/* ---- drag and wind ---- */

static struct dyn_drag *add_drag(void)
{
    return &craft.effectors[craft_add(&craft, &(struct dyn_effector){.type = DYN_EFFECTOR_DRAG})]
                .drag;
}

/* m g = density/2 area v^2, where it has got to */
static void test_a_falling_body_reaches_its_terminal_speed(void)
{
    add_drag()->area[2] = 0.5;
    craft.plant.environment.height = 1000.0;
    craft_build(&craft);
    craft_run(&craft, 2000, 1e-2);
    const double height = 1000.0 - craft.x[2];
    const double density = 1.225 * pow(1.0 - 2.25577e-5 * height, 4.2559);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, sqrt(2.0 * MASS * GRAVITY / (density * 0.5)), craft.x[12]);
}

/* m v' = -linear (v - wind) */
static void test_wind_carries_a_body_along(void)
{
    const double c = 0.4, t = 3.0, share = 1.0 - exp(-c * t / MASS);
    memcpy(add_drag()->linear, (double[]){c, c, c}, 24);
    craft.tree.gravity[2] = 0.0;
    memcpy(craft.tree.q + 3, (double[]){0.5, 0.5, -0.5, 0.5}, 32);
    craft_build(&craft);
    memcpy(craft.plant.environment.wind, (double[]){8.0, -5.0, 0.0}, 24);
    craft_run(&craft, 3000, t / 3000);
    const struct dyn_motion motion = motion_at(ORIGIN);
    assert_3(1e-5, 8.0 * share, -5.0 * share, 0.0, motion.velocity);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, sqrt(89.0) * (1 - share),
                              sqrt(vec_dot(motion.air_velocity, motion.air_velocity)));
}

/* |v| v_k, and at its point */
static void test_drag_goes_by_axis_and_turns_the_body(void)
{
    struct dyn_drag *drag = add_drag();
    struct vec_mat I;
    double turned[3], expected[3];
    memcpy(drag->area, (double[]){0.1, 0.2, 0.3}, 24);
    memcpy(drag->at, (double[]){0.05, -0.1, 0.2}, 24);
    craft.tree.gravity[2] = 0.0;
    memcpy(craft.tree.v + 3, (double[]){3.0, -4.0, 12.0}, 24);
    craft_build(&craft);
    const double k = -0.5 * 1.225 * 13.0;
    const double f[3] = {k * 0.1 * 3.0, k * 0.2 * -4.0, k * 0.3 * 12.0};
    const struct dyn_motion motion = motion_at(ORIGIN);
    assert_3(5e-5, f[0] / MASS, f[1] / MASS, f[2] / MASS, motion.specific_force);
    vec_symmetric(INERTIA, &I);
    vec_multiply(&I, dyn_plant_acceleration(craft.work), turned);
    vec_cross(drag->at, f, expected);
    assert_3(1e-5, expected[0], expected[1], expected[2], turned);
}

static void test_the_air_brakes_a_turn(void)
{
    add_drag()->angular[2] = 0.03;
    memcpy(craft.tree.spec[0].inertia, (double[]){0.02, 0.025, 0.04, 0, 0, 0}, 48);
    tree_build(&craft.tree);
    craft.tree.v[2] = 5.0;
    craft_build(&craft);
    craft.plant.environment.gravity[2] = 0.0;
    craft_run(&craft, 1000, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 5.0 * exp(-0.03 / 0.04), craft.x[9]);
}

static void test_there_is_no_drag_without_air(void)
{
    struct dyn_drag *drag = add_drag();
    drag->area[0] = drag->linear[0] = 1.0;
    craft.plant.environment.air = false;
    craft.tree.v[3] = 10.0;
    craft_build(&craft);
    assert_3(0.0, 0.0, 0.0, 0.0, motion_at(ORIGIN).specific_force);
}

/* ---- ground ---- */

static void add_foot(double x, double y, double z, double damping, double friction)
{
    craft_add(&craft, &(struct dyn_effector){.type = DYN_EFFECTOR_CONTACT,
                                             .contact = {.at = {x, y, z},
                                                         .stiffness = 4000.0,
                                                         .damping = damping,
                                                         .friction = friction}});
    craft.plant.environment.has_ground = true;
    craft.plant.environment.ground = 2.0;
}

static void test_a_body_at_rest_sinks_in_by_its_weight(void)
{
    for (int k = 0; k < 4; k++)
        add_foot(k & 1 ? 0.2 : -0.2, k & 2 ? 0.2 : -0.2, 0.1, 60.0, 0.5);
    craft_build(&craft);
    craft.x[2] = 1.9;
    craft_run(&craft, 3000, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.9 + MASS * GRAVITY / 16000.0, craft.x[2]);
    assert_3(1e-9, 0.0, 0.0, -GRAVITY, motion_at(ORIGIN).specific_force);
}

/* Heights of the turning points above the ground, one after the other. */
static double next_apex(void)
{
    double last = craft.x[12];
    for (int k = 0; k < 20000; k++) {
        craft_run(&craft, 1, 1e-4);
        if (last < 0.0 && craft.x[12] >= 0.0 && craft.x[2] < 2.0)
            return 2.0 - craft.x[2];
        last = craft.x[12];
    }
    return 0.0;
}

static void test_a_bounce_gains_no_energy(void)
{
    add_foot(0, 0, 0, 0.0, 0.0);
    craft_build(&craft);
    craft.x[2] = 1.0;
    for (int k = 0; k < 5; k++)
        TEST_ASSERT_DOUBLE_WITHIN(2e-5, 1.0, next_apex());
}

static void test_a_damped_bounce_loses_energy_every_time(void)
{
    double before = 1.0;
    add_foot(0, 0, 0, 20.0, 0.0);
    craft_build(&craft);
    craft.x[2] = 1.0;
    for (int k = 0; k < 5; k++) {
        const double apex = next_apex();
        TEST_ASSERT_TRUE(apex < 0.8 * before && apex > 0.1 * before);
        before = apex;
    }
}

static void test_the_ground_pushes_and_never_pulls(void)
{
    add_foot(0, 0, 0, 60.0, 0.5);
    craft_build(&craft);
    craft.x[2] = 2.001;
    craft.x[12] = -5.0;
    assert_3(0.0, 0.0, 0.0, 0.0, motion_at(ORIGIN).specific_force);
    craft.x[12] = 0.5;
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -(4.0 + 30.0) / MASS, motion_at(ORIGIN).specific_force[2]);
    craft.x[2] = 1.999;
    assert_3(0.0, 0.0, 0.0, 0.0, motion_at(ORIGIN).specific_force);
    craft.x[2] = 2.001;
    craft.plant.environment.has_ground = false;
    assert_3(0.0, 0.0, 0.0, 0.0, motion_at(ORIGIN).specific_force);
}

/* A foot off the centre of a body that leans: the push is up in the world, wherever it points. */
static void test_a_foot_pushes_up_in_the_world_where_it_stands(void)
{
    const double up[3] = {0.0, 0.0, -40.0};
    double force[3], turned[3], expected[3];
    struct vec_mat R, I;
    add_foot(0.3, -0.2, 0.4, 0.0, 0.0);
    memcpy(craft.tree.q + 3, (double[]){0.8, 0.36, 0.48, 0.0}, 32);
    craft_build(&craft);
    vec_quat_matrix(craft.x + 3, &R);
    vec_symmetric(INERTIA, &I);
    craft.x[2] = 2.01 - vec_dot(R.row[2], craft.effectors[0].contact.at);
    const struct dyn_motion motion = motion_at(ORIGIN);
    vec_multiply_t(&R, up, force);
    assert_3(1e-9, force[0] / MASS, force[1] / MASS, force[2] / MASS, motion.specific_force);
    vec_multiply(&I, dyn_plant_acceleration(craft.work), turned);
    vec_cross(craft.effectors[0].contact.at, force, expected);
    assert_3(1e-9, expected[0], expected[1], expected[2], turned);
}

static void test_a_sliding_body_slows_down_by_its_friction(void)
{
    const double t = 0.3, a = 0.5 * GRAVITY;
    add_foot(0, 0, 0, 60.0, 0.5);
    craft_build(&craft);
    craft.x[2] = 2.0 + MASS * GRAVITY / 4000.0;
    craft.x[10] = 3.0 * 0.6;
    craft.x[11] = 3.0 * 0.8;
    craft_run(&craft, 3000, t / 3000);
    assert_3(1e-5, 0.6 * (3.0 - a * t), 0.8 * (3.0 - a * t), 0.0, craft.x + 10);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 0.6 * (3.0 * t - 0.5 * a * t * t), craft.x[0]);
    craft_run(&craft, 20000, 1e-4);
    assert_3(1e-9, 0.0, 0.0, 0.0, craft.x + 10);
}

static void test_a_foot_that_is_pushed_stays(void)
{
    add_foot(0, 0, 0, 60.0, 0.5);
    craft.tree.gravity[0] = 0.9 * 0.5 * GRAVITY;
    craft_build(&craft);
    craft.x[2] = 2.0 + MASS * GRAVITY / 4000.0;
    craft_run(&craft, 5000, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, craft.x[10]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.9 * 0.5 * GRAVITY, motion_at(ORIGIN).specific_force[0]);
}

/* ---- battery ---- */

static const struct dyn_battery BATTERY = {.voltage_full = 16.8,
                                           .voltage_empty = 13.2,
                                           .capacity = 18000.0,
                                           .resistance = 0.05,
                                           .idle_current = 0.5,
                                           .efficiency = 0.8};

static int add_battery(void)
{
    return craft_add(&craft,
                     &(struct dyn_effector){.type = DYN_EFFECTOR_BATTERY, .battery = BATTERY});
}

/* Half empty 15 V; a rotor at 800 rad/s takes 2e-7 * 800^3 = 102.4 W, 128 W of the battery. */
static void test_the_battery_sags_by_hand_arithmetic(void)
{
    const int battery = add_battery(), rotor = add_rotor(0, 0, 1.0);
    craft_build(&craft);
    craft_states(&craft, battery)[0] = 9000.0;
    craft_states(&craft, rotor)[0] = 800.0;
    craft.commands[rotor] = 1.0;
    (void)motion_at(ORIGIN);
    const struct dyn_supply supply = dyn_plant_supply(craft.work);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 102.4, supply.power);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 14.53467, supply.voltage);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 15.0 - 0.05 * supply.current, supply.voltage);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5 + supply.power / 0.8 / supply.voltage, supply.current);
    TEST_ASSERT_EQUAL_DOUBLE(supply.voltage / 16.8, supply.ratio);

    const double *rate = craft.work->x_rate + dyn_plant_effector_index(&craft.plant, 0);
    TEST_ASSERT_EQUAL_DOUBLE(supply.current, rate[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, (1000.0 * supply.ratio - 800.0) / 0.05, rate[1]);
}

static void test_the_battery_runs_down(void)
{
    const int battery = add_battery();
    craft_build(&craft);
    craft_run(&craft, 1000, 1.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 500.0, craft_states(&craft, battery)[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 16.8 - 0.1 - 0.025, dyn_battery_voltage(&BATTERY, 500.0, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 13.2 - 0.025, dyn_battery_voltage(&BATTERY, 1e9, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * (16.8 - 0.025), dyn_battery_voltage(&BATTERY, 0, 1e9));
}

static void test_without_a_battery_the_supply_is_full(void)
{
    add_rotor(0, 0, 1.0);
    craft_build(&craft);
    (void)motion_at(ORIGIN);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, dyn_plant_supply(craft.work).ratio);
    add_battery();
    add_battery();
    TEST_ASSERT_EQUAL_STRING("a vehicle has at most one battery", dyn_plant_problem(&craft.plant));
}

/* ---- all together ---- */

static void test_effectors_of_two_bodies_act_on_their_own(void)
{
    tree_add(&craft.tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree_build(&craft.tree);
    craft.tree.q[9] = 2.01; /* z of the second */
    add_rotor(0, 0, 1.0);
    add_foot(0, 0, 0, 0.0, 0.0);
    add_drag()->linear[0] = 1.0;
    craft.effectors[1].body = 1;
    craft.tree.v[3] = 3.0; /* the first is in the wind */
    craft_build(&craft);
    craft_states(&craft, 0)[0] = 600.0;
    (void)motion_at(ORIGIN);
    const double *a = dyn_plant_acceleration(craft.work);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, -3.0 / MASS, a[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, GRAVITY - 3.6 / MASS, a[5]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, GRAVITY - 40.0, a[11]);
}

static void test_work_carries_nothing_between_steps(void)
{
    double once[CRAFT_X_MAX];
    add_four_rotors();
    add_battery();
    add_drag()->area[2] = 0.1;
    add_foot(0.2, 0.1, 0.1, 60.0, 0.5);
    craft_build(&craft);
    craft.x[2] = 1.95;
    for (int k = 0; k < 4; k++)
        craft.commands[k] = 0.3 + 0.1 * k;
    double start[CRAFT_X_MAX];
    memcpy(start, craft.x, sizeof start);
    craft_run(&craft, 10, 1e-3);
    memcpy(once, craft.x, sizeof once);
    memcpy(craft.x, start, sizeof start);
    for (int k = 0; k < 10; k++) {
        craft_poison(&craft);
        craft_run(&craft, 1, 1e-3);
    }
    TEST_ASSERT_EQUAL_MEMORY(once, craft.x, (size_t)craft.x_count * sizeof(double));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_four_rotors_that_lift_the_weight_hover);
    RUN_TEST(test_a_rotor_follows_its_command_exponentially);
    RUN_TEST(test_a_rotor_idles_and_keeps_its_limits);
    RUN_TEST(test_spinning_rotors_act_as_euler_says);
    RUN_TEST(test_a_rotor_that_spins_up_turns_its_body_in_the_opposite_direction);
    RUN_TEST(test_rotors_without_air_keep_the_angular_momentum);
    RUN_TEST(test_the_monitor_knows_the_energy_of_a_rotor);
    RUN_TEST(test_thrust_follows_density_and_advance);
    RUN_TEST(test_the_hub_feels_its_own_airspeed);
    RUN_TEST(test_a_falling_body_reaches_its_terminal_speed);
    RUN_TEST(test_wind_carries_a_body_along);
    RUN_TEST(test_drag_goes_by_axis_and_turns_the_body);
    RUN_TEST(test_the_air_brakes_a_turn);
    RUN_TEST(test_there_is_no_drag_without_air);
    RUN_TEST(test_a_body_at_rest_sinks_in_by_its_weight);
    RUN_TEST(test_a_bounce_gains_no_energy);
    RUN_TEST(test_a_damped_bounce_loses_energy_every_time);
    RUN_TEST(test_the_ground_pushes_and_never_pulls);
    RUN_TEST(test_a_foot_pushes_up_in_the_world_where_it_stands);
    RUN_TEST(test_a_sliding_body_slows_down_by_its_friction);
    RUN_TEST(test_a_foot_that_is_pushed_stays);
    RUN_TEST(test_the_battery_sags_by_hand_arithmetic);
    RUN_TEST(test_the_battery_runs_down);
    RUN_TEST(test_without_a_battery_the_supply_is_full);
    RUN_TEST(test_effectors_of_two_bodies_act_on_their_own);
    RUN_TEST(test_work_carries_nothing_between_steps);
    return UNITY_END();
}
