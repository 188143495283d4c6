/*
 * MAVLink, the pure codec: bytes to messages and back.  No socket, no clock, no global state.
 *
 * MAVLink 1 and 2 are decoded, MAVLink 2 is encoded.  Encode and decode are exact inverses; the
 * conversion from SI units is done once, by io_mavlink_from_sample().
 *
 *      decode:  while (size > 0) { n = io_mavlink_feed(parser, bytes, size, &message); ... }
 *               io_mavlink_decode(parser, &message) for a message whose body is wanted
 *               io_mavlink_end(parser) after each datagram
 *      encode:  io_mavlink_from_sample(&sample, kind, &message);
 *               size = io_mavlink_encode(&sender, &message, frame);
 */
#pragma once

#include "io/protocol/mavlink_message.h"
#include "io/protocol/mavlink_sample.h"

struct io_mavlink_counters {
    uint64_t messages;   /* whole messages, unknown ids included */
    uint64_t unknown;    /* messages with an id outside the dialect */
    uint64_t bad_crc;    /* wrong checksum */
    uint64_t bad_length; /* truncated, or in MAVLink 1 shorter than its id allows */
    uint64_t
        bad_header; /* runs of bytes that do not start a frame, and unknown incompatibility flags */
    uint64_t lost;  /* gaps in the sequence of a (system, component) */
};

struct io_mavlink_parser;

/* Context: setup. */
size_t io_mavlink_parser_size(void);
struct io_mavlink_parser *io_mavlink_parser_place(void *mem);

/* Consume bytes up to the end of the next message, or all of them; returns how many.  The message
 * gets its kind and its header; the kind is IO_MAVLINK_NONE when the bytes did not complete one.
 * Context: frame. */
size_t io_mavlink_feed(struct io_mavlink_parser *parser, const unsigned char *bytes, size_t size,
                       struct io_mavlink_message *message);
/* Fill the body of the message that the last feed completed; does nothing where its kind has none.
 * Context: frame. */
void io_mavlink_decode(const struct io_mavlink_parser *parser, struct io_mavlink_message *message);
/* The bytes of the message that the last feed completed, as received.  Valid until the next
 * feed.  Context: frame. */
const unsigned char *io_mavlink_frame(const struct io_mavlink_parser *parser, size_t *size);
/* The datagram has ended: half a message counts as bad and does not affect the next one.
 * Context: frame. */
void io_mavlink_end(struct io_mavlink_parser *parser);
/* The far end is a new one: its sequence numbers start anew; the counters go on.  Context:
 * frame. */
void io_mavlink_new_peer(struct io_mavlink_parser *parser);
/* Context: frame, the thread that feeds. */
const struct io_mavlink_counters *io_mavlink_get_counters(const struct io_mavlink_parser *parser);

/* Encode one MAVLink 2 frame; returns its size.  The kind must have a body.  Context: frame. */
size_t io_mavlink_encode(struct io_mavlink_sender *sender, const struct io_mavlink_message *message,
                         unsigned char frame[IO_MAVLINK_FRAME_MAX]);
