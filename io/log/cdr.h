/*
 * Writes messages of variable size as CDR: little endian, fields aligned from the first byte after
 * the header, which is not part of the image.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "io/log/byte_writer.h"

static inline void io_cdr_align(struct io_byte_writer *out, size_t to)
{
    while (out->size % to != 0 && !out->failed)
        io_put_u8(out, 0);
}

static inline void io_cdr_u32(struct io_byte_writer *out, uint32_t value)
{
    io_cdr_align(out, 4);
    io_put_u32(out, value);
}

static inline void io_cdr_u64(struct io_byte_writer *out, uint64_t value)
{
    io_cdr_align(out, 8);
    io_put_u64(out, value);
}

static inline void io_cdr_f64(struct io_byte_writer *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    io_cdr_u64(out, bits);
}

/* The length counts the NUL. */
static inline void io_cdr_text(struct io_byte_writer *out, const char *text)
{
    const size_t size = strlen(text) + 1;
    io_cdr_u32(out, (uint32_t)size);
    io_put_raw(out, text, size);
}

/* builtin_interfaces/Time */
static inline void io_cdr_time(struct io_byte_writer *out, uint64_t ns)
{
    io_cdr_u32(out, (uint32_t)(ns / 1000000000u));
    io_cdr_u32(out, (uint32_t)(ns % 1000000000u));
}
