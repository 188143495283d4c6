#include "io/link/sync_pulse.h"

#include <string.h>
#include <zlib.h>

#include "rt/clock.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the byte order of the wire");

enum { AT_SEQUENCE = 4, AT_FRAME = 8, AT_SIM = 16, AT_SENT = 24, AT_LAST = 32, AT_CRC = 36 };

static const char magic[4] = {'A', 'B', 'G', 'P'};

static uint32_t checksum(const unsigned char *bytes)
{
    return (uint32_t)crc32(0, bytes, AT_CRC);
}

void io_sync_pulse_encode(const struct io_sync_pulse_message *pulse,
                          unsigned char bytes[IO_SYNC_PULSE_SIZE])
{
    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + AT_SEQUENCE, &pulse->sequence, 4);
    memcpy(bytes + AT_FRAME, &pulse->frame, 8);
    memcpy(bytes + AT_SIM, &pulse->sim_ns, 8);
    memcpy(bytes + AT_SENT, &pulse->sent_ns, 8);
    memcpy(bytes + AT_LAST, &pulse->last, 4);
    const uint32_t sum = checksum(bytes);
    memcpy(bytes + AT_CRC, &sum, 4);
}

bool io_sync_pulse_decode(const void *bytes, size_t size, struct io_sync_pulse_message *pulse)
{
    const unsigned char *from = bytes;
    uint32_t sum;
    if (size != IO_SYNC_PULSE_SIZE || memcmp(from, magic, sizeof magic) != 0)
        return false;
    memcpy(&sum, from + AT_CRC, 4);
    memcpy(&pulse->sequence, from + AT_SEQUENCE, 4);
    memcpy(&pulse->frame, from + AT_FRAME, 8);
    memcpy(&pulse->sim_ns, from + AT_SIM, 8);
    memcpy(&pulse->sent_ns, from + AT_SENT, 8);
    memcpy(&pulse->last, from + AT_LAST, 4);
    return sum == checksum(from);
}

/* True when a pulse may begin with these bytes. */
static bool may_begin(const struct io_sync_pulse_stream *stream)
{
    const size_t known = stream->size < sizeof magic ? stream->size : sizeof magic;
    return memcmp(stream->bytes, magic, known) == 0;
}

/* Drop the first byte, which belongs to no pulse.  If the next one does not begin a pulse either,
 * it is dropped when another byte comes. */
static void skip(struct io_sync_pulse_stream *stream)
{
    stream->skipped++;
    stream->size--;
    memmove(stream->bytes, stream->bytes + 1, stream->size);
}

bool io_sync_pulse_feed(struct io_sync_pulse_stream *stream, unsigned char byte,
                        struct io_sync_pulse_message *pulse)
{
    stream->bytes[stream->size++] = byte;
    if (!may_begin(stream))
        skip(stream);
    if (stream->size < IO_SYNC_PULSE_SIZE)
        return false;
    if (!io_sync_pulse_decode(stream->bytes, stream->size, pulse)) {
        skip(stream);
        return false;
    }
    stream->size = 0;
    return true;
}

/* The sender. */

int io_sync_pulse_open(struct io_sync_pulse *sender, const struct io_bus_spec *spec, uint32_t every,
                       char error[IO_BUS_ERROR_MAX])
{
    static const char prefix[] = "links.";
    struct io_bus_spec named = *spec;
    memset(sender, 0, sizeof *sender);
    sender->every = every;
    named.name = "pulse"; /* a bus names a link in its error lines */
    const int status = io_bus_open(&sender->bus, &named, error);
    if (status < 0 && strncmp(error, prefix, sizeof prefix - 1) == 0)
        memmove(error, error + sizeof prefix - 1, strlen(error) - sizeof prefix + 2);
    return status;
}

static void send_pulse(struct io_sync_pulse *sender, struct io_sync_pulse_message *pulse)
{
    unsigned char bytes[IO_SYNC_PULSE_SIZE];
    pulse->sequence = sender->sequence++;
    pulse->sent_ns = rt_now_ns();
    io_sync_pulse_encode(pulse, bytes);
    if (io_bus_send(&sender->bus, io_bus_peer(&sender->bus), bytes, sizeof bytes, false) == 0)
        sender->sent++;
    else
        sender->dropped++;
}

void io_sync_pulse_emit(struct io_sync_pulse *sender, uint64_t frame, uint64_t sim_ns)
{
    enum { TICK_NS = 20000000 };
    if (frame % sender->every != 0)
        return;
    struct io_sync_pulse_message pulse = {.frame = frame, .sim_ns = sim_ns};
    send_pulse(sender, &pulse);
    if (pulse.sent_ns < sender->next_tick_ns)
        return;
    sender->next_tick_ns = pulse.sent_ns + TICK_NS; /* after the pulse, which must not be delayed */
    io_bus_tick(&sender->bus, pulse.sent_ns);
}

void io_sync_pulse_close(struct io_sync_pulse *sender)
{
    enum { LAST_PULSES = 3 }; /* a datagram may get lost */
    struct io_sync_pulse_message pulse = {.last = 1};
    if (sender->bus.ops == NULL)
        return;
    const uint64_t sent = sender->sent, dropped = sender->dropped;
    for (int i = 0; i < LAST_PULSES; i++)
        send_pulse(sender, &pulse);
    sender->sent = sent;
    sender->dropped = dropped;
    io_bus_close(&sender->bus);
}
