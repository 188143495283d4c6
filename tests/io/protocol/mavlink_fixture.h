/*
 * What the tests of the MAVLink codec share: a parser, a sender, and frames made by hand from the
 * published tables.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "io/protocol/mavlink.h"
#include "tests/io/wire.h"
#include "unity.h"

enum { HEARTBEAT = 0, TIMESYNC = 111, SENSOR = 107, GPS = 113, STATE = 115, CONTROLS = 93 };
enum { CRC_HEARTBEAT = 50, CRC_TIMESYNC = 34, CRC_CONTROLS = 47, CRC_ATTITUDE = 39 };
enum { CONTROLS_SIZE = 81, MINE = 7 };

static _Alignas(64) unsigned char parser_mem[4096];

static struct io_mavlink_parser *parser;
static struct io_mavlink_message message;
static struct io_mavlink_sender sender;
static unsigned char frame[IO_MAVLINK_FRAME_MAX];
static unsigned char controls[CONTROLS_SIZE];

void setUp(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof parser_mem, io_mavlink_parser_size());
    memset(parser_mem, 0xff, sizeof parser_mem);
    memset(frame, 0, sizeof frame);
    parser = io_mavlink_parser_place(parser_mem);
    sender = (struct io_mavlink_sender){.system_id = MINE, .component_id = 200, .sequence = 5};
    /* time_usec | flags | controls[16] | mode */
    const uint64_t time_us = 0x0102030405060708, flags = 1;
    memcpy(controls, &time_us, 8);
    memcpy(controls + 8, &flags, 8);
    for (int i = 0; i < 16; i++) {
        const float value = (float)(i + 1) / 16.0f;
        memcpy(controls + 16 + 4 * i, &value, 4);
    }
    controls[80] = 0x81;
}

void tearDown(void)
{
}

static inline const struct io_mavlink_counters *counted(void)
{
    return io_mavlink_get_counters(parser);
}

/* Feeds the bytes; keeps the first message in them and returns their number. */
static inline int feed(const void *bytes, size_t size)
{
    struct io_mavlink_message next;
    int count = 0;
    message.kind = IO_MAVLINK_NONE;
    for (size_t at = 0; at < size;) {
        at += io_mavlink_feed(parser, (const unsigned char *)bytes + at, size - at, &next);
        io_mavlink_decode(parser, &next);
        if (next.kind != IO_MAVLINK_NONE && count++ == 0)
            message = next;
    }
    return count;
}

static inline int feed_datagram(const struct wire *wire)
{
    const int count = feed(wire->bytes, wire->size);
    io_mavlink_end(parser);
    return count;
}

static inline uint64_t bad(void)
{
    return counted()->bad_crc + counted()->bad_length + counted()->bad_header;
}
