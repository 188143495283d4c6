/*
 * --set: any value of the tree, by its path, before anything is checked.
 */
#include "config/scenario.h"

#include <errno.h>
#include <string.h>

#include "tests/config/base.h"
#include "unity.h"

static struct cfg_scenario *scenario;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    scenario = NULL;
}

void tearDown(void)
{
    cfg_scenario_free(scenario);
}

static int load(const char *first, const char *second)
{
    const char *const overrides[] = {first, second};
    return cfg_scenario_load_text("s.yaml", base_text, strlen(base_text), overrides,
                                  second != NULL ? 2 : 1, &scenario, error);
}

static void set(const char *first, const char *second)
{
    cfg_scenario_free(scenario);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, load(first, second), error);
}

static void test_values_are_replaced(void)
{
    set("rate=2 kHz", "seconds=30");
    TEST_ASSERT_EQUAL_UINT64(500000, scenario->spec.period_ns);
    TEST_ASSERT_EQUAL_DOUBLE(30.0, scenario->spec.seconds);
}

static void test_entries_go_by_name_or_number(void)
{
    set("bodies.bus.mass=80 kg", "bodies.0.mass=700 g");
    TEST_ASSERT_EQUAL_DOUBLE(80.0, scenario->spec.bodies[0].spec.mass);
    TEST_ASSERT_EQUAL_DOUBLE(0.7, scenario->spec.bodies[1].spec.mass); /* boom, sorted behind bus */
    set("devices.gyro.noise=0", "links.board.listen=127.0.0.1:9");
    TEST_ASSERT_EQUAL_DOUBLE(0.0, scenario->spec.sensors[0].triad.noise_density);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:9", scenario->spec.links[0].spec.bus.listen);
    set("bodies.bus.inertia.1=13", "expect.1=rate < 1 deg/s after 1 s");
    TEST_ASSERT_EQUAL_DOUBLE(13.0, scenario->spec.bodies[0].spec.inertia[1]);
    TEST_ASSERT_EQUAL_STRING("rate < 1 deg/s after 1 s", scenario->spec.expects[1].text);
}

static void test_keys_that_the_file_leaves_out_are_added(void)
{
    set("bodies.panel.center=1 2 3 mm", "bodies.bus.joint.attitude.roll=0");
    TEST_ASSERT_EQUAL_DOUBLE(0.003, scenario->spec.bodies[2].spec.center[2]);
    const char *const overrides[] = {"overrun.max_catch_up=3", "environment.home.altitude=5 m",
                                     "bodies.a.joint.rate=1 2 3"};
    static const char text[] = "name: x\noverrun: catch-up\n"
                               "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n";
    cfg_scenario_free(scenario);
    TEST_ASSERT_EQUAL_INT(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), overrides, 3, &scenario, error));
    TEST_ASSERT_EQUAL_UINT32(3, scenario->spec.max_catch_up);
    TEST_ASSERT_EQUAL_INT(RT_OVERRUN_CATCH_UP, scenario->spec.overrun);
    TEST_ASSERT_EQUAL_DOUBLE(5.0, scenario->spec.world.home.height);
    TEST_ASSERT_EQUAL_DOUBLE(2.0, scenario->spec.bodies[0].velocity[1]);
}

static void test_a_value_may_be_a_whole_mapping_or_list(void)
{
    set("integrator={method: rk4, substeps: 2}", "controller.command=[board, \"a=b\"]");
    TEST_ASSERT_EQUAL_INT(DYN_RK4, scenario->spec.integrator);
    TEST_ASSERT_EQUAL_INT(2, scenario->controller.argument_count);
    TEST_ASSERT_EQUAL_STRING("a=b", scenario->controller.argument[1]);
}

static void test_a_replaced_body_keeps_its_place_for_later_complaints(void)
{
    set("bodies.bus={name: bus, joint: free, mass: 1, inertia: 1 1 1}", NULL);
    TEST_ASSERT_EQUAL_INT(23, cfg_scenario_mark(scenario, "bodies", "bus").line);
    TEST_ASSERT_EQUAL_INT(5, cfg_scenario_mark(scenario, "bodies", "bus").column);
}

static void test_worlds_boards_and_faults_can_be_set(void)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, load("environment.world=local", "environment.wind=1 2 3 m/s"),
                                  error);
    TEST_ASSERT_TRUE(scenario->spec.environment.air);
    TEST_ASSERT_EQUAL_DOUBLE(2, scenario->spec.environment.wind[1]);
    TEST_ASSERT_EQUAL_DOUBLE(9.81, scenario->spec.environment.gravity[2]); /* the file says it */
    cfg_scenario_free(scenario);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, load("controller.policy=fifo", "links.board.send.angles=0"),
                                  error);
    TEST_ASSERT_EQUAL_INT(40, scenario->controller.priority);
    cfg_scenario_free(scenario);
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0,
        load("faults=[{device: wheel, type: stuck, at: 1 s}, {link: board, type: loss, at: 2 s}]",
             "faults.1.at=3 s"),
        error);
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.fault_count);
    TEST_ASSERT_EQUAL_UINT64(3000, scenario->spec.faults[1].spec.first_frame);
}

static void test_the_last_override_wins(void)
{
    set("seed=1", "seed=2");
    TEST_ASSERT_EQUAL_UINT64(2, scenario->spec.seed);
}

static void test_the_text_for_the_log_stays_as_written(void)
{
    set("seed=99", NULL);
    TEST_ASSERT_EQUAL_size_t(strlen(base_text), scenario->text_size);
    TEST_ASSERT_EQUAL_MEMORY(base_text, scenario->text, scenario->text_size);
}

static void test_mistakes_name_the_override(void)
{
    static const char *const bad[][2] = {
        {"rate", "an override is key=value, e.g. --set rate=\"500 Hz\""},
        {"=5", "an override is key=value, e.g. --set rate=\"500 Hz\""},
        {"rate=", "there is no value behind the ="},
        {"rate=[1", "YAML syntax: the list that begins in line 1 wants a , or its ] here"},
        {"rat=5", "there is no key \"rat\"; did you mean \"rate\"?"},
        {"colour=red", "there is no key \"colour\"; it takes name, rate, "},
        {"bodies.buss.mass=1", "bodies has no entry \"buss\"; did you mean \"bus\"?"},
        {"bodies.tank.mass=1",
         "bodies has no entry \"tank\"; give the name or number of one of its 3 entries"},
        {"bodies.3.mass=1",
         "bodies has no entry \"3\"; give the name or number of one of its 3 entries"},
        {"bodies.bus.mas=1", "there is no key \"mas\"; did you mean \"mass\"?"},
        {"bodies..mass=1", "bodies has no entry \"\"; give the name or number"},
        {"rate.x=1", "there is nothing inside \"rate\"; end the path there"},
        {"bodies.boom.inertia.0=1",
         "in the file there is nothing inside \"inertia\"; set it as a whole"},
        {"bodies.panel.center.0=1", "the file does not give \"center\"; set it as a whole"},
        {"bodies.panel.joint.attitude.roll=1",
         "in the file there is nothing inside \"attitude\"; set it as a whole"},
        {"bodies.bus.mass=5 s", "mass wants kg, not s"},
        {"bodies.bus.mass=-5", "mass must be 0 kg or more; here is -5"},
        {"devices.gyro.rate=300 Hz", "rate of 300 Hz does not divide the frame rate of 1000 Hz; "},
        {"overrun={policy: skip, most: 3}", "unknown key \"most\" in overrun; it takes policy, "},
        {"links.board={name: board}", "a link needs \"body\" (whose motion is reported); "},
        {"bodies.bus.joint.axis=1 0 0", "unknown key \"axis\" in a free joint; it takes type, "},
        {"environment.wind=3 0 0 m/s", "there is no air that could move; "},
        {"environment.orbit.altitude=500 km", "orbit goes with world: orbit; "},
        {"environment.date=today", "date wants a time in UTC like "},
        {"links.board.baud=9600", "baud means nothing on bus udp; "},
        {"controller.policy=rr", "policy cannot be \"rr\"; write other or fifo"},
        {"faults=[{device: gyro, type: bias, at: 1 s}]",
         "bias needs \"value\" (how large it is); "},
        {"name=\x01", "control character U+0001; remove it"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char expected[CFG_ERROR_MAX];
        const char *shown = strchr(bad[i][0], '\x01') != NULL ? "name=?" : bad[i][0];
        snprintf(expected, sizeof expected, "--set %s: %s", shown, bad[i][1]);
        TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, load(bad[i][0], NULL), bad[i][0]);
        TEST_ASSERT_NULL(scenario);
        TEST_ASSERT_EQUAL_STRING_LEN(expected, error, strlen(expected));
    }
}

/* A value is judged where it came from, even when a neighbour of it stands in the file. */
static void test_a_mistake_in_the_file_keeps_its_place(void)
{
    TEST_ASSERT_EQUAL_INT(-EINVAL, load("rate=600 Hz", NULL));
    TEST_ASSERT_EQUAL_STRING_LEN("--set rate=600 Hz: rate of 600 Hz has a period of 1666666.667 ns",
                                 error, 60);
    TEST_ASSERT_EQUAL_INT(-EINVAL, load("rate=400 Hz", NULL));
    TEST_ASSERT_EQUAL_STRING(
        "s.yaml:44:11: rate of 250 Hz does not divide the frame rate of 400 Hz; the nearest that "
        "do are 400 Hz and 200 Hz",
        error);
}

/* Where boards are and what is recorded or foretold of a run is not in its state. */
static void test_overrides_count_where_they_bear_on_the_state(void)
{
    set("seconds=50", NULL);
    const uint64_t plain = scenario->spec.text_hash;
    set("links.board.listen=127.0.0.1:9", "seconds=30");
    TEST_ASSERT_EQUAL_HEX64(plain, scenario->spec.text_hash);
    set("predictor={rate: 10 Hz, ahead: 2 s}", NULL);
    TEST_ASSERT_EQUAL_HEX64(plain, scenario->spec.text_hash);
    set("seed=3", NULL);
    TEST_ASSERT_TRUE(plain != scenario->spec.text_hash);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_values_are_replaced);
    RUN_TEST(test_entries_go_by_name_or_number);
    RUN_TEST(test_keys_that_the_file_leaves_out_are_added);
    RUN_TEST(test_a_value_may_be_a_whole_mapping_or_list);
    RUN_TEST(test_a_replaced_body_keeps_its_place_for_later_complaints);
    RUN_TEST(test_worlds_boards_and_faults_can_be_set);
    RUN_TEST(test_the_last_override_wins);
    RUN_TEST(test_the_text_for_the_log_stays_as_written);
    RUN_TEST(test_mistakes_name_the_override);
    RUN_TEST(test_a_mistake_in_the_file_keeps_its_place);
    RUN_TEST(test_overrides_count_where_they_bear_on_the_state);
    return UNITY_END();
}
