/*
 * Samples out, in order, to the right address, in the protocols that send differently.
 */
#include <stdio.h>
#include <time.h>

#include "tests/io/link/link_fixture.h"

static void test_a_sample_leaves_in_order_with_the_sensors_last(void)
{
    start_with_board(10000ull * MS);
    commit(6, IO_SEND_HEARTBEAT | IO_SEND_SENSOR | IO_SEND_GPS | IO_SEND_STATE | IO_SEND_TIME);
    commit(7, IO_SEND_SENSOR);
    commit(8, 0);
    board_expect(&board, IO_MAVLINK_HEARTBEAT);
    TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_ACTIVE, board.message.heartbeat.status);
    board_expect(&board, IO_MAVLINK_TIME);
    TEST_ASSERT_EQUAL_UINT32(7, board.message.time.boot_ms);
    TEST_ASSERT_UINT64_WITHIN(600000000, (uint64_t)time(NULL) * 1000000,
                              board.message.time.unix_us);
    board_expect(&board, IO_MAVLINK_GPS);
    TEST_ASSERT_EQUAL_INT32(286478898, board.message.gps.latitude_e7);
    board_expect(&board, IO_MAVLINK_STATE);
    TEST_ASSERT_EQUAL_FLOAT(1.0f, board.message.state.attitude[0]);
    board_expect(&board, IO_MAVLINK_SENSOR);
    TEST_ASSERT_EQUAL_UINT64(7000, board.message.sensor.time_us);
    TEST_ASSERT_EQUAL_HEX32(IO_FIELD_GYRO, board.message.sensor.fields);
    TEST_ASSERT_EQUAL_FLOAT(-0.75f, board.message.sensor.gyro[2]);
    board_expect(&board, IO_MAVLINK_SENSOR);
    TEST_ASSERT_EQUAL_UINT64(8000, board.message.sensor.time_us);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(7, counters().tx); /* the message of the stop included */
    TEST_ASSERT_EQUAL_UINT64(0, counters().tx_dropped);
    TEST_ASSERT_EQUAL_UINT64(0, io_mavlink_get_counters(board.parser)->lost);
}

static void test_samples_that_find_no_room_are_counted_and_the_others_keep_their_order(void)
{
    enum { COUNT = 200 };
    uint64_t received = 0, last_us = 0;
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < COUNT; i++)
        commit(i, IO_SEND_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(COUNT + 1, counters().tx + counters().tx_dropped);
    while (board_receive(&board)) {
        if (board.message.kind != IO_MAVLINK_SENSOR)
            continue;
        TEST_ASSERT_GREATER_THAN_UINT64(last_us, board.message.sensor.time_us);
        last_us = board.message.sensor.time_us;
        received++;
    }
    TEST_ASSERT_EQUAL_UINT64(counters().tx - 1, received);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(8, received); /* as many as the ring holds are never lost */
}

static void test_samples_without_a_peer_are_dropped_and_counted(void)
{
    const struct io_link_spec spec = make_spec(0);
    start(&spec);
    commit(0, IO_SEND_SENSOR | IO_SEND_GPS);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(0, counters().tx);
    TEST_ASSERT_EQUAL_UINT64(2, counters().tx_dropped);
}

static void test_a_peer_in_the_spec_is_sent_to_at_once_and_no_other_is_received(void)
{
    struct io_link_spec spec = make_spec(1);
    (void)snprintf(spec.bus.peer, sizeof spec.bus.peer, "127.0.0.1:%u",
                   io_udp_local(&board.udp).port);
    start(&spec);
    board_expect(&board, IO_MAVLINK_HEARTBEAT);
    commit(0, IO_SEND_SENSOR);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (!board_receive(&board) || board.message.kind == IO_MAVLINK_HEARTBEAT) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "only greetings came");
        poll_once();
    }
    TEST_ASSERT_EQUAL(IO_MAVLINK_SENSOR, board.message.kind);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    board_command(&stranger, 1);
    wait_messages(1);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    board_command(&board, 2);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(2, command.board_us);
}

static void put_u16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void ardupilot_send(unsigned count)
{
    unsigned char packet[40];
    put_u16(packet, 18458);
    put_u16(packet + 2, 1200);
    put_u16(packet + 4, count);
    put_u16(packet + 6, 0);
    for (int i = 0; i < 16; i++)
        put_u16(packet + 8 + 2 * i, 1500);
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, board.simulator, packet, sizeof packet, false));
}

static void raw_receive(struct board *from, struct io_packet *packet)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (io_udp_receive(&from->udp, packet) <= 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing received");
        poll_once();
    }
}

static void test_ardupilot_is_answered_where_it_spoke_and_paces_the_frames(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_packet packet;
    spec.protocol = IO_PROTOCOL_ARDUPILOT;
    start(&spec);
    for (unsigned i = 0; i < 5; i++) {
        ardupilot_send(i);
        TEST_ASSERT_TRUE(io_link_await(links, 0, 1000 * i, PATIENCE_NS));
        TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
        TEST_ASSERT_EQUAL_UINT64(i, command.flags);
        TEST_ASSERT_EQUAL_FLOAT(0.5f, command.controls[15]);
        commit(i, IO_SEND_SENSOR);
        raw_receive(&board, &packet);
        TEST_ASSERT_EQUAL_MEMORY("\n{\"timestamp\":0.00", packet.bytes, 18);
        TEST_ASSERT_EQUAL_HEX8('\n', packet.bytes[packet.size - 1]);
    }
    ardupilot_send(4); /* a repeated packet: the reply got lost */
    raw_receive(&board, &packet);
    TEST_ASSERT_EQUAL_MEMORY("\n{\"timestamp\":0.005000,", packet.bytes, 23);
    TEST_ASSERT_FALSE(io_link_await(links, 0, 6000, 2 * MS)); /* it is not a new command */
    ardupilot_send(0);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 6000, PATIENCE_NS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT32(1, command.resets);
    for (uint64_t i = 6; i < 8; i++) /* two frames for one packet: any new packet answers */
        commit(i, IO_SEND_SENSOR);
    ardupilot_send(2);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 8000, PATIENCE_NS));
    raw_receive(&board, &packet);
    raw_receive(&board, &packet);
    io_links_invalidate_outputs(links); /* this protocol has no message for it */
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().duplicates);
    TEST_ASSERT_EQUAL_UINT64(8, counters().tx); /* and nothing at the stop */
}

/* Open two sockets on neighbouring ports, as Betaflight listens on 9003 and 9004. */
static void open_neighbours(void)
{
    for (int i = 0; i < 100; i++) {
        io_udp_close(&board.udp);
        io_udp_close(&stranger.udp);
        TEST_ASSERT_EQUAL(0, io_udp_open(&board.udp, loopback));
        const struct io_address next = {loopback.ip, (uint16_t)(io_udp_local(&board.udp).port + 1)};
        if (io_udp_open(&stranger.udp, next) == 0)
            return;
    }
    TEST_FAIL_MESSAGE("no two neighbouring ports are free");
}

static void test_betaflight_sends_from_one_port_and_receives_at_two_others(void)
{
    const float speed[4] = {0.25f, 0.5f, 0.75f, 1.0f};
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_udp sending;
    struct io_packet packet;
    open_neighbours();
    TEST_ASSERT_EQUAL(0, io_udp_open(&sending, loopback));
    spec.protocol = IO_PROTOCOL_BETAFLIGHT;
    (void)snprintf(spec.bus.peer, sizeof spec.bus.peer, "127.0.0.1:%u",
                   io_udp_local(&board.udp).port);
    start(&spec);
    commit(0, IO_SEND_SENSOR |
                  IO_SEND_RC); /* the firmware sends nothing before it receives something */
    raw_receive(&stranger, &packet);
    TEST_ASSERT_EQUAL_size_t(40, packet.size);
    raw_receive(&board, &packet);
    TEST_ASSERT_EQUAL_size_t(144, packet.size);
    TEST_ASSERT_EQUAL(0, io_udp_send(&sending, board.simulator, speed, sizeof speed, false));
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_FLOAT(0.25f, command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(1.0f, command.controls[3]);
    commit(1, IO_SEND_SENSOR);
    raw_receive(&board, &packet); /* not at the port from which it sends */
    TEST_ASSERT_EQUAL_size_t(144, packet.size);
    TEST_ASSERT_EQUAL(0, io_udp_receive(&sending, &packet));
    io_udp_close(&sending);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_bad + counters().tx_dropped);
    TEST_ASSERT_EQUAL_UINT64(3, counters().tx);
}

int main(int argc, char **argv)
{
    const int skipped = prepare_link_tests(argc, argv);
    if (skipped != 0)
        return skipped;
    UNITY_BEGIN();
    RUN_TEST(test_a_sample_leaves_in_order_with_the_sensors_last);
    RUN_TEST(test_samples_that_find_no_room_are_counted_and_the_others_keep_their_order);
    RUN_TEST(test_samples_without_a_peer_are_dropped_and_counted);
    RUN_TEST(test_a_peer_in_the_spec_is_sent_to_at_once_and_no_other_is_received);
    RUN_TEST(test_ardupilot_is_answered_where_it_spoke_and_paces_the_frames);
    RUN_TEST(test_betaflight_sends_from_one_port_and_receives_at_two_others);
    return UNITY_END();
}
