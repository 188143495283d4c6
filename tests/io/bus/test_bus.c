/*
 * What all kinds of bus share, tested with UDP: counters, recording, refused specs; and frames that
 * are sent in parts.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/io/wait.h"
#include "unity.h"

static struct io_bus here, there;
static const struct io_bus_spec any = {
    .kind = IO_BUS_UDP, .name = "board", .listen = "127.0.0.1:0"};

void setUp(void)
{
    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    open_bus(&here, &any);
    open_bus(&there, &any);
}

void tearDown(void)
{
    io_bus_close(&here);
    io_bus_close(&there);
}

static void test_a_datagram_crosses_and_is_counted(void)
{
    struct io_packet packet;
    TEST_ASSERT_FALSE(io_bus_is_stream(&here));
    TEST_ASSERT_FALSE(io_bus_needs_polling(&here));
    TEST_ASSERT_TRUE(io_bus_connected(&here));
    TEST_ASSERT_EQUAL(0, io_bus_send(&here, io_bus_local(&there), "hello", 5, false));
    wait_packet(&there, &packet);
    TEST_ASSERT_EQUAL_size_t(5, packet.size);
    TEST_ASSERT_EQUAL_MEMORY("hello", packet.bytes, 5);
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_bus_local(&here)), io_address_pack(packet.from));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&here).tx);
    TEST_ASSERT_EQUAL_UINT64(5, counters_of(&here).tx_bytes);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&there).rx);
    TEST_ASSERT_EQUAL_UINT64(5, counters_of(&there).rx_bytes);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&there, &packet));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&there).rx);
}

static void test_a_datagram_that_is_too_long_is_marked_and_counted(void)
{
    static const unsigned char bytes[IO_DATAGRAM_MAX + 1];
    struct io_packet packet;
    TEST_ASSERT_EQUAL(0, io_bus_send(&here, io_bus_local(&there), bytes, sizeof bytes, false));
    wait_packet(&there, &packet);
    TEST_ASSERT_FALSE(packet.whole);
    TEST_ASSERT_EQUAL_size_t(IO_DATAGRAM_MAX, packet.size);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&there).cut);
}

static void test_what_the_kernel_refuses_is_an_error_and_a_missing_peer_is_none(void)
{
    static const unsigned char huge[70000];
    const struct io_address nobody = {0};
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&here, nobody, "x", 1, false));
    TEST_ASSERT_EQUAL_UINT64(0, counters_of(&here).errors);
    TEST_ASSERT_EQUAL(-EMSGSIZE,
                      io_bus_send(&here, io_bus_local(&there), huge, sizeof huge, false));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&here).errors);
    TEST_ASSERT_EQUAL_UINT64(0, counters_of(&here).tx);
}

static void test_the_peer_of_the_spec_is_known_before_it_sends(void)
{
    struct io_bus_spec spec = {.kind = IO_BUS_UDP, .name = "board"};
    struct io_bus bus;
    struct io_packet packet;
    (void)snprintf(spec.peer, sizeof spec.peer, "127.0.0.1:%u", io_bus_local(&there).port);
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL_UINT16(io_bus_local(&there).port, io_bus_peer(&bus).port);
    TEST_ASSERT_EQUAL_UINT16(0, io_bus_peer(&here).port);
    TEST_ASSERT_EQUAL(0, io_bus_send(&bus, io_bus_peer(&bus), "first", 5, false));
    wait_packet(&there, &packet);
    io_bus_close(&bus);
}

static void test_refusals_name_the_key_and_the_remedy(void)
{
    struct io_bus_spec spec = any;
    (void)snprintf(spec.listen, sizeof spec.listen, "127.0.0.1:%u", io_bus_local(&here).port);
    refuse_bus(&spec, -EADDRINUSE, "links.board.listen: port ",
               "is in use (another run?); choose another port");
    (void)snprintf(spec.listen, sizeof spec.listen, "192.0.2.1:14560");
    refuse_bus(&spec, -EADDRNOTAVAIL, "links.board.listen: 192.0.2.1:14560 is not an address",
               "0.0.0.0 listens on all of them");
    (void)snprintf(spec.listen, sizeof spec.listen, "nonsense");
    refuse_bus(&spec, -EINVAL, "links.board.listen: \"nonsense\"", "like 127.0.0.1:14560");
    spec = any;
    (void)snprintf(spec.peer, sizeof spec.peer, "127.0.0.1:0");
    refuse_bus(&spec, -EINVAL, "links.board.peer: ", "port other than 0");
    spec = any;
    (void)snprintf(spec.record, sizeof spec.record, "/nowhere/at/all");
    refuse_bus(&spec, -ENOENT, "links.board.record: ", "/nowhere/at/all");
}

static void test_an_emergency_packet_arrives_and_leaves_errno_alone(void)
{
    static const unsigned char long_words[IO_EMERGENCY_MAX + 1];
    struct io_packet packet;
    errno = EDOM;
    io_bus_send_emergency(&here, io_bus_local(&there), long_words, sizeof long_words);
    io_bus_send_emergency(&here, (struct io_address){.ip = 0xffffffff, .port = 1}, "no", 2);
    io_bus_send_emergency(&here, io_bus_local(&there), "safe", 4);
    TEST_ASSERT_EQUAL(EDOM, errno);
    wait_packet(&there, &packet);
    TEST_ASSERT_EQUAL_size_t(4, packet.size);
    TEST_ASSERT_EQUAL_MEMORY("safe", packet.bytes, 4);
}

static void test_what_came_in_can_be_played_again(void)
{
    char path[] = "/tmp/test_bus_tape_XXXXXX";
    struct io_bus_spec spec = any;
    struct io_bus recorded, tape;
    struct io_packet packet;
    (void)close(mkstemp(path));
    (void)snprintf(spec.record, sizeof spec.record, "%s", path);
    spec.record_size = 16 + 2 * (16 + 5) + 3; /* the tape has room for two packets */
    open_bus(&recorded, &spec);
    for (int i = 0; i < 3; i++) {
        const char *const words[] = {"first", "other", "extra"};
        TEST_ASSERT_EQUAL(0, io_bus_send(&here, io_bus_local(&recorded), words[i], 5, false));
        wait_packet(&recorded, &packet);
        TEST_ASSERT_EQUAL_MEMORY(words[i], packet.bytes, 5);
    }
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&recorded).unrecorded);
    io_bus_close(&recorded);
    spec = (struct io_bus_spec){.kind = IO_BUS_TAPE, .name = "board"};
    (void)snprintf(spec.device, sizeof spec.device, "%s", path);
    open_bus(&tape, &spec);
    wait_packet(&tape, &packet);
    TEST_ASSERT_EQUAL_MEMORY("first", packet.bytes, 5);
    wait_packet(&tape, &packet);
    TEST_ASSERT_EQUAL_MEMORY("other", packet.bytes, 5);
    TEST_ASSERT_TRUE(io_bus_connected(&tape));
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    TEST_ASSERT_FALSE(io_bus_connected(&tape));
    io_bus_close(&tape);
    (void)unlink(path);
}

/* A kernel that accepts as many bytes as the script has next; 0: none. */
static struct {
    size_t quota[16];
    int call;
    unsigned char bytes[256];
    size_t size;
} kernel;

static ssize_t take_some(void *self, const void *bytes, size_t size)
{
    TEST_ASSERT_EQUAL_PTR(&kernel, self);
    const size_t quota = kernel.quota[kernel.call++];
    const size_t part = quota < size ? quota : size;
    if (part == 0)
        return -EAGAIN;
    memcpy(kernel.bytes + kernel.size, bytes, part);
    kernel.size += part;
    return (ssize_t)part;
}

static void test_a_frame_taken_in_pieces_stays_one_frame(void)
{
    static const size_t quotas[] = {3, 0, 2, 0, 2, 99, 1, 0, 0, 99, 99};
    struct io_partial_frame rest = {0};
    memset(&kernel, 0, sizeof kernel);
    memcpy(kernel.quota, quotas, sizeof quotas);
    TEST_ASSERT_EQUAL(
        0, io_partial_send(&rest, take_some, &kernel, "abcdefg", 7)); /* abc is accepted */
    TEST_ASSERT_EQUAL(-EAGAIN, io_partial_send(&rest, take_some, &kernel, "never", 5));
    TEST_ASSERT_EQUAL(-EAGAIN, io_partial_flush(&rest, take_some, &kernel)); /* de */
    TEST_ASSERT_EQUAL_MEMORY("abcde", kernel.bytes, 5);
    TEST_ASSERT_EQUAL(0, io_partial_send(&rest, take_some, &kernel, "hij", 3)); /* fg, hij */
    TEST_ASSERT_EQUAL(0, io_partial_send(&rest, take_some, &kernel, "klm", 3)); /* k */
    TEST_ASSERT_EQUAL(-EAGAIN, io_partial_flush(&rest, take_some, &kernel));
    TEST_ASSERT_EQUAL(-EAGAIN, io_partial_send(&rest, take_some, &kernel, "never", 5));
    TEST_ASSERT_EQUAL(0, io_partial_send(&rest, take_some, &kernel, "n", 1)); /* lm, n */
    TEST_ASSERT_EQUAL(0, io_partial_flush(&rest, take_some, &kernel));
    TEST_ASSERT_EQUAL_size_t(14, kernel.size);
    TEST_ASSERT_EQUAL_MEMORY("abcdefghijklmn", kernel.bytes, 14);
    TEST_ASSERT_EQUAL(11, kernel.call);
}

static void test_closing_twice_or_a_bus_that_never_was_is_nothing(void)
{
    struct io_bus never;
    memset(&never, 0, sizeof never);
    io_bus_close(&never);
    io_bus_close(&here);
    io_bus_close(&here);
    TEST_ASSERT_FALSE(io_bus_connected(&here));
}

/* What config asks of a kind has an answer. */
static void test_every_kind_has_a_name_and_says_where_its_far_end_is(void)
{
    for (int i = 0; i < IO_BUS_KIND_COUNT; i++) {
        const struct io_bus_traits *traits = io_bus_traits((enum io_bus_kind)i);
        const char *name = io_bus_names[i];
        TEST_ASSERT_NOT_NULL(name);
        if (traits->keys & IO_BUS_KEYS_DEVICE)
            TEST_ASSERT_TRUE_MESSAGE(traits->usual_device || traits->example_device, name);
        if (traits->keys == 0) /* two links could not be told apart */
            TEST_ASSERT_TRUE_MESSAGE(traits->only_one, name);
        TEST_ASSERT_FALSE_MESSAGE(traits->makes_hands && traits->carries_hands, name);
        TEST_ASSERT_FALSE_MESSAGE(traits->stream && traits->datagrams, name);
    }
    TEST_ASSERT_NULL(io_bus_names[IO_BUS_KIND_COUNT]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_datagram_crosses_and_is_counted);
    RUN_TEST(test_a_datagram_that_is_too_long_is_marked_and_counted);
    RUN_TEST(test_what_the_kernel_refuses_is_an_error_and_a_missing_peer_is_none);
    RUN_TEST(test_the_peer_of_the_spec_is_known_before_it_sends);
    RUN_TEST(test_refusals_name_the_key_and_the_remedy);
    RUN_TEST(test_an_emergency_packet_arrives_and_leaves_errno_alone);
    RUN_TEST(test_what_came_in_can_be_played_again);
    RUN_TEST(test_a_frame_taken_in_pieces_stays_one_frame);
    RUN_TEST(test_closing_twice_or_a_bus_that_never_was_is_nothing);
    RUN_TEST(test_every_kind_has_a_name_and_says_where_its_far_end_is);
    return UNITY_END();
}
