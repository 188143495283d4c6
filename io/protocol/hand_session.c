/*
 * The protocol hand: reports of a hand controller in, nothing out.
 *
 * Tested by tests/io/protocol/test_hand.c.
 */
#include "io/protocol/hand.h"
#include "io/protocol/protocol_ops.h"

static size_t state_size(void)
{
    return sizeof(struct io_hand_decoder);
}

static void receive(struct io_protocol *protocol, const void *bytes, size_t size, uint64_t now_ns,
                    const struct io_protocol_port *port)
{
    struct io_hand_decoder *decoder = protocol->state;
    struct io_hand_report report;
    struct io_command command = {0};
    (void)now_ns;
    if (!io_hand_decode(bytes, size, &report)) {
        protocol->counters.rx_bad++;
        return;
    }
    protocol->counters.rx++;
    io_protocol_note_valid(protocol, port);
    protocol->facts.board = IO_BOARD_READY;
    io_hand_to_command(&protocol->spec.hand, decoder, &report, &command);
    while (port->command(port->self, &command) && io_hand_apply_deferred(decoder, &command))
        continue; /* at most once */
}

static void new_peer(struct io_protocol *protocol)
{
    io_hand_new_peer(protocol->state);
}

#define NONE IO_RATE_NONE

/* No message is sent, but the loop latency is measured at the rate of the sensor message. */
const struct io_protocol_ops io_hand_protocol = {
    .traits = {.name = "hand",
               .listen_port = 14580,
               .usual_bus = IO_BUS_EVDEV,
               .usual_hz = {NONE, IO_RATE_FRAME, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
               .datagrams_only = true,
               .speaks_first = true,
               .hands = true,
               .first_replies = 1,
               .reply_timeout_s = 1.0},
    .state_size = state_size,
    .receive = receive,
    .new_peer = new_peer,
};
