/*
 * Tested by tests/io/log/test_mcap_recover_records.c.
 */
#include "io/log/mcap_record_check.h"

#include <string.h>

#include "io/log/mcap_inflate.h"

enum {
    TEXT_SIZE_MAX = 4096,       /* of a name; definitions may be longer */
    MAP_SIZE_MAX = 1024 * 1024, /* bounds a search for records, else quadratic in the file size */
    INDEX_ENTRY_SIZE = 16,
};

/* A name: short, without control characters. */
static void check_name(struct io_byte_reader *fields)
{
    const struct io_slice name = io_get_string(fields);
    fields->bad |= name.size > TEXT_SIZE_MAX;
    for (size_t i = 0; i < name.size && !fields->bad; i++)
        fields->bad |= name.data[i] < ' ' || name.data[i] == 0x7f;
}

static void check_map(struct io_byte_reader *fields)
{
    struct io_byte_reader map = io_byte_reader_of(io_get_string(fields));
    map.bad |= map.left > MAP_SIZE_MAX;
    while (!map.bad && map.left > 0) {
        check_name(&map);
        (void)io_get_string(&map);
    }
    fields->bad |= map.bad;
}

static void check_chunk(struct io_byte_reader *fields)
{
    (void)io_get_slice(fields, 8 + 8); /* first and last time: not used, so they may be wrong */
    fields->bad |= io_get_u64(fields) > IO_MCAP_CHUNK_SIZE_MAX;
    (void)io_get_u32(fields); /* CRC */
    check_name(fields);       /* compression */
    (void)io_get_slice(fields, io_get_u64(fields));
}

static void check_attachment(struct io_byte_reader *fields)
{
    (void)io_get_slice(fields, 8 + 8);
    check_name(fields);
    check_name(fields);
    (void)io_get_slice(fields, io_get_u64(fields));
    (void)io_get_u32(fields);
}

/* Reads all fields of a record; the caller checks that nothing is left and fields->bad is not
 * set. */
static void check_fields(uint8_t opcode, struct io_byte_reader *fields)
{
    switch (opcode) {
    case IO_MCAP_HEADER:
        check_name(fields);
        check_name(fields);
        break;
    case IO_MCAP_FOOTER:
        (void)io_get_slice(fields, IO_MCAP_FOOTER_SIZE);
        break;
    case IO_MCAP_SCHEMA:
        (void)io_get_u16(fields);
        check_name(fields);
        check_name(fields);
        (void)io_get_string(fields);
        break;
    case IO_MCAP_CHANNEL:
        (void)io_get_u32(fields); /* ids of channel and schema */
        check_name(fields);
        check_name(fields);
        check_map(fields);
        break;
    case IO_MCAP_CHUNK:
        check_chunk(fields);
        break;
    case IO_MCAP_MESSAGE_INDEX:
        (void)io_get_u16(fields);
        fields->bad |= io_get_string(fields).size % INDEX_ENTRY_SIZE != 0;
        break;
    case IO_MCAP_CHUNK_INDEX:
        (void)io_get_slice(fields, 32);
        (void)io_get_string(fields);
        (void)io_get_u64(fields);
        check_name(fields);
        (void)io_get_slice(fields, 16);
        break;
    case IO_MCAP_ATTACHMENT:
        check_attachment(fields);
        break;
    case IO_MCAP_ATTACHMENT_INDEX:
        (void)io_get_slice(fields, 40);
        check_name(fields);
        check_name(fields);
        break;
    case IO_MCAP_STATISTICS:
        (void)io_get_slice(fields, 8 + 2 + 4 * 4 + 16);
        (void)io_get_string(fields);
        break;
    case IO_MCAP_METADATA:
        check_name(fields);
        check_map(fields);
        break;
    case IO_MCAP_METADATA_INDEX:
        (void)io_get_slice(fields, 16);
        check_name(fields);
        break;
    case IO_MCAP_SUMMARY_OFFSET:
        (void)io_get_slice(fields, 17);
        break;
    case IO_MCAP_DATA_END:
        (void)io_get_u32(fields);
        break;
    default:
        fields->bad = true;
    }
}

bool io_mcap_is_record(struct io_slice file, size_t at, struct io_mcap_raw_record *record)
{
    if (!io_mcap_raw_record_at(file, at, record))
        return false;
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    if (record->opcode == IO_MCAP_MESSAGE) /* the data of a message are all that is left */
        return fields.left >= IO_MCAP_MESSAGE_SIZE;
    check_fields(record->opcode, &fields);
    return !fields.bad && fields.left == 0;
}

bool io_mcap_is_distinct_record(struct io_slice file, size_t at, struct io_mcap_raw_record *record)
{
    const uint8_t opcode = file.data[at];
    if (opcode == IO_MCAP_MESSAGE || opcode == IO_MCAP_DATA_END ||
        !io_mcap_is_record(file, at, record))
        return false;
    const size_t end = io_mcap_raw_record_end(record);
    return opcode != IO_MCAP_FOOTER ||
           (file.size - end >= IO_MCAP_MAGIC_SIZE &&
            memcmp(file.data + end, io_mcap_magic, IO_MCAP_MAGIC_SIZE) == 0);
}
