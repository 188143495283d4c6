/*
 * Mistakes that a schema finds: unknown and missing keys, values of another kind, numbers and
 * units.
 */
#include "config/scenario.h"
#include "tests/config/mistakes.h"

// clang-format off
static const struct mistake mistakes[] = {
    /* keys */
    {"mass: 120 kg", "mas: 120 kg",
     "30:5: unknown key \"mas\" in a body; did you mean \"mass\"?"},
    {"mass: 120 kg", "mass: 120 kg\n    colour: red",
     "31:5: unknown key \"colour\" in a body; it takes name, parent, joint, mass, center, "
     "inertia, flex, shapes"},
    {"pace: real", "paec: real",
     "5:1: unknown key \"paec\" in a scenario; did you mean \"pace\"?"},
    {"integrator:", "integratr:",
     "11:1: unknown key \"integratr\" in a scenario; did you mean \"integrator\"?"},
    {"semi-implicit-euler", "leapfrog",
     "11:22: method cannot be \"leapfrog\"; write semi-implicit-euler, rk2, rk4, ab2, ab3, ab4 or "
     "ros2"},
    {"quantum: 1 mrad/s", "quantm: 1 mrad/s",
     "52:5: unknown key \"quantm\" in a gyro; did you mean \"quantum\"?"},
    {"latitude: 45 deg", "lattitude: 45 deg",
     "15:10: unknown key \"lattitude\" in home; did you mean \"latitude\"?"},
    {"velocity: 3.6 0 -7.2 km/h", "stiffness: 3 N/m",
     "29:7: unknown key \"stiffness\" in a free joint; it takes type, node, position, attitude, "
     "rate, velocity"},
    {"axis: 0 0 2", "direction: 0 0 2",
     "54:43: unknown key \"direction\" in a wheel; it takes name, type, body, axis, at, "
     "inertia, max_torque, max_speed, speed, viscous, coulomb, coulomb_speed, stiction, "
     "stiction_speed, static_imbalance, dynamic_imbalance, gain, quantum, delay, command"},
    {"name: bench\n", "",
     "1:1: a scenario needs \"name\" (of the run); write e.g. name: satellite"},
    {"    mass: 120 kg\n", "",
     "23:5: a body needs \"mass\" (with its wheels); write e.g. mass: 120 kg"},
    {"    type: gyro\n", "",
     "41:5: a device needs \"type\" (decides which further keys there are); write e.g. type: gyro"},
    {"axis: 0 0 2, ", "",
     "54:5: a wheel needs \"axis\" (body axes); write e.g. axis: 1 0 0"},
    {", control: 2}", "}",
     "57:28: a command needs \"control\" (which of the link's controls); write e.g. control: 0"},
    {"    body: bus\n    send", "    send",
     "59:5: a link needs \"body\" (whose motion is reported); write e.g. body: bus"},
    {"type: revolute, ", "",
     "35:12: a joint needs \"type\" (decides which further keys there are); write e.g. type: "
     "revolute"},
    {"type: revolute, axis: [0, 1, 0]", "type: revolute",
     "35:12: a revolute joint needs \"axis\" (in joint axes); write e.g. axis: 0 1 0"},
    {"controller: {command: [board, --connect, '127.0.0.1:14560']}", "controller: {}",
     "72:13: controller needs \"command\" (program and arguments); write e.g. command: [board, "
     "--connect, 127.0.0.1:14560]"},
    /* kinds of value */
    {"mass: 120 kg", "mass:",
     "30:5: mass wants a number in kg, e.g. mass: 120 kg; here is nothing"},
    {"mass: 120 kg", "mass: ~",
     "30:11: mass wants a number in kg, e.g. mass: 120 kg; here is nothing"},
    {"mass: 120 kg", "mass: [120 kg]",
     "30:11: mass wants a number in kg, e.g. mass: 120 kg; here is a list"},
    {"mass: 120 kg", "mass: {kg: 120}",
     "30:11: mass wants a number in kg, e.g. mass: 120 kg; here is a mapping"},
    {"mass: 120 kg", "mass: heavy",
     "30:11: mass wants a number in kg, e.g. mass: 120 kg; here is \"heavy\""},
    {"overrun: {policy: catch-up, max_catch_up: 5}", "overrun: [skip]",
     "7:10: overrun wants keys, {policy: .., max_catch_up: .., ..}; here is a list"},
    {"environment:\n  gravity: [0, 0, 9.81 m/s^2]\n  magnetic_field: 0.215 0.01 0.427 gauss\n  "
     "home: {latitude: 45 deg, longitude: -90 deg, altitude: 2 km}", "environment: space",
     "12:14: environment wants keys, {world: .., gravity: .., magnetic_field: .., ..}; "
     "here is a single value"},
    {"home: {latitude: 45 deg, longitude: -90 deg, altitude: 2 km}", "home: Zurich",
     "15:9: home wants keys, {latitude: .., longitude: .., altitude: .., ..}; here is a single "
     "value"},
    {"expect:\n  - attitude_error < 0.1 deg after 15 s\n  - rate > 0.5 deg/s within 500 ms",
     "expect: all",
     "74:9: expect wants a list, e.g. [attitude_error < 0.1 deg after 15 s]; here is \"all\""},
    {"  - rate > 0.5 deg/s within 500 ms", "  - {rate: 1}",
     "76:5: an entry of expect wants a text, as in [attitude_error < 0.1 deg after 15 s]; here is "
     "a mapping"},
    {"controller: {command: [board, --connect, '127.0.0.1:14560']}", "controller: {command: board}",
     "72:23: command wants a list, e.g. command: [board, --connect, 127.0.0.1:14560]; here is "
     "\"board\""},
    {"controller: {command: [board, --connect, '127.0.0.1:14560']}", "controller: {command: []}",
     "72:23: command is empty; give at least one"},
    {"  - rate > 0.5 deg/s within 500 ms", "  -",
     "75:3: an entry of expect wants a text, as in [attitude_error < 0.1 deg after 15 s]; here is "
     "nothing"},
    {"seed: 7", "seed: 7.5",
     "4:7: seed wants a whole number, e.g. 1; here is \"7.5\""},
    {"seed: 7", "seed: seven",
     "4:7: seed wants a whole number, e.g. 1; here is \"seven\""},
    {"seed: 7", "seed: -7",
     "4:7: seed must be 0 or more; here is \"-7\""},
    {"seed: 7", "seed: 99999999999999999999",
     "4:7: seed has too many digits; shorten \"99999999999999999999\""},
    {"name: bench", "name: 1bench",
     "1:7: name cannot be \"1bench\"; a name is a letter, then letters, digits, _ or -, at most "
     "47 in all"},
    {"name: bench", "name: test bench",
     "1:7: name cannot be \"test bench\"; a name is a letter, then letters, digits, _ or -, at "
     "most 47 in all"},
    {"name: bench", "name: a234567890123456789012345678901234567890123456789",
     "1:7: name cannot be \"a234567890123456789012345678901234567890...\"; a name is a letter, "
     "then letters, digits, _ or -, at most 47 in all"},
    {"pace: real", "pace: reel",
     "5:7: pace cannot be \"reel\"; did you mean \"real\"?"},
    {"pace: real", "pace: slow",
     "5:7: pace cannot be \"slow\"; write real, fast or lockstep"},
    {"type: gyro", "type: telescope",
     "42:11: type cannot be \"telescope\"; write gyro, accelerometer, magnetometer, barometer, "
     "airspeed, gps, sun_sensor, star_tracker, horizon_sensor, encoder, wheel, rotor, torquer, "
     "thruster, drag, contact or battery"},
    {"bus: udp", "bus: can",
     "62:13: listen means nothing on bus can; remove it, or name another bus"},
    {"protocol: mavlink", "protocol: MAVlink",
     "60:15: protocol cannot be \"MAVlink\"; did you mean \"mavlink\"?"},
    /* numbers and units */
    {"mass: 120 kg", "mass: 120 s",
     "30:11: mass wants kg, not s"},
    {"mass: 120 kg", "mass: 120 kgs",
     "30:11: unknown unit \"kgs\"; did you mean \"kg\"?"},
    {"mass: 120 kg", "mass: 120 stone",
     "30:11: unknown unit \"stone\"; units look like ms, deg/s, N m/rad or kg m^2"},
    {"mass: 120 kg", "mass: -1 kg",
     "30:11: mass must be 0 kg or more; here is -1"},
    {"mass: 120 kg", "mass: nan",
     "30:11: mass wants a number in kg, e.g. mass: 120 kg; here is \"nan\""},
    {"mass: 120 kg", "mass: inf",
     "30:11: mass wants a number in kg, e.g. mass: 120 kg; here is \"inf\""},
    {"mass: 120 kg", "mass: 0x10",
     "30:11: unknown unit \"x10\"; units look like ms, deg/s, N m/rad or kg m^2"},
    {"mass: 120 kg", "mass: 1e400",
     "30:11: mass is too large for a number; check it"},
    {"mass: 120 kg", "mass: 120 kg/",
     "30:11: the unit ends too early; units look like deg/s"},
    {"mass: 120 kg", "mass: 120 kg^x",
     "30:11: a power in a unit is a whole number up to 6, as in m^2"},
    {"mass: 120 kg", "mass: 120 (kg",
     "30:11: the unit lacks a closing bracket; add it"},
    {"mass: 120 kg", "mass: 120 kg)",
     "30:11: the unit has a closing bracket too many; remove it"},
    {"mass: 120 kg", "mass: 120 kg^9",
     "30:11: a power in a unit is a whole number up to 6, as in m^2"},
    {"noise: 0.18 deg/sqrt(h)", "noise: 0.18 deg/s",
     "47:12: noise wants rad/s/sqrt(Hz), not deg/s"},
    {"noise: 0.18 deg/sqrt(h)", "noise: -0.18 deg/sqrt(h)",
     "47:12: noise must be 0 deg/sqrt(h) or more; here is -0.18"},
    {"range: 250 deg/s", "range: 250 Hz",
     "51:12: range wants rad/s, not Hz"},
    {"gravity: [0, 0, 9.81 m/s^2]", "gravity: 0 0 1 g",
     "13:12: gravity wants m/s^2, not g (gram); write g0 for standard gravity"},
    {"stiffness: 80 N m/rad", "stiffness: 80 N/m",
     "36:24: stiffness wants N m/rad, not N/m"},
    {"scale: [100 ppm, -0.2 %, 0]", "scale: 3 3 3 kg",
     "50:12: scale wants a plain number, not kg"},
    {"scale: [100 ppm, -0.2 %, 0]", "scale: 0 0 60 %",
     "50:12: scale must be from -50 to 50 %; here is 60"},
    {"latitude: 45 deg", "latitude: 95 deg",
     "15:20: latitude must be from -90 to 90 deg; here is 95"},
    {"center: 0 0.1 0", "center: 0 0.1",
     "31:13: center wants 3 numbers in m, e.g. 0 0.1 0 m; here are 2"},
    {"center: 0 0.1 0", "center: [0, 0.1, 0, 0]",
     "31:13: center wants 3 numbers in m, e.g. 0 0.1 0 m; here are 4"},
    {"center: 0 0.1 0", "center: [0, ten, 0]",
     "31:17: center wants 3 numbers in m, e.g. 0 0.1 0 m; here is \"ten\""},
    {"center: 0 0.1 0", "center: [0, 10 cm, 2]",
     "31:24: center has numbers with and without a unit; give each its own, or one behind the "
     "last: 1 2 3 m"},
    {"center: 0 0.1 0", "center: []",
     "31:13: center wants 3 numbers in m, e.g. 0 0.1 0 m; here are 0"},
    {"center: 0 0.1 0", "center: 1 2 3 4 5 6 7",
     "31:13: center wants 3 numbers in m, e.g. 0 0.1 0 m; here are 7"},
    {"center: 0 0.1 0", "center: 0.1.2 5",
     "31:13: no unit begins with \".2 5\"; units look like deg/s"},
    {"center: 0 0.1 0", "center: 0 1-2",
     "31:13: no unit begins with \"-2\"; units look like deg/s"},
    {"inertia: [12, 14, 10, 0.5, 0.25, -0.5]", "inertia: 12 14",
     "32:14: inertia wants 3 or 6 numbers in kg m^2, e.g. inertia: 12 14 10 kg m^2; here are 2"},
    {"axis: 0 0 2", "axis: 0 0 0",
     "54:49: axis has no direction; write e.g. 0 1 0 for the y axis"},
    {"attitude: 0 0 0 1", "attitude: 0 0 0 2",
     "35:71: attitude is not a unit quaternion (w x y z): its length is 2; divide by it, or write "
     "{roll: 20 deg, pitch: 0, yaw: 0}"},
    {"attitude: 0 0 0 1", "attitude: 0 90 0",
     "35:71: attitude wants 4 numbers (w x y z) or roll, pitch and yaw, e.g. {yaw: 90 deg}; here "
     "are 3"},
    {"      attitude: {yaw: 90 deg}", "      attitude: {yaw: 90 deg, tilt: 3 deg}",
     "27:31: unknown key \"tilt\" in an attitude; it takes roll, pitch, yaw"},
};

static const struct whole wholes[] = {
    {"",
     "1:1: nothing is written here; a scenario begins with name: and bodies:"},
    {"# nothing but words\n",
     "1:1: nothing is written here; a scenario begins with name: and bodies:"},
    {"just words\n",
     "1:1: a scenario wants keys, {name: .., rate: .., seconds: .., ..}; here is a single value"},
    {"[1, 2, 3]\n",
     "1:1: a scenario wants keys, {name: .., rate: .., seconds: .., ..}; here is a list"},
    {"name: x\n",
     "1:1: a scenario needs \"bodies\" (the vehicle, as a tree); write e.g. bodies: [{name: bus, "
     "joint: free, mass: 120 kg, inertia: 12 14 10 kg m^2}]"},
    {"name: x\nbodies: []\n",
     "2:9: bodies is empty; give at least one"},
    {"name: x\nbodies: {name: a}\n",
     "2:9: bodies wants a list, e.g. bodies: [{name: bus, joint: free, mass: 120 kg, inertia: 12 "
     "14 10 kg m^2}]; here is a mapping"},
    {"name: x\nbodies: [a]\n",
     "2:10: a body wants keys, {name: .., parent: .., joint: .., ..}; here is a single value"},
};
// clang-format on

static void test_the_base_itself_has_no_mistake(void)
{
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario;
    TEST_ASSERT_EQUAL_INT(0, cfg_scenario_load_text("s.yaml", base_text, strlen(base_text), NULL, 0,
                                                    &scenario, error));
    TEST_ASSERT_EQUAL_STRING("", error);
    cfg_scenario_free(scenario);
}

static void test_every_mistake_in_a_key_or_value_is_refused_at_its_place(void)
{
    REFUSE_EDITS(mistakes);
}

static void test_texts_that_are_no_scenario_are_refused(void)
{
    REFUSE_TEXTS(wholes);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_base_itself_has_no_mistake);
    RUN_TEST(test_every_mistake_in_a_key_or_value_is_refused_at_its_place);
    RUN_TEST(test_texts_that_are_no_scenario_are_refused);
    return UNITY_END();
}
