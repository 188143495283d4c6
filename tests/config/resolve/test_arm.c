/*
 * An arm from the text of a scenario: what it becomes, and every mistake with its place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/executive/arm/arm_configuration.h"
#include "rt/executive/state/run_state.h"
#include "unity.h"

#define PI                     3.14159265358979323846
#define NEAR(expected, actual) TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected, actual)

#define AXES                                                                                       \
    "axes: [{axis: x, control: 0}, {axis: y, control: 1}, {axis: z, control: 2}, "                 \
    "{axis: rx, control: 3}, {axis: ry, control: 4}, {axis: rz, control: 5}]"

// clang-format off
static const char good_text[] =
    "name: a\n"
    "bodies:\n"
    "- {name: ship, joint: free, mass: 1000, inertia: 900 900 900}\n"
    "- {name: yaw, parent: ship, joint: {type: revolute, axis: 0 0 1, angle: 10 deg}, mass: 9, inertia: 1 1 1}\n"
    "- {name: elbow, parent: yaw, joint: {type: revolute, axis: 0 1 0, at: 2 0 0, limits: {lower: -1, upper: 2, stiffness: 1e4}}, mass: 9, inertia: 1 1 1}\n"
    "- {name: claw, parent: elbow, joint: {type: revolute, axis: 1 0 0, at: 2 0 0}, mass: 5, inertia: 1 1 1}\n"
    "- {name: box, parent: ship, joint: {type: free, position: 3 0 0}, mass: 50, inertia: 9 9 9}\n"
    "- {name: can, parent: ship, joint: {type: free, position: 6 0 0}, mass: 50, inertia: 9 9 9}\n"
    "links:\n"
    "- {name: hand, protocol: hand, bus: udp, listen: '127.0.0.1:14590', body: claw, modes: [0, 1, 2], " AXES "}\n"
    "arm:\n"
    "  joints:\n"
    "  - {body: yaw, stiffness: 1e4, damping: 1e3, max_torque: 100, max_rate: 5 deg/s}\n"
    "  - {body: elbow, stiffness: 1e4, damping: 1e3, max_torque: 100, max_rate: 5 deg/s, acceleration: 1 deg/s^2, brake: 50}\n"
    "  - {body: claw, stiffness: 1e4, damping: 1e3, max_torque: 100, max_rate: 5 deg/s, lower: -3, upper: 3}\n"
    "  hand: {body: claw, at: 0.5 0 0}\n"
    "  translation: {link: hand, speed: 0.6}\n"
    "  rotation: {link: hand, speed: 5 deg/s}\n"
    "  poses: [{name: home, angles: 0 10 20 deg}]\n"
    "payloads:\n"
    "- {body: box, fixture: {at: 0 0 1}}\n"
    "- {body: can, latched: false}\n";

static const struct {
    const char *good, *bad;
    const char *complaint; /* line:column: what */
} mistakes[] = {
    /* joints */
    {"- {body: yaw, stiffness", "- {body: jaw, stiffness",
     "13:12: there is no body \"jaw\"; did you mean \"yaw\"?"},
    {"- {body: yaw, stiffness", "- {body: ship, stiffness",
     "13:12: the joint of \"ship\" is not a revolute one that can be driven; an arm's joints turn, and are neither locked nor led"},
    {"axis: 0 0 1, angle: 10 deg}", "axis: 0 0 1, angle: 10 deg, locked: true}",
     "13:12: the joint of \"yaw\" is not a revolute one that can be driven; an arm's joints turn, and are neither locked nor led"},
    {"axis: 1 0 0, at: 2 0 0}", "axis: 1 0 0, at: 2 0 0, mimic: {body: elbow}}",
     "15:12: the joint of \"claw\" is not a revolute one that can be driven; an arm's joints turn, and are neither locked nor led"},
    {"axis: 0 0 1, angle: 10 deg}", "axis: 0 0 1, angle: 10 deg, rate: 2}",
     "13:12: the joint of \"yaw\" starts at 2 rad/s behind a brake that holds; an arm starts at rest"},
    {"- {body: elbow, stiffness", "- {body: yaw, stiffness",
     "14:12: \"yaw\" does not lie further out than the joint before it; list them from the base out"},
    {"max_torque: 100, max_rate: 5 deg/s}", "max_torque: 100, max_rate: 5 deg/s, lower: -1}",
     "13:5: the joint of \"yaw\" has a limit at one end only; give lower and upper, or neither"},
    {"lower: -3, upper: 3", "lower: 3, upper: 3",
     "15:91: lower, 3 rad (171.887 deg), is not below upper, 3 rad (171.887 deg)"},
    {"lower: -3, upper: 3", "lower: 1, upper: 3",
     "15:5: the joint of \"claw\" starts at 0 rad (0 deg), outside its limits 1 rad (57.2958 deg) and 3 rad (171.887 deg)"},
    {"acceleration: 1 deg/s^2, brake: 50", "brake: 50, lower: -1.5, upper: 1",
     "14:103: lower of -1.5 rad (-85.9437 deg) lies outside the joint's own range, -1 rad (-57.2958 deg) to 2 rad (114.592 deg)"},
    {"acceleration: 1 deg/s^2, brake: 50", "brake: 50, upper: 2.5",
     "14:103: upper of 2.5 rad (143.239 deg) lies outside the joint's own range, -1 rad (-57.2958 deg) to 2 rad (114.592 deg)"},
    {"max_torque: 100, max_rate: 5 deg/s}", "max_torque: 0, max_rate: 5 deg/s}",
     "13:59: max_torque must be above 0 N m; here is 0"},
    {"max_torque: 100, max_rate: 5 deg/s}", "max_torque: 100}",
     "13:5: a joint of the arm needs \"max_rate\" (that is ever commanded); write e.g. max_rate: 2 deg/s"},
    /* hand and base */
    {"hand: {body: claw", "hand: {body: paw",
     "16:16: there is no body \"paw\"; did you mean \"yaw\"?"},
    {"hand: {body: claw", "hand: {body: elbow",
     "16:16: the hand's body \"elbow\" does not hang from joint \"claw\"; a hand is at the end of all joints"},
    {"hand: {body: claw", "hand: {body: box",
     "16:16: the hand's body \"box\" does not hang from joint \"yaw\"; a hand is at the end of all joints"},
    {"mass: 5, inertia: 1 1 1}", "flex: {type: beam, length: 1, mass: 5, bend_y: {modes: 1, frequency: 2 Hz}}}",
     "16:16: the hand's body bends; fix a rigid one to its node and take that"},
    {"hand: {body: claw", "base: sheep\n  hand: {body: claw",
     "16:9: there is no body \"sheep\"; did you mean \"ship\"?"},
    {"hand: {body: claw", "base: box\n  hand: {body: claw",
     "16:9: the arm does not stand on \"box\""},
    {"hand: {body: claw", "base: yaw\n  hand: {body: claw",
     "16:9: the arm does not stand on \"yaw\""},
    {"hand: {body: claw", "base: claw\n  hand: {body: claw",
     "16:9: the arm does not stand on \"claw\""},
    {"yaw, parent: ship,", "yaw,",
     "12:3: the arm's base is not a body; give it one that is fixed to the world"},
    {"  - {body: elbow, stiffness: 1e4, damping: 1e3, max_torque: 100, max_rate: 5 deg/s, acceleration: 1 deg/s^2, brake: 50}\n", "",
     "13:3: the joint of \"elbow\" lies between base and hand and is none of the arm's; list it, or let it be fixed"},
    /* the operator */
    {"translation: {link: hand", "translation: {link: foot",
     "17:23: there is no link \"foot\"; add it under links"},
    {"rotation: {link: hand", "rotation: {link: foot",
     "18:20: there is no link \"foot\"; add it under links"},
    {"rotation: {link: hand,", "rotation: {link: hand, controls: [1, 2],",
     "18:36: controls wants three numbers, of x, y and z; here are 2"},
    {"rotation: {link: hand,", "rotation: {link: hand, controls: [1, 2, 2.5],",
     "18:36: controls go by whole numbers, from 0; here is 2.5"},
    {"rotation: {link: hand,", "rotation: {link: hand, controls: [1, 2, 99],",
     "18:43: controls must be from 0 to 15; here is 99"},
    {"  poses:", "  buttons: {link: foot}\n  poses:",
     "19:19: there is no link \"foot\"; add it under links"},
    {"  poses:", "  buttons: {vernier: 32}\n  poses:",
     "19:22: vernier must be from 0 to 31; here is \"32\""},
    {"  poses:", "  buttons: {safe: 2}\n  poses:",
     "19:12: button 2 means two things, mode end-effector and safe; give one of them another"},
    {"  poses:", "  buttons: {select: [7, 8, 7]}\n  poses:",
     "19:12: button 7 means two things, select 0 and select 2; give one of them another"},
    {"  poses:", "  buttons: {select: [1, 2.5]}\n  poses:",
     "19:21: buttons go by whole numbers, from 0; here is 2.5"},
    {"  poses:", "  servo: 300 Hz\n  poses:",
     "19:10: servo of 300 Hz does not divide the frame rate of 1000 Hz; the nearest that do are 333.3333 Hz and 250 Hz"},
    {"protocol: hand, bus: udp, listen: '127.0.0.1:14590', body: claw, modes: [0, 1, 2], " AXES "}", "protocol: mavlink, listen: '127.0.0.1:14590', body: ship}",
     "17:23: link \"hand\" is not a hand controller; the arm needs a link with protocol: hand"},
    {"arm:\n", "- {name: board, body: ship}\narm:\n  buttons: {link: board}\n",
     "13:19: link \"board\" is not a hand controller; the arm needs a link with protocol: hand"},
    {", {axis: z, control: 2}", "",
     "17:23: no axis of link \"hand\" moves control 2, this stick's z; add one to the link's axes, or name other controls"},
    {"rotation: {link: hand,", "rotation: {link: hand, controls: [3, 6, 5],",
     "18:36: no axis of link \"hand\" moves control 6, this stick's y; add one to the link's axes, or name other controls"},
    {" modes: [0, 1, 2],", "",
     "12:3: link \"hand\" has no mode but hold, which the arm would never leave; give it others, e.g. modes: [0, 1, 2, 3, 4, 5]"},
    {" modes: [0, 1, 2],", " modes: [0],",
     "12:3: link \"hand\" has no mode but hold, which the arm would never leave; give it others, e.g. modes: [0, 1, 2, 3, 4, 5]"},
    {"- {body: elbow, stiffness: 1e4", "- {body: elbow, stiffness: 0",
     "14:30: a servo without stiffness leads its joint to no pose; give it some, or remove poses"},
    {"angles: 0 10 20 deg", "angles: 0 10 deg",
     "19:32: pose \"home\" has 2 angles, the arm 3 joints"},
    {"angles: 0 10 20 deg", "angles: 0 10 200 deg",
     "19:32: angle 2 of pose \"home\", 3.490658504 rad (200 deg), lies outside the joint's limits -3 rad (-171.887 deg) and 3 rad (171.887 deg)"},
    {"angles: 0 10 20 deg}", "angles: 0 10 20 deg}, {name: away, angles: 0 0 0}, {name: home, angles: 0 0 0}",
     "19:82: there is already a pose \"home\"; choose another name"},
    {" modes: [0, 1, 2],", " modes: [0, 1, 2, 3, 4, 5, 6],",
     "10:88: 7 modes, and an arm has 6: hold, joint, end-effector, base, payload and auto; remove the others"},
    /* payloads */
    {"- {body: box,", "- {body: fox,",
     "21:10: there is no body \"fox\"; did you mean \"box\"?"},
    {"- {body: box,", "- {body: elbow,",
     "21:10: payload \"elbow\" must be rigid and on a free joint; write joint: {type: free, position: ...}"},
    {"- {body: box,", "- {body: ship,",
     "21:3: payload \"ship\" has no bay; name the body that it rides on when the hand does not have it, e.g. bay: orbiter"},
    {"mass: 50, inertia: 9 9 9}\n- {name: can", "flex: {type: beam, length: 1, mass: 5, bend_y: {modes: 1, frequency: 2 Hz}}}\n- {name: can",
     "21:10: payload \"box\" must be rigid and on a free joint; write joint: {type: free, position: ...}"},
    {"position: 3 0 0}", "position: 3 0 0, rate: 0 0.1 0}",
     "21:10: \"box\" starts with a velocity, but is held by its bay; let it start at rest"},
    {"position: 3 0 0}", "position: 3 0 0, velocity: 0 0 0.1}",
     "21:10: \"box\" starts with a velocity, but is held by its bay; let it start at rest"},
    {"- {body: box,", "- {body: box, bay: yaw,",
     "21:20: \"box\" starts on neither its bay nor the hand; let one of them be its parent"},
    {"- {body: box,", "- {body: box, bay: bag,",
     "21:20: there is no body \"bag\"; the bodies are ship, yaw, elbow, claw, box, can"},
    {"- {name: box, parent: ship", "- {name: box, parent: claw",
     "21:3: payload \"box\" has no bay; name the body that it rides on when the hand does not have it, e.g. bay: orbiter"},
    {"- {name: box, parent: ship", "- {name: box",
     "21:3: payload \"box\" has no bay; name the body that it rides on when the hand does not have it, e.g. bay: orbiter"},
    {"- {name: can, parent: ship", "- {name: can, parent: box",
     "21:10: \"box\" carries \"can\"; a payload is one body"},
    {"- {body: can,", "- {body: box,",
     "22:10: \"box\" is a payload already; remove one"},
    {"- {body: box,", "- {body: box, bay: box,",
     "21:20: \"box\" starts on neither its bay nor the hand; let one of them be its parent"},
    {"- {body: box,", "- {body: box, bay: can,",
     "21:20: \"box\" starts on neither its bay nor the hand; let one of them be its parent"},
    {"  poses: [{name: home,", "  poses: [{name: home-of-a-name-that-is-far-too-long-for-anybody-to-say,",
     "19:18: name cannot be \"home-of-a-name-that-is-far-too-long-for-...\"; a name is a letter, then letters, digits, _ or -, at most 47 in all"},
    {"  poses:", "  vernier: 0\n  poses:",
     "19:12: vernier must be from 0.001 to 1; here is 0"},
    {"  poses:", "  servo: 1e-9 Hz\n  poses:",
     "19:10: servo of 1e-09 Hz comes less than once in a thousand million frames; raise it"},
    {"  poses:", "  resolve: {weak: 1e-200}\n  poses:",
     "19:19: weak must be from 0.0001 to 10000 m; here is 1e-200"},
    {"  poses:", "  resolve: {damping: 0}\n  poses:",
     "19:22: damping must be from 0.0001 to 10000 m; here is 0"},
    {"  poses:", "  resolve: {length: 1e200}\n  poses:",
     "19:21: length must be from 0.0001 to 10000 m; here is 1e+200"},
    {"  poses:", "  capture: {reach: -1}\n  poses:",
     "19:20: reach must be above 0 m; here is -1"},
    {"- {body: can, latched: false}", "- {body: can, latched: maybe}",
     "22:24: latched cannot be \"maybe\"; write false or true"},
    {"- {body: can, latched: false}", "- {body: can, berth: {reach: 0}}",
     "22:30: reach must be above 0 m; here is 0"},
    {"- {body: can, latched: false}", "- {body: can, latched: false, berth: {reach: 1}}",
     "22:38: \"can\" does not start latched in its bay and has no berth; remove this"},
    {"- {body: can, latched: false}", "- {body: can, berth: {speed: 0}}",
     "22:30: speed must be above 0 m/s; here is 0"},
    {"- {body: can, latched: false}", "- {body: can, speed: 0}",
     "22:22: speed must be from 0.001 to 1; here is 0"},
};
// clang-format on

static struct cfg_scenario *scenario;
static struct sim_vehicle *vehicle;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    scenario = NULL;
    vehicle = NULL;
}

void tearDown(void)
{
    free(vehicle);
    cfg_scenario_free(scenario);
    vehicle = NULL;
    scenario = NULL;
}

static const char *edited(const char *good, const char *bad)
{
    static char text[1 << 14];
    const char *at = strstr(good_text, good);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, good);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good_text), good_text, bad,
             at + strlen(good));
    return text;
}

static int load(const char *text)
{
    tearDown();
    return cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error);
}

static void expect_complaint(const char *text, const char *complaint)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, load(text), complaint);
    TEST_ASSERT_EQUAL_STRING_LEN("s.yaml:", error, 7);
    TEST_ASSERT_EQUAL_STRING(complaint, error + 7);
}

static void load_well(const char *text)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, load(text), error);
}

static void place(const char *text)
{
    load_well(text);
    const size_t size = (sim_vehicle_size(&scenario->spec) + 63) / 64 * 64;
    void *mem = aligned_alloc(64, size);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0, size);
    vehicle = sim_vehicle_place(&scenario->spec, mem);
}

/* ---- mistakes ---- */

static void test_the_text_itself_has_no_mistake(void)
{
    load_well(good_text);
}

static void test_every_mistake_is_refused_at_its_place(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        expect_complaint(edited(mistakes[i].good, mistakes[i].bad), mistakes[i].complaint);
}

#define SHIP "- {name: ship, joint: free, mass: 1000, inertia: 900 900 900}\n"
#define BOX  "- {name: box, parent: ship, joint: free, mass: 50, inertia: 9 9 9}\n"
#define CLAW                                                                                       \
    "- {name: claw, parent: ship, joint: {type: revolute, axis: 1 0 0}, mass: 5, inertia: 1 1 "    \
    "1}\n"
#define HELD "- {name: %s, parent: claw, joint: free, mass: 50, inertia: 9 9 9}\n"
#define SPUN                                                                                       \
    "- {name: one, parent: claw, joint: {type: free, rate: 1 0 0}, mass: 50, inertia: 9 9 9}\n"
#define LINKS                                                                                      \
    "links: [{name: hand, protocol: hand, bus: udp, listen: '127.0.0.1:14590', body: claw, "       \
    "modes: [0, 1], " AXES "}]\n"
#define ARM                                                                                        \
    "arm:\n  joints: [{body: claw, stiffness: 1e4, damping: 1e3, max_torque: 100, max_rate: 1}]\n" \
    "  hand: claw\n  translation: {link: hand, speed: 1}\n  rotation: {link: hand, speed: 1}\n"

static void test_an_arm_has_a_joint(void)
{
    expect_complaint("name: a\nbodies:\n" SHIP CLAW LINKS
                     "arm:\n  joints: []\n  hand: claw\n  translation: {link: hand, speed: 1}\n"
                     "  rotation: {link: hand, speed: 1}\n",
                     "7:11: joints is empty; give at least one");
}

static void test_payloads_need_an_arm(void)
{
    expect_complaint("name: a\nbodies:\n" SHIP BOX "payloads: [{body: box}]\n",
                     "5:11: there is no arm that could carry them; add arm, or remove them");
}

static void test_a_payload_stands_behind_the_arm(void)
{
    expect_complaint("name: a\nbodies:\n" SHIP BOX CLAW LINKS ARM "payloads: [{body: box}]\n",
                     "12:19: \"box\" must stand behind the arm and its bay in the list of bodies");
}

static void test_a_hand_has_one_thing(void)
{
    char text[4096];
    snprintf(text, sizeof text,
             "name: a\nbodies:\n" SHIP CLAW HELD HELD LINKS ARM
             "payloads: [{body: one, bay: ship}, {body: two, bay: ship}]\n",
             "one", "two");
    expect_complaint(text, "13:43: the hand has another payload already at the start");
    snprintf(text, sizeof text,
             "name: a\nbodies:\n" SHIP CLAW HELD LINKS ARM "payloads: [{body: one, bay: claw}]\n",
             "one");
    expect_complaint(text, "12:12: payload \"one\" has no bay; name the body that it rides on when "
                           "the hand does not have it, e.g. bay: orbiter");
    snprintf(text, sizeof text,
             "name: a\nbodies:\n" SHIP CLAW HELD LINKS ARM
             "payloads: [{body: one, bay: ship, berth: {reach: 1}}]\n",
             "one");
    expect_complaint(
        text, "12:42: \"one\" does not start latched in its bay and has no berth; remove this");
}

static void test_what_the_hand_has_starts_at_rest_in_it(void)
{
    expect_complaint("name: a\nbodies:\n" SHIP CLAW SPUN LINKS ARM
                     "payloads: [{body: one, bay: ship}]\n",
                     "12:19: \"one\" starts with a velocity, but is held by the hand; let it start "
                     "at rest");
}

static void test_a_servo_may_follow_rates_alone(void)
{
    static char text[sizeof good_text];
    strcpy(text, edited("  poses: [{name: home, angles: 0 10 20 deg}]\n", ""));
    char *at = strstr(text, "stiffness: 1e4, damping");
    TEST_ASSERT_NOT_NULL(at);
    memcpy(at, "stiffness: 0.0", 14);
    load_well(text);
    NEAR(0.0, scenario->spec.arm.joint[0].servo.stiffness);
}

static void test_what_floats_may_start_with_a_velocity(void)
{
    load_well(edited("position: 6 0 0}", "position: 6 0 0, rate: 0 0.1 0, velocity: 1 0 0}"));
}

/* ---- what it becomes ---- */

static void test_what_is_not_said_has_its_default(void)
{
    load_well(good_text);
    const struct sim_arm *arm = &scenario->spec.arm;
    TEST_ASSERT_EQUAL_INT(3, arm->joint_count);
    TEST_ASSERT_EQUAL_INT(0, arm->base);
    TEST_ASSERT_EQUAL_INT(3, arm->hand);
    TEST_ASSERT_EQUAL_UINT32(10, arm->every);
    NEAR(0.1, arm->vernier);
    NEAR(0.02 * PI / 180, arm->still);
    TEST_ASSERT_EQUAL_UINT32(200, arm->panel.settle);
    NEAR(0.1, arm->capture_reach);
    NEAR(15 * PI / 180, arm->capture_tilt);
    NEAR(0.1, arm->capture_speed);
    NEAR(1.0, arm->resolve.length);
    NEAR(0.05, arm->resolve.damped_below);
    NEAR(0.05, arm->resolve.damping);
    NEAR(0.0, arm->resolve.center_gain);
    for (int k = 0; k < 3; k++) {
        TEST_ASSERT_EQUAL_INT(k, arm->translation.control[k]);
        TEST_ASSERT_EQUAL_INT(3 + k, arm->rotation.control[k]);
    }
    for (int k = 0; k < IO_ARM_PANEL_MODE_COUNT; k++)
        TEST_ASSERT_EQUAL_INT(k < 3 ? k : -1, arm->panel.mode[k]);
    for (int k = 0; k < IO_ARM_PANEL_BUTTON_COUNT; k++)
        TEST_ASSERT_EQUAL_INT(-1, arm->panel.button[k]);
    TEST_ASSERT_EQUAL_INT(0, arm->panel.select_count);
    TEST_ASSERT_EQUAL_INT(3, arm->panel.joints);
    TEST_ASSERT_EQUAL_INT(1, arm->panel.poses);
    NEAR(0.05, arm->payload[0].berth_reach);
    NEAR(3 * PI / 180, arm->payload[0].berth_tilt);
    NEAR(0.05, arm->payload[0].berth_speed);
    NEAR(1 * PI / 180, arm->payload[0].berth_rate);
    NEAR(1.0, arm->payload[0].speed);
    TEST_ASSERT_TRUE(arm->payload[0].latched);
    TEST_ASSERT_FALSE(arm->payload[1].latched);
}

static void test_limits_are_the_arms_or_those_of_the_joint_or_none(void)
{
    load_well(good_text);
    const struct sim_arm *arm = &scenario->spec.arm;
    const double lower[3] = {0, -1, -3}, upper[3] = {0, 2, 3};
    for (int n = 0; n < 3; n++) {
        NEAR(lower[n], arm->resolve.lower[n]);
        NEAR(upper[n], arm->resolve.upper[n]);
    }
    NEAR(5 * PI / 180, arm->resolve.braking[0]); /* max_rate in a second */
    NEAR(1 * PI / 180, arm->resolve.braking[1]);
    NEAR(100, arm->joint[0].brake);
    NEAR(50, arm->joint[1].brake);
}

static void test_what_is_said_arrives(void)
{
    load_well(edited("  poses:",
                     "  servo: 50 Hz\n  settle: 3 s\n  vernier: 20 %\n"
                     "  resolve: {length: 5, weak: 0.6, damping: 0.5, center: 5 s}\n"
                     "  buttons: {vernier: 6, brakes: 7, grapple: 8, release: 9, safe: 10, "
                     "next: 11, select: [16, 31]}\n  poses:"));
    const struct sim_arm *arm = &scenario->spec.arm;
    TEST_ASSERT_EQUAL_UINT32(20, arm->every);
    TEST_ASSERT_EQUAL_UINT32(150, arm->panel.settle);
    NEAR(0.2, arm->vernier);
    NEAR(0.2, arm->resolve.center_gain);
    for (int k = 0; k < IO_ARM_PANEL_BUTTON_COUNT; k++)
        TEST_ASSERT_EQUAL_INT(6 + k, arm->panel.button[k]);
    TEST_ASSERT_EQUAL_INT(2, arm->panel.select_count);
    TEST_ASSERT_EQUAL_INT(31, arm->panel.select[1]);
    NEAR(20 * PI / 180, arm->pose[0].angle[2]);
}

static void test_a_berth_is_as_it_is_said(void)
{
    load_well(
        edited("- {body: box,", "- {body: box, berth: {reach: 1, tilt: 2, speed: 3, rate: 4},"));
    const struct sim_payload *payload = &scenario->spec.arm.payload[0];
    NEAR(1.0, payload->berth_reach);
    NEAR(2.0, payload->berth_tilt);
    NEAR(3.0, payload->berth_speed);
    NEAR(4.0, payload->berth_rate);
}

/* ---- configurations ---- */

static void test_a_configuration_is_what_the_hand_has(void)
{
    struct dyn_body_spec specs[6];
    load_well(good_text);
    TEST_ASSERT_EQUAL_INT(3, sim_arm_configuration_count(&scenario->spec));
    TEST_ASSERT_EQUAL_INT(0, sim_arm_first_configuration(&scenario->spec));
    for (int c = 0; c < 3; c++) {
        sim_arm_configuration_specs(&scenario->spec, c, specs);
        for (int i = 0; i < 4; i++)
            TEST_ASSERT_EQUAL_MEMORY(&scenario->spec.bodies[i].spec, &specs[i], sizeof specs[i]);
        TEST_ASSERT_EQUAL_INT(c == 1 ? 3 : 0, specs[4].parent);
        TEST_ASSERT_EQUAL_INT(c == 2 ? 3 : 0, specs[5].parent);
        NEAR(c == 1 ? 0.5 : 0.0, specs[4].place_xyz[0]); /* where the hand grips */
    }
}

static void test_what_starts_in_the_hand_is_the_first_configuration(void)
{
    char text[4096];
    snprintf(text, sizeof text,
             "name: a\nbodies:\n" SHIP CLAW HELD LINKS ARM "payloads: [{body: one, bay: ship}]\n",
             "one");
    place(text);
    TEST_ASSERT_EQUAL_INT(1, sim_arm_first_configuration(&scenario->spec));
    TEST_ASSERT_EQUAL_UINT64(1, vehicle->arm->configuration);
    TEST_ASSERT_EQUAL_PTR(vehicle->models[1], vehicle->plant.model);
    TEST_ASSERT_TRUE(vehicle->held[dyn_model_v_index(vehicle->plant.model, 2)]);
    TEST_ASSERT_FALSE(scenario->spec.arm.payload[0].latched);
}

/* A bay on the node of a boom that bends. */
static void test_a_payload_rides_on_the_node_of_its_bay(void)
{
    struct dyn_body_spec specs[4];
    load_well(
        "name: a\nbodies:\n" SHIP CLAW
        "- {name: shelf, parent: ship, joint: {type: revolute, axis: 0 1 0}, flex: {type: beam, "
        "length: 3, mass: 5, bend_y: {modes: 1, frequency: 2 Hz}, nodes: [{name: tip, x: 3}]}}\n"
        "- {name: box, parent: shelf, joint: {type: free, node: tip}, mass: 50, inertia: 9 9 "
        "9}\n" LINKS ARM "payloads: [{body: box}]\n");
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.bodies[3].spec.node);
    sim_arm_configuration_specs(&scenario->spec, 0, specs);
    TEST_ASSERT_EQUAL_INT(1, specs[3].node);
    sim_arm_configuration_specs(&scenario->spec, 1, specs);
    TEST_ASSERT_EQUAL_INT(0, specs[3].node);
}

/* A vane with a prescribed motion goes on turning when brakes and grapples stop other things. */
static void test_a_blow_stops_only_what_the_arm_holds(void)
{
    place("name: a\nbodies:\n" SHIP CLAW
          "- {name: vane, parent: ship, joint: {type: revolute, axis: 0 1 0, rate: 1 rad/s, "
          "prescribed: 0}, mass: 5, inertia: 1 1 1}\n"
          "- {name: fin, parent: ship, joint: {type: revolute, axis: 0 1 0}, mass: 5, inertia: 1 1 "
          "1}\n" LINKS ARM);
    TEST_ASSERT_EQUAL_UINT8(DYN_IMPACT_FREE, vehicle->blow[0]);
    TEST_ASSERT_EQUAL_UINT8(DYN_IMPACT_STOPPED, vehicle->blow[6]);
    TEST_ASSERT_EQUAL_UINT8(DYN_IMPACT_PRESCRIBED, vehicle->blow[7]);
    TEST_ASSERT_EQUAL_UINT8(DYN_IMPACT_FREE, vehicle->blow[8]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_text_itself_has_no_mistake);
    RUN_TEST(test_every_mistake_is_refused_at_its_place);
    RUN_TEST(test_an_arm_has_a_joint);
    RUN_TEST(test_payloads_need_an_arm);
    RUN_TEST(test_a_payload_stands_behind_the_arm);
    RUN_TEST(test_a_hand_has_one_thing);
    RUN_TEST(test_what_the_hand_has_starts_at_rest_in_it);
    RUN_TEST(test_a_servo_may_follow_rates_alone);
    RUN_TEST(test_what_floats_may_start_with_a_velocity);
    RUN_TEST(test_what_is_not_said_has_its_default);
    RUN_TEST(test_limits_are_the_arms_or_those_of_the_joint_or_none);
    RUN_TEST(test_what_is_said_arrives);
    RUN_TEST(test_a_berth_is_as_it_is_said);
    RUN_TEST(test_a_configuration_is_what_the_hand_has);
    RUN_TEST(test_what_starts_in_the_hand_is_the_first_configuration);
    RUN_TEST(test_a_payload_rides_on_the_node_of_its_bay);
    RUN_TEST(test_a_blow_stops_only_what_the_arm_holds);
    return UNITY_END();
}
