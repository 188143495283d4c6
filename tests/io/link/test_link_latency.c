/*
 * The parts of the loop latency.
 */
#include <string.h>

#include "tests/io/link/link_fixture.h"

static void test_the_loop_latency_is_the_sum_of_its_parts(void)
{
    const uint64_t now_ns = rt_now_ns();
    struct io_sample sample = make_sample(9, IO_SEND_SENSOR);
    start_with_board(10000ull * MS);
    commit(8, IO_SEND_SENSOR); /* this sample shows no new command */
    sample.trace = (struct io_trace){
        .rx_ns = now_ns - 10000,
        .ready_ns = now_ns - 9000,
        .latch_ns = now_ns - 7000,
        .step_ns = now_ns - 4000,
    };
    io_link_commit(links, 0, &sample);
    sample.frame = 10;
    sample.due = IO_SEND_GPS; /* this message does not close the loop */
    io_link_commit(links, 0, &sample);
    io_links_stop(links);
    const struct io_latency *latency = io_link_latency(links, 0);
    uint64_t sum = 0;
    for (int i = 0; i < IO_LATENCY_COUNT; i++) {
        TEST_ASSERT_EQUAL_UINT64(1, latency->part[i].count);
        TEST_ASSERT_EQUAL_UINT64(9, latency->part[i].max_frame);
        TEST_ASSERT_EQUAL_UINT64(latency->last[i], latency->part[i].max);
        if (i != IO_LATENCY_SUM)
            sum += latency->last[i];
    }
    TEST_ASSERT_EQUAL_UINT64(1000, latency->last[IO_LATENCY_WIRE_IN]);
    TEST_ASSERT_EQUAL_UINT64(2000, latency->last[IO_LATENCY_GRID_WAIT]);
    TEST_ASSERT_EQUAL_UINT64(3000, latency->last[IO_LATENCY_STEP]);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(4000, latency->last[IO_LATENCY_HOLD]);
    TEST_ASSERT_EQUAL_UINT64(sum, latency->last[IO_LATENCY_SUM]);
}

struct observed {
    int count, link;
    uint64_t frame, rx_ns, part_ns[IO_LATENCY_SUM];
};

static void observe(void *self, int link, uint64_t frame, uint64_t rx_ns,
                    const uint64_t part_ns[IO_LATENCY_SUM])
{
    struct observed *observed = self;
    observed->count++;
    observed->link = link;
    observed->frame = frame;
    observed->rx_ns = rx_ns;
    memcpy(observed->part_ns, part_ns, sizeof observed->part_ns);
}

static void test_a_seer_sees_every_measured_loop_once_part_by_part(void)
{
    const struct io_link_spec spec = make_spec(0);
    char error[IO_ERROR_MAX];
    struct observed observed = {.link = -1};
    links = io_links_place(&spec, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    io_links_observe_latency(links, (struct io_latency_observer){&observed, observe});
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, &watchdog, &thread));
    board.simulator = (struct io_address){.ip = loopback.ip, .port = io_link_port(links, 0)};
    board_heartbeat(&board);
    wait_messages(1);
    const uint64_t now_ns = rt_now_ns();
    struct io_sample sample = make_sample(9, IO_SEND_SENSOR);
    commit(8, IO_SEND_SENSOR); /* this sample shows no new command */
    sample.trace = (struct io_trace){.rx_ns = now_ns - 10000,
                                     .ready_ns = now_ns - 9000,
                                     .latch_ns = now_ns - 7000,
                                     .step_ns = now_ns - 4000};
    io_link_commit(links, 0, &sample);
    commit(10, IO_SEND_SENSOR);
    io_links_stop(links);
    const struct io_latency *latency = io_link_latency(links, 0);
    TEST_ASSERT_EQUAL(1, observed.count);
    TEST_ASSERT_EQUAL(0, observed.link);
    TEST_ASSERT_EQUAL_UINT64(9, observed.frame);
    TEST_ASSERT_EQUAL_UINT64(now_ns - 10000, observed.rx_ns);
    for (int i = 0; i < IO_LATENCY_SUM; i++)
        TEST_ASSERT_EQUAL_UINT64(latency->last[i], observed.part_ns[i]);
    TEST_ASSERT_EQUAL_UINT64(3000, observed.part_ns[IO_LATENCY_STEP]);
}

static void test_parts_that_run_backwards_count_as_nothing(void)
{
    const uint64_t now_ns = rt_now_ns();
    struct io_sample sample = make_sample(9, IO_SEND_SENSOR);
    start_with_board(10000ull * MS);
    sample.trace = (struct io_trace){
        .rx_ns = now_ns, .ready_ns = now_ns - 5, .latch_ns = now_ns, .step_ns = now_ns};
    io_link_commit(links, 0, &sample);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(0, io_link_latency(links, 0)->last[IO_LATENCY_WIRE_IN]);
    TEST_ASSERT_EQUAL_UINT64(5, io_link_latency(links, 0)->last[IO_LATENCY_GRID_WAIT]);
}

/* The kernel's stamp is mapped from another clock, so a few microseconds may be missing. */
static void test_what_lay_in_the_kernel_until_the_frame_looked_is_no_wire(void)
{
    if (mode != IO_LINK_INLINE)
        TEST_IGNORE_MESSAGE("only in inline mode may a packet wait for the poll of the frame");
    start_with_board(10000ull * MS);
    board_command(&board, 1);
    pause_ms(20);
    const uint64_t poll_ns = rt_now_ns();
    io_links_poll(links);
    const uint64_t done_ns = rt_now_ns();
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(19 * MS, done_ns - command.rx_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(done_ns - poll_ns, command.ready_ns - command.rx_ns);
    TEST_ASSERT_GREATER_THAN_UINT64(command.rx_ns, command.ready_ns);
}

static void test_what_an_await_waited_for_is_the_wire(void)
{
    if (mode != IO_LINK_INLINE)
        TEST_IGNORE_MESSAGE("only in inline mode may a packet wait for the poll of the frame");
    start_with_board(10000ull * MS);
    io_links_allow_spin(links, true);
    board_command(&board, 1);
    pause_ms(20);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, PATIENCE_NS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(19 * MS, command.ready_ns - command.rx_ns);
}

int main(int argc, char **argv)
{
    const int skipped = prepare_link_tests(argc, argv);
    if (skipped != 0)
        return skipped;
    UNITY_BEGIN();
    RUN_TEST(test_the_loop_latency_is_the_sum_of_its_parts);
    RUN_TEST(test_a_seer_sees_every_measured_loop_once_part_by_part);
    RUN_TEST(test_parts_that_run_backwards_count_as_nothing);
    RUN_TEST(test_what_lay_in_the_kernel_until_the_frame_looked_is_no_wire);
    RUN_TEST(test_what_an_await_waited_for_is_the_wire);
    return UNITY_END();
}
