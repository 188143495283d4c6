/*
 * ArduPilot with an external simulator, UDP: a servo packet goes out, an answer in JSON comes
 * back and makes the next.  The frame count counts answers; a packet whose answer does not come
 * within a second is sent again, and the simulator recognizes it by its count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/board/codecs/ardupilot.h"
#include "tools/board/wires/socket.h"
#include "tools/board/wires/wire.h"

enum { FRAME_RATE = 1000, TEXT_MAX = 65536 };

static const uint64_t repeat_period_ns = 1000000000u;

struct ardupilot {
    struct board_wire wire; /* the first member */
    bool is_pwm32;
    uint32_t frames; /* answers received */
    uint64_t tx, bad;
    uint64_t sent_ns; /* time of the newest packet sent, 0: none yet */
    char text[TEXT_MAX];
};

static struct board_wire *open_wire(const struct board_wire_setup *setup, char error[256])
{
    const int fd = board_socket_udp(setup->address, error);
    if (fd < 0)
        return NULL;
    struct ardupilot *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, 256, "out of memory");
        close(fd);
        return NULL;
    }
    self->wire = (struct board_wire){.kind = &board_wire_ardupilot, .fd = {fd, -1}};
    self->is_pwm32 = setup->is_pwm32;
    return &self->wire;
}

static void close_wire(struct board_wire *wire)
{
    close(wire->fd[0]);
    free(wire);
}

static bool next(struct board_wire *wire, struct board_message *message)
{
    struct ardupilot *self = (struct ardupilot *)wire;
    ssize_t size;
    do {
        size = recv(wire->fd[0], self->text, TEXT_MAX - 1, 0);
    } while (size < 0 && (errno == EINTR || errno == ECONNREFUSED));
    if (size < 0)
        return false;

    self->text[size] = '\0';
    if (board_ardupilot_read(self->text, message)) {
        self->frames++;
    } else {
        self->bad++;
        message->type = BOARD_MESSAGE_OTHER;
    }
    return true;
}

static void answer(struct board_wire *wire, const struct board_command *command)
{
    struct ardupilot *self = (struct ardupilot *)wire;
    uint8_t bytes[BOARD_SERVO32_BYTES];
    const size_t size =
        board_ardupilot_write(self->is_pwm32, FRAME_RATE, self->frames, command, bytes);
    if (!wire->muted && send(wire->fd[0], bytes, size, 0) == (ssize_t)size)
        self->tx++;
    self->sent_ns = board_now_ns();
}

static void keep_time(struct board_wire *wire, uint64_t now_ns, bool heard,
                      const struct board_command *command)
{
    const struct ardupilot *self = (const struct ardupilot *)wire;
    (void)heard;
    if (self->sent_ns == 0 || now_ns - self->sent_ns >= repeat_period_ns)
        answer(wire, command);
}

static void count(const struct board_wire *wire, struct board_wire_counters *counters)
{
    const struct ardupilot *self = (const struct ardupilot *)wire;
    *counters =
        (struct board_wire_counters){.rx = self->frames, .tx = self->tx, .rx_bad = self->bad};
}

const struct board_wire_kind board_wire_ardupilot = {
    .name = "ardupilot",
    .address = "127.0.0.1:9002",
    .open = open_wire,
    .close = close_wire,
    .next = next,
    .answer = answer,
    .keep_time = keep_time,
    .count = count,
};
