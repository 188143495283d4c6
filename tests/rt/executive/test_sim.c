/*
 * The frame of a compiled scenario: is the run state really all of the state, do the right samples
 * leave at the right times, does a command reach the wheels?
 */
#include "config/scenario.h"
#include "rt/executive/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/hash.h"
#include "unity.h"

static const char text[] =
    "name: test\n"
    "rate: 1 kHz\n"
    "seed: 5\n"
    "environment: {gravity: 0 0 0 m/s^2, magnetic_field: 20 0 40 uT}\n"
    "bodies:\n"
    "  - {name: bus, joint: {type: free, rate: 1 2 3 deg/s}, mass: 100 kg, inertia: 8 13 6 kg "
    "m^2}\n"
    "  - {name: panel, parent: bus, joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m,\n"
    "     stiffness: 60 N m/rad, angle: 3 deg}, mass: 2 kg, center: 0 0.5 0 m,\n"
    "     inertia: 0.167 0.06 0.227 kg m^2}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: bus, rate: 250 Hz, noise: 0.01 deg/s/sqrt(Hz),\n"
    "     bias_walk: 1e-4 deg/s/sqrt(s)}\n"
    "  - {name: accelerometer, type: accelerometer, body: bus, rate: 250 Hz, noise: 1 "
    "mg0/sqrt(Hz)}\n"
    "  - {name: magnetometer, type: magnetometer, body: bus, rate: 50 Hz, noise: 10 nT/sqrt(Hz)}\n"
    "  - {name: wheel, type: wheel, body: bus, axis: 1 0 0, inertia: 0.02 kg m^2,\n"
    "     max_torque: 0.2 N m, max_speed: 6000 rpm, command: {link: board, control: 3}}\n"
    "links:\n"
    "  - {name: board, listen: 127.0.0.1:14560, body: bus, send: {sensor: 250 Hz, state: 50 Hz,\n"
    "     gps: 10 Hz, heartbeat: 1 Hz, time: 1 Hz}}\n";

static struct cfg_scenario *scenario;
static struct sim *sim;
static struct rt_frame_tasks tasks;
static uint64_t sent[5];

/* A command every 7 frames, as if a board had sent it: a function of the frame alone. */
static void read_inputs(void *self, struct sim *to, uint64_t frame)
{
    (void)self;
    if (frame % 7 != 3)
        return;
    struct sim_record_input input = {.frame = frame, .command.kind = IO_COMMAND_CONTROLS};
    input.command.controls[3] = (float)sin(0.01 * (double)frame);
    sim_apply_input(to, &input);
}

void setUp(void)
{
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, sizeof text - 1, NULL, 0, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = read_inputs;
    tasks = sim_tasks(sim);
    memset(sent, 0, sizeof sent);
}

void tearDown(void)
{
    free(sim);
    cfg_scenario_free(scenario);
}

static void run_frames(uint64_t first, uint64_t count)
{
    for (uint64_t frame = first; frame < first + count; frame++) {
        tasks.latch(tasks.self, frame, false);
        rt_schedule_run(sim->schedule, frame);
        for (int i = 0; i < 5; i++)
            sent[i] += sim->scratch.sample[0].due >> i & 1;
        tasks.commit(tasks.self, frame);
    }
}

static void test_the_run_state_is_all_of_the_state(void)
{
    run_frames(0, 500);
    void *snapshot = malloc(sim->vehicle->state_size);
    memcpy(snapshot, sim->vehicle->state, sim->vehicle->state_size);
    sim->scratch.hash = 0;
    run_frames(500, 500);
    const uint64_t first = sim->scratch.hash;

    memcpy(sim->vehicle->state, snapshot, sim->vehicle->state_size);
    sim->scratch.hash = 0;
    run_frames(500, 500);
    TEST_ASSERT_EQUAL_HEX64(first, sim->scratch.hash);
    free(snapshot);
}

static void test_every_byte_of_the_state_counts_in_the_hash(void)
{
    run_frames(0, 10);
    sim->scratch.hash = 0;
    const uint64_t before = rt_hash(0, sim->vehicle->state, sim->vehicle->state_size);
    for (size_t i = 0; i < sim->vehicle->state_size; i++) {
        sim->vehicle->state[i] ^= 1;
        TEST_ASSERT_NOT_EQUAL_HEX64(before,
                                    rt_hash(0, sim->vehicle->state, sim->vehicle->state_size));
        sim->vehicle->state[i] ^= 1;
    }
}

static void test_a_rehearsal_leaves_no_trace(void)
{
    struct sim *other = sim_create(&scenario->spec);
    sim_warm_up(sim);
    TEST_ASSERT_EQUAL_MEMORY(other->vehicle->state, sim->vehicle->state, sim->vehicle->state_size);
    TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.hash);
    TEST_ASSERT_EQUAL_UINT64(0, sim->scratch.inputs);
    TEST_ASSERT_EQUAL_UINT32(0, sim->scratch.sample[0].due);
    for (int i = 0; i < sim->schedule->job_count; i++)
        TEST_ASSERT_EQUAL_UINT64(0, sim->schedule->time[i].count);
    free(other);
}

static void test_messages_leave_at_their_rates_and_at_whole_multiples(void)
{
    run_frames(0, 1000);
    TEST_ASSERT_EQUAL_UINT64(250, sent[1]); /* sensor */
    TEST_ASSERT_EQUAL_UINT64(50, sent[3]);  /* state */
    TEST_ASSERT_EQUAL_UINT64(10, sent[2]);  /* gps */
    TEST_ASSERT_EQUAL_UINT64(1, sent[0]);   /* heartbeat */
    TEST_ASSERT_EQUAL_UINT64(1, sent[4]);   /* time */
    TEST_ASSERT_EQUAL_UINT64(1000000, sim->scratch.sample[0].sim_us);
}

static void test_a_command_reaches_its_wheel_in_the_frame_that_latched_it(void)
{
    run_frames(0, 3);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, sim->vehicle->command[0]);
    run_frames(3, 1);
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.2 * sin(0.03), sim->vehicle->command[0]);
    run_frames(4, 6);
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.2 * sin(0.03), sim->vehicle->command[0]);
}

static void test_a_lost_link_makes_the_controls_zero(void)
{
    run_frames(0, 200);
    TEST_ASSERT_TRUE(sim->vehicle->command[0] > 0.01);
    struct sim_record_input loss = {.frame = 200, .command.kind = IO_COMMAND_LOSS};
    sim->source.read_inputs = NULL;
    sim_apply_input(sim, &loss);
    rt_schedule_run(sim->schedule, 200);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, sim->vehicle->command[0]);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->link[0].lost);
}

static void test_a_control_that_is_not_a_number_never_enters_the_plant(void)
{
    struct sim_record_input input = {.frame = 0, .command.kind = IO_COMMAND_CONTROLS};
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        input.command.controls[i] = NAN;
    sim_apply_input(sim, &input);
    rt_schedule_run(sim->schedule, 0);
    TEST_ASSERT_EQUAL_UINT64(0, sim->vehicle->schedule->not_finite);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, sim->vehicle->command[0]);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->drive[0].rejected);
}

/* A log that is not drained, as on a disk that takes nothing any more. */
static void test_a_run_that_is_stopped_does_not_wait_for_the_log(void)
{
    static struct io_channel_spec channels[IO_CHANNEL_MAX];
    const struct sim_inject none = {0};
    const struct dyn_model *model = sim->vehicle->plant.model;
    struct sim_record_jobs jobs;
    atomic_bool stop = true;
    sim_job_names(&scenario->spec, &none, &jobs);
    sim_record_channels(&scenario->spec, dyn_model_nq(model), dyn_model_nv(model), &jobs, channels);
    const size_t size = io_telemetry_size(channels, sim->layout.count);
    void *memory = aligned_alloc(64, (size / 64 + 1) * 64);
    memset(memory, 0, size);
    sim->telemetry = io_telemetry_place(channels, sim->layout.count, memory);
    sim->stop = &stop;
    scenario->spec.pace = RT_PACE_FAST;
    uint64_t frame = 0;
    while (io_telemetry_has_room(sim->telemetry, sim->layout.frame))
        tasks.record(tasks.self, &(struct rt_frame_record){.frame = frame++});
    tasks.record(tasks.self, &(struct rt_frame_record){.frame = frame}); /* and comes back */
    TEST_ASSERT_GREATER_THAN_UINT64(0, frame);
    sim->telemetry = NULL;
    free(memory);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_run_state_is_all_of_the_state);
    RUN_TEST(test_every_byte_of_the_state_counts_in_the_hash);
    RUN_TEST(test_a_rehearsal_leaves_no_trace);
    RUN_TEST(test_messages_leave_at_their_rates_and_at_whole_multiples);
    RUN_TEST(test_a_command_reaches_its_wheel_in_the_frame_that_latched_it);
    RUN_TEST(test_a_lost_link_makes_the_controls_zero);
    RUN_TEST(test_a_control_that_is_not_a_number_never_enters_the_plant);
    RUN_TEST(test_a_run_that_is_stopped_does_not_wait_for_the_log);
    return UNITY_END();
}
