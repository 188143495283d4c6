/*
 * The bytes of an MCAP file, mapped into memory.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "io/log/byte_reader.h"

struct io_mcap_source {
    struct io_slice file;
    bool mapped;      /* false: the bytes belong to the caller */
    atomic_bool gone; /* the file was truncated while it was mapped; the lost bytes read as zero */
};

/* Map a regular file that is not empty.  NULL, or the reason why not.  Context: any. */
const char *io_mcap_source_open(struct io_mcap_source *source, const char *path);
void io_mcap_source_close(struct io_mcap_source *source);
