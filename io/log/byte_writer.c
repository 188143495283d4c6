#include "io/log/byte_writer.h"

#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

enum { SMALLEST = 256 };

bool io_byte_writer_reserve(struct io_byte_writer *bytes, size_t more)
{
    if (bytes->failed)
        return false;
    if (more <= bytes->capacity - bytes->size)
        return true;

    size_t capacity = bytes->capacity < SMALLEST ? SMALLEST : 2 * bytes->capacity;
    if (capacity < bytes->size + more)
        capacity = bytes->size + more;
    unsigned char *data = realloc(bytes->data, capacity);
    if (!data) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void io_byte_writer_clear(struct io_byte_writer *bytes)
{
    bytes->size = 0;
    bytes->failed = false;
}

void io_byte_writer_free(struct io_byte_writer *bytes)
{
    free(bytes->data);
    *bytes = (struct io_byte_writer){0};
}

void io_put_raw(struct io_byte_writer *bytes, const void *data, size_t size)
{
    if (size == 0 || !io_byte_writer_reserve(bytes, size))
        return;
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

/* Byte by byte, so that the file is the same on any machine; on x86-64 it becomes one store. */
static void encode(unsigned char *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static void put(struct io_byte_writer *bytes, uint64_t value, size_t size)
{
    unsigned char field[8];
    encode(field, value, size);
    io_put_raw(bytes, field, size);
}

void io_put_u8(struct io_byte_writer *bytes, uint8_t value)
{
    put(bytes, value, 1);
}

void io_put_u16(struct io_byte_writer *bytes, uint16_t value)
{
    put(bytes, value, 2);
}

void io_put_u32(struct io_byte_writer *bytes, uint32_t value)
{
    put(bytes, value, 4);
}

void io_put_u64(struct io_byte_writer *bytes, uint64_t value)
{
    put(bytes, value, 8);
}

void io_put_string(struct io_byte_writer *bytes, const char *text)
{
    const size_t size = strlen(text);
    RT_CHECK(size <= UINT32_MAX);
    io_put_u32(bytes, (uint32_t)size);
    io_put_raw(bytes, text, size);
}

static void patch(struct io_byte_writer *bytes, size_t at, uint64_t value, size_t size)
{
    if (bytes->failed)
        return;
    RT_CHECK(at <= bytes->size && size <= bytes->size - at);
    encode(bytes->data + at, value, size);
}

void io_patch_u32(struct io_byte_writer *bytes, size_t at, uint32_t value)
{
    patch(bytes, at, value, 4);
}

void io_patch_u64(struct io_byte_writer *bytes, size_t at, uint64_t value)
{
    patch(bytes, at, value, 8);
}
