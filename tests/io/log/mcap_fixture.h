/*
 * What the tests of MCAP files share: a temporary file, and an encoder that shares nothing with the
 * writer's.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "io/log/mcap.h"
#include "io/log/mcap_writer.h"
#include "unity.h"

static char path[] = "/tmp/test_mcap_XXXXXX";
static char error[256];

void setUp(void)
{
    strcpy(path, "/tmp/test_mcap_XXXXXX");
    const int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    close(fd);
    error[0] = '\0';
}

void tearDown(void)
{
    unlink(path);
}

/* An encoder that shares nothing with the writer's. */
struct forge {
    unsigned char data[1 << 16];
    size_t size;
};

static inline void put(struct forge *forge, uint64_t value, int size)
{
    for (; size > 0; size--, value >>= 8)
        forge->data[forge->size++] = (unsigned char)value;
}

static inline void put_data(struct forge *forge, const void *data, size_t size)
{
    if (size > 0)
        memcpy(forge->data + forge->size, data, size);
    forge->size += size;
}

static inline void put_text(struct forge *forge, const char *text)
{
    put(forge, strlen(text), 4);
    put_data(forge, text, strlen(text));
}

static inline void put_record(struct forge *forge, int opcode, const struct forge *content)
{
    put(forge, (uint64_t)opcode, 1);
    put(forge, content->size, 8);
    put_data(forge, content->data, content->size);
}

static inline void forge_head(struct forge *file)
{
    static struct forge header;
    header.size = file->size = 0;
    put_data(file, "\x89MCAP0\r\n", 8);
    put_text(&header, "");
    put_text(&header, "another writer");
    put_record(file, 0x01, &header);
}

static inline void forge_schema(struct forge *file, int id, const char *text)
{
    static struct forge content;
    content.size = 0;
    put(&content, (uint64_t)id, 2);
    put_text(&content, "pkg/msg/Thing");
    put_text(&content, "ros2msg");
    put_text(&content, text);
    put_record(file, 0x03, &content);
}

static inline void forge_channel(struct forge *file, int id, int schema, const char *topic)
{
    static struct forge content;
    content.size = 0;
    put(&content, (uint64_t)id, 2);
    put(&content, (uint64_t)schema, 2);
    put_text(&content, topic);
    put_text(&content, "cdr");
    put(&content, 0, 4);
    put_record(file, 0x04, &content);
}

static inline void forge_message(struct forge *file, int channel, uint64_t time, const char *data)
{
    static struct forge content;
    content.size = 0;
    put(&content, (uint64_t)channel, 2);
    put(&content, 77, 4);
    put(&content, time, 8);
    put(&content, time + 5, 8);
    put_data(&content, data, strlen(data));
    put_record(file, 0x05, &content);
}

static inline void forge_chunk(struct forge *file, const char *compression, uint64_t plain_size,
                               uint32_t crc, const void *stored, size_t stored_size)
{
    static struct forge content;
    content.size = 0;
    put(&content, 10, 8);
    put(&content, 20, 8);
    put(&content, plain_size, 8);
    put(&content, crc, 4);
    put_text(&content, compression);
    put(&content, stored_size, 8);
    put_data(&content, stored, stored_size);
    put_record(file, 0x06, &content);
}

static inline void forge_tail(struct forge *file)
{
    static struct forge content;
    content.size = 0;
    put(&content, 0, 4);
    put_record(file, 0x0f, &content);
    content.size = 0;
    put(&content, 0, 8);
    put(&content, 0, 8);
    put(&content, 0, 4);
    put_record(file, 0x02, &content);
    put_data(file, "\x89MCAP0\r\n", 8);
}

static struct forge file, chunk;

static inline void forge_begin(void)
{
    forge_head(&file);
    forge_schema(&file, 3, "float64 x");
    forge_channel(&file, 9, 3, "/thing");
    chunk.size = 0;
}

/* Reads bytes to the end from a copy of exactly their size.  Returns the number of messages, or
 * -1 (error set). */
static inline int count_messages(const void *bytes, size_t size, bool *complete)
{
    void *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    struct io_mcap_reader *reader = io_mcap_open_bytes(copy, size, error);
    int count = -1;
    *complete = false;
    if (reader) {
        struct io_mcap_message message;
        int result;
        for (count = 0; (result = io_mcap_next(reader, &message, error)) == 1; count++)
            TEST_ASSERT_NOT_NULL(message.topic);
        TEST_ASSERT_EQUAL_INT(result, io_mcap_next(reader, &message, error));
        count = result == 0 ? count : -1;
        *complete = io_mcap_complete(reader);
        io_mcap_close(reader);
    }
    free(copy);
    return count;
}

static inline void assert_refused(const char *line)
{
    bool complete;
    TEST_ASSERT_EQUAL_INT(-1, count_messages(file.data, file.size, &complete));
    TEST_ASSERT_EQUAL_STRING(line, error);
}

/* The messages before the fault, then the fault. */
static inline void assert_message_then(const char *line)
{
    struct io_mcap_message message;
    struct io_mcap_reader *reader = io_mcap_open_bytes(file.data, file.size, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, io_mcap_next(reader, &message, error), error);
    TEST_ASSERT_EQUAL_INT(-1, io_mcap_next(reader, &message, error));
    TEST_ASSERT_EQUAL_STRING(line, error);
    io_mcap_close(reader);
}

static inline void put_bytes_record(struct forge *to, int opcode, const void *bytes, size_t size)
{
    put(to, (uint64_t)opcode, 1);
    put(to, size, 8);
    put_data(to, bytes, size);
}

static inline void assert_read(int messages)
{
    bool complete;
    error[0] = '\0';
    TEST_ASSERT_EQUAL_INT_MESSAGE(messages, count_messages(file.data, file.size, &complete), error);
    TEST_ASSERT_TRUE(complete);
}

static inline void put_map(struct forge *to, const char *const *texts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += 4 + strlen(texts[i]);
    put(to, size, 4);
    for (int i = 0; i < count; i++)
        put_text(to, texts[i]);
}
