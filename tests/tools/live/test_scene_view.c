/*
 * The picture of a vehicle: a body's box has the body's inertia, however it lies.
 */
#include "config/scenario.h"
#include "tools/airbearing/live/scene_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "unity.h"

static struct sim_body body;
static struct cfg_scenario scenario;
static struct io_byte_writer image;

void setUp(void)
{
    memset(&body, 0, sizeof body);
    memset(&scenario, 0, sizeof scenario);
    strcpy(body.name, "bus");
    body.spec = (struct dyn_body_spec){.parent = -1,
                                       .joint = DYN_JOINT_FREE,
                                       .place_quat = {1.0, 0.0, 0.0, 0.0},
                                       .mass = 3.0,
                                       .center = {0.1, 0.2, 0.3}};
    scenario.spec.bodies = &body;
    scenario.spec.body_count = 1;
}

void tearDown(void)
{
    io_byte_writer_free(&image);
}

static double number_at(size_t at)
{
    double value;
    TEST_ASSERT_TRUE(at + sizeof value <= image.size);
    memcpy(&value, image.data + at, sizeof value);
    return value;
}

/* Inertia of a box with these sides and this turn, about its centre. */
static void box_inertia(const double side[3], struct dyn_quat turn, double inertia[6])
{
    const struct dyn_mat3 E = dyn_quat_to_child(turn);
    const double a = side[0] * side[0], b = side[1] * side[1], c = side[2] * side[2];
    const struct dyn_sym3 own = {
        .xx = 3.0 * (b + c) / 12, .yy = 3.0 * (a + c) / 12, .zz = 3.0 * (a + b) / 12};
    const struct dyn_sym3 turned = dyn_sym3_to_parent(&own, &E);
    const double all[6] = {turned.xx, turned.yy, turned.zz, turned.xy, turned.xz, turned.yz};
    memcpy(inertia, all, sizeof all);
}

static void check_box(const double side[3], struct dyn_quat turn)
{
    box_inertia(side, dyn_quat_unit(turn), body.spec.inertia);
    struct scene_view *scene = scene_view_create(&scenario);
    io_byte_writer_clear(&image);
    scene_view_static(scene, 0, &image);
    scene_view_free(scene);
    /* counts 8, time 8, "bus" twice 16, lifetime 8, locked 1+3, metadata 4, arrows 4, cubes 4 */
    const size_t pose = 56;
    const double drawn_side[3] = {number_at(pose + 56), number_at(pose + 64), number_at(pose + 72)};
    const struct dyn_quat drawn = {number_at(pose + 48), number_at(pose + 24), number_at(pose + 32),
                                   number_at(pose + 40)};
    double inertia[6];
    box_inertia(drawn_side, drawn, inertia);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0, dyn_quat_square(drawn));
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, body.spec.inertia[i], inertia[i]);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, body.spec.center[i], number_at(pose + 8 * (size_t)i));
}

static void test_a_box_has_the_inertia_of_its_body(void)
{
    static const double sides[][3] = {{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {2, 1, 3}, {1, 1, 1}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        for (int k = 0; k < 200; k++) {
            const struct dyn_quat turn = {cos(k), sin(1.7 * k), cos(2.3 * k), sin(0.3 * k)};
            check_box(sides[i], turn);
        }
        check_box(sides[i], (struct dyn_quat){.w = 1.0});
        check_box(sides[i], (struct dyn_quat){.x = 1.0, .y = -1.0});
        check_box(sides[i], (struct dyn_quat){.z = 1.0, .y = -1.0});
    }
}

static void test_a_body_is_where_its_coordinates_say(void)
{
    const double q[7] = {1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5};
    body.spec.inertia[0] = body.spec.inertia[1] = body.spec.inertia[2] = 1.0;
    struct scene_view *scene = scene_view_create(&scenario);
    scene_view_transforms(scene, q, 2500000001, &image);
    TEST_ASSERT_FALSE(scene_view_has_flex(scene));
    scene_view_free(scene);
    /* count, seconds, nanoseconds */
    const uint32_t head[3] = {1, 2, 500000001};
    TEST_ASSERT_EQUAL_MEMORY(head, image.data, sizeof head);
    TEST_ASSERT_EQUAL_MEMORY("\6\0\0\0world\0\0\0\4\0\0\0bus", image.data + 12, 20);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_DOUBLE(q[i], number_at(32 + 8 * (size_t)i));
    for (int i = 0; i < 4; i++) /* x y z w */
        TEST_ASSERT_EQUAL_DOUBLE(q[3 + (i + 1) % 4], number_at(56 + 8 * (size_t)i));
    TEST_ASSERT_EQUAL_size_t(88, image.size);
}

/* North is a map's y, east its x, down its -z: half a turn about x = y. */
static void test_where_down_is_z_the_world_stands_on_its_head_in_a_map(void)
{
    const double q[7] = {[3] = 1.0};
    body.spec.inertia[0] = body.spec.inertia[1] = body.spec.inertia[2] = 1.0;
    scenario.spec.environment.gravity[2] = 9.81;
    struct scene_view *scene = scene_view_create(&scenario);
    scene_view_transforms(scene, q, 0, &image);
    scene_view_free(scene);
    TEST_ASSERT_EQUAL_UINT8(2, image.data[0]);
    TEST_ASSERT_EQUAL_MEMORY("\4\0\0\0map\0\6\0\0\0world", image.data + 96, 18);
    const struct dyn_quat turn = {number_at(168), number_at(144), number_at(152), number_at(160)};
    const struct dyn_vec3 north = dyn_quat_rotate(turn, (struct dyn_vec3){1.0, 0.0, 0.0});
    const struct dyn_vec3 down = dyn_quat_rotate(turn, (struct dyn_vec3){0.0, 0.0, 1.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0, north.y);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -1.0, down.z);
    TEST_ASSERT_EQUAL_size_t(176, image.size);
}

/* A robot stands with z up, as viewers draw it. */
static void test_where_down_is_minus_z_the_world_stands_as_it_is(void)
{
    const double q[7] = {[3] = 1.0};
    body.spec.inertia[0] = body.spec.inertia[1] = body.spec.inertia[2] = 1.0;
    scenario.spec.environment.gravity[2] = -9.81;
    struct scene_view *scene = scene_view_create(&scenario);
    scene_view_transforms(scene, q, 0, &image);
    scene_view_free(scene);
    TEST_ASSERT_EQUAL_UINT8(1, image.data[0]);
    TEST_ASSERT_EQUAL_size_t(88, image.size);
}

/* ---- shapes ---- */

static struct cfg_scenario *loaded;

static struct scene_view *load(const char *bodies)
{
    char text[2048], error[CFG_ERROR_MAX];
    snprintf(text, sizeof text, "name: s\nbodies:\n%s", bodies);
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &loaded, error), error);
    return scene_view_create(loaded);
}

static void unload(struct scene_view *scene)
{
    scene_view_free(scene);
    cfg_scenario_free(loaded);
}

static uint32_t count_at(size_t at)
{
    uint32_t count;
    TEST_ASSERT_TRUE(at + sizeof count <= image.size);
    memcpy(&count, image.data + at, sizeof count);
    return count;
}

static void expect_numbers(size_t at, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected[i], number_at(at + 8 * i));
}
#define EXPECT(at, ...)                                                                            \
    expect_numbers(at, (const double[]){__VA_ARGS__},                                              \
                   sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Pose 56, size 24, color 32; a cylinder has two scales between. */
static void test_shapes_are_drawn_instead_of_the_box(void)
{
    struct scene_view *scene =
        load("- {name: bus, joint: free, mass: 3, inertia: 1 1 1, shapes: [\n"
             "   {type: sphere, radius: 0.5, at: 1 2 3, color: 0.1 0.2 0.3, opacity: 0.4},\n"
             "   {type: box, size: 1 2 3, attitude: {yaw: 180 deg}, color: [1, 0, 0]},\n"
             "   {type: cylinder, radius: 10 cm, length: 4, at: 0 0 2}]}\n");
    scene_view_static(scene, 0, &image);
    unload(scene);
    TEST_ASSERT_EQUAL_UINT32(1, count_at(52));
    EXPECT(56, 0, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1, 0, 0, 1);
    TEST_ASSERT_EQUAL_UINT32(1, count_at(168));
    EXPECT(176, 1, 2, 3, 0, 0, 0, 1, 1, 1, 1, 0.1, 0.2, 0.3, 0.4);
    TEST_ASSERT_EQUAL_UINT32(1, count_at(288));
    EXPECT(296, 0, 0, 2, 0, 0, 0, 1, 0.2, 0.2, 4, 1, 1, 0.72, 0.76, 0.82, 1);
    TEST_ASSERT_EQUAL_size_t(296 + 16 * 8 + 16, image.size);
}

static void test_a_body_with_an_empty_list_of_shapes_is_invisible(void)
{
    struct scene_view *scene =
        load("- {name: bus, joint: free, mass: 3, inertia: 1 1 1, shapes: []}\n");
    scene_view_static(scene, 0, &image);
    unload(scene);
    for (size_t at = 52; at < image.size; at += 4)
        TEST_ASSERT_EQUAL_UINT32(0, count_at(at));
    TEST_ASSERT_EQUAL_size_t(52 + 7 * 4, image.size);
}

#define BOOM(shapes)                                                                               \
    "- {name: bus, joint: free, mass: 100, inertia: 50 50 50, shapes: []}\n"                       \
    "- name: arm\n"                                                                                \
    "  parent: bus\n"                                                                              \
    "  joint: {type: revolute, axis: 0 0 1}\n"                                                     \
    "  flex: {type: beam, length: 4, mass: 3, bend_y: {modes: 1, frequency: 1},\n"                 \
    "    nodes: [{name: tip, x: 4}, {name: mid, x: 2}]}\n"                                         \
    "  shapes: " shapes "\n"

/* Behind the lists before it: kind 1 and pad, pose 56, thickness 8, invariant 1 and pad. */
static void test_a_tube_goes_from_the_joint_to_the_tip_whatever_the_order_of_the_nodes(void)
{
    const double q[9] = {[3] = 1.0};
    struct scene_view *scene = load(BOOM("[{type: tube, radius: 0.15, color: white}]"));
    TEST_ASSERT_TRUE(scene_view_has_flex(scene));
    scene_view_flex_lines(scene, q, 0, &image);
    unload(scene);
    TEST_ASSERT_EQUAL_UINT32(1, count_at(64));
    EXPECT(72, 0, 0, 0, 0, 0, 0, 1, 0.3);
    TEST_ASSERT_EQUAL_UINT8(0, image.data[136]);
    TEST_ASSERT_EQUAL_UINT32(3, count_at(140));
    EXPECT(144, 0, 0, 0, 2, 0, 0, 4, 0, 0, 0.95, 0.95, 0.95, 1);
}

static void test_a_line_without_a_tube_is_in_pixels_and_in_the_order_of_the_file(void)
{
    const double q[9] = {[3] = 1.0};
    struct scene_view *scene = load(BOOM("[{type: sphere, radius: 1}]"));
    scene_view_flex_lines(scene, q, 0, &image);
    unload(scene);
    EXPECT(128, 3);
    TEST_ASSERT_EQUAL_UINT8(1, image.data[136]);
    EXPECT(144, 0, 0, 0, 4, 0, 0, 2, 0, 0, 0.45, 0.68, 0.92, 1); /* not the body's own */
}

static void test_what_is_straight_is_where_it_is_without_its_modes(void)
{
    static const char tip[] =
        "- {name: eye, parent: arm, joint: {type: fixed, node: tip}, mass: 1,\n"
        "   inertia: 1 1 1}\n";
    const double bent[9] = {1.0, 2.0, 3.0, 1.0, [7] = 0.3, [8] = 0.1};
    const double straight[9] = {1.0, 2.0, 3.0, 1.0, [7] = 0.3};
    struct io_byte_writer other = {0};
    char text[1024];
    snprintf(text, sizeof text, "%s%s", BOOM("[{type: tube, radius: 0.1}]"), tip);
    struct scene_view *scene = load(text);
    scene_view_transforms(scene, straight, 5, &other);
    scene_view_rigid_transforms(scene, bent, 5, &image);
    TEST_ASSERT_EQUAL_size_t(other.size, image.size);
    TEST_ASSERT_EQUAL_MEMORY(other.data, image.data, image.size);
    io_byte_writer_clear(&other);
    scene_view_transforms(scene, bent, 5, &other);
    TEST_ASSERT_TRUE(memcmp(other.data, image.data, image.size) != 0);
    io_byte_writer_clear(&other);
    io_byte_writer_clear(&image);
    scene_view_flex_lines(scene, straight, 7, &other);
    scene_view_rigid_lines(scene, 7, &image);
    TEST_ASSERT_EQUAL_size_t(other.size, image.size);
    TEST_ASSERT_EQUAL_MEMORY(other.data, image.data, image.size);
    io_byte_writer_free(&other);
    unload(scene);
}

static void test_what_is_hidden_has_no_line_either(void)
{
    struct scene_view *scene = load(BOOM("[]"));
    TEST_ASSERT_FALSE(scene_view_has_flex(scene));
    unload(scene);
}

/* Two modes, each with its own shape: what they move adds up. */
static void test_a_line_is_bent_by_all_modes(void)
{
    const double q[10] = {5.0, 6.0, 7.0, 1.0, [7] = 0.3, [8] = 0.125, [9] = -0.25};
    static const char two[] =
        "- {name: bus, joint: free, mass: 100, inertia: 50 50 50, shapes: []}\n"
        "- name: arm\n"
        "  parent: bus\n"
        "  joint: {type: revolute, axis: 0 0 1}\n"
        "  flex: {type: beam, length: 4, mass: 3, bend_y: {modes: 2, frequency: 1},\n"
        "    nodes: [{name: tip, x: 4}, {name: mid, x: 2}]}\n";
    struct scene_view *scene = load(two);
    scene_view_flex_lines(scene, q, 0, &image);
    const struct dyn_node *tip = &loaded->spec.bodies[1].flex->nodes[0].node;
    const struct dyn_node *mid = &loaded->spec.bodies[1].flex->nodes[1].node;
    EXPECT(144, 0, 0, 0, 4, 0.125 * tip->psi[1] - 0.25 * tip->psi[4],
           0.125 * tip->psi[2] - 0.25 * tip->psi[5], 2, 0.125 * mid->psi[1] - 0.25 * mid->psi[4],
           0.125 * mid->psi[2] - 0.25 * mid->psi[5]);
    TEST_ASSERT_TRUE(fabs(tip->psi[1] - tip->psi[4]) + fabs(tip->psi[2] - tip->psi[5]) > 0.1);
    unload(scene);
}

/* ---- boxes and rotors ---- */

/* The sides of the one box that is drawn, the shortest first. */
static void expect_sides(double shortest, double middle, double longest)
{
    struct scene_view *scene = scene_view_create(&scenario);
    double side[3];
    io_byte_writer_clear(&image);
    scene_view_static(scene, 0, &image);
    scene_view_free(scene);
    TEST_ASSERT_EQUAL_UINT32(1, count_at(52));
    for (int i = 0; i < 3; i++)
        side[i] = number_at(112 + 8 * (size_t)i);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, shortest, fmin(side[0], fmin(side[1], side[2])));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, longest, fmax(side[0], fmax(side[1], side[2])));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, shortest + middle + longest, side[0] + side[1] + side[2]);
    EXPECT(136, 0.72, 0.76, 0.82, 0.9);
}

/* A side is never less than a hundredth of the longest, nor less than a millimetre. */
static void test_a_slender_rod_is_still_visible(void)
{
    body.spec.inertia[1] = body.spec.inertia[2] = 3.0 * 4.0 / 12.0; /* 2 m along x */
    expect_sides(0.02, 0.02, 2.0);
    body.spec.inertia[1] = body.spec.inertia[2] = 3.0 * 0.0025 / 12.0; /* 5 cm */
    expect_sides(0.001, 0.001, 0.05);
}

static void test_a_body_without_mass_has_no_box(void)
{
    body.spec.mass = 0.0;
    struct scene_view *scene = scene_view_create(&scenario);
    scene_view_static(scene, 0, &image);
    scene_view_free(scene);
    TEST_ASSERT_EQUAL_UINT32(0, count_at(52));
    TEST_ASSERT_EQUAL_size_t(52 + 7 * 4, image.size);
}

/* Behind the box: no spheres, and cylinders with pose 56, size 24, scales 16 and color 32. */
static void test_a_rotor_is_a_disc_across_its_axis(void)
{
    static const double axes[][3] = {{0, 0, 1},      {0, 0, -1},         {0.6, 0, 0.8},
                                     {0, 0.6, -0.8}, {-0.48, 0.6, 0.64}, {0, 1, 0}};
    struct sim_effector effectors[3] = {
        {.effector = {.type = DYN_EFFECTOR_DRAG, .body = 0}},
        {.effector = {.type = DYN_EFFECTOR_ROTOR, .body = 1}},
        {.effector = {.type = DYN_EFFECTOR_ROTOR, .body = 0, .rotor = {.at = {2, 3, 6}}}},
    };
    body.spec.inertia[0] = body.spec.inertia[1] = body.spec.inertia[2] = 1.0;
    scenario.spec.effectors = effectors;
    scenario.spec.effector_count = 3;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        memcpy(effectors[2].effector.rotor.axis, axes[i], sizeof axes[i]);
        struct scene_view *scene = scene_view_create(&scenario);
        io_byte_writer_clear(&image);
        scene_view_static(scene, 0, &image);
        scene_view_free(scene);
        TEST_ASSERT_EQUAL_UINT32(0, count_at(168));
        TEST_ASSERT_EQUAL_UINT32(1, count_at(172));
        EXPECT(176, 2, 3, 6);
        const struct dyn_quat turn = {number_at(224), number_at(200), number_at(208),
                                      number_at(216)};
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0, dyn_quat_square(turn));
        const struct dyn_vec3 up = dyn_quat_rotate(turn, (struct dyn_vec3){0.0, 0.0, 1.0});
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, axes[i][0], up.x);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, axes[i][1], up.y);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, axes[i][2], up.z);
        EXPECT(232, 7, 7, 0.35, 1, 1, 0.45, 0.68, 0.92, 0.5);
        TEST_ASSERT_EQUAL_size_t(176 + 128 + 16, image.size);
    }
    effectors[2].effector.rotor.at[0] = 0.03;
    effectors[2].effector.rotor.at[1] = effectors[2].effector.rotor.at[2] = 0.0;
    struct scene_view *scene = scene_view_create(&scenario);
    io_byte_writer_clear(&image);
    scene_view_static(scene, 0, &image);
    scene_view_free(scene);
    EXPECT(232, 0.05, 0.05, 0.0025);
}

static void test_rotors_of_a_hidden_body_are_hidden_too(void)
{
    struct sim_effector rotor = {
        .effector = {.type = DYN_EFFECTOR_ROTOR, .rotor = {.at = {1, 0, 0}, .axis = {0, 0, 1}}}};
    scenario.spec.effectors = &rotor;
    scenario.spec.effector_count = 1;
    body.has_solids = true;
    struct scene_view *scene = scene_view_create(&scenario);
    scene_view_static(scene, 0, &image);
    scene_view_free(scene);
    for (size_t at = 52; at < image.size; at += 4)
        TEST_ASSERT_EQUAL_UINT32(0, count_at(at));
    TEST_ASSERT_EQUAL_size_t(52 + 7 * 4, image.size);
}

/* Six colors, and then the first again; each body lies behind the one before. */
static void test_bodies_take_turns_with_the_colors(void)
{
    static const double colors[7][3] = {{0.72, 0.76, 0.82}, {0.95, 0.70, 0.30}, {0.45, 0.68, 0.92},
                                        {0.60, 0.82, 0.50}, {0.90, 0.52, 0.50}, {0.70, 0.58, 0.88},
                                        {0.72, 0.76, 0.82}};
    struct sim_solid ball = {.type = SIM_SOLID_SPHERE, .opacity = 0.25};
    struct sim_body bodies[7];
    for (int i = 0; i < 7; i++) {
        bodies[i] = body;
        bodies[i].has_solids = true;
        bodies[i].solids = &ball;
        bodies[i].solid_count = 1;
    }
    scenario.spec.bodies = bodies;
    scenario.spec.body_count = 7;
    struct scene_view *scene = scene_view_create(&scenario);
    scene_view_static(scene, 1000000002, &image);
    scene_view_free(scene);
    TEST_ASSERT_EQUAL_UINT32(0, count_at(0));
    TEST_ASSERT_EQUAL_UINT32(7, count_at(4));
    /* the head 44, cubes and spheres 8, a ball 112, cylinders and the four lists behind 20 */
    size_t at = 8;
    for (int i = 0; i < 7; i++) {
        TEST_ASSERT_EQUAL_UINT32(1, count_at(at));
        TEST_ASSERT_EQUAL_UINT32(2, count_at(at + 4));
        TEST_ASSERT_EQUAL_MEMORY("\4\0\0\0bus\0\4\0\0\0bus", image.data + at + 8, 16);
        TEST_ASSERT_EQUAL_UINT32(0, count_at(at + 24)); /* it lives */
        TEST_ASSERT_EQUAL_UINT32(0, count_at(at + 28));
        TEST_ASSERT_EQUAL_UINT32(1, count_at(at + 32)); /* and moves */
        TEST_ASSERT_EQUAL_UINT32(0, count_at(at + 44));
        TEST_ASSERT_EQUAL_UINT32(1, count_at(at + 48));
        at = (at + 52 + 7) / 8 * 8;
        EXPECT(at + 80, colors[i][0], colors[i][1], colors[i][2], 0.25);
        at += 112 + 20;
    }
    TEST_ASSERT_EQUAL_size_t(at, image.size);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_box_has_the_inertia_of_its_body);
    RUN_TEST(test_a_body_is_where_its_coordinates_say);
    RUN_TEST(test_where_down_is_z_the_world_stands_on_its_head_in_a_map);
    RUN_TEST(test_where_down_is_minus_z_the_world_stands_as_it_is);
    RUN_TEST(test_shapes_are_drawn_instead_of_the_box);
    RUN_TEST(test_a_body_with_an_empty_list_of_shapes_is_invisible);
    RUN_TEST(test_a_tube_goes_from_the_joint_to_the_tip_whatever_the_order_of_the_nodes);
    RUN_TEST(test_a_line_without_a_tube_is_in_pixels_and_in_the_order_of_the_file);
    RUN_TEST(test_what_is_straight_is_where_it_is_without_its_modes);
    RUN_TEST(test_what_is_hidden_has_no_line_either);
    RUN_TEST(test_a_line_is_bent_by_all_modes);
    RUN_TEST(test_a_slender_rod_is_still_visible);
    RUN_TEST(test_a_body_without_mass_has_no_box);
    RUN_TEST(test_a_rotor_is_a_disc_across_its_axis);
    RUN_TEST(test_rotors_of_a_hidden_body_are_hidden_too);
    RUN_TEST(test_bodies_take_turns_with_the_colors);
    return UNITY_END();
}
