/*
 * The verdict on a run: what was kept, what was not, and which of it was required.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>

#include "tests/tools/run/synthetic_run.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/report/verdict.h"

static struct verdict verdict;

static const char *line_of(enum verdict_aspect aspect)
{
    verdict_judge(&run, &verdict);
    return verdict.line[aspect].text;
}

/* A run that keeps everything. */
static void keep_all(void)
{
    scenario->spec.expect_count = 1;
    memset(frame.causes, 0, sizeof frame.causes);
    frame.missed = frame.missed_replies = 0;
}

static void test_a_run_that_keeps_all_is_ok(void)
{
    keep_all();
    TEST_ASSERT_EQUAL_STRING("sound", line_of(VERDICT_PHYSICS));
    TEST_ASSERT_EQUAL_STRING("all 1 met", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("kept", line_of(VERDICT_TIME));
    TEST_ASSERT_EQUAL_STRING("unbroken", line_of(VERDICT_LINK));
    TEST_ASSERT_EQUAL_STRING("no log was requested (--log)", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_STRING("ok", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
    scenario->spec.pace = RT_PACE_LOCKSTEP;
    run.links = NULL;
    scenario->spec.expect_count = 0;
    run.options.log = "a.mcap";
    TEST_ASSERT_EQUAL_STRING("none", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("no wall clock paced this run (lockstep)", line_of(VERDICT_TIME));
    TEST_ASSERT_EQUAL_STRING("the run has no link", line_of(VERDICT_LINK));
    TEST_ASSERT_EQUAL_STRING("complete", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
}

static void test_unsound_motion_is_a_no(void)
{
    struct sim_plausibility *motion = &run.sim->scratch.plausibility;
    keep_all();
    scenario->spec.physics.max_speed = 11.0;
    *motion = (struct sim_plausibility){
        .flaw = SIM_PLAUSIBILITY_TOO_FAST, .frame = 12, .body = 1, .value = 13.5};
    TEST_ASSERT_EQUAL_STRING(
        "body \"claw\" moves at 13.5 m/s from frame 12 on, above max_speed of 11 m/s",
        line_of(VERDICT_PHYSICS));
    TEST_ASSERT_EQUAL_STRING("NO, physics not sound", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    assert_part("unsound", "{'what':'speed','frame':12,'body':'claw','value':13.5}");
    motion->flaw = SIM_PLAUSIBILITY_TOO_ENERGETIC;
    TEST_ASSERT_EQUAL_STRING(
        "energy grew 13.5-fold without work done by frame 12, body \"claw\" is the fastest",
        line_of(VERDICT_PHYSICS));
    assert_part("unsound", "{'what':'energy','frame':12,'body':'claw','value':13.5}");
    motion->value = (double)INFINITY;
    run.sim->vehicle->schedule->not_finite = 1;
    run.sim->scratch.first_not_finite = 14;
    TEST_ASSERT_EQUAL_STRING("the motion is not finite from frame 14 on", line_of(VERDICT_PHYSICS));
    motion->flaw = SIM_PLAUSIBILITY_TOO_FAST;
    TEST_ASSERT_EQUAL_STRING("the motion is not finite from frame 14 on", line_of(VERDICT_PHYSICS));
    assert_part("unsound", "{'what':'speed','frame':12,'body':'claw','value':null}");
}

static void test_expectations_that_were_not_reached_are_a_no_where_all_are_required(void)
{
    keep_all();
    scenario->spec.expect_count = 3;
    run.sim->scratch.expect[1].held = 1;
    TEST_ASSERT_EQUAL_STRING("the run ended before 1 of 3", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("ok so far", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
    scenario->require.expectations = true;
    TEST_ASSERT_EQUAL_STRING("the run ended before 1 of 3, and require asks for all",
                             line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_STRING("NO, expectations not met", verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    scenario->spec.expect_count = 2;
    TEST_ASSERT_EQUAL_STRING("all 2 met", line_of(VERDICT_EXPECTATIONS));
    run.housekeeping.files_hung = true;
    TEST_ASSERT_EQUAL_STRING("an act of the operator failed", line_of(VERDICT_EXPECTATIONS));
    run.housekeeping.files_hung = false;
    run.acts.failed = 1;
    TEST_ASSERT_EQUAL_STRING("an act of the operator failed", line_of(VERDICT_EXPECTATIONS));
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
}

static void test_time_is_a_no_where_it_is_required(void)
{
    keep_all();
    frame.causes[RT_CAUSE_OWN] = 2;
    frame.causes[RT_CAUSE_FAULT] = 1;
    frame.missed = 51;
    TEST_ASSERT_EQUAL_STRING(
        "2 frames late by own work; 1 frame late by a page fault; simulated time fell "
        "0.051 s behind wall time in 2.000 s",
        line_of(VERDICT_TIME));
    TEST_ASSERT_FALSE(verdict.line[VERDICT_TIME].asked);
    TEST_ASSERT_EQUAL_STRING("ok, time not kept", verdict.text);
    scenario->require.time = true;
    (void)line_of(VERDICT_TIME);
    TEST_ASSERT_TRUE(verdict.line[VERDICT_TIME].asked);
    TEST_ASSERT_EQUAL_STRING("NO, time not kept", verdict.text);
    scenario->require.time = false;
    scenario->require_realtime = true;
    run.memory_locked = false;
    frame.causes[RT_CAUSE_OWN] = 0;
    frame.missed = 0;
    TEST_ASSERT_EQUAL_STRING(
        "1 frame late by a page fault: memory was not locked; require: realtime was not "
        "met: memory is not locked",
        line_of(VERDICT_TIME));
    TEST_ASSERT_TRUE(verdict.line[VERDICT_TIME].asked);
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    scenario->require_realtime = false;
    run.end = RUN_HUNG;
    TEST_ASSERT_EQUAL_STRING("1 frame late by a page fault: memory was not locked; the run hung",
                             line_of(VERDICT_TIME));
}

static void test_a_broken_link_is_a_no_where_it_is_required(void)
{
    keep_all();
    run.link[0].counters.commands = run.link[1].counters.commands = 0;
    TEST_ASSERT_EQUAL_STRING("board never commanded",
                             line_of(VERDICT_LINK)); /* a person need not */
    TEST_ASSERT_EQUAL_STRING("ok, link broken", verdict.text);
    run.source.outages[1].count = 1;
    frame.missed_replies = 3;
    run.controller.died_early = true;
    run.controller.status = 7 << 8;
    TEST_ASSERT_EQUAL_STRING(
        "board never commanded; hand was lost 1 time; 3 replies did not come in time; "
        "controller ended, status 7",
        line_of(VERDICT_LINK));
    run.source.outages[1].count = 2;
    scenario->require.link = true;
    run.controller.status = SIGKILL;
    TEST_ASSERT_EQUAL_STRING(
        "board never commanded; hand was lost 2 times; 3 replies did not come in time; "
        "controller ended, SIGKILL",
        line_of(VERDICT_LINK));
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
}

static void test_a_controller_that_ends_after_its_last_reply_breaks_nothing(void)
{
    keep_all();
    run.controller.died_early = true;
    run.controller.status = 2 << 8;
    strcpy(run.controller.program, "some/board");
    TEST_ASSERT_EQUAL_STRING("unbroken", line_of(VERDICT_LINK));
    assert_said("  controller ended, status 2, before the run did\n");
    assert_part("controller",
                "{'program':'some/board','died_early':true,'killed':false,'status':512,'ended':"
                "'controller ended, status 2'}");
    run.end = RUN_CONTROLLER_ENDED;
    TEST_ASSERT_EQUAL_STRING("controller ended, status 2", line_of(VERDICT_LINK));
    run.controller.died_early = false;
    run.controller.killed = true;
    TEST_ASSERT_EQUAL_STRING("unbroken", line_of(VERDICT_LINK));
    assert_not_said("before the run did");
    assert_part(
        "controller",
        "{'program':'some/board','died_early':false,'killed':true,'status':512,'ended':null}");
}

static void test_a_log_that_is_required_must_be_asked_for_and_complete(void)
{
    keep_all();
    scenario->require.log = true;
    TEST_ASSERT_EQUAL_STRING("no log was requested (--log)", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_STRING("NO, log not complete", verdict.text);
    run.options.log = "a.mcap";
    TEST_ASSERT_EQUAL_STRING("complete", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_INT(EXIT_OK, verdict.exit_code);
    run.log.dropped = 1;
    TEST_ASSERT_EQUAL_STRING("1 records were dropped", line_of(VERDICT_LOG));
    TEST_ASSERT_EQUAL_INT(EXIT_VERDICT_NO, verdict.exit_code);
    scenario->require.log = false;
    (void)line_of(VERDICT_LOG);
    TEST_ASSERT_EQUAL_STRING("ok, log not complete", verdict.text);
    run.log.error = -EIO;
    (void)line_of(VERDICT_LOG);
    TEST_ASSERT_EQUAL_STRING("NO, log not complete", verdict.text);
}

static void test_a_line_that_is_too_long_is_cut(void)
{
    keep_all();
    make_script();
    struct io_ground_script *script = &scenario->spec.links[0].spec.script;
    script->step_count = IO_GROUND_STEP_MAX;
    for (int i = 0; i < IO_GROUND_STEP_MAX; i++) {
        script->step[i] = (struct io_ground_step){.act = IO_GROUND_ARM};
        wire_ground[0][i] = (struct io_ground_result){IO_GROUND_FAILED, 1, 2, 3, 4};
    }
    const char *text = line_of(VERDICT_LINK);
    TEST_ASSERT_EQUAL_size_t(VERDICT_LINE_MAX - 1, strlen(text));
    TEST_ASSERT_EQUAL_STRING_LEN("board did not accept \"arm\": denied; board did not accept", text,
                                 56);
}

static void test_the_verdict_says_all_that_was_not_kept_after_how_it_ended(void)
{
    char *text;
    keep_all();
    run.end = RUN_SIGNAL;
    run.signal = SIGTERM;
    run.options.log = "a.mcap";
    run.log.dropped = 1;
    frame.causes[RT_CAUSE_OWN] = 1;
    run.sim->vehicle->schedule->not_finite = 1;
    run.acts.failed = 1;
    frame.missed_replies = 1;
    verdict_judge(&run, &verdict);
    TEST_ASSERT_EQUAL_STRING(
        "interrupted by SIGTERM after frame 2000, physics not sound, expectations not met, "
        "time not kept, link broken, log not complete",
        verdict.text);
    TEST_ASSERT_EQUAL_INT(EXIT_INTERRUPTED, verdict.exit_code);
    json_t *told = verdict_json(&verdict);
    text = json_dumps(told, JSON_COMPACT);
    TEST_ASSERT_EQUAL_STRING(
        "{\"ok\":false,\"text\":\"interrupted by SIGTERM after frame 2000, physics not sound,"
        " expectations not met, time not kept, link broken, log not complete\","
        "\"exit_code\":130,\"physics\":{\"kept\":false,\"required\":true,"
        "\"text\":\"the motion is not finite from frame 0 on\"},"
        "\"expectations\":{\"kept\":false,\"required\":true,"
        "\"text\":\"an act of the operator failed\"},\"time\":{\"kept\":false,"
        "\"required\":false,\"text\":\"1 frame late by own work\"},\"link\":{\"kept\":false,"
        "\"required\":false,\"text\":\"1 replies did not come in time\"},"
        "\"log\":{\"kept\":false,\"required\":false,\"text\":\"1 records were dropped\"}}",
        text);
    free(text);
    json_decref(told);
    run.end = RUN_LINK_LOST;
    verdict_judge(&run, &verdict);
    TEST_ASSERT_EQUAL_INT(EXIT_BY_POLICY, verdict.exit_code);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_run_that_keeps_all_is_ok);
    RUN_TEST(test_unsound_motion_is_a_no);
    RUN_TEST(test_expectations_that_were_not_reached_are_a_no_where_all_are_required);
    RUN_TEST(test_time_is_a_no_where_it_is_required);
    RUN_TEST(test_a_broken_link_is_a_no_where_it_is_required);
    RUN_TEST(test_a_controller_that_ends_after_its_last_reply_breaks_nothing);
    RUN_TEST(test_a_log_that_is_required_must_be_asked_for_and_complete);
    RUN_TEST(test_a_line_that_is_too_long_is_cut);
    RUN_TEST(test_the_verdict_says_all_that_was_not_kept_after_how_it_ended);
    return UNITY_END();
}
