/*
 * Tapes: a round trip with a simulated clock, and every error that a tape can have.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/guarded_mapping.h"
#include "tests/io/wait.h"
#include "unity.h"

static char path[] = "/tmp/test_tape_XXXXXX";
static uint64_t time_ns;
static struct io_bus tape;
static struct io_bus_spec spec;
static const struct io_address nobody = {0};

static uint64_t tell(void *self)
{
    return *(const uint64_t *)self;
}

static const struct rt_clock clock_of_ours = {.now_ns = tell, .self = &time_ns};

void setUp(void)
{
    (void)snprintf(path, sizeof path, "/tmp/test_tape_XXXXXX");
    (void)close(mkstemp(path));
    time_ns = 1000;
    memset(&tape, 0, sizeof tape);
    spec = (struct io_bus_spec){.kind = IO_BUS_TAPE, .name = "board", .clock = &clock_of_ours};
    (void)snprintf(spec.device, sizeof spec.device, "%s", path);
}

void tearDown(void)
{
    io_bus_close(&tape);
    (void)unlink(path);
}

/* Tapes are written by hand, from the published format. */
struct wire_tape {
    unsigned char bytes[4096];
    size_t size;
};

static void put(struct wire_tape *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to->bytes[to->size++] = (unsigned char)(value >> (8 * i));
}

static void begin(struct wire_tape *to)
{
    memcpy(to->bytes, "AIRBTAPE", 8);
    to->size = 8;
    put(to, 1, 4);
    put(to, 0, 4);
}

static void add(struct wire_tape *to, uint64_t at_ns, const char *text)
{
    put(to, at_ns, 8);
    put(to, strlen(text), 4);
    put(to, 0, 4);
    memcpy(to->bytes + to->size, text, strlen(text));
    to->size += strlen(text);
}

static void store(const struct wire_tape *from)
{
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    TEST_ASSERT_EQUAL(from->size, write(fd, from->bytes, from->size));
    (void)close(fd);
}

static void expect(const char *text)
{
    struct io_packet packet;
    TEST_ASSERT_EQUAL(1, io_bus_receive(&tape, &packet));
    TEST_ASSERT_EQUAL_size_t(strlen(text), packet.size);
    TEST_ASSERT_EQUAL_MEMORY(text, packet.bytes, packet.size);
    TEST_ASSERT_TRUE(packet.whole);
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_address_far_end), io_address_pack(packet.from));
}

static void test_packets_come_at_their_times_after_the_first_look(void)
{
    struct wire_tape wire;
    struct io_packet packet;
    begin(&wire);
    add(&wire, 0, "zero");
    add(&wire, 500, "half");
    add(&wire, 500, "same");
    add(&wire, 1000, "late");
    store(&wire);
    open_bus(&tape, &spec);
    time_ns = 77777; /* the tape begins at the first receive, not at the open */
    expect("zero");
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    time_ns += 499;
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    time_ns += 1;
    expect("half");
    expect("same");
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    TEST_ASSERT_TRUE(io_bus_connected(&tape));
    time_ns += 100000;
    expect("late");
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    TEST_ASSERT_FALSE(io_bus_connected(&tape)); /* the end of the tape */
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    TEST_ASSERT_EQUAL_UINT64(4, counters_of(&tape).rx);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&tape).losses);
}

static void test_what_is_sent_to_a_tape_is_counted_and_forgotten(void)
{
    struct wire_tape wire;
    begin(&wire);
    store(&wire);
    open_bus(&tape, &spec);
    TEST_ASSERT_EQUAL(0, io_bus_send(&tape, nobody, "sensor", 6, true));
    TEST_ASSERT_EQUAL_UINT64(6, counters_of(&tape).tx_bytes);
    io_bus_send_emergency(&tape, nobody, "safe", 4);
}

static void test_a_recording_is_the_published_format(void)
{
    struct io_tape_writer writer;
    struct wire_tape wire;
    unsigned char bytes[4096];
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 4096, &clock_of_ours));
    time_ns += 5;
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "first", 5));
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "", 0)); /* an empty packet is left out */
    time_ns += 300;
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "second", 6));
    time_ns -= 100; /* the times of the tape do not go back with the clock */
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "third", 5));
    io_tape_writer_close(&writer);
    io_tape_writer_close(&writer);
    begin(&wire);
    add(&wire, 5, "first");
    add(&wire, 305, "second");
    add(&wire, 305, "third");
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    TEST_ASSERT_EQUAL(wire.size, read(fd, bytes, sizeof bytes));
    TEST_ASSERT_EQUAL_MEMORY(wire.bytes, bytes, wire.size);
    (void)close(fd);
}

static void test_a_recording_plays_back_with_its_times(void)
{
    struct io_tape_writer writer;
    struct io_packet packet;
    unsigned char bytes[IO_DATAGRAM_MAX];
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 1 << 20, &clock_of_ours));
    for (size_t i = 1; i <= 200; i++) {
        time_ns += i;
        memset(bytes, (int)i, sizeof bytes);
        TEST_ASSERT_TRUE(io_tape_writer_append(&writer, bytes, i * 10));
    }
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, bytes, IO_DATAGRAM_MAX + 1));
    io_tape_writer_close(&writer);
    open_bus(&tape, &spec);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
    for (size_t i = 1; i <= 200; i++) {
        time_ns += i - 1;
        TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
        time_ns += 1;
        TEST_ASSERT_EQUAL(1, io_bus_receive(&tape, &packet));
        TEST_ASSERT_EQUAL_size_t(i * 10, packet.size);
        TEST_ASSERT_EACH_EQUAL_HEX8(i, packet.bytes, packet.size);
    }
}

static void test_a_full_tape_keeps_what_it_has(void)
{
    struct io_tape_writer writer;
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 16 + 2 * 20, &clock_of_ours));
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "1234", 4));
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, "12345", 5));
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "1234", 4));
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, "1", 1));
    io_tape_writer_close(&writer);
    open_bus(&tape, &spec);
    expect("1234");
    expect("1234");
}

static void test_a_recording_that_is_truncated_ends_there(void)
{
    struct io_tape_writer writer;
    struct stat file;
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 1 << 20, &clock_of_ours));
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "one", 3));
    TEST_ASSERT_EQUAL(0, truncate(path, 0));
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, "two", 3));
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, "three", 5));
    io_tape_writer_close(&writer);
    TEST_ASSERT_EQUAL(0, stat(path, &file));
    TEST_ASSERT_EQUAL_INT64(0, file.st_size);
}

static void test_a_recording_of_a_killed_program_plays_up_to_its_end(void)
{
    for (size_t zeros = 1; zeros < 40; zeros++) {
        struct wire_tape wire;
        struct io_packet packet;
        begin(&wire);
        add(&wire, 10, "only");
        for (size_t i = 0; i < zeros; i++)
            put(&wire, 0, 1);
        store(&wire);
        open_bus(&tape, &spec);
        (void)io_bus_receive(&tape, &packet);
        time_ns += 10;
        expect("only");
        TEST_ASSERT_EQUAL(0, io_bus_receive(&tape, &packet));
        io_bus_close(&tape);
    }
}

static void refuse_tape(const struct wire_tape *wire, const char *where, const char *what)
{
    char line[128];
    store(wire);
    (void)snprintf(line, sizeof line, "links.board.device: %s: %s", path, where);
    refuse_bus(&spec, -EBADMSG, line, what);
}

static void test_a_corrupt_tape_is_refused_with_the_byte(void)
{
    struct wire_tape wire;
    begin(&wire);
    add(&wire, 1000, "first");
    add(&wire, 1000, "second");
    const struct wire_tape sound = wire;
    wire.bytes[0] = 'B';
    refuse_tape(&wire, "byte 0: ", "not a tape");
    wire = sound;
    wire.size = 15;
    refuse_tape(&wire, "byte 0: ", "not a tape");
    wire = sound;
    wire.bytes[8] = 2;
    refuse_tape(&wire, "byte 8: ", "version 2; this program plays version 1");
    wire = sound;
    wire.bytes[12] = 7;
    refuse_tape(&wire, "byte 12: ", "7 in a field that must be zero");
    wire = sound;
    wire.bytes[28] = 9;
    refuse_tape(&wire, "byte 28: ", "9 in a field that must be zero");
    wire = sound;
    wire.bytes[25] = 0x80;
    refuse_tape(&wire, "byte 24: ", "a packet of 32773 bytes");
    wire = sound;
    wire.bytes[24] = 28;
    refuse_tape(&wire, "byte 16: ", "truncate -s 16");
    wire = sound;
    wire.bytes[37] = 0xe7; /* 1000 becomes 999 */
    refuse_tape(&wire, "byte 37: ", "the time of the record goes back to 999 ns");
    wire = sound;
    wire.size -= 1;
    refuse_tape(&wire, "byte 37: ", "ends inside a packet; `truncate -s 37`");
    wire.size = 37 + 15;
    refuse_tape(&wire, "byte 37: ", "ends inside a record; `truncate -s 37`");
    wire.size = 37;
    store(&wire);
    open_bus(&tape, &spec); /* after the remedy of the error line */
}

static void test_a_tape_that_cannot_be_read_is_refused(void)
{
    (void)snprintf(spec.device, sizeof spec.device, "/nowhere/tape");
    refuse_bus(&spec, -ENOENT, "links.board.device: cannot read the tape /nowhere/tape", "No such");
    (void)snprintf(spec.device, sizeof spec.device, "/tmp");
    refuse_bus(&spec, -EISDIR, "links.board.device: ", "not a regular file");
}

static int next_descriptor(void)
{
    const int fd = dup(0);
    (void)close(fd);
    return fd;
}

static void test_a_recording_has_a_least_and_a_greatest_size(void)
{
    struct io_tape_writer writer;
    const int next = next_descriptor();
    TEST_ASSERT_EQUAL(-EINVAL, io_tape_writer_open(&writer, path, IO_TAPE_HEADER - 1, NULL));
    TEST_ASSERT_EQUAL(-EINVAL, io_tape_writer_open(&writer, path, IO_TAPE_SIZE_MAX + 1ul, NULL));
    TEST_ASSERT_EQUAL(next, next_descriptor());
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, IO_TAPE_HEADER, NULL));
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, "1", 1));
    io_tape_writer_close(&writer);
    TEST_ASSERT_EQUAL(next, next_descriptor());
    open_bus(&tape, &spec); /* an empty tape */
}

static void test_a_recording_that_cannot_be_created_is_refused(void)
{
    static unsigned char others[RT_GUARDED_MAPPING_MAX];
    struct io_tape_writer writer;
    struct rlimit before, small;
    atomic_bool gone = false;
    int count = 0;
    const int next = next_descriptor();
    TEST_ASSERT_EQUAL(-ENOENT, io_tape_writer_open(&writer, "/nowhere/tape", 4096, NULL));
    (void)signal(SIGXFSZ, SIG_IGN);
    TEST_ASSERT_EQUAL(0, getrlimit(RLIMIT_FSIZE, &before));
    small = before;
    small.rlim_cur = 4095;
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_FSIZE, &small));
    const int status = io_tape_writer_open(&writer, path, 4096, NULL);
    TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_FSIZE, &before));
    TEST_ASSERT_EQUAL(-EFBIG, status);
    while (count < RT_GUARDED_MAPPING_MAX && rt_guarded_mapping_add(&others[count], 1, &gone))
        count++;
    TEST_ASSERT_EQUAL(-ENOMEM, io_tape_writer_open(&writer, path, 4096, NULL));
    while (count > 0)
        rt_guarded_mapping_remove(&others[--count]);
    TEST_ASSERT_EQUAL(next, next_descriptor());
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 4096, NULL));
    io_tape_writer_close(&writer);
}

static void test_the_longest_packet_is_recorded_and_played(void)
{
    static unsigned char longest[IO_DATAGRAM_MAX + 1];
    struct io_tape_writer writer;
    struct io_packet packet;
    memset(longest, 'l', sizeof longest);
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 1 << 16, &clock_of_ours));
    TEST_ASSERT_FALSE(io_tape_writer_append(&writer, longest, IO_DATAGRAM_MAX + 1));
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, longest, IO_DATAGRAM_MAX));
    io_tape_writer_close(&writer);
    open_bus(&tape, &spec);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&tape, &packet));
    TEST_ASSERT_EQUAL_size_t(IO_DATAGRAM_MAX, packet.size);
    TEST_ASSERT_EQUAL_MEMORY(longest, packet.bytes, packet.size);
    TEST_ASSERT_EQUAL(0, io_bus_send(&tape, nobody, longest, IO_DATAGRAM_MAX, false));
    TEST_ASSERT_EQUAL(-EMSGSIZE, io_bus_send(&tape, nobody, longest, IO_DATAGRAM_MAX + 1, false));
}

/* The tape lies at the end of accessible memory. */
static int check_exact(const struct wire_tape *wire, size_t size, char error[IO_TAPE_ERROR_MAX])
{
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    memcpy(bytes, wire->bytes, size);
    const int status = io_tape_check(bytes, size, error);
    free(bytes);
    return status;
}

static void test_a_tape_is_valid_between_its_packets_and_nowhere_else(void)
{
    char error[IO_TAPE_ERROR_MAX];
    struct wire_tape wire;
    begin(&wire);
    add(&wire, 1, "first");
    const size_t second = wire.size;
    add(&wire, 2, "second");
    for (size_t size = 0; size <= wire.size; size++) {
        char line[IO_TAPE_ERROR_MAX];
        const int status = check_exact(&wire, size, error);
        if (size == 16 || size == second || size == wire.size) {
            TEST_ASSERT_EQUAL(0, status);
            continue;
        }
        TEST_ASSERT_EQUAL(-EBADMSG, status);
        const size_t at = size < second ? 16 : second;
        if (size < 16)
            snprintf(line, sizeof line, "byte 0: this is not a tape (a tape begins with AIRBTAPE)");
        else
            snprintf(line, sizeof line,
                     "byte %zu: the tape ends inside a %s; `truncate -s %zu` keeps what is before",
                     at, size < at + 16 ? "record" : "packet", at);
        TEST_ASSERT_EQUAL_STRING(line, error);
    }
}

static void test_a_packet_is_as_long_as_any_and_no_longer(void)
{
    static unsigned char bytes[16 + 16 + IO_DATAGRAM_MAX + 1];
    char error[IO_TAPE_ERROR_MAX];
    struct wire_tape wire;
    for (uint32_t size = IO_DATAGRAM_MAX; size <= IO_DATAGRAM_MAX + 1; size++) {
        begin(&wire);
        put(&wire, 1, 8);
        put(&wire, size, 4);
        put(&wire, 0, 4);
        memcpy(bytes, wire.bytes, wire.size);
        TEST_ASSERT_EQUAL(size == IO_DATAGRAM_MAX ? 0 : -EBADMSG,
                          io_tape_check(bytes, 32 + size, error));
    }
    TEST_ASSERT_EQUAL_STRING("byte 24: a packet of 2049 bytes is longer than the limit of 2048",
                             error);
}

static void test_a_tape_that_is_too_large_is_refused(void)
{
    TEST_ASSERT_EQUAL(0, truncate(path, (off_t)IO_TAPE_SIZE_MAX + 1)); /* a sparse file */
    refuse_bus(&spec, -EFBIG, "links.board.device: cannot read the tape ", ": File too large");
}

static void test_without_a_clock_a_tape_plays_by_the_machine_s(void)
{
    struct io_tape_writer writer;
    struct wire_tape wire;
    spec.clock = NULL;
    TEST_ASSERT_EQUAL(0, io_tape_writer_open(&writer, path, 4096, NULL));
    TEST_ASSERT_TRUE(io_tape_writer_append(&writer, "now", 3));
    TEST_ASSERT_LESS_THAN_UINT64(UINT64_C(3600) * 1000000000,
                                 writer.last_ns); /* counted from the start of the tape */
    io_tape_writer_close(&writer);
    begin(&wire);
    add(&wire, 0, "at once");
    store(&wire);
    open_bus(&tape, &spec);
    expect("at once");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_packets_come_at_their_times_after_the_first_look);
    RUN_TEST(test_what_is_sent_to_a_tape_is_counted_and_forgotten);
    RUN_TEST(test_a_recording_is_the_published_format);
    RUN_TEST(test_a_recording_plays_back_with_its_times);
    RUN_TEST(test_a_full_tape_keeps_what_it_has);
    RUN_TEST(test_a_recording_of_a_killed_program_plays_up_to_its_end);
    RUN_TEST(test_a_recording_that_is_truncated_ends_there);
    RUN_TEST(test_a_corrupt_tape_is_refused_with_the_byte);
    RUN_TEST(test_a_tape_that_cannot_be_read_is_refused);
    RUN_TEST(test_a_recording_has_a_least_and_a_greatest_size);
    RUN_TEST(test_a_recording_that_cannot_be_created_is_refused);
    RUN_TEST(test_the_longest_packet_is_recorded_and_played);
    RUN_TEST(test_a_tape_is_valid_between_its_packets_and_nowhere_else);
    RUN_TEST(test_a_packet_is_as_long_as_any_and_no_longer);
    RUN_TEST(test_a_tape_that_is_too_large_is_refused);
    RUN_TEST(test_without_a_clock_a_tape_plays_by_the_machine_s);
    return UNITY_END();
}
