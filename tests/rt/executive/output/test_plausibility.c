/*
 * A motion that blows up is found in the frame in which it does; none of the shipped scenarios is
 * taken for one, whatever its actuators do.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"
#include "unity.h"

static struct cfg_scenario *scenario;
static struct sim *sim;
static struct rt_frame_tasks tasks;

void setUp(void)
{
}

void tearDown(void)
{
    free(sim);
    sim = NULL;
    cfg_scenario_free(scenario);
    scenario = NULL;
}

/* Every control of every link goes from one end to the other, each at its own pace. */
static void push(void *self, struct sim *to, uint64_t frame)
{
    (void)self;
    for (int link = 0; link < to->spec->link_count; link++) {
        struct sim_record_input input = {.frame = frame,
                                         .command.kind = IO_COMMAND_CONTROLS,
                                         .command.link = (uint8_t)link,
                                         .command.flags = 1};
        for (int i = 0; i < IO_CONTROL_MAX; i++)
            input.command.controls[i] = (float)sin((0.001 + 0.0007 * i) * (double)frame + i);
        sim_apply_input(to, &input);
    }
}

static void begin(void)
{
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = push;
    tasks = sim_tasks(sim);
}

static void run_frames(uint64_t count)
{
    for (uint64_t frame = 0; frame < count; frame++) {
        tasks.latch(tasks.self, frame, false);
        rt_schedule_run(sim->schedule, frame);
        tasks.commit(tasks.self, frame);
    }
}

static void load(const char *text)
{
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, strlen(text), NULL, 0, &scenario, error),
        error);
    begin();
}

#define BUS                                                                                        \
    "name: test\nrate: 1 kHz\nbodies:\n"                                                           \
    "  - {name: bus, joint: free, mass: 100 kg, inertia: 8 13 6 kg m^2}\n"                         \
    "  - {name: panel, parent: bus, mass: 2 kg, center: 0 0.5 0 m, inertia: 0.167 0.06 0.227 kg "  \
    "m^2,\n     joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m, angle: 1 deg, %s}}\n%s"

static void load_bus(const char *law, const char *rest)
{
    char text[2048];
    snprintf(text, sizeof text, BUS, law, rest);
    load(text);
}

/* The step is some times what the integrator can bear. */
static void test_energy_from_nowhere_is_found_and_the_body_named(void)
{
    load_bus("stiffness: 60 N m/rad", "");
    run_frames(2000);
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_OK, sim->scratch.plausibility.flaw);
    TEST_ASSERT_TRUE(sim->scratch.plausibility.reference > 0.0);
    free(sim);
    cfg_scenario_free(scenario);
    load_bus("rate: 0.001 deg/s", "");
    run_frames(100);
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_OK, sim->scratch.plausibility.flaw);
    /* As a kernel that makes energy would: ten times as fast in every frame, from frame 100 on. */
    for (uint64_t frame = 100; frame < 130 && sim->scratch.plausibility.flaw == SIM_PLAUSIBILITY_OK;
         frame++) {
        double *v = sim->vehicle->x + dyn_model_nq(sim->vehicle->plant.model);
        v[6] *= 10.0;
        rt_schedule_run(sim->schedule, frame);
    }
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_TOO_ENERGETIC, sim->scratch.plausibility.flaw);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(105, sim->scratch.plausibility.frame);
    TEST_ASSERT_LESS_THAN_UINT64(115, sim->scratch.plausibility.frame);
    TEST_ASSERT_TRUE(sim->scratch.plausibility.value > 1e6);
}

static void test_a_speed_beyond_the_bound_is_found_in_its_frame(void)
{
    load_bus("rate: 1 deg/s", "physics: {max_speed: 50 m/s}\n");
    run_frames(10);
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_OK, sim->scratch.plausibility.flaw);
    double *v = sim->vehicle->x + dyn_model_nq(sim->vehicle->plant.model);
    v[3] = 49.0; /* of the bus */
    rt_schedule_run(sim->schedule, 10);
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_OK, sim->scratch.plausibility.flaw);
    rt_schedule_run(sim->schedule, 11);
    v[3] = 120.0;
    rt_schedule_run(sim->schedule, 12);
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_TOO_FAST, sim->scratch.plausibility.flaw);
    TEST_ASSERT_EQUAL_UINT64(12, sim->scratch.plausibility.frame);
    TEST_ASSERT_DOUBLE_WITHIN(1.0, 120.0, sim->scratch.plausibility.value);
}

/* A motor's torque times its joint's rate, whatever the signs. */
static void test_the_power_of_motors_is_that_of_their_joints(void)
{
    static double tau[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -3.0};
    load_bus("rate: 0.2 rad/s", "");
    sim->vehicle->joint_tau = tau;
    sim_plausibility_start(&sim->scratch.plausibility, sim->vehicle, 0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.6, sim->scratch.plausibility.power);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.2, sim->scratch.plausibility.fastest);
    tau[0] = 5.0; /* of the bus, which does not turn */
    sim_plausibility_start(&sim->scratch.plausibility, sim->vehicle, 0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.6, sim->scratch.plausibility.power);
}

static void test_what_the_operator_changes_is_no_growth(void)
{
    load_bus("rate: 0.001 deg/s", "tunable: [{of: environment.gravity, low: -1e6, high: 1e6}]\n");
    run_frames(100);
    struct sim_record_act act = {.act = SIM_ACT_TUNE, .frame = 100, .index = 2, .value = 1e6};
    sim_apply_act(sim, &act, NULL);
    for (uint64_t frame = 100; frame < 102; frame++)
        rt_schedule_run(sim->schedule, frame);
    TEST_ASSERT_EQUAL_INT(SIM_PLAUSIBILITY_OK, sim->scratch.plausibility.flaw);
}

static void try_scenario(const char *name)
{
    static const char *const overrides[] = {"links.hand.bus=udp",
                                            "links.hand.listen=127.0.0.1:14590"};
    char path[512], error[CFG_ERROR_MAX] = "";
    snprintf(path, sizeof path, "%s/%s", AIRBEARING_SCENARIOS, name);
    if (cfg_scenario_load(path, NULL, 0, &scenario, error) &&
        cfg_scenario_load(path, overrides, 2, &scenario, error))
        TEST_FAIL_MESSAGE(error);
    begin();
    run_frames(4000);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SIM_PLAUSIBILITY_OK, sim->scratch.plausibility.flaw, name);
    tearDown();
}

static void test_no_shipped_scenario_alarms(void)
{
    int count = 0;
    DIR *folder = opendir(AIRBEARING_SCENARIOS);
    TEST_ASSERT_NOT_NULL(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".yaml") != 0)
            continue;
        try_scenario(entry->d_name);
        count++;
    }
    closedir(folder);
    TEST_ASSERT_GREATER_THAN_INT(8, count);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_energy_from_nowhere_is_found_and_the_body_named);
    RUN_TEST(test_a_speed_beyond_the_bound_is_found_in_its_frame);
    RUN_TEST(test_the_power_of_motors_is_that_of_their_joints);
    RUN_TEST(test_what_the_operator_changes_is_no_growth);
    RUN_TEST(test_no_shipped_scenario_alarms);
    return UNITY_END();
}
