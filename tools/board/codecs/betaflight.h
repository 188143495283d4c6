/*
 * Betaflight's side of its simulator's packets; pure functions without sockets.  A
 * packet is a C struct in the byte order of the host.
 */
#pragma once

#include <stddef.h>

#include "tools/board/message.h"

enum {
    BOARD_FDM_BYTES = 144,
    BOARD_RC_BYTES = 40,
    BOARD_MOTOR_BYTES = 16,
    BOARD_MOTOR_RAW_BYTES = 68
};

/* Parse the motion of the vehicle; false when the size is wrong or a number is not finite. */
bool board_betaflight_read_fdm(const uint8_t *bytes, size_t size, struct board_message *message);
/* Parse the sticks of the radio; false when the size is wrong. */
bool board_betaflight_read_rc(const uint8_t *bytes, size_t size, struct board_message *message);

/* Motor speeds 0..1, in the order of the airframe here, which is that of Gazebo. */
void board_betaflight_write_motors(const struct board_command *command,
                                   uint8_t bytes[BOARD_MOTOR_BYTES]);
/* The same in us, in Betaflight's own order: rear right, front right, rear left, front left. */
void board_betaflight_write_raw(const struct board_command *command,
                                uint8_t bytes[BOARD_MOTOR_RAW_BYTES]);
