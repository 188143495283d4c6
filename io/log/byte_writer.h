/*
 * A byte string that grows on the heap, and the little-endian encoding of MCAP's field types.
 *
 * Running out of memory sets `failed`, and every later put does nothing, so that a record can be
 * written without a check after each field; the caller checks once, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io_byte_writer {
    unsigned char *data;
    size_t size;
    size_t capacity;
    bool failed;
};

/* Make room for `more` bytes after size.  False when out of memory.  Context: any. */
bool io_byte_writer_reserve(struct io_byte_writer *bytes, size_t more);
/* Make it empty and clear `failed`; the memory is kept. */
void io_byte_writer_clear(struct io_byte_writer *bytes);
void io_byte_writer_free(struct io_byte_writer *bytes);

void io_put_u8(struct io_byte_writer *bytes, uint8_t value);
void io_put_u16(struct io_byte_writer *bytes, uint16_t value);
void io_put_u32(struct io_byte_writer *bytes, uint32_t value);
void io_put_u64(struct io_byte_writer *bytes, uint64_t value);
void io_put_raw(struct io_byte_writer *bytes, const void *data, size_t size);
/* u32 length and the characters, without the NUL. */
void io_put_string(struct io_byte_writer *bytes, const char *text);

/* Overwrite a u32 or u64 that was put earlier. */
void io_patch_u32(struct io_byte_writer *bytes, size_t at, uint32_t value);
void io_patch_u64(struct io_byte_writer *bytes, size_t at, uint64_t value);
