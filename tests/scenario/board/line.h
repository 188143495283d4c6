/*
 * MAVLink over a descriptor, seen from the simulator's side.  Every wait is bounded.
 */
#pragma once

#include <common/mavlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/board/message.h"

enum { LINE_BYTES = 2048 };

struct line {
    int fd;
    bool is_datagram;
    mavlink_status_t rx_status, tx_status;
    mavlink_message_t rx_message;
    uint8_t bytes[LINE_BYTES];
    size_t at, size;
    uint64_t hash; /* of all that came in, FNV-1a */
};

void line_begin(struct line *line, int fd, bool is_datagram);
/* The next frame, if one is complete within the limit. */
bool line_next(struct line *line, mavlink_message_t *message, int limit_ms);
/* The next frame of this kind; others are passed over. */
bool line_await(struct line *line, uint32_t id, mavlink_message_t *message, int limit_ms);
void line_send(struct line *line, const mavlink_message_t *message);
/* HIL_SENSOR or HIL_GPS with what the message says. */
void line_send_reading(struct line *line, const struct board_message *reading);
