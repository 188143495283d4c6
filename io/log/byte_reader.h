/*
 * Reads little-endian fields from untrusted bytes.
 *
 * A field that would reach past the end reads as zero and sets `bad`, which stays set; so a record
 * is parsed to its end and checked once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct io_slice {
    const unsigned char *data;
    size_t size;
};

struct io_byte_reader {
    const unsigned char *at;
    size_t left;
    bool bad;
};

static inline struct io_byte_reader io_byte_reader_of(struct io_slice slice)
{
    return (struct io_byte_reader){.at = slice.data, .left = slice.size};
}

static inline struct io_slice io_get_slice(struct io_byte_reader *fields, uint64_t size)
{
    if (fields->bad || size > fields->left) {
        fields->bad = true;
        return (struct io_slice){0};
    }
    const struct io_slice slice = {.data = fields->at, .size = (size_t)size};
    fields->at += slice.size;
    fields->left -= slice.size;
    return slice;
}

static inline uint64_t io_get(struct io_byte_reader *fields, size_t size)
{
    const struct io_slice slice = io_get_slice(fields, size);
    uint64_t value = 0;
    for (size_t i = 0; i < slice.size; i++)
        value |= (uint64_t)slice.data[i] << (8 * i);
    return value;
}

static inline uint8_t io_get_u8(struct io_byte_reader *fields)
{
    return (uint8_t)io_get(fields, 1);
}

static inline uint16_t io_get_u16(struct io_byte_reader *fields)
{
    return (uint16_t)io_get(fields, 2);
}

static inline uint32_t io_get_u32(struct io_byte_reader *fields)
{
    return (uint32_t)io_get(fields, 4);
}

static inline uint64_t io_get_u64(struct io_byte_reader *fields)
{
    return io_get(fields, 8);
}

/* A string, a map or an array: u32 length and that many bytes. */
static inline struct io_slice io_get_string(struct io_byte_reader *fields)
{
    return io_get_slice(fields, io_get_u32(fields));
}

static inline bool io_slice_is(struct io_slice slice, const char *text)
{
    return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

static inline bool io_slice_has_nul(struct io_slice slice)
{
    return slice.size > 0 && memchr(slice.data, 0, slice.size) != NULL;
}
