/*
 * The wire protocols of a link: decode bytes to commands, encode samples to bytes.
 *
 * Every protocol here is pure.  It owns no socket and reads no clock: it acts through a port, and
 * the times that it must send to the board are arguments.
 *
 *      bytes in    protocol->ops->receive(protocol, bytes, size, now_ns, port)
 *                      -> port->heard, command, send (a reply), forward (for ground stations)
 *      sample out  io_protocol_encode(protocol, sample, unix_us, port)
 *                      -> port->send, once per message that is due
 *
 *   MAVLINK      a user's own board that speaks HIL_SENSOR, HIL_GPS, HIL_ACTUATOR_CONTROLS
 *   PX4          PX4's simulator port (TCP 4560 + instance, or UDP), lockstep
 *   PX4_HITL     a PX4 board on a serial line or UDP, real time
 *   ARDUPILOT    ArduPilot's JSON physics (UDP 9002 + 10 * instance), lockstep
 *   BETAFLIGHT   Betaflight's raw structs (UDP 9002 in, 9003 and 9004 out)
 *   HAND         an operator's hand controller (io/protocol/hand.h); nothing is sent to it
 */
#pragma once

#include "io/protocol/protocol_ops.h"

/* Context: any. */
const struct io_protocol_traits *io_protocol_traits(enum io_protocol_kind kind);
const char *io_protocol_name(enum io_protocol_kind kind);
/* The names in the order of enum io_protocol_kind; NULL ends the list. */
extern const char *const io_protocol_names[IO_PROTOCOL_COUNT + 1];

/* The spec is copied.  Context: setup. */
size_t io_protocol_size(const struct io_protocol_spec *spec);
struct io_protocol *io_protocol_place(const struct io_protocol_spec *spec, void *mem);

/* Send every message that is due and that the protocol has; HIL_SENSOR, which moves the clock of a
 * board in lockstep, is the last.  unix_us is used when IO_SEND_TIME is due.  Context: frame. */
void io_protocol_encode(struct io_protocol *protocol, const struct io_sample *sample,
                        uint64_t unix_us, const struct io_protocol_port *port);

/* Ask for the far end's time (MAVLink: TIMESYNC).  Does nothing where the protocol has no such
 * query.  Of two queries only the reply to the later one counts.  Context: frame. */
void io_protocol_query_time(struct io_protocol *protocol, uint64_t now_ns,
                            const struct io_protocol_port *port);

/* Send a heartbeat outside the samples.  Does nothing where the protocol has none.  Context: frame.
 */
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

/* The far end is a new one: its sequence numbers start anew, the counters go on.  Context: frame.
 */
void io_protocol_new_peer(struct io_protocol *protocol);

/* Context: frame, the thread that receives. */
struct io_protocol_counters io_protocol_get_counters(const struct io_protocol *protocol);
const struct io_protocol_facts *io_protocol_facts(const struct io_protocol *protocol);

/* The most bytes per second that samples with these rates cause.  hz[i] belongs to 1 << i of enum
 * io_send; a message that the protocol does not have costs nothing.  Context: setup. */
double io_protocol_bandwidth(const struct io_protocol_spec *spec, const double hz[IO_MESSAGE_COUNT],
                             int angle_count);
