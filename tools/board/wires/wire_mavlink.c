/* MAVLink 2 over UDP, like a PX4 board in hardware-in-the-loop mode, but with one command for
 * each sensor message. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/board/wires/socket.h"
#include "tools/board/wires/stream.h"

enum { MODE_BASE = 0x21, MODE_ARMED = 0x80 }; /* 0x21: custom mode, HIL */

static const uint64_t heartbeat_period_ns = 1000000000u;
static const uint64_t sync_period_ns = 100000000u;

struct mavlink {
    struct board_stream stream; /* the first member */
    uint64_t heartbeat_ns, sync_ns;
};

static struct board_wire *open_wire(const struct board_wire_setup *setup, char error[256])
{
    const int fd = board_socket_udp(setup->address, error);
    if (fd < 0)
        return NULL;
    struct mavlink *wire = calloc(1, sizeof *wire);
    if (wire == NULL) {
        snprintf(error, 256, "out of memory");
        close(fd);
        return NULL;
    }
    wire->stream.wire = (struct board_wire){.kind = &board_wire_mavlink, .fd = {fd, -1}};
    wire->stream.is_datagram = true;
    return &wire->stream.wire;
}

static bool next(struct board_wire *wire, struct board_message *message)
{
    struct board_stream *stream = (struct board_stream *)wire;
    mavlink_message_t raw;
    if (!board_stream_next(stream, &raw))
        return false;
    board_stream_sync(stream, &raw);
    board_frames_read(&raw, message);
    return true;
}

static uint8_t mode_of(const struct board_command *command)
{
    return (uint8_t)(MODE_BASE | (command->armed ? MODE_ARMED : 0));
}

/* Flags stay 0: this board runs on its own clock and does not keep lockstep. */
static void answer(struct board_wire *wire, const struct board_command *command)
{
    struct board_stream *stream = (struct board_stream *)wire;
    mavlink_message_t raw;
    board_frames_controls(&stream->frames, board_now_ns() / 1000, mode_of(command), 0,
                          command->controls, &raw);
    board_stream_send(stream, &raw);
}

/* A missing simulator is not an error: the next heartbeat tries again. */
static void keep_time(struct board_wire *wire, uint64_t now_ns, bool heard,
                      const struct board_command *command)
{
    struct mavlink *self = (struct mavlink *)wire;
    mavlink_message_t raw;
    if (now_ns >= self->heartbeat_ns) {
        board_frames_heartbeat(&self->stream.frames, MAV_TYPE_GENERIC, mode_of(command),
                               command->armed, &raw);
        board_stream_send(&self->stream, &raw);
        self->heartbeat_ns = now_ns + heartbeat_period_ns;
    }
    if (heard && now_ns >= self->sync_ns) {
        board_stream_request_sync(&self->stream);
        self->sync_ns = now_ns + sync_period_ns;
    }
}

const struct board_wire_kind board_wire_mavlink = {
    .name = "mavlink",
    .address = "127.0.0.1:14560",
    .open = open_wire,
    .close = board_stream_close,
    .next = next,
    .answer = answer,
    .keep_time = keep_time,
    .count = board_stream_count,
};
