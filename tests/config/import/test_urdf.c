/*
 * URDF read back element by element, and mistakes that people make in one, each refused with the
 * line that names its place.
 */
#include "config/import/urdf.h"
#include "config/scenario.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xmlerror.h>

#include "config/import/xml.h"
#include "config/model_file.h"
#include "unity.h"

/* Every element that is read; the first joint hangs on a later one. */
// clang-format off
static const char arm[] =
    "<?xml version=\"1.0\"?>\n"
    "<!-- an arm, <link name='no link'/> -->\n"
    "<robot name=\"arm\" xmlns:x='http://x'>\n"
    "  <material name=\"grey\"/>\n"
    "  <link name=\"hand\">\n"
    "    <inertial>\n"
    "      <origin xyz=\"0 0.2 0.1\" rpy=\"0 0 1.5707963267948966\"/>\n"
    "      <mass value=\"2\"/>\n"
    "      <inertia ixx=\"1\" iyy=\"2\" izz=\"2.5\" ixy=\"0.25\" ixz=\"0.5\" iyz=\"0\"/>\n"
    "    </inertial>\n"
    "  </link>\n"
    "  <joint name=\"slide\" type=\"prismatic\">\n"
    "    <origin xyz=\"1 2 3\"/>\n"
    "    <parent link=\"upper\"/>\n"
    "    <child link=\"hand\"/>\n"
    "    <axis xyz=\"0 3 4\"/>\n"
    "    <limit lower=\"-0.1\" upper=\"0.2\" effort=\"50\" velocity=\"0.5\"/>\n"
    "    <dynamics damping=\"7\" friction=\"3\"/>\n"
    "  </joint>\n"
    "  <link name=\"base\"/>\n"
    "  <link name=\"upper\">\n"
    "    <inertial><mass value=\"3\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>\n"
    "    <visual><geometry><sphere radius=\"1\"/></geometry></visual>\n"
    "  </link>\n"
    "  <joint name=\"shoulder\" type=\"revolute\">\n"
    "    <origin rpy=\"0.1 0.2 0.3\"/>\n"
    "    <parent link=\"base\"/><child link=\"upper\"/>\n"
    "    <limit lower=\"-1\" upper=\"1.5\" effort=\"10\" velocity=\"2\"/>\n"
    "  </joint>\n"
    "  <link name=\"tool\"><inertial><mass value=\"0.5\"/>\n"
    "    <inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/></inertial></link>\n"
    "  <joint name=\"flange\" type=\"fixed\"><parent link=\"hand\"/><child link=\"tool\"/>"
    "<dynamics damping=\"2\"/></joint>\n"
    "  <link name=\"wheel\"><inertial>\n"
    "    <mass value=\"1\"/><inertia ixx=\"4\" iyy=\"4\" izz=\"4\"/></inertial></link>\n"
    "  <joint name=\"wrist\" type=\"continuous\"><parent link=\"upper\"/><child link=\"wheel\"/>\n"
    "    <limit effort=\"4\" velocity=\"9\"/></joint>\n"
    "  <x:extra>&amp;</x:extra>\n"
    "</robot>\n";

struct mistake {
    const char *good, *bad;
    const char *complaint; /* line:column: what; behind a ~ any words follow */
};

static const struct mistake mistakes[] = {
    /* syntax: the words are libxml2's */
    {"</robot>", "</robt>", "38:8: XML syntax: ~"},
    {"<link name=\"base\"/>", "<link name=base/>", "20:14: XML syntax: ~"},
    {"<link name=\"base\"/>", "<link name=\"base\" name=\"b\"/>", "20:29: XML syntax: ~"},
    {"&amp;", "&who;", "37:17: XML syntax: ~"},
    {"<?xml version=\"1.0\"?>", "<?xml version=\"1.0\" encoding=\"UTF-7\"?>",
     "1:1: the encoding \"UTF-7\" is not read; save the file as UTF-8"},
    {"<!-- an arm", "<!DOCTYPE robot [<!ENTITY e 'x'>]>\n<!--",
     "2:1: document types and entities (<!...>) are not read; remove them"},
    /* elements and attributes */
    {"<material name=\"grey\"/>", "<xacro:include filename=\"a\"/>",
     "4:3: <xacro:include> is xacro, not URDF; run xacro on the file first"},
    {"<material name=\"grey\"/>", "<linq name=\"grey\"/>",
     "4:3: <robot> has no element <linq>; did you mean <link>?"},
    {"      <mass value=\"2\"/>\n", "      <mas value=\"2\"/>\n",
     "8:7: <inertial> has no element <mas>; did you mean <mass>?"},
    {"      <mass value=\"2\"/>\n", "\n", "6:5: <inertial> has no <mass>; add one"},
    {"      <mass value=\"2\"/>\n", "      <mass value=\"2\"/><mass value=\"2\"/>\n",
     "8:24: a second <mass> in <inertial>; the first is in line 8, remove one"},
    {"xyz=\"0 0.2 0.1\" rpy", "xyz=\"0 0.2 0.1\" rpw",
     "7:36: <origin> has no attribute \"rpw\"; did you mean \"rpy\"?"},
    {"<child link=\"hand\"/>", "", "12:3: <joint> has no <child>; add one"},
    {"<child link=\"hand\"/>", "<child/>", "15:5: <child> needs link=\"...\""},
    {"<link name=\"base\"/>", "<link/>", "20:3: <link> needs name=\"...\""},
    {"<link name=\"base\"/>", "<link name=\"\"/>", "20:15: name of <link> is empty"},
    /* numbers */
    {"      <mass value=\"2\"/>\n", "      <mass value=\"two\"/>\n",
     "8:20: value of <mass> wants 1 number; here is \"two\""},
    {"      <mass value=\"2\"/>\n", "      <mass value=\"-2\"/>\n",
     "8:20: value of <mass> must not be negative; here is -2"},
    {"      <mass value=\"2\"/>\n", "      <mass value=\"1e999\"/>\n",
     "8:20: value of <mass> wants 1 number; here is \"1e999\""},
    {"xyz=\"1 2 3\"", "xyz=\"1 2\"", "13:18: xyz of <origin> wants 3 numbers; here is \"1 2\""},
    {"xyz=\"1 2 3\"", "xyz=\"1 2 3 4\"",
     "13:18: xyz of <origin> wants 3 numbers; here is \"1 2 3 4\""},
    {"xyz=\"1 2 3\"", "xyz=\"1 2,3\"",
     "13:18: xyz of <origin> wants 3 numbers; here is \"1 2,3\""},
    {"xyz=\"1 2 3\"", "xyz=\"1 2-3\"",
     "13:18: xyz of <origin> wants 3 numbers; here is \"1 2-3\""},
    {"xyz=\"1 2 3\"", "xyz=\"1 2 nan\"",
     "13:18: xyz of <origin> wants 3 numbers; here is \"1 2 nan\""},
    {"rpy=\"0.1 0.2 0.3\"", "rpy=\"0 0 0\" quat_xyzw=\"0 0 0 1\"",
     "26:36: <origin> has both rpy and quat_xyzw; remove one"},
    {"rpy=\"0.1 0.2 0.3\"", "quat_xyzw=\"0 0 0 1.1\"",
     "26:24: quat_xyzw is not a unit quaternion: its length is 1.1"},
    {"ixx=\"4\"", "ixx=\"9\"",
     "34:22: no body has this inertia: each principal moment is at most the sum of the other two; "
     "check the numbers"},
    {"ixx=\"4\" ", "", "34:22: <inertia> needs ixx=\"...\""},
    {"xyz=\"0 3 4\"", "xyz=\"0 0 0\"", "16:16: the axis has no direction: it is 0 0 0"},
    {"lower=\"-0.1\"", "lower=\"0.3\"", "17:5: <limit> has lower 0.3 above upper 0.2"},
    {"effort=\"50\"", "effort=\"-50\"",
     "17:45: effort of <limit> must not be negative; here is -50"},
    {"damping=\"7\"", "damping=\"-7\"",
     "18:24: damping of <dynamics> must not be negative; here is -7"},
    /* names and the tree */
    {"<link name=\"base\"/>", "<link name=\"base\"/><link name=\"hand\"/>",
     "20:22: there is already a link \"hand\" in line 5; choose another name"},
    {"joint name=\"wrist\"", "joint name=\"slide\"",
     "35:3: there is already a joint \"slide\" in line 12; choose another name"},
    {"<child link=\"hand\"/>", "<child link=\"hnad\"/>",
     "15:18: there is no link \"hnad\"; did you mean \"hand\"?"},
    {"<child link=\"hand\"/>", "<child link=\"somewhere\"/>",
     "15:18: there is no link \"somewhere\""},
    {"type=\"prismatic\"", "type=\"screw\"",
     "12:29: there is no joint type \"screw\"; take fixed, revolute, continuous, "
     "prismatic, floating or planar"},
    {"type=\"prismatic\"", "type=\"planar\"",
     "18:24: a joint that turns and slides has no one damping; remove it"},
    {"type=\"prismatic\"", "type=\"floating\"",
     "18:24: a joint that turns and slides has no one damping; remove it"},
    {"<link name=\"base\"/>", "<link name=\"base\"/><link name=\"moon\"/>",
     "20:22: link \"moon\" hangs on no joint, and neither does \"base\"; a robot has one root"},
    {"<parent link=\"base\"/>", "<parent link=\"upper\"/>",
     "25:3: joint \"shoulder\" hangs in a circle that never meets the root \"base\""},
    {"<child link=\"wheel\"/>", "<child link=\"hand\"/>",
     "35:3: joint \"wrist\" carries link \"hand\", which joint \"slide\" carries already; a URDF is "
     "a tree"},
    {"<child link=\"wheel\"/>", "<child link=\"wheel\"/><mimic joint=\"flange\"/>",
     "35:84: only revolute, continuous and prismatic joints can mimic or lead"},
    {"<child link=\"wheel\"/>", "<child link=\"wheel\"/><mimic joint=\"wrist\"/>",
     "35:98: a joint cannot mimic itself"},
    {"<child link=\"wheel\"/>", "<child link=\"wheel\"/><mimic joint=\"elbow\"/>",
     "35:98: there is no joint \"elbow\""},
    {"type=\"continuous\"><parent link=\"upper\"/>",
     "type=\"planar\"><parent link=\"upper\"/><mimic joint=\"slide\"/>",
     "35:59: only revolute, continuous and prismatic joints can mimic or lead"},
    {"<inertia ixx=\"4\" iyy=\"4\" izz=\"4\"/>", "<inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/>",
     "33:3: link \"wheel\": the joint carries no inertia; check its <inertial> and its joint"},
};

static const struct mistake wholes[] = {
    {NULL, "<sdf version=\"1.6\"/>", "1:1: a URDF begins with <robot>; here is <sdf>"},
    {NULL, "\n <robot name=\"r\"/>", "2:2: the robot has no link; add one"},
    {NULL, "<robot><link name=\"a\"/><joint name=\"j\" type=\"fixed\"><parent link=\"a\"/>"
           "<child link=\"a\"/></joint></robot>",
     "1:24: every link hangs on a joint, so they go in a circle; a robot has one root"},
    {NULL, "<robot>\r\n<!-- \303\251\303\251 --><link/>\r\n</robot>",
     "2:12: <link> needs name=\"...\""},
    {NULL, "\357\273\277<robot><link/></robot>", "1:8: <link> needs name=\"...\""},
    {NULL, "<robot \n xmlns\n=\"u\" xmlns:y='v' nam=\"r\"><link/></robot>",
     "3:23: <robot> has no attribute \"nam\"; did you mean \"name\"?"},
    {NULL, "<robot xmlns:-x='u' nam=\"r\"><link/></robot>",
     "1:26: <robot> has no attribute \"nam\"; did you mean \"name\"?"},
    {NULL, "<robot y:name='u' nam=\"r\"><link/></robot>",
     "1:24: <robot> has no attribute \"nam\"; did you mean \"name\"?"},
    {NULL, "<?xml version='1.0' encoding='ISO-8859-1'?><robot \351='1' nam=\"r\"><link/></robot>",
     "1:62: <robot> has no attribute \"nam\"; did you mean \"name\"?"},
    {NULL, "<robot><![CDATA[<a>]]><?p <b>?><!---> <c> --><link/></robot>",
     "1:46: <link> needs name=\"...\""},
    {NULL, "<robot", "1:7: XML syntax: ~"},
    {NULL, "<", "1:2: XML syntax: ~"},
};
// clang-format on

static struct cfg_load_arena pool;
static struct cfg_model *model;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    pool = (struct cfg_load_arena){0};
    model = NULL;
}

void tearDown(void)
{
    cfg_load_arena_free(&pool);
    cfg_model_free(model);
}

/* The arm with one piece exchanged, which must be in it exactly once. */
static const char *edit(const char *good, const char *bad)
{
    const char *at = strstr(arm, good);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, good);
    TEST_ASSERT_NULL_MESSAGE(strstr(at + 1, good), good);
    char *text = cfg_load_arena_take(&pool, sizeof arm + strlen(bad));
    sprintf(text, "%.*s%s%s", (int)(at - arm), arm, bad, at + strlen(good));
    return text;
}

static const struct cfg_urdf *read_urdf(const char *text)
{
    struct cfg_complaint report = {.path = "r.urdf", .line = error};
    error[0] = '\0';
    const struct cfg_urdf *urdf = cfg_urdf_parse(&pool, text, strlen(text), &report);
    TEST_ASSERT_NOT_NULL_MESSAGE(urdf, error);
    return urdf;
}

static void load(const char *text, enum cfg_base base)
{
    const int status = cfg_model_load_text("r.urdf", text, strlen(text), base, &model, error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, error);
    TEST_ASSERT_EQUAL_STRING("", error);
}

static void expect_complaint(const char *text, enum cfg_base base, const char *complaint)
{
    const size_t known = strcspn(complaint, "~");
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        -EINVAL, cfg_model_load_text("r.urdf", text, strlen(text), base, &model, error), complaint);
    TEST_ASSERT_NULL(model);
    TEST_ASSERT_EQUAL_STRING_LEN("r.urdf:", error, 7);
    TEST_ASSERT_EQUAL_STRING_LEN(complaint, error + 7, known);
    if (complaint[known] == '\0')
        TEST_ASSERT_EQUAL_STRING(complaint, error + 7);
    TEST_ASSERT_NULL(strchr(error, '\n'));
}

/* ---- good files ---- */

static void test_links_are_read_in_file_order(void)
{
    static const char *const names[] = {"hand", "base", "upper", "tool", "wheel"};
    const struct cfg_urdf *urdf = read_urdf(arm);
    TEST_ASSERT_EQUAL_STRING("arm", urdf->name);
    TEST_ASSERT_EQUAL_INT(5, urdf->link_count);
    for (int i = 0; i < 5; i++)
        TEST_ASSERT_EQUAL_STRING(names[i], urdf->links[i].name);
    TEST_ASSERT_EQUAL_INT(20, urdf->links[1].mark.line);
    TEST_ASSERT_EQUAL_INT(3, urdf->links[1].mark.column);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, urdf->links[1].mass);
    TEST_ASSERT_EQUAL_DOUBLE(3.0, urdf->links[2].mass);
}

/* A quarter turn about z: x becomes y, y becomes -x. */
static void test_inertia_is_turned_into_link_axes(void)
{
    const double inertia[6] = {2.0, 1.0, 2.5, -0.25, 0.0, 0.5}, center[3] = {0.0, 0.2, 0.1};
    const struct cfg_urdf_link *hand = &read_urdf(arm)->links[0];
    TEST_ASSERT_EQUAL_DOUBLE(2.0, hand->mass);
    for (int k = 0; k < 6; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, inertia[k], hand->inertia[k]);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(center, hand->center, 3);
}

static void test_joints_are_read_in_file_order(void)
{
    const struct cfg_urdf *urdf = read_urdf(arm);
    const struct cfg_urdf_joint *slide = &urdf->joints[0], *wrist = &urdf->joints[3];
    const double axis[3] = {0.0, 0.6, 0.8}, xyz[3] = {1.0, 2.0, 3.0}, x[3] = {1.0, 0.0, 0.0};
    TEST_ASSERT_EQUAL_INT(4, urdf->joint_count);
    TEST_ASSERT_EQUAL_STRING("slide", slide->name);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_PRISMATIC, slide->type);
    TEST_ASSERT_EQUAL_INT(2, slide->parent);
    TEST_ASSERT_EQUAL_INT(0, slide->child);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(xyz, slide->xyz, 3);
    for (int k = 0; k < 3; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, axis[k], slide->axis[k]);
    TEST_ASSERT_EQUAL_DOUBLE(7.0, slide->damping);
    TEST_ASSERT_EQUAL_DOUBLE(3.0, slide->friction);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FIXED, urdf->joints[2].type);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_REVOLUTE, wrist->type);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(x, wrist->axis, 3);
    TEST_ASSERT_EQUAL_INT(-1, urdf->mimics[3].leader);
}

/* w x y z of Rz(yaw) Ry(pitch) Rx(roll), written out in half angles. */
static void test_rpy_turns_about_fixed_axes(void)
{
    const double cr = cos(0.05), sr = sin(0.05), cp = cos(0.1), sp = sin(0.1), cy = cos(0.15),
                 sy = sin(0.15);
    const double quat[4] = {cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy,
                            cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy};
    const struct cfg_urdf_joint *shoulder = &read_urdf(arm)->joints[1];
    for (int k = 0; k < 4; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, quat[k], shoulder->quat[k]);
}

static void test_an_origin_may_be_a_quaternion(void)
{
    const double quat[4] = {0.6, 0.0, 0.0, -0.8};
    const char *text = edit("rpy=\"0.1 0.2 0.3\"", "quat_xyzw=\"0 0 -0.8 0.6\"");
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(quat, read_urdf(text)->joints[1].quat, 4);
}

static void expect_limit(const struct cfg_urdf_joint *joint, double lower, double upper,
                         double effort, double velocity)
{
    TEST_ASSERT_EQUAL_DOUBLE(lower, joint->limit.lower);
    TEST_ASSERT_EQUAL_DOUBLE(upper, joint->limit.upper);
    TEST_ASSERT_EQUAL_DOUBLE(effort, joint->limit.effort);
    TEST_ASSERT_EQUAL_DOUBLE(velocity, joint->limit.velocity);
}

static void test_limits_are_kept(void)
{
    const double no_bound = HUGE_VAL;
    const struct cfg_urdf *urdf = read_urdf(arm);
    expect_limit(&urdf->joints[0], -0.1, 0.2, 50.0, 0.5);
    expect_limit(&urdf->joints[1], -1.0, 1.5, 10.0, 2.0);
    expect_limit(&urdf->joints[2], -no_bound, no_bound, no_bound, no_bound);
    expect_limit(&urdf->joints[3], -no_bound, no_bound, 4.0, 9.0);
}

static void expect_mimic(const struct cfg_mimic *mimic, int leader, double ratio, double offset)
{
    TEST_ASSERT_EQUAL_INT(leader, mimic->leader);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, ratio, mimic->ratio);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, offset, mimic->offset);
}

#define WRIST_MIMICS(text) edit("<child link=\"wheel\"/>", "<child link=\"wheel\"/>" text)

static void test_mimic_is_read(void)
{
    expect_mimic(
        &read_urdf(WRIST_MIMICS("<mimic joint='slide' multiplier='-2' offset='0.5'/>"))->mimics[3],
        0, -2.0, 0.5);
    expect_mimic(&read_urdf(WRIST_MIMICS("<mimic joint='slide'/>"))->mimics[3], 0, 1.0, 0.0);
}

/* q3 = -2 q1 + 0.5 and q0 = 3 q3 + 0.25, so q0 = -6 q1 + 1.75, wherever they stand. */
static void test_a_joint_that_mimics_a_follower_mimics_its_leader(void)
{
    static const char *const wrist =
        "<child link=\"wheel\"/><mimic joint='shoulder' multiplier='-2' offset='0.5'/>";
    static const char *const slide =
        "<child link=\"hand\"/><mimic joint='wrist' multiplier='3' offset='0.25'/>";
    const char *once = edit("<child link=\"wheel\"/>", wrist);
    char *text = cfg_load_arena_take(&pool, strlen(once) + strlen(slide) + 1);
    const char *at = strstr(once, "<child link=\"hand\"/>");
    sprintf(text, "%.*s%s%s", (int)(at - once), once, slide, at + strlen("<child link=\"hand\"/>"));
    const struct cfg_urdf *urdf = read_urdf(text);
    expect_mimic(&urdf->mimics[3], 1, -2.0, 0.5);
    expect_mimic(&urdf->mimics[0], 1, -6.0, 1.75);
    TEST_ASSERT_EQUAL_INT(-1, urdf->mimics[1].leader);
}

static void test_joints_that_mimic_each_other_are_refused(void)
{
    static const char text[] =
        "<robot><link name='a'/><link name='b'/><link name='c'/>"
        "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
        "<mimic joint='k'/></joint>\n"
        "<joint name='k' type='continuous'><parent link='b'/><child link='c'/>"
        "<mimic joint='j'/></joint></robot>";
    expect_complaint(text, CFG_BASE_FIXED,
                     "1:56: joint \"j\" mimics itself in the end; let one of the circle lead");
}

/* The bodies are base, upper, hand, tool, wheel. */
static void test_a_follower_has_no_coordinate(void)
{
    load(WRIST_MIMICS("<mimic joint='slide' multiplier='-2' offset='0.5'/>"), CFG_BASE_FIXED);
    const struct dyn_mimic *mimic = &model->specs[model->joints[2].body].mimic;
    TEST_ASSERT_EQUAL_INT(2, model->nq);
    TEST_ASSERT_EQUAL_INT(2, model->nv);
    TEST_ASSERT_EQUAL_INT(3, model->joint_count);
    TEST_ASSERT_EQUAL_STRING("wrist", model->joints[2].name);
    TEST_ASSERT_EQUAL_INT(2, model->joints[2].q_first);
    TEST_ASSERT_TRUE(mimic->on);
    TEST_ASSERT_EQUAL_STRING("hand", model->body_names[mimic->leader]);
    TEST_ASSERT_EQUAL_DOUBLE(-2.0, mimic->ratio);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, mimic->offset);
}

static void test_a_planar_joint_slides_along_x_laid_into_its_plane(void)
{
    static const struct {
        const char *axis;
        double axis2[3];
    } cases[] = {{"0 0 2", {1, 0, 0}},
                 {"0 3 4", {1, 0, 0}},
                 {"3 0 4", {0.8, 0, -0.6}},
                 {"1 0 0", {0, 1, 0}},
                 {"-5 0 0", {0, 1, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char joint[128];
        snprintf(joint, sizeof joint, "type='planar'><axis xyz='%s'/>", cases[i].axis);
        const struct cfg_urdf_joint *wrist =
            &read_urdf(edit("type=\"continuous\">", joint))->joints[3];
        TEST_ASSERT_EQUAL_INT(DYN_JOINT_PLANAR, wrist->type);
        for (int k = 0; k < 3; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-15, cases[i].axis2[k], wrist->axis2[k]);
        expect_limit(wrist, -HUGE_VAL, HUGE_VAL, 4.0, 9.0);
    }
}

/* slide 1, shoulder 1, wrist 7: the kernel has shoulder, slide, wrist. */
static void test_joints_of_several_coordinates_keep_the_order_of_the_file(void)
{
    static const int q_at[] = {1, 0, 2, 3, 4, 5, 6, 7, 8}, v_at[] = {1, 0, 2, 3, 4, 5, 6, 7};
    load(edit("type=\"continuous\"", "type='floating'"), CFG_BASE_FIXED);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FREE, model->specs[model->joints[2].body].joint);
    TEST_ASSERT_EQUAL_INT(9, model->nq);
    TEST_ASSERT_EQUAL_INT(8, model->nv);
    TEST_ASSERT_EQUAL_INT_ARRAY(q_at, model->q_at, 9);
    TEST_ASSERT_EQUAL_INT_ARRAY(v_at, model->v_at, 8);
    cfg_model_free(model);
    load(edit("type=\"continuous\"", "type='planar'"), CFG_BASE_FIXED);
    TEST_ASSERT_EQUAL_INT(5, model->nq);
    TEST_ASSERT_EQUAL_INT(5, model->nv);
}

static void test_parents_come_before_children(void)
{
    static const int order[] = {1, 0, 2, 3};
    const struct cfg_urdf *urdf = read_urdf(arm);
    TEST_ASSERT_EQUAL_INT(1, urdf->root);
    TEST_ASSERT_EQUAL_INT_ARRAY(order, urdf->order, 4);
}

static void test_extensions_are_passed_over(void)
{
    read_urdf(edit("<material name=\"grey\"/>",
                   "<gazebo><mass/></gazebo><ros2_control/><unbound:thing unbound:a='1'/>"));
    read_urdf(
        edit("<axis xyz=\"0 3 4\"/>", "<axis xyz=\"0 3 4\"/><drake:rotor_inertia value='1'/>"));
}

/* ---- models ---- */

static void test_a_fixed_base_welds_the_root(void)
{
    static const char *const bodies[] = {"base", "upper", "hand", "tool", "wheel"};
    static const char *const joints[] = {"slide", "shoulder", "wrist"};
    static const int parent[] = {-1, 0, 1, 2, 1}, at[] = {1, 0, 2};
    load(arm, CFG_BASE_UNSAID);
    TEST_ASSERT_EQUAL_INT(5, model->body_count);
    for (int i = 0; i < 5; i++) {
        TEST_ASSERT_EQUAL_STRING(bodies[i], model->body_names[i]);
        TEST_ASSERT_EQUAL_INT(parent[i], model->specs[i].parent);
    }
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FIXED, model->specs[0].joint);
    TEST_ASSERT_EQUAL_DOUBLE(7.0, model->specs[2].force_spec[0].damping);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.034, model->specs[1].place_quat[1]); /* rpy 0.1 0.2 0.3 */
    TEST_ASSERT_EQUAL_INT(3, model->joint_count);
    for (int k = 0; k < 3; k++) {
        TEST_ASSERT_EQUAL_STRING(joints[k], model->joints[k].name);
        TEST_ASSERT_EQUAL_INT(k, model->joints[k].q_first);
    }
    TEST_ASSERT_EQUAL_INT(2, model->joints[0].body);
    TEST_ASSERT_EQUAL_DOUBLE(3.0, model->joints[0].friction);
    TEST_ASSERT_EQUAL_DOUBLE(0.2, model->joints[0].upper);
    TEST_ASSERT_EQUAL_INT(3, model->nq);
    TEST_ASSERT_EQUAL_INT_ARRAY(at, model->q_at, 3);
    TEST_ASSERT_EQUAL_INT_ARRAY(at, model->v_at, 3);
}

static void test_a_free_base_comes_first(void)
{
    static const int q_at[] = {0, 1, 2, 3, 4, 5, 6, 8, 7, 9}, v_at[] = {0, 1, 2, 3, 4, 5, 7, 6, 8};
    load(edit("<link name=\"base\"/>",
              "<link name=\"base\"><inertial><mass value=\"1\"/>"
              "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"),
         CFG_BASE_FREE);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FREE, model->specs[0].joint);
    TEST_ASSERT_EQUAL_STRING("base", model->joints[0].name);
    TEST_ASSERT_EQUAL_INT(10, model->nq);
    TEST_ASSERT_EQUAL_INT(9, model->nv);
    TEST_ASSERT_EQUAL_INT_ARRAY(q_at, model->q_at, 10);
    TEST_ASSERT_EQUAL_INT_ARRAY(v_at, model->v_at, 9);
    TEST_ASSERT_EQUAL_INT(7, model->joints[1].q_first);
    TEST_ASSERT_EQUAL_INT(6, model->joints[1].v_first);
}

/* Bodies in the order of the file, though the kernel has them parent before child. */
static void test_a_scenario_is_a_model_too(void)
{
    static const char text[] =
        "name: a\n"
        "bodies:\n"
        "  - {name: tip, parent: arm, joint: {type: prismatic, axis: 1 0 0},\n"
        "     mass: 1, inertia: 1 1 1}\n"
        "  - {name: arm, parent: bus, joint: {type: revolute, axis: 1 0 0},\n"
        "     mass: 1, inertia: 1 1 1}\n"
        "  - {name: bus, joint: free, mass: 1, inertia: 3 4 5}\n"
        "devices:\n"
        "  - {name: w, type: wheel, body: bus, axis: 0 3 4, inertia: 0.5,\n"
        "     max_torque: 1, max_speed: 1, gain: 1,\n"
        "     command: {link: board, control: 0}}\n"
        "links:\n"
        "  - {name: board, protocol: mavlink, bus: udp,\n"
        "     listen: '127.0.0.1:14560', body: bus}\n";
    static const int q_at[] = {0, 1, 2, 3, 4, 5, 6, 8, 7};
    static const char *const names[] = {"bus", "tip", "arm"};
    const double locked[6] = {3.0, 4.0, 5.0, 0.0, 0.0, 0.0};
    load(text, CFG_BASE_UNSAID);
    TEST_ASSERT_EQUAL_INT(9, model->nq);
    TEST_ASSERT_EQUAL_INT_ARRAY(q_at, model->q_at, 9);
    for (int k = 0; k < 3; k++)
        TEST_ASSERT_EQUAL_STRING(names[k], model->joints[k].name);
    for (int k = 0; k < 6; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, locked[k], model->specs[0].inertia[k]);
    cfg_model_free(model);
    expect_complaint(text, CFG_BASE_FREE,
                     " --base is for URDF; a scenario says itself which body is free");
    expect_complaint("name: a\nbodis: []\n", CFG_BASE_UNSAID, "2:1: ~");
}

/* ---- bad files ---- */

static void test_every_mistake_is_refused_at_its_place(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        expect_complaint(edit(mistakes[i].good, mistakes[i].bad), CFG_BASE_FIXED,
                         mistakes[i].complaint);
}

static void test_texts_that_are_no_robot_are_refused(void)
{
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++)
        expect_complaint(wholes[i].bad, CFG_BASE_UNSAID, wholes[i].complaint);
}

static void test_a_free_base_needs_inertia(void)
{
    expect_complaint(arm, CFG_BASE_FREE,
                     "20:3: link \"base\": its joint and those further out can move without moving "
                     "any mass; check its <inertial> and its joint");
}

static void test_a_byte_0_is_no_text(void)
{
    static const char text[] = "<robot><link name=\"a\"/>\0</robot>";
    TEST_ASSERT_EQUAL_INT(-EINVAL, cfg_model_load_text("r.urdf", text, sizeof text - 1,
                                                       CFG_BASE_FIXED, &model, error));
    TEST_ASSERT_EQUAL_STRING("r.urdf: the file is not text (it has a zero byte); save it as UTF-8",
                             error);
}

static void hear(void *self, const char *format, ...)
{
    (void)self, (void)format;
}

/* The XML library has one place for complaints, and it is not ours. */
static void test_an_error_handler_of_the_xml_library_stays_in_place(void)
{
    int listener;
    xmlSetGenericErrorFunc(&listener, hear);
    struct cfg_load_arena own = {0};
    char complaint[CFG_ERROR_MAX] = "";
    struct cfg_complaint report = {.path = "a.urdf", .line = complaint};
    TEST_ASSERT_NOT_NULL(cfg_xml_parse(&own, "<robot/>", 8, &report));
    cfg_load_arena_free(&own);
    TEST_ASSERT_TRUE(xmlGenericError == hear);
    TEST_ASSERT_EQUAL_PTR(&listener, xmlGenericErrorContext);
    xmlSetGenericErrorFunc(NULL, NULL);
}

static void test_huge_and_deep_files_are_refused(void)
{
    const size_t size = CFG_XML_TEXT_MAX + 1;
    char *text = malloc(size + 1);
    TEST_ASSERT_NOT_NULL(text);
    memset(text, ' ', size);
    text[0] = '<';
    text[size] = '\0';
    expect_complaint(text, CFG_BASE_FIXED, " more than 16777216 bytes; is this the right file?");

    for (size_t i = 0; i < 300; i++)
        memcpy(text + 3 * i, "<a>", 3);
    text[900] = '\0';
    expect_complaint(text, CFG_BASE_FIXED, "1:~");

    for (size_t i = 0; i <= CFG_XML_ELEMENTS_MAX; i++)
        memcpy(text + 4 * i, "<a/>", 4);
    text[4 * (CFG_XML_ELEMENTS_MAX + 1)] = '\0';
    expect_complaint(text, CFG_BASE_FIXED,
                     "1:4194305: more than 1048576 elements; is this a robot?");
    free(text);
}

/* libxml2 compares each attribute of an element with every other. */
static void test_an_element_with_endless_attributes_is_refused(void)
{
    enum { COUNT = 100000, WIDTH = 11 };
    char *text = malloc(COUNT * WIDTH + 64);
    TEST_ASSERT_NOT_NULL(text);
    size_t size = (size_t)sprintf(text, "<robot>\n <link name='a'");
    for (int i = 0; i < COUNT; i++)
        size += (size_t)sprintf(text + size, " x%06d=''", i);
    sprintf(text + size, "/></robot>");
    expect_complaint(text, CFG_BASE_FIXED,
                     "2:2: more than 256 attributes in one element; is this a robot?");
    /* as many as there may be */
    size = (size_t)sprintf(text, "<robot><link name='a'");
    for (int i = 1; i < CFG_XML_ATTRIBUTES_MAX; i++)
        size += (size_t)sprintf(text + size, " x%06d='>'", i);
    sprintf(text + size, "/></robot>");
    load(text, CFG_BASE_FIXED);
    free(text);
}

/* A chain of as many links as there may be, the last one first. */
static void test_a_long_chain_loads_in_any_order(void)
{
    enum { LINKS = CFG_URDF_LINKS_MAX };
    char *text = malloc((size_t)LINKS * 400);
    TEST_ASSERT_NOT_NULL(text);
    size_t size = (size_t)sprintf(text, "<robot><link name='l0'/>");
    for (int i = LINKS - 1; i > 0; i--)
        size += (size_t)sprintf(
            text + size,
            "<link name='l%d'><inertial><origin xyz='0 0 .5'/><mass value='1'/>"
            "<inertia ixx='.1' iyy='.1' izz='.1'/></inertial></link>"
            "<joint name='j%d' type='continuous'><origin xyz='0 0 1'/><axis xyz='1 0 0'/>"
            "<parent link='l%d'/><child link='l%d'/></joint>",
            i, i, i - 1, i);
    sprintf(text + size, "</robot>");
    load(text, CFG_BASE_FIXED);
    free(text);
    TEST_ASSERT_EQUAL_INT(LINKS - 1, model->nq);
    for (int k = 0; k < LINKS - 1; k++)
        TEST_ASSERT_EQUAL_INT(LINKS - 2 - k, model->q_at[k]);
}

static void test_files_that_cannot_be_read_are_one_line(void)
{
    TEST_ASSERT_EQUAL_INT(-ENOENT, cfg_model_load("no/where.urdf", CFG_BASE_FIXED, &model, error));
    TEST_ASSERT_EQUAL_STRING("no/where.urdf: there is no such file; check the path", error);
    TEST_ASSERT_EQUAL_INT(-EISDIR, cfg_model_load("/", CFG_BASE_FIXED, &model, error));
    TEST_ASSERT_EQUAL_STRING("/: this is a directory; name the model file in it", error);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_links_are_read_in_file_order);
    RUN_TEST(test_inertia_is_turned_into_link_axes);
    RUN_TEST(test_joints_are_read_in_file_order);
    RUN_TEST(test_rpy_turns_about_fixed_axes);
    RUN_TEST(test_an_origin_may_be_a_quaternion);
    RUN_TEST(test_limits_are_kept);
    RUN_TEST(test_mimic_is_read);
    RUN_TEST(test_a_joint_that_mimics_a_follower_mimics_its_leader);
    RUN_TEST(test_joints_that_mimic_each_other_are_refused);
    RUN_TEST(test_a_follower_has_no_coordinate);
    RUN_TEST(test_a_planar_joint_slides_along_x_laid_into_its_plane);
    RUN_TEST(test_joints_of_several_coordinates_keep_the_order_of_the_file);
    RUN_TEST(test_parents_come_before_children);
    RUN_TEST(test_extensions_are_passed_over);
    RUN_TEST(test_a_fixed_base_welds_the_root);
    RUN_TEST(test_a_free_base_comes_first);
    RUN_TEST(test_a_scenario_is_a_model_too);
    RUN_TEST(test_every_mistake_is_refused_at_its_place);
    RUN_TEST(test_texts_that_are_no_robot_are_refused);
    RUN_TEST(test_a_free_base_needs_inertia);
    RUN_TEST(test_a_byte_0_is_no_text);
    RUN_TEST(test_an_error_handler_of_the_xml_library_stays_in_place);
    RUN_TEST(test_huge_and_deep_files_are_refused);
    RUN_TEST(test_an_element_with_endless_attributes_is_refused);
    RUN_TEST(test_a_long_chain_loads_in_any_order);
    RUN_TEST(test_files_that_cannot_be_read_are_one_line);
    return UNITY_END();
}
