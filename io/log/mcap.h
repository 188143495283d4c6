/*
 * Reads MCAP files (specification version 0) without trusting a byte: every length is checked,
 * chunks and definitions are bounded, CRCs are compared, nothing recurses.  Chunks may be
 * uncompressed or zstd.
 *
 * An error is one line `FILE: byte N: what`.  The file must not shrink while it is open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message; its bytes are valid until the next call. */
struct io_mcap_message {
    uint16_t channel;
    const char *topic;
    uint32_t sequence; /* per channel; a gap shows dropped records */
    uint64_t log_time_ns, publish_time_ns;
    const unsigned char *data; /* CDR with its 4-byte header; not aligned */
    size_t size;
};

struct io_mcap_reader;

/* Open a complete or truncated file.  NULL with a line in error when it is not an MCAP file or
 * is corrupt before its first chunk (attachments and metadata included).  Context: any. */
struct io_mcap_reader *io_mcap_open(const char *path, char error[256]);
/* The same for bytes in memory, which belong to the caller and must stay until close (fuzzing,
 * tests). */
struct io_mcap_reader *io_mcap_open_bytes(const void *bytes, size_t size, char error[256]);
/* Next message in file order: 1; 0 at the end, which for a truncated file comes after its last
 * whole chunk; -1 with error set when the rest is corrupt, and again at every later call.  The
 * CRC of the whole data section is compared at its end. */
int io_mcap_next(struct io_mcap_reader *reader, struct io_mcap_message *message, char error[256]);
/* True when the file ends with its footer; false for a truncated file. */
bool io_mcap_complete(const struct io_mcap_reader *reader);
/* Attachment by name, the first of its name, or NULL.  Valid until close. */
const void *io_mcap_attachment(struct io_mcap_reader *reader, const char *name, size_t *size);
/* Metadata value by record name and key, or NULL.  Valid until close. */
const char *io_mcap_metadata(struct io_mcap_reader *reader, const char *record, const char *key);
/* Schema text of a topic's channel, or NULL. */
const char *io_mcap_schema(struct io_mcap_reader *reader, const char *topic);
void io_mcap_close(struct io_mcap_reader *reader);
