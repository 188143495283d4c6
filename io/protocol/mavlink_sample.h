/*
 * Conversion between MAVLink messages and the simulator's samples and commands: SI units to the
 * units of the wire.
 */
#pragma once

#include "io/protocol/mavlink_message.h"

/* What a simulator says: SENSOR, GPS, STATE, TRACKER, RC, VECTOR ("sun") or ARRAY ("angles") of a
 * sample.  Numbers beyond the wire's range stop at its ends (an orbital speed does not fit the
 * int16 cm/s), NaN becomes 0 there.  Context: frame. */
void io_mavlink_from_sample(const struct io_sample *sample, enum io_mavlink_kind kind,
                            struct io_mavlink_message *message);
/* Context: frame. */
void io_mavlink_from_status(enum io_mavlink_status status, struct io_mavlink_message *message);
/* Answer to a TIMESYNC request, addressed to who asked.  Context: frame. */
void io_mavlink_timesync_reply(const struct io_mavlink_message *request, uint64_t now_ns,
                               struct io_mavlink_message *answer);
/* Board time, flags, mode and controls of a CONTROLS message; the rest stays.  Context: frame. */
void io_mavlink_to_command(const struct io_mavlink_message *message, struct io_command *command);
