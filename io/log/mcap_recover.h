/*
 * What can still be read of an MCAP file that was cut off or damaged.
 *
 * io/log/mcap.h stops at the first byte that cannot be; this reader goes on.  Where no record
 * can begin it looks for the next place where one can, drops chunks whose CRC is wrong, and counts
 * what it passed over.  Definitions are taken from a sound summary before those of the damaged
 * part. Work and memory are bounded by the size of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log/byte_reader.h"
#include "io/log/mcap.h"

struct io_mcap_recover_losses {
    bool complete;            /* the file ends with a sound footer */
    bool has_statistics;      /* its summary is sound and says how many messages there were */
    uint64_t stated_messages; /* as it says */
    uint64_t messages;        /* read so far */
    uint64_t chunks;          /* met so far */
    uint64_t chunks_bad;      /* of them with a wrong CRC or otherwise not readable */
    uint64_t gaps;            /* places where no record could begin */
    uint64_t bytes_skipped;   /* in them */
    uint64_t first_gap;       /* where the first of them begins */
    uint64_t tail;            /* bytes after the last whole record of a file that was cut off */
    bool data_bad;            /* the CRC of the whole data section is wrong */
    uint64_t attachments_bad;
    uint64_t contradictions;  /* definitions that differ from an earlier or a sounder one */
    uint64_t without_channel; /* messages of channels that are defined nowhere */
};

struct io_mcap_recover_channel {
    uint16_t id;
    const char *topic;
    struct io_slice encoding;    /* of the messages */
    struct io_slice metadata;    /* a map: io_get_string() gives key and value in turn */
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

/* NULL with one line in error when the file cannot be read at all or has nothing of an MCAP file.
 * The bytes of the second form stay the caller's until close.  Context: any. */
struct io_mcap_recover *io_mcap_recover_open(const char *path, char error[256]);
struct io_mcap_recover *io_mcap_recover_open_bytes(const void *bytes, size_t size, char error[256]);
void io_mcap_recover_close(struct io_mcap_recover *recovery);

/* The next message in file order; false at the end.  It lives until the next call. */
bool io_mcap_recover_next(struct io_mcap_recover *recovery, struct io_mcap_message *message);
/* Final once io_mcap_recover_next() has returned false. */
const struct io_mcap_recover_losses *io_mcap_recover_losses(const struct io_mcap_recover *recovery);
/* True when bytes or chunks are gone; a file that was only cut off has lost nothing it had. */
bool io_mcap_recover_damaged(const struct io_mcap_recover_losses *losses);

/* The first channel whose id is not below; false when there is none. */
bool io_mcap_recover_channel(const struct io_mcap_recover *recovery, unsigned id,
                             struct io_mcap_recover_channel *channel);
/* By number, in file order; false when there are no more. */
bool io_mcap_recover_attachment(const struct io_mcap_recover *recovery, size_t index,
                                struct io_mcap_recover_attachment *attachment);
bool io_mcap_recover_metadata(const struct io_mcap_recover *recovery, size_t index,
                              struct io_mcap_recover_metadata *pair);
