/*
 * The bodies of MAVLink messages: from and to the structs of the generated headers.  Only
 * mavlink.c, mavlink_body.c and mavlink_session.c of io/protocol include this header, because the
 * generated headers come with it.
 */
#pragma once

#include <common/mavlink.h>

#include "io/protocol/mavlink_message.h"

/* The kind of a valid message; IO_MAVLINK_OTHER where it is not used here.  Context: frame. */
enum io_mavlink_kind io_mavlink_kind_of(uint32_t id);
/* Decode the body of a valid message; does nothing where its kind has none.  Context: frame. */
void io_mavlink_decode_body(const mavlink_message_t *rx, struct io_mavlink_message *message);

struct io_mavlink_parser;
/* The message that the last feed completed (io/protocol/mavlink.c).  Valid until the next feed.
 * Context: frame. */
const mavlink_message_t *io_mavlink_received(const struct io_mavlink_parser *parser);

/* What the generated encoders need besides the body. */
struct io_mavlink_envelope {
    const struct io_mavlink_sender *sender;
    mavlink_status_t status;
    mavlink_message_t tx;
};
/* The kind must have a body.  Context: frame. */
void io_mavlink_encode_body(struct io_mavlink_envelope *to,
                            const struct io_mavlink_message *message);
