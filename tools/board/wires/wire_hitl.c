/*
 * A PX4 board in hardware-in-the-loop mode, on a serial line or UDP.  It sends first, runs on its
 * own clock and stamps sensor messages at arrival; its commands are a stream, not answers.  Its
 * telemetry shares the line, and it answers a ground station behind the simulator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/board/orders.h"
#include "tools/board/wires/socket.h"
#include "tools/board/wires/stream.h"

/* As seen on a real board; the actuator message leaves out "stabilised". */
enum { MODE_HEARTBEAT = 0x3d, MODE_CONTROLS = 0x35, MODE_HIL = 0x20, MODE_ARMED = 0x80 };
enum { DUE_HEARTBEAT, DUE_CONTROLS, DUE_SYNC, DUE_ATTITUDE, DUE_COUNT };

static const uint64_t period_ns[DUE_COUNT] = {1000000000u, 5000000u, 100000000u, 20000000u};

struct hitl {
    struct board_stream stream; /* the first member */
    bool is_not_hil;
    bool senses; /* a sensor message has come */
    uint64_t due_ns[DUE_COUNT];
};

static struct board_wire *open_wire(const struct board_wire_setup *setup, char error[256])
{
    const bool is_serial = setup->address[0] == '/';
    const int fd = is_serial ? board_socket_serial(setup->address, setup->baud, error)
                             : board_socket_udp(setup->address, error);
    if (fd < 0)
        return NULL;
    struct hitl *wire = calloc(1, sizeof *wire);
    if (wire == NULL) {
        snprintf(error, 256, "out of memory");
        close(fd);
        return NULL;
    }
    wire->stream.wire = (struct board_wire){
        .kind = &board_wire_hitl, .fd = {fd, -1}, .has_own_clock = true, .due_ns = 1};
    wire->stream.is_datagram = !is_serial;
    wire->is_not_hil = setup->is_not_hil;
    return &wire->stream.wire;
}

static bool next(struct board_wire *wire, struct board_message *message)
{
    struct hitl *self = (struct hitl *)wire;
    mavlink_message_t raw, reply;
    if (!board_stream_next(&self->stream, &raw))
        return false;
    board_stream_sync(&self->stream, &raw);
    const bool ordered =
        wire->orders != NULL && board_orders_take(wire->orders, &self->stream.frames, &raw, &reply);
    if (ordered || board_frames_reply(&self->stream.frames, &raw, &reply))
        board_stream_send(&self->stream, &reply);
    board_frames_read(&raw, message);
    message->time_us = board_now_ns() / 1000;
    self->senses = self->senses || message->type == BOARD_MESSAGE_SENSOR;
    return true;
}

static void answer(struct board_wire *wire, const struct board_command *command)
{
    (void)wire, (void)command; /* the stream below has its own pace */
}

static uint8_t mode_of(const struct hitl *self, int base, const struct board_command *command)
{
    const int hil = self->is_not_hil ? base & ~MODE_HIL : base;
    return (uint8_t)(hil | (command->armed ? MODE_ARMED : 0));
}

/* Send on a fixed grid; missed slots are lost. */
static bool is_due(struct hitl *self, int what, uint64_t now_ns)
{
    if (now_ns < self->due_ns[what])
        return false;
    const uint64_t gone = (now_ns - self->due_ns[what]) / period_ns[what];
    self->due_ns[what] = self->due_ns[what] == 0
                             ? now_ns + period_ns[what]
                             : self->due_ns[what] + (gone + 1) * period_ns[what];
    return true;
}

static void send_controls(struct hitl *self, uint64_t now_ns, const struct board_command *command)
{
    mavlink_message_t raw;
    board_frames_controls(&self->stream.frames, now_ns / 1000,
                          mode_of(self, MODE_CONTROLS, command), 0, command->controls, &raw);
    board_stream_send(&self->stream, &raw);
}

static void send_attitude(struct hitl *self, uint64_t now_ns, const struct board_command *command)
{
    mavlink_message_t raw;
    board_frames_attitude(&self->stream.frames, (uint32_t)(now_ns / 1000000), command->attitude,
                          command->rate, &raw);
    board_stream_send(&self->stream, &raw);
}

static void send_heartbeat(struct hitl *self, const struct board_command *command)
{
    mavlink_message_t raw;
    board_frames_heartbeat(&self->stream.frames, MAV_TYPE_QUADROTOR,
                           mode_of(self, MODE_HEARTBEAT, command), command->armed, &raw);
    board_stream_send(&self->stream, &raw);
}

/* Outside hardware-in-the-loop mode nothing drives the simulated outputs. */
static void keep_time(struct board_wire *wire, uint64_t now_ns, bool heard,
                      const struct board_command *command)
{
    struct hitl *self = (struct hitl *)wire;
    (void)heard;
    if (is_due(self, DUE_HEARTBEAT, now_ns))
        send_heartbeat(self, command);
    if (is_due(self, DUE_CONTROLS, now_ns) && !self->is_not_hil && self->senses)
        send_controls(self, now_ns, command);
    if (is_due(self, DUE_SYNC, now_ns))
        board_stream_request_sync(&self->stream);
    if (is_due(self, DUE_ATTITUDE, now_ns) && command->has_attitude)
        send_attitude(self, now_ns, command);
    wire->due_ns = self->due_ns[DUE_CONTROLS];
}

const struct board_wire_kind board_wire_hitl = {
    .name = "px4-hitl",
    .address = "127.0.0.1:14560",
    .open = open_wire,
    .close = board_stream_close,
    .next = next,
    .answer = answer,
    .keep_time = keep_time,
    .count = board_stream_count,
};
