/*
 * A URDF as part of a scenario: its links are bodies, and what the scenario adds comes on top.
 */
#include "config/scenario.h"
#include "tests/config/loaded.h"

// clang-format off
static const char arm[] =
    "<robot name='arm'>\n"
    "  <material name='steel'><color rgba='0.1 0.2 0.3 0.4'/></material>\n"
    "  <link name='hand'>\n"
    "    <inertial><origin xyz='0 0.1 0'/><mass value='2'/>\n"
    "      <inertia ixx='1' iyy='2' izz='2.5'/></inertial>\n"
    "    <visual><origin xyz='0 0 0.5' rpy='0 0 3.141592653589793'/>\n"
    "      <geometry><box size='1 2 3'/></geometry><material name='steel'/></visual>\n"
    "    <visual><geometry><mesh filename='hand.stl'/></geometry></visual>\n"
    "    <visual><geometry><cylinder radius='0.1' length='4'/></geometry></visual>\n"
    "  </link>\n"
    "  <joint name='slide' type='prismatic'>\n"
    "    <origin xyz='1 2 3'/><parent link='upper'/><child link='hand'/><axis xyz='0 3 4'/>\n"
    "    <limit lower='-0.1' upper='0.2' effort='50' velocity='0.5'/>\n"
    "    <dynamics damping='7' friction='3'/>\n"
    "  </joint>\n"
    "  <link name='base'/>\n"
    "  <link name='upper'>\n"
    "    <inertial><mass value='3'/><inertia ixx='1' iyy='1' izz='1'/></inertial>\n"
    "    <visual><geometry><sphere radius='0.2'/></geometry>\n"
    "      <material name=''><color rgba='1 0 0 1'/></material></visual>\n"
    "  </link>\n"
    "  <joint name='shoulder' type='revolute'>\n"
    "    <origin rpy='0 0 1.5707963267948966'/><parent link='base'/><child link='upper'/>\n"
    "    <axis xyz='0 1 0'/><limit lower='-1' upper='1.5' effort='10' velocity='2'/>\n"
    "  </joint>\n"
    "  <link name='twin'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\n"
    "  <joint name='copy' type='continuous'><parent link='upper'/><child link='twin'/>\n"
    "    <mimic joint='shoulder' multiplier='-2' offset='0.5'/></joint>\n"
    "</robot>\n";
// clang-format on

static const void *find(void *context, const char *name, size_t *size)
{
    const char *text = context;
    *size = strlen(text);
    return strcmp(name, "arm.urdf") == 0 ? text : NULL;
}

static int load_with(const char *urdf, const char *text)
{
    const struct cfg_file_source shelf = {.find = find, .context = (void *)urdf};
    cfg_scenario_free(scenario);
    return cfg_scenario_load_logged("s.yaml", text, strlen(text), NULL, 0, &shelf, &scenario,
                                    error);
}

static void load_arm(const char *text)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, load_with(arm, text), error);
}

static int index_of(const char *name)
{
    for (int i = 0; i < scenario->spec.body_count; i++)
        if (strcmp(scenario->spec.bodies[i].name, name) == 0)
            return i;
    TEST_FAIL_MESSAGE(name);
    return -1;
}

static const struct sim_body *body(const char *name)
{
    return &scenario->spec.bodies[index_of(name)];
}

static void test_links_are_bodies(void)
{
    load_arm("name: s\nurdf: arm.urdf\n");
    TEST_ASSERT_EQUAL_INT(4, scenario->spec.body_count);
    TEST_ASSERT_EQUAL_INT(0, index_of("base"));
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FIXED, body("base")->spec.joint);
    TEST_ASSERT_EQUAL_INT(-1, body("base")->spec.parent);
    const struct sim_body *upper = body("upper"), *hand = body("hand");
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_REVOLUTE, upper->spec.joint);
    TEST_ASSERT_EQUAL_INT(0, upper->spec.parent);
    EXPECT_VECTOR(upper->spec.axis, 0, 1, 0);
    EXPECT_VECTOR(upper->spec.place_quat, sqrt(0.5), 0, 0, sqrt(0.5));
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_PRISMATIC, hand->spec.joint);
    TEST_ASSERT_EQUAL_INT(index_of("upper"), hand->spec.parent);
    EXPECT_VECTOR(hand->spec.axis, 0, 0.6, 0.8);
    EXPECT_VECTOR(hand->spec.place_xyz, 1, 2, 3);
    EXPECT_VECTOR(hand->spec.center, 0, 0.1, 0);
    EXPECT_VECTOR(hand->spec.inertia, 1, 2, 2.5, 0, 0, 0);
    NEAR(2.0, hand->spec.mass);
}

static void test_damping_and_friction_act_and_limits_are_reported(void)
{
    load_arm("name: s\nurdf: arm.urdf\n");
    const struct sim_body *hand = body("hand"), *twin = body("twin");
    NEAR(7.0, hand->spec.force_spec[0].damping);
    NEAR(3.0, hand->spec.force_spec[0].coulomb);
    NEAR(0.01, hand->spec.force_spec[0].coulomb_speed);
    NEAR(0.0, hand->spec.force_spec[0].limit_stiffness);
    NEAR(-0.1, hand->range.lower);
    NEAR(0.2, hand->range.upper);
    NEAR(0.5, hand->range.velocity);
    NEAR(50.0, hand->range.effort);
    TEST_ASSERT_TRUE(twin->range.lower == -HUGE_VAL && twin->range.effort == HUGE_VAL);
    TEST_ASSERT_TRUE(body("base")->range.upper == HUGE_VAL);
}

static void test_a_joint_that_mimics_follows_the_body_that_its_leader_carries(void)
{
    load_arm("name: s\nurdf: arm.urdf\n");
    const struct dyn_mimic *mimic = &body("twin")->spec.mimic;
    TEST_ASSERT_TRUE(mimic->on);
    TEST_ASSERT_EQUAL_INT(index_of("upper"), mimic->leader);
    NEAR(-2.0, mimic->ratio);
    NEAR(0.5, mimic->offset);
}

static void test_visuals_are_shapes_but_for_meshes(void)
{
    load_arm("name: s\nurdf: arm.urdf\n");
    const struct sim_body *hand = body("hand"), *upper = body("upper");
    TEST_ASSERT_TRUE(hand->has_solids && upper->has_solids && !body("twin")->has_solids);
    TEST_ASSERT_EQUAL_INT(2, hand->solid_count);
    TEST_ASSERT_EQUAL_INT(SIM_SOLID_BOX, hand->solids[0].type);
    EXPECT_VECTOR(hand->solids[0].at, 0, 0, 0.5);
    EXPECT_VECTOR(hand->solids[0].attitude, 0, 0, 0, 1);
    EXPECT_VECTOR(hand->solids[0].size, 1, 2, 3);
    EXPECT_VECTOR(hand->solids[0].color, 0.1, 0.2, 0.3);
    NEAR(0.4, hand->solids[0].opacity);
    TEST_ASSERT_EQUAL_INT(SIM_SOLID_CYLINDER, hand->solids[1].type);
    EXPECT_VECTOR(hand->solids[1].size, 0.2, 0.2, 4);
    TEST_ASSERT_FALSE(hand->solids[1].painted);
    TEST_ASSERT_EQUAL_INT(SIM_SOLID_SPHERE, upper->solids[0].type);
    EXPECT_VECTOR(upper->solids[0].color, 1, 0, 0);
}

static void test_joints_add_what_the_urdf_does_not_say(void)
{
    load_arm("name: s\nurdf: arm.urdf\njoints:\n"
             "- {name: shoulder, angle: 90 deg, rate: 1 rpm, damping: 2, friction: 0.5,\n"
             "   limits: {stiffness: 100, upper: 1}, motor: {ratio: 100, inertia: 1e-5}}\n"
             "- {name: hand, type: slide, position: 5 cm, stiffness: 9}\n");
    const struct sim_body *upper = body("upper"), *hand = body("hand");
    NEAR(PI / 2, upper->position[0]);
    NEAR(PI / 30, upper->velocity[0]);
    NEAR(2.0, upper->spec.force_spec[0].damping);
    NEAR(0.5, upper->spec.force_spec[0].coulomb);
    NEAR(100.0, upper->spec.force_spec[0].limit_stiffness);
    NEAR(-1.0, upper->spec.force_spec[0].lower);
    NEAR(1.0, upper->spec.force_spec[0].upper);
    NEAR(-1.0, upper->range.lower);
    NEAR(1.0, upper->range.upper);
    NEAR(2.0, upper->range.velocity);
    NEAR(100.0, upper->spec.rotor.ratio);
    NEAR(0.05, hand->position[0]);
    NEAR(9.0, hand->spec.force_spec[0].stiffness);
    NEAR(7.0, hand->spec.force_spec[0].damping);
    NEAR(3.0, hand->spec.force_spec[0].coulomb);
}

static void test_a_root_can_be_free_or_sit_on_a_body_and_bodies_can_sit_on_links(void)
{
    load_arm("name: s\nurdf: {file: arm.urdf, base: free, at: 1 2 3, attitude: {yaw: 180 deg}}\n"
             "bodies: [{name: tool, parent: hand, joint: fixed, mass: 1, inertia: 1 1 1}]\n");
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FREE, body("base")->spec.joint);
    EXPECT_VECTOR(body("base")->position, 1, 2, 3, 0, 0, 0, 1);
    TEST_ASSERT_EQUAL_INT(index_of("hand"), body("tool")->spec.parent);

    load_arm("name: s\nurdf: {file: arm.urdf, parent: bus, at: 1 2 3}\n"
             "bodies: [{name: bus, joint: free, mass: 9, inertia: 1 1 1}]\n");
    TEST_ASSERT_EQUAL_INT(index_of("bus"), body("base")->spec.parent);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FIXED, body("base")->spec.joint);
    EXPECT_VECTOR(body("base")->spec.place_xyz, 1, 2, 3);
}

static void test_the_file_is_kept_for_the_log(void)
{
    load_arm("name: s\nurdf: arm.urdf\n");
    TEST_ASSERT_NOT_NULL(scenario->urdf);
    TEST_ASSERT_EQUAL_PTR(scenario->urdf, scenario->files);
    TEST_ASSERT_EQUAL_STRING("arm.urdf", scenario->urdf->name);
    TEST_ASSERT_EQUAL_STRING(arm, scenario->urdf->text);
    load("name: s\nbodies: [{name: bus, joint: free, mass: 9, inertia: 1 1 1}]\n");
    TEST_ASSERT_NULL(scenario->urdf);
}

/* ---- mistakes ---- */

struct mistake {
    const char *urdf; /* NULL: the arm */
    const char *text;
    const char *complaint;
};

#define BEGIN "name: s\nurdf: arm.urdf\n"
#define FLOWN(joint)                                                                               \
    BEGIN "links: [{name: stick, protocol: hand, device: d, body: upper, modes: [0, 1],\n"         \
          "         axes: [{axis: x, control: 0}]}]\n"                                             \
          "arm:\n"                                                                                 \
          "  joints: [{body: upper, stiffness: 1, damping: 1, " joint "}]\n"                       \
          "  hand: upper\n"                                                                        \
          "  translation: {link: stick, controls: [0, 0, 0], speed: 1}\n"                          \
          "  rotation: {link: stick, controls: [0, 0, 0], speed: 1}\n"
// clang-format off
static const struct mistake mistakes[] = {
    {NULL, "name: s\nurdf: leg.urdf\n",
     "s.yaml:2:7: leg.urdf: the log does not carry this file; run again"},
    {NULL, "name: s\nurdf: {base: free}\n",
     "s.yaml:2:7: urdf needs \"file\" (as seen from the scenario's folder; a log carries it); write "
     "e.g. file: arm7.urdf"},
    {NULL, "name: s\nurdf: {file: arm.urdf, parent: bus}\n",
     "s.yaml:2:32: there is no body \"bus\"; the bodies are base, upper, hand, twin"},
    {NULL, "name: s\njoints: [{name: elbow}]\nbodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\n",
     "s.yaml:2:9: joints is for those of a urdf, and there is none; of bodies write joint"},
    {NULL, "name: s\n",
     "s.yaml:1:1: a scenario needs \"bodies\" (the vehicle, as a tree); write e.g. bodies: [{name: "
     "bus, joint: free, mass: 120 kg, inertia: 12 14 10 kg m^2}]"},
    {NULL, BEGIN "joints: [{name: sholder}]\n",
     "s.yaml:3:17: the URDF has no joint \"sholder\"; did you mean \"shoulder\"?"},
    {NULL, BEGIN "joints: [{name: knee}]\n",
     "s.yaml:3:17: the URDF has no joint \"knee\"; name one of it, or the link it carries"},
    {NULL, BEGIN "joints: [{name: hand, damping: 1}]\n",
     "s.yaml:3:10: joint \"hand\" slides; write type: slide"},
    {NULL, BEGIN "joints: [{name: upper, type: slide}]\n",
     "s.yaml:3:30: joint \"upper\" turns; write type: turn"},
    {NULL, BEGIN "joints: [{name: upper, position: 1 m}]\n",
     "s.yaml:3:24: unknown key \"position\" in a joint that turns; it takes name, type, motor, "
     "stiffness, damping, rest, angle, rate, friction, limits, locked, prescribed"},
    {NULL, BEGIN "joints: [{name: upper}, {name: shoulder}]\n",
     "s.yaml:3:32: joint \"shoulder\" is in the list already, in line 3; remove one"},
    {NULL, BEGIN "joints: [{name: copy, angle: 1}]\n",
     "s.yaml:3:30: angle means nothing for a joint that mimics another; remove it"},
    {NULL, BEGIN "joints: [{name: upper, locked: true, rate: 1}]\n",
     "s.yaml:3:44: what is locked does not move; remove rate or locked"},
    {NULL, BEGIN "bodies: [{name: upper, joint: fixed, mass: 1, inertia: 1 1 1}]\n",
     "s.yaml:3:17: there is already a body \"upper\"; choose another name"},
    {"<robot>\n<link nam='a'/></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:1: <link> needs name=\"...\""},
    {"<robot>\n<link name='a b'/></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:1: link \"a b\" cannot be a body; a body's name is a letter, then "
     "letters, digits, _ or -, at most 47 in all"},
    {"<robot><link name='a'>\n<visual/></link></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:1: <visual> has no <geometry>; add one"},
    {"<robot><link name='a'><visual>\n<geometry><box size='1 2'/></geometry></visual></link></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:22: size of <box> wants 3 numbers; here is \"1 2\""},
    {"<robot><link name='a'><visual>\n<geometry><sphere radius='0'/></geometry></visual></link></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:27: radius of <sphere> must be above 0; here is 0"},
    {"<robot><link name='a'><visual>\n<geometry><spere radius='1'/></geometry></visual></link></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:11: <geometry> has no element <spere>; did you mean <sphere>?"},
    {"<robot><link name='a'><visual><geometry><sphere radius='1'/></geometry>\n"
     "<material><color rgba='1 2 3 4'/></material></visual></link></robot>", BEGIN,
     "s.yaml:2:7: arm.urdf:2:24: rgba of <color> wants numbers from 0 to 1; here is 2"},
    {"<robot><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
     "<parent link='a'/><child link='b'/></joint></robot>", BEGIN,
     "s.yaml:2:7: body \"b\": ~"},
    {"<robot><link name='a'/><link name='b'><inertial><mass value='1'/>"
     "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='continuous'>"
     "<parent link='a'/><child link='b'/></joint></robot>",
     BEGIN "joints: [{name: j, limits: {stiffness: 9}}]\n",
     "s.yaml:3:28: limits has neither lower nor upper; give one or both"},
    {NULL, FLOWN("max_torque: 10.1, max_rate: 1"),
     "s.yaml:6:64: max_torque of 10.1 N m is above the 10 N m that the URDF allows; lower it"},
    {NULL, FLOWN("max_torque: 1, max_rate: 2.1"),
     "s.yaml:6:77: max_rate of 2.1 rad/s is above the 2 rad/s that the URDF allows; lower it"},
    {NULL, FLOWN("max_torque: 1, max_rate: 2, upper: 1.6"),
     "s.yaml:6:87: upper of 1.6 rad (91.6732 deg) lies outside the joint's own range, -1 rad (-57.2958 deg) to 1.5 rad (85.9437 deg)"},
};
// clang-format on

static void test_mistakes_are_refused_at_their_place(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *mistake = &mistakes[i];
        const char *open = strchr(mistake->complaint, '~'); /* any words follow */
        TEST_ASSERT_NOT_EQUAL_INT(
            0, load_with(mistake->urdf != NULL ? mistake->urdf : arm, mistake->text));
        if (open != NULL)
            error[open - mistake->complaint] = '~', error[open - mistake->complaint + 1] = '\0';
        TEST_ASSERT_EQUAL_STRING(mistake->complaint, error);
    }
}

static void test_an_arm_keeps_to_what_the_urdf_allows(void)
{
    load_arm(FLOWN("max_torque: 10, max_rate: 114.5916 deg/s, lower: -0.5"));
    NEAR(-0.5, scenario->spec.arm.resolve.lower[0]);
    NEAR(1.5, scenario->spec.arm.resolve.upper[0]);
}

/* Of torque and rate 0 is what a URDF has that knows neither. */
static void test_what_a_urdf_does_not_know_limits_no_arm(void)
{
    static const char plain[] =
        "<robot name='a'><link name='base'/><link name='upper'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='revolute'>"
        "<parent link='base'/><child link='upper'/><axis xyz='0 1 0'/>"
        "<limit lower='-1' upper='1' effort='0' velocity='0'/></joint></robot>";
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, load_with(plain, FLOWN("max_torque: 10, max_rate: 1")), error);
    NEAR(1.0, scenario->spec.arm.resolve.rate_max[0]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_links_are_bodies);
    RUN_TEST(test_damping_and_friction_act_and_limits_are_reported);
    RUN_TEST(test_a_joint_that_mimics_follows_the_body_that_its_leader_carries);
    RUN_TEST(test_visuals_are_shapes_but_for_meshes);
    RUN_TEST(test_joints_add_what_the_urdf_does_not_say);
    RUN_TEST(test_a_root_can_be_free_or_sit_on_a_body_and_bodies_can_sit_on_links);
    RUN_TEST(test_the_file_is_kept_for_the_log);
    RUN_TEST(test_mistakes_are_refused_at_their_place);
    RUN_TEST(test_an_arm_keeps_to_what_the_urdf_allows);
    RUN_TEST(test_what_a_urdf_does_not_know_limits_no_arm);
    return UNITY_END();
}
