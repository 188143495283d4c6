/*
 * Which bytes are a record and which are not, for each kind and each limit, in files made by hand.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "io/log/byte_writer.h"
#include "io/log/mcap_recover.h"
#include "unity.h"

enum { NAME_MAX_SIZE = 4096, MAP_MAX_SIZE = 1 << 20, CHUNK_MAX_SIZE = 64 << 20 };

static struct io_byte_writer file, content, chunk;
static char error[256];
static struct io_mcap_recover *recovery;
static void *exact; /* a copy of the file in memory of exactly its size */

static const char magic[] = "\x89MCAP0\r\n";

static void put_record(struct io_byte_writer *to, int opcode, const void *bytes, size_t size)
{
    io_put_u8(to, (uint8_t)opcode);
    io_put_u64(to, size);
    io_put_raw(to, bytes, size);
}

static void put_content(int opcode)
{
    put_record(&file, opcode, content.data, content.size);
    io_byte_writer_clear(&content);
}

static void put_schema(struct io_byte_writer *to, uint16_t id, const char *name, const char *text)
{
    io_put_u16(&content, id);
    io_put_string(&content, name);
    io_put_string(&content, "ros2msg");
    io_put_string(&content, text);
    put_record(to, 0x03, content.data, content.size);
    io_byte_writer_clear(&content);
}

static void put_channel(struct io_byte_writer *to, uint16_t id, uint16_t schema, const char *topic)
{
    io_put_u16(&content, id);
    io_put_u16(&content, schema);
    io_put_string(&content, topic);
    io_put_string(&content, "cdr");
    io_put_u32(&content, 10);
    io_put_string(&content, "a");
    io_put_string(&content, "b");
    put_record(to, 0x04, content.data, content.size);
    io_byte_writer_clear(&content);
}

static void put_message(struct io_byte_writer *to, uint16_t channel, const char *data)
{
    io_put_u16(&content, channel);
    io_put_u32(&content, 77);
    io_put_u64(&content, 15);
    io_put_u64(&content, 16);
    io_put_raw(&content, data, strlen(data));
    put_record(to, 0x05, content.data, content.size);
    io_byte_writer_clear(&content);
}

static void put_chunk(const char *compression, uint64_t plain_size, uint32_t crc,
                      const void *stored, size_t size)
{
    io_put_u64(&content, 10);
    io_put_u64(&content, 20);
    io_put_u64(&content, plain_size);
    io_put_u32(&content, crc);
    io_put_string(&content, compression);
    io_put_u64(&content, size);
    io_put_raw(&content, stored, size);
    put_content(0x06);
}

/* A metadata record, after which the bytes before it have no effect. */
static void put_metadata(const char *value)
{
    io_put_string(&content, "name");
    io_put_u32(&content, (uint32_t)(8 + 3 + strlen(value)));
    io_put_string(&content, "key");
    io_put_string(&content, value);
    put_content(0x0c);
}

void setUp(void)
{
    io_byte_writer_clear(&file);
    io_byte_writer_clear(&content);
    io_byte_writer_clear(&chunk);
    io_put_raw(&file, magic, 8);
    error[0] = '\0';
}

static void end(void)
{
    io_mcap_recover_close(recovery);
    free(exact);
    recovery = NULL;
    exact = NULL;
}

void tearDown(void)
{
    end();
    io_byte_writer_free(&file);
    io_byte_writer_free(&content);
    io_byte_writer_free(&chunk);
}

static void begin(void)
{
    end();
    exact = malloc(file.size);
    TEST_ASSERT_NOT_NULL(exact);
    memcpy(exact, file.data, file.size);
    recovery = io_mcap_recover_open_bytes(exact, file.size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(recovery, error);
}

/* Read to the end; returns how many messages there are. */
static int read_all(struct io_mcap_recover_losses *losses)
{
    struct io_mcap_message message;
    int count = 0;
    begin();
    for (; io_mcap_recover_next(recovery, &message); count++)
        TEST_ASSERT_NOT_NULL(message.topic);
    *losses = *io_mcap_recover_losses(recovery);
    return count;
}

/* True when the bytes from `at` on are accepted as a record.  If not, exactly those bytes are
 * skipped. */
static bool is_taken(size_t at)
{
    struct io_mcap_recover_metadata pair = {0};
    const size_t behind = file.size;
    put_metadata("the last");
    begin();
    const struct io_mcap_recover_losses *losses = io_mcap_recover_losses(recovery);
    size_t count = 0;
    while (io_mcap_recover_metadata(recovery, count, &pair))
        count++;
    TEST_ASSERT_TRUE(io_slice_is(pair.value, "the last"));
    TEST_ASSERT_EQUAL_UINT64(0, losses->tail);
    if (losses->gaps == 0) {
        TEST_ASSERT_EQUAL_UINT64(0, losses->bytes_skipped);
        return true;
    }
    TEST_ASSERT_EQUAL_UINT64(1, losses->gaps);
    TEST_ASSERT_EQUAL_UINT64(at, losses->first_gap);
    TEST_ASSERT_EQUAL_UINT64(behind - at, losses->bytes_skipped);
    TEST_ASSERT_TRUE(io_mcap_recover_damaged(losses));
    return false;
}

static void put_filler(size_t size)
{
    for (size_t i = 0; i < size; i++)
        io_put_u8(&content, 0xee);
}

/* The whole content of a record of each kind. */
static void make(int opcode)
{
    switch (opcode) {
    case 0x01:
        io_put_string(&content, "profile");
        io_put_string(&content, "library");
        break;
    case 0x02:
        put_filler(20);
        break;
    case 0x03:
        put_filler(2);
        io_put_string(&content, "name");
        io_put_string(&content, "encoding");
        io_put_string(&content, "text\n\x01");
        break;
    case 0x04:
        put_filler(4);
        io_put_string(&content, "topic");
        io_put_string(&content, "cdr");
        io_put_u32(&content, 10);
        io_put_string(&content, "k");
        io_put_string(&content, "\n"); /* values may be anything */
        break;
    case 0x06:
        put_filler(16);
        io_put_u64(&content, 3);
        put_filler(4);
        io_put_string(&content, "zstd");
        io_put_u64(&content, 5);
        put_filler(5);
        break;
    case 0x07:
        put_filler(2);
        io_put_u32(&content, 32);
        put_filler(32);
        break;
    case 0x08:
        put_filler(32);
        io_put_u32(&content, 10);
        put_filler(10);
        put_filler(8);
        io_put_string(&content, "zstd");
        put_filler(16);
        break;
    case 0x09:
        put_filler(16);
        io_put_string(&content, "name");
        io_put_string(&content, "type");
        io_put_u64(&content, 3);
        put_filler(3);
        put_filler(4);
        break;
    case 0x0a:
        put_filler(40);
        io_put_string(&content, "name");
        io_put_string(&content, "type");
        break;
    case 0x0b:
        put_filler(42);
        io_put_u32(&content, 10);
        put_filler(10);
        break;
    case 0x0c:
        io_put_string(&content, "name");
        io_put_u32(&content, 10);
        io_put_string(&content, "k");
        io_put_string(&content, "v");
        break;
    case 0x0d:
        put_filler(16);
        io_put_string(&content, "name");
        break;
    case 0x0e:
        put_filler(17);
        break;
    case 0x0f:
        put_filler(4);
        break;
    default:
        break;
    }
}

static void test_the_fields_of_a_record_fill_it_exactly(void)
{
    for (int opcode = 0x01; opcode <= 0x0f; opcode++) {
        if (opcode == 0x05)
            continue;
        for (int off = -1; off <= 1; off++) {
            char what[32];
            snprintf(what, sizeof what, "kind %d, %d more", opcode, off);
            setUp();
            make(opcode);
            if (off > 0)
                io_put_u8(&content, 0xee);
            if (off < 0)
                content.size--;
            put_content(opcode);
            TEST_ASSERT_EQUAL_INT_MESSAGE(off == 0, is_taken(8), what);
        }
    }
}

static void test_a_message_has_a_head_and_any_data(void)
{
    static const unsigned char bytes[24];
    for (size_t size = 21; size <= 24; size++) {
        setUp();
        put_record(&file, 0x05, bytes, size);
        TEST_ASSERT_EQUAL_INT(size >= 22, is_taken(8));
    }
}

static void test_there_are_no_records_of_other_kinds(void)
{
    put_record(&file, 0x00, "\xee", 1);
    TEST_ASSERT_FALSE(is_taken(8));
    setUp();
    put_record(&file, 0x10, "\xee", 1);
    TEST_ASSERT_FALSE(is_taken(8));
}

static void test_a_name_has_no_control_characters(void)
{
    static const struct {
        char letter;
        bool good;
    } cases[] = {{'\0', false}, {0x1f, false}, {' ', true}, {'~', true}, {0x7f, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t place = 0; place < 3; place++) { /* first, middle, last */
            char name[] = "abc";
            name[place] = cases[i].letter;
            setUp();
            io_put_u32(&content, 3);
            io_put_raw(&content, name, 3);
            io_put_u32(&content, 0);
            put_content(0x0c);
            TEST_ASSERT_EQUAL_INT(cases[i].good, is_taken(8));
        }
    }
}

static void test_names_maps_and_chunks_have_their_greatest_size(void)
{
    static char name[NAME_MAX_SIZE + 2];
    for (int off = 0; off <= 1; off++) {
        setUp();
        memset(name, 'n', sizeof name);
        name[NAME_MAX_SIZE + off] = '\0';
        io_put_string(&content, name);
        io_put_u32(&content, 0);
        put_content(0x0c);
        TEST_ASSERT_EQUAL_INT(off == 0, is_taken(8));
        setUp();
        io_put_string(&content, "name");
        io_put_u32(&content, (uint32_t)(MAP_MAX_SIZE + off));
        io_put_string(&content, "key");
        io_put_u32(&content, (uint32_t)(MAP_MAX_SIZE + off - 11));
        put_filler((size_t)(MAP_MAX_SIZE + off - 11));
        put_content(0x0c);
        TEST_ASSERT_EQUAL_INT(off == 0, is_taken(8));
        setUp();
        put_chunk("", (uint64_t)(CHUNK_MAX_SIZE + off), 0, "", 0);
        TEST_ASSERT_EQUAL_INT(off == 0, is_taken(8));
    }
}

static void test_an_index_of_messages_has_whole_entries(void)
{
    for (uint32_t size = 0; size <= 32; size++) {
        setUp();
        put_filler(2);
        io_put_u32(&content, size);
        put_filler(size);
        put_content(0x07);
        TEST_ASSERT_EQUAL_INT(size % 16 == 0, is_taken(8));
    }
}

static void test_a_map_has_a_value_for_every_key(void)
{
    io_put_string(&content, "name");
    io_put_u32(&content, 7);
    io_put_string(&content, "key");
    put_content(0x0c);
    TEST_ASSERT_FALSE(is_taken(8));
}

/* After bytes that are not a record, short records are not accepted, nor is a footer without its
 * magic. */
static void test_short_records_are_no_landmarks(void)
{
    static const unsigned char zeros[22];
    static const struct {
        int opcode;
        size_t size;
    } cases[] = {{0x05, 22}, {0x0f, 4}, {0x02, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setUp();
        io_put_u8(&file, 0xff);
        put_record(&file, cases[i].opcode, zeros, cases[i].size);
        TEST_ASSERT_FALSE(is_taken(8)); /* all of it is skipped */
    }
    setUp();
    io_put_u8(&file, 0xff);
    put_record(&file, 0x02, zeros, 20);
    io_put_raw(&file, magic, 8);
    begin();
    TEST_ASSERT_EQUAL_UINT64(1, io_mcap_recover_losses(recovery)->gaps);
    TEST_ASSERT_EQUAL_UINT64(1, io_mcap_recover_losses(recovery)->bytes_skipped);
    TEST_ASSERT_EQUAL_UINT64(0, io_mcap_recover_losses(recovery)->tail);
    TEST_ASSERT_TRUE(io_mcap_recover_losses(recovery)->complete);
}

static void test_gaps_are_counted_one_by_one(void)
{
    for (int i = 0; i < 3; i++) {
        put_metadata("between");
        put_filler((size_t)i + 5);
        io_put_raw(&file, content.data, content.size);
        io_byte_writer_clear(&content);
    }
    put_metadata("last");
    const size_t whole = file.size;
    io_put_raw(&file, "\x0c\x01", 2);
    begin();
    const struct io_mcap_recover_losses *losses = io_mcap_recover_losses(recovery);
    TEST_ASSERT_EQUAL_UINT64(3, losses->gaps);
    TEST_ASSERT_EQUAL_UINT64(5 + 6 + 7, losses->bytes_skipped);
    TEST_ASSERT_EQUAL_UINT64(8 + 9 + 8 + 4 + 8 + 3 + 7, losses->first_gap);
    TEST_ASSERT_EQUAL_UINT64(file.size - whole, losses->tail);
    TEST_ASSERT_FALSE(losses->complete);
}

static void put_footer(uint64_t start, size_t crc_from, uint32_t crc_off, bool has_crc)
{
    io_put_u8(&file, 0x02);
    io_put_u64(&file, 20);
    io_put_u64(&file, start);
    io_put_u64(&file, 0);
    const uint32_t crc = (uint32_t)crc32_z(0, file.data + crc_from, file.size - crc_from);
    io_put_u32(&file, has_crc ? crc + crc_off : 0);
    io_put_raw(&file, magic, 8);
}

static void put_statistics(uint64_t messages)
{
    io_put_u64(&content, messages);
    put_filler(34);
    io_put_u32(&content, 0);
    put_content(0x0b);
}

static void test_the_smallest_file_is_a_footer_between_two_magics(void)
{
    put_footer(0, 8, 0, true);
    begin();
    TEST_ASSERT_TRUE(io_mcap_recover_losses(recovery)->complete);
    TEST_ASSERT_FALSE(io_mcap_recover_losses(recovery)->has_statistics);
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(io_mcap_recover_losses(recovery)));
    file.size--; /* cut off */
    begin();
    TEST_ASSERT_FALSE(io_mcap_recover_losses(recovery)->complete);
    file.data[file.size++] = 'x'; /* another end */
    begin();
    TEST_ASSERT_FALSE(io_mcap_recover_losses(recovery)->complete);
}

static void test_a_valid_summary_has_the_number_of_messages(void)
{
    struct io_mcap_recover_losses losses;
    for (int bad = 0; bad < 2; bad++) {
        setUp();
        put_channel(&file, 1, 0, "/a");
        put_message(&file, 1, "x");
        const size_t start = file.size;
        put_statistics(2);
        put_channel(&file, 1, 0, "/a");
        put_footer(start, start, (uint32_t)bad, true);
        TEST_ASSERT_EQUAL_INT(1, read_all(&losses));
        TEST_ASSERT_TRUE(losses.complete);
        TEST_ASSERT_EQUAL_INT(!bad, losses.has_statistics);
        TEST_ASSERT_EQUAL_UINT64(bad ? 0 : 2, losses.stated_messages);
        TEST_ASSERT_EQUAL_UINT64(0, losses.contradictions);
        TEST_ASSERT_EQUAL_INT(!bad, io_mcap_recover_damaged(&losses)); /* one is missing */
    }
    setUp();
    const size_t start = file.size; /* the first place where a summary can be */
    put_statistics(5);
    put_footer(start, start, 0, true);
    (void)read_all(&losses);
    TEST_ASSERT_TRUE(losses.has_statistics);
    TEST_ASSERT_EQUAL_UINT64(5, losses.stated_messages);
    setUp();
    put_statistics(5);
    put_footer(start, start, 0, false); /* without a CRC */
    (void)read_all(&losses);
    TEST_ASSERT_FALSE(losses.has_statistics);
    setUp();
    put_statistics(5);
    put_footer(7, 7, 0, true); /* within the magic */
    (void)read_all(&losses);
    TEST_ASSERT_TRUE(losses.complete);
    TEST_ASSERT_FALSE(losses.has_statistics);
    setUp();
    put_metadata("only");
    const size_t footer = file.size;
    put_footer(footer, footer, 0, true); /* an empty one */
    (void)read_all(&losses);
    TEST_ASSERT_TRUE(losses.complete);
    TEST_ASSERT_FALSE(losses.has_statistics);
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(&losses));
}

static void test_the_crc_of_the_data_is_looked_at_once(void)
{
    struct io_mcap_recover_losses losses;
    for (uint32_t off = 0; off < 2; off++) {
        setUp();
        put_metadata("some");
        io_put_u32(&content, (uint32_t)crc32_z(0, file.data, file.size) + off);
        put_content(0x0f);
        io_put_u32(&content, 1); /* wrong, and the second */
        put_content(0x0f);
        (void)read_all(&losses);
        TEST_ASSERT_EQUAL_INT(off == 1, losses.data_bad);
        TEST_ASSERT_EQUAL_INT(off == 1, io_mcap_recover_damaged(&losses));
    }
    setUp();
    put_metadata("some");
    io_put_u32(&content, 0); /* without a CRC */
    put_content(0x0f);
    (void)read_all(&losses);
    TEST_ASSERT_FALSE(losses.data_bad);
}

static void test_a_message_outside_a_chunk_is_read_whole(void)
{
    struct io_mcap_message message;
    put_channel(&file, 7, 0, "/seven");
    put_message(&file, 8, "nobody's");
    put_message(&file, 7, "data");
    begin();
    TEST_ASSERT_TRUE(io_mcap_recover_next(recovery, &message));
    TEST_ASSERT_EQUAL_UINT16(7, message.channel);
    TEST_ASSERT_EQUAL_STRING("/seven", message.topic);
    TEST_ASSERT_EQUAL_UINT32(77, message.sequence);
    TEST_ASSERT_EQUAL_UINT64(15, message.log_time_ns);
    TEST_ASSERT_EQUAL_UINT64(16, message.publish_time_ns);
    TEST_ASSERT_EQUAL_size_t(4, message.size);
    TEST_ASSERT_EQUAL_MEMORY("data", message.data, 4);
    TEST_ASSERT_FALSE(io_mcap_recover_next(recovery, &message));
    TEST_ASSERT_FALSE(io_mcap_recover_next(recovery, &message));
    TEST_ASSERT_EQUAL_UINT64(1, io_mcap_recover_losses(recovery)->without_channel);
    TEST_ASSERT_EQUAL_UINT64(0, io_mcap_recover_losses(recovery)->chunks);
}

static uint32_t chunk_crc(void)
{
    return (uint32_t)crc32_z(0, chunk.data, chunk.size);
}

static void test_chunks_that_cannot_be_are_counted_and_passed_over(void)
{
    struct io_mcap_recover_losses losses;
    static unsigned char stored[4096];
    put_channel(&file, 1, 0, "/a");
    put_message(&chunk, 1, "x");
    const size_t size = ZSTD_compress(stored, sizeof stored, chunk.data, chunk.size, 1);
    TEST_ASSERT_FALSE(ZSTD_isError(size));
    put_chunk("", chunk.size + 1, 0, chunk.data, chunk.size);           /* another size */
    put_chunk("", chunk.size - 1, 0, chunk.data, chunk.size);           /* and another */
    put_chunk("", chunk.size, chunk_crc() + 1, chunk.data, chunk.size); /* a wrong CRC */
    put_chunk("lz4", chunk.size, 0, chunk.data, chunk.size);            /* not known */
    put_chunk("zstd", chunk.size + 1, 0, stored, size);                 /* not that many bytes */
    put_chunk("zstd", chunk.size - 1, 0, stored, size);                 /* more */
    put_chunk("zstd", chunk.size, 0, stored, size - 1);                 /* cut off */
    put_chunk("zstd", chunk.size, chunk_crc() + 1, stored, size);       /* a wrong CRC */
    put_chunk("", chunk.size, chunk_crc(), chunk.data, chunk.size);     /* good */
    put_chunk("zstd", chunk.size, 0, stored, size);                     /* good */
    put_chunk("zstd", chunk.size, chunk_crc(), stored, size);           /* good */
    put_chunk("", chunk.size, 0, chunk.data, chunk.size);               /* good */
    TEST_ASSERT_EQUAL_INT(4, read_all(&losses));
    TEST_ASSERT_EQUAL_UINT64(12, losses.chunks);
    TEST_ASSERT_EQUAL_UINT64(8, losses.chunks_bad);
    TEST_ASSERT_EQUAL_UINT64(4, losses.messages);
    TEST_ASSERT_EQUAL_UINT64(0, losses.gaps);
}

static void test_chunks_of_several_sizes_are_unpacked(void)
{
    struct io_mcap_message message;
    static unsigned char stored[4096];
    static const size_t letters[] = {1000, 10, 3000, 3001};
    put_channel(&file, 1, 0, "/a");
    for (int i = 0; i < 4; i++) {
        char text[3002];
        memset(text, 'a' + i, sizeof text);
        text[letters[i]] = '\0';
        io_byte_writer_clear(&chunk);
        put_message(&chunk, 1, text);
        const size_t size = ZSTD_compress(stored, sizeof stored, chunk.data, chunk.size, 1);
        TEST_ASSERT_FALSE(ZSTD_isError(size));
        put_chunk("zstd", chunk.size, chunk_crc(), stored, size);
    }
    begin();
    for (int i = 0; i < 4; i++) {
        TEST_ASSERT_TRUE(io_mcap_recover_next(recovery, &message));
        TEST_ASSERT_EQUAL_size_t(letters[i], message.size);
        TEST_ASSERT_EQUAL_HEX8('a' + i, message.data[letters[i] - 1]);
    }
    TEST_ASSERT_FALSE(io_mcap_recover_next(recovery, &message));
}

static void test_a_chunk_is_read_up_to_the_record_that_is_cut_off(void)
{
    struct io_mcap_recover_losses losses;
    put_message(&chunk, 1, "too early"); /* its channel is not defined yet */
    put_schema(&chunk, 2, "pkg/msg/A", "uint8 a");
    put_channel(&chunk, 1, 2, "/a");
    put_record(&chunk, 0x05, "short", 5);
    put_record(&chunk, 0x55, "unknown", 7);
    put_message(&chunk, 1, "x");
    put_message(&chunk, 1, "cut off");
    chunk.size--;
    put_chunk("", chunk.size, chunk_crc(), chunk.data, chunk.size);
    TEST_ASSERT_EQUAL_INT(1, read_all(&losses));
    TEST_ASSERT_EQUAL_UINT64(1, losses.chunks);
    TEST_ASSERT_EQUAL_UINT64(1, losses.chunks_bad);
    TEST_ASSERT_EQUAL_UINT64(1, losses.without_channel);
    struct io_mcap_recover_channel channel;
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 1, &channel));
    TEST_ASSERT_EQUAL_STRING("uint8 a", channel.definition);
}

/* In a chunk the names have not been checked before. */
static void test_a_topic_with_a_nul_is_none(void)
{
    struct io_mcap_recover_channel channel;
    struct io_mcap_recover_losses losses;
    put_metadata("something");
    put_record(&chunk, 0x04, "\6\0\3\0\2\0\0\0a\0\0\0\0\0\0\0\0\0", 18);
    put_record(&chunk, 0x04, "\7\0\3\0\2\0\0\0a", 9); /* cut off */
    put_record(&chunk, 0x03, "\0\0\0\0\0\0\0\0\0\0\1\0\0\0a", 15);
    put_record(&chunk, 0x03, "\1\0\0\0\0\0\0\0\0\0\1\0\0\0", 14); /* cut off */
    put_chunk("", chunk.size, 0, chunk.data, chunk.size);
    TEST_ASSERT_EQUAL_INT(0, read_all(&losses));
    TEST_ASSERT_FALSE(io_mcap_recover_channel(recovery, 0, &channel));
    TEST_ASSERT_EQUAL_UINT64(0, losses.contradictions + losses.chunks_bad);
}

static void test_channels_are_found_in_the_order_of_their_ids(void)
{
    struct io_mcap_recover_channel channel;
    put_schema(&file, 3, "pkg/msg/A", "uint8 a");
    put_schema(&file, 0, "pkg/msg/None", "none");
    put_channel(&file, 0, 3, "/zero");
    put_channel(&file, UINT16_MAX, 0, "/last");
    put_channel(&file, 300, 4, "/dangling");
    begin();
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 0, &channel));
    TEST_ASSERT_EQUAL_UINT16(0, channel.id);
    TEST_ASSERT_EQUAL_STRING("/zero", channel.topic);
    TEST_ASSERT_TRUE(io_slice_is(channel.encoding, "cdr"));
    TEST_ASSERT_EQUAL_size_t(10, channel.metadata.size);
    TEST_ASSERT_EQUAL_MEMORY("\1\0\0\0a\1\0\0\0b", channel.metadata.data, 10);
    TEST_ASSERT_TRUE(io_slice_is(channel.schema_name, "pkg/msg/A"));
    TEST_ASSERT_TRUE(io_slice_is(channel.schema_encoding, "ros2msg"));
    TEST_ASSERT_EQUAL_STRING("uint8 a", channel.definition);
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 1, &channel));
    TEST_ASSERT_EQUAL_UINT16(300, channel.id);
    TEST_ASSERT_NULL(channel.definition);
    TEST_ASSERT_EQUAL_size_t(0, channel.schema_name.size + channel.schema_encoding.size);
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 300, &channel));
    TEST_ASSERT_EQUAL_UINT16(300, channel.id);
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 301, &channel));
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, channel.id);
    TEST_ASSERT_NULL(channel.definition); /* 0 is no schema */
    TEST_ASSERT_FALSE(io_mcap_recover_channel(recovery, UINT16_MAX + 1, &channel));
}

static void put_attachment(const char *name, uint32_t crc_off, bool has_crc)
{
    io_put_u64(&content, 1);
    io_put_u64(&content, 2);
    io_put_string(&content, name);
    io_put_string(&content, "text/plain");
    io_put_u64(&content, 3);
    io_put_raw(&content, "abc", 3);
    const uint32_t crc = (uint32_t)crc32_z(0, content.data, content.size) + crc_off;
    io_put_u32(&content, has_crc ? crc : 0);
    put_content(0x09);
}

static void test_many_attachments_and_pairs_are_kept_in_order(void)
{
    struct io_mcap_recover_attachment attachment;
    struct io_mcap_recover_metadata pair;
    char text[16];
    for (int i = 0; i < 9; i++) {
        sprintf(text, "text%d", i);
        put_attachment(text, 0, i % 2);
        put_attachment("bad", 1, true);
        put_metadata(text);
    }
    begin();
    for (size_t i = 0; i < 9; i++) {
        sprintf(text, "text%zu", i);
        TEST_ASSERT_TRUE(io_mcap_recover_attachment(recovery, i, &attachment));
        TEST_ASSERT_TRUE(io_slice_is(attachment.name, text));
        TEST_ASSERT_TRUE(io_slice_is(attachment.media_type, "text/plain"));
        TEST_ASSERT_TRUE(io_slice_is(attachment.bytes, "abc"));
        TEST_ASSERT_TRUE(io_mcap_recover_metadata(recovery, i, &pair));
        TEST_ASSERT_TRUE(io_slice_is(pair.record, "name"));
        TEST_ASSERT_TRUE(io_slice_is(pair.key, "key"));
        TEST_ASSERT_TRUE(io_slice_is(pair.value, text));
    }
    TEST_ASSERT_FALSE(io_mcap_recover_attachment(recovery, 9, &attachment));
    TEST_ASSERT_FALSE(io_mcap_recover_metadata(recovery, 9, &pair));
    TEST_ASSERT_EQUAL_UINT64(9, io_mcap_recover_losses(recovery)->attachments_bad);
}

static void test_every_loss_alone_is_damage_but_a_cut(void)
{
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(&(struct io_mcap_recover_losses){0}));
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(&(struct io_mcap_recover_losses){.tail = 1}));
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(&(struct io_mcap_recover_losses){.complete = true}));
    TEST_ASSERT_FALSE(
        io_mcap_recover_damaged(&(struct io_mcap_recover_losses){.stated_messages = 1}));
    TEST_ASSERT_FALSE(io_mcap_recover_damaged(&(struct io_mcap_recover_losses){
        .has_statistics = true, .stated_messages = 2, .messages = 2, .chunks = 1}));
    const struct io_mcap_recover_losses damaged[] = {
        {.data_bad = true},
        {.gaps = 1},
        {.chunks_bad = 1},
        {.attachments_bad = 1},
        {.contradictions = 1},
        {.without_channel = 1},
        {.has_statistics = true, .stated_messages = 1},
        {.has_statistics = true, .messages = 1},
        {.complete = true, .tail = 1},
    };
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++)
        TEST_ASSERT_TRUE(io_mcap_recover_damaged(&damaged[i]));
}

static void test_a_definition_that_contradicts_is_counted_and_the_first_stays(void)
{
    struct io_mcap_recover_channel channel;
    put_schema(&file, 1, "pkg/msg/A", "uint8 a");
    put_schema(&file, 1, "pkg/msg/A", "uint8 a");
    put_schema(&file, 1, "pkg/msg/A", "uint8 b");
    put_channel(&file, 1, 1, "/a");
    put_channel(&file, 1, 1, "/b");
    begin();
    TEST_ASSERT_EQUAL_UINT64(2, io_mcap_recover_losses(recovery)->contradictions);
    TEST_ASSERT_TRUE(io_mcap_recover_channel(recovery, 0, &channel));
    TEST_ASSERT_EQUAL_STRING("/a", channel.topic);
    TEST_ASSERT_EQUAL_STRING("uint8 a", channel.definition);
}

static void test_files_without_their_first_bytes_are_read(void)
{
    struct io_mcap_recover_losses losses;
    for (size_t cut = 1; cut <= 8; cut++) {
        setUp();
        put_channel(&file, 1, 0, "/a");
        put_message(&file, 1, "x");
        memmove(file.data, file.data + cut, file.size -= cut);
        TEST_ASSERT_EQUAL_INT(1, read_all(&losses));
        TEST_ASSERT_EQUAL_UINT64(cut < 8, losses.gaps);
        TEST_ASSERT_EQUAL_UINT64(0, losses.first_gap);
        TEST_ASSERT_EQUAL_UINT64(8 - cut, losses.bytes_skipped);
    }
}

static void test_files_are_opened_or_refused_by_name(void)
{
    char path[] = "/tmp/test_salvage_XXXXXX", line[256], long_name[300];
    const int fd = mkstemp(path);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(0, fd);
    TEST_ASSERT_NULL(io_mcap_recover_open(path, error));
    snprintf(line, sizeof line, "%s: the file is empty", path);
    TEST_ASSERT_EQUAL_STRING(line, error);
    TEST_ASSERT_EQUAL_INT64(4, write(fd, "text", 4));
    TEST_ASSERT_NULL(io_mcap_recover_open(path, error));
    snprintf(line, sizeof line, "%s: the file has no MCAP record", path);
    TEST_ASSERT_EQUAL_STRING(line, error);
    TEST_ASSERT_NULL(io_mcap_recover_open("/tmp", error));
    TEST_ASSERT_EQUAL_STRING("/tmp: not a regular file", error);
    put_channel(&file, 1, 0, "/a");
    put_message(&file, 1, "x");
    TEST_ASSERT_EQUAL_INT64((ssize_t)file.size, pwrite(fd, file.data, file.size, 0));
    struct io_mcap_message message;
    recovery = io_mcap_recover_open(path, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(recovery, error);
    TEST_ASSERT_TRUE(io_mcap_recover_next(recovery, &message));
    TEST_ASSERT_EQUAL_STRING("/a", message.topic);
    TEST_ASSERT_FALSE(io_mcap_recover_next(recovery, &message));
    (void)close(fd);
    (void)unlink(path);
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[299] = '\0';
    TEST_ASSERT_NULL(io_mcap_recover_open(long_name, error));
    snprintf(line, sizeof line, "%.150s: File name too long", long_name);
    TEST_ASSERT_EQUAL_STRING(line, error);
    io_mcap_recover_close(NULL);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_fields_of_a_record_fill_it_exactly);
    RUN_TEST(test_a_message_has_a_head_and_any_data);
    RUN_TEST(test_there_are_no_records_of_other_kinds);
    RUN_TEST(test_a_name_has_no_control_characters);
    RUN_TEST(test_names_maps_and_chunks_have_their_greatest_size);
    RUN_TEST(test_an_index_of_messages_has_whole_entries);
    RUN_TEST(test_a_map_has_a_value_for_every_key);
    RUN_TEST(test_short_records_are_no_landmarks);
    RUN_TEST(test_gaps_are_counted_one_by_one);
    RUN_TEST(test_the_smallest_file_is_a_footer_between_two_magics);
    RUN_TEST(test_a_valid_summary_has_the_number_of_messages);
    RUN_TEST(test_the_crc_of_the_data_is_looked_at_once);
    RUN_TEST(test_a_message_outside_a_chunk_is_read_whole);
    RUN_TEST(test_chunks_that_cannot_be_are_counted_and_passed_over);
    RUN_TEST(test_chunks_of_several_sizes_are_unpacked);
    RUN_TEST(test_a_chunk_is_read_up_to_the_record_that_is_cut_off);
    RUN_TEST(test_a_topic_with_a_nul_is_none);
    RUN_TEST(test_channels_are_found_in_the_order_of_their_ids);
    RUN_TEST(test_many_attachments_and_pairs_are_kept_in_order);
    RUN_TEST(test_every_loss_alone_is_damage_but_a_cut);
    RUN_TEST(test_a_definition_that_contradicts_is_counted_and_the_first_stays);
    RUN_TEST(test_files_without_their_first_bytes_are_read);
    RUN_TEST(test_files_are_opened_or_refused_by_name);
    return UNITY_END();
}
