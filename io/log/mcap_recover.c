/*
 * At open the file is scanned once: records whose fields fill them exactly are accepted, and where
 * there is none the next one is searched byte by byte.  Chunks are only listed;
 * io_mcap_recover_next() opens them one after the other.
 *
 *      | magic | head | chunk | ??????????? | chunk | chunk | cut
 *                               bytes_skipped                 tail
 */
#include "io/log/mcap_recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/log/mcap_definitions.h"
#include "io/log/mcap_inflate.h"
#include "io/log/mcap_record_check.h"
#include "io/log/mcap_source.h"

enum { END_SIZE = IO_MCAP_PREFIX_SIZE + IO_MCAP_FOOTER_SIZE + IO_MCAP_MAGIC_SIZE };

/* An array that grows by doubling. */
struct list {
    void *items;
    size_t count;
};

struct io_mcap_recover {
    struct io_mcap_source source; /* in a file that was truncated meanwhile, CRCs are wrong */
    struct io_mcap_definitions schemas, channels;
    struct list chunks; /* raw records: chunks, and messages outside of chunks */
    struct list attachments, pairs;
    bool found; /* there is a record */
    bool data_ended;
    bool no_memory;
    struct io_mcap_recover_losses losses;

    size_t next_chunk;
    struct io_slice plain;
    size_t plain_at;
    struct io_mcap_inflater inflater;
};

static void push(struct io_mcap_recover *recovery, struct list *list, const void *item, size_t size)
{
    if ((list->count & (list->count - 1)) == 0) { /* 0 and powers of two: full */
        void *grown = realloc(list->items, (list->count ? 2 * list->count : 1) * size);
        if (!grown) {
            recovery->no_memory = true;
            return;
        }
        list->items = grown;
    }
    memcpy((unsigned char *)list->items + list->count++ * size, item, size);
}

/* ---- reading records ---- */

static void define(struct io_mcap_recover *recovery, bool channel, uint16_t id,
                   const struct io_mcap_raw_record *record, struct io_slice text, uint16_t schema)
{
    struct io_mcap_definitions *definitions = channel ? &recovery->channels : &recovery->schemas;
    if (io_mcap_define(definitions, id, record->content, text, schema) != IO_MCAP_DEFINED)
        recovery->losses.contradictions++;
}

/* Schemas and channels, in a chunk or outside. */
static void read_definition(struct io_mcap_recover *recovery,
                            const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint16_t id = io_get_u16(&fields);
    if (record->opcode == IO_MCAP_CHANNEL) {
        const uint16_t schema = io_get_u16(&fields);
        const struct io_slice topic = io_get_string(&fields);
        if (!fields.bad && !io_slice_has_nul(topic))
            define(recovery, true, id, record, topic, schema);
        return;
    }
    (void)io_get_string(&fields);
    (void)io_get_string(&fields);
    const struct io_slice text = io_get_string(&fields);
    if (!fields.bad && id != 0)
        define(recovery, false, id, record, text, 0);
}

static void read_attachment(struct io_mcap_recover *recovery,
                            const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    (void)io_get_slice(&fields, 8 + 8);
    struct io_mcap_recover_attachment attachment = {.name = io_get_string(&fields)};
    attachment.media_type = io_get_string(&fields);
    attachment.bytes = io_get_slice(&fields, io_get_u64(&fields));
    const uint32_t crc = io_get_u32(&fields);
    if (crc != 0 && crc != crc32_z(0, record->content.data, record->content.size - 4))
        recovery->losses.attachments_bad++;
    else
        push(recovery, &recovery->attachments, &attachment, sizeof attachment);
}

static void read_metadata(struct io_mcap_recover *recovery, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    struct io_mcap_recover_metadata pair = {.record = io_get_string(&fields)};
    struct io_byte_reader map = io_byte_reader_of(io_get_string(&fields));
    while (map.left > 0 && !map.bad) {
        pair.key = io_get_string(&map);
        pair.value = io_get_string(&map);
        if (!map.bad)
            push(recovery, &recovery->pairs, &pair, sizeof pair);
    }
}

/* Its CRC covers what no other CRC does: indexes, definitions, metadata.  Only the first such
 * record is checked, because the time for a file full of them would be quadratic in its size. */
static void read_data_end(struct io_mcap_recover *recovery, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint32_t crc = io_get_u32(&fields);
    if (recovery->data_ended)
        return;
    recovery->data_ended = true;
    recovery->losses.data_bad |=
        crc != 0 && crc != crc32_z(0, recovery->source.file.data, record->offset);
}

static void read_record(struct io_mcap_recover *recovery, const struct io_mcap_raw_record *record)
{
    recovery->found = true;
    switch (record->opcode) {
    case IO_MCAP_SCHEMA:
    case IO_MCAP_CHANNEL:
        read_definition(recovery, record);
        break;
    case IO_MCAP_ATTACHMENT:
        read_attachment(recovery, record);
        break;
    case IO_MCAP_METADATA:
        read_metadata(recovery, record);
        break;
    case IO_MCAP_DATA_END:
        read_data_end(recovery, record);
        break;
    case IO_MCAP_CHUNK:
    case IO_MCAP_MESSAGE:
        push(recovery, &recovery->chunks, record, sizeof *record);
        break;
    default:
        break; /* the other records repeat information of these */
    }
}

/* ---- the scan ---- */

static void note_gap(struct io_mcap_recover *recovery, size_t from, size_t to)
{
    struct io_mcap_recover_losses *losses = &recovery->losses;
    if (losses->gaps++ == 0)
        losses->first_gap = from;
    losses->bytes_skipped += to - from;
}

/* The next place where a record begins, or the end of the file. */
static size_t find_record(struct io_slice file, size_t at)
{
    struct io_mcap_raw_record record;
    while (at < file.size && !io_mcap_is_distinct_record(file, at, &record))
        at++;
    return at;
}

static void scan_file(struct io_mcap_recover *recovery)
{
    const struct io_slice file = recovery->source.file;
    const bool has_magic = file.size >= IO_MCAP_MAGIC_SIZE &&
                           memcmp(file.data, io_mcap_magic, IO_MCAP_MAGIC_SIZE) == 0;
    size_t at = has_magic ? IO_MCAP_MAGIC_SIZE : 0;
    while (at < file.size) {
        struct io_mcap_raw_record record;
        if (io_mcap_is_record(file, at, &record)) {
            read_record(recovery, &record);
            at = io_mcap_raw_record_end(&record);
            if (record.opcode == IO_MCAP_FOOTER && file.size - at == IO_MCAP_MAGIC_SIZE)
                return;
            continue;
        }
        const size_t next = find_record(file, at + 1);
        if (next == file.size)
            recovery->losses.tail = next - at;
        else
            note_gap(recovery, at, next);
        at = next;
    }
}

static void read_statistics(struct io_mcap_recover *recovery,
                            const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    recovery->losses.has_statistics = true;
    recovery->losses.stated_messages = io_get_u64(&fields);
}

/* The summary repeats the definitions and has a CRC. */
static void read_summary(struct io_mcap_recover *recovery)
{
    const struct io_slice file = recovery->source.file;
    struct io_mcap_raw_record footer, record;
    if (file.size < END_SIZE + IO_MCAP_MAGIC_SIZE ||
        memcmp(file.data + file.size - IO_MCAP_MAGIC_SIZE, io_mcap_magic, IO_MCAP_MAGIC_SIZE) !=
            0 ||
        !io_mcap_is_record(file, file.size - END_SIZE, &footer) || footer.opcode != IO_MCAP_FOOTER)
        return;
    struct io_byte_reader fields = io_byte_reader_of(footer.content);
    const uint64_t start = io_get_u64(&fields);
    (void)io_get_u64(&fields);
    const uint32_t crc = io_get_u32(&fields);
    recovery->losses.complete = true;
    if (start < IO_MCAP_MAGIC_SIZE || start >= footer.offset || crc == 0)
        return;
    const size_t size = footer.offset + IO_MCAP_PREFIX_SIZE + 16 - (size_t)start;
    if (crc32_z(0, file.data + start, size) != crc)
        return;
    for (size_t at = (size_t)start; at < footer.offset && io_mcap_is_record(file, at, &record);
         at = io_mcap_raw_record_end(&record)) {
        if (record.opcode == IO_MCAP_SCHEMA || record.opcode == IO_MCAP_CHANNEL)
            read_definition(recovery, &record);
        else if (record.opcode == IO_MCAP_STATISTICS)
            read_statistics(recovery, &record);
    }
}

/* ---- messages ---- */

static bool inflate_chunk(struct io_mcap_recover *recovery, struct io_slice stored, size_t size)
{
    const char *why;
    return io_mcap_inflate(&recovery->inflater, stored, size, &recovery->plain, &why) == 0 &&
           recovery->plain.size == size;
}

static bool open_chunk(struct io_mcap_recover *recovery, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    (void)io_get_slice(&fields, 8 + 8);
    const size_t size = (size_t)io_get_u64(&fields); /* checked by io_mcap_is_record() */
    const uint32_t crc = io_get_u32(&fields);
    const struct io_slice compression = io_get_string(&fields);
    const struct io_slice stored = io_get_slice(&fields, io_get_u64(&fields));
    recovery->plain = stored;
    recovery->plain_at = 0;
    const bool plain = io_slice_is(compression, "zstd")
                           ? inflate_chunk(recovery, stored, size)
                           : compression.size == 0 && stored.size == size;
    return plain && (crc == 0 || crc == crc32_z(0, recovery->plain.data, size));
}

static bool read_message(struct io_mcap_recover *recovery, const struct io_mcap_raw_record *record,
                         struct io_mcap_message *message)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    *message = (struct io_mcap_message){.channel = io_get_u16(&fields)};
    message->sequence = io_get_u32(&fields);
    message->log_time_ns = io_get_u64(&fields);
    message->publish_time_ns = io_get_u64(&fields);
    message->data = fields.at;
    message->size = fields.left;
    if (fields.bad)
        return false;
    const struct io_mcap_definition *channel =
        io_mcap_definition_find(&recovery->channels, message->channel);
    if (!channel) {
        recovery->losses.without_channel++;
        return false;
    }
    message->topic = channel->text;
    recovery->losses.messages++;
    return true;
}

static bool next_in_chunk(struct io_mcap_recover *recovery, struct io_mcap_message *message)
{
    struct io_mcap_raw_record record;
    while (recovery->plain_at < recovery->plain.size) {
        if (!io_mcap_raw_record_at(recovery->plain, recovery->plain_at, &record)) {
            recovery->losses.chunks_bad++;
            recovery->plain_at = recovery->plain.size;
            return false;
        }
        recovery->plain_at = io_mcap_raw_record_end(&record);
        if (record.opcode == IO_MCAP_SCHEMA || record.opcode == IO_MCAP_CHANNEL)
            read_definition(recovery, &record);
        else if (record.opcode == IO_MCAP_MESSAGE && read_message(recovery, &record, message))
            return true;
    }
    return false;
}

bool io_mcap_recover_next(struct io_mcap_recover *recovery, struct io_mcap_message *message)
{
    const struct io_mcap_raw_record *chunks = recovery->chunks.items;
    for (;;) {
        if (next_in_chunk(recovery, message))
            return true;
        if (recovery->next_chunk == recovery->chunks.count)
            return false;
        const struct io_mcap_raw_record *record = &chunks[recovery->next_chunk++];
        if (record->opcode == IO_MCAP_MESSAGE) {
            if (read_message(recovery, record, message))
                return true;
            continue;
        }
        recovery->losses.chunks++;
        if (!open_chunk(recovery, record)) {
            recovery->losses.chunks_bad++;
            recovery->plain = (struct io_slice){0};
        }
    }
}

/* ---- losses, channels, attachments, metadata ---- */

const struct io_mcap_recover_losses *io_mcap_recover_losses(const struct io_mcap_recover *recovery)
{
    return &recovery->losses;
}

bool io_mcap_recover_damaged(const struct io_mcap_recover_losses *losses)
{
    return losses->data_bad || losses->gaps > 0 || losses->chunks_bad > 0 ||
           losses->attachments_bad > 0 || losses->contradictions > 0 ||
           losses->without_channel > 0 ||
           (losses->has_statistics && losses->stated_messages != losses->messages) ||
           (losses->complete && losses->tail > 0);
}

bool io_mcap_recover_channel(const struct io_mcap_recover *recovery, unsigned id,
                             struct io_mcap_recover_channel *channel)
{
    const struct io_mcap_definition *found = NULL;
    for (; !found && id <= UINT16_MAX; id++)
        found = io_mcap_definition_find(&recovery->channels, (uint16_t)id);
    if (!found)
        return false;
    struct io_byte_reader fields =
        io_byte_reader_of((struct io_slice){.data = found->content, .size = found->size});
    *channel = (struct io_mcap_recover_channel){.id = (uint16_t)(id - 1), .topic = found->text};
    (void)io_get_u32(&fields);
    (void)io_get_string(&fields);
    channel->encoding = io_get_string(&fields);
    channel->metadata = io_get_string(&fields);
    const struct io_mcap_definition *schema =
        io_mcap_definition_find(&recovery->schemas, found->schema);
    if (!schema)
        return true;
    fields = io_byte_reader_of((struct io_slice){.data = schema->content, .size = schema->size});
    (void)io_get_u16(&fields);
    channel->schema_name = io_get_string(&fields);
    channel->schema_encoding = io_get_string(&fields);
    channel->definition = schema->text;
    return true;
}

bool io_mcap_recover_attachment(const struct io_mcap_recover *recovery, size_t index,
                                struct io_mcap_recover_attachment *attachment)
{
    const struct io_mcap_recover_attachment *items = recovery->attachments.items;
    if (index >= recovery->attachments.count)
        return false;
    *attachment = items[index];
    return true;
}

bool io_mcap_recover_metadata(const struct io_mcap_recover *recovery, size_t index,
                              struct io_mcap_recover_metadata *pair)
{
    const struct io_mcap_recover_metadata *items = recovery->pairs.items;
    if (index >= recovery->pairs.count)
        return false;
    *pair = items[index];
    return true;
}

/* ---- open and close ---- */

static struct io_mcap_recover *scan_and_begin(struct io_mcap_recover *recovery, const char *name,
                                              char error[256])
{
    read_summary(recovery);
    scan_file(recovery);
    if (recovery->found && !recovery->no_memory)
        return recovery;
    snprintf(error, 256, "%.200s: %s", name,
             recovery->no_memory ? "no memory" : "the file has no MCAP record");
    io_mcap_recover_close(recovery);
    return NULL;
}

struct io_mcap_recover *io_mcap_recover_open_bytes(const void *bytes, size_t size, char error[256])
{
    struct io_mcap_recover *recovery = calloc(1, sizeof *recovery);
    if (!recovery) {
        snprintf(error, 256, "bytes: no memory");
        return NULL;
    }
    recovery->source.file = (struct io_slice){.data = bytes, .size = size};
    return scan_and_begin(recovery, "bytes", error);
}

struct io_mcap_recover *io_mcap_recover_open(const char *path, char error[256])
{
    struct io_mcap_recover *recovery = calloc(1, sizeof *recovery);
    const char *wrong = recovery ? io_mcap_source_open(&recovery->source, path) : "no memory";
    if (!wrong)
        return scan_and_begin(recovery, path, error);
    snprintf(error, 256, "%.150s: %.90s", path, wrong);
    free(recovery);
    return NULL;
}

void io_mcap_recover_close(struct io_mcap_recover *recovery)
{
    if (!recovery)
        return;
    io_mcap_definitions_free(&recovery->schemas);
    io_mcap_definitions_free(&recovery->channels);
    free(recovery->chunks.items);
    free(recovery->attachments.items);
    free(recovery->pairs.items);
    io_mcap_inflater_free(&recovery->inflater);
    io_mcap_source_close(&recovery->source);
    free(recovery);
}
