/*
 * A chunk under construction: message records in the order of arrival, and the data for their
 * indexes.
 *
 * Buffers grow to the size of the largest chunk and then stay, so the steady state does not
 * allocate.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/log/byte_writer.h"
#include "io/log/mcap_record.h"

struct ZSTD_CCtx_s;

struct io_mcap_chunk_entry {
    uint64_t log_ns;
    uint32_t offset; /* of the message record in the plain chunk */
    int channel;
};

struct io_mcap_chunk {
    struct io_byte_writer plain;
    struct io_mcap_chunk_entry *entries;
    uint32_t entry_count, entry_capacity;
    uint64_t start_ns, end_ns;
    uint32_t records[IO_CHANNEL_MAX]; /* entries of each channel */
    struct ZSTD_CCtx_s *compressor;
};

/* One message: payload is the CDR image without its header.  Context: any. */
struct io_mcap_chunk_message {
    int channel;
    uint32_t sequence;
    uint64_t log_ns;
    const void *payload;
    size_t size;
};

/* 0 or -ENOMEM.  Context: setup. */
int io_mcap_chunk_open(struct io_mcap_chunk *chunk);
void io_mcap_chunk_free(struct io_mcap_chunk *chunk);

/* False when out of memory; the chunk is unchanged.  Context: any. */
bool io_mcap_chunk_add(struct io_mcap_chunk *chunk, const struct io_mcap_chunk_message *message);

/* Append the compressed chunk record and its message indexes to out, which will be at `offset`
 * of the file, and fill in the facts.  0 or -errno.  Context: any. */
int io_mcap_chunk_encode(const struct io_mcap_chunk *chunk, struct io_byte_writer *out,
                         uint64_t offset, struct io_mcap_chunk_facts *facts);

/* Empty it for the next messages.  Context: any. */
void io_mcap_chunk_clear(struct io_mcap_chunk *chunk);
