/*
 * Mistakes that people make, one by one: each must be refused with exactly the line that names its
 * place and what to do.  An entry is an edit of a good scenario (tests/config/base.h), or a whole
 * text.
 */
#include "config/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/config/base.h"
#include "unity.h"

#define D127                                                                                       \
    "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"                              \
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

struct mistake {
    const char *good, *bad;
    const char *complaint; /* line:column: what */
};

struct whole {
    const char *text;
    const char *complaint;
};

// clang-format off
static const struct mistake mistakes[] = {
    /* slips in the syntax */
    {"pace: real", "pace: \"real",
     "5:7: YAML syntax: this text is not closed; add the quote at its end"},
    {"pace: real", "pace: 'real\n---",
     "5:7: YAML syntax: this text is not closed; add the quote at its end"},
    {"gravity: [0, 0, 9.81 m/s^2]", "gravity: [0, 0, 9.81 m/s^2",
     "14:17: YAML syntax: the list that begins in line 13 wants a , or its ] here"},
    {"overrun: {policy: catch-up, max_catch_up: 5}", "overrun: {policy: catch-up, max_catch_up: 5",
     "8:8: YAML syntax: the mapping that begins in line 7 wants a , or its } here"},
    {"pace: real", "pace: real: fast",
     "5:11: YAML syntax: this : has no key; check the indentation and the line above, or put "
     "quotes around the text"},
    {"seed: 7", "seed: 7\n  pace: fast",
     "5:7: YAML syntax: this : has no key; check the indentation and the line above, or put quotes "
     "around the text"},
    {"pace: real", "pace:real",
     "5:1: YAML syntax: a key wants a : and a space behind it, on the same line"},
    {"pace: real", "pace real",
     "5:1: YAML syntax: a key wants a : and a space behind it, on the same line"},
    {"log: {every: 10}", "log: {every:[10]}",
     "77:12: YAML syntax: a : wants a space behind it; or put quotes around the text"},
    {"  magnetic_field: 0.215", "\t magnetic_field: 0.215",
     "14:1: YAML syntax: a tab cannot indent; use spaces"},
    {"pace: real", "pace: real\n\t# hurry",
     "6:1: YAML syntax: a tab cannot indent; use spaces"},
    {"pace: real", "pace: |\n  real\n\tfast",
     "7:1: YAML syntax: a tab cannot indent; use spaces"},
    {"commit: early\n", "commit:\n\tearly\n",
     "7:1: YAML syntax: a tab cannot indent; use spaces"},
    {"pace: real", "pace: @real",
     "5:7: YAML syntax: no value begins with @; put quotes around the text"},
    {"pace: real", "# \303\251\303\251\r\npace: `real`",
     "6:7: YAML syntax: no value begins with `; put quotes around the text"},
    {"seed: 7", "seed: \"\\q\"",
     "4:8: YAML syntax: there is no such escape; write \\\\ for a backslash, or use single quotes"},
    {"seed: 7", "seed: \"\\x7\"",
     "4:10: YAML syntax: the escape lacks digits; write as many as \\x41, \\u0041 and \\U00000041 "
     "have"},
    {"seed: 7", "seed: \"\\ud800\"",
     "4:10: YAML syntax: found invalid Unicode character escape code"},
    {"seed: 7", "seed: > 7",
     "4:9: YAML syntax: text behind | or > begins on the next line; or put quotes around all of "
     "it"},
    {"seed: 7", "seed: - 7",
     "4:7: YAML syntax: a list of - begins on a line of its own"},
    {"seed: 7", "seed: [7,, 8]",
     "4:10: YAML syntax: a value is missing before this; write one or remove this"},
    {"seed: 7", "seed: 7\n}",
     "5:1: YAML syntax: the mapping that begins in line 1 wants a key here; check the indentation, "
     "quotes and brackets"},
    {"mass: 120 kg", " mass: 120 kg",
     "30:6: YAML syntax: the mapping that begins in line 23 wants a key here; check the "
     "indentation, quotes and brackets"},
    {"    mass: 120 kg", "   mass: 120 kg",
     "30:4: YAML syntax: the list that begins in line 17 wants a - here; check the indentation, "
     "quotes and brackets"},
    {"log: {every: 10}", "log: {every: 10}\n- more",
     "78:1: YAML syntax: the mapping that begins in line 1 wants a key here; check the "
     "indentation, quotes and brackets"},
    {"log: {every: 10}", "log: {every: 10}\n...\nname: second",
     "79:1: YAML syntax: this stands behind the end of the document; remove it, or check the "
     "indentation"},
    /* what a scenario does not read, though YAML has it */
    {"pace: real", "pace: &p real",
     "5:7: anchors (&name) are not read in a scenario; remove it"},
    {"pace: real", "pace: &p !!str real",
     "5:7: anchors (&name) and tags (!name) are not read in a scenario; remove them"},
    {"pace: real", "&p pace: real",
     "5:1: anchors (&name) are not read in a scenario; remove it"},
    {"pace: real", "pace: & real",
     "5:7: anchors (&name) are not read in a scenario; remove it"},
    {"pace: real", "pace: *",
     "5:7: aliases (*name) are not read in a scenario; write the value out"},
    {"pace: real", "pace: *p",
     "5:7: aliases (*name) are not read in a scenario; write the value out"},
    {"pace: real", "pace: !!str real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: !own!word real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: &p !own!word real",
     "5:10: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: !<word real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: !a%zz real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"log: {every: 10}", "log: {every: 10}\n---\nname: second",
     "78:1: a second document begins here; a scenario is one, remove the ---"},
    {"seed: 7", "[seed]: 7",
     "4:1: a key is a plain word, not a list or a mapping; put quotes around text that begins "
     "with [ or {"},
    {"seed: 7", "seed: 7\nseed: 8",
     "5:1: \"seed\" is given twice; it already stands in line 4, remove one"},
    {"mass: 120 kg", "mass: 120 kg\n    mass: 80 kg",
     "31:5: \"mass\" is given twice; it already stands in line 30, remove one"},
    {"gravity: [0, 0, 9.81 m/s^2]", "gravity: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
     "13:26: more than 16 lists and mappings inside each other; no scenario needs that"},
    {"pace: real", "pace: \001",
     "5:7: control character U+0001; remove it"},
    {"pace: real", "pace: r\351el",
     "5:8: byte 0xe9 is not UTF-8 text; save the file as UTF-8"},
    {"pace: real", "pace: \"\\0\"",
     "5:7: NUL inside a text; remove it"},
    {"pace: real", "pace: r\342\200\250l",
     "5:8: control character U+2028; remove it"},
    {"pace: real", "pace: r\357\273\277l",
     "5:8: control character U+FEFF; remove it"},
    {"pace: real", "pace: r\357\277\277l",
     "5:8: control character U+FFFF; remove it"},
    {"pace: real", "pace: real\r%YAML 1.1",
     "6:1: directives (%NAME) are not read in a scenario; remove the line"},
    {"pace: real", "%YAML 1.1",
     "5:1: directives (%NAME) are not read in a scenario; remove the line"},
    /* keys */
    {"mass: 120 kg", "mas: 120 kg",
     "30:5: unknown key \"mas\" in a body; did you mean \"mass\"?"},
    {"mass: 120 kg", "mass: 120 kg\n    colour: red",
     "31:5: unknown key \"colour\" in a body; it takes name, parent, joint, mass, center, "
     "inertia, flex, shapes"},
    /* shapes */
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: cone}]",
     "22:21: type cannot be \"cone\"; write box, cylinder, sphere or tube"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: box, size: 1 2}]",
     "22:32: size wants 3 numbers in m, e.g. size: 1 0.5 0.2 m; here are 2"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: box, size: 1 2 0}]",
     "22:32: size must be above 0 m; here is 0"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: sphere, size: 1 2 3}]",
     "22:29: unknown key \"size\" in a sphere; it takes type, color, opacity, radius, at"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: cylinder, radius: 1}]",
     "22:14: a cylinder needs \"length\" (along its z axis); write e.g. length: 1 m"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: sphere, radius: 1, color: orang}]",
     "22:47: color cannot be \"orang\"; did you mean \"orange\"?"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: sphere, radius: 1, color: mauve}]",
     "22:47: color cannot be \"mauve\"; write 3 numbers, or one of black, blue, brown, cyan, gold, "
     "gray, green, grey, magenta, orange, purple, red, silver, white, yellow"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: sphere, radius: 1, color: 1 2 3}]",
     "22:47: color must be from 0 to 1; here is 2"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: sphere, radius: 1, opacity: 2}]",
     "22:49: opacity must be from 0 to 1; here is 2"},
    {"mass: 500 g", "mass: 500 g\n    shapes: [{type: tube, radius: 1 cm}]",
     "22:21: a tube goes through the nodes of a flexible body, and \"boom\" has none; give it flex "
     "with nodes, or draw a cylinder"},
    {"mass: 500 g", "mass: 500 g\n    shapes: box",
     "22:13: shapes wants a list, e.g. [{type: box, size: 1 1 0.5 m, color: gold}]; here is "
     "\"box\""},
    /* cameras */
    {"seed: 7", "seed: 7\ncameras: [{name: eye, body: bsu}]",
     "5:29: there is no body \"bsu\"; did you mean \"bus\"?"},
    {"seed: 7", "seed: 7\ncameras: [{name: eye, look: 0 0 2}]",
     "5:11: up and look are one line, so it does not tell what is up; write another"},
    {"seed: 7", "seed: 7\ncameras: [{name: eye, look: 0 0 0}]",
     "5:29: look has no direction; write e.g. 0 1 0 for the y axis"},
    {"seed: 7", "seed: 7\ncameras: [{name: eye}, {name: eye}]",
     "5:31: there is already a camera \"eye\"; choose another name"},
    {"seed: 7", "seed: 7\ncameras: [{name: eye, field: 200 deg}]",
     "5:30: field must be from 0.5729577951 to 171.8873385 deg; here is 200"},
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
     "airspeed, gps, sun_sensor, star_tracker, encoder, wheel, rotor, torquer, thruster, drag, "
     "contact or battery"},
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
     "35:71: attitude is no unit quaternion (w x y z): its length is 2; divide by it, or write "
     "{roll: 20 deg, pitch: 0, yaw: 0}"},
    {"attitude: 0 0 0 1", "attitude: 0 90 0",
     "35:71: attitude wants 4 numbers (w x y z) or roll, pitch and yaw, e.g. {yaw: 90 deg}; here "
     "are 3"},
    {"      attitude: {yaw: 90 deg}", "      attitude: {yaw: 90 deg, tilt: 3 deg}",
     "27:31: unknown key \"tilt\" in an attitude; it takes roll, pitch, yaw"},
    /* frames and threads */
    {"rate: 1 kHz", "rate: 50 kHz",
     "2:7: rate must be from 0.001 to 20 kHz; here is 50"},
    {"rate: 1 kHz", "rate: 0.5 Hz",
     "2:7: rate must be from 1 to 20000 Hz; here is 0.5"},
    {"rate: 1 kHz", "rate: 300 Hz",
     "2:7: rate of 300 Hz has a period of 3333333.333 ns, and the grid counts whole ones; the "
     "nearest round rates are 256 Hz and 320 Hz"},
    {"rate: 1 kHz", "rate: 1 ms",
     "2:7: rate wants Hz, not ms"},
    {"seconds: 20 s", "seconds: 0",
     "3:10: seconds must be from 5e-05 to 10000000 s; here is 0"},
    {"seconds: 20 s", "seconds: 0.1 ms",
     "3:10: seconds of 0.0001 s is not even one frame of 0.001 s; make it longer"},
    {"seconds: 20 s", "seconds: 20 Hz",
     "3:10: seconds wants s, not Hz"},
    {"max_catch_up: 5", "max_catch_up: 0",
     "7:43: max_catch_up must be from 1 to 1000000; here is \"0\""},
    {"priority: 91", "priority: 99",
     "9:27: priority must be from 1 to 98; here is \"99\""},
    {"priority: 81", "priority: 91",
     "9:27: the frame thread's priority (91) must be above the I/O thread's (91); raise one or "
     "lower the other"},
    {"cpu: 3", "cpu: 2",
     "10:27: the frame and I/O threads are both on core 2; give them two cores, or io: inline"},
    {"cpu: 3", "cpu: any",
     "10:27: cpu wants a whole number or auto, e.g. 3; here is \"any\""},
    {"lead: 80 us", "lead: 500 us",
     "9:50: lead of 0.0005 s is not below half a period, 0.0005 s; shorten it or write auto"},
    {"watchdog: 250 ms", "watchdog: 1 ms",
     "9:67: watchdog of 0.001 s would bark at healthy frames; give it at least two periods, 0.002 "
     "s"},
    {"substeps: 4", "substeps: 0",
     "11:53: substeps must be from 1 to 1000; here is \"0\""},
    {"log: {every: 10}", "log: {every: 99991}",
     "77:14: every makes the rates repeat together only after more than 1048576 frames; take a "
     "rate that divides, or is divided by, the others"},
    {"log: {every: 10}", "log: {every: 0}",
     "77:14: every must be from 1 to 1000000; here is \"0\""},
    {"log: {every: 10}", "log: {channels: [{topic: /device/giro, every: 10}]}",
     "77:26: \"/device/giro\" cannot be thinned; only /plant and /device/NAME of instruments and "
     "commanded devices can; did you mean \"/device/gyro\"?"},
    {"log: {every: 10}", "log: {channels: [{topic: /plan, every: 10}]}",
     "77:26: \"/plan\" cannot be thinned; only /plant and /device/NAME of instruments and "
     "commanded devices can; did you mean \"/plant\"?"},
    {"log: {every: 10}", "log: {channels: [{topic: /frame, every: 10}]}",
     "77:26: \"/frame\" cannot be thinned; only /plant and /device/NAME of instruments and "
     "commanded devices can"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant}]}",
     "77:18: a thinned channel wants every or rate, one of them; e.g. every: 10"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2, rate: 1 Hz}]}",
     "77:18: a thinned channel wants every or rate, one of them; e.g. every: 10"},
    {"log: {every: 10}", "log: {every: 10, channels: [{topic: /plant, rate: 40 Hz}]}",
     "77:51: rate of 40 Hz does not divide the 100 Hz at which /plant comes; take one that does, or "
     "every"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, rate: 2 kHz}]}",
     "77:40: rate of 2000 Hz is above the frame rate of 1000 Hz; lower it, or raise the scenario's "
     "rate"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2}, {topic: /plant, every: 3}]}",
     "77:53: \"/plant\" is thinned twice; remove one"},
    {"log: {every: 10}", "log: {trigger: {when: [fault]}}",
     "77:16: no channel is thinned, so all is whole without a trigger; add channels or remove it"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2}], trigger: {when: [late]}}",
     "77:62: a trigger is overrun or fault; here is \"late\""},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2}], trigger: {before: 1 s}}",
     "77:55: trigger needs \"when\" (overrun: a frame is late; fault: one of faults begins); write "
     "e.g. [overrun, fault]"},
    /* bodies */
    {"name: panel", "name: bus",
     "33:11: there is already a body \"bus\"; choose another name"},
    {"    parent: bus\n    joint: {type: revolute", "    parent: buss\n    joint: {type: revolute",
     "34:13: there is no body \"buss\"; did you mean \"bus\"?"},
    {"    parent: bus\n    joint: {type: revolute", "    parent: chassis\n    joint: {type: "
     "revolute",
     "34:13: there is no body \"chassis\"; the bodies are boom, bus, panel"},
    {"    parent: bus\n    joint: {type: revolute", "    parent: panel\n    joint: {type: revolute",
     "34:13: body \"panel\" hangs from \"panel\" in a circle that never meets the world; give one "
     "of them another parent"},
    {"  - name: bus\n    joint:\n      type: free\n      position: 1 2 3 m", "  - name: bus\n    "
     "parent: panel\n    joint:\n      type: free\n      position: 1 2 3 m",
     "24:13: body \"bus\" hangs from \"panel\" in a circle that never meets the world; give one of "
     "them another parent"},
    {"inertia: [12, 14, 10, 0.5, 0.25, -0.5]", "inertia: 2 14 10",
     "32:14: no body has this inertia: each principal moment is at most the sum of the other two; "
     "check the numbers and their order, xx yy zz xy xz yz"},
    {"inertia: [12, 14, 10, 0.5, 0.25, -0.5]", "inertia: 12 14 10 20 0 0",
     "32:14: no body has this inertia: each principal moment is at most the sum of the other two; "
     "check the numbers and their order, xx yy zz xy xz yz"},
    {"mass: 500 g", "mass: 0",
     "17:5: body \"boom\": the joint carries no inertia; check its joint, mass and inertia"},
    /* devices */
    {"    body: bus\n    rate: 250 Hz", "    body: buss\n    rate: 250 Hz",
     "43:11: there is no body \"buss\"; did you mean \"bus\"?"},
    {"type: wheel, body: bus", "type: wheel, body: hub",
     "54:38: there is no body \"hub\"; the bodies are boom, bus, panel"},
    {"rate: 250 Hz", "rate: 300 Hz",
     "44:11: rate of 300 Hz does not divide the frame rate of 1000 Hz; the nearest that do are "
     "333.3333 Hz and 250 Hz"},
    {"rate: 250 Hz", "rate: 2 kHz",
     "44:11: rate of 2000 Hz is above the frame rate of 1000 Hz; lower it, or raise the "
     "scenario's rate"},
    {"rate: 250 Hz", "rate: 0 Hz",
     "44:11: rate must be above 0 Hz; here is 0"},
    {"    delay: 8 ms", "    delay: 6 ms",
     "53:12: delay of 0.006 s is not a multiple of 0.004 s; the nearest are 0.004 s and 0.008 s"},
    {"    delay: 8 ms", "    delay: 64 ms",
     "53:12: delay of 0.064 s is too long; at most 0.06 s"},
    {"delay: 3 ms", "delay: 64 ms",
     "57:13: delay of 0.064 s is too long; at most 0.063 s"},
    {"delay: 3 ms", "delay: 2.5 ms",
     "57:13: delay of 0.0025 s is not a multiple of 0.001 s; the nearest are 0.002 s and 0.003 s"},
    {"  - name: gyro\n", "  - {name: other, type: gyro, body: bus}\n  - name: gyro\n",
     "43:11: \"other\" is already the instrument of this type, and a vehicle has one of each; "
     "remove one"},
    {"{name: wheel,", "{name: gyro,",
     "54:12: there is already a device \"gyro\"; choose another name"},
    {"link: board", "link: bord",
     "57:35: there is no link \"bord\"; did you mean \"board\"?"},
    {"link: board", "link: autopilot",
     "57:35: there is no link \"autopilot\"; add it under links"},
    {"control: 2", "control: 16",
     "57:51: control must be from 0 to 15; here is \"16\""},
    {"links:", "  - {name: twin, type: wheel, body: bus, axis: 1 0 0, inertia: 0.01, max_torque: "
     "1, max_speed: 1, command: {link: board, control: 2}}\nlinks:",
     "58:131: control 2 already drives \"wheel\"; take another"},
    {"inertia: 0.02 kg m^2", "inertia: 9 kg m^2",
     "54:65: the rotor's 9 kg m^2 does not fit into the inertia of \"bus\", which is stated with "
     "its rotors; check both"},
    {"inertia: 0.02 kg m^2", "inertia: 0",
     "54:65: inertia must be above 0 kg m^2; here is 0"},
    {"speed: -600 rpm", "speed: -7000 rpm",
     "55:56: speed of 733.0382858 rad/s is above max_speed, 628.3185307 rad/s; lower it"},
    /* links */
    {"listen: 127.0.0.1:14560", "listen: localhost:14560",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"localhost:14560\""},
    {"listen: 127.0.0.1:14560", "listen: 127.0.0.1:70000",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"127.0.0.1:70000\""},
    {"listen: 127.0.0.1:14560", "listen: 127.0.0.1",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"127.0.0.1\""},
    {"listen: 127.0.0.1:14560", "listen: 127.0.0.1:0",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"127.0.0.1:0\""},
    {"peer: 127.0.0.1:14561", "peer: 127.0.0.256:14561",
     "63:11: peer wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here is "
     "\"127.0.0.256:14561\""},
    {"    body: bus\n    send", "    body: bux\n    send",
     "64:11: there is no body \"bux\"; did you mean \"bus\"?"},
    {"gps: 5 Hz", "gps: 3 Hz",
     "65:48: gps of 3 Hz does not divide the frame rate of 1000 Hz; the nearest that do are "
     "3.003003 Hz and 2.994012 Hz"},
    {"state: 100 Hz", "state: 1e-7 Hz",
     "65:35: state of 1e-07 Hz comes less than once in a thousand million frames; raise it"},
    {"lost_after: 250 ms", "lost_after: 0",
     "66:17: lost_after must be from 0.001 to 3600 s; here is 0"},
    {"system_id: 9", "system_id: 256",
     "70:16: system_id must be from 1 to 255; here is \"256\""},
    {"controller:", "  - {name: board, listen: 127.0.0.1:1, body: bus}\ncontroller:",
     "72:12: there is already a link \"board\"; choose another name"},
    {"controller:", "  - {name: twin, listen: 127.0.0.1:14560, body: bus}\ncontroller:",
     "72:26: link \"board\" already listens on 127.0.0.1:14560; take another port"},
    {"controller:", "  - {name: a, listen: 127.0.0.1:1, body: bus}\n  - {name: b, listen: "
     "127.0.0.1:2, body: bus}\n  - {name: c, listen: 127.0.0.1:3, body: bus}\n  - {name: d, "
     "listen: 127.0.0.1:4, body: bus}\ncontroller:",
     "59:3: links has 5 entries; it can have 4, remove some"},
    /* what a run must show */
    {"pointing: {body: panel", "pointing: {body: pannel",
     "73:18: there is no body \"pannel\"; did you mean \"panel\"?"},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error below 0.1 deg after 15 s",
     "75:5: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and within); "
     "here is \"attitude_error below 0.1 deg after 15 s\""},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 deg",
     "75:5: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and within); "
     "here is \"attitude_error < 0.1 deg\""},
    {"attitude_error < 0.1 deg after 15 s", "atitude_error < 0.1 deg after 15 s",
     "75:5: nothing is called \"atitude_error\"; did you mean \"attitude_error\"?"},
    {"attitude_error < 0.1 deg after 15 s", "temperature < 0.1 deg after 15 s",
     "75:5: nothing is called \"temperature\"; there are attitude_error, rate, wheel_speed, "
     "altitude, speed, position_error and tilt"},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 m after 15 s",
     "75:5: attitude_error wants rad, not m"},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < little after 15 s",
     "75:5: attitude_error wants a number in rad, e.g. 0.1 deg; here is \"little\""},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 deg after lunch",
     "75:5: after wants a number in s, e.g. 15 s; here is \"lunch\""},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 deg after 20 s",
     "75:5: the run ends at 20 s, so nothing is tested after 20 s; raise seconds or take an "
     "earlier time"},
    {"within 500 ms", "within 21 s",
     "76:5: the run ends at 20 s, so nothing is tested up to 21 s; raise seconds or take an "
     "earlier time"},
};

/* Joints of body a, which stands beside a ball and a slide (line 3, column 21). */
static const struct whole joints[] = {
    {"type: hinge",
     "3:27: type cannot be \"hinge\"; write fixed, revolute, prismatic, cylindrical, "
     "universal, spherical, planar, free or general"},
    {"type: revolute, axis: 0 0 1, axis2: 1 0 0",
     "3:50: unknown key \"axis2\" in a revolute joint; did you mean \"axis\"?"},
    {"type: cylindrical, axis: 0 0 1, stiffness: 3",
     "3:53: unknown key \"stiffness\" in a cylindrical joint; it takes type, node, axis, at, "
     "attitude, turn, slide"},
    {"type: cylindrical, axis: 0 0 1, turn: {position: 3}",
     "3:60: unknown key \"position\" in a turn; it takes stiffness, damping, rest, angle, "
     "rate, friction, limits, locked, prescribed"},
    {"type: cylindrical, axis: 0 0 1, turn: 3",
     "3:59: a turn wants keys, {stiffness: .., damping: .., rest: .., ..}; here is a single "
     "value"},
    {"type: cylindrical, axis: 0 0 1, slide: {stiffness: 3 N m/rad}",
     "3:72: stiffness wants N/m, not N m/rad"},
    {"type: universal, axis: 0 0 1",
     "3:20: a universal joint needs \"axis2\" (on the body, at right angles to axis); write "
     "e.g. axis2: 0 1 0"},
    {"type: universal, axis: 0 0 1, axis2: 0 1 1",
     "3:58: axis2 must be at right angles to axis; they make 45 deg"},
    {"type: planar, axis: 0 0 1, axis2: 0 0 0",
     "3:55: axis2 has no direction; write e.g. 0 1 0 for the y axis"},
    {"type: spherical, rate: 1 2",
     "3:44: rate wants 3 numbers in rad/s, e.g. 2 -1 0.5 deg/s; here are 2"},
    {"type: spherical, stiffness: 1",
     "3:38: unknown key \"stiffness\" in a spherical joint; it takes type, node, at, attitude, "
     "rate, damping, friction, locked"},
    {"type: general",
     "3:20: a general joint needs \"screws\" (one coordinate each, one after another from the "
     "parent out); write e.g. screws: [{type: turn, axis: 0 0 1, pitch: 1 mm/rad}]"},
    {"type: general, screws: []",
     "3:44: screws is empty; give at least one"},
    {"type: general, screws: [0 0 1 0 0 0]",
     "3:45: a screw wants keys, {type: .., ..}; here is a single value"},
    {"type: general, screws: [{axis: 0 0 1}]",
     "3:45: a screw needs \"type\" (decides which further keys there are); write e.g. type: "
     "turn"},
    {"type: general, screws: [{type: twist, axis: 0 0 1}]",
     "3:52: type cannot be \"twist\"; write turn or slide"},
    {"type: general, screws: [{type: slide, axis: 0 0 1, pitch: 1 mm/rad}]",
     "3:72: unknown key \"pitch\" in a slide; it takes type, axis, stiffness, damping, rest, "
     "position, velocity, friction, limits, locked, prescribed"},
    {"type: general, screws: [{type: turn, axis: 0 0 1, pitch: 1 mm}]",
     "3:78: pitch wants m/rad, not mm"},
    {"type: general, screws: [{type: turn, axis: 0 0 1}, {type: turn, axis: 0 0 1}, {type: "
     "turn, axis: 0 0 1}, {type: turn, axis: 0 0 1}, {type: turn, axis: 0 0 1}, {type: "
     "turn, axis: 0 0 1}, {type: turn, axis: 0 0 1}]",
     "3:44: screws has 7 entries; it can have 6, remove some"},
    {"type: general, screws: [{type: turn, axis: 0 0 1}, {type: turn, axis: 0 0 2}]",
     "3:3: body \"a\": its joint and those further out can move without moving any mass; "
     "check its joint, mass and inertia"},
    {"type: revolute, axis: 0 0 1, friction: {speed: 1 rad/s}",
     "3:60: friction needs \"coulomb\" (dry friction); write e.g. coulomb: 0.2 N m"},
    {"type: revolute, axis: 0 0 1, friction: {coulomb: 1, speed: 0}",
     "3:80: speed must be above 0 rad/s; here is 0"},
    {"type: revolute, axis: 0 0 1, friction: -1 N m",
     "3:60: coulomb must be 0 N m or more; here is -1"},
    {"type: revolute, axis: 0 0 1, limits: {lower: 1}",
     "3:58: limits needs \"stiffness\" (of the stops); write e.g. stiffness: 1000 N m/rad"},
    {"type: revolute, axis: 0 0 1, limits: {stiffness: 1}",
     "3:58: limits has neither lower nor upper; give one or both"},
    {"type: revolute, axis: 0 0 1, limits: {lower: 10 deg, upper: -5 deg, stiffness: 1}",
     "3:66: lower must be below upper; here it is 0.1745329252, and upper -0.0872664626"},
    {"type: revolute, axis: 0 0 1, limits: {upper: 1, stiffness: 0}",
     "3:80: stiffness must be above 0 N m/rad; here is 0"},
    {"type: revolute, axis: 0 0 1, locked: yes",
     "3:58: locked cannot be \"yes\"; write false or true"},
    {"type: revolute, axis: 0 0 1, locked: true, rate: 3",
     "3:70: what is locked does not move; remove rate or locked"},
    {"type: prismatic, axis: 0 0 1, locked: true, velocity: 3",
     "3:75: what is locked does not move; remove velocity or locked"},
    {"type: revolute, axis: 0 0 1, locked: true, prescribed: 3",
     "3:76: what is locked has no prescribed motion; remove one of the two"},
    {"type: universal, axis: 0 0 1, axis2: 1 0 0, turn2: {locked: true, rate: 3}",
     "3:93: what is locked does not move; remove rate or locked"},
    {"type: spherical, locked: true, rate: 0 0 3",
     "3:58: what is locked does not move; remove rate or locked"},
    {"type: general, screws: [{type: slide, axis: 0 0 1, locked: true, velocity: 1}]",
     "3:96: what is locked does not move; remove velocity or locked"},
    {"type: revolute, axis: 0 0 1, prescribed: 3 rad/s",
     "3:62: prescribed wants rad/s^2, not rad/s"},
    {"type: revolute, axis: 0 0 1, motor: {ratio: 3}",
     "3:57: a motor needs \"inertia\" (of the rotor about its axis; part of the parent's); "
     "write e.g. inertia: 2e-5 kg m^2"},
    {"type: revolute, axis: 0 0 1, motor: {ratio: 3, inertia: 1, terms: some}",
     "3:87: terms cannot be \"some\"; write none, diagonal or full"},
    {"type: revolute, axis: 0 0 1, motor: {ratio: 3 rad/m, inertia: 1}",
     "3:65: ratio wants a plain number, not rad/m"},
    {"type: cylindrical, axis: 0 0 1, motor: {ratio: 3, inertia: 1}",
     "3:53: unknown key \"motor\" in a cylindrical joint; it takes type, node, axis, at, "
     "attitude, turn, slide"},
    {"type: revolute, axis: 0 0 1, mimic: b",
     "3:57: there is no body \"b\"; the bodies are a, ball, slide"},
    {"type: revolute, axis: 0 0 1, mimic: a",
     "3:57: the joint of \"a\" follows itself in the end; let one of the circle lead"},
    {"type: revolute, axis: 0 0 1, mimic: {ratio: 2}",
     "3:57: mimic needs \"body\" (whose joint leads); write e.g. body: left_finger"},
    {"type: revolute, axis: 0 0 1, mimic: bal",
     "3:57: there is no body \"bal\"; did you mean \"ball\"?"},
    {"type: revolute, axis: 0 0 1, mimic: ball",
     "3:57: the joint of \"ball\" has not one coordinate to follow; name a body with a "
     "revolute or prismatic joint"},
    {"type: revolute, axis: 0 0 1, mimic: bus, angle: 1",
     "3:69: angle means nothing for a joint that mimics another; remove it"},
    {"type: prismatic, axis: 0 0 1, mimic: {body: slide, offset: 1 rad}",
     "3:80: offset wants m, not rad"},
    {"type: prismatic, axis: 0 0 1, mimic: slide, locked: true",
     "3:73: locked means nothing for a joint that mimics another; remove it"},
};

/* The keys of body a, and the joint of body b on it. */
static const struct bend {
    const char *body, *joint, *complaint;
} bends[] = {
#define SITS "type: fixed, node: frame"
#define BENT \
    "flex: {type: beam, length: 2, mass: 3, bend_y: {modes: 1, stiffness: 1}"
#define BEAM \
    "flex: {type: beam, length: 2, mass: 3, "
#define SWING \
    "mass: 1, inertia: 1 1 1, flex: {type: oscillators, oscillators: [{axis: 1 0 0, frequency: "
#define MODES \
    "mass: 1, inertia: 1 1 1, flex: {type: table, modes: [{frequency: 1 Hz}], "
#define TABLE \
    "mass: 1, inertia: 1 1 1, flex: {type: table, "
    {"flex: beam", SITS,
     "3:32: flex wants keys, {type: .., fidelity: .., start: .., ..}; here is a single "
     "value"},
    {"flex: {length: 2}", SITS,
     "3:32: flex needs \"type\" (decides which further keys there are); write e.g. type: beam"},
    {"flex: {type: bem}", SITS,
     "3:39: type cannot be \"bem\"; did you mean \"beam\"?"},
    {"flex: {type: plate}", SITS,
     "3:39: type cannot be \"plate\"; write beam, oscillators, table or nastran"},
    {"flex: {type: beam, mass: 3}", SITS,
     "3:32: a beam needs \"length\" (of the beam); write e.g. length: 4 m"},
    {BEAM "fidelity: exact}", SITS,
     "3:75: fidelity cannot be \"exact\"; write rigid, ruthless, consistent or inconsistent"},
    {BEAM "lenght: 2}", SITS,
     "3:65: unknown key \"lenght\" in a beam; did you mean \"length\"?"},
    {BEAM "root: hinged}", SITS,
     "3:71: root cannot be \"hinged\"; did you mean \"pinned\"?"},
    {BEAM "bend_y: {modes: 0, stiffness: 1}}", SITS,
     "3:81: modes must be from 1 to 16; here is \"0\""},
    {BEAM "bend_y: {modes: 17, stiffness: 1}}", SITS,
     "3:81: modes must be from 1 to 16; here is \"17\""},
    {BEAM "bend_y: {modes: 1}}", SITS,
     "3:73: bend_y needs \"stiffness\" or \"frequency\", one of the two"},
    {BEAM "bend_y: {modes: 1, stiffness: 1, frequency: 2 Hz}}", SITS,
     "3:73: bend_y needs \"stiffness\" or \"frequency\", one of the two"},
    {BEAM "bend_y: {modes: 1, stiffness: -1}}", SITS,
     "3:95: stiffness must be above 0 N m^2; here is -1"},
    {BEAM "bend_y: {modes: 1, stiffness: 1 N m/rad}}", SITS,
     "3:95: stiffness wants N m^2, not N m/rad"},
    {BEAM "twist: {modes: 1, stiffness: 1}}", SITS,
     "3:72: a beam that twists needs \"roll_inertia\", what it has about its axis"},
    {BEAM "}", SITS,
     "3:32: a beam needs modes that bend, twist or stretch it; write e.g. bend_y: {modes: "
     "2, frequency: 0.5 Hz}"},
    {BENT ", damping: -0.1}", SITS,
     "3:108: damping must be 0 or more; here is -0.1"},
    {BEAM "bend_y: {modes: 3, stiffness: 1}, damping: 0.1 0.2}", SITS,
     "3:108: damping has 2 numbers and there are 3 modes; give one for all, or one for each"},
    {BENT ", nodes: [{name: tip, x: 2.5}]}", SITS,
     "3:122: x of 2.5 m is beyond the beam, which is 2 m long; give at most that"},
    {BENT ", nodes: [{name: frame, x: 2}]}", SITS,
     "3:114: a node cannot be called frame, which is the body's own; choose another name"},
    {BENT ", nodes: [{name: a, x: 1}, {name: a, x: 2}]}", SITS,
     "3:131: there is already a node \"a\"; choose another name"},
    {"mass: 3, " BENT "}", SITS,
     "3:32: the mass of a beam follows from flex; remove it, or give a rigid part a body "
     "of its own with joint: {type: fixed, node: frame}"},
    {"center: 0 0 1, " BENT "}", SITS,
     "3:34: the center of a beam follows from flex; remove it, or give a rigid part a body "
     "of its own with joint: {type: fixed, node: frame}"},
    {"inertia: 1 1 1, " BENT "}", SITS,
     "3:35: the inertia of a beam follows from flex; remove it, or give a rigid part a "
     "body of its own with joint: {type: fixed, node: frame}"},
    {BEAM "roll_inertia: 100, bend_y: {modes: 1, stiffness: 1}}", SITS,
     "3:32: no body has the inertia that flex amounts to: each principal moment is at most "
     "the sum of the other two; check masses and inertias"},
    {BEAM "bend_y: {modes: 2, stiffness: 1}, start: 1}", SITS,
     "3:106: start has 1 number and there are 2 modes; give one for each"},
    {BENT ", start_rate: 1 2}", SITS,
     "3:111: start_rate has 2 numbers and there is 1 mode; give one for each"},
    {BENT ", start: some}", SITS,
     "3:106: start wants numbers, e.g. 0.01 0; here is \"some\""},
    {BENT ", start: [.inf]}", SITS,
     "3:107: start wants numbers, e.g. 0.01 0; here is \".inf\""},
    {BENT ", start: 1e999}", SITS,
     "3:106: start is too large for a number; check it"},
    {"flex: {type: oscillators, oscillators: [{axis: 1 0 0, frequency: 1 Hz, mass: 1}]}", SITS,
     "3:3: body \"a\" needs \"mass\": what flex says is only a part of it"},
    {"mass: 1, flex: {type: oscillators, oscillators: [{axis: 1 0 0, frequency: 1 Hz, mass: 1}]}",
     SITS,
     "3:3: body \"a\" needs \"inertia\": what flex says is only a part of it"},
    {"mass: 1, inertia: 1 1 1, flex: {type: oscillators, oscillators: []}", SITS,
     "3:90: oscillators is empty; give at least one"},
    {SWING "1 Hz}]}", SITS,
     "3:91: an oscillator needs \"mass\", which swings along the axis, or \"inertia\", which "
     "swings about it; write e.g. mass: 2 kg"},
    {SWING "1 Hz, mass: 1, inertia: 1}]}", SITS,
     "3:140: an oscillator has a mass or an inertia; make two of it"},
    {SWING "1 rad/s, mass: 1}]}", SITS,
     "3:116: frequency wants Hz, not rad/s"},
    {SWING "0, mass: 1}]}", SITS,
     "3:116: frequency must be above 0 Hz; here is 0"},
    {SWING "1 Hz, mass: 1.5}]}", SITS,
     "3:57: the modes carry more mass than the body: 1.5 times what it has in some "
     "direction, where less than 1 is possible; check mass, inertia and shapes"},
    {SWING "1 Hz, mass: 0.5, name: frame}]}", SITS,
     "3:139: a node cannot be called frame, which is the body's own; choose another name"},
    {SWING "1 kHz, mass: 0.5}]}", SITS,
     "3:57: the modes of \"a\" reach 1414 Hz in free flight, and rk4 with steps of 1 ms is "
     "stable up to 442.5 Hz; use 4 substeps, fewer modes or integrator: ros2"},
    {"mass: 1, inertia: 1 1 1, flex: {type: table}", SITS,
     "3:57: a table of modes needs \"modes\", each by its frequency, or \"stiffness\", a "
     "matrix; write e.g. modes: [{frequency: 0.5 Hz}]"},
    {"flex: {type: table, modes: [{frequency: 1 Hz}]}", SITS,
     "3:3: body \"a\" needs \"mass\": what flex says is only a part of it"},
    {MODES "stiffness: 1}", SITS,
     "3:110: modes and stiffness both say how stiff it is; remove one"},
    {MODES "damping: 1}", SITS,
     "3:108: each of the modes has its own damping; remove the matrix"},
    {MODES "mass: 1, joint: {psi: 0 0 1}}", SITS,
     "3:105: where the shapes of the joint are taken off, mass follows from the stations; "
     "remove mass or joint"},
    {TABLE "stiffness: [1 2, 3 4]}", SITS,
     "3:88: stiffness is not symmetric: row 2 has 3 in column 1, and row 1 has 2 in column "
     "2"},
    {TABLE "stiffness: [1 2 3, 4 5 6]}", SITS,
     "3:82: stiffness has 2 rows of 3; a square matrix has as many rows as numbers in each"},
    {TABLE "stiffness: [1 2, 3]}", SITS,
     "3:88: a row of stiffness wants 2 numbers; here is 1"},
    {TABLE "stiffness: []}", SITS,
     "3:82: stiffness is empty; give at least one row"},
    {TABLE "stiffness: stiff}", SITS,
     "3:82: stiffness wants a list of rows, e.g. [4 0, 0 9]; here is \"stiff\""},
    {TABLE "stiffness: [1 nan, nan 1]}", SITS,
     "3:83: unknown unit \"nan\"; units look like ms, deg/s, N m/rad or kg m^2"},
    {TABLE "stiffness: [1 2, 2 1]}", SITS,
     "3:82: the stiffness matrix pushes outwards, it has a negative eigenvalue; check it"},
    {TABLE "stiffness: [2 0, 0 1], damping: [1 0, 0 -1]}", SITS,
     "3:103: the damping matrix drives the motion, it has a negative eigenvalue; check it"},
    {TABLE "stiffness: [2 0, 0 1], damping: 1}", SITS,
     "3:103: damping is of 1 mode and there are 2; give one row and column for each"},
    {TABLE "stiffness: [2 0, 0 1], mass: [1 0 0, 0 1 0, 0 0 1]}", SITS,
     "3:100: mass is of 3 modes and there are 2; give one row and column for each"},
    {TABLE "stiffness: [2 0, 0 1], mass: [1 0, 0 -1]}", SITS,
     "3:100: the modal mass matrix is not positive definite: a mode moves no mass, or "
     "several move the body alike; check the shapes"},
    {TABLE "stiffness: [2 0, 0 1], mass: [1 1, 1 1]}", SITS,
     "3:100: the modal mass matrix is not positive definite: a mode moves no mass, or "
     "several move the body alike; check the shapes"},
    {TABLE "stiffness: [2 0, 0 1], mass: [1 0, 0.5 1]}", SITS,
     "3:106: mass is not symmetric: row 2 has 0.5 in column 1, and row 1 has 0 in column 2"},
    {MODES "stations: [{mass: 1}]}", SITS,
     "3:57: the modal mass matrix is not positive definite: a mode moves no mass, or "
     "several move the body alike; check the shapes"},
    {MODES "stations: [{mass: -1}]}", SITS,
     "3:117: mass must be 0 kg or more; here is -1"},
    {MODES "stations: [{mass: 1, inertia: 1 1 9}]}", SITS,
     "3:129: no station has this inertia: each principal moment is at most the sum of the "
     "other two; check the numbers and their order"},
    {MODES "stations: [{mass: 1, psi: [0 0 1, 0 1 0]}]}", SITS,
     "3:125: psi has 2 rows and there is 1 mode; give one row for each mode"},
    {MODES "stations: [{mass: 1, psi: [0, 0, 1]}]}", SITS,
     "3:126: a row of psi wants 3 numbers; here is 1"},
    {MODES "stations: [{mass: 1, psi: 0 0 1, theta: [1 0 0, 0 0 0]}]}", SITS,
     "3:139: theta has 2 rows and there is 1 mode; give one row for each mode"},
    {MODES "stations: [{mass: 1, psi: 0 0 1, psi2: [1 0 0, 0 0 0]}]}", SITS,
     "3:138: psi2 has 2 rows and there is 1 pair of modes; give one row for each, 11 12 .. "
     "22 23 .."},
    {MODES "stations: [{mass: 2, psi: 0 0 1}]}", SITS,
     "3:57: the modes carry more mass than the body: 2 times what it has in some "
     "direction, where less than 1 is possible; check mass, inertia and shapes"},
    {"mass: 1, flex: {type: table, modes: [{frequency: 1 Hz}], stations: [{mass: 0.5, psi: 0 0 1}]}",
     SITS,
     "3:3: body \"a\" needs \"inertia\": what flex says is only a part of it"},
    {MODES "nodes: [{name: tip, psi: [0 0 1, 0 0 1]}]}", SITS,
     "3:124: psi has 2 rows and there is 1 mode; give one row for each mode"},
    {MODES "joint: {psi: [0 0 1, 0 0 1]}}", SITS,
     "3:112: psi has 2 rows and there is 1 mode; give one row for each mode"},
    {"flex: {type: nastran, bulk: a.bdf}", SITS,
     "3:32: a NASTRAN model needs \"punch\" (file with its eigenvectors); write e.g. punch: "
     "panel.pch"},
    {"flex: {type: nastran, bulk: a.bdf, punch: a.pch}", SITS,
     "3:32: a NASTRAN model needs \"modes\", which ones, or \"count\", how many; one of the two"},
    {"flex: {type: nastran, bulk: a.bdf, punch: a.pch, count: 2, modes: 1 2}", SITS,
     "3:32: a NASTRAN model needs \"modes\", which ones, or \"count\", how many; one of the two"},
    {"flex: {type: nastran, bulk: a.bdf, punch: a.pch, modes: 1 2.5}", SITS,
     "3:82: modes wants whole numbers from 1 on, e.g. 7 8 10; here is 2.5"},
    {"flex: {type: nastran, bulk: none/a.bdf, punch: a.pch, count: 2}", SITS,
     "3:54: none/a.bdf: there is no such file; check the path"},
    {BENT ", nodes: [{name: middle, x: 1}, {name: tip, x: 2}]}", "type: fixed",
     "4:31: \"a\" bends, so the joint on it needs \"node\", what it sits on: middle, tip, frame"},
    {BENT ", nodes: [{name: middle, x: 1}, {name: tip, x: 2}]}", "type: fixed, node: tipp",
     "4:51: \"a\" has no node \"tipp\"; did you mean \"tip\"?"},
    {BENT ", nodes: [{name: middle, x: 1}, {name: tip, x: 2}]}", "type: fixed, node: elbow",
     "4:51: \"a\" has no node \"elbow\"; there is middle, tip, frame"},
    {BENT "}", "type: free, node: tip",
     "4:50: \"a\" has no node \"tip\"; there is frame"},
    {"mass: 1, inertia: 1 1 1", "type: fixed, node: tip",
     "4:51: \"a\" does not bend and has no nodes; remove node and say where by at"},
#undef SITS
#undef BENT
#undef BEAM
#undef SWING
#undef MODES
#undef TABLE
};

/* A vehicle with these in it, and link l where no other is given: environment in line 2, devices
 * in 6, links in 7, the rest from 8 on. */
#define GYRO "{name: g, type: gyro, body: a}"
static const struct part {
    const char *environment, *devices, *links, *rest;
    const char *complaint;
} parts[] = {
    /* the world */
    {.environment = "world: moon",
     .complaint = "2:22: world cannot be \"moon\"; write uniform, local or orbit"},
    {.environment = "date: tomorrow",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is \"tomorrow\""},
    {.environment = "date: '2026-02-29T00:00:00Z'",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is "
      "\"2026-02-29T00:00:00Z\""},
    {.environment = "date: '2026-06-21T12:00:00'",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is "
      "\"2026-06-21T12:00:00\""},
    {.environment = "date: '2026-06-21T24:00:00Z'",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is "
      "\"2026-06-21T24:00:00Z\""},
    {.environment = "wind: 1 0 0",
     .complaint = "2:21: there is no air that could move; give environment.air: true, or world: "
      "local"},
    {.environment = "gust: {sigma: 1 0 0}",
     .complaint = "2:21: there is no air for a gust; give environment.air: true, or world: "
      "local"},
    {.environment = "air: true, gust: {sigma: -1 0 0}",
     .complaint = "2:40: sigma must be 0 m/s or more; here is -1"},
    {.environment = "air: true, gust: {time: 0 1 1}",
     .complaint = "2:39: time must be above 0 s; here is 0"},
    {.environment = "home: {altitude: -6 km}",
     .complaint = "2:32: altitude must be from -5 to 1000 km; here is -6"},
    {.environment = "orbit: {altitude: 500 km}",
     .complaint = "2:22: orbit goes with world: orbit; write that, or remove it"},
    {.environment = "world: orbit, gravity: 0 0 9.81",
     .complaint = "2:38: there is no gravity to choose in orbit; remove it"},
    {.environment = "world: orbit, home: {latitude: 0}",
     .complaint = "2:35: there is no home to choose in orbit; remove it"},
    {.environment = "world: orbit, ground: 0",
     .complaint = "2:37: there is no ground to choose in orbit; remove it"},
    {.environment = "world: orbit, wind: 1 0 0",
     .complaint = "2:35: there is no wind to choose in orbit; remove it"},
    {.environment = "world: orbit, gust: {sigma: 1 1 1}",
     .complaint = "2:35: there is no gust to choose in orbit; remove it"},
    {.environment = "world: orbit, air: false",
     .complaint = "2:34: there is no air to choose in orbit; remove it"},
    {.environment = "world: orbit, orbit: {eccentricity: 0.2}",
     .complaint = "2:51: the perigee is 875.6274 km below the ground; raise altitude or lower "
      "eccentricity"},
    {.environment = "world: orbit, orbit: {body: arm}",
     .complaint = "2:22: what orbits must be free: give \"arm\" joint: free and no parent, or "
      "name another as environment.orbit.body"},
    {.environment = "world: orbit, orbit: {body: b}",
     .complaint = "2:43: there is no body \"b\"; the bodies are a, arm"},
    {.environment = "world: orbit, orbit: {altitude: 0}",
     .complaint = "2:47: altitude must be from 1000 to 1000000000 m; here is 0"},
    /* instruments */
    {.devices = "{name: d, type: barometr, body: a}",
     .complaint = "6:27: type cannot be \"barometr\"; did you mean \"barometer\"?"},
    {.devices = "{name: d, type: barometer, body: a}",
     .complaint = "6:27: there is no air to feel; give environment.air: true, or world: local"},
    {.devices = "{name: d, type: airspeed, body: a}",
     .complaint = "6:27: there is no air to feel; give environment.air: true, or world: local"},
    {.devices = "{name: d, type: sun_sensor, body: a, boresight: 0 0 1}",
     .complaint = "6:27: there is no Sun in a uniform world; give environment.world: orbit or "
      "local"},
    {.environment = "world: orbit",
     .devices = "{name: d, type: sun_sensor, body: a, boresight: 0 0 1, quantum: 5.01}",
     .complaint = "6:75: quantum must be from 0 to 0.5; here is 5.01"},
    {.devices = "{name: d, type: star_tracker, body: a}",
     .complaint = "6:11: a star tracker needs \"boresight\" (where it looks, body axes); write "
      "e.g. boresight: 0 0 1"},
    {.environment = "world: orbit, date: '1999-01-01T00:00:00Z'",
     .devices = "{name: d, type: magnetometer, body: a}",
     .complaint = "6:27: there is no magnetic model for environment.date in this program; take "
      "a date that the World Magnetic Model covers (tools/build fetches it), or "
      "give environment.magnetic_field"},
    {.devices = "{name: d, type: encoder, body: a}",
     .complaint = "6:42: the joint of \"a\" has no angle or travel that an encoder could read; "
      "name a body on a hinge or slide"},
    {.devices = "{name: d, type: encoder, body: arm, coordinate: 1}",
     .complaint = "6:59: the joint of \"arm\" has 1 coordinate, counted from 0"},
    {.devices = "{name: d, type: gps, body: a, noise: 1 m}",
     .complaint = "6:41: unknown key \"noise\" in a gps; it takes name, type, body, at, rate, "
      "noise_horizontal, noise_vertical, noise_velocity, wander, wander_time, eph, "
      "epv, satellites, delay"},
    {.devices = "{name: d, type: gps, body: a, delay: 1500 us}",
     .complaint = "6:48: delay of 0.0015 s is not a multiple of 0.001 s; the nearest are 0.001 "
      "s and 0.002 s"},
    {.devices = "{name: d, type: gps, body: a, rate: 10 Hz, delay: 2 s}",
     .complaint = "6:61: delay of 2 s is too long; at most 1.5 s"},
    {.devices = "{name: d, type: gps, body: a}, {name: e, type: gps, body: a}",
     .complaint = "6:58: \"d\" is already the instrument of this type, and a vehicle has one of "
      "each; remove one"},
    {.devices = "{name: d, type: gps, body: a, satellites: 65}",
     .complaint = "6:53: satellites must be from 0 to 64; here is \"65\""},
    {.devices = "{name: d, type: gyro, body: a, instability_time: 0}",
     .complaint = "6:60: instability_time must be above 0 s; here is 0"},
    {.devices = "{name: d, type: gyro, body: a, misalignment: 0.3 0 0}",
     .complaint = "6:56: misalignment must be from -0.2 to 0.2 rad; here is 0.3"},
    {.environment = "air: true",
     .devices = "{name: d, type: barometer, body: a, bias: 1 2 3}",
     .complaint = "6:53: unknown unit \"2\"; units look like ms, deg/s, N m/rad or kg m^2"},
    /* actuators */
    {.devices = "{name: d, type: rotor, body: a, turns: ccw, max_speed: 1, max_thrust: 1, "
      "command: {link: l, control: 0}}",
     .complaint = "6:27: there is no air to feel; give environment.air: true, or world: local"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, max_speed: 1, max_thrust: 1, command: "
      "{link: l, control: 0}}",
     .complaint = "6:11: a rotor needs \"turns\" (its sense, seen from where the thrust points); "
      "write e.g. turns: ccw"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: left, max_speed: 1, max_thrust: 1, "
      "command: {link: l, control: 0}}",
     .complaint = "6:50: turns cannot be \"left\"; write ccw or cw"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "lag: 0, command: {link: l, control: 0}}",
     .complaint = "6:88: lag must be above 0 s; here is 0"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "lag: 100 us, command: {link: l, control: 0}}",
     .complaint = "6:88: lag of 0.0001 s is shorter than a step of 0.001 s; lengthen it, or "
      "take more substeps"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "lag_down: 100 us, command: {link: l, control: 0}}",
     .complaint = "6:93: lag_down of 0.0001 s is shorter than a step of 0.001 s; lengthen it, "
      "or take more substeps"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "idle_speed: 2, command: {link: l, control: 0}}",
     .complaint = "6:11: device \"d\": the rotor's idle_speed must lie between zero and max_speed"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "speed: 2, command: {link: l, control: 0}}",
     .complaint = "6:90: speed of 2 rad/s is above max_speed, 1 rad/s; lower it"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "speed: -1, command: {link: l, control: 0}}",
     .complaint = "6:90: speed must be 0 rad/s or more; here is -1"},
    {.devices = "{name: d, type: torquer, body: a, axis: 1 0 0, max_dipole: 1, command: "
      "{link: l, control: 0}}",
     .complaint = "6:27: there is no magnetic field to push against; give "
      "environment.magnetic_field, or world: local or orbit"},
    {.environment = "world: orbit, date: '1999-01-01T00:00:00Z'",
     .devices = "{name: d, type: torquer, body: a, axis: 1 0 0, max_dipole: 1, command: "
      "{link: l, control: 0}}",
     .complaint = "6:27: there is no magnetic model for environment.date in this program; take "
      "a date that the World Magnetic Model covers (tools/build fetches it), or "
      "give environment.magnetic_field"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, rise: 10 ms, "
      "fall: 0, command: {link: l, control: 0}}",
     .complaint = "6:11: device \"d\": a thruster has both rise and fall, positive, or neither"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, rise: 100 us, "
      "command: {link: l, control: 0}}",
     .complaint = "6:76: rise of 0.0001 s is shorter than a step of 0.001 s; lengthen it, or "
      "take more substeps"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, rise: 10 ms, "
      "fall: 100 us, command: {link: l, control: 0}}",
     .complaint = "6:89: fall of 0.0001 s is shorter than a step of 0.001 s; lengthen it, or "
      "take more substeps"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, min_control: 2, "
      "command: {link: l, control: 0}}",
     .complaint = "6:83: min_control must be from 0 to 1; here is 2"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, delay: 64 ms, "
      "command: {link: l, control: 0}}",
     .complaint = "6:77: delay of 0.064 s is too long; at most 0.063 s"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, command: {link: "
      "l, control: 0}}, {name: e, type: thruster, body: a, axis: 1 0 0, thrust: "
      "1, command: {link: l, control: 0}}",
     .complaint = "6:190: control 0 already drives \"d\"; take another"},
    {.devices = "{name: d, type: drag, body: a}",
     .complaint = "6:27: there is no air to feel; give environment.air: true, or world: local"},
    {.environment = "air: true",
     .devices = "{name: d, type: drag, body: a, area: -1 0 0}",
     .complaint = "6:48: area must be 0 m^2 or more; here is -1"},
    {.devices = "{name: d, type: contact, body: a, points: [0 0 0], stiffness: 1}",
     .complaint = "6:27: there is no ground to touch; give environment.ground, e.g. 0 m"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [0 0], stiffness: 1}",
     .complaint = "6:54: a row of points wants 3 numbers; here are 2"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [], stiffness: 1}",
     .complaint = "6:53: points is empty; give at least one row"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [0 0 0], stiffness: 0}",
     .complaint = "6:73: stiffness must be above 0 N/m; here is 0"},
    {.devices = "{name: d, type: battery, body: a, voltage_empty: 2, voltage: 2, capacity: "
      "1}",
     .complaint = "6:60: an empty battery's 2 V is not below a full one's 2 V; check both"},
    {.devices = "{name: d, type: battery, body: a, voltage_empty: 1, resistance: 1, "
      "idle_current: 1, voltage: 2, capacity: 1}",
     .complaint = "6:11: device \"d\": the idle_current is more than the battery can give"},
    {.devices = "{name: d, type: battery, body: a, voltage_empty: 1, voltage: 2, capacity: "
      "1}, {name: e, type: battery, body: a, voltage_empty: 1, voltage: 2, "
      "capacity: 1}",
     .complaint = "6:105: \"d\" is already the battery, and a vehicle has one; remove one"},
    /* links */
    {.links = "{name: l, body: a, protocol: mavlin}",
     .complaint = "7:38: protocol cannot be \"mavlin\"; did you mean \"mavlink\"?"},
    {.links = "{name: l, body: a, bus: usb}",
     .complaint = "7:33: bus cannot be \"usb\"; write udp, tcp, serial, can, shared, tape, evdev, spacenav or cockpit"},
    {.links = "{name: l, body: a, protocol: ardupilot, bus: tcp}",
     .complaint = "7:54: ardupilot is spoken over udp only; write bus: udp"},
    {.links = "{name: l, body: a, bus: serial}",
     .complaint = "7:9: a link on bus serial needs \"device\"; write e.g. device: /dev/ttyACM0"},
    {.links = "{name: l, body: a, bus: can}",
     .complaint = "7:9: a link on bus can needs \"device\"; write e.g. device: can0"},
    {.links = "{name: l, body: a, bus: shared}",
     .complaint = "7:9: a link on bus shared needs \"device\"; write e.g. device: /board"},
    {.links = "{name: l, body: a, bus: tape}",
     .complaint = "7:9: a link on bus tape needs \"device\"; write e.g. device: board.tape"},
    {.links = "{name: l, body: a, protocol: px4-hitl}",
     .complaint = "7:9: a link on bus serial needs \"device\"; write e.g. device: /dev/ttyACM0"},
    {.links = "{name: l, body: a, device: d}",
     .complaint = "7:36: device means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, baud: 9600}",
     .complaint = "7:34: baud means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, rs485: true}",
     .complaint = "7:35: rs485 means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, can_fd: true}",
     .complaint = "7:36: can_fd means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, can_id: 1}",
     .complaint = "7:36: can_id means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, can_reply_id: 1}",
     .complaint = "7:42: can_reply_id means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, bus: serial, device: d, listen: 127.0.0.1:1}",
     .complaint = "7:60: listen means nothing on bus serial; remove it, or name another bus"},
    {.links = "{name: l, body: a, bus: serial, device: d, peer: 127.0.0.1:1}",
     .complaint = "7:58: peer means nothing on bus serial; remove it, or name another bus"},
    {.links = "{name: l, body: a, bus: can, device: d, can_id: 257}",
     .complaint = "7:57: can_id and can_reply_id are both 257; each side wants its own"},
    {.links = "{name: l, body: a, bus: tcp, listen: 127.0.0.1:1, peer: 127.0.0.1:2}",
     .complaint = "7:65: of tcp give listen, to be the server, or peer, to connect there"},
    {.links = "{name: k, body: a, bus: tcp, peer: 127.0.0.1:2}, {name: l, body: a, bus: "
      "tcp, peer: 127.0.0.1:2}",
     .complaint = "7:93: link \"k\" is already on 127.0.0.1:2; take another"},
    {.links = "{name: k, body: a, bus: serial, device: d}, {name: l, body: a, bus: "
      "serial, device: d}",
     .complaint = "7:93: link \"k\" is already on d; take another"},
    {.links = "{name: k, body: a}, {name: l, body: a}",
     .complaint = "7:29: link \"k\" already listens on 127.0.0.1:14560; take another port"},
    {.links = "{name: l, body: a, bus: serial, device: d, baud: 115200}",
     .complaint = "7:58: the messages of this link are 23605 bytes a second and 115200 baud "
      "carry 11520; raise baud to 237000, or lower rates in send"},
    {.links = "{name: l, body: a, bus: serial, device: d, baud: 115200}", .rest = "lock: {link: l}",
     .complaint = "7:58: the messages of this link are 24355 bytes a second and 115200 baud "
      "carry 11520; raise baud to 244000, or lower rates in send"},
    {.links = "{name: l, body: a, protocol: ardupilot, forward: [127.0.0.1:14550]}",
     .complaint = "7:58: ardupilot has no line that ground stations could share; remove it"},
    {.links = "{name: l, body: a, protocol: px4, forward: [14550]}",
     .complaint = "7:52: forward wants an IPv4 address and a port from 1 to 65535, e.g. "
      "127.0.0.1:14560; here is \"14550\""},
    {.links = "{name: l, body: a, protocol: px4, forward: [a, b, c, d, e]}",
     .complaint = "7:52: forward has 5 entries; it can have 4, remove some"},
    {.links = "{name: l, body: a, delay: 2.5 ms}",
     .complaint = "7:35: delay of 0.0025 s is not a multiple of 0.001 s; the nearest are 0.002 s and "
      "0.003 s"},
    {.links = "{name: l, body: a, delay: 11 s}",
     .complaint = "7:35: delay must be from 0 to 10 s; here is 11"},
    {.rest = "predictor: {rate: 10 Hz}",
     .complaint = "8:12: no link is late, so there is nothing to run ahead of; give a link a delay, "
      "or say how far, e.g. ahead: 2 s"},
    {.rest = "predictor: {ahead: 2 s, rate: 30 Hz}",
     .complaint = "8:31: rate of 30 Hz does not divide the frame rate of 1000 Hz; the nearest that do "
      "are 30.30303 Hz and 29.41176 Hz"},
    {.rest = "predictor: {ahead: 2 s, rate: 2 kHz}",
     .complaint = "8:31: rate of 2000 Hz is above the frame rate of 1000 Hz; lower it, or raise the "
      "scenario's rate"},
    {.rest = "predictor: {ahead: 61 s}",
     .complaint = "8:20: ahead of 61 s is too long; at most 60 s"},
    {.rest = "predictor: {ahead: 0.1 ms}",
     .complaint = "8:20: ahead of 0.0001 s is not a multiple of 0.001 s; the nearest are 0 s and "
      "0.001 s"},
    {.links = "{name: l, body: a, protocol: hand, axes: [{axis: x, control: 0}]}",
     .complaint = "7:9: a link on bus evdev needs \"device\"; write e.g. device: /dev/input/event0"},
    {.links = "{name: l, body: a, protocol: hand, device: d}",
     .complaint = "7:9: a hand controller needs \"axes\"; write e.g. axes: [{axis: x, control: 0}]"},
    {.links = "{name: l, body: a, protocol: hand, bus: serial, device: d}",
     .complaint = "7:49: a hand controller is on bus evdev, spacenav, cockpit, udp or tape, not on serial"},
    {.links = "{name: l, body: a, bus: cockpit}",
     .complaint = "7:33: on bus cockpit is a hand controller; write protocol: hand"},
    {.links = "{name: l, body: a, protocol: hand, bus: cockpit, device: d, axes: [{axis: x, "
              "control: 0}]}",
     .complaint = "7:66: device means nothing on bus cockpit; remove it, or name another bus"},
    {.links = "{name: l, body: a, protocol: hand, bus: cockpit, listen: '127.0.0.1:1', axes: "
              "[{axis: x, control: 0}]}",
     .complaint = "7:66: listen means nothing on bus cockpit; remove it, or name another bus"},
    {.links = "{name: l, body: a, protocol: hand, bus: cockpit, axes: [{axis: x, control: 0}]}, "
              "{name: m, body: a, protocol: hand, bus: cockpit, axes: [{axis: x, control: 0}]}",
     .complaint = "7:130: link \"l\" is already the cockpit's; take another bus"},
    {.links = "{name: l, body: a, bus: evdev, device: d}",
     .complaint = "7:33: on bus evdev is a hand controller; write protocol: hand"},
    {.links = "{name: l, body: a, axes: [{axis: x, control: 0}]}",
     .complaint = "7:34: mavlink is no hand controller; remove it, or take protocol: hand"},
    {.links = "{name: l, body: a, protocol: px4, modes: [1]}",
     .complaint = "7:50: px4 is no hand controller; remove it, or take protocol: hand"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 3}, {axis: "
      "y, control: 3}]}",
     .complaint = "7:104: another axis moves control 3 already; take another"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: rudde, control: 3}]}",
     .complaint = "7:69: axis cannot be \"rudde\"; did you mean \"rudder\"?"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 16}]}",
     .complaint = "7:81: control must be from 0 to 15; here is \"16\""},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0, "
      "dead_band: 1}]}",
     .complaint = "7:95: dead_band must be from 0 to 0.9; here is 1"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0, "
      "expo: 1.5}]}",
     .complaint = "7:90: expo must be from 0 to 1; here is 1.5"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0}], "
      "modes: [0.5]}",
     .complaint = "7:93: buttons go by whole numbers, from 0; here is 0.5"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0}], "
      "modes: [32]}",
     .complaint = "7:94: modes must be from 0 to 31; here is 32"},
    {.links = "{name: l, body: a, sticks: [{at: 0 s}]}",
     .complaint = "7:36: mavlink hears no pilot; remove it, or take protocol: betaflight"},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{at: 2 s}, {at: 1 s}]}",
     .complaint = "7:75: the sticks move at 1 s after they moved at 2 s; sort them"},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{at: 0 s}, {at: 4 s}]}",
     .complaint = "7:75: the radio is silent until 5 s, so nobody sees the sticks move at 4 s; "
      "move it, or lower sticks_from"},
    {.links = "{name: l, body: a, protocol: px4, variant: 2026.6}",
     .complaint = "7:52: variant means nothing to px4; remove it, or take protocol: betaflight"},
    {.links = "{name: l, body: a, protocol: px4, sticks_from: 1 s}",
     .complaint = "7:56: sticks_from means nothing to px4; remove it, or take protocol: "
      "betaflight"},
    {.links = "{name: l, body: a, protocol: betaflight, ground: [{at: 1 s, arm: true}]}",
     .complaint = "7:58: betaflight hears no ground station; remove it"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 1 s}]}",
     .complaint = "7:52: a step of the ground station does nothing; give it arm, mode, takeoff, land "
      "or set"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 1 s, arm: true, takeoff: 2 m}]}",
     .complaint = "7:82: a step does one thing, and this one has arm already; make two steps"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 1 s, mode: guided}]}",
     .complaint = "7:68: \"guided\" is no mode of px4; it has manual, altitude, position, offboard, "
      "takeoff, hold, mission, return, land"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, arm: true}, {at: 1 s, arm: "
      "false}]}",
     .complaint = "7:79: this step is at 1 s, after one at 2 s; sort them"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: A}]}",
     .complaint = "7:52: set needs \"to\", the value; write e.g. set: MIS_TAKEOFF_ALT, to: 2.5"},
    {.links = "{name: l, body: a, protocol: px4, ground_line: here, ground: [{at: 2 s, arm: true}]}",
     .complaint = "7:56: ground_line wants an IPv4 address and a port from 1 to 65535, e.g. "
      "127.0.0.1:14550; here is \"here\""},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{roll: 1}]}",
     .complaint = "7:59: a stick position needs \"at\" (from when on, simulated time); write e.g. "
      "at: 2 s"},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{at: 1 s, throttle: "
      "-1}]}",
     .complaint = "7:79: throttle must be from 0 to 1; here is -1"},
    {.links = "{name: l, body: a, protocol: px4, send: {sun: 1 Hz}}",
     .complaint = "7:55: px4 has no such message; remove it"},
    {.links = "{name: l, body: a, send: {rc: 50 Hz}}",
     .complaint = "7:39: mavlink has no such message; remove it"},
    {.links = "{name: l, body: a, send: {angles: 50 Hz}}",
     .complaint = "7:43: no instrument feeds this message; add one to devices, or remove it"},
    {.devices = "{name: t, type: star_tracker, body: a, boresight: 0 0 1}",
     .links = "{name: l, body: a, send: {star_tracker: 3 Hz}}",
     .complaint = "7:49: star_tracker of 3 Hz does not divide the frame rate of 1000 Hz; the "
      "nearest that do are 3.003003 Hz and 2.994012 Hz"},
    /* the controller */
    {.rest = "controller: {cpu: 3}",
     .complaint = "8:13: controller needs \"command\" (program and arguments); write e.g. "
      "command: [board, --connect, 127.0.0.1:14560]"},
    {.rest = "controller: {command: [b], policy: rr}",
     .complaint = "8:36: policy cannot be \"rr\"; write other or fifo"},
    {.rest = "controller: {command: [b], priority: 10}",
     .complaint = "8:38: priority goes with policy: fifo; write that, or remove it"},
    {.rest = "controller: {command: [b], policy: fifo, priority: 80}",
     .complaint = "8:52: the controller's priority (80) must be below the I/O thread's (80); "
      "lower it"},
    {.rest = "io: inline\ncontroller: {command: [b], policy: fifo, priority: 90}",
     .complaint = "9:52: the controller's priority (90) must be below the frame thread's (90); "
      "lower it"},
    /* faults */
    {.devices = GYRO,
     .rest = "faults: [{type: bias, at: 0, value: 1}]",
     .complaint = "8:10: a fault hits a device or a link; give one of them, e.g. device: gyro"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, link: l, type: loss, at: 0}]",
     .complaint = "8:10: a fault hits a device or a link; give one of them, e.g. device: gyro"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, value: 1}]",
     .complaint = "8:10: a fault begins at a time or in a frame; give one of them, e.g. at: 5 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, value: 1, at: 1 s, frame: 3}]",
     .complaint = "8:10: a fault begins at a time or in a frame; give one of them, e.g. at: 5 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, value: 1, when: operator, at: 1 s}]",
     .complaint = "8:64: this fault waits for the operator; remove it, or when: operator"},
    {.devices = GYRO,
     .rest = "faults: [{name: f, device: g, type: stuck, at: 0},\n"
             "         {name: f, device: g, type: loss, at: 0}]",
     .complaint = "9:17: another fault is called \"f\" already; take another name"},
    /* the limits of texts, lists and times */
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: '', to: 1}]}",
     .complaint = "7:67: a parameter has a name of 1 to 16 characters; here is \"\""},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: A2345678901234567, to: 1}]}",
     .complaint = "7:67: a parameter has a name of 1 to 16 characters; here is "
      "\"A2345678901234567\""},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, arm: true, to: 1}]}",
     .complaint = "7:77: to belongs to set, not to arm"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, land: true, to: 1}]}",
     .complaint = "7:78: to belongs to set, not to land"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: A, to: 1, land: true}]}",
     .complaint = "7:67: a step does one thing, and this one has land already; make two steps"},
    {.links = "{name: l, body: a, protocol: ardupilot, ground: [{at: 1 s, mode: hold}]}",
     .complaint = "7:74: \"hold\" is no mode of ardupilot; it has stabilize, alt_hold, auto, guided, "
      "loiter, rtl, land, brake"},
    {.links = "{name: l, body: a, protocol: betaflight, ground_line: '127.0.0.1:14550'}",
     .complaint = "7:63: betaflight hears no ground station; remove it"},
    {.links = "{name: l, body: a, bus: serial, device: " D127 "d}",
     .complaint = "7:49: device has more than 127 characters; shorten it"},
    {.rest = "pulse: {device: " D127 "d}",
     .complaint = "8:17: device is longer than 127 characters; give a shorter path"},
    {.rest = "pulse: {every: 10}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
      "127.0.0.1:14600"},
    {.rest = "pulse: {to: '127.0.0.1:1', device: d}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
      "127.0.0.1:14600"},
    {.rest = "pulse: {to: here}",
     .complaint = "8:13: to wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14600; "
      "here is \"here\""},
    {.rest = "pulse: {to: '127.0.0.1:1', baud: 9600}",
     .complaint = "8:34: baud means nothing on UDP; remove it, or give device instead of to"},
    {.rest = "faults: [{link: l, type: delay, at: 0, value: 2 ms},\n"
             "         {link: l, type: delay, at: 1 s, value: 2 ms}]",
     .complaint = "9:26: this link is late already by another fault; make it one"},
    {.rest = "expect: [wheel_speed < 5 rad/s after 1 s]",
     .complaint = "8:10: there is no wheel whose speed could be tested; add one or remove the line"},
    {.rest = "expect: [rate < 5 rad/s after 1 s within 2 s]",
     .complaint = "8:10: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and "
      "within); here is \"rate < 5 rad/s after 1 s within 2 s\""},
    {.rest = "expect: [rate after 1 s < 2]",
     .complaint = "8:10: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and "
      "within); here is \"rate after 1 s < 2\""},
    {.rest = "expect: [rate < 5 rad/s within 0 s]",
     .complaint = "8:10: within must be above 0 s; here is 0"},
    {.rest = "expect: [rate < -1 rad/s after 0 s]",
     .complaint = "8:10: rate must be 0 rad/s or more; here is -1"},
    {.rest = "expect: [tilt < 1 deg after -1 s]",
     .complaint = "8:10: after must be 0 s or more; here is -1"},
    {.rest = "expect: [speed < 1 deg after 1 s]", .complaint = "8:10: speed wants m/s, not deg"},
    {.rest = "expect: [altitude < 1 deg after 1 s]", .complaint = "8:10: altitude wants m, not deg"},
    {.rest = "expect: [position_error < 1 s after 1 s]",
     .complaint = "8:10: position_error wants m, not s"},
    {.rest = "expect: [tilt < 1 m after 1 s]", .complaint = "8:10: tilt wants rad, not m"},
    /* rows of numbers */
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 0, axes: [0, 1, 2, 1, 0]}]",
     .complaint = "8:48: axes has 5 numbers; it can have 4"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: {x: 1}, stiffness: 1}",
     .complaint = "6:53: points wants a list of rows in m, e.g. points: [[0.2, 0.2, 0.1], [-0.2, 0.2, "
      "0.1]]; here is a mapping"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [[0, 0, 0], [0, 0]], stiffness: 1}",
     .complaint = "6:65: a row of points wants 3 numbers; here are 2"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [[0, 0, 0], [1]], stiffness: 1}",
     .complaint = "6:65: a row of points wants 3 numbers; here is 1"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [0 0 0, 1 2 3 4], stiffness: 1}",
     .complaint = "6:61: a row of points wants 3 numbers; here are 4"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [[0, [1], 0]], stiffness: 1}",
     .complaint = "6:58: points wants a list of rows in m, e.g. points: [[0.2, 0.2, 0.1], [-0.2, 0.2, "
      "0.1]]; here is a list"},
    {.environment = "gravity: [0, ~, 1]", .complaint = "2:28: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is nothing"},
    {.environment = "gravity: {x: 1}",
     .complaint = "2:24: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is a mapping"},
    {.environment = "gravity: ~",
     .complaint = "2:24: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is nothing"},
    {.environment = "gravity: [9]",
     .complaint = "2:24: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is 1"},
    /* tunable */
    {.devices = GYRO,
     .rest = "tunable: [devices.gg.bias]",
     .complaint = "8:11: there is no device \"gg\"; add it to devices"},
    {.devices = GYRO,
     .rest = "tunable: [devices.g.biass]",
     .complaint = "8:11: while it runs a device does not change its \"biass\"; did you mean "
                  "\"bias\"?"},
    {.devices = GYRO,
     .rest = "tunable: [{of: devices.g.bias.w}]",
     .complaint = "8:16: there is no such component: \"devices.g.bias.w\"; they are x, y and z"},
    {.devices = GYRO,
     .rest = "tunable: [{of: devices.g.noise, low: 1 rad/s/sqrt(Hz)}]",
     .complaint = "8:16: \"devices.g.noise\" begins with 0, which is not from low, 1, to high, "
                  "1e+30; widen them"},
    {.devices = GYRO,
     .rest = "tunable: [enviroment.wind]",
     .complaint = "8:11: no number that can be tuned is at \"enviroment.wind\"; did you mean "
                  "\"environment.wind\"?"},
    {.devices = GYRO,
     .rest = "faults: [{device: gg, type: stuck, at: 0}]",
     .complaint = "8:19: there is no device \"gg\"; add it to devices"},
    {.devices = GYRO,
     .rest = "faults: [{device: none, type: stuck, at: 0}]",
     .complaint = "8:19: there is no device \"none\"; add it to devices"},
    {.devices = GYRO,
     .rest = "faults: [{link: k, type: loss, at: 0}]",
     .complaint = "8:17: there is no link \"k\"; add it to links"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: burnt, at: 0}]",
     .complaint = "8:28: type cannot be \"burnt\"; write stuck, bias, drift, noise, dropout, "
      "delay, bit_flip, crc or loss"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: crc, at: 0}]",
     .complaint = "8:28: crc cannot happen to a signal; it goes with a link"},
    {.devices = GYRO,
     .rest = "faults: [{link: l, type: bias, at: 0, value: 1}]",
     .complaint = "8:26: bias cannot happen to a message; it goes with a device"},
    {.devices = "{name: s, type: battery, body: a, voltage: 2, voltage_empty: 1, capacity: "
      "1}",
     .rest = "faults: [{device: s, type: stuck, at: 0}]",
     .complaint = "8:19: nobody commands \"s\", so there is no signal to disturb; name another"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 10 s}]",
     .complaint = "8:39: the run ends at 10 s, before this fault begins; raise seconds or take "
      "an earlier time"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, frame: 10000}]",
     .complaint = "8:42: the run ends at 10 s, before this fault begins; raise seconds or take "
      "an earlier time"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 1e9 s}]",
     .complaint = "8:39: at must be from 0 to 10000000 s; here is 1000000000"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 0, for: 0}]",
     .complaint = "8:47: for must be from 5e-05 to 10000000 s; here is 0"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0}]",
     .complaint = "8:10: bias needs \"value\" (how large it is); write e.g. value: 0.1 rad/s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: drift, at: 0}]",
     .complaint = "8:10: drift needs \"value\" (how large it is); write e.g. value: 0.1 rad/s/s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: delay, at: 0}]",
     .complaint = "8:10: delay needs \"value\" (how large it is); write e.g. value: 20 ms"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1 m}]",
     .complaint = "8:48: value wants rad/s, not m"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: drift, at: 0, value: 1 deg/s}]",
     .complaint = "8:49: value wants rad/s/s, not deg/s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: noise, at: 0, value: -1}]",
     .complaint = "8:49: value must be 0 rad/s or more; here is -1"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: dropout, at: 0, value: 2}]",
     .complaint = "8:51: value must be from 0 to 1; here is 2"},
    {.devices = GYRO,
     .rest = "faults: [{link: l, type: loss, at: 0, value: 0.5}]",
     .complaint = "8:46: loss is whole and has no value; remove it, or take dropout"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: delay, at: 0, value: 1 s}]",
     .complaint = "8:49: value of 1 s is too long; at most 0.063 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: delay, at: 0, value: 1.5 ms}]",
     .complaint = "8:49: value of 0.0015 s is not a multiple of 0.001 s; the nearest are 0.001 "
      "s and 0.002 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1, axes: [3]}]",
     .complaint = "8:57: this signal has 3 components, counted from 0; here is 3"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1, axes: [0.5]}]",
     .complaint = "8:57: this signal has 3 components, counted from 0; here is 0.5"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1, axes: [4]}]",
     .complaint = "8:58: axes must be from 0 to 3; here is 4"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: dropout, at: 0, axes: [0]}]",
     .complaint = "8:50: dropout takes the whole reading, not some axes of it; remove it"},
    {.devices = GYRO,
     .rest = "faults: [{link: l, type: crc, at: 0, axes: [0]}]",
     .complaint = "8:44: axes go with a device; a message has none, remove it"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 0, way: in}]",
     .complaint = "8:47: way goes with a link; a device's signal has only one, remove it"},
    {.devices = "{name: t, type: star_tracker, body: a, boresight: 0 0 1}",
     .rest = "faults: [{device: t, type: stuck, at: 0, value: 0.1}]",
     .complaint = "8:49: a star tracker is stuck where it was, at no number; remove it"},
    {.devices = "{name: t, type: star_tracker, body: a, boresight: 0 0 1}",
     .rest = "faults: [{device: t, type: delay, at: 0, value: 10 ms, axes: [0]}]",
     .complaint = "8:62: delay takes the whole attitude, not some axes of it; remove it"},
    {.devices = "{name: e, type: encoder, body: arm}",
     .rest = "faults: [{device: e, type: bias, at: 0, value: 1 mm}]",
     .complaint = "8:48: value wants rad, not mm"},
    /* expectations */
    {.rest = "expect: [altitude < 1 rad after 1 s]",
     .complaint = "8:10: altitude wants m, not rad"},
    {.rest = "expect: [tilt < -1 deg after 1 s]",
     .complaint = "8:10: tilt must be 0 deg or more; here is -1"},
    {.rest = "expect: [hight > 1 m after 1 s]",
     .complaint = "8:10: nothing is called \"hight\"; there are attitude_error, rate, "
      "wheel_speed, altitude, speed, position_error and tilt"},
    /* clocks */
    {.rest = "lock: {source: timesync}",
     .complaint = "8:7: lock needs \"link\" (whose clock the frames follow; pace real); write e.g. "
                  "link: board"},
    {.rest = "lock: {link: k}",
     .complaint = "8:14: there is no link \"k\"; add it under links"},
    {.rest = "lock: {link: l, source: gps}",
     .complaint = "8:25: source cannot be \"gps\"; write timesync or arrival"},
    {.rest = "lock: {link: l, limit_ppm: 0}",
     .complaint = "8:28: limit_ppm must be from 1 to 10000; here is 0"},
    {.rest = "lock: {link: l, time_constant: 1 ms}",
     .complaint = "8:32: time_constant must be from 100 to 600000 ms; here is 1"},
    {.rest = "lock: {link: l, period: 2 ms}",
     .complaint = "8:25: period goes with source: arrival; a board that is asked tells its time by "
                  "itself"},
    {.rest = "lock: {link: l, source: arrival, period: 2.01 ms}",
     .complaint = "8:42: period of 0.00201 s and the frame's of 0.001 s have only 1e-05 s in "
                  "common; at least 5e-05 s is needed to tell one command from the next"},
    {.links = "{name: l, body: a, protocol: ardupilot}", .rest = "lock: {link: l}",
     .complaint = "8:7: a board that speaks ardupilot cannot be asked for its time; write source: "
                  "arrival, or speak MAVLink"},
    {.rest = "pulse: {every: 10}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
                  "127.0.0.1:14600"},
    {.rest = "pulse: {to: 127.0.0.1:14600, device: /dev/ttyS0}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
                  "127.0.0.1:14600"},
    {.rest = "pulse: {to: localhost}",
     .complaint = "8:13: to wants an IPv4 address and a port from 1 to 65535, e.g. "
                  "127.0.0.1:14600; here is \"localhost\""},
    {.rest = "pulse: {to: 127.0.0.1:14600, baud: 9600}",
     .complaint = "8:36: baud means nothing on UDP; remove it, or give device instead of to"},
    {.rest = "pulse: {to: 127.0.0.1:14600, every: 0}",
     .complaint = "8:37: every must be from 1 to 1000000; here is \"0\""},
};

static const struct whole wholes[] = {
    {"name: x\nbodies:\n- name: a\n  joint: free\n  flex: {type: beam, length: 4, mass: 3, bend_y: "
     "{modes: 1, frequency: 1}, nodes: [{name: tip, x: 4}]}\n  shapes: [{type: tube, radius: 1}, "
     "{type: tube, radius: 2}]\n",
     "6:44: a body has one line through its nodes, so one tube; remove this"},
    {"name: x\nbodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\nexpect: [wheel_speed < "
     "1 rpm after 1 s]\n",
     "3:10: there is no wheel whose speed could be tested; add one or remove the line"},
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
    {"name: x\nbodies: [{name: a, joint: free, mass: 0, inertia: 0 0 0}]\n",
     "2:10: body \"a\": the joint carries no inertia; check its joint, mass and inertia"},
    {"name: x\nbodies:\n"
     "- {name: a, joint: {type: revolute, axis: 0 0 1}, mass: 0, inertia: 0 0 0}\n"
     "- {name: b, parent: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: 1 1 1}\n",
     "3:3: body \"a\": its joint and those further out can move without moving any mass; check its "
     "joint, mass and inertia"},
    {"name: x\nbodies:\n"
     "- {name: a, joint: {type: revolute, axis: 0 0 1, mimic: b}, mass: 1, inertia: 1 1 1}\n"
     "- {name: b, joint: {type: revolute, axis: 0 0 1, mimic: c}, mass: 1, inertia: 1 1 1}\n"
     "- {name: c, joint: {type: revolute, axis: 0 0 1, mimic: b}, mass: 1, inertia: 1 1 1}\n",
     "4:57: the joint of \"b\" follows itself in the end; let one of the circle lead"},
    {"\xef\xbb\xbf",
     "1:1: nothing is written here; a scenario begins with name: and bodies:"},
    {"\xef\xbb\xbf%YAML 1.1\n---\nname: x\n",
     "1:1: directives (%NAME) are not read in a scenario; remove the line"},
    {"\xef\xbb\xbfname: [x]\n",
     "1:7: name wants a name, e.g. name: satellite; here is a list"},
    {"name: x\nbodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\n"
     "controller: {command: [board]}\n",
     "3:23: there is no link for the controller to talk on; add one to links"},
    {"*a\n", "1:1: aliases (*name) are not read in a scenario; write the value out"},
    /* bytes that look like UTF-8 and are not: overlong, surrogate, beyond Unicode, cut off */
    {"name: \300\200\n", "1:7: byte 0xc0 is not UTF-8 text; save the file as UTF-8"},
    {"name: \340\200\200\n", "1:7: byte 0xe0 is not UTF-8 text; save the file as UTF-8"},
    {"name: \355\240\200\n", "1:7: byte 0xed is not UTF-8 text; save the file as UTF-8"},
    {"name: \364\220\200\200\n", "1:7: byte 0xf4 is not UTF-8 text; save the file as UTF-8"},
    {"name: x\342\202", "1:8: byte 0xe2 is not UTF-8 text; save the file as UTF-8"},
    {"name: \342\200\251\n", "1:7: control character U+2029; remove it"},
    {"name: \302\205\n", "1:7: control character U+0085; remove it"},
};
// clang-format on

void setUp(void)
{
}

void tearDown(void)
{
}

static void expect_complaint(const char *text, const char *complaint)
{
    struct cfg_scenario *scenario;
    char error[CFG_ERROR_MAX];
    const int status =
        cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, status, text);
    TEST_ASSERT_NULL(scenario);
    TEST_ASSERT_EQUAL_STRING_LEN("s.yaml:", error, strlen("s.yaml:"));
    TEST_ASSERT_NULL(strchr(error, '\n'));
    TEST_ASSERT_EQUAL_STRING(complaint, error + strlen("s.yaml:"));
}

/* The base with one piece exchanged, which must be in it exactly once. */
static char *edit(const char *good, const char *bad)
{
    const char *at = strstr(base_text, good);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, good);
    TEST_ASSERT_NULL_MESSAGE(strstr(at + 1, good), good);
    char *text = malloc(sizeof base_text + strlen(bad));
    TEST_ASSERT_NOT_NULL(text);
    sprintf(text, "%.*s%s%s", (int)(at - base_text), base_text, bad, at + strlen(good));
    return text;
}

static void test_the_base_itself_has_no_mistake(void)
{
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario;
    TEST_ASSERT_EQUAL_INT(0, cfg_scenario_load_text("s.yaml", base_text, strlen(base_text), NULL, 0,
                                                    &scenario, error));
    TEST_ASSERT_EQUAL_STRING("", error);
    cfg_scenario_free(scenario);
}

static void test_every_mistake_is_refused_at_its_place(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char *text = edit(mistakes[i].good, mistakes[i].bad);
        expect_complaint(text, mistakes[i].complaint);
        free(text);
    }
}

static void test_every_mistake_in_a_joint_is_refused_at_its_place(void)
{
    static char text[1024];
    for (size_t i = 0; i < sizeof joints / sizeof joints[0]; i++) {
        snprintf(
            text, sizeof text,
            "name: x\nbodies:\n"
            "- {name: a, joint: {%s}, mass: 1, center: 1 1 1, inertia: 1 1 1}\n"
            "- {name: ball, joint: spherical, mass: 1, inertia: 1 1 1}\n"
            "- {name: slide, joint: {type: prismatic, axis: 1 0 0}, mass: 1, inertia: 1 1 1}\n",
            joints[i].text);
        expect_complaint(text, joints[i].complaint);
    }
}

static void test_every_mistake_in_a_flexible_body_is_refused_at_its_place(void)
{
    static char text[1024];
    for (size_t i = 0; i < sizeof bends / sizeof bends[0]; i++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies:\n- {name: a, joint: free, %s}\n"
                 "- {name: b, parent: a, joint: {%s}, mass: 1, inertia: 1 1 1}\n",
                 bends[i].body, bends[i].joint);
        expect_complaint(text, bends[i].complaint);
    }
}

static const char * or (const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static void test_every_mistake_in_worlds_devices_links_and_faults_is_refused_at_its_place(void)
{
    static char text[2048];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct part *part = &parts[i];
        snprintf(text, sizeof text,
                 "name: x\nenvironment: {%s}\nbodies:\n"
                 "- {name: a, joint: free, mass: 9, inertia: 3 3 3}\n"
                 "- {name: arm, parent: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: "
                 "1 1 1}\n"
                 "devices: [%s]\nlinks: [%s]\n%s\n",
                 or (part->environment, ""), or (part->devices, ""),
                 or (part->links, "{name: l, body: a}"), or (part->rest, ""));
        expect_complaint(text, part->complaint);
    }
}

/* In orbit the origin of the world is the Earth's centre. */
static void test_in_orbit_nothing_holds_on_to_the_world(void)
{
#define ORBIT                                                                                      \
    "name: x\nenvironment: {world: orbit}\nbodies:\n"                                              \
    "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\n"
    expect_complaint(ORBIT "- {name: mast, joint: fixed, mass: 1, inertia: 1 1 1}\n",
                     "5:3: what orbits must be free: give \"mast\" joint: free, or a parent");
    expect_complaint(ORBIT "- {name: b, joint: free, mass: 1, inertia: 1 1 1}\n",
                     "5:3: \"b\" would start inside the Earth; give it a position from the Earth's "
                     "centre, or a parent");
    expect_complaint(
        "name: x\nenvironment: {world: orbit}\n"
        "bodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\n",
        "2:22: what orbits must be free: give \"a\" joint: free and no parent, or name "
        "another as environment.orbit.body");
}

static void test_a_vehicle_has_only_so_many_encoders_and_contact_points(void)
{
    static char text[1 << 14];
    const char *head = "name: x\nenvironment: {ground: 0}\nbodies:\n"
                       "- {name: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: 1 1 "
                       "1}\n";
    size_t size = (size_t)snprintf(text, sizeof text, "%sdevices:\n", head);
    for (int i = 0; i < 17; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {name: e%d, type: encoder, body: a}\n", i);
    expect_complaint(text, "22:21: a vehicle can have 16 encoders; remove some");

    size = (size_t)snprintf(
        text, sizeof text,
        "%sdevices:\n- {name: feet, type: contact, body: a, stiffness: 1, points: [", head);
    for (int i = 0; i < 97; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s0 0 0", i > 0 ? ", " : "");
    snprintf(text + size, sizeof text - size, "]}\n");
    expect_complaint(text,
                     "6:62: a vehicle can have 96 actuators, drags and contact points; remove "
                     "some");
}

static void expect_good(const char *text)
{
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario;
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error), error);
    cfg_scenario_free(scenario);
}

/* Of all that acts on a body there is room for 96, contact points among them. */
static void test_the_last_actuator_still_fits(void)
{
    static char text[1 << 15];
    for (int drags = 1; drags <= 2; drags++) {
        size_t size =
            (size_t)snprintf(text, sizeof text,
                             "name: x\nenvironment: {ground: 0, air: true}\nbodies:\n"
                             "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\ndevices:\n"
                             "- {name: feet, type: contact, body: a, stiffness: 1, points: [");
        for (int i = 0; i < 95; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s0 0 0", i > 0 ? ", " : "");
        size += (size_t)snprintf(text + size, sizeof text - size, "]}\n");
        for (int i = 0; i < drags; i++)
            size += (size_t)snprintf(text + size, sizeof text - size,
                                     "- {name: d%d, type: drag, body: a}\n", i);
        snprintf(text + size, sizeof text - size, "tunable: [devices.feet.damping]\n");
        if (drags == 1)
            expect_good(text);
        else
            expect_complaint(text, "8:20: a vehicle can have 96 actuators, drags and contact "
                                   "points; remove some");
    }
}

/* 95 characters are an expectation, and 96 none. */
static void test_an_expectation_is_a_line_and_not_longer(void)
{
    char text[512];
    for (int more = 0; more < 2; more++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                 "expect: ['tilt < 1 deg%*safter 1 s']\n",
                 95 + more - (int)strlen("tilt < 1 degafter 1 s"), "");
        if (more == 0)
            expect_good(text);
        else
            expect_complaint(text, "3:10: an expectation looks like \"attitude_error < 0.1 deg "
                                   "after 15 s\" (or > and within); here is \"tilt < 1 deg        "
                                   "                    ...\"");
    }
}

/* The last moment that a run has, and the longest names. */
static void test_what_is_just_within_its_limits_is_taken(void)
{
    static const char *const good[] = {
        "expect: [tilt < 1 deg within 10 s, rate > 1 after 9.999 s, altitude < -5 m after 0 s]",
        "faults: [{device: g, type: stuck, at: 9.999 s}, {device: g, type: stuck, frame: 9999}]",
        "faults: [{device: g, type: stuck, at: 0, axes: [0, 1, 2]}]",
        "faults: [{link: l, type: delay, at: 0, value: 2 ms}, {link: l, type: loss, at: 1}]",
        "pulse: {device: " D127 "}",
        "predictor: {ahead: 60 s}",
        "controller: {command: [b], policy: fifo, priority: 79}",
        "log: {every: 1000000}",
        "frame: {watchdog: 2 ms, lead: 499.999 us}",
        "frame: {cpu: 1023, priority: 98}",
        "io: {priority: 89}",
        "integrator: {substeps: 1000}",
    };
    char text[1024];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                 "devices: [{name: g, type: gyro, body: a}]\nlinks: [{name: l, body: a}]\n%s\n",
                 good[i]);
        expect_good(text);
    }
    static const char *const links[] = {
        "bus: serial, device: " D127,
        "delay: 10 s",
        "protocol: px4, ground: [{at: 2 s, set: "
        "A234567890123456, to: 1}]",
        "protocol: px4, ground: [{at: 2 s, arm: true}, {at: 2 s, land: true}]",
        "protocol: betaflight, sticks: [{at: 0 s}, {at: 5 s}, {at: 5 s}]",
        "protocol: hand, device: d, axes: [{axis: x, control: 15, dead_band: 0.9}], modes: [31]"};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                 "links: [{name: l, body: a, %s}]\n",
                 links[i]);
        expect_good(text);
    }
}

static void test_a_link_has_only_so_many_faults(void)
{
    static char text[1 << 14];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 "
                                   "1}]\nlinks: [{name: l, body: a}]\nfaults:\n");
    for (int i = 0; i < IO_LINK_FAULT_MAX + 1; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {link: l, type: crc, frame: %d}\n", i);
    char complaint[128];
    snprintf(complaint, sizeof complaint, "%d:10: a link can have %d faults; remove some",
             5 + IO_LINK_FAULT_MAX, IO_LINK_FAULT_MAX);
    expect_complaint(text, complaint);
}

static void test_a_frame_has_only_so_much_room_for_jobs(void)
{
    static char text[1 << 14];
    size_t size = (size_t)snprintf(
        text, sizeof text,
        "name: x\nenvironment: {world: local, magnetic_field: 1 0 0}\nbodies:\n"
        "- {name: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: 1 1 1}\ndevices:\n"
        "- {name: g, type: gyro, body: a}\n- {name: f, type: accelerometer, body: a}\n"
        "- {name: m, type: magnetometer, body: a}\n- {name: p, type: gps, body: a}\n"
        "- {name: t, type: star_tracker, body: a, boresight: 0 0 1}\n"
        "- {name: s, type: sun_sensor, body: a, boresight: 0 0 1}\n");
    for (int i = 0; i < 16; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {name: e%d, type: encoder, body: a}\n", i);
    size += (size_t)snprintf(text + size, sizeof text - size, "links:\n");
    for (int i = 1; i <= 4; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {name: l%d, listen: 127.0.0.1:%d, body: a}\n", i, i);
    expect_complaint(text, "32:3: instruments and messages make more than the 51 jobs that a frame "
                           "has room for; set a message's rate to 0");
}

static void test_a_body_has_not_more_modes_than_the_kernel(void)
{
    static char text[1 << 16];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "name: x\nbodies:\n- {name: a, joint: free, mass: 1, inertia: "
                                   "1 1 1, flex: {type: table, stiffness: [");
    for (int i = 0; i < 65; i++)
        for (int j = 0; j < 65; j++)
            size += (size_t)snprintf(text + size, sizeof text - size, "%d%s", i == j,
                                     j < 64   ? " "
                                     : i < 64 ? ", "
                                              : "]}}\n");
    expect_complaint(text, "3:82: stiffness is of 65 modes; a body can have 64, leave the fastest "
                           "out");
}

/* A rotor of the motor is part of its parent, unless that stands in the world. */
static void test_a_motor_must_fit_into_the_body_it_sits_on(void)
{
#define MOTOR                                                                                      \
    "name: x\nbodies:\n- {name: bus, joint: %s, mass: 1, inertia: 0.1 0.1 0.1}\n"                  \
    "- {name: arm, parent: bus, joint: {type: revolute, axis: 0 0 1, "                             \
    "motor: {ratio: 9, inertia: %s, axis: 0 1 0}}, mass: 1, inertia: 1 1 1}\n"
    static char whole[1024];
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario;
    snprintf(whole, sizeof whole, MOTOR, "free", "0.2");
    expect_complaint(whole, "4:3: the motor's rotor of 0.2 kg m^2 does not fit into the inertia of "
                            "\"bus\", which is stated with the rotors on it; check both, or say "
                            "terms: diagonal");
    const char *good[][2] = {{"free", "0.05"}, {"fixed", "0.2"}};
    for (int k = 0; k < 2; k++) {
        snprintf(whole, sizeof whole, MOTOR, good[k][0], good[k][1]);
        TEST_ASSERT_EQUAL_INT(
            0, cfg_scenario_load_text("s.yaml", whole, strlen(whole), NULL, 0, &scenario, error));
        cfg_scenario_free(scenario);
    }
}

static void test_texts_that_are_no_scenario_are_refused(void)
{
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++)
        expect_complaint(wholes[i].text, wholes[i].complaint);
}

/* Windows line ends and a byte order mark move nothing. */
static void test_line_ends_do_not_move_the_place(void)
{
    expect_complaint("name: x\r\nrate: 1 kg\r\n", "2:7: rate wants Hz, not kg");
    expect_complaint("# \303\251\303\251\nname: \303\251",
                     "2:7: name cannot be \"\303\251\"; a name is a letter, "
                     "then letters, digits, _ or -, at most 47 in all");
}

/* Limits that keep a hostile file cheap. */
static void test_endless_lists_and_mappings_are_refused(void)
{
    static char text[1 << 16];
    size_t size = 0;
    for (int i = 0; i < 70; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "k%d: 1\n", i);
    expect_complaint(text,
                     "65:6: more than 64 entries in one mapping; no scenario needs that many");

    size = (size_t)snprintf(text, sizeof text, "name: [");
    for (int i = 0; i < 20000; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "1,");
    snprintf(text + size, sizeof text - size, "1]\n");
    expect_complaint(text,
                     "1:32776: more than 16384 entries in one list; no scenario needs that many");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_base_itself_has_no_mistake);
    RUN_TEST(test_every_mistake_is_refused_at_its_place);
    RUN_TEST(test_every_mistake_in_a_joint_is_refused_at_its_place);
    RUN_TEST(test_every_mistake_in_a_flexible_body_is_refused_at_its_place);
    RUN_TEST(test_every_mistake_in_worlds_devices_links_and_faults_is_refused_at_its_place);
    RUN_TEST(test_in_orbit_nothing_holds_on_to_the_world);
    RUN_TEST(test_a_vehicle_has_only_so_many_encoders_and_contact_points);
    RUN_TEST(test_the_last_actuator_still_fits);
    RUN_TEST(test_an_expectation_is_a_line_and_not_longer);
    RUN_TEST(test_what_is_just_within_its_limits_is_taken);
    RUN_TEST(test_a_link_has_only_so_many_faults);
    RUN_TEST(test_a_frame_has_only_so_much_room_for_jobs);
    RUN_TEST(test_a_body_has_not_more_modes_than_the_kernel);
    RUN_TEST(test_a_motor_must_fit_into_the_body_it_sits_on);
    RUN_TEST(test_texts_that_are_no_scenario_are_refused);
    RUN_TEST(test_endless_lists_and_mappings_are_refused);
    RUN_TEST(test_line_ends_do_not_move_the_place);
    return UNITY_END();
}
