/*
 * The reactor in io_uring and, once the process has forbidden itself io_uring, in poll(2): the same
 * promises.  Run with `poll` as argument for the second.
 */
#include "io/bus/uring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/io/forbid_uring.h"
#include "unity.h"

enum { FAR_NS = 2000000000, MEMORY = 1 << 20, BURST = 150 };

static _Alignas(4096) unsigned char memory[MEMORY];
static struct io_reactor *reactor;
static struct io_udp here[2], there;
static const struct io_address any = {.ip = 0x7f000001, .port = 0};
static bool in_poll;

static struct {
    int count[2];
    struct io_packet packet;
    unsigned char bytes[IO_DATAGRAM_MAX];
    bool ordered;
} seen;

static void take(void *self, int socket, const struct io_packet *packet)
{
    TEST_ASSERT_EQUAL_PTR(&seen, self);
    uint32_t number = 0;
    memcpy(&number, packet->bytes, packet->size < 4 ? packet->size : 4);
    seen.ordered = seen.ordered && number == (uint32_t)seen.count[socket];
    seen.packet = *packet;
    memcpy(seen.bytes, packet->bytes, packet->size);
    seen.count[socket]++;
}

void setUp(void)
{
    struct io_udp *const sockets[] = {&here[0], &here[1]};
    const struct io_reactor_tasks tasks = {.self = &seen, .packet = take};
    memset(&seen, 0, sizeof seen);
    seen.ordered = true;
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY - 64, io_reactor_size());
    memset(memory, 0xff, sizeof memory);
    reactor = io_reactor_place(memory + 64); /* no page boundary by luck */
    TEST_ASSERT_EQUAL(0, io_udp_open(&here[0], any));
    TEST_ASSERT_EQUAL(0, io_udp_open(&here[1], any));
    TEST_ASSERT_EQUAL(0, io_udp_open(&there, any));
    TEST_ASSERT_EQUAL(0, io_reactor_open_udp(reactor, sockets, 2, &tasks));
    io_reactor_enter(reactor);
}

void tearDown(void)
{
    io_reactor_close(reactor);
    io_udp_close(&here[0]);
    io_udp_close(&here[1]);
    io_udp_close(&there);
}

static void send_to(int socket, const void *bytes, size_t size)
{
    TEST_ASSERT_EQUAL(0, io_udp_send(&there, io_udp_local(&here[socket]), bytes, size, false));
}

static void wait_for(int count)
{
    int before = -1; /* a wait that brings nothing is the last */
    while (seen.count[0] + seen.count[1] < count && seen.count[0] + seen.count[1] != before) {
        before = seen.count[0] + seen.count[1];
        io_reactor_wait(reactor, FAR_NS);
    }
    TEST_ASSERT_EQUAL(count, seen.count[0] + seen.count[1]);
}

static void test_the_note_tells_what_was_refused(void)
{
    if (in_poll)
        TEST_ASSERT_NOT_NULL(strstr(io_reactor_note(reactor), "poll instead of io_uring"));
    else if (io_reactor_note(reactor)[0])
        TEST_IGNORE_MESSAGE(io_reactor_note(reactor));
}

static void test_datagrams_come_from_their_sockets(void)
{
    send_to(1, "abcd", 4);
    wait_for(1);
    TEST_ASSERT_EQUAL(1, seen.count[1]);
    TEST_ASSERT_EQUAL_size_t(4, seen.packet.size);
    TEST_ASSERT_EQUAL_MEMORY("abcd", seen.bytes, 4);
    TEST_ASSERT_TRUE(seen.packet.whole);
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_udp_local(&there)),
                             io_address_pack(seen.packet.from));
    send_to(0, "", 0);
    wait_for(2);
    TEST_ASSERT_EQUAL(1, seen.count[0]);
    TEST_ASSERT_EQUAL_size_t(0, seen.packet.size);
}

static void test_datagrams_carry_the_stamp_of_the_kernel(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    struct timespec now;
    /* the kernel begins to stamp when one of its workers had time to, not when it is asked to */
    for (int i = 1; i <= 5000 && (i < 50 || seen.packet.stamp_ns == 0); i++) {
        send_to(0, &i, sizeof i);
        wait_for(i);
        if (i > 50)
            (void)nanosleep(&moment, NULL);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    TEST_ASSERT_NOT_EQUAL_UINT64(0, seen.packet.stamp_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(now_ns, seen.packet.stamp_ns);
    TEST_ASSERT_GREATER_THAN_UINT64(now_ns - 60000000000u, seen.packet.stamp_ns);
}

static void test_a_burst_longer_than_the_buffers_arrives_whole_and_in_order(void)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BURST; i++) {
            const uint32_t number = (uint32_t)(round * BURST + i);
            send_to(0, &number, sizeof number);
        }
        wait_for((round + 1) * BURST);
    }
    TEST_ASSERT_TRUE(seen.ordered);
}

static void test_a_datagram_that_is_too_long_is_marked(void)
{
    static const unsigned char bytes[IO_DATAGRAM_MAX + 1];
    send_to(0, bytes, IO_DATAGRAM_MAX);
    wait_for(1);
    TEST_ASSERT_TRUE(seen.packet.whole);
    TEST_ASSERT_EQUAL_size_t(IO_DATAGRAM_MAX, seen.packet.size);
    send_to(0, bytes, sizeof bytes);
    wait_for(2);
    TEST_ASSERT_FALSE(seen.packet.whole);
    TEST_ASSERT_EQUAL_size_t(IO_DATAGRAM_MAX, seen.packet.size);
}

static uint64_t waited_ns(uint64_t timeout_ns)
{
    struct timespec from, to;
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    io_reactor_wait(reactor, timeout_ns);
    (void)clock_gettime(CLOCK_MONOTONIC, &to);
    return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
           (uint64_t)from.tv_nsec;
}

static void test_a_wait_ends_with_its_time(void)
{
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(20000000, waited_ns(20000000));
    TEST_ASSERT_EQUAL(0, seen.count[0] + seen.count[1]);
}

static void test_a_wake_before_the_wait_is_not_lost_and_counts_once(void)
{
    io_reactor_wake(reactor);
    io_reactor_wake(reactor);
    TEST_ASSERT_LESS_THAN_UINT64(FAR_NS, waited_ns(FAR_NS));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(20000000, waited_ns(20000000));
}

static void *wake_later(void *self)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
    io_reactor_wake(reactor);
    return self;
}

static void test_another_thread_ends_the_wait(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL(0, pthread_create(&thread, NULL, wake_later, NULL));
        TEST_ASSERT_LESS_THAN_UINT64(FAR_NS, waited_ns(FAR_NS));
        TEST_ASSERT_EQUAL(0, pthread_join(thread, NULL));
    }
}

int main(int argc, char **argv)
{
    in_poll = argc > 1 && strcmp(argv[1], "poll") == 0;
    if (in_poll && !forbid_uring())
        return 77;
    UNITY_BEGIN();
    RUN_TEST(test_the_note_tells_what_was_refused);
    RUN_TEST(test_datagrams_come_from_their_sockets);
    RUN_TEST(test_datagrams_carry_the_stamp_of_the_kernel);
    RUN_TEST(test_a_burst_longer_than_the_buffers_arrives_whole_and_in_order);
    RUN_TEST(test_a_datagram_that_is_too_long_is_marked);
    RUN_TEST(test_a_wait_ends_with_its_time);
    RUN_TEST(test_a_wake_before_the_wait_is_not_lost_and_counts_once);
    RUN_TEST(test_another_thread_ends_the_wait);
    return UNITY_END();
}
