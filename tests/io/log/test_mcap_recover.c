/*
 * Recovery of damaged logs: what is left is read, and the losses are counted.  Also fields and
 * units from the text of a schema, and decimated channels that are complete around a trigger.
 */
#include "io/log/mcap_recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "io/log/decimate.h"
#include "io/log/mcap_writer.h"
#include "io/log/ros2msg.h"
#include "unity.h"

enum { A, B, CHANNEL_COUNT, CHUNKS = 8, IN_CHUNK = 100 };

static const struct io_channel_spec channels[CHANNEL_COUNT] = {
    [A] = {.topic = "/a",
           .schema = "test_msgs/msg/A",
           .definition = "uint64 index\nfloat64 torque # N m, of the motor\n",
           .payload_size = 16},
    [B] = {.topic = "/b",
           .schema = "test_msgs/msg/B",
           .definition = "uint64 index\nuint8[8] noise\n",
           .payload_size = 16},
};
static const struct io_blob blob = {
    .name = "scenario.yaml", .media_type = "application/yaml", .bytes = "a: 1\n", .size = 5};

static char path[64], error[256];
static struct io_mcap_writer writer;
static struct {
    unsigned char *data;
    size_t size;
} file;
static size_t chunk_at[CHUNKS + 1]; /* the offset of each chunk; the last one: of the summary */

void setUp(void)
{
    strcpy(path, "/tmp/test_salvage_XXXXXX");
    const int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    close(fd);
}

void tearDown(void)
{
    unlink(path);
    free(file.data);
    file.data = NULL;
}

static void slurp(void)
{
    struct stat status;
    const int fd = open(path, O_RDONLY);
    TEST_ASSERT_TRUE(fd >= 0 && fstat(fd, &status) == 0);
    file.size = (size_t)status.st_size;
    file.data = malloc(file.size);
    TEST_ASSERT_EQUAL_INT64((ssize_t)file.size, read(fd, file.data, file.size));
    close(fd);
}

static void add(int channel, uint64_t index)
{
    uint64_t payload[2] = {index, index * UINT64_C(0x9e3779b97f4a7c15)};
    io_mcap_writer_add(&writer, &(struct io_mcap_chunk_message){.channel = channel,
                                                                .sequence = (uint32_t)index,
                                                                .log_ns = 1000 * index,
                                                                .payload = payload,
                                                                .size = sizeof payload});
}

/* A whole log of CHUNKS chunks, each with IN_CHUNK records of either channel. */
static void make_log(void)
{
    static const char *const pairs[] = {"seed", "7", NULL};
    TEST_ASSERT_EQUAL_INT(
        0, io_mcap_writer_open(&writer, path, channels, CHANNEL_COUNT, pairs, &blob, 1));
    for (uint64_t k = 0; k < CHUNKS; k++) {
        chunk_at[k] = (size_t)writer.file.appended;
        for (uint64_t i = 0; i < IN_CHUNK; i++) {
            add(A, k * IN_CHUNK + i);
            add(B, k * IN_CHUNK + i);
        }
        io_mcap_writer_flush(&writer);
    }
    chunk_at[CHUNKS] = (size_t)writer.file.appended;
    io_mcap_writer_close(&writer, NULL, 0);
    slurp();
}

/* Read all; every message must be one that was written. */
static struct io_mcap_recover_losses read_all(size_t size, uint64_t *records)
{
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(recovery, error);
    struct io_mcap_message message;
    *records = 0;
    while (io_mcap_recover_next(recovery, &message)) {
        uint64_t payload[2];
        TEST_ASSERT_EQUAL_size_t(4 + sizeof payload, message.size);
        memcpy(payload, message.data + 4, sizeof payload);
        TEST_ASSERT_EQUAL_UINT64(message.sequence, payload[0]);
        TEST_ASSERT_EQUAL_UINT64(1000 * payload[0], message.log_time_ns);
        TEST_ASSERT_EQUAL_HEX64(payload[0] * UINT64_C(0x9e3779b97f4a7c15), payload[1]);
        (*records)++;
    }
    const struct io_mcap_recover_losses losses = *io_mcap_recover_losses(recovery);
    TEST_ASSERT_EQUAL_UINT64(*records, losses.messages);
    io_mcap_recover_close(recovery);
    return losses;
}

/* ---- damage ---- */

static void test_a_whole_log_has_lost_nothing(void)
{
    uint64_t records;
    make_log();
    const struct io_mcap_recover_losses losses = read_all(file.size, &records);
    TEST_ASSERT_EQUAL_UINT64(2 * CHUNKS * IN_CHUNK, records);
    TEST_ASSERT_TRUE(losses.complete);
    TEST_ASSERT_TRUE(losses.has_statistics);
    TEST_ASSERT_EQUAL_UINT64(records, losses.stated_messages);
    TEST_ASSERT_EQUAL_UINT64(CHUNKS, losses.chunks);
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(&losses));
}

/* At every length all whole chunks are read, and the rest is reported. */
static void test_a_log_cut_off_anywhere_keeps_its_whole_chunks(void)
{
    make_log();
    for (size_t size = chunk_at[0]; size < file.size; size += 13) {
        uint64_t records;
        const struct io_mcap_recover_losses losses = read_all(size, &records);
        uint64_t whole = 0; /* a chunk may be whole without its indexes */
        while (whole < CHUNKS && size >= chunk_at[whole + 1])
            whole++;
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(2 * IN_CHUNK * whole, records);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(2 * IN_CHUNK * (whole + 1), records);
        TEST_ASSERT_FALSE(losses.complete);
        TEST_ASSERT_FALSE_MESSAGE(io_mcap_recover_damaged(&losses), "only cut off");
    }
}

/* One wrong byte anywhere in the chunks: at most its chunk is lost. */
static void test_a_wrong_byte_costs_at_most_its_chunk(void)
{
    make_log();
    for (size_t at = chunk_at[0]; at < chunk_at[CHUNKS]; at += 7) {
        uint64_t records;
        file.data[at] ^= 0x5a;
        const struct io_mcap_recover_losses losses = read_all(file.size, &records);
        file.data[at] ^= 0x5a;
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(2 * IN_CHUNK * (CHUNKS - 1), records);
        TEST_ASSERT_TRUE(io_mcap_recover_damaged(&losses));
        TEST_ASSERT_EQUAL_UINT64(records == 2 * CHUNKS * IN_CHUNK,
                                 losses.stated_messages == records);
    }
}

static void test_a_hole_is_counted_and_the_records_behind_it_are_found(void)
{
    uint64_t records;
    make_log();
    memset(file.data + chunk_at[2] - 20, 0xff, chunk_at[4] - chunk_at[2] + 40);
    const struct io_mcap_recover_losses losses = read_all(file.size, &records);
    TEST_ASSERT_EQUAL_UINT64(2 * IN_CHUNK * (CHUNKS - 3), records); /* 2, 3, and 4 by its head */
    TEST_ASSERT_EQUAL_UINT64(1, losses.gaps);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(chunk_at[4] - chunk_at[2] + 40, losses.bytes_skipped);
    TEST_ASSERT_UINT64_WITHIN(2000, chunk_at[2], losses.first_gap);
}

/* The definitions are repeated in the summary. */
static void test_a_log_without_its_head_is_read_by_its_summary(void)
{
    uint64_t records;
    make_log();
    memset(file.data, 0, chunk_at[0]);
    const struct io_mcap_recover_losses losses = read_all(file.size, &records);
    TEST_ASSERT_EQUAL_UINT64(2 * CHUNKS * IN_CHUNK, records);
    TEST_ASSERT_EQUAL_UINT64(1, losses.gaps);
    TEST_ASSERT_EQUAL_UINT64(0, losses.without_channel);
}

static void test_records_of_undefined_channels_are_counted(void)
{
    uint64_t records;
    make_log();
    memset(file.data, 0, chunk_at[0]);
    const struct io_mcap_recover_losses losses = read_all(chunk_at[CHUNKS], &records);
    TEST_ASSERT_EQUAL_UINT64(0, records);
    TEST_ASSERT_EQUAL_UINT64(2 * CHUNKS * IN_CHUNK, losses.without_channel);
}

/* A topic that was damaged in the head is taken from the summary, which has a CRC. */
static void test_a_valid_summary_is_used_before_the_head(void)
{
    make_log();
    unsigned char *topic = memmem(file.data, chunk_at[0], "/a", 2);
    TEST_ASSERT_NOT_NULL(topic);
    topic[1] = 'x';
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    struct io_mcap_recover_channel channel;
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 0, &channel));
    TEST_ASSERT_EQUAL_STRING("/a", channel.topic);
    TEST_ASSERT_EQUAL_UINT64(1, io_mcap_recover_losses(recovery)->contradictions);
    io_mcap_recover_close(recovery);
}

static void test_attachments_and_metadata_come_along_and_bad_ones_do_not(void)
{
    struct io_mcap_recover_attachment attachment;
    struct io_mcap_recover_metadata pair;
    make_log();
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    TEST_ASSERT_TRUE(io_mcap_recover_attachment(recovery, 0, &attachment));
    TEST_ASSERT_EQUAL_MEMORY("a: 1\n", attachment.bytes.data, 5);
    TEST_ASSERT_FALSE(io_mcap_recover_attachment(recovery, 1, &attachment));
    TEST_ASSERT_TRUE(io_mcap_recover_metadata(recovery, 0, &pair));
    TEST_ASSERT_TRUE(io_slice_is(pair.key, "seed") && io_slice_is(pair.value, "7"));
    io_mcap_recover_close(recovery);

    ((unsigned char *)memmem(file.data, file.size, "a: 1\n", 5))[0] = 'b';
    recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    TEST_ASSERT_FALSE(io_mcap_recover_attachment(recovery, 0, &attachment));
    TEST_ASSERT_EQUAL_UINT64(1, io_mcap_recover_losses(recovery)->attachments_bad);
    io_mcap_recover_close(recovery);
}

/* A name has no control characters, so this is not a key. */
static void test_metadata_with_a_key_that_is_none_is_left_out(void)
{
    struct io_mcap_recover_metadata pair;
    make_log();
    ((unsigned char *)memmem(file.data, file.size, "seed", 4))[1] = '\n';
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    TEST_ASSERT_FALSE(io_mcap_recover_metadata(recovery, 0, &pair));
    io_mcap_recover_close(recovery);
}

static void test_what_is_no_log_is_refused_in_one_line(void)
{
    char text[4096];
    memset(text, 'x', sizeof text);
    TEST_ASSERT_NULL(io_mcap_recover_open_bytes(text, sizeof text, error));
    TEST_ASSERT_EQUAL_STRING("bytes: the file has no MCAP record", error);
    TEST_ASSERT_NULL(io_mcap_recover_open("/no/such/file", error));
    TEST_ASSERT_EQUAL_STRING("/no/such/file: No such file or directory", error);
}

/* ---- the schema's text ---- */

static void test_fields_lie_where_cdr_puts_them(void)
{
    static const struct {
        const char *name, *unit;
        size_t offset;
        uint32_t count;
    } expected[] = {{"a", "", 0, 1},       {"b", "N m s", 8, 3},  {"c", "", 32, 1},
                    {"d", "m/s^2", 36, 2}, {"e_ns", "ns", 48, 1}, {"f", "", 56, 1}};
    struct io_ros2msg schema =
        io_ros2msg_begin("# A message.\n\nuint8 a\nfloat64[3] b # N m s, of it\n"
                         "uint8 c # 0 none 1 fault\nfloat32[2] d# m/s^2\n"
                         "uint64 e_ns\nint16 f # a name, then more");
    struct io_ros2msg_field field;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        TEST_ASSERT_TRUE(io_ros2msg_next(&schema, &field));
        TEST_ASSERT_EQUAL_STRING(expected[i].name, field.name);
        TEST_ASSERT_EQUAL_STRING(expected[i].unit, field.unit);
        TEST_ASSERT_EQUAL_size_t(expected[i].offset, field.offset);
        TEST_ASSERT_EQUAL_UINT32(expected[i].count, field.count);
    }
    TEST_ASSERT_FALSE(io_ros2msg_next(&schema, &field));
    TEST_ASSERT_FALSE(schema.bad);
}

static void test_a_text_of_other_things_is_bad(void)
{
    static const char *const texts[] = {"string a",  "float64[] a", "float64[<=3] a",
                                        "float64",   "Point a",     "float64[0] a",
                                        "uint8 A=1", "uint8 a b",   "float64[99999999999] a"};
    struct io_ros2msg_field field;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct io_ros2msg schema = io_ros2msg_begin(texts[i]);
        TEST_ASSERT_FALSE_MESSAGE(io_ros2msg_next(&schema, &field), texts[i]);
        TEST_ASSERT_TRUE_MESSAGE(schema.bad, texts[i]);
    }
}

static void test_numbers_keep_all_their_bits(void)
{
    const struct {
        double d;
        float f;
        int16_t i;
        uint8_t u;
    } payload = {0.1, 0.1f, -300, 200};
    struct io_ros2msg schema = io_ros2msg_begin("float64 d\nfloat32 f\nint16 i\nuint8 u\n");
    static const char *const expected[] = {"0.10000000000000001", "0.100000001", "-300", "200"};
    struct io_ros2msg_field field;
    char text[32];
    for (int i = 0; io_ros2msg_next(&schema, &field); i++) {
        io_ros2msg_print(&field, 0, (const unsigned char *)&payload, text);
        TEST_ASSERT_EQUAL_STRING(expected[i], text);
    }
}

static void test_the_units_are_in_the_channel(void)
{
    struct io_mcap_recover_channel channel;
    make_log();
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 0, &channel));
    struct io_byte_reader map = io_byte_reader_of(channel.metadata);
    TEST_ASSERT_TRUE(io_slice_is(io_get_string(&map), "unit.torque"));
    TEST_ASSERT_TRUE(io_slice_is(io_get_string(&map), "N m"));
    TEST_ASSERT_EQUAL_size_t(0, map.left);
    io_mcap_recover_close(recovery);
}

/* ---- decimation ---- */

static bool triggers(void *self, int channel, const void *payload)
{
    uint64_t index;
    memcpy(&index, payload, sizeof index);
    return channel == A && index == *(const uint64_t *)self;
}

/* Channel B is decimated by 10; A is complete and triggers at record `at`.  Marks the records of
 * B in the log. */
static uint64_t thin(uint64_t at, uint64_t before, uint64_t after, uint32_t hold, bool there[200])
{
    static struct io_channel_spec specs[CHANNEL_COUNT];
    static struct io_decimate decimation;
    memcpy(specs, channels, sizeof specs);
    specs[B].every = 10;
    specs[B].hold = hold;
    const struct io_log_trigger trigger = {
        .seen = triggers, .self = &at, .before_ns = 1000 * before, .after_ns = 1000 * after};
    TEST_ASSERT_EQUAL_INT(0,
                          io_mcap_writer_open(&writer, path, specs, CHANNEL_COUNT, NULL, NULL, 0));
    TEST_ASSERT_EQUAL_INT(0, io_decimate_open(&decimation, specs, CHANNEL_COUNT, &trigger));
    for (uint64_t index = 0; index < 200; index++) {
        for (int channel = A; channel <= B; channel++) {
            uint64_t payload[2] = {index, index * UINT64_C(0x9e3779b97f4a7c15)};
            io_decimate_message(&decimation, &writer,
                                &(struct io_mcap_chunk_message){.channel = channel,
                                                                .sequence = (uint32_t)index,
                                                                .log_ns = 1000 * index,
                                                                .payload = payload,
                                                                .size = sizeof payload});
        }
    }
    io_mcap_writer_close(&writer, NULL, 0);
    io_decimate_close(&decimation);
    free(file.data);
    slurp();

    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    struct io_mcap_message message;
    uint64_t whole = 0;
    memset(there, 0, 200 * sizeof *there);
    while (io_mcap_recover_next(recovery, &message)) {
        whole += message.channel == 1;
        if (message.channel != 2)
            continue;
        TEST_ASSERT_FALSE_MESSAGE(there[message.sequence], "twice");
        there[message.sequence] = true;
    }
    TEST_ASSERT_EQUAL_UINT64(200, whole);
    io_mcap_recover_close(recovery);
    return decimation.decimated;
}

static uint64_t count_thinned(const bool there[200])
{
    uint64_t count = 0;
    for (int i = 0; i < 200; i++)
        count += !there[i];
    return count;
}

static void test_without_a_trigger_every_tenth_record_is_there(void)
{
    bool there[200];
    const uint64_t decimated = thin(1000, 20, 30, 64, there);
    for (int i = 0; i < 200; i++)
        TEST_ASSERT_EQUAL_INT_MESSAGE(i % 10 == 9, there[i], "every tenth");
    TEST_ASSERT_EQUAL_UINT64(180, decimated);
}

static void test_around_a_trigger_all_records_are_there(void)
{
    bool there[200];
    const uint64_t decimated = thin(100, 20, 30, 64, there);
    for (int i = 0; i < 200; i++)
        TEST_ASSERT_EQUAL_INT(i % 10 == 9 || (i >= 80 && i <= 130), there[i]);
    TEST_ASSERT_EQUAL_UINT64(count_thinned(there), decimated);
}

static void test_a_trigger_at_the_very_start_does_not_look_before_it(void)
{
    bool there[200];
    (void)thin(3, 20, 0, 64, there);
    for (int i = 0; i < 200; i++)
        TEST_ASSERT_EQUAL_INT(i % 10 == 9 || i <= 3, there[i]);
}

static void test_the_memory_before_a_trigger_is_bounded(void)
{
    bool there[200];
    const uint64_t decimated = thin(100, 60, 0, 9, there);
    for (int i = 0; i < 200; i++) /* nine held: 90 to 98 */
        TEST_ASSERT_EQUAL_INT(i % 10 == 9 || (i >= 90 && i <= 100), there[i]);
    TEST_ASSERT_EQUAL_UINT64(count_thinned(there), decimated);
}

/* ---- the schema's text, limit by limit ---- */

static void test_every_type_has_its_size_and_its_kind(void)
{
    static const struct {
        const char *name;
        char kind;
        uint32_t size;
    } types[] = {{"float64", 'f', 8}, {"float32", 'f', 4}, {"uint64", 'u', 8}, {"uint32", 'u', 4},
                 {"uint16", 'u', 2},  {"uint8", 'u', 1},   {"int64", 'i', 8},  {"int32", 'i', 4},
                 {"int16", 'i', 2},   {"int8", 'i', 1},    {"bool", 'u', 1},   {"byte", 'u', 1},
                 {"char", 'u', 1}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[64];
        struct io_ros2msg_field field;
        snprintf(text, sizeof text, "uint8 before\n%s[3] a\nuint8 behind\n", types[i].name);
        struct io_ros2msg schema = io_ros2msg_begin(text);
        TEST_ASSERT_TRUE(io_ros2msg_next(&schema, &field));
        TEST_ASSERT_FALSE(field.is_array);
        TEST_ASSERT_TRUE_MESSAGE(io_ros2msg_next(&schema, &field), text);
        TEST_ASSERT_EQUAL_INT(types[i].kind, field.kind);
        TEST_ASSERT_EQUAL_UINT32(types[i].size, field.size);
        TEST_ASSERT_EQUAL_UINT32(3, field.count);
        TEST_ASSERT_TRUE(field.is_array);
        TEST_ASSERT_EQUAL_size_t(types[i].size, field.offset); /* aligned, after one byte */
        TEST_ASSERT_TRUE(io_ros2msg_next(&schema, &field));
        TEST_ASSERT_EQUAL_size_t(4 * types[i].size, field.offset);
        snprintf(text, sizeof text, "%s5 a", types[i].name); /* longer than a type */
        schema = io_ros2msg_begin(text);
        TEST_ASSERT_FALSE_MESSAGE(io_ros2msg_next(&schema, &field), text);
    }
}

static bool is_field(const char *text, struct io_ros2msg_field *field)
{
    struct io_ros2msg schema = io_ros2msg_begin(text);
    const bool good = io_ros2msg_next(&schema, field);
    TEST_ASSERT_EQUAL_INT(!good, schema.bad);
    return good;
}

static void test_names_and_arrays_have_their_greatest_length(void)
{
    struct io_ros2msg_field field;
    char text[128], name[IO_ROS2MSG_NAME_MAX + 1];
    for (size_t length = IO_ROS2MSG_NAME_MAX - 1; length <= IO_ROS2MSG_NAME_MAX; length++) {
        memset(name, 'n', sizeof name);
        name[length] = '\0';
        snprintf(text, sizeof text, "uint8 %s", name);
        TEST_ASSERT_EQUAL_INT(length < IO_ROS2MSG_NAME_MAX, is_field(text, &field));
        if (length < IO_ROS2MSG_NAME_MAX)
            TEST_ASSERT_EQUAL_STRING(name, field.name);
    }
    TEST_ASSERT_TRUE(is_field("uint8[1048576] a", &field));
    TEST_ASSERT_EQUAL_UINT32(1048576, field.count);
    TEST_ASSERT_FALSE(is_field("uint8[1048577] a", &field));
    TEST_ASSERT_TRUE(is_field("uint8[1] a", &field));
    TEST_ASSERT_TRUE(field.is_array);
    TEST_ASSERT_FALSE(is_field("uint8[3]] a", &field));
    TEST_ASSERT_FALSE(is_field("uint8[3 a", &field));
    TEST_ASSERT_FALSE(is_field("uint8 a-b", &field));
    TEST_ASSERT_TRUE(is_field("uint8 a_B9", &field));
    TEST_ASSERT_TRUE(is_field("\t uint8 \t a \t\r\n", &field));
    TEST_ASSERT_EQUAL_STRING("a", field.name);
}

static void test_a_unit_consists_of_known_symbols(void)
{
    static const struct {
        const char *text, *unit;
    } cases[] = {
        {"uint8 a # A", "A"},
        {"uint8 a # Hz", "Hz"},
        {"uint8 a # J", "J"},
        {"uint8 a # N", "N"},
        {"uint8 a # Pa", "Pa"},
        {"uint8 a # T", "T"},
        {"uint8 a # V", "V"},
        {"uint8 a # W", "W"},
        {"uint8 a # deg", "deg"},
        {"uint8 a # kg m^2", "kg m^2"},
        {"uint8 a # K", "K"},
        {"uint8 a # rad/s", "rad/s"},
        {"uint8 a # ns", "ns"},
        {"uint8 a # us", "us"},
        {"uint8 a # %", "%"},
        {"uint8 a # m ; and more", "m"},
        {"uint8 a # m  , and more", "m"},
        {"uint8 a # metre", ""},
        {"uint8 a # m x", ""},
        {"uint8 a # m^x", ""},
        {"uint8 a # m^23", ""},
        {"uint8 a #", ""},
        {"uint8 a # , nothing", ""},
        {"uint8 a_ns # m", "ns"},
        {"uint8 a_us", "us"},
        {"uint8 _ns # m", "m"}, /* the suffix is the whole name */
        {"uint8 a_ms # m", "m"},
        {"uint8 a # m m m m m m m m m m m m", "m m m m m m m m m m m m"}, /* 23 letters */
        {"uint8 a # m m m m m m m m m m m kg", ""},                       /* 24 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct io_ros2msg_field field;
        TEST_ASSERT_TRUE_MESSAGE(is_field(cases[i].text, &field), cases[i].text);
        TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].unit, field.unit, cases[i].text);
    }
}

static void test_each_number_of_an_array_is_printed(void)
{
    const struct {
        int64_t big;
        int32_t many[3];
        int8_t small[2];
        uint16_t word;
        uint64_t most;
    } payload = {INT64_MIN, {1, -2, INT32_MAX}, {-128, 127}, 65535, UINT64_MAX};
    static const char *const expected[] = {
        "-9223372036854775808", "1", "-2", "2147483647", "-128", "127", "65535",
        "18446744073709551615"};
    struct io_ros2msg schema =
        io_ros2msg_begin("int64 big\nint32[3] many\nint8[2] small\nuint16 word\nuint64 most\n");
    struct io_ros2msg_field field;
    int at = 0;
    while (io_ros2msg_next(&schema, &field)) {
        for (uint32_t i = 0; i < field.count; i++) {
            char text[32];
            io_ros2msg_print(&field, i, (const unsigned char *)&payload, text);
            TEST_ASSERT_EQUAL_STRING(expected[at++], text);
        }
    }
    TEST_ASSERT_EQUAL_INT(8, at);
}

/* Two decimated channels are written in the order of their times, with all their contents. */
static void test_what_was_held_comes_in_order_of_time(void)
{
    static struct io_channel_spec specs[CHANNEL_COUNT];
    static struct io_decimate decimation;
    uint64_t at = 50, last = 0;
    memcpy(specs, channels, sizeof specs);
    specs[A].every = specs[B].every = 10;
    specs[A].hold = specs[B].hold = 64;
    const struct io_log_trigger trigger = {.seen = triggers, .self = &at, .before_ns = 20000};
    TEST_ASSERT_EQUAL_INT(0,
                          io_mcap_writer_open(&writer, path, specs, CHANNEL_COUNT, NULL, NULL, 0));
    TEST_ASSERT_EQUAL_INT(0, io_decimate_open(&decimation, specs, CHANNEL_COUNT, &trigger));
    for (uint64_t index = 0; index <= 50; index++) {
        for (int channel = B; channel >= A; channel--) {
            uint64_t payload[2] = {index, index * UINT64_C(0x9e3779b97f4a7c15)};
            io_decimate_message(
                &decimation, &writer,
                &(struct io_mcap_chunk_message){.channel = channel,
                                                .sequence = (uint32_t)index,
                                                .log_ns = 1000 * index + (channel == B ? 0 : 1),
                                                .payload = payload,
                                                .size = sizeof payload});
        }
    }
    io_mcap_writer_close(&writer, NULL, 0);
    io_decimate_close(&decimation);
    slurp();
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(file.data, file.size, error);
    struct io_mcap_message message;
    int held = 0;
    while (io_mcap_recover_next(recovery, &message)) {
        uint64_t payload[2];
        memcpy(payload, message.data + 4, sizeof payload);
        TEST_ASSERT_EQUAL_UINT64(message.sequence, payload[0]);
        TEST_ASSERT_EQUAL_HEX64(payload[0] * UINT64_C(0x9e3779b97f4a7c15), payload[1]);
        TEST_ASSERT_EQUAL_UINT64(1000 * payload[0] + (message.channel == 2 ? 0 : 1),
                                 message.log_time_ns);
        if (payload[0] % 10 == 9 || payload[0] == 50)
            continue; /* was never held, or is the trigger */
        TEST_ASSERT_GREATER_THAN_UINT64(last, message.log_time_ns);
        last = message.log_time_ns;
        held++;
    }
    /* 30 to 49 of A and 31 to 49 of B, but for the tenth ones: 30 of B is a nanosecond too old.
     * B's 50 was held as well, the trigger is A's, and five tenth ones are there of either. */
    TEST_ASSERT_EQUAL_INT(18 + 17, held);
    TEST_ASSERT_EQUAL_UINT64(18 + 17 + 1 + 1 + 10, io_mcap_recover_losses(recovery)->messages);
    io_mcap_recover_close(recovery);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_whole_log_has_lost_nothing);
    RUN_TEST(test_a_log_cut_off_anywhere_keeps_its_whole_chunks);
    RUN_TEST(test_a_wrong_byte_costs_at_most_its_chunk);
    RUN_TEST(test_a_hole_is_counted_and_the_records_behind_it_are_found);
    RUN_TEST(test_a_log_without_its_head_is_read_by_its_summary);
    RUN_TEST(test_records_of_undefined_channels_are_counted);
    RUN_TEST(test_a_valid_summary_is_used_before_the_head);
    RUN_TEST(test_attachments_and_metadata_come_along_and_bad_ones_do_not);
    RUN_TEST(test_metadata_with_a_key_that_is_none_is_left_out);
    RUN_TEST(test_what_is_no_log_is_refused_in_one_line);
    RUN_TEST(test_fields_lie_where_cdr_puts_them);
    RUN_TEST(test_a_text_of_other_things_is_bad);
    RUN_TEST(test_numbers_keep_all_their_bits);
    RUN_TEST(test_the_units_are_in_the_channel);
    RUN_TEST(test_without_a_trigger_every_tenth_record_is_there);
    RUN_TEST(test_around_a_trigger_all_records_are_there);
    RUN_TEST(test_a_trigger_at_the_very_start_does_not_look_before_it);
    RUN_TEST(test_the_memory_before_a_trigger_is_bounded);
    RUN_TEST(test_every_type_has_its_size_and_its_kind);
    RUN_TEST(test_names_and_arrays_have_their_greatest_length);
    RUN_TEST(test_a_unit_consists_of_known_symbols);
    RUN_TEST(test_each_number_of_an_array_is_printed);
    RUN_TEST(test_what_was_held_comes_in_order_of_time);
    return UNITY_END();
}
