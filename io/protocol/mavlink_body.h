/*
 * The bodies of MAVLink messages: from and to the structs of the generated headers.  Only
 * io/protocol/mavlink.c and mavlink_body.c include this header, because the generated headers come
 * with it.
 */
#pragma once

#include <common/mavlink.h>

#include "io/protocol/mavlink_message.h"

/* Decode the body of a valid message; returns IO_MAVLINK_OTHER for a message that is not used
 * here.  Context: frame. */
enum io_mavlink_kind io_mavlink_decode_body(const mavlink_message_t *rx,
                                            struct io_mavlink_message *message);

/* What the generated encoders need besides the body. */
struct io_mavlink_envelope {
    const struct io_mavlink_sender *sender;
    mavlink_status_t status;
    mavlink_message_t tx;
};
/* The kind must have a body.  Context: frame. */
void io_mavlink_encode_body(struct io_mavlink_envelope *to,
                            const struct io_mavlink_message *message);
