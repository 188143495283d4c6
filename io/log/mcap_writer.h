/*
 * Writes one MCAP log from its first byte to its last.
 *
 * The log is made of sections: the head, each chunk with its indexes, each late attachment, the
 * summary.  A section counts once it is completely in the file; the summary lists only those.
 * After a failed write the file is truncated to the last whole section and accepts no more
 * messages, but the summary is still written if possible.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/log/append_file.h"
#include "io/log/log_spec.h"
#include "io/log/mcap_chunk.h"
#include "io/log/mcap_record.h"

/* A chunk that is being written. */
struct io_mcap_pending {
    struct io_mcap_chunk_facts facts;
    uint64_t end; /* the size of the file with this chunk */
    uint32_t crc; /* of the file up to that size */
};

struct io_mcap_writer {
    const struct io_channel_spec *channels;
    int channel_count;
    uint16_t schema_id[IO_CHANNEL_MAX];

    struct io_append_file file;
    struct io_mcap_chunk chunk;
    uint64_t chunk_due_ns;     /* the time at which the open chunk is closed at any size */
    struct io_byte_writer out; /* the section being encoded */
    uint32_t crc;              /* of all bytes appended */

    struct io_mcap_pending pending[IO_APPEND_FILE_BLOCK_COUNT]; /* each has at least one block */
    int pending_count;                                          /* oldest first */

    /* The contents of the file. */
    uint64_t whole; /* bytes */
    uint32_t whole_crc;
    struct io_mcap_statistics statistics;
    struct io_byte_writer chunk_indexes, attachment_indexes, metadata_indexes, summary_offsets;

    uint64_t lost; /* messages that did not reach the file */
    int error;     /* 0 or -errno, the first */
    bool stuck;    /* the file could not be truncated: nothing more is written */
};

/* Create the file and write its head: schemas, channels, metadata (key, value ... NULL; may be
 * NULL) and attachments.  channels must outlive the writer.  0 or -errno, then no file is left.
 * Context: setup. */
int io_mcap_writer_open(struct io_mcap_writer *writer, const char *path,
                        const struct io_channel_spec *channels, int channel_count,
                        const char *const *metadata, const struct io_blob *attachments,
                        int attachment_count);

/* Add a message; closes the chunk when it is full.  Context: telemetry thread. */
void io_mcap_writer_add(struct io_mcap_writer *writer, const struct io_mcap_chunk_message *message);

/* Collect finished writes; close the chunk when it is due.  Context: telemetry thread. */
void io_mcap_writer_poll(struct io_mcap_writer *writer);

/* Close the open chunk and wait until all is written or lost.  Context: telemetry thread. */
void io_mcap_writer_flush(struct io_mcap_writer *writer);

/* Flush, add the extra attachments and the summary, close.  The counts and the error stay
 * readable.  Context: after the run. */
void io_mcap_writer_close(struct io_mcap_writer *writer, const struct io_blob *extra,
                          int extra_count);
