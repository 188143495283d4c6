/*
 * An MCAP record before its content is decoded: opcode, offset, bytes.
 */
#pragma once

#include "io/log/byte_reader.h"
#include "io/log/mcap_record.h"

struct io_mcap_raw_record {
    uint8_t opcode;
    size_t offset;
    struct io_slice content;
};

/* The record at `at` of the bytes; false when it is not whole.  Context: any. */
static inline bool io_mcap_raw_record_at(struct io_slice bytes, size_t at,
                                         struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = {.at = bytes.data + at, .left = bytes.size - at};
    record->offset = at;
    record->opcode = io_get_u8(&fields);
    record->content = io_get_slice(&fields, io_get_u64(&fields));
    return !fields.bad;
}

static inline size_t io_mcap_raw_record_end(const struct io_mcap_raw_record *record)
{
    return record->offset + IO_MCAP_PREFIX_SIZE + record->content.size;
}
