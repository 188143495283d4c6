/*
 * Shared memory: two sides, rings that wrap, foreign files, and a far end that writes nonsense.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/guarded_mapping.h"
#include "tests/io/wait.h"
#include "unity.h"

static struct io_bus a, b;
static struct io_bus_spec spec;
static char path[IO_BUS_DEVICE_MAX + 16];
static const struct io_address nobody = {0};

void setUp(void)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    spec = (struct io_bus_spec){.kind = IO_BUS_SHM, .name = "board"};
    (void)snprintf(spec.device, sizeof spec.device, "airbearing-test-%d", (int)getpid());
    (void)snprintf(path, sizeof path, "/dev/shm/%s", spec.device);
}

void tearDown(void)
{
    io_bus_close(&a);
    io_bus_close(&b);
    (void)unlink(path);
}

static void join(void)
{
    open_bus(&a, &spec);
    TEST_ASSERT_FALSE(io_bus_connected(&a));
    open_bus(&b, &spec);
    TEST_ASSERT_TRUE(io_bus_connected(&b));
    io_bus_tick(&a, 0);
    TEST_ASSERT_TRUE(io_bus_connected(&a));
}

static void test_messages_go_both_ways_with_borders_and_times(void)
{
    struct io_packet packet;
    struct io_bus_watch watch[IO_BUS_WATCH_MAX];
    join();
    TEST_ASSERT_FALSE(io_bus_is_stream(&a));
    TEST_ASSERT_TRUE(io_bus_needs_polling(&a));
    TEST_ASSERT_EQUAL(0, io_bus_watches(&a, watch));
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "one", 3, false));
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "", 0, false));
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "three", 5, false));
    TEST_ASSERT_EQUAL(0, io_bus_send(&b, nobody, "back", 4, false));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_size_t(3, packet.size);
    TEST_ASSERT_EQUAL_MEMORY("one", packet.bytes, 3);
    TEST_ASSERT_NOT_EQUAL_UINT64(0, packet.stamp_ns);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_size_t(0, packet.size);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_MEMORY("three", packet.bytes, 5);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&a, &packet));
    TEST_ASSERT_EQUAL_MEMORY("back", packet.bytes, 4);
}

static void test_rings_wrap_with_every_length(void)
{
    unsigned char message[IO_DATAGRAM_MAX];
    struct io_packet packet;
    size_t total = 0;
    join();
    for (size_t i = 0; i < 3 * IO_DATAGRAM_MAX; i++) {
        const size_t size = (i * 37) % (IO_DATAGRAM_MAX + 1);
        for (size_t k = 0; k < size; k++)
            message[k] = (unsigned char)(i + k);
        TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, message, size, false));
        TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL_size_t(size, packet.size);
        if (size)
            TEST_ASSERT_EQUAL_MEMORY(message, packet.bytes, size);
        total += size;
    }
    TEST_ASSERT_GREATER_THAN_size_t(20 * IO_SHM_RING_SIZE, total);
}

static void test_a_full_ring_refuses_and_loses_nothing(void)
{
    unsigned char message[100] = {0};
    struct io_packet packet;
    int taken = 0;
    join();
    while (message[0] = (unsigned char)taken,
           io_bus_send(&a, nobody, message, sizeof message, false) == 0)
        taken++;
    TEST_ASSERT_EQUAL(IO_SHM_RING_SIZE / 120, taken); /* 16 + 100, padded to 8 */
    TEST_ASSERT_EQUAL_size_t((size_t)taken * 120, io_bus_backlog(&a));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&a).full);
    for (int i = 0; i < taken; i++) {
        TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL_HEX8(i & 0xff, packet.bytes[0]);
    }
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL(-EMSGSIZE, io_bus_send(&a, nobody, message, IO_DATAGRAM_MAX + 1, false));
}

enum { RACE = 20000 };
static void *write_numbers(void *self)
{
    unsigned char message[64];
    for (uint32_t i = 0; i < RACE;) {
        const size_t size = 4 + i % 60;
        memcpy(message, &i, 4);
        memset(message + 4, (int)i & 0xff, size - 4);
        if (io_bus_send(&a, nobody, message, size, false) == 0)
            i++;
        else
            wait_moment();
    }
    return self;
}

static void test_two_threads_see_the_same_messages_in_order(void)
{
    pthread_t thread;
    struct io_packet packet;
    join();
    TEST_ASSERT_EQUAL(0, pthread_create(&thread, NULL, write_numbers, NULL));
    for (uint32_t i = 0; i < RACE; i++) {
        uint32_t number;
        wait_packet(&b, &packet);
        memcpy(&number, packet.bytes, 4);
        TEST_ASSERT_EQUAL_UINT32(i, number);
        TEST_ASSERT_EQUAL_size_t(4 + i % 60, packet.size);
        for (size_t k = 4; k < packet.size; k++)
            TEST_ASSERT_EQUAL_HEX8(i & 0xff, packet.bytes[k]);
    }
    TEST_ASSERT_EQUAL(0, pthread_join(thread, NULL));
}

static void test_the_layout_is_the_documented_one(void)
{
    join();
    const unsigned char *mem = a.shm.mem;
    const uint32_t version = 1, header = 64, ring = 65536, message = 2048;
    const uint64_t total = 4096 + 2 * 65536;
    TEST_ASSERT_EQUAL_MEMORY("AIRBSHM", mem, 8);
    TEST_ASSERT_EQUAL_MEMORY(&version, mem + 8, 4);
    TEST_ASSERT_EQUAL_MEMORY(&header, mem + 12, 4);
    TEST_ASSERT_EQUAL_MEMORY(&ring, mem + 16, 4);
    TEST_ASSERT_EQUAL_MEMORY(&message, mem + 20, 4);
    TEST_ASSERT_EQUAL_MEMORY(&total, mem + 24, 8);
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "first", 5, false));
    TEST_ASSERT_EQUAL(0, io_bus_send(&b, nobody, "other", 5, false));
    const uint64_t head = 24;
    const uint32_t size = 5;
    for (int side = 0; side < 2; side++) {
        const unsigned char *data = mem + 4096 + side * 65536;
        TEST_ASSERT_EQUAL_MEMORY(&head, mem + 64 + 512 * side, 8);
        TEST_ASSERT_EQUAL_MEMORY(&size, data, 4);
        TEST_ASSERT_EQUAL_MEMORY(side ? "other\0\0\0" : "first\0\0\0", data + 16, 8);
    }
    struct io_packet packet;
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_MEMORY(&head, mem + 64 + 64, 8); /* tail of ring 0 */
}

static void test_another_version_is_refused_clearly(void)
{
    open_bus(&a, &spec);
    ((struct io_shm_header *)a.shm.mem)->version = 2;
    refuse_bus(&spec, -EPROTONOSUPPORT, "links.board.device: /dev/shm/airbearing-test-",
               "has layout version 2, this program speaks version 1");
}

static void test_memory_of_another_user_is_refused(void)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    TEST_ASSERT_EQUAL(5, write(fd, "hello", 5));
    refuse_bus(&spec, -EPROTO, "links.board.device: ", "is not shared memory of this program");
    TEST_ASSERT_EQUAL(0, ftruncate(fd, IO_SHM_SIZE));
    refuse_bus(&spec, -EPROTO, "links.board.device: ", "is not shared memory of this program");
    (void)close(fd);
    (void)unlink(path);
    open_bus(&a, &spec);
    struct io_shm_header *header = a.shm.mem;
    header->total_size++;
    refuse_bus(&spec, -EINVAL, "links.board.device: ", "its sizes are impossible");
    header->total_size--;
    header->ring_size = 3 * 4096;
    refuse_bus(&spec, -EINVAL, "links.board.device: ", "its sizes are impossible");
    TEST_ASSERT_EQUAL(0, access(path, F_OK)); /* a refused open removes nothing */
}

static void test_names_with_slashes_are_refused(void)
{
    (void)snprintf(spec.device, sizeof spec.device, "a/b");
    refuse_bus(&spec, -EINVAL, "links.board.device: ", "a name without slashes");
    spec.device[0] = '\0';
    refuse_bus(&spec, -EINVAL, "links.board.device: ", "a name without slashes");
}

static void test_there_is_no_third_side(void)
{
    join();
    refuse_bus(&spec, -EBUSY, "links.board.device: both sides", "choose another name");
}

static void test_a_peer_that_comes_back_receives_nothing_old(void)
{
    struct io_packet packet;
    join();
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "old", 3, false));
    io_bus_close(&b);
    io_bus_tick(&a, 0);
    TEST_ASSERT_FALSE(io_bus_connected(&a));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&a).losses);
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&a, nobody, "lost", 4, false));
    open_bus(&b, &spec);
    io_bus_tick(&a, 0);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "new", 3, false));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_MEMORY("new", packet.bytes, 3);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&a).connects);
}

static void test_the_first_side_can_come_back_too(void)
{
    struct io_packet packet;
    join();
    io_bus_close(&a);
    open_bus(&a, &spec);
    TEST_ASSERT_TRUE(io_bus_connected(&a));
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "again", 5, false));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_MEMORY("again", packet.bytes, 5);
}

static void test_the_name_goes_with_the_last_one(void)
{
    join();
    io_bus_close(&a);
    TEST_ASSERT_EQUAL(0, access(path, F_OK));
    io_bus_close(&b);
    TEST_ASSERT_EQUAL(-1, access(path, F_OK));
}

static void test_a_killed_process_leaves_its_place(void)
{
    open_bus(&a, &spec);
    const pid_t child = fork();
    if (child == 0) {
        char error[IO_BUS_ERROR_MAX];
        struct io_bus other;
        if (io_bus_open(&other, &spec, error) < 0)
            _exit(1);
        (void)io_bus_send(&other, nobody, "child", 5, false);
        _exit(0); /* the process ends without a close */
    }
    int status = -1;
    struct io_packet packet;
    TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL(0, status);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&a, &packet));
    TEST_ASSERT_EQUAL_MEMORY("child", packet.bytes, 5);
    io_bus_tick(&a, 0);
    TEST_ASSERT_FALSE(io_bus_connected(&a));
    open_bus(&b, &spec);
}

static void test_a_liar_costs_an_error_and_the_ring_goes_on(void)
{
    struct io_packet packet;
    join();
    const uint32_t lengths[] = {IO_DATAGRAM_MAX + 1, 0xffffffff, 9};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const uint64_t at = a.shm.out.at & (IO_SHM_RING_SIZE - 1);
        TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "12345678", 8, false));
        memcpy(a.shm.out.bytes + at, &lengths[i], 4);
        TEST_ASSERT_EQUAL(-EBADMSG, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "sound", 5, false));
        TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL_MEMORY("sound", packet.bytes, 5);
    }
    static const unsigned char longest[IO_DATAGRAM_MAX];
    const uint32_t longer = IO_DATAGRAM_MAX + 1;
    const uint64_t at = a.shm.out.at & (IO_SHM_RING_SIZE - 1);
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, longest, sizeof longest, false));
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, longest, sizeof longest, false));
    memcpy(a.shm.out.bytes + at, &longer, 4); /* so many bytes are in the ring */
    TEST_ASSERT_EQUAL(-EBADMSG, io_bus_receive(&b, &packet));
    const uint64_t heads[] = {8, 16 + IO_SHM_RING_SIZE, 13, UINT64_MAX};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        atomic_store(&b.shm.in.ring->head, b.shm.in.at + heads[i]);
        TEST_ASSERT_EQUAL(-EBADMSG, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet)); /* the error is returned once */
    }
    atomic_store(&a.shm.out.ring->tail, a.shm.out.at + 8);
    TEST_ASSERT_EQUAL(-EAGAIN, io_bus_send(&a, nobody, "x", 1, false));
}

static void test_the_emergency_message_passes_a_full_ring_and_is_received_once(void)
{
    unsigned char message[2000] = {0};
    struct io_packet packet = {0};
    join();
    while (io_bus_send(&a, nobody, message, sizeof message, false) == 0)
        ;
    io_bus_send_emergency(&a, nobody, "safe", 4);
    int status, count = 0;
    while ((status = io_bus_receive(&b, &packet)) == 1 && packet.size == sizeof message)
        count++;
    TEST_ASSERT_GREATER_THAN(20, count);
    TEST_ASSERT_EQUAL(1, status);
    TEST_ASSERT_EQUAL_size_t(4, packet.size);
    TEST_ASSERT_EQUAL_MEMORY("safe", packet.bytes, 4);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
    io_bus_send_emergency(&a, nobody, "again", 5);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_MEMORY("again", packet.bytes, 5);
    atomic_fetch_or(&a.shm.out.ring->emergency_sequence, 1); /* as if a writer never finished */
    io_bus_send_emergency(&a, nobody, "third", 5);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
}

/* The bus can be used as in a run, and reports that the far end is lost. */
static void expect_lost(struct io_bus *bus)
{
    struct io_packet packet;
    (void)io_bus_send(bus, nobody, "into the void", 13, false);
    (void)io_bus_receive(bus, &packet); /* an old message may still be there */
    io_bus_send_emergency(bus, nobody, "last words", 10);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(IO_SHM_RING_SIZE, io_bus_backlog(bus));
    io_bus_tick(bus, 0);
    TEST_ASSERT_FALSE(io_bus_connected(bus));
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(bus, nobody, "again", 5, false));
    TEST_ASSERT_EQUAL(0, io_bus_receive(bus, &packet));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(bus).losses);
}

static void test_a_peer_that_truncates_the_file_is_gone_and_kills_no_process(void)
{
    static const off_t left[] = {0, 1, 64, 4096, IO_SHM_SIZE / 2, IO_SHM_SIZE - 1};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        join();
        TEST_ASSERT_EQUAL(0, io_bus_send(&b, nobody, "hello", 5, false));
        TEST_ASSERT_EQUAL(0, truncate(path, left[i]));
        expect_lost(&a);
        tearDown();
        setUp();
    }
}

/* The tick notices the truncation although no page was touched. */
static void test_a_truncation_is_detected_before_anything_is_touched(void)
{
    join();
    TEST_ASSERT_EQUAL(0, truncate(path, IO_SHM_SIZE - 4096));
    io_bus_tick(&a, 0);
    TEST_ASSERT_FALSE(io_bus_connected(&a));
}

/* A file that was truncated and extended again has its old length, but is empty. */
static void test_a_file_that_was_cut_and_grew_again_is_no_danger(void)
{
    struct io_packet packet;
    join();
    TEST_ASSERT_EQUAL(0, io_bus_send(&b, nobody, "hello", 5, false));
    TEST_ASSERT_EQUAL(0, truncate(path, 0));
    TEST_ASSERT_EQUAL(0, truncate(path, IO_SHM_SIZE));
    for (int i = 0; i < 100; i++) {
        (void)io_bus_send(&a, nobody, "on", 2, false);
        TEST_ASSERT_LESS_OR_EQUAL(0, io_bus_receive(&a, &packet));
        io_bus_tick(&a, 0);
    }
}

static void test_a_header_is_valid_in_all_its_sizes(void)
{
    static unsigned char memory[IO_SHM_SIZE];
    struct io_shm_header good, header;
    io_shm_format(memory);
    memcpy(&good, memory, sizeof good);
    TEST_ASSERT_EQUAL(0, io_shm_check(&good, IO_SHM_SIZE));
    TEST_ASSERT_EQUAL(-EPROTO, io_shm_check(&good, sizeof good - 1));
    TEST_ASSERT_EQUAL(-EINVAL, io_shm_check(&good, sizeof good));
    TEST_ASSERT_EQUAL(-EINVAL, io_shm_check(&good, IO_SHM_SIZE - 1));
    for (size_t i = 0; i < sizeof good.magic; i++) {
        header = good;
        header.magic[i] ^= 1;
        TEST_ASSERT_EQUAL(-EPROTO, io_shm_check(&header, IO_SHM_SIZE));
    }
    header = good;
    header.version = 0;
    TEST_ASSERT_EQUAL(-EPROTONOSUPPORT, io_shm_check(&header, IO_SHM_SIZE));
    header = good;
    header.header_size = 65;
    TEST_ASSERT_EQUAL(-EINVAL, io_shm_check(&header, IO_SHM_SIZE));
    header = good;
    header.message_max--;
    TEST_ASSERT_EQUAL(-EINVAL, io_shm_check(&header, IO_SHM_SIZE));
    header = good;
    header.total_size++;
    TEST_ASSERT_EQUAL(-EINVAL, io_shm_check(&header, IO_SHM_SIZE));
    TEST_ASSERT_EQUAL(-EINVAL, io_shm_check(&header, IO_SHM_SIZE + 1));
    static const struct {
        uint32_t ring_size;
        int status;
    } rings[] = {{4096, 0}, {2048, -EINVAL}, {0, -EINVAL}, {12288, -EINVAL}, {131072, 0}};
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
        header = good;
        header.ring_size = rings[i].ring_size;
        header.total_size = IO_SHM_DATA_AT + 2 * (uint64_t)rings[i].ring_size;
        TEST_ASSERT_EQUAL(rings[i].status, io_shm_check(&header, (size_t)header.total_size));
    }
}

/* Records of 16 + 112 bytes: 512 of them fill the ring to its last byte. */
static void test_a_ring_can_be_full_to_its_last_byte(void)
{
    unsigned char message[112];
    struct io_packet packet;
    join();
    for (int i = 0; i < 512; i++) {
        memset(message, i & 0xff, sizeof message);
        TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, message, sizeof message, false));
    }
    TEST_ASSERT_EQUAL_size_t(IO_SHM_RING_SIZE, io_bus_backlog(&a));
    TEST_ASSERT_EQUAL(-EAGAIN, io_bus_send(&a, nobody, "", 0, false));
    for (int i = 0; i < 512; i++) {
        TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
        TEST_ASSERT_EQUAL_size_t(112, packet.size);
        TEST_ASSERT_EACH_EQUAL_HEX8(i & 0xff, packet.bytes, 112);
    }
    TEST_ASSERT_EQUAL(0, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_size_t(0, io_bus_backlog(&a));
}

static void test_a_message_has_the_time_of_its_writing_and_its_sender(void)
{
    struct timespec before, after;
    struct io_packet packet;
    join();
    (void)clock_gettime(CLOCK_REALTIME, &before);
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "tick", 4, false));
    (void)clock_gettime(CLOCK_REALTIME, &after);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_TRUE(packet.whole);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(
        (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec, packet.stamp_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64((uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec,
                                     packet.stamp_ns);
}

static void test_the_emergency_message_has_a_greatest_length(void)
{
    unsigned char words[IO_EMERGENCY_MAX], heard[IO_EMERGENCY_MAX];
    size_t size = 0;
    join();
    memset(words, 'w', sizeof words);
    io_bus_send_emergency(&a, nobody, words, sizeof words);
    TEST_ASSERT_TRUE(io_shm_pull_emergency(&b.shm.in, heard, &size));
    TEST_ASSERT_EQUAL_size_t(IO_EMERGENCY_MAX, size);
    TEST_ASSERT_EQUAL_MEMORY(words, heard, IO_EMERGENCY_MAX);
    io_bus_send_emergency(&a, nobody, words, 1);
    a.shm.out.ring->emergency_size = IO_EMERGENCY_MAX + 1; /* an impossible size */
    TEST_ASSERT_FALSE(io_shm_pull_emergency(&b.shm.in, heard, &size));
    TEST_ASSERT_EQUAL_size_t(0, size);
    a.shm.out.ring->emergency_size = 1;
    TEST_ASSERT_FALSE(
        io_shm_pull_emergency(&b.shm.in, heard, &size)); /* the message counts as read */
}

static void test_a_name_may_begin_with_a_slash(void)
{
    struct io_bus_spec other = spec;
    struct io_packet packet;
    (void)snprintf(other.device, sizeof other.device, "/airbearing-test-%d", (int)getpid());
    open_bus(&a, &spec);
    open_bus(&b, &other);
    TEST_ASSERT_TRUE(io_bus_connected(&b));
    io_bus_tick(&a, 0);
    TEST_ASSERT_EQUAL(0, io_bus_send(&a, nobody, "same", 4, false));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&b, &packet));
    TEST_ASSERT_EQUAL_MEMORY("same", packet.bytes, 4);
    (void)snprintf(other.device, sizeof other.device, "/");
    refuse_bus(&other, -EINVAL, "links.board.device: ", "a name without slashes");
    (void)snprintf(other.device, sizeof other.device, "//a");
    refuse_bus(&other, -EINVAL, "links.board.device: ", "a name without slashes");
}

static int next_descriptor(void)
{
    const int fd = dup(0);
    (void)close(fd);
    return fd;
}

/* A file that ends within the header, and one that is only a header of zeros. */
static void test_a_file_that_is_no_layout_is_refused_and_let_go(void)
{
    static const unsigned char zeros[sizeof(struct io_shm_header)];
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const int next = next_descriptor();
    TEST_ASSERT_EQUAL(63, write(fd, zeros, 63));
    refuse_bus(&spec, -EPROTO, "links.board.device: ", "is not shared memory of this program;");
    TEST_ASSERT_EQUAL(1, write(fd, zeros, 1));
    refuse_bus(&spec, -EPROTO, "links.board.device: ", "is not shared memory of this program;");
    TEST_ASSERT_EQUAL(next, next_descriptor());
    (void)close(fd);
}

static void test_memory_that_cannot_be_created_is_refused(void)
{
    struct rlimit before, small;
    (void)signal(SIGXFSZ, SIG_IGN);
    TEST_ASSERT_EQUAL(0, getrlimit(RLIMIT_FSIZE, &before));
    small = before;
    small.rlim_cur = IO_SHM_SIZE - 1;
    const int next = next_descriptor();
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_FSIZE, &small));
    refuse_bus(&spec, -ENOSPC, "links.board.device: cannot use shared memory /dev/shm/airbearing-",
               ": No space left on device");
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_FSIZE, &before));
    TEST_ASSERT_EQUAL(next, next_descriptor());
    TEST_ASSERT_EQUAL(-1, access(path, F_OK));
    open_bus(&a, &spec); /* a later open finds room */
}

static int fill_guards(unsigned char others[RT_GUARDED_MAPPING_MAX], atomic_bool *gone)
{
    int count = 0;
    while (count < RT_GUARDED_MAPPING_MAX && rt_guarded_mapping_add(&others[count], 1, gone))
        count++;
    return count;
}

/* Unguarded memory could end the run with SIGBUS, so it is refused. */
static void test_memory_that_cannot_be_guarded_is_refused(void)
{
    static unsigned char others[RT_GUARDED_MAPPING_MAX];
    atomic_bool gone = false;
    int count = fill_guards(others, &gone);
    const int next = next_descriptor();
    refuse_bus(&spec, -ENOMEM, "links.board.device: cannot use shared memory /dev/shm/airbearing-",
               ": Cannot allocate memory");
    TEST_ASSERT_EQUAL(next, next_descriptor());
    while (count > 0)
        rt_guarded_mapping_remove(&others[--count]);
}

/* A file of zeros would be refused by every later open. */
static void test_a_failed_mapping_leaves_no_file_behind(void)
{
    static unsigned char others[RT_GUARDED_MAPPING_MAX];
    atomic_bool gone = false;
    int count = fill_guards(others, &gone);
    refuse_bus(&spec, -ENOMEM, "links.board.device: cannot use shared memory /dev/shm/airbearing-",
               ": Cannot allocate memory");
    TEST_ASSERT_EQUAL(-1, access(path, F_OK));
    TEST_ASSERT_EQUAL(ENOENT, errno);
    while (count > 0)
        rt_guarded_mapping_remove(&others[--count]);
    join(); /* both sides can be opened without removing a file by hand */
}

/* A file that another process has made is not ours to remove. */
static void test_a_failed_mapping_keeps_the_file_of_the_other_side(void)
{
    static unsigned char others[RT_GUARDED_MAPPING_MAX];
    atomic_bool gone = false;
    open_bus(&a, &spec);
    int count = fill_guards(others, &gone);
    refuse_bus(&spec, -ENOMEM, "links.board.device: cannot use shared memory /dev/shm/airbearing-",
               ": Cannot allocate memory");
    TEST_ASSERT_EQUAL(0, access(path, F_OK));
    while (count > 0)
        rt_guarded_mapping_remove(&others[--count]);
    open_bus(&b, &spec);
    TEST_ASSERT_TRUE(io_bus_connected(&b));
}

/* A process is stopped in the middle of its open. */
static void test_a_process_that_finds_the_layout_locked_for_ever_gives_up(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 1};
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    TEST_ASSERT_EQUAL(0, fcntl(fd, F_OFD_SETLK, &lock));
    refuse_bus(&spec, -EBUSY, "links.board.device: both sides of /dev/shm/airbearing-",
               "are taken (another run?); choose another name");
    lock.l_type = F_UNLCK;
    TEST_ASSERT_EQUAL(0, fcntl(fd, F_OFD_SETLK, &lock));
    open_bus(&a, &spec);
    open_bus(&b, &spec); /* the first open has released the lock */
    (void)close(fd);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_messages_go_both_ways_with_borders_and_times);
    RUN_TEST(test_rings_wrap_with_every_length);
    RUN_TEST(test_a_full_ring_refuses_and_loses_nothing);
    RUN_TEST(test_two_threads_see_the_same_messages_in_order);
    RUN_TEST(test_the_layout_is_the_documented_one);
    RUN_TEST(test_another_version_is_refused_clearly);
    RUN_TEST(test_memory_of_another_user_is_refused);
    RUN_TEST(test_names_with_slashes_are_refused);
    RUN_TEST(test_there_is_no_third_side);
    RUN_TEST(test_a_peer_that_comes_back_receives_nothing_old);
    RUN_TEST(test_the_first_side_can_come_back_too);
    RUN_TEST(test_the_name_goes_with_the_last_one);
    RUN_TEST(test_a_killed_process_leaves_its_place);
    RUN_TEST(test_a_liar_costs_an_error_and_the_ring_goes_on);
    RUN_TEST(test_the_emergency_message_passes_a_full_ring_and_is_received_once);
    RUN_TEST(test_a_peer_that_truncates_the_file_is_gone_and_kills_no_process);
    RUN_TEST(test_a_truncation_is_detected_before_anything_is_touched);
    RUN_TEST(test_a_file_that_was_cut_and_grew_again_is_no_danger);
    RUN_TEST(test_a_header_is_valid_in_all_its_sizes);
    RUN_TEST(test_a_ring_can_be_full_to_its_last_byte);
    RUN_TEST(test_a_message_has_the_time_of_its_writing_and_its_sender);
    RUN_TEST(test_the_emergency_message_has_a_greatest_length);
    RUN_TEST(test_a_name_may_begin_with_a_slash);
    RUN_TEST(test_a_file_that_is_no_layout_is_refused_and_let_go);
    RUN_TEST(test_memory_that_cannot_be_created_is_refused);
    RUN_TEST(test_memory_that_cannot_be_guarded_is_refused);
    RUN_TEST(test_a_failed_mapping_leaves_no_file_behind);
    RUN_TEST(test_a_failed_mapping_keeps_the_file_of_the_other_side);
    RUN_TEST(test_a_process_that_finds_the_layout_locked_for_ever_gives_up);
    return UNITY_END();
}
