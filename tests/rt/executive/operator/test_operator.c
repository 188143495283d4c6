/*
 * The operator, called as its threads would call it: what is asked happens before the right
 * frame, in order, and is answered; what cannot be is refused with a reason; and a state that was
 * taken can be put back.
 */
#include "config/scenario.h"
#include "rt/executive/operator/operator.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/executive/sim.h"
#include "rt/executive/state/checkpoint.h"
#include "rt/hash.h"
#include "unity.h"

static const char text[] =
    "name: test\n"
    "rate: 1 kHz\n"
    "pace: fast\n"
    "seed: 5\n"
    "environment: {world: local, ground: 0 m, gust: {sigma: 1 1 1 m/s}}\n"
    "bodies:\n"
    "  - {name: bus, joint: {type: free, position: 0 0 -5 m, rate: 1 2 3 deg/s}, mass: 100 kg,\n"
    "     inertia: 8 13 6 kg m^2}\n"
    "  - {name: panel, parent: bus, joint: {type: revolute, axis: 1 0 0, at: 0 0.4 0 m,\n"
    "     stiffness: 60 N m/rad, angle: 3 deg}, mass: 2 kg, center: 0 0.5 0 m,\n"
    "     inertia: 0.167 0.06 0.227 kg m^2}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: bus, rate: 250 Hz, noise: 0.01 deg/s/sqrt(Hz)}\n"
    "  - {name: barometer, type: barometer, body: bus, rate: 50 Hz, noise: 1 Pa/sqrt(Hz)}\n"
    "  - {name: gps, type: gps, body: bus, rate: 10 Hz}\n"
    "  - {name: drag, type: drag, body: bus, area: 1 1 1 m^2}\n"
    "  - {name: feet, type: contact, body: bus, points: [[0.5, 0, 0.5], [-0.5, 0, 0.5]],\n"
    "     stiffness: 20000 N/m}\n"
    "faults:\n"
    "  - {name: lean, device: gyro, type: bias, when: operator, for: 50 ms, value: 1 rad/s}\n"
    "  - {device: barometer, type: stuck, when: operator}\n"
    "  - {device: gyro, type: noise, at: 5 s, value: 1 deg/s}\n"
    "tunable:\n"
    "  - devices.gyro.bias\n"
    "  - {of: devices.gyro.noise, high: 1 rad/s/sqrt(Hz)}\n"
    "  - devices.barometer.bias\n"
    "  - devices.gps.noise_horizontal\n"
    "  - devices.drag.area.z\n"
    "  - devices.feet.friction\n"
    "  - environment.wind.x\n"
    "  - environment.gravity.z\n"
    "  - environment.gust.sigma.y\n"
    "  - bodies.panel.joint.stiffness\n"
    "  - faults.lean.value\n"
    "  - pointing.target.x\n";
enum {
    BIAS_X = 0,
    NOISE = 3,
    BAROMETER,
    GPS,
    DRAG,
    FRICTION,
    WIND,
    GRAVITY,
    GUST,
    STIFFNESS,
    LEAN,
    TARGET
};

static struct cfg_scenario *scenario;
static struct sim *sim;
static struct rt_frame_tasks tasks;
static struct sim_operator *op;
static atomic_bool boundary_wanted;
static uint64_t next_frame;
static char path[64];

static void read_inputs(void *self, struct sim *to, uint64_t frame)
{
    (void)self, (void)to, (void)frame;
}

static void open_all(void)
{
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, sizeof text - 1, NULL, 0, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = read_inputs;
    tasks = sim_tasks(sim);
    atomic_store(&boundary_wanted, false);
    op = sim_operator_open(sim, &boundary_wanted);
    TEST_ASSERT_NOT_NULL(op);
    next_frame = 0;
}

static void close_all(void)
{
    sim_operator_close(op);
    free(sim);
    cfg_scenario_free(scenario);
}

void setUp(void)
{
    snprintf(path, sizeof path, "/tmp/test_operator.%d", (int)getpid());
    open_all();
}

void tearDown(void)
{
    close_all();
    unlink(path);
}

/* One boundary, as the frame loop has it; false: held back. */
static bool try_frame(void)
{
    if (atomic_load(&boundary_wanted) && tasks.boundary(tasks.self, next_frame))
        return false;
    tasks.latch(tasks.self, next_frame, false);
    rt_schedule_run(sim->schedule, next_frame);
    tasks.commit(tasks.self, next_frame++);
    return true;
}

static void run_frames(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        while (!try_frame())
            sim_operator_run_file_jobs(op);
}

static void ask(enum sim_act act, uint32_t index, double value)
{
    struct sim_operator_request request = {.ticket = 7, .act = act, .index = index, .value = value};
    snprintf(request.path, sizeof request.path, "%s", path);
    TEST_ASSERT_TRUE(sim_operator_request_act(op, &request));
}

static void expect_answer(bool done, uint64_t frame, const char *part)
{
    struct sim_operator_answer answer;
    TEST_ASSERT_TRUE_MESSAGE(sim_operator_next_answer(op, &answer), part);
    TEST_ASSERT_EQUAL_UINT64(7, answer.ticket);
    TEST_ASSERT_EQUAL_UINT64(frame, answer.frame);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(answer.text, part), answer.text);
    TEST_ASSERT_EQUAL_INT_MESSAGE(done, answer.done, answer.text);
}

static uint64_t state_hash(void)
{
    return rt_hash(0, sim->vehicle->state, sim->vehicle->state_size);
}

/* ---- pause, step, resume ---- */

static void test_a_pause_holds_until_it_is_resumed(void)
{
    run_frames(3);
    ask(SIM_ACT_PAUSE, 0, 0);
    for (int i = 0; i < 5; i++)
        TEST_ASSERT_FALSE(try_frame());
    expect_answer(true, 3, "paused before frame 3");
    TEST_ASSERT_TRUE(sim_operator_is_paused(op));
    ask(SIM_ACT_RESUME, 0, 0);
    TEST_ASSERT_TRUE(try_frame());
    TEST_ASSERT_TRUE(try_frame());
    TEST_ASSERT_FALSE(sim_operator_is_paused(op));
    TEST_ASSERT_FALSE(atomic_load(&boundary_wanted));
}

static void test_a_step_runs_so_many_frames_and_pauses(void)
{
    ask(SIM_ACT_STEP, 0, 3);
    for (int i = 0; i < 10; i++)
        (void)try_frame();
    TEST_ASSERT_EQUAL_UINT64(3, next_frame);
    ask(SIM_ACT_STEP, 0, 0.5);
    TEST_ASSERT_FALSE(try_frame());
    expect_answer(true, 0, "3 frames");
    expect_answer(false, 3, "not a number of frames");
}

static void test_no_boundary_is_wanted_while_nothing_is_asked(void)
{
    run_frames(5);
    TEST_ASSERT_FALSE(atomic_load(&boundary_wanted));
    ask(SIM_ACT_TUNE, BIAS_X, 0.5);
    TEST_ASSERT_TRUE(atomic_load(&boundary_wanted));
    run_frames(1);
    TEST_ASSERT_FALSE(atomic_load(&boundary_wanted));
}

static void test_more_acts_than_a_frame_can_do_are_spread_over_frames_and_none_is_lost(void)
{
    for (int i = 0; i < 64; i++)
        ask(SIM_ACT_TUNE, BIAS_X, i);
    struct sim_operator_request more = {.act = SIM_ACT_RESET};
    TEST_ASSERT_FALSE(sim_operator_request_act(op, &more));
    run_frames(1);
    TEST_ASSERT_EQUAL_DOUBLE(7.0, sim_operator_parameter_value(op, BIAS_X));
    run_frames(7);
    TEST_ASSERT_EQUAL_DOUBLE(63.0, sim_operator_parameter_value(op, BIAS_X));
    TEST_ASSERT_EQUAL_UINT64(64, sim->scratch.acts);
}

/* ---- parameters ---- */

static void test_parameters_are_named_with_unit_and_limits(void)
{
    TEST_ASSERT_EQUAL_INT(TARGET + 1, sim_operator_parameter_count(op));
    TEST_ASSERT_EQUAL_STRING("devices.gyro.bias.x", sim_operator_parameter(op, BIAS_X)->name);
    TEST_ASSERT_EQUAL_STRING("rad/s", sim_operator_parameter(op, BIAS_X)->unit);
    TEST_ASSERT_EQUAL_STRING("devices.gyro.bias.z", sim_operator_parameter(op, 2)->name);
    TEST_ASSERT_EQUAL_STRING("devices.gyro.noise", sim_operator_parameter(op, NOISE)->name);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, sim_operator_parameter(op, NOISE)->low);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, sim_operator_parameter(op, NOISE)->high);
    TEST_ASSERT_EQUAL_STRING("N m/rad", sim_operator_parameter(op, STIFFNESS)->unit);
    TEST_ASSERT_EQUAL_DOUBLE(60.0, sim_operator_parameter_value(op, STIFFNESS));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, sim_operator_parameter_value(op, TARGET));
}

static void test_a_parameter_takes_effect_where_the_frame_reads_it(void)
{
    static const struct {
        int index;
        double value;
    } change[] = {{BIAS_X, 0.25}, {NOISE, 0.5},       {BAROMETER, 30.0}, {GPS, 2.0},
                  {DRAG, 3.0},    {WIND, 20.0},       {GRAVITY, 3.7},    {GUST, 4.0},
                  {LEAN, 2.0},    {STIFFNESS, 600.0}, {FRICTION, 0.1},   {TARGET, 0.5}};
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        close_all();
        open_all();
        ask(SIM_ACT_FAULT, 0, 1);
        run_frames(200);
        struct sim *other = sim;
        unsigned char *before = malloc(other->vehicle->state_size);
        const double error = sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR];
        memcpy(before, other->vehicle->state, other->vehicle->state_size);

        close_all();
        open_all();
        ask(SIM_ACT_FAULT, 0, 1);
        ask(SIM_ACT_TUNE, (uint32_t)change[i].index, change[i].value);
        run_frames(200);
        const size_t tuned =
            (size_t)((unsigned char *)sim->vehicle->parameter - sim->vehicle->state);
        const bool same = memcmp(before, sim->vehicle->state, tuned) == 0;
        TEST_ASSERT_EQUAL_DOUBLE(change[i].value,
                                 sim_operator_parameter_value(op, change[i].index));
        if (change[i].index == TARGET)
            TEST_ASSERT_TRUE(error != sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR]);
        else if (change[i].index == LEAN) /* what a bias adds leaves no trace in the state */
            TEST_ASSERT_EQUAL_DOUBLE(2.0, sim->vehicle->tuned.faults[0].value);
        else if (change[i].index != FRICTION) /* nothing touches the ground yet */
            TEST_ASSERT_FALSE_MESSAGE(same, sim_operator_parameter(op, change[i].index)->name);
        free(before);
    }
}

static void test_a_contact_has_its_friction_at_every_point(void)
{
    ask(SIM_ACT_TUNE, FRICTION, 0.125);
    run_frames(1);
    int points = 0;
    for (int i = 0; i < sim->vehicle->plant.effector_count; i++)
        if (sim->vehicle->plant.effectors[i].type == DYN_EFFECTOR_CONTACT) {
            TEST_ASSERT_EQUAL_DOUBLE(0.125, sim->vehicle->plant.effectors[i].contact.friction);
            points++;
        }
    TEST_ASSERT_EQUAL_INT(2, points);
}

static void test_what_is_out_of_its_limits_or_not_there_is_refused(void)
{
    const uint64_t acts = sim->scratch.acts;
    ask(SIM_ACT_TUNE, NOISE, 1.5);
    ask(SIM_ACT_TUNE, NOISE, -0.1);
    ask(SIM_ACT_TUNE, NOISE, (double)NAN);
    ask(SIM_ACT_TUNE, TARGET + 1, 0.0);
    ask(SIM_ACT_FAULT, 3, 1.0);
    ask(SIM_ACT_COUNT, 0, 0.0);
    ask(SIM_ACT_STOP_ARM, 0, 0.0);
    run_frames(1);
    expect_answer(false, 0, "1.5 is not from 0 to 1");
    expect_answer(false, 0, "-0.1 is not from");
    expect_answer(false, 0, "nan is not from");
    expect_answer(false, 0, "no parameter 14");
    expect_answer(false, 0, "no fault 3");
    expect_answer(false, 0, "unknown request");
    expect_answer(false, 0, "unknown request"); /* a stop is no request */
    TEST_ASSERT_EQUAL_UINT64(acts, sim->scratch.acts);
}

static void test_a_parameter_is_part_of_the_state(void)
{
    ask(SIM_ACT_TUNE, GRAVITY, 1.0);
    ask(SIM_ACT_CHECKPOINT, 0, 0);
    run_frames(1);
    sim_operator_run_file_jobs(op);
    ask(SIM_ACT_TUNE, GRAVITY, 2.0);
    run_frames(10);
    TEST_ASSERT_EQUAL_DOUBLE(2.0, sim->vehicle->plant.environment.gravity[2]);
    ask(SIM_ACT_RESTORE, 0, 0);
    run_frames(1);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, sim->vehicle->plant.environment.gravity[2]);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, sim_operator_parameter_value(op, GRAVITY));
    ask(SIM_ACT_RESET, 0, 0);
    run_frames(1);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 9.81, sim->vehicle->plant.environment.gravity[2]);
}

/* ---- faults ---- */

static void test_a_fault_waits_for_the_operator_and_lasts_as_it_says(void)
{
    run_frames(100);
    TEST_ASSERT_EQUAL_UINT64(0, sim->vehicle->fault[0].hits);
    ask(SIM_ACT_FAULT, 0, 1);
    run_frames(100);
    TEST_ASSERT_EQUAL_UINT64(50 / 4, sim->vehicle->fault[0].hits); /* of a gyro at 250 Hz */
    expect_answer(true, 100, "lean: begins before frame 100");
    ask(SIM_ACT_FAULT, 0, 1);
    run_frames(20);
    ask(SIM_ACT_FAULT, 0, 0);
    run_frames(100);
    TEST_ASSERT_EQUAL_UINT64(50 / 4 + 20 / 4, sim->vehicle->fault[0].hits);
}

static void test_starting_an_active_fault_and_ending_an_inactive_one_change_nothing(void)
{
    ask(SIM_ACT_FAULT, 0, 1);
    run_frames(20);
    ask(SIM_ACT_FAULT, 0, 1);
    ask(SIM_ACT_FAULT, 2, 0);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(0, sim->vehicle->fault[0].first_frame);
    TEST_ASSERT_EQUAL_UINT64(50, sim->vehicle->fault[0].last_frame);
    TEST_ASSERT_EQUAL_UINT64(5000, sim->vehicle->fault[2].first_frame);
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, sim->vehicle->fault[2].last_frame);
}

static void test_a_fault_that_begins_anew_holds_nothing_of_before(void)
{
    ask(SIM_ACT_FAULT, 1, 1);
    run_frames(40);
    const double first = sim->vehicle->fault[1].stuck[0];
    ask(SIM_ACT_FAULT, 1, 0);
    run_frames(300);
    ask(SIM_ACT_FAULT, 1, 1);
    run_frames(40);
    TEST_ASSERT_TRUE(first != sim->vehicle->fault[1].stuck[0]);
    TEST_ASSERT_EQUAL_STRING("stuck of barometer", sim_operator_fault_name(op, 1));
    TEST_ASSERT_EQUAL_INT(3, sim_operator_fault_count(op));
}

static void test_a_board_that_begins_anew_does_not_end_the_operators_fault(void)
{
    ask(SIM_ACT_FAULT, 1, 1);
    run_frames(10);
    sim_vehicle_reset(sim->vehicle);
    TEST_ASSERT_TRUE(io_fault_active(&sim->vehicle->fault[1], 10));
}

static void expect_faults(uint32_t on, uint32_t struck)
{
    uint32_t was;
    TEST_ASSERT_EQUAL_HEX32(on, sim_take_fault_flags(sim->shown, &was));
    TEST_ASSERT_EQUAL_HEX32(struck, was);
}

static void test_faults_are_reported_as_they_are_and_not_as_they_were_planned(void)
{
    expect_faults(0, 0);
    run_frames(100);
    ask(SIM_ACT_FAULT, 0, 1);
    run_frames(1);
    expect_faults(1, 1);
    run_frames(49); /* its own end */
    expect_faults(1, 0);
    run_frames(1);
    expect_faults(0, 0);
    ask(SIM_ACT_FAULT, 2, 1);
    run_frames(1);
    expect_faults(4, 4);
    ask(SIM_ACT_RESET, 0, 0); /* its time has not come */
    run_frames(1);
    expect_faults(0, 0);
    ask(SIM_ACT_FAULT, 0, 1);
    run_frames(50);
    expect_faults(1, 1);
    run_frames(1);
    expect_faults(0, 0);
    run_frames(5000 - 53);
    expect_faults(0, 0);
    run_frames(2); /* at 5 s after the reset */
    expect_faults(4, 4);
}

static void test_faults_that_are_switched_in_a_pause_are_reported_in_it(void)
{
    run_frames(10);
    ask(SIM_ACT_PAUSE, 0, 0);
    ask(SIM_ACT_FAULT, 1, 1);
    TEST_ASSERT_FALSE(try_frame());
    TEST_ASSERT_TRUE(sim_operator_is_paused(op));
    expect_faults(2, 2);
    ask(SIM_ACT_FAULT, 1, 0);
    TEST_ASSERT_FALSE(try_frame());
    expect_faults(0, 0);
}

static void test_a_fault_between_two_reads_has_been_active(void)
{
    ask(SIM_ACT_FAULT, 0, 1);
    ask(SIM_ACT_FAULT, 1, 1);
    run_frames(60);
    expect_faults(2, 3);
    expect_faults(2, 0);
    ask(SIM_ACT_CHECKPOINT, 0, 0);
    run_frames(1);
    sim_operator_run_file_jobs(op);
    ask(SIM_ACT_FAULT, 1, 0);
    run_frames(1);
    expect_faults(0, 0);
    ask(SIM_ACT_RESTORE, 0, 0); /* it was on then */
    run_frames(1);
    expect_faults(2, 2);
}

/* ---- checkpoint, restore, reset ---- */

static void test_a_restored_run_goes_on_as_the_first_one_did(void)
{
    run_frames(333);
    ask(SIM_ACT_CHECKPOINT, 0, 0);
    run_frames(500);
    sim_operator_run_file_jobs(op);
    expect_answer(true, 333, "bytes taken before frame 333");
    const uint64_t first = state_hash(), rolled = sim->scratch.hash;

    run_frames(77);
    ask(SIM_ACT_RESTORE, 0, 0);
    run_frames(500);
    expect_answer(true, 910, "put back before frame 910");
    TEST_ASSERT_EQUAL_HEX64(first, state_hash());
    TEST_ASSERT_EQUAL_HEX64(rolled, sim->scratch.hash);
    TEST_ASSERT_EQUAL_UINT64(833, sim->vehicle->schedule->frame);

    close_all(); /* and in a new process */
    open_all();
    char error[256] = "";
    const struct sim_scripted_act begin = {
        .request = {.ticket = UINT64_MAX, .act = SIM_ACT_RESTORE}};
    sim_operator_set_script(op, &begin, 1);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, sim_operator_start_from_file(op, path, error), error);
    run_frames(500);
    TEST_ASSERT_EQUAL_HEX64(first, state_hash());
    TEST_ASSERT_EQUAL_HEX64(rolled, sim->scratch.hash);
}

static void test_a_reset_begins_anew_in_every_bit(void)
{
    run_frames(250);
    const uint64_t first = state_hash(), rolled = sim->scratch.hash;
    ask(SIM_ACT_TUNE, WIND, 9.0);
    run_frames(33);
    ask(SIM_ACT_RESET, 0, 0);
    run_frames(250);
    TEST_ASSERT_EQUAL_HEX64(first, state_hash());
    TEST_ASSERT_EQUAL_HEX64(rolled, sim->scratch.hash);
}

static void test_the_boards_clock_never_goes_back(void)
{
    ask(SIM_ACT_RESET, 0, 0);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(0, sim->schedule->frame_offset);
    run_frames(99);
    ask(SIM_ACT_RESET, 0, 0);
    run_frames(1);
    TEST_ASSERT_EQUAL_UINT64(UINT64_C(0) - 100, sim->schedule->frame_offset);
    TEST_ASSERT_EQUAL_UINT64(1, sim->vehicle->schedule->frame);
}

static void test_files_that_cannot_be_are_answered_with_the_reason(void)
{
    ask(SIM_ACT_RESTORE, 0, 0);
    run_frames(1);
    expect_answer(false, 0, "No such file");
    snprintf(path, sizeof path, "/nowhere/at/all");
    ask(SIM_ACT_CHECKPOINT, 0, 0);
    run_frames(1);
    sim_operator_run_file_jobs(op);
    expect_answer(false, 1, "No such file");
}

static void test_scripted_acts_come_at_their_boundaries_pauses_counted(void)
{
    const struct sim_scripted_act acts[] = {
        {.boundary = 10, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_PAUSE}},
        {.boundary = 15, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_STEP, .value = 2}},
        {.boundary = 20, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_RESUME}},
        {.boundary = 30, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_FAULT, .value = 1}},
        {.boundary = 999, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_RESET}},
    };
    sim_operator_set_script(op, acts, 5);
    for (int boundary = 0; boundary < 40; boundary++) {
        const bool runs = try_frame();
        TEST_ASSERT_EQUAL_INT(boundary < 10 || boundary == 15 || boundary == 16 || boundary >= 20,
                              runs);
    }
    TEST_ASSERT_EQUAL_UINT64(32, next_frame);
    TEST_ASSERT_EQUAL_UINT64(22, sim->vehicle->fault[0].first_frame);
    struct sim_operator_result result;
    sim_operator_result(op, &result);
    TEST_ASSERT_EQUAL_INT(1, result.unreached);
    TEST_ASSERT_EQUAL_UINT64(4, result.acts);
}

static void test_how_long_a_file_takes_moves_no_later_act(void)
{
    struct sim_scripted_act acts[] = {
        {.boundary = 5, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_CHECKPOINT}},
        {.boundary = 10, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_RESTORE}},
        {.boundary = 20, .request = {.ticket = UINT64_MAX, .act = SIM_ACT_FAULT, .value = 1}},
    };
    for (int i = 0; i < 2; i++)
        snprintf(acts[i].request.path, sizeof acts[i].request.path, "%s", path);
    sim_operator_set_script(op, acts, 3);
    int held = 0;
    while (next_frame < 30)
        if (!try_frame() && ++held % 3 == 0)
            sim_operator_run_file_jobs(op);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(3, held);
    TEST_ASSERT_EQUAL_UINT64(20 - 10 + 5, sim->vehicle->fault[0].first_frame);
}

/* ---- whose state it is ---- */

static void ask_file(uint64_t ticket, enum sim_act act, const char *name)
{
    struct sim_operator_request request = {.ticket = ticket, .act = act};
    snprintf(request.path, sizeof request.path, "%s.%s", path, name);
    TEST_ASSERT_TRUE(sim_operator_request_act(op, &request));
}

static void script_file(struct sim_scripted_act *act, uint64_t boundary, const char *name)
{
    *act = (struct sim_scripted_act){.boundary = boundary,
                                     .text = "10ms:restore",
                                     .request = {.ticket = UINT64_MAX, .act = SIM_ACT_RESTORE}};
    snprintf(act->request.path, sizeof act->request.path, "%s.%s", path, name);
}

static void remove_files(void)
{
    char name[80];
    for (char end = 'a'; end <= 'b'; end++) {
        snprintf(name, sizeof name, "%s.%c", path, end);
        unlink(name);
    }
}

/* A live restore of b is on its way when the command line's restore of a is due. */
static void test_each_restore_puts_in_what_it_was_asked_for(void)
{
    static struct sim_scripted_act act;
    struct sim_operator_answer answer;
    run_frames(3);
    ask_file(1, SIM_ACT_CHECKPOINT, "a");
    run_frames(4);
    sim_operator_run_file_jobs(op);
    ask_file(2, SIM_ACT_CHECKPOINT, "b");
    run_frames(3);
    sim_operator_run_file_jobs(op);
    while (sim_operator_next_answer(op, &answer))
        TEST_ASSERT_TRUE_MESSAGE(answer.done, answer.text);

    ask_file(3, SIM_ACT_RESTORE, "b");
    TEST_ASSERT_FALSE(try_frame()); /* asked for */
    script_file(&act, 10, "a");
    sim_operator_set_script(op, &act, 1);
    sim_operator_run_file_jobs(op); /* b is there, */
    TEST_ASSERT_FALSE(try_frame()); /* and a is due */
    sim_operator_run_file_jobs(op);
    atomic_store(&boundary_wanted, true);
    TEST_ASSERT_TRUE(try_frame()); /* a, and then b */
    TEST_ASSERT_EQUAL_UINT64(7 + 1, sim->vehicle->schedule->frame);
    TEST_ASSERT_TRUE(sim_operator_next_answer(op, &answer));
    TEST_ASSERT_EQUAL_UINT64(3, answer.ticket);
    TEST_ASSERT_TRUE_MESSAGE(answer.done, answer.text);
    struct sim_operator_result result;
    sim_operator_result(op, &result);
    TEST_ASSERT_EQUAL_UINT64(4, result.acts); /* two checkpoints, two restores */
    TEST_ASSERT_EQUAL_INT(0, result.failed);
    remove_files();
}

/* The live restore fails; the command line's is not taken for it, and the other way round. */
static void test_a_restore_that_fails_is_reported_to_its_asker(void)
{
    static struct sim_scripted_act act;
    struct sim_operator_answer answer;
    struct sim_operator_result result;
    for (int scripted_fails = 0; scripted_fails < 2; scripted_fails++) {
        close_all();
        open_all();
        run_frames(3);
        ask_file(1, SIM_ACT_CHECKPOINT, "a");
        run_frames(7);
        sim_operator_run_file_jobs(op);
        TEST_ASSERT_TRUE(sim_operator_next_answer(op, &answer));
        ask_file(3, SIM_ACT_RESTORE, scripted_fails ? "a" : "none");
        TEST_ASSERT_FALSE(try_frame());
        script_file(&act, 10, scripted_fails ? "none" : "a");
        sim_operator_set_script(op, &act, 1);
        for (int i = 0; i < 10 && !try_frame(); i++)
            sim_operator_run_file_jobs(op);
        TEST_ASSERT_EQUAL_UINT64(3 + 1, sim->vehicle->schedule->frame);
        TEST_ASSERT_TRUE(sim_operator_next_answer(op, &answer));
        TEST_ASSERT_EQUAL_UINT64(3, answer.ticket);
        TEST_ASSERT_EQUAL_INT_MESSAGE(scripted_fails, answer.done, answer.text);
        TEST_ASSERT_FALSE(sim_operator_next_answer(op, &answer)); /* once */
        sim_operator_result(op, &result);
        TEST_ASSERT_EQUAL_INT(scripted_fails, result.failed);
        TEST_ASSERT_EQUAL_INT(scripted_fails, strstr(result.failure, ".none: ") != NULL);
        TEST_ASSERT_EQUAL_INT(0, result.unreached);
    }
    remove_files();
}

/* Nobody takes the answers: what could not be answered is not done, and comes when it can be. */
static void test_no_answer_is_lost(void)
{
    struct sim_operator_answer answer;
    uint64_t asked = 0, heard = 0;
    while (asked < 500) {
        const struct sim_operator_request request = {.ticket = asked, .act = SIM_ACT_RESUME};
        if (!sim_operator_request_act(op, &request))
            break;
        asked++;
        (void)try_frame();
    }
    TEST_ASSERT_GREATER_THAN_UINT64(100, asked);
    while (heard < asked) {
        if (sim_operator_next_answer(op, &answer))
            TEST_ASSERT_EQUAL_UINT64(heard++, answer.ticket);
        else
            TEST_ASSERT_TRUE(try_frame());
    }
    TEST_ASSERT_EQUAL_UINT64(asked, sim->scratch.acts);
}

/* The house has not finished when the run is over. */
static void test_a_checkpoint_that_is_not_known_to_be_written_is_reported(void)
{
    static struct sim_scripted_act act;
    struct sim_operator_result result;
    script_file(&act, 2, "a");
    act.request.act = SIM_ACT_CHECKPOINT;
    sim_operator_set_script(op, &act, 1);
    run_frames(5);
    sim_operator_result(op, &result);
    TEST_ASSERT_EQUAL_INT(1, result.failed);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(result.failure, "the disk did not answer"), result.failure);
    sim_operator_run_file_jobs(op);
    sim_operator_result(op, &result);
    TEST_ASSERT_EQUAL_INT(0, result.failed);
    remove_files();
}

/* ---- three threads ---- */

enum { TICKETS = 600 };
static atomic_bool over;

static void *keep_house(void *self)
{
    while (!atomic_load(&over))
        sim_operator_run_file_jobs(self);
    return NULL;
}

/* Every request is answered once, whatever it is; the frame runs on meanwhile. */
static void *ask_and_hear(void *self)
{
    static const enum sim_act order[] = {SIM_ACT_TUNE,    SIM_ACT_CHECKPOINT, SIM_ACT_STEP,
                                         SIM_ACT_RESTORE, SIM_ACT_FAULT,      SIM_ACT_RESUME};
    static unsigned char answered[TICKETS];
    uint64_t asked = 0, heard = 0;
    memset(answered, 0, sizeof answered);
    while (heard < TICKETS) {
        struct sim_operator_request request = {
            .ticket = asked, .act = order[asked % 6], .value = 1.0};
        struct sim_operator_answer answer;
        snprintf(request.path, sizeof request.path, "%s", path);
        if (asked < TICKETS && asked - heard < 32)
            asked += sim_operator_request_act(self, &request);
        if (!sim_operator_next_answer(self, &answer))
            continue;
        heard += answer.done && answered[answer.ticket]++ == 0 ? 1 : TICKETS;
    }
    atomic_store(&over, true);
    return heard == TICKETS ? NULL : self;
}

static void test_an_asker_housekeeping_and_frames_run_together(void)
{
    pthread_t housekeeping, asker;
    void *wrong;
    atomic_store(&over, false);
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&housekeeping, NULL, keep_house, op));
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&asker, NULL, ask_and_hear, op));
    while (!atomic_load(&over))
        (void)try_frame();
    pthread_join(housekeeping, NULL);
    pthread_join(asker, &wrong);
    TEST_ASSERT_NULL(wrong);
    TEST_ASSERT_EQUAL_UINT64(TICKETS, sim->scratch.acts);
}

/* ---- the file ---- */

static unsigned char bytes[1 << 16];
static size_t size;
static struct sim_checkpoint_identity mark;

static void write_file(void)
{
    char error[SIM_CHECKPOINT_ERROR_MAX];
    run_frames(20);
    const struct sim_checkpoint checkpoint = {20, sim->scratch.hash, sim->vehicle->state};
    sim_checkpoint_identify(sim->vehicle, &mark);
    TEST_ASSERT_EQUAL_INT(0, sim_checkpoint_write(path, &mark, &checkpoint, error));
    FILE *file = fopen(path, "rb");
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
}

static void expect_refused(const struct sim_checkpoint_identity *ours, size_t count,
                           const char *part)
{
    char error[SIM_CHECKPOINT_ERROR_MAX] = "";
    struct sim_checkpoint found;
    TEST_ASSERT_EQUAL_INT(-1, sim_checkpoint_parse(bytes, count, ours, &found, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, part), error);
}

static void test_a_checkpoint_is_found_as_it_was_written(void)
{
    char error[SIM_CHECKPOINT_ERROR_MAX];
    struct sim_checkpoint found;
    write_file();
    TEST_ASSERT_EQUAL_INT(0, sim_checkpoint_parse(bytes, size, &mark, &found, error));
    TEST_ASSERT_EQUAL_UINT64(20, found.frame);
    TEST_ASSERT_EQUAL_HEX64(sim->scratch.hash, found.hash);
    TEST_ASSERT_EQUAL_MEMORY(sim->vehicle->state, found.state, sim->vehicle->state_size);
}

static void test_every_cut_and_every_flipped_byte_is_refused(void)
{
    write_file();
    for (size_t count = 0; count < size; count++)
        expect_refused(&mark, count, count < 8 ? "no checkpoint" : "cut off");
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x40;
        expect_refused(&mark, size, i < 8 ? "no checkpoint" : i < 16 ? "format" : "");
        bytes[i] ^= 0x40;
    }
    expect_refused(&mark, size + 1, "checksum");
}

static void test_a_checkpoint_that_does_not_belong_here_is_refused_with_the_reason(void)
{
    write_file();
    struct sim_checkpoint_identity other = mark;
    snprintf(other.program, sizeof other.program, "9.9");
    expect_refused(&other, size, "version");
    other = mark;
    snprintf(other.isa, sizeof other.isa, "neon");
    expect_refused(&other, size, "instruction set");
    other = mark;
    other.scenario++;
    expect_refused(&other, size, "another scenario");
    other = mark;
    other.model++;
    expect_refused(&other, size, "model");
    other = mark;
    other.period_ns++;
    expect_refused(&other, size, "frames take");
    other = mark;
    other.layout++;
    expect_refused(&other, size, "laid out");
}

/* What a state of the same text with these overrides belongs to. */
static void identify_with(const char *const *overrides, int count,
                          struct sim_checkpoint_identity *out)
{
    char error[CFG_ERROR_MAX] = "";
    struct cfg_scenario *other;
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0,
        cfg_scenario_load_text("test.yaml", text, sizeof text - 1, overrides, count, &other, error),
        error);
    struct sim *of = sim_create(&other->spec);
    sim_checkpoint_identify(of->vehicle, out);
    free(of);
    cfg_scenario_free(other);
}

static void test_overrides_count_where_they_bear_on_the_state(void)
{
    const char *const neutral[] = {"seconds=30", "name=other", "pace=fast", "overrun=stop",
                                   "cameras=[]"};
    const char *const telling[] = {"seed=3"};
    struct sim_checkpoint_identity plain, other;
    identify_with(NULL, 0, &plain);
    identify_with(neutral, 5, &other);
    TEST_ASSERT_EQUAL_MEMORY(&plain, &other, sizeof plain);
    identify_with(telling, 1, &other);
    TEST_ASSERT_TRUE(plain.scenario != other.scenario);
}

static void test_numbers_that_cannot_be_are_refused(void)
{
    char error[SIM_CHECKPOINT_ERROR_MAX];
    struct sim_checkpoint found;
    unsigned char *state = malloc(sim->vehicle->state_size);
    run_frames(5);
    sim_checkpoint_identify(sim->vehicle, &mark);
    for (int what = 0; what < 4; what++) {
        const double x = sim->vehicle->x[0], noise = sim->vehicle->parameter[NOISE];
        sim->vehicle->x[0] = what == 1 ? (double)NAN : x;
        sim->vehicle->parameter[NOISE] = what == 2 ? -1.0 : noise;
        const struct sim_checkpoint checkpoint = {what == 3 ? 6 : 5, 1, sim->vehicle->state};
        TEST_ASSERT_EQUAL_INT(0, sim_checkpoint_write(path, &mark, &checkpoint, error));
        sim->vehicle->x[0] = x;
        sim->vehicle->parameter[NOISE] = noise;
        TEST_ASSERT_EQUAL_INT(what == 0 ? 0 : -1,
                              sim_checkpoint_read(path, &mark, sim->vehicle, state, &found, error));
    }
    free(state);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_pause_holds_until_it_is_resumed);
    RUN_TEST(test_a_step_runs_so_many_frames_and_pauses);
    RUN_TEST(test_no_boundary_is_wanted_while_nothing_is_asked);
    RUN_TEST(test_more_acts_than_a_frame_can_do_are_spread_over_frames_and_none_is_lost);
    RUN_TEST(test_parameters_are_named_with_unit_and_limits);
    RUN_TEST(test_a_parameter_takes_effect_where_the_frame_reads_it);
    RUN_TEST(test_a_contact_has_its_friction_at_every_point);
    RUN_TEST(test_what_is_out_of_its_limits_or_not_there_is_refused);
    RUN_TEST(test_a_parameter_is_part_of_the_state);
    RUN_TEST(test_a_fault_waits_for_the_operator_and_lasts_as_it_says);
    RUN_TEST(test_starting_an_active_fault_and_ending_an_inactive_one_change_nothing);
    RUN_TEST(test_a_fault_that_begins_anew_holds_nothing_of_before);
    RUN_TEST(test_a_board_that_begins_anew_does_not_end_the_operators_fault);
    RUN_TEST(test_faults_are_reported_as_they_are_and_not_as_they_were_planned);
    RUN_TEST(test_faults_that_are_switched_in_a_pause_are_reported_in_it);
    RUN_TEST(test_a_fault_between_two_reads_has_been_active);
    RUN_TEST(test_a_restored_run_goes_on_as_the_first_one_did);
    RUN_TEST(test_a_reset_begins_anew_in_every_bit);
    RUN_TEST(test_the_boards_clock_never_goes_back);
    RUN_TEST(test_files_that_cannot_be_are_answered_with_the_reason);
    RUN_TEST(test_scripted_acts_come_at_their_boundaries_pauses_counted);
    RUN_TEST(test_how_long_a_file_takes_moves_no_later_act);
    RUN_TEST(test_each_restore_puts_in_what_it_was_asked_for);
    RUN_TEST(test_a_restore_that_fails_is_reported_to_its_asker);
    RUN_TEST(test_no_answer_is_lost);
    RUN_TEST(test_a_checkpoint_that_is_not_known_to_be_written_is_reported);
    RUN_TEST(test_an_asker_housekeeping_and_frames_run_together);
    RUN_TEST(test_a_checkpoint_is_found_as_it_was_written);
    RUN_TEST(test_every_cut_and_every_flipped_byte_is_refused);
    RUN_TEST(test_a_checkpoint_that_does_not_belong_here_is_refused_with_the_reason);
    RUN_TEST(test_overrides_count_where_they_bear_on_the_state);
    RUN_TEST(test_numbers_that_cannot_be_are_refused);
    return UNITY_END();
}
