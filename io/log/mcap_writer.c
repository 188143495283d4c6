#include "io/log/mcap_writer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "rt/check.h"
#include "rt/clock.h"

/* When the process is killed, the open chunk is lost.  Its largest age is half of the time that
 * may be lost, so that the promise holds even if the telemetry thread is late by a quarter of a
 * second. */
enum { CHUNK_SIZE = 256 * 1024, CHUNK_AGE_NS = 250 * 1000 * 1000 };

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void note_error(struct io_mcap_writer *writer, int error)
{
    if (writer->error == 0)
        writer->error = error;
}

static void cut_back(struct io_mcap_writer *writer)
{
    writer->stuck = io_append_file_rewind(&writer->file, writer->whole) != 0;
    writer->crc = writer->whole_crc;
}

static uint64_t records_in(const uint32_t records[IO_CHANNEL_MAX])
{
    uint64_t sum = 0;
    for (int i = 0; i < IO_CHANNEL_MAX; i++)
        sum += records[i];
    return sum;
}

static void count_chunk(struct io_mcap_writer *writer, const struct io_mcap_chunk_facts *facts)
{
    struct io_mcap_statistics *statistics = &writer->statistics;
    if (statistics->chunks == 0 || facts->start_ns < statistics->start_ns)
        statistics->start_ns = facts->start_ns;
    if (statistics->chunks == 0 || facts->end_ns > statistics->end_ns)
        statistics->end_ns = facts->end_ns;
    statistics->chunks++;
    for (int i = 0; i < writer->channel_count; i++)
        statistics->records[i] += facts->records[i];
    statistics->messages += records_in(facts->records);
    io_mcap_put_chunk_index(&writer->chunk_indexes, facts, writer->channel_count);
}

/* Count the chunks that have reached the file since the last call. */
static void commit(struct io_mcap_writer *writer)
{
    int whole = 0;
    while (whole < writer->pending_count && writer->pending[whole].end <= writer->file.written) {
        const struct io_mcap_pending *chunk = &writer->pending[whole++];
        count_chunk(writer, &chunk->facts);
        writer->whole = chunk->end;
        writer->whole_crc = chunk->crc;
    }
    if (whole == 0)
        return;
    writer->pending_count -= whole;
    memmove(writer->pending, writer->pending + whole,
            (size_t)writer->pending_count * sizeof *writer->pending);
}

/* Whole sections stay; messages in flight and all later ones are lost. */
static void give_up(struct io_mcap_writer *writer, int error)
{
    note_error(writer, error);
    (void)io_append_file_flush(&writer->file);
    commit(writer);
    for (int i = 0; i < writer->pending_count; i++)
        writer->lost += records_in(writer->pending[i].facts.records);
    writer->lost += records_in(writer->chunk.records);
    writer->pending_count = 0;
    io_mcap_chunk_clear(&writer->chunk);
    cut_back(writer);
}

static void commit_or_give_up(struct io_mcap_writer *writer)
{
    commit(writer);
    if (writer->file.error && !writer->stuck)
        give_up(writer, writer->file.error);
}

static void append_out(struct io_mcap_writer *writer)
{
    writer->crc = (uint32_t)crc32_z(writer->crc, writer->out.data, writer->out.size);
    io_append_file_append(&writer->file, writer->out.data, writer->out.size);
}

static void close_chunk(struct io_mcap_writer *writer)
{
    if (writer->chunk.entry_count == 0)
        return;
    struct io_mcap_pending fresh;
    io_byte_writer_clear(&writer->out);
    const int error =
        io_mcap_chunk_encode(&writer->chunk, &writer->out, writer->file.appended, &fresh.facts);
    if (error) {
        give_up(writer, error);
        return;
    }
    append_out(writer);
    commit(writer);
    fresh.end = writer->file.appended;
    fresh.crc = writer->crc;
    RT_CHECK(writer->pending_count < IO_APPEND_FILE_BLOCK_COUNT);
    writer->pending[writer->pending_count++] = fresh;
    io_mcap_chunk_clear(&writer->chunk);
    commit_or_give_up(writer);
}

void io_mcap_writer_add(struct io_mcap_writer *writer, const struct io_mcap_chunk_message *message)
{
    if (writer->error) {
        writer->lost++;
        return;
    }
    if (writer->chunk.entry_count == 0)
        writer->chunk_due_ns = rt_now_ns() + CHUNK_AGE_NS;
    if (!io_mcap_chunk_add(&writer->chunk, message)) {
        writer->lost++;
        give_up(writer, -ENOMEM);
        return;
    }
    if (writer->chunk.plain.size >= CHUNK_SIZE)
        close_chunk(writer);
}

void io_mcap_writer_poll(struct io_mcap_writer *writer)
{
    if (writer->error)
        return;
    io_append_file_poll(&writer->file);
    commit_or_give_up(writer);
    if (writer->chunk.entry_count > 0 && rt_now_ns() >= writer->chunk_due_ns)
        close_chunk(writer);
}

void io_mcap_writer_flush(struct io_mcap_writer *writer)
{
    if (writer->error)
        return;
    close_chunk(writer);
    (void)io_append_file_flush(&writer->file);
    commit_or_give_up(writer);
}

/* Write `out` as one section and wait.  0, or -errno with the file unchanged. */
static int write_section(struct io_mcap_writer *writer)
{
    if (writer->stuck)
        return writer->error;
    int error = -ENOMEM;
    if (!writer->out.failed) {
        append_out(writer);
        error = io_append_file_flush(&writer->file);
    }
    if (error) {
        note_error(writer, error);
        cut_back(writer);
        return error;
    }
    writer->whole = writer->file.appended;
    writer->whole_crc = writer->crc;
    return 0;
}

/* Append an attachment to out, and note its place in the file. */
static void put_attachment(struct io_mcap_writer *writer, const struct io_blob *blob)
{
    const uint64_t log_ns = writer->statistics.end_ns, create_ns = wall_ns();
    const size_t before = writer->out.size;
    io_mcap_put_attachment(&writer->out, blob, log_ns, create_ns);
    const struct io_mcap_extent extent = {
        .offset = writer->whole + before,
        .length = writer->out.size - before,
    };
    io_mcap_put_attachment_index(&writer->attachment_indexes, &extent, blob, log_ns, create_ns);
    writer->statistics.attachments++;
}

static void put_metadata(struct io_mcap_writer *writer, const char *const *pairs)
{
    const size_t before = writer->out.size;
    io_mcap_put_metadata(&writer->out, "airbearing", pairs);
    const struct io_mcap_extent extent = {
        .offset = writer->whole + before,
        .length = writer->out.size - before,
    };
    io_mcap_put_metadata_index(&writer->metadata_indexes, &extent, "airbearing");
    writer->statistics.metadata++;
}

/* Channels of one message type share its schema. */
static uint16_t find_schema(const struct io_mcap_writer *writer, int channel)
{
    const struct io_channel_spec *spec = &writer->channels[channel];
    for (int i = 0; i < channel; i++) {
        const struct io_channel_spec *other = &writer->channels[i];
        if (strcmp(other->schema, spec->schema) == 0 &&
            strcmp(other->definition, spec->definition) == 0)
            return writer->schema_id[i];
    }
    return 0;
}

static void number_schemas(struct io_mcap_writer *writer)
{
    for (int i = 0; i < writer->channel_count; i++) {
        const uint16_t known = find_schema(writer, i);
        writer->schema_id[i] = known ? known : ++writer->statistics.schemas;
    }
}

static void put_schemas(const struct io_mcap_writer *writer, struct io_byte_writer *out)
{
    uint16_t put = 0;
    for (int i = 0; i < writer->channel_count; i++) {
        if (writer->schema_id[i] > put)
            io_mcap_put_schema(out, ++put, &writer->channels[i]);
    }
}

static void put_channels(const struct io_mcap_writer *writer, struct io_byte_writer *out)
{
    for (int i = 0; i < writer->channel_count; i++)
        io_mcap_put_channel(out, io_mcap_id(i), writer->schema_id[i], &writer->channels[i]);
}

/* Everything that a reader of a truncated log needs comes first. */
static int write_head(struct io_mcap_writer *writer, const char *const *metadata,
                      const struct io_blob *attachments, int attachment_count)
{
    io_put_raw(&writer->out, io_mcap_magic, sizeof io_mcap_magic);
    io_mcap_put_header(&writer->out);
    put_metadata(writer, metadata);
    put_schemas(writer, &writer->out);
    put_channels(writer, &writer->out);
    for (int i = 0; i < attachment_count; i++)
        put_attachment(writer, &attachments[i]);
    return write_section(writer);
}

static void free_buffers(struct io_mcap_writer *writer)
{
    io_mcap_chunk_free(&writer->chunk);
    io_byte_writer_free(&writer->out);
    io_byte_writer_free(&writer->chunk_indexes);
    io_byte_writer_free(&writer->attachment_indexes);
    io_byte_writer_free(&writer->metadata_indexes);
    io_byte_writer_free(&writer->summary_offsets);
}

/* A log without a head is removed; a device such as /dev/full stays. */
static void remove_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        (void)unlink(path);
}

int io_mcap_writer_open(struct io_mcap_writer *writer, const char *path,
                        const struct io_channel_spec *channels, int channel_count,
                        const char *const *metadata, const struct io_blob *attachments,
                        int attachment_count)
{
    RT_CHECK(channel_count >= 0 && channel_count <= IO_CHANNEL_MAX);
    *writer = (struct io_mcap_writer){
        .channels = channels,
        .channel_count = channel_count,
        .statistics.channels = (uint32_t)channel_count,
    };
    int error = io_mcap_chunk_open(&writer->chunk);
    if (error)
        return error;
    error = io_append_file_open(&writer->file, path);
    if (error) {
        free_buffers(writer);
        return error;
    }
    number_schemas(writer);
    error = write_head(writer, metadata, attachments, attachment_count);
    if (error) {
        (void)io_append_file_close(&writer->file);
        free_buffers(writer);
        remove_file(path);
    }
    return error;
}

static void write_late_attachment(struct io_mcap_writer *writer, const struct io_blob *blob)
{
    const size_t indexed = writer->attachment_indexes.size;
    io_byte_writer_clear(&writer->out);
    put_attachment(writer, blob);
    if (write_section(writer) == 0)
        return;
    writer->attachment_indexes.size = indexed;
    writer->statistics.attachments--;
}

/* The records from `from` on are one group; returns the start of the next one. */
static size_t end_group(struct io_mcap_writer *writer, enum io_mcap_opcode opcode, size_t from)
{
    const struct io_mcap_extent extent = {
        .offset = writer->whole + from,
        .length = writer->out.size - from,
    };
    if (extent.length > 0)
        io_mcap_put_summary_offset(&writer->summary_offsets, opcode, &extent);
    return writer->out.size;
}

static size_t put_group(struct io_mcap_writer *writer, enum io_mcap_opcode opcode, size_t from,
                        const struct io_byte_writer *records)
{
    io_put_raw(&writer->out, records->data, records->size);
    writer->out.failed |= records->failed;
    return end_group(writer, opcode, from);
}

static void write_summary(struct io_mcap_writer *writer)
{
    struct io_byte_writer *out = &writer->out;
    io_byte_writer_clear(out);
    io_mcap_put_data_end(out, writer->whole_crc);

    const size_t summary_at = out->size;
    put_schemas(writer, out);
    size_t at = end_group(writer, IO_MCAP_SCHEMA, summary_at);
    put_channels(writer, out);
    at = end_group(writer, IO_MCAP_CHANNEL, at);
    io_mcap_put_statistics(out, &writer->statistics);
    at = end_group(writer, IO_MCAP_STATISTICS, at);
    at = put_group(writer, IO_MCAP_CHUNK_INDEX, at, &writer->chunk_indexes);
    at = put_group(writer, IO_MCAP_ATTACHMENT_INDEX, at, &writer->attachment_indexes);
    at = put_group(writer, IO_MCAP_METADATA_INDEX, at, &writer->metadata_indexes);

    io_put_raw(out, writer->summary_offsets.data, writer->summary_offsets.size);
    out->failed |= writer->summary_offsets.failed;
    io_mcap_put_footer(out, summary_at, writer->whole + summary_at, writer->whole + at);
    (void)write_section(writer);
}

void io_mcap_writer_close(struct io_mcap_writer *writer, const struct io_blob *extra,
                          int extra_count)
{
    io_mcap_writer_flush(writer);
    for (int i = 0; i < extra_count; i++)
        write_late_attachment(writer, &extra[i]);
    write_summary(writer);
    const int error = io_append_file_close(&writer->file);
    if (error)
        note_error(writer, error);
    free_buffers(writer);
}
