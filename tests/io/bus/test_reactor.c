/*
 * The reactor in io_uring and, with the argument `poll`, in poll(2), after the process has
 * forbidden itself io_uring.  Both have to pass the same tests.
 */
#include "io/bus/reactor.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "tests/io/forbid_uring.h"
#include "tests/io/stamps.h"
#include "tests/io/wait.h"
#include "unity.h"

enum { FAR_NS = 2000000000, MEMORY = 1 << 20, BURST = 150 };

static _Alignas(4096) unsigned char memory[MEMORY];
static struct io_reactor *reactor;
static struct io_bus here[2];
static struct io_udp there;
static const struct io_bus_spec udp_spec = {
    .kind = IO_BUS_UDP, .name = "udp", .listen = "127.0.0.1:0"};
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
    struct io_bus *const buses[] = {&here[0], &here[1]};
    const struct io_reactor_tasks tasks = {.self = &seen, .packet = take};
    memset(&seen, 0, sizeof seen);
    seen.ordered = true;
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY - 64, io_reactor_size());
    memset(memory, 0xff, sizeof memory);
    reactor = io_reactor_place(memory + 64); /* not on a page boundary by chance */
    open_bus(&here[0], &udp_spec);
    open_bus(&here[1], &udp_spec);
    TEST_ASSERT_EQUAL(0, io_udp_open(&there, any));
    TEST_ASSERT_EQUAL(0, io_reactor_open(reactor, buses, 2, &tasks));
    io_reactor_enter(reactor);
}

void tearDown(void)
{
    io_reactor_close(reactor);
    io_bus_close(&here[0]);
    io_bus_close(&here[1]);
    io_udp_close(&there);
}

static void send_to(int socket, const void *bytes, size_t size)
{
    TEST_ASSERT_EQUAL(0, io_udp_send(&there, io_bus_local(&here[socket]), bytes, size, false));
}

static void wait_for(int count)
{
    int before = -1; /* a wait without a packet is the last */
    while (seen.count[0] + seen.count[1] < count && seen.count[0] + seen.count[1] != before) {
        before = seen.count[0] + seen.count[1];
        io_reactor_wait(reactor, FAR_NS);
    }
    TEST_ASSERT_EQUAL(count, seen.count[0] + seen.count[1]);
}

static void test_the_note_has_what_was_refused(void)
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
    struct timespec now;
    for (int i = 1; i <= 50; i++) {
        send_to(0, &i, sizeof i);
        wait_for(i);
        TEST_ASSERT_NOT_EQUAL_UINT64(0, seen.packet.stamp_ns);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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

/* Other buses: a second reactor on buses that each test chooses. */

enum { BUS_COUNT = 4, NEAR_NS = 20000000 };

static _Alignas(4096) unsigned char bus_memory[MEMORY];
static struct io_reactor *bus_reactor;
static struct io_bus bus[BUS_COUNT];
static int bus_count;
static struct {
    int packets[BUS_COUNT];
    size_t size[BUS_COUNT];
    unsigned char bytes[BUS_COUNT][65536];
} heard;
static const struct io_address nobody = {0};

static void hear(void *self, int index, const struct io_packet *packet)
{
    TEST_ASSERT_EQUAL_PTR(&heard, self);
    TEST_ASSERT_LESS_THAN(bus_count, index);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof heard.bytes[0] - heard.size[index], packet->size);
    memcpy(heard.bytes[index] + heard.size[index], packet->bytes, packet->size);
    heard.size[index] += packet->size;
    heard.packets[index]++;
}

static void start_buses(const struct io_bus_spec *specs, int count)
{
    struct io_bus *buses[BUS_COUNT];
    const struct io_reactor_tasks tasks = {.self = &heard, .packet = hear};
    memset(&heard, 0, sizeof heard);
    bus_count = count;
    for (int i = 0; i < count; i++) {
        open_bus(&bus[i], &specs[i]);
        buses[i] = &bus[i];
    }
    bus_reactor = io_reactor_place(bus_memory);
    TEST_ASSERT_EQUAL(0, io_reactor_open(bus_reactor, buses, count, &tasks));
    io_reactor_enter(bus_reactor);
}

static void stop_buses(void)
{
    io_reactor_close(bus_reactor);
    for (int i = 0; i < bus_count; i++)
        io_bus_close(&bus[i]);
}

static void wait_heard(int index, size_t size)
{
    for (int i = 0; i < 500 && heard.size[index] < size; i++)
        io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_EQUAL_size_t(size, heard.size[index]);
}

static void wait_peer(int index, bool connected)
{
    for (int i = 0; i < 500 && io_bus_connected(&bus[index]) != connected; i++)
        io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_EQUAL(connected, io_bus_connected(&bus[index]));
}

static int call_in(const struct io_bus *to)
{
    const struct sockaddr_in name = io_address_to_kernel(io_bus_local(to));
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TEST_ASSERT_EQUAL(0, connect(fd, (const struct sockaddr *)&name, sizeof name));
    return fd;
}

static int plug_in(char *device, size_t size)
{
    const int board = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    TEST_ASSERT_EQUAL(0, grantpt(board));
    TEST_ASSERT_EQUAL(0, unlockpt(board));
    TEST_ASSERT_EQUAL(0, ptsname_r(board, device, size));
    return board;
}

static const struct io_bus_spec tcp_server = {
    .kind = IO_BUS_TCP, .name = "tcp", .listen = "127.0.0.1:0"};

static void test_buses_of_all_kinds_are_served_together(void)
{
    struct io_bus_spec specs[BUS_COUNT] = {
        udp_spec,
        tcp_server,
        {.kind = IO_BUS_SERIAL, .name = "serial", .baud = 115200},
        {.kind = IO_BUS_SHM, .name = "shared"},
    };
    struct io_bus far_side;
    const int board = plug_in(specs[2].device, sizeof specs[2].device);
    (void)snprintf(specs[3].device, sizeof specs[3].device, "airbearing-uring-%d", (int)getpid());
    start_buses(specs, BUS_COUNT);
    open_bus(&far_side, &specs[3]);
    const int caller = call_in(&bus[1]);
    for (int round = 1; round <= 50; round++) {
        TEST_ASSERT_EQUAL(0, io_udp_send(&there, io_bus_local(&bus[0]), "u", 1, false));
        TEST_ASSERT_EQUAL(2, send(caller, "tc", 2, 0));
        TEST_ASSERT_EQUAL(3, write(board, "ser", 3));
        TEST_ASSERT_EQUAL(0, io_bus_send(&far_side, nobody, "shar", 4, false));
        for (int i = 0; i < BUS_COUNT; i++)
            wait_heard(i, (size_t)(round * (i + 1)));
    }
    TEST_ASSERT_EQUAL(50, heard.packets[0]);
    TEST_ASSERT_EQUAL(50, heard.packets[3]);
    TEST_ASSERT_EQUAL_MEMORY("tctc", heard.bytes[1], 4);
    TEST_ASSERT_EQUAL_MEMORY("serser", heard.bytes[2], 6);
    TEST_ASSERT_EQUAL_UINT64(50, counters_of(&bus[0]).rx); /* counted without io_bus_receive() */
    TEST_ASSERT_EQUAL_UINT64(150, counters_of(&bus[2]).rx_bytes);
    (void)close(caller);
    (void)close(board);
    stop_buses();
    io_bus_close(&far_side);
}

static void test_a_peer_that_connects_is_accepted_without_a_tick(void)
{
    start_buses(&tcp_server, 1);
    for (int round = 0; round < 20; round++) {
        const size_t before = heard.size[0];
        const int caller = call_in(&bus[0]);
        wait_peer(0, true);
        TEST_ASSERT_EQUAL(5, send(caller, "hello", 5, 0));
        wait_heard(0, before + 5);
        (void)close(caller);
        wait_peer(0, false);
    }
    TEST_ASSERT_EQUAL_UINT64(20, counters_of(&bus[0]).connects);
    TEST_ASSERT_EQUAL_UINT64(20, counters_of(&bus[0]).losses);
    stop_buses();
}

static void test_a_replaced_peer_sees_its_end_although_a_thread_sleeps_on_it(void)
{
    char byte;
    start_buses(&tcp_server, 1);
    const int caller = call_in(&bus[0]);
    wait_peer(0, true);
    io_reactor_wait(bus_reactor, 1000000); /* from here on a poll on the connection is posted */
    io_bus_newcomer_policy(&bus[0], IO_BUS_REPLACE_PEER);
    const int next = call_in(&bus[0]);
    for (int i = 0; i < 500 && counters_of(&bus[0]).connects < 2; i++)
        io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&bus[0]).connects);
    TEST_ASSERT_EQUAL(0, recv(caller, &byte, 1, 0));
    TEST_ASSERT_EQUAL(3, send(next, "new", 3, 0));
    wait_heard(0, 3);
    (void)close(caller);
    (void)close(next);
    stop_buses();
}

static void test_a_long_stream_arrives_whole_and_others_get_their_turn(void)
{
    static unsigned char stream[60000];
    const struct io_bus_spec specs[] = {tcp_server, udp_spec};
    start_buses(specs, 2);
    for (size_t i = 0; i < sizeof stream; i++)
        stream[i] = (unsigned char)(i * 31 >> 3);
    const int caller = call_in(&bus[0]);
    wait_peer(0, true);
    TEST_ASSERT_EQUAL(sizeof stream, send(caller, stream, sizeof stream, 0));
    TEST_ASSERT_EQUAL(0, io_udp_send(&there, io_bus_local(&bus[1]), "turn", 4, false));
    io_reactor_wait(bus_reactor, FAR_NS);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(16 * IO_DATAGRAM_MAX, heard.size[0]); /* the bound per wait */
    wait_heard(1, 4);
    wait_heard(0, sizeof stream);
    TEST_ASSERT_EQUAL_MEMORY(stream, heard.bytes[0], sizeof stream);
    (void)close(caller);
    stop_buses();
}

static void test_a_device_that_vanishes_does_not_keep_the_thread_awake(void)
{
    struct io_bus_spec spec = {.kind = IO_BUS_SERIAL, .name = "serial", .baud = 115200};
    const int board = plug_in(spec.device, sizeof spec.device);
    int waits = 0;
    start_buses(&spec, 1);
    (void)close(board);
    wait_peer(0, false);
    /* there is nothing to wake for: a few waits fill the time, not thousands */
    const uint64_t end_ns = rt_now_ns() + 10 * (uint64_t)NEAR_NS;
    for (; rt_now_ns() < end_ns; waits++)
        io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_LESS_OR_EQUAL(20, waits);
    stop_buses();
}

static void test_a_stamp_that_was_asked_for_does_not_keep_the_thread_awake(void)
{
    uint64_t stamp_ns;
    int waits = 0;
    start_buses(&tcp_server, 1);
    const int caller = call_in(&bus[0]);
    wait_peer(0, true);
    TEST_ASSERT_EQUAL(0, io_bus_send(&bus[0], nobody, "stamped", 7, true));
    const uint64_t end_ns = rt_now_ns() + 10 * (uint64_t)NEAR_NS;
    for (; rt_now_ns() < end_ns; waits++)
        io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_LESS_OR_EQUAL(20, waits);
    TEST_ASSERT_EQUAL(bus[0].tcp.stamps_sent, io_bus_tx_timestamp(&bus[0], &stamp_ns));
    (void)close(caller);
    stop_buses();
}

static void *send_later(void *self)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
    (void)io_bus_send(self, nobody, "late", 4, false);
    return NULL;
}

static void test_a_message_in_shared_memory_ends_the_wait(void)
{
    struct io_bus_spec spec = {.kind = IO_BUS_SHM, .name = "shared"};
    struct io_bus far_side;
    pthread_t thread;
    (void)snprintf(spec.device, sizeof spec.device, "airbearing-uring-%d", (int)getpid());
    start_buses(&spec, 1);
    open_bus(&far_side, &spec);
    TEST_ASSERT_EQUAL(0, pthread_create(&thread, NULL, send_later, &far_side));
    const uint64_t start_ns = rt_now_ns();
    io_reactor_wait(bus_reactor, FAR_NS);
    TEST_ASSERT_LESS_THAN_UINT64(FAR_NS, rt_now_ns() - start_ns);
    TEST_ASSERT_EQUAL_size_t(4, heard.size[0]);
    TEST_ASSERT_EQUAL(0, pthread_join(thread, NULL));
    stop_buses();
    io_bus_close(&far_side);
}

static void test_buses_without_descriptors_are_looked_at_until_time_is_up_or_a_wake(void)
{
    struct io_bus_spec spec = {.kind = IO_BUS_SHM, .name = "shared"};
    struct io_bus far_side;
    (void)snprintf(spec.device, sizeof spec.device, "airbearing-uring-%d", (int)getpid());
    start_buses(&spec, 1);
    open_bus(&far_side, &spec);
    const uint64_t start_ns = rt_now_ns();
    io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(NEAR_NS, rt_now_ns() - start_ns);
    io_reactor_wake(bus_reactor);
    const uint64_t woken_ns = rt_now_ns();
    io_reactor_wait(bus_reactor, FAR_NS);
    TEST_ASSERT_LESS_THAN_UINT64(FAR_NS, rt_now_ns() - woken_ns);
    for (int i = 0; i < 100; i++)
        TEST_ASSERT_EQUAL(0, io_bus_send(&far_side, nobody, "12345678", 8, false));
    io_reactor_wake(bus_reactor);
    io_reactor_wait(bus_reactor, FAR_NS); /* both the packets and the wake */
    const uint64_t again_ns = rt_now_ns();
    wait_heard(0, 800);
    io_reactor_wait(bus_reactor, NEAR_NS);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(NEAR_NS, rt_now_ns() - again_ns);
    stop_buses();
    io_bus_close(&far_side);
}

int main(int argc, char **argv)
{
    in_poll = argc > 1 && strcmp(argv[1], "poll") == 0;
    if (in_poll && !forbid_uring())
        return 77;
    if (!hold_stamps()) {
        puts("the kernel stamps no packets");
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_the_note_has_what_was_refused);
    RUN_TEST(test_datagrams_come_from_their_sockets);
    RUN_TEST(test_datagrams_carry_the_stamp_of_the_kernel);
    RUN_TEST(test_a_burst_longer_than_the_buffers_arrives_whole_and_in_order);
    RUN_TEST(test_a_datagram_that_is_too_long_is_marked);
    RUN_TEST(test_a_wait_ends_with_its_time);
    RUN_TEST(test_a_wake_before_the_wait_is_not_lost_and_counts_once);
    RUN_TEST(test_another_thread_ends_the_wait);
    RUN_TEST(test_buses_of_all_kinds_are_served_together);
    RUN_TEST(test_a_peer_that_connects_is_accepted_without_a_tick);
    RUN_TEST(test_a_replaced_peer_sees_its_end_although_a_thread_sleeps_on_it);
    RUN_TEST(test_a_long_stream_arrives_whole_and_others_get_their_turn);
    RUN_TEST(test_a_device_that_vanishes_does_not_keep_the_thread_awake);
    RUN_TEST(test_a_stamp_that_was_asked_for_does_not_keep_the_thread_awake);
    RUN_TEST(test_a_message_in_shared_memory_ends_the_wait);
    RUN_TEST(test_buses_without_descriptors_are_looked_at_until_time_is_up_or_a_wake);
    return UNITY_END();
}
