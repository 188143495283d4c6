/*
 * The writer: its files read back, cut, damaged, on a full disk, and what their indexes and
 * statistics contain.
 */
#include "tests/io/log/mcap_fixture.h"

static struct io_mcap_writer writer;

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

/* The number of messages in the chunks that end at or before `size`, by code that shares nothing
 * with the reader. */
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

/* The disk gets free space between the short write and its rest. */
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

/* Whatever the size of the disk, the counts of the log are right. */
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

struct place {
    int opcode;
    size_t at, size; /* of the content */
};

/* The n-th record of an opcode, by code that shares nothing with the reader; size 0 when there
 * are fewer. */
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

static void test_a_chunk_index_has_the_offsets_of_its_chunk_and_messages(void)
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
        TEST_ASSERT_EQUAL_UINT64(of.size - 44, get(in + 16, 8)); /* the bytes after its head */
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
        TEST_ASSERT_EQUAL_UINT64(i == 0 ? 0 : 12, get(in + 16, 8)); /* the last log time */
        TEST_ASSERT_EQUAL_MEMORY(there, in + 16, 16);
        TEST_ASSERT_GREATER_THAN_UINT64(UINT64_C(1000000000) * 1000000000, get(in + 24, 8));
        TEST_ASSERT_EQUAL_UINT64(blob->size, get(in + 32, 8));
        TEST_ASSERT_EQUAL_UINT64(strlen(blob->name), get(in + 40, 4));
        TEST_ASSERT_EQUAL_MEMORY(blob->name, in + 44, strlen(blob->name));
        in += 44 + strlen(blob->name);
        TEST_ASSERT_EQUAL_UINT64(strlen(blob->media_type), get(in, 4));
        TEST_ASSERT_EQUAL_MEMORY(blob->media_type, in + 4, strlen(blob->media_type));
        TEST_ASSERT_EQUAL_UINT64(crc32(0, there, (uInt)of.size - 4), get(there + of.size - 4, 4));
        there += 16; /* the name and the media type are in the attachment, too */
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

/* The summary consists of groups, and each group has a summary offset, in order. */
static void test_the_summary_offsets_locate_the_groups_of_the_summary(void)
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

static void test_a_channel_has_the_units_of_its_fields_and_its_decimation(void)
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
                             writer.statistics.schemas); /* schemas differ by name and definition */
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
    RUN_TEST(test_a_chunk_index_has_the_offsets_of_its_chunk_and_messages);
    RUN_TEST(test_statistics_count_what_is_in_the_file);
    RUN_TEST(test_attachments_and_metadata_have_their_indexes);
    RUN_TEST(test_the_summary_offsets_locate_the_groups_of_the_summary);
    RUN_TEST(test_a_log_of_nothing_has_no_empty_groups);
    RUN_TEST(test_a_channel_has_the_units_of_its_fields_and_its_decimation);
    return UNITY_END();
}
