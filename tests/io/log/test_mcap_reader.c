/*
 * The reader with files of other writers: chunks, definitions and messages, right and wrong.
 */
#include "tests/io/log/mcap_fixture.h"

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

static void test_a_fault_after_a_chunk_leaves_the_chunk_readable(void)
{
    forge_begin();
    forge_message(&file, 9, 12, "x");
    put_data(&file, "\x0c\2\0\0\0\0\0\0\0ab", 11);
    forge_tail(&file);
    assert_message_then("bytes: byte 157: metadata record is too short for its fields");
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
    assert_chunk_refused("zstd", 1, "x", 1, "chunk is not a zstd frame of 1 bytes");
    assert_chunk_refused("zstd", 10, small, size, "chunk is not a zstd frame of 10 bytes");
    assert_chunk_refused("zstd", sizeof zeros + 1, small, size,
                         "chunk is not a zstd frame of 100001 bytes");
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
    assert_records_refused("channel 9 is defined twice with different contents");
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
    snprintf(line, sizeof line,
             "bytes: byte %zu: the definitions exceed 64 MiB, or out of memory, at schema 5",
             file.size);
    forge_schema_bomb(5);
    forge_tail(&file);
    assert_refused(line);
}

static void test_definitions_that_contradict_are_refused(void)
{
    forge_begin();
    forge_schema(&file, 3, "float64 x"); /* a repetition is accepted */
    forge_schema(&file, 3, "float64 y");
    assert_refused("bytes: byte 177: schema 3 is defined twice with different contents");
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

static void test_an_unknown_compression_is_reported_in_one_short_line(void)
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
    forge_schema(&file, 0, "another"); /* a schema with id 0 is ignored */
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

static void test_a_file_name_is_reported_whole_as_long_as_it_fits(void)
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

static void test_a_file_that_is_cut_while_it_is_read_is_reported(void)
{
    char line[256];
    struct io_mcap_message message;
    forge_begin();
    for (int i = 0; i < 8; i++) { /* more than the page that the reader has read last */
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_plain_chunks_with_their_own_definitions_are_read);
    RUN_TEST(test_messages_outside_chunks_are_read);
    RUN_TEST(test_unknown_records_are_skipped);
    RUN_TEST(test_the_smallest_file_is_a_header_and_a_footer);
    RUN_TEST(test_a_wrong_chunk_crc_is_reported_after_the_chunks_before_it);
    RUN_TEST(test_a_fault_after_a_chunk_leaves_the_chunk_readable);
    RUN_TEST(test_chunks_that_cannot_be_are_refused);
    RUN_TEST(test_records_that_cannot_be_in_a_chunk_are_refused);
    RUN_TEST(test_definitions_cannot_fill_the_memory);
    RUN_TEST(test_definitions_that_contradict_are_refused);
    RUN_TEST(test_what_is_no_mcap_file_is_refused_in_one_line);
    RUN_TEST(test_a_long_file_name_keeps_its_end_in_the_error);
    RUN_TEST(test_the_first_and_the_last_moment_belong_to_a_chunk);
    RUN_TEST(test_a_chunk_may_be_as_large_as_64_mib);
    RUN_TEST(test_an_unknown_compression_is_reported_in_one_short_line);
    RUN_TEST(test_a_chunk_holds_schemas_channels_messages_and_what_is_unknown);
    RUN_TEST(test_chunks_of_several_sizes_are_unpacked);
    RUN_TEST(test_a_schema_of_id_0_is_none);
    RUN_TEST(test_a_file_name_is_reported_whole_as_long_as_it_fits);
    RUN_TEST(test_a_file_that_is_cut_while_it_is_read_is_reported);
    return UNITY_END();
}
