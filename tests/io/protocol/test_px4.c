/*
 * PX4 as a simulator's peer (lockstep) and as a board (HITL), played by frames made by hand from
 * the published tables: its first messages, the replies that it needs, and what is forwarded.
 */
#include <math.h>
#include <string.h>

#include "io/protocol/protocol.h"
#include "tests/io/live/notebook.h"
#include "tests/io/wire.h"
#include "unity.h"

enum { HEARTBEAT = 0, ATTITUDE = 30, RC = 65, COMMAND_LONG = 76, CONTROLS = 93, SENSOR = 107 };
enum { TIMESYNC = 111, GPS = 113, STATE = 115, TIME = 2 };
enum { CRC_HEARTBEAT = 50, CRC_ATTITUDE = 39, CRC_COMMAND_LONG = 152, CRC_CONTROLS = 47 };
enum { CRC_TIMESYNC = 34, MEMORY = 1 << 15, MINE = 42 };

static _Alignas(64) unsigned char memory[MEMORY];
static struct io_protocol *protocol;
static struct notebook book;
static struct io_protocol_port port;

static void place(enum io_protocol_kind kind, bool stream)
{
    const struct io_protocol_spec spec = {
        .kind = kind, .system_id = MINE, .component_id = 1, .stream = stream};
    memset(memory, 0xff, sizeof memory);
    memset(&book, 0, sizeof book);
    port = notebook_port(&book);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY, io_protocol_size(&spec));
    protocol = io_protocol_place(&spec, memory);
}

void setUp(void)
{
    place(IO_PROTOCOL_PX4_HITL, true);
}

void tearDown(void)
{
}

static void take(const struct wire *wire)
{
    protocol->ops->receive(protocol, wire->bytes, wire->size, 123456789, &port);
}

/* custom_mode, type, autopilot, base_mode, status, version */
static struct wire heartbeat(uint8_t sequence, uint8_t autopilot, uint8_t base_mode)
{
    const unsigned char payload[9] = {0, 0, 0, 0, 2, autopilot, base_mode, 4, 3};
    return wire_v2(0, sequence, HEARTBEAT, CRC_HEARTBEAT, payload, sizeof payload);
}

static struct wire controls(uint8_t sequence, uint64_t time_us, uint64_t flags, uint8_t mode)
{
    unsigned char payload[81] = {0};
    const float half = 0.5f;
    memcpy(payload, &time_us, 8);
    memcpy(payload + 8, &flags, 8);
    memcpy(payload + 16 + 4 * 3, &half, 4);
    payload[80] = mode;
    return wire_v2(0, sequence, CONTROLS, CRC_CONTROLS, payload, sizeof payload);
}

static enum io_board_state board(void)
{
    return io_protocol_facts(protocol)->board;
}

static uint32_t sent_id(int index)
{
    const unsigned char *frame = book.sent[index].bytes;
    TEST_ASSERT_LESS_THAN(book.sent_count, index);
    TEST_ASSERT_EQUAL_HEX8(0xfd, frame[0]);
    TEST_ASSERT_EQUAL_UINT8(MINE, frame[5]);
    TEST_ASSERT_EQUAL(IO_DESTINATION_PEER, book.sent[index].way);
    return frame[7] | (uint32_t)frame[8] << 8;
}

static void test_the_first_messages_of_px4_are_received_and_not_answered(void)
{
    place(IO_PROTOCOL_PX4, true);
    unsigned char interval[33] = {0};
    const float of_state = 115.0f, us = 5000.0f;
    memcpy(interval, &of_state, 4);
    memcpy(interval + 4, &us, 4);
    interval[28] = 511 & 0xff;
    interval[29] = 511 >> 8;
    struct wire hello = wire_v2(0, 0, COMMAND_LONG, CRC_COMMAND_LONG, interval, sizeof interval);
    const struct wire beat = heartbeat(1, 12, 0);
    wire_put(&hello, beat.bytes, beat.size);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, board());
    take(&hello);
    TEST_ASSERT_EQUAL(2, book.heard);
    TEST_ASSERT_EQUAL(0, book.sent_count + book.commands);
    TEST_ASSERT_EQUAL(IO_BOARD_HEARD, board()); /* this port needs no HIL flag */
    const struct wire reply = controls(2, 4000, 1, 0x81);
    take(&reply);
    TEST_ASSERT_EQUAL(IO_BOARD_READY, board());
    TEST_ASSERT_TRUE(io_protocol_facts(protocol)->lockstep);
    TEST_ASSERT_EQUAL_UINT64(4000, book.command.board_us);
    TEST_ASSERT_EQUAL_UINT64(1, book.command.flags);
    TEST_ASSERT_EQUAL_UINT32(0x81, book.command.mode);
    TEST_ASSERT_EQUAL_FLOAT(0.5f, book.command.controls[3]);
    TEST_ASSERT_EQUAL_UINT64(0, io_protocol_get_counters(protocol).rx_bad);
}

static void test_a_build_without_lockstep_says_so(void)
{
    place(IO_PROTOCOL_PX4, true);
    const struct wire reply = controls(0, 4000, 0, 0x81);
    take(&reply);
    TEST_ASSERT_FALSE(io_protocol_facts(protocol)->lockstep);
}

static const struct io_sample sample = {
    .sim_us = 8000,
    .due = (1 << IO_MESSAGE_COUNT) - 1,
    .fields = IO_FIELD_ACCEL | IO_FIELD_GYRO | IO_FIELD_AIRSPEED,
    .accel = {0.0, 0.0, -9.81},
    .tracker = {1.0, 0.0, 0.0, 0.0},
    .tracker_valid = 1,
    .sun = {1.0, 0.0, 0.0},
    .attitude = {1.0, 0.0, 0.0, 0.0},
};

static void test_the_sensors_that_move_the_clock_leave_last(void)
{
    const uint32_t order[9] = {HEARTBEAT, TIME, GPS, STATE, 138, 250, 350, RC, SENSOR};
    place(IO_PROTOCOL_PX4, true);
    io_protocol_encode(protocol, &sample, 1700000000000000, &port);
    TEST_ASSERT_EQUAL(9, book.sent_count);
    for (int i = 0; i < 9; i++) {
        TEST_ASSERT_EQUAL_UINT32(order[i], sent_id(i));
        TEST_ASSERT_EQUAL_UINT8(i, book.sent[i].bytes[4]); /* no gap in our sequence numbers */
        TEST_ASSERT_EQUAL(i == 8, book.sent[i].stamped);
    }
    uint64_t us;
    memcpy(&us, book.sent[1].bytes + 10, 8);
    TEST_ASSERT_EQUAL_UINT64(1700000000000000, us);
    memcpy(&us, book.sent[8].bytes + 10, 8);
    TEST_ASSERT_EQUAL_UINT64(8000, us);
    /* fields 0x43f, and id 0: both zero bytes after it and the id are trimmed */
    TEST_ASSERT_EQUAL_UINT8(62, book.sent[8].bytes[1]);
    TEST_ASSERT_EQUAL_HEX8(0x3f, book.sent[8].bytes[10 + 60]);
    TEST_ASSERT_EQUAL_HEX8(0x04, book.sent[8].bytes[10 + 61]);
}

static void test_a_blinded_tracker_says_nothing(void)
{
    struct io_sample blind = sample;
    blind.due = IO_SEND_TRACKER | IO_SEND_SENSOR;
    blind.tracker_valid = 0;
    io_protocol_encode(protocol, &blind, 0, &port);
    TEST_ASSERT_EQUAL(1, book.sent_count);
    TEST_ASSERT_EQUAL_UINT32(SENSOR, sent_id(0));
}

static void test_a_board_without_the_hil_flag_is_distinguished(void)
{
    const struct wire ground = heartbeat(0, 8, 0x20);
    take(&ground); /* not a flight controller: its flag is ignored */
    TEST_ASSERT_EQUAL(IO_BOARD_HEARD, board());
    const struct wire plain = heartbeat(1, 12, 0x1d);
    take(&plain);
    TEST_ASSERT_EQUAL(IO_BOARD_NOT_HIL, board());
    const struct wire stray = controls(2, 1, 0, 0x35);
    take(&stray);
    TEST_ASSERT_EQUAL(IO_BOARD_NOT_HIL, board());
    const struct wire hil = heartbeat(3, 12, 0x3d);
    take(&hil);
    TEST_ASSERT_EQUAL(IO_BOARD_READY, board());
    take(&ground);
    TEST_ASSERT_EQUAL(IO_BOARD_READY, board());
    take(&plain);
    TEST_ASSERT_EQUAL(IO_BOARD_NOT_HIL, board());
}

static void check_forwarded(int index, const struct wire *wire)
{
    TEST_ASSERT_LESS_THAN(book.forwarded_count, index);
    TEST_ASSERT_EQUAL_size_t(wire->size, book.forwarded[index].size);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(wire->bytes, book.forwarded[index].bytes, wire->size);
}

static void test_everything_but_commands_is_passed_on_unaltered(void)
{
    const unsigned char attitude[28] = {1, 2, 3, 0, 0};
    const int64_t answer[2] = {5, 6};
    struct wire frames[] = {
        heartbeat(0, 12, 0x3d),
        wire_v2(1, 1, ATTITUDE, CRC_ATTITUDE, attitude, sizeof attitude),
        wire_v1(2, ATTITUDE, CRC_ATTITUDE, attitude, sizeof attitude),
        wire_v2(0, 3, 0xabcdef, 99, attitude, sizeof attitude), /* of a dialect we do not know */
        wire_v2(0, 4, TIMESYNC, CRC_TIMESYNC, answer, sizeof answer), /* to a ground station */
    };
    wire_put(&frames[1], "thirteenbytes", 13); /* signed */
    for (size_t i = 0; i < 5; i++) {
        const struct wire between = controls((uint8_t)(10 + i), i, 0, 0xb5);
        take(&frames[i]);
        take(&between);
    }
    TEST_ASSERT_EQUAL(5, book.commands);
    TEST_ASSERT_EQUAL(5, book.forwarded_count);
    for (int i = 0; i < 5; i++)
        check_forwarded(i, &frames[i]);
    TEST_ASSERT_EQUAL(0, book.sent_count);
}

static void test_timesync_is_answered_and_not_passed_on(void)
{
    const int64_t request[2] = {0, 0x1122334455667788};
    struct wire wire = wire_v2(0, 0, TIMESYNC, CRC_TIMESYNC, request, sizeof request);
    take(&wire);
    TEST_ASSERT_EQUAL(0, book.forwarded_count);
    TEST_ASSERT_EQUAL(1, book.sent_count);
    TEST_ASSERT_EQUAL_UINT32(TIMESYNC, sent_id(0));
    int64_t answer[2];
    memcpy(answer, book.sent[0].bytes + 10, sizeof answer);
    TEST_ASSERT_EQUAL_INT64(123456789, answer[0]);
    TEST_ASSERT_EQUAL_INT64(request[1], answer[1]);
    unsigned char to_other[18] = {0};
    memcpy(to_other, request, 16);
    to_other[16] = 255; /* the ground station */
    to_other[17] = 190;
    wire = wire_v2(0, 1, TIMESYNC, CRC_TIMESYNC, to_other, sizeof to_other);
    take(&wire);
    TEST_ASSERT_EQUAL(1, book.sent_count);
    check_forwarded(0, &wire);
}

static void test_a_stream_may_be_cut_anywhere(void)
{
    const struct wire beat = heartbeat(0, 12, 0x3d), reply = controls(1, 77, 0, 0xb5);
    struct wire stream = beat;
    wire_put(&stream, reply.bytes, reply.size);
    for (size_t cut = 1; cut < stream.size; cut++) {
        place(IO_PROTOCOL_PX4_HITL, true);
        protocol->ops->receive(protocol, stream.bytes, cut, 0, &port);
        protocol->ops->receive(protocol, stream.bytes + cut, stream.size - cut, 0, &port);
        TEST_ASSERT_EQUAL(1, book.commands);
        TEST_ASSERT_EQUAL_UINT64(77, book.command.board_us);
        check_forwarded(0, &beat);
        TEST_ASSERT_EQUAL_UINT64(0, io_protocol_get_counters(protocol).rx_bad);
    }
}

static void test_half_a_datagram_is_bad_and_half_a_stream_is_not(void)
{
    const struct wire beat = heartbeat(0, 12, 0x3d);
    for (int stream = 0; stream < 2; stream++) {
        place(IO_PROTOCOL_PX4_HITL, stream != 0);
        protocol->ops->receive(protocol, beat.bytes, 10, 0, &port);
        protocol->ops->receive(protocol, beat.bytes + 10, beat.size - 10, 0, &port);
        TEST_ASSERT_EQUAL(stream, book.heard);
        TEST_ASSERT_EQUAL(stream == 0, io_protocol_get_counters(protocol).rx_bad > 0);
    }
}

static void test_a_ground_station_reaches_the_board_in_whole_frames_only(void)
{
    unsigned char change[33] = {1, 2, 3};
    change[32] = 1;
    struct wire command = wire_v2(1, 0, COMMAND_LONG, CRC_COMMAND_LONG, change, sizeof change);
    wire_put(&command, "thirteenbytes", 13);
    const struct wire beat = heartbeat(1, 8, 0);
    struct wire datagram = {.size = 0};
    wire_put(&datagram, "noise", 5);
    wire_put(&datagram, command.bytes, command.size);
    wire_put(&datagram, beat.bytes, beat.size);
    wire_put(&datagram, beat.bytes, beat.size - 1); /* cut */
    io_protocol_receive_ground(protocol, datagram.bytes, datagram.size, &port);
    TEST_ASSERT_EQUAL(2, book.forwarded_count);
    check_forwarded(0, &command);
    check_forwarded(1, &beat);
    TEST_ASSERT_EQUAL(0, book.heard + book.commands + book.sent_count);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, board());
    TEST_ASSERT_EQUAL_UINT64(2, io_protocol_get_counters(protocol).ground_bad);
    TEST_ASSERT_EQUAL_UINT64(0, io_protocol_get_counters(protocol).rx +
                                    io_protocol_get_counters(protocol).rx_bad);
    struct wire broken = beat;
    broken.bytes[12] ^= 1;
    io_protocol_receive_ground(protocol, broken.bytes, broken.size, &port);
    TEST_ASSERT_EQUAL(2, book.forwarded_count);
    TEST_ASSERT_EQUAL_UINT64(3, io_protocol_get_counters(protocol).ground_bad);
}

static void test_what_a_ground_station_sends_does_not_tear_the_boards_stream(void)
{
    const struct wire reply = controls(0, 5, 0, 0xb5), beat = heartbeat(7, 8, 0);
    protocol->ops->receive(protocol, reply.bytes, 30, 0, &port);
    io_protocol_receive_ground(protocol, beat.bytes, beat.size, &port);
    protocol->ops->receive(protocol, reply.bytes + 30, reply.size - 30, 0, &port);
    TEST_ASSERT_EQUAL(1, book.commands);
}

static void test_numbers_start_anew_with_a_new_board(void)
{
    const struct wire first = heartbeat(0, 12, 0x3d), far = heartbeat(100, 12, 0x3d);
    take(&first);
    io_protocol_new_peer(protocol);
    take(&far);
    TEST_ASSERT_EQUAL_UINT64(0, io_protocol_get_counters(protocol).rx_lost);
    take(&far);
    TEST_ASSERT_EQUAL_UINT64(255, io_protocol_get_counters(protocol).rx_lost);
    TEST_ASSERT_EQUAL_UINT64(3, io_protocol_get_counters(protocol).rx);
}

static void check_command(const unsigned char payload[81])
{
    TEST_ASSERT_EQUAL_MEMORY(payload, &book.command.board_us, 8);
    TEST_ASSERT_EQUAL_MEMORY(payload + 8, &book.command.flags, 8);
    TEST_ASSERT_EQUAL_MEMORY(payload + 16, book.command.controls, 64);
    TEST_ASSERT_EQUAL_UINT32(payload[80], book.command.mode);
    TEST_ASSERT_EQUAL_UINT32(protocol->facts.resets, book.command.resets);
    TEST_ASSERT_EQUAL_UINT64(0, book.command.rx_ns + book.command.ready_ns);
    TEST_ASSERT_EQUAL_UINT32(0, book.command.sequence + book.command.kind + book.command.link);
}

/* time_usec, flags, controls[16], mode */
static void test_every_field_of_the_controls_is_in_the_command(void)
{
    unsigned char payload[81], trimmed[81] = {0};
    for (int i = 0; i < 81; i++)
        payload[i] = (unsigned char)(i + 1);
    memcpy(trimmed, payload, 20);
    struct wire wire = wire_v1(0, CONTROLS, CRC_CONTROLS, payload, sizeof payload);
    protocol->facts.resets = 3;
    take(&wire);
    check_command(payload);
    wire = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, payload, 20);
    take(&wire); /* the rest is zero, and not of the message before */
    check_command(trimmed);
    wire = wire_v2(0, 2, CONTROLS, CRC_CONTROLS, payload, sizeof payload);
    take(&wire);
    check_command(payload);
    TEST_ASSERT_EQUAL(3, book.commands);
    TEST_ASSERT_EQUAL(0, book.forwarded_count);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_first_messages_of_px4_are_received_and_not_answered);
    RUN_TEST(test_a_build_without_lockstep_says_so);
    RUN_TEST(test_the_sensors_that_move_the_clock_leave_last);
    RUN_TEST(test_a_blinded_tracker_says_nothing);
    RUN_TEST(test_a_board_without_the_hil_flag_is_distinguished);
    RUN_TEST(test_everything_but_commands_is_passed_on_unaltered);
    RUN_TEST(test_timesync_is_answered_and_not_passed_on);
    RUN_TEST(test_a_stream_may_be_cut_anywhere);
    RUN_TEST(test_half_a_datagram_is_bad_and_half_a_stream_is_not);
    RUN_TEST(test_a_ground_station_reaches_the_board_in_whole_frames_only);
    RUN_TEST(test_what_a_ground_station_sends_does_not_tear_the_boards_stream);
    RUN_TEST(test_numbers_start_anew_with_a_new_board);
    RUN_TEST(test_every_field_of_the_controls_is_in_the_command);
    return UNITY_END();
}
