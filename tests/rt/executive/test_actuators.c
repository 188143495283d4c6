/*
 * What actuators, air and ground do to a vehicle, against closed forms; what faults make of a
 * control; and how the vehicle gets back to its start.
 */
#include "tests/rt/executive/frames.h"

#define LINK "links: [{name: board, listen: 127.0.0.1:14560, body: a}]\n"

static double *state_of(int effector)
{
    return sim->vehicle->x + dyn_plant_effector_index(&sim->vehicle->plant, effector);
}

/* Of a lone free body: x y z, quaternion, rate, velocity. */
static const double *position(void)
{
    return sim->vehicle->x;
}

static const double *spin(void)
{
    return sim->vehicle->x + 7;
}

static const double *velocity(void)
{
    return sim->vehicle->x + 10;
}

/* ---- pushes and turns ---- */

static void test_a_thruster_pushes_by_its_share(void)
{
    bring_up("name: x\nbodies: [{name: a, joint: free, mass: 2, inertia: 1 1 1}]\n"
             "devices: [{name: t, type: thruster, body: a, axis: 0 1 0, thrust: 4 N,\n"
             "  min_control: 0.1, command: {link: board, control: 1}}]\n" LINK);
    command(1, 0.5f);
    run_frames(1000);
    EXPECT_VECTOR(1e-9, velocity(), 0, 1, 0);
    EXPECT_VECTOR(1e-9, position(), 0, 0.5, 0);
    command(1, 0.05f); /* less than its shortest pulse */
    run_frames(500);
    command(1, -1); /* it cannot pull */
    run_frames(500);
    EXPECT_VECTOR(1e-9, velocity(), 0, 1, 0);
    EXPECT_VECTOR(1e-9, position(), 0, 1.5, 0);
}

/* At y = 1 a push along x turns about -z; it rises by 1 - exp(-t / rise). */
static void test_a_thruster_off_the_centre_turns_the_body(void)
{
    bring_up("name: x\nbodies: [{name: a, joint: free, mass: 2, inertia: 5 5 5}]\n"
             "devices: [{name: t, type: thruster, body: a, at: 0 1 0, axis: 1 0 0, thrust: 4 N,\n"
             "  rise: 200 ms, command: {link: board, control: 0}}]\n" LINK);
    command(1, 0);
    run_frames(1000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1 - exp(-5), state_of(0)[0]);
    EXPECT_VECTOR(1e-6, spin(), 0, 0, -4.0 / 5 * (1 - 0.2 * (1 - exp(-5))));
}

/* A dipole along x in a field along z is turned about -y. */
static void test_a_torquer_is_a_compass_needle(void)
{
    bring_up("name: x\nenvironment: {magnetic_field: 0 0 40 uT}\n"
             "bodies: [{name: a, joint: free, mass: 1, inertia: 0.01 0.01 0.01}]\n"
             "devices: [{name: m, type: torquer, body: a, axis: 1 0 0, max_dipole: 2 A m^2,\n"
             "  gain: 4 A m^2, command: {link: board, control: 0}}]\n" LINK);
    command(0.25f, 0);
    run_frames(100);
    EXPECT_VECTOR(1e-9, spin(), 0, -0.1 * 1 * 40e-6 / 0.01, 0);
    bring_down();
    bring_up("name: x\nenvironment: {magnetic_field: 0 0 40 uT}\n"
             "bodies: [{name: a, joint: free, mass: 1, inertia: 0.01 0.01 0.01}]\n"
             "devices: [{name: m, type: torquer, body: a, axis: 1 0 0, max_dipole: 2 A m^2,\n"
             "  gain: -4 A m^2, command: {link: board, control: 0}}]\n" LINK);
    command(1, 0); /* it saturates */
    run_frames(100);
    EXPECT_VECTOR(1e-8, spin(), 0, 0.1 * 2 * 40e-6 / 0.01, 0);
}

/* ---- rotors ---- */

#define ROTOR(sense, more)                                                                         \
    "name: x\nenvironment: {world: local, home: {altitude: 0}, gravity: 0 0 9.81}\n"               \
    "bodies: [{name: a, joint: free, mass: 2, inertia: 0.5 0.5 0.5}]\n"                            \
    "devices:\n- {name: r, type: rotor, body: a, turns: " sense                                    \
    ", max_speed: 1000 rad/s, max_thrust: 78.48 N,\n"                                              \
    "  torque_ratio: 0.02 m, lag: 50 ms, " more "command: {link: board, control: 0}}\n"

/* Half the speed is a quarter of 4 m g; its drag turns the body the other way, cw seen from above,
 * which is about +z. */
static void test_a_rotor_hovers_and_turns_the_body_against_itself(void)
{
    bring_up(ROTOR("ccw", "speed: 500 rad/s, ") LINK);
    command(0.5f, 0);
    run_frames(1000);
    EXPECT_VECTOR(1e-3, position(), 0, 0, 0);
    EXPECT_VECTOR(1e-3, spin(), 0, 0, 0.02 * 2 * 9.81 / 0.5);
    bring_up(ROTOR("cw", "speed: 500 rad/s, ") LINK);
    command(0.5f, 0);
    run_frames(1000);
    EXPECT_VECTOR(1e-3, spin(), 0, 0, -0.02 * 2 * 9.81 / 0.5);
}

static void test_a_rotor_follows_its_control_by_its_lag(void)
{
    bring_up(ROTOR("ccw", "idle_speed: 100 rad/s, lag_down: 100 ms, ") LINK);
    command(0.5f, 0);
    run_frames(100);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 500 * (1 - exp(-2)), state_of(0)[0]);
    run_frames(900);
    command(0.01f, 0);
    run_frames(200);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 100 + 400 * exp(-2), state_of(0)[0]);
    command(0, 0); /* off is off */
    run_frames(2000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, state_of(0)[0]);
}

/* What spins up by J w pushes the body back by as much: no air, no other torque. */
static void test_a_rotor_with_inertia_exchanges_momentum(void)
{
    bring_up("name: x\nenvironment: {air: true, home: {altitude: 1000 km}}\n"
             "bodies: [{name: a, joint: free, mass: 2, inertia: 0.5 0.5 0.5}]\n"
             "devices: [{name: r, type: rotor, body: a, turns: ccw, max_speed: 1000 rad/s,\n"
             "  max_thrust: 1 N, inertia: 1e-3, command: {link: board, control: 0}}]\n" LINK);
    command(1, 0);
    run_frames(1000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1000, state_of(0)[0]);
    EXPECT_VECTOR(1e-6, spin(), 0, 0, 2.0); /* the axis is -z */
}

/* Speed, power and voltage agree: w = c max V / E, V^2 - E V + R P / efficiency = 0. */
static void test_a_battery_sags_under_load(void)
{
    bring_up(
        ROTOR("ccw", "") "- {name: b, type: battery, body: a, voltage: 10 V, voltage_empty: 9 "
                         "V,\n  capacity: 1000 A h, resistance: 20 mohm, efficiency: 50 %}\n" LINK);
    command(1, 0);
    run_frames(1000);
    const double w = state_of(0)[0], share = w / 1000;
    /* it climbs meanwhile, into thinner air */
    const double density = pow(1 - 2.25577e-5 * -position()[2], 4.25588);
    const double power = density * 0.02 * 78.48 * share * share * w;
    const double V = 5 + sqrt(25 - 0.02 * power / 0.5);
    TEST_ASSERT_TRUE(w < 900);
    TEST_ASSERT_DOUBLE_WITHIN(2, 1000 * V / 10, w);
}

static void test_a_battery_counts_what_was_used(void)
{
    bring_up("name: x\nbodies: [{name: a, joint: free, mass: 2, inertia: 1 1 1}]\n"
             "devices: [{name: b, type: battery, body: a, voltage: 10 V, voltage_empty: 9 V,\n"
             "  capacity: 1 A h, idle_current: 3 A}]\n");
    run_frames(2000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 6, state_of(0)[0]);
}

/* ---- air and ground ---- */

/* v' = -k v / m, and v' = -rho A v^2 / (2 m); in still air, level. */
static void test_drag_slows_by_speed_or_by_its_square(void)
{
#define DRAG(keys)                                                                                 \
    "name: x\nenvironment: {world: local, gravity: 0 0 0, home: {altitude: 0}}\n"                  \
    "bodies: [{name: a, joint: {type: free, velocity: 20 0 0 m/s, rate: 0 0 2}, mass: 2,\n"        \
    "  inertia: 1 1 1}]\n"                                                                         \
    "devices: [{name: d, type: drag, body: a, " keys "}]\n"
    bring_up(DRAG("linear: 3 3 3 N s/m, angular: 0 0 0.5"));
    run_frames(1000);
    const double *v = velocity();
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 20 * exp(-1.5), sqrt(v[0] * v[0] + v[1] * v[1]));
    EXPECT_VECTOR(1e-4, spin(), 0, 0, 2 * exp(-0.5));
    bring_up(DRAG("area: 0.1 0.1 0.1 m^2"));
    run_frames(1000);
    v = velocity();
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 20 / (1 + 1.225 * 0.1 * 20 / 4),
                              sqrt(v[0] * v[0] + v[1] * v[1]));
}

#define FEET(velocity)                                                                             \
    "name: x\nenvironment: {gravity: 0 0 10, ground: 3 m}\n"                                       \
    "bodies: [{name: a, joint: {type: free, position: 0 0 2.9 m, velocity: " velocity "},\n"       \
    "  mass: 8, inertia: 20 20 20}]\n"                                                             \
    "devices: [{name: feet, type: contact, body: a, stiffness: 1 kN/m, damping: 60 N s/m,\n"       \
    "  friction: 0.5, slip_speed: 1 mm/s, points: [1 1 0, 1 -1 0, -1 1 0, -1 -1 0]}]\n"

/* It falls, bounces and rests where four springs carry it. */
static void test_a_body_comes_to_rest_on_its_feet(void)
{
    bring_up(FEET("0 0 0"));
    run_frames(10000);
    EXPECT_VECTOR(1e-6, position(), 0, 0, 3 + 80.0 / 4000);
    EXPECT_VECTOR(1e-6, velocity(), 0, 0, 0);
}

/* Friction of 0.5 m g stops it in v^2 / g. */
static void test_friction_stops_a_sliding_body(void)
{
    bring_up(FEET("0 0 0"));
    run_frames(10000);
    sim->vehicle->x[10] = 2;
    const double from = position()[0];
    run_frames(300);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 2 - 5 * 0.3, velocity()[0]);
    run_frames(700);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, from + 4.0 / 10, position()[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, velocity()[0]);
}

/* ---- faults of a control ---- */

/* Drag first in the file: the thruster must be found although effectors are sorted. */
static void bring_up_with_fault(const char *fault)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "name: x\nenvironment: {air: true}\n"
             "bodies: [{name: a, joint: free, mass: 2, inertia: 1 1 1}]\n"
             "devices:\n- {name: d, type: drag, body: a}\n"
             "- {name: s, type: thruster, body: a, axis: 1 0 0, thrust: 1,\n"
             "   command: {link: board, control: 0}}\n"
             "- {name: t, type: thruster, body: a, axis: 1 0 0, thrust: 1,\n"
             "   command: {link: board, control: 1}}\n" LINK
             "faults: [{device: t, at: 100 ms, for: 100 ms, %s}]\n",
             fault);
    bring_up(text);
}

/* After this frame; the one without a fault gets what was sent. */
static void expect_control(int frame, double faulty)
{
    while ((int)frames < frame) {
        command((float)(0.001 * (double)frames), (float)(0.001 * (double)frames));
        run_frames(1);
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.001 * (frame - 1), sim->vehicle->command[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, faulty, sim->vehicle->command[1]);
}

static void test_a_fault_hits_the_actuator_that_it_names(void)
{
    bring_up_with_fault("type: bias, value: 20 %");
    expect_control(100, 0.099);
    expect_control(101, 0.3);
    expect_control(200, 0.399);
    expect_control(201, 0.2);
}

static void test_a_stuck_actuator_stays_where_it_was_or_at_its_value(void)
{
    bring_up_with_fault("type: stuck");
    expect_control(150, 0.1);
    expect_control(201, 0.2);
    bring_up_with_fault("type: stuck, value: 0.75");
    expect_control(150, 0.75);
}

static void test_a_lost_or_late_control_is_an_old_one(void)
{
    bring_up_with_fault("type: loss");
    expect_control(200, 0.099);
    expect_control(201, 0.2);
    bring_up_with_fault("type: delay, value: 30 ms");
    expect_control(150, 0.119);
}

/* ---- back to the start ---- */

static const char everything[] =
    "name: x\nseed: 3\nintegrator: ab3\nenvironment: {world: local, ground: 0 m,\n"
    "  gust: {sigma: 1 1 1 m/s}}\n"
    "bodies:\n- {name: a, joint: {type: free, position: 0 0 -1 m, rate: 1 2 3}, mass: 2,\n"
    "   inertia: 1 1 1}\n"
    "- {name: b, parent: a, joint: {type: revolute, axis: 1 0 0, rate: 2}, mass: 1, inertia: 1 1 "
    "1}\n"
    "devices:\n- {name: g, type: gyro, body: a, noise: 1, bias_walk: 1, delay: 3 ms}\n"
    "- {name: c, type: accelerometer, body: b, instability: 1}\n"
    "- {name: n, type: barometer, body: a, noise: 1}\n"
    "- {name: v, type: airspeed, body: a, noise: 1}\n"
    "- {name: p, type: gps, body: a, noise_horizontal: 1 m, wander: 1 m, rate: 10 Hz}\n"
    "- {name: u, type: sun_sensor, body: a, boresight: 0 0 -1, noise: 0.1}\n"
    "- {name: k, type: star_tracker, body: a, boresight: 0 0 -1, noise_across: 0.1}\n"
    "- {name: e, type: encoder, body: b, noise: 1}\n"
    "- {name: w, type: wheel, body: a, axis: 1 0 0, inertia: 0.1, max_torque: 1, max_speed: 99,\n"
    "   speed: 7, static_imbalance: 1e-3, command: {link: board, control: 0}}\n"
    "- {name: r, type: rotor, body: a, turns: cw, max_speed: 99, max_thrust: 9, speed: 30,\n"
    "   delay: 5 ms, command: {link: board, control: 1}}\n"
    "- {name: d, type: drag, body: a, area: 1 1 1}\n"
    "- {name: f, type: contact, body: a, points: [0 0 0.5], stiffness: 100}\n"
    "- {name: y, type: battery, body: a, voltage: 9, voltage_empty: 8, capacity: 9, idle_current: "
    "1}\n" LINK "faults: [{device: g, type: noise, at: 100 ms, value: 1}, {device: r, type: stuck, "
    "at: 0.3 s},\n"
    "  {device: n, type: delay, at: 0, value: 20 ms}]\n";

static void expect_start(const struct sim_vehicle *start)
{
    const struct sim_vehicle *now = sim->vehicle;
    const size_t x_size = (size_t)dyn_plant_state_count(&now->plant) * sizeof *now->x;
    TEST_ASSERT_EQUAL_MEMORY(start->x, now->x, x_size);
    TEST_ASSERT_EQUAL_MEMORY(start->drive, now->drive,
                             (size_t)scenario->spec.drive_count * sizeof *now->drive);
    TEST_ASSERT_EQUAL_MEMORY(start->fault, now->fault,
                             (size_t)scenario->spec.fault_count * sizeof *now->fault);
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        TEST_ASSERT_EQUAL_MEMORY_MESSAGE(start->instrument[i], now->instrument[i],
                                         sim_sensor_state_size(scenario->spec.sensors[i].kind),
                                         scenario->spec.sensors[i].name);
    TEST_ASSERT_EQUAL_MEMORY(&start->surroundings->gust, &now->surroundings->gust,
                             sizeof now->surroundings->gust);
}

/* The board began anew: all of the vehicle is as it was, while links and frames go on. */
static void test_a_reset_brings_the_vehicle_back_to_its_start(void)
{
    bring_up(everything);
    struct sim *fresh = sim_create(&scenario->spec);
    expect_start(fresh->vehicle);
    command(0.5f, 0.25f);
    run_frames(500);
    TEST_ASSERT_TRUE(fabs(fresh->vehicle->x[2] - sim->vehicle->x[2]) > 0.1);
    struct sim_record_input reset = {.frame = frames, .command.kind = IO_COMMAND_RESET};
    sim_apply_input(sim, &reset);
    expect_start(fresh->vehicle);
    free(fresh);
    TEST_ASSERT_EQUAL_UINT64(1, reset.ordinal);
    TEST_ASSERT_EQUAL_UINT64(500, sim->vehicle->schedule->frame);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->link[0].commands);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, sim->vehicle->link[0].control[0]);
}

static double angle_between(const double a[3], const double b[3])
{
    return acos(fmin(1, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
}

/* An hour turns the Earth by 15 degrees, whatever the board does. */
static void test_a_reset_does_not_turn_the_earth_back(void)
{
    bring_up("name: x\nrate: 1 Hz\nframe: {watchdog: 9 s}\nseconds: 4000 s\n"
             "environment: {world: local, gravity: 0 0 0, home: {latitude: 0},\n"
             "  date: 2026-03-20T12:00:00Z}\n"
             "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n" LINK);
    double first[3], before[3];
    memcpy(first, sim->vehicle->plant.environment.sun, sizeof first);
    run_frames(3600);
    memcpy(before, sim->vehicle->plant.environment.sun, sizeof before);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 15, angle_between(first, before) / DEGREE);
    struct sim_record_input reset = {.frame = frames, .command.kind = IO_COMMAND_RESET};
    sim_apply_input(sim, &reset);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0,
                              angle_between(before, sim->vehicle->plant.environment.sun) / DEGREE);
}

/* ---- run state ---- */

static uint64_t hash_of(int count)
{
    sim->scratch.hash = 0;
    run_frames(count);
    return sim->scratch.hash;
}

static void test_the_run_state_is_all_of_the_state_with_every_device(void)
{
    bring_up(everything);
    command(0.5f, 0.25f);
    run_frames(250);
    void *snapshot = malloc(sim->vehicle->state_size);
    memcpy(snapshot, sim->vehicle->state, sim->vehicle->state_size);
    const uint64_t first = hash_of(400);
    memcpy(sim->vehicle->state, snapshot, sim->vehicle->state_size);
    sim_vehicle_apply_environment(sim->vehicle);
    frames = 250;
    TEST_ASSERT_EQUAL_HEX64(first, hash_of(400));
    free(snapshot);
}

/* Field, Sun and wind hang on the plant, outside of the run state. */
static void test_a_rehearsal_leaves_no_trace_in_the_world(void)
{
    static const char *const worlds[] = {
        everything, "name: x\nenvironment: {world: local}\n"
                    "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                    "devices: [{name: u, type: sun_sensor, body: a, boresight: 0 0 -1}]\n"};
    for (int i = 0; i < 2; i++) {
        bring_up(worlds[i]);
        const uint64_t plain = hash_of(300);
        bring_up(worlds[i]);
        sim_warm_up(sim);
        TEST_ASSERT_EQUAL_HEX64(plain, hash_of(300));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_thruster_pushes_by_its_share);
    RUN_TEST(test_a_thruster_off_the_centre_turns_the_body);
    RUN_TEST(test_a_torquer_is_a_compass_needle);
    RUN_TEST(test_a_rotor_hovers_and_turns_the_body_against_itself);
    RUN_TEST(test_a_rotor_follows_its_control_by_its_lag);
    RUN_TEST(test_a_rotor_with_inertia_exchanges_momentum);
    RUN_TEST(test_a_battery_sags_under_load);
    RUN_TEST(test_a_battery_counts_what_was_used);
    RUN_TEST(test_drag_slows_by_speed_or_by_its_square);
    RUN_TEST(test_a_body_comes_to_rest_on_its_feet);
    RUN_TEST(test_friction_stops_a_sliding_body);
    RUN_TEST(test_a_fault_hits_the_actuator_that_it_names);
    RUN_TEST(test_a_stuck_actuator_stays_where_it_was_or_at_its_value);
    RUN_TEST(test_a_lost_or_late_control_is_an_old_one);
    RUN_TEST(test_a_reset_brings_the_vehicle_back_to_its_start);
    RUN_TEST(test_a_reset_does_not_turn_the_earth_back);
    RUN_TEST(test_the_run_state_is_all_of_the_state_with_every_device);
    RUN_TEST(test_a_rehearsal_leaves_no_trace_in_the_world);
    return UNITY_END();
}
