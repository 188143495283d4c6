/*
 * Instruments and wheels on a node of a flexible body: do they feel the modes, and excite them?
 *
 * A cantilever of length 1 m and mass 2 kg in its first mode, at 1.5 Hz.  Its tip moves by w and
 * turns by 1.3765 w / length (beam tables: 1.8751 times 0.7341), and it meets a force there with a
 * modal mass of a quarter of its mass, as phi(tip)^2 is 4 / mass in every such mode.
 */
#include <math.h>
#include <stdlib.h>

#include "config/scenario.h"
#include "rt/executive/sim.h"
#include "unity.h"

static const double omega = 2.0 * M_PI * 1.5, mass = 2.0, slope = 1.3765;
static const double torque = 0.002;
static const double near = 0.01; /* what the tip body weighs, and makes late in three periods */

/* The tip has next to no mass; the rotor is half of its inertia. */
static const char text[] =
    "name: node\n"
    "rate: 1 kHz\n"
    "environment: {gravity: 0 0 0 m/s^2}\n"
    "bodies:\n"
    "  - {name: wall, joint: {type: fixed}, mass: 1 kg, inertia: 1 1 1 kg m^2}\n"
    "  - {name: panel, parent: wall, joint: {type: fixed}, flex: {type: beam, length: 1 m,\n"
    "     mass: 2 kg, bend_z: {modes: 1, frequency: 1.5 Hz}, start: 0,\n"
    "     nodes: [{name: tip, x: 1 m}]}}\n"
    "  - {name: tip, parent: panel, joint: {type: fixed, node: tip}, mass: 1e-4 kg,\n"
    "     inertia: 2e-4 2e-4 2e-4 kg m^2}\n"
    "  - {name: root, parent: panel, joint: {type: fixed, node: frame}, mass: 1 kg,\n"
    "     inertia: 1 1 1 kg m^2}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: tip}\n"
    "  - {name: accelerometer, type: accelerometer, body: tip}\n"
    "  - {name: wheel, type: wheel, body: tip, axis: 0 1 0, inertia: 1e-4 kg m^2,\n"
    "     max_torque: 0.002 N m, max_speed: 6000 rpm, command: {link: board, control: 0}}\n"
    "links:\n"
    "  - {name: board, listen: 127.0.0.1:14560, body: tip}\n";

enum { GYRO, ACCELEROMETER };
enum { FRAMES = 2000 }; /* three periods */

static struct cfg_scenario *scenario;
static struct sim *sim;
static struct rt_frame_tasks tasks;
static double control;

static void read_inputs(void *self, struct sim *to, uint64_t frame)
{
    (void)self;
    struct sim_record_input input = {.frame = frame, .command.kind = IO_COMMAND_CONTROLS};
    input.command.controls[0] = (float)control;
    sim_apply_input(to, &input);
}

static void load(const char *const *settings, int count)
{
    char error[CFG_ERROR_MAX] = "";
    const int code = cfg_scenario_load_text("node.yaml", text, sizeof text - 1, settings, count,
                                            &scenario, error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, code, error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = read_inputs;
    tasks = sim_tasks(sim);
}

void setUp(void)
{
    control = 0.0;
}

void tearDown(void)
{
    free(sim);
    cfg_scenario_free(scenario);
    sim = NULL;
    scenario = NULL;
}

/* One frame; the time at its end. */
static double run_frame(uint64_t frame)
{
    tasks.latch(tasks.self, frame, false);
    rt_schedule_run(sim->schedule, frame);
    tasks.commit(tasks.self, frame);
    return 1e-3 * (double)(frame + 1);
}

static double reads(int sensor, int axis)
{
    return ((const struct io_three_axis_sensor_state *)sim->vehicle->instrument[sensor])->out[axis];
}

static void test_instruments_at_the_tip_feel_the_panel_ring_at_its_frequency(void)
{
    const char *const rings[] = {"bodies.panel.flex.start=0.001"};
    load(rings, 1);
    const double t0 = run_frame(0);
    const double amplitude = reads(ACCELEROMETER, 2) / cos(omega * t0);
    TEST_ASSERT_TRUE(fabs(amplitude) > 0.01);
    for (uint64_t frame = 1; frame < FRAMES; frame++) {
        const double t = run_frame(frame);
        /* w = -amplitude / omega^2 cos, and the tip turns about -y as it goes along z. */
        const double rate = -amplitude / omega * slope * sin(omega * t);
        TEST_ASSERT_DOUBLE_WITHIN(near * fabs(amplitude), amplitude * cos(omega * t),
                                  reads(ACCELEROMETER, 2));
        TEST_ASSERT_DOUBLE_WITHIN(near * fabs(amplitude) / omega * slope, rate, reads(GYRO, 1));
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, reads(GYRO, 0));
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, reads(GYRO, 2));
    }
}

static void test_instruments_at_the_joint_of_a_ringing_panel_feel_nothing(void)
{
    const char *const at_root[] = {"bodies.panel.flex.start=0.001", "devices.gyro.body=root",
                                   "devices.accelerometer.body=root"};
    load(at_root, 3);
    for (uint64_t frame = 0; frame < 100; frame++) {
        run_frame(frame);
        for (int axis = 0; axis < 3; axis++) {
            TEST_ASSERT_EQUAL_DOUBLE(0.0, reads(GYRO, axis));
            TEST_ASSERT_EQUAL_DOUBLE(0.0, reads(ACCELEROMETER, axis));
        }
    }
}

static void test_a_wheel_at_the_tip_excites_the_mode(void)
{
    load(NULL, 0);
    control = 1.0;
    /* One mode under the constant torque that the motor leaves on the tip. */
    const double peak = torque * slope * slope * 4.0 / mass / omega;
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        const double t = run_frame(frame);
        TEST_ASSERT_DOUBLE_WITHIN(near * peak, -peak * sin(omega * t), reads(GYRO, 1));
    }
}

static void test_a_wheel_at_rest_leaves_the_mode_at_rest(void)
{
    load(NULL, 0);
    for (uint64_t frame = 0; frame < 100; frame++)
        run_frame(frame);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, reads(GYRO, 1));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, reads(ACCELEROMETER, 2));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_instruments_at_the_tip_feel_the_panel_ring_at_its_frequency);
    RUN_TEST(test_instruments_at_the_joint_of_a_ringing_panel_feel_nothing);
    RUN_TEST(test_a_wheel_at_the_tip_excites_the_mode);
    RUN_TEST(test_a_wheel_at_rest_leaves_the_mode_at_rest);
    return UNITY_END();
}
