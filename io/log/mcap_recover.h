/*
 * Reads what is left of a truncated or damaged MCAP file.
 *
 * The reader of io/log/mcap.h stops at the first invalid byte; this one goes on.  Where there is no
 * valid record it searches for the next one, it drops chunks with a wrong CRC, and it counts what
 * it skipped.  Definitions of a valid summary have precedence over those of the damaged part.  Work
 * and memory are bounded by the size of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log/byte_reader.h"
#include "io/log/mcap.h"

struct io_mcap_recover_losses {
    bool complete;            /* the file ends with a valid footer */
    bool has_statistics;      /* its summary is valid and has the number of messages */
    uint64_t stated_messages; /* the number of messages by the summary */
    uint64_t messages;        /* read so far */
    uint64_t chunks;          /* found so far */
    uint64_t chunks_bad;      /* of those, chunks with a wrong CRC or otherwise not readable */
    uint64_t gaps;            /* places without a valid record */
    uint64_t bytes_skipped;   /* bytes in the gaps */
    uint64_t first_gap;       /* the offset of the first gap */
    uint64_t tail;            /* bytes after the last whole record of a truncated file */
    bool data_bad;            /* the CRC of the whole data section is wrong */
    uint64_t attachments_bad;
    uint64_t contradictions;  /* definitions that differ from an earlier one or from the summary */
    uint64_t without_channel; /* messages of undefined channels */
};

struct io_mcap_recover_channel {
    uint16_t id;
    const char *topic;
    struct io_slice encoding;    /* of the messages */
    struct io_slice metadata;    /* a map: io_get_string() returns keys and values in turn */
    struct io_slice schema_name; /* empty where the schema is not known */
    struct io_slice schema_encoding;
    const char *definition; /* NULL where the schema is not known */
};

struct io_mcap_recover_attachment {
    struct io_slice name, media_type, bytes;
};

struct io_mcap_recover_metadata {
    struct io_slice record, key, value;
};

struct io_mcap_recover;

/* NULL with one line in error when the file cannot be read or has no MCAP record.  The bytes of
 * the second form belong to the caller and must stay until close.  Context: any. */
struct io_mcap_recover *io_mcap_recover_open(const char *path, char error[256]);
struct io_mcap_recover *io_mcap_recover_open_bytes(const void *bytes, size_t size, char error[256]);
void io_mcap_recover_close(struct io_mcap_recover *recovery);

/* The next message in file order; false at the end.  It is valid until the next call. */
bool io_mcap_recover_next(struct io_mcap_recover *recovery, struct io_mcap_message *message);
/* Final once io_mcap_recover_next() has returned false. */
const struct io_mcap_recover_losses *io_mcap_recover_losses(const struct io_mcap_recover *recovery);
/* True when bytes or chunks were lost; a file that was only truncated is not damaged. */
bool io_mcap_recover_damaged(const struct io_mcap_recover_losses *losses);

/* The first channel whose id is at least id; false when there is none. */
bool io_mcap_recover_channel(const struct io_mcap_recover *recovery, unsigned id,
                             struct io_mcap_recover_channel *channel);
/* By number, in file order; false when there are no more. */
bool io_mcap_recover_attachment(const struct io_mcap_recover *recovery, size_t index,
                                struct io_mcap_recover_attachment *attachment);
bool io_mcap_recover_metadata(const struct io_mcap_recover *recovery, size_t index,
                              struct io_mcap_recover_metadata *pair);
