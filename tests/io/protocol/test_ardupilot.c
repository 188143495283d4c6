/*
 * ArduPilot's JSON physics: packets made by hand, and replies parsed as ArduPilot parses them (keys
 * by strstr, numbers by sscanf).
 */
#include "io/protocol/ardupilot.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/alloc.h"
#include "tests/io/live/notebook.h"
#include "unity.h"

enum { SMALL = 40, LARGE = 72, MEMORY = 1 << 14 };

static _Alignas(64) unsigned char memory[MEMORY];
static struct io_protocol *protocol;
static struct notebook book;
static struct io_protocol_port port;
static char line[IO_ARDUPILOT_REPLY_MAX + 1];

void setUp(void)
{
    const struct io_protocol_spec spec = {.kind = IO_PROTOCOL_ARDUPILOT};
    memset(memory, 0xff, sizeof memory);
    memset(&book, 0, sizeof book);
    port = notebook_port(&book);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY, io_protocol_size(&spec));
    protocol = io_protocol_place(&spec, memory);
}

void tearDown(void)
{
}

static void put_u16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

/* magic | rate | count | pwm: 1000, 1050, 1100 ... */
static void make_packet(unsigned char packet[LARGE], unsigned magic, uint32_t count, int channels)
{
    put_u16(packet, magic);
    put_u16(packet + 2, 1200);
    put_u16(packet + 4, count & 0xffff);
    put_u16(packet + 6, count >> 16);
    for (int i = 0; i < channels; i++)
        put_u16(packet + 8 + 2 * i, 1000 + 50 * (unsigned)i);
}

static void hear(uint32_t count)
{
    unsigned char packet[LARGE];
    make_packet(packet, 18458, count, 16);
    protocol->ops->receive(protocol, packet, SMALL, 0, &port);
}

static const struct io_sample level = {
    .sim_us = 12345678,
    .due = IO_SEND_SENSOR,
    .gyro = {0.01, -0.25, 0.003},
    .accel = {0.5, -0.125, -9.80665},
    .position = {10.5, -20.25, -100.123456},
    .velocity = {1.0, -2.0, 0.5},
    .attitude = {0.5, -0.5, 0.5, -0.5},
    .airspeed = 12.5,
    .rc = {1500, 1501, 1000, 1502, 2000, 0, 0, 0, 0, 0, 0, 1234},
};

static uint64_t bad(void)
{
    return io_protocol_get_counters(protocol).rx_bad;
}

static void test_both_packets_become_controls(void)
{
    unsigned char packet[LARGE];
    make_packet(packet, 18458, 0x00010002, 16);
    protocol->ops->receive(protocol, packet, SMALL, 0, &port);
    TEST_ASSERT_EQUAL(1, book.heard);
    TEST_ASSERT_EQUAL(1, book.commands);
    TEST_ASSERT_EQUAL_UINT64(0x00010002, book.command.flags);
    TEST_ASSERT_EQUAL_UINT32(1200, book.command.mode);
    TEST_ASSERT_EQUAL_UINT32(0, book.command.resets);
    for (int i = 0; i < 16; i++)
        TEST_ASSERT_EQUAL_FLOAT(0.05f * (float)i, book.command.controls[i]);
    make_packet(packet, 29569, 0x00010003, 32);
    put_u16(packet + 8, 2000);
    protocol->ops->receive(protocol, packet, LARGE, 0, &port);
    TEST_ASSERT_EQUAL(2, book.commands);
    TEST_ASSERT_EQUAL_FLOAT(1.0f, book.command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(0.75f, book.command.controls[15]);
    TEST_ASSERT_EQUAL_UINT64(2, io_protocol_get_counters(protocol).rx);
    TEST_ASSERT_EQUAL(IO_BOARD_READY, io_protocol_facts(protocol)->board);
    TEST_ASSERT_EQUAL_UINT32(1200, io_protocol_facts(protocol)->rate_hint_hz);
    TEST_ASSERT_EQUAL(0, book.sent_count);
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

static void test_a_channel_without_pulse_widths_commands_nothing(void)
{
    unsigned char packet[LARGE];
    make_packet(packet, 18458, 0, 16);
    put_u16(packet + 8, 0);
    put_u16(packet + 10, 900);
    protocol->ops->receive(protocol, packet, SMALL, 0, &port);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, book.command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(-0.1f, book.command.controls[1]);
}

static void test_the_wrong_size_or_magic_is_bad(void)
{
    unsigned char packet[LARGE + 1] = {0};
    make_packet(packet, 18458, 1, 32);
    for (size_t size = 0; size <= sizeof packet; size++)
        if (size != SMALL)
            protocol->ops->receive(protocol, packet, size, 0, &port);
    TEST_ASSERT_EQUAL_UINT64(sizeof packet, bad());
    make_packet(packet, 29569, 1, 32);
    protocol->ops->receive(protocol, packet, SMALL, 0, &port);
    make_packet(packet, 18459, 1, 32);
    protocol->ops->receive(protocol, packet, SMALL, 0, &port);
    protocol->ops->receive(protocol, packet, LARGE, 0, &port);
    TEST_ASSERT_EQUAL_UINT64(sizeof packet + 3, bad());
    TEST_ASSERT_EQUAL(0, book.heard + book.commands);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_protocol_facts(protocol)->board);
}

static void test_a_packet_that_comes_again_brings_the_last_reply_again(void)
{
    hear(5);
    hear(5); /* there is no reply to repeat yet */
    TEST_ASSERT_EQUAL(0, book.sent_count);
    io_protocol_encode(protocol, &level, 0, &port);
    hear(5);
    TEST_ASSERT_EQUAL(1, book.commands);
    TEST_ASSERT_EQUAL(2, book.sent_count);
    TEST_ASSERT_TRUE(book.sent[0].stamped);
    TEST_ASSERT_FALSE(book.sent[1].stamped);
    TEST_ASSERT_EQUAL_size_t(book.sent[0].size, book.sent[1].size);
    TEST_ASSERT_EQUAL_MEMORY(book.sent[0].bytes, book.sent[1].bytes, book.sent[0].size);
    TEST_ASSERT_EQUAL_UINT64(2, io_protocol_get_counters(protocol).duplicates);
    TEST_ASSERT_EQUAL_UINT64(3, io_protocol_get_counters(protocol).rx);
    hear(6);
    TEST_ASSERT_EQUAL(2, book.commands);
    TEST_ASSERT_EQUAL(2, book.sent_count);
}

static void test_a_count_that_falls_is_a_new_start(void)
{
    hear(0);
    hear(1000);
    TEST_ASSERT_EQUAL_UINT32(0, book.command.resets);
    io_protocol_new_peer(protocol); /* it sends from another port now */
    hear(0);
    TEST_ASSERT_EQUAL(3, book.commands);
    TEST_ASSERT_EQUAL_UINT32(1, book.command.resets);
    hear(1);
    TEST_ASSERT_EQUAL_UINT32(1, book.command.resets);
    hear(0);
    TEST_ASSERT_EQUAL_UINT32(2, book.command.resets);
    TEST_ASSERT_EQUAL_UINT32(2, io_protocol_facts(protocol)->resets);
}

static void test_a_packet_that_was_overtaken_is_no_new_start(void)
{
    hear(1000);
    hear(1001);
    hear(1000);
    hear(985);
    TEST_ASSERT_EQUAL(2, book.commands);
    TEST_ASSERT_EQUAL(0, book.sent_count);
    TEST_ASSERT_EQUAL_UINT64(2, io_protocol_get_counters(protocol).duplicates);
    TEST_ASSERT_EQUAL_UINT32(0, io_protocol_facts(protocol)->resets);
    hear(1002);
    TEST_ASSERT_EQUAL(3, book.commands);
    TEST_ASSERT_EQUAL_UINT32(0, book.command.resets);
    hear(985); /* too far behind to be an overtaken packet */
    TEST_ASSERT_EQUAL_UINT32(1, book.command.resets);
    hear(20);
    hear(16); /* so low that it may be a restart */
    TEST_ASSERT_EQUAL_UINT32(3, book.command.resets);
}

static void encode(const struct io_sample *sample)
{
    book.sent_count = 0;
    io_protocol_encode(protocol, sample, 0, &port);
    TEST_ASSERT_EQUAL(1, book.sent_count);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(IO_ARDUPILOT_REPLY_MAX, book.sent[0].size);
    memcpy(line, book.sent[0].bytes, book.sent[0].size);
    line[book.sent[0].size] = '\0';
    TEST_ASSERT_EQUAL_size_t(book.sent[0].size, strlen(line));
}

static void test_the_reply_is_one_compact_line_between_two_ends(void)
{
    encode(&level);
    TEST_ASSERT_EQUAL_STRING("\n{\"timestamp\":12.345678,"
                             "\"imu\":{\"gyro\":[0.01,-0.25,0.003],"
                             "\"accel_body\":[0.5,-0.125,-9.80665]},"
                             "\"position\":[10.5,-20.25,-100.123456],"
                             "\"velocity\":[1,-2,0.5],"
                             "\"quaternion\":[0.5,-0.5,0.5,-0.5],"
                             "\"airspeed\":12.5,"
                             "\"rng_1\":1000}\n",
                             line);
    TEST_ASSERT_EQUAL(IO_DESTINATION_PEER, book.sent[0].way);
}

static void test_range_and_battery_are_sent_where_there_are_any(void)
{
    struct io_sample more = level;
    more.range = 2.5;
    more.voltage = 16.25;
    more.current = 12.5;
    encode(&more);
    TEST_ASSERT_NOT_NULL(strstr(line, ",\"rng_1\":2.5,"));
    TEST_ASSERT_NOT_NULL(strstr(line, ",\"battery\":{\"voltage\":16.25,\"current\":12.5}}\n"));
}

static void test_the_sticks_are_sent_when_they_are_due(void)
{
    struct io_sample sticks = level;
    sticks.due |= IO_SEND_RC;
    encode(&sticks);
    const char *rc = strstr(line, "rc");
    TEST_ASSERT_EQUAL_STRING("rc\":{\"rc_1\":1500,\"rc_2\":1501,\"rc_3\":1000,\"rc_4\":1502,"
                             "\"rc_5\":2000,\"rc_6\":0,\"rc_7\":0,\"rc_8\":0,\"rc_9\":0,\"rc_10\":"
                             "0,\"rc_11\":0,\"rc_12\":1234}}\n",
                             rc);
}

static void test_nothing_is_sent_without_sensors(void)
{
    struct io_sample other = level;
    unsigned char safe[IO_PROTOCOL_INVALID_MAX];
    other.due = IO_SEND_GPS | IO_SEND_RC | IO_SEND_STATE | IO_SEND_HEARTBEAT | IO_SEND_TIME;
    io_protocol_encode(protocol, &other, 1, &port);
    io_protocol_send_status(protocol, IO_STATUS_ACTIVE, &port);
    io_protocol_receive_ground(protocol, "\xfe", 1, &port);
    TEST_ASSERT_EQUAL(0, book.sent_count + book.forwarded_count);
    TEST_ASSERT_EQUAL_size_t(0, io_protocol_invalid_message(protocol, safe));
}

/* The first number after a key, as ArduPilot finds it. */
static double read_back(const char *key)
{
    double value;
    const char *at = strstr(line, key);
    TEST_ASSERT_NOT_NULL(at);
    TEST_ASSERT_EQUAL(1, sscanf(at + strlen(key), "%lf", &value));
    return value;
}

static void check_number(double value)
{
    struct io_sample sample = level;
    sample.gyro[0] = value;
    encode(&sample);
    const double back = read_back("\"gyro\":[");
    TEST_ASSERT_DOUBLE_WITHIN(5.1e-9 * fabs(value), value, back);
}

static void test_every_number_is_read_back_to_nine_digits(void)
{
    const double hard[] = {0.0,
                           1.0,
                           9.999999996,
                           99999999.95,
                           999999999.4,
                           1e9,
                           0.1,
                           1.0 / 3.0,
                           1e-4,
                           1e-5,
                           9.99999e-6,
                           123456789.4,
                           DBL_MAX,
                           2.3e-308,
                           1e22,
                           1e23,
                           1000.001,
                           100000000.5,
                           0.999999999,
                           0.0999999999999,
                           0.00099999999951};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        check_number(hard[i]);
        check_number(-hard[i]);
    }
    srand(1);
    for (int i = 0; i < 20000; i++)
        check_number(ldexp((double)rand() / RAND_MAX - 0.5, rand() % 120 - 60));
}

static void test_nan_is_sent_as_zero(void)
{
    struct io_sample sample = level;
    sample.gyro[0] = (double)NAN;
    sample.gyro[1] = (double)INFINITY;
    sample.gyro[2] = 5e-324; /* a subnormal number */
    encode(&sample);
    TEST_ASSERT_NOT_NULL(strstr(line, "\"gyro\":[0,0,0]"));
}

static void test_the_longest_line_fits(void)
{
    struct io_sample sample = {.sim_us = UINT64_MAX, .due = IO_SEND_SENSOR | IO_SEND_RC};
    double *const vector[] = {sample.gyro, sample.accel, sample.position, sample.velocity,
                              sample.attitude};
    for (size_t k = 0; k < 5; k++)
        for (int i = 0; i < (k == 4 ? 4 : 3); i++)
            vector[k][i] = -1.23456789e-300;
    sample.airspeed = -1.23456789e-300;
    memset(sample.rc, 0xff, sizeof sample.rc);
    encode(&sample);
    TEST_ASSERT_NOT_NULL(strstr(line, "18446744073709.551615"));
    TEST_ASSERT_EQUAL_DOUBLE(-1.23456789e-300, read_back("\"airspeed\":"));
}

static void test_the_time_keeps_its_microseconds(void)
{
    struct io_sample sample = level;
    sample.sim_us = 4000;
    encode(&sample);
    TEST_ASSERT_NOT_NULL(strstr(line, "\"timestamp\":0.004000,"));
    sample.sim_us = 86400000001; /* a day and a microsecond */
    encode(&sample);
    TEST_ASSERT_NOT_NULL(strstr(line, "\"timestamp\":86400.000001,"));
}

static void test_a_line_takes_no_memory(void)
{
    const uint64_t before = rt_alloc_count();
    rt_alloc_watch();
    for (int i = 0; i < 100; i++) {
        char reply[IO_ARDUPILOT_REPLY_MAX];
        (void)io_ardupilot_encode(&level, reply);
    }
    rt_alloc_unwatch();
    if (rt_alloc_is_counted())
        TEST_ASSERT_EQUAL_UINT64(before, rt_alloc_count());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_both_packets_become_controls);
    RUN_TEST(test_a_channel_without_pulse_widths_commands_nothing);
    RUN_TEST(test_the_wrong_size_or_magic_is_bad);
    RUN_TEST(test_a_packet_that_comes_again_brings_the_last_reply_again);
    RUN_TEST(test_a_count_that_falls_is_a_new_start);
    RUN_TEST(test_a_packet_that_was_overtaken_is_no_new_start);
    RUN_TEST(test_the_reply_is_one_compact_line_between_two_ends);
    RUN_TEST(test_range_and_battery_are_sent_where_there_are_any);
    RUN_TEST(test_the_sticks_are_sent_when_they_are_due);
    RUN_TEST(test_nothing_is_sent_without_sensors);
    RUN_TEST(test_every_number_is_read_back_to_nine_digits);
    RUN_TEST(test_nan_is_sent_as_zero);
    RUN_TEST(test_the_longest_line_fits);
    RUN_TEST(test_the_time_keeps_its_microseconds);
    RUN_TEST(test_a_line_takes_no_memory);
    return UNITY_END();
}
