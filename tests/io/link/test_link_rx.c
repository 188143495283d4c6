/*
 * Packets in: which sender is the peer, commands, clock replies, streams, and the stop that a link
 * raises.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "io/protocol/hand.h"
#include "rt/estop.h"
#include "tests/io/link/link_fixture.h"

static void test_a_command_is_latched_once(void)
{
    const struct io_link_spec spec = make_spec(10000ull * MS);
    start(&spec);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    TEST_ASSERT_FALSE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT32(0, command.sequence);

    const uint64_t before_ns = rt_now_ns();
    board_command(&board, 777);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(777, command.board_us);
    TEST_ASSERT_EQUAL_UINT32(1, command.sequence);
    TEST_ASSERT_EQUAL_UINT32(0x81, command.mode);
    TEST_ASSERT_EQUAL_UINT64(1, command.flags);
    TEST_ASSERT_EQUAL_FLOAT(0.5f, command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(-1.0f, command.controls[15]);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(command.ready_ns, command.rx_ns);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns - 1 * MS,
                                        command.rx_ns); /* the error of the clock mapping */
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), command.ready_ns);
    TEST_ASSERT_FALSE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(777, command.board_us);

    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
    TEST_ASSERT_TRUE(io_link_alive(links, 0, command.ready_ns));
    TEST_ASSERT_TRUE(io_link_alive(links, 0, command.ready_ns + 10000ull * MS));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, command.ready_ns + 10001ull * MS));
}

static void test_a_pause_excuses_a_board(void)
{
    start_with_board(100ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    (void)io_link_latch(links, 0, &command);
    const uint64_t pause_ns = command.ready_ns + 500ull * MS;
    TEST_ASSERT_FALSE(io_link_alive(links, 0, pause_ns));
    io_links_restart_loss_timers(links, pause_ns);
    TEST_ASSERT_TRUE(io_link_alive(links, 0, pause_ns + 100ull * MS));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, pause_ns + 101ull * MS));
}

static void test_the_newest_command_wins(void)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 1; i <= 5; i++)
        board_command(&board, i);
    wait_commands(5);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(5, command.board_us);
    TEST_ASSERT_EQUAL_UINT32(5, command.sequence);
    TEST_ASSERT_FALSE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost + counters().rx_bad);
    TEST_ASSERT_EQUAL_UINT64(6, counters().rx);
}

static void test_timesync_is_answered_when_it_is_ours(void)
{
    struct io_mavlink_message request = {
        .kind = IO_MAVLINK_TIMESYNC,
        .timesync = {.ts1 = 1, .target_system = 99},
    };
    start_with_board(10000ull * MS);
    board_send(&board, &request); /* a request for another system */
    request.timesync = (struct io_mavlink_timesync){.tc1 = 5, .ts1 = 2};
    board_send(&board, &request); /* a reply, not a request */
    request.timesync = (struct io_mavlink_timesync){.ts1 = 4711};
    const uint64_t before_ns = rt_now_ns();
    board_send(&board, &request);
    board_expect(&board, IO_MAVLINK_TIMESYNC);
    TEST_ASSERT_EQUAL_INT64(4711, board.message.timesync.ts1);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, (uint64_t)board.message.timesync.tc1);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), (uint64_t)board.message.timesync.tc1);
    TEST_ASSERT_EQUAL_UINT8(1, board.message.timesync.target_system);
    request.timesync =
        (struct io_mavlink_timesync){.ts1 = 4712, .target_system = 42, .target_component = 1};
    board_send(&board, &request);
    board_expect(&board, IO_MAVLINK_TIMESYNC);
    TEST_ASSERT_EQUAL_INT64(4712, board.message.timesync.ts1);
}

/* The board's clock stands still, an hour away from ours, so that no other number can be mistaken
 * for it. */
static void test_a_board_is_asked_for_its_time(void)
{
    const int64_t shown = 3600000000000;
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_clock_sample clock_sample;
    spec.queries_time = true;
    start(&spec);
    TEST_ASSERT_FALSE(io_link_clock(links, 0, &clock_sample));
    const uint64_t before_ns = rt_now_ns();
    board_heartbeat(&board);
    for (int i = 0; i < 2; i++) { /* the query is repeated */
        board_expect(&board, IO_MAVLINK_TIMESYNC);
        TEST_ASSERT_EQUAL_INT64(0, board.message.timesync.tc1);
        struct io_mavlink_message answer = board.message;
        answer.timesync.ts1++; /* the reply to a query that was never sent */
        answer.timesync.tc1 = 1;
        board_send(&board, &answer);
        answer.timesync.ts1--;
        answer.timesync.tc1 = shown + i;
        board_send(&board, &answer);
        const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
        while (!io_link_clock(links, 0, &clock_sample)) {
            TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no answer");
            poll_once();
        }
        const uint64_t asked_ns = (uint64_t)answer.timesync.ts1;
        TEST_ASSERT_EQUAL_UINT64((uint64_t)(shown + i), clock_sample.board_ns);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, asked_ns);
        TEST_ASSERT_EQUAL_UINT64(asked_ns + clock_sample.delay_ns / 2, clock_sample.local_ns);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), asked_ns + clock_sample.delay_ns);
    }
}

static void test_no_peer_is_asked_for_its_time_by_default(void)
{
    start_with_board(10000ull * MS);
    board_heartbeat(&board);
    for (int i = 0; i < 20; i++) {
        pause_ms(5);
        poll_once();
        TEST_ASSERT_FALSE(board_receive(&board) && board.message.kind == IO_MAVLINK_TIMESYNC);
    }
}

static void test_garbage_makes_no_peer(void)
{
    const struct io_link_spec spec = make_spec(10000ull * MS);
    start(&spec);
    TEST_ASSERT_EQUAL(0, io_udp_send(&stranger.udp, stranger.simulator, "hello", 5, false));
    wait_messages(1);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad);
    TEST_ASSERT_EQUAL_UINT64(5, counters().rx_bytes);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    board_heartbeat(&board);
    wait_messages(2);
    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
}

static void wait_bytes(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().rx_bytes < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no bytes");
        poll_once();
    }
}

/* A stream may cut a message anywhere, even the very first one. */
static void test_a_first_message_in_pieces_is_received(void)
{
    const int far = posix_openpt(O_RDWR | O_NOCTTY);
    TEST_ASSERT_TRUE(far >= 0 && grantpt(far) == 0 && unlockpt(far) == 0);
    struct io_link_spec spec = make_spec(0);
    spec.bus = (struct io_bus_spec){.kind = IO_BUS_SERIAL, .baud = 115200};
    TEST_ASSERT_EQUAL(0, ptsname_r(far, spec.bus.device, sizeof spec.bus.device));
    start(&spec);

    struct io_mavlink_message message;
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    const size_t size = io_mavlink_encode(&board.sender, &message, frame);
    TEST_ASSERT_EQUAL(size - 1, write(far, frame, size - 1));
    wait_bytes(size - 1);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    TEST_ASSERT_EQUAL(1, write(far, frame + size - 1, 1));
    wait_messages(1);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_bad);
    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
    io_links_stop(links);
    links = NULL;
    close(far);
}

static void test_cut_and_oversize_datagrams_are_bad_and_spoil_nothing(void)
{
    static unsigned char bytes[IO_DATAGRAM_MAX + 1];
    struct io_mavlink_message message = {.kind = IO_MAVLINK_CONTROLS,
                                         .controls = {.time_us = 9, .mode = 1}};
    start_with_board(10000ull * MS);
    const size_t size = io_mavlink_encode(&board.sender, &message, bytes);
    const struct io_address to = board.simulator;
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, to, bytes, sizeof bytes, false));
    wait_messages(2);
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, to, bytes, size - 1, false));
    wait_messages(3);
    TEST_ASSERT_EQUAL_UINT64(0, counters().commands);
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, to, bytes, size, false));
    wait_commands(1);
    TEST_ASSERT_EQUAL_UINT64(2, counters().rx_bad);
}

static void test_a_second_sender_is_ignored_and_counted(void)
{
    start_with_board(10000ull * MS);
    board_command(&stranger, 666);
    wait_messages(2);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad);
    TEST_ASSERT_EQUAL_UINT64(0, counters().commands);
    board_command(&board, 1);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(1, command.board_us);
    commit(0, IO_SEND_SENSOR);
    board_expect(&board, IO_MAVLINK_SENSOR);
    TEST_ASSERT_FALSE(board_receive(&stranger));
}

static void test_a_lost_peer_is_replaced_by_the_next_one(void)
{
    start_with_board(30ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    wait_losses(1);
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    stranger.sender.sequence = 99; /* another sender with the same ids: this is not a gap */
    board_command(&stranger, 2);
    wait_commands(2);
    struct io_cadence cadence;
    io_link_cadence(links, 0, rt_now_ns(), &cadence);
    TEST_ASSERT_EQUAL_UINT64(0, cadence.gap_ns_max); /* commands of two boards make no gap */
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(2, command.board_us);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost);
    commit(0, IO_SEND_SENSOR);
    board_expect(&stranger, IO_MAVLINK_SENSOR);
    TEST_ASSERT_FALSE(board_receive(&board));
    wait_losses(2);
}

static void test_gaps_in_the_sequence_are_counted(void)
{
    start_with_board(10000ull * MS);
    board.sender.sequence = (uint8_t)(board.sender.sequence + 3);
    board_command(&board, 1);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().rx_lost == 0) { /* the counter is published after the command */
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no gap counted");
        poll_once();
    }
    TEST_ASSERT_EQUAL_UINT64(3, counters().rx_lost);
}

/* Eight datagrams of the board, or 32 of strangers, or a mixture that costs as much. */
static void test_one_look_takes_a_bounded_number_of_datagrams(void)
{
    if (mode != IO_LINK_INLINE)
        TEST_IGNORE_MESSAGE("only in inline mode is the poll bounded by the frame");
    start_with_board(10000ull * MS);
    const uint64_t before = counters().commands, refused = counters().rx_bad;
    for (uint64_t i = 1; i <= 9; i++)
        board_command(&board, 1000 * i);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(8, counters().commands - before);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(9, counters().commands - before);
    for (uint64_t i = 1; i <= 33; i++)
        board_command(&stranger, 1000 * i);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(32, counters().rx_bad - refused);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(33, counters().rx_bad - refused);
}

static int connect_tcp(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in name = io_address_to_kernel(board.simulator);
    TEST_ASSERT_EQUAL(0, connect(fd, (const struct sockaddr *)&name, sizeof name));
    return fd;
}

static void send_bytes(int fd, uint64_t time_us, size_t from, size_t to)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const struct io_mavlink_message message = {.kind = IO_MAVLINK_CONTROLS,
                                               .controls = {.time_us = time_us}};
    const size_t size = io_mavlink_encode(&board.sender, &message, frame);
    for (size_t i = from; i < size && i < to; i++) {
        const uint64_t before = counters().rx_bytes, limit_ns = rt_now_ns() + PATIENCE_NS;
        TEST_ASSERT_EQUAL(1, send(fd, frame + i, 1, MSG_NOSIGNAL));
        while (counters().rx_bytes == before && rt_now_ns() < limit_ns)
            poll_once();
    }
}

static void start_tcp(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    spec.bus.kind = IO_BUS_TCP;
    spec.protocol = IO_PROTOCOL_PX4;
    start(&spec);
}

static void test_a_stream_may_come_byte_by_byte(void)
{
    start_tcp();
    const int fd = connect_tcp();
    send_bytes(fd, 5, 0, IO_MAVLINK_FRAME_MAX);
    wait_commands(1);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_bad);
    (void)close(fd);
}

static void test_half_a_frame_of_one_connection_does_not_spoil_the_next(void)
{
    start_tcp();
    const int first = connect_tcp();
    send_bytes(first, 5, 0, 12); /* without the last byte; trailing zeros are not sent */
    (void)close(first);
    const int second = connect_tcp();
    send_bytes(second, 6, 0, IO_MAVLINK_FRAME_MAX);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(6, command.board_us);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad); /* the half frame */
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost);
    (void)close(second);
}

static atomic_bool boundary_wanted;
static struct rt_estop estop;

static void start_with_estop(const struct io_link_spec *spec, uint32_t buttons)
{
    char error[IO_ERROR_MAX];
    memset(&estop, 0, sizeof estop);
    estop.boundary_wanted = &boundary_wanted;
    atomic_store(&boundary_wanted, false);
    links = io_links_place(spec, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    io_links_estop(links, 0, buttons, &estop);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, &watchdog, &thread));
    board.simulator = stranger.simulator =
        (struct io_address){.ip = loopback.ip, .port = io_link_port(links, 0)};
}

static void send_buttons(uint32_t buttons)
{
    struct io_hand_report report;
    const uint64_t before = counters().commands;
    io_hand_report_neutral(&report);
    report.buttons = buttons;
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, board.simulator, &report, IO_HAND_SIZE, false));
    wait_commands(before + 1);
}

static void test_a_press_of_the_stop_button_raises_the_stop(void)
{
    struct io_link_spec spec = make_spec(0);
    spec.protocol = IO_PROTOCOL_HAND;
    start_with_estop(&spec, 1u << 3 | 1u << 7);
    send_buttons(1u << 3); /* the state at the start is not a press */
    send_buttons(1u << 3);
    send_buttons(0);
    send_buttons(1u << 2); /* another button */
    TEST_ASSERT_EQUAL_UINT32(0, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    TEST_ASSERT_FALSE(atomic_load(&boundary_wanted));
    send_buttons(1u << 2 | 1u << 3);
    TEST_ASSERT_EQUAL_UINT32(1, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    TEST_ASSERT_TRUE(atomic_load(&boundary_wanted));
    send_buttons(1u << 3); /* it is still held */
    TEST_ASSERT_EQUAL_UINT32(1, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    send_buttons(0);
    send_buttons(1u << 7);
    TEST_ASSERT_EQUAL_UINT32(2, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    TEST_ASSERT_EQUAL_UINT32(0, rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST));
}

static void test_the_loss_of_a_hand_raises_the_stop_once(void)
{
    struct io_link_spec spec = make_spec(50ull * MS);
    spec.protocol = IO_PROTOCOL_HAND;
    start_with_estop(&spec, 1u << 3);
    TEST_ASSERT_EQUAL_UINT32(
        0, rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST)); /* there was no peer yet */
    send_buttons(0);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST) == 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no loss");
        poll_once();
    }
    TEST_ASSERT_TRUE(atomic_load(&boundary_wanted));
    TEST_ASSERT_EQUAL_UINT64(1, counters().losses);
    for (int i = 0; i < 20; i++) { /* the loss is reported once */
        pause_ms(5);
        poll_once();
    }
    TEST_ASSERT_EQUAL_UINT32(1, rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST));
    TEST_ASSERT_EQUAL_UINT32(0, rt_estop_count(&estop, RT_ESTOP_BUTTON));
}

int main(int argc, char **argv)
{
    const int skipped = prepare_link_tests(argc, argv);
    if (skipped != 0)
        return skipped;
    UNITY_BEGIN();
    RUN_TEST(test_a_command_is_latched_once);
    RUN_TEST(test_a_pause_excuses_a_board);
    RUN_TEST(test_the_newest_command_wins);
    RUN_TEST(test_timesync_is_answered_when_it_is_ours);
    RUN_TEST(test_a_board_is_asked_for_its_time);
    RUN_TEST(test_no_peer_is_asked_for_its_time_by_default);
    RUN_TEST(test_garbage_makes_no_peer);
    RUN_TEST(test_a_first_message_in_pieces_is_received);
    RUN_TEST(test_cut_and_oversize_datagrams_are_bad_and_spoil_nothing);
    RUN_TEST(test_a_second_sender_is_ignored_and_counted);
    RUN_TEST(test_a_lost_peer_is_replaced_by_the_next_one);
    RUN_TEST(test_gaps_in_the_sequence_are_counted);
    RUN_TEST(test_one_look_takes_a_bounded_number_of_datagrams);
    RUN_TEST(test_a_stream_may_come_byte_by_byte);
    RUN_TEST(test_half_a_frame_of_one_connection_does_not_spoil_the_next);
    RUN_TEST(test_a_press_of_the_stop_button_raises_the_stop);
    RUN_TEST(test_the_loss_of_a_hand_raises_the_stop_once);
    return UNITY_END();
}
