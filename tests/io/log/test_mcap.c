/*
 * The log file: what the writer writes the reader reads, and what no writer wrote it refuses.
 *
 * Files by other hands are forged here with an encoder of this test's own, so that a mistake shared
 * by writer and reader does not pass; tests/peers has the judgement of readers nobody here wrote.
 */
#include "io/log/mcap.h"
#include "io/log/mcap_writer.h"

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

static struct io_mcap_chunk_message random_message(unsigned char payload[3000], uint64_t *time)
{
    const int channel = (int)(random_u64() % CHANNEL_COUNT);
    const struct io_mcap_chunk_message message = {
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
    const struct io_mcap_chunk_message sent = random_message(payload, time);
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
        const struct io_mcap_chunk_message message = random_message(payload, &time);
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
                               &(struct io_mcap_chunk_message){
                                   .channel = 2 * (i % 2), .log_ns = n, .payload = &n, .size = 8});
        io_mcap_writer_flush(&writer);
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
        &writer, &(struct io_mcap_chunk_message){
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
            io_mcap_writer_flush(&writer);
    }
    if (refused == 0)
        io_mcap_writer_close(&writer, NULL, 0);
    limit_file_size(RLIM_INFINITY);
    return refused;
}

/* The disk gets room again between the short write and its rest. */
static void test_a_short_write_is_continued_where_it_stopped(void)
{
    static struct io_append_file log_file;
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i % 251);
    signal(SIGXFSZ, SIG_IGN);
    TEST_ASSERT_EQUAL_INT(0, io_append_file_open(&log_file, path));
    if (!log_file.uring_open) {
        io_append_file_close(&log_file);
        TEST_IGNORE_MESSAGE("io_uring is not permitted here");
    }
    limit_file_size(600);
    io_append_file_append(&log_file, bytes, sizeof bytes);
    usleep(50000); /* the kernel tries the rest once more by itself */
    limit_file_size(RLIM_INFINITY);
    TEST_ASSERT_EQUAL_INT(0, io_append_file_flush(&log_file));
    TEST_ASSERT_EQUAL_UINT64(sizeof bytes, log_file.written);
    TEST_ASSERT_EQUAL_INT(0, io_append_file_close(&log_file));
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
    io_mcap_writer_flush(&writer);
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

/* ---- every record that cannot be ---- */

static void put_bytes_record(struct forge *to, int opcode, const void *bytes, size_t size)
{
    put(to, (uint64_t)opcode, 1);
    put(to, size, 8);
    put_data(to, bytes, size);
}

/* What is at the end of the file now is refused so. */
static void assert_refused_at(size_t at, const char *what)
{
    char line[256];
    snprintf(line, sizeof line, "bytes: byte %zu: %s", at, what);
    assert_refused(line);
}

static void assert_read(int messages)
{
    bool complete;
    error[0] = '\0';
    TEST_ASSERT_EQUAL_INT_MESSAGE(messages, count_messages(file.data, file.size, &complete), error);
    TEST_ASSERT_TRUE(complete);
}

static struct forge content;

static void put_map(struct forge *to, const char *const *texts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += 4 + strlen(texts[i]);
    put(to, size, 4);
    for (int i = 0; i < count; i++)
        put_text(to, texts[i]);
}

static void make_schema(void)
{
    put(&content, 5, 2);
    put_text(&content, "pkg/msg/Other");
    put_text(&content, "ros2msg");
    put_text(&content, "int8 y");
}

static void make_channel(void)
{
    put(&content, 6, 2);
    put(&content, 5, 2);
    put_text(&content, "/other");
    put_text(&content, "cdr");
    put_map(&content, (const char *const[]){"a", "b"}, 2);
}

static void make_attachment(void)
{
    put(&content, 1, 8);
    put(&content, 2, 8);
    put_text(&content, "name");
    put_text(&content, "text/plain");
    put(&content, 3, 8);
    put_data(&content, "abc", 3);
    put(&content, 0, 4);
}

static void make_metadata(void)
{
    put_text(&content, "name");
    put_map(&content, (const char *const[]){"key", "value", "more", "values"}, 4);
}

static void make_data_end(void)
{
    put(&content, 0, 4);
}

static void make_chunk(void)
{
    put(&content, 10, 8);
    put(&content, 20, 8);
    put(&content, 0, 8);
    put(&content, 0, 4);
    put_text(&content, "");
    put(&content, 0, 8);
}

static void make_message(void)
{
    put(&content, 9, 2);
    put(&content, 1, 4);
    put(&content, 15, 8);
    put(&content, 15, 8);
}

static void test_every_record_is_as_long_as_its_fields(void)
{
    static const struct {
        const char *name;
        void (*make)(void);
        int opcode, messages;
    } kinds[] = {
        {"schema", make_schema, 0x03, 0},         {"channel", make_channel, 0x04, 0},
        {"message", make_message, 0x05, 1},       {"chunk", make_chunk, 0x06, 0},
        {"attachment", make_attachment, 0x09, 0}, {"metadata", make_metadata, 0x0c, 0},
        {"data end", make_data_end, 0x0f, 0},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s record is too short for its fields", kinds[i].name);
        content.size = 0;
        kinds[i].make();
        for (size_t size = 0; size < content.size; size++) {
            forge_begin();
            const size_t at = file.size;
            put_bytes_record(&file, kinds[i].opcode, content.data, size);
            forge_tail(&file);
            assert_refused_at(at, what);
        }
        forge_begin();
        put_bytes_record(&file, kinds[i].opcode, content.data, content.size);
        forge_tail(&file);
        assert_read(kinds[i].messages);
    }
}

static void test_a_file_begins_with_a_whole_header(void)
{
    static const char magic[] = "\x89MCAP0\r\n";
    content.size = 0;
    put_text(&content, "profile");
    put_text(&content, "library");
    for (size_t size = 0; size < content.size; size++) {
        file.size = 0;
        put_data(&file, magic, 8);
        put_bytes_record(&file, 0x01, content.data, size);
        forge_tail(&file);
        assert_refused_at(8, "header record is too short for its fields");
    }
    file.size = 0;
    put_data(&file, magic, 8);
    put_bytes_record(&file, 0x01, content.data, content.size);
    forge_tail(&file);
    assert_read(0);
    file.size = 0;
    put_data(&file, magic, 8);
    put_bytes_record(&file, 0x0c, content.data, content.size);
    forge_tail(&file);
    assert_refused_at(8, "no whole header record");
    file.size = 8;
    assert_refused_at(8, "no whole header record");
    file.size = 7;
    assert_refused_at(0, "not an MCAP file (no magic)");
}

static void test_texts_with_a_nul_are_refused(void)
{
    forge_begin();
    const size_t at = file.size;
    put_bytes_record(&file, 0x04, "\6\0\3\0\2\0\0\0a\0\0\0\0\0\0\0\0\0", 18);
    assert_refused_at(at, "topic of channel 6 holds a NUL");
    forge_begin();
    put_bytes_record(&file, 0x0c, "\1\0\0\0n\13\0\0\0\1\0\0\0k\2\0\0\0v\0", 20);
    assert_refused_at(at, "metadata value holds a NUL");
}

/* An attachment whose name has so many letters. */
static void put_named_attachment(size_t letters, uint32_t crc_off)
{
    content.size = 0;
    put(&content, 1, 8);
    put(&content, 2, 8);
    put(&content, letters, 4);
    for (size_t i = 0; i < letters; i++)
        put(&content, 'a' + i % 26, 1);
    put_text(&content, "");
    put(&content, 3, 8);
    put_data(&content, "abc", 3);
    put(&content, crc32(0, content.data, (uInt)content.size) + crc_off, 4);
    put_bytes_record(&file, 0x09, content.data, content.size);
}

static void test_a_wrong_attachment_is_named_by_its_first_letters(void)
{
    for (size_t letters = 31; letters <= 33; letters++) {
        char what[128], name[] = "abcdefghijklmnopqrstuvwxyzabcdefg";
        name[letters < 32 ? letters : 32] = '\0';
        snprintf(what, sizeof what, "CRC of attachment \"%s\" is wrong", name);
        forge_begin();
        const size_t at = file.size;
        put_named_attachment(letters, 1);
        assert_refused_at(at, what);
    }
    forge_begin();
    put_named_attachment(33, 0);
    forge_tail(&file);
    assert_read(0);
}

static void test_many_attachments_and_metadata_are_all_found(void)
{
    enum { MANY = 17 };
    forge_begin();
    for (size_t i = 0; i < MANY; i++) {
        char key[16], value[16];
        put_named_attachment(i, 0);
        snprintf(key, sizeof key, "key%zu", i);
        snprintf(value, sizeof value, "value%zu", i);
        content.size = 0;
        put_text(&content, i % 2 ? "odd" : "even");
        put_map(&content, (const char *const[]){key, value, "", key}, 4);
        put_bytes_record(&file, 0x0c, content.data, content.size);
    }
    forge_tail(&file);
    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    for (size_t i = 0; i < MANY; i++) {
        char key[16], value[16], name[32] = "abcdefghijklmnopqrstuvwxyz";
        size_t size = 0;
        name[i] = '\0';
        snprintf(key, sizeof key, "key%zu", i);
        snprintf(value, sizeof value, "value%zu", i);
        TEST_ASSERT_EQUAL_MEMORY("abc", io_mcap_attachment(reader, name, &size), 3);
        TEST_ASSERT_EQUAL_size_t(3, size);
        TEST_ASSERT_EQUAL_STRING(value, io_mcap_metadata(reader, i % 2 ? "odd" : "even", key));
        TEST_ASSERT_NULL(io_mcap_metadata(reader, i % 2 ? "even" : "odd", key));
    }
    TEST_ASSERT_EQUAL_STRING("key0", io_mcap_metadata(reader, "even", "")); /* the first */
    io_mcap_close(reader);
}

/* Data end and a footer that says so of the summary; returns where the footer is. */
static size_t put_footer(uint64_t summary_off, bool has_summary, uint32_t crc_off, bool has_crc)
{
    put_bytes_record(&file, 0x0f, "\0\0\0\0", 4);
    const size_t summary = file.size;
    if (has_summary)
        put_bytes_record(&file, 0x0b, "anything", 8);
    const size_t footer = file.size;
    put(&file, 0x02, 1);
    put(&file, 20, 8);
    put(&file, has_summary ? summary + summary_off : summary_off, 8);
    put(&file, 0, 8);
    const uint32_t crc = (uint32_t)crc32(0, file.data + (has_summary ? summary : footer),
                                         (uInt)(file.size - (has_summary ? summary : footer)));
    put(&file, has_crc ? crc + crc_off : 0, 4);
    return footer;
}

static void test_a_footer_tells_the_summary_and_its_crc(void)
{
    char what[64];
    for (int has_summary = 0; has_summary < 2; has_summary++) {
        forge_begin();
        (void)put_footer(0, has_summary, 0, true);
        put_data(&file, "\x89MCAP0\r\n", 8);
        assert_read(0);
        forge_begin();
        const size_t at = put_footer(0, has_summary, 1, true);
        put_data(&file, "\x89MCAP0\r\n", 8);
        assert_refused_at(at, "CRC of the summary is wrong");
        forge_begin();
        (void)put_footer(0, has_summary, 0, false); /* none is told */
        put_data(&file, "\x89MCAP0\r\n", 8);
        assert_read(0);
        forge_begin();
        const size_t summary = file.size + 13;
        (void)put_footer(1, has_summary, 0, true);
        snprintf(what, sizeof what, "footer puts the summary at byte %zu",
                 has_summary ? summary + 1 : 1);
        put_data(&file, "\x89MCAP0\r\n", 8);
        assert_refused_at(at, what);
    }
}

static void test_a_footer_has_its_length_and_the_magic_alone_behind_it(void)
{
    static const unsigned char zeros[21];
    bool complete;
    for (size_t size = 0; size <= 21; size++) {
        forge_begin();
        put_bytes_record(&file, 0x0f, "\0\0\0\0", 4);
        const size_t at = file.size;
        put_bytes_record(&file, 0x02, zeros, size);
        put_data(&file, "\x89MCAP0\r\n", 8);
        if (size == 20)
            assert_read(0);
        else
            assert_refused_at(at, "footer is not 20 bytes long");
    }
    forge_begin();
    forge_tail(&file);
    file.size--; /* cut off */
    TEST_ASSERT_EQUAL_INT(0, count_messages(file.data, file.size, &complete));
    TEST_ASSERT_FALSE(complete);
    const size_t end = file.size - 7;
    put(&file, '\r', 1);
    assert_refused_at(end, "the footer is not followed by the magic alone");
    file.data[file.size - 1] = '\n';
    assert_read(0);
    put(&file, 0, 1);
    assert_refused_at(end, "the footer is not followed by the magic alone");
    file.size--;
    put_data(&file, "\x89MCAP0\r\n", 8); /* a second one */
    assert_refused_at(end, "the footer is not followed by the magic alone");
}

static void test_summary_records_come_behind_the_data(void)
{
    static const int opcodes[] = {0x08, 0x0a, 0x0b, 0x0d, 0x0e};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        forge_begin();
        const size_t at = file.size;
        put_bytes_record(&file, opcodes[i], "x", 1);
        forge_tail(&file);
        assert_refused_at(at, "summary record without a data end before it");
        forge_begin();
        put_bytes_record(&file, 0x0f, "\0\0\0\0", 4);
        put_bytes_record(&file, opcodes[i], "x", 1);
        forge_tail(&file);
        assert_read(0);
    }
    forge_begin();
    put_bytes_record(&file, 0x07, "x", 1); /* an index of messages lies among the data */
    forge_tail(&file);
    assert_read(0);
}

static void test_the_data_have_their_crc(void)
{
    for (uint32_t off = 0; off < 2; off++) {
        forge_begin();
        forge_message(&file, 9, 1, "one");
        forge_message(&chunk, 9, 12, "x");
        forge_chunk(&file, "", chunk.size, 0, chunk.data, chunk.size);
        const size_t at = file.size;
        content.size = 0;
        put(&content, crc32(0, file.data, (uInt)file.size) + off, 4);
        put_record(&file, 0x0f, &content);
        content.size = 0;
        put(&content, 0, 16);
        put(&content, 0, 4);
        put_record(&file, 0x02, &content);
        put_data(&file, "\x89MCAP0\r\n", 8);
        if (off == 0)
            assert_read(2);
        else
            assert_refused_at(at, "CRC of the data section is wrong");
    }
}

static void test_the_first_and_the_last_moment_belong_to_a_chunk(void)
{
    forge_begin();
    forge_message(&chunk, 9, 10, "x");
    forge_message(&chunk, 9, 20, "x");
    forge_chunk(&file, "", chunk.size, 0, chunk.data, chunk.size);
    forge_chunk(&file, "", 0, 0, "", 0);
    forge_tail(&file);
    assert_read(2);
}

static void test_a_chunk_may_be_as_large_as_64_mib(void)
{
    assert_chunk_refused("", 64u << 20, "x", 1, "chunk holds 1 bytes and claims 67108864");
}

static void test_an_unknown_compression_is_told_in_one_line_and_not_at_length(void)
{
    assert_chunk_refused("\x1f \x7f\x80zst", 1, "x", 1,
                         "compression \"? ?\x80zst\" is not supported (only zstd and none)");
    assert_chunk_refused("abcdefghijklmnopqrstuvwxyz-abcdef", 1, "x", 1,
                         "compression \"abcdefghijklmnopqrstuvwxyz-abcde\" is not supported (only "
                         "zstd and none)");
    assert_chunk_refused("abcdefghijklmnopqrstuvwxyz-abcde", 1, "x", 1,
                         "compression \"abcdefghijklmnopqrstuvwxyz-abcde\" is not supported (only "
                         "zstd and none)");
}

static void test_a_chunk_holds_schemas_channels_messages_and_what_is_unknown(void)
{
    for (int opcode = 0; opcode <= 0x10; opcode++) {
        char what[64];
        if (opcode >= 3 && opcode <= 5)
            continue;
        snprintf(what, sizeof what, "record of kind %d inside a chunk", opcode);
        forge_begin();
        put_bytes_record(&chunk, opcode, "x", 1);
        forge_message(&chunk, 9, 12, "x");
        if (opcode <= 0x0f) {
            assert_records_refused(what);
            continue;
        }
        forge_chunk(&file, "", chunk.size, 0, chunk.data, chunk.size);
        forge_tail(&file);
        assert_read(1);
    }
}

static void test_chunks_of_several_sizes_are_unpacked(void)
{
    static unsigned char stored[1 << 12];
    const int letters[] = {1000, 10, 3000};
    forge_begin();
    for (int i = 0; i < 3; i++) {
        char text[3001];
        memset(text, 'a' + i, sizeof text);
        text[letters[i]] = '\0';
        chunk.size = 0;
        forge_message(&chunk, 9, 12, text);
        const size_t size = ZSTD_compress(stored, sizeof stored, chunk.data, chunk.size, 1);
        TEST_ASSERT_FALSE(ZSTD_isError(size));
        forge_chunk(&file, "zstd", chunk.size, (uint32_t)crc32(0, chunk.data, (uInt)chunk.size),
                    stored, size);
    }
    forge_tail(&file);
    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    struct io_mcap_message message;
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, io_mcap_next(reader, &message, error), error);
        TEST_ASSERT_EQUAL_size_t((size_t)letters[i], message.size);
        TEST_ASSERT_EQUAL_HEX8('a' + i, message.data[letters[i] - 1]);
    }
    TEST_ASSERT_EQUAL_INT(0, io_mcap_next(reader, &message, error));
    io_mcap_close(reader);
}

static void test_a_schema_of_id_0_is_none(void)
{
    forge_begin();
    forge_schema(&file, 0, "one");
    forge_schema(&file, 0, "another"); /* no contradiction */
    forge_channel(&file, 10, 0, "/bare");
    forge_channel(&file, 11, 12, "/dangling");
    forge_tail(&file);
    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_NULL(io_mcap_schema(reader, "/bare"));
    TEST_ASSERT_NULL(io_mcap_schema(reader, "/dangling"));
    TEST_ASSERT_EQUAL_STRING("float64 x", io_mcap_schema(reader, "/thing"));
    io_mcap_close(reader);
}

static void test_a_file_name_is_told_whole_as_long_as_it_fits(void)
{
    for (size_t length = 127; length <= 128; length++) {
        char name[160], line[256];
        memset(name, 'x', sizeof name);
        memcpy(name, "/nowhere/", 9);
        name[length] = '\0';
        TEST_ASSERT_NULL(io_mcap_open(name, error));
        if (length == 127)
            snprintf(line, sizeof line, "%s: byte 0: No such file or directory", name);
        else /* the last 124 letters */
            snprintf(line, sizeof line, "...%s: byte 0: No such file or directory", name + 4);
        TEST_ASSERT_EQUAL_STRING(line, error);
    }
}

static void test_a_file_that_is_cut_while_it_is_read_is_told(void)
{
    char line[256];
    struct io_mcap_message message;
    forge_begin();
    for (int i = 0; i < 8; i++) { /* more than the page that the reader has seen last */
        char text[4000];
        memset(text, 'x', sizeof text);
        text[sizeof text - 1] = '\0';
        forge_message(&file, 9, 12, text);
    }
    forge_tail(&file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    TEST_ASSERT_EQUAL_INT64((ssize_t)file.size, write(fd, file.data, file.size));
    struct io_mcap_reader *reader = io_mcap_open(path, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_EQUAL_INT(1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 0));
    TEST_ASSERT_EQUAL_INT(-1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_INT(-1, io_mcap_next(reader, &message, error));
    const char *why = strstr(error, ": the file");
    snprintf(line, sizeof line, "%s: byte ", path);
    TEST_ASSERT_EQUAL_STRING_LEN(line, error, strlen(line));
    TEST_ASSERT_EQUAL_STRING(": the file was truncated while it was being read", why);
    io_mcap_close(reader);
    close(fd);
}

/* ---- what the writer tells of its file ---- */

struct place {
    int opcode;
    size_t at, size; /* of the content */
};

/* The n-th record of an opcode, by a walk of this test's own; size 0 when there are fewer. */
static struct place find_record(struct blob log, int opcode, int n)
{
    for (size_t at = 8; at + 9 <= log.size - 8;) {
        const size_t size = (size_t)get(log.data + at + 1, 8);
        if (log.data[at] == opcode && n-- == 0)
            return (struct place){.opcode = opcode, .at = at + 9, .size = size};
        at += 9 + size;
    }
    return (struct place){0};
}

static void test_a_chunk_index_tells_where_its_chunk_and_its_messages_are(void)
{
    const struct blob log = small_log();
    for (int c = 0; c < 3; c++) {
        const struct place index = find_record(log, 0x08, c), of = find_record(log, 0x06, c);
        const unsigned char *in = log.data + index.at;
        const uint64_t first = c == 0 ? 7 : c == 1 ? 8 : 10;
        TEST_ASSERT_EQUAL_UINT64(first, get(in, 8));
        TEST_ASSERT_EQUAL_UINT64(first + (uint64_t)c, get(in + 8, 8));
        TEST_ASSERT_EQUAL_UINT64(of.at - 9, get(in + 16, 8));
        TEST_ASSERT_EQUAL_UINT64(of.size + 9, get(in + 24, 8));
        TEST_ASSERT_EQUAL_UINT64(first, get(log.data + of.at, 8));
        TEST_ASSERT_EQUAL_UINT64(first + (uint64_t)c, get(log.data + of.at + 8, 8));
        const size_t channels_in = c == 0 ? 1 : 2; /* /a, and /c from the second message on */
        TEST_ASSERT_EQUAL_UINT64(10 * channels_in, get(in + 32, 4));
        size_t indexes = 0;
        for (size_t k = 0; k < channels_in; k++) {
            const uint64_t offset = get(in + 36 + 10 * k + 2, 8);
            const unsigned char *entries = log.data + offset;
            const size_t records = k == 1 ? 1 : c == 2 ? 2 : 1;
            TEST_ASSERT_EQUAL_UINT64(1 + 2 * k, get(in + 36 + 10 * k, 2));
            TEST_ASSERT_EQUAL_HEX8(0x07, entries[0]);
            TEST_ASSERT_EQUAL_UINT64(6 + 16 * records, get(entries + 1, 8));
            TEST_ASSERT_EQUAL_UINT64(1 + 2 * k, get(entries + 9, 2));
            TEST_ASSERT_EQUAL_UINT64(16 * records, get(entries + 11, 4));
            for (size_t r = 0; r < records; r++) { /* a message has 9 + 22 + 4 + 8 bytes */
                TEST_ASSERT_EQUAL_UINT64(first + k + 2 * r, get(entries + 15 + 16 * r, 8));
                TEST_ASSERT_EQUAL_UINT64(43 * (k + 2 * r), get(entries + 15 + 16 * r + 8, 8));
            }
            indexes += 15 + 16 * records;
        }
        in += 36 + 10 * channels_in;
        TEST_ASSERT_EQUAL_UINT64(indexes, get(in, 8));
        TEST_ASSERT_EQUAL_UINT64(4, get(in + 8, 4));
        TEST_ASSERT_EQUAL_MEMORY("zstd", in + 12, 4);
        TEST_ASSERT_EQUAL_UINT64(of.size - 44, get(in + 16, 8)); /* what is behind its head */
        TEST_ASSERT_EQUAL_UINT64(43u * (unsigned)(c + 1), get(in + 24, 8));
        TEST_ASSERT_EQUAL_PTR(log.data + index.at + index.size, in + 32);
    }
    free(log.data);
}

static void test_statistics_count_what_is_in_the_file(void)
{
    const struct blob log = small_log();
    const struct place statistics = find_record(log, 0x0b, 0);
    const unsigned char *in = log.data + statistics.at;
    TEST_ASSERT_EQUAL_UINT64(6, get(in, 8));
    TEST_ASSERT_EQUAL_UINT64(3, get(in + 8, 2));
    TEST_ASSERT_EQUAL_UINT64(4, get(in + 10, 4));
    TEST_ASSERT_EQUAL_UINT64(2, get(in + 14, 4)); /* attachments */
    TEST_ASSERT_EQUAL_UINT64(1, get(in + 18, 4)); /* metadata */
    TEST_ASSERT_EQUAL_UINT64(3, get(in + 22, 4)); /* chunks */
    TEST_ASSERT_EQUAL_UINT64(7, get(in + 26, 8));
    TEST_ASSERT_EQUAL_UINT64(12, get(in + 34, 8));
    TEST_ASSERT_EQUAL_UINT64(40, get(in + 42, 4));
    static const uint64_t messages[] = {4, 0, 2, 0};
    for (size_t i = 0; i < 4; i++) {
        TEST_ASSERT_EQUAL_UINT64(i + 1, get(in + 46 + 10 * i, 2));
        TEST_ASSERT_EQUAL_UINT64(messages[i], get(in + 48 + 10 * i, 8));
    }
    TEST_ASSERT_EQUAL_size_t(46 + 40, statistics.size);
    free(log.data);
}

static void test_attachments_and_metadata_have_their_indexes(void)
{
    const struct blob log = small_log();
    for (int i = 0; i < 2; i++) {
        const struct io_blob *blob = i == 0 ? &scenario : &report;
        const struct place index = find_record(log, 0x0a, i), of = find_record(log, 0x09, i);
        const unsigned char *in = log.data + index.at, *there = log.data + of.at;
        TEST_ASSERT_EQUAL_UINT64(of.at - 9, get(in, 8));
        TEST_ASSERT_EQUAL_UINT64(of.size + 9, get(in + 8, 8));
        TEST_ASSERT_EQUAL_UINT64(i == 0 ? 0 : 12, get(in + 16, 8)); /* the end of what was logged */
        TEST_ASSERT_EQUAL_MEMORY(there, in + 16, 16);
        TEST_ASSERT_GREATER_THAN_UINT64(UINT64_C(1000000000) * 1000000000, get(in + 24, 8));
        TEST_ASSERT_EQUAL_UINT64(blob->size, get(in + 32, 8));
        TEST_ASSERT_EQUAL_UINT64(strlen(blob->name), get(in + 40, 4));
        TEST_ASSERT_EQUAL_MEMORY(blob->name, in + 44, strlen(blob->name));
        in += 44 + strlen(blob->name);
        TEST_ASSERT_EQUAL_UINT64(strlen(blob->media_type), get(in, 4));
        TEST_ASSERT_EQUAL_MEMORY(blob->media_type, in + 4, strlen(blob->media_type));
        TEST_ASSERT_EQUAL_UINT64(crc32(0, there, (uInt)of.size - 4), get(there + of.size - 4, 4));
        there += 16; /* name and media type stand in the attachment as well */
        TEST_ASSERT_EQUAL_UINT64(strlen(blob->name), get(there, 4));
        there += 4 + strlen(blob->name);
        TEST_ASSERT_EQUAL_MEMORY(blob->media_type, there + 4, strlen(blob->media_type));
    }
    const struct place index = find_record(log, 0x0d, 0), of = find_record(log, 0x0c, 0);
    TEST_ASSERT_EQUAL_UINT64(of.at - 9, get(log.data + index.at, 8));
    TEST_ASSERT_EQUAL_UINT64(of.size + 9, get(log.data + index.at + 8, 8));
    TEST_ASSERT_EQUAL_UINT64(10, get(log.data + index.at + 16, 4));
    TEST_ASSERT_EQUAL_MEMORY("airbearing", log.data + index.at + 20, 10);
    TEST_ASSERT_EQUAL_size_t(30, index.size);
    free(log.data);
}

/* The summary is in groups, each of which has an offset, one behind the other. */
static void test_the_summary_offsets_tell_the_groups_of_the_summary(void)
{
    static const int groups[] = {0x03, 0x04, 0x0b, 0x08, 0x0a, 0x0d};
    const struct blob log = small_log();
    const struct place data_end = find_record(log, 0x0f, 0), footer = find_record(log, 0x02, 0);
    size_t at = data_end.at + data_end.size;
    TEST_ASSERT_EQUAL_UINT64(crc32(0, log.data, (uInt)data_end.at - 9),
                             get(log.data + data_end.at, 4));
    TEST_ASSERT_EQUAL_UINT64(at, get(log.data + footer.at, 8));
    TEST_ASSERT_EQUAL_UINT64(crc32(0, log.data + at, (uInt)(footer.at + 16 - at)),
                             get(log.data + footer.at + 16, 4));
    for (int i = 0; i < 6; i++) {
        const struct place offset = find_record(log, 0x0e, i);
        const unsigned char *in = log.data + offset.at;
        TEST_ASSERT_EQUAL_HEX8(groups[i], in[0]);
        TEST_ASSERT_EQUAL_UINT64(at, get(in + 1, 8));
        TEST_ASSERT_EQUAL_HEX8(groups[i], log.data[at]);
        at += (size_t)get(in + 9, 8);
    }
    TEST_ASSERT_EQUAL_UINT64(at, get(log.data + footer.at + 8, 8));
    TEST_ASSERT_EQUAL_HEX8(0x0e, log.data[at]);
    TEST_ASSERT_EQUAL_size_t(0, find_record(log, 0x0e, 6).size);
    free(log.data);
}

static void test_a_log_of_nothing_has_no_empty_groups(void)
{
    TEST_ASSERT_EQUAL_INT(0, io_mcap_writer_open(&writer, path, NULL, 0, NULL, NULL, 0));
    io_mcap_writer_close(&writer, NULL, 0);
    const struct blob log = slurp(path);
    TEST_ASSERT_EQUAL_HEX8(0x0b, log.data[find_record(log, 0x0e, 0).at]); /* statistics */
    TEST_ASSERT_EQUAL_HEX8(0x0d, log.data[find_record(log, 0x0e, 1).at]); /* metadata */
    TEST_ASSERT_EQUAL_size_t(0, find_record(log, 0x0e, 2).size);
    free(log.data);
}

static void test_a_channel_tells_the_units_of_its_fields_and_how_many_are_left_out(void)
{
    static const char *const own[] = {"k", "v", NULL};
    const struct io_channel_spec specs[] = {
        {.topic = "/a",
         .schema = "S",
         .definition = "float64 x # m, how far\nfloat64 y\nfloat64 z # m/s\n",
         .payload_size = 24,
         .every = 10},
        {.topic = "/b", .schema = "S", .definition = "uint8 x", .payload_size = 1, .every = 1},
        {.topic = "/c",
         .schema = "T",
         .definition = "uint8 x",
         .payload_size = 1,
         .every = 7,
         .metadata = own},
    };
    TEST_ASSERT_EQUAL_INT(0, io_mcap_writer_open(&writer, path, specs, 3, NULL, NULL, 0));
    TEST_ASSERT_EQUAL_UINT16(3,
                             writer.statistics.schemas); /* name and definition tell them apart */
    io_mcap_writer_close(&writer, NULL, 0);
    const struct blob log = slurp(path);
    for (int i = 0; i < 3; i++) {
        static const char *const pairs_of[3][7] = {
            {"unit.x", "m", "unit.z", "m/s", "every", "10", NULL}, {NULL}, {"k", "v", NULL}};
        static struct forge map;
        const struct place at = find_record(log, 0x04, i);
        int count = 0;
        while (pairs_of[i][count])
            count++;
        map.size = 0;
        put(&map, (uint64_t)i + 1, 2);
        put(&map, (uint64_t)i + 1, 2);
        put_text(&map, specs[i].topic);
        put_text(&map, "cdr");
        put_map(&map, pairs_of[i], count);
        TEST_ASSERT_EQUAL_size_t(map.size, at.size);
        TEST_ASSERT_EQUAL_MEMORY(map.data, log.data + at.at, map.size);
    }
    free(log.data);
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
    RUN_TEST(test_every_record_is_as_long_as_its_fields);
    RUN_TEST(test_a_file_begins_with_a_whole_header);
    RUN_TEST(test_texts_with_a_nul_are_refused);
    RUN_TEST(test_a_wrong_attachment_is_named_by_its_first_letters);
    RUN_TEST(test_many_attachments_and_metadata_are_all_found);
    RUN_TEST(test_a_footer_tells_the_summary_and_its_crc);
    RUN_TEST(test_a_footer_has_its_length_and_the_magic_alone_behind_it);
    RUN_TEST(test_summary_records_come_behind_the_data);
    RUN_TEST(test_the_data_have_their_crc);
    RUN_TEST(test_the_first_and_the_last_moment_belong_to_a_chunk);
    RUN_TEST(test_a_chunk_may_be_as_large_as_64_mib);
    RUN_TEST(test_an_unknown_compression_is_told_in_one_line_and_not_at_length);
    RUN_TEST(test_a_chunk_holds_schemas_channels_messages_and_what_is_unknown);
    RUN_TEST(test_chunks_of_several_sizes_are_unpacked);
    RUN_TEST(test_a_schema_of_id_0_is_none);
    RUN_TEST(test_a_file_name_is_told_whole_as_long_as_it_fits);
    RUN_TEST(test_a_file_that_is_cut_while_it_is_read_is_told);
    RUN_TEST(test_a_chunk_index_tells_where_its_chunk_and_its_messages_are);
    RUN_TEST(test_statistics_count_what_is_in_the_file);
    RUN_TEST(test_attachments_and_metadata_have_their_indexes);
    RUN_TEST(test_the_summary_offsets_tell_the_groups_of_the_summary);
    RUN_TEST(test_a_log_of_nothing_has_no_empty_groups);
    RUN_TEST(test_a_channel_tells_the_units_of_its_fields_and_how_many_are_left_out);
    return UNITY_END();
}
