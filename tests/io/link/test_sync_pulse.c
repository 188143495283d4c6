/*
 * Sync pulses: their bytes, a stream that is cut anywhere, and the sender.
 */
#include "io/link/sync_pulse.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/alloc.h"
#include "rt/clock.h"
#include "tests/io/wait.h"
#include "unity.h"

static struct io_sync_pulse pulser;
static char error[IO_BUS_ERROR_MAX];

void setUp(void)
{
    memset(&pulser, 0, sizeof pulser);
}

void tearDown(void)
{
    io_sync_pulse_close(&pulser);
}

static const struct io_sync_pulse_message sample = {.sequence = 0x01020304,
                                                    .frame = 0x1112131415161718,
                                                    .sim_ns = 0x2122232425262728,
                                                    .sent_ns = 0x3132333435363738,
                                                    .last = 1};

/* The checksum was computed by another program: python3 -c 'import zlib...'. */
static void test_a_sync_pulse_is_forty_bytes_in_this_order(void)
{
    unsigned char bytes[IO_SYNC_PULSE_SIZE];
    io_sync_pulse_encode(&sample, bytes);
    const unsigned char expected[IO_SYNC_PULSE_SIZE] =
        "ABGP\4\3\2\1\x18\x17\x16\x15\x14\x13\x12\x11\x28\x27\x26\x25\x24\x23\x22\x21"
        "\x38\x37\x36\x35\x34\x33\x32\x31\1\0\0\0"
        "\x8b\xe5\xdf\xd2";
    TEST_ASSERT_EQUAL_HEX8_ARRAY(expected, bytes, sizeof bytes);
}

static void test_a_sync_pulse_is_read_back(void)
{
    unsigned char bytes[IO_SYNC_PULSE_SIZE];
    struct io_sync_pulse_message back;
    io_sync_pulse_encode(&sample, bytes);
    TEST_ASSERT_TRUE(io_sync_pulse_decode(bytes, sizeof bytes, &back));
    TEST_ASSERT_EQUAL_MEMORY(&sample, &back, sizeof back);
    TEST_ASSERT_FALSE(io_sync_pulse_decode(bytes, sizeof bytes - 1, &back));
}

static void test_a_flipped_bit_makes_a_sync_pulse_invalid(void)
{
    unsigned char bytes[IO_SYNC_PULSE_SIZE];
    struct io_sync_pulse_message back;
    io_sync_pulse_encode(&sample, bytes);
    for (size_t i = 0; i < 8 * sizeof bytes; i++) {
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        TEST_ASSERT_FALSE(io_sync_pulse_decode(bytes, sizeof bytes, &back));
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
}

/* Garbage, half a pulse, a wrong checksum and false starts do not hide a whole pulse. */
static void test_a_line_finds_every_whole_sync_pulse_between_garbage(void)
{
    struct io_sync_pulse_stream stream = {0};
    unsigned char line[512], pulse[IO_SYNC_PULSE_SIZE];
    size_t size = 0;
    io_sync_pulse_encode(&sample, pulse);
    memcpy(line + size, "xxABGABGPA", 10), size += 10;
    memcpy(line + size, pulse, sizeof pulse), size += sizeof pulse;
    memcpy(line + size, pulse, 17), size += 17;
    memcpy(line + size, pulse, sizeof pulse), size += sizeof pulse;
    memcpy(line + size, pulse, sizeof pulse), line[size + 9] ^= 1, size += sizeof pulse;
    memcpy(line + size, pulse, sizeof pulse), size += sizeof pulse;
    int found = 0;
    for (size_t i = 0; i < size; i++) {
        struct io_sync_pulse_message back;
        if (!io_sync_pulse_feed(&stream, line[i], &back))
            continue;
        found++;
        TEST_ASSERT_EQUAL_MEMORY(&sample, &back, sizeof back);
    }
    TEST_ASSERT_EQUAL_INT(3, found);
    TEST_ASSERT_EQUAL_UINT64(10 + 17 + sizeof pulse, stream.skipped);
}

static void open_pair(struct io_udp *watch, uint32_t every)
{
    struct io_bus_spec spec = {.kind = IO_BUS_UDP, .listen = "127.0.0.1:0"};
    TEST_ASSERT_EQUAL(0, io_udp_open(watch, (struct io_address){.ip = 0x7f000001}));
    (void)snprintf(spec.peer, sizeof spec.peer, "127.0.0.1:%u", io_udp_local(watch).port);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_sync_pulse_open(&pulser, &spec, every, error), error);
}

static struct io_sync_pulse_message hear(struct io_udp *watch)
{
    struct io_packet packet;
    struct io_sync_pulse_message pulse;
    int status = 0;
    for (int i = 0; i < WAIT_TRIES && status == 0; i++) {
        status = io_udp_receive(watch, &packet);
        if (status == 0)
            wait_moment();
    }
    TEST_ASSERT_EQUAL(1, status);
    TEST_ASSERT_TRUE(io_sync_pulse_decode(packet.bytes, packet.size, &pulse));
    return pulse;
}

static void test_every_nth_frame_sends_one_and_the_end_is_sent(void)
{
    static struct io_udp watch;
    open_pair(&watch, 3);
    const uint64_t before_ns = rt_now_ns(), allocations = rt_alloc_count();
    rt_alloc_watch();
    for (uint64_t k = 0; k < 7; k++)
        io_sync_pulse_emit(&pulser, k, 1000 * k);
    rt_alloc_unwatch();
    for (uint32_t i = 0; i < 3; i++) {
        const struct io_sync_pulse_message pulse = hear(&watch);
        TEST_ASSERT_EQUAL_UINT32(i, pulse.sequence);
        TEST_ASSERT_EQUAL_UINT64(3 * i, pulse.frame);
        TEST_ASSERT_EQUAL_UINT64(3000 * i, pulse.sim_ns);
        TEST_ASSERT_EQUAL_UINT32(0, pulse.last);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, pulse.sent_ns);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), pulse.sent_ns);
    }
    TEST_ASSERT_EQUAL_UINT64(3, pulser.sent);
    if (rt_alloc_is_counted())
        TEST_ASSERT_EQUAL_UINT64(allocations, rt_alloc_count());
    io_sync_pulse_close(&pulser);
    TEST_ASSERT_EQUAL_UINT32(1, hear(&watch).last);
    TEST_ASSERT_EQUAL_UINT64(3, pulser.sent);
    io_udp_close(&watch);
}

static void test_a_serial_line_carries_them_too(void)
{
    const int far = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    TEST_ASSERT_EQUAL(0, grantpt(far) | unlockpt(far));
    struct io_bus_spec spec = {.kind = IO_BUS_SERIAL, .baud = 921600};
    (void)snprintf(spec.device, sizeof spec.device, "%s", ptsname(far));
    TEST_ASSERT_EQUAL_MESSAGE(0, io_sync_pulse_open(&pulser, &spec, 1, error), error);
    for (uint64_t k = 0; k < 5; k++)
        io_sync_pulse_emit(&pulser, k, k);
    struct io_sync_pulse_stream stream = {0};
    struct io_sync_pulse_message pulse;
    uint64_t found = 0;
    for (int i = 0; i < WAIT_TRIES && found < 5; i++) {
        unsigned char bytes[64];
        const ssize_t got = read(far, bytes, sizeof bytes);
        for (ssize_t n = 0; n < got; n++)
            if (io_sync_pulse_feed(&stream, bytes[n], &pulse))
                TEST_ASSERT_EQUAL_UINT64(found++, pulse.frame);
        if (got <= 0)
            wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(5, found);
    TEST_ASSERT_EQUAL_UINT64(0, stream.skipped);
    io_sync_pulse_close(&pulser);
    (void)close(far);
}

static void test_a_line_that_is_not_there_is_named_by_its_key(void)
{
    const struct io_bus_spec spec = {
        .kind = IO_BUS_SERIAL, .device = "/dev/null/not-there", .baud = 921600};
    TEST_ASSERT_LESS_THAN(0, io_sync_pulse_open(&pulser, &spec, 1, error));
    TEST_ASSERT_EQUAL_STRING_LEN("pulse.device: ", error, 14);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_sync_pulse_is_forty_bytes_in_this_order);
    RUN_TEST(test_a_sync_pulse_is_read_back);
    RUN_TEST(test_a_flipped_bit_makes_a_sync_pulse_invalid);
    RUN_TEST(test_a_line_finds_every_whole_sync_pulse_between_garbage);
    RUN_TEST(test_every_nth_frame_sends_one_and_the_end_is_sent);
    RUN_TEST(test_a_serial_line_carries_them_too);
    RUN_TEST(test_a_line_that_is_not_there_is_named_by_its_key);
    return UNITY_END();
}
