/*
 * Reading MCAP files (specification version 0), trusting no byte: every length is checked, chunks
 * and definitions are bounded, CRCs are compared, nothing recurses.  Uncompressed and zstd chunks.
 *
 * An error is one line `FILE: byte N: what`.  The file must not shrink while it is open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message as the reader hands it out; the bytes live until the next call. */
struct io_mcap_message {
    uint16_t channel;
    const char *topic;
    uint32_t sequence; /* per channel; a gap is where the recorder dropped */
    uint64_t log_time_ns, publish_time_ns;
    const unsigned char *data; /* CDR with its 4-byte header; not aligned */
    size_t size;
};

struct io_mcap_reader;

/* Open a whole or cut-off file.  NULL with a line in error when it is no MCAP file or corrupt ahead
 * of its first chunk (attachments and metadata included).  Context: any. */
struct io_mcap_reader *io_mcap_open(const char *path, char error[256]);
/* The same over bytes in memory, which stay the caller's until close (fuzzing, tests). */
struct io_mcap_reader *io_mcap_open_bytes(const void *bytes, size_t size, char error[256]);
/* Next message in file order: 1; 0 at the end, which for a cut-off file comes after its last whole
 * chunk; -1 with error set when what follows is corrupt, and again at every later call.  The CRC of
 * the whole data section is compared at its end. */
int io_mcap_next(struct io_mcap_reader *reader, struct io_mcap_message *message, char error[256]);
/* True when the file ended with its footer; false for a cut-off file. */
bool io_mcap_complete(const struct io_mcap_reader *reader);
/* Attachment by name, the first of its name, or NULL.  Valid until close. */
const void *io_mcap_attachment(struct io_mcap_reader *reader, const char *name, size_t *size);
/* Metadata value by record name and key, or NULL.  Valid until close. */
const char *io_mcap_metadata(struct io_mcap_reader *reader, const char *record, const char *key);
/* Schema text of a topic's channel, or NULL. */
const char *io_mcap_schema(struct io_mcap_reader *reader, const char *topic);
void io_mcap_close(struct io_mcap_reader *reader);
