/*
 * A ground station's orders: arm, take off to a height, land.  They come by MAVLink, over a UDP
 * line of their own or among the frames of the wire, and each is acknowledged.
 */
#pragma once

#include "tools/board/codecs/frames.h"
#include "tools/board/vehicles/quad.h"

struct board_orders {
    int fd; /* -1: no line of its own */
    struct board_frames frames;
    uint64_t next_beat_us;
    struct board_quad *quad; /* the vehicle that obeys */
    bool relative;           /* heights are above the start, as in ArduPilot, not above the sea */
};

/* `relative` is set before.  NULL instead of an address: the orders come over the wire.  False with
 * one line in error. */
bool board_orders_open(struct board_orders *orders, const char *address, struct board_quad *quad,
                       char error[256]);
/* Handle one frame; true when it was an order, with the answer in reply. */
bool board_orders_take(struct board_orders *orders, struct board_frames *frames,
                       const mavlink_message_t *asked, mavlink_message_t *reply);
/* Handle the orders that have come over the line, and send a heartbeat; before the sensors of
 * this time. */
void board_orders_turn(struct board_orders *orders, uint64_t time_us);
