/*
 * Any bytes as a datagram and as a serial line with sync pulses on it.  What must hold:
 *   - what is taken for a pulse is one: encoded again, it is the same bytes,
 *   - every byte of a line belongs to a pulse, was skipped, or is still waiting,
 *   - garbage in front of a pulse hides it only where both make up another.
 */
#include <string.h>

#include "io/link/sync_pulse.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_datagram(const uint8_t *bytes, size_t size)
{
    struct io_sync_pulse_message pulse;
    unsigned char again[IO_SYNC_PULSE_SIZE];
    if (!io_sync_pulse_decode(bytes, size, &pulse))
        return;
    io_sync_pulse_encode(&pulse, again);
    RT_CHECK(size == sizeof again && memcmp(again, bytes, size) == 0);
}

static size_t feed(struct io_sync_pulse_stream *stream, const uint8_t *bytes, size_t size)
{
    size_t found = 0;
    for (size_t i = 0; i < size; i++) {
        struct io_sync_pulse_message pulse;
        unsigned char again[IO_SYNC_PULSE_SIZE];
        if (!io_sync_pulse_feed(stream, bytes[i], &pulse))
            continue;
        found++;
        RT_CHECK(i + 1 >= sizeof again);
        io_sync_pulse_encode(&pulse, again);
        RT_CHECK(memcmp(again, bytes + i + 1 - sizeof again, sizeof again) == 0);
    }
    return found;
}

static void check_line(const uint8_t *bytes, size_t size)
{
    struct io_sync_pulse_stream stream = {0};
    const size_t found = feed(&stream, bytes, size);
    RT_CHECK(stream.size < IO_SYNC_PULSE_SIZE);
    RT_CHECK(found * IO_SYNC_PULSE_SIZE + stream.skipped + stream.size == size);
}

/* A line that is not in the middle of anything loses nothing. */
static void check_hidden(const uint8_t *bytes, size_t size)
{
    struct io_sync_pulse_stream stream = {0};
    struct io_sync_pulse_message pulse = {.sequence = (uint32_t)size, .frame = size};
    unsigned char sound[IO_SYNC_PULSE_SIZE];
    (void)feed(&stream, bytes, size);
    const bool idle = stream.size == 0;
    io_sync_pulse_encode(&pulse, sound);
    bool heard = false;
    for (size_t i = 0; i < sizeof sound; i++)
        heard = io_sync_pulse_feed(&stream, sound[i], &pulse);
    RT_CHECK(!idle || (heard && pulse.frame == size));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_datagram(bytes, size);
    check_line(bytes, size);
    check_hidden(bytes, size);
    return 0;
}
