/*
 * Any bytes, in any pieces, into the parser.  What must hold:
 *   - how the bytes are cut changes nothing,
 *   - the counters agree with what was handed out,
 *   - a message that was understood can be said again, and is understood the same.
 *
 * Random bytes do not get past a checksum, so the mutator repairs the checksums of what it changed
 * (now and then it does not).
 */
#include <stdlib.h>
#include <string.h>

#include "io/protocol/mavlink.h"
#include "rt/check.h"
#include "tests/fuzz/repair.h"

enum { PARSER_MAX = 4096, LINE_MAX_SIZE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);

static _Alignas(64) unsigned char cut_mem[PARSER_MAX], whole_mem[PARSER_MAX], echo_mem[PARSER_MAX];

static void check_echo(const struct io_mavlink_message *message)
{
    struct io_mavlink_parser *parser = io_mavlink_parser_place(echo_mem);
    struct io_mavlink_sender sender = {
        .system_id = message->system_id,
        .component_id = message->component_id,
        .sequence = message->sequence,
    };
    struct io_mavlink_sender twin = sender;
    struct io_mavlink_message echo;
    unsigned char frame[IO_MAVLINK_FRAME_MAX], again[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&sender, message, frame);
    RT_CHECK(size <= sizeof frame);
    RT_CHECK(io_mavlink_feed(parser, frame, size, &echo) == size);
    io_mavlink_decode(parser, &echo);
    RT_CHECK(echo.kind == message->kind && echo.sequence == message->sequence);
    RT_CHECK(io_mavlink_encode(&twin, &echo, again) == size && memcmp(frame, again, size) == 0);
}

static uint64_t feed(struct io_mavlink_parser *parser, const uint8_t *bytes, size_t size)
{
    uint64_t count = 0;
    for (size_t at = 0; at < size;) {
        struct io_mavlink_message message;
        const size_t used = io_mavlink_feed(parser, bytes + at, size - at, &message);
        RT_CHECK(used > 0 && used <= size - at);
        count += message.kind != IO_MAVLINK_NONE;
        io_mavlink_decode(parser, &message);
        if (message.kind > IO_MAVLINK_OTHER)
            check_echo(&message);
        at += used;
    }
    return count;
}

/* The first byte says how the rest is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    RT_CHECK(io_mavlink_parser_size() <= PARSER_MAX);
    if (size < 1)
        return 0;
    struct io_mavlink_parser *cut = io_mavlink_parser_place(cut_mem);
    struct io_mavlink_parser *whole = io_mavlink_parser_place(whole_mem);
    uint64_t count = 0;
    unsigned step = bytes[0];
    for (size_t at = 1; at < size;) {
        step = step * 1103515245u + 12345u;
        const size_t piece = step >> 16 & 31;
        const size_t length = piece < size - at ? piece : size - at;
        count += feed(cut, bytes + at, length);
        at += length;
    }
    RT_CHECK(feed(whole, bytes + 1, size - 1) == count);
    io_mavlink_end(cut);
    io_mavlink_end(whole);
    RT_CHECK(io_mavlink_get_counters(cut)->messages == count);
    RT_CHECK(memcmp(io_mavlink_get_counters(cut), io_mavlink_get_counters(whole),
                    sizeof(struct io_mavlink_counters)) == 0);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(bytes, size, max_size < LINE_MAX_SIZE ? max_size : LINE_MAX_SIZE);
    if (seed % 8 != 0)
        for (size_t at = 1; at < size;)
            at += repair(bytes + at, size - at);
    return size;
}
