/*
 * Cameras as they are sent to viewers.
 */
#include "config/scenario.h"
#include "tools/airbearing/live/camera.h"

#include <stdlib.h>
#include <string.h>

#include "unity.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static char *told(const char *cameras)
{
    char text[1024], error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario;
    snprintf(text, sizeof text,
             "name: s\nbodies: [{name: bus, joint: free, mass: 1, inertia: 1 1 1}]\n%s", cameras);
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error), error);
    char *json = camera_json(scenario);
    cfg_scenario_free(scenario);
    return json;
}

static void test_cameras_are_sent_with_their_body_and_in_degrees(void)
{
    char *json = told("cameras:\n"
                      "- {name: nose, body: bus, at: 10 0 -20 cm, look: 2 0 0, up: 0 0 -1, "
                      "field: 0.5 rad}\n"
                      "- {name: tower, at: 5 0 0, look: -1 0 0, up: 0 0 1}\n");
    TEST_ASSERT_EQUAL_STRING(
        "[{\"name\":\"nose\",\"body\":\"bus\",\"at\":[0.1,0.0,-0.2],\"look\":[1.0,0.0,0.0],"
        "\"up\":[0.0,0.0,-1.0],\"field\":28.6478898},"
        "{\"name\":\"tower\",\"body\":\"world\",\"at\":[5.0,0.0,0.0],\"look\":[-1.0,0.0,0.0],"
        "\"up\":[0.0,0.0,1.0],\"field\":50.0}]",
        json);
    free(json);
}

static void test_without_cameras_there_is_nothing_to_send(void)
{
    TEST_ASSERT_NULL(told(""));
    TEST_ASSERT_NULL(told("cameras: []\n"));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_cameras_are_sent_with_their_body_and_in_degrees);
    RUN_TEST(test_without_cameras_there_is_nothing_to_send);
    return UNITY_END();
}
