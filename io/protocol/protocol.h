/*
 * The language of a link, as a choice: bytes to commands, samples to bytes.
 *
 * Every protocol here is pure.  It owns no socket and reads no clock: what it wants done it says
 * through a port, and the times that it must tell the board are handed in.
 *
 *      bytes in    io_protocol_receive(protocol, bytes, size, now_ns, port)
 *                      -> port->heard, command, send (an answer), forward (for ground stations)
 *      sample out  io_protocol_encode(protocol, sample, unix_us, port)
 *                      -> port->send, once per message that is due
 *
 *   MAVLINK      a board of one's own that speaks HIL_SENSOR, HIL_GPS, HIL_ACTUATOR_CONTROLS
 *   PX4          PX4's simulator port (TCP 4560 + instance, or UDP), lockstep
 *   PX4_HITL     a PX4 board on a serial line or UDP, real time
 *   ARDUPILOT    ArduPilot's JSON physics (UDP 9002 + 10 * instance), lockstep
 *   BETAFLIGHT   Betaflight's raw structs (UDP 9002 in, 9003 and 9004 out)
 *   HAND         an operator's hand controller (io/protocol/hand.h); it hears nothing
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"
#include "io/protocol/betaflight.h"
#include "io/protocol/hand.h"

enum io_protocol_kind {
    IO_PROTOCOL_MAVLINK,
    IO_PROTOCOL_PX4,
    IO_PROTOCOL_PX4_HITL,
    IO_PROTOCOL_ARDUPILOT,
    IO_PROTOCOL_BETAFLIGHT,
    IO_PROTOCOL_HAND,
    IO_PROTOCOL_COUNT
};

/* Longest run of bytes that a port is given at once. */
enum { IO_PROTOCOL_FRAME_MAX = 1024, IO_PROTOCOL_INVALID_MAX = 280 };

/* What is true of a protocol before anything is heard. */
struct io_protocol_traits {
    const char *name;     /* as the scenario spells it */
    uint16_t listen_port; /* where its users expect the simulator */
    uint16_t peer_port; /* where the far end hears, when that is not where it speaks from; else 0 */
    bool datagrams_only;     /* no stream (TCP, serial) can carry it */
    bool speaks_first;       /* the far end says something before the first sample */
    bool lockstep;           /* one command per sample with IO_SEND_SENSOR */
    bool marks_fields;       /* a sample says which of its instruments have something new */
    bool stamps_commands;    /* commands carry the board's time */
    bool answers_time_query; /* the far end can be asked what its clock shows */
    bool forwards;           /* ground stations can be reached through it */
    bool hands;              /* a person: silent while at rest, and nothing is sent there */
};
/* Context: any. */
const struct io_protocol_traits *io_protocol_traits(enum io_protocol_kind kind);

struct io_protocol_spec {
    enum io_protocol_kind kind;
    uint8_t system_id, component_id; /* MAVLink's, of the simulator */
    bool stream;                     /* bytes come in any pieces, not one datagram a call */
    bool virtual_gps; /* BETAFLIGHT built so: longitude, latitude, altitude instead of
                         north, east, down, and a velocity east, north, up */
    enum io_betaflight_variant variant; /* BETAFLIGHT */
    struct io_hand_spec hand;           /* HAND */
};

/* How the far end stands. */
enum io_board_state {
    IO_BOARD_SILENT,  /* nothing sound has been heard */
    IO_BOARD_HEARD,   /* it speaks, and has not said that it is ready */
    IO_BOARD_NOT_HIL, /* PX4_HITL: its heartbeat lacks the HIL flag; it would ignore the sensors */
    IO_BOARD_READY,   /* PX4_HITL: it has the flag; others: a command came */
};

/* The two ways out: to the peer, and to the port after the peer's. */
enum io_destination { IO_DESTINATION_PEER, IO_DESTINATION_NEXT_PORT };

/* Where a protocol says what it wants done.  The bytes are valid during the call. */
struct io_protocol_port {
    void *self;
    /* Something sound came: whoever sent it is the far end.  Before all else of that message. */
    void (*heard)(void *self);
    /* board_us, flags, mode, resets and controls are set, the rest is zero.  False: nobody has seen
     * the command before this one, and nobody will. */
    bool (*command)(void *self, const struct io_command *command);
    /* One message.  stamped: it is the one that closes the loop, worth a kernel stamp. */
    void (*send)(void *self, const void *bytes, size_t size, enum io_destination target,
                 bool stamped);
    /* The answer to io_protocol_query_time(); NULL: nobody asks. */
    void (*clock)(void *self, uint64_t asked_ns, uint64_t board_ns);
    /* One whole frame for the other side, unaltered. */
    void (*forward)(void *self, const void *bytes, size_t size);
};

struct io_protocol_counters {
    uint64_t rx;         /* whole messages, unknown ones included */
    uint64_t rx_bad;     /* garbage, cut, oversized, wrong checksum */
    uint64_t rx_lost;    /* gaps in the far end's sequence numbers */
    uint64_t duplicates; /* the same packet again, or one that was overtaken; no new command */
    uint64_t ground_bad; /* what ground stations sent and no board should see */
};

/* What the far end has told about itself. */
struct io_protocol_facts {
    enum io_board_state board;
    bool lockstep;         /* PX4: a lockstep build */
    uint32_t rate_hint_hz; /* ARDUPILOT: frames per second that it would like */
    uint32_t resets;       /* times it began anew */
};

struct io_protocol;

/* The spec is copied.  Context: setup. */
size_t io_protocol_size(const struct io_protocol_spec *spec);
struct io_protocol *io_protocol_place(const struct io_protocol_spec *spec, void *mem);

/* One datagram, or some bytes of a stream.  now_ns is the simulator's clock as TIMESYNC tells it.
 *
 *                   board_us          flags            mode              controls
 *   MAVLink kinds   time_usec         flags            mode              as sent
 *   ARDUPILOT       0                 frame_count      frame_rate        (pwm - 1000) / 1000
 *   BETAFLIGHT      0                 0                bytes of packet   motor_speed of port 9002
 *                                                                        in its order, or (pwm -
 *                                                                        1000) / 1000 of port 9001
 *                                                                        in that one's
 *   HAND            sent_us           buttons          by buttons        by the map of axes
 *
 * Context: frame. */
void io_protocol_receive(struct io_protocol *protocol, const void *bytes, size_t size,
                         uint64_t now_ns, const struct io_protocol_port *port);
/* Everything that is due and that the protocol can say; HIL_SENSOR, which moves the clock of a
 * board in lockstep, last.  unix_us matters when IO_SEND_TIME is due.  Context: frame. */
void io_protocol_encode(struct io_protocol *protocol, const struct io_sample *sample,
                        uint64_t unix_us, const struct io_protocol_port *port);

/* Ask what the far end's clock shows (MAVLink: TIMESYNC); nothing where that cannot be asked.  Of
 * two questions only the later one's answer counts.  Context: frame. */
void io_protocol_query_time(struct io_protocol *protocol, uint64_t now_ns,
                            const struct io_protocol_port *port);

/* MAV_STATE, as far as a simulator has one. */
enum io_status { IO_STATUS_ACTIVE = 4, IO_STATUS_EMERGENCY = 6, IO_STATUS_POWEROFF = 7 };
/* A sign of life outside the samples; nothing where the protocol has none.  Context: frame. */
void io_protocol_send_status(struct io_protocol *protocol, enum io_status status,
                             const struct io_protocol_port *port);
/* The message that says "no longer valid", ready to be sent from a signal handler; 0 bytes where
 * the protocol has none.  Context: setup. */
size_t io_protocol_invalid_message(const struct io_protocol *protocol,
                                   unsigned char bytes[IO_PROTOCOL_INVALID_MAX]);

/* A datagram of a ground station: port->forward gets each whole MAVLink frame in it, unaltered, and
 * nothing else of the port is called.  Context: frame. */
void io_protocol_receive_ground(struct io_protocol *protocol, const void *bytes, size_t size,
                                const struct io_protocol_port *port);

/* A new far end: its sequence numbers start anew, the counters go on.  Context: frame. */
void io_protocol_new_peer(struct io_protocol *protocol);

/* Context: frame, the thread that takes. */
struct io_protocol_counters io_protocol_get_counters(const struct io_protocol *protocol);
const struct io_protocol_facts *io_protocol_facts(const struct io_protocol *protocol);

/* Bytes per second that samples with these rates bring at the most; hz[i] belongs to 1 << i of enum
 * io_send, what the protocol does not say costs nothing.  Context: setup. */
double io_protocol_bandwidth(const struct io_protocol_spec *spec, const double hz[IO_SEND_COUNT],
                             int angle_count);
