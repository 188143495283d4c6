/*
 * The prediction is where the vehicle will be: as far as all commands are known, bit for bit.
 */
#include "config/scenario.h"
#include "rt/executive/predictor.h"

#include <stdio.h>
#include <time.h>

#include "rt/clock.h"
#include "rt/executive/operator/operator.h"
#include "tests/rt/executive/frames.h"

static const atomic_bool go_on;   /* it is never stopped */
static const char *root;          /* of the source tree */
static struct cfg_scenario *twin; /* the predictor's own */
static struct sim *predicting_sim;
static const struct sim_prediction_input *prediction_input;
static bool silent;

/* Of an arm's buttons, so far: base, grapple, vernier, release, auto, its second pose, safe. */
static uint64_t presses_until(uint64_t frame)
{
    static const int button[] = {3, 8, 6, 9, 5, 17, 10};
    uint64_t presses = 0;
    for (uint64_t k = 0; k < 7 && 290 * (k + 1) <= frame; k++)
        presses ^= 1ull << button[k];
    return presses;
}

/* A hand that never rests, a board that begins anew, one that falls silent for a while: functions
 * of the frame alone. */
static bool make_command(uint64_t frame, int link, struct io_command *command)
{
    const uint64_t beat = (uint64_t)(link == 0 ? 7 : 11);
    if (silent || frame % beat != 3)
        return false;
    *command = (struct io_command){.resets = link == 1 && frame % 1001 == 3};
    command->link = (uint8_t)link;
    command->kind = frame % 1300 > 1200 ? IO_COMMAND_LOSS : IO_COMMAND_CONTROLS;
    command->sequence = (uint32_t)frame;
    command->flags = presses_until(frame) << 32;
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        command->controls[i] = (float)sin(0.01 * (double)frame + i + link);
    return true;
}

static void read_inputs(void *self, struct sim *to, uint64_t frame)
{
    (void)self;
    for (int i = 0; i < to->spec->link_count; i++) {
        struct sim_delay_line *line = &to->scratch.delay_in[i];
        struct io_command command;
        const bool fresh = make_command(frame, i, &command);
        sim_delay_line_end_fault(line, frame, frame, fresh);
        if (fresh && line->slots == 0)
            sim_apply_command(to, &command, frame);
        else if (fresh)
            sim_delay_line_push(line, frame, frame, &command);
        for (const struct io_command *out; (out = sim_delay_line_pop(line, frame)) != NULL;)
            sim_apply_command(to, out, frame);
    }
}

static void let_go(void)
{
    free(predicting_sim);
    cfg_scenario_free(twin);
    predicting_sim = NULL;
    twin = NULL;
}

static void bring_up_both(const char *text)
{
    char error[CFG_ERROR_MAX];
    let_go();
    bring_up(text);
    sim->source.read_inputs = read_inputs;
    silent = false;
    TEST_ASSERT_EQUAL_INT(
        0, cfg_scenario_load_text("test.yaml", text, strlen(text), NULL, 0, &twin, error));
    predicting_sim = sim_create_motion_only(&twin->spec);
    TEST_ASSERT_EQUAL_size_t(sim->vehicle->state_size, predicting_sim->vehicle->state_size);
}

/* The next prediction input, as the frame leaves it. */
static void run_to_outlook(void)
{
    bool fresh;
    (void)rt_mailbox_take(sim->prediction_input, &fresh); /* of before */
    do {
        run_frames(1);
        prediction_input = rt_mailbox_take(sim->prediction_input, &fresh);
    } while (!fresh);
    TEST_ASSERT_EQUAL_UINT64(frames * scenario->spec.period_ns, prediction_input->log_ns);
    TEST_ASSERT_EQUAL_UINT64(sim->vehicle->schedule->frame, prediction_input->frame);
    TEST_ASSERT_FALSE(prediction_input->cut);
}

/* The vehicle with all that drives it; instruments have not run in the predictor. */
static void expect_same(void)
{
    const struct sim_vehicle *there = sim->vehicle, *here = predicting_sim->vehicle;
    const size_t x = (size_t)dyn_plant_state_count(&there->plant) * sizeof *there->x;
    TEST_ASSERT_EQUAL_MEMORY(there->x, here->x, x);
    if (scenario->spec.drive_count > 0)
        TEST_ASSERT_EQUAL_MEMORY(there->drive, here->drive,
                                 (size_t)scenario->spec.drive_count * sizeof *there->drive);
    if (scenario->spec.link_count > 0)
        TEST_ASSERT_EQUAL_MEMORY(there->link, here->link,
                                 (size_t)scenario->spec.link_count * sizeof *there->link);
    TEST_ASSERT_EQUAL_MEMORY(there->surroundings, here->surroundings, sizeof *there->surroundings);
    if (there->arm != NULL)
        TEST_ASSERT_EQUAL_MEMORY(there->arm, here->arm, sizeof *there->arm);
    TEST_ASSERT_EQUAL_UINT64(there->schedule->frame, here->schedule->frame);
}

static void predict_and_see(void)
{
    run_to_outlook();
    TEST_ASSERT_TRUE(sim_predictor_run_ahead(predicting_sim, prediction_input,
                                             scenario->spec.predictor.ahead, &go_on));
    double moved = 0.0;
    for (int i = 0; i < dyn_model_nq(sim->vehicle->plant.model); i++)
        moved = fmax(moved, fabs(predicting_sim->vehicle->x[i] - sim->vehicle->x[i]));
    TEST_ASSERT_TRUE(moved > 1e-4); /* or there is nothing to predict */
    run_frames((int)scenario->spec.predictor.ahead);
    expect_same();
}

/* ---- scenarios ---- */

static char file_text[32768];

static size_t read_scenario(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/config/scenarios/%s", root, name);
    FILE *file = fopen(path, "re");
    TEST_ASSERT_NOT_NULL(file);
    const size_t size = fread(file_text, 1, sizeof file_text / 2, file);
    fclose(file);
    file_text[size] = 0;
    return size;
}

static const char *read_hand(void)
{
    static const char more[] = "    delay: 500 ms\npredictor: {rate: 10 Hz}\n";
    memcpy(file_text + read_scenario("hand.yaml"), more,
           sizeof more); /* the link is the last entry */
    return file_text;
}

static void replace(const char *what, const char *by)
{
    char *at = strstr(file_text, what);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, what);
    memmove(at + strlen(by), at + strlen(what), strlen(at + strlen(what)) + 1);
    memcpy(at, by, strlen(by));
}

/* The Shuttle's arm, whose hand grips from where it is. */
static const char *read_arm(void)
{
    static const char more[] = "predictor: {rate: 10 Hz}\n";
    memcpy(file_text + read_scenario("rms.yaml"), more, sizeof more);
    replace("    lost_after: 500 ms\n", "    lost_after: 500 ms\n    delay: 400 ms\n");
    replace("reach: 0.1 m, tilt: 15 deg, speed: 0.1 m/s",
            "reach: 9 m, tilt: 4 rad, speed: 9 m/s, rate: 9 rad/s");
    return file_text;
}

/* Gusts, a hinged panel, a rotor with lag, noise on a wheel, two links with a delay each. */
static const char craft[] =
    "name: craft\n"
    "rate: 1 kHz\n"
    "environment: {world: local, wind: 3 0 0 m/s, gust: {sigma: 1 1 0.5 m/s}}\n"
    "bodies:\n"
    "  - {name: bus, joint: {type: free, rate: 5 10 15 deg/s}, mass: 20 kg, inertia: 2 3 2.5}\n"
    "  - {name: panel, parent: bus, joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m,\n"
    "     stiffness: 6 N m/rad, damping: 0.1, angle: 3 deg}, mass: 2 kg, center: 0 0.5 0 m,\n"
    "     inertia: 0.167 0.06 0.227}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: bus, noise: 0.01 deg/s/sqrt(Hz)}\n"
    "  - {name: skin, type: drag, body: bus, area: 1 1 1 m^2}\n"
    "  - {name: wheel, type: wheel, body: bus, axis: 1 0 0, inertia: 0.02 kg m^2,\n"
    "     max_torque: 0.2 N m, max_speed: 6000 rpm, delay: 5 ms,\n"
    "     command: {link: hand, control: 0}}\n"
    "  - {name: front, type: rotor, body: bus, at: 1 0 0 m, axis: 0 0 -1, turns: ccw,\n"
    "     max_speed: 6000 rpm, max_thrust: 30 N, torque_ratio: 0.02 m, lag: 50 ms,\n"
    "     inertia: 1e-4 kg m^2, command: {link: board, control: 1}}\n"
    "links:\n"
    "  - {name: hand, protocol: hand, device: d, body: bus, axes: [{axis: x, control: 0}],\n"
    "     delay: 300 ms}\n"
    "  - {name: board, body: bus, delay: 250 ms}\n"
    "faults:\n"
    "  - {device: wheel, type: noise, at: 0.2 s, value: 0.1}\n"
    "tunable: [devices.wheel.max_torque, environment.wind.x]\n"
    "predictor: {rate: 20 Hz, ahead: 250 ms}\n";

static void test_the_prediction_for_a_hand_is_where_the_vehicle_will_be(void)
{
    bring_up_both(read_hand());
    TEST_ASSERT_EQUAL_UINT32(500, scenario->spec.predictor.ahead);
    for (int i = 0; i < 5; i++)
        predict_and_see();
    TEST_ASSERT_GREATER_THAN_UINT32(50, prediction_input->command_count);
}

static void test_so_is_that_of_a_craft_with_two_links_in_the_wind(void)
{
    bring_up_both(craft);
    for (int i = 0; i < 8; i++)
        predict_and_see();
}

/* What a fault holds back has the whole delay of its link still before it. */
static void test_so_is_that_of_a_hand_whose_wire_is_late_by_a_fault(void)
{
    (void)read_hand();
    strcat(file_text, "faults: [{link: hand, type: delay, way: in, at: 0.3 s, value: 60 ms}]\n");
    bring_up_both(file_text);
    TEST_ASSERT_TRUE(sim->scratch.delay_in[0].slots > 0);
    for (int i = 0; i < 5; i++)
        predict_and_see();
    TEST_ASSERT_GREATER_THAN_UINT64(100, sim->scratch.delay_in[0].hits);
}

/* A grapple that is still under way happens to the predicted vehicle first, and so does all that
 * follows. */
static void test_the_predicted_arm_grapples_before_the_arm(void)
{
    int ahead = 0;
    bring_up_both(read_arm());
    TEST_ASSERT_EQUAL_UINT32(400, scenario->spec.predictor.ahead);
    run_frames(600);
    for (int i = 0; i < 6; i++) {
        run_to_outlook();
        TEST_ASSERT_TRUE(sim_predictor_run_ahead(predicting_sim, prediction_input,
                                                 scenario->spec.predictor.ahead, &go_on));
        ahead += predicting_sim->vehicle->arm->grapples > sim->vehicle->arm->grapples;
        ahead += predicting_sim->vehicle->arm->releases > sim->vehicle->arm->releases;
        run_frames((int)scenario->spec.predictor.ahead);
        expect_same();
    }
    TEST_ASSERT_EQUAL_INT(2, ahead);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->arm->grapples);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->arm->releases);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->arm->panel.safed);
}

/* What the operator does between frames comes along with the next prediction input. */
static void test_a_tuned_and_restored_vehicle_is_predicted_too(void)
{
    bring_up_both(craft);
    for (int i = 0; i < 2; i++)
        predict_and_see();
    unsigned char *kept = malloc(sim->vehicle->state_size);
    memcpy(kept, sim->vehicle->state, sim->vehicle->state_size);
    struct sim_record_act tune = {.frame = frames, .act = SIM_ACT_TUNE, .value = 0.05};
    sim_apply_act(sim, &tune, NULL);
    tune = (struct sim_record_act){.frame = frames, .act = SIM_ACT_TUNE, .index = 1, .value = -8.0};
    sim_apply_act(sim, &tune, NULL);
    predict_and_see();
    const struct sim_snapshot snapshot = {kept, 0};
    struct sim_record_act restore = {.frame = frames, .act = SIM_ACT_RESTORE};
    sim_apply_act(sim, &restore, &snapshot);
    run_frames(30);
    predict_and_see();
    predict_and_see();
    free(kept);
}

/* Beyond what is known the last command holds. */
static void test_where_no_more_commands_come_it_is_right_however_far(void)
{
    bring_up_both(read_hand());
    run_frames(700);
    silent = true;
    run_to_outlook();
    TEST_ASSERT_TRUE(sim_predictor_run_ahead(predicting_sim, prediction_input, 3000, &go_on));
    run_frames(3000);
    expect_same();
}

/* What the frame copies is bounded; the rest is reported as missing. */
static void test_more_than_the_prediction_input_has_room_for_is_cut(void)
{
    bring_up_both("name: x\nrate: 1 kHz\n"
                  "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                  "links: [{name: l, body: a, delay: 10 s}]\n"
                  "predictor: {rate: 1 Hz}\n");
    sim->source.read_inputs = gather_nothing;
    struct io_command command = {0};
    for (uint64_t frame = 0; frame < SIM_PENDING_COMMAND_MAX + 10; frame++) {
        command.sequence = (uint32_t)frame;
        sim_delay_line_push(&sim->scratch.delay_in[0], frame, frame, &command);
    }
    bool fresh = false;
    while (!fresh) {
        run_frames(1);
        prediction_input = rt_mailbox_take(sim->prediction_input, &fresh);
    }
    TEST_ASSERT_TRUE(prediction_input->cut);
    TEST_ASSERT_EQUAL_UINT32(SIM_PENDING_COMMAND_MAX, prediction_input->command_count);
    TEST_ASSERT_EQUAL_UINT32(0, prediction_input->commands[0].command.sequence);
    TEST_ASSERT_EQUAL_UINT64(10000, prediction_input->commands[0].frame);
}

static void test_a_rehearsal_shows_nothing(void)
{
    bool fresh;
    bring_up_both(read_hand());
    sim_warm_up(sim);
    (void)rt_mailbox_take(sim->prediction_input, &fresh);
    TEST_ASSERT_FALSE(fresh);
}

/* ---- the thread ---- */

static void test_the_thread_predicts_from_its_prediction_input(void)
{
    int failure, carried;
    uint64_t log_ns;
    const double *q;
    bring_up_both(read_hand());
    struct sim_predictor *runs =
        sim_predictor_open(&scenario->spec, sim->prediction_input, -1, &failure);
    TEST_ASSERT_EQUAL_INT(0, failure);
    TEST_ASSERT_NOT_NULL(runs);
    TEST_ASSERT_NULL(sim_predictor_newest(runs, &log_ns, &carried));
    run_frames(1000);
    const uint64_t until_ns = rt_now_ns() + UINT64_C(60000000000);
    do {
        q = sim_predictor_newest(runs, &log_ns, &carried);
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    } while ((!q || log_ns != 1000 * scenario->spec.period_ns) && rt_now_ns() < until_ns);
    TEST_ASSERT_NOT_NULL(q);
    run_frames(500);
    TEST_ASSERT_EQUAL_MEMORY(sim->vehicle->x, q, 7 * sizeof *q);

    struct sim_predictor_result result;
    sim_predictor_stop(runs, &result);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(1, result.predictions);
    TEST_ASSERT_EQUAL_UINT64(result.predictions, result.spent_ns.count);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, result.seconds_ahead);
    TEST_ASSERT_EQUAL_UINT64(0, result.cut);
    sim_predictor_close(runs);
}

static void test_without_a_predictor_there_is_no_prediction(void)
{
    int failure = 1;
    bring_up("name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n");
    TEST_ASSERT_NULL(sim->prediction_input);
    TEST_ASSERT_NULL(sim_predictor_open(&scenario->spec, sim->prediction_input, -1, &failure));
    TEST_ASSERT_EQUAL_INT(0, failure);
    sim_predictor_close(NULL);
}

int main(int argc, char **argv)
{
    root = argc > 1 ? argv[1] : ".";
    UNITY_BEGIN();
    RUN_TEST(test_the_prediction_for_a_hand_is_where_the_vehicle_will_be);
    RUN_TEST(test_so_is_that_of_a_craft_with_two_links_in_the_wind);
    RUN_TEST(test_so_is_that_of_a_hand_whose_wire_is_late_by_a_fault);
    RUN_TEST(test_the_predicted_arm_grapples_before_the_arm);
    RUN_TEST(test_a_tuned_and_restored_vehicle_is_predicted_too);
    RUN_TEST(test_where_no_more_commands_come_it_is_right_however_far);
    RUN_TEST(test_more_than_the_prediction_input_has_room_for_is_cut);
    RUN_TEST(test_a_rehearsal_shows_nothing);
    RUN_TEST(test_the_thread_predicts_from_its_prediction_input);
    RUN_TEST(test_without_a_predictor_there_is_no_prediction);
    let_go();
    return UNITY_END();
}
