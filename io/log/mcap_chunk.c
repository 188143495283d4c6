/*
 * Tested by tests/io/log/test_mcap_writer.c.
 */
#include "io/log/mcap_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
    ZSTD_LEVEL = 1,
    ENTRY_COUNT_FIRST = 4096,
    INDEX_ENTRY_SIZE = 16, /* log time and offset */
    INDEX_HEAD_SIZE = IO_MCAP_PREFIX_SIZE + 2 + 4,
};

static const unsigned char cdr_little_endian[4] = {0x00, 0x01, 0x00, 0x00};

int io_mcap_chunk_open(struct io_mcap_chunk *chunk)
{
    *chunk = (struct io_mcap_chunk){.entry_capacity = ENTRY_COUNT_FIRST};
    chunk->compressor = ZSTD_createCCtx();
    chunk->entries = calloc(chunk->entry_capacity, sizeof *chunk->entries);
    if (chunk->compressor && chunk->entries)
        return 0;
    io_mcap_chunk_free(chunk);
    return -ENOMEM;
}

void io_mcap_chunk_free(struct io_mcap_chunk *chunk)
{
    ZSTD_freeCCtx(chunk->compressor);
    free(chunk->entries);
    io_byte_writer_free(&chunk->plain);
    *chunk = (struct io_mcap_chunk){0};
}

static bool reserve_entry(struct io_mcap_chunk *chunk)
{
    if (chunk->entry_count < chunk->entry_capacity)
        return true;
    const size_t capacity = 2 * (size_t)chunk->entry_capacity;
    struct io_mcap_chunk_entry *entries = realloc(chunk->entries, capacity * sizeof *entries);
    if (!entries)
        return false;
    chunk->entries = entries;
    chunk->entry_capacity = (uint32_t)capacity;
    return true;
}

static void note(struct io_mcap_chunk *chunk, const struct io_mcap_chunk_message *message)
{
    if (chunk->entry_count == 0 || message->log_ns < chunk->start_ns)
        chunk->start_ns = message->log_ns;
    if (chunk->entry_count == 0 || message->log_ns > chunk->end_ns)
        chunk->end_ns = message->log_ns;
    chunk->entries[chunk->entry_count++] = (struct io_mcap_chunk_entry){
        .log_ns = message->log_ns,
        .offset = (uint32_t)chunk->plain.size,
        .channel = message->channel,
    };
    chunk->records[message->channel]++;
}

bool io_mcap_chunk_add(struct io_mcap_chunk *chunk, const struct io_mcap_chunk_message *message)
{
    struct io_byte_writer *plain = &chunk->plain;
    const size_t content = IO_MCAP_MESSAGE_SIZE + sizeof cdr_little_endian + message->size;
    if (!reserve_entry(chunk) || !io_byte_writer_reserve(plain, IO_MCAP_PREFIX_SIZE + content))
        return false;

    note(chunk, message);
    io_put_u8(plain, IO_MCAP_MESSAGE);
    io_put_u64(plain, content);
    io_put_u16(plain, io_mcap_id(message->channel));
    io_put_u32(plain, message->sequence);
    io_put_u64(plain, message->log_ns);
    io_put_u64(plain, message->log_ns); /* the publish time is the log time: sim time */
    io_put_raw(plain, cdr_little_endian, sizeof cdr_little_endian);
    io_put_raw(plain, message->payload, message->size);
    return true;
}

/* Append the compressed chunk to out; the length field before it is filled in. */
static int put_compressed(const struct io_mcap_chunk *chunk, struct io_byte_writer *out)
{
    const size_t place = out->size;
    const size_t bound = ZSTD_compressBound(chunk->plain.size);
    io_put_u64(out, 0);
    if (!io_byte_writer_reserve(out, bound))
        return -ENOMEM;
    const size_t size = ZSTD_compressCCtx(chunk->compressor, out->data + out->size, bound,
                                          chunk->plain.data, chunk->plain.size, ZSTD_LEVEL);
    if (ZSTD_isError(size))
        return -ENOMEM; /* the only possible error with a buffer of that size */
    out->size += size;
    io_patch_u64(out, place, size);
    return 0;
}

static int put_chunk(const struct io_mcap_chunk *chunk, struct io_byte_writer *out)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_CHUNK);
    io_put_u64(out, chunk->start_ns);
    io_put_u64(out, chunk->end_ns);
    io_put_u64(out, chunk->plain.size);
    io_put_u32(out, (uint32_t)crc32_z(0, chunk->plain.data, chunk->plain.size));
    io_put_string(out, "zstd");
    const int error = put_compressed(chunk, out);
    io_mcap_end(out, place);
    return error;
}

/* Writes the head of a channel's index; its entries are written later, at the returned place. */
static size_t put_index_head(struct io_byte_writer *out, int channel, uint32_t records)
{
    const size_t size = (size_t)records * INDEX_ENTRY_SIZE;
    io_put_u8(out, IO_MCAP_MESSAGE_INDEX);
    io_put_u64(out, 2 + 4 + size);
    io_put_u16(out, io_mcap_id(channel));
    io_put_u32(out, (uint32_t)size);
    const size_t place = out->size;
    out->size += size;
    return place;
}

/* One pass lays the indexes out, and one pass writes each entry to the index of its channel. */
static int put_indexes(const struct io_mcap_chunk *chunk, struct io_byte_writer *out, size_t base,
                       struct io_mcap_chunk_facts *facts)
{
    const size_t most =
        IO_CHANNEL_MAX * INDEX_HEAD_SIZE + (size_t)chunk->entry_count * INDEX_ENTRY_SIZE;
    if (!io_byte_writer_reserve(out, most))
        return -ENOMEM;

    size_t place[IO_CHANNEL_MAX] = {0};
    for (int i = 0; i < IO_CHANNEL_MAX; i++) {
        if (chunk->records[i] == 0)
            continue;
        facts->index_offset[i] = facts->chunk.offset + (out->size - base);
        place[i] = put_index_head(out, i, chunk->records[i]);
    }
    for (uint32_t k = 0; k < chunk->entry_count; k++) {
        const struct io_mcap_chunk_entry *entry = &chunk->entries[k];
        size_t *at = &place[entry->channel];
        io_patch_u64(out, *at, entry->log_ns);
        io_patch_u64(out, *at + 8, entry->offset);
        *at += INDEX_ENTRY_SIZE;
    }
    return 0;
}

int io_mcap_chunk_encode(const struct io_mcap_chunk *chunk, struct io_byte_writer *out,
                         uint64_t offset, struct io_mcap_chunk_facts *facts)
{
    const size_t base = out->size;
    *facts = (struct io_mcap_chunk_facts){
        .chunk.offset = offset,
        .start_ns = chunk->start_ns,
        .end_ns = chunk->end_ns,
        .plain_size = chunk->plain.size,
    };
    memcpy(facts->records, chunk->records, sizeof facts->records);

    int error = put_chunk(chunk, out);
    if (error)
        return error;
    facts->chunk.length = out->size - base;
    const size_t head = IO_MCAP_PREFIX_SIZE + 8 + 8 + 8 + 4 + 4 + strlen("zstd") + 8;
    facts->stored_size = facts->chunk.length - head;

    error = put_indexes(chunk, out, base, facts);
    facts->indexes.offset = offset + facts->chunk.length;
    facts->indexes.length = out->size - base - facts->chunk.length;
    return error;
}

void io_mcap_chunk_clear(struct io_mcap_chunk *chunk)
{
    io_byte_writer_clear(&chunk->plain);
    chunk->entry_count = 0;
    memset(chunk->records, 0, sizeof chunk->records);
}
