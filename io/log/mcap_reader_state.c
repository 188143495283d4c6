/*
 * Tested by tests/io/log/test_mcap_reader.c and test_mcap_scan.c.
 */
#include "io/log/mcap_reader_state.h"

#include <stdarg.h>
#include <stdio.h>

/* Names come from the file, and a control character must not reach a terminal. */
static void keep_one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

__attribute__((format(printf, 3, 4))) int io_mcap_fail(struct io_mcap_reader *reader, size_t offset,
                                                       const char *format, ...)
{
    char what[IO_MCAP_ERROR_SIZE - IO_MCAP_NAME_SIZE - 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (atomic_load(&reader->source.gone))
        snprintf(what, sizeof what, "the file was truncated while it was being read");
    snprintf(reader->error, sizeof reader->error, "%s: byte %zu: %s", reader->name, offset, what);
    keep_one_line(reader->error);
    reader->fault = true;
    reader->end = reader->at = offset;
    reader->plain = (struct io_slice){0};
    reader->plain_at = 0;
    return -1;
}

static int define(struct io_mcap_reader *reader, size_t offset, bool channel, uint16_t id,
                  const struct io_mcap_raw_record *record, struct io_slice text, uint16_t schema)
{
    struct io_mcap_definitions *definitions = channel ? &reader->channels : &reader->schemas;
    const char *noun = channel ? "channel" : "schema";
    switch (io_mcap_define(definitions, id, record->content, text, schema)) {
    case IO_MCAP_DEFINED:
        return 0;
    case IO_MCAP_DEFINE_CONTRADICTS:
        return io_mcap_fail(reader, offset, "%s %u is defined twice with different contents", noun,
                            id);
    case IO_MCAP_DEFINE_TOO_MUCH:
        break;
    }
    return io_mcap_fail(reader, offset, "the definitions exceed 64 MiB, or out of memory, at %s %u",
                        noun, id);
}

int io_mcap_read_schema(struct io_mcap_reader *reader, size_t offset,
                        const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint16_t id = io_get_u16(&fields);
    (void)io_get_string(&fields); /* name */
    (void)io_get_string(&fields); /* encoding */
    const struct io_slice text = io_get_string(&fields);
    if (fields.bad)
        return io_mcap_fail(reader, offset, "schema record is too short for its fields");
    if (id == 0)
        return 0; /* the specification says to ignore it */
    return define(reader, offset, false, id, record, text, 0);
}

int io_mcap_read_channel(struct io_mcap_reader *reader, size_t offset,
                         const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint16_t id = io_get_u16(&fields);
    const uint16_t schema = io_get_u16(&fields);
    const struct io_slice topic = io_get_string(&fields);
    (void)io_get_string(&fields); /* message encoding */
    (void)io_get_string(&fields); /* metadata */
    if (fields.bad)
        return io_mcap_fail(reader, offset, "channel record is too short for its fields");
    if (io_slice_has_nul(topic))
        return io_mcap_fail(reader, offset, "topic of channel %u holds a NUL", id);
    return define(reader, offset, true, id, record, topic, schema);
}
