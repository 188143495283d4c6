/*
 * The state of the reader of MCAP files, and the functions that its parts share.  Only
 * mcap_reader.c, mcap_scan.c and mcap_reader_state.c include this header.
 */
#pragma once

#include "io/log/mcap_definitions.h"
#include "io/log/mcap_inflate.h"
#include "io/log/mcap_raw_record.h"
#include "io/log/mcap_source.h"

enum { IO_MCAP_ERROR_SIZE = 256, IO_MCAP_NAME_SIZE = 128 };

struct io_mcap_attachment_entry {
    struct io_slice name, bytes;
};

struct io_mcap_metadata_entry {
    struct io_slice record, key;
    char *value;
};

struct io_mcap_reader {
    char name[IO_MCAP_NAME_SIZE]; /* of the file, for errors; of a long name only the end */
    struct io_mcap_source source;

    size_t end;       /* the records before it are whole */
    bool complete;    /* the footer was seen */
    bool has_data;    /* a chunk or a message was seen */
    size_t summary;   /* where the data end record ends, 0 before it is seen */
    bool fault;       /* there is a fault at `end`, described by error */
    uint32_t crc_due; /* of the data section, 0 when not given */
    char error[IO_MCAP_ERROR_SIZE];

    struct io_mcap_definitions schemas, channels;
    struct io_mcap_attachment_entry *attachments;
    size_t attachment_count;
    struct io_mcap_metadata_entry *metadata;
    size_t metadata_count;

    size_t at;    /* the next record of the file */
    uint32_t crc; /* of the bytes before it */

    struct io_slice plain; /* records of the open chunk */
    size_t chunk_at;       /* the offset of the chunk in the file */
    size_t plain_at;       /* next record of the chunk */
    uint64_t chunk_start_ns, chunk_end_ns;
    struct io_mcap_inflater inflater;
};

/* Stop at this offset, with the reason, for good.  Returns -1. */
__attribute__((format(printf, 3, 4))) int io_mcap_fail(struct io_mcap_reader *reader, size_t offset,
                                                       const char *format, ...);

/* Read a definition.  offset is the place to name in an error, which for a record in a chunk is
 * that of the chunk.  0, or -1. */
int io_mcap_read_schema(struct io_mcap_reader *reader, size_t offset,
                        const struct io_mcap_raw_record *record);
int io_mcap_read_channel(struct io_mcap_reader *reader, size_t offset,
                         const struct io_mcap_raw_record *record);
