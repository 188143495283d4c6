/*
 * The reader goes over the file twice.  At open, mcap_scan.c goes from record to record without
 * opening chunks.  Then io_mcap_next() reads the same records again and opens one chunk at a time.
 *
 *      0        first record                    end           size
 *      | magic  | header ... chunk, chunk ...   | cut or bad  |
 *
 * A file that ends without a footer is truncated: its whole records are read, and then it ends.  An
 * invalid record is a fault: the records before it are read, and then follows the error.
 */
#include "io/log/mcap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/log/mcap_reader_state.h"
#include "io/log/mcap_scan.h"

/* A message of a known channel.  Returns 1, or -1. */
static int read_message(struct io_mcap_reader *reader, size_t offset,
                        const struct io_mcap_raw_record *record, struct io_mcap_message *message)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint16_t id = io_get_u16(&fields);
    *message = (struct io_mcap_message){.channel = id};
    message->sequence = io_get_u32(&fields);
    message->log_time_ns = io_get_u64(&fields);
    message->publish_time_ns = io_get_u64(&fields);
    if (fields.bad)
        return io_mcap_fail(reader, offset, "message record is too short for its fields");
    const struct io_mcap_definition *channel = io_mcap_definition_find(&reader->channels, id);
    if (!channel)
        return io_mcap_fail(reader, offset, "message of channel %u, which is not defined", id);
    message->topic = channel->text;
    message->data = fields.at;
    message->size = fields.left;
    return 1;
}

/* ---- chunks ---- */

static int inflate_chunk(struct io_mcap_reader *reader, size_t offset, struct io_slice stored,
                         size_t plain_size)
{
    const unsigned long long told = ZSTD_getFrameContentSize(stored.data, stored.size);
    if (told == ZSTD_CONTENTSIZE_ERROR || (told != ZSTD_CONTENTSIZE_UNKNOWN && told != plain_size))
        return io_mcap_fail(reader, offset, "chunk is not a zstd frame of %zu bytes", plain_size);
    const char *why = NULL;
    const int failure =
        io_mcap_inflate(&reader->inflater, stored, plain_size, &reader->plain, &why);
    if (failure == -ENOMEM)
        return io_mcap_fail(reader, offset, "no memory for a chunk of %zu bytes", plain_size);
    if (failure)
        return io_mcap_fail(reader, offset, "chunk does not decompress: %s", why);
    return 0;
}

static int unpack_chunk(struct io_mcap_reader *reader, size_t offset, struct io_slice compression,
                        struct io_slice stored, uint64_t plain_size)
{
    if (plain_size > IO_MCAP_CHUNK_SIZE_MAX)
        return io_mcap_fail(reader, offset, "chunk claims %" PRIu64 " bytes, more than %d",
                            plain_size, IO_MCAP_CHUNK_SIZE_MAX);
    if (io_slice_is(compression, "zstd")) {
        if (inflate_chunk(reader, offset, stored, (size_t)plain_size) != 0)
            return -1;
    } else if (compression.size == 0) {
        reader->plain = stored;
    } else {
        return io_mcap_fail(
            reader, offset, "compression \"%.*s\" is not supported (only zstd and none)",
            compression.size > 32 ? 32 : (int)compression.size, (const char *)compression.data);
    }
    if (reader->plain.size != plain_size)
        return io_mcap_fail(reader, offset, "chunk holds %zu bytes and claims %" PRIu64,
                            reader->plain.size, plain_size);
    return 0;
}

static int open_chunk(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    reader->chunk_at = record->offset;
    reader->chunk_start_ns = io_get_u64(&fields);
    reader->chunk_end_ns = io_get_u64(&fields);
    const uint64_t plain_size = io_get_u64(&fields);
    const uint32_t crc = io_get_u32(&fields);
    const struct io_slice compression = io_get_string(&fields);
    const struct io_slice stored = io_get_slice(&fields, io_get_u64(&fields));
    if (fields.bad)
        return io_mcap_fail(reader, record->offset, "chunk record is too short for its fields");
    if (unpack_chunk(reader, record->offset, compression, stored, plain_size) != 0)
        return -1;
    if (crc != 0 && crc != crc32_z(0, reader->plain.data, reader->plain.size))
        return io_mcap_fail(reader, record->offset, "CRC of the chunk is wrong");
    reader->plain_at = 0;
    return 0;
}

static int chunk_message(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record,
                         struct io_mcap_message *message)
{
    if (read_message(reader, reader->chunk_at, record, message) != 1)
        return -1;
    if (message->log_time_ns < reader->chunk_start_ns ||
        message->log_time_ns > reader->chunk_end_ns)
        return io_mcap_fail(reader, reader->chunk_at,
                            "message at %" PRIu64 " ns is outside its chunk", message->log_time_ns);
    return 1;
}

/* The next message of the open chunk: 1, 0 when it has no more, -1. */
static int next_in_chunk(struct io_mcap_reader *reader, struct io_mcap_message *message)
{
    while (reader->plain_at < reader->plain.size) {
        struct io_mcap_raw_record record;
        if (!io_mcap_raw_record_at(reader->plain, reader->plain_at, &record))
            return io_mcap_fail(reader, reader->chunk_at,
                                "record at %zu reaches past the chunk's end", reader->plain_at);
        reader->plain_at = io_mcap_raw_record_end(&record);

        int result = 0;
        if (record.opcode == IO_MCAP_MESSAGE)
            result = chunk_message(reader, &record, message);
        else if (record.opcode == IO_MCAP_SCHEMA)
            result = io_mcap_read_schema(reader, reader->chunk_at, &record);
        else if (record.opcode == IO_MCAP_CHANNEL)
            result = io_mcap_read_channel(reader, reader->chunk_at, &record);
        else if (record.opcode <= IO_MCAP_DATA_END)
            result = io_mcap_fail(reader, reader->chunk_at, "record of kind %u inside a chunk",
                                  record.opcode);
        if (result != 0)
            return result;
    }
    return 0;
}

/* ---- records of the file ---- */

static int check_data(struct io_mcap_reader *reader, const struct io_mcap_raw_record *data_end)
{
    if (reader->crc_due != 0 && reader->crc != reader->crc_due)
        return io_mcap_fail(reader, data_end->offset, "CRC of the data section is wrong");
    return 0;
}

/* One record of the file: 1 with a message, 0 to go on, -1. */
static int read_file_record(struct io_mcap_reader *reader, struct io_mcap_message *message)
{
    struct io_mcap_raw_record record;
    if (!io_mcap_raw_record_at(reader->source.file, reader->at, &record))
        return io_mcap_fail(reader, reader->at,
                            "the record disappeared: the file changed while it was being read");
    if (record.opcode == IO_MCAP_DATA_END || record.opcode == IO_MCAP_FOOTER) {
        const int result = record.opcode == IO_MCAP_DATA_END ? check_data(reader, &record) : 0;
        reader->at = reader->end; /* the rest is summary */
        return result;
    }
    reader->at = io_mcap_raw_record_end(&record);
    if (reader->crc_due != 0)
        reader->crc = (uint32_t)crc32_z(reader->crc, reader->source.file.data + record.offset,
                                        reader->at - record.offset);
    if (record.opcode == IO_MCAP_CHUNK)
        return open_chunk(reader, &record);
    if (record.opcode == IO_MCAP_MESSAGE)
        return read_message(reader, record.offset, &record, message);
    return 0;
}

int io_mcap_next(struct io_mcap_reader *reader, struct io_mcap_message *message, char error[256])
{
    int result = 0;
    for (;;) {
        result = next_in_chunk(reader, message);
        if (result != 0 || reader->at >= reader->end)
            break;
        result = read_file_record(reader, message);
        if (result != 0)
            break;
    }
    if (atomic_load(&reader->source.gone) && !reader->fault)
        result = io_mcap_fail(reader, reader->at, " ");
    if (result == 1)
        return 1;
    if (!reader->fault)
        return 0;
    memcpy(error, reader->error, IO_MCAP_ERROR_SIZE);
    return -1;
}

/* ---- open and close ---- */

static struct io_mcap_reader *open_error(struct io_mcap_reader *reader, char error[256])
{
    memcpy(error, reader->error, IO_MCAP_ERROR_SIZE);
    io_mcap_close(reader);
    return NULL;
}

static void set_name(struct io_mcap_reader *reader, const char *name)
{
    const size_t size = strlen(name);
    if (size < IO_MCAP_NAME_SIZE)
        memcpy(reader->name, name, size + 1);
    else
        snprintf(reader->name, IO_MCAP_NAME_SIZE, "...%s", name + size - (IO_MCAP_NAME_SIZE - 4));
}

static struct io_mcap_reader *create(const char *name, char error[256])
{
    struct io_mcap_reader *reader = calloc(1, sizeof *reader);
    if (reader)
        set_name(reader, name);
    else
        snprintf(error, IO_MCAP_ERROR_SIZE, "%.128s: byte 0: no memory", name);
    return reader;
}

/* Scan the bytes.  After a fault before the first chunk there is nothing to read. */
static struct io_mcap_reader *scan_and_begin(struct io_mcap_reader *reader, char error[256])
{
    if (io_mcap_check_header(reader) != 0)
        return open_error(reader, error);
    io_mcap_scan(reader);
    if (reader->fault && !reader->has_data)
        return open_error(reader, error);
    reader->at = IO_MCAP_MAGIC_SIZE;
    reader->crc = (uint32_t)crc32_z(0, reader->source.file.data, IO_MCAP_MAGIC_SIZE);
    return reader;
}

struct io_mcap_reader *io_mcap_open_bytes(const void *bytes, size_t size, char error[256])
{
    struct io_mcap_reader *reader = create("bytes", error);
    if (!reader)
        return NULL;
    reader->source.file = (struct io_slice){.data = bytes, .size = size};
    return scan_and_begin(reader, error);
}

struct io_mcap_reader *io_mcap_open(const char *path, char error[256])
{
    struct io_mcap_reader *reader = create(path, error);
    if (!reader)
        return NULL;
    const char *wrong = io_mcap_source_open(&reader->source, path);
    if (!wrong)
        return scan_and_begin(reader, error);
    (void)io_mcap_fail(reader, 0, "%s", wrong);
    return open_error(reader, error);
}

bool io_mcap_complete(const struct io_mcap_reader *reader)
{
    return reader->complete;
}

const void *io_mcap_attachment(struct io_mcap_reader *reader, const char *name, size_t *size)
{
    for (size_t i = 0; i < reader->attachment_count; i++) {
        if (!io_slice_is(reader->attachments[i].name, name))
            continue;
        *size = reader->attachments[i].bytes.size;
        return reader->attachments[i].bytes.data;
    }
    return NULL;
}

const char *io_mcap_metadata(struct io_mcap_reader *reader, const char *record, const char *key)
{
    for (size_t i = 0; i < reader->metadata_count; i++) {
        const struct io_mcap_metadata_entry *metadata = &reader->metadata[i];
        if (io_slice_is(metadata->record, record) && io_slice_is(metadata->key, key))
            return metadata->value;
    }
    return NULL;
}

const char *io_mcap_schema(struct io_mcap_reader *reader, const char *topic)
{
    const struct io_mcap_definition *channel = io_mcap_definition_by_text(&reader->channels, topic);
    const struct io_mcap_definition *schema =
        channel ? io_mcap_definition_find(&reader->schemas, channel->schema) : NULL;
    return schema ? schema->text : NULL;
}

void io_mcap_close(struct io_mcap_reader *reader)
{
    if (!reader)
        return;
    io_mcap_definitions_free(&reader->schemas);
    io_mcap_definitions_free(&reader->channels);
    for (size_t i = 0; i < reader->metadata_count; i++)
        free(reader->metadata[i].value);
    free(reader->metadata);
    free(reader->attachments);
    io_mcap_inflater_free(&reader->inflater);
    io_mcap_source_close(&reader->source);
    free(reader);
}
