/*
 * TCP over loopback: peers that connect, leave, come back, come in numbers, fall silent and never
 * read.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "tests/io/stamps.h"
#include "tests/io/wait.h"
#include "unity.h"

enum { STORM = 100, FRAME = 300 };
/* Once full, a small window opens when the kernel of the sender probes it: five times per second,
 * and more rarely after probes that came while the peer did not read. */
enum { PROBE_TRIES = 10 * WAIT_TRIES };

static struct io_bus server, client;
static const struct io_bus_spec listening = {
    .kind = IO_BUS_TCP, .name = "px4", .listen = "127.0.0.1:0"};
static const struct io_address nobody = {0};
static struct io_bus_spec calling;

void setUp(void)
{
    memset(&client, 0, sizeof client);
    open_bus(&server, &listening);
    calling = (struct io_bus_spec){.kind = IO_BUS_TCP, .name = "sim"};
    (void)snprintf(calling.peer, sizeof calling.peer, "127.0.0.1:%u", io_bus_local(&server).port);
}

void tearDown(void)
{
    io_bus_close(&server);
    io_bus_close(&client);
}

static void join(void)
{
    open_bus(&client, &calling);
    wait_connected(&client, true);
    wait_connected(&server, true);
}

/* A peer that is only a socket. */
static int call_in(void)
{
    const struct sockaddr_in name = io_address_to_kernel(io_bus_local(&server));
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TEST_ASSERT_GREATER_OR_EQUAL(0, fd);
    TEST_ASSERT_EQUAL(0, connect(fd, (const struct sockaddr *)&name, sizeof name));
    return fd;
}

static void test_bytes_go_both_ways(void)
{
    unsigned char bytes[5];
    TEST_ASSERT_FALSE(io_bus_connected(&server));
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&server, nobody, "lost", 4, false));
    join();
    TEST_ASSERT_TRUE(io_bus_is_stream(&server));
    TEST_ASSERT_EQUAL(0, io_bus_send(&client, nobody, "hello", 5, false));
    wait_bytes(&server, bytes, 5);
    TEST_ASSERT_EQUAL_MEMORY("hello", bytes, 5);
    TEST_ASSERT_EQUAL(0, io_bus_send(&server, nobody, "world", 5, false));
    wait_bytes(&client, bytes, 5);
    TEST_ASSERT_EQUAL_MEMORY("world", bytes, 5);
    TEST_ASSERT_EQUAL_UINT64(5, counters_of(&server).rx_bytes);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).connects);
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_bus_local(&client)),
                             io_address_pack(io_bus_peer(&server)));
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_bus_local(&server)),
                             io_address_pack(io_bus_peer(&client)));
}

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void test_what_comes_in_has_the_stamp_of_the_kernel(void)
{
    struct io_packet packet;
    join();
    const uint64_t before_ns = wall_ns();
    TEST_ASSERT_EQUAL(0, io_bus_send(&client, nobody, "tick", 4, false));
    wait_packet(&server, &packet);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, packet.stamp_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(wall_ns(), packet.stamp_ns);
}

static void test_what_leaves_is_stamped_when_asked(void)
{
    uint64_t stamp_ns = 0;
    join();
    if (!server.tcp.stamps_sent)
        TEST_IGNORE_MESSAGE("this kernel does not stamp what leaves");
    for (int round = 0; round < 5; round++) {
        const uint64_t before_ns = wall_ns();
        bool has = false;
        TEST_ASSERT_EQUAL(0, io_bus_send(&server, nobody, "plain", 5, false));
        TEST_ASSERT_EQUAL(0, io_bus_send(&server, nobody, "older", 5, true));
        TEST_ASSERT_EQUAL(0, io_bus_send(&server, nobody, "newest", 6, true));
        for (int i = 0; i < WAIT_TRIES && !(has = io_bus_tx_timestamp(&server, &stamp_ns)); i++)
            wait_moment();
        TEST_ASSERT_TRUE(has);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, stamp_ns);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(wall_ns(), stamp_ns);
        TEST_ASSERT_FALSE(io_bus_tx_timestamp(&server, &stamp_ns)); /* the stamp is returned once */
    }
}

static void test_a_stamp_that_is_not_fetched_does_not_keep_the_descriptor_ready(void)
{
    struct io_packet packet;
    struct pollfd watch = {.fd = -1, .events = POLLIN};
    join();
    if (!server.tcp.stamps_sent)
        TEST_IGNORE_MESSAGE("this kernel does not stamp what leaves");
    watch.fd = server.tcp.stable_fd.fd;
    TEST_ASSERT_EQUAL(0, io_bus_send(&server, nobody, "frame", 5, true));
    TEST_ASSERT_EQUAL(1, poll(&watch, 1, 5000)); /* the stamp has come */
    TEST_ASSERT_EQUAL(0, io_bus_receive(&server, &packet));
    TEST_ASSERT_EQUAL(0, poll(&watch, 1, 0));
    uint64_t stamp_ns;
    TEST_ASSERT_TRUE(io_bus_tx_timestamp(&server, &stamp_ns));
}

static void test_a_second_connection_is_turned_away_and_the_first_does_not_notice(void)
{
    unsigned char bytes[4];
    char byte;
    join();
    const uint32_t generation = io_bus_generation(&server);
    const int second = call_in();
    for (int i = 0; i < WAIT_TRIES && counters_of(&server).refused == 0; i++) {
        io_bus_tick(&server, rt_now_ns());
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).refused);
    TEST_ASSERT_EQUAL(0, recv(second, &byte, 1, 0)); /* the connection was closed */
    (void)close(second);
    TEST_ASSERT_EQUAL_UINT32(generation, io_bus_generation(&server));
    TEST_ASSERT_EQUAL(0, io_bus_send(&client, nobody, "here", 4, false));
    wait_bytes(&server, bytes, 4);
    TEST_ASSERT_EQUAL_MEMORY("here", bytes, 4);
}

static void test_a_peer_that_left_makes_room_but_its_last_bytes_are_received(void)
{
    unsigned char bytes[4];
    struct io_packet packet;
    const int first = call_in();
    wait_connected(&server, true);
    TEST_ASSERT_EQUAL(4, send(first, "last", 4, 0));
    (void)close(first);
    struct pollfd goodbye = {.fd = server.tcp.stable_fd.fd, .events = POLLRDHUP};
    TEST_ASSERT_EQUAL(1, poll(&goodbye, 1, 5000)); /* or the newcomer might come first */
    const int second = call_in();
    for (int i = 0; i < 20; i++) { /* the newcomer must wait, not be refused */
        io_bus_tick(&server, rt_now_ns());
        wait_moment();
    }
    wait_bytes(&server, bytes, 4);
    TEST_ASSERT_EQUAL_MEMORY("last", bytes, 4);
    int status = 0;
    for (int i = 0; i < WAIT_TRIES && (status = io_bus_receive(&server, &packet)) == 0; i++)
        wait_moment();
    TEST_ASSERT_EQUAL(-ECONNRESET, status);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&server, &packet)); /* the error is returned once */
    wait_connected(&server, true);
    TEST_ASSERT_EQUAL(2, send(second, "hi", 2, 0));
    wait_bytes(&server, bytes, 2);
    TEST_ASSERT_EQUAL_UINT64(0, counters_of(&server).refused);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&server).connects);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).losses);
    (void)close(second);
}

/* Wait until the server notices by receiving that its peer has gone; a tick would send the rest
 * that is kept. */
static void wait_lost(void)
{
    struct io_packet packet;
    for (int i = 0; i < WAIT_TRIES && io_bus_connected(&server); i++) {
        (void)io_bus_receive(&server, &packet);
        wait_moment();
    }
    TEST_ASSERT_FALSE(io_bus_connected(&server));
}

static void test_the_place_of_a_silent_peer_can_be_taken(void)
{
    unsigned char bytes[3];
    const int silent = call_in();
    wait_connected(&server, true);
    const struct io_address before = io_bus_peer(&server);
    const int next = call_in();
    io_bus_newcomer_policy(&server, IO_BUS_REPLACE_PEER);
    for (int i = 0; i < WAIT_TRIES && counters_of(&server).connects < 2; i++) {
        io_bus_tick(&server, rt_now_ns());
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).losses);
    TEST_ASSERT_TRUE(io_bus_connected(&server));
    TEST_ASSERT_NOT_EQUAL_UINT64(io_address_pack(before), io_address_pack(io_bus_peer(&server)));
    TEST_ASSERT_EQUAL(3, send(next, "new", 3, 0));
    wait_bytes(&server, bytes, 3);
    TEST_ASSERT_EQUAL_MEMORY("new", bytes, 3);
    TEST_ASSERT_EQUAL(0, recv(silent, bytes, 1, 0)); /* it sees the end of its connection */
    (void)close(silent);
    (void)close(next);
    wait_lost();
    TEST_ASSERT_EQUAL_UINT16(0, io_bus_peer(&server).port);
}

static void tick_a_while(void)
{
    for (int i = 0; i < 20; i++) {
        io_bus_tick(&server, rt_now_ns());
        wait_moment();
    }
}

static void
test_one_who_knocks_waits_while_the_peer_holds_its_place_and_takes_one_that_is_yielded(void)
{
    unsigned char bytes[5];
    struct io_bus_watch watch[IO_BUS_WATCH_MAX];
    join();
    io_bus_newcomer_policy(&server, IO_BUS_DEFER_NEWCOMER);
    const int second = call_in(), third = call_in();
    TEST_ASSERT_EQUAL(5, send(second, "other", 5, 0));
    TEST_ASSERT_EQUAL(5, send(third, "third", 5, 0));
    tick_a_while();
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).connects);
    TEST_ASSERT_EQUAL_UINT64(0, counters_of(&server).refused);
    TEST_ASSERT_EQUAL(
        1, io_bus_watches(&server, watch)); /* the listener is not watched while a newcomer waits */

    io_bus_newcomer_policy(&server, IO_BUS_REPLACE_PEER);
    tick_a_while();
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&server).connects); /* the third must wait again */
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).losses);
    wait_bytes(&server, bytes, 5);
    TEST_ASSERT_EQUAL_MEMORY("other", bytes, 5);

    io_bus_newcomer_policy(&server, IO_BUS_REFUSE_NEWCOMER);
    tick_a_while();
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).refused);
    TEST_ASSERT_EQUAL(2, io_bus_watches(&server, watch));
    (void)close(second);
    (void)close(third);
}

static void test_a_reset_is_an_error_reported_once(void)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    struct io_packet packet;
    const int fd = call_in();
    wait_connected(&server, true);
    TEST_ASSERT_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now));
    (void)close(fd);
    int status = 0;
    for (int i = 0; i < WAIT_TRIES && (status = io_bus_receive(&server, &packet)) == 0; i++)
        wait_moment();
    TEST_ASSERT_EQUAL(-ECONNRESET, status);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&server, &packet));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).errors);
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&server, nobody, "x", 1, false));
}

/* Frame i is FRAME bytes of value i. */
static int fill_up(int limit)
{
    unsigned char frame[FRAME];
    for (int i = 0; i < limit; i++) {
        memset(frame, i & 0xff, sizeof frame);
        const int status = io_bus_send(&server, nobody, frame, sizeof frame, false);
        if (status == -EAGAIN)
            return i;
        TEST_ASSERT_EQUAL(0, status);
    }
    return -1;
}

static void test_a_peer_that_never_reads_costs_frames_and_no_time(void)
{
    const int fd = call_in();
    wait_connected(&server, true);
    TEST_ASSERT_EQUAL(0, io_bus_backlog(&server));
    const int taken = fill_up(1000000); /* a blocking send would never return */
    TEST_ASSERT_GREATER_THAN(0, taken);
    TEST_ASSERT_EQUAL_UINT64((uint64_t)taken, counters_of(&server).tx);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).full);
    TEST_ASSERT_EQUAL_UINT64(0, counters_of(&server).errors);
    TEST_ASSERT_GREATER_THAN_size_t(FRAME, io_bus_backlog(&server));
    TEST_ASSERT_TRUE(io_bus_connected(&server));
    (void)close(fd);
}

static void test_a_frame_that_left_in_part_is_finished_before_the_next(void)
{
    static unsigned char heard[64 << 20];
    unsigned char frame[FRAME];
    size_t size = 0;
    ssize_t got;
    const int small = 4096;
    const int fd = call_in();
    TEST_ASSERT_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small));
    wait_connected(&server, true);
    const int taken = fill_up(1000000);
    TEST_ASSERT_GREATER_THAN(0, taken);
    const bool had_rest = server.tcp.partial.at < server.tcp.partial.size;
    memset(frame, 0xee, sizeof frame);
    int status = -EAGAIN;
    for (int i = 0; i < PROBE_TRIES && status == -EAGAIN;
         i++) { /* the peer reads a little, the server sends once more */
        got = recv(fd, heard + size, 65536, MSG_DONTWAIT);
        size += got > 0 ? (size_t)got : 0;
        status = io_bus_send(&server, nobody, frame, sizeof frame, false);
        wait_moment();
    }
    TEST_ASSERT_EQUAL(0, status);
    const size_t total = (size_t)(taken + 1) * FRAME;
    TEST_ASSERT_LESS_THAN_size_t(sizeof heard, total);
    for (int i = 0; i < PROBE_TRIES && size < total; i++) {
        io_bus_tick(&server, rt_now_ns()); /* the tick sends what is left of a rest */
        got = recv(fd, heard + size, sizeof heard - size, MSG_DONTWAIT);
        size += got > 0 ? (size_t)got : 0;
        wait_moment();
    }
    TEST_ASSERT_EQUAL_size_t(total, size);
    for (size_t i = 0; i < total; i++)
        if (heard[i] != (i / FRAME == (size_t)taken ? 0xee : (i / FRAME & 0xff)))
            TEST_FAIL_MESSAGE("two frames are mixed");
    if (!had_rest)
        TEST_IGNORE_MESSAGE("this kernel took whole frames only");
    (void)close(fd);
}

static void test_the_rest_of_a_frame_is_not_for_the_next_peer(void)
{
    unsigned char bytes[5];
    const int first = call_in();
    wait_connected(&server, true);
    server.tcp.partial.size = 100; /* as if the kernel had accepted a part */
    (void)close(first);
    wait_lost();
    TEST_ASSERT_EQUAL_size_t(100, server.tcp.partial.size - server.tcp.partial.at);
    join();
    TEST_ASSERT_EQUAL(0, io_bus_send(&server, nobody, "clean", 5, false));
    wait_bytes(&client, bytes, 5);
    TEST_ASSERT_EQUAL_MEMORY("clean", bytes, 5);
}

static void test_small_frames_do_not_wait_for_more(void)
{
    int on = 0;
    socklen_t size = sizeof on;
    join();
    TEST_ASSERT_EQUAL(0, getsockopt(server.tcp.stable_fd.fd, IPPROTO_TCP, TCP_NODELAY, &on, &size));
    TEST_ASSERT_NOT_EQUAL(0, on);
    on = 0;
    TEST_ASSERT_EQUAL(0, getsockopt(client.tcp.stable_fd.fd, IPPROTO_TCP, TCP_NODELAY, &on, &size));
    TEST_ASSERT_NOT_EQUAL(0, on);
}

/* End the server.  Nothing listens on its port then, and no other process gets it. */
static int hold_port(void)
{
    const struct sockaddr_in name = io_address_to_kernel(io_bus_local(&server));
    const int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    io_bus_close(&server);
    TEST_ASSERT_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    TEST_ASSERT_EQUAL(0, bind(fd, (const struct sockaddr *)&name, sizeof name));
    return fd;
}

static void test_a_client_finds_a_server_that_came_later_and_one_that_came_back(void)
{
    struct io_bus_spec again = listening;
    (void)snprintf(again.listen, sizeof again.listen, "127.0.0.1:%u", io_bus_local(&server).port);
    const int held = hold_port();
    open_bus(&client, &calling); /* an absent server is not an error */
    for (int i = 0; i < 5; i++)
        io_bus_tick(&client, rt_now_ns());
    TEST_ASSERT_FALSE(io_bus_connected(&client));
    for (uint64_t round = 1; round <= 3; round++) {
        open_bus(&server, &again);
        wait_connected(&client, true);
        wait_connected(&server, true);
        TEST_ASSERT_EQUAL_UINT64(round, counters_of(&client).connects);
        io_bus_close(&server);
        wait_connected(&client, false);
        TEST_ASSERT_EQUAL_UINT64(round, counters_of(&client).losses);
    }
    open_bus(&server, &again);
    (void)close(held);
}

/* Count the attempts within a minute of a simulated clock, without a server. */
static void test_attempts_become_rare(void)
{
    int attempts = 0;
    const int held = hold_port();
    open_bus(&client, &calling);
    uint64_t last_ns = client.tcp.retry_ns;
    for (uint64_t now_ns = 1; now_ns < 60000000000; now_ns += 20000000) {
        io_bus_tick(&client, now_ns);
        attempts += client.tcp.retry_ns != last_ns;
        last_ns = client.tcp.retry_ns;
    }
    TEST_ASSERT_LESS_OR_EQUAL(40, attempts);
    TEST_ASSERT_GREATER_OR_EQUAL(25, attempts); /* still every two seconds */
    open_bus(&server, &listening);
    (void)close(held);
}

static void test_a_storm_of_connections_leaves_the_peer_alone(void)
{
    unsigned char bytes[4];
    int stranger[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    join();
    for (int i = 0; i < STORM; i++) {
        const uint32_t number = (uint32_t)i;
        if (stranger[i % 8] >= 0)
            (void)close(stranger[i % 8]);
        stranger[i % 8] = call_in();
        io_bus_tick(&server, rt_now_ns());
        TEST_ASSERT_EQUAL(0, io_bus_send(&client, nobody, &number, sizeof number, false));
        wait_bytes(&server, bytes, 4);
        TEST_ASSERT_EQUAL_MEMORY(&number, bytes, 4);
    }
    for (int i = 0; i < WAIT_TRIES && counters_of(&server).refused < STORM; i++) {
        io_bus_tick(&server, rt_now_ns());
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(STORM, counters_of(&server).refused);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).connects);
    TEST_ASSERT_EQUAL_UINT64(0, counters_of(&server).losses);
    for (int i = 0; i < 8; i++)
        (void)close(stranger[i]);
}

static void test_a_hundred_peers_one_after_the_other_use_up_nothing(void)
{
    unsigned char bytes[4];
    const int before = dup(0);
    (void)close(before);
    for (int i = 0; i < STORM; i++) {
        const uint32_t number = (uint32_t)i;
        const int fd = call_in();
        wait_connected(&server, true);
        TEST_ASSERT_EQUAL(4, send(fd, &number, sizeof number, 0));
        wait_bytes(&server, bytes, 4);
        TEST_ASSERT_EQUAL_MEMORY(&number, bytes, 4);
        (void)close(fd);
        wait_connected(&server, false);
    }
    const int after = dup(0);
    (void)close(after);
    TEST_ASSERT_EQUAL(before, after);
    TEST_ASSERT_EQUAL_UINT64(STORM, counters_of(&server).connects);
    TEST_ASSERT_EQUAL_UINT64(STORM, counters_of(&server).losses);
}

static void test_a_process_out_of_descriptors_does_not_watch_what_it_cannot_accept(void)
{
    struct io_bus_watch watch[IO_BUS_WATCH_MAX];
    struct rlimit before, none;
    TEST_ASSERT_EQUAL(1, io_bus_watches(&server, watch));
    TEST_ASSERT_TRUE(watch[0].wants_tick);
    const int caller = call_in();
    TEST_ASSERT_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    none = before;
    none.rlim_cur = (rlim_t)caller; /* no lower descriptor is free */
    const uint32_t generation = io_bus_generation(&server);
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &none));
    io_bus_tick(&server, rt_now_ns());
    io_bus_tick(&server, rt_now_ns());
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
    TEST_ASSERT_EQUAL(0, io_bus_watches(&server, watch));
    TEST_ASSERT_EQUAL_UINT32(generation + 1, io_bus_generation(&server));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).errors);
    wait_connected(&server, true);
    TEST_ASSERT_EQUAL(2, io_bus_watches(&server, watch));
    (void)close(caller);
}

static void test_the_emergency_message_reaches_the_peer_or_no_one(void)
{
    unsigned char bytes[4];
    errno = EDOM;
    io_bus_send_emergency(&server, nobody, "void", 4); /* no peer is attached */
    TEST_ASSERT_EQUAL(EDOM, errno);
    join();
    io_bus_send_emergency(&server, nobody, "safe", 4);
    wait_bytes(&client, bytes, 4);
    TEST_ASSERT_EQUAL_MEMORY("safe", bytes, 4);
    const int stable_fd = server.tcp.stable_fd.fd;
    io_bus_close(&client);
    wait_lost();
    TEST_ASSERT_EQUAL(stable_fd, server.tcp.stable_fd.fd);
    const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
    TEST_ASSERT_NOT_EQUAL(stable_fd, other); /* the number is not reused */
    (void)close(other);
}

static void test_a_link_is_server_or_client(void)
{
    struct io_bus_spec spec = {.kind = IO_BUS_TCP, .name = "px4"};
    refuse_bus(&spec, -EINVAL, "links.px4.listen: ", "needs `listen` (server) or `peer` (client)");
    (void)snprintf(spec.listen, sizeof spec.listen, "127.0.0.1:%u", io_bus_local(&server).port);
    refuse_bus(&spec, -EADDRINUSE, "links.px4.listen: port ", "choose another port");
    (void)snprintf(spec.peer, sizeof spec.peer, "127.0.0.1:4560");
    refuse_bus(&spec, -EINVAL, "links.px4.peer: ", "not both");
    spec.listen[0] = '\0';
    (void)snprintf(spec.peer, sizeof spec.peer, "127.0.0.1:0");
    refuse_bus(&spec, -EINVAL, "links.px4.peer: ", "port other than 0");
}

static void test_a_frame_longer_than_any_is_refused_whole(void)
{
    static const unsigned char bytes[IO_DATAGRAM_MAX + 1];
    struct io_packet packet;
    join();
    TEST_ASSERT_EQUAL(-EMSGSIZE, io_bus_send(&client, nobody, bytes, sizeof bytes, false));
    TEST_ASSERT_TRUE(io_bus_connected(&client));
    for (int i = 0; i < 10; i++) {
        TEST_ASSERT_EQUAL(0, io_bus_receive(&server, &packet));
        wait_moment();
    }
}

/* A server whose queue is full: a client is neither accepted nor refused. */
static void test_an_attempt_without_an_answer_is_given_up_after_three_seconds(void)
{
    const uint64_t begin_ns = 1000, patience_ns = 3000000000;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    const int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TEST_ASSERT_EQUAL(0, bind(deaf, (const struct sockaddr *)&name, sizeof name));
    TEST_ASSERT_EQUAL(0, getsockname(deaf, (struct sockaddr *)&name, &size));
    TEST_ASSERT_EQUAL(0, listen(deaf, 0));
    TEST_ASSERT_EQUAL(0, connect(filler, (const struct sockaddr *)&name, sizeof name));
    (void)snprintf(calling.peer, sizeof calling.peer, "127.0.0.1:%u", ntohs(name.sin_port));
    open_bus(&client, &calling);
    TEST_ASSERT_GREATER_OR_EQUAL(0, client.tcp.attempt);
    io_bus_tick(&client, begin_ns);
    TEST_ASSERT_EQUAL_UINT64(begin_ns + patience_ns, client.tcp.give_up_ns);
    io_bus_tick(&client, begin_ns + patience_ns - 1);
    TEST_ASSERT_EQUAL_UINT64(begin_ns + patience_ns, client.tcp.give_up_ns);
    TEST_ASSERT_EQUAL_UINT64(0, client.tcp.retry_ns);
    io_bus_tick(&client, begin_ns + patience_ns); /* and the next attempt begins */
    TEST_ASSERT_EQUAL_UINT64(0, client.tcp.give_up_ns);
    TEST_ASSERT_GREATER_OR_EQUAL(0, client.tcp.attempt);
    TEST_ASSERT_GREATER_THAN_UINT64(begin_ns + patience_ns, client.tcp.retry_ns);
    TEST_ASSERT_FALSE(io_bus_connected(&client));
    (void)close(filler);
    (void)close(deaf);
}

static void test_what_waits_is_in_the_kernel_or_here(void)
{
    const int fd = call_in();
    wait_connected(&server, true);
    server.tcp.partial.at = 10; /* as if the kernel had accepted a part */
    server.tcp.partial.size = 30;
    TEST_ASSERT_EQUAL_size_t(20, io_bus_backlog(&server));
    server.tcp.partial.at = server.tcp.partial.size = 0;
    TEST_ASSERT_EQUAL_size_t(0, io_bus_backlog(&server));
    (void)close(fd);
    wait_lost();
    server.tcp.partial.size = 30;
    TEST_ASSERT_EQUAL_size_t(0, io_bus_backlog(&server)); /* without a peer there is no backlog */
    server.tcp.partial.size = 0;
}

/* The peer resets the connection, and the next write finds out. */
static void reset_peer(void)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    const int fd = call_in();
    wait_connected(&server, true);
    TEST_ASSERT_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now));
    struct pollfd watch = {.fd = server.tcp.stable_fd.fd, .events = 0};
    (void)close(fd);
    TEST_ASSERT_EQUAL(1, poll(&watch, 1, 5000)); /* the reset has arrived */
}

static void test_a_reset_is_met_by_a_write_too(void)
{
    reset_peer();
    TEST_ASSERT_EQUAL(-ECONNRESET, io_bus_send(&server, nobody, "x", 1, false));
    TEST_ASSERT_FALSE(io_bus_connected(&server));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&server).losses);
    reset_peer();
    TEST_ASSERT_EQUAL(-ECONNRESET, io_bus_send(&server, nobody, "x", 1, true));
    TEST_ASSERT_FALSE(io_bus_connected(&server));
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&server).losses);
    reset_peer();
    server.tcp.partial.size = 30; /* the rest of the last frame */
    TEST_ASSERT_EQUAL(-ECONNRESET, io_bus_send(&server, nobody, "x", 1, false));
    TEST_ASSERT_FALSE(io_bus_connected(&server));
}

static void test_a_process_out_of_descriptors_opens_no_link(void)
{
    struct rlimit before, none;
    struct io_bus bus;
    char error[IO_BUS_ERROR_MAX];
    io_bus_close(&server);
    const int next = dup(0);
    (void)close(next);
    TEST_ASSERT_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    none = before;
    for (int room = 0; room < 3; room++) { /* the stable descriptor needs two, the listener one */
        none.rlim_cur = (rlim_t)(next + room);
        TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &none));
        const int status = io_bus_open(&bus, &listening, error);
        TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
        TEST_ASSERT_EQUAL_MESSAGE(-EMFILE, status, error);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "Too many open files"), error);
        if (room < 2)
            TEST_ASSERT_EQUAL_STRING(
                "links.px4.listen: no file descriptor is left: Too many open files", error);
        const int after = dup(0);
        (void)close(after);
        TEST_ASSERT_EQUAL(next, after); /* no descriptor is left open */
    }
    open_bus(&server, &listening);
}

static void test_a_client_without_a_descriptor_tries_again(void)
{
    struct rlimit before, none;
    char error[IO_BUS_ERROR_MAX];
    const int next = dup(0);
    (void)close(next);
    TEST_ASSERT_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    none = before;
    none.rlim_cur = (rlim_t)(next + 2); /* for the stable descriptor */
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &none));
    const int status = io_bus_open(&client, &calling, error);
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
    TEST_ASSERT_EQUAL_MESSAGE(0, status, error);
    TEST_ASSERT_EQUAL(-1, client.tcp.attempt);
    wait_connected(&client, true);
}

int main(void)
{
    if (!hold_stamps()) {
        puts("the kernel stamps no packets");
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_bytes_go_both_ways);
    RUN_TEST(test_what_comes_in_has_the_stamp_of_the_kernel);
    RUN_TEST(test_what_leaves_is_stamped_when_asked);
    RUN_TEST(test_a_stamp_that_is_not_fetched_does_not_keep_the_descriptor_ready);
    RUN_TEST(test_a_second_connection_is_turned_away_and_the_first_does_not_notice);
    RUN_TEST(test_a_peer_that_left_makes_room_but_its_last_bytes_are_received);
    RUN_TEST(test_the_place_of_a_silent_peer_can_be_taken);
    RUN_TEST(
        test_one_who_knocks_waits_while_the_peer_holds_its_place_and_takes_one_that_is_yielded);
    RUN_TEST(test_a_reset_is_an_error_reported_once);
    RUN_TEST(test_a_peer_that_never_reads_costs_frames_and_no_time);
    RUN_TEST(test_a_frame_that_left_in_part_is_finished_before_the_next);
    RUN_TEST(test_the_rest_of_a_frame_is_not_for_the_next_peer);
    RUN_TEST(test_small_frames_do_not_wait_for_more);
    RUN_TEST(test_a_client_finds_a_server_that_came_later_and_one_that_came_back);
    RUN_TEST(test_attempts_become_rare);
    RUN_TEST(test_a_storm_of_connections_leaves_the_peer_alone);
    RUN_TEST(test_a_hundred_peers_one_after_the_other_use_up_nothing);
    RUN_TEST(test_a_process_out_of_descriptors_does_not_watch_what_it_cannot_accept);
    RUN_TEST(test_the_emergency_message_reaches_the_peer_or_no_one);
    RUN_TEST(test_a_link_is_server_or_client);
    RUN_TEST(test_a_frame_longer_than_any_is_refused_whole);
    RUN_TEST(test_an_attempt_without_an_answer_is_given_up_after_three_seconds);
    RUN_TEST(test_what_waits_is_in_the_kernel_or_here);
    RUN_TEST(test_a_reset_is_met_by_a_write_too);
    RUN_TEST(test_a_process_out_of_descriptors_opens_no_link);
    RUN_TEST(test_a_client_without_a_descriptor_tries_again);
    return UNITY_END();
}
