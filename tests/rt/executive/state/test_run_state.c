/*
 * A run state from outside: one that was accepted is valid, and one number of it that cannot be
 * makes it unsound.
 */
#include "config/scenario.h"
#include "tests/rt/executive/frames.h"

static unsigned char *forged;

static void bring_up_arm(void)
{
    char error[CFG_ERROR_MAX] = "";
    const char *const overrides[] = {"links.hand.bus=udp", "links.hand.listen=127.0.0.1:14590"};
    bring_down();
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load(AIRBEARING_SCENARIOS "/rms.yaml", overrides, 2, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = gather_nothing;
    frames = 0;
    run_frames(30);
    forged = malloc(sim->vehicle->state_size);
    memcpy(forged, sim->vehicle->state, sim->vehicle->state_size);
}

static void expect(const char *part)
{
    const char *flaw = sim_run_state_problem(sim->vehicle, forged);
    TEST_ASSERT_EQUAL_INT_MESSAGE(part != NULL, flaw != NULL, part ? part : flaw);
    if (part)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(flaw, part), flaw);
}

/* With one number of the state put to this value, and back again. */
static void forge(const void *number, uint64_t value, const char *part)
{
    const size_t at = (size_t)((const unsigned char *)number - sim->vehicle->state);
    TEST_ASSERT_LESS_THAN_size_t(sim->vehicle->state_size, at);
    memcpy(forged + at, &value, sizeof value);
    expect(part);
    memcpy(forged + at, number, sizeof value);
    expect(NULL);
}

static void test_a_state_that_was_accepted_is_valid(void)
{
    bring_up_arm();
    expect(NULL);
    memcpy(forged, sim->vehicle->start, sim->vehicle->state_size);
    expect(NULL);
    free(forged);
}

static void test_every_number_that_leads_into_a_table_is_looked_at(void)
{
    bring_up_arm();
    const struct sim_arm_state *arm = sim->vehicle->arm;
    const struct sim_arm *spec = &scenario->spec.arm;
    const uint64_t joints = (uint64_t)spec->joint_count, poses = (uint64_t)spec->pose_count,
                   payloads = (uint64_t)spec->payload_count;
    TEST_ASSERT_TRUE(payloads > 0 && poses > 0);
    forge(&arm->configuration, payloads + 1, "in the arm's hand");
    forge(&arm->configuration, UINT64_MAX, "in the arm's hand");
    forge(&arm->panel.mode, IO_ARM_PANEL_MODE_COUNT, "mode does not exist");
    forge(&arm->panel.joint, joints, "the joint that");
    forge(&arm->panel.joint, UINT64_MAX, "the joint that");
    forge(&arm->panel.joint, joints - 1, NULL);
    forge(&arm->panel.pose, poses + 1, "the pose that");
    forge(&arm->panel.pose, poses, NULL);
    forge(&arm->near, payloads + 1, "nearest");
    forge(&arm->near, payloads, NULL);
    forge(&arm->latched, 1ull << payloads, "latched");
    for (int n = 0; n < DYN_ARM_JOINT_MAX; n++)
        forge(&arm->brake[n], SIM_ARM_BRAKE_HOLDS + 1, "brakes");
    free(forged);
}

static void forge_real(const double *number, double value, const char *part)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    forge(number, bits, part);
}

/* It multiplies the torque of a brake that slips. */
static void test_a_brake_rubs_in_either_direction(void)
{
    bring_up_arm();
    for (int n = 0; n < DYN_ARM_JOINT_MAX; n++) {
        forge_real(&sim->vehicle->arm->rub[n], -1.0, NULL);
        forge_real(&sim->vehicle->arm->rub[n], 1.0, NULL);
        forge_real(&sim->vehicle->arm->rub[n], (double)NAN, "brakes");
        forge_real(&sim->vehicle->arm->rub[n], 1e6, "brakes");
    }
    free(forged);
}

static void test_what_the_hand_has_no_bay_has(void)
{
    bring_up_arm();
    struct sim_arm_state *arm =
        (void *)(forged + ((const unsigned char *)sim->vehicle->arm - sim->vehicle->state));
    arm->configuration = 1;
    arm->latched = 1;
    expect("latched");
    arm->latched = 0;
    expect(NULL);
    free(forged);
}

static void test_what_is_no_number_is_refused(void)
{
    const uint64_t nan = 0x7ff8000000000000, infinity = 0x7ff0000000000000;
    bring_up_arm();
    for (int i = 0; i < dyn_plant_state_count(&sim->vehicle->plant); i++)
        forge(&sim->vehicle->x[i], i % 2 ? nan : infinity, "the vehicle's state has a NaN");
    forge(&sim->vehicle->arm->reference[0], nan, "servos have a NaN");
    forge(&sim->vehicle->arm->command[DYN_ARM_JOINT_MAX - 1], infinity, "servos have a NaN");
    const struct sim_arm_state *arm = sim->vehicle->arm;
    const double *const shown[] = {&arm->asked[0],   &arm->asked[5],  &arm->reach,
                                   &arm->tilt,       &arm->closing,   &arm->blow,
                                   &arm->impulse[0], &arm->impulse[5]};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        forge(shown[i], i % 2 ? nan : infinity, "displayed state has a NaN");
    forge(&sim->vehicle->link[0].control[0], nan, NULL); /* a stick that says so does nothing */
    for (int i = 0; i < scenario->spec.parameter_count; i++)
        forge(&sim->vehicle->parameter[i], nan, "limits");
    free(forged);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_state_that_was_accepted_is_valid);
    RUN_TEST(test_every_number_that_leads_into_a_table_is_looked_at);
    RUN_TEST(test_a_brake_rubs_in_either_direction);
    RUN_TEST(test_what_the_hand_has_no_bay_has);
    RUN_TEST(test_what_is_no_number_is_refused);
    return UNITY_END();
}
