/*
 * Ground stations: forwarding between them and the board, and the station that a script drives.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/io/link/link_fixture.h"
#include "tests/io/wire.h"

/* In these tests the stranger is the ground station. */
static void start_with_ground(enum io_protocol_kind protocol)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    spec.protocol = protocol;
    (void)snprintf(spec.ground[0], IO_ADDRESS_MAX, "127.0.0.1:%u",
                   io_udp_local(&stranger.udp).port);
    start(&spec);
    board_heartbeat(&board);
    wait_messages(1);
}

static void ground_receive(struct io_packet *packet)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (io_udp_receive(&stranger.udp, packet) <= 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing forwarded");
        poll_once();
    }
}

static void test_what_the_board_says_reaches_the_ground_unaltered(void)
{
    const unsigned char attitude[28] = {1, 2, 3};
    struct wire wire = wire_v2(1, 1, 30, 39, attitude, sizeof attitude);
    struct io_packet packet;
    wire_put(&wire, "thirteenbytes", 13);
    start_with_ground(IO_PROTOCOL_PX4_HITL);
    ground_receive(&packet); /* the heartbeat */
    TEST_ASSERT_EQUAL_size_t(21, packet.size);
    board_command(&board, 1); /* a command is not forwarded */
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, board.simulator, wire.bytes, wire.size, false));
    ground_receive(&packet);
    TEST_ASSERT_EQUAL_size_t(wire.size, packet.size);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(wire.bytes, packet.bytes, wire.size);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(2, counters().forwarded);
    TEST_ASSERT_EQUAL_UINT64(0, counters().forward_dropped);
}

static void test_the_ground_reaches_the_board_behind_the_sensors(void)
{
    const unsigned char parameters[6] = {0, 0, 0, 0,
                                         1, 1}; /* the last two are those of PARAM_REQUEST_LIST */
    const struct wire wire = wire_v2(0, 77, 21, 159, parameters + 4, 2);
    struct io_packet packet;
    start_with_ground(IO_PROTOCOL_PX4_HITL);
    ground_receive(&packet); /* from here on the station knows the address of the link */
    TEST_ASSERT_EQUAL(0, io_udp_send(&stranger.udp, packet.from, "noise", 5, false));
    TEST_ASSERT_EQUAL(0, io_udp_send(&stranger.udp, packet.from, wire.bytes, wire.size, false));
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    bool came = false;
    for (uint64_t i = 0; !came; i++) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing from the ground");
        commit(i, IO_SEND_SENSOR);
        poll_once();
        pause_ms(1);
        while (board_receive(&board)) {
            if (board.message.kind == IO_MAVLINK_SENSOR)
                continue;
            TEST_ASSERT_EQUAL_UINT32(21, board.message.id);
            TEST_ASSERT_EQUAL_UINT8(77, board.message.sequence);
            came = true;
        }
    }
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().forward_dropped); /* the noise */
    TEST_ASSERT_EQUAL_UINT64(0, io_mavlink_get_counters(board.parser)->bad_crc);
}

static void test_only_the_ground_station_reaches_the_board(void)
{
    struct io_packet packet;
    start_with_ground(IO_PROTOCOL_MAVLINK);
    ground_receive(&packet);
    const struct io_address gateway = packet.from;
    board.simulator = gateway; /* the board is not a station of the spec */
    board_heartbeat(&board);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().forward_dropped == 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "not refused");
        poll_once();
    }
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().forwarded);
}

/* The custom mode carries the number, because a sequence of eight bits repeats after 256 frames. */
static void numbered_heartbeat(uint32_t number)
{
    struct io_mavlink_message message;
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    message.heartbeat.custom_mode = number;
    board_send(&board, &message);
}

static void test_a_flood_from_the_board_is_bounded_and_costs_the_oldest_frames(void)
{
    enum { FLOOD = 2000, HEAD = 10 };
    uint64_t received = 0;
    uint32_t last = 0;
    struct io_packet packet;
    start_with_ground(IO_PROTOCOL_PX4_HITL);
    ground_receive(&packet); /* the first heartbeat has no sequence number */
    for (uint32_t i = 0; i < FLOOD; i++) {
        numbered_heartbeat(1 + i);
        if (i % 50 == 0)
            poll_once();
    }
    for (int i = 0; i < 40; i++) {
        commit((uint64_t)i, IO_SEND_SENSOR);
        poll_once();
        pause_ms(1);
    }
    io_links_stop(links);
    while (io_udp_receive(&stranger.udp, &packet) > 0) {
        TEST_ASSERT_EQUAL_size_t(21, packet.size); /* a whole frame */
        uint32_t number;
        memcpy(&number, packet.bytes + HEAD, sizeof number);
        TEST_ASSERT_GREATER_THAN_UINT32(last, number); /* the order is kept */
        last = number;
        received++;
    }
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(counters().forwarded, received);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(counters().rx,
                                     counters().forwarded + counters().forward_dropped);
    TEST_ASSERT_GREATER_THAN_UINT64(0, received);
}

static struct io_link_spec make_station_spec(void)
{
    struct io_link_spec spec = make_spec(0);
    spec.script = (struct io_ground_script){
        .step_count = 1,
        .second = 1000,
        .system_id = 255,
        .component_id = 190,
        .step = {{.act = IO_GROUND_ARM, .frame = 1, .limit_frames = 100000}},
    };
    return spec;
}

static void test_the_line_of_a_ground_station_is_named_when_it_is_none(void)
{
    char error[IO_ERROR_MAX];
    struct io_link_spec spec = make_station_spec();
    (void)snprintf(spec.ground_line, sizeof spec.ground_line, "nonsense");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_EQUAL_STRING("links.board.ground_line: \"nonsense\" is not an IPv4 address and "
                             "port like 127.0.0.1:14560",
                             error);
    spec.script.step_count = 0; /* without steps the line is not opened */
    TEST_ASSERT_EQUAL_MESSAGE(0, open_second(&spec, error), error);
}

static void test_a_ground_station_whose_line_is_taken_does_not_keep_a_run_from_flying(void)
{
    struct io_link_spec spec = make_station_spec();
    (void)snprintf(spec.ground_line, sizeof spec.ground_line, "127.0.0.1:%u",
                   io_udp_local(&stranger.udp).port);
    start_spec_with_board(&spec);
    TEST_ASSERT_EQUAL(-EADDRINUSE, io_link_ground_line_status(links, 0));
    commit(1, IO_SEND_SENSOR);
    board_expect(&board, IO_MAVLINK_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT32(0, io_link_ground_result(links, 0, 0).answer + 1); /* -1: none came */
}

/* The station sends nothing before the firmware does, and then to the address of the firmware. */
static void test_a_ground_station_on_its_own_line_answers_the_sender_there(void)
{
    struct io_link_spec spec = make_station_spec();
    uint16_t port = 0;
    for (int tries = 0; tries < 20 && port == 0;
         tries++) { /* another process may take the port first */
        struct io_udp free_port;
        TEST_ASSERT_EQUAL(0, io_udp_open(&free_port, loopback));
        port = io_udp_local(&free_port).port;
        io_udp_close(&free_port);
        (void)snprintf(spec.ground_line, sizeof spec.ground_line, "127.0.0.1:%u", port);
        start(&spec);
        if (io_link_ground_line_status(links, 0) == 0)
            break;
        io_links_stop(links);
        port = 0;
    }
    TEST_ASSERT_NOT_EQUAL(0, port);
    board_heartbeat(&board);
    wait_messages(1);
    stranger.simulator.port = port;
    struct io_mavlink_message beat = {.kind = IO_MAVLINK_HEARTBEAT,
                                      .heartbeat = {.type = 2, .autopilot = 12, .status = 4}};
    board_send(&stranger, &beat);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    bool asked = false;
    for (uint64_t frame = 1; !asked; frame++) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no command was sent");
        commit(frame, IO_SEND_SENSOR);
        poll_once();
        while (board_receive(&stranger)) {
            TEST_ASSERT_EQUAL_UINT8(255, stranger.message.system_id);
            TEST_ASSERT_EQUAL_UINT8(190, stranger.message.component_id);
            asked |= stranger.message.id == 76; /* COMMAND_LONG */
        }
        while (board_receive(&board))
            TEST_ASSERT_EQUAL_UINT8(
                42, board.message.system_id); /* nothing of the station on the board's line */
    }
}

int main(int argc, char **argv)
{
    const int skipped = prepare_link_tests(argc, argv);
    if (skipped != 0)
        return skipped;
    UNITY_BEGIN();
    RUN_TEST(test_what_the_board_says_reaches_the_ground_unaltered);
    RUN_TEST(test_the_ground_reaches_the_board_behind_the_sensors);
    RUN_TEST(test_only_the_ground_station_reaches_the_board);
    RUN_TEST(test_a_flood_from_the_board_is_bounded_and_costs_the_oldest_frames);
    RUN_TEST(test_the_line_of_a_ground_station_is_named_when_it_is_none);
    RUN_TEST(test_a_ground_station_whose_line_is_taken_does_not_keep_a_run_from_flying);
    RUN_TEST(test_a_ground_station_on_its_own_line_answers_the_sender_there);
    return UNITY_END();
}
