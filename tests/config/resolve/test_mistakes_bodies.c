/*
 * Mistakes in bodies: their tree and inertia, their joints, their shapes and the cameras on them.
 */
#include "config/scenario.h"
#include "tests/config/mistakes.h"

// clang-format off
static const struct mistake mistakes[] = {
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
};

static const struct whole wholes[] = {
    {"name: x\nbodies:\n- name: a\n  joint: free\n  flex: {type: beam, length: 4, mass: 3, bend_y: "
     "{modes: 1, frequency: 1}, nodes: [{name: tip, x: 4}]}\n  shapes: [{type: tube, radius: 1}, "
     "{type: tube, radius: 2}]\n",
     "6:44: a body has one line through its nodes, so one tube; remove this"},
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
     "3:57: mimic needs \"body\" (body of the joint that is followed); write e.g. body: left_finger"},
    {"type: revolute, axis: 0 0 1, mimic: bal",
     "3:57: there is no body \"bal\"; did you mean \"ball\"?"},
    {"type: revolute, axis: 0 0 1, mimic: ball",
     "3:57: the joint of \"ball\" does not have exactly one coordinate to follow; name a body with a "
     "revolute or prismatic joint"},
    {"type: revolute, axis: 0 0 1, mimic: bus, angle: 1",
     "3:69: angle means nothing for a joint that mimics another; remove it"},
    {"type: prismatic, axis: 0 0 1, mimic: {body: slide, offset: 1 rad}",
     "3:80: offset wants m, not rad"},
    {"type: prismatic, axis: 0 0 1, mimic: slide, locked: true",
     "3:73: locked means nothing for a joint that mimics another; remove it"},
};
// clang-format on

static void test_every_mistake_in_a_body_is_refused_at_its_place(void)
{
    REFUSE_EDITS(mistakes);
}

static void test_bodies_that_cannot_be_are_refused(void)
{
    REFUSE_TEXTS(wholes);
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_mistake_in_a_body_is_refused_at_its_place);
    RUN_TEST(test_bodies_that_cannot_be_are_refused);
    RUN_TEST(test_every_mistake_in_a_joint_is_refused_at_its_place);
    RUN_TEST(test_a_motor_must_fit_into_the_body_it_sits_on);
    return UNITY_END();
}
