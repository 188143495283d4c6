/*
 * A port that records the calls of a protocol.
 */
#pragma once

#include <string.h>

#include "io/protocol/protocol.h"
#include "unity.h"

enum { NOTES_MAX = 32 };

struct note {
    size_t size;
    enum io_destination way;
    bool stamped;
    unsigned char bytes[IO_PROTOCOL_FRAME_MAX];
};

struct notebook {
    bool ignored; /* commands are not latched */
    int heard, commands, sent_count, forwarded_count;
    struct io_command command; /* the newest */
    struct note sent[NOTES_MAX], forwarded[NOTES_MAX];
};

static inline void note_heard(void *self)
{
    ((struct notebook *)self)->heard++;
}

static inline bool note_command(void *self, const struct io_command *command)
{
    struct notebook *book = self;
    TEST_ASSERT_GREATER_THAN(0, book->heard); /* heard() must come before the command */
    book->commands++;
    book->command = *command;
    return !book->ignored;
}

static inline void note_bytes(struct note *note, const void *bytes, size_t size)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof note->bytes, size);
    note->size = size;
    memcpy(note->bytes, bytes, size);
}

static inline void note_send(void *self, const void *bytes, size_t size, enum io_destination way,
                             bool stamped)
{
    struct notebook *book = self;
    TEST_ASSERT_LESS_THAN(NOTES_MAX, book->sent_count);
    struct note *note = &book->sent[book->sent_count++];
    note_bytes(note, bytes, size);
    note->way = way;
    note->stamped = stamped;
}

static inline void note_forward(void *self, const void *bytes, size_t size)
{
    struct notebook *book = self;
    TEST_ASSERT_LESS_THAN(NOTES_MAX, book->forwarded_count);
    note_bytes(&book->forwarded[book->forwarded_count++], bytes, size);
}

static inline struct io_protocol_port notebook_port(struct notebook *book)
{
    return (struct io_protocol_port){
        .self = book,
        .heard = note_heard,
        .command = note_command,
        .send = note_send,
        .forward = note_forward,
    };
}
