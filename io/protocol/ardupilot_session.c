/*
 * The protocol ardupilot: one reply per servo packet, in lockstep.
 *
 * Tested by tests/io/protocol/test_ardupilot.c.
 */
#include "io/protocol/ardupilot.h"
#include "io/protocol/protocol_ops.h"

_Static_assert((int)IO_PROTOCOL_FRAME_MAX >= (int)IO_ARDUPILOT_REPLY_MAX, "the longest message");

struct session {
    bool has_last;
    uint32_t last_count; /* frame_count of the newest packet */
    size_t reply_size;   /* 0: no reply has been sent */
    char reply[IO_ARDUPILOT_REPLY_MAX];
};

static size_t state_size(void)
{
    return sizeof(struct session);
}

/* True for a packet that a newer one has overtaken on the network.  A restarted ArduPilot counts
 * from 0, so a count that is only a little smaller than a large one is not a restart, which would
 * end the flight. */
static bool is_overtaken(const struct session *self, uint32_t count)
{
    enum { FEW = 16 };
    return self->has_last && count > FEW && count < self->last_count &&
           self->last_count - count <= FEW;
}

/* A repeated packet asks for the reply that was lost; a smaller count is a restart. */
static void receive(struct io_protocol *protocol, const void *bytes, size_t size, uint64_t now_ns,
                    const struct io_protocol_port *port)
{
    struct session *self = protocol->state;
    struct io_ardupilot_servos servos;
    (void)now_ns;
    if (!io_ardupilot_decode(bytes, size, &servos)) {
        protocol->counters.rx_bad++;
        return;
    }
    protocol->counters.rx++;
    io_protocol_note_valid(protocol, port);
    if (self->has_last && servos.frame_count == self->last_count) {
        protocol->counters.duplicates++;
        if (self->reply_size > 0)
            port->send(port->self, self->reply, self->reply_size, IO_DESTINATION_PEER, false);
        return;
    }
    if (is_overtaken(self, servos.frame_count)) {
        protocol->counters.duplicates++;
        return;
    }
    if (self->has_last && servos.frame_count < self->last_count)
        protocol->facts.resets++;
    self->has_last = true;
    self->last_count = servos.frame_count;
    protocol->facts.board = IO_BOARD_READY;
    protocol->facts.rate_hint_hz = servos.frame_rate;
    struct io_command command = {
        .flags = servos.frame_count,
        .mode = servos.frame_rate,
        .resets = protocol->facts.resets,
    };
    io_ardupilot_to_controls(&servos, command.controls);
    (void)port->command(port->self, &command);
}

static void encode(struct io_protocol *protocol, const struct io_sample *sample, uint64_t unix_us,
                   const struct io_protocol_port *port)
{
    struct session *self = protocol->state;
    (void)unix_us;
    if (!(sample->due & IO_SEND_SENSOR))
        return;
    self->reply_size = io_ardupilot_encode(sample, self->reply);
    port->send(port->self, self->reply, self->reply_size, IO_DESTINATION_PEER, true);
}

static double message_size(enum io_message message, int angle_count)
{
    enum { REPLY_SIZE = 500, REPLY_RC_SIZE = 190 }; /* numbers of 15 characters, and their names */
    (void)angle_count;
    return message == IO_MESSAGE_SENSOR ? REPLY_SIZE : message == IO_MESSAGE_RC ? REPLY_RC_SIZE : 0;
}

#define NONE IO_RATE_NONE

/* There is no new_peer: the count must go on, because a smaller one shows a restart.  The timeout
 * is long because ArduPilot may stand in a debugger while the physics waits. */
const struct io_protocol_ops io_ardupilot_protocol = {
    .traits = {.name = "ardupilot",
               .listen_port = 9002,
               .usual_bus = IO_BUS_UDP,
               .usual_hz = {NONE, IO_RATE_FRAME, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
               .datagrams_only = true,
               .speaks_first = true,
               .lockstep = true,
               .mode_names = IO_MODE_NAMES_ARDUCOPTER,
               .first_replies = 1,
               .reply_timeout_s = 60.0},
    .state_size = state_size,
    .receive = receive,
    .encode = encode,
    .message_size = message_size,
};
