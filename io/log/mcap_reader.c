/*
 * The reader goes over the file twice.  At open it hops from record to record, without looking into
 * chunks, and learns how far the file is whole, its attachments, metadata and definitions.  Then
 * io_mcap_next walks the same records again and opens one chunk at a time.
 *
 *      0        first record                    end           size
 *      | magic  | header ... chunk, chunk ...   | cut or bad  |
 *
 * A file that just stops is cut off: what is whole is read, then comes the end.  A record that
 * cannot be is a fault: what lies before it is read, then comes the error.
 */
#include "io/log/mcap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "io/log/byte_reader.h"
#include "io/log/mcap_definitions.h"
#include "io/log/mcap_raw_record.h"
#include "io/log/mcap_record.h"
#include "rt/guarded_mapping.h"

enum {
    ERROR_SIZE = 256,
    NAME_SIZE = 128,
    CHUNK_SIZE_MAX = 64 * 1024 * 1024, /* plain; a larger claim is a bomb, not a chunk */
};

struct attachment {
    struct io_slice name, bytes;
};

struct metadata {
    struct io_slice record, key;
    char *value;
};

struct io_mcap_reader {
    char name[NAME_SIZE]; /* of the file, for errors; the end of it when it is long */
    struct io_slice file;
    bool mapped;
    atomic_bool gone; /* somebody made the file shorter while it was read */

    size_t end;       /* records before it are whole */
    bool complete;    /* the footer was seen */
    bool has_data;    /* a chunk or a message was seen */
    size_t summary;   /* where the data end record ends, 0 before it is seen */
    bool fault;       /* at end, and error says which */
    uint32_t crc_due; /* of the data section, 0 when not given */
    char error[ERROR_SIZE];

    struct io_mcap_definitions schemas, channels;
    struct attachment *attachments;
    size_t attachment_count;
    struct metadata *metadata;
    size_t metadata_count;

    size_t at;    /* the next record of the file */
    uint32_t crc; /* of the bytes before it */

    struct io_slice plain; /* records of the open chunk */
    size_t chunk_at;       /* where the chunk is in the file */
    size_t plain_at;       /* next record of the chunk */
    uint64_t chunk_start_ns, chunk_end_ns;
    unsigned char *inflated;
    size_t inflated_capacity;
    ZSTD_DCtx *inflater;
};

/* ---- faults ---- */

/* Names come from the file: no control character may reach a terminal. */
static void keep_one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

/* Stop here, with the reason, for good.  Returns -1. */
__attribute__((format(printf, 3, 4))) static int fail(struct io_mcap_reader *reader, size_t offset,
                                                      const char *format, ...)
{
    char what[ERROR_SIZE - NAME_SIZE - 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (atomic_load(&reader->gone))
        snprintf(what, sizeof what, "somebody made the file shorter while it was read");
    snprintf(reader->error, sizeof reader->error, "%s: byte %zu: %s", reader->name, offset, what);
    keep_one_line(reader->error);
    reader->fault = true;
    reader->end = reader->at = offset;
    reader->plain = (struct io_slice){0};
    reader->plain_at = 0;
    return -1;
}

static void set_name(struct io_mcap_reader *reader, const char *name)
{
    const size_t size = strlen(name);
    if (size < NAME_SIZE)
        memcpy(reader->name, name, size + 1);
    else
        snprintf(reader->name, NAME_SIZE, "...%s", name + size - (NAME_SIZE - 4));
}

/* ---- records ---- */

static int define(struct io_mcap_reader *reader, size_t offset, bool channel, uint16_t id,
                  const struct io_mcap_raw_record *record, struct io_slice text, uint16_t schema)
{
    struct io_mcap_definitions *definitions = channel ? &reader->channels : &reader->schemas;
    const char *noun = channel ? "channel" : "schema";
    switch (io_mcap_define(definitions, id, record->content, text, schema)) {
    case IO_MCAP_DEFINED:
        return 0;
    case IO_MCAP_DEFINE_CONTRADICTS:
        return fail(reader, offset, "%s %u is defined again and differently", noun, id);
    case IO_MCAP_DEFINE_TOO_MUCH:
        break;
    }
    return fail(reader, offset, "no room for the definition of %s %u", noun, id);
}

/* offset: the place to name in an error, which for a record in a chunk is the chunk's. */
static int read_schema(struct io_mcap_reader *reader, size_t offset,
                       const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint16_t id = io_get_u16(&fields);
    (void)io_get_string(&fields); /* name */
    (void)io_get_string(&fields); /* encoding */
    const struct io_slice text = io_get_string(&fields);
    if (fields.bad)
        return fail(reader, offset, "schema record is too short for its fields");
    if (id == 0)
        return 0; /* the specification says to ignore it */
    return define(reader, offset, false, id, record, text, 0);
}

static int read_channel(struct io_mcap_reader *reader, size_t offset,
                        const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    const uint16_t id = io_get_u16(&fields);
    const uint16_t schema = io_get_u16(&fields);
    const struct io_slice topic = io_get_string(&fields);
    (void)io_get_string(&fields); /* message encoding */
    (void)io_get_string(&fields); /* metadata */
    if (fields.bad)
        return fail(reader, offset, "channel record is too short for its fields");
    if (io_slice_has_nul(topic))
        return fail(reader, offset, "topic of channel %u holds a NUL", id);
    return define(reader, offset, true, id, record, topic, schema);
}

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
        return fail(reader, offset, "message record is too short for its fields");
    const struct io_mcap_definition *channel = io_mcap_definition_find(&reader->channels, id);
    if (!channel)
        return fail(reader, offset, "message of channel %u, which is not defined", id);
    message->topic = channel->text;
    message->data = fields.at;
    message->size = fields.left;
    return 1;
}

/* ---- the scan at open ---- */

/* One more item in an array that grows by doubling, or NULL. */
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
    struct attachment attachment = {.name = io_get_string(&fields)};
    (void)io_get_string(&fields); /* media type */
    attachment.bytes = io_get_slice(&fields, io_get_u64(&fields));
    const size_t covered = record->content.size - fields.left;
    const uint32_t crc = io_get_u32(&fields);
    if (fields.bad)
        return fail(reader, record->offset, "attachment record is too short for its fields");
    if (crc != 0 && crc != crc32_z(0, record->content.data, covered))
        return fail(reader, record->offset, "CRC of attachment \"%.*s\" is wrong",
                    attachment.name.size > 32 ? 32 : (int)attachment.name.size,
                    (const char *)attachment.name.data);

    struct attachment *array =
        grow(reader->attachments, reader->attachment_count, sizeof *reader->attachments);
    if (!array)
        return fail(reader, record->offset, "no memory for attachments");
    reader->attachments = array;
    reader->attachments[reader->attachment_count++] = attachment;
    return 0;
}

static int add_metadata(struct io_mcap_reader *reader, size_t offset, struct io_slice record,
                        struct io_slice key, struct io_slice value)
{
    if (io_slice_has_nul(value))
        return fail(reader, offset, "metadata value holds a NUL");
    struct metadata *array =
        grow(reader->metadata, reader->metadata_count, sizeof *reader->metadata);
    if (!array)
        return fail(reader, offset, "no memory for metadata");
    reader->metadata = array;
    char *text = malloc(value.size + 1);
    if (!text)
        return fail(reader, offset, "no memory for metadata");
    if (value.size > 0)
        memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    reader->metadata[reader->metadata_count++] =
        (struct metadata){.record = record, .key = key, .value = text};
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
        return fail(reader, record->offset, "metadata record is too short for its fields");
    return 0;
}

static int scan_data_end(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    struct io_byte_reader fields = io_byte_reader_of(record->content);
    reader->crc_due = io_get_u32(&fields);
    reader->summary = io_mcap_raw_record_end(record);
    if (fields.bad)
        return fail(reader, record->offset, "data end record is too short for its fields");
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
        return fail(reader, footer->offset, "footer is not %d bytes long", IO_MCAP_FOOTER_SIZE);
    if (start != 0 && start != reader->summary)
        return fail(reader, footer->offset, "footer puts the summary at byte %" PRIu64, start);
    if (start == 0)
        start = footer->offset; /* no summary */
    const size_t end = footer->offset + IO_MCAP_PREFIX_SIZE + 16;
    if (crc != 0 && crc != crc32_z(0, reader->file.data + start, end - (size_t)start))
        return fail(reader, footer->offset, "CRC of the summary is wrong");
    return 0;
}

static bool ends_with_magic(const struct io_mcap_reader *reader)
{
    const struct io_slice file = reader->file;
    return file.size >= IO_MCAP_MAGIC_SIZE && memcmp(file.data + file.size - IO_MCAP_MAGIC_SIZE,
                                                     io_mcap_magic, IO_MCAP_MAGIC_SIZE) == 0;
}

static int scan_footer(struct io_mcap_reader *reader, const struct io_mcap_raw_record *footer)
{
    if (check_summary(reader, footer) != 0)
        return -1;
    const size_t left = reader->file.size - io_mcap_raw_record_end(footer);
    if (left < IO_MCAP_MAGIC_SIZE)
        return 0; /* cut off within the last eight bytes */
    if (left > IO_MCAP_MAGIC_SIZE || !ends_with_magic(reader))
        return fail(reader, io_mcap_raw_record_end(footer),
                    "the footer is not followed by the magic alone");
    reader->complete = true;
    return 0;
}

static int scan_record(struct io_mcap_reader *reader, const struct io_mcap_raw_record *record)
{
    switch (record->opcode) {
    case 0:
        return fail(reader, record->offset, "this is not a record");
    case IO_MCAP_SCHEMA:
        return read_schema(reader, record->offset, record);
    case IO_MCAP_CHANNEL:
        return read_channel(reader, record->offset, record);
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
        return fail(reader, record->offset, "summary record without a data end before it");
    default:
        return 0; /* message indexes are not needed here; unknown records are to be skipped */
    }
}

/* A record reaches past the end of the file: cut off, or, where the end is there, a wrong length.
 */
static void scan_cut(struct io_mcap_reader *reader)
{
    if (reader->end < reader->file.size && ends_with_magic(reader))
        fail(reader, reader->end, "record reaches past the end of the file");
}

static void scan(struct io_mcap_reader *reader)
{
    struct io_mcap_raw_record record;
    reader->end = IO_MCAP_MAGIC_SIZE;
    while (io_mcap_raw_record_at(reader->file, reader->end, &record)) {
        if (scan_record(reader, &record) != 0)
            return;
        reader->end = io_mcap_raw_record_end(&record);
        if (record.opcode == IO_MCAP_FOOTER)
            return;
    }
    scan_cut(reader);
}

static int check_header(struct io_mcap_reader *reader)
{
    struct io_mcap_raw_record record;
    if (reader->file.size < IO_MCAP_MAGIC_SIZE ||
        memcmp(reader->file.data, io_mcap_magic, IO_MCAP_MAGIC_SIZE) != 0)
        return fail(reader, 0, "not an MCAP file (no magic)");
    if (!io_mcap_raw_record_at(reader->file, IO_MCAP_MAGIC_SIZE, &record) ||
        record.opcode != IO_MCAP_HEADER)
        return fail(reader, IO_MCAP_MAGIC_SIZE, "no whole header record");
    struct io_byte_reader fields = io_byte_reader_of(record.content);
    (void)io_get_string(&fields); /* profile */
    (void)io_get_string(&fields); /* library */
    if (fields.bad)
        return fail(reader, IO_MCAP_MAGIC_SIZE, "header record is too short for its fields");
    return 0;
}

/* ---- chunks ---- */

static int inflate_chunk(struct io_mcap_reader *reader, size_t offset, struct io_slice stored,
                         size_t plain_size)
{
    const unsigned long long told = ZSTD_getFrameContentSize(stored.data, stored.size);
    if (told == ZSTD_CONTENTSIZE_ERROR || (told != ZSTD_CONTENTSIZE_UNKNOWN && told != plain_size))
        return fail(reader, offset, "chunk is no zstd frame of %zu bytes", plain_size);
    if (reader->inflated_capacity < plain_size || !reader->inflated) {
        free(reader->inflated);
        reader->inflated_capacity = plain_size;
        reader->inflated = malloc(plain_size + 1);
    }
    if (!reader->inflater)
        reader->inflater = ZSTD_createDCtx();
    if (!reader->inflated || !reader->inflater)
        return fail(reader, offset, "no memory for a chunk of %zu bytes", plain_size);

    const size_t size = ZSTD_decompressDCtx(reader->inflater, reader->inflated, plain_size,
                                            stored.data, stored.size);
    if (ZSTD_isError(size))
        return fail(reader, offset, "chunk does not decompress: %s", ZSTD_getErrorName(size));
    reader->plain = (struct io_slice){.data = reader->inflated, .size = size};
    return 0;
}

static int unpack_chunk(struct io_mcap_reader *reader, size_t offset, struct io_slice compression,
                        struct io_slice stored, uint64_t plain_size)
{
    if (plain_size > CHUNK_SIZE_MAX)
        return fail(reader, offset, "chunk claims %" PRIu64 " bytes, more than %d", plain_size,
                    CHUNK_SIZE_MAX);
    if (io_slice_is(compression, "zstd")) {
        if (inflate_chunk(reader, offset, stored, (size_t)plain_size) != 0)
            return -1;
    } else if (compression.size == 0) {
        reader->plain = stored;
    } else {
        return fail(reader, offset, "compression \"%.*s\" is not supported (only zstd and none)",
                    compression.size > 32 ? 32 : (int)compression.size,
                    (const char *)compression.data);
    }
    if (reader->plain.size != plain_size)
        return fail(reader, offset, "chunk holds %zu bytes and claims %" PRIu64, reader->plain.size,
                    plain_size);
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
        return fail(reader, record->offset, "chunk record is too short for its fields");
    if (unpack_chunk(reader, record->offset, compression, stored, plain_size) != 0)
        return -1;
    if (crc != 0 && crc != crc32_z(0, reader->plain.data, reader->plain.size))
        return fail(reader, record->offset, "CRC of the chunk is wrong");
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
        return fail(reader, reader->chunk_at, "message at %" PRIu64 " ns is outside its chunk",
                    message->log_time_ns);
    return 1;
}

/* The next message of the open chunk: 1, 0 when it has no more, -1. */
static int next_in_chunk(struct io_mcap_reader *reader, struct io_mcap_message *message)
{
    while (reader->plain_at < reader->plain.size) {
        struct io_mcap_raw_record record;
        if (!io_mcap_raw_record_at(reader->plain, reader->plain_at, &record))
            return fail(reader, reader->chunk_at, "record at %zu reaches past the chunk's end",
                        reader->plain_at);
        reader->plain_at = io_mcap_raw_record_end(&record);

        int result = 0;
        if (record.opcode == IO_MCAP_MESSAGE)
            result = chunk_message(reader, &record, message);
        else if (record.opcode == IO_MCAP_SCHEMA)
            result = read_schema(reader, reader->chunk_at, &record);
        else if (record.opcode == IO_MCAP_CHANNEL)
            result = read_channel(reader, reader->chunk_at, &record);
        else if (record.opcode <= IO_MCAP_DATA_END)
            result =
                fail(reader, reader->chunk_at, "record of kind %u inside a chunk", record.opcode);
        if (result != 0)
            return result;
    }
    return 0;
}

/* ---- the walk ---- */

static int check_data(struct io_mcap_reader *reader, const struct io_mcap_raw_record *data_end)
{
    if (reader->crc_due != 0 && reader->crc != reader->crc_due)
        return fail(reader, data_end->offset, "CRC of the data section is wrong");
    return 0;
}

/* One record of the file: 1 with a message, 0 to go on, -1. */
static int read_file_record(struct io_mcap_reader *reader, struct io_mcap_message *message)
{
    struct io_mcap_raw_record record;
    if (!io_mcap_raw_record_at(reader->file, reader->at, &record))
        return fail(reader, reader->at, "record is gone"); /* the file changed under us */
    if (record.opcode == IO_MCAP_DATA_END || record.opcode == IO_MCAP_FOOTER) {
        const int result = record.opcode == IO_MCAP_DATA_END ? check_data(reader, &record) : 0;
        reader->at = reader->end; /* the rest is summary */
        return result;
    }
    reader->at = io_mcap_raw_record_end(&record);
    if (reader->crc_due != 0)
        reader->crc = (uint32_t)crc32_z(reader->crc, reader->file.data + record.offset,
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
    if (atomic_load(&reader->gone) && !reader->fault)
        result = fail(reader, reader->at, " ");
    if (result == 1)
        return 1;
    if (!reader->fault)
        return 0;
    memcpy(error, reader->error, ERROR_SIZE);
    return -1;
}

/* ---- open and close ---- */

static struct io_mcap_reader *open_error(struct io_mcap_reader *reader, char error[256])
{
    memcpy(error, reader->error, ERROR_SIZE);
    io_mcap_close(reader);
    return NULL;
}

static struct io_mcap_reader *create(const char *name, char error[256])
{
    struct io_mcap_reader *reader = calloc(1, sizeof *reader);
    if (reader)
        set_name(reader, name);
    else
        snprintf(error, ERROR_SIZE, "%.128s: byte 0: no memory", name);
    return reader;
}

/* Scan the bytes.  A fault ahead of the first chunk leaves nothing worth reading. */
static struct io_mcap_reader *scan_and_begin(struct io_mcap_reader *reader, char error[256])
{
    if (check_header(reader) != 0)
        return open_error(reader, error);
    scan(reader);
    if (reader->fault && !reader->has_data)
        return open_error(reader, error);
    reader->at = IO_MCAP_MAGIC_SIZE;
    reader->crc = (uint32_t)crc32_z(0, reader->file.data, IO_MCAP_MAGIC_SIZE);
    return reader;
}

struct io_mcap_reader *io_mcap_open_bytes(const void *bytes, size_t size, char error[256])
{
    struct io_mcap_reader *reader = create("bytes", error);
    if (!reader)
        return NULL;
    reader->file = (struct io_slice){.data = bytes, .size = size};
    return scan_and_begin(reader, error);
}

/* Map the file behind fd.  0 or -1. */
static int map(struct io_mcap_reader *reader, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(reader, 0, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(reader, 0, "not a regular file");
    if (status.st_size == 0)
        return fail(reader, 0, "the file is empty");
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return fail(reader, 0, "%s", strerror(errno));
    reader->file = (struct io_slice){.data = bytes, .size = (size_t)status.st_size};
    reader->mapped = true;
    (void)rt_guarded_mapping_add(bytes, (size_t)status.st_size, &reader->gone);
    return 0;
}

struct io_mcap_reader *io_mcap_open(const char *path, char error[256])
{
    struct io_mcap_reader *reader = create(path, error);
    if (!reader)
        return NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
    const int result = fd < 0 ? fail(reader, 0, "%s", strerror(errno)) : map(reader, fd);
    if (fd >= 0)
        close(fd);
    return result == 0 ? scan_and_begin(reader, error) : open_error(reader, error);
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
        const struct metadata *metadata = &reader->metadata[i];
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
    free(reader->inflated);
    ZSTD_freeDCtx(reader->inflater);
    if (reader->mapped)
        rt_guarded_mapping_remove(reader->file.data);
    if (reader->mapped)
        munmap((void *)(uintptr_t)reader->file.data, reader->file.size);
    free(reader);
}
