/*
 * The records of the MCAP specification, version 0, one encoder each.
 *
 *      file    = magic header data data-end summary summary-offsets footer magic
 *      record  = opcode u8, length of the content u64, content
 *      data    = schema, channel, metadata, attachment, chunk + its message indexes ...
 *      summary = schema, channel, statistics, chunk index, attachment index, metadata index,
 *                grouped by opcode
 *
 * Every encoder appends one whole record.  Context: any.
 */
#pragma once

#include "io/log/byte_writer.h"
#include "io/log/log_spec.h"

enum io_mcap_opcode {
    IO_MCAP_HEADER = 0x01,
    IO_MCAP_FOOTER = 0x02,
    IO_MCAP_SCHEMA = 0x03,
    IO_MCAP_CHANNEL = 0x04,
    IO_MCAP_MESSAGE = 0x05,
    IO_MCAP_CHUNK = 0x06,
    IO_MCAP_MESSAGE_INDEX = 0x07,
    IO_MCAP_CHUNK_INDEX = 0x08,
    IO_MCAP_ATTACHMENT = 0x09,
    IO_MCAP_ATTACHMENT_INDEX = 0x0a,
    IO_MCAP_STATISTICS = 0x0b,
    IO_MCAP_METADATA = 0x0c,
    IO_MCAP_METADATA_INDEX = 0x0d,
    IO_MCAP_SUMMARY_OFFSET = 0x0e,
    IO_MCAP_DATA_END = 0x0f,
};

enum {
    IO_MCAP_MAGIC_SIZE = 8,
    IO_MCAP_PREFIX_SIZE = 9,           /* opcode and length */
    IO_MCAP_MESSAGE_SIZE = 2 + 4 + 16, /* content of a message before its data */
    IO_MCAP_FOOTER_SIZE = 20,
};

extern const unsigned char io_mcap_magic[IO_MCAP_MAGIC_SIZE];

/* The place of a record in the file, including its prefix. */
struct io_mcap_extent {
    uint64_t offset, length;
};

/* The contents of the summary about one chunk.  Channels are numbered by index, id = index + 1. */
struct io_mcap_chunk_facts {
    struct io_mcap_extent chunk, indexes;
    uint64_t start_ns, end_ns; /* earliest and latest log time */
    uint64_t stored_size, plain_size;
    uint32_t records[IO_CHANNEL_MAX];
    uint64_t index_offset[IO_CHANNEL_MAX]; /* in the file; not defined if records is 0 */
};

struct io_mcap_statistics {
    uint64_t messages;
    uint16_t schemas;
    uint32_t channels, attachments, metadata, chunks;
    uint64_t start_ns, end_ns;
    uint64_t records[IO_CHANNEL_MAX];
};

/* Begin a record; the returned place is handed to io_mcap_end, which fills in the length. */
size_t io_mcap_begin(struct io_byte_writer *out, enum io_mcap_opcode opcode);
void io_mcap_end(struct io_byte_writer *out, size_t place);

static inline uint16_t io_mcap_id(int channel)
{
    return (uint16_t)(channel + 1);
}

void io_mcap_put_header(struct io_byte_writer *out);
void io_mcap_put_schema(struct io_byte_writer *out, uint16_t id,
                        const struct io_channel_spec *spec);
void io_mcap_put_channel(struct io_byte_writer *out, uint16_t id, uint16_t schema_id,
                         const struct io_channel_spec *spec);
/* pairs: key, value, key, value ... NULL. */
void io_mcap_put_metadata(struct io_byte_writer *out, const char *name, const char *const *pairs);
void io_mcap_put_attachment(struct io_byte_writer *out, const struct io_blob *blob, uint64_t log_ns,
                            uint64_t create_ns);
void io_mcap_put_data_end(struct io_byte_writer *out, uint32_t crc);

void io_mcap_put_chunk_index(struct io_byte_writer *out, const struct io_mcap_chunk_facts *facts,
                             int channel_count);
void io_mcap_put_attachment_index(struct io_byte_writer *out, const struct io_mcap_extent *extent,
                                  const struct io_blob *blob, uint64_t log_ns, uint64_t create_ns);
void io_mcap_put_metadata_index(struct io_byte_writer *out, const struct io_mcap_extent *extent,
                                const char *name);
void io_mcap_put_statistics(struct io_byte_writer *out,
                            const struct io_mcap_statistics *statistics);
void io_mcap_put_summary_offset(struct io_byte_writer *out, enum io_mcap_opcode group,
                                const struct io_mcap_extent *extent);
/* The footer and the closing magic.  out holds the whole summary, because the CRC covers the
 * summary and the start of the footer. */
void io_mcap_put_footer(struct io_byte_writer *out, size_t summary_at, uint64_t summary_offset,
                        uint64_t offsets_offset);
