/*
 * The set-up of links, their stop, the invalidation of the outputs, and what any thread may read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/io/link/link_fixture.h"

static void test_invalid_outputs_are_announced_and_no_sample_follows(void)
{
    start_with_board(10000ull * MS);
    io_links_invalidate_outputs(links);
    board_expect(&board, IO_MAVLINK_HEARTBEAT);
    TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_EMERGENCY, board.message.heartbeat.status);
    commit(0, IO_SEND_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().tx_dropped);
    while (board_receive(&board))
        TEST_ASSERT_EQUAL(IO_MAVLINK_HEARTBEAT, board.message.kind);
    io_links_invalidate_outputs(links); /* after the stop it sends nothing and does no harm */
}

static void test_a_hung_frame_thread_invalidates_the_outputs(void)
{
    start_with_board(10000ull * MS);
    rt_watchdog_kick(&watchdog, rt_now_ns());
    for (int i = 0; i < 3; i++) { /* the message is repeated */
        board_expect(&board, IO_MAVLINK_HEARTBEAT);
        TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_EMERGENCY, board.message.heartbeat.status);
    }
    commit(0, IO_SEND_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().tx_dropped);
}

static void test_the_stop_says_farewell(void)
{
    start_with_board(10000ull * MS);
    commit(0, IO_SEND_SENSOR);
    io_links_stop(links);
    board_expect(&board, IO_MAVLINK_SENSOR);
    board_expect(&board, IO_MAVLINK_HEARTBEAT);
    TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_POWEROFF, board.message.heartbeat.status);
    io_links_stop(links); /* a second stop does nothing */
    TEST_ASSERT_FALSE(board_receive(&board));
}

static void test_the_state_of_the_board_is_reported(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_mavlink_message beat = {.kind = IO_MAVLINK_HEARTBEAT,
                                      .heartbeat = {.autopilot = 12, .base_mode = 0x1d}};
    spec.protocol = IO_PROTOCOL_PX4_HITL;
    start(&spec);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_link_board_state(links, 0));
    board_send(&board, &beat);
    wait_messages(1);
    io_links_stop(links);
    TEST_ASSERT_EQUAL(IO_BOARD_NOT_HIL, io_link_board_state(links, 0));
    start(&spec);
    beat.heartbeat.base_mode = 0x3d;
    board_send(&board, &beat);
    board_command(&board, 1); /* its flags are 1: lockstep */
    wait_commands(1);
    io_links_stop(links); /* the I/O thread has published all facts by now */
    TEST_ASSERT_EQUAL(IO_BOARD_READY, io_link_board_state(links, 0));
}

static void test_a_board_that_stopped_sending_is_silent(void)
{
    start_with_board(20ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    wait_losses(1);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_link_board_state(links, 0));
}

static void test_the_cadence_of_the_commands_is_measured(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_cadence cadence;
    spec.late_after_ns = 10 * MS;
    start(&spec);
    io_link_cadence(links, 0, rt_now_ns(), &cadence);
    TEST_ASSERT_EQUAL_UINT64(0,
                             cadence.since_ns + cadence.gap_ns_max + cadence.late + cadence.silent);
    board_command(&board, 1);
    wait_commands(1);
    io_link_cadence(links, 0, rt_now_ns(), &cadence);
    TEST_ASSERT_EQUAL_UINT64(0, cadence.late + cadence.gap_ns_max);
    pause_ms(20);
    board_command(&board, 2);
    wait_commands(2);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    io_link_cadence(links, 0, command.ready_ns + 12345, &cadence);
    TEST_ASSERT_EQUAL_UINT64(12345, cadence.since_ns);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(18ull * MS, cadence.gap_ns_max);
    TEST_ASSERT_EQUAL_UINT64(1, cadence.late);
    TEST_ASSERT_EQUAL_UINT64(0, cadence.silent);
}

static void test_a_port_in_use_is_named_with_the_remedy(void)
{
    char error[IO_ERROR_MAX], port[16];
    struct io_link_spec spec = make_spec(0);
    start(&spec);
    (void)snprintf(port, sizeof port, "port %u", io_link_port(links, 0));
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen, "127.0.0.1:%u", io_link_port(links, 0));
    TEST_ASSERT_EQUAL(-EADDRINUSE, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "links.board.listen: "), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, port), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "in use"), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "choose another port"), error);
    TEST_ASSERT_NULL(strchr(error, '\n'));
}

static void test_bad_addresses_are_named(void)
{
    char error[IO_ERROR_MAX];
    struct io_link_spec spec = make_spec(0);
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen, "nonsense");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_EQUAL_STRING("links.board.listen: \"nonsense\" is not an IPv4 address and port "
                             "like 127.0.0.1:14560",
                             error);
    spec = make_spec(0);
    (void)snprintf(spec.bus.peer, sizeof spec.bus.peer, "127.0.0.1:0");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "links.board.peer: "), error);
    spec = make_spec(0);
    (void)snprintf(spec.ground[0], IO_ADDRESS_MAX, "127.0.0.1:14550");
    (void)snprintf(spec.ground[1], IO_ADDRESS_MAX, "home");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "links.board.ground: \"home\" is not"), error);
    spec.protocol = IO_PROTOCOL_ARDUPILOT;
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(
        strstr(error, "links.board.ground: the protocol ardupilot does not forward"), error);
    spec = make_spec(0);
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen,
                   "192.0.2.1:14560"); /* an address reserved for documentation */
    TEST_ASSERT_EQUAL(-EADDRNOTAVAIL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "not an address of this machine"), error);
}

static void test_two_links_do_not_mix(void)
{
    char error[IO_ERROR_MAX];
    struct io_link_spec specs[2] = {make_spec(10000ull * MS), make_spec(10000ull * MS)};
    struct board *const boards[2] = {&board, &stranger};
    links = io_links_place(specs, 2, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, NULL, &thread));
    for (int i = 0; i < 2; i++) {
        boards[i]->simulator = (struct io_address){loopback.ip, io_link_port(links, i)};
        board_command(boards[i], 100 + (uint64_t)i);
        TEST_ASSERT_TRUE(io_link_await(links, i, 0, PATIENCE_NS));
        TEST_ASSERT_TRUE(io_link_latch(links, i, &command));
        TEST_ASSERT_EQUAL_UINT64(100 + (uint64_t)i, command.board_us);
    }
    for (int i = 0; i < 2; i++) {
        const struct io_sample sample = make_sample((uint64_t)i, IO_SEND_SENSOR);
        io_link_commit(links, i, &sample);
        board_expect(boards[i], IO_MAVLINK_SENSOR);
        TEST_ASSERT_EQUAL_UINT64(1000 * (1 + (uint64_t)i), boards[i]->message.sensor.time_us);
    }
}

int main(int argc, char **argv)
{
    const int skipped = prepare_link_tests(argc, argv);
    if (skipped != 0)
        return skipped;
    UNITY_BEGIN();
    RUN_TEST(test_invalid_outputs_are_announced_and_no_sample_follows);
    if (mode == IO_LINK_THREADED) /* inline, no other thread checks the watchdog */
        RUN_TEST(test_a_hung_frame_thread_invalidates_the_outputs);
    RUN_TEST(test_the_stop_says_farewell);
    RUN_TEST(test_the_state_of_the_board_is_reported);
    RUN_TEST(test_a_board_that_stopped_sending_is_silent);
    RUN_TEST(test_the_cadence_of_the_commands_is_measured);
    RUN_TEST(test_a_port_in_use_is_named_with_the_remedy);
    RUN_TEST(test_bad_addresses_are_named);
    RUN_TEST(test_two_links_do_not_mix);
    return UNITY_END();
}
