/*
 * MAVLink over a descriptor: the common part of the MAVLink wires.  TIMESYNC is handled here:
 * requests of the simulator are answered, answers to our own give round trips.
 */
#pragma once

#include "tools/board/codecs/frames.h"
#include "tools/board/wires/wire.h"

enum { BOARD_STREAM_BYTES = 2048, BOARD_STREAM_TRIPS = 1024 };

struct board_stream {
    struct board_wire wire; /* the first member: a stream is a wire */
    struct board_frames frames;
    bool is_datagram; /* a frame never spans two reads */
    uint8_t bytes[BOARD_STREAM_BYTES];
    size_t at, size; /* what is left of them: [at, size) */
    uint64_t tx;
    uint64_t round_trips;
    uint64_t round_trip_ns[BOARD_STREAM_TRIPS];
};

/* The next frame that has arrived. */
bool board_stream_next(struct board_stream *stream, mavlink_message_t *raw);
/* Handle a TIMESYNC; false for any other frame. */
void board_stream_sync(struct board_stream *stream, const mavlink_message_t *raw);
/* Send the whole frame or, when the line is full or has no peer, nothing. */
void board_stream_send(struct board_stream *stream, const mavlink_message_t *raw);
void board_stream_request_sync(struct board_stream *stream);

/* Functions of struct board_wire_kind. */
void board_stream_count(const struct board_wire *wire, struct board_wire_counters *counters);
void board_stream_close(struct board_wire *wire);
