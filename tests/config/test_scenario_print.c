/*
 * A scenario read back: every kind of body, device and link as printed, beside the text it came
 * from.
 */
#include "config/scenario.h"
#include "tests/config/loaded.h"

static char *text;

static const char *print_loaded(void)
{
    size_t size = 0;
    free(text);
    FILE *out = open_memstream(&text, &size);
    TEST_ASSERT_NOT_NULL(out);
    cfg_scenario_print(scenario, out);
    fclose(out);
    return text;
}

static const char *printed(const char *from)
{
    load(from);
    return print_loaded();
}

// clang-format off
static const char quad_text[] =
    "name: quad\n"
    "rate: 500 Hz\n"
    "seconds: 12.5 s\n"
    "seed: 77\n"
    "pace: real\n"
    "overrun: skip\n"
    "integrator: {method: rk2, substeps: 3}\n"
    "environment: {world: local, gravity: 0.25 -0.5 9.75, ground: 1, gust: {sigma: 1 2 3}, magnetic_field: 1 2 3 uT}\n"
    "bodies:\n"
    "- {name: hull, joint: free, mass: 8, inertia: 3 3 3}\n"
    "- {name: wing, parent: hull, joint: {type: cylindrical, axis: 0 0 1, turn: {stiffness: 3, damping: 4}, slide: {stiffness: 5, damping: 6, friction: 7}}, mass: 2, inertia: 1 1 1}\n"
    "- {name: flap, parent: wing, joint: {type: revolute, axis: 0 0 1, locked: true}, mass: 0.5, inertia: 1 1 1}\n"
    "- {name: tail, parent: hull, joint: {type: prismatic, axis: 0 0 1, prescribed: 2}, mass: 0.25, inertia: 1 1 1}\n"
    "- {name: skid, parent: hull, joint: {type: planar, axis: 0 0 1, axis2: 1 0 0}, mass: 0.25, inertia: 1 1 1}\n"
    "- {name: mast, joint: fixed, mass: 0.75, inertia: 1 1 1}\n"
    "- {name: screw, parent: mast, joint: {type: general, screws: [{type: turn, axis: 0 0 1, pitch: 1 mm/rad}]}, mass: 1, inertia: 1 1 1}\n"
    "devices:\n"
    "- {name: gyro, type: gyro, body: hull, rate: 250 Hz, delay: 8 ms}\n"
    "- {name: accel, type: accelerometer, body: wing, delay: 4 ms}\n"
    "- {name: mag, type: magnetometer, body: hull, rate: 50 Hz, delay: 60 ms}\n"
    "- {name: baro, type: barometer, body: hull, delay: 10 ms}\n"
    "- {name: pitot, type: airspeed, body: wing, delay: 12 ms}\n"
    "- {name: gps, type: gps, body: hull, rate: 5 Hz, delay: 400 ms}\n"
    "- {name: sun, type: sun_sensor, body: hull, boresight: 0 0 1}\n"
    "- {name: star, type: star_tracker, body: hull, boresight: 0 0 1, delay: 6 ms}\n"
    "- {name: angle, type: encoder, body: flap, delay: 2 ms}\n"
    "- {name: wheel, type: wheel, body: hull, axis: 1 0 0, inertia: 0.25, max_torque: 2, max_speed: 6, command: {link: board, control: 4}}\n"
    "- {name: prop, type: rotor, body: wing, turns: ccw, max_speed: 100, max_thrust: 7, lag: 30 ms, lag_down: 50 ms, command: {link: ship, control: 1}}\n"
    "- {name: coil, type: torquer, body: hull, axis: 1 0 0, max_dipole: 3, command: {link: board, control: 2}}\n"
    "- {name: jet, type: thruster, body: wing, axis: 1 0 0, thrust: 9, command: {link: board, control: 3}}\n"
    "- {name: air, type: drag, body: hull, area: 1 1 1}\n"
    "- {name: foot, type: contact, body: skid, points: [0 0 1], stiffness: 800}\n"
    "- {name: cell, type: battery, body: hull, voltage: 12.5, voltage_empty: 10, capacity: 2.5 A h}\n"
    "links:\n"
    "- {name: board, body: hull, delay: 200 ms, lost_after: 250 ms, on_loss: stop, send: {state: 100 Hz, gps: 5 Hz, sensor: 250 Hz, heartbeat: 1 Hz, time: 0}}\n"
    "- {name: ship, body: wing, protocol: mavlink, bus: serial, device: /dev/ttyS7}\n"
    "- {name: stick, body: hull, protocol: hand, bus: cockpit, lost_after: 2 s, axes: [{axis: x, control: 3}, {axis: ry, control: 1}]}\n"
    "- {name: knob, body: wing, protocol: hand, device: /dev/input/event9, axes: [{axis: z, control: 5}]}\n"
    "lock: {link: board, limit_ppm: 50, time_constant: 4 s}\n"
    "pulse: {to: '127.0.0.1:14600', every: 25}\n"
    "predictor: {rate: 20 Hz}\n"
    "faults:\n"
    "- {name: shift, device: gyro, type: bias, at: 2 s, for: 3 s, value: 1}\n"
    "- {device: accel, type: stuck, at: 4 s}\n"
    "- {name: byhand, device: baro, type: stuck, when: operator}\n"
    "tunable: [devices.gyro.bias.y, {of: devices.wheel.viscous, high: 3}]\n"
    "pointing: {body: wing, target: {roll: 30 deg}}\n"
    "expect: [rate < 2 deg/s after 5 s, altitude > 3 m within 4 s]\n";

static const char quad_printed[] =
    "quad: 500 frames/s (2 ms), 12.5 s, pace real, overrun skip, seed 77\n"
    "integrator rk2, 3 steps a frame\n"
    "world local, gravity 0.25 -0.5 9.75 m/s^2, air, ground, gusts\n"
    "bodies\n"
    "  hull                     free                8 kg\n"
    "    wing                   cylindrical         2 kg, spring 3 N m/rad, damper 4 N m s/rad, spring 5 N/m, damper 6 N s/m, friction 7 N\n"
    "      flap                 revolute          0.5 kg, locked\n"
    "    tail                   prismatic        0.25 kg, prescribed 2 m/s^2\n"
    "    skid                   planar           0.25 kg\n"
    "  mast                     fixed            0.75 kg\n"
    "    screw                  general             1 kg\n"
    "devices\n"
    "  gyro                     gyro          on hull, 250 Hz, 8 ms late\n"
    "  accel                    accelerometer on wing, 500 Hz, 4 ms late\n"
    "  mag                      magnetometer  on hull, 50 Hz, 60 ms late\n"
    "  baro                     barometer     on hull, 500 Hz, 10 ms late\n"
    "  pitot                    airspeed      on wing, 500 Hz, 12 ms late\n"
    "  gps                      gps           on hull, 5 Hz, 400 ms late\n"
    "  sun                      sun sensor    on hull, 500 Hz\n"
    "  star                     star tracker  on hull, 500 Hz, 6 ms late\n"
    "  angle                    encoder       on flap, 500 Hz, 2 ms late\n"
    "  wheel                    wheel         on hull, 2 N m, 1.5 N m s, control 4 of board\n"
    "  prop                     rotor         on wing, 7 N, lag 30 ms, control 1 of ship\n"
    "  coil                     torquer       on hull, 3 A m^2, control 2 of board\n"
    "  jet                      thruster      on wing, 9 N, control 3 of board\n"
    "  air                      drag          on hull\n"
    "  foot                     contact       on skid, 800 N/m\n"
    "  cell                     battery       on hull, 12.5 V, 2.5 A h\n"
    "links\n"
    "  board                    mavlink on udp 127.0.0.1:14560, motion of hull, lost after 250 ms: stop; late on purpose by 0.2 s\n"
    "                           sends  heartbeat 1 Hz  sensor 250 Hz  gps 5 Hz  state 100 Hz  star_tracker 500 Hz  sun 500 Hz  angles 500 Hz\n"
    "  ship                     mavlink on serial /dev/ttyS7, motion of wing, lost after 500 ms: safe\n"
    "                           sends  heartbeat 1 Hz  sensor 250 Hz  gps 10 Hz  state 50 Hz  time 1 Hz  star_tracker 500 Hz  sun 500 Hz  angles 500 Hz\n"
    "  stick                    hand on cockpit of run --serve, motion of hull, lost after 2000 ms: safe\n"
    "                           axes  x to control 3, ry to control 1\n"
    "  knob                     hand on evdev /dev/input/event9, motion of wing, lost with its device: safe\n"
    "                           axes  z to control 5\n"
    "lock to board by timesync, at most 50 ppm, time constant 4 s\n"
    "pulse to 127.0.0.1:14600 every 25 frames\n"
    "predictor 0.2 s ahead, 20 times a second\n"
    "faults\n"
    "  shift                    from 2 s to 5 s\n"
    "  stuck of accel           from 4 s\n"
    "  byhand                   when the operator begins it\n"
    "tunable\n"
    "  devices.gyro.bias.y              0 rad/s, from -1e+30 to 1e+30\n"
    "  devices.wheel.viscous            0 N m s/rad, from 0 to 3\n"
    "expects (target 30 deg from the world axes, body wing)\n"
    "  rate < 2 deg/s after 5 s\n"
    "  altitude > 3 m within 4 s\n";

static const char arm_text[] =
    "name: reach\n"
    "rate: 1 kHz\n"
    "overrun: stop\n"
    "pace: fast\n"
    "environment: {world: orbit, magnetic_field: 1 2 3 uT}\n"
    "bodies:\n"
    "- {name: ship, joint: free, mass: 1000, inertia: 900 900 900}\n"
    "- {name: yaw, parent: ship, joint: {type: revolute, axis: 0 0 1, angle: 10 deg}, mass: 9, inertia: 1 1 1}\n"
    "- {name: elbow, parent: yaw, joint: {type: revolute, axis: 0 1 0, at: 2 0 0, limits: {lower: -1, upper: 2, stiffness: 1e4}}, mass: 9, inertia: 1 1 1}\n"
    "- {name: claw, parent: elbow, joint: {type: revolute, axis: 1 0 0, at: 2 0 0}, mass: 5, inertia: 1 1 1}\n"
    "- {name: box, parent: ship, joint: {type: free, position: 3 0 0}, mass: 50, inertia: 9 9 9}\n"
    "- {name: can, parent: ship, joint: {type: free, position: 6 0 0}, mass: 50, inertia: 9 9 9}\n"
    "- {name: tin, parent: claw, joint: {type: free, position: 0.5 0 0}, mass: 50, inertia: 9 9 9}\n"
    "links:\n"
    "- {name: hand, protocol: hand, bus: udp, listen: '127.0.0.1:14590', body: claw, modes: [0, 1, 2], axes: [{axis: x, control: 0}, {axis: y, control: 1}, {axis: z, control: 2}, {axis: rx, control: 3}, {axis: ry, control: 4}, {axis: rz, control: 5}]}\n"
    "arm:\n"
    "  servo: 250 Hz\n"
    "  joints:\n"
    "  - {body: yaw, stiffness: 1e4, damping: 1e3, max_torque: 100, max_rate: 5 deg/s}\n"
    "  - {body: elbow, stiffness: 1e4, damping: 1e3, max_torque: 200, max_rate: 6 deg/s, acceleration: 1 deg/s^2, brake: 50}\n"
    "  - {body: claw, stiffness: 1e4, damping: 1e3, max_torque: 300, max_rate: 7 deg/s, lower: -90 deg, upper: 45 deg}\n"
    "  hand: {body: claw, at: 0.5 0 0}\n"
    "  translation: {link: hand, speed: 0.6}\n"
    "  rotation: {link: hand, speed: 8 deg/s}\n"
    "payloads:\n"
    "- {body: box, fixture: {at: 0 0 1}, speed: 10 %}\n"
    "- {body: can, latched: false, speed: 25 %}\n"
    "- {body: tin, bay: ship, speed: 50 %}\n"
    "pointing: {body: claw, target: 0 1 0 0}\n"
    "expect: [tilt < 1 deg within 2 s]\n";

static const char arm_printed[] =
    "reach: 1000 frames/s (1 ms), 10 s, pace fast, overrun stop, seed 1\n"
    "integrator rk4, 1 step a frame\n"
    "world orbit\n"
    "bodies\n"
    "  ship                     free             1000 kg\n"
    "    yaw                    revolute            9 kg\n"
    "      elbow                revolute            9 kg, stops at -1 and 2 rad\n"
    "        claw               revolute            5 kg\n"
    "          tin              free               50 kg, locked\n"
    "    box                    free               50 kg, locked\n"
    "    can                    free               50 kg\n"
    "links\n"
    "  hand                     hand on udp 127.0.0.1:14590, motion of claw, lost after 500 ms: safe\n"
    "                           axes  x to control 0, y to control 1, z to control 2, rx to control 3, ry to control 4, rz to control 5\n"
    "arm on ship, hand claw, servos at 250 Hz, 0.6 m/s and 8 deg/s\n"
    "  yaw                      5 deg/s, 100 N m, brake 100 N m\n"
    "  elbow                    6 deg/s, 200 N m, brake 50 N m, -57.3 to 114.6 deg\n"
    "  claw                     7 deg/s, 300 N m, brake 300 N m, -90 to 45 deg\n"
    "  payload box              latched to ship, carried at 10 % of the speeds\n"
    "  payload can              floats by ship, carried at 25 % of the speeds\n"
    "  payload tin              in the hand, carried at 50 % of the speeds\n"
    "expects (target 180 deg from the world axes, body claw)\n"
    "  tilt < 1 deg within 2 s\n";
// clang-format on

static void test_a_vehicle_in_the_air_is_read_back_line_by_line(void)
{
    TEST_ASSERT_EQUAL_STRING(quad_printed, printed(quad_text));
}

static void test_an_arm_in_orbit_is_read_back_line_by_line(void)
{
    TEST_ASSERT_EQUAL_STRING(arm_printed, printed(arm_text));
}

/* The name of a body is printed only where something is mounted on it. */
static void test_a_payload_in_the_hand_needs_no_bay(void)
{
    load(arm_text);
    TEST_ASSERT_TRUE(scenario->spec.arm.payload[2].in_hand);
    scenario->spec.arm.payload[2].bay = -1;
    TEST_ASSERT_EQUAL_STRING(arm_printed, print_loaded());
}

static void test_a_bare_scenario_has_no_empty_headings(void)
{
    TEST_ASSERT_EQUAL_STRING("x: 1000 frames/s (1 ms), 10 s, pace real, overrun skip, seed 1\n"
                             "integrator rk4, 1 step a frame\n"
                             "world uniform, gravity 0 0 0 m/s^2\n"
                             "bodies\n"
                             "  a                        free                1 kg\n",
                             printed("name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: "
                                     "1 1 1}]\n"));
    /* one sensor or one effector is enough for a heading */
    TEST_ASSERT_NOT_NULL(strstr(printed("name: x\nbodies: [{name: a, joint: free, mass: 1, "
                                        "inertia: 1 1 1}]\ndevices: [{name: g, type: gyro, body: "
                                        "a}]\n"),
                                "kg\ndevices\n  g                        gyro          on a, 1000 "
                                "Hz\n"));
    TEST_ASSERT_NOT_NULL(strstr(printed("name: x\nenvironment: {air: true}\nbodies: [{name: a, "
                                        "joint: free, mass: 1, inertia: 1 1 1}]\ndevices: [{name: "
                                        "d, type: drag, body: a}]\n"),
                                "kg\ndevices\n  d                        drag          on a\n"));
}

/* Where the program was built with a magnetic model. */
static void test_the_magnetic_model_is_named_where_it_is_used(void)
{
    printed("name: x\nenvironment: {world: orbit}\nbodies: [{name: a, joint: free, mass: 1, "
            "inertia: 1 1 1}]\n");
    TEST_ASSERT_NOT_NULL(strstr(text, scenario->spec.world.has_field
                                          ? "\nworld orbit, magnetic field by the World Magnetic "
                                            "Model\nbodies\n"
                                          : "\nworld orbit\nbodies\n"));
}

/* Each body two columns further in than its parent, until there is no room for that. */
static void test_a_deep_tree_is_indented_as_far_as_a_line_has_room(void)
{
    enum { DEEP = 23 };
    char from[4096], line[128];
    size_t size = (size_t)snprintf(from, sizeof from, "name: x\nbodies:\n");
    for (int i = 0; i < DEEP; i++) {
        char parent[32] = "";
        if (i > 0)
            snprintf(parent, sizeof parent, "parent: b%d, ", i - 1);
        size += (size_t)snprintf(from + size, sizeof from - size,
                                 "- {name: b%d, %sjoint: {type: revolute, axis: 0 0 1, at: 0 0 1}, "
                                 "mass: 1, inertia: 1 1 1}\n",
                                 i, parent);
    }
    const char *at = strstr(printed(from), "bodies\n");
    TEST_ASSERT_NOT_NULL(at);
    at += strlen("bodies\n");
    for (int i = 0; i < DEEP; i++) {
        const int in = i < 20 ? 2 * i : 40, wide = in < 20 ? 24 - in : 4;
        snprintf(line, sizeof line, "  %*sb%-*d revolute            1 kg\n", in, "", wide - 1, i);
        TEST_ASSERT_EQUAL_STRING_LEN(line, at, strlen(line));
        at += strlen(line);
    }
    TEST_ASSERT_EQUAL_STRING("", at);
}

static void test_one_mode_has_no_range_and_a_sync_pulse_may_go_to_a_serial_line(void)
{
    printed("name: x\nbodies:\n- {name: a, joint: free, mass: 10, inertia: 1 1 1, flex: {type: "
            "oscillators, oscillators: [{axis: 1 0 0, mass: 4, frequency: 2 Hz}]}}\n"
            "pulse: {device: /dev/ttyS3, every: 7}\n");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "\n    bends: 1 mode, 2 Hz held at the joint, with "
                                              "40.0 % of its mass or inertia, consistent\n"),
                                 text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "\npulse to /dev/ttyS3 every 7 frames\n"), text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_vehicle_in_the_air_is_read_back_line_by_line);
    RUN_TEST(test_an_arm_in_orbit_is_read_back_line_by_line);
    RUN_TEST(test_a_payload_in_the_hand_needs_no_bay);
    RUN_TEST(test_a_bare_scenario_has_no_empty_headings);
    RUN_TEST(test_the_magnetic_model_is_named_where_it_is_used);
    RUN_TEST(test_a_deep_tree_is_indented_as_far_as_a_line_has_room);
    RUN_TEST(test_one_mode_has_no_range_and_a_sync_pulse_may_go_to_a_serial_line);
    free(text);
    return UNITY_END();
}
