/*
 * PX4 with its simulator in lockstep: a TCP client whose clock is HIL_SENSOR.time_usec.
 *
 *      connected                          COMMAND_LONG 511 for HIL_STATE_QUATERNION, HEARTBEAT
 *      HIL_SENSOR 1 .. lock_after - 1     silence, while PX4 starts its modules
 *      HIL_SENSOR lock_after ...          one HIL_ACTUATOR_CONTROLS each
 *
 * Nothing that it sends depends on the wall clock.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/board/wires/socket.h"
#include "tools/board/wires/stream.h"

enum { MODE_BASE = 0x01, MODE_ARMED = 0x80, FLAG_LOCKSTEP = 1, TRUTH_PERIOD_US = 5000 };

static const uint64_t retry_period_ns = 10000000u;

struct px4 {
    struct board_stream stream; /* the first member */
    struct board_wire_setup setup;
    bool connected;
    uint64_t sensors; /* HIL_SENSOR messages of the first sensor */
    uint64_t time_us; /* of the newest */
    uint64_t retry_ns;
};

static struct board_wire *open_wire(const struct board_wire_setup *setup, char error[256])
{
    const int fd = board_socket_tcp(setup->address, error);
    if (fd < 0)
        return NULL;
    struct px4 *wire = calloc(1, sizeof *wire);
    if (wire == NULL) {
        snprintf(error, 256, "out of memory");
        close(fd);
        return NULL;
    }
    wire->stream.wire = (struct board_wire){.kind = &board_wire_px4, .fd = {fd, -1}, .due_ns = 1};
    wire->setup = *setup;
    return &wire->stream.wire;
}

static void greet(struct px4 *self)
{
    mavlink_message_t raw;
    board_frames_request(&self->stream.frames, MAVLINK_MSG_ID_HIL_STATE_QUATERNION, TRUTH_PERIOD_US,
                         &raw);
    board_stream_send(&self->stream, &raw);
    board_frames_heartbeat(&self->stream.frames, MAV_TYPE_GENERIC, MODE_BASE, false, &raw);
    board_stream_send(&self->stream, &raw);
}

/* Connect again when the server does not exist yet. */
static void try_to_connect(struct px4 *self, uint64_t now_ns)
{
    struct board_wire *wire = &self->stream.wire;
    struct pollfd ready = {.fd = wire->fd[0], .events = POLLOUT};
    int failure = 0;
    socklen_t size = sizeof failure;
    char error[256];

    if (wire->fd[0] < 0 && now_ns >= self->retry_ns) {
        wire->fd[0] = board_socket_tcp(self->setup.address, error);
        self->retry_ns = now_ns + retry_period_ns;
    } else if (wire->fd[0] >= 0 && poll(&ready, 1, 0) > 0) {
        getsockopt(wire->fd[0], SOL_SOCKET, SO_ERROR, &failure, &size);
        self->connected = failure == 0;
        if (failure != 0) {
            close(wire->fd[0]);
            wire->fd[0] = -1;
        }
    }
    wire->due_ns = self->connected ? 0 : now_ns + retry_period_ns;
    if (self->connected)
        greet(self);
}

static bool next(struct board_wire *wire, struct board_message *message)
{
    struct px4 *self = (struct px4 *)wire;
    mavlink_message_t raw;
    if (!self->connected || !board_stream_next(&self->stream, &raw))
        return false;
    board_frames_read(&raw, message);
    if (message->type == BOARD_MESSAGE_SENSOR) {
        self->sensors++;
        self->time_us = message->time_us;
    }
    return true;
}

static void answer(struct board_wire *wire, const struct board_command *command)
{
    struct px4 *self = (struct px4 *)wire;
    mavlink_message_t raw;
    if (self->sensors < self->setup.lock_after)
        return;
    board_frames_controls(&self->stream.frames, self->time_us,
                          (uint8_t)(MODE_BASE | (command->armed ? MODE_ARMED : 0)), FLAG_LOCKSTEP,
                          command->controls, &raw);
    board_stream_send(&self->stream, &raw);
}

static void keep_time(struct board_wire *wire, uint64_t now_ns, bool heard,
                      const struct board_command *command)
{
    struct px4 *self = (struct px4 *)wire;
    (void)heard, (void)command;
    if (!self->connected)
        try_to_connect(self, now_ns);
}

const struct board_wire_kind board_wire_px4 = {
    .name = "px4",
    .address = "127.0.0.1:4560",
    .open = open_wire,
    .close = board_stream_close,
    .next = next,
    .answer = answer,
    .keep_time = keep_time,
    .count = board_stream_count,
};
