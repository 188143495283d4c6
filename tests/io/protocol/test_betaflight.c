/*
 * Betaflight's structs, byte by byte.
 */
#include "io/protocol/betaflight.h"

#include <math.h>
#include <string.h>

#include "tests/io/live/notebook.h"
#include "unity.h"

enum { SERVO = 16, RAW = 68, MEMORY = 1 << 14 };

static _Alignas(64) unsigned char memory[MEMORY];
static struct io_protocol *protocol;
static struct notebook book;
static struct io_protocol_port port;

static void place(bool virtual_gps)
{
    const struct io_protocol_spec spec = {.kind = IO_PROTOCOL_BETAFLIGHT,
                                          .virtual_gps = virtual_gps};
    memset(memory, 0xff, sizeof memory);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY, io_protocol_size(&spec));
    protocol = io_protocol_place(&spec, memory);
}

void setUp(void)
{
    memset(&book, 0, sizeof book);
    port = notebook_port(&book);
    place(false);
}

void tearDown(void)
{
}

static const struct io_sample sample = {
    .sim_us = 2500000,
    .due = IO_SEND_SENSOR | IO_SEND_RC,
    .gyro = {0.1, 0.2, 0.3},
    .accel = {0.5, -0.5, -9.80665},
    .attitude = {0.5, -0.5, 0.25, 0.75},
    .velocity = {1.0, 2.0, -3.0},
    .position = {10.0, 20.0, -30.0},
    .pressure = 95000.0,
    .fix = {.latitude = 0.5, .longitude = -0.25, .altitude = 488.0, .velocity = {4.0, 5.0, -6.0}},
    .rc = {1500, 1501, 1000, 1502, 2000, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x1234},
};

static double double_at(int index, size_t offset)
{
    double value;
    memcpy(&value, book.sent[index].bytes + offset, sizeof value);
    return value;
}

static void test_the_state_leaves_as_eighteen_doubles_behind_the_sticks(void)
{
    /* time, roll pitch yaw rates, specific force, w x y z, velocity, position, pressure */
    const double expected[18] = {2.5,  0.1,  0.2, 0.3, 0.5,  -0.5, -9.80665, 0.5,   -0.5,
                                 0.25, 0.75, 1.0, 2.0, -3.0, 10.0, 20.0,     -30.0, 95000.0};
    io_protocol_encode(protocol, &sample, 0, &port);
    TEST_ASSERT_EQUAL(2, book.sent_count);
    TEST_ASSERT_EQUAL_size_t(144, book.sent[1].size);
    TEST_ASSERT_EQUAL(IO_DESTINATION_PEER, book.sent[1].way);
    TEST_ASSERT_TRUE(book.sent[1].stamped);
    for (size_t i = 0; i < 18; i++)
        TEST_ASSERT_EQUAL_DOUBLE(expected[i], double_at(1, 8 * i));
}

static void test_the_sticks_go_to_the_next_port(void)
{
    io_protocol_encode(protocol, &sample, 0, &port);
    TEST_ASSERT_EQUAL_size_t(40, book.sent[0].size);
    TEST_ASSERT_EQUAL(IO_DESTINATION_NEXT_PORT, book.sent[0].way);
    TEST_ASSERT_FALSE(book.sent[0].stamped);
    TEST_ASSERT_EQUAL_DOUBLE(2.5, double_at(0, 0));
    const unsigned char *channel = book.sent[0].bytes + 8;
    TEST_ASSERT_EQUAL_UINT(1500, channel[0] | channel[1] << 8);
    TEST_ASSERT_EQUAL_UINT(1000, channel[4] | channel[5] << 8);
    TEST_ASSERT_EQUAL_HEX8(0x34, channel[30]);
    TEST_ASSERT_EQUAL_HEX8(0x12, channel[31]);
}

static void test_only_what_is_due_leaves(void)
{
    struct io_sample one = sample;
    unsigned char safe[IO_PROTOCOL_INVALID_MAX];
    one.due = IO_SEND_GPS | IO_SEND_STATE | IO_SEND_TIME | IO_SEND_HEARTBEAT;
    io_protocol_encode(protocol, &one, 0, &port);
    io_protocol_send_status(protocol, IO_STATUS_ACTIVE, &port);
    TEST_ASSERT_EQUAL(0, book.sent_count);
    one.due = IO_SEND_RC;
    io_protocol_encode(protocol, &one, 0, &port);
    TEST_ASSERT_EQUAL(1, book.sent_count);
    TEST_ASSERT_EQUAL_size_t(40, book.sent[0].size);
    one.due = IO_SEND_SENSOR;
    io_protocol_encode(protocol, &one, 0, &port);
    TEST_ASSERT_EQUAL(2, book.sent_count);
    TEST_ASSERT_EQUAL_size_t(144, book.sent[1].size);
    TEST_ASSERT_EQUAL_size_t(0, io_protocol_invalid_message(protocol, safe));
}

static void test_a_virtual_gps_gets_degrees_and_east_north_up(void)
{
    place(true);
    io_protocol_encode(protocol, &sample, 0, &port);
    TEST_ASSERT_EQUAL_DOUBLE(5.0, double_at(1, 8 * 11));
    TEST_ASSERT_EQUAL_DOUBLE(4.0, double_at(1, 8 * 12));
    TEST_ASSERT_EQUAL_DOUBLE(6.0, double_at(1, 8 * 13));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -14.3239448782706, double_at(1, 8 * 14));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 28.6478897565412, double_at(1, 8 * 15));
    TEST_ASSERT_EQUAL_DOUBLE(488.0, double_at(1, 8 * 16));
}

static void test_without_a_barometer_sea_level_is_sent(void)
{
    struct io_sample bare = sample;
    bare.pressure = 0.0;
    io_protocol_encode(protocol, &bare, 0, &port);
    TEST_ASSERT_EQUAL_DOUBLE(101325.0, double_at(1, 8 * 17));
}

static void test_motor_speeds_keep_their_order(void)
{
    /* 0.0625, 0.125, 0.25, 0.5 as floats, little endian */
    const unsigned char packet[SERVO] = {0, 0, 0x80, 0x3d, 0, 0, 0,    0x3e,
                                         0, 0, 0x80, 0x3e, 0, 0, 0x00, 0x3f};
    protocol->ops->receive(protocol, packet, sizeof packet, 0, &port);
    TEST_ASSERT_EQUAL(1, book.heard);
    TEST_ASSERT_EQUAL(1, book.commands);
    TEST_ASSERT_EQUAL_FLOAT(0.0625f, book.command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(0.125f, book.command.controls[1]);
    TEST_ASSERT_EQUAL_FLOAT(0.25f, book.command.controls[2]);
    TEST_ASSERT_EQUAL_FLOAT(0.5f, book.command.controls[3]);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, book.command.controls[4]);
    TEST_ASSERT_EQUAL_UINT32(SERVO, book.command.mode);
    TEST_ASSERT_EQUAL(IO_BOARD_READY, io_protocol_facts(protocol)->board);
    protocol->ops->receive(protocol, packet, sizeof packet, 0,
                           &port); /* equal, and a new command */
    TEST_ASSERT_EQUAL(2, book.commands);
    TEST_ASSERT_EQUAL_UINT64(2, io_protocol_get_counters(protocol).rx);
    TEST_ASSERT_EQUAL_UINT64(0, io_protocol_get_counters(protocol).duplicates);
}

static void make_raw(unsigned char packet[RAW], unsigned count)
{
    memset(packet, 0xee, RAW); /* the padding may have any value */
    packet[0] = (unsigned char)count;
    packet[1] = (unsigned char)(count >> 8);
    for (int i = 0; i < 16; i++) {
        const float us = 1000.0f + 62.5f * (float)i;
        memcpy(packet + 4 + 4 * i, &us, 4);
    }
}

static void test_raw_pulse_widths_are_scaled(void)
{
    unsigned char packet[RAW];
    make_raw(packet, 6);
    protocol->ops->receive(protocol, packet, sizeof packet, 0, &port);
    TEST_ASSERT_EQUAL(1, book.commands);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_EQUAL_FLOAT(0.0625f * (float)i, book.command.controls[i]);
    for (int i = 6; i < 16; i++) /* motors beyond motor_count */
        TEST_ASSERT_EQUAL_FLOAT(0.0f, book.command.controls[i]);
    TEST_ASSERT_EQUAL_UINT32(RAW, book.command.mode);
}

static void test_other_sizes_and_numbers_are_bad(void)
{
    unsigned char packet[256] = {0};
    uint64_t expected = 0;
    for (size_t size = 0; size <= sizeof packet; size++) {
        if (size == SERVO || size == RAW)
            continue;
        protocol->ops->receive(protocol, packet, size, 0, &port);
        expected++;
    }
    make_raw(packet, 17);
    protocol->ops->receive(protocol, packet, RAW, 0, &port);
    make_raw(packet, 0x0104);
    protocol->ops->receive(protocol, packet, RAW, 0, &port);
    make_raw(packet, 4);
    const float bad[2] = {NAN, INFINITY};
    memcpy(packet + 4 + 4 * 3, &bad[0], 4);
    protocol->ops->receive(protocol, packet, RAW, 0, &port);
    memset(packet, 0, SERVO);
    memcpy(packet + 12, &bad[1], 4);
    protocol->ops->receive(protocol, packet, SERVO, 0, &port);
    TEST_ASSERT_EQUAL_UINT64(expected + 4, io_protocol_get_counters(protocol).rx_bad);
    TEST_ASSERT_EQUAL(0, book.heard + book.commands);
    make_raw(packet, 4);
    memcpy(packet + 4 + 4 * 4, &bad[0], 4); /* of a motor beyond motor_count */
    protocol->ops->receive(protocol, packet, RAW, 0, &port);
    TEST_ASSERT_EQUAL(1, book.commands);
}

static void place_2026(void)
{
    const struct io_protocol_spec spec = {.kind = IO_PROTOCOL_BETAFLIGHT,
                                          .variant = IO_BETAFLIGHT_2026_6};
    protocol = io_protocol_place(&spec, memory);
}

/* As sitlGyroBodyFromSim() and updateState() of 2026.6.1 read the packet: pitch negated, yaw
 * kept; y and z of the attitude negated, then the world rotated by 90 degrees about up;
 * longitude and latitude mirrored about the first. */
static void test_2026_6_reads_back_what_we_meant(void)
{
    place_2026();
    struct io_sample first = sample;
    io_protocol_encode(protocol, &first, 0, &port);
    TEST_ASSERT_EQUAL_DOUBLE(0.1, double_at(1, 8 * 1));
    TEST_ASSERT_EQUAL_DOUBLE(0.2, double_at(1, 8 * 2));
    TEST_ASSERT_EQUAL_DOUBLE(-0.3, double_at(1, 8 * 3)); /* left is positive inside Betaflight */
    TEST_ASSERT_EQUAL_DOUBLE(-0.5, double_at(1, 8 * 4)); /* Betaflight negates all of them */
    TEST_ASSERT_EQUAL_DOUBLE(-0.5, double_at(1, 8 * 5));
    TEST_ASSERT_EQUAL_DOUBLE(-9.80665, double_at(1, 8 * 6));
    TEST_ASSERT_EQUAL_DOUBLE(5.0, double_at(1, 8 * 11));
    TEST_ASSERT_EQUAL_DOUBLE(4.0, double_at(1, 8 * 12));
    TEST_ASSERT_EQUAL_DOUBLE(6.0, double_at(1, 8 * 13));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -14.3239448782706, double_at(1, 8 * 14));

    const double w = double_at(1, 8 * 7), x = double_at(1, 8 * 8);
    const double y = -double_at(1, 8 * 9), z = -double_at(1, 8 * 10), k = M_SQRT1_2;
    const double inside[4] = {k * (w - z), k * (x - y), k * (y + x), k * (z + w)};
    const double meant[4] = {sample.attitude[0], sample.attitude[1], -sample.attitude[2],
                             -sample.attitude[3]}; /* forward left up in north west up */
    const double sign = inside[0] * meant[0] < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, meant[i], sign * inside[i]);

    struct io_sample second = sample;
    second.fix.longitude += 0.01;
    book.sent_count = 0;
    io_protocol_encode(protocol, &second, 0, &port);
    const double mirrored = 2.0 * -14.3239448782706 - double_at(1, 8 * 14);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -14.3239448782706 + 0.572957795130823, mirrored);
}

static void test_2026_6_counts_its_motors_from_the_rear_right(void)
{
    const float motor[4] = {0.1f, 0.2f, 0.3f, 0.4f}; /* rear right, front right, rear left, ... */
    place_2026();
    protocol->ops->receive(protocol, motor, sizeof motor, 0, &port);
    TEST_ASSERT_EQUAL_FLOAT(0.2f, book.command.controls[0]); /* front right */
    TEST_ASSERT_EQUAL_FLOAT(0.3f, book.command.controls[1]); /* rear left */
    TEST_ASSERT_EQUAL_FLOAT(0.4f, book.command.controls[2]); /* front left */
    TEST_ASSERT_EQUAL_FLOAT(0.1f, book.command.controls[3]); /* rear right */
}

/* The first position is sent as it is, the others are mirrored about it; a new board starts
 * anew. */
static void test_2026_6_gets_both_coordinates_mirrored_about_the_first(void)
{
    const double degrees = 180.0 / M_PI;
    struct io_sample moved = sample;
    moved.due = IO_SEND_SENSOR;
    moved.fix.longitude += 0.01;
    moved.fix.latitude += 0.02;
    moved.fix.altitude = 499.0;
    place_2026();
    io_protocol_encode(protocol, &sample, 0, &port);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.25 * degrees, double_at(1, 8 * 14));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * degrees, double_at(1, 8 * 15));
    TEST_ASSERT_EQUAL_DOUBLE(488.0, double_at(1, 8 * 16));
    io_protocol_encode(protocol, &moved, 0, &port);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.26 * degrees, double_at(2, 8 * 14));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.48 * degrees, double_at(2, 8 * 15));
    TEST_ASSERT_EQUAL_DOUBLE(499.0, double_at(2, 8 * 16));
    TEST_ASSERT_EQUAL_DOUBLE(95000.0, double_at(2, 8 * 17));
    TEST_ASSERT_EQUAL_DOUBLE(2.5, double_at(2, 0));
    io_protocol_new_peer(protocol);
    io_protocol_encode(protocol, &moved, 0, &port);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.24 * degrees, double_at(3, 8 * 14));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.52 * degrees, double_at(3, 8 * 15));
}

static void test_2026_6_keeps_the_order_of_raw_pulse_widths(void)
{
    unsigned char packet[RAW] = {16, 0};
    place_2026();
    for (int i = 0; i < 16; i++) {
        const float us = 1000.0f + 10.0f * (float)i;
        memcpy(packet + 4 + 4 * i, &us, 4);
    }
    protocol->ops->receive(protocol, packet, RAW, 0, &port);
    TEST_ASSERT_EQUAL(1, book.commands);
    TEST_ASSERT_EQUAL_UINT32(RAW, book.command.mode);
    for (int i = 0; i < 16; i++)
        TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0.01f * (float)i, book.command.controls[i]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_2026_6_reads_back_what_we_meant);
    RUN_TEST(test_2026_6_counts_its_motors_from_the_rear_right);
    RUN_TEST(test_the_state_leaves_as_eighteen_doubles_behind_the_sticks);
    RUN_TEST(test_the_sticks_go_to_the_next_port);
    RUN_TEST(test_only_what_is_due_leaves);
    RUN_TEST(test_a_virtual_gps_gets_degrees_and_east_north_up);
    RUN_TEST(test_without_a_barometer_sea_level_is_sent);
    RUN_TEST(test_motor_speeds_keep_their_order);
    RUN_TEST(test_raw_pulse_widths_are_scaled);
    RUN_TEST(test_other_sizes_and_numbers_are_bad);
    RUN_TEST(test_2026_6_gets_both_coordinates_mirrored_about_the_first);
    RUN_TEST(test_2026_6_keeps_the_order_of_raw_pulse_widths);
    return UNITY_END();
}
