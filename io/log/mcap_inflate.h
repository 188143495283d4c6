/*
 * Decompresses chunks of an MCAP file, one after the other, into one buffer.
 */
#pragma once

#include <zstd.h>

#include "io/log/byte_reader.h"

/* A chunk that claims more bytes, decompressed, is taken for a decompression bomb. */
enum { IO_MCAP_CHUNK_SIZE_MAX = 64 * 1024 * 1024 };

/* All zero: empty. */
struct io_mcap_inflater {
    unsigned char *bytes;
    size_t capacity;
    ZSTD_DCtx *context;
};

/* Decompress at most size bytes; *plain is valid until the next call.  0; -ENOMEM; -EBADMSG, with
 * the reason in *why.  Context: any. */
int io_mcap_inflate(struct io_mcap_inflater *inflater, struct io_slice stored, size_t size,
                    struct io_slice *plain, const char **why);
void io_mcap_inflater_free(struct io_mcap_inflater *inflater);
