/*
 * The scan of a file at open: headers, attachments, metadata, footers and summaries that are wrong.
 */
#include "tests/io/log/mcap_fixture.h"

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

/* The file is refused with this reason at offset `at`. */
static void assert_refused_at(size_t at, const char *what)
{
    char line[256];
    snprintf(line, sizeof line, "bytes: byte %zu: %s", at, what);
    assert_refused(line);
}

static struct forge content;

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
    assert_refused_at(8, "the header record is missing or truncated");
    file.size = 8;
    assert_refused_at(8, "the header record is missing or truncated");
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

/* An attachment with a name of this length. */
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

static void test_a_wrong_attachment_is_named_by_its_first_characters(void)
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

/* Writes a data end and a footer with this summary; returns the offset of the footer. */
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

static void test_a_footer_has_the_summary_offset_and_its_crc(void)
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
        (void)put_footer(0, has_summary, 0, false); /* without a summary */
        put_data(&file, "\x89MCAP0\r\n", 8);
        assert_read(0);
        forge_begin();
        const size_t summary = file.size + 13;
        (void)put_footer(1, has_summary, 0, true);
        snprintf(what, sizeof what, "footer gives a wrong start of the summary: byte %zu",
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
    assert_refused_at(end, "the footer must be followed by the magic and nothing else");
    file.data[file.size - 1] = '\n';
    assert_read(0);
    put(&file, 0, 1);
    assert_refused_at(end, "the footer must be followed by the magic and nothing else");
    file.size--;
    put_data(&file, "\x89MCAP0\r\n", 8); /* a second one */
    assert_refused_at(end, "the footer must be followed by the magic and nothing else");
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
    put_bytes_record(&file, 0x07, "x", 1); /* a message index is part of the data section */
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_length_past_the_end_is_a_fault_where_the_end_is_there);
    RUN_TEST(test_every_record_is_as_long_as_its_fields);
    RUN_TEST(test_a_file_begins_with_a_whole_header);
    RUN_TEST(test_texts_with_a_nul_are_refused);
    RUN_TEST(test_a_wrong_attachment_is_named_by_its_first_characters);
    RUN_TEST(test_many_attachments_and_metadata_are_all_found);
    RUN_TEST(test_a_footer_has_the_summary_offset_and_its_crc);
    RUN_TEST(test_a_footer_has_its_length_and_the_magic_alone_behind_it);
    RUN_TEST(test_summary_records_come_behind_the_data);
    RUN_TEST(test_the_data_have_their_crc);
    return UNITY_END();
}
