/*
 * The picture of a vehicle: a body's box has the body's inertia, however it lies.
 */
#include "tools/airbearing/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/spatial.h"
#include "unity.h"

static struct cfg_body body;
static struct cfg_scenario scenario;
static struct io_bytes image;

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
    scenario.bodies = &body;
    scenario.body_count = 1;
}

void tearDown(void)
{
    io_bytes_free(&image);
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
    struct picture *picture = picture_make(&scenario);
    io_bytes_clear(&image);
    picture_scene(picture, 0, &image);
    picture_free(picture);
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
    struct picture *picture = picture_make(&scenario);
    picture_places(picture, q, 2500000001, &image);
    TEST_ASSERT_FALSE(picture_bends(picture));
    picture_free(picture);
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
    scenario.environment.gravity[2] = 9.81;
    struct picture *picture = picture_make(&scenario);
    picture_places(picture, q, 0, &image);
    picture_free(picture);
    TEST_ASSERT_EQUAL_UINT8(2, image.data[0]);
    TEST_ASSERT_EQUAL_MEMORY("\4\0\0\0map\0\6\0\0\0world", image.data + 96, 18);
    const struct dyn_quat turn = {number_at(168), number_at(144), number_at(152), number_at(160)};
    const struct dyn_vec3 north = dyn_quat_rotate(turn, (struct dyn_vec3){1.0, 0.0, 0.0});
    const struct dyn_vec3 down = dyn_quat_rotate(turn, (struct dyn_vec3){0.0, 0.0, 1.0});
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0, north.y);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -1.0, down.z);
    TEST_ASSERT_EQUAL_size_t(176, image.size);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_box_has_the_inertia_of_its_body);
    RUN_TEST(test_a_body_is_where_its_coordinates_say);
    RUN_TEST(test_where_down_is_z_the_world_stands_on_its_head_in_a_map);
    return UNITY_END();
}
