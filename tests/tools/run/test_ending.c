/*
 * How a run ends, and which of several reasons is named.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/tools/run/synthetic_run.h"
#include "tools/airbearing/run/ending.h"

static void assert_ended(enum run_end end, const char *expected)
{
    char text[ENDING_TEXT_MAX] = "?";
    run.end = end;
    ending_text(&run, text);
    TEST_ASSERT_EQUAL_STRING(expected, text);
}

static void test_each_end_has_its_text(void)
{
    run.controller.status = 7 << 8;
    assert_ended(RUN_COMPLETE, "");
    assert_ended(RUN_SIGNAL, "interrupted by SIGTERM after frame 2000");
    run.signal = SIGINT;
    assert_ended(RUN_SIGNAL, "interrupted by SIGINT after frame 2000");
    assert_ended(RUN_OVERRUN, "stopped by the overrun policy at frame 2000; boards were told that "
                              "the simulation is invalid");
    assert_ended(RUN_LINK_LOST, "stopped because the link was lost at frame 2000");
    assert_ended(RUN_CONTROLLER_ENDED, "controller ended, status 7; the run stopped at frame 2000");
    run.controller.status = SIGSEGV;
    assert_ended(RUN_CONTROLLER_ENDED, "controller ended, SIGSEGV; the run stopped at frame 2000");
    assert_ended(RUN_HUNG, "the frame thread hung, or was kept off its core, after frame 2000; "
                           "boards were told that the simulation is invalid");
    static const char *const name[] = {"'complete'",  "'signal'", "'overrun'",
                                       "'link_lost'", "'hung'",   "'controller_ended'"};
    for (int end = RUN_COMPLETE; end <= RUN_CONTROLLER_ENDED; end++) {
        run.end = (enum run_end)end;
        assert_part("ended", name[end]);
    }
}

/* How a run ended whose frames did this; how often its boards were sent that the simulation is
 * invalid. */
static int name_end(enum rt_frame_end of_frames, enum run_end expected)
{
    run.end = RUN_COMPLETE;
    frame.end = of_frames;
    wire_safe = 0;
    ending_classify(&run);
    TEST_ASSERT_EQUAL_INT(expected, run.end);
    return wire_safe;
}

static void test_an_end_is_named_by_what_came_first(void)
{
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_FRAME_COUNT, RUN_COMPLETE));
    stop_signal = SIGHUP;
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_STOPPED, RUN_SIGNAL));
    TEST_ASSERT_EQUAL_INT(SIGHUP, run.signal);
    atomic_store(&run.source.link_lost, true);
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_STOPPED, RUN_LINK_LOST));
    run.stopped_by_controller = true;
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_STOPPED, RUN_CONTROLLER_ENDED));
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_POLICY, RUN_OVERRUN));
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_FRAME_COUNT, RUN_LINK_LOST));
    run.links = NULL;
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_STOPPED, RUN_CONTROLLER_ENDED));
    atomic_store(&run.watchdog.expired, true);
    TEST_ASSERT_EQUAL_INT(0, name_end(RT_END_POLICY, RUN_HUNG));
}

static void test_a_controller_that_died_before_its_last_reply_ended_the_run(void)
{
    run.controller.died_early = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    run.sim->vehicle->link[1].lost = 1; /* a person's */
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    run.sim->vehicle->link[0].lost = 1;
    TEST_ASSERT_EQUAL_INT(1, name_end(RT_END_FRAME_COUNT, RUN_CONTROLLER_ENDED));
    run.stuck = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    run.stuck = false;
    scenario->spec.links[0].on_loss_given = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
    scenario->spec.links[0].on_loss_given = false;
    run.sim->vehicle->link[0].lost = 0;
    run.sim->scratch.unanswered[0] = true;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE); /* no reply is owed in real time */
    scenario->spec.pace = RT_PACE_LOCKSTEP;
    (void)name_end(RT_END_FRAME_COUNT, RUN_CONTROLLER_ENDED);
    (void)name_end(RT_END_STOPPED, RUN_SIGNAL);
    run.controller.died_early = false;
    (void)name_end(RT_END_FRAME_COUNT, RUN_COMPLETE);
}

static bool is_told_to_stop(void)
{
    return atomic_load(&frame.stop);
}

static void look(int times)
{
    for (int i = 0; i < times; i++)
        ending_watch_controller(&run);
}

static void test_frames_go_on_for_ten_looks_without_a_controller(void)
{
    run.serve = the_server;
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop()); /* there is none */
    strcpy(run.controller.program, "board");
    run.controller.status = 3 << 8;
    look(10);
    TEST_ASSERT_FALSE(is_told_to_stop());
    TEST_ASSERT_EQUAL_INT(0, alarms);
    look(1);
    TEST_ASSERT_TRUE(is_told_to_stop());
    TEST_ASSERT_TRUE(run.stopped_by_controller);
    TEST_ASSERT_EQUAL_INT(1, wire_interrupts);
    TEST_ASSERT_EQUAL_STRING("controller ended, status 3", alarm_text);
    look(2);
    TEST_ASSERT_EQUAL_INT(1, alarms);
    TEST_ASSERT_EQUAL_INT(3, wire_interrupts);
}

static void test_a_controller_is_not_missed_where_its_loss_is_provided_for_or_the_run_ends(void)
{
    run.serve = the_server;
    strcpy(run.controller.program, "board");
    scenario->spec.links[0].on_loss_given = true;
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop());
    scenario->spec.links[0].on_loss_given = false;
    stop_signal = SIGINT;
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop());
    stop_signal = 0;
    run.links = NULL;
    look(11);
    TEST_ASSERT_TRUE(is_told_to_stop());
}

static void test_where_no_board_is_on_the_wire_the_controller_is_a_hand_that_is_no_person(void)
{
    run.serve = the_server;
    strcpy(run.controller.program, "hand");
    scenario->spec.links[0].spec.protocol = IO_PROTOCOL_HAND;
    scenario->spec.links[0].on_loss_given = true; /* and not of the cockpit */
    look(20);
    TEST_ASSERT_FALSE(is_told_to_stop());
    scenario->spec.links[0].on_loss_given = false;
    scenario->spec.links[1].on_loss_given = true;
    look(11);
    TEST_ASSERT_TRUE(is_told_to_stop());
}

static void test_a_controller_that_runs_is_not_missed(void)
{
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    TEST_ASSERT_TRUE(child > 0);
    strcpy(run.controller.program, "board");
    run.controller.pid = child;
    look(20);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    TEST_ASSERT_FALSE(is_told_to_stop());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_each_end_has_its_text);
    RUN_TEST(test_an_end_is_named_by_what_came_first);
    RUN_TEST(test_a_controller_that_died_before_its_last_reply_ended_the_run);
    RUN_TEST(test_frames_go_on_for_ten_looks_without_a_controller);
    RUN_TEST(test_a_controller_is_not_missed_where_its_loss_is_provided_for_or_the_run_ends);
    RUN_TEST(test_where_no_board_is_on_the_wire_the_controller_is_a_hand_that_is_no_person);
    RUN_TEST(test_a_controller_that_runs_is_not_missed);
    return UNITY_END();
}
