/*
 * The wait of a lockstep frame: late and lost replies, boards on their own clock, a machine that
 * stalls.
 */
#include <pthread.h>
#include <sched.h>

#include "rt/alloc.h"
#include "tests/io/link/link_fixture.h"

static void test_an_await_returns_at_once_for_a_command_that_is_there(void)
{
    start_with_board(10000ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 0));
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 0)); /* the command is not latched yet */
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    const uint64_t before_ns = rt_now_ns();
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 20 * MS));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns + 20 * MS, rt_now_ns());
}

static void count_call(void *self)
{
    (*(int *)self)++;
}

/* An await calls its hook before it sleeps, and repeatedly, so that it sees a stop. */
static void test_an_await_heeds_the_stop(void)
{
    int calls = 0;
    start_with_board(10000ull * MS);
    io_links_set_await_hook(links, (struct io_await_hook){&calls, count_call});
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 100 * MS));
    TEST_ASSERT_GREATER_OR_EQUAL_INT(2, calls);
    board_command(&board, 1);
    wait_commands(1);
    calls = 0;
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 0));
    TEST_ASSERT_EQUAL_INT(0, calls); /* there was no wait */
}

/* The waiting thread is held up for much longer than its limit, and the board answers only after
 * that. */
static void stand_still(void *self)
{
    int *calls = self;
    if (++*calls == 1)
        pause_ms(700);
    else if (*calls == 2)
        board_command(&board, 1);
}

/* A command is counted a moment before the link counts as alive, and the I/O thread may be held up
 * between the two. */
static void wait_alive(void)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (!io_link_alive(links, 0, rt_now_ns())) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "the link stays lost");
        poll_once();
    }
}

static void test_a_machine_that_stood_still_has_lost_no_board(void)
{
    int calls = 0;
    struct io_link_spec spec = make_spec(50ull * MS);
    spec.awaited = true;
    start_spec_with_board(&spec);
    io_links_set_await_hook(links, (struct io_await_hook){&calls, stand_still});
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 500 * MS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    pause_ms(100); /* outside an await no time counts against the board */
    TEST_ASSERT_TRUE(io_link_alive(links, 0, rt_now_ns()));
    io_links_set_await_hook(links, (struct io_await_hook){0});
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 40 * MS));
    TEST_ASSERT_TRUE(io_link_alive(links, 0, rt_now_ns()));
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 40 * MS)); /* 80 ms of waiting without a command */
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    board_command(&board, 2);
    wait_commands(2);
    wait_alive();
}

static void *command_later(void *self)
{
    pause_ms(20);
    board_heartbeat(self); /* a heartbeat is not a command */
    pause_ms(5);
    board_command(self, 1);
    return NULL;
}

static void test_an_await_ends_with_the_command(void)
{
    pthread_t other;
    start_with_board(10000ull * MS);
    TEST_ASSERT_EQUAL(0, pthread_create(&other, NULL, command_later, &board));
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    const bool came = io_link_await(links, 0, 0, PATIENCE_NS);
    const uint64_t end_ns = rt_now_ns();
    TEST_ASSERT_EQUAL(0, pthread_join(other, NULL));
    TEST_ASSERT_TRUE(came);
    TEST_ASSERT_LESS_THAN_UINT64(limit_ns, end_ns); /* the command ended the wait, not the limit */
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
}

enum { LOCKSTEP_FRAMES = 300 };

/* Answers each HIL_SENSOR with a command that carries its time. */
static void *lockstep_board(void *self)
{
    const uint64_t limit_ns = rt_now_ns() + 3 * PATIENCE_NS;
    for (int i = 0; i < LOCKSTEP_FRAMES && rt_now_ns() < limit_ns;) {
        if (!board_receive(self)) {
            (void)sched_yield();
        } else if (board.message.kind == IO_MAVLINK_SENSOR) {
            board_command(self, board.message.sensor.time_us);
            i++;
        }
    }
    return NULL;
}

static void test_a_lockstep_run_misses_no_reply_and_takes_no_memory(void)
{
    pthread_t other;
    int replies = 0;
    start_with_board(10000ull * MS);
    TEST_ASSERT_EQUAL(0, pthread_create(&other, NULL, lockstep_board, &board));
    const uint64_t allocations = rt_alloc_count();
    rt_alloc_watch();
    command.rx_ns = 0;
    for (uint64_t i = 0; i < LOCKSTEP_FRAMES; i++) {
        struct io_sample sample = make_sample(i, IO_SEND_SENSOR);
        const uint64_t now_ns = rt_now_ns();
        sample.trace = (struct io_trace){command.rx_ns, command.ready_ns, now_ns, now_ns};
        io_link_commit(links, 0, &sample);
        replies += io_link_await(links, 0, 1000 * (i + 1), PATIENCE_NS) &&
                   io_link_latch(links, 0, &command) && command.board_us == 1000 * (i + 1);
    }
    rt_alloc_unwatch();
    TEST_ASSERT_EQUAL(0, pthread_join(other, NULL));
    io_links_stop(links);
    TEST_ASSERT_EQUAL(LOCKSTEP_FRAMES, replies);
    TEST_ASSERT_EQUAL_UINT64(LOCKSTEP_FRAMES, counters().commands);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost + counters().rx_bad + counters().tx_dropped);
    const struct rt_histogram *part = io_link_latency(links, 0)->part;
    for (int i = 0; i < IO_LATENCY_COUNT; i++)
        TEST_ASSERT_EQUAL_UINT64(LOCKSTEP_FRAMES - 1,
                                 part[i].count); /* the first sample shows no command */
    TEST_ASSERT_GREATER_THAN_UINT64(0, part[IO_LATENCY_WIRE_IN].max);
    TEST_ASSERT_GREATER_THAN_UINT64(0, part[IO_LATENCY_WIRE_OUT].max);
    if (rt_alloc_is_counted())
        TEST_ASSERT_EQUAL_UINT64(allocations, rt_alloc_count());
    if (memory_locked)
        TEST_ASSERT_EQUAL_UINT64(0, io_links_page_faults(links));
}

/* Send one sample and receive its reply. */
static void round_trip(uint64_t frame, uint64_t board_us)
{
    commit(frame, IO_SEND_SENSOR);
    board_expect(&board, IO_MAVLINK_SENSOR);
    board_command(&board, board_us);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 1000 * (frame + 1), PATIENCE_NS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(board_us, command.board_us);
}

enum { LOCK_FRAMES = 5 };

/* Run until the link knows whether the board's clock is the simulation's or its own. */
static void run_lockstep(bool on_our_time)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < LOCK_FRAMES; i++)
        round_trip(i, on_our_time ? 1000 * (i + 1) : 99000000 + i);
}

static bool await_shortly(uint64_t frame)
{
    return io_link_await(links, 0, 1000 * (frame + 1), 2 * MS);
}

static void test_a_late_reply_is_known_by_its_time(void)
{
    run_lockstep(true);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5));
    board_expect(&board, IO_MAVLINK_SENSOR);
    commit(6, IO_SEND_SENSOR);
    board_expect(
        &board,
        IO_MAVLINK_SENSOR); /* a reply with a time not sent yet would mean a clock of its own */
    board_command(&board, 6000); /* answers frame 5 */
    wait_commands(LOCK_FRAMES + 1);
    TEST_ASSERT_FALSE(await_shortly(6));
    board_command(&board, 7000);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 7000, PATIENCE_NS));
    commit(7, IO_SEND_SENSOR); /* its reply is lost for good */
    TEST_ASSERT_FALSE(await_shortly(7));
    board_expect(&board, IO_MAVLINK_SENSOR);
    round_trip(8, 9000);
}

static void test_a_late_reply_of_a_board_with_its_own_clock_is_known_by_its_number(void)
{
    run_lockstep(false);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5));
    commit(6, IO_SEND_SENSOR);
    board_command(&board, 99000005);
    wait_commands(LOCK_FRAMES + 1);
    TEST_ASSERT_FALSE(await_shortly(6));
    board_command(&board, 99000006);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 7000, PATIENCE_NS));
}

static void test_a_lost_reply_does_not_cost_all_the_others(void)
{
    run_lockstep(false);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5)); /* its reply is lost */
    commit(6, IO_SEND_SENSOR);
    board_command(&board, 99000006);
    wait_commands(LOCK_FRAMES + 1);
    TEST_ASSERT_FALSE(await_shortly(6)); /* this reply counts as the late one */
    commit(7, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(7));
    board_command(&board, 99000007);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 8000, PATIENCE_NS));
}

static void test_unexpected_replies_are_no_credit(void)
{
    run_lockstep(false);
    for (uint64_t i = 0; i < 3; i++)
        board_command(&board, 99000010 + i);
    wait_commands(LOCK_FRAMES + 3);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5));
    board_command(&board, 99000020);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 6000, PATIENCE_NS));
}

static void test_a_board_may_leave_the_first_samples_unanswered(void)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < 30; i++) {
        commit(i, IO_SEND_SENSOR);
        TEST_ASSERT_FALSE(io_link_await(links, 0, 1000 * (i + 1), 0));
        board_expect(&board, IO_MAVLINK_SENSOR);
    }
    round_trip(30, 77777777);
    round_trip(31, 77777778);
}

static void test_samples_before_the_first_reply_need_not_be_awaited(void)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < 30; i++) {
        commit(i, IO_SEND_SENSOR);
        board_expect(&board, IO_MAVLINK_SENSOR);
    }
    round_trip(30, 77777777);
    round_trip(31, 77777778);
}

static void test_the_clock_of_a_new_board_is_judged_anew(void)
{
    start_with_board(30ull * MS);
    for (uint64_t i = 0; i < LOCK_FRAMES; i++)
        round_trip(i, 99000000 + i);
    while (io_link_alive(links, 0, rt_now_ns()))
        poll_once(); /* another board can become the peer when this one counts as lost */
    for (uint64_t i = 5; i < 9; i++) {
        board_command(&stranger, 2000 + i); /* within the times that were sent */
        wait_commands(i + 1);
    }
    commit(9, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(
        await_shortly(9)); /* the lost reply costs no later one, because of the clock */
    commit(10, IO_SEND_SENSOR);
    board_expect(&stranger, IO_MAVLINK_SENSOR);
    board_expect(&stranger, IO_MAVLINK_SENSOR);
    board_command(&stranger, 11000);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 11000, PATIENCE_NS));
}

/* The board's times lie within those that were sent, but stay behind: the clock is not the
 * simulation's after all. */
static void test_a_clock_that_stays_behind_is_not_ours(void)
{
    int missed = 0;
    run_lockstep(true);
    for (uint64_t i = LOCK_FRAMES; i < LOCK_FRAMES + 20; i++) {
        commit(i, IO_SEND_SENSOR);
        board_expect(&board, IO_MAVLINK_SENSOR);
        board_command(&board, 1000 * (i - 2));
        wait_commands(i + 1);
        missed += !io_link_await(links, 0, 1000 * (i + 1), 1 * MS);
    }
    TEST_ASSERT_GREATER_THAN(0, missed);
    TEST_ASSERT_LESS_OR_EQUAL(10, missed);
}

int main(int argc, char **argv)
{
    const int skipped = prepare_link_tests(argc, argv);
    if (skipped != 0)
        return skipped;
    UNITY_BEGIN();
    RUN_TEST(test_an_await_returns_at_once_for_a_command_that_is_there);
    RUN_TEST(test_an_await_heeds_the_stop);
    RUN_TEST(test_a_machine_that_stood_still_has_lost_no_board);
    RUN_TEST(test_an_await_ends_with_the_command);
    RUN_TEST(test_a_lockstep_run_misses_no_reply_and_takes_no_memory);
    RUN_TEST(test_a_late_reply_is_known_by_its_time);
    RUN_TEST(test_a_late_reply_of_a_board_with_its_own_clock_is_known_by_its_number);
    RUN_TEST(test_a_lost_reply_does_not_cost_all_the_others);
    RUN_TEST(test_unexpected_replies_are_no_credit);
    RUN_TEST(test_a_board_may_leave_the_first_samples_unanswered);
    RUN_TEST(test_samples_before_the_first_reply_need_not_be_awaited);
    RUN_TEST(test_the_clock_of_a_new_board_is_judged_anew);
    RUN_TEST(test_a_clock_that_stays_behind_is_not_ours);
    return UNITY_END();
}
