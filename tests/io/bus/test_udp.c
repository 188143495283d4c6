/*
 * UDP over loopback: addresses, datagrams whole and cut, kernel stamps in both directions.
 */
#include "io/bus/udp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/io/stamps.h"
#include "unity.h"

static struct io_udp here, there;
static const struct io_address any = {.ip = 0x7f000001, .port = 0};

void setUp(void)
{
    TEST_ASSERT_EQUAL(0, io_udp_open(&here, any));
    TEST_ASSERT_EQUAL(0, io_udp_open(&there, any));
}

void tearDown(void)
{
    io_udp_close(&here);
    io_udp_close(&there);
}

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void await_readable(const struct io_udp *udp)
{
    struct pollfd watch = {.fd = udp->fd, .events = POLLIN};
    TEST_ASSERT_EQUAL(1, poll(&watch, 1, 5000));
}

static void test_addresses_are_read_and_nonsense_is_refused(void)
{
    static const char *const wrong[] = {"",
                                        "127.0.0.1",
                                        ":14560",
                                        "127.0.0.1:",
                                        "1.2.3.4:x",
                                        "1.2.3.4:-1",
                                        "1.2.3.4:65536",
                                        "1.2.3.4:1 ",
                                        "1.2.3.999:1",
                                        "[::1]:14560",
                                        "1.2.3.4:000001"};
    struct io_address address;
    TEST_ASSERT_EQUAL(0, io_address_parse("127.0.0.1:14560", &address));
    TEST_ASSERT_EQUAL_HEX32(0x7f000001, address.ip);
    TEST_ASSERT_EQUAL_UINT16(14560, address.port);
    TEST_ASSERT_EQUAL(0, io_address_parse("0.0.0.0:65535", &address));
    TEST_ASSERT_EQUAL_UINT16(65535, address.port);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, io_address_parse(wrong[i], &address), wrong[i]);
}

static void test_an_address_fits_64_bits(void)
{
    const struct io_address address = {.ip = 0xfedcba98, .port = 0x7654};
    const struct io_address again = io_address_unpack(io_address_pack(address));
    TEST_ASSERT_EQUAL_HEX32(address.ip, again.ip);
    TEST_ASSERT_EQUAL_HEX16(address.port, again.port);
}

static void test_a_free_port_is_found_and_returned(void)
{
    const struct io_address local = io_udp_local(&here);
    TEST_ASSERT_EQUAL_HEX32(0x7f000001, local.ip);
    TEST_ASSERT_NOT_EQUAL_UINT16(0, local.port);
    TEST_ASSERT_NOT_EQUAL_UINT16(io_udp_local(&there).port, local.port);
}

static void test_a_port_in_use_is_refused(void)
{
    struct io_udp second;
    TEST_ASSERT_EQUAL(-EADDRINUSE, io_udp_open(&second, io_udp_local(&here)));
    TEST_ASSERT_EQUAL(-1, second.fd);
}

static void test_a_datagram_arrives_with_its_sender_and_a_kernel_stamp(void)
{
    struct io_packet packet;
    const uint64_t before_ns = wall_ns();
    TEST_ASSERT_EQUAL(0, io_udp_send(&here, io_udp_local(&there), "hello", 5, false));
    await_readable(&there);
    TEST_ASSERT_EQUAL(1, io_udp_receive(&there, &packet));
    const uint64_t after_ns = wall_ns();
    TEST_ASSERT_EQUAL_size_t(5, packet.size);
    TEST_ASSERT_EQUAL_MEMORY("hello", packet.bytes, 5);
    TEST_ASSERT_TRUE(packet.whole);
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_udp_local(&here)), io_address_pack(packet.from));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, packet.stamp_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(after_ns, packet.stamp_ns);
    TEST_ASSERT_EQUAL(0, io_udp_receive(&there, &packet));
}

static void test_a_datagram_that_is_too_long_is_marked(void)
{
    static const unsigned char bytes[IO_DATAGRAM_MAX + 1];
    struct io_packet packet;
    TEST_ASSERT_EQUAL(0, io_udp_send(&here, io_udp_local(&there), bytes, IO_DATAGRAM_MAX, false));
    TEST_ASSERT_EQUAL(0, io_udp_send(&here, io_udp_local(&there), bytes, sizeof bytes, false));
    await_readable(&there);
    TEST_ASSERT_EQUAL(1, io_udp_receive(&there, &packet));
    TEST_ASSERT_TRUE(packet.whole);
    await_readable(&there);
    TEST_ASSERT_EQUAL(1, io_udp_receive(&there, &packet));
    TEST_ASSERT_FALSE(packet.whole);
    TEST_ASSERT_EQUAL_size_t(IO_DATAGRAM_MAX, packet.size);
}

static bool await_stamp(uint64_t *stamp_ns)
{
    for (int i = 0; i < 500; i++) {
        struct pollfd watch = {.fd = here.fd, .events = 0};
        if (io_udp_tx_timestamp(&here, stamp_ns))
            return true;
        (void)poll(&watch, 1, 10);
    }
    return false;
}

static void test_what_leaves_is_stamped_when_asked(void)
{
    uint64_t stamp_ns, last_ns = 0;
    if (!here.stamps_sent)
        TEST_IGNORE_MESSAGE("this kernel does not stamp what leaves");
    const struct io_address to = io_udp_local(&there);
    for (int i = 0; i < 5; i++) {
        const uint64_t before_ns = wall_ns();
        TEST_ASSERT_EQUAL(0, io_udp_send(&here, to, "plain", 5, false));
        TEST_ASSERT_EQUAL(0, io_udp_send(&here, to, "older", 5, true));
        TEST_ASSERT_EQUAL(0, io_udp_send(&here, to, "newest", 6, true));
        TEST_ASSERT_TRUE(await_stamp(&stamp_ns));
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, stamp_ns);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(wall_ns(), stamp_ns);
        TEST_ASSERT_GREATER_THAN_UINT64(last_ns, stamp_ns);
        last_ns = stamp_ns;
        TEST_ASSERT_FALSE(io_udp_tx_timestamp(&here, &stamp_ns)); /* the stamp is returned once */
    }
}

static void test_stamps_go_on_after_a_refused_datagram(void)
{
    static const unsigned char huge[70000];
    uint64_t stamp_ns;
    if (!here.stamps_sent)
        TEST_IGNORE_MESSAGE("this kernel does not stamp what leaves");
    const struct io_address to = io_udp_local(&there);
    TEST_ASSERT_EQUAL(0, io_udp_send(&here, to, "one", 3, true));
    TEST_ASSERT_TRUE(await_stamp(&stamp_ns));
    TEST_ASSERT_EQUAL(-EMSGSIZE, io_udp_send(&here, to, huge, sizeof huge, true));
    TEST_ASSERT_EQUAL(0, io_udp_send(&here, to, "two", 3, true));
    TEST_ASSERT_TRUE(await_stamp(&stamp_ns));
}

static void test_a_shout_leaves_no_trace_in_errno(void)
{
    struct io_packet packet;
    errno = EDOM;
    io_udp_send_emergency(-1, io_udp_local(&there), "lost", 4);
    TEST_ASSERT_EQUAL(EDOM, errno);
    io_udp_send_emergency(here.fd, io_udp_local(&there), "safe", 4);
    await_readable(&there);
    TEST_ASSERT_EQUAL(1, io_udp_receive(&there, &packet));
    TEST_ASSERT_EQUAL_MEMORY("safe", packet.bytes, 4);
}

int main(void)
{
    if (!hold_stamps()) {
        puts("the kernel stamps no packets");
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_addresses_are_read_and_nonsense_is_refused);
    RUN_TEST(test_an_address_fits_64_bits);
    RUN_TEST(test_a_free_port_is_found_and_returned);
    RUN_TEST(test_a_port_in_use_is_refused);
    RUN_TEST(test_a_datagram_arrives_with_its_sender_and_a_kernel_stamp);
    RUN_TEST(test_a_datagram_that_is_too_long_is_marked);
    RUN_TEST(test_what_leaves_is_stamped_when_asked);
    RUN_TEST(test_stamps_go_on_after_a_refused_datagram);
    RUN_TEST(test_a_shout_leaves_no_trace_in_errno);
    return UNITY_END();
}
