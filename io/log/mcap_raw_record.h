/*
 * A record as it lies in a file, before anybody knows what it says.
 */
#pragma once

#include "io/log/byte_reader.h"
#include "io/log/mcap_record.h"

struct record {
    uint8_t opcode;
    size_t offset;
    struct io_slice content;
};

/* The record at `at` of the bytes; false when it is not whole.  Context: any. */
static inline bool record_at(struct io_slice bytes, size_t at, struct record *record)
{
    struct io_fields fields = {.at = bytes.data + at, .left = bytes.size - at};
    record->offset = at;
    record->opcode = io_get_u8(&fields);
    record->content = io_get_slice(&fields, io_get_u64(&fields));
    return !fields.bad;
}

static inline size_t record_end(const struct record *record)
{
    return record->offset + IO_MCAP_PREFIX_SIZE + record->content.size;
}
