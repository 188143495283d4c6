#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/executive/sim.h"
#include "unity.h"

/* Five metres above the ground, which an operator may move. */
static const char text[] =
    "name: hover\nrate: 1 kHz\nseconds: 5\npace: real\n"
    "environment: {world: local, ground: 0 m}\n"
    "bodies:\n"
    "  - {name: bus, joint: {type: free, position: 3 4 -5 m}, mass: 1 kg, inertia: 1 1 1 kg m^2}\n"
    "links:\n"
    "  - {name: board, protocol: betaflight, body: bus, listen: \"127.0.0.1:9002\",\n"
    "     sticks: [{at: 0, height: 1 m}]}\n"
    "tunable: [environment.ground]\n";

static struct cfg_scenario *scenario;
static struct sim *sim;

void setUp(void)
{
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, sizeof text - 1, NULL, 0, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
}

void tearDown(void)
{
    free(sim);
    cfg_scenario_free(scenario);
}

static void test_the_truth_of_a_link(void)
{
    const double at[3] = {3.0, 4.0, -5.0};
    sim_sample_all_sensors(sim);
    const struct io_sample *sample = &sim->scratch.sample[0];
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(at, sample->position, 3);
    TEST_ASSERT_EQUAL_DOUBLE(5.0, sample->range);
    TEST_ASSERT_EQUAL_UINT32(3, sample->fix.type); /* without a receiver there is a perfect one */
    TEST_ASSERT_EQUAL_DOUBLE(sample->altitude, sample->fix.altitude);
}

/* The rangefinder and the pilot see the ground where the feet do. */
static void test_a_ground_that_was_moved_is_where_the_operator_put_it(void)
{
    sim_sample_all_sensors(sim);
    const uint16_t throttle = sim->scratch.sample[0].rc[2];
    sim_vehicle_tune(sim->vehicle, 0, 7.0);
    sim_sample_all_sensors(sim);
    TEST_ASSERT_EQUAL_DOUBLE(12.0, sim->scratch.sample[0].range);
    TEST_ASSERT_TRUE(sim->scratch.sample[0].rc[2] <= throttle);
    sim_vehicle_tune(sim->vehicle, 0, -4.5);
    sim_sample_all_sensors(sim);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, sim->scratch.sample[0].range);
    TEST_ASSERT_GREATER_THAN_UINT16(throttle, sim->scratch.sample[0].rc[2]);
    sim_vehicle_tune(sim->vehicle, 0, -6.0);
    sim_sample_all_sensors(sim);
    TEST_ASSERT_EQUAL_DOUBLE(0.0,
                             sim->scratch.sample[0].range); /* below the ground there is none */
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_truth_of_a_link);
    RUN_TEST(test_a_ground_that_was_moved_is_where_the_operator_put_it);
    return UNITY_END();
}
