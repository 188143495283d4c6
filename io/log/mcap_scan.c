#include "io/log/mcap_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Makes room for one more item in an array that grows by doubling; NULL: out of memory. */
static void *grow(void *array, size_t count, size_t item_size)
{
    const bool full = (count & (count - 1)) == 0; /* 0 and powers of two */
    return full ? realloc(array, (count ? 2 * count : 1) * item_size) : array;
}

static int scan_attachment(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    (void)io_get_u64(&fields); /* log time */
    (void)io_get_u64(&fields); /* create time */
    struct io_mcap_attachment_entry attachment = {.name = io_get_string(&fields)};
    (void)io_get_string(&fields); /* media type */
    attachment.bytes = io_get_slice(&fields, io_get_u64(&fields));
    const size_t covered = record->content.size - fields.left;
    const uint32_t crc = io_get_u32(&fields);
    if (fields.bad)
        return io_mcap_fail(reader, record->offset,
                            "attachment record is too short for its fields");
    if (crc != 0 && crc != crc32_z(0, record->content.data, covered))
        return io_mcap_fail(reader, record->offset, "CRC of attachment \"%.*s\" is wrong",
                            attachment.name.size > 32 ? 32 : (int)attachment.name.size,
                            (const char *)attachment.name.data);

    struct io_mcap_attachment_entry *array =
        grow(reader->attachments, reader->attachment_count, sizeof *reader->attachments);
    if (!array)
        return io_mcap_fail(reader, record->offset, "no memory for attachments");
    reader->attachments = array;
    reader->attachments[reader->attachment_count++] = attachment;
    return 0;
}

static int add_metadata(struct io_mcap_reader *reader, size_t offset, struct io_slice record,
                        struct io_slice key, struct io_slice value)
{
    if (io_slice_has_nul(value))
        return io_mcap_fail(reader, offset, "metadata value holds a NUL");
    struct io_mcap_metadata_entry *array =
        grow(reader->metadata, reader->metadata_count, sizeof *reader->metadata);
    if (!array)
        return io_mcap_fail(reader, offset, "no memory for metadata");
    reader->metadata = array;
    char *text = malloc(value.size + 1);
    if (!text)
        return io_mcap_fail(reader, offset, "no memory for metadata");
    if (value.size > 0)
        memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    reader->metadata[reader->metadata_count++] =
        (struct io_mcap_metadata_entry){.record = record, .key = key, .value = text};
    return 0;
}

static int scan_metadata(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const struct io_slice name = io_get_string(&fields);
    struct io_byte_reader map = io_byte_reader_of(io_get_string(&fields));
    while (!fields.bad && map.left > 0) {
        const struct io_slice key = io_get_string(&map);
        const struct io_slice value = io_get_string(&map);
        fields.bad |= map.bad;
        if (!fields.bad && add_metadata(reader, record->offset, name, key, value) != 0)
            return -1;
    }
    if (fields.bad)
        return io_mcap_fail(reader, record->offset, "metadata record is too short for its fields");
    return 0;
}

static int scan_data_end(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    reader->crc_due = io_get_u32(&fields);
    reader->summary = io_mcap_raw_record_end(record);
    if (fields.bad)
        return io_mcap_fail(reader, record->offset, "data end record is too short for its fields");
    return 0;
}

/* The CRC covers the summary and the footer up to itself. */
static int check_summary(struct io_mcap_reader *reader, const struct io_mcap_raw_record *footer)
{
    struct io_byte_reader fields = io_byte_reader_of(footer->content);
    uint64_t start = io_get_u64(&fields);
    (void)io_get_u64(&fields); /* start of the summary offsets */
    const uint32_t crc = io_get_u32(&fields);
    if (fields.bad || fields.left > 0)
        return io_mcap_fail(reader, footer->offset, "footer is not %d bytes long",
                            IO_MCAP_FOOTER_SIZE);
    if (start != 0 && start != reader->summary)
        return io_mcap_fail(reader, footer->offset,
                            "footer gives a wrong start of the summary: byte %" PRIu64, start);
    if (start == 0)
        start = footer->offset; /* no summary */
    const size_t end = footer->offset + IO_MCAP_PREFIX_SIZE + 16;
    if (crc != 0 && crc != crc32_z(0, reader->source.file.data + start, end - (size_t)start))
        return io_mcap_fail(reader, footer->offset, "CRC of the summary is wrong");
    return 0;
}

static bool ends_with_magic(const struct io_mcap_reader *reader)
{
    const struct io_slice file = reader->source.file;
    return file.size >= IO_MCAP_MAGIC_SIZE && memcmp(file.data + file.size - IO_MCAP_MAGIC_SIZE,
                                                     io_mcap_magic, IO_MCAP_MAGIC_SIZE) == 0;
}

static int scan_footer(struct io_mcap_reader *reader, const struct io_mcap_raw_record *footer)
{
    if (check_summary(reader, footer) != 0)
        return -1;
    const size_t left = reader->source.file.size - io_mcap_raw_record_end(footer);
    if (left < IO_MCAP_MAGIC_SIZE)
        return 0; /* truncated within the last eight bytes */
    if (left > IO_MCAP_MAGIC_SIZE || !ends_with_magic(reader))
        return io_mcap_fail(reader, io_mcap_raw_record_end(footer),
                            "the footer must be followed by the magic and nothing else");
    reader->complete = true;
    return 0;
}

static int scan_record(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    switch (record->opcode) {
    case 0:
        return io_mcap_fail(reader, record->offset, "this is not a record");
    case IO_MCAP_SCHEMA:
        return io_mcap_read_schema(reader, record->offset, record);
    case IO_MCAP_CHANNEL:
        return io_mcap_read_channel(reader, record->offset, record);
    case IO_MCAP_ATTACHMENT:
        return scan_attachment(reader, record);
    case IO_MCAP_METADATA:
        return scan_metadata(reader, record);
    case IO_MCAP_DATA_END:
        return scan_data_end(reader, record);
    case IO_MCAP_FOOTER:
        return scan_footer(reader, record);
    case IO_MCAP_CHUNK:
    case IO_MCAP_MESSAGE:
        reader->has_data = true;
        return 0;
    case IO_MCAP_CHUNK_INDEX:
    case IO_MCAP_ATTACHMENT_INDEX:
    case IO_MCAP_STATISTICS:
    case IO_MCAP_METADATA_INDEX:
    case IO_MCAP_SUMMARY_OFFSET:
        if (reader->summary != 0)
            return 0; /* not needed here */
        return io_mcap_fail(reader, record->offset, "summary record without a data end before it");
    default:
        return 0; /* message indexes are not needed here; unknown records must be skipped */
    }
}

/* A record reaches past the end of the file: the file is truncated, or, if the closing magic is
 * there, the length is wrong. */
static void scan_cut(struct io_mcap_reader *reader)
{
    if (reader->end < reader->source.file.size && ends_with_magic(reader))
        io_mcap_fail(reader, reader->end, "record reaches past the end of the file");
}

void io_mcap_scan(struct io_mcap_reader *reader)
{
    struct io_mcap_raw_record record;
    reader->end = IO_MCAP_MAGIC_SIZE;
    while (io_mcap_raw_record_at(reader->source.file, reader->end, &record)) {
        if (scan_record(reader, &record) != 0)
            return;
        reader->end = io_mcap_raw_record_end(&record);
        if (record.opcode == IO_MCAP_FOOTER)
            return;
    }
    scan_cut(reader);
}

int io_mcap_check_header(struct io_mcap_reader *reader)
{
    struct io_mcap_raw_record record;
    if (reader->source.file.size < IO_MCAP_MAGIC_SIZE ||
        memcmp(reader->source.file.data, io_mcap_magic, IO_MCAP_MAGIC_SIZE) != 0)
        return io_mcap_fail(reader, 0, "not an MCAP file (no magic)");
    if (!io_mcap_raw_record_at(reader->source.file, IO_MCAP_MAGIC_SIZE, &record) ||
        record.opcode != IO_MCAP_HEADER)
        return io_mcap_fail(reader, IO_MCAP_MAGIC_SIZE,
                            "the header record is missing or truncated");
    struct io_byte_reader fields = io_byte_reader_of(record.content);
    (void)io_get_string(&fields); /* profile */
    (void)io_get_string(&fields); /* library */
    if (fields.bad)
        return io_mcap_fail(reader, IO_MCAP_MAGIC_SIZE,
                            "header record is too short for its fields");
    return 0;
}
