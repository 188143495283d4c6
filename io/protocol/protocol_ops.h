/*
 * The row of a protocol: its properties and its functions.  Outside io/protocol
 * only the function `receive` is used.
 *
 * To add a protocol, write a file with its row, add one line to IO_PROTOCOL_LIST
 * (io/protocol/protocol_types.h) and one to io/meson.build.
 */
#pragma once

#include "io/protocol/protocol_types.h"

struct io_protocol;

struct io_protocol_ops {
    struct io_protocol_traits traits;
    /* Bytes of the state of one link; NULL: there is no state. */
    size_t (*state_size)(void);
    /* Fill protocol->state, which is zero and has state_size() bytes; NULL: zero is right. */
    void (*place)(struct io_protocol *protocol);
    /* One datagram, or some bytes of a stream.  now_ns is the simulator's clock as sent in
     * TIMESYNC.
     *
     *                   board_us          flags            mode              controls
     *   MAVLink kinds   time_usec         flags            mode              as sent
     *   ARDUPILOT       0                 frame_count      frame_rate        (pwm - 1000) / 1000
     *   BETAFLIGHT      0                 0                bytes of packet   motor_speed of port
     * 9002 in its order, or (pwm - 1000) / 1000 of port 9001 in that one's HAND            sent_us
     * buttons          by buttons        by the map of axes
     *
     * Context: frame. */
    void (*receive)(struct io_protocol *protocol, const void *bytes, size_t size, uint64_t now_ns,
                    const struct io_protocol_port *port);
    /* A function below is NULL where the protocol has no such message. */
    void (*encode)(struct io_protocol *protocol, const struct io_sample *sample, uint64_t unix_us,
                   const struct io_protocol_port *port);
    void (*query_time)(struct io_protocol *protocol, uint64_t now_ns,
                       const struct io_protocol_port *port);
    void (*send_status)(struct io_protocol *protocol, enum io_status status,
                        const struct io_protocol_port *port);
    size_t (*invalid_message)(const struct io_protocol *protocol,
                              unsigned char bytes[IO_PROTOCOL_INVALID_MAX]);
    void (*receive_ground)(struct io_protocol *protocol, const void *bytes, size_t size,
                           const struct io_protocol_port *port);
    /* The bytes on the wire of one message of enum io_send, at most. */
    double (*message_size)(enum io_message message, int angle_count);
    /* NULL: nothing is kept about the peer. */
    void (*new_peer)(struct io_protocol *protocol);
    /* NULL: the counters are protocol->counters. */
    struct io_protocol_counters (*get_counters)(const struct io_protocol *protocol);
};

struct io_protocol {
    const struct io_protocol_ops *ops;
    struct io_protocol_spec spec;
    struct io_protocol_facts facts;
    struct io_protocol_counters counters;
    void *state; /* of the row */
};

#define IO_PROTOCOL_ROW(kind, name, row) extern const struct io_protocol_ops row;
IO_PROTOCOL_LIST(IO_PROTOCOL_ROW)
#undef IO_PROTOCOL_ROW

/* A valid message arrived.  A board that is known to be ready, or not ready, stays so until it
 * reports something else. */
static inline void io_protocol_note_valid(struct io_protocol *protocol,
                                          const struct io_protocol_port *port)
{
    if (protocol->facts.board == IO_BOARD_SILENT)
        protocol->facts.board = IO_BOARD_HEARD;
    port->heard(port->self);
}
