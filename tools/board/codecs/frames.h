/*
 * MAVLink frames and what they mean to a board; pure, no sockets.  Written on MAVLink's own
 * generated headers.
 *
 * Tested by tests/scenario/board/test_board_replies.py.
 */
#pragma once

#include <common/mavlink.h>

#include "tools/board/message.h"

enum { BOARD_SYSTEM_ID = 1, BOARD_COMPONENT_ID = 1 };

struct board_frames {
    mavlink_status_t rx_status, tx_status;
    mavlink_message_t rx_message;
    bool has_sequence;
    uint8_t sequence; /* of the simulator's last message */
    uint64_t rx, rx_lost, rx_bad;
};

/* True when this byte completes a frame. */
bool board_frames_push(struct board_frames *frames, uint8_t byte, mavlink_message_t *raw);
/* Drop a partial frame. */
void board_frames_reset(struct board_frames *frames);
/* Decode a frame of the simulator. */
void board_frames_read(const mavlink_message_t *raw, struct board_message *message);

/* Each writes one message of the board. */
void board_frames_heartbeat(struct board_frames *frames, uint8_t type, uint8_t mode, bool armed,
                            mavlink_message_t *raw);
void board_frames_controls(struct board_frames *frames, uint64_t time_us, uint8_t mode,
                           uint64_t flags, const double controls[BOARD_CONTROL_COUNT],
                           mavlink_message_t *raw);
void board_frames_timesync(struct board_frames *frames, int64_t tc1, int64_t ts1,
                           mavlink_message_t *raw);
/* "Send me this message so often", as PX4 asks for the true state. */
void board_frames_request(struct board_frames *frames, uint32_t id, uint32_t period_us,
                          mavlink_message_t *raw);
void board_frames_attitude(struct board_frames *frames, uint32_t time_ms, const double attitude[4],
                           const double rate[3], mavlink_message_t *raw);
/* Answers to a ground station; false when the frame asks for none. */
bool board_frames_reply(struct board_frames *frames, const mavlink_message_t *asked,
                        mavlink_message_t *raw);
