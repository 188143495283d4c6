/*
 * The byte writer, the byte reader, definitions by their id, and a chunk with its indexes.
 */
#include "io/log/byte_writer.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "io/log/byte_reader.h"
#include "io/log/mcap_chunk.h"
#include "io/log/mcap_definitions.h"
#include "unity.h"

static struct io_byte_writer bytes;

void setUp(void)
{
}

void tearDown(void)
{
    io_byte_writer_free(&bytes);
}

static void test_memory_doubles_and_is_as_much_as_is_needed(void)
{
    static const unsigned char block[2000];
    io_put_raw(&bytes, block, 0);
    TEST_ASSERT_NULL(bytes.data); /* no bytes need no memory */
    io_put_u8(&bytes, 7);
    TEST_ASSERT_EQUAL_size_t(1, bytes.size);
    TEST_ASSERT_EQUAL_size_t(256, bytes.capacity);
    io_put_raw(&bytes, block, 255);
    TEST_ASSERT_EQUAL_size_t(256, bytes.size);
    TEST_ASSERT_EQUAL_size_t(256, bytes.capacity); /* full, and no more */
    TEST_ASSERT_TRUE(io_byte_writer_reserve(&bytes, 0));
    TEST_ASSERT_EQUAL_size_t(256, bytes.capacity);
    io_put_u8(&bytes, 9);
    TEST_ASSERT_EQUAL_size_t(512, bytes.capacity);
    TEST_ASSERT_TRUE(io_byte_writer_reserve(&bytes, 255));
    TEST_ASSERT_EQUAL_size_t(512, bytes.capacity);
    io_put_raw(&bytes, block, 2000);
    TEST_ASSERT_EQUAL_size_t(2257, bytes.size);
    TEST_ASSERT_EQUAL_size_t(2257, bytes.capacity);
    TEST_ASSERT_EQUAL_UINT8(7, bytes.data[0]);
    TEST_ASSERT_EQUAL_UINT8(9, bytes.data[256]);
    const unsigned char *data = bytes.data;
    io_byte_writer_clear(&bytes);
    TEST_ASSERT_EQUAL_size_t(0, bytes.size);
    TEST_ASSERT_EQUAL_PTR(data, bytes.data);
    TEST_ASSERT_EQUAL_size_t(2257, bytes.capacity);
    io_byte_writer_free(&bytes);
    TEST_ASSERT_NULL(bytes.data);
    TEST_ASSERT_EQUAL_size_t(0, bytes.capacity);
}

static void test_after_a_failure_nothing_is_put_until_it_is_forgiven(void)
{
    io_put_u32(&bytes, 0x04030201);
    bytes.failed = true;
    TEST_ASSERT_FALSE(io_byte_writer_reserve(&bytes, 1));
    io_put_u64(&bytes, 1);
    io_put_string(&bytes, "text");
    io_patch_u32(&bytes, 0, 0);
    TEST_ASSERT_EQUAL_size_t(4, bytes.size);
    TEST_ASSERT_EQUAL_MEMORY("\1\2\3\4", bytes.data, 4);
    io_byte_writer_clear(&bytes);
    TEST_ASSERT_FALSE(bytes.failed);
    io_put_u8(&bytes, 5);
    TEST_ASSERT_EQUAL_size_t(1, bytes.size);
}

static void test_numbers_are_little_endian_and_can_be_patched(void)
{
    io_put_u8(&bytes, 0x01);
    io_put_u16(&bytes, 0x0302);
    io_put_u32(&bytes, 0x07060504);
    io_put_u64(&bytes, 0x0f0e0d0c0b0a0908);
    io_put_string(&bytes, "abc");
    TEST_ASSERT_EQUAL_size_t(22, bytes.size);
    TEST_ASSERT_EQUAL_MEMORY("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\3\0\0\0abc", bytes.data, 22);
    io_patch_u32(&bytes, 3, 0xd3d2d1d0);
    io_patch_u64(&bytes, 7, 0xe7e6e5e4e3e2e1e0);
    io_patch_u32(&bytes, 18, 0x67666564); /* to the very end */
    TEST_ASSERT_EQUAL_MEMORY("\1\2\3\xd0\xd1\xd2\xd3\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xe7\3\0\0defg",
                             bytes.data, 22);
}

static void test_fields_are_read_back_and_the_end_is_detected(void)
{
    io_put_u8(&bytes, 0xf1);
    io_put_u16(&bytes, 0xf3f2);
    io_put_u32(&bytes, 0xf7f6f5f4);
    io_put_u64(&bytes, 0xfffefdfcfbfaf9f8);
    io_put_string(&bytes, "abc");
    for (size_t size = 0; size <= bytes.size; size++) {
        unsigned char *copy = malloc(size > 0 ? size : 1);
        memcpy(copy, bytes.data, size);
        struct io_byte_reader fields =
            io_byte_reader_of((struct io_slice){.data = copy, .size = size});
        TEST_ASSERT_EQUAL_HEX8(size >= 1 ? 0xf1 : 0, io_get_u8(&fields));
        TEST_ASSERT_EQUAL_HEX16(size >= 3 ? 0xf3f2 : 0, io_get_u16(&fields));
        TEST_ASSERT_EQUAL_HEX32(size >= 7 ? 0xf7f6f5f4 : 0, io_get_u32(&fields));
        TEST_ASSERT_EQUAL_HEX64(size >= 15 ? 0xfffefdfcfbfaf9f8 : 0, io_get_u64(&fields));
        const struct io_slice text = io_get_string(&fields);
        TEST_ASSERT_EQUAL_INT(size == 22, io_slice_is(text, "abc"));
        TEST_ASSERT_EQUAL_INT(size < 22, fields.bad);
        free(copy);
    }
    const struct io_slice abc = {.data = (const unsigned char *)"abc\0", .size = 3};
    TEST_ASSERT_FALSE(io_slice_is(abc, "ab"));
    TEST_ASSERT_FALSE(io_slice_is(abc, "abcd"));
    TEST_ASSERT_FALSE(io_slice_is(abc, "abd"));
    TEST_ASSERT_FALSE(io_slice_has_nul(abc));
    TEST_ASSERT_TRUE(io_slice_has_nul((struct io_slice){.data = abc.data, .size = 4}));
    TEST_ASSERT_FALSE(io_slice_has_nul((struct io_slice){0}));
}

static struct io_slice slice(const char *text)
{
    return (struct io_slice){.data = (const unsigned char *)text, .size = strlen(text)};
}

static void test_definitions_are_found_by_every_number(void)
{
    static struct io_mcap_definitions definitions;
    static const uint16_t ids[] = {0, 255, 256, 511, 65280, 65535};
    enum { COUNT = sizeof ids / sizeof ids[0] };
    char text[COUNT][8];
    for (int i = 0; i < COUNT; i++) {
        text[i][0] = (char)('a' + i);
        text[i][1] = '\0';
        TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, ids[i]));
        TEST_ASSERT_NULL(io_mcap_definition_by_text(&definitions, text[i]));
        TEST_ASSERT_EQUAL(IO_MCAP_DEFINED, io_mcap_define(&definitions, ids[i], slice("content"),
                                                          slice(text[i]), (uint16_t)(i + 1)));
    }
    for (int i = 0; i < COUNT; i++) {
        const struct io_mcap_definition *found = io_mcap_definition_find(&definitions, ids[i]);
        TEST_ASSERT_NOT_NULL(found);
        TEST_ASSERT_EQUAL_STRING(text[i], found->text);
        TEST_ASSERT_EQUAL_UINT16(i + 1, found->schema);
        TEST_ASSERT_EQUAL_size_t(7, found->size);
        TEST_ASSERT_EQUAL_MEMORY("content", found->content, 7);
        TEST_ASSERT_EQUAL_PTR(found, io_mcap_definition_by_text(&definitions, text[i]));
    }
    TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, 1));
    TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, 254));
    TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, 257));
    TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, 65534));
    TEST_ASSERT_EQUAL_size_t(COUNT * 8, definitions.bytes);
    io_mcap_definitions_free(&definitions);
    TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, 0));
    TEST_ASSERT_EQUAL_size_t(0, definitions.bytes);
}

static void test_a_definition_again_is_fine_and_another_contradicts(void)
{
    static struct io_mcap_definitions definitions;
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINED, io_mcap_define(&definitions, 5, slice("abc"), slice(""), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINED, io_mcap_define(&definitions, 5, slice("abc"), slice(""), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINE_CONTRADICTS,
                      io_mcap_define(&definitions, 5, slice("abd"), slice(""), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINE_CONTRADICTS,
                      io_mcap_define(&definitions, 5, slice("ab"), slice(""), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINE_CONTRADICTS,
                      io_mcap_define(&definitions, 5, slice("abcd"), slice(""), 0));
    TEST_ASSERT_EQUAL_size_t(3, definitions.bytes);
    io_mcap_definitions_free(&definitions);
}

static void test_definitions_hold_64_mib_and_no_byte_more(void)
{
    enum { ALL = 64 << 20 };
    static struct io_mcap_definitions definitions;
    unsigned char *large = calloc(1, ALL);
    TEST_ASSERT_NOT_NULL(large);
    const struct io_slice most = {.data = large, .size = ALL - 3};
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINED, io_mcap_define(&definitions, 1, most, slice("a"), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINE_TOO_MUCH,
                      io_mcap_define(&definitions, 2, slice("bc"), slice("d"), 0));
    TEST_ASSERT_NULL(io_mcap_definition_find(&definitions, 2));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINED, io_mcap_define(&definitions, 2, slice("b"), slice("d"), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINE_TOO_MUCH,
                      io_mcap_define(&definitions, 3, slice("b"), slice(""), 0));
    TEST_ASSERT_EQUAL(IO_MCAP_DEFINED, io_mcap_define(&definitions, 3, slice(""), slice(""), 0));
    io_mcap_definitions_free(&definitions);
    free(large);
}

/* ---- a chunk ---- */

static struct io_mcap_chunk chunk;

static uint64_t get(const unsigned char *at, int size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | at[size];
    return value;
}

/* Message i: channels 0, the last and 5 in turn, times in no order. */
static int channel_of(uint32_t i)
{
    const int channels[] = {0, IO_CHANNEL_MAX - 1, 5};
    return channels[i % 3];
}

static uint64_t time_of(uint32_t i)
{
    return 1000 + (uint64_t)i * 7919 % 5000;
}

static void add(uint32_t i)
{
    const struct io_mcap_chunk_message message = {
        .channel = channel_of(i),
        .sequence = i,
        .log_ns = time_of(i),
        .payload = &i,
        .size = sizeof i,
    };
    TEST_ASSERT_TRUE(io_mcap_chunk_add(&chunk, &message));
}

static void check_message(const unsigned char *at, uint32_t i)
{
    TEST_ASSERT_EQUAL_HEX8(0x05, at[0]);
    TEST_ASSERT_EQUAL_UINT64(22 + 4 + 4, get(at + 1, 8));
    TEST_ASSERT_EQUAL_UINT64((uint64_t)channel_of(i) + 1, get(at + 9, 2));
    TEST_ASSERT_EQUAL_UINT64(i, get(at + 11, 4));
    TEST_ASSERT_EQUAL_UINT64(time_of(i), get(at + 15, 8));
    TEST_ASSERT_EQUAL_UINT64(time_of(i), get(at + 23, 8));
    TEST_ASSERT_EQUAL_MEMORY("\0\1\0\0", at + 31, 4);
    TEST_ASSERT_EQUAL_UINT64(i, get(at + 35, 4));
}

/* More messages than a chunk has room for at first. */
static void test_a_chunk_finds_every_message_by_its_indexes(void)
{
    enum { COUNT = 4096 + 2, OFFSET = 123456, BEFORE = 11, ONE = 39 };
    static unsigned char plain[COUNT * ONE];
    struct io_mcap_chunk_facts facts;
    TEST_ASSERT_EQUAL_INT(0, io_mcap_chunk_open(&chunk));
    io_put_raw(&bytes, "from before", BEFORE);
    for (int round = 0; round < 2; round++) { /* the second is like the first */
        bytes.size = BEFORE;
        uint64_t first = UINT64_MAX, last = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            add(i);
            first = time_of(i) < first ? time_of(i) : first;
            last = time_of(i) > last ? time_of(i) : last;
        }
        TEST_ASSERT_EQUAL_INT(0, io_mcap_chunk_encode(&chunk, &bytes, OFFSET, &facts));
        TEST_ASSERT_EQUAL_MEMORY("from before", bytes.data, BEFORE);
        TEST_ASSERT_EQUAL_UINT64(first, facts.start_ns);
        TEST_ASSERT_EQUAL_UINT64(last, facts.end_ns);
        TEST_ASSERT_EQUAL_UINT64(COUNT * ONE, facts.plain_size);
        TEST_ASSERT_EQUAL_UINT64(OFFSET, facts.chunk.offset);

        const unsigned char *at = bytes.data + BEFORE;
        TEST_ASSERT_EQUAL_HEX8(0x06, at[0]);
        TEST_ASSERT_EQUAL_UINT64(9 + get(at + 1, 8), facts.chunk.length);
        TEST_ASSERT_EQUAL_UINT64(first, get(at + 9, 8));
        TEST_ASSERT_EQUAL_UINT64(last, get(at + 17, 8));
        TEST_ASSERT_EQUAL_UINT64(COUNT * ONE, get(at + 25, 8));
        TEST_ASSERT_EQUAL_UINT64(4, get(at + 37, 4));
        TEST_ASSERT_EQUAL_MEMORY("zstd", at + 41, 4);
        TEST_ASSERT_EQUAL_UINT64(facts.stored_size, get(at + 45, 8));
        TEST_ASSERT_EQUAL_UINT64(facts.chunk.length, 53 + facts.stored_size);
        TEST_ASSERT_EQUAL_size_t(
            sizeof plain, ZSTD_decompress(plain, sizeof plain, at + 53, (size_t)facts.stored_size));
        TEST_ASSERT_EQUAL_UINT64(crc32_z(0, plain, sizeof plain), get(at + 33, 4));
        for (uint32_t i = 0; i < COUNT; i++)
            check_message(plain + (size_t)i * ONE, i);

        TEST_ASSERT_EQUAL_UINT64(OFFSET + facts.chunk.length, facts.indexes.offset);
        TEST_ASSERT_EQUAL_UINT64(3 * 15 + COUNT * 16, facts.indexes.length);
        TEST_ASSERT_EQUAL_size_t(BEFORE + facts.chunk.length + facts.indexes.length, bytes.size);
        for (uint32_t c = 0; c < 3; c++) {
            const int channel = channel_of(c);
            const unsigned char *index = at + (facts.index_offset[channel] - OFFSET);
            TEST_ASSERT_EQUAL_UINT32(COUNT / 3, facts.records[channel]);
            TEST_ASSERT_EQUAL_HEX8(0x07, index[0]);
            TEST_ASSERT_EQUAL_UINT64(6 + 16 * (COUNT / 3), get(index + 1, 8));
            TEST_ASSERT_EQUAL_UINT64((uint64_t)channel + 1, get(index + 9, 2));
            TEST_ASSERT_EQUAL_UINT64(16 * (COUNT / 3), get(index + 11, 4));
            for (uint32_t k = 0; k < COUNT / 3; k++) {
                TEST_ASSERT_EQUAL_UINT64(time_of(3 * k + c), get(index + 15 + 16 * k, 8));
                TEST_ASSERT_EQUAL_UINT64((3 * k + c) * ONE, get(index + 23 + 16 * k, 8));
            }
        }
        TEST_ASSERT_EQUAL_UINT32(0, facts.records[1]);
        io_mcap_chunk_clear(&chunk);
    }
    io_mcap_chunk_free(&chunk);
}

static void test_a_chunk_of_one_message_begins_and_ends_with_it(void)
{
    struct io_mcap_chunk_facts facts;
    TEST_ASSERT_EQUAL_INT(0, io_mcap_chunk_open(&chunk));
    for (uint32_t i = 3; i > 0; i--) { /* earlier and later than the one before */
        add(i);
        TEST_ASSERT_EQUAL_INT(0, io_mcap_chunk_encode(&chunk, &bytes, 0, &facts));
        TEST_ASSERT_EQUAL_UINT64(time_of(i), facts.start_ns);
        TEST_ASSERT_EQUAL_UINT64(time_of(i), facts.end_ns);
        TEST_ASSERT_EQUAL_UINT32(1, facts.records[channel_of(i)]);
        io_mcap_chunk_clear(&chunk);
        TEST_ASSERT_EQUAL_UINT32(0, chunk.entry_count);
        TEST_ASSERT_EQUAL_size_t(0, chunk.plain.size);
    }
    io_mcap_chunk_free(&chunk);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_memory_doubles_and_is_as_much_as_is_needed);
    RUN_TEST(test_after_a_failure_nothing_is_put_until_it_is_forgiven);
    RUN_TEST(test_numbers_are_little_endian_and_can_be_patched);
    RUN_TEST(test_fields_are_read_back_and_the_end_is_detected);
    RUN_TEST(test_definitions_are_found_by_every_number);
    RUN_TEST(test_a_definition_again_is_fine_and_another_contradicts);
    RUN_TEST(test_definitions_hold_64_mib_and_no_byte_more);
    RUN_TEST(test_a_chunk_finds_every_message_by_its_indexes);
    RUN_TEST(test_a_chunk_of_one_message_begins_and_ends_with_it);
    return UNITY_END();
}
