/*
 * The log file: what the writer writes the reader reads, and what no writer wrote it refuses.
 *
 * Files by other hands are forged here with an encoder of this test's own, so that a mistake shared
 * by writer and reader does not pass; tests/peers has the judgement of readers nobody here wrote.
 */
#include "io/telemetry/mcap.h"
#include "io/telemetry/mcap_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "unity.h"

static char path[] = "/tmp/test_mcap_XXXXXX";
static char error[256];
static struct io_mcap_writer writer;

void setUp(void)
{
    strcpy(path, "/tmp/test_mcap_XXXXXX");
    const int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    close(fd);
    error[0] = '\0';
}

void tearDown(void)
{
    unlink(path);
}

/* ---- bytes ---- */

struct blob {
    unsigned char *data;
    size_t size;
};

static struct blob slurp(const char *name)
{
    struct stat status;
    const int fd = open(name, O_RDONLY);
    TEST_ASSERT_TRUE(fd >= 0 && fstat(fd, &status) == 0);
    struct blob blob = {.size = (size_t)status.st_size};
    blob.data = malloc(blob.size + 1);
    TEST_ASSERT_EQUAL_INT64((ssize_t)blob.size, read(fd, blob.data, blob.size));
    close(fd);
    return blob;
}

static uint64_t get(const unsigned char *at, int size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | at[size];
    return value;
}

/* An encoder that shares nothing with the writer's. */
struct forge {
    unsigned char data[1 << 16];
    size_t size;
};

static void put(struct forge *forge, uint64_t value, int size)
{
    for (; size > 0; size--, value >>= 8)
        forge->data[forge->size++] = (unsigned char)value;
}

static void put_data(struct forge *forge, const void *data, size_t size)
{
    if (size > 0)
        memcpy(forge->data + forge->size, data, size);
    forge->size += size;
}

static void put_text(struct forge *forge, const char *text)
{
    put(forge, strlen(text), 4);
    put_data(forge, text, strlen(text));
}

static void put_record(struct forge *forge, int opcode, const struct forge *content)
{
    put(forge, (uint64_t)opcode, 1);
    put(forge, content->size, 8);
    put_data(forge, content->data, content->size);
}

static void forge_head(struct forge *file)
{
    static struct forge header;
    header.size = file->size = 0;
    put_data(file, "\x89MCAP0\r\n", 8);
    put_text(&header, "");
    put_text(&header, "another writer");
    put_record(file, 0x01, &header);
}

static void forge_schema(struct forge *file, int id, const char *text)
{
    static struct forge content;
    content.size = 0;
    put(&content, (uint64_t)id, 2);
    put_text(&content, "pkg/msg/Thing");
    put_text(&content, "ros2msg");
    put_text(&content, text);
    put_record(file, 0x03, &content);
}

static void forge_channel(struct forge *file, int id, int schema, const char *topic)
{
    static struct forge content;
    content.size = 0;
    put(&content, (uint64_t)id, 2);
    put(&content, (uint64_t)schema, 2);
    put_text(&content, topic);
    put_text(&content, "cdr");
    put(&content, 0, 4);
    put_record(file, 0x04, &content);
}

static void forge_message(struct forge *file, int channel, uint64_t time, const char *data)
{
    static struct forge content;
    content.size = 0;
    put(&content, (uint64_t)channel, 2);
    put(&content, 77, 4);
    put(&content, time, 8);
    put(&content, time + 5, 8);
    put_data(&content, data, strlen(data));
    put_record(file, 0x05, &content);
}

static void forge_chunk(struct forge *file, const char *compression, uint64_t plain_size,
                        uint32_t crc, const void *stored, size_t stored_size)
{
    static struct forge content;
    content.size = 0;
    put(&content, 10, 8);
    put(&content, 20, 8);
    put(&content, plain_size, 8);
    put(&content, crc, 4);
    put_text(&content, compression);
    put(&content, stored_size, 8);
    put_data(&content, stored, stored_size);
    put_record(file, 0x06, &content);
}

static void forge_tail(struct forge *file)
{
    static struct forge content;
    content.size = 0;
    put(&content, 0, 4);
    put_record(file, 0x0f, &content);
    content.size = 0;
    put(&content, 0, 8);
    put(&content, 0, 8);
    put(&content, 0, 4);
    put_record(file, 0x02, &content);
    put_data(file, "\x89MCAP0\r\n", 8);
}

static struct forge file, chunk;

static void forge_begin(void)
{
    forge_head(&file);
    forge_schema(&file, 3, "float64 x");
    forge_channel(&file, 9, 3, "/thing");
    chunk.size = 0;
}

/* Read bytes to the end from a copy of exactly their size.  The count, or -1 (error set). */
static int count_messages(const void *bytes, size_t size, bool *complete)
{
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    struct io_mcap_reader *reader = io_mcap_open_bytes(copy, size, error);
    int count = -1;
    *complete = false;
    if (reader) {
        struct io_mcap_message message;
        int result;
        for (count = 0; (result = io_mcap_next(reader, &message, error)) == 1; count++)
            TEST_ASSERT_NOT_NULL(message.topic);
        TEST_ASSERT_EQUAL_INT(result, io_mcap_next(reader, &message, error));
        count = result == 0 ? count : -1;
        *complete = io_mcap_complete(reader);
        io_mcap_close(reader);
    }
    free(copy);
    return count;
}

static void assert_refused(const char *line)
{
    bool complete;
    TEST_ASSERT_EQUAL_INT(-1, count_messages(file.data, file.size, &complete));
    TEST_ASSERT_EQUAL_STRING(line, error);
}

/* ---- what the writer writes ---- */

static const struct io_channel_spec channels[] = {
    {.topic = "/a", .schema = "pkg/msg/A", .definition = "uint64 n # count", .payload_size = 8},
    {.topic = "/b", .schema = "pkg/msg/B", .definition = "uint8[13] x", .payload_size = 13},
    {.topic = "/c", .schema = "pkg/msg/A", .definition = "uint64 n # count", .payload_size = 8},
    {.topic = "/d", .schema = "pkg/msg/D", .definition = "uint8[3000] x", .payload_size = 3000},
};
enum { CHANNEL_COUNT = sizeof channels / sizeof channels[0] };

static const char *const pairs[] = {"seed", "42", "empty", "", NULL};
static const struct io_blob scenario = {
    .name = "scenario.yaml", .media_type = "text/yaml", .bytes = "rate: 1 kHz\n", .size = 12};
static const struct io_blob report = {
    .name = "report.json", .media_type = "application/json", .bytes = "{}", .size = 2};

static uint64_t random_state;

static uint64_t random_u64(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static struct io_chunk_message random_message(unsigned char payload[3000], uint64_t *time)
{
    const int channel = (int)(random_u64() % CHANNEL_COUNT);
    const struct io_chunk_message message = {
        .channel = channel,
        .sequence = (uint32_t)random_u64(),
        .log_ns = *time += random_u64() % 1000,
        .payload = payload,
        .size = channels[channel].payload_size,
    };
    const unsigned char mask = random_u64() % 2 ? 0xff : 0x03; /* hard and easy to compress */
    for (size_t i = 0; i < message.size; i++)
        payload[i] = (unsigned char)random_u64() & mask;
    return message;
}

static void open_writer(void)
{
    TEST_ASSERT_EQUAL_INT(
        0, io_mcap_writer_open(&writer, path, channels, CHANNEL_COUNT, pairs, &scenario, 1));
}

/* The same stream again from the same seed. */
static void assert_same_message(const struct io_mcap_message *read, uint64_t *time)
{
    static unsigned char payload[3000];
    const struct io_chunk_message sent = random_message(payload, time);
    TEST_ASSERT_EQUAL_STRING(channels[sent.channel].topic, read->topic);
    TEST_ASSERT_EQUAL_UINT32(sent.sequence, read->sequence);
    TEST_ASSERT_EQUAL_UINT64(sent.log_ns, read->log_time_ns);
    TEST_ASSERT_EQUAL_UINT64(sent.log_ns, read->publish_time_ns);
    TEST_ASSERT_EQUAL_size_t(4 + sent.size, read->size);
    TEST_ASSERT_EQUAL_MEMORY("\0\1\0\0", read->data, 4);
    TEST_ASSERT_EQUAL_MEMORY(payload, read->data + 4, sent.size);
}

static void test_what_is_written_is_read_back(void)
{
    enum { COUNT = 3000 };
    static unsigned char payload[3000];
    uint64_t time = 0;
    open_writer();
    random_state = 1;
    for (int i = 0; i < COUNT; i++) {
        const struct io_chunk_message message = random_message(payload, &time);
        io_mcap_writer_add(&writer, &message);
    }
    io_mcap_writer_close(&writer, &report, 1);
    TEST_ASSERT_EQUAL_INT(0, writer.error);
    TEST_ASSERT_EQUAL_UINT64(COUNT, writer.statistics.messages);
    TEST_ASSERT_GREATER_THAN_UINT32(5, writer.statistics.chunks);
    TEST_ASSERT_EQUAL_UINT16(3, writer.statistics.schemas); /* /a and /c share theirs */

    struct io_mcap_reader *reader = io_mcap_open(path, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    struct io_mcap_message message;
    random_state = 1;
    time = 0;
    for (int i = 0; i < COUNT; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, io_mcap_next(reader, &message, error), error);
        assert_same_message(&message, &time);
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, io_mcap_next(reader, &message, error), error);
    TEST_ASSERT_TRUE(io_mcap_complete(reader));
    io_mcap_close(reader);
}

static void test_attachments_metadata_and_schemas_are_found_by_name(void)
{
    open_writer();
    io_mcap_writer_close(&writer, &report, 1);
    struct io_mcap_reader *reader = io_mcap_open(path, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    size_t size = 0;
    TEST_ASSERT_EQUAL_MEMORY("rate: 1 kHz\n", io_mcap_attachment(reader, "scenario.yaml", &size),
                             12);
    TEST_ASSERT_EQUAL_size_t(12, size);
    TEST_ASSERT_EQUAL_MEMORY("{}", io_mcap_attachment(reader, "report.json", &size), 2);
    TEST_ASSERT_EQUAL_size_t(2, size);
    TEST_ASSERT_NULL(io_mcap_attachment(reader, "scenario", &size));
    TEST_ASSERT_EQUAL_STRING("42", io_mcap_metadata(reader, "airbearing", "seed"));
    TEST_ASSERT_EQUAL_STRING("", io_mcap_metadata(reader, "airbearing", "empty"));
    TEST_ASSERT_NULL(io_mcap_metadata(reader, "airbearing", "see"));
    TEST_ASSERT_NULL(io_mcap_metadata(reader, "other", "seed"));
    TEST_ASSERT_EQUAL_STRING("uint64 n # count", io_mcap_schema(reader, "/c"));
    TEST_ASSERT_EQUAL_STRING("uint8[13] x", io_mcap_schema(reader, "/b"));
    TEST_ASSERT_NULL(io_mcap_schema(reader, "/e"));
    io_mcap_close(reader);
}

static void test_the_writer_counts_the_bytes_of_the_file(void)
{
    open_writer();
    io_mcap_writer_close(&writer, NULL, 0);
    const struct blob log = slurp(path);
    TEST_ASSERT_EQUAL_UINT64(log.size, writer.whole);
    free(log.data);
}

/* Three chunks of 1, 2 and 3 messages. */
static struct blob small_log(void)
{
    uint64_t n = 7;
    open_writer();
    for (int c = 1; c <= 3; c++) {
        for (int i = 0; i < c; i++, n++)
            io_mcap_writer_add(&writer,
                               &(struct io_chunk_message){
                                   .channel = 2 * (i % 2), .log_ns = n, .payload = &n, .size = 8});
        io_mcap_writer_settle(&writer);
    }
    io_mcap_writer_close(&writer, &report, 1);
    TEST_ASSERT_EQUAL_UINT32(3, writer.statistics.chunks);
    return slurp(path);
}

/* Messages in the chunks that end at or before `size`, by a walk of this test's own. */
static int messages_before(struct blob log, size_t size)
{
    int chunks = 0, messages = 0;
    for (size_t at = 8; at + 9 <= size;) {
        const size_t end = at + 9 + get(log.data + at + 1, 8);
        if (end > size)
            break;
        if (log.data[at] == 0x06)
            messages += ++chunks;
        at = end;
    }
    return messages;
}

static void test_a_log_cut_at_any_byte_yields_its_whole_chunks(void)
{
    const struct blob log = small_log();
    const size_t header_end = 8 + 9 + get(log.data + 9, 8);
    for (size_t size = 0; size < log.size; size++) {
        bool complete;
        const int expected = size < header_end ? -1 : messages_before(log, size);
        TEST_ASSERT_EQUAL_INT_MESSAGE(expected, count_messages(log.data, size, &complete), error);
        TEST_ASSERT_FALSE(complete);
    }
    bool complete;
    TEST_ASSERT_EQUAL_INT(6, count_messages(log.data, log.size, &complete));
    TEST_ASSERT_TRUE(complete);
    free(log.data);
}

static void test_any_flipped_bit_is_reported(void)
{
    const struct blob log = small_log();
    for (size_t bit = 0; bit < 8 * log.size; bit++) {
        bool complete;
        log.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const int count = count_messages(log.data, log.size, &complete);
        log.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (count >= 0 && complete) {
            printf("bit %zu of byte %zu\n", bit % 8, bit / 8);
            TEST_FAIL_MESSAGE("a flipped bit went unseen");
        }
    }
    free(log.data);
}

/* ---- the disk ---- */

static void limit_file_size(rlim_t size)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void add_large(uint64_t time)
{
    static unsigned char payload[3000];
    for (size_t k = 0; k < sizeof payload; k++)
        payload[k] = (unsigned char)random_u64();
    io_mcap_writer_add(
        &writer, &(struct io_chunk_message){
                     .channel = 3, .log_ns = time, .payload = payload, .size = sizeof payload});
}

/* Six messages in three chunks, each larger than the summary, into a file of at most `size` bytes.
 */
static int write_limited(size_t size)
{
    limit_file_size(size);
    random_state = 1;
    const int refused =
        io_mcap_writer_open(&writer, path, channels, CHANNEL_COUNT, pairs, &scenario, 1);
    for (uint64_t i = 0; i < 6 && refused == 0; i++) {
        add_large(i);
        if (i % 2 == 1)
            io_mcap_writer_settle(&writer);
    }
    if (refused == 0)
        io_mcap_writer_close(&writer, NULL, 0);
    limit_file_size(RLIM_INFINITY);
    return refused;
}

/* The disk gets room again between the short write and its rest. */
static void test_a_short_write_is_continued_where_it_stopped(void)
{
    static struct io_log_file log_file;
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i % 251);
    signal(SIGXFSZ, SIG_IGN);
    TEST_ASSERT_EQUAL_INT(0, io_log_file_open(&log_file, path));
    if (!log_file.uring_open) {
        io_log_file_close(&log_file);
        TEST_IGNORE_MESSAGE("io_uring is not permitted here");
    }
    limit_file_size(600);
    io_log_file_append(&log_file, bytes, sizeof bytes);
    usleep(50000); /* the kernel tries the rest once more by itself */
    limit_file_size(RLIM_INFINITY);
    TEST_ASSERT_EQUAL_INT(0, io_log_file_settle(&log_file));
    TEST_ASSERT_EQUAL_UINT64(sizeof bytes, log_file.written);
    TEST_ASSERT_EQUAL_INT(0, io_log_file_close(&log_file));
    const struct blob log = slurp(path);
    TEST_ASSERT_EQUAL_size_t(sizeof bytes, log.size);
    TEST_ASSERT_EQUAL_MEMORY(bytes, log.data, sizeof bytes);
    free(log.data);
}

/* Whatever the size of the disk, the log holds what it says it holds. */
static void check_disk_of(size_t size, int *refused, int *cut, int *closed)
{
    if (write_limited(size) != 0) {
        TEST_ASSERT_NOT_EQUAL_INT(0, access(path, F_OK));
        ++*refused;
        return;
    }
    const struct blob log = slurp(path);
    bool complete;
    TEST_ASSERT_EQUAL_INT(-EFBIG, writer.error);
    TEST_ASSERT_EQUAL_UINT64(6, writer.statistics.messages + writer.lost);
    TEST_ASSERT_EQUAL_UINT64(log.size, writer.whole);
    TEST_ASSERT_EQUAL_INT_MESSAGE((int)writer.statistics.messages,
                                  count_messages(log.data, log.size, &complete), error);
    free(log.data);
    *cut += !complete;
    *closed += complete;
}

static void test_a_full_disk_leaves_whole_chunks_and_true_counts(void)
{
    signal(SIGXFSZ, SIG_IGN);
    TEST_ASSERT_EQUAL_INT(0, write_limited(1 << 20));
    const struct blob log = slurp(path);
    int refused = 0, cut = 0, closed = 0;
    for (size_t size = 0; size < log.size; size += 101)
        check_disk_of(size, &refused, &cut, &closed);
    for (size_t at = 8; at < log.size - 8; at += 9 + get(log.data + at + 1, 8)) {
        check_disk_of(at, &refused, &cut, &closed); /* a record just fits */
        check_disk_of(at - 1, &refused, &cut, &closed);
    }
    free(log.data);
    TEST_ASSERT_GREATER_THAN_INT(0, refused);
    TEST_ASSERT_GREATER_THAN_INT(0, cut);
    TEST_ASSERT_GREATER_THAN_INT(0, closed);
}

static void test_a_full_disk_costs_the_open_chunk_too(void)
{
    signal(SIGXFSZ, SIG_IGN);
    open_writer();
    add_large(0);
    io_mcap_writer_settle(&writer);
    limit_file_size(10000);
    for (uint64_t i = 1; i <= 100; i++) /* a chunk and a little of the next */
        add_large(i);
    TEST_ASSERT_GREATER_THAN_UINT32(0, writer.chunk.entry_count);
    while (writer.error == 0)
        io_mcap_writer_poll(&writer);
    add_large(101);
    io_mcap_writer_close(&writer, NULL, 0);
    limit_file_size(RLIM_INFINITY);
    TEST_ASSERT_EQUAL_UINT64(1, writer.statistics.messages);
    TEST_ASSERT_EQUAL_UINT64(101, writer.lost);
}

static void test_a_late_attachment_that_does_not_fit_is_left_out(void)
{
    static const unsigned char large[100000];
    const struct io_blob blob = {
        .name = "large", .media_type = "", .bytes = large, .size = sizeof large};
    signal(SIGXFSZ, SIG_IGN);
    open_writer();
    limit_file_size(10000);
    io_mcap_writer_close(&writer, &blob, 1);
    limit_file_size(RLIM_INFINITY);
    TEST_ASSERT_EQUAL_INT(-EFBIG, writer.error);
    TEST_ASSERT_EQUAL_UINT32(1, writer.statistics.attachments);
    struct io_mcap_reader *reader = io_mcap_open(path, error);
    size_t size;
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_TRUE(io_mcap_complete(reader));
    TEST_ASSERT_NULL(io_mcap_attachment(reader, "large", &size));
    io_mcap_close(reader);
}

static void test_a_log_on_a_full_device_is_refused(void)
{
    TEST_ASSERT_EQUAL_INT(-ENOSPC, io_mcap_writer_open(&writer, "/dev/full", channels,
                                                       CHANNEL_COUNT, pairs, NULL, 0));
    TEST_ASSERT_EQUAL_INT(0, access("/dev/full", F_OK));
    TEST_ASSERT_EQUAL_INT(-ENOENT, io_mcap_writer_open(&writer, "/nowhere/at/all", channels,
                                                       CHANNEL_COUNT, pairs, NULL, 0));
}

/* ---- files by other hands ---- */

static void test_plain_chunks_with_their_own_definitions_are_read(void)
{
    forge_head(&file);
    chunk.size = 0;
    forge_schema(&chunk, 3, "float64 x");
    forge_channel(&chunk, 9, 3, "/thing");
    forge_message(&chunk, 9, 15, "data");
    forge_chunk(&file, "", chunk.size, (uint32_t)crc32(0, chunk.data, (uInt)chunk.size), chunk.data,
                chunk.size);
    forge_tail(&file);

    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    struct io_mcap_message message;
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_EQUAL_INT(1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_STRING("/thing", message.topic);
    TEST_ASSERT_EQUAL_UINT16(9, message.channel);
    TEST_ASSERT_EQUAL_UINT32(77, message.sequence);
    TEST_ASSERT_EQUAL_UINT64(15, message.log_time_ns);
    TEST_ASSERT_EQUAL_UINT64(20, message.publish_time_ns);
    TEST_ASSERT_EQUAL_size_t(4, message.size);
    TEST_ASSERT_EQUAL_MEMORY("data", message.data, 4);
    TEST_ASSERT_EQUAL_INT(0, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_STRING("float64 x", io_mcap_schema(reader, "/thing"));
    TEST_ASSERT_TRUE(io_mcap_complete(reader));
    io_mcap_close(reader);
}

static void test_messages_outside_chunks_are_read(void)
{
    bool complete;
    forge_begin();
    forge_message(&file, 9, 1, "one");
    forge_message(&file, 9, 2, "");
    forge_tail(&file);
    TEST_ASSERT_EQUAL_INT(2, count_messages(file.data, file.size, &complete));
    TEST_ASSERT_TRUE(complete);
}

static void test_unknown_records_are_skipped(void)
{
    bool complete;
    static struct forge content;
    forge_begin();
    content.size = 0;
    put_text(&content, "from the future");
    put_record(&file, 0x90, &content);
    put_record(&chunk, 0x55, &content);
    forge_message(&chunk, 9, 12, "x");
    forge_chunk(&file, "", chunk.size, 0, chunk.data, chunk.size);
    forge_tail(&file);
    TEST_ASSERT_EQUAL_INT(1, count_messages(file.data, file.size, &complete));
    TEST_ASSERT_TRUE(complete);
}

static void test_the_smallest_file_is_a_header_and_a_footer(void)
{
    bool complete;
    forge_head(&file);
    forge_tail(&file);
    TEST_ASSERT_EQUAL_INT(0, count_messages(file.data, file.size, &complete));
    TEST_ASSERT_TRUE(complete);
}

static void test_a_wrong_chunk_crc_is_reported_after_the_chunks_before_it(void)
{
    struct io_mcap_message message;
    forge_begin();
    forge_message(&chunk, 9, 12, "x");
    forge_chunk(&file, "", chunk.size, 0, chunk.data, chunk.size);
    const size_t bad = file.size;
    forge_chunk(&file, "", chunk.size, 1, chunk.data, chunk.size);
    forge_tail(&file);
    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_EQUAL_INT(1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_INT(-1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_INT(-1, io_mcap_next(reader, &message, error));
    io_mcap_close(reader);
    char line[256];
    snprintf(line, sizeof line, "bytes: byte %zu: CRC of the chunk is wrong", bad);
    TEST_ASSERT_EQUAL_STRING(line, error);
}

/* The messages before the fault, then the fault. */
static void assert_message_then(const char *line)
{
    struct io_mcap_message message;
    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, io_mcap_next(reader, &message, error), error);
    TEST_ASSERT_EQUAL_INT(-1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_STRING(line, error);
    io_mcap_close(reader);
}

static void test_a_fault_after_a_chunk_leaves_the_chunk_readable(void)
{
    forge_begin();
    forge_message(&file, 9, 12, "x");
    put_data(&file, "\x0c\2\0\0\0\0\0\0\0ab", 11);
    forge_tail(&file);
    assert_message_then("bytes: byte 157: metadata record is too short for its fields");
}

static void test_a_length_past_the_end_is_a_fault_where_the_end_is_there(void)
{
    bool complete;
    forge_begin();
    forge_message(&file, 9, 12, "x");
    put_data(&file, "\x80\xff\0\0\0\0\0\0\0", 9);
    TEST_ASSERT_EQUAL_INT(1, count_messages(file.data, file.size, &complete)); /* just cut off */
    forge_tail(&file);
    assert_message_then("bytes: byte 157: record reaches past the end of the file");
}

/* One forged chunk after the usual head. */
static void assert_chunk_refused(const char *compression, uint64_t plain_size, const void *stored,
                                 size_t stored_size, const char *what)
{
    char line[256];
    forge_begin();
    snprintf(line, sizeof line, "bytes: byte %zu: %s", file.size, what);
    forge_chunk(&file, compression, plain_size, 0, stored, stored_size);
    forge_tail(&file);
    assert_refused(line);
}

static void test_chunks_that_cannot_be_are_refused(void)
{
    static unsigned char zeros[100000], small[1000];
    const size_t size = ZSTD_compress(small, sizeof small, zeros, sizeof zeros, 1);
    TEST_ASSERT_FALSE(ZSTD_isError(size));
    assert_chunk_refused("", 64u << 20 | 1, "x", 1,
                         "chunk claims 67108865 bytes, more than 67108864");
    assert_chunk_refused("", 2, "x", 1, "chunk holds 1 bytes and claims 2");
    assert_chunk_refused("lz4", 1, "x", 1,
                         "compression \"lz4\" is not supported (only zstd and none)");
    assert_chunk_refused("l\nz", 1, "x", 1,
                         "compression \"l?z\" is not supported (only zstd and none)");
    assert_chunk_refused("zstd", 1, "x", 1, "chunk is no zstd frame of 1 bytes");
    assert_chunk_refused("zstd", 10, small, size, "chunk is no zstd frame of 10 bytes");
    assert_chunk_refused("zstd", sizeof zeros + 1, small, size,
                         "chunk is no zstd frame of 100001 bytes");
    assert_chunk_refused("zstd", sizeof zeros, small, size - 1,
                         "chunk does not decompress: Src size is incorrect");
}

static void assert_records_refused(const char *what)
{
    static struct forge records;
    records = chunk;
    assert_chunk_refused("", records.size, records.data, records.size, what);
}

static void test_records_that_cannot_be_in_a_chunk_are_refused(void)
{
    forge_begin();
    forge_message(&chunk, 8, 12, "x");
    assert_records_refused("message of channel 8, which is not defined");
    forge_begin();
    forge_message(&chunk, 9, 9, "x");
    assert_records_refused("message at 9 ns is outside its chunk");
    forge_begin();
    forge_message(&chunk, 9, 21, "x");
    assert_records_refused("message at 21 ns is outside its chunk");
    forge_begin();
    forge_channel(&chunk, 9, 3, "/other");
    assert_records_refused("channel 9 is defined again and differently");
    forge_begin();
    forge_message(&chunk, 9, 12, "x");
    chunk.size--;
    assert_records_refused("record at 0 reaches past the chunk's end");
    forge_begin();
    forge_chunk(&chunk, "", 0, 0, "", 0);
    assert_records_refused("record of kind 6 inside a chunk");
    forge_begin();
    put_data(&chunk, "\5\3\0\0\0\0\0\0\0abc", 12);
    assert_records_refused("message record is too short for its fields");
}

/* A few kilobytes that unpack to a schema of 30 MiB. */
static void forge_schema_bomb(int id)
{
    enum { TEXT = 30 << 20, HEAD = 9 + 2 + 4 + 4 + 4 };
    static unsigned char stored[1 << 14];
    unsigned char *records = calloc(1, HEAD + TEXT);
    records[0] = 0x03;
    for (int i = 0; i < 4; i++) {
        records[1 + i] = (unsigned char)((HEAD - 9 + TEXT) >> 8 * i);
        records[HEAD - 4 + i] = (unsigned char)(TEXT >> 8 * i);
    }
    records[9] = (unsigned char)id;
    const size_t size = ZSTD_compress(stored, sizeof stored, records, HEAD + TEXT, 1);
    TEST_ASSERT_FALSE(ZSTD_isError(size));
    forge_chunk(&file, "zstd", HEAD + TEXT, 0, stored, size);
    free(records);
}

static void test_definitions_cannot_fill_the_memory(void)
{
    char line[256];
    forge_begin();
    forge_schema_bomb(4);
    snprintf(line, sizeof line, "bytes: byte %zu: no room for the definition of schema 5",
             file.size);
    forge_schema_bomb(5);
    forge_tail(&file);
    assert_refused(line);
}

static void test_definitions_that_contradict_are_refused(void)
{
    forge_begin();
    forge_schema(&file, 3, "float64 x"); /* again the same: fine */
    forge_schema(&file, 3, "float64 y");
    assert_refused("bytes: byte 177: schema 3 is defined again and differently");
}

static void test_what_is_no_mcap_file_is_refused_in_one_line(void)
{
    char line[256];
    TEST_ASSERT_NULL(io_mcap_open("/nowhere.mcap", error));
    TEST_ASSERT_EQUAL_STRING("/nowhere.mcap: byte 0: No such file or directory", error);
    TEST_ASSERT_NULL(io_mcap_open("/tmp", error));
    TEST_ASSERT_EQUAL_STRING("/tmp: byte 0: not a regular file", error);
    TEST_ASSERT_NULL(io_mcap_open(path, error));
    snprintf(line, sizeof line, "%s: byte 0: the file is empty", path);
    TEST_ASSERT_EQUAL_STRING(line, error);
    memcpy(file.data, "just a text file", file.size = 16);
    assert_refused("bytes: byte 0: not an MCAP file (no magic)");
    forge_begin();
    put(&file, 0, 64); /* the tail of a log after a power cut */
    assert_refused("bytes: byte 125: this is not a record");
    TEST_ASSERT_NULL(io_mcap_open_bytes(NULL, 0, error));
}

static void test_a_long_file_name_keeps_its_end_in_the_error(void)
{
    char name[300];
    memset(name, 'x', sizeof name);
    strcpy(name + 290, "end.mcap");
    TEST_ASSERT_NULL(io_mcap_open(name, error));
    TEST_ASSERT_EQUAL_MEMORY("...xxx", error, 6);
    TEST_ASSERT_NOT_NULL(strstr(error, "xend.mcap: byte 0: "));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_is_written_is_read_back);
    RUN_TEST(test_attachments_metadata_and_schemas_are_found_by_name);
    RUN_TEST(test_the_writer_counts_the_bytes_of_the_file);
    RUN_TEST(test_a_log_cut_at_any_byte_yields_its_whole_chunks);
    RUN_TEST(test_any_flipped_bit_is_reported);
    RUN_TEST(test_a_short_write_is_continued_where_it_stopped);
    RUN_TEST(test_a_full_disk_leaves_whole_chunks_and_true_counts);
    RUN_TEST(test_a_full_disk_costs_the_open_chunk_too);
    RUN_TEST(test_a_late_attachment_that_does_not_fit_is_left_out);
    RUN_TEST(test_a_log_on_a_full_device_is_refused);
    RUN_TEST(test_plain_chunks_with_their_own_definitions_are_read);
    RUN_TEST(test_messages_outside_chunks_are_read);
    RUN_TEST(test_unknown_records_are_skipped);
    RUN_TEST(test_the_smallest_file_is_a_header_and_a_footer);
    RUN_TEST(test_a_wrong_chunk_crc_is_reported_after_the_chunks_before_it);
    RUN_TEST(test_a_fault_after_a_chunk_leaves_the_chunk_readable);
    RUN_TEST(test_a_length_past_the_end_is_a_fault_where_the_end_is_there);
    RUN_TEST(test_chunks_that_cannot_be_are_refused);
    RUN_TEST(test_records_that_cannot_be_in_a_chunk_are_refused);
    RUN_TEST(test_definitions_cannot_fill_the_memory);
    RUN_TEST(test_definitions_that_contradict_are_refused);
    RUN_TEST(test_what_is_no_mcap_file_is_refused_in_one_line);
    RUN_TEST(test_a_long_file_name_keeps_its_end_in_the_error);
    return UNITY_END();
}
