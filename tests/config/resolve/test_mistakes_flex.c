/*
 * Mistakes in flexible bodies.
 */
#include "tests/config/mistakes.h"

// clang-format off
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
// clang-format on

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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_mistake_in_a_flexible_body_is_refused_at_its_place);
    RUN_TEST(test_a_body_has_not_more_modes_than_the_kernel);
    return UNITY_END();
}
