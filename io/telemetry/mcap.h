/*
 * MCAP files: a writer of records into a byte sink, and a reader that trusts no byte.
 * Format: the MCAP specification, version 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message as the reader hands it out; the bytes live until the next call. */
struct io_mcap_message {
    uint16_t channel;
    const char *topic;
    uint32_t sequence;
    uint64_t log_time_ns, publish_time_ns;
    const unsigned char *data; /* CDR with its 4-byte header */
    size_t size;
};

struct io_mcap_reader;

/* Open a whole or truncated file.  NULL with a line in error that names the file and the byte offset.  Context: any. */
struct io_mcap_reader *io_mcap_open(const char *path, char error[256]);
/* The same over bytes in memory (fuzzing, tests). */
struct io_mcap_reader *io_mcap_open_bytes(const void *bytes, size_t size, char error[256]);
/* Next message in file order: 1, 0 at the end (whole chunks of a truncated file included), -1 with error set
 * when a chunk is corrupt. */
int io_mcap_next(struct io_mcap_reader *reader, struct io_mcap_message *message, char error[256]);
/* True when the file ended with its footer; false for a truncated file. */
bool io_mcap_complete(const struct io_mcap_reader *reader);
/* Attachment by name, or NULL.  Valid until close. */
const void *io_mcap_attachment(struct io_mcap_reader *reader, const char *name, size_t *size);
/* Metadata value by record name and key, or NULL.  Valid until close. */
const char *io_mcap_metadata(struct io_mcap_reader *reader, const char *record, const char *key);
/* Schema text of a topic's channel, or NULL. */
const char *io_mcap_schema(struct io_mcap_reader *reader, const char *topic);
void io_mcap_close(struct io_mcap_reader *reader);
