/*
 * The protocol betaflight: motor packets in, a state packet and an RC packet out.
 *
 * Tested by tests/io/protocol/test_betaflight.c.
 */
#include <math.h>

#include "io/protocol/betaflight.h"
#include "io/protocol/protocol_ops.h"

struct session {
    bool has_mirror;
    double mirror[2]; /* longitude and latitude of the first packet, deg */
};

static size_t state_size(void)
{
    return sizeof(struct session);
}

static void receive(struct io_protocol *protocol, const void *bytes, size_t size, uint64_t now_ns,
                    const struct io_protocol_port *port)
{
    struct io_command command = {.mode = (uint32_t)size};
    (void)now_ns;
    if (!io_betaflight_decode(bytes, size, command.controls)) {
        protocol->counters.rx_bad++;
        return;
    }
    if (protocol->spec.variant == IO_BETAFLIGHT_2026_6 && size == IO_BETAFLIGHT_SPEED_SIZE)
        io_betaflight_reorder(command.controls);
    protocol->counters.rx++;
    io_protocol_note_valid(protocol, port);
    protocol->facts.board = IO_BOARD_READY;
    (void)port->command(port->self, &command);
}

static void encode_fdm(struct io_protocol *protocol, const struct io_sample *sample,
                       unsigned char fdm[IO_BETAFLIGHT_FDM_SIZE])
{
    struct session *self = protocol->state;
    if (protocol->spec.variant == IO_BETAFLIGHT_4_5) {
        io_betaflight_fdm(sample, protocol->spec.virtual_gps, fdm);
        return;
    }
    if (!self->has_mirror) {
        self->mirror[0] = sample->fix.longitude * (180.0 / M_PI);
        self->mirror[1] = sample->fix.latitude * (180.0 / M_PI);
        self->has_mirror = true;
    }
    io_betaflight_fdm_2026(sample, self->mirror, fdm);
}

static void encode(struct io_protocol *protocol, const struct io_sample *sample, uint64_t unix_us,
                   const struct io_protocol_port *port)
{
    unsigned char fdm[IO_BETAFLIGHT_FDM_SIZE], rc[IO_BETAFLIGHT_RC_SIZE];
    (void)unix_us;
    if (sample->due & IO_SEND_RC) {
        io_betaflight_rc(sample, rc);
        port->send(port->self, rc, sizeof rc, IO_DESTINATION_NEXT_PORT, false);
    }
    if (sample->due & IO_SEND_SENSOR) {
        encode_fdm(protocol, sample, fdm);
        port->send(port->self, fdm, sizeof fdm, IO_DESTINATION_PEER, true);
    }
}

static void new_peer(struct io_protocol *protocol)
{
    struct session *self = protocol->state;
    self->has_mirror = false;
}

static double message_size(enum io_message message, int angle_count)
{
    (void)angle_count;
    if (message == IO_MESSAGE_SENSOR)
        return IO_BETAFLIGHT_FDM_SIZE;
    return message == IO_MESSAGE_RC ? IO_BETAFLIGHT_RC_SIZE : 0;
}

#define NONE IO_RATE_NONE

/* first_replies: Betaflight replies to the first packets even if its control loop does not run. */
const struct io_protocol_ops io_betaflight_protocol = {
    .traits = {.name = "betaflight",
               .listen_port = 9002,
               .peer_port = 9003,
               .usual_bus = IO_BUS_UDP,
               .usual_hz = {NONE, IO_RATE_FRAME, NONE, NONE, NONE, NONE, NONE, NONE, 50},
               .datagrams_only = true,
               .takes_rc = true,
               .has_variants = true,
               .reports_version = true,
               .first_replies = 20,
               .reply_timeout_s = 1.0},
    .state_size = state_size,
    .receive = receive,
    .encode = encode,
    .message_size = message_size,
    .new_peer = new_peer,
};
