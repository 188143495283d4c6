/*
 * ArduPilot's side of its JSON interface to a simulator; pure functions without sockets.  The
 * board sends servo packets and receives lines of JSON, which are read as ArduPilot reads them: by
 * a search for substrings.
 */
#pragma once

#include <stddef.h>

#include "tools/board/message.h"

enum { BOARD_SERVO_BYTES = 40, BOARD_SERVO32_BYTES = 72 };

/* Write a servo packet, little endian; returns its size.  The channels of the motors are
 * 1000..2000 us, the others 0. */
size_t board_ardupilot_write(bool is_pwm32, uint16_t frame_rate, uint32_t frame_count,
                             const struct board_command *command,
                             uint8_t bytes[BOARD_SERVO32_BYTES]);

/* Parse one answer of the simulator, zero-terminated; false when a required value is missing. */
bool board_ardupilot_read(const char *text, struct board_message *message);
