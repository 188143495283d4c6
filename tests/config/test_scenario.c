/*
 * Good scenarios: every key arrives with its SI value, every default is what the reference says,
 * and what is shipped loads.
 */
#include "config/scenario.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/config/base.h"
#include "unity.h"

#define PI                     3.14159265358979323846
#define NEAR(expected, actual) TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected, actual)

static const char *source_root;
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

static void load(const char *text)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error), error);
}

static void expect_vector(const double *expected, const double *actual, int size)
{
    for (int i = 0; i < size; i++)
        NEAR(expected[i], actual[i]);
}
#define EXPECT_VECTOR(actual, ...)                                                                 \
    expect_vector((const double[]){__VA_ARGS__}, actual,                                           \
                  (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* ---- every key ---- */

static void expect_home(double latitude, double longitude, double altitude)
{
    NEAR(latitude, scenario->spec.world.home.latitude);
    NEAR(longitude, scenario->spec.world.home.longitude);
    NEAR(altitude, scenario->spec.world.home.height);
}

static void test_the_run_is_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_STRING("s.yaml", scenario->path);
    TEST_ASSERT_EQUAL_STRING("bench", scenario->spec.name);
    TEST_ASSERT_EQUAL_DOUBLE(1000.0, scenario->spec.rate_hz);
    TEST_ASSERT_EQUAL_UINT64(1000000, scenario->spec.period_ns);
    TEST_ASSERT_EQUAL_DOUBLE(20.0, scenario->spec.seconds);
    TEST_ASSERT_EQUAL_UINT64(7, scenario->spec.seed);
    TEST_ASSERT_EQUAL_INT(RT_PACE_REAL, scenario->spec.pace);
    TEST_ASSERT_TRUE(scenario->commit_given);
    TEST_ASSERT_EQUAL_INT(RT_COMMIT_EARLY, scenario->spec.commit);
    TEST_ASSERT_EQUAL_INT(RT_OVERRUN_CATCH_UP, scenario->spec.overrun);
    TEST_ASSERT_EQUAL_UINT32(5, scenario->spec.max_catch_up);
    TEST_ASSERT_TRUE(scenario->require_realtime);
    TEST_ASSERT_EQUAL_UINT32(10, scenario->spec.log_every);
}

static void test_decimated_channels_and_the_trigger_are_read(void)
{
    static const char *const overrides[] = {
        "log.channels=[{topic: /plant, rate: 20 Hz}, {topic: /device/gyro, rate: 50 Hz}, "
        "{topic: /device/wheel, every: 7}]",
        "log.trigger={when: [fault, overrun], before: 250 ms, after: 2 s}"};
    TEST_ASSERT_EQUAL_INT_MESSAGE(0,
                                  cfg_scenario_load_text("s.yaml", base_text, strlen(base_text),
                                                         overrides, 2, &scenario, error),
                                  error);
    const struct sim_log_spec *log = &scenario->spec.log;
    TEST_ASSERT_EQUAL_INT(3, log->channel_count);
    TEST_ASSERT_EQUAL_INT(-1, log->channel[0].sensor);
    TEST_ASSERT_EQUAL_INT(-1, log->channel[0].drive);
    TEST_ASSERT_EQUAL_UINT32(5, log->channel[0].every);
    const struct sim_sensor *gyro = &scenario->spec.sensors[log->channel[1].sensor];
    TEST_ASSERT_EQUAL_STRING("gyro", gyro->name);
    TEST_ASSERT_EQUAL_UINT32(20 / gyro->every, log->channel[1].every);
    TEST_ASSERT_EQUAL_STRING("wheel", scenario->spec.effectors[log->channel[2].drive].name);
    TEST_ASSERT_EQUAL_UINT32(7, log->channel[2].every);
    TEST_ASSERT_TRUE(log->on_fault);
    TEST_ASSERT_TRUE(log->on_overrun);
    TEST_ASSERT_EQUAL_UINT64(250000000, log->before_ns);
    TEST_ASSERT_EQUAL_UINT64(2000000000, log->after_ns);
}

static void test_the_threads_are_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(IO_LINK_THREADED, scenario->spec.io_mode);
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.frame_cpu);
    TEST_ASSERT_EQUAL_INT(3, scenario->spec.io_cpu);
    TEST_ASSERT_EQUAL_INT(91, scenario->spec.frame_priority);
    TEST_ASSERT_EQUAL_INT(81, scenario->spec.io_priority);
    TEST_ASSERT_EQUAL_INT(RT_WAIT_PLAIN, scenario->spec.wait);
    TEST_ASSERT_EQUAL_UINT64(80000, scenario->spec.lead_ns);
    TEST_ASSERT_EQUAL_UINT64(250000000, scenario->spec.watchdog_ns);
}

static void test_the_world_is_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(DYN_SEMI_IMPLICIT_EULER, scenario->spec.integrator);
    TEST_ASSERT_EQUAL_INT(4, scenario->spec.substeps);
    EXPECT_VECTOR(scenario->spec.environment.gravity, 0, 0, 9.81);
    EXPECT_VECTOR(scenario->spec.environment.magnetic_field, 21.5e-6, 1e-6, 42.7e-6);
    expect_home(PI / 4, -PI / 2, 2000);
}

/* boom stands before bus in the file and hangs from it. */
static void test_bodies_are_sorted_parent_before_child(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(3, scenario->spec.body_count);
    TEST_ASSERT_EQUAL_STRING("bus", scenario->spec.bodies[0].name);
    TEST_ASSERT_EQUAL_STRING("boom", scenario->spec.bodies[1].name);
    TEST_ASSERT_EQUAL_STRING("panel", scenario->spec.bodies[2].name);
    TEST_ASSERT_EQUAL_INT(-1, scenario->spec.bodies[0].spec.parent);
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.bodies[1].spec.parent);
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.bodies[2].spec.parent);
    TEST_ASSERT_EQUAL_INT(23, cfg_scenario_mark(scenario, "bodies", "bus").line);
    TEST_ASSERT_EQUAL_INT(5, cfg_scenario_mark(scenario, "bodies", "bus").column);
}

static void test_a_free_body_is_read(void)
{
    load(base_text);
    const struct sim_body *bus = &scenario->spec.bodies[0];
    const double half = sqrt(0.5);
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_FREE, bus->spec.joint);
    EXPECT_VECTOR(bus->position, 1, 2, 3, half, 0, 0, half);
    EXPECT_VECTOR(bus->velocity, PI, 0, -PI / 2, 1, 0, -2);
    EXPECT_VECTOR(bus->spec.place_xyz, 0, 0, 0);
    EXPECT_VECTOR(bus->spec.place_quat, 1, 0, 0, 0);
    EXPECT_VECTOR(bus->spec.center, 0, 0.1, 0);
    TEST_ASSERT_EQUAL_DOUBLE(120.0, bus->spec.mass);
}

static void test_hinged_and_sliding_bodies_are_read(void)
{
    load(base_text);
    const struct dyn_body_spec *boom = &scenario->spec.bodies[1].spec;
    const struct dyn_body_spec *panel = &scenario->spec.bodies[2].spec;
    TEST_ASSERT_EQUAL_INT(DYN_JOINT_PRISMATIC, boom->joint);
    EXPECT_VECTOR(boom->axis, 0, 0.6, 0.8);
    EXPECT_VECTOR(boom->place_xyz, 0.01, 0.02, 0.03);
    EXPECT_VECTOR(&boom->force_spec[0].stiffness, 8000, 0.002, 2); /* stiffness, rest, damping */
    EXPECT_VECTOR(scenario->spec.bodies[1].position, 0.005);
    EXPECT_VECTOR(scenario->spec.bodies[1].velocity, 0.01);
    NEAR(0.5, boom->mass);

    TEST_ASSERT_EQUAL_INT(DYN_JOINT_REVOLUTE, panel->joint);
    EXPECT_VECTOR(panel->axis, 0, 1, 0);
    EXPECT_VECTOR(panel->place_xyz, 0, 0.6, 0);
    EXPECT_VECTOR(panel->place_quat, 0, 0, 0, 1);
    EXPECT_VECTOR(&panel->force_spec[0].stiffness, 80, PI / 180, 0.5);
    EXPECT_VECTOR(scenario->spec.bodies[2].position, PI / 90);
    EXPECT_VECTOR(scenario->spec.bodies[2].velocity, PI / 30);
}

/* The file states inertia with rotors locked; the kernel gets it without J a a'. */
static void test_rotors_are_taken_out_of_the_inertia(void)
{
    load(base_text);
    EXPECT_VECTOR(scenario->spec.bodies[0].spec.inertia, 12, 14, 10 - 0.02, 0.5, 0.25, -0.5);
    EXPECT_VECTOR(scenario->spec.bodies[2].spec.inertia, 1, 1, 1, 0, 0, 0);
    cfg_scenario_free(scenario);
    load("name: x\n"
         "bodies: [{name: a, joint: free, mass: 1, inertia: 3 3 3}]\n"
         "devices: [{name: w, type: wheel, body: a, axis: 1 2 -2, inertia: 0.9, max_torque: 1,\n"
         "           max_speed: 1, command: {link: l, control: 0}}]\n"
         "links: [{name: l, listen: 127.0.0.1:1, body: a}]\n");
    EXPECT_VECTOR(scenario->spec.bodies[0].spec.inertia, 3 - 0.1, 3 - 0.4, 3 - 0.4, -0.2, 0.2, 0.4);
}

static void test_instruments_are_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.sensor_count);
    const struct sim_sensor *gyro = &scenario->spec.sensors[0];
    TEST_ASSERT_EQUAL_STRING("gyro", gyro->name);
    TEST_ASSERT_EQUAL_INT(SIM_SENSOR_GYRO, gyro->kind);
    TEST_ASSERT_EQUAL_INT(0, gyro->body);
    TEST_ASSERT_EQUAL_UINT32(4, gyro->every);
    TEST_ASSERT_EQUAL_UINT32(2, gyro->triad.delay);
    NEAR(0.004, gyro->triad.sample_time);
    EXPECT_VECTOR(gyro->point, 0.1, 0.2, 0.3);
    NEAR(0.003 * PI / 180, gyro->triad.noise_density);
    NEAR(PI / 648000, gyro->triad.walk_density);
    EXPECT_VECTOR(gyro->triad.bias, PI / 648000, 2 * PI / 648000, 3 * PI / 648000);
    EXPECT_VECTOR(gyro->triad.scale, 1e-4, -2e-3, 0);
    NEAR(250 * PI / 180, gyro->triad.range);
    NEAR(1e-3, gyro->triad.quantum);
}

/* Turned by 90 degrees about z, the instrument's x axis is the body's y axis. */
static void test_mounting_takes_body_axes_to_instrument_axes(void)
{
    load(base_text);
    EXPECT_VECTOR(scenario->spec.sensors[0].triad.mounting, 0, 1, 0, -1, 0, 0, 0, 0, 1);
    cfg_scenario_free(scenario);
    load("name: x\n"
         "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
         "devices:\n"
         "- {name: g, type: gyro, body: a, attitude: {roll: 90 deg}}\n"
         "- {name: m, type: magnetometer, body: a, attitude: {pitch: 90 deg}}\n");
    EXPECT_VECTOR(scenario->spec.sensors[0].triad.mounting, 1, 0, 0, 0, 0, 1, 0, -1, 0);
    EXPECT_VECTOR(scenario->spec.sensors[1].triad.mounting, 0, 0, -1, 0, 1, 0, 1, 0, 0);
}

/* Yaw first, then pitch about the new y, then roll about the newest x: the columns of the rotation
 * are where the axes end up. */
static void test_euler_angles_turn_in_the_stated_order(void)
{
    load("name: x\n"
         "bodies: [{name: a, joint: {type: free, attitude: {yaw: 90 deg, pitch: 90 deg}},\n"
         "          mass: 1, inertia: 1 1 1}]\n"
         "devices: [{name: g, type: gyro, body: a, attitude: {yaw: 90 deg, pitch: 90 deg}}]\n");
    /* x goes to y by the yaw, then to -z by the pitch; z goes to where the yawed x was: y. */
    EXPECT_VECTOR(scenario->spec.sensors[0].triad.mounting, 0, 0, -1, -1, 0, 0, 0, 1, 0);
    EXPECT_VECTOR(scenario->spec.bodies[0].position + 3, 0.5, -0.5, 0.5, 0.5);
    cfg_scenario_free(scenario);
    /* With the nose straight up, yaw and roll are about the same line and cancel. */
    load("name: x\n"
         "bodies: [{name: a, joint: {type: free, attitude: {yaw: 40 deg, pitch: 90 deg, roll: 40 "
         "deg}},\n"
         "          mass: 1, inertia: 1 1 1}]\n");
    EXPECT_VECTOR(scenario->spec.bodies[0].position + 3, sqrt(0.5), 0, sqrt(0.5), 0);
}

static void test_a_quaternion_typed_with_four_digits_becomes_unit(void)
{
    load("name: x\n"
         "bodies: [{name: a, joint: {type: free, attitude: [0.7071, 0, -0.7071, 0]}, mass: 1,\n"
         "          inertia: 1 1 1}]\n");
    EXPECT_VECTOR(scenario->spec.bodies[0].position + 3, sqrt(0.5), 0, -sqrt(0.5), 0);
}

static void test_two_links_may_use_the_same_control(void)
{
    load("name: x\n"
         "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
         "devices:\n"
         "- {name: v, type: wheel, body: a, axis: 1 0 0, inertia: 0.1, max_torque: 1, max_speed: "
         "1,\n"
         "   command: {link: k, control: 3}}\n"
         "- {name: w, type: wheel, body: a, axis: 0 1 0, inertia: 0.1, max_torque: 1, max_speed: "
         "1,\n"
         "   command: {link: l, control: 3}}\n"
         "links: [{name: k, listen: 127.0.0.1:1, body: a}, {name: l, listen: 127.0.0.1:2, body: "
         "a}]\n");
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.effectors[0].link);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.effectors[1].link);
}

/* Inline there is no I/O thread to get in the way of the frame's. */
static void test_inline_links_need_no_core_and_no_priority(void)
{
    load("name: x\nio: {mode: inline, cpu: 1, priority: 95}\nframe: {cpu: 1}\n"
         "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n");
    TEST_ASSERT_EQUAL_INT(IO_LINK_INLINE, scenario->spec.io_mode);
}

static void test_wheels_are_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.effector_count);
    const struct sim_effector *wheel = &scenario->spec.effectors[0];
    TEST_ASSERT_EQUAL_STRING("wheel", wheel->name);
    TEST_ASSERT_EQUAL_INT(0, wheel->effector.body);
    EXPECT_VECTOR(wheel->effector.wheel.axis, 0, 0, 1);
    NEAR(0.02, wheel->effector.wheel.inertia);
    NEAR(0.2, wheel->effector.wheel.max_torque);
    NEAR(200 * PI, wheel->effector.wheel.max_speed);
    NEAR(-20 * PI, wheel->speed);
    NEAR(2e-5, wheel->effector.wheel.viscous);
    NEAR(5e-4, wheel->effector.wheel.coulomb);
    NEAR(-0.1, wheel->drive.gain);
    NEAR(0.01, wheel->drive.quantum);
    TEST_ASSERT_EQUAL_UINT32(3, wheel->drive.delay);
    TEST_ASSERT_EQUAL_INT(0, wheel->link);
    TEST_ASSERT_EQUAL_INT(2, wheel->control);
}

static void test_links_are_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.link_count);
    const struct sim_link *link = &scenario->spec.links[0];
    TEST_ASSERT_EQUAL_STRING("board", link->spec.name);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:14560", link->spec.bus.listen);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:14561", link->spec.bus.peer);
    TEST_ASSERT_EQUAL_INT(0, link->body);
    TEST_ASSERT_EQUAL_UINT32(2, link->every[IO_MESSAGE_SENSOR]);
    TEST_ASSERT_EQUAL_UINT32(10, link->every[IO_MESSAGE_STATE]);
    TEST_ASSERT_EQUAL_UINT32(200, link->every[IO_MESSAGE_GPS]);
    TEST_ASSERT_EQUAL_UINT32(500, link->every[IO_MESSAGE_HEARTBEAT]);
    TEST_ASSERT_EQUAL_UINT32(0, link->every[IO_MESSAGE_TIME]);
    TEST_ASSERT_EQUAL_UINT64(250000000, link->spec.lost_after_ns);
    TEST_ASSERT_TRUE(link->stop_on_loss);
    TEST_ASSERT_EQUAL_UINT64(3000000000, link->connect_limit_ns);
    TEST_ASSERT_EQUAL_UINT64(20000000, link->wait_limit_ns);
    TEST_ASSERT_EQUAL_UINT8(9, link->spec.system_id);
    TEST_ASSERT_EQUAL_UINT8(51, link->spec.component_id);
}

static void test_controller_target_and_expectations_are_read(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(3, scenario->controller.argument_count);
    TEST_ASSERT_EQUAL_STRING("board", scenario->controller.argument[0]);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:14560", scenario->controller.argument[2]);
    TEST_ASSERT_NULL(scenario->controller.argument[3]);
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.target_body);
    EXPECT_VECTOR(scenario->spec.target, 0, 1, 0, 0);
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.expect_count);

    const struct sim_expectation *first = &scenario->spec.expects[0],
                                 *second = &scenario->spec.expects[1];
    TEST_ASSERT_EQUAL_INT(SIM_SIGNAL_ATTITUDE_ERROR, first->signal);
    TEST_ASSERT_TRUE(first->below && !first->within);
    NEAR(PI / 1800, first->limit);
    NEAR(15.0, first->seconds);
    TEST_ASSERT_EQUAL_STRING("attitude_error < 0.1 deg after 15 s", first->text);
    TEST_ASSERT_EQUAL_INT(SIM_SIGNAL_RATE, second->signal);
    TEST_ASSERT_TRUE(!second->below && second->within);
    NEAR(PI / 360, second->limit);
    NEAR(0.5, second->seconds);
    TEST_ASSERT_EQUAL_INT(76, cfg_scenario_mark(scenario, "expect", second->text).line);
}

/* ---- defaults and short forms ---- */

static const char small_text[] =
    "name: x\n"
    "bodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\n"
    "devices: [{name: g, type: gyro, body: a},\n"
    "  {name: w, type: wheel, body: a, axis: 1 0 0, inertia: 0.1,\n"
    "   max_torque: 0.3, max_speed: 100, command: {link: l, control: 0}}]\n"
    "links: [{name: l, listen: 127.0.0.1:1, body: a}]\n";

static void test_defaults_of_the_run(void)
{
    load(small_text);
    TEST_ASSERT_EQUAL_UINT64(1000000, scenario->spec.period_ns);
    TEST_ASSERT_EQUAL_DOUBLE(10.0, scenario->spec.seconds);
    TEST_ASSERT_EQUAL_UINT64(1, scenario->spec.seed);
    TEST_ASSERT_EQUAL_INT(RT_PACE_REAL, scenario->spec.pace);
    TEST_ASSERT_FALSE(scenario->commit_given);
    TEST_ASSERT_EQUAL_INT(RT_OVERRUN_SKIP, scenario->spec.overrun);
    TEST_ASSERT_EQUAL_UINT32(10, scenario->spec.max_catch_up);
    TEST_ASSERT_FALSE(scenario->require_realtime);
    TEST_ASSERT_EQUAL_INT(IO_LINK_THREADED, scenario->spec.io_mode);
    TEST_ASSERT_EQUAL_INT(-1, scenario->spec.frame_cpu);
    TEST_ASSERT_EQUAL_INT(-1, scenario->spec.io_cpu);
    TEST_ASSERT_EQUAL_INT(90, scenario->spec.frame_priority);
    TEST_ASSERT_EQUAL_INT(80, scenario->spec.io_priority);
    TEST_ASSERT_EQUAL_INT(RT_WAIT_HYBRID, scenario->spec.wait);
    TEST_ASSERT_EQUAL_UINT64(0, scenario->spec.lead_ns);
    TEST_ASSERT_EQUAL_UINT64(500000000, scenario->spec.watchdog_ns);
    TEST_ASSERT_EQUAL_INT(DYN_RK4, scenario->spec.integrator);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.substeps);
    TEST_ASSERT_EQUAL_UINT32(1, scenario->spec.log_every);
    EXPECT_VECTOR(scenario->spec.environment.gravity, 0, 0, 0);
    expect_home(47.397742 * PI / 180, 8.545594 * PI / 180, 488);
}

static void test_defaults_of_devices_and_links(void)
{
    load(small_text);
    TEST_ASSERT_EQUAL_UINT32(1, scenario->spec.sensors[0].every);
    EXPECT_VECTOR(scenario->spec.sensors[0].triad.mounting, 1, 0, 0, 0, 1, 0, 0, 0, 1);
    TEST_ASSERT_EQUAL_DOUBLE(0.3, scenario->spec.effectors[0].drive.gain);
    const struct sim_link *link = &scenario->spec.links[0];
    TEST_ASSERT_EQUAL_UINT32(4, link->every[IO_MESSAGE_SENSOR]);
    TEST_ASSERT_EQUAL_UINT32(20, link->every[IO_MESSAGE_STATE]);
    TEST_ASSERT_EQUAL_UINT32(100, link->every[IO_MESSAGE_GPS]);
    TEST_ASSERT_EQUAL_UINT32(1000, link->every[IO_MESSAGE_HEARTBEAT]);
    TEST_ASSERT_EQUAL_UINT32(1000, link->every[IO_MESSAGE_TIME]);
    TEST_ASSERT_EQUAL_STRING("", link->spec.bus.peer);
    TEST_ASSERT_FALSE(link->stop_on_loss);
    TEST_ASSERT_EQUAL_UINT64(500000000, link->spec.lost_after_ns);
    TEST_ASSERT_EQUAL_INT(0, scenario->controller.argument_count);
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.target_body);
    EXPECT_VECTOR(scenario->spec.target, 1, 0, 0, 0);
}

/* 250 Hz does not divide 20 Hz; a rate that is a default is adjusted. */
static void test_unwritten_message_rates_fit_a_slow_frame(void)
{
    const char *const overrides[] = {"rate=20 Hz"};
    TEST_ASSERT_EQUAL_INT(0, cfg_scenario_load_text("s.yaml", small_text, strlen(small_text),
                                                    overrides, 1, &scenario, error));
    TEST_ASSERT_EQUAL_UINT32(1, scenario->spec.links[0].every[IO_MESSAGE_SENSOR]);
    TEST_ASSERT_EQUAL_UINT32(2, scenario->spec.links[0].every[IO_MESSAGE_GPS]);
    TEST_ASSERT_EQUAL_UINT32(20, scenario->spec.links[0].every[IO_MESSAGE_TIME]);
}

static void test_a_single_scalar_stands_for_its_mapping(void)
{
    load("name: x\noverrun: stop\nio: inline\nintegrator: semi-implicit-euler\n"
         "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n");
    TEST_ASSERT_EQUAL_INT(RT_OVERRUN_STOP, scenario->spec.overrun);
    TEST_ASSERT_EQUAL_INT(IO_LINK_INLINE, scenario->spec.io_mode);
    TEST_ASSERT_EQUAL_INT(DYN_SEMI_IMPLICIT_EULER, scenario->spec.integrator);
    EXPECT_VECTOR(scenario->spec.bodies[0].position, 0, 0, 0, 1, 0, 0, 0);
}

/* A rate with a period of whole nanoseconds need not be a whole number itself. */
static void test_rates_on_the_nanosecond_grid(void)
{
    static const struct {
        const char *override;
        uint64_t period_ns;
    } rates[] = {{"rate=20 kHz", 50000},
                 {"rate=8 kHz", 125000},
                 {"rate=312.5 Hz", 3200000},
                 {"rate=1.6", 625000000},
                 {"rate=1", 1000000000}};
    static const char text[] = "name: x\nframe: {watchdog: 10 s}\nbodies: [{name: a, joint: free, "
                               "mass: 1, inertia: 1 1 1}]\n";
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        cfg_scenario_free(scenario);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0,
                                      cfg_scenario_load_text("s.yaml", text, strlen(text),
                                                             &rates[i].override, 1, &scenario,
                                                             error),
                                      error);
        TEST_ASSERT_EQUAL_UINT64(rates[i].period_ns, scenario->spec.period_ns);
    }
}

/* Typed with seven digits, a third of the frame rate is a third of the frame rate. */
static void test_a_typed_fraction_divides_the_frame_rate(void)
{
    load("name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
         "devices: [{name: g, type: gyro, body: a, rate: 333.3333 Hz}]\n");
    TEST_ASSERT_EQUAL_UINT32(3, scenario->spec.sensors[0].every);
    NEAR(0.003, scenario->spec.sensors[0].triad.sample_time);
}

/* ---- files ---- */

static void test_every_shipped_scenario_loads(void)
{
    char pattern[256];
    glob_t shipped;
    snprintf(pattern, sizeof pattern, "%s/config/scenarios/*.yaml", source_root);
    TEST_ASSERT_EQUAL_INT(0, glob(pattern, 0, NULL, &shipped)); /* there is one at least */
    for (size_t i = 0; i < shipped.gl_pathc; i++) {
        const char *path = shipped.gl_pathv[i];
        cfg_scenario_free(scenario);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, cfg_scenario_load(path, NULL, 0, &scenario, error), error);
        TEST_ASSERT_EQUAL_STRING("", error);
        TEST_ASSERT_EQUAL_STRING(path, scenario->path);
    }
    globfree(&shipped);
}

static void expect_unreadable(int code, const char *path, const char *what)
{
    char expected[CFG_ERROR_MAX];
    snprintf(expected, sizeof expected, "%s: %s", path, what);
    TEST_ASSERT_EQUAL_INT(-code, cfg_scenario_load(path, NULL, 0, &scenario, error));
    TEST_ASSERT_NULL(scenario);
    TEST_ASSERT_EQUAL_STRING(expected, error);
}

static void test_files_that_cannot_be_read_are_one_line(void)
{
    char folder[] = "/tmp/airbearing-XXXXXX", path[64];
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    expect_unreadable(ENOENT, path, "there is no such file; check the path");
    expect_unreadable(EISDIR, folder, "this is a directory; name the scenario file in it");

    FILE *file = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(file);
    for (int i = 0; i <= 16 << 20; i++)
        fputc('#', file);
    fclose(file);
    expect_unreadable(
        EINVAL, path,
        "more than 16777216 bytes; no scenario is that long, is this the right file?");
    if (geteuid() != 0) {
        TEST_ASSERT_EQUAL_INT(0, chmod(path, 0));
        expect_unreadable(EACCES, path, "no permission to read it; check its owner and mode");
    }
    unlink(path);
    rmdir(folder);
}

/* ---- what is asked of a scenario later ---- */

static void test_a_live_board_cannot_follow_pace_fast(void)
{
    load(base_text);
    TEST_ASSERT_EQUAL_INT(0, cfg_check_pace(scenario, RT_PACE_REAL, error));
    TEST_ASSERT_EQUAL_INT(0, cfg_check_pace(scenario, RT_PACE_LOCKSTEP, error));
    TEST_ASSERT_EQUAL_STRING("", error);
    TEST_ASSERT_EQUAL_INT(-EINVAL, cfg_check_pace(scenario, RT_PACE_FAST, error));
    TEST_ASSERT_EQUAL_STRING("s.yaml:59:5: a board on link \"board\" cannot follow pace fast; use "
                             "--pace real or --pace lockstep",
                             error);
}

static void test_lockstep_needs_a_board(void)
{
    load("name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n");
    TEST_ASSERT_EQUAL_INT(0, cfg_check_pace(scenario, RT_PACE_FAST, error));
    TEST_ASSERT_EQUAL_INT(-EINVAL, cfg_check_pace(scenario, RT_PACE_LOCKSTEP, error));
    TEST_ASSERT_EQUAL_STRING(
        "s.yaml: pace lockstep needs a link whose board sets the pace; add one "
        "or use --pace fast",
        error);
}

/* What print gives, as one string to be freed. */
static char *printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    TEST_ASSERT_NOT_NULL(out);
    print(out);
    fclose(out);
    return text;
}

static void print_scenario(FILE *out)
{
    cfg_scenario_print(scenario, out);
}

static void test_a_scenario_is_printed_as_a_tree(void)
{
    load(base_text);
    char *text = printed(print_scenario);
    TEST_ASSERT_NOT_NULL(strstr(text, "bench: 1000 frames/s (1 ms), 20 s, pace real, overrun "
                                      "catch-up, seed 7\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "\n  bus "));
    TEST_ASSERT_NOT_NULL(strstr(text, "\n    boom "));
    TEST_ASSERT_NOT_NULL(strstr(text, "spring 8000 N/m, damper 2 N s/m\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, " on bus, 250 Hz, 8 ms late\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "12.57 N m s, control 2 of board\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "heartbeat 2 Hz  sensor 500 Hz  gps 5 Hz  state 100 Hz\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "\n  rate > 0.5 deg/s within 500 ms\n"));
    free(text);
}

static void test_every_integrator_is_chosen_and_printed_by_its_name(void)
{
    static const char *const names[] = {[DYN_SEMI_IMPLICIT_EULER] = "semi-implicit-euler",
                                        [DYN_RK2] = "rk2",
                                        [DYN_RK4] = "rk4",
                                        [DYN_AB2] = "ab2",
                                        [DYN_AB3] = "ab3",
                                        [DYN_AB4] = "ab4",
                                        [DYN_ROS2] = "ros2"};
    for (int k = DYN_SEMI_IMPLICIT_EULER; k <= DYN_ROS2; k++) {
        char text[256], line[64];
        snprintf(text, sizeof text,
                 "name: x\nintegrator: %s\n"
                 "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n",
                 names[k]);
        load(text);
        TEST_ASSERT_EQUAL_INT(k, scenario->spec.integrator);
        snprintf(line, sizeof line, "integrator %s, 1 step a frame\n", names[k]);
        char *out = printed(print_scenario);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out, line), out);
        free(out);
        cfg_scenario_free(scenario);
        scenario = NULL;
    }
}

/* The reference in config/README.md is what the program prints, to the letter. */
static void test_the_written_reference_is_the_printed_one(void)
{
    char path[256];
    static char readme[1 << 17];
    snprintf(path, sizeof path, "%s/config/README.md", source_root);
    FILE *file = fopen(path, "r");
    TEST_ASSERT_NOT_NULL(file);
    const size_t size = fread(readme, 1, sizeof readme - 1, file);
    fclose(file);
    TEST_ASSERT_GREATER_THAN_size_t(0, size);
    char *schema = printed(cfg_schema_print);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(readme, schema),
                                 "paste the output of `airbearing check --schema` into README.md");
    free(schema);
}

int main(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    UNITY_BEGIN();
    RUN_TEST(test_the_run_is_read);
    RUN_TEST(test_decimated_channels_and_the_trigger_are_read);
    RUN_TEST(test_the_threads_are_read);
    RUN_TEST(test_the_world_is_read);
    RUN_TEST(test_bodies_are_sorted_parent_before_child);
    RUN_TEST(test_a_free_body_is_read);
    RUN_TEST(test_hinged_and_sliding_bodies_are_read);
    RUN_TEST(test_rotors_are_taken_out_of_the_inertia);
    RUN_TEST(test_instruments_are_read);
    RUN_TEST(test_mounting_takes_body_axes_to_instrument_axes);
    RUN_TEST(test_euler_angles_turn_in_the_stated_order);
    RUN_TEST(test_a_quaternion_typed_with_four_digits_becomes_unit);
    RUN_TEST(test_two_links_may_use_the_same_control);
    RUN_TEST(test_inline_links_need_no_core_and_no_priority);
    RUN_TEST(test_wheels_are_read);
    RUN_TEST(test_links_are_read);
    RUN_TEST(test_controller_target_and_expectations_are_read);
    RUN_TEST(test_defaults_of_the_run);
    RUN_TEST(test_defaults_of_devices_and_links);
    RUN_TEST(test_unwritten_message_rates_fit_a_slow_frame);
    RUN_TEST(test_a_single_scalar_stands_for_its_mapping);
    RUN_TEST(test_rates_on_the_nanosecond_grid);
    RUN_TEST(test_a_typed_fraction_divides_the_frame_rate);
    RUN_TEST(test_every_shipped_scenario_loads);
    RUN_TEST(test_files_that_cannot_be_read_are_one_line);
    RUN_TEST(test_a_live_board_cannot_follow_pace_fast);
    RUN_TEST(test_lockstep_needs_a_board);
    RUN_TEST(test_a_scenario_is_printed_as_a_tree);
    RUN_TEST(test_every_integrator_is_chosen_and_printed_by_its_name);
    RUN_TEST(test_the_written_reference_is_the_printed_one);
    return UNITY_END();
}
