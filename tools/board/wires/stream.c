#include "tools/board/wires/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FULL_MS = 100 }; /* longest wait for a line to accept the rest of a frame */

/* A partial datagram must not consume the next; a byte stream that ends has been closed. */
static bool fetch(struct board_stream *stream)
{
    ssize_t size;
    do {
        size = read(stream->wire.fd[0], stream->bytes, sizeof stream->bytes);
    } while (size < 0 && (errno == EINTR || errno == ECONNREFUSED));

    stream->at = 0;
    stream->size = size > 0 ? (size_t)size : 0;
    if (stream->is_datagram)
        board_frames_reset(&stream->frames);
    else if (size == 0 || (size < 0 && errno != EAGAIN))
        stream->wire.closed = true;
    return size > 0;
}

bool board_stream_next(struct board_stream *stream, mavlink_message_t *raw)
{
    while (stream->at < stream->size || fetch(stream)) {
        if (board_frames_push(&stream->frames, stream->bytes[stream->at++], raw))
            return true;
    }
    return false;
}

void board_stream_send(struct board_stream *stream, const mavlink_message_t *raw)
{
    uint8_t bytes[MAVLINK_MAX_PACKET_LEN];
    const size_t size = mavlink_msg_to_send_buffer(bytes, raw);
    size_t done = 0;

    while (!stream->wire.muted && done < size) {
        const ssize_t sent = write(stream->wire.fd[0], bytes + done, size - done);
        struct pollfd wait = {.fd = stream->wire.fd[0], .events = POLLOUT};
        if (sent > 0)
            done += (size_t)sent;
        else if (errno != EINTR && (stream->is_datagram || errno != EAGAIN || done == 0 ||
                                    poll(&wait, 1, FULL_MS) <= 0))
            return;
    }
    stream->tx += done == size;
}

void board_stream_request_sync(struct board_stream *stream)
{
    mavlink_message_t raw;
    board_frames_timesync(&stream->frames, 0, (int64_t)board_now_ns(), &raw);
    board_stream_send(stream, &raw);
}

/* A request has no tc1 and is answered; an answer has our own ts1. */
void board_stream_sync(struct board_stream *stream, const mavlink_message_t *raw)
{
    const uint64_t now_ns = board_now_ns();
    mavlink_timesync_t sync;
    mavlink_message_t answer;
    if (raw->msgid != MAVLINK_MSG_ID_TIMESYNC)
        return;

    mavlink_msg_timesync_decode(raw, &sync);
    if (sync.tc1 == 0) {
        board_frames_timesync(&stream->frames, (int64_t)now_ns, sync.ts1, &answer);
        board_stream_send(stream, &answer);
    } else if (sync.ts1 > 0 && (uint64_t)sync.ts1 <= now_ns) {
        const uint64_t slot = stream->round_trips++ % BOARD_STREAM_TRIPS;
        stream->round_trip_ns[slot] = now_ns - (uint64_t)sync.ts1;
    }
}

static int compare_ns(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(const struct board_stream *stream)
{
    uint64_t sorted[BOARD_STREAM_TRIPS];
    const uint64_t all = stream->round_trips;
    const size_t count = all < BOARD_STREAM_TRIPS ? (size_t)all : BOARD_STREAM_TRIPS;
    if (count == 0)
        return 0;
    memcpy(sorted, stream->round_trip_ns, sizeof sorted);
    qsort(sorted, count, sizeof sorted[0], compare_ns);
    return sorted[count / 2];
}

void board_stream_count(const struct board_wire *wire, struct board_wire_counters *counters)
{
    const struct board_stream *stream = (const struct board_stream *)wire;
    *counters = (struct board_wire_counters){.rx = stream->frames.rx,
                                             .tx = stream->tx,
                                             .rx_lost = stream->frames.rx_lost,
                                             .rx_bad = stream->frames.rx_bad,
                                             .round_trips = stream->round_trips,
                                             .round_trip_ns = median(stream)};
}

void board_stream_close(struct board_wire *wire)
{
    if (wire->fd[0] >= 0)
        close(wire->fd[0]);
    free(wire);
}
