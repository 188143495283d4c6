/*
 * Betaflight with an external simulator, four UDP ports around the one of the address:
 *
 *      9001  raw motor pulses, out        9003  motion of the vehicle, in
 *      9002  motor speeds, out            9004  sticks of the radio, in
 *
 * Each motion is answered with both kinds of motor packet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/board/codecs/betaflight.h"
#include "tools/board/wires/socket.h"
#include "tools/board/wires/wire.h"

enum { MOTION, RADIO, IN_COUNT };
enum { MOTORS, MOTORS_RAW, OUT_COUNT };

struct betaflight {
    struct board_wire wire; /* first; its descriptors are motion and radio */
    int out[OUT_COUNT];
    uint64_t rx, tx, bad;
};

static void close_wire(struct board_wire *wire)
{
    struct betaflight *self = (struct betaflight *)wire;
    for (int i = 0; i < IN_COUNT; i++) {
        if (wire->fd[i] >= 0)
            close(wire->fd[i]);
        if (self->out[i] >= 0)
            close(self->out[i]);
    }
    free(wire);
}

static struct board_wire *open_wire(const struct board_wire_setup *setup, char error[256])
{
    struct betaflight *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, 256, "out of memory");
        return NULL;
    }
    self->wire = (struct board_wire){.kind = &board_wire_betaflight, .fd = {-1, -1}};
    self->out[MOTORS] = board_socket_udp_beside(setup->address, 0, false, error);
    self->out[MOTORS_RAW] =
        self->out[MOTORS] < 0 ? -1 : board_socket_udp_beside(setup->address, -1, false, error);
    for (int i = 0; i < IN_COUNT && self->out[MOTORS_RAW] >= 0; i++) {
        self->wire.fd[i] = board_socket_udp_beside(setup->address, 1 + i, true, error);
        if (self->wire.fd[i] < 0)
            break;
    }
    if (self->wire.fd[RADIO] < 0) {
        close_wire(&self->wire);
        return NULL;
    }
    return &self->wire;
}

static bool fetch(struct betaflight *self, int which, struct board_message *message)
{
    uint8_t bytes[2048];
    ssize_t size;
    do {
        size = recv(self->wire.fd[which], bytes, sizeof bytes, 0);
    } while (size < 0 && errno == EINTR);
    if (size < 0)
        return false;

    const bool ok = which == MOTION ? board_betaflight_read_fdm(bytes, (size_t)size, message)
                                    : board_betaflight_read_rc(bytes, (size_t)size, message);
    self->rx += ok;
    self->bad += !ok;
    return true;
}

/* Read the radio first: the sticks before this motion apply to it. */
static bool next(struct board_wire *wire, struct board_message *message)
{
    struct betaflight *self = (struct betaflight *)wire;
    return fetch(self, RADIO, message) || fetch(self, MOTION, message);
}

/* The kernel reports the refusal of the previous packet instead of sending this one, so send it
 * again. */
static void post(struct betaflight *self, int which, const uint8_t *bytes, size_t size)
{
    if (self->wire.muted)
        return;
    ssize_t sent = send(self->out[which], bytes, size, 0);
    if (sent < 0 && errno == ECONNREFUSED)
        sent = send(self->out[which], bytes, size, 0);
    self->tx += sent == (ssize_t)size;
}

static void answer(struct board_wire *wire, const struct board_command *command)
{
    struct betaflight *self = (struct betaflight *)wire;
    uint8_t motors[BOARD_MOTOR_BYTES], raw[BOARD_MOTOR_RAW_BYTES];
    board_betaflight_write_motors(command, motors);
    board_betaflight_write_raw(command, raw);
    post(self, MOTORS, motors, sizeof motors);
    post(self, MOTORS_RAW, raw, sizeof raw);
}

static void keep_time(struct board_wire *wire, uint64_t now_ns, bool heard,
                      const struct board_command *command)
{
    (void)wire, (void)now_ns, (void)heard, (void)command;
}

static void count(const struct board_wire *wire, struct board_wire_counters *counters)
{
    const struct betaflight *self = (const struct betaflight *)wire;
    *counters = (struct board_wire_counters){.rx = self->rx, .tx = self->tx, .rx_bad = self->bad};
}

const struct board_wire_kind board_wire_betaflight = {
    .name = "betaflight",
    .address = "127.0.0.1:9002",
    .open = open_wire,
    .close = close_wire,
    .next = next,
    .answer = answer,
    .keep_time = keep_time,
    .count = count,
};
