/*
 * Conversion of the simulator's samples to MAVLink messages: SI units to the units of the wire.
 */
#pragma once

#include "io/protocol/mavlink_message.h"

/* Make a message of a sample: SENSOR, GPS, STATE, TRACKER, RC, VECTOR ("sun") or ARRAY
 * ("angles").  In integer fields, numbers beyond the range are clamped (an orbital speed does
 * not fit the int16 in cm/s) and NaN becomes 0.  Context: frame. */
void io_mavlink_from_sample(const struct io_sample *sample, enum io_mavlink_kind kind,
                            struct io_mavlink_message *message);
/* Context: frame. */
void io_mavlink_from_status(enum io_mavlink_status status, struct io_mavlink_message *message);
/* The reply to a TIMESYNC request, addressed to its sender.  Context: frame. */
void io_mavlink_timesync_reply(const struct io_mavlink_message *request, uint64_t now_ns,
                               struct io_mavlink_message *answer);
