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
     "inertia, flex"},
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
     "54:43: unknown key \"direction\" in a wheel; it takes name, type, body, axis, inertia, "
     "max_torque, max_speed, speed, viscous, coulomb, coulomb_speed, gain, quantum, delay, "
     "command"},
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
    {"    listen: 127.0.0.1:14560\n", "",
     "59:5: a link needs \"listen\" (own IPv4 address and port); write e.g. listen: "
     "127.0.0.1:14560"},
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
     "12:14: environment wants keys, {gravity: .., magnetic_field: .., home: .., ..}; here is a "
     "single value"},
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
    {"type: gyro", "type: star_tracker",
     "42:11: type cannot be \"star_tracker\"; write gyro, accelerometer, magnetometer or wheel"},
    {"bus: udp", "bus: can",
     "61:10: bus cannot be \"can\"; write udp"},
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
     "65:35: state of 1e-07 Hz comes less than once in a thousand million frames; use 0 for never"},
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
    {"links:", "  - {name: shake, type: accelerometer, body: bus}\nlinks:\n"
     "  - {name: a, listen: 127.0.0.1:1, body: bus}\n"
     "  - {name: b, listen: 127.0.0.1:2, body: bus}\n"
     "  - {name: c, listen: 127.0.0.1:3, body: bus}",
     "69:65: instruments and messages make more than the 24 jobs that a frame has room for; set a "
     "message's rate to 0"},
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
     "75:5: nothing is called \"temperature\"; there are attitude_error, rate and wheel_speed"},
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

static const struct whole wholes[] = {
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
    RUN_TEST(test_a_body_has_not_more_modes_than_the_kernel);
    RUN_TEST(test_a_motor_must_fit_into_the_body_it_sits_on);
    RUN_TEST(test_texts_that_are_no_scenario_are_refused);
    RUN_TEST(test_endless_lists_and_mappings_are_refused);
    RUN_TEST(test_line_ends_do_not_move_the_place);
    return UNITY_END();
}
